/* test_truth.c - exact distances to skins that bend, regions of a body, and samples of
 * them, against comparing everything. */
#include <criterion/criterion.h>
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "geom/pose.h"
#include "ssdf/sample.h"

static const double pi = 3.14159265358979323846;
enum { HIP_FLEXION, HIP_ABDUCTION, KNEE_FLEXION, KNEE_SIDE };

static uint64_t state;
static double draw_truth_number(double lo, double hi)
{
  state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
  return lo + (hi - lo) * (double)(state >> 11) * 0x1p-53;
}

typedef struct posed {
  loom_err err;
  rig leg;
  double *T, *x;
  ssdf_truth truth;
} posed;

static void pose_leg(posed *p, const double angles[4], double edge, int correct)
{
  double root[12];
  memset(p, 0, sizeof *p);
  state = 5;
  pose_identity(root);
  cr_assert_eq(rig_make(&p->err, "leg", edge, &p->leg), LOOM_OK, "%s", p->err.text);
  p->T = calloc(12 * (size_t)p->leg.num_joints, sizeof *p->T);
  p->x = calloc(3 * (size_t)p->leg.skin.num_verts, sizeof *p->x);
  rig_pose(&p->leg, angles, root, p->T);
  rig_skin(&p->leg, p->T, p->x);
  cr_assert_eq(ssdf_truth_build(&p->err, p->x, p->leg.skin.num_verts, p->leg.skin.tris,
                                p->leg.skin.num_tris, correct, &p->truth),
               LOOM_OK);
}

static void close_leg(posed *p)
{
  ssdf_truth_free(&p->truth);
  rig_free(&p->leg);
  free(p->T);
  free(p->x);
}

/* ---- by comparing everything ---- */

/* Sum of solid angles over 4 pi (Van Oosterom and Strackee, IEEE TBME 30(2), 1983). */
static double winding_number(const double *x, const int32_t *tris, int32_t nt, const double p[3])
{
  double sum = 0;
  for (int32_t t = 0; t < nt; ++t) {
    double v[3][3], len[3], det = 0, den;
    for (int k = 0; k < 3; ++k) {
      len[k] = 0;
      for (int c = 0; c < 3; ++c) {
        v[k][c] = x[3 * tris[3 * t + k] + c] - p[c];
        len[k] += v[k][c] * v[k][c];
      }
      len[k] = sqrt(len[k]);
    }
    for (int c = 0; c < 3; ++c)
      det +=
          v[0][c] * (v[1][(c + 1) % 3] * v[2][(c + 2) % 3] - v[1][(c + 2) % 3] * v[2][(c + 1) % 3]);
    den = len[0] * len[1] * len[2];
    for (int k = 0; k < 3; ++k) {
      const double *const a = v[(k + 1) % 3], *const b = v[(k + 2) % 3];
      den += (a[0] * b[0] + a[1] * b[1] + a[2] * b[2]) * len[k];
    }
    sum += 2 * atan2(det, den);
  }
  return sum / (4 * pi);
}

static double brute_distance(const posed *p, const double q[3])
{
  const double *const x = p->truth.x;
  double best = DBL_MAX;
  for (int32_t k = 0; k < p->truth.num_exposed; ++k) {
    bvh_hit h;
    const int32_t *const v = p->truth.tris + 3 * k;
    bvh_closest_on_triangle(q, x + 3 * v[0], x + 3 * v[1], x + 3 * v[2], &h);
    best = fmin(best, h.dist);
  }
  return winding_number(p->x, p->leg.skin.tris, p->leg.skin.num_tris, q) > 0.5 ? -best : best;
}

Test(truth, distances_and_sides_are_those_of_comparing_everything)
{
  const double bent[4] = {0.8, 0.3, 1.9, 0.1};
  posed p;
  int inside = 0;
  pose_leg(&p, bent, 0.03, 1);
  cr_assert_gt(p.truth.num_buried, 0, "a knee of 109 degrees buries triangles");
  for (int i = 0; i < 600; ++i) {
    const int32_t v = (int32_t)draw_truth_number(0, p.leg.skin.num_verts - 1);
    double q[3];
    for (int c = 0; c < 3; ++c) q[c] = p.x[3 * v + c] + draw_truth_number(-0.06, 0.06);
    const double d = brute_distance(&p, q);
    if (fabs(d) < 1e-5) continue;
    inside += d < 0;
    cr_assert_float_eq(ssdf_truth_distance(&p.truth, q, DBL_MAX, NULL), d, 1e-9); /* rounding */
  }
  cr_assert_gt(inside, 150);
  close_leg(&p);
}

/* Middle of a triangle, and a point 0.1 mm outside of it. */
static void just_outside(const double *x, const int32_t *v, double c[3])
{
  double a[3], b[3], n[3];
  for (int i = 0; i < 3; ++i) {
    a[i] = x[3 * v[1] + i] - x[3 * v[0] + i];
    b[i] = x[3 * v[2] + i] - x[3 * v[0] + i];
    c[i] = (x[3 * v[0] + i] + x[3 * v[1] + i] + x[3 * v[2] + i]) / 3;
  }
  for (int i = 0; i < 3; ++i)
    n[i] = a[(i + 1) % 3] * b[(i + 2) % 3] - a[(i + 2) % 3] * b[(i + 1) % 3];
  const double len = sqrt(n[0] * n[0] + n[1] * n[1] + n[2] * n[2]);
  for (int i = 0; i < 3; ++i) c[i] += 1e-4 * n[i] / len;
}

static double skin_tri_area(const double *x, const int32_t *v)
{
  double a[3], b[3], sum = 0;
  for (int i = 0; i < 3; ++i) {
    a[i] = x[3 * v[1] + i] - x[3 * v[0] + i];
    b[i] = x[3 * v[2] + i] - x[3 * v[0] + i];
  }
  for (int i = 0; i < 3; ++i)
    sum += pow(a[(i + 1) % 3] * b[(i + 2) % 3] - a[(i + 2) % 3] * b[(i + 1) % 3], 2);
  return 0.5 * sqrt(sum);
}

Test(truth, buried_triangles_are_those_that_the_skin_winds_around)
{
  const double bent[4] = {0, 0, 2.1, 0};
  posed p;
  double c[3], sum = 0, all = 0;
  int split = 0;
  pose_leg(&p, bent, 0.03, 1);
  const int32_t *const tris = p.leg.skin.tris, nt = p.leg.skin.num_tris;
  for (int32_t k = 0; k < p.truth.num_exposed; ++k) { /* parts that are there are exposed */
    just_outside(p.truth.x, p.truth.tris + 3 * k, c);
    cr_assert_lt(winding_number(p.x, tris, nt, c), 0.5);
    split += p.truth.tris[3 * k] >= p.leg.skin.num_verts;
  }
  cr_assert(split > 20 && p.truth.num_buried > 10);
  for (int32_t t = 0, k = 0; t < nt; ++t) { /* triangles that are not there at all are buried */
    const int there = k < p.truth.num_exposed && p.truth.number[k] == t;
    while (k < p.truth.num_exposed && p.truth.number[k] == t)
      sum += skin_tri_area(p.truth.x, p.truth.tris + 3 * k++);
    just_outside(p.x, tris + 3 * t, c);
    const int buried = winding_number(p.x, tris, nt, c) > 0.5;
    if (!there) cr_assert(buried);
    if (there) all += skin_tri_area(p.x, tris + 3 * t);
  }
  cr_assert(sum < all && sum > 0.9 * all, "parts of triangles that are cut: %g of %g m2", sum, all);
  close_leg(&p);
}

/* Depth to the exposed parts of all triangles, each cut into parts of about 1 mm: the boundary of
 * the union, to the size of a part. */
static double fine_depth(const double *points, int64_t num, const double q[3])
{
  double best = DBL_MAX;
  for (int64_t k = 0; k < num; ++k) {
    const double *const c = points + 3 * k;
    best = fmin(best, pow(c[0] - q[0], 2) + pow(c[1] - q[1], 2) + pow(c[2] - q[2], 2));
  }
  return sqrt(best);
}

static int64_t exposed_points(const posed *p, double *out)
{
  enum { CUTS = 9 };
  const double at[3] = {0, 0, -0.45}; /* the knee, which stays where it was */
  int64_t num = 0;
  for (int32_t t = 0; t < p->leg.skin.num_tris; ++t) {
    const int32_t *const v = p->leg.skin.tris + 3 * t;
    double n[3], e[2][3], mid = 0;
    for (int c = 0; c < 3; ++c) {
      e[0][c] = p->x[3 * v[1] + c] - p->x[3 * v[0] + c];
      e[1][c] = p->x[3 * v[2] + c] - p->x[3 * v[0] + c];
      mid += pow((p->x[3 * v[0] + c] + p->x[3 * v[1] + c] + p->x[3 * v[2] + c]) / 3 - at[c], 2);
    }
    if (mid > 0.2 * 0.2) continue; /* far from the knee */
    for (int c = 0; c < 3; ++c)
      n[c] = e[0][(c + 1) % 3] * e[1][(c + 2) % 3] - e[0][(c + 2) % 3] * e[1][(c + 1) % 3];
    const double len = sqrt(n[0] * n[0] + n[1] * n[1] + n[2] * n[2]);
    for (int i = 0; i < CUTS; ++i)
      for (int j = 0; i + j < CUTS; ++j) {
        double q[3], off[3];
        for (int c = 0; c < 3; ++c) {
          q[c] = p->x[3 * v[0] + c] + ((i + 1.0 / 3) * e[0][c] + (j + 1.0 / 3) * e[1][c]) / CUTS;
          off[c] = q[c] + 1e-5 * n[c] / len;
        }
        if (bvh_winding(p->truth.all, off) > 0) continue;
        memcpy(out + 3 * num++, q, sizeof q);
      }
  }
  return num;
}

static int compare_errors(const void *a, const void *b)
{
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

/* Error of the depth (99th percentile, m) of points 3 to 30 mm deep near a knee bent by 120
 * degrees. */
static double knee_error(int correct)
{
  enum { POINTS = 400 };
  const double bent[4] = {0, 0, 120 * pi / 180, 0};
  double error[POINTS];
  int found = 0;
  posed p;
  pose_leg(&p, bent, 0, correct);
  double *const points = calloc(3 * 45 * (size_t)p.leg.skin.num_tris, sizeof *points);
  const int64_t num = exposed_points(&p, points);
  while (found < POINTS) {
    const double q[3] = {draw_truth_number(-0.07, 0.07), draw_truth_number(-0.165, 0.1),
                         draw_truth_number(-0.6, -0.3)};
    const double above = q[2] + 0.45;
    if (q[0] * q[0] + q[1] * q[1] + above * above > 0.165 * 0.165) continue; /* as fine_depth() */
    if (bvh_winding(p.truth.all, q) < 1) continue;
    const double depth = fine_depth(points, num, q);
    if (depth < 3e-3 || depth > 30e-3) continue;
    error[found++] = fabs(-ssdf_truth_distance(&p.truth, q, DBL_MAX, NULL) - depth);
  }
  qsort(error, POINTS, sizeof *error, compare_errors);
  close_leg(&p);
  free(points);
  return error[POINTS * 99 / 100];
}

Test(truth, the_crease_of_a_knee_is_right_with_the_correction_and_wrong_without)
{
  const double with = knee_error(1), without = knee_error(0);
  cr_log_info("knee at 120 degrees: p99 error of depth %.1f mm, without correction %.1f mm",
              1e3 * with, 1e3 * without);
  cr_assert_leq(with, 5e-3); /* bar S8 */
  cr_assert_gt(without, 2 * with);
}

/* ---- regions ---- */

static const ssdf_region_spec leg_specs[2] = {
    {.joint = 1, .num_dofs = 2, .dof = {HIP_FLEXION, HIP_ABDUCTION}, .grow = 0.1},
    {.joint = 2, .num_dofs = 2, .dof = {KNEE_FLEXION, KNEE_SIDE}, .grow = 0.3}};

static void apply_inverse_pose(const double T[12], const double x[3], double y[3])
{
  for (int c = 0; c < 3; ++c) {
    y[c] = 0;
    for (int k = 0; k < 3; ++k) y[c] += T[3 * k + c] * (x[k] - T[9 + k]);
  }
}

Test(region, surfaces_are_closed_and_cut_off_once)
{
  loom_err err = {0};
  rig leg;
  cr_assert_eq(rig_make(&err, "leg", 0, &leg), LOOM_OK);
  for (int k = 0; k < 2; ++k) {
    ssdf_region g;
    cr_assert_eq(ssdf_region_make(&err, &leg, leg_specs, 2, k, &g), LOOM_OK, "%s", err.text);
    const double in[3] = {0.01, 0.01, k == 0 ? -0.2 : -0.6},
                 out[3] = {0.01, 0.01, k == 0 ? -0.6 : 0};
    const mesh *const m = &g.part.skin;
    int32_t cuts = 0;
    cr_assert_float_eq(winding_number(m->x, m->tris, m->num_tris, in), 1, 1e-9);
    cr_assert_float_eq(winding_number(m->x, m->tris, m->num_tris, out), 0, 1e-9);
    for (int32_t t = 0; t < m->num_tris; ++t) cuts += g.cut[t];
    cr_assert(cuts > 40 && cuts < 120, "%d triangles close the cut", cuts);
    cr_assert_eq(g.frame, k);
    ssdf_region_free(&g);
  }
  rig_free(&leg);
}

Test(region, the_union_of_regions_is_the_body)
{
  const double bent[4] = {0.7, 0.3, 1.4, 0.1};
  ssdf_region g[2];
  ssdf_poser at[2];
  ssdf_truth part[2];
  posed p;
  int inside = 0, dropped = 0;
  pose_leg(&p, bent, 0, 1);
  for (int k = 0; k < 2; ++k) {
    const mesh *const m = &g[k].part.skin;
    cr_assert_eq(ssdf_region_make(&p.err, &p.leg, leg_specs, 2, k, &g[k]), LOOM_OK);
    cr_assert_eq(ssdf_poser_open(&p.err, &g[k], &at[k]), LOOM_OK);
    ssdf_region_pose(&g[k], bent + 2 * k, at[k].T, at[k].all, at[k].x);
    cr_assert_eq(ssdf_truth_build(&p.err, at[k].x, m->num_verts, m->tris, m->num_tris, 1, &part[k]),
                 LOOM_OK);
  }
  for (int i = 0; i < 4000; ++i) {
    const int32_t v = (int32_t)draw_truth_number(0, p.leg.skin.num_verts - 1);
    double q[3], best = DBL_MAX, all = DBL_MAX;
    for (int c = 0; c < 3; ++c) q[c] = p.x[3 * v + c] + draw_truth_number(-0.06, 0.06);
    const double d = ssdf_truth_distance(&p.truth, q, DBL_MAX, NULL);
    for (int k = 0; k < 2; ++k) {
      double y[3];
      bvh_hit hit;
      apply_inverse_pose(p.T + 12 * g[k].frame, q, y);
      const double f = ssdf_truth_distance(&part[k], y, DBL_MAX, &hit);
      all = fmin(all, f);
      if (f < 0 && g[k].cut[hit.tri])
        ++dropped;
      else
        best = fmin(best, f);
    }
    inside += d < 0;
    cr_assert_float_eq(best, d, 1e-9, "eq. 1 at %g %g %g: %g, not %g", q[0], q[1], q[2], best, d);
    cr_assert_float_eq(all, d, 1e-9);
  }
  cr_assert(inside > 1000 && dropped > 50, "%d inside, %d flags false", inside, dropped);
  for (int k = 0; k < 2; ++k) {
    ssdf_truth_free(&part[k]);
    ssdf_poser_close(&at[k]);
    ssdf_region_free(&g[k]);
  }
  close_leg(&p);
}

Test(region, an_angle_that_moves_its_own_frame_is_refused)
{
  const ssdf_region_spec bad = {.joint = 2, .num_dofs = 1, .dof = {HIP_FLEXION}};
  loom_err err = {0};
  rig leg;
  ssdf_region g;
  cr_assert_eq(rig_make(&err, "leg", 0.04, &leg), LOOM_OK);
  cr_assert_eq(ssdf_region_make(&err, &leg, &bad, 1, 0, &g), LOOM_E_CONFIG);
  cr_assert_not_null(strstr(err.text, "hip.flexion moves joint hip"));
  rig_free(&leg);
}

/* ---- samples ---- */

Test(sample, values_are_exact_and_chosen_as_the_paper_says)
{
  const double range[2][2] = {{0, 2.1}, {-0.15, 0.15}}, angles[2] = {1.2, 0.05};
  const int64_t counts[2] = {3, 2};
  const ssdf_sampling how = {.resolution = 20,
                             .near_bound = 0.03,
                             .random_bound = 0.05,
                             .extra = 200,
                             .test_points = 300,
                             .seed = 4};
  posed p;
  ssdf_region g;
  ssdf_poser at;
  ssdf_box box;
  ssdf_samples s, again;
  int64_t near = 0;
  pose_leg(&p, (double[4]){0}, 0.03, 1);
  cr_assert_eq(ssdf_region_make(&p.err, &p.leg, leg_specs, 2, 1, &g), LOOM_OK);
  cr_assert_eq(ssdf_poser_open(&p.err, &g, &at), LOOM_OK);
  ssdf_box_of(&at, range, counts, 6, 0.07, &box);
  cr_assert_eq(ssdf_sample_training(&p.err, &at, &box, &how, angles, 3, &s), LOOM_OK);
  cr_assert_eq(ssdf_sample_training(&p.err, &at, &box, &how, angles, 3, &again), LOOM_OK);
  cr_assert_eq(s.count, again.count);
  cr_assert_arr_eq(s.x, again.x, 3 * (size_t)s.count * sizeof *s.x);
  cr_assert_arr_eq(s.d, again.d, (size_t)s.count * sizeof *s.d);
  cr_assert(s.nodes > 7000 && s.nodes < 9500, "%lld nodes for 20^3", (long long)s.nodes);
  for (int64_t i = 0; i < s.count; i += 7) {
    double q[3], best = DBL_MAX;
    for (int c = 0; c < 3; ++c) q[c] = box.centre[c] + box.half * (double)s.x[3 * i + c];
    for (int32_t t = 0; t < g.part.skin.num_tris; ++t) {
      bvh_hit h;
      const int32_t *const v = g.part.skin.tris + 3 * t;
      bvh_closest_on_triangle(q, at.x + 3 * v[0], at.x + 3 * v[1], at.x + 3 * v[2], &h);
      best = fmin(best, h.dist);
    }
    const double w = winding_number(at.x, g.part.skin.tris, g.part.skin.num_tris, q);
    if (best > 1e-5) cr_assert_eq(s.d[i]<0, w> 0.5);
    cr_assert_leq(best, fabs((double)s.d[i]) * box.half + 1e-6); /* float; the rest may be buried */
    near += i < s.count - how.extra && fabs((double)s.d[i]) < 0.06;
  }
  cr_assert_gt(near, 20);
  ssdf_samples_free(&s);
  ssdf_samples_free(&again);
  cr_assert_eq(ssdf_sample_test(&p.err, &at, &box, &how, angles, 3, &s), LOOM_OK);
  cr_assert_eq(s.count, 300);
  for (int64_t i = 0; i < s.count; ++i)
    cr_assert_leq(fabs((double)s.d[i]) * box.half, ssdf_test_reach + 1e-6);
  ssdf_samples_free(&s);
  ssdf_poser_close(&at);
  ssdf_region_free(&g);
  close_leg(&p);
}
