/* scene_check.c - promises of loom_scene that all plugins rely on, beyond what the builder checks.
 */
#include "scene/base/scene_data.h"

typedef struct thickness_view {
  const loom_real *radius; /* [n] m */
  const int32_t *object;   /* [n] */
} thickness_view;

/* The first vertex with another radius than the first vertex of its object, which is *first; -1:
 * there is none. */
static int32_t find_mixed_thickness(const scene_data *s, const thickness_view *v, int32_t *first)
{
  int32_t last = -1;
  for (int32_t i = 0; i < s->pub.num_verts; ++i) {
    if (last != v->object[i]) *first = i; /* vertices of an object follow each other */
    last = v->object[i];
    if (v->radius[i] != v->radius[*first]) return i;
  }
  return -1;
}

static loom_status map_scene_buffer(loom_err *err, const scene_data *s, loom_buf *b, void **p)
{
  const loom_status st = buf_map(s->m, NULL, b, LOOM_READ, LOOM_AT_HOST, p);
  if (st != LOOM_OK) *err = *mem_err(s->m);
  return st;
}

loom_status scene_check_thickness(loom_err *err, const scene_data *s)
{
  void *radius, *object;
  int32_t first = 0;
  LOOM_TRY(map_scene_buffer(err, s, s->pub.radius, &radius));
  LOOM_TRY(map_scene_buffer(err, s, s->pub.object, &object));
  const thickness_view v = {radius, object};
  const int32_t other = find_mixed_thickness(s, &v, &first);
  loom_status st = LOOM_OK;
  if (other >= 0)
    st =
        err_set(err, LOOM_E_CONFIG,
                "object '%s' is %g m thick at its first vertex and %g m at its vertex %d; contact "
                "needs one thickness within an object: make it two objects",
                s->pub.object_names != NULL ? s->pub.object_names[v.object[other]] : "",
                2.0 * (double)v.radius[first], 2.0 * (double)v.radius[other], (int)(other - first));
  buf_unmap(s->m, s->pub.object);
  buf_unmap(s->m, s->pub.radius);
  return st;
}
