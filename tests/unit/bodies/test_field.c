/* test_field.c - distances to a leg that bends, other than by networks: its skin against all of its
 * triangles, grids against the skin, cones against balls along their axes; derivatives, impacts. */
#include <criterion/criterion.h>
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bodies/rows.kern.h"
#include "mesh/bvh.h"
#include "ssdf/truth.h"
#include "support/device.h"
#include "unit/bodies/field_leg.h"

static double evaluate_field(const fixture *f, lk_real s, const lk_real *p)
{
  lk_real n[3];
  return (double)obst_distance_at(&f->view, s, p, n);
}

/* ---- the skin ---- */

/* Signed distance to all triangles, one by one; inside by the solid angle (van Oosterom). */
static double brute_skin_distance(const fixture *f, double s, const lk_real *p)
{
  double best = DBL_MAX, angle = 0;
  for (int32_t t = 0; t < f->leg.skin.num_tris; ++t) {
    double v[3][3], r[3][3], len[3];
    bvh_hit h;
    const double at[3] = {(double)p[0], (double)p[1], (double)p[2]};
    for (int a = 0; a < 3; ++a) {
      const int64_t id = f->leg.skin.tris[3 * (int64_t)t + a];
      for (int c = 0; c < 3; ++c) {
        v[a][c] = (1 - s) * f->x[0][3 * id + c] + s * f->x[1][3 * id + c];
        r[a][c] = v[a][c] - at[c];
      }
      len[a] = sqrt(r[a][0] * r[a][0] + r[a][1] * r[a][1] + r[a][2] * r[a][2]);
    }
    bvh_closest_on_triangle(at, v[0], v[1], v[2], &h);
    best = fmin(best, h.dist);
    double det = 0, dots[3];
    for (int k = 0; k < 3; ++k) {
      const int i = (k + 1) % 3, j = (k + 2) % 3;
      det += r[0][k] * (r[1][i] * r[2][j] - r[1][j] * r[2][i]);
      dots[k] = r[i][0] * r[j][0] + r[i][1] * r[j][1] + r[i][2] * r[j][2];
    }
    angle += 2 * atan2(det, len[0] * len[1] * len[2] + dots[2] * len[2] + dots[0] * len[0] +
                                dots[1] * len[1]);
  }
  return fabs(angle) > 6.28 ? -best : best;
}

Test(field, the_skin_is_where_all_its_triangles_are)
{
  static fixture f;
  int inside = 0;
  open_field_leg(&f, "exact");
  for (int k = 0; k < 3; ++k)
    for (int i = 0; i < N; ++i) {
      const double s = 0.5 * k, want = brute_skin_distance(&f, s, f.p[i]);
      const double have = evaluate_field(&f, (lk_real)s, f.p[i]) + 0.002;
      cr_assert_float_eq(have, want, sizeof(lk_real) == 4 ? 2e-6 : 1e-9, "%g, point %d: %g, %g", s,
                         i, have, want);
      inside += want < 0;
    }
  cr_assert(inside > N / 2 && inside < 5 * N / 2, "%d inside", inside);
  close_field_leg(&f);
}

/* Where the skin folds onto itself the distance is that of ssdf_truth.  The control: with all that
 * is buried it is too shallow. */
Test(field, what_is_buried_in_a_fold_does_not_count)
{
  static fixture f;
  loom_err err = {0};
  ssdf_truth truth, naive;
  double off_naive = 0;
  int inside = 0;
  open_field_leg_on(&f, LOOM_CPU, 2, "exact", start, folded, 0, 0.015);
  for (int correct = 0; correct < 2; ++correct)
    cr_assert_eq(ssdf_truth_build(&err, f.x[1], f.leg.skin.num_verts, f.leg.skin.tris,
                                  f.leg.skin.num_tris, correct, correct ? &truth : &naive),
                 LOOM_OK);
  cr_assert_gt(truth.num_buried, 20);
  for (int i = 0; i < N; ++i) {
    const int32_t v = (int32_t)((int64_t)i * 7919 % f.leg.skin.num_verts);
    double p[3];
    for (int c = 0; c < 3; ++c) {
      p[c] = f.x[1][3 * (int64_t)v + c] + (double)f.p[i][c] -
             0.5 * (f.x[0][3 * (int64_t)v + c] + f.x[1][3 * (int64_t)v + c]);
      f.p[i][c] = (lk_real)p[c];
    }
    const double want = ssdf_truth_distance(&truth, p, DBL_MAX, NULL);
    const double have = evaluate_field(&f, 1, f.p[i]);
    cr_assert_float_eq(have, want, sizeof(lk_real) == 4 ? 2e-6 : 1e-9, "point %d", i);
    if (want >= 0) continue;
    off_naive += fabs(ssdf_truth_distance(&naive, p, DBL_MAX, NULL) - want);
    ++inside;
  }
  cr_assert_gt(inside, 100);
  cr_assert_gt(off_naive / inside, 5e-4, "%g m", off_naive / inside);
  ssdf_truth_free(&truth);
  ssdf_truth_free(&naive);
  close_field_leg(&f);
}

/* ---- grids ---- */

static void grid_node_position(const baked_grid *g, int64_t k, lk_real *p)
{
  const int64_t at[3] = {k % g->dims[0], k / g->dims[0] % g->dims[1], k / g->dims[0] / g->dims[1]};
  for (int c = 0; c < 3; ++c) p[c] = g->origin[c] + g->spacing * (lk_real)at[c];
}

Test(field, grids_have_the_exact_distance_at_nodes_and_nearly_in_between)
{
  static fixture f, g;
  double worst = 0;
  open_field_leg(&f, "baked");
  open_field_leg(&g, "exact");
  const baked_field *const b = f.view.field;
  for (int k = 0; k < 2; ++k) {
    const baked_grid *const grid = &b->end[k];
    const int64_t nodes = (int64_t)grid->dims[0] * grid->dims[1] * grid->dims[2];
    for (int64_t i = 0; i < nodes; i += 37) {
      lk_real p[3];
      grid_node_position(grid, i, p);
      cr_assert_float_eq(evaluate_field(&f, (lk_real)k, p), evaluate_field(&g, (lk_real)k, p), 2e-6,
                         "node %d", (int)i);
    }
    for (int i = 0; i < N; ++i)
      worst = fmax(worst, fabs(evaluate_field(&f, (lk_real)k, f.p[i]) -
                               evaluate_field(&g, (lk_real)k, f.p[i])));
  }
  cr_assert(worst > 1e-5 && worst < 0.6 * (double)b->end[0].spacing, "%g m", worst);
  for (int i = 0; i < N; ++i)
    cr_assert_float_eq(evaluate_field(&f, (lk_real)0.25, f.p[i]),
                       0.75 * evaluate_field(&f, 0, f.p[i]) + 0.25 * evaluate_field(&f, 1, f.p[i]),
                       1e-6);
  close_field_leg(&f);
  close_field_leg(&g);
}

/* A step that goes on from the one before bakes one grid, and has the same numbers. */
Test(field, a_grid_that_is_there_is_taken)
{
  static fixture f, g;
  double root1[12];
  open_field_leg_on(&f, LOOM_CPU, 2, "baked", folded, start, 0, 0.03);
  open_field_leg_on(&g, LOOM_CPU, 2, "baked", start, end, 0, 0.03);
  pose_identity(root1);
  root1[9] = 0.03;
  unmap_field_view(&f);
  unmap_field_view(&g);
  cr_assert_eq(bend_field_pose(f.field, start, root1, end, root1), LOOM_OK);
  cr_assert_eq(bend_field_pose(g.field, start, root1, end, root1), LOOM_OK);
  map_field_view(&f);
  map_field_view(&g);
  for (int i = 0; i < N; ++i)
    for (int k = 0; k < 3; ++k)
      cr_assert_eq(evaluate_field(&f, (lk_real)(0.5 * k), f.p[i]),
                   evaluate_field(&g, (lk_real)(0.5 * k), f.p[i]));
  close_field_leg(&f);
  close_field_leg(&g);
}

/* ---- cones ---- */

/* Each cone is all balls along its axis. */
static double brute_capsule_distance(const fixture *f, int k, const lk_real *p)
{
  enum { BALLS = 4000 };
  const capsules_field *const b = f->view.field;
  double best = DBL_MAX;
  for (int j = 0; j < b->num_bones; ++j) {
    const capsules_bone *const c = &b->bone[j];
    const bend_frame *const at = &b->b.frame[c->frame];
    lk_real y[3];
    for (int a = 0; a < 3; ++a) {
      const lk_real *const R = k ? at->R1 : at->R0, *const t = k ? at->t1 : at->t0;
      y[a] = 0;
      for (int r = 0; r < 3; ++r) y[a] += R[3 * r + a] * (p[r] - t[r]);
    }
    for (int i = 0; i <= BALLS; ++i) {
      const double u = (double)i / BALLS;
      double d2 = 0;
      for (int a = 0; a < 3; ++a)
        d2 += pow((double)y[a] - (double)c->a[a] - u * (double)(c->length * c->R[6 + a]), 2);
      best = fmin(best, sqrt(d2) - (1 - u) * (double)c->radius[0] - u * (double)c->radius[1]);
    }
  }
  return best;
}

Test(field, cones_are_balls_along_an_axis_and_near_the_skin)
{
  static fixture f;
  double off = 0;
  open_field_leg(&f, "capsules");
  cr_assert_eq(((const capsules_field *)f.view.field)->num_bones, 3);
  for (int k = 0; k < 2; ++k)
    for (int i = 0; i < N; ++i) {
      const double have = evaluate_field(&f, (lk_real)k, f.p[i]);
      cr_assert_float_eq(have, brute_capsule_distance(&f, k, f.p[i]), 2e-6, "point %d", i);
      off += fabs(have + 0.002 - brute_skin_distance(&f, k, f.p[i])) / (2 * N);
    }
  cr_assert(off > 1e-3 && off < 0.02, "%g m", off); /* no leg is a cone */
  close_field_leg(&f);
}

/* ---- all ---- */

Test(field, derivatives_are_those_of_differences)
{
  const lk_real h = sizeof(lk_real) == 4 ? LK_R(1e-3) : LK_R(1e-6);
  if (sizeof(lk_real) == 4) cr_skip_test("differences in double precision");
  for (size_t kind = 0; kind < 3; ++kind) {
    static fixture f;
    int checked = 0;
    open_field_leg(&f, kinds[kind]);
    for (int i = 0; i < N; ++i) {
      lk_real g[3], C[9], n[3], hi[3], lo[3], unused[9];
      const lk_real s = LK_R(0.3), v = obst_hess_at(&f.view, s, f.p[i], g, C);
      cr_assert_float_eq((double)v, (double)obst_distance_at(&f.view, s, f.p[i], n), 1e-12);
      const double len = sqrt((double)lk_dot3(g, g));
      for (int c = 0; c < 3; ++c) {
        lk_real p[3] = {f.p[i][0], f.p[i][1], f.p[i][2]};
        cr_assert_float_eq((double)g[c], len * (double)n[c], 1e-9, "%s", kinds[kind]);
        p[c] += h;
        const lk_real up = obst_hess_at(&f.view, s, p, hi, unused);
        p[c] -= 2 * h;
        const lk_real down = obst_hess_at(&f.view, s, p, lo, unused);
        int kink = fabs((double)(up + down - 2 * v)) > 1e-9;
        for (int k = 0; k < 3; ++k) kink |= fabs((double)(hi[k] + lo[k] - 2 * g[k])) > 1e-7;
        if (kink) continue; /* another triangle, cell or cone */
        cr_assert_float_eq((double)g[c], (double)(up - down) / (2 * h), 1e-6, "%s, point %d",
                           kinds[kind], i);
        for (int k = 0; k < 3; ++k)
          cr_assert_float_eq((double)C[3 * k + c], (double)(hi[k] - lo[k]) / (2 * h),
                             1e-3 * (1 + fabs((double)C[3 * k + c])), "%s, point %d, %d %d",
                             kinds[kind], i, k, c);
        ++checked;
      }
    }
    cr_assert_gt(checked, N, "%s: %d", kinds[kind], checked);
    close_field_leg(&f);
  }
}

Test(field, impacts_are_never_late)
{
  enum { SAMPLES = 200 };
  for (size_t kind = 0; kind < 3; ++kind) {
    static fixture f;
    int hits = 0;
    open_field_leg(&f, kinds[kind]);
    for (int i = 0; i + 1 < N; i += 2) {
      obst_path w = {.radius = LK_R(0.001), .tol = LK_R(1e-6), .s1 = 1, .max_iters = 2000};
      for (int c = 0; c < 3; ++c) {
        w.x0[c] = f.p[i][c];
        w.x1[c] = w.x0[c] + LK_R(0.5) * (f.p[i + 1][c] - w.x0[c]);
      }
      double first = 2;
      for (int k = 0; k <= SAMPLES && first > 1; ++k) {
        const lk_real t = (lk_real)k / SAMPLES;
        lk_real x[3];
        for (int c = 0; c < 3; ++c) x[c] = w.x0[c] + t * (w.x1[c] - w.x0[c]);
        if (evaluate_field(&f, t, x) <= (double)w.radius) first = (double)t;
      }
      const double toi = (double)obst_impact(&f.view, &w);
      cr_assert(toi <= first, "%s, path %d: %g, but there at %g", kinds[kind], i, toi, first);
      hits += first > 0 && first <= 1;
    }
    cr_assert_gt(hits, 5, "%s: %d", kinds[kind], hits);
    close_field_leg(&f);
  }
}

static loom_real *compute_field_gaps(fixture *f)
{
  loom_real x[3 * N];
  unmap_field_view(f);
  for (int i = 0; i < 3 * N; ++i) x[i] = (loom_real)f->p[i / 3][i % 3];
  th_scene(&f->t, N, x, NULL, NULL, 1);
  const loom_body_rows rows = {.struct_size = sizeof rows, .count = N, .x = f->t.step.x};
  const loom_body_gap out = {.struct_size = sizeof out, .gap = th_buf(&f->t, LOOM_REAL, N, NULL)};
  cr_assert_eq(f->t.host.body_gap(&f->t.host, &f->t.exec, &rows, 0.4, &out), LOOM_OK, "%s",
               f->t.err.text);
  return th_get(&f->t, out.gap);
}

/* Cones turn between two poses by sines and cosines, which a device rounds its own way. */
Test(field, threads_and_devices_give_the_same_bits)
{
  for (size_t kind = 0; kind < 3; ++kind) {
    static fixture f, g;
    open_field_leg_on(&f, LOOM_CPU, 1, kinds[kind], start, folded, 0.001, 0.03);
    open_field_leg_on(&g, test_on_cuda() ? LOOM_CUDA : LOOM_CPU, 3, kinds[kind], start, folded,
                      0.001, 0.03);
    loom_real *const a = compute_field_gaps(&f), *const b = compute_field_gaps(&g);
    if (test_on_cuda() && strcmp(kinds[kind], "capsules") == 0) {
      for (int i = 0; i < N; ++i) cr_assert_float_eq((double)a[i], (double)b[i], 1e-14);
    } else {
      cr_assert_arr_eq(a, b, N * sizeof *a, "%s", kinds[kind]);
    }
    free(a);
    free(b);
    close_field_leg(&f);
    close_field_leg(&g);
  }
}

Test(field, what_cannot_be_is_refused)
{
  const field_options coarse = {.kind = "baked", .resolution = 3};
  loom_err err = {0};
  test_host t;
  rig leg;
  body_field *f;
  th_open(&t, 1, 0);
  cr_assert_eq(rig_make(&err, "leg", 0.05, &leg), LOOM_OK);
  cr_assert_eq(bend_field_open(&err, t.m, &coarse, &leg, &f), LOOM_E_CONFIG);
  cr_assert(strstr(err.text, "4 to 512 nodes") != NULL && f == NULL, "%s", err.text);
  rig_free(&leg);
  th_close(&t);
}
