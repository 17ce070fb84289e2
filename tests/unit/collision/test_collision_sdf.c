/* test_collision_sdf.c - the detector of plugins/collision/sdf against brute force, and its
 * step bounds against dense sampling. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bodies/body.h"
#include "support/test_host.h"

enum { N = 400, BODIES = 4, STEPS = 2000 };

static const loom_real shapes[BODIES][8] = {{0, 0, 1, -0.6},
                                            {0.1, -0.2, 0.05, 0.4},
                                            {0.5, 0.3, 0.2, 0.05},
                                            {-0.3, 0.1, 0, 0.4, 0.2, 0.1, 0.15}};
static const char *const kinds[BODIES] = {"plane", "sphere", "box", "capsule"};

typedef struct scene {
  test_host t;
  const loom_plugin *p;
  void *set, *self;
  loom_real x0[3 * N], x1[3 * N], r[N];
  uint8_t fixed[N];
  loom_buf *b0, *b1; /* x0 is the step's x_start when `swept` */
  obst_view view[BODIES + 1];
} scene;

/* Random vertices with random moves among moving bodies; the last body is a grid. */
static void scene_open(scene *s, int threads, int check, int grid, double move)
{
  static const double axis[3] = {0.6, 0.0, 0.8};
  uint64_t seed = 11;
  th_open(&s->t, threads, check);
  for (int i = 0; i < N; ++i) {
    s->r[i] = 0.005 * (i % 3);
    s->fixed[i] = i % 17 == 0;
    for (int c = 0; c < 3; ++c) {
      s->x0[3 * i + c] = 1.2 * th_random(&seed);
      s->x1[3 * i + c] = s->x0[3 * i + c] + move * th_random(&seed);
    }
  }
  for (int k = 0; k < BODIES; ++k) {
    const double t0[3] = {0.05 * k, 0, 0}, t1[3] = {0.05 * k, 0.1, 0.05 * (k - 1)};
    loom_obstacle *const o = &s->t.obstacles[k];
    *o = th_obstacle(kinds[k], shapes[k], 8);
    th_pose(o->pose0, axis, 0.1 * k, t0);
    th_pose(o->pose1, axis, 0.1 * k + 0.2 * (k % 2), t1);
  }
  if (grid) {
    loom_real f[8] = {0};
    loom_obstacle *const o = &s->t.obstacles[BODIES];
    *o = th_obstacle("sdf", f, 0);
    o->spacing = 0.2;
    for (int c = 0; c < 3; ++c) o->dims[c] = 2;
    for (int i = 0; i < 8; ++i) f[i] = i < 4 ? -0.1 : 0.1; /* the plane z = 0.1 of the cell */
    o->sdf = th_buf(&s->t, LOOM_REAL, 8, f);
  }
  th_scene(&s->t, N, s->x0, NULL, s->r, BODIES + grid);
  th_put(&s->t, s->t.scene.fixed, s->fixed);
  s->b0 = s->t.step.x_start;
  s->b1 = s->t.step.x;
  th_put(&s->t, s->b1, s->x1);
  s->p = th_plugin("sdf", LOOM_KIND_COLLISION, "sdf");
  s->set = th_settings(s->p, "");
  s->self = th_create(&s->t, s->p, s->set);
  th_attach(&s->t, s->p, s->self);
  cr_assert_eq(TH_CALL(s->p->ops.collision, begin_step, s->self, &s->t.step), LOOM_OK, "%s",
               s->t.err.text);
  for (int k = 0; k < BODIES; ++k)
    cr_assert(obst_view_fill(&s->t.obstacles[k], &s->view[k]) == NULL);
}

static void scene_close(scene *s)
{
  s->p->ops.collision->destroy(s->self);
  free(s->set);
  th_close(&s->t);
}

static loom_query create_sdf_query(const scene *s, uint32_t what)
{
  return (loom_query){.struct_size = sizeof(loom_query),
                      .what = what,
                      .kinds = LOOM_PAIR_MASK_ALL,
                      .margin = 0.05,
                      .x0 = s->b0,
                      .x1 = s->b1,
                      .progress0 = 1,
                      .progress1 = 1};
}

static double vertex_obstacle_gap(const scene *s, int o, int i, const double *x, double time)
{
  obst_pose P;
  lk_real n[3];
  obst_pose_at(&s->view[o], time, &P);
  return obst_distance(&s->view[o], &P, x, n) - s->r[i];
}

static double gap_on_way(const scene *s, int o, int i, double u, double time)
{
  double x[3];
  for (int c = 0; c < 3; ++c) x[c] = s->x0[3 * i + c] + u * (s->x1[3 * i + c] - s->x0[3 * i + c]);
  return vertex_obstacle_gap(s, o, i, x, time);
}

/* ---- detection ---- */

Test(collision_sdf, proximity_and_overlap_equal_brute_force)
{
  for (int check = 0; check < 2; ++check)
    for (int what = LOOM_DETECT_PROXIMITY; what <= LOOM_DETECT_OVERLAP; what += 3) {
      static scene s;
      loom_pairs p;
      int64_t m = 0;
      scene_open(&s, 2, check, 0, 0.1);
      th_pairs_open(&s.t, &p, 4);
      const loom_query q = create_sdf_query(&s, (uint32_t)what);
      cr_expect_eq(th_detect(&s.t, &q, &p), 1, "grows once, to the needed room");
      uint64_t *const key = th_get(&s.t, p.key);
      loom_real *const g = th_get(&s.t, p.gap), *const n = th_get(&s.t, p.normal);
      loom_real *const point = th_get(&s.t, p.point), *const w = th_get(&s.t, p.w);
      loom_real *const toi = th_get(&s.t, p.toi);
      int32_t *const v = th_get(&s.t, p.v), *const o = th_get(&s.t, p.obst);
      int32_t *const kind = th_get(&s.t, p.kind);
      for (int b = 0; b < BODIES; ++b)
        for (int i = 0; i < N; ++i) {
          const double want = vertex_obstacle_gap(&s, b, i, s.x0 + 3 * i, 1.0);
          if (s.fixed[i] || want >= (what == LOOM_DETECT_OVERLAP ? 0.0 : 0.05)) continue;
          cr_assert(m < p.count, "body %d, vertex %d is missing", b, i);
          cr_assert_eq(key[m], (uint64_t)b << 32 | (uint64_t)i);
          cr_assert(kind[m] == LOOM_PAIR_VO && o[m] == b && v[4 * m] == i && v[4 * m + 1] == -1);
          cr_assert(w[4 * m] == 1 && w[4 * m + 1] == 0 && toi[m] == 2);
          cr_assert(fabs(g[m] - want) < 1e-15);
          double plane = -s.r[i];
          for (int c = 0; c < 3; ++c) plane += n[3 * m + c] * (s.x0[3 * i + c] - point[3 * m + c]);
          cr_assert(fabs(plane - want) < 1e-14, "gap of the plane is %g, not %g", plane, want);
          ++m;
        }
      cr_expect_eq(p.count, m, "%d pairs instead of %d", (int)p.count, (int)m);
      cr_expect(m > 30);
      void *const all[] = {key, g, n, point, w, toi, v, o, kind};
      for (size_t i = 0; i < sizeof all / sizeof *all; ++i) free(all[i]);
      th_pairs_close(&s.t, &p);
      scene_close(&s);
    }
}

/* The gap at which a vertex meets a body: 0, and 1/1000 of its distance nearer than at the start
 * where it starts nearer than its radius. */
static double meeting_gap(const scene *s, int b, int i, double from)
{
  const double gap = gap_on_way(s, b, i, 0.0, from), f = gap + s->r[i];
  return gap <= 1e-7 && f > 0.0 ? 0.999 * f - s->r[i] : 0.0;
}

/* The bodies move from one share of their motion to another. */
static void check_ccd(double from, double to)
{
  static scene s;
  loom_pairs p;
  int64_t j = 0;
  int hits = 0, held = 0;
  scene_open(&s, 2, 0, 0, 0.5);
  th_pairs_open(&s.t, &p, 0);
  loom_query q = create_sdf_query(&s, LOOM_DETECT_CCD);
  q.progress0 = from;
  q.progress1 = to;
  th_detect(&s.t, &q, &p);
  uint64_t *const key = th_get(&s.t, p.key);
  loom_real *const toi = th_get(&s.t, p.toi), *const g = th_get(&s.t, p.gap);
  for (int b = 0; b < BODIES; ++b)
    for (int i = 0; i < N; ++i) {
      const double level = meeting_gap(&s, b, i, from);
      double first = 2.0, lowest = INFINITY;
      for (int k = 0; k <= STEPS && first > 1.0; ++k) {
        const double u = (double)k / STEPS, d = gap_on_way(&s, b, i, u, from + u * (to - from));
        lowest = fmin(lowest, d);
        if (d <= level) first = u;
      }
      const int found = j < p.count && key[j] == ((uint64_t)b << 32 | (uint64_t)i);
      if (s.fixed[i]) {
        cr_assert(!found);
        continue;
      }
      if (first <= 1.0) cr_assert(found && toi[j] <= first, "body %d, vertex %d is missed", b, i);
      held += level < 0.0;
      if (!found) continue;
      ++hits;
      cr_assert(toi[j] >= 0.0 && toi[j] <= 1.0);
      cr_assert(gap_on_way(&s, b, i, toi[j], from + toi[j] * (to - from)) <= level + 1e-7);
      cr_assert(first <= 1.0 || lowest < level + 1e-3, "body %d, vertex %d: a false alarm", b, i);
      /* the plane of the impact, carried along: the end point is below it if it is inside a
       * convex body */
      if (vertex_obstacle_gap(&s, b, i, s.x1 + 3 * i, to) < 0.0) cr_assert(g[j] < 1e-12);
      ++j;
    }
  cr_expect_eq(j, p.count);
  cr_expect(hits > 100 && held > 0, "only %d, %d of vertices that start nearer", hits, held);
  free(key), free(toi), free(g);
  th_pairs_close(&s.t, &p);
  scene_close(&s);
}

Test(collision_sdf, ccd_with_moving_bodies_equals_dense_sampling) { check_ccd(0.0, 1.0); }
Test(collision_sdf, ccd_over_a_part_of_the_motion) { check_ccd(0.25, 0.75); }
Test(collision_sdf, ccd_between_iterates_keeps_bodies_where_they_are) { check_ccd(1.0, 1.0); }

/* 0.5 mm thick on a side, above the floor or the last body, which comes up. */
Test(collision_sdf, a_start_nearer_than_the_radius_may_only_move_apart)
{
  enum { CASES = 9 };
  static const struct {
    double f, up; /* m, distance at the start, and how it changes */
    double toi;   /* 2: no impact */
  } at[CASES] = {{4e-4, 0, 2},        {4e-4, 1e-3, 2},     {4e-4, -3e-7, 2},
                 {4e-4, -8e-7, 0.5},  {4e-4, -8e-4, 5e-4}, {1e-9, 0, 2},
                 {1e-9, -1e-3, 1e-9}, {0.0, 1e-3, 0},      {-1e-4, 1e-3, 0}};
  static const double axis[3] = {1, 0, 0};
  static const loom_real floor[4] = {0, 0, 1, 0};
  const loom_plugin *const p = th_plugin("sdf", LOOM_KIND_COLLISION, "sdf");
  for (int moves = 0; moves < 2; ++moves) {
    loom_real x0[3 * CASES] = {0}, x1[3 * CASES] = {0}, r[CASES];
    test_host t;
    loom_pairs pairs;
    int64_t j = 0;
    for (int i = 0; i < CASES; ++i) {
      r[i] = 5e-4;
      x0[3 * i] = x1[3 * i] = 0.1 * i;
      x1[3 * i + 1] = 0.05; /* along the floor */
      x0[3 * i + 2] = at[i].f;
      x1[3 * i + 2] = at[i].f + at[i].up + 0.02 * moves;
    }
    th_open(&t, 2, 0);
    t.obstacles[0] = th_obstacle("plane", floor, 4);
    th_pose(t.obstacles[0].pose1, axis, 0, (double[3]){0, 0, 0.02 * moves});
    th_scene(&t, CASES, x0, NULL, r, 1);
    th_put(&t, t.step.x, x1);
    void *const set = th_settings(p, ""), *const self = th_create(&t, p, set);
    th_attach(&t, p, self);
    cr_assert_eq(TH_CALL(p->ops.collision, begin_step, self, &t.step), LOOM_OK);
    th_pairs_open(&t, &pairs, 0);
    const loom_query q = {.struct_size = sizeof q,
                          .what = LOOM_DETECT_CCD,
                          .kinds = LOOM_PAIR_MASK_ALL,
                          .x0 = t.step.x_start,
                          .x1 = t.step.x,
                          .progress1 = 1};
    th_detect(&t, &q, &pairs);
    int32_t *const v = th_get(&t, pairs.v);
    loom_real *const toi = th_get(&t, pairs.toi), *const gap = th_get(&t, pairs.gap);
    for (int i = 0; i < CASES; ++i) {
      const int found = j < pairs.count && v[4 * j] == i;
      cr_assert_eq(found, at[i].toi <= 1.0, "case %d, body moves %d: found %d", i, moves, found);
      if (!found) continue;
      /* early by the tolerance of a ten thousandth of the distance */
      cr_expect(toi[j] <= at[i].toi + 1e-12 && toi[j] >= 0.8 * at[i].toi, "case %d: %g", i, toi[j]);
      cr_expect_float_eq(gap[j], at[i].f + at[i].up - 5e-4, 1e-15, "case %d: %g", i, gap[j]);
      ++j;
    }
    cr_expect_eq(j, pairs.count);
    free(v), free(toi), free(gap), free(set);
    th_pairs_close(&t, &pairs);
    p->ops.collision->destroy(self);
    th_close(&t);
  }
}

/* Later queries of a step have lower bounds of gaps.  One that lies within the tolerance is none of
 * a vertex that starts nearer than its radius, 5 mm: this one goes 2 um below it. */
Test(collision_sdf, a_lower_bound_of_a_gap_holds_no_vertex)
{
  static const loom_real floor[4] = {0, 0, 1, 0}, r[1] = {5e-3};
  static const loom_real first[3] = {0, 0, 6e-3}, then[3] = {1e-3 - 5e-8, 0, 6e-3},
                         end[3] = {1e-3 - 5e-8, 0, 5e-3 - 2e-6};
  const loom_plugin *const p = th_plugin("sdf", LOOM_KIND_COLLISION, "sdf");
  test_host t;
  loom_pairs pairs;
  th_open(&t, 1, 0);
  t.obstacles[0] = th_obstacle("plane", floor, 4);
  th_scene(&t, 1, first, NULL, r, 1);
  void *const set = th_settings(p, ""), *const self = th_create(&t, p, set);
  th_attach(&t, p, self);
  cr_assert_eq(TH_CALL(p->ops.collision, begin_step, self, &t.step), LOOM_OK);
  th_pairs_open(&t, &pairs, 0);
  loom_query q = {.struct_size = sizeof q,
                  .what = LOOM_DETECT_CCD,
                  .kinds = LOOM_PAIR_MASK_ALL,
                  .x0 = t.step.x_start,
                  .x1 = t.step.x_start};
  th_detect(&t, &q, &pairs);
  cr_assert_eq(pairs.count, 0);
  q.x0 = th_buf(&t, LOOM_REAL, 3, then);
  q.x1 = th_buf(&t, LOOM_REAL, 3, end);
  th_detect(&t, &q, &pairs);
  cr_expect_eq(pairs.count, 1);
  free(set);
  th_pairs_close(&t, &pairs);
  p->ops.collision->destroy(self);
  th_close(&t);
}

Test(collision_sdf, masked_and_excluded_pairs_are_left_out)
{
  static scene s;
  loom_pairs all, some;
  uint8_t mask[N];
  scene_open(&s, 2, 0, 0, 0.1);
  th_pairs_open(&s.t, &all, 0);
  th_pairs_open(&s.t, &some, 0);
  loom_query q = create_sdf_query(&s, LOOM_DETECT_PROXIMITY);
  th_detect(&s.t, &q, &all);
  uint64_t *const key = th_get(&s.t, all.key), drop[2000];
  int64_t m = 0, left = 0;
  for (int i = 0; i < N; ++i) mask[i] = i % 2 == 0;
  for (int64_t j = 0; j < all.count; j += 3) drop[m++] = key[j];
  q.mask = th_buf(&s.t, LOOM_U8, N, mask);
  q.exclude = th_buf(&s.t, LOOM_U64, m, drop);
  th_detect(&s.t, &q, &some);
  uint64_t *const got = th_get(&s.t, some.key);
  for (int64_t j = 0; j < all.count; ++j) {
    if (j % 3 == 0 || !mask[key[j] & UINT32_MAX]) continue;
    cr_assert(left < some.count && got[left] == key[j], "pair %d is missing", (int)j);
    ++left;
  }
  cr_expect_eq(left, some.count);
  cr_expect(left > 20 && left < all.count / 2);
  /* pairs of other plugins stand in front and stay */
  some.count = 2;
  q.mask = NULL;
  q.exclude = NULL;
  loom_pairs more = some;
  cr_expect_eq(s.p->ops.collision->detect(s.self, &s.t.step, &q, &more), LOOM_GROW);
  cr_expect_eq(more.count, 2 + all.count);
  q.kinds = LOOM_PAIR_MASK_SELF;
  more = some;
  cr_expect_eq(s.p->ops.collision->detect(s.self, &s.t.step, &q, &more), LOOM_OK);
  cr_expect_eq(more.count, 2, "no pairs for self contact");
  free(key), free(got);
  scene_close(&s);
}

Test(collision_sdf, the_same_bits_for_any_number_of_threads)
{
  void *first[4] = {NULL};
  int64_t count = -1;
  for (int threads = 1; threads <= 3; ++threads) {
    static scene s;
    loom_pairs p;
    scene_open(&s, threads, 0, 1, 0.5);
    th_pairs_open(&s.t, &p, 0);
    const loom_query q = create_sdf_query(&s, LOOM_DETECT_CCD | LOOM_DETECT_PROXIMITY);
    th_detect(&s.t, &q, &p);
    void *const got[4] = {th_get(&s.t, p.key), th_get(&s.t, p.gap), th_get(&s.t, p.normal),
                          th_get(&s.t, p.toi)};
    static const size_t width[4] = {8, 8, 24, 8};
    if (threads == 1) count = p.count;
    cr_assert_eq(p.count, count);
    for (int i = 0; i < 4; ++i) {
      if (threads == 1) first[i] = got[i];
      cr_assert_eq(memcmp(first[i], got[i], width[i] * (size_t)count), 0);
      if (threads > 1) free(got[i]);
    }
    scene_close(&s);
  }
  for (int i = 0; i < 4; ++i) free(first[i]);
}

/* ---- bounds ----
 */

static void check_sdf_bound(int per_vertex, double min_gap, double from, double to)
{
  static scene s;
  scene_open(&s, 2, 0, 0, 0.6);
  loom_bound b = {.struct_size = sizeof b,
                  .per_vertex = per_vertex,
                  .min_gap = min_gap,
                  .progress0 = from,
                  .progress1 = to,
                  .blocker = -1};
  if (per_vertex) b.t_vertex = th_buf(&s.t, LOOM_REAL, N, NULL);
  cr_assert_eq(s.p->ops.collision->max_step(s.self, &s.t.step, s.b0, s.b1, &b), LOOM_OK, "%s",
               s.t.err.text);
  cr_assert(b.t_global > 0.0 && b.t_global < 1.0, "%g", b.t_global);
  loom_real *const t = per_vertex ? th_get(&s.t, b.t_vertex) : NULL;
  int cut = 0;
  double smallest = 1.0;
  for (int i = 0; i < N; ++i) {
    const double limit = per_vertex ? t[i] : b.t_global;
    cut += limit < 1.0;
    smallest = fmin(smallest, limit);
    cr_assert(limit > 0.0 && limit <= 1.0);
    if (s.fixed[i]) continue;
    double best = INFINITY; /* how much of the gap was left, over all bodies */
    int inside = 0;
    for (int o = 0; o < BODIES; ++o) {
      const double g0 = gap_on_way(&s, o, i, 0.0, from);
      const double floor = g0 > min_gap ? min_gap + 0.1 * (g0 - min_gap) : g0;
      if (g0 <= 0.0) {
        inside = 1;
        continue;
      }
      for (int k = 0; k <= 500; ++k) {
        const double u = limit * k / 500, g = gap_on_way(&s, o, i, u, from + u * (to - from));
        cr_assert(g >= floor - 1e-8 * g0, "vertex %d, body %d: %g of %g", i, o, g, g0);
        best = fmin(best, (g - floor) / g0);
      }
    }
    if (per_vertex && limit < 1.0 && !inside)
      cr_assert(best < 1e-2, "vertex %d is held back at %g without need: %g", i, limit, best);
  }
  cr_expect(cut > 20);
  if (per_vertex) cr_expect_eq(b.t_global, smallest);
  cr_assert(b.blocker >= 0 && b.blocker < BODIES, "blocker %d", b.blocker);
  double nearest = INFINITY; /* the body that is named is the one that is nearly touched */
  for (int i = 0; i < N; ++i) {
    const double g0 = gap_on_way(&s, b.blocker, i, 0.0, from);
    if (s.fixed[i] || g0 <= 0.0) continue;
    const double u = b.t_global, g = gap_on_way(&s, b.blocker, i, u, from + u * (to - from));
    nearest = fmin(nearest, (g - (g0 > min_gap ? min_gap + 0.1 * (g0 - min_gap) : g0)) / g0);
  }
  cr_expect_lt(nearest, 1e-2, "body %d stands %g off", b.blocker, nearest);
  free(t);
  scene_close(&s);
}

Test(collision_sdf, bound_per_vertex_is_safe_and_tight) { check_sdf_bound(1, 0.0, 1, 1); }
Test(collision_sdf, bound_per_vertex_keeps_the_wanted_gap) { check_sdf_bound(1, 2e-3, 1, 1); }
Test(collision_sdf, bound_per_vertex_among_moving_bodies) { check_sdf_bound(1, 0.0, 0, 1); }
Test(collision_sdf, global_bound_is_safe) { check_sdf_bound(0, 0.0, 1, 1); }
Test(collision_sdf, global_bound_among_moving_bodies) { check_sdf_bound(0, 1e-3, 0.2, 0.9); }

Test(collision_sdf, a_mesh_without_a_grid_is_refused_by_name)
{
  const loom_plugin *const p = th_plugin("sdf", LOOM_KIND_COLLISION, "sdf");
  const loom_real x[3] = {0, 0, 1}, none[8] = {0};
  test_host t;
  void *self = NULL, *const set = th_settings(p, "");
  th_open(&t, 1, 0);
  t.obstacles[0] = th_obstacle("mesh", none, 8);
  th_scene(&t, 1, x, NULL, NULL, 1);
  const loom_status s = p->ops.collision->create(&t.host, &t.scene, &t.exec, set, &self);
  cr_expect_eq(s, LOOM_E_CONFIG);
  cr_expect(strstr(t.err.text, "[body.body] sdf_resolution: this mesh") != NULL, "%s", t.err.text);
  p->ops.collision->destroy(self);
  free(set);
  th_close(&t);
}

Test(collision_none, finds_nothing_and_claims_nothing)
{
  test_host t;
  const loom_plugin *const p = th_plugin("none", LOOM_KIND_COLLISION, "none");
  const loom_real x[3] = {0, 0, -1}, plane[4] = {0, 0, 1, 0};
  loom_pairs pairs;
  th_open(&t, 1, 0);
  t.obstacles[0] = th_obstacle("plane", plane, 4);
  th_scene(&t, 1, x, NULL, NULL, 1);
  void *const self = th_create(&t, p, NULL);
  th_attach(&t, p, self);
  th_pairs_open(&t, &pairs, 0);
  const loom_query q = {.struct_size = sizeof q,
                        .what = LOOM_DETECT_OVERLAP,
                        .kinds = LOOM_PAIR_MASK_ALL,
                        .x0 = t.step.x,
                        .x1 = t.step.x};
  cr_expect_eq(th_detect(&t, &q, &pairs), 0);
  cr_expect_eq(pairs.count, 0);
  cr_expect_eq(p->ops.collision->provides, 0);
  p->ops.collision->destroy(self);
  th_close(&t);
}
