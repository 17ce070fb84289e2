/* mesh_scenes.c - the scenes that detectors of triangle meshes are tested in, and every pair of
 * their features; see mesh_case.h. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "support/mesh_case.h"

const char *const mc_scene_names[] = {"soup",       "folded", "crumpled", "objects",
                                      "degenerate", "bodies", "lone"};

static const double ball_at[3] = {0.45, 0.55, -0.22};

static void add_degenerate_meshes(mesh_case *c, const mc_object *o)
{
  /* collapsed triangles, coincident and collinear corners, twice the same sheet, far away */
  double x[36] = {0, 0, 0, 1, 0, 0, 0.5, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1, 1, 0, 0, 0};
  static const int32_t tri[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11};
  for (int i = 18; i < 36; ++i) x[i] = 0.3 * (i % 4) - 0.1 * (i % 3);
  for (int i = 0; i < 36; ++i) x[i] += 1000.0;
  (void)mc_add(c, o, 12, x, 4, tri);
  for (int k = 0; k < 2; ++k) {
    const int first = mc_add_sheet(c, o, 6, 6, 0.5, 0.5, 0.0);
    for (int i = 3 * first; i < 3 * c->cloth.n; ++i) c->cloth.x0[i] = c->cloth.x1[i] += 1000.0;
  }
}

mesh_case mc_make(int which)
{
  mesh_case c = {.seed = 17 + (uint64_t)which};
  const mc_object thin = {.radius = 0.0}, thick = {.radius = 0.004}, body = {.body = 1};
  double chain[60];
  if (which == MC_SOUP) (void)mc_add_soup(&c, &thick, 150, 0.8, 0.25);
  if (which == MC_FOLDED) mc_fold(&c, mc_add_sheet(&c, &thick, 61, 9, 3.0, 0.4, 0.0), 0.5, 0.012);
  if (which == MC_CRUMPLED) {
    const int first = mc_add_sheet(&c, &thick, 21, 21, 1.0, 1.0, 0.0);
    mc_fold(&c, first, 0.3, 0.02);
    mc_shake(&c, first, 0.04);
  }
  if (which == MC_OBJECTS) {
    for (int k = 0; k < 3; ++k)
      (void)mc_add_sheet(&c, k == 1 ? &thin : &thick, 9 + 2 * k, 9, 1.0, 0.8, 0.015 * k);
    for (int i = 0; i < 20; ++i) {
      chain[3 * i] = 0.05 * i;
      chain[3 * i + 1] = 0.05 * i + 0.01;
      chain[3 * i + 2] = 0.02;
    }
    (void)mc_add_chain(&c, &thick, 20, chain);
    (void)mc_add_soup(&c, &thin, 30, 0.5, 0.1);
  }
  if (which == MC_DEGENERATE) add_degenerate_meshes(&c, &thin);
  if (which == MC_BODIES) {
    const double beside[3] = {1.1, 0.2, 0.05};
    (void)mc_add_sheet(&c, &thick, 17, 17, 1.0, 1.0, 0.0);
    (void)mc_add_ball(&c, &body, ball_at, 0.2, 200);
    (void)mc_add_ball(&c, &body, beside, 0.12, 40);
    (void)mc_add_chain(&c, &body, 4,
                       (double[]){0, 0, 0.03, 0.2, 0.1, 0.03, 0.5, 0.3, 0.02, 1, 1, 0});
  }
  if (which == MC_LONE) (void)mc_add_sheet(&c, &thick, 2, 2, 0.01, 0.01, 0.0);
  for (int i = 0; i < c.cloth.n; ++i) c.cloth.fixed[i] = i % 13 == 0 || (i > 20 && i < 26);
  mc_move(&c.cloth, &c.seed, which == MC_DEGENERATE ? 0.0 : 0.02, 0.01, -0.02, -0.03);
  mc_move(&c.body, &c.seed, 0.0, 0.02, 0.01, 0.06);
  return c;
}

/* ---- all pairs ---- */

static int body_of_mesh_vertex(const mesh_case *c, int v)
{
  return v >= c->cloth.n ? c->body.object[v - c->cloth.n] : -1;
}

static void report_mesh_pair(const mesh_case *c, mc_pair *p, mc_pair_fn fn, void *user)
{
  const int b1 = body_of_mesh_vertex(c, p->v[0]), b2 = body_of_mesh_vertex(c, p->v[p->split]);
  int free = 0;
  if (b1 >= 0 && b2 >= 0) return;
  for (int i = 0; i < p->split; ++i)
    for (int j = p->split; j < 4; ++j)
      if (p->v[i] == p->v[j]) return;
  for (int i = 0; i < 4; ++i) free |= p->v[i] < c->cloth.n && !c->cloth.fixed[p->v[i]];
  if (!free) return;
  p->body = b1 >= 0 ? b1 : b2;
  if (p->split == 2)
    p->kind = p->body >= 0 ? LOOM_PAIR_BEE : LOOM_PAIR_EE;
  else
    p->kind = p->body >= 0 ? LOOM_PAIR_BVT : LOOM_PAIR_VT;
  p->radii = (b1 >= 0 ? 0.0 : c->cloth.r[p->v[0]]) + (b2 >= 0 ? 0.0 : c->cloth.r[p->v[p->split]]);
  fn(user, p);
}

/* ids of both parts, bodies behind */
static int32_t *join_part_ids(const mesh_case *c, const int32_t *a, int na, const int32_t *b,
                              int nb)
{
  int32_t *const out = calloc((size_t)(na + nb) + 1, sizeof *out);
  cr_assert(out != NULL);
  for (int i = 0; i < na + nb; ++i) out[i] = i < na ? a[i] : b[i - na] + c->cloth.n;
  return out;
}

void mc_each_pair(const mesh_case *c, mc_pair_fn fn, void *user)
{
  const mesh_part *const a = &c->cloth, *const b = &c->body;
  uint8_t *const corner = calloc((size_t)(a->n + b->n) + 1, 1);
  int32_t *const tri = join_part_ids(c, a->tris, 3 * a->nt, b->tris, 3 * b->nt);
  int32_t *const edge = join_part_ids(c, a->edges, 2 * a->ne, b->edges, 2 * b->ne);
  cr_assert(corner != NULL);
  for (int i = 0; i < 3 * (a->nt + b->nt); ++i) corner[tri[i]] = 1;
  for (int i = 0; i < 2 * (a->ne + b->ne); ++i) corner[edge[i]] = 1;
  for (int p = 0; p < a->n + b->n; ++p)
    for (int t = 0; t < a->nt + b->nt && corner[p]; ++t) {
      mc_pair q = {.split = 1, .key = (uint64_t)p << 32 | (uint64_t)t};
      q.v[0] = p;
      memcpy(q.v + 1, tri + 3 * t, 3 * sizeof *tri);
      report_mesh_pair(c, &q, fn, user);
    }
  for (int e = 0; e < a->ne + b->ne; ++e)
    for (int f = e + 1; f < a->ne + b->ne; ++f) {
      mc_pair q = {.split = 2, .key = UINT64_C(1) << 63 | (uint64_t)e << 32 | (uint64_t)f};
      memcpy(q.v, edge + 2 * e, 2 * sizeof *edge);
      memcpy(q.v + 2, edge + 2 * f, 2 * sizeof *edge);
      report_mesh_pair(c, &q, fn, user);
    }
  free(corner), free(tri), free(edge);
}
