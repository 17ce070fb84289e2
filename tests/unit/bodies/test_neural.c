/* test_neural.c - a leg with a distance from networks, through the services on bodies: many
 * points at once and one by one, derivatives, boxes, flags, carried points, and impacts. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bodies/bend_field.h"
#include "bodies/rows.kern.h"
#include "geom/pose.h"
#include "ssdf/net.h"
#include "support/device.h"
#include "support/net_file.h"
#include "support/shapes.h"
#include "support/test_host.h"

enum { N = 501 };

static const double start[4] = {0.2, 0.1, 0.5, 0.05}, end[4] = {0.5, 0, 0.9, -0.1};

typedef struct fixture {
  test_host t;
  rig leg;
  body_field *networks;
  loom_real x[3 * N];
} fixture;

static void open_neural_leg_on(fixture *f, int backend, int threads, const net_file *how, int flags)
{
  char file[64];
  const double axis[3] = {0.6, 0, 0.8}, at0[3] = {0, 0, 0}, at1[3] = {0.02, 0, -0.01};
  double root0[12], root1[12];
  loom_err err = {0};
  uint64_t seed = 5;
  const field_options opt = {.kind = "neural", .file = file, .flags = flags, .layer = 0.002};
  snprintf(file, sizeof file, "neural_%d.h5", (int)getpid()); /* tests run side by side */
  memset(f, 0, sizeof *f);
  th_open_on(&f->t, backend, threads, 1);
  cr_assert_eq(rig_make(&err, "leg", 0.03, &f->leg), LOOM_OK);
  net_file_write(file, &f->leg, how);
  cr_assert_eq(bend_field_open(&err, f->t.m, &opt, &f->leg, &f->networks), LOOM_OK, "%s", err.text);
  unlink(file);
  pose_identity(root0);
  pose_identity(root1);
  root1[9] = 0.03;
  cr_assert_eq(bend_field_pose(f->networks, start, root0, end, root1), LOOM_OK);
  for (int i = 0; i < 3 * N; ++i)
    f->x[i] = (loom_real)(0.35 * th_random(&seed) - (i % 3 == 2 ? 0.4 : 0));
  loom_obstacle *const o = &f->t.obstacles[1];
  f->t.obstacles[0] = th_obstacle("sphere", shapes_sizes("sphere"), 8);
  *o = th_obstacle("mesh", NULL, 0);
  bend_field_show(f->networks, o);
  th_pose(o->pose0, axis, 0.1, at0);
  th_pose(o->pose1, axis, 0.15, at1);
  th_scene(&f->t, N, f->x, NULL, NULL, 2);
}

static void open_neural_leg(fixture *f)
{
  static const net_file how = {3, 8, "squareplus", 1, NULL, 0};
  open_neural_leg_on(f, LOOM_CPU, 2, &how, 1);
}

static void close_neural_leg(fixture *f)
{
  bend_field_close(f->networks);
  rig_free(&f->leg);
  th_close(&f->t);
}

/* All gaps of the leg with all points, as detection asks for them. */
static loom_real *compute_network_gaps(fixture *f, double progress, uint32_t precise)
{
  const loom_body_rows rows = {.struct_size = sizeof rows, .count = 2 * N, .x = f->t.step.x};
  const loom_body_gap out = {
      .struct_size = sizeof out, .precise = precise, .gap = th_buf(&f->t, LOOM_REAL, 2 * N, NULL)};
  cr_assert_eq(f->t.host.body_gap(&f->t.host, &f->t.exec, &rows, progress, &out), LOOM_OK, "%s",
               f->t.err.text);
  return th_get(&f->t, out.gap);
}

typedef struct slopes {
  loom_real *gap, *normal, *gradient, *curvature;
} slopes;

/* Listed rows of the leg: points x [n][3]. */
static slopes query_network_slopes(fixture *f, const loom_real *x, int n, double progress)
{
  int32_t *const body = calloc((size_t)n, sizeof *body);
  for (int i = 0; i < n; ++i) body[i] = 1;
  const loom_body_rows rows = {.struct_size = sizeof rows,
                               .count = n,
                               .body = th_buf(&f->t, LOOM_I32, n, body),
                               .x = th_buf(&f->t, LOOM_REAL, 3 * n, x)};
  const loom_body_gap out = {.struct_size = sizeof out,
                             .gap = th_buf(&f->t, LOOM_REAL, n, NULL),
                             .normal = th_buf(&f->t, LOOM_REAL, 3 * n, NULL),
                             .gradient = th_buf(&f->t, LOOM_REAL, 3 * n, NULL),
                             .curvature = th_buf(&f->t, LOOM_REAL, 9 * n, NULL)};
  free(body);
  cr_assert_eq(f->t.host.body_gap(&f->t.host, &f->t.exec, &rows, progress, &out), LOOM_OK, "%s",
               f->t.err.text);
  return (slopes){th_get(&f->t, out.gap), th_get(&f->t, out.normal), th_get(&f->t, out.gradient),
                  th_get(&f->t, out.curvature)};
}

static void free_network_slopes(slopes *s)
{
  free(s->gap);
  free(s->normal);
  free(s->gradient);
  free(s->curvature);
}

Test(neural, many_points_at_once_are_those_one_by_one)
{
  static fixture f;
  for (int flags = 0; flags < 2; ++flags) {
    static const net_file how = {3, 8, "squareplus", 1, NULL, 0};
    int inside = 0;
    open_neural_leg_on(&f, LOOM_CPU, 2, &how, flags);
    loom_real *const all = compute_network_gaps(&f, 0.4, 0), *const precise =
                                                                 compute_network_gaps(&f, 0.4, 1);
    slopes s = query_network_slopes(&f, f.x, N, 0.4);
    for (int i = 0; i < N; ++i) { /* single precision, half a metre */
      cr_assert_float_eq((double)all[N + i], (double)s.gap[i], 3e-6, "point %d", i);
      cr_assert_eq(precise[N + i], s.gap[i], "point %d", i);
      inside += s.gap[i] < 0;
    }
    cr_assert(inside > 20 && inside < N - 20, "%d inside", inside);
    free(all);
    free(precise);
    free_network_slopes(&s);
    close_neural_leg(&f);
  }
}

/* Gaps and normals of listed rows, both bodies in turn. */
Test(neural, normals_of_many_are_those_one_by_one)
{
  static fixture f;
  int32_t body[N];
  double worst = 0;
  open_neural_leg(&f);
  for (int i = 0; i < N; ++i) body[i] = i / 50 % 2; /* 0: a sphere */
  const loom_body_rows rows = {.struct_size = sizeof rows,
                               .count = N,
                               .body = th_buf(&f.t, LOOM_I32, N, body),
                               .x = th_buf(&f.t, LOOM_REAL, 3 * (int64_t)N, f.x)};
  const loom_body_gap out = {.struct_size = sizeof out,
                             .gap = th_buf(&f.t, LOOM_REAL, N, NULL),
                             .normal = th_buf(&f.t, LOOM_REAL, 3 * (int64_t)N, NULL)};
  cr_assert_eq(f.t.host.body_gap(&f.t.host, &f.t.exec, &rows, 0.4, &out), LOOM_OK);
  loom_real *const gap = th_get(&f.t, out.gap), *const normal = th_get(&f.t, out.normal);
  slopes s = query_network_slopes(&f, f.x, N, 0.4);
  for (int i = 0; i < N; ++i) {
    double dot = 0;
    if (body[i] == 0) continue;
    for (int c = 0; c < 3; ++c) dot += (double)(normal[3 * i + c] * s.normal[3 * i + c]);
    cr_assert_float_eq((double)gap[i], (double)s.gap[i], 3e-6, "point %d", i);
    worst = fmax(worst, 1 - dot);
  }
  cr_assert_lt(worst, 1e-6, "%g", worst);
  free(gap);
  free(normal);
  free_network_slopes(&s);
  close_neural_leg(&f);
}

/* Known gaps spare queries, and hide no point that is close. */
Test(neural, known_gaps_spare_what_stays_far)
{
  static fixture f;
  loom_real moved[3 * N], radius[N];
  const double enough = 0.01, way = 0.03;
  uint64_t seed = 9;
  int spared = 0, close = 0;
  static const net_file how = {1, 6, "leaky_relu", 0, NULL, 1}; /* distances, not chance */
  open_neural_leg_on(&f, LOOM_CPU, 2, &how, 1);
  loom_real *const known = compute_network_gaps(&f, 1, 0);
  for (int i = 0; i < 3 * N; ++i) moved[i] = f.x[i] + (loom_real)(way * th_random(&seed));
  for (int i = 0; i < N; ++i) radius[i] = (loom_real)0.001;
  const loom_body_rows rows = {.struct_size = sizeof rows,
                               .count = 2 * (int64_t)N,
                               .x = th_buf(&f.t, LOOM_REAL, 3 * (int64_t)N, moved)};
  const loom_body_gap plain = {.struct_size = sizeof plain,
                               .gap = th_buf(&f.t, LOOM_REAL, 2 * (int64_t)N, NULL)};
  loom_body_gap quick = {.struct_size = sizeof quick,
                         .gap = th_buf(&f.t, LOOM_REAL, 2 * (int64_t)N, NULL),
                         .known_gap = th_buf(&f.t, LOOM_REAL, 2 * (int64_t)N, known),
                         .known_x = th_buf(&f.t, LOOM_REAL, 3 * (int64_t)N, f.x),
                         .radius = th_buf(&f.t, LOOM_REAL, N, radius),
                         .enough = enough};
  cr_assert_eq(f.t.host.body_gap(&f.t.host, &f.t.exec, &rows, 1, &plain), LOOM_OK);
  cr_assert_eq(f.t.host.body_gap(&f.t.host, &f.t.exec, &rows, 1, &quick), LOOM_OK);
  loom_real *const all = th_get(&f.t, plain.gap), *const some = th_get(&f.t, quick.gap);
  for (int i = 0; i < 2 * N; ++i) {
    const int near = (double)(all[i] - radius[i % N]) <= enough;
    if (near)
      cr_assert_eq(some[i], all[i], "pair %d: %g, %g", i, (double)some[i], (double)all[i]);
    else
      cr_assert_gt((double)(some[i] - radius[i % N]), enough, "pair %d", i);
    spared += some[i] != all[i];
    close += near;
  }
  cr_assert(spared > N / 2 && close > 20, "%d are spared, %d close", spared, close);
  free(known);
  free(all);
  free(some);
  close_neural_leg(&f);
}

/* Any number of threads gives the same bits; a device rounds the sine and cosine of a body's turn
 * otherwise. */
static void expect_same_reals(const loom_real *a, const loom_real *b, size_t n)
{
  if (!test_on_cuda()) cr_assert_arr_eq(a, b, n * sizeof *a);
  for (size_t i = 0; i < n; ++i)
    cr_assert_float_eq((double)a[i], (double)b[i], 1e-12 * (1.0 + fabs((double)a[i])), "%zu", i);
}

Test(neural, threads_and_the_simulated_device_give_the_same)
{
  static const net_file how = {3, 8, "squareplus", 1, NULL, 0};
  static fixture f, g;
  const int backend = test_on_cuda() ? LOOM_CUDA : LOOM_CPU;
  open_neural_leg_on(&f, LOOM_CPU, 1, &how, 1);
  open_neural_leg_on(&g, backend, 3, &how, 1);
  loom_real *const a = compute_network_gaps(&f, 0.4, 0), *const b =
                                                             compute_network_gaps(&g, 0.4, 0);
  expect_same_reals(a, b, (size_t)2 * N);
  slopes s = query_network_slopes(&f, f.x, N, 0.7), t = query_network_slopes(&g, f.x, N, 0.7);
  expect_same_reals(s.gap, t.gap, N);
  expect_same_reals(s.curvature, t.curvature, (size_t)9 * N);
  free(a);
  free(b);
  free_network_slopes(&s);
  free_network_slopes(&t);
  close_neural_leg(&f);
  close_neural_leg(&g);
}

Test(neural, derivatives_are_those_of_differences)
{
  static fixture f;
  const double e = 1e-6;
  int checked = 0;
  open_neural_leg(&f);
  slopes s = query_network_slopes(&f, f.x, N, 1);
  for (int c = 0; c < 3; ++c) {
    loom_real y[3 * N];
    memcpy(y, f.x, sizeof y);
    for (int i = 0; i < N; ++i) y[3 * i + c] += (loom_real)e;
    slopes hi = query_network_slopes(&f, y, N, 1);
    for (int i = 0; i < N; ++i) y[3 * i + c] -= (loom_real)(2 * e);
    slopes lo = query_network_slopes(&f, y, N, 1);
    for (int i = 0; i < N; ++i) {
      const double d = (double)(hi.gap[i] - lo.gap[i]) / (2 * e);
      if (fabs((double)(hi.gap[i] + lo.gap[i] - 2 * s.gap[i])) > 1e-9) continue; /* a kink */
      cr_assert_float_eq((double)s.gradient[3 * i + c], d, 1e-6, "point %d", i);
      for (int k = 0; k < 3; ++k)
        cr_assert_float_eq((double)s.curvature[9 * i + 3 * k + c],
                           (double)(hi.gradient[3 * i + k] - lo.gradient[3 * i + k]) / (2 * e),
                           1e-3 * (1 + fabs((double)s.curvature[9 * i + 3 * k + c])));
      ++checked;
    }
    free_network_slopes(&hi);
    free_network_slopes(&lo);
  }
  cr_assert_gt(checked, 2 * N);
  free_network_slopes(&s);
  close_neural_leg(&f);
}

static void to_rest(const double T[12], const double x[3], double y[3])
{
  for (int c = 0; c < 3; ++c) {
    y[c] = 0;
    for (int k = 0; k < 3; ++k) y[c] += T[3 * k + c] * (x[k] - T[9 + k]);
  }
}

/* Eq. 1 with its fallback, boxes and the layer, from the file's numbers. */
Test(neural, the_distance_is_eq_1_over_boxes)
{
  static const net_file how = {2, 5, "tanh", 1, NULL, 0};
  static fixture f;
  loom_err err = {0};
  ssdf_net n;
  double T[36], root[12], P[12];
  int dropped = 0, outside = 0, fell_back = 0;
  open_neural_leg_on(&f, LOOM_CPU, 1, &how, 1);
  net_file_write("neural_again.h5", &f.leg, &how);
  cr_assert_eq(ssdf_net_read(&err, "neural_again.h5", &f.leg, &n), LOOM_OK);
  unlink("neural_again.h5");
  pose_identity(root);
  root[9] = 0.03;
  rig_pose(&f.leg, end, root, T);
  for (int i = 0; i < 12; ++i) P[i] = (double)f.t.obstacles[1].pose1[i];
  slopes s = query_network_slopes(&f, f.x, N, 1);
  for (int i = 0; i < N; ++i) {
    double x[3] = {(double)f.x[3 * i], (double)f.x[3 * i + 1], (double)f.x[3 * i + 2]}, p[3], y[3];
    double best = 1e9, all = 1e9;
    to_rest(P, x, p);
    for (int k = 0; k < 2; ++k) {
      const ssdf_net_region *const g = &n.regions[k];
      double away = 0, v;
      lk_real q[3];
      loom_real w[SSDF_MAX_PARAMS], u[SSDF_MAX_PARAMS];
      to_rest(T + 12 * g->frame, p, y);
      for (int c = 0; c < 3; ++c) {
        away += pow(fmax(0, fmax(g->lo[c] - y[c], y[c] - g->hi[c])), 2);
        q[c] = (lk_real)((y[c] - g->centre[c]) / g->half);
      }
      ssdf_net_fold(g, &g->distance, end, w);
      ssdf_net_fold(g, &g->label, end, u);
      const ssdf_params pw = {w, w, 1}, pu = {u, u, 1};
      v = (double)ssdf_value(&g->distance.shape, &pw, q, NULL) * g->half;
      v = (away > 0 ? sqrt(away) + g->margin : fmin(v, g->clamp)) - 0.002;
      outside += away > 0;
      all = fmin(all, v);
      if (away == 0 && v < 0 && !(ssdf_value(&g->label.shape, &pu, q, NULL) > 0)) {
        ++dropped;
        continue;
      }
      best = fmin(best, v);
    }
    if (best > 0 && all < 0) best = all, ++fell_back;
    cr_assert_float_eq((double)s.gap[i], best, 1e-9, "point %d", i);
  }
  cr_assert(dropped > 10 && outside > 10 && fell_back > 0, "%d %d %d", dropped, outside, fell_back);
  ssdf_net_free(&n);
  free_network_slopes(&s);
  close_neural_leg(&f);
}

Test(neural, what_lies_on_the_skin_is_carried_with_it)
{
  static fixture f;
  double T[2][36], root[12], worst = 0, mean = 0;
  loom_real back[3 * N];
  open_neural_leg(&f);
  double *const x0 = calloc(3 * (size_t)f.leg.skin.num_verts, sizeof *x0);
  double *const x1 = calloc(3 * (size_t)f.leg.skin.num_verts, sizeof *x1);
  pose_identity(root);
  rig_pose(&f.leg, start, root, T[0]);
  root[9] = 0.03;
  rig_pose(&f.leg, end, root, T[1]);
  rig_skin(&f.leg, T[0], x0);
  rig_skin(&f.leg, T[1], x1);
  const loom_obstacle *const o = &f.t.obstacles[1];
  double P[2][12];
  for (int i = 0; i < 12; ++i) P[0][i] = (double)o->pose0[i], P[1][i] = (double)o->pose1[i];
  for (int i = 0; i < N; ++i) {
    double at[3];
    pose_apply(P[1], x1 + 3 * (i % f.leg.skin.num_verts), at);
    for (int c = 0; c < 3; ++c) f.x[3 * i + c] = (loom_real)at[c];
  }
  int32_t body[N];
  for (int i = 0; i < N; ++i) body[i] = 1;
  const loom_body_rows rows = {.struct_size = sizeof rows,
                               .count = N,
                               .body = th_buf(&f.t, LOOM_I32, N, body),
                               .x = th_buf(&f.t, LOOM_REAL, 3 * N, f.x)};
  loom_buf *const out = th_buf(&f.t, LOOM_REAL, 3 * N, NULL);
  cr_assert_eq(f.t.host.body_carry(&f.t.host, &f.t.exec, &rows, 1, 0, out), LOOM_OK);
  loom_real *const got = th_get(&f.t, out);
  memcpy(back, got, sizeof back);
  free(got);
  for (int i = 0; i < N; ++i) {
    double at[3], d2 = 0, way = 0;
    pose_apply(P[0], x0 + 3 * (i % f.leg.skin.num_verts), at);
    for (int c = 0; c < 3; ++c) {
      d2 += pow((double)back[3 * i + c] - at[c], 2);
      way += pow((double)f.x[3 * i + c] - at[c], 2);
    }
    worst = fmax(worst, sqrt(d2) / (sqrt(way) + 1e-3));
    mean += sqrt(d2) / (sqrt(way) + 1e-3) / N;
  }
  /* rigid parts exactly; around joints shares come from anchors some centimetres away */
  cr_assert(mean < 0.02 && worst < 0.3, "of the way: %g in the mean, %g at most", mean, worst);
  free(x0);
  free(x1);
  close_neural_leg(&f);
}

Test(neural, impacts_are_never_late)
{
  enum { SAMPLES = 400 };
  static const net_file how = {1, 6,    "leaky_relu",
                               0, NULL, 1}; /* as distances should be at a box */
  static fixture f;
  int hits = 0;
  open_neural_leg_on(&f, LOOM_CPU, 1, &how, 1);
  obst_view v;
  void *p;
  cr_assert_null(obst_view_fill(&f.t.obstacles[1], &v));
  cr_assert_eq(buf_map(f.t.m, NULL, f.t.obstacles[1].field, LOOM_READ, LOOM_AT_HOST, &p), LOOM_OK);
  v.field = p;
  for (int i = 0; i + 1 < N; ++i) {
    obst_path w = {.radius = (lk_real)0.001, .tol = (lk_real)1e-6, .s1 = 1, .max_iters = 2000};
    for (int c = 0; c < 3; ++c) {
      w.x0[c] = f.x[3 * i + c];
      w.x1[c] = w.x0[c] + (lk_real)0.6 * (f.x[3 * i + 3 + c] - w.x0[c]);
    }
    double first = 2;
    for (int k = 0; k <= SAMPLES && first > 1; ++k) {
      const lk_real t = (lk_real)k / SAMPLES;
      lk_real x[3], n[3];
      obst_pose P;
      obst_pose_at(&v, t, &P);
      for (int c = 0; c < 3; ++c) x[c] = w.x0[c] + t * (w.x1[c] - w.x0[c]);
      if (obst_distance(&v, &P, x, n) <= w.radius) first = (double)t;
    }
    const double toi = (double)obst_impact(&v, &w);
    cr_assert(toi <= first, "path %d: %g, but there at %g", i, toi, first);
    hits += first <= 1;
  }
  cr_assert_gt(hits, 10);
  cr_assert_eq(buf_unmap(f.t.m, f.t.obstacles[1].field), LOOM_OK);
  close_neural_leg(&f);
}

Test(neural, a_layer_beyond_what_is_known_is_refused)
{
  const net_file how = {3, 8, "squareplus", 0, NULL, 0};
  const field_options opt = {.kind = "neural", .file = "neural_layer.h5", .layer = 0.05};
  loom_err err = {0};
  test_host t;
  rig leg;
  body_field *n;
  th_open(&t, 1, 0);
  cr_assert_eq(rig_make(&err, "leg", 0.05, &leg), LOOM_OK);
  net_file_write(opt.file, &leg, &how);
  cr_assert_eq(bend_field_open(&err, t.m, &opt, &leg, &n), LOOM_E_CONFIG);
  cr_assert(strstr(err.text, "0.05 m") != NULL && n == NULL, "%s", err.text);
  unlink(opt.file);
  rig_free(&leg);
  th_close(&t);
}
