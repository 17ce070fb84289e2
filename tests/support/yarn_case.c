/* yarn_case.c - see yarn_case.h.  Formulas are written out once more, without the kernels. */
#include "support/yarn_case.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { B = 11 };

static void *allocate_yarn_array(size_t n, size_t size)
{
  void *const p = calloc(n + 1, size);
  cr_assert(p != NULL);
  return p;
}

static double vertex_gap(const double *x, int i, int j)
{
  return sqrt(pow(x[3 * i] - x[3 * j], 2.0) + pow(x[3 * i + 1] - x[3 * j + 1], 2.0) +
              pow(x[3 * i + 2] - x[3 * j + 2], 2.0));
}

static void add_points(yarn_case *c, int k)
{
  const int first = c->yarn_seg[k], end = c->yarn_seg[k + 1];
  for (int s = first; s < end; ++s)
    for (int l = 0; l < B + (s + 1 == end && !c->closed[k]); ++l) {
      const int p = c->np++;
      c->pt_seg[p] = s;
      c->pt_lane[p] = l;
      c->pt_yarn[p] = k;
      if (l > 0 && l < B) {
        c->W[p] = c->len[s] / B;
      } else { /* at a vertex: half of the segments on either side */
        const int left = l == B ? s : s > first ? s - 1 : c->closed[k] ? end - 1 : -1;
        c->W[p] = 0.5 / B * ((left >= 0 ? c->len[left] : 0.0) + (l == B ? 0.0 : c->len[s]));
      }
    }
}

void yc_new(yarn_case *c, int num_yarns, const int *verts, const uint8_t *closed, const double *x,
            double radius)
{
  memset(c, 0, sizeof *c);
  c->ny = num_yarns;
  c->yarn_seg = allocate_yarn_array((size_t)num_yarns + 1, sizeof *c->yarn_seg);
  c->yarn_vert = allocate_yarn_array((size_t)num_yarns + 1, sizeof *c->yarn_vert);
  c->closed = allocate_yarn_array((size_t)num_yarns, 1);
  for (int k = 0; k < num_yarns; ++k) {
    c->closed[k] = closed != NULL && closed[k];
    c->yarn_vert[k + 1] = c->n += verts[k];
    c->yarn_seg[k + 1] = c->ns += verts[k] - !c->closed[k];
  }
  const size_t n = (size_t)c->n, ns = (size_t)c->ns, np = B * ns + (size_t)num_yarns;
  c->x = allocate_yarn_array(3 * n, sizeof *c->x);
  memcpy(c->x, x, 3 * n * sizeof *x);
  c->radius = allocate_yarn_array(n, sizeof *c->radius);
  for (size_t i = 0; i < n; ++i) c->radius[i] = radius;
  c->segs = allocate_yarn_array(4 * ns, sizeof *c->segs);
  c->seg_yarn = allocate_yarn_array(ns, sizeof *c->seg_yarn);
  c->len = allocate_yarn_array(ns, sizeof *c->len);
  c->pt_seg = allocate_yarn_array(np, sizeof *c->pt_seg);
  c->pt_lane = allocate_yarn_array(np, sizeof *c->pt_lane);
  c->pt_yarn = allocate_yarn_array(np, sizeof *c->pt_yarn);
  c->W = allocate_yarn_array(np, sizeof *c->W);
  for (int k = 0; k < num_yarns; ++k) {
    const int v0 = c->yarn_vert[k], nv = verts[k];
    for (int s = c->yarn_seg[k]; s < c->yarn_seg[k + 1]; ++s) {
      for (int a = 0; a < 4; ++a) {
        const int i = s - c->yarn_seg[k] + a - 1;
        c->segs[4 * s + a] = c->closed[k] ? v0 + (i + nv) % nv : i < 0 || i >= nv ? -1 : v0 + i;
      }
      c->seg_yarn[s] = k;
      c->len[s] = vertex_gap(c->x, c->segs[4 * s + 1], c->segs[4 * s + 2]);
    }
    add_points(c, k);
  }
}

void yc_free(yarn_case *c)
{
  free(c->x), free(c->segs), free(c->seg_yarn), free(c->yarn_seg), free(c->yarn_vert);
  free(c->closed), free(c->len), free(c->radius), free(c->pt_seg), free(c->pt_lane);
  free(c->pt_yarn), free(c->W);
  memset(c, 0, sizeof *c);
}

void yc_stitch(yarn_case *c, int rows, int cols, const double squeeze[3], double noise)
{
  const double pi = acos(-1.0), w = 1.025e-2, high = 0.64e-2, H = 0.549e-2, A = 0.25e-2,
               D = 0.245e-2, turn = 1.1e-2;
  const int per_row = 8 * cols + 1, n = rows * per_row + 5 * (rows - 1);
  double *const x = allocate_yarn_array(3 * (size_t)n, sizeof *x);
  int at = 0;
  for (int r = 0; r < rows; ++r) {
    for (int k = 0; k < per_row; ++k, ++at) {
      const double t = -pi + 0.25 * pi * (r % 2 ? per_row - 1 - k : k);
      x[3 * at] = w * t / (2.0 * pi) + A * sin(2.0 * t);
      x[3 * at + 1] = H * cos(t) + r * high;
      x[3 * at + 2] = D * cos(2.0 * t);
    }
    const double *const end = x + 3 * (at - 1);
    for (int k = 1; r + 1 < rows && k < 6; ++k, ++at) {
      const double a = -0.5 * pi + pi * k / 6.0;
      x[3 * at] = end[0] + (r % 2 ? -1.0 : 1.0) * turn * cos(a);
      x[3 * at + 1] = end[1] + 0.5 * high + 0.5 * high * sin(a);
      x[3 * at + 2] = end[2];
    }
  }
  cr_assert_eq(at, n);
  for (int i = 0; i < n; ++i)
    for (int k = 0; k < 3; ++k)
      x[3 * i + k] =
          squeeze[k] * x[3 * i + k] + noise * sin((1.7 + 0.6 * k + 0.2 * (k == 2)) * i + k);
  yc_new(c, 1, &n, NULL, x, 0.125e-2);
  free(x);
}

void yc_straight(yarn_case *c, int num_yarns, int segs, double l, const double (*axis)[3],
                 const double (*mid)[3], double radius)
{
  double *const x = allocate_yarn_array((size_t)num_yarns * ((size_t)segs + 1) * 3, sizeof *x);
  int *const verts = allocate_yarn_array((size_t)num_yarns, sizeof *verts);
  for (int k = 0, at = 0; k < num_yarns; ++k) {
    verts[k] = segs + 1;
    for (int i = 0; i <= segs; ++i, ++at)
      for (int d = 0; d < 3; ++d) x[3 * at + d] = mid[k][d] + (i - 0.5 * segs) * l * axis[k][d];
  }
  yc_new(c, num_yarns, verts, NULL, x, radius);
  free(x);
  free(verts);
}

void yc_scene(const yarn_case *c, test_host *t)
{
  loom_scene *const sc = &t->scene;
  th_scene(t, c->n, c->x, NULL, c->radius, 0);
  sc->num_yarns = c->ny;
  sc->num_segs = c->ns;
  sc->yarn_vert = th_buf(t, LOOM_I32, c->ny + 1, c->yarn_vert);
  sc->yarn_seg = th_buf(t, LOOM_I32, c->ny + 1, c->yarn_seg);
  sc->yarn_closed = th_buf(t, LOOM_U8, c->ny, c->closed);
  sc->segs = th_buf(t, LOOM_I32, 4 * c->ns, c->segs);
  sc->seg_yarn = th_buf(t, LOOM_I32, c->ns, c->seg_yarn);
  sc->seg_len = th_buf(t, LOOM_REAL, c->ns, c->len);
}

void yc_place(test_host *t, const double *x)
{
  th_put(t, t->step.x, x);
  th_put(t, t->step.x_start, x);
}

/* Weights of vertices at point p: up to 4, weights of missing ones moved to the reflection. */
static int compute_point_weights(const yarn_case *c, int p, int v[8], double w[8])
{
  const double u = (double)c->pt_lane[p] / B, u2 = u * u, u3 = u2 * u;
  const double b[4] = {-u / 2 + u2 - u3 / 2, 1 - 2.5 * u2 + 1.5 * u3, u / 2 + 2 * u2 - 1.5 * u3,
                       -u2 / 2 + u3 / 2};
  const int32_t *const s = c->segs + 4 * c->pt_seg[p];
  int m = 0;
  for (int a = 0; a < 4; ++a) {
    if (s[a] >= 0) {
      v[m] = s[a], w[m++] = b[a];
    } else {
      v[m] = a == 0 ? s[1] : s[2], w[m++] = 2.0 * b[a];
      v[m] = a == 0 ? s[2] : s[1], w[m++] = -b[a];
    }
  }
  return m;
}

void yc_points(const yarn_case *c, const double *x, double *y)
{
  for (int p = 0; p < c->np; ++p) {
    int v[8];
    double w[8];
    const int m = compute_point_weights(c, p, v, w);
    y[3 * p] = y[3 * p + 1] = y[3 * p + 2] = 0.0;
    for (int a = 0; a < m; ++a)
      for (int d = 0; d < 3; ++d) y[3 * p + d] += w[a] * x[3 * v[a] + d];
  }
}

int yc_may(const yarn_case *c, int i, int j)
{
  const int k = c->pt_yarn[i];
  if (k != c->pt_yarn[j]) return 1;
  int d = j - i;
  const int n = B * (c->yarn_seg[k + 1] - c->yarn_seg[k]);
  if (c->closed[k] && n - d < d) d = n - d;
  return d > 16;
}

double yc_brute(const yarn_case *c, const double *x, double k, double *grad, int64_t *pairs)
{
  double *const y = allocate_yarn_array(3 * (size_t)c->np, sizeof *y), *const g =
                                                                           allocate_yarn_array(
                                                                               3 * (size_t)c->np,
                                                                               sizeof *g);
  double e = 0.0;
  int64_t count = 0;
  yc_points(c, x, y);
  for (int i = 0; i < c->np; ++i)
    for (int j = i + 1; j < c->np; ++j) {
      const double s =
          c->radius[c->segs[4 * c->pt_seg[i] + 1]] + c->radius[c->segs[4 * c->pt_seg[j] + 1]];
      const double d = vertex_gap(y, i, j);
      if (d >= s || !yc_may(c, i, j)) continue;
      ++count;
      e += k * c->W[i] * c->W[j] * (s * s / (d * d) + d * d / (s * s) - 2.0);
      const double slope = k * c->W[i] * c->W[j] * (2.0 * d / (s * s) - 2.0 * s * s / (d * d * d));
      for (int a = 0; a < 3; ++a) {
        const double f = slope * (y[3 * i + a] - y[3 * j + a]) / d;
        g[3 * i + a] += f;
        g[3 * j + a] -= f;
      }
    }
  for (int p = 0; grad != NULL && p < c->np; ++p) {
    int v[8];
    double w[8];
    const int m = compute_point_weights(c, p, v, w);
    for (int a = 0; a < m; ++a)
      for (int d = 0; d < 3; ++d) grad[3 * v[a] + d] += w[a] * g[3 * p + d];
  }
  if (pairs != NULL) *pairs = count;
  free(y);
  free(g);
  return e;
}
