/* test_entries.c - edges and triangles inside bodies of closed form: a bar thinner than the edges,
 * a tip and a ball between vertices, a ball passed at 100 m/s, and dense sampling. */
#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

#include "bodies/entries.h"
#include "support/shapes.h"
#include "support/test_host.h"

static obst_view view_of_shape(const char *kind, const loom_real *shape, int num)
{
  const loom_obstacle o = th_obstacle(kind, shape, num);
  obst_view v;
  cr_assert_null(obst_view_fill(&o, &v), "%s", kind);
  return v;
}

static entry_list find_body_entries(const entry_mesh *m, const obst_view *v, int threads)
{
  loom_err err = {0};
  entry_list l;
  cr_assert_eq(entries_find(&err, m, v, 1, threads, &l), LOOM_OK, "%s", err.text);
  return l;
}

static void expect_counts(const entry_list *l, int64_t edges, int64_t tris)
{
  int64_t found[2] = {0, 0};
  for (int64_t k = 0; k < l->num; ++k) ++found[l->all[k].v[2] >= 0];
  cr_expect(found[0] == edges && found[1] == tris, "%lld edges, %lld triangles",
            (long long)found[0], (long long)found[1]);
}

/* Two triangles over the unit square of side 2 cm, at height z. */
static const int32_t square_tris[6] = {0, 1, 2, 0, 2, 3};
static void fill_small_square(double z, double *x)
{
  const double all[12] = {-0.01, -0.01, z, 0.01, -0.01, z, 0.01, 0.01, z, -0.01, 0.01, z};
  memcpy(x, all, sizeof all);
}

/* Along the x axis, of radius 2 mm: the sides along y and the diagonal are cut. */
Test(entries, a_bar_thinner_than_the_edges)
{
  const loom_real bar[7] = {-1, 0, 0, 1, 0, 0, 0.002};
  const obst_view v = view_of_shape("capsule", bar, 7);
  double x[12];
  for (int k = 0; k < 3; ++k) {
    const double z = k == 0 ? 0.0019 : k == 1 ? 0.0021 : 0.0;
    fill_small_square(z, x);
    entry_list l = find_body_entries(&(entry_mesh){.x = x, .tris = square_tris, .nt = 2}, &v, 1);
    expect_counts(&l, k == 1 ? 0 : 3, 0);
    if (k != 1) {
      const double depth = 0.002 - z;
      cr_expect(fabs(l.deepest.depth - depth) < 0.03 * depth, "%g of %g", l.deepest.depth, depth);
      cr_expect(l.all[0].v[0] == 0 && l.all[0].v[1] == 2 && l.all[0].body == 0, "the diagonal");
    }
    entries_free(&l);
  }
}

/* Of radius 1 mm: it goes through a triangle and touches no edge; then the corner of a box does. */
Test(entries, a_ball_and_a_tip_between_the_vertices)
{
  const loom_real ball[4] = {(loom_real)0.0045, (loom_real)-0.0045, 0, (loom_real)0.001};
  const loom_real box[4] = {(loom_real)0.001, (loom_real)0.001, (loom_real)0.001, 0};
  obst_view v = view_of_shape("sphere", ball, 4);
  double x[12];
  fill_small_square(0.0005, x);
  entry_list l = find_body_entries(&(entry_mesh){.x = x, .tris = square_tris, .nt = 2}, &v, 1);
  expect_counts(&l, 0, 1);
  cr_expect(fabs(l.deepest.depth - 0.0005) < 0.03 * 0.0005, "%g", l.deepest.depth);
  entries_free(&l);
  /* the box stands on a corner: its diagonal is vertical, half of it is sqrt(3) mm */
  const double a = sqrt(0.5), b = 1.0 / sqrt(6.0), c = 1.0 / sqrt(3.0);
  loom_obstacle o = th_obstacle("box", box, 4);
  const double pose[12] = {a, -a, 0, b, b, -2.0 * b, c, c, c, 0.0045, -0.0045, 0};
  for (int i = 0; i < 12; ++i) o.pose0[i] = o.pose1[i] = (loom_real)pose[i];
  cr_assert_null(obst_view_fill(&o, &v));
  for (int k = 0; k < 2; ++k) {
    fill_small_square(sqrt(3.0) * 0.001 + (k ? 2e-5 : -2e-5),
                      x); /* the tip ends below, and through */
    l = find_body_entries(&(entry_mesh){.x = x, .tris = square_tris, .nt = 2}, &v, 1);
    expect_counts(&l, 0, k ? 0 : 1);
    entries_free(&l);
  }
}

/* A square of 2 cm flies by 1 m in 10 ms, once through a ball of 5 cm and once past it; then the
 * ball flies and the square rests, and the ball turns about a far point, too. */
Test(entries, a_ball_on_the_straight_way)
{
  const loom_real ball[4] = {0, 0, 0, (loom_real)0.05};
  double from[12], to[12], y;
  for (int k = 0; k < 4; ++k) {
    loom_obstacle o = th_obstacle("sphere", ball, 4);
    obst_view v;
    y = k % 2 ? 0.0611 : 0.0589; /* the square's rim is 1 cm nearer */
    fill_small_square(k < 2 ? 0.5 : 0.0, from);
    fill_small_square(k < 2 ? -0.5 : 0.0, to);
    for (int i = 0; i < 4; ++i) from[3 * i + 1] += y, to[3 * i + 1] += y;
    if (k >= 2) o.pose0[11] = (loom_real)-0.5, o.pose1[11] = (loom_real)0.5;
    cr_assert_null(obst_view_fill(&o, &v));
    entry_list l = find_body_entries(
        &(entry_mesh){.x = to, .x_start = from, .tris = square_tris, .nt = 2}, &v, 1);
    expect_counts(&l, 0, k % 2 ? 0 : 2); /* both have a vertex of the near rim */
    if (k % 2 == 0) cr_expect(fabs(l.deepest.time - 0.5) < 0.05, "at %g", l.deepest.time);
    entries_free(&l);
    l = find_body_entries(&(entry_mesh){.x = to, .tris = square_tris, .nt = 2}, &v, 1);
    if (k < 2) expect_counts(&l, 0, 0);
    entries_free(&l);
  }
}

/* A ball on an arm of 1.49 m turns by 3 rad and meets a small triangle at a share of 0.4: the way
 * in the body frame is an arc with a chord that stays away from the ball. */
Test(entries, a_body_that_turns)
{
  const loom_real ball[4] = {(loom_real)1.49, 0, 0, (loom_real)0.5};
  const double z[3] = {0, 0, 1}, origin[3] = {0, 0, 0};
  static const int32_t tri[3] = {0, 1, 2};
  for (int k = 0; k < 2; ++k) {
    const double r = k ? 0.98 : 1.0, x[9] = {r, 0, 0, r, 1e-3, 0, r, 0, 1e-3};
    loom_obstacle o = th_obstacle("sphere", ball, 4);
    obst_view v;
    th_pose(o.pose0, z, -1.2, origin);
    th_pose(o.pose1, z, 1.8, origin);
    cr_assert_null(obst_view_fill(&o, &v));
    entry_list l =
        find_body_entries(&(entry_mesh){.x = x, .x_start = x, .tris = tri, .nt = 1}, &v, 1);
    expect_counts(&l, 0, k ? 0 : 1);
    if (k == 0) cr_expect(fabs(l.deepest.time - 0.4) < 0.05, "at %g", l.deepest.time);
    entries_free(&l);
  }
}

/* ---- dense sampling ---- */

enum { FINE = 60 };

static double sample_entry_depth(const obst_view *o, const double *const x[2], const int32_t *v,
                                 int corners, int moves)
{
  double least = INFINITY;
  for (int t = moves ? 0 : FINE; t <= FINE; ++t)
    for (int i = 0; i <= FINE; ++i)
      for (int j = 0; j <= (corners == 3 ? FINE - i : 0); ++j) {
        const double s = (double)t / FINE, a = (double)i / FINE, b = (double)j / FINE;
        const double w[3] = {1.0 - a - b, a, b};
        obst_pose P;
        lk_real p[3] = {0, 0, 0}, n[3];
        for (int c = 0; c < 3; ++c)
          for (int k = 0; k < corners; ++k) {
            const int64_t at = 3 * (int64_t)v[k] + c;
            p[c] += (lk_real)(w[k] * (moves ? x[0][at] + s * (x[1][at] - x[0][at]) : x[1][at]));
          }
        obst_pose_at(o, (lk_real)s, &P);
        least = fmin(least, (double)obst_distance(o, &P, p, n));
      }
  return least;
}

static int find_listed_entry(const entry_list *l, const int32_t *v, double *depth)
{
  for (int64_t k = 0; k < l->num; ++k)
    if (memcmp(l->all[k].v, v, sizeof l->all[k].v) == 0) {
      *depth = l->all[k].depth;
      return 1;
    }
  return 0;
}

/* Samples that far apart miss no more than half of the step between them. */
static int check_one(const obst_view *o, const double *const x[2], const int32_t *v, int moves,
                     const entry_list *l, const char *kind)
{
  const double spacing = (moves ? 2.0 : 1.5) / FINE;
  double depth = 0.0;
  const double least = sample_entry_depth(o, x, v, v[2] < 0 ? 2 : 3, moves);
  const int found = find_listed_entry(l, v, &depth);
  if (least < -1e-5) cr_expect(found, "%s: %g m deep, not found", kind, -least);
  if (found) cr_expect(least < spacing, "%s: found, but %g m away", kind, least);
  if (found && !moves)
    cr_expect(depth > -0.97 * least - 1e-5, "%s: %g, sampled %g", kind, depth, -least);
  if (found) cr_expect(depth < -least + spacing, "%s: %g, sampled %g", kind, depth, -least);
  return found;
}

static loom_obstacle random_poses(const char *kind, uint64_t *seed, int moves)
{
  loom_obstacle o = th_obstacle(kind, shapes_sizes(kind), 8);
  for (int e = 0; e < 2; ++e) {
    loom_real *const P = e ? o.pose1 : o.pose0;
    if (e && !moves) {
      memcpy(P, o.pose0, sizeof o.pose0);
      break;
    }
    const double a = 1.5 * th_random(seed), b = 1.5 * th_random(seed);
    const double R[9] = {cos(a), -sin(a) * cos(b), sin(a) * sin(b),
                         sin(a), cos(a) * cos(b),  -cos(a) * sin(b),
                         0.0,    sin(b),           cos(b)};
    for (int i = 0; i < 9; ++i) P[i] = (loom_real)R[i];
    for (int c = 0; c < 3; ++c) P[9 + c] = (loom_real)(0.2 * th_random(seed));
  }
  return o;
}

static void sample_kind(const char *kind, int moves, int trials)
{
  static const int32_t tri[3] = {0, 1, 2}, sides[3][3] = {{0, 1, -1}, {0, 2, -1}, {1, 2, -1}};
  uint64_t seed = 7;
  int hits = 0, misses = 0;
  for (int k = 0; k < trials; ++k) {
    const loom_obstacle o = random_poses(kind, &seed, moves);
    obst_view v;
    double x[2][9];
    cr_assert_null(obst_view_fill(&o, &v));
    for (int c = 0; c < 3; ++c) {
      const double at = 0.5 * th_random(&seed), way = 0.3 * th_random(&seed);
      for (int i = 0; i < 3; ++i) x[1][3 * i + c] = at + 0.5 * th_random(&seed);
      for (int i = 0; i < 3; ++i) x[0][3 * i + c] = x[1][3 * i + c] - way;
    }
    const double *const both[2] = {x[0], x[1]};
    entry_list l = find_body_entries(
        &(entry_mesh){.x = x[1], .x_start = moves ? x[0] : NULL, .tris = tri, .nt = 1}, &v, 1);
    int edges = 0;
    for (int i = 0; i < 3 && !moves; ++i) edges += check_one(&v, both, sides[i], 0, &l, kind);
    if (edges == 0) edges = check_one(&v, both, tri, moves, &l, kind);
    hits += edges > 0;
    misses += edges == 0;
    entries_free(&l);
  }
  cr_expect(hits > trials / 10 && misses > 0, "%s: %d hits, %d misses", kind, hits, misses);
}

Test(entries, as_dense_sampling_finds_them)
{
  for (int k = 0; k < BODY_NUM_CLOSED; ++k) {
    sample_kind(body_kind_at(k)->name, 0, 100);
    sample_kind(body_kind_at(k)->name, 1, 25);
  }
}

/* ---- many triangles ---- */

enum { SIDE = 60 };

/* A sheet with waves over a ball; two bodies, the first of which is no closed form. */
Test(entries, the_same_list_for_any_number_of_threads)
{
  static double x[3 * SIDE * SIDE];
  static int32_t tris[6 * (SIDE - 1) * (SIDE - 1)];
  const loom_real ball[4] = {0, 0, 0, (loom_real)0.3};
  int64_t nt = 0;
  for (int i = 0; i < SIDE * SIDE; ++i) {
    x[3 * i] = (double)(i % SIDE) / SIDE - 0.5;
    x[3 * i + 1] = (double)(i / SIDE) / SIDE - 0.5;
    x[3 * i + 2] = 0.29 + 0.02 * sin(40.0 * x[3 * i]);
  }
  for (int j = 0; j + 1 < SIDE; ++j)
    for (int i = 0; i + 1 < SIDE; ++i) {
      const int32_t a = j * SIDE + i, quad[6] = {a, a + 1, a + SIDE, a + 1, a + SIDE + 1, a + SIDE};
      memcpy(tris + 3 * nt, quad, sizeof quad);
      nt += 2;
    }
  const obst_view v = view_of_shape("sphere", ball, 4);
  const entry_mesh m = {.x = x, .tris = tris, .nt = nt};
  entry_list one = find_body_entries(&m, &v, 1), four = find_body_entries(&m, &v, 4);
  cr_assert(one.num > 50 && one.num < nt, "%lld", (long long)one.num);
  cr_assert_eq(one.num, four.num);
  for (int64_t k = 0; k < one.num; ++k) {
    cr_expect_eq(memcmp(one.all[k].v, four.all[k].v, sizeof one.all[k].v), 0);
    cr_expect(!(one.all[k].depth < four.all[k].depth) && !(one.all[k].depth > four.all[k].depth));
  }
  for (int64_t k = 1; k < one.num; ++k)
    cr_expect(memcmp(one.all[k].v, one.all[k - 1].v, sizeof one.all[k].v) != 0, "listed twice");
  entries_free(&one);
  entries_free(&four);
}
