/* test_collision_mesh.c - collision plugins for triangle meshes: brute against a loop written
 * here, the others against brute, to the bit. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "geom/distance.kern.h"
#include "support/mesh_case.h"

enum { SOUP, FOLDED, CRUMPLED, OBJECTS, DEGENERATE, BODIES, LONE, NUM_SCENES };
static const char *const scene_names[] = {"soup",       "folded", "crumpled", "objects",
                                          "degenerate", "bodies", "lone"};

static const double ball_at[3] = {0.45, 0.55, -0.22};

static void degenerate(mesh_case *c, const mc_object *o)
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

static mesh_case make(int which)
{
  mesh_case c = {.seed = 17 + (uint64_t)which};
  const mc_object thin = {.radius = 0.0}, thick = {.radius = 0.004}, body = {.body = 1};
  double chain[60];
  if (which == SOUP) (void)mc_add_soup(&c, &thin, 260, 1.0, 0.25);
  if (which == FOLDED) mc_fold(&c, mc_add_sheet(&c, &thick, 61, 9, 3.0, 0.4, 0.0), 0.5, 0.012);
  if (which == CRUMPLED) {
    const int first = mc_add_sheet(&c, &thick, 21, 21, 1.0, 1.0, 0.0);
    mc_fold(&c, first, 0.3, 0.02);
    mc_shake(&c, first, 0.04);
  }
  if (which == OBJECTS) {
    for (int k = 0; k < 3; ++k)
      (void)mc_add_sheet(&c, k == 1 ? &thin : &thick, 9 + 2 * k, 9, 1.0, 0.8, 0.015 * k);
    for (int i = 0; i < 60; ++i) chain[i] = i % 3 == 2 ? 0.02 : 0.05 * (i / 3) + 0.01 * (i % 3);
    (void)mc_add_chain(&c, &thick, 20, chain);
    (void)mc_add_soup(&c, &thin, 30, 0.5, 0.1);
  }
  if (which == DEGENERATE) degenerate(&c, &thin);
  if (which == BODIES) {
    const double beside[3] = {1.1, 0.2, 0.05};
    (void)mc_add_sheet(&c, &thick, 17, 17, 1.0, 1.0, 0.0);
    (void)mc_add_ball(&c, &body, ball_at, 0.2, 200);
    (void)mc_add_ball(&c, &body, beside, 0.12, 40);
    (void)mc_add_chain(&c, &body, 4,
                       (double[]){0, 0, 0.03, 0.2, 0.1, 0.03, 0.5, 0.3, 0.02, 1, 1, 0});
  }
  if (which == LONE) (void)mc_add_sheet(&c, &thick, 2, 2, 0.01, 0.01, 0.0);
  for (int i = 0; i < c.cloth.n; ++i) c.cloth.fixed[i] = i % 13 == 0 || (i > 20 && i < 26);
  mc_move(&c.cloth, &c.seed, which == DEGENERATE ? 0.0 : 0.02, 0.01, -0.02, -0.03);
  mc_move(&c.body, &c.seed, 0.0, 0.02, 0.01, 0.06);
  return c;
}

/* ---- brute against a loop ---------------------------------------------------------------------
 */

typedef struct loop { /* what a plain double loop finds */
  const mesh_case *c;
  const mc_found *f;
  const uint8_t *mask;
  double margin, progress;
  int64_t at; /* pairs found so far, all of which stand in f */
  int64_t num;
} loop;

static int is_body(const loop *l, int v) { return v >= l->c->cloth.n; }

static int state_ok(const loop *l, const int32_t v[4])
{
  int free = 0, marked = l->mask == NULL;
  for (int i = 0; i < 4; ++i) {
    if (is_body(l, v[i])) continue;
    free |= !l->c->cloth.fixed[v[i]];
    if (l->mask != NULL) marked |= l->mask[v[i]];
  }
  return free && marked;
}

static int share(const int32_t v[4], int first)
{
  for (int i = 0; i < first; ++i)
    for (int j = first; j < 4; ++j)
      if (v[i] == v[j]) return 1;
  return 0;
}

static int64_t place_of(const mc_found *f, int32_t kind, uint64_t key)
{
  int64_t lo = 0, hi = f->n;
  while (lo < hi) {
    const int64_t mid = (lo + hi) / 2;
    if (f->kind[mid] < kind || (f->kind[mid] == kind && f->key[mid] < key))
      lo = mid + 1;
    else
      hi = mid;
  }
  return lo < f->n && f->kind[lo] == kind && f->key[lo] == key ? lo : -1;
}

static double radius(const loop *l, int v) { return is_body(l, v) ? 0.0 : l->c->cloth.r[v]; }

/* The record of a pair: gap, weights that give the closest points, unit normal along them. */
static void check_record(const loop *l, int64_t j, int ee, const int32_t v[4], const double *x,
                         double d)
{
  const mc_found *const f = l->f;
  double r[3] = {0}, first = 0, second = 0, nn = 0, nr = 0, size = 0;
  for (int i = 0; i < 12; ++i) size = fmax(size, fabs(x[i] - x[i % 3]));
  const double tol = 1e-12 * (size + fabs(x[0]));
  cr_assert_eq(memcmp(f->v + 4 * j, v, 4 * sizeof *v), 0);
  for (int i = 0; i < 4; ++i) {
    const double w = f->w[4 * j + i];
    const int one = i < (ee ? 2 : 1);
    cr_assert((one ? w : -w) > -1e-15 && (one ? w : -w) < 1 + 1e-15, "weight %d is %g", i, w);
    *(one ? &first : &second) += w;
    for (int c = 0; c < 3; ++c) r[c] += w * x[3 * i + c];
  }
  cr_assert(fabs(first - 1) < 1e-14 && fabs(second + 1) < 1e-14);
  for (int c = 0; c < 3; ++c) {
    nn += f->normal[3 * j + c] * f->normal[3 * j + c];
    nr += f->normal[3 * j + c] * r[c];
    cr_assert(f->point[3 * j + c] == 0);
  }
  cr_assert(fabs(nn - 1) < 1e-12, "normal of length %g", sqrt(nn));
  cr_assert(fabs(sqrt(r[0] * r[0] + r[1] * r[1] + r[2] * r[2]) - d) < tol);
  cr_assert(nr > d - tol - 1e-7 * size, "normal along %g of %g", nr, d);
  cr_assert(fabs(f->gap[j] - (d - radius(l, v[0]) - radius(l, v[ee ? 2 : 1]))) < tol);
  cr_assert(f->toi[j] == 2.0);
  int obst = -1;
  for (int i = 0; i < 4; ++i)
    if (is_body(l, v[i])) obst = l->c->body.object[v[i] - l->c->cloth.n];
  cr_assert_eq(f->obst[j], obst);
}

static void visit(loop *l, int ee, const int32_t v[4], uint64_t key, double threshold)
{
  double x[12], w[4];
  const int split = ee ? 2 : 1, b1 = is_body(l, v[0]), b2 = is_body(l, v[split]);
  if ((b1 && b2) || share(v, split) || !state_ok(l, v)) return;
  mc_verts(l->c, v, 0.0, x);
  for (int i = 0; i < 4; ++i) /* bodies alone have moved on */
    if (is_body(l, v[i])) {
      double y[12];
      mc_verts(l->c, v, l->progress, y);
      memcpy(x + 3 * i, y + 3 * i, 3 * sizeof *x);
    }
  const double d = sqrt(ee ? dist_ee(x, w) : dist_vt(x, w));
  const double gap = d - radius(l, v[0]) - radius(l, v[split]);
  const int32_t kind =
      ee ? (b1 || b2 ? LOOM_PAIR_BEE : LOOM_PAIR_EE) : (b1 || b2 ? LOOM_PAIR_BVT : LOOM_PAIR_VT);
  const int64_t j = place_of(l->f, kind, key);
  if (fabs(gap - threshold) > 1e-12 * (1.0 + fabs(x[0])))
    cr_assert_eq(j >= 0, gap < threshold, "kind %d, key %llx, gap %g: %s", kind,
                 (unsigned long long)key, gap, j >= 0 ? "found" : "missing");
  if (j < 0) return;
  check_record(l, j, ee, v, x, d);
  ++l->num;
}

static void visit_all(loop *l, double threshold)
{
  const mesh_part *const a = &l->c->cloth, *const b = &l->c->body;
  uint8_t *const corner = calloc((size_t)(a->n + b->n) + 1, 1);
  int32_t *const tri = malloc(sizeof *tri * 3 * (size_t)(a->nt + b->nt + 1));
  int32_t *const edge = malloc(sizeof *edge * 2 * (size_t)(a->ne + b->ne + 1));
  cr_assert(corner && tri && edge);
  for (int i = 0; i < 3 * (a->nt + b->nt); ++i)
    tri[i] = i < 3 * a->nt ? a->tris[i] : b->tris[i - 3 * a->nt] + a->n;
  for (int i = 0; i < 2 * (a->ne + b->ne); ++i)
    edge[i] = i < 2 * a->ne ? a->edges[i] : b->edges[i - 2 * a->ne] + a->n;
  for (int i = 0; i < 3 * (a->nt + b->nt); ++i) corner[tri[i]] = 1;
  for (int i = 0; i < 2 * (a->ne + b->ne); ++i) corner[edge[i]] = 1;
  for (int p = 0; p < a->n + b->n; ++p)
    for (int t = 0; t < a->nt + b->nt && corner[p]; ++t) {
      const int32_t v[4] = {p, tri[3 * t], tri[3 * t + 1], tri[3 * t + 2]};
      visit(l, 0, v, (uint64_t)p << 32 | (uint64_t)t, threshold);
    }
  for (int e = 0; e < a->ne + b->ne; ++e)
    for (int f = e + 1; f < a->ne + b->ne; ++f) {
      const int32_t v[4] = {edge[2 * e], edge[2 * e + 1], edge[2 * f], edge[2 * f + 1]};
      visit(l, 1, v, UINT64_C(1) << 63 | (uint64_t)e << 32 | (uint64_t)f, threshold);
    }
  free(corner), free(tri), free(edge);
}

static void brute_is_the_loop(int which, uint32_t what, double progress)
{
  mc_host h;
  mc_plugin p;
  mesh_case c = make(which);
  mc_open(&h, &c, 2, 1);
  mc_plugin_open(&p, &h, "brute", "");
  loom_query q = mc_query(&h, what, 0.01);
  q.progress0 = progress;
  mc_found f = mc_find(&p, &q);
  loop l = {.c = &c, .f = &f, .progress = progress};
  visit_all(&l, what == LOOM_DETECT_OVERLAP ? 0.0 : 0.01);
  cr_assert_eq(l.num, f.n, "%s: %lld of %lld pairs exist", scene_names[which], (long long)l.num,
               (long long)f.n);
  if (what == LOOM_DETECT_PROXIMITY && which != LONE) {
    cr_expect(f.n > 20, "%s: only %lld pairs", scene_names[which], (long long)f.n);
    cr_expect_eq(f.grown, 1, "it asks once, for what it needs");
  }
  mc_drop(&f);
  mc_plugin_close(&p);
  mc_close(&h);
  mc_free(&c);
}

Test(collision_mesh, brute_finds_what_a_plain_loop_finds)
{
  for (int k = 0; k < NUM_SCENES; ++k) {
    brute_is_the_loop(k, LOOM_DETECT_PROXIMITY, 0.0);
    brute_is_the_loop(k, LOOM_DETECT_OVERLAP, 0.0);
  }
  brute_is_the_loop(BODIES, LOOM_DETECT_PROXIMITY, 0.37);
}

/* ---- the others against brute
 * -------------------------------------------------------------------- */

static const char *const others[] = {"patch_bvh"};
enum { NUM_OTHERS = sizeof others / sizeof *others };

static void compare(int which, uint32_t what, double margin, int check)
{
  mc_host h;
  mc_plugin oracle, p;
  mesh_case c = make(which);
  mc_open(&h, &c, 2, check);
  mc_plugin_open(&oracle, &h, "brute", "");
  const loom_query q = mc_query(&h, what, margin);
  mc_found want = mc_find(&oracle, &q);
  for (int k = 0; k < NUM_OTHERS; ++k) {
    char text[80];
    snprintf(text, sizeof text, "%s: %s, %u, margin %g", scene_names[which], others[k], what,
             margin);
    mc_plugin_open(&p, &h, others[k], "");
    if (p.p->ops.collision->provides & LOOM_COLL_CCD || !(what & LOOM_DETECT_CCD)) {
      mc_found got = mc_find(&p, &q);
      mc_same(&want, &got, text);
      mc_drop(&got);
    }
    mc_plugin_close(&p);
  }
  mc_drop(&want);
  mc_plugin_close(&oracle);
  mc_close(&h);
  mc_free(&c);
}

Test(collision_mesh, proximity_equals_brute_to_the_bit)
{
  static const double margins[] = {-0.002, 0.0, 0.003, 0.02, 0.06};
  for (int k = 0; k < NUM_SCENES; ++k)
    for (size_t i = 0; i < sizeof margins / sizeof *margins; ++i)
      compare(k, LOOM_DETECT_PROXIMITY, margins[i], i == 2);
  compare(LONE, LOOM_DETECT_PROXIMITY, 10.0, 0); /* everything */
  compare(DEGENERATE, LOOM_DETECT_PROXIMITY, 10.0, 1);
}

Test(collision_mesh, overlap_equals_brute_to_the_bit)
{
  for (int k = 0; k < NUM_SCENES; ++k) compare(k, LOOM_DETECT_OVERLAP, 0.0, 0);
}
