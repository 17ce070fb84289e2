/* bench_audit.c - processor time of the audits on one core: folded sheets of 25,000, 100,000
 * and 400,000 triangles, level and inclined, at rest and on their way.
 *
 * build/bench/bench_audit */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "audit/isect_path.h"

static double read_audit_clock(void)
{
  struct timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* nx x ny vertices 1 cm apart, in `layers` layers 1 mm apart, turned by `angle` (rad). */
static void fold_audit_sheet(int nx, int ny, int layers, double angle, double *x, int32_t *tris)
{
  const int period = nx / layers;
  int64_t m = 0;
  for (int j = 0; j < ny; ++j)
    for (int i = 0; i < nx; ++i) {
      const int layer = i / period, along = layer % 2 ? period - 1 - i % period : i % period;
      double *const p = x + 3 * (int64_t)(j * nx + i);
      const double v = 0.01 * j + 0.003 * layer, w = 1e-3 * layer;
      p[0] = 0.01 * along;
      p[1] = v * cos(angle) - w * sin(angle);
      p[2] = v * sin(angle) + w * cos(angle);
    }
  for (int j = 0; j + 1 < ny; ++j)
    for (int i = 0; i + 1 < nx; ++i) {
      const int32_t v = j * nx + i, q[6] = {v, v + 1, v + nx + 1, v, v + nx + 1, v + nx};
      memcpy(tris + m, q, sizeof q);
      m += 6;
    }
}

static int measure_audit_cost(int nx, int ny, int layers, double angle, const char *what)
{
  const int64_t n = (int64_t)nx * ny, nt = 2 * (int64_t)(nx - 1) * (ny - 1);
  double *const x = malloc((size_t)n * 6 * sizeof *x), *const y = x + 3 * n;
  int32_t *const tris = malloc((size_t)nt * 3 * sizeof *tris);
  loom_err err = {0};
  int64_t found = 0, passing = 0;
  if (x == NULL || tris == NULL) return 1;
  fold_audit_sheet(nx, ny, layers, angle, x, tris);
  for (int64_t i = 0; i < 3 * n; ++i) y[i] = x[i] + 1e-4 * sin(0.01 * (double)i);
  const isect_surface m = {.x = x, .x_end = y, .n = n, .tris = tris, .nt = nt};
  const double t0 = read_audit_clock();
  loom_status s = isect_mesh(&err, x, n, tris, nt, 1, NULL, 0, &found);
  const double t1 = read_audit_clock();
  if (s == LOOM_OK) s = isect_path(&err, &m, NULL, 0, 1e-9, 1, NULL, 0, &passing);
  const double t2 = read_audit_clock();
  if (s != LOOM_OK) fprintf(stderr, "%s\n", err.text);
  printf("%-24s %7lld triangles  frame %.3f s (%lld pairs)  way %.3f s (%lld pairs)\n", what,
         (long long)nt, t1 - t0, (long long)found, t2 - t1, (long long)passing);
  free(x);
  free(tris);
  return s != LOOM_OK;
}

int main(void)
{
  static const int nx[] = {250, 500, 1000}, ny[] = {51, 101, 201};
  int failed = 0;
  for (int k = 0; k < 3; ++k) {
    failed |= measure_audit_cost(nx[k], ny[k], 1, 0.0, "flat, level");
    failed |= measure_audit_cost(nx[k], ny[k], 1, 0.5, "flat, inclined");
    failed |= measure_audit_cost(nx[k], ny[k], 5, 0.0, "five layers, level");
    failed |= measure_audit_cost(nx[k], ny[k], 5, 0.5, "five layers, inclined");
  }
  return failed;
}
