/* sheets.c - see sheets.h. */
#include "support/sheets.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "support/elem_case.h"

const char *const sheet_names[SHEET_KINDS] = {"regular",  "alternate", "equilateral",
                                              "Delaunay", "jittered",  "aspect 5"};

static double cross_at(const sheet *s, int32_t a, int32_t b, int32_t c)
{
  const double *p = s->X + 2 * a, *q = s->X + 2 * b, *r = s->X + 2 * c;
  return (q[0] - p[0]) * (r[1] - p[1]) - (q[1] - p[1]) * (r[0] - p[0]);
}

/* The angles at c and d over the edge a b add up to more than pi. */
static int wants_flip(const sheet *s, int32_t a, int32_t b, int32_t c, int32_t d)
{
  const double *A = s->X + 2 * a, *B = s->X + 2 * b, *C = s->X + 2 * c, *D = s->X + 2 * d;
  const double cc = (A[0] - C[0]) * (B[0] - C[0]) + (A[1] - C[1]) * (B[1] - C[1]);
  const double dd = (A[0] - D[0]) * (B[0] - D[0]) + (A[1] - D[1]) * (B[1] - D[1]);
  const double cs = fabs(cross_at(s, c, a, b)), ds = fabs(cross_at(s, d, a, b));
  if (cross_at(s, a, d, c) <= 0 || cross_at(s, b, c, d) <= 0) return 0; /* not convex */
  return cs * dd + cc * ds < -1e-12;
}

/* Flips edges until all are Delaunay. */
static void flip_edges(sheet *s)
{
  int flips = 1;
  for (int pass = 0; flips > 0 && pass < 200; ++pass) {
    flips = 0;
    for (int32_t t = 0; t < s->nt; ++t)
      for (int32_t u = t + 1; u < s->nt; ++u)
        for (int i = 0; i < 3; ++i)
          for (int j = 0; j < 3; ++j) {
            int32_t *const T = s->tris + 3 * t, *const U = s->tris + 3 * u;
            const int32_t a = T[i], b = T[(i + 1) % 3], c = T[(i + 2) % 3], d = U[(j + 2) % 3];
            if (U[j] != b || U[(j + 1) % 3] != a || !wants_flip(s, a, b, c, d)) continue;
            T[0] = a, T[1] = d, T[2] = c;
            U[0] = b, U[1] = c, U[2] = d;
            ++flips;
            i = j = 3;
          }
  }
  cr_assert_eq(flips, 0);
}

static void find_rings(sheet *s)
{
  for (int32_t v = 0; v < s->nv; ++v) s->ring[v] = s->rim[v] ? 0 : s->nv;
  for (int changed = 1; changed;) {
    changed = 0;
    for (int32_t k = 0; k < 3 * s->nt; ++k) {
      const int32_t a = s->tris[k], b = s->tris[k - k % 3 + (k + 1) % 3];
      if (s->ring[a] > s->ring[b] + 1) s->ring[a] = s->ring[b] + 1, changed = 1;
      if (s->ring[b] > s->ring[a] + 1) s->ring[b] = s->ring[a] + 1, changed = 1;
    }
  }
}

static void put_sheet_triangle(sheet *s, int32_t a, int32_t b, int32_t c)
{
  s->tris[3 * s->nt] = a;
  s->tris[3 * s->nt + 1] = b;
  s->tris[3 * s->nt++ + 2] = c;
}

/* Rows of points i / n, every second one shifted by half a cell between the two ends. */
static void fill_shifted(sheet *s, int n, int ny)
{
  int32_t first = 0, last = 0;
  for (int j = 0; j <= ny; ++j) {
    const int odd = j % 2, num = n + 1 + odd;
    const int32_t row = s->nv;
    for (int i = 0; i < num; ++i) {
      const double x = odd ? fmin(fmax((i - 0.5) / n, 0), 1) : (double)i / n;
      s->rim[s->nv] = i == 0 || i == num - 1 || j == 0 || j == ny;
      s->X[2 * s->nv] = x;
      s->X[2 * s->nv++ + 1] = (double)j / ny;
    }
    for (int32_t p = first, q = row; j > 0 && (p < last || q < s->nv - 1);) {
      const double np = p < last ? s->X[2 * (p + 1)] : 9,
                   nq = q < s->nv - 1 ? s->X[2 * (q + 1)] : 9;
      if (np < nq || (np == nq && odd)) {
        put_sheet_triangle(s, p, p + 1, q);
        ++p;
      } else {
        put_sheet_triangle(s, p, q + 1, q);
        ++q;
      }
    }
    first = row;
    last = s->nv - 1;
  }
}

static void fill_square_cells(sheet *s, int n, int ny, int alternate)
{
  for (int j = 0; j <= ny; ++j)
    for (int i = 0; i <= n; ++i) {
      s->rim[s->nv] = i == 0 || i == n || j == 0 || j == ny;
      s->X[2 * s->nv] = (double)i / n;
      s->X[2 * s->nv++ + 1] = (double)j / ny;
    }
  for (int j = 0; j < ny; ++j)
    for (int i = 0; i < n; ++i) {
      const int32_t a = i + j * (n + 1), b = a + 1, c = b + n + 1, d = a + n + 1;
      const int other = alternate && (i + j) % 2;
      put_sheet_triangle(s, a, b, other ? d : c);
      put_sheet_triangle(s, other ? b : a, c, d);
    }
}

static void move_inside(sheet *s, double dx, double dy)
{
  for (int32_t v = 0; v < s->nv; ++v)
    for (int c = 0; c < 2 && !s->rim[v]; ++c)
      s->X[2 * v + c] += (c == 0 ? dx : dy) * case_random(77, (unsigned)(2 * v + c));
}

void sheet_new(sheet *s, int kind, int n, int ny, double lx, double ly)
{
  const size_t most = (size_t)(n + 4) * (size_t)(ny + 2);
  memset(s, 0, sizeof *s);
  s->X = calloc(2 * most, sizeof *s->X);
  s->tris = calloc(6 * most, sizeof *s->tris);
  s->rim = calloc(most, 1);
  s->ring = calloc(most, sizeof *s->ring);
  cr_assert(s->X != NULL && s->tris != NULL && s->rim != NULL && s->ring != NULL);
  if (kind == SHEET_REGULAR || kind == SHEET_ALTERNATE || kind == SHEET_JITTERED)
    fill_square_cells(s, n, ny, kind != SHEET_REGULAR);
  else
    fill_shifted(s, n, ny);
  if (kind == SHEET_JITTERED) move_inside(s, 0.3 / n, 0.3 / ny);
  if (kind == SHEET_DELAUNAY || kind == SHEET_LONG) {
    move_inside(s, 0.25 / n, 0.25 / ny);
    for (int32_t v = 0; v < s->nv; ++v) s->X[2 * v] *= lx, s->X[2 * v + 1] *= ly;
    flip_edges(s);
  } else {
    for (int32_t v = 0; v < s->nv; ++v) s->X[2 * v] *= lx, s->X[2 * v + 1] *= ly;
  }
  if (kind == SHEET_LONG)
    for (int32_t v = 0; v < s->nv; ++v) s->X[2 * v] *= 5;
  find_rings(s);
}

void sheet_add_column(sheet *s, double cell)
{
  int32_t last = -1; /* vertices of the edge ascend with y */
  for (int32_t v = 0, num = s->nv, k = 0; v < num; ++v) {
    if (s->X[2 * v] != 0.0) continue;
    s->X[2 * s->nv] = -cell;
    s->X[2 * s->nv + 1] = s->X[2 * v + 1];
    s->rim[s->nv++] = 1;
    if (last >= 0) {
      put_sheet_triangle(s, s->nv - 2, last, k % 2 ? s->nv - 1 : v);
      put_sheet_triangle(s, k % 2 ? last : s->nv - 2, v, s->nv - 1);
      ++k;
    }
    last = v;
  }
  find_rings(s);
}

void sheet_free(sheet *s)
{
  free(s->X);
  free(s->tris);
  free(s->rim);
  free(s->ring);
  memset(s, 0, sizeof *s);
}
