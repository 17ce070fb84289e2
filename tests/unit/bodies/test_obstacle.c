/* test_obstacle.c - distances, normals, poses and impacts of obstacles. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bodies/body.h"
#include "support/shapes.h"
#include "support/test_host.h"

enum { GRID = 25, NUM_SHAPES = BODY_NUM_SHAPES };

static const char *body_kind_name(int k) { return body_kind_at(k)->name; }

static const loom_real *body_kind_sizes(int k)
{
  const loom_real *const s = shapes_sizes(body_kind_name(k));
  cr_assert(s != NULL, "no sizes of a %s in support/shapes.h", body_kind_name(k));
  return s;
}

static int is_grid(int k) { return k == BODY_SHAPE_grid; }

static double obstacle_vector_length(const double *v)
{
  return sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
}

static void random_point(uint64_t *s, double scale, lk_real *p)
{
  for (int c = 0; c < 3; ++c) p[c] = scale * th_random(s);
}

/* Grid over [-1.2, 1.2]^3 with the distance to two overlapping balls: a concave crease. */
static double two_balls(const double *p)
{
  const double a[3] = {p[0] - 0.25, p[1], p[2]}, b[3] = {p[0] + 0.25, p[1], p[2]};
  return fmin(obstacle_vector_length(a), obstacle_vector_length(b)) - 0.5;
}

static loom_real *grid_values(void)
{
  loom_real *const f = malloc(sizeof *f * GRID * GRID * GRID);
  cr_assert(f != NULL);
  for (int i = 0; i < GRID * GRID * GRID; ++i) {
    const double p[3] = {-1.2 + 0.1 * (i % GRID), -1.2 + 0.1 * (i / GRID % GRID),
                         -1.2 + 0.1 * (i / GRID / GRID)};
    f[i] = two_balls(p);
  }
  return f;
}

/* View of shape k; grids read *values. */
static obst_view make_view(int k, const loom_obstacle *poses, const loom_real *values)
{
  loom_obstacle o = th_obstacle(body_kind_name(k), body_kind_sizes(k), 8);
  obst_view v;
  static char a_buffer; /* only its being there matters */
  if (poses != NULL) {
    memcpy(o.pose0, poses->pose0, sizeof o.pose0);
    memcpy(o.pose1, poses->pose1, sizeof o.pose1);
  }
  if (is_grid(k)) {
    o.sdf = (loom_buf *)(void *)&a_buffer;
    o.spacing = 0.1;
    for (int c = 0; c < 3; ++c) {
      o.dims[c] = GRID;
      o.origin[c] = -1.2;
    }
  }
  const char *const why = obst_view_fill(&o, &v);
  cr_assert(why == NULL, "shape %d: %s", k, why);
  if (is_grid(k)) {
    v.sdf = values;
    v.lipschitz = obst_view_lipschitz(&v, values);
  }
  return v;
}

/* ---- distances ---- */

/* The unsigned reference: closest of many samples of the shape's core, minus its radius. */
static double sample_shape_distance(int k, const double *p)
{
  const loom_real *const s = body_kind_sizes(k);
  double best = INFINITY;
  if (k == BODY_SHAPE_capsule) {
    for (int i = 0; i <= 20000; ++i) {
      double d[3];
      for (int c = 0; c < 3; ++c) d[c] = p[c] - (s[c] + i / 20000.0 * (s[3 + c] - s[c]));
      best = fmin(best, obstacle_vector_length(d));
    }
    return best - s[6];
  }
  double sum = 0.0; /* box: the squared distance to its core is a sum over axes */
  for (int c = 0; c < 3; ++c) {
    double near = INFINITY;
    for (int i = 0; i <= 20000; ++i)
      near = fmin(near, fabs(p[c] - (s[c] - s[3]) * (i / 10000.0 - 1.0)));
    sum += near * near;
  }
  return sqrt(sum) - s[3];
}

Test(obstacle, distances_agree_with_sampling)
{
  uint64_t s = 1;
  static const int both[2] = {BODY_SHAPE_box, BODY_SHAPE_capsule};
  for (int b = 0; b < 2; ++b) {
    const int k = both[b];
    const obst_view v = make_view(k, NULL, NULL);
    for (int i = 0; i < 100; ++i) {
      lk_real p[3], n[3];
      random_point(&s, 1.0, p);
      const double want = sample_shape_distance(k, p), have = obst_distance_body(&v, p, n);
      /* inside the core the samples know no depth; elsewhere half a sample apart */
      if (k == BODY_SHAPE_box && want < -0.049) continue;
      cr_expect(fabs(have - want) < 1e-4, "shape %d, point %d: %g, sampled %g", k, i, have, want);
    }
  }
}

/* f is 1-Lipschitz and x - f n lies on the zero set, hence |f| is the distance to it. */
Test(obstacle, distances_are_exact)
{
  uint64_t s = 2;
  for (int k = 0; k < BODY_NUM_CLOSED; ++k) {
    const obst_view v = make_view(k, NULL, NULL);
    for (int i = 0; i < 3000; ++i) {
      lk_real p[3], q[3], n[3], n2[3], foot[3];
      random_point(&s, 1.0, p);
      random_point(&s, 1.0, q);
      const double f = obst_distance_body(&v, p, n), g = obst_distance_body(&v, q, n2);
      const double d[3] = {p[0] - q[0], p[1] - q[1], p[2] - q[2]};
      for (int c = 0; c < 3; ++c) foot[c] = p[c] - f * n[c];
      cr_assert(fabs(obstacle_vector_length(n) - 1.0) < 1e-14);
      cr_assert(fabs(f - g) <= obstacle_vector_length(d) * (1 + 1e-12),
                "shape %d is not 1-Lipschitz", k);
      cr_assert(fabs(obst_distance_body(&v, foot, n2)) < 1e-12, "shape %d, point %d", k, i);
    }
  }
}

Test(obstacle, known_distances)
{
  const obst_view plane = make_view(BODY_SHAPE_plane, NULL, NULL),
                  box = make_view(BODY_SHAPE_box, NULL, NULL);
  const obst_view ball = make_view(BODY_SHAPE_sphere, NULL, NULL),
                  capsule = make_view(BODY_SHAPE_capsule, NULL, NULL);
  const lk_real origin[3] = {0, 0, 0}, above[3] = {0.1, 0.1, 0.7}, corner[3] = {1.45, 1.25, 1.15};
  const lk_real centre[3] = {0.1, -0.2, 0.05}, tip[3] = {-0.3, 0.1, 0};
  lk_real n[3];
  cr_expect(fabs(obst_distance_body(&plane, origin, n) + 0.1) < 1e-15);
  cr_expect(fabs(obst_distance_body(&box, origin, n) + 0.2) < 1e-15);
  cr_expect(n[0] == 0 && n[1] == 0 && fabs(n[2]) == 1);
  cr_expect(fabs(obst_distance_body(&box, above, n) - 0.5) < 1e-15);
  /* core corner at (0.45, 0.25, 0.15), one metre away along each axis */
  cr_expect(fabs(obst_distance_body(&box, corner, n) - (sqrt(3.0) - 0.05)) < 1e-15);
  cr_expect(fabs(obst_distance_body(&ball, centre, n) + 0.4) < 1e-15);
  cr_expect(fabs(obstacle_vector_length(n) - 1.0) < 1e-15, "a normal even at the centre");
  cr_expect(fabs(obst_distance_body(&capsule, tip, n) + 0.15) < 1e-15);
  cr_expect(fabs(obstacle_vector_length(n) - 1.0) < 1e-15, "a normal even on the axis");
}

Test(obstacle, normals_agree_with_finite_differences)
{
  loom_real *const values = grid_values();
  uint64_t s = 3;
  for (int k = 0; k < NUM_SHAPES; ++k) {
    const obst_view v = make_view(k, NULL, values);
    int tested = 0;
    for (int i = 0; i < 2000; ++i) {
      const double e = 1e-6;
      lk_real p[3], n[3], unused[3];
      double g[3], turn = 0.0;
      random_point(&s, 2.0, p); /* the grid ends at 1.2 */
      (void)obst_distance_body(&v, p, n);
      for (int c = 0; c < 3; ++c) {
        lk_real q[3] = {p[0], p[1], p[2]}, n1[3];
        q[c] = p[c] + e;
        const double hi = obst_distance_body(&v, q, n1);
        q[c] = p[c] - e;
        g[c] = (hi - obst_distance_body(&v, q, unused)) / (2 * e);
        for (int d = 0; d < 3; ++d) turn = fmax(turn, fabs(n1[d] - unused[d]));
      }
      if (turn > 1e-3) continue; /* across an edge, a medial axis or a side of a cell */
      ++tested;
      const double len = obstacle_vector_length(g);
      /* central differences: error e^2 f''' + rounding 1e-16 / e */
      for (int c = 0; c < 3; ++c)
        cr_assert(fabs(g[c] / len - n[c]) < 1e-6, "shape %d, point %d, %g", k, i,
                  g[c] / len - n[c]);
    }
    cr_expect(tested > 1500, "shape %d: only %d points", k, tested);
  }
  free(values);
}

Test(obstacle, grid_interpolates_and_never_exceeds_the_distance_outside)
{
  loom_real *const values = grid_values();
  const obst_view v = make_view(BODY_SHAPE_grid, NULL, values);
  uint64_t s = 4;
  cr_expect(v.lipschitz >= 1.0 && v.lipschitz <= sqrt(3.0) + 1e-12, "%g", v.lipschitz);
  for (int i = 0; i < 20000; ++i) {
    lk_real p[3], q[3], n[3];
    random_point(&s, 2.5, p);
    const double f = obst_distance_body(&v, p, n), exact = two_balls(p);
    const int inside = fabs(p[0]) < 1.2 && fabs(p[1]) < 1.2 && fabs(p[2]) < 1.2;
    /* interpolation: 3 h^2 / 8 times curvature 1 / r, kinks at the medial axis and centres: h */
    if (inside) cr_assert(fabs(f - exact) < 0.1, "%g instead of %g", f, exact);
    if (!inside) cr_assert(f > 0.0 && f <= exact + 0.1, "%g instead of at most %g", f, exact);
    for (int c = 0; c < 3; ++c) q[c] = p[c] + 1e-3 * th_random(&s);
    const double d[3] = {p[0] - q[0], p[1] - q[1], p[2] - q[2]};
    cr_assert(fabs(obst_distance_body(&v, q, n) - f) <=
              v.lipschitz * obstacle_vector_length(d) * (1 + 1e-9));
  }
  free(values);
}

Test(obstacle, bad_shapes_are_refused)
{
  obst_view v;
  const loom_real bad[BODY_NUM_CLOSED][4] = {[BODY_SHAPE_plane] = {1, 1, 0, 0},
                                             [BODY_SHAPE_sphere] = {0, 0, 0, -1},
                                             [BODY_SHAPE_box] = {0.1, 0.1, 0.1, 0.2},
                                             [BODY_SHAPE_torus] = {0.1, 0.1},
                                             [BODY_SHAPE_cylinder] = {0.1, 0.1, 0.2}};
  for (int k = 0; k < BODY_NUM_CLOSED; ++k) {
    const loom_obstacle o = th_obstacle(body_kind_name(k), bad[k], 4);
    cr_expect(obst_view_fill(&o, &v) != NULL, "shape %d", k);
  }
  loom_obstacle o = th_obstacle("sphere", shapes_sizes("sphere"), 4);
  cr_expect(obst_view_fill(&o, &v) == NULL);
  o.pose1[0] = 2;
  cr_expect(obst_view_fill(&o, &v) != NULL, "a scaled pose");
}

/* ---- poses ----
 */

static void random_axis(uint64_t *s, double *a)
{
  double len;
  do {
    for (int c = 0; c < 3; ++c) a[c] = th_random(s);
    len = obstacle_vector_length(a);
  } while (len < 0.1 || len > 1.0);
  for (int c = 0; c < 3; ++c) a[c] /= len;
}

static double rotation_angle_between(const lk_real *A, const lk_real *B)
{
  double d = 0.0;
  for (int i = 0; i < 9; ++i) d += (A[i] - B[i]) * (A[i] - B[i]);
  return 2.0 * asin(fmin(1.0, sqrt(d / 8.0))); /* |A - B|_F = sqrt(8) sin(angle / 2) */
}

Test(obstacle, poses_turn_at_constant_speed_the_short_way)
{
  static const double angles[] = {0.0, 1e-9, 1e-3, 0.5, 2.0, 3.1, 3.14159265358979};
  uint64_t s = 5;
  for (int i = 0; i < 700; ++i) {
    loom_obstacle o = th_obstacle("sphere", shapes_sizes("sphere"), 4);
    double axis[3], axis0[3], t[3], extra[12];
    obst_pose P[3];
    random_axis(&s, axis0);
    random_axis(&s, axis);
    random_point(&s, 1.0, t);
    th_pose(o.pose0, axis0, 3.0 * th_random(&s), t);
    random_point(&s, 1.0, t);
    th_pose(extra, axis, angles[i % 7], t);
    for (int r = 0; r < 3; ++r)
      for (int c = 0; c < 3; ++c) {
        o.pose1[3 * r + c] = 0;
        for (int k = 0; k < 3; ++k) o.pose1[3 * r + c] += extra[3 * r + k] * o.pose0[3 * k + c];
      }
    memcpy(o.pose1 + 9, t, sizeof t);
    obst_view v;
    cr_assert(obst_view_fill(&o, &v) == NULL);
    cr_assert(fabs(v.angle - angles[i % 7]) < 1e-8, "%g, want %g", v.angle, angles[i % 7]);
    obst_pose_at(&v, 0.0, &P[0]);
    obst_pose_at(&v, 0.25, &P[1]);
    obst_pose_at(&v, 1.0, &P[2]);
    cr_expect(memcmp(P[0].R, o.pose0, sizeof P[0].R) == 0);
    cr_expect(memcmp(P[2].R, o.pose1, sizeof P[2].R) == 0);
    cr_assert(fabs(rotation_angle_between(P[0].R, P[1].R) - 0.25 * v.angle) < 1e-7);
    cr_assert(fabs(rotation_angle_between(P[1].R, P[2].R) - 0.75 * v.angle) < 1e-7);
    cr_assert(fabs(P[1].t[1] - (0.75 * o.pose0[10] + 0.25 * o.pose1[10])) < 1e-15);
  }
}

Test(obstacle, displacement_follows_the_material_point)
{
  uint64_t s = 6;
  for (int i = 0; i < 200; ++i) {
    loom_obstacle o = th_obstacle("sphere", shapes_sizes("sphere"), 4);
    double axis[3], t[3];
    lk_real body[3], x0[3], x1[3], d[3];
    obst_pose P0, P1;
    obst_view v;
    random_axis(&s, axis);
    random_point(&s, 1.0, t);
    th_pose(o.pose1, axis, th_random(&s), t);
    cr_assert(obst_view_fill(&o, &v) == NULL);
    obst_pose_at(&v, 0.0, &P0);
    obst_pose_at(&v, 1.0, &P1);
    random_point(&s, 1.0, body);
    obst_to_world(&P0, body, x0);
    obst_to_world(&P1, body, x1);
    obst_displacement(&v, x1, d);
    for (int c = 0; c < 3; ++c) cr_assert(fabs(d[c] - (x1[c] - x0[c])) < 1e-14);
  }
}

/* ---- impact ---- */

static double gap_at(const obst_view *v, const obst_path *w, double s)
{
  obst_pose P;
  lk_real x[3], n[3];
  obst_pose_at(v, w->s0 + s * (w->s1 - w->s0), &P);
  for (int c = 0; c < 3; ++c) x[c] = w->x0[c] + s * (w->x1[c] - w->x0[c]);
  return obst_distance(v, &P, x, n) - w->radius;
}

static void random_motion(uint64_t *s, loom_obstacle *o, double angle)
{
  double axis[3], t[3];
  random_axis(s, axis);
  random_point(s, 0.2, t);
  th_pose(o->pose0, axis, 0.3 * th_random(s), t);
  random_axis(s, axis);
  random_point(s, 0.2, t);
  th_pose(o->pose1, axis, angle, t);
}

Test(obstacle, impacts_agree_with_dense_sampling_in_time)
{
  enum { SAMPLES = 4000 };
  loom_real *const values = grid_values();
  uint64_t s = 7;
  int hits = 0, misses = 0;
  for (int i = 0; i < 1500; ++i) {
    const int k = i % NUM_SHAPES;
    loom_obstacle o = th_obstacle(body_kind_name(k), body_kind_sizes(k), 8);
    static const lk_real shares[3][2] = {{0, 1}, {0.3, 0.8}, {1, 1}};
    obst_path w = {.radius = 0.01,
                   .floor = 0,
                   .tol = 1e-6,
                   .s0 = shares[i % 3][0],
                   .s1 = shares[i % 3][1],
                   .max_iters = 2000};
    random_motion(&s, &o, i % 2 ? 0.0 : th_random(&s));
    const obst_view v = make_view(k, &o, values);
    random_point(&s, 1.1, w.x0);
    random_point(&s, 1.1, w.x1);
    const double toi = obst_impact(&v, &w);
    double lowest = INFINITY, first = 2.0;
    for (int j = 0; j <= SAMPLES && first > 1.0; ++j) {
      const double g = gap_at(&v, &w, (double)j / SAMPLES);
      lowest = fmin(lowest, g);
      if (g <= 0.0) first = (double)j / SAMPLES;
    }
    cr_assert(toi <= first, "case %d: impact at %g, found at %g", i, first, toi);
    if (toi <= 1.0) {
      ++hits;
      cr_assert(gap_at(&v, &w, toi) <= 1e-6, "case %d: early by a gap of %g", i,
                gap_at(&v, &w, toi));
      cr_assert(first <= 1.0 || lowest < 1e-3, "case %d: a false alarm, lowest %g", i, lowest);
    } else {
      ++misses;
      cr_assert(lowest > 0.0);
    }
  }
  cr_expect(hits > 300 && misses > 300, "%d hits, %d misses", hits, misses);
  free(values);
}

Test(obstacle, sliding_just_above_a_body_needs_few_advances)
{
  for (int i = 0; i < 2; ++i) { /* plane and box: 0.1 m along the surface, 1 um above it */
    const int k = i == 0 ? BODY_SHAPE_plane : BODY_SHAPE_box;
    loom_obstacle o = th_obstacle(body_kind_name(k), body_kind_sizes(k), 8);
    const obst_view v = make_view(k, &o, NULL);
    const lk_real side[3] = {-0.8, 0, 0.6};
    obst_path w = {.radius = 0, .floor = 1e-7, .tol = 1e-8, .s0 = 1, .s1 = 1, .max_iters = 8};
    for (int c = 0; c < 3; ++c) {
      w.x0[c] = i == 0 ? (0.1 + 1e-6) * body_kind_sizes(k)[c] : (c == 2 ? 0.2 + 1e-6 : 0.0);
      w.x1[c] = w.x0[c] + 0.1 * (i == 0 ? side[c] : (c == 0 ? 1.0 : 0.0));
    }
    cr_expect_eq(obst_impact(&v, &w), 2.0, "shape %d: %g", k, obst_impact(&v, &w));
  }
}

Test(obstacle, resting_and_departing_points)
{
  loom_obstacle o =
      th_obstacle(body_kind_name(BODY_SHAPE_sphere), body_kind_sizes(BODY_SHAPE_sphere), 8);
  const obst_view v = make_view(BODY_SHAPE_sphere, &o, NULL);
  obst_path w = {.x0 = {0.1, -0.2, 0.55}, .x1 = {0.1, -0.2, 0.55}, .tol = 1e-9, .max_iters = 100};
  cr_expect_eq(obst_impact(&v, &w), 2.0, "at rest, clear of the ball");
  w.x1[2] = 2.0;
  cr_expect_eq(obst_impact(&v, &w), 2.0, "departing");
  w.x1[2] = -2.0;
  cr_expect(fabs(obst_impact(&v, &w) - 0.1 / 2.55) < 1e-9, "straight into it");
  w.x0[2] = 0.4;
  cr_expect_eq(obst_impact(&v, &w), 0.0, "inside from the start");
  w.x0[0] = NAN;
  cr_expect_eq(obst_impact(&v, &w), 0.0, "NaN is no way past a body");
}
