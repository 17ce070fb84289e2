/* ccd_cases.c - see ccd_cases.h. */
#include "support/ccd_cases.h"

#include <math.h>
#include <string.h>

#include "support/bufs.h"

const char *const ccd_case_name[CASE_FAMILIES] = {"random",  "planar",  "parallel", "slow",
                                                  "sliding", "leaving", "rolling",  "grid",
                                                  "through", "cloth"};

/* Gaussian of variance 1, close enough: the sum of 12 uniform numbers. */
static double sample_normal(uint64_t *s)
{
  double sum = 0.0;
  for (int i = 0; i < 12; ++i) sum += t_uniform(s);
  return 0.5 * sum;
}

static void fill_uniform_corners(double *x, uint64_t *s)
{
  for (int i = 0; i < 12; ++i) x[i] = t_uniform(s);
}

/* The third vertex pair at distance e from parallel to the first. */
static void make_parallel(int kind, double *x, double e, uint64_t *s)
{
  const double k = t_uniform(s);
  const int from = kind == 0 ? 3 : 0, to = kind == 0 ? 6 : 3, base = kind == 0 ? 3 : 6;
  for (int c = 0; c < 3; ++c)
    x[9 + c] = x[base + c] + k * (x[to + c] - x[from + c]) + e * t_uniform(s);
}

/* The first primitive is shifted so that a point of it comes within e of one of the second. */
static void shift_primitive_near(int kind, double *x, double e, uint64_t *s)
{
  const double u = 0.5 + 0.5 * t_uniform(s), v = (1.0 - u) * (0.5 + 0.5 * t_uniform(s));
  for (int c = 0; c < 3; ++c) {
    const double p = kind == 0 ? x[c] : x[c] + u * (x[3 + c] - x[c]);
    const double *const q = x + 6 + c;
    const double to =
        kind == 0 ? (1.0 - u - v) * x[3 + c] + u * q[0] + v * q[3] : q[0] + (u + v) * (q[3] - q[0]);
    const double shift = to - p + e * t_uniform(s);
    for (int i = c; i < (kind == 0 ? 3 : 6); i += 3) x[i] += shift;
  }
}

static void rotate_four_points(double *x, const double *axis, double angle)
{
  const double c = cos(angle), s = sin(angle);
  for (int i = 0; i < 4; ++i) {
    double *p = x + 3 * i, q[3];
    const double d = (1.0 - c) * (axis[0] * p[0] + axis[1] * p[1] + axis[2] * p[2]);
    for (int k = 0; k < 3; ++k) {
      const int u = (k + 1) % 3, v = (k + 2) % 3;
      q[k] = c * p[k] + d * axis[k] + s * (axis[u] * p[v] - axis[v] * p[u]);
    }
    memcpy(p, q, sizeof q);
  }
}

/* Any plane, not only z = 0; a third stays axis-parallel and therefore exactly coplanar. */
static void turn_random_plane(double *x0, double *x1, uint64_t *s)
{
  double a[3], l = 0.0;
  for (int c = 0; c < 3; ++c) {
    a[c] = t_uniform(s);
    l += a[c] * a[c];
  }
  const double angle = 3.0 * t_uniform(s);
  if (t_uniform(s) < -0.3) return;
  for (int c = 0; c < 3; ++c) a[c] /= sqrt(l);
  rotate_four_points(x0, a, angle);
  rotate_four_points(x1, a, angle);
}

static void make_cloth(int kind, double *x0, double *x1, uint64_t *s)
{
  const double L = 0.01, gap = L * (0.15 + 0.05 * t_uniform(s));
  double *x = x0, rigid[3];
  memset(x, 0, 12 * sizeof *x);
  if (kind == 0) {
    x[0] = L * (0.3 + 0.15 * t_uniform(s)), x[1] = L * (0.3 + 0.15 * t_uniform(s)), x[2] = gap;
    x[6] = x[10] = L;
  } else {
    const double u = 0.2 * t_uniform(s), v = 0.2 * t_uniform(s);
    x[0] = L * (u - 0.5), x[3] = L * (u + 0.5), x[2] = x[5] = gap;
    x[7] = L * (v - 0.5), x[10] = L * (v + 0.5);
  }
  for (int c = 0; c < 3; ++c) rigid[c] = 0.005 * sample_normal(s);
  for (int i = 0; i < 12; ++i) {
    x0[i] += i % 3 == 0; /* a metre from the origin */
    x1[i] = x0[i] + rigid[i % 3] + 0.001 * sample_normal(s);
  }
}

void ccd_case(int kind, int family, uint64_t k, double *x0, double *x1)
{
  static const double heights[] = {1e-1, 1e-3, 1e-6, 1e-9, 1e-12, 0};
  uint64_t s = k * 1000003u + (uint64_t)(family * 2 + kind) * UINT64_C(0x9e3779b97f4a7c1);
  const double e = heights[k % 6], f = heights[k / 6 % 6];
  const int first = kind == 0 ? 3 : 6; /* coordinates of the first primitive */
  fill_uniform_corners(x0, &s);
  fill_uniform_corners(x1, &s);
  switch (family) {
  case CASE_PLANAR:
    for (int i = 2; i < 12; i += 3) x0[i] *= e, x1[i] *= f;
    turn_random_plane(x0, x1, &s);
    break;
  case CASE_PARALLEL:
    make_parallel(kind, x0, e, &s);
    make_parallel(kind, x1, f, &s);
    break;
  case CASE_SLOW:
    if (k % 2) make_parallel(kind, x0, 1e-3, &s);
    shift_primitive_near(kind, x0, f, &s);
    for (int i = 0; i < 12; ++i) x1[i] = x0[i] + e * t_uniform(&s);
    break;
  case CASE_SLIDING:
    for (int i = 2; i < 12; i += 3) x0[i] = i < first ? e : 0.0;
    for (int i = 0; i < 12; ++i)
      x1[i] = x0[i] + (i < first && i % 3 != 2 ? 3.0 * t_uniform(&s) : 0.0);
    if (k % 2)
      for (int i = 2; i < first; i += 3) x1[i] = f * t_uniform(&s);
    turn_random_plane(x0, x1, &s);
    break;
  case CASE_LEAVING:
    for (int i = 2; i < 12; i += 3) x0[i] = i < first ? e : 0.0;
    turn_random_plane(x0, x1, &s);
    break;
  case CASE_ROLLING: {
    double axis[3] = {1.0, 0.0, 0.0};
    for (int i = 2; i < 12; i += 3) x0[i] = x1[i] = i < first ? e : 0.0;
    if (k % 2) memcpy(x1, x0, 12 * sizeof *x0);
    rotate_four_points(x1, axis, 1.5 * t_uniform(&s));
    turn_random_plane(x0, x1, &s);
    break;
  }
  case CASE_GRID:
    for (int i = 0; i < 12; ++i) {
      x0[i] = floor(2.5 * x0[i] + 0.5);
      x1[i] = k % 3 == 0 && i % 3 == 2 ? x0[i] : floor(2.5 * x1[i] + 0.5);
    }
    break;
  case CASE_THROUGH: { /* meets the first vertex of the second primitive at some t */
    const double t = 0.5 + 0.45 * t_uniform(&s), w = kind == 0 ? 0.0 : 0.5 + 0.5 * t_uniform(&s);
    for (int c = 0; c < 3; ++c) {
      const double p0 = (1.0 - w) * x0[c] + w * x0[3 + c], q0 = x0[first + c], q1 = x1[first + c];
      const double p1 = (1.0 - w) * x1[c] + w * x1[3 + c];
      const double move = ((1.0 - t) * (q0 - p0) + t * q1) / t - p1;
      for (int i = c; i < first; i += 3) x1[i] += move + e * t_uniform(&s);
    }
    break;
  }
  case CASE_CLOTH:
    make_cloth(kind, x0, x1, &s);
    break;
  default:
    break;
  }
}
