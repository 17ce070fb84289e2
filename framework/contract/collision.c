/* collision.c - checks of collision plugins: growth protocol, sound pairs, same answer twice, sound
 * bounds.  Completeness is not checked: the pairs that must be found depend on the method. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "contract/contract.h"

typedef struct found { /* host copies of a pair list */
  int64_t n;
  int32_t *kind, *v, *obst;
  double *w, *normal, *gap, *point;
  uint64_t *key;
} found;

static found copy_found_pairs(const run *r, const loom_pairs *p)
{
  const int64_t m = p->count;
  return (found){m,
                 ct_copy(r, p->kind, m),
                 ct_copy(r, p->v, 4 * m),
                 ct_copy(r, p->obst, m),
                 ct_copy(r, p->w, 4 * m),
                 ct_copy(r, p->normal, 3 * m),
                 ct_copy(r, p->gap, m),
                 ct_copy(r, p->point, 3 * m),
                 ct_copy(r, p->key, m)};
}

static void free_found_pairs(found *f)
{
  free(f->kind);
  free(f->v);
  free(f->obst);
  free(f->w);
  free(f->normal);
  free(f->gap);
  free(f->point);
  free(f->key);
}

void ct_collision_pose(ct_run *t, const ct_plugin *p)
{
  static const double lo[3] = {0.04, -0.03, -0.04}, hi[3] = {0.08, 0.03, -0.007};
  char path[512], more[1024];
  ct_write_block(path, sizeof path, lo, hi); /* its top lies below one side of the sheet */
  snprintf(more, sizeof more,
           "body.block.shape=mesh body.block.file=%s body.block.sdf_resolution=8", path);
  ct_open_checked(t, p, more);
  CT_ASSERT(unlink(path) == 0, "cannot remove %s", path);
  ct_steps(t, 0, 1);
  CT_ASSERT(t->r->num_contact > 0, "no contact model fits %s", p->name);
  double *const x = ct_values(t->r, t->r->st.x, NULL);
  for (int64_t i = 0; i < buf_count(t->r->st.x) / 3; ++i) {
    x[3 * i + 2] -= 5e-3;
    if (x[3 * i + 1] <= 0.05) continue;
    x[3 * i + 1] = 0.1 - x[3 * i + 1];
    x[3 * i + 2] += 2.5e-3;
  }
  ct_set_values(t->r, t->r->st.x, x);
  free(x);
}

/* detect_and_copy() through the core, which grows the list */
static found detect_and_copy(ct_run *t)
{
  const loom_query q = ct_query(t->r, LOOM_DETECT_PROXIMITY);
  CT_ASSERT(detect_query(t->r, &t->r->contact[0], &q, &t->r->contact[0].pairs) == LOOM_OK, "%s",
            t->err.text);
  return copy_found_pairs(t->r, &t->r->contact[0].pairs);
}

static const uint32_t point_kinds = LOOM_BIT(LOOM_PAIR_VO) | LOOM_BIT(LOOM_PAIR_EO);
static int expected_weight_sum(int32_t kind) { return LOOM_BIT(kind) & point_kinds ? 1 : 0; }

static const uint32_t body_kinds = LOOM_BIT(LOOM_PAIR_BVT) | LOOM_BIT(LOOM_PAIR_BEE);
static const uint32_t edge_kinds = LOOM_BIT(LOOM_PAIR_EE) | LOOM_BIT(LOOM_PAIR_BEE);
static const uint32_t mesh_kinds = LOOM_BIT(LOOM_PAIR_VT) | LOOM_BIT(LOOM_PAIR_EE) |
                                   LOOM_BIT(LOOM_PAIR_BVT) | LOOM_BIT(LOOM_PAIR_BEE);

/* A pair of two features has barycentric weights on either side, and its closest points are the gap
 * plus both radii apart along the normal. */
static void check_mesh_pair(const run *r, const found *f, int64_t j, const double *x,
                            const double *body, const double *radius)
{
  const int32_t n = r->scene->pub.num_verts, *const v = f->v + 4 * j;
  const int split = LOOM_BIT(f->kind[j]) & edge_kinds ? 2 : 1;
  const int on_body = (LOOM_BIT(f->kind[j]) & body_kinds) != 0;
  double first = 0.0, along = 0.0, radii = 0.0;
  int bodies = 0;
  for (int a = 0; a < 4; ++a) {
    const double w = f->w[4 * j + a], *const at = v[a] < n ? x + 3 * v[a] : body + 3 * (v[a] - n);
    CT_ASSERT(a < split ? w >= -1e-12 : w <= 1e-12, "pair %lld: weight %d is %g", (long long)j, a,
              w);
    first += a < split ? w : 0.0;
    bodies += v[a] >= n;
    for (int c = 0; c < 3; ++c) along += w * at[c] * f->normal[3 * j + c];
  }
  if (v[0] < n) radii += radius[v[0]];
  if (v[split] < n) radii += radius[v[split]];
  CT_ASSERT(fabs(first - (1.0)) <= 1e-12, "pair %lld: weights of one side sum to %g", (long long)j,
            first);
  CT_ASSERT(fabs(along - radii - (f->gap[j])) <= 1e-9, "pair %lld: gap %g along the normal, not %g",
            (long long)j, along - radii, f->gap[j]);
  CT_ASSERT(on_body ? bodies > 0 && bodies < 4 : bodies == 0,
            "pair %lld of kind %d: %d of its vertices are a body's", (long long)j, f->kind[j],
            bodies);
  CT_ASSERT((f->obst[j] >= 0) == on_body, "pair %lld of kind %d names body %d", (long long)j,
            f->kind[j], f->obst[j]);
}

/* A pair of a vertex or an element and a body names the body, has weights from 0 to 1, and its
 * point lies the gap plus the radius above the body's along the normal. */
static void check_point_pair(const run *r, const found *f, int64_t j, const double *x,
                             const double *radius)
{
  const int32_t *const v = f->v + 4 * j;
  const int most = f->kind[j] == LOOM_PAIR_VO ? 1 : 3;
  double above = 0.0;
  CT_ASSERT(f->obst[j] >= 0 && f->obst[j] < r->scene->pub.num_obstacles,
            "pair %lld names body %d, which does not exist", (long long)j, f->obst[j]);
  CT_ASSERT(f->kind[j] == LOOM_PAIR_VO || v[1] >= 0, "pair %lld: an element of one vertex",
            (long long)j);
  for (int a = 0; a < 4; ++a) {
    const double w = f->w[4 * j + a];
    CT_ASSERT(w >= -1e-12 && (a < most || (v[a] < 0 && w == 0)), "pair %lld: weight %d is %g",
              (long long)j, a, w);
    for (int c = 0; c < 3 && v[a] >= 0; ++c) above += w * x[3 * v[a] + c] * f->normal[3 * j + c];
  }
  for (int c = 0; c < 3; ++c) above -= f->point[3 * j + c] * f->normal[3 * j + c];
  CT_ASSERT(fabs(above - radius[v[0]] - f->gap[j]) <= 1e-9,
            "pair %lld: gap %g along the normal, not %g", (long long)j, above - radius[v[0]],
            f->gap[j]);
}

void ct_collision_pairs(const ct_plugin *p)
{
  ct_run t;
  ct_collision_pose(&t, p);
  const uint32_t kinds = t.r->collision[0].plugin->ops.collision->pair_kinds;
  const int32_t n = t.r->scene->pub.num_verts, nb = t.r->scene->pub.num_body_verts;
  double *const x = ct_values(t.r, t.r->st.x, NULL);
  double *const radius = ct_values(t.r, t.r->scene->pub.radius, NULL);
  double *const body = ct_values(t.r, t.r->st.body1, NULL);
  uint32_t seen = 0;
  found f = detect_and_copy(&t);
  for (int64_t j = 0; j < f.n; ++j) {
    const double *w = f.w + 4 * j, *nn = f.normal + 3 * j;
    double sum = 0.0;
    seen |= LOOM_BIT(f.kind[j]);
    CT_ASSERT(kinds & LOOM_BIT(f.kind[j]), "pair %lld is of a kind it does not offer",
              (long long)j);
    CT_ASSERT(f.gap[j] < 4e-3, "pair %lld is %g m apart", (long long)j, f.gap[j]);
    CT_ASSERT(f.v[4 * j] >= 0, "pair %lld has no vertex", (long long)j);
    for (int a = 0; a < 4; ++a) {
      const int32_t most = LOOM_BIT(f.kind[j]) & body_kinds ? n + nb : n;
      CT_ASSERT(f.v[4 * j + a] >= -1 && f.v[4 * j + a] < most, "pair %lld: vertex %d of %d",
                (long long)j, f.v[4 * j + a], most);
      if (f.v[4 * j + a] >= 0) sum += w[a];
    }
    /* relative position: weights sum to 0 between parts, to 1 against the world */
    CT_ASSERT(fabs(sum - (expected_weight_sum(f.kind[j]))) <= 1e-9, "pair %lld: weights sum to %g",
              (long long)j, sum);
    CT_ASSERT(fabs(nn[0] * nn[0] + nn[1] * nn[1] + nn[2] * nn[2] - (1.0)) <= 1e-9,
              "pair %lld: the normal is not of unit length", (long long)j);
    if (LOOM_BIT(f.kind[j]) & point_kinds) check_point_pair(t.r, &f, j, x, radius);
    if (LOOM_BIT(f.kind[j]) & mesh_kinds) check_mesh_pair(t.r, &f, j, x, body, radius);
    for (int64_t i = 0; i < j; ++i)
      CT_ASSERT(f.kind[i] != f.kind[j] || f.key[i] != f.key[j], "pairs %lld and %lld are one",
                (long long)i, (long long)j);
  }
  if (t.r->collision[0].plugin->ops.collision->provides & LOOM_COLL_PROXIMITY)
    CT_ASSERT((seen & mesh_kinds) == (kinds & mesh_kinds), "kinds 0x%x of 0x%x are found", seen,
              kinds);
  free(x), free(body), free(radius);
  free_found_pairs(&f);
  ct_close(&t);
}

void ct_collision_twice(const ct_plugin *p)
{
  ct_run t;
  ct_collision_pose(&t, p);
  found a = detect_and_copy(&t), b = detect_and_copy(&t);
  CT_ASSERT(a.n == b.n, "%lld pairs, then %lld", (long long)a.n, (long long)b.n);
  CT_ASSERT(memcmp(a.key, b.key, sizeof *a.key * (size_t)a.n) == 0, "other keys");
  CT_ASSERT(memcmp(a.gap, b.gap, sizeof *a.gap * (size_t)a.n) == 0, "other gaps");
  CT_ASSERT(memcmp(a.normal, b.normal, 3 * sizeof *a.normal * (size_t)a.n) == 0, "other normals");
  free_found_pairs(&a);
  free_found_pairs(&b);
  ct_close(&t);
}

/* With too little room detect_and_copy() returns LOOM_GROW and the needed count, and writes no
 * pairs. */
void ct_collision_room(const ct_plugin *p)
{
  ct_run t;
  ct_collision_pose(&t, p);
  run *const r = t.r;
  const loom_collision_ops *const o = r->collision[0].plugin->ops.collision;
  if (o->detect == NULL) {
    ct_close(&t);
    ct_skip("%s answers no queries", p->name);
  }
  found f = detect_and_copy(&t);
  loom_pairs few = r->contact[0].pairs;
  const loom_query q = ct_query(r, LOOM_DETECT_PROXIMITY);
  few.count = 0;
  few.capacity = 0;
  const loom_status s = o->detect(r->collision[0].self, &r->st, &q, &few);
  if (f.n == 0) {
    CT_ASSERT(s == LOOM_OK, "it found no pairs, but returned %s", err_status_text(s));
  } else {
    CT_ASSERT(s == LOOM_GROW, "it returned %d, not LOOM_GROW", s);
    CT_ASSERT(few.count >= f.n, "it asked for %lld pairs, there are %lld", (long long)few.count,
              (long long)f.n);
  }
  const loom_pairs *const had = &r->contact[0].pairs;
  uint64_t *const key = ct_copy(r, had->key, f.n);
  CT_ASSERT(memcmp(key, f.key, sizeof *key * (size_t)f.n) == 0, "it wrote past the capacity");
  free(key);
  free_found_pairs(&f);
  ct_close(&t);
}

/* A bound lies in (0, 1]; without motion it is 1, and away from everything too. */
void ct_collision_bounds(const ct_plugin *p)
{
  ct_run t;
  ct_open_checked(&t, p, "");
  ct_steps(&t, 0, 1);
  run *const r = t.r;
  const loom_collision_ops *o = r->collision[0].plugin->ops.collision;
  if (!(o->provides & LOOM_COLL_STEP_GLOBAL)) {
    ct_close(&t);
    ct_skip("%s offers no bound", p->name);
  }
  for (int i = -1; i <= 1; ++i) { /* down through the ball, nowhere, up and away */
    loom_bound b = {
        .struct_size = sizeof b, .t_global = -1.0, .progress0 = 1, .progress1 = 1, .blocker = -1};
    double *const x = ct_values(r, r->st.x, NULL);
    for (int64_t v = 0; v < buf_count(r->st.x) / 3; ++v) x[3 * v + 2] += 0.05 * i;
    ct_set_values(r, r->st.trial, x);
    free(x);
    CT_ASSERT(o->max_step(r->collision[0].self, &r->st, r->st.x, r->st.trial, &b) == LOOM_OK, "%s",
              t.err.text);
    CT_ASSERT(b.t_global > 0.0 && b.t_global <= 1.0, "bound %g", b.t_global);
    if (i >= 0) CT_ASSERT(b.t_global == 1.0, "bound %g without approach", b.t_global);
    /* the ball's top is less than 10 mm away */
    if (i < 0 && (o->pair_kinds & LOOM_BIT(LOOM_PAIR_VO)))
      CT_ASSERT(b.t_global < 0.2, "bound %g on a way of 50 mm", b.t_global);
  }
  ct_close(&t);
}
