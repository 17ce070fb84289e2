/* contact_gaps.c - the gap that a contact model keeps beyond the thickness of cloth: the median
 * over vertices of their least gaps. */
#include <math.h>
#include <stdlib.h>

#include "mesh/mesh.h"
#include "run/run_state.h"

static int compare_gap_values(const void *a, const void *b)
{
  const double p = *(const double *)a, q = *(const double *)b;
  return (p > q) - (p < q);
}

typedef struct view {                 /* on the host */
  const loom_real *x, *radius, *body; /* [n][3], [n], [nb][3] m, at the end of the step */
  const int32_t *kind, *v;
  const loom_real *w, *normal, *point;
  int32_t n;
} view;

/* Detection saw the pair somewhere on the way; its gap at the end, along the normal that it had. */
static double gap_now(const view *a, int64_t j)
{
  const int32_t *const v = a->v + 4 * j;
  const int edges = a->kind[j] == LOOM_PAIR_EE || a->kind[j] == LOOM_PAIR_BEE;
  /* first vertex of the second side; the vertices of EO are all of the first side */
  const int second = a->kind[j] == LOOM_PAIR_EO ? 4 : edges ? 2 : 1;
  double gap = 0.0;
  for (int c = 0; c < 3; ++c) gap -= (double)a->normal[3 * j + c] * (double)a->point[3 * j + c];
  for (int k = 0; k < 4; ++k) {
    if (v[k] < 0) continue;
    const loom_real *const at =
        v[k] < a->n ? a->x + 3 * (int64_t)v[k] : a->body + 3 * (int64_t)(v[k] - a->n);
    for (int c = 0; c < 3; ++c)
      gap += (double)a->w[4 * j + k] * (double)a->normal[3 * j + c] * (double)at[c];
    if ((k == 0 || k == second) && v[k] < a->n) gap -= (double)a->radius[v[k]];
  }
  return gap;
}

/* least [n] m: of all pairs that a vertex is in; INFINITY: none. */
static loom_status compute_least_gaps(const run *r, const loom_pairs *p, double *least)
{
  buf_maps q = {.m = r->m};
  const view a = {.x = buf_maps_add(&q, r->st.x, LOOM_READ),
                  .radius = buf_maps_add(&q, r->scene->pub.radius, LOOM_READ),
                  .body = buf_maps_add(&q, r->scene->body1, LOOM_READ),
                  .kind = buf_maps_add(&q, p->kind, LOOM_READ),
                  .v = buf_maps_add(&q, p->v, LOOM_READ),
                  .w = buf_maps_add(&q, p->w, LOOM_READ),
                  .normal = buf_maps_add(&q, p->normal, LOOM_READ),
                  .point = buf_maps_add(&q, p->point, LOOM_READ),
                  .n = r->scene->pub.num_verts};
  for (int32_t i = 0; i < a.n; ++i) least[i] = INFINITY;
  for (int64_t j = 0; q.status == LOOM_OK && j < p->count; ++j) {
    if (SCENE_PAIRS_UNNAMED >> a.kind[j] & 1) continue;
    const double gap = gap_now(&a, j);
    for (int k = 0; k < 4; ++k) {
      const int32_t v = a.v[4 * j + k];
      if (v >= 0 && v < a.n) least[v] = fmin(least[v], gap);
    }
  }
  return buf_maps_end(&q);
}

int run_num_contacts(const run *r) { return r->num_contact; }

loom_status run_contact_gap(const run *r, int i, run_gap *out)
{
  const contact_inst *const c = &r->contact[i];
  double *least = NULL;
  int64_t num = 0;
  *out = (run_gap){.name = c->in.name, .plugin = c->in.plugin->name, .median = NAN};
  if (c->pairs.count == 0) return LOOM_OK;
  LOOM_TRY(mesh_alloc(r->err, r->scene->pub.num_verts, sizeof *least, &least));
  const loom_status s = compute_least_gaps(r, &c->pairs, least);
  for (int32_t v = 0; s == LOOM_OK && v < r->scene->pub.num_verts; ++v)
    if (isfinite(least[v])) least[num++] = least[v];
  qsort(least, (size_t)num, sizeof *least, compare_gap_values);
  out->verts = num;
  if (s == LOOM_OK && num > 0) out->median = least[num / 2];
  free(least);
  return s;
}
