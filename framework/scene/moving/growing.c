/* growing.c - see growing.h. */
#include "scene/moving/growing.h"

#include <math.h>
#include <stdlib.h>

#include "loom/yarn_radii.h"

typedef struct grown_yarn {
  double radius; /* m, in the end */
  double time;   /* s, until then; 0: from the start */
} grown_yarn;

struct scene_growing {
  loom_yarn_radii table;
  grown_yarn *yarns; /* [num_yarns] */
  double share;      /* of the radius at time 0 */
  double longest;    /* s, the largest time */
  double at;         /* s, of the radii in the table, at most `longest` */
};

/* ---- in time ---- */

static double grown_radius(const grown_yarn *y, double share, double t)
{
  if (t >= y->time) return y->radius;
  return y->radius * (share + (1 - share) * t / y->time);
}

loom_status growing_pose(scene_data *s, double t)
{
  scene_growing *const w = s->growing;
  void *p;
  if (w == NULL) return LOOM_OK;
  const double at = fmin(fmax(t, 0), w->longest);
  if (at == w->at) return LOOM_OK; /* NOLINT: the same number gives the same radii */
  LOOM_TRY(buf_map(s->m, NULL, w->table.radius, LOOM_WRITE, LOOM_AT_HOST, &p));
  for (int32_t k = 0; k < s->pub.num_yarns; ++k)
    ((loom_real *)p)[k] = (loom_real)grown_radius(&w->yarns[k], w->share, at);
  w->at = at;
  return buf_unmap(s->m, w->table.radius);
}

double growing_share(const scene_data *s) { return s->growing != NULL ? s->growing->share : 1.0; }

void scene_growing_free(scene_data *s)
{
  scene_growing *const w = s->growing;
  if (w == NULL) return;
  buf_free(s->m, w->table.radius);
  free(w->yarns);
  free(w);
  s->growing = NULL;
}

/* ---- at the start ---- */

loom_status growing_create(builder *b, double share)
{
  scene_growing *w;
  int32_t at = 0;
  LOOM_TRY(mesh_alloc(b->err, 1, sizeof *w, &w));
  b->s->growing = w;
  w->table.struct_size = sizeof w->table;
  w->share = share;
  w->at = -1;
  LOOM_TRY(mesh_alloc(b->err, b->s->pub.num_yarns, sizeof *w->yarns, &w->yarns));
  for (int k = 0; k < b->num_objects; ++k) {
    const object *const o = &b->objects[k];
    if (o->kind != OBJECT_YARN) continue;
    for (int32_t y = 0; y < o->yarns.num_yarns; ++y)
      w->yarns[at++] = (grown_yarn){o->yarn.radius, o->yarn.radius_time};
    w->longest = fmax(w->longest, o->yarn.radius_time);
  }
  LOOM_TRY(build_new(b, "yarn_radii", LOOM_REAL, at, &w->table.radius));
  return build_extend(b, LOOM_YARN_RADII, &w->table);
}
