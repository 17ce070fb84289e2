/* bench_ssdf.c - the distance to a body: cost of a query, and fields to draw.
 *
 *   build/bench/bench_ssdf                        processor time of queries, one core: name,ns
 *   build/bench/bench_ssdf field NETS.h5 RIG OUT N LO HI [JOINT.ANGLE DEGREES ...]
 *       single-precision [2][NZ][NY][NX] in OUT: the truth and the networks at N nodes along the
 *       longest side of the box from LO to HI ("x,y,z"); prints NX NY NZ
 *   build/bench/bench_ssdf errors NETS.h5 RIG POSES [zero|other|least|flags] [MM]
 *       whole body at poses by chance within the training, points within MM (20) of the skin:
 *       mean, p95, p99, largest error (mm), share with the wrong side, truly 5 mm deep but
 *       predicted 5 mm outside, the same the other way round.  The controls: angles at zero, the
 *       angles of another pose, or the least distance of all regions in place of their flags
 *   build/bench/bench_ssdf knee
 *       points 3 to 30 mm deep near the leg's knee at 0 to 130 degrees: degrees, buried triangles
 *       and the error of depths if they count: mean, p99, largest (mm)
 *   build/bench/bench_ssdf depth FILE
 *       true depths of points in skins: FILE has int32 frames, points, vertices, triangles;
 *       int32 [triangles][3]; and then, frame by frame, float64 [vertices][3] and [points][3], m.
 *       A line for each frame: largest depth (mm), points deeper than 5 mm */
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "bodies/bend_field.h"
#include "bodies/body.h"
#include "bodies/rows.kern.h"
#include "geom/pose.h"
#include "mesh/sdf.h"
#include "ssdf/net.h"
#include "ssdf/truth.h"

enum { QUERIES = 1 << 16, PER_POSE = 2000 };

static double read_field_clock(void)
{
  struct timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static uint64_t state = 1;
static double draw_uniform_number(double lo, double hi)
{
  state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
  return lo + (hi - lo) * (double)(state >> 11) * 0x1p-53;
}

static int report_body_error(const loom_err *err)
{
  fprintf(stderr, "%s\n", err->text);
  return 1;
}

/* ---- cost of a query ---- */

/* The least of some runs, ns a query: other work of the machine only adds. */
#define MEASURE(name, work)                                             \
  do {                                                                  \
    double best = DBL_MAX;                                              \
    for (int run = 0; run < 7; ++run) {                                 \
      const double begun_ = read_field_clock();                         \
      work;                                                             \
      best = fmin(best, (read_field_clock() - begun_) / QUERIES * 1e9); \
    }                                                                   \
    printf("%s,%.3f\n", name, best);                                    \
  } while (0)

static void run_net(const ssdf_shape *n, const float *w, const float *y, float *v)
{
  for (int i = 0; i < QUERIES; i += SSDF_LANES) ssdf_values(n, w, y + 3 * (size_t)i, v + i);
}

static void time_nets(const float *y, float *v)
{
  static const char *const activations[] = {"squareplus", "leaky_relu", "softplus", "tanh"};
  static const int sizes[5][2] = {{3, 4}, {3, 8}, {3, 16}, {3, 32}, {5, 32}};
  static float w[SSDF_MAX_PARAMS];
  for (int k = 0; k < SSDF_MAX_PARAMS; ++k) w[k] = (float)draw_uniform_number(-0.5, 0.5);
  for (int a = 0; a < SSDF_NUM_ACTIVATIONS; ++a)
    for (int k = 0; k < 5; ++k) {
      const ssdf_shape n = {sizes[k][0], sizes[k][1], a};
      char name[64];
      snprintf(name, sizeof name, "%s %d", activations[a],
               SSDF_NUM_PARAMS(sizes[k][0], sizes[k][1]));
      MEASURE(name, run_net(&n, w, y, v));
    }
}

static void run_grid(const obst_view *o, const double *x, float *v)
{
  for (int i = 0; i < QUERIES; ++i) {
    const lk_real p[3] = {(lk_real)x[3 * i], (lk_real)x[3 * i + 1], (lk_real)x[3 * i + 2]};
    lk_real g[3];
    v[i] = (float)grid_value(o, p, g);
  }
}

static void run_truth(const ssdf_truth *t, const double *x, int n, float *v)
{
  for (int i = 0; i < n; ++i)
    v[i] = (float)ssdf_truth_distance(t, x + 3 * (size_t)i, DBL_MAX, NULL);
}

static int time_all(void)
{
  loom_err err = {0};
  rig leg;
  ssdf_truth t;
  sdf_grid g;
  double *const x = malloc(3 * QUERIES * sizeof *x);
  float *const y = malloc(3 * QUERIES * sizeof *y), *const v = malloc(QUERIES * sizeof *v);
  if (x == NULL || y == NULL || v == NULL) return 1;
  if (rig_make(&err, "leg", 0, &leg) != LOOM_OK) return report_body_error(&err);
  for (int i = 0; i < 3 * QUERIES; ++i) y[i] = (float)draw_uniform_number(-1, 1);
  time_nets(y, v);
  for (int i = 0; i < QUERIES; ++i) { /* within 50 mm of the skin, as cloth is */
    const double *const p = leg.skin.x + 3 * (int64_t)draw_uniform_number(0, leg.skin.num_verts);
    for (int c = 0; c < 3; ++c) x[3 * i + c] = p[c] + draw_uniform_number(-0.05, 0.05);
  }
  if (sdf_frame(&err, &leg.skin, 65, 0, &g) != LOOM_OK) return report_body_error(&err);
  const int64_t nodes = (int64_t)g.dims[0] * g.dims[1] * g.dims[2];
  loom_real *const value = malloc((size_t)nodes * sizeof *value);
  double t0 = read_field_clock();
  if (value == NULL || sdf_bake(&err, &leg.skin, &g, 0, value) != LOOM_OK)
    return report_body_error(&err);
  printf("grid 65: bake,%.0f\n", (read_field_clock() - t0) * 1e9);
  obst_view o = {.spacing = (lk_real)g.spacing, .sdf = value};
  for (int c = 0; c < 3; ++c) {
    o.dims[c] = g.dims[c];
    o.origin[c] = (lk_real)g.origin[c];
  }
  MEASURE("grid 65", run_grid(&o, x, v));
  t0 = read_field_clock();
  if (ssdf_truth_build(&err, leg.skin.x, leg.skin.num_verts, leg.skin.tris, leg.skin.num_tris, 1,
                       &t) != LOOM_OK)
    return report_body_error(&err);
  printf("exact: build,%.0f\n", (read_field_clock() - t0) * 1e9);
  t0 = read_field_clock();
  run_truth(&t, x, QUERIES, v);
  printf("exact,%.1f\n", (read_field_clock() - t0) / QUERIES * 1e9);
  ssdf_truth_free(&t);
  rig_free(&leg);
  free(x);
  free(y);
  free(v);
  free(value);
  return 0;
}

/* ---- a body in a pose ---- */

typedef struct body {
  loom_err err;
  rig r;
  ssdf_net net;
  mem *m;
  body_field *n;
  obst_view view;
  double *T, *x;
  ssdf_truth truth;
} body;

static loom_status open_body(body *b, const char *file, const char *name, int flags)
{
  const field_options opt = {.kind = "neural", .file = file, .flags = flags};
  memset(b, 0, sizeof *b);
  LOOM_TRY(rig_make(&b->err, name, 0, &b->r));
  LOOM_TRY(mem_new(&b->err, 0, &b->m));
  LOOM_TRY(ssdf_net_read(&b->err, file, &b->r, &b->net));
  LOOM_TRY(bend_field_open(&b->err, b->m, &opt, &b->r, &b->n));
  LOOM_TRY(mesh_alloc(&b->err, 12 * (int64_t)b->r.num_joints, sizeof(double), &b->T));
  return mesh_alloc(&b->err, 3 * (int64_t)b->r.skin.num_verts, sizeof(double), &b->x);
}

/* The truth at `angles`, the networks at `seen`. */
static loom_status pose_body(body *b, const double *angles, const double *seen)
{
  loom_obstacle o = {.kind = "mesh"};
  double root[12];
  void *p;
  pose_identity(root);
  for (int i = 0; i < 12; ++i) o.pose0[i] = o.pose1[i] = (loom_real)root[i];
  LOOM_TRY(bend_field_pose(b->n, seen, root, seen, root));
  bend_field_show(b->n, &o);
  if (obst_view_fill(&o, &b->view) != NULL) return LOOM_E_INTERNAL;
  LOOM_TRY(buf_map(b->m, NULL, o.field, LOOM_READ, LOOM_AT_HOST, &p));
  b->view.field = p;
  LOOM_TRY(buf_unmap(b->m, o.field));
  rig_pose(&b->r, angles, root, b->T);
  rig_skin(&b->r, b->T, b->x);
  return ssdf_truth_build(&b->err, b->x, b->r.skin.num_verts, b->r.skin.tris, b->r.skin.num_tris, 1,
                          &b->truth);
}

static double seen_by_networks(const body *b, const double p[3])
{
  const lk_real at[3] = {(lk_real)p[0], (lk_real)p[1], (lk_real)p[2]};
  return (double)neural_value(&b->view, 1, at);
}

static int write_distance_field(char **a, int num)
{
  body b;
  double lo[3], hi[3], angles[64] = {0}, longest = 0;
  int n[3];
  if (open_body(&b, a[0], a[1], 1) != LOOM_OK) return report_body_error(&b.err);
  const int nodes = atoi(a[3]);
  if (nodes < 2 || sscanf(a[4], "%lf,%lf,%lf", lo, lo + 1, lo + 2) != 3 ||
      sscanf(a[5], "%lf,%lf,%lf", hi, hi + 1, hi + 2) != 3)
    return 2;
  for (int k = 6; k + 1 < num; k += 2) {
    const int32_t dof = rig_find_dof(&b.r, a[k]);
    if (dof < 0 || dof >= 64) return 2;
    angles[dof] = atof(a[k + 1]) * 3.14159265358979323846 / 180;
  }
  if (pose_body(&b, angles, angles) != LOOM_OK) return report_body_error(&b.err);
  for (int c = 0; c < 3; ++c) longest = fmax(longest, hi[c] - lo[c]);
  const double h = longest / (nodes - 1);
  for (int c = 0; c < 3; ++c) n[c] = 1 + (int)((hi[c] - lo[c]) / h + 0.5);
  const int64_t count = (int64_t)n[0] * n[1] * n[2];
  float *const v = malloc(2 * (size_t)count * sizeof *v);
  FILE *const out = fopen(a[2], "wb");
  if (v == NULL || out == NULL) return 1;
#pragma omp parallel for schedule(dynamic, 1024)
  for (int64_t i = 0; i < count; ++i) {
    const double p[3] = {lo[0] + h * (double)(i % n[0]), lo[1] + h * (double)(i / n[0] % n[1]),
                         lo[2] + h * (double)(i / n[0] / n[1])};
    v[i] = (float)ssdf_truth_distance(&b.truth, p, DBL_MAX, NULL);
    v[count + i] = (float)seen_by_networks(&b, p);
  }
  const int fine = fwrite(v, sizeof *v, 2 * (size_t)count, out) == 2 * (size_t)count;
  printf("%d %d %d %.9g\n", n[0], n[1], n[2], h);
  free(v);
  return fclose(out) == 0 && fine ? 0 : 1;
}

static int compare_distance_errors(const void *a, const void *b)
{
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static void random_angles(const body *b, double *angles)
{
  memset(angles, 0, (size_t)b->r.num_dofs * sizeof *angles);
  for (int32_t k = 0; k < b->net.num; ++k)
    for (int32_t d = 0; d < b->net.regions[k].num_dofs; ++d) {
      const double *const range = b->net.regions[k].range[d];
      angles[b->net.regions[k].dof[d]] = draw_uniform_number(range[0], range[1]);
    }
}

static int measure_distance_errors(char **a, int num)
{
  const int poses = atoi(a[2]), zero = num > 3 && strcmp(a[3], "zero") == 0;
  const int other = num > 3 && strcmp(a[3], "other") == 0;
  const int least = num > 3 && strcmp(a[3], "least") == 0;
  double angles[64], seen[64] = {0}, sum = 0;
  const double reach = num > 4 ? 1e-3 * atof(a[4]) : 0.02; /* m */
  int64_t count = 0, sides = 0, missed = 0, phantom = 0;
  body b;
  if (open_body(&b, a[0], a[1], !least) != LOOM_OK) return report_body_error(&b.err);
  double *const e = malloc((size_t)poses * PER_POSE * sizeof *e);
  if (e == NULL || b.r.num_dofs > 64) return 1;
  for (int k = 0; k < poses; ++k) {
    random_angles(&b, angles);
    if (other) random_angles(&b, seen);
    if (!zero && !other) memcpy(seen, angles, sizeof seen);
    if (pose_body(&b, angles, seen) != LOOM_OK) return report_body_error(&b.err);
    for (int i = 0; i < PER_POSE;) {
      const double *const at = b.x + 3 * (int64_t)draw_uniform_number(0, b.r.skin.num_verts);
      double p[3];
      for (int c = 0; c < 3; ++c) p[c] = at[c] + draw_uniform_number(-reach, reach);
      const double d = ssdf_truth_distance(&b.truth, p, DBL_MAX, NULL);
      if (fabs(d) > reach) continue;
      const double v = seen_by_networks(&b, p);
      e[count++] = fabs(v - d);
      sum += fabs(v - d);
      sides += (v < 0) != (d < 0);
      missed += d < -0.005 && v > 0.005;
      phantom += d > 0.005 && v < -0.005;
      ++i;
    }
    ssdf_truth_free(&b.truth);
  }
  qsort(e, (size_t)count, sizeof *e, compare_distance_errors);
  printf("mean,%.4f\np95,%.4f\np99,%.4f\nmax,%.4f\nwrong side,%.5f\nmissed,%.6f\nphantom,%.6f\n",
         1e3 * sum / (double)count, 1e3 * e[count * 95 / 100], 1e3 * e[count * 99 / 100],
         1e3 * e[count - 1], (double)sides / (double)count, (double)missed / (double)count,
         (double)phantom / (double)count);
  return 0;
}

/* ---- creases ---- */

static int knee_at(const rig *leg, double degrees)
{
  enum { POINTS = 4000 };
  static double e[POINTS];
  loom_err err = {0};
  ssdf_truth with, without;
  double root[12], angles[64] = {0}, sum = 0;
  double *const T = malloc(12 * (size_t)leg->num_joints * sizeof *T);
  double *const x = malloc(3 * (size_t)leg->skin.num_verts * sizeof *x);
  const int32_t dof = rig_find_dof(leg, "knee.flexion"), nv = leg->skin.num_verts;
  if (T == NULL || x == NULL || dof < 0 || dof >= 64) return 1;
  angles[dof] = degrees * 3.14159265358979323846 / 180;
  pose_identity(root);
  rig_pose(leg, angles, root, T);
  rig_skin(leg, T, x);
  if (ssdf_truth_build(&err, x, nv, leg->skin.tris, leg->skin.num_tris, 1, &with) != LOOM_OK ||
      ssdf_truth_build(&err, x, nv, leg->skin.tris, leg->skin.num_tris, 0, &without) != LOOM_OK)
    return report_body_error(&err);
  for (int found = 0; found < POINTS;) {
    const double p[3] = {draw_uniform_number(-0.07, 0.07), draw_uniform_number(-0.165, 0.1),
                         draw_uniform_number(-0.6, -0.3)};
    const double depth = -ssdf_truth_distance(&with, p, DBL_MAX, NULL);
    if (depth < 3e-3 || depth > 30e-3) continue;
    e[found] = fabs(-ssdf_truth_distance(&without, p, DBL_MAX, NULL) - depth);
    sum += e[found++];
  }
  qsort(e, POINTS, sizeof *e, compare_distance_errors);
  printf("%g,%d,%.4f,%.3f,%.3f\n", degrees, with.num_buried, 1e3 * sum / POINTS,
         1e3 * e[POINTS * 99 / 100], 1e3 * e[POINTS - 1]);
  ssdf_truth_free(&with);
  ssdf_truth_free(&without);
  free(T);
  free(x);
  return 0;
}

static int measure_knee_angles(void)
{
  static const double degrees[] = {0, 30, 60, 90, 105, 120, 130};
  loom_err err = {0};
  rig leg;
  int rc = 0;
  if (rig_make(&err, "leg", 0, &leg) != LOOM_OK) return report_body_error(&err);
  for (size_t k = 0; k < sizeof degrees / sizeof *degrees && rc == 0; ++k)
    rc = knee_at(&leg, degrees[k]);
  rig_free(&leg);
  return rc;
}

/* ---- garments ---- */

static int read_exact_items(FILE *f, void *to, size_t size, int64_t count)
{
  return fread(to, size, (size_t)count, f) == (size_t)count;
}

static int depth_of_frame(const double *skin, const int32_t *counts, const int32_t *tris,
                          const double *cloth)
{
  loom_err err = {0};
  ssdf_truth t;
  double deepest = 0;
  int64_t deep = 0;
  if (ssdf_truth_build(&err, skin, counts[2], tris, counts[3], 1, &t) != LOOM_OK)
    return report_body_error(&err);
#pragma omp parallel for schedule(dynamic, 64) reduction(max : deepest) reduction(+ : deep)
  for (int32_t i = 0; i < counts[1]; ++i) {
    const double d = -ssdf_truth_distance(&t, cloth + 3 * (int64_t)i, DBL_MAX, NULL);
    deepest = fmax(deepest, d);
    deep += d > 0.005;
  }
  printf("%.4f,%lld\n", 1e3 * deepest, (long long)deep);
  ssdf_truth_free(&t);
  return 0;
}

static int measure_skin_depth(const char *path)
{
  int32_t counts[4]; /* frames, points, vertices, triangles */
  int rc = 1;
  FILE *const f = fopen(path, "rb");
  if (f == NULL || !read_exact_items(f, counts, sizeof *counts, 4)) return 1;
  int32_t *const tris = calloc(3 * (size_t)counts[3], sizeof *tris);
  double *const skin = calloc(3 * (size_t)counts[2], sizeof *skin);
  double *const cloth = calloc(3 * (size_t)counts[1], sizeof *cloth);
  if (tris != NULL && skin != NULL && cloth != NULL &&
      read_exact_items(f, tris, sizeof *tris, 3 * (int64_t)counts[3])) {
    rc = 0;
    for (int32_t k = 0; k < counts[0] && rc == 0; ++k)
      rc = read_exact_items(f, skin, sizeof *skin, 3 * (int64_t)counts[2]) &&
                   read_exact_items(f, cloth, sizeof *cloth, 3 * (int64_t)counts[1])
               ? depth_of_frame(skin, counts, tris, cloth)
               : 1;
  }
  free(tris);
  free(skin);
  free(cloth);
  fclose(f);
  return rc;
}

int main(int argc, char **argv)
{
  if (argc == 1) return time_all();
  if (argc >= 8 && strcmp(argv[1], "field") == 0) return write_distance_field(argv + 2, argc - 2);
  if (argc >= 5 && strcmp(argv[1], "errors") == 0)
    return measure_distance_errors(argv + 2, argc - 2);
  if (argc == 3 && strcmp(argv[1], "depth") == 0) return measure_skin_depth(argv[2]);
  if (argc == 2 && strcmp(argv[1], "knee") == 0) return measure_knee_angles();
  fprintf(stderr,
          "bench_ssdf [knee|depth FILE|field NETS RIG OUT N LO HI ...|errors NETS RIG POSES "
          "[zero|other|least|flags] [MM]]\n");
  return 2;
}
