/* attach.c - [attach.NAME]: ties from vertices of an object to points of another one's surface.
 *
 * A point of the surface of an affine body is a mean of its control points, so the tie has these
 * in place of the corners of the triangle, which follow them. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "elements/tie/tie.kern.h"
#include "geom/pose.h"
#include "scene/base/build.h"
#include "scene/moving/moving.h"

static loom_status refuse_attachment(const builder *b, const cfg_section *sec, const char *key,
                                     const char *why)
{
  return build_place(b, sec, key, err_set(b->err, LOOM_E_CONFIG, "%s", why));
}

static loom_status find_attached(builder *b, const cfg_section *sec, const char *key,
                                 const char *name, const object **out)
{
  const char **names;
  for (int k = 0; k < b->num_objects; ++k)
    if (strcmp(b->objects[k].name, name) == 0) {
      *out = &b->objects[k];
      if (b->objects[k].kind != OBJECT_YARN) return LOOM_OK;
      return refuse_attachment(b, sec, key, "yarns have no ties; name cloth or a solid");
    }
  LOOM_TRY(mesh_alloc(b->err, b->num_objects, sizeof *names, &names));
  for (int k = 0; k < b->num_objects; ++k) names[k] = b->objects[k].name;
  char list[600];
  err_names(list, sizeof list, name, names, b->num_objects);
  free(names);
  return build_place(b, sec, key,
                     err_set(b->err, LOOM_E_CONFIG,
                             "there is no cloth or solid named \"%s\"; there is %s", name, list));
}

/* The vertices and weights of a tie's end on the triangle with these corners (ids of the object).
 */
static void put_tie_end(const object *to, const int32_t corner[3], const double w[3], attachment *a)
{
  for (int k = 0; k < AFFINE_NODES; ++k) a->mat[TIE_WEIGHTS + k] = 0;
  if (to->weights != NULL) {
    for (int k = 0; k < AFFINE_NODES; ++k) {
      a->verts[1 + k] = to->first_vert + k;
      for (int c = 0; c < 3; ++c)
        a->mat[TIE_WEIGHTS + k] += w[c] * to->weights[AFFINE_NODES * (int64_t)corner[c] + k];
    }
    return;
  }
  int32_t other = 0; /* a fourth vertex, of weight 0 */
  while (other == corner[0] || other == corner[1] || other == corner[2]) ++other;
  for (int c = 0; c < 3; ++c) {
    a->verts[1 + c] = to->first_vert + corner[c];
    a->mat[TIE_WEIGHTS + c] = w[c];
  }
  a->verts[4] = to->first_vert + other;
}

static loom_status place_object(builder *b, const object *o, double **x)
{
  LOOM_TRY(mesh_alloc(b->err, 3 * (int64_t)o->m.num_verts, sizeof **x, x));
  for (int64_t i = 0; i < o->m.num_verts; ++i) pose_apply(o->place, o->m.x + 3 * i, *x + 3 * i);
  return LOOM_OK;
}

typedef struct attach_ends { /* of one section */
  const cfg_section *sec;
  const attach_settings *set;
  const object *from, *to;
  const double *x; /* [vertices of to][3], m, where they start */
} attach_ends;

/* The tie of vertex v of e->from; *gap: how far its place is, m. */
static void tie_vertex(const attach_ends *e, int32_t v, attachment *a, double *gap)
{
  int32_t corner[3] = {0, 0, 0};
  double p[3], w[3] = {1, 0, 0}, d2 = 0;
  pose_apply(e->from->place, e->from->m.x + 3 * (int64_t)v, p);
  follow_nearest_place(p, e->x, e->to->m.tris, e->to->m.num_tris, corner, w);
  for (int c = 0; c < 3; ++c) {
    double d = p[c];
    for (int k = 0; k < 3; ++k) d -= w[k] * e->x[3 * (int64_t)corner[k] + c];
    d2 += d * d;
  }
  *gap = sqrt(d2);
  a->verts[0] = e->from->first_vert + v;
  a->mat[TIE_K] = e->set->stiffness;
  a->mat[TIE_LENGTH] = e->set->length;
  put_tie_end(e->to, corner, w, a);
}

static loom_status tie_marked(builder *b, const attach_ends *e, const unsigned char *mark)
{
  attachment *more;
  const int64_t before = b->num_ties;
  int64_t num = before;
  double far = 0;
  for (int32_t v = 0; v < e->from->m.num_verts; ++v) num += mark[v] != 0;
  if (num == b->num_ties) return refuse_attachment(b, e->sec, "where", "names no vertex");
  LOOM_TRY(mesh_alloc(b->err, num, sizeof *more, &more));
  if (b->num_ties > 0) memcpy(more, b->ties, (size_t)b->num_ties * sizeof *more);
  free(b->ties);
  b->ties = more;
  for (int32_t v = 0; v < e->from->m.num_verts; ++v) {
    double gap = 0;
    if (!mark[v]) continue;
    tie_vertex(e, v, &b->ties[b->num_ties], &gap);
    b->ties[b->num_ties++].from = (int32_t)(e->from - b->objects);
    far = fmax(far, gap);
    if (gap <= e->set->within) continue;
    return build_place(b, e->sec, "within",
                       err_set(b->err, LOOM_E_CONFIG,
                               "vertex %d of %s is %.3g m away from %s, more than %g m", (int)v,
                               e->from->label, gap, e->to->label, e->set->within));
  }
  return build_note(b, "[%s]: %lld ties, the longest has %.3g m at the start",
                    cfg_section_name(e->sec), (long long)(num - before), far);
}

static loom_status attach_section(builder *b, const cfg_section *sec)
{
  attach_settings set;
  uint32_t count;
  unsigned char *mark = NULL;
  double *x = NULL;
  const loom_param *const params = scene_params("attach", &count);
  attach_ends e = {.sec = sec, .set = &set};
  LOOM_TRY(cfg_bind(b->err, sec, params, count, &set));
  LOOM_TRY(find_attached(b, sec, "object", set.object, &e.from));
  LOOM_TRY(find_attached(b, sec, "to", set.to, &e.to));
  if (e.from == NULL || e.to == NULL) return LOOM_E_CONFIG; /* find_attached() has said so */
  if (e.from == e.to) return refuse_attachment(b, sec, "to", "is the object itself; name another");
  if (e.from->weights != NULL && e.to->weights != NULL)
    return refuse_attachment(
        b, sec, "object",
        "is an affine body, as the object of the key to is: ties join vertices "
        "of cloth or of tetrahedra to one, not two affine bodies");
  if (e.from->weights != NULL)
    return refuse_attachment(b, sec, "object",
                             "is an affine body, the vertices of which follow its control points; "
                             "name it in the key to, and the other object here");
  if (e.to->m.num_verts < 4) return refuse_attachment(b, sec, "to", "has fewer than four vertices");
  loom_status s = place_object(b, e.to, &x);
  e.x = x;
  if (s == LOOM_OK) s = mesh_alloc(b->err, e.from->m.num_verts, 1, &mark);
  if (s == LOOM_OK) {
    s = build_select_verts(b, e.from, set.where, mark);
    s = s == LOOM_OK ? tie_marked(b, &e, mark) : build_place(b, sec, "where", s);
  }
  free(mark);
  free(x);
  return s;
}

loom_status build_attachments(builder *b)
{
  for (const cfg_section *s = NULL; (s = cfg_next(b->c, "attach", s)) != NULL;)
    LOOM_TRY(attach_section(b, s));
  return LOOM_OK;
}
