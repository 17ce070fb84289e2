/* test_net.c - networks: files, angles, values, gradients and Hessians, one point and many. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bodies/neural.kern.h"
#include "support/net_file.h"

static uint64_t state = 3;
static double draw_net_number(double lo, double hi)
{
  state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
  return lo + (hi - lo) * (double)(state >> 11) * 0x1p-53;
}

static rig leg_of(void)
{
  loom_err err = {0};
  rig leg;
  cr_assert_eq(rig_make(&err, "leg", 0.05, &leg), LOOM_OK);
  return leg;
}

static const char *const activations[] = {"squareplus", "leaky_relu", "softplus", "tanh"};

Test(net, sizes_are_those_of_the_papers_table)
{
  cr_assert_eq(SSDF_NUM_PARAMS(3, 4), 61);
  cr_assert_eq(SSDF_NUM_PARAMS(3, 8), 185);
  cr_assert_eq(SSDF_NUM_PARAMS(3, 16), 625);
  cr_assert_eq(SSDF_NUM_PARAMS(3, 32), 2273);
  cr_assert_eq(SSDF_NUM_PARAMS(5, 32), 4385);
  cr_assert_eq(SSDF_NUM_PARAMS(2, 8), 113);
  cr_assert_leq((3 * 185 + 3 * 113) * sizeof(float), 5000); /* S7: storage of a joint, bytes */
}

/* ---- values ---- */

/* Eq. 4 as it is written. */
static double evaluate_plain_net(const ssdf_shape *n, const double *w, const double y[3])
{
  double in[32], out[32];
  int inputs = 3;
  memcpy(in, y, 3 * sizeof *y);
  for (int h = 0; h <= n->hidden; ++h) {
    const int outputs = h < n->hidden ? n->width : 1;
    for (int c = 0; c < outputs; ++c) {
      double z = w[outputs * inputs + c];
      for (int k = 0; k < inputs; ++k) z += w[c * inputs + k] * in[k];
      if (h < n->hidden) {
        if (n->activation == SSDF_SQUAREPLUS) z = (z + sqrt(z * z + 0.02)) / 2;
        if (n->activation == SSDF_LEAKY_RELU) z = z > 0 ? z : 0.01 * z;
        if (n->activation == SSDF_SOFTPLUS) z = log1p(exp(10 * z)) / 10;
        if (n->activation == SSDF_TANH) z = tanh(z);
      }
      out[c] = z;
    }
    w += outputs * (inputs + 1);
    inputs = outputs;
    memcpy(in, out, sizeof in);
  }
  return in[0];
}

typedef struct random_net {
  ssdf_shape shape;
  lk_real w0[SSDF_MAX_PARAMS], w1[SSDF_MAX_PARAMS];
  ssdf_params p;
} random_net;

static void create_random_net(random_net *n, int hidden, int width, int activation)
{
  n->shape = (ssdf_shape){hidden, width, activation};
  for (int k = 0; k < SSDF_NUM_PARAMS(hidden, width); ++k) {
    n->w0[k] = (lk_real)(draw_net_number(-1.5, 1.5) / sqrt(width));
    n->w1[k] = (lk_real)(draw_net_number(-1.5, 1.5) / sqrt(width));
  }
  n->p = (ssdf_params){n->w0, n->w1, (lk_real)0.3};
}

static void draw_net_point(lk_real y[3])
{
  for (int c = 0; c < 3; ++c) y[c] = (lk_real)draw_net_number(-1, 1);
}

Test(net, values_are_eq_4_between_the_ends_of_a_step)
{
  static const int sizes[5][2] = {{3, 4}, {3, 8}, {3, 16}, {3, 32}, {5, 32}};
  static random_net n;
  for (int a = 0; a < SSDF_NUM_ACTIVATIONS; ++a)
    for (int k = 0; k < 5; ++k) {
      double w[SSDF_MAX_PARAMS];
      create_random_net(&n, sizes[k][0], sizes[k][1], a);
      for (int i = 0; i < SSDF_MAX_PARAMS; ++i)
        w[i] = 0.7 * (double)n.w0[i] + 0.3 * (double)n.w1[i];
      for (int i = 0; i < 20; ++i) {
        lk_real y[3];
        draw_net_point(y);
        const double at[3] = {(double)y[0], (double)y[1], (double)y[2]};
        cr_assert_float_eq((double)ssdf_value(&n.shape, &n.p, y, NULL),
                           evaluate_plain_net(&n.shape, w, at), 1e-12, "%s %d", activations[a], k);
      }
    }
}

/* The GPU's code for few channels. */
Test(net, narrow_ones_have_the_same_bits)
{
  static random_net n;
  for (int a = 0; a < SSDF_NUM_ACTIVATIONS; ++a)
    for (int i = 0; i < 200; ++i) {
      lk_real y[3], g[2][3], C[2][9], v[2];
      create_random_net(&n, 1 + i % SSDF_NARROW_HIDDEN, 1 + i % SSDF_NARROW_WIDTH, a);
      cr_assert(ssdf_is_narrow(&n.shape));
      draw_net_point(y);
      cr_assert_eq(ssdf_value(&n.shape, &n.p, y, NULL), ssdf_narrow_value(&n.shape, &n.p, y));
      v[0] = ssdf_gradient(&n.shape, &n.p, y, g[0]);
      v[1] = ssdf_narrow_gradient(&n.shape, &n.p, y, g[1]);
      cr_assert(v[0] == v[1] && memcmp(g[0], g[1], sizeof g[0]) == 0, "%s", activations[a]);
      v[0] = ssdf_hessian(&n.shape, &n.p, y, g[0], C[0]);
      v[1] = ssdf_narrow_hessian(&n.shape, &n.p, y, g[1], C[1]);
      cr_assert(v[0] == v[1] && memcmp(g[0], g[1], sizeof g[0]) == 0, "%s", activations[a]);
      cr_assert_arr_eq(C[0], C[1], sizeof C[0], "%s", activations[a]);
    }
  create_random_net(&n, SSDF_NARROW_HIDDEN + 1, 1, 0);
  cr_assert_not(ssdf_is_narrow(&n.shape));
  create_random_net(&n, 1, SSDF_NARROW_WIDTH + 1, 0);
  cr_assert_not(ssdf_is_narrow(&n.shape));
}

/* The GPU's code for many. */
Test(net, wide_ones_have_the_same_bits)
{
  static random_net n;
  for (int a = 0; a < SSDF_NUM_ACTIVATIONS; ++a)
    for (int i = 0; i < 200; ++i) {
      lk_real y[3], g[2][3], C[2][9], v[2];
      create_random_net(&n, 1 + i % SSDF_MAX_HIDDEN, 1 + (7 * i + 31) % SSDF_MAX_WIDTH, a);
      draw_net_point(y);
      cr_assert_eq(ssdf_value(&n.shape, &n.p, y, NULL),
                   ssdf_wide_gradient(&n.shape, &n.p, y, NULL));
      v[0] = ssdf_gradient(&n.shape, &n.p, y, g[0]);
      v[1] = ssdf_wide_gradient(&n.shape, &n.p, y, g[1]);
      cr_assert(v[0] == v[1] && memcmp(g[0], g[1], sizeof g[0]) == 0, "%s", activations[a]);
      v[0] = ssdf_hessian(&n.shape, &n.p, y, g[0], C[0]);
      v[1] = ssdf_wide_hessian(&n.shape, &n.p, y, g[1], C[1]);
      cr_assert(v[0] == v[1] && memcmp(g[0], g[1], sizeof g[0]) == 0, "%s", activations[a]);
      cr_assert_arr_eq(C[0], C[1], sizeof C[0], "%s", activations[a]);
    }
}

Test(net, derivatives_are_those_of_differences)
{
  static random_net n;
  const double e = 1e-5;
  for (int a = 0; a < SSDF_NUM_ACTIVATIONS; ++a)
    for (int i = 0; i < 40; ++i) {
      lk_real y[3], g[3], h[3], C[9], f[3], slack = 0;
      create_random_net(&n, 1 + i % 5, 1 + 7 * (i % 4), a);
      draw_net_point(y);
      const lk_real v = ssdf_gradient(&n.shape, &n.p, y, g);
      cr_assert_float_eq(v, ssdf_hessian(&n.shape, &n.p, y, h, C), 1e-12);
      for (int c = 0; c < 3; ++c) slack += LK_FABS(g[c]);
      for (int c = 0; c < 3; ++c) {
        lk_real hi[3] = {y[0], y[1], y[2]}, lo[3] = {y[0], y[1], y[2]}, gh[3], gl[3];
        hi[c] += (lk_real)e;
        lo[c] -= (lk_real)e;
        const double d = (double)(ssdf_gradient(&n.shape, &n.p, hi, gh) -
                                  ssdf_gradient(&n.shape, &n.p, lo, gl)) /
                         (2 * e);
        cr_assert_float_eq(g[c], h[c], 1e-12);
        if (a == SSDF_LEAKY_RELU) continue; /* a kink within the step is no error */
        cr_assert_float_eq((double)g[c], d, 1e-3 * (double)slack + 1e-9, "%s",
                           activations[a]); /* S6 */
        for (int k = 0; k < 3; ++k)
          cr_assert_float_eq((double)C[3 * k + c], (double)(gh[k] - gl[k]) / (2 * e),
                             1e-5 * (1 + fabs((double)C[3 * k + c])), "%s", activations[a]);
      }
      cr_assert_eq(v, neural_net_differences(0, &n.shape, &n.p, y, (lk_real)1e-3, f));
      for (int c = 0; c < 3 && a != SSDF_LEAKY_RELU; ++c)
        cr_assert_float_eq((double)f[c], (double)g[c], 1e-3 * fabs((double)C[4 * c]) + 1e-3);
    }
}

Test(net, a_point_has_the_same_bits_in_every_batch)
{
  static random_net n;
  for (int a = 0; a < SSDF_NUM_ACTIVATIONS; ++a)
    for (int width = 1; width <= 32; width += width < 4 ? 3 : 4) {
      float w[SSDF_MAX_PARAMS], y[3 * SSDF_LANES], v[SSDF_LANES], alone[3 * SSDF_LANES],
          one[SSDF_LANES];
      create_random_net(&n, 3, width, a);
      ssdf_fold(&n.p, SSDF_NUM_PARAMS(3, width), w);
      for (int i = 0; i < 3 * SSDF_LANES; ++i) y[i] = (float)draw_net_number(-1, 1);
      ssdf_values(&n.shape, w, y, v);
      for (int l = 0; l < SSDF_LANES; ++l) {
        for (int c = 0; c < 3; ++c)
          for (int j = 0; j < SSDF_LANES; ++j) alone[c * SSDF_LANES + j] = y[c * SSDF_LANES + l];
        ssdf_values(&n.shape, w, alone, one);
        cr_assert_eq(one[0], v[l], "%s %d: lane %d", activations[a], width, l); /* S5 */
        cr_assert_eq(one[SSDF_LANES - 1], v[l]);
        const lk_real at[3] = {y[l], y[SSDF_LANES + l], y[2 * SSDF_LANES + l]};
        cr_assert_float_eq((double)v[l], (double)ssdf_value(&n.shape, &n.p, at, NULL), 3e-5);
      }
    }
}

/* ---- angles ---- */

Test(net, parameters_are_linear_in_angles_and_end_with_the_range)
{
  loom_err err = {0};
  const net_file how = {.hidden = 3, .width = 8, .activation = "squareplus", .labels = 1};
  rig leg = leg_of();
  ssdf_net n;
  net_file_write("net_fold.h5", &leg, &how);
  cr_assert_eq(ssdf_net_read(&err, "net_fold.h5", &leg, &n), LOOM_OK, "%s", err.text);
  const ssdf_net_region *const g = &n.regions[1];
  cr_assert(g->joint == 2 && g->frame == 1 && g->num_dofs == 2 && g->dof[1] == 3);
  cr_assert(g->distance.num_params == 185 && g->label.num_params == 113);
  const double angles[4] = {9, 9, 0.7, 0.09}, far[4] = {0, 0, 2.5, -1}, end[4] = {0, 0, 2.1, -0.15};
  const double th[2] = {2 * 0.7 / 2.1 - 1, 0.09 / 0.15};
  loom_real w[185], u[185];
  ssdf_net_fold(g, &g->distance, angles, w);
  for (int i = 0; i < 185; ++i) {
    const double *const p = g->distance.params + i;
    cr_assert_float_eq((double)w[i], p[0] + th[0] * p[185] + th[1] * p[2 * 185], 1e-12);
  }
  ssdf_net_fold(g, &g->distance, far, w);
  ssdf_net_fold(g, &g->distance, end, u);
  cr_assert_arr_eq(w, u, sizeof w);
  cr_assert_eq(ssdf_net_outside(&n, end), -1);
  cr_assert_eq(ssdf_net_outside(&n, far), 2);
  ssdf_net_free(&n);
  rig_free(&leg);
  unlink("net_fold.h5");
}

/* ---- files ---- */

static void expect_net_refusal(const rig *leg, const char *path, const char *words)
{
  loom_err err = {0};
  ssdf_net n;
  cr_assert_eq(ssdf_net_read(&err, path, leg, &n), LOOM_E_CONFIG, "%s", words);
  cr_assert(strstr(err.text, path) == err.text && strstr(err.text, words) != NULL, "\"%s\" in %s",
            words, err.text);
  cr_assert(n.num == 0 && n.regions == NULL);
}

Test(net, damaged_files_are_refused_with_a_remedy)
{
  static const char *const cases[][2] = {
      {"format", "format"},        {"version", "version 9"},
      {"hash", "another body"},    {"activation", "activation"},
      {"joint", "no joint ankle"}, {"dofs", "no angle \"elbow.flexion\""},
      {"range", "range"},          {"box", "half"},
      {"columns", "[3][184]"},     {"rows", "[2][185]"},
      {"hidden", "hidden layers"}, {"nan", "not finite"},
      {"no distance", "distance"}};
  rig leg = leg_of();
  for (size_t k = 0; k < sizeof cases / sizeof *cases; ++k) {
    const net_file how = {3, 8, "squareplus", 0, cases[k][0], 0};
    net_file_write("net_bad.h5", &leg, &how);
    expect_net_refusal(&leg, "net_bad.h5", cases[k][1]);
  }
  expect_net_refusal(&leg, "no_such.h5", "cannot be read");
  net_file_write("net_bad.h5", &leg, &(net_file){3, 8, "tanh", 1, NULL, 0});
  FILE *const f = fopen("net_bad.h5", "rb");
  cr_assert_not_null(f);
  fseek(f, 0, SEEK_END);
  const long size = ftell(f);
  fclose(f);
  for (int k = 1; k < 8; ++k) { /* cut off anywhere: an error, never a crash */
    loom_err err = {0};
    ssdf_net n;
    net_file_write("net_cut.h5", &leg, &(net_file){3, 8, "tanh", 1, NULL, 0});
    cr_assert_eq(truncate("net_cut.h5", size * k / 8), 0);
    cr_assert_eq(ssdf_net_read(&err, "net_cut.h5", &leg, &n), LOOM_E_CONFIG);
    cr_assert_not_null(strstr(err.text, "net_cut.h5"));
  }
  unlink("net_bad.h5");
  unlink("net_cut.h5");
  rig_free(&leg);
}

/* HDF5 1.10.8 writes out of bounds when it looks for /REGION/distance there; others refuse it. */
Test(net, a_file_that_crashes_hdf5_is_refused)
{
  const char *const source = getenv("LOOM_SOURCE_DIR");
  char path[4096];
  loom_err err = {0};
  rig body;
  if (source == NULL) cr_skip_test("SKIP: LOOM_SOURCE_DIR is not set");
  snprintf(path, sizeof path, "%s/tests/fuzz/corpus/networks/heap.h5", source);
  cr_assert_eq(access(path, R_OK), 0, "%s", path);
  cr_assert_eq(rig_make(&err, "lower_body", 0.1, &body), LOOM_OK);
  expect_net_refusal(&body, path, "");
  rig_free(&body);
}

Test(net, what_ships_belongs_to_the_body_that_ships)
{
  const char *const source = getenv("LOOM_SOURCE_DIR");
  char path[4096];
  loom_err err = {0};
  rig body;
  ssdf_net n;
  if (source == NULL) cr_skip_test("SKIP: LOOM_SOURCE_DIR is not set");
  snprintf(path, sizeof path, "%s/configs/bodies/lower_body.h5", source);
  cr_assert_eq(rig_make(&err, "lower_body", 0, &body), LOOM_OK);
  cr_assert_eq(ssdf_net_read(&err, path, &body, &n), LOOM_OK, "%s", err.text);
  cr_assert_eq(n.num, 4);
  for (int k = 0; k < 4; ++k) {
    cr_assert_eq(n.regions[k].distance.num_params, 185);
    cr_assert_eq(n.regions[k].label.num_params, 113);
  }
  ssdf_net_free(&n);
  rig_free(&body);
}
