/* test_bound_vertex.c - step bounds by vertex of the collision plugins for triangle meshes: all
 * pairs by a plain double loop, for any shares of the vertices; the plugins against brute, to the
 * bit. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "geom/distance.kern.h"
#include "support/mesh_case.h"

enum { DRAWS = 12 };
static const double KEEP = 0.1;
static const char *const plugins[] = {"patch_bvh", "bvtt_front"};
enum { NUM_PLUGINS = sizeof plugins / sizeof *plugins };
static const char *const shapes[] = {"shape=0", "shape=1"};

/* ---- a bound ---- */

typedef struct apart_bound {
  double t_global;
  double *t; /* [n] */
  int touching;
} apart_bound;

static apart_bound ask_apart_bound(mc_host *h, const char *name, const char *values, double min_gap)
{
  mc_plugin p;
  loom_bound b = {.struct_size = sizeof b,
                  .per_vertex = 1,
                  .min_gap = min_gap,
                  .progress1 = 1.0,
                  .blocker = -1};
  b.t_vertex = th_buf(&h->t, LOOM_REAL, h->c->cloth.n, NULL);
  mc_plugin_open(&p, h, name, values);
  cr_assert_eq(p.p->ops.collision->max_step(p.self, &h->t.step, h->b0, h->b1, &b), LOOM_OK, "%s",
               h->t.err.text);
  mc_plugin_close(&p);
  return (apart_bound){b.t_global, th_get(&h->t, b.t_vertex), b.touching};
}

static void expect_same_bounds(const apart_bound *a, const apart_bound *b, int n, const char *name)
{
  cr_expect_eq(a->t_global, b->t_global, "%s: %.17g, not %.17g", name, a->t_global, b->t_global);
  cr_expect_eq(memcmp(a->t, b->t, (size_t)n * sizeof *a->t), 0, "%s", name);
}

/* ---- pairs, one by one ---- */

typedef struct apart_check {
  const mesh_case *c;
  double min_gap;
  double *share; /* [DRAWS][verts of cloth and bodies] */
  double *most;  /* m, [the same] way that the formula allows a vertex; INFINITY: any */
} apart_check;

static double distance_apart(const mc_pair *p, const double x[12])
{
  double w[4], y[12];
  for (int i = 0; i < 12; ++i) y[i] = x[i] - x[i % 3];
  return sqrt(p->split == 2 ? dist_ee(y, w) : dist_vt(y, w));
}

/* The distance that the pair never falls below, m. */
static double held_apart(const mc_pair *p, double min_gap, double d0)
{
  const double gap = d0 - p->radii, rounding = 1e-12;
  if (gap > 1.25 * min_gap + rounding) return p->radii + 1.25 * min_gap;
  if (gap > min_gap) return p->radii + min_gap;
  return gap > rounding ? p->radii + 0.999 * gap : 0.999 * d0;
}

/* Longest way of either side of the pair, m. */
static void measure_ways(const mc_pair *p, const double x0[12], const double x1[12], double way[2])
{
  way[0] = way[1] = 0.0;
  for (int i = 0; i < 4; ++i) {
    double q = 0.0;
    for (int k = 0; k < 3; ++k) q += pow(x1[3 * i + k] - x0[3 * i + k], 2);
    way[i >= p->split] = fmax(way[i >= p->split], sqrt(q));
  }
}

static void visit_apart_pair(void *user, const mc_pair *p)
{
  const apart_check *const s = user;
  double x0[12], x1[12], x[12], way[2];
  mc_verts(s->c, p->v, 0.0, x0);
  mc_verts(s->c, p->v, 1.0, x1);
  measure_ways(p, x0, x1, way);
  const double d0 = distance_apart(p, x0), held = held_apart(p, s->min_gap, d0);
  const double floor = held + KEEP * (d0 - held) * (1 - 1e-6) - 1e-9 * d0;
  if (d0 < 1e-9 || d0 - way[0] - way[1] > floor) return; /* touches: no bound */
  for (int draw = 0; draw < DRAWS; ++draw) {
    const double *const share = s->share + (ptrdiff_t)draw * (s->c->cloth.n + s->c->body.n);
    for (int i = 0; i < 12; ++i) x[i] = x0[i] + share[p->v[i / 3]] * (x1[i] - x0[i]);
    const double d = distance_apart(p, x);
    cr_assert(d >= floor, "kind %d: %g of %g, wanted %g", p->kind, d, d0, floor);
  }
}

/* Every vertex goes a share of its own, up to its bound; bodies and fixed vertices up to the bound
 * of all. */
static void check_any_shares(const mesh_case *c, const apart_bound *b, double min_gap)
{
  const int n = c->cloth.n, all = n + c->body.n;
  apart_check s = {
      .c = c, .min_gap = min_gap, .share = malloc(sizeof(double) * DRAWS * (size_t)all)};
  uint64_t seed = 11;
  for (int j = 0; j < DRAWS * all; ++j) {
    const int draw = j / all, i = j % all;
    const double u = 0.5 + 0.5 * th_random(&seed);
    const double most = i < n && !c->cloth.fixed[i] ? b->t[i] : b->t_global;
    s.share[j] = most * (draw == 0 ? 1.0 : draw < DRAWS / 2 ? (double)(u > 0.5) : u);
  }
  mc_each_pair(c, visit_apart_pair, &s);
  free(s.share);
}

/* Boxes around the ways of both sides, as near as 1.5 keep of the distance of such ways. */
static int ways_come_near(const mc_pair *p, const double x0[12], const double x1[12],
                          const double way[2])
{
  const double near = p->radii + 1.5 * KEEP / (1.0 - 1.5 * KEEP) * (way[0] + way[1]);
  int meet = 1;
  for (int c = 0; c < 3; ++c) {
    double lo[2] = {INFINITY, INFINITY}, hi[2] = {-INFINITY, -INFINITY};
    for (int i = c; i < 12; i += 3) {
      const int side = i / 3 >= p->split;
      lo[side] = fmin(lo[side], fmin(x0[i], x1[i]));
      hi[side] = fmax(hi[side], fmax(x0[i], x1[i]));
    }
    meet &= lo[0] - hi[1] <= near && lo[1] - hi[0] <= near;
  }
  return meet;
}

/* Half of the distance that the nearest pair of each vertex may lose, where the ways of both sides
 * together are as long. */
static void visit_formula_pair(void *user, const mc_pair *p)
{
  apart_check *const s = user;
  double x0[12], x1[12], way[2];
  mc_verts(s->c, p->v, 0.0, x0);
  mc_verts(s->c, p->v, 1.0, x1);
  measure_ways(p, x0, x1, way);
  const double d = distance_apart(p, x0), gap = d - p->radii;
  const double room = gap > 0.0 ? (1.0 - KEEP) * gap : 1e-3 * (1.0 - KEEP) * d;
  if (d < 1e-9 || way[0] + way[1] <= room || !ways_come_near(p, x0, x1, way)) return;
  for (int i = 0; i < 4; ++i) s->most[p->v[i]] = fmin(s->most[p->v[i]], 0.5 * room);
}

/* Without a wanted gap a ball is gamma times the least gap, gamma = (1 - keep) / 2. */
static void check_formula(const mesh_case *c, const apart_bound *b)
{
  const int n = c->cloth.n, all = n + c->body.n;
  apart_check s = {.c = c, .most = malloc((size_t)all * sizeof(double))};
  int held = 0;
  for (int i = 0; i < all; ++i) s.most[i] = INFINITY;
  mc_each_pair(c, visit_formula_pair, &s);
  for (int i = 0; i < n; ++i) {
    double way = 0.0;
    for (int k = 0; k < 3; ++k) way += pow(c->cloth.x1[3 * i + k] - c->cloth.x0[3 * i + k], 2);
    const double want = fmin(1.0, s.most[i] / sqrt(way));
    held += want < 1.0;
    cr_expect(fabs(b->t[i] - want) < 1e-7 * want + 1e-11, "vertex %d: %g, not %g", i, b->t[i],
              want);
  }
  cr_expect(held > n / 20, "%d of %d vertices are held back", held, n);
  free(s.most);
}

static void check_apart_bound(int which, double min_gap, double scale)
{
  mesh_case c = mc_make(which);
  mc_host h;
  apart_bound ball = {0};
  for (int i = 0; i < 3 * c.cloth.n; ++i)
    c.cloth.x1[i] = c.cloth.x0[i] + scale * (c.cloth.x1[i] - c.cloth.x0[i]);
  mc_open(&h, &c, 2, which == MC_BODIES);
  for (int k = 0; k < 2; ++k) {
    const apart_bound b = ask_apart_bound(&h, plugins[0], shapes[k], min_gap);
    const apart_bound other = ask_apart_bound(&h, plugins[1], shapes[k], min_gap);
    expect_same_bounds(&other, &b, c.cloth.n, plugins[1]);
    free(other.t);
    cr_assert(b.t_global > 0.0 && b.t_global <= 1.0);
    for (int i = 0; i < c.cloth.n; ++i) cr_assert(b.t[i] >= b.t_global && b.t[i] <= 1.0);
    check_any_shares(&c, &b, min_gap);
    if (k == 0) {
      const apart_bound oracle = ask_apart_bound(&h, "brute", "", min_gap);
      expect_same_bounds(&oracle, &b, c.cloth.n, mc_scene_names[which]);
      free(oracle.t);
      if (min_gap == 0.0 && which != MC_DEGENERATE) check_formula(&c, &b);
      ball = b;
      continue;
    }
    for (int i = 0; i < c.cloth.n; ++i) cr_assert(b.t[i] >= ball.t[i] * (1 - 1e-9), "vertex %d", i);
    free(b.t);
  }
  free(ball.t);
  mc_close(&h);
  mc_free(&c);
}

Test(bound_vertex, no_pair_meets_whatever_the_shares)
{
  check_apart_bound(MC_SOUP, 0.0, 1.0);
  check_apart_bound(MC_BODIES, 0.0, 1.0);
  check_apart_bound(MC_BODIES, 1e-3, 0.3);
  check_apart_bound(MC_OBJECTS, 0.0, 0.2);
  check_apart_bound(MC_OBJECTS, 1e-3, 1.0);
  check_apart_bound(MC_FOLDED, 0.0, 0.1);
  check_apart_bound(MC_CRUMPLED, 0.0, 0.1);
  check_apart_bound(MC_DEGENERATE, 0.0, 1.0);
}

/* ---- two sheets ---- */

/* The upper one is `gap` above the lower one and moves by d. */
static mesh_case make_upper_and_lower(double gap, const double d[3])
{
  mesh_case c = {.seed = 5};
  (void)mc_add_sheet(&c, &(mc_object){0}, 4, 4, 1.0, 1.0, 0.0);
  const int half = c.cloth.n;
  (void)mc_add_sheet(&c, &(mc_object){0}, 3, 5, 0.9, 0.8, gap);
  memcpy(c.cloth.x1, c.cloth.x0, 3 * (size_t)c.cloth.n * sizeof *c.cloth.x1);
  for (int i = 3 * half; i < 3 * c.cloth.n; ++i) c.cloth.x1[i] += d[i % 3];
  return c;
}

static double find_least_share(double gap, const double d[3], const char *shape, int *touching)
{
  double least = 1.0;
  for (int k = 0; k < NUM_PLUGINS; ++k) {
    mesh_case c = make_upper_and_lower(gap, d);
    mc_host h;
    mc_open(&h, &c, 1, 0);
    const apart_bound b = ask_apart_bound(&h, plugins[k], shape, 0.0);
    for (int i = 0; i < c.cloth.n; ++i) least = fmin(least, b.t[i]);
    cr_expect_eq(least, b.t_global);
    *touching = b.touching;
    free(b.t);
    mc_close(&h);
    mc_free(&c);
  }
  return least;
}

Test(bound_vertex, a_plane_lets_sheets_slide_and_part)
{
  static const double slide[3] = {0.02, 0.01, 0}, part[3] = {0, 0, 0.1}, fall[3] = {0, 0, -2e-3};
  const double gap = 1e-3;
  int touching;
  cr_expect_float_eq(find_least_share(gap, fall, shapes[0], &touching), 0.45 * gap / 2e-3, 1e-8);
  cr_expect_lt(find_least_share(gap, slide, shapes[0], &touching), 0.05);
  /* the lower sheet rests: it leaves its half to the upper one */
  cr_expect_float_eq(find_least_share(gap, fall, shapes[1], &touching), 0.9 * gap / 2e-3, 1e-8);
  cr_expect_gt(find_least_share(gap, slide, shapes[1], &touching), 0.5);
  cr_expect_eq(find_least_share(gap, part, shapes[1], &touching), 1.0);
  cr_expect_eq(touching, 0);
  /* within rounding: no share could part them */
  (void)find_least_share(1e-12, fall, shapes[0], &touching);
  cr_expect_eq(touching, 1);
}

/* ---- long ways, threads ---- */

/* A step across the whole scene is searched for a part of the ways only. */
static void check_limited_ways(const char *name, const char *values)
{
  mesh_case c = {.seed = 3};
  mc_host h;
  (void)mc_add_sheet(&c, &(mc_object){.radius = 1e-3}, 13, 13, 1.0, 1.0, 0.0);
  (void)mc_add_ball(&c, &(mc_object){.body = 1}, (double[]){0.5, 0.5, -0.22}, 0.2, 60);
  mc_move(&c.cloth, &c.seed, 5.0, 0.0, 0.0, 0.0);
  for (int k = 0; k < 3; ++k) /* a vertex that stays within the searched ways */
    c.cloth.x1[k] = c.cloth.x0[k] + 1e-6;
  mc_open(&h, &c, 2, 0);
  const apart_bound cut = ask_apart_bound(&h, name, values, 1e-4);
  const apart_bound all = ask_apart_bound(&h, "brute", "", 1e-4);
  check_any_shares(&c, &cut, 1e-4);
  cr_expect(cut.t_global > 1e-4 && cut.t_global <= all.t_global * (1 + 1e-9));
  cr_expect_eq(cut.t[0], 1.0, "%g", cut.t[0]);
  for (int i = 0; i < c.cloth.n; ++i)
    cr_expect(cut.t[i] > 1e-4 && cut.t[i] <= all.t[i] * (1 + 1e-9), "vertex %d: %g of %g", i,
              cut.t[i], all.t[i]);
  free(cut.t);
  free(all.t);
  mc_close(&h);
  mc_free(&c);
}

Test(bound_vertex, long_ways_are_limited)
{
  check_limited_ways("patch_bvh", "crowd=4");
  check_limited_ways("bvtt_front", "crowd=30");
}

Test(bound_vertex, the_same_bits_for_any_number_of_threads)
{
  static const int threads[] = {1, 2, 4};
  for (int k = 0; k < NUM_PLUGINS; ++k) {
    apart_bound first = {0};
    for (int i = 0; i < 3; ++i) {
      mesh_case c = mc_make(MC_OBJECTS);
      mc_host h;
      mc_open(&h, &c, threads[i], 0);
      const apart_bound b = ask_apart_bound(&h, plugins[k], shapes[1], 1e-3);
      if (i > 0) expect_same_bounds(&b, &first, c.cloth.n, plugins[k]);
      if (i > 0) free(b.t);
      if (i == 0) first = b;
      mc_close(&h);
      mc_free(&c);
    }
    free(first.t);
  }
}
