/* test_intersect.c - the exact intersection audit against an oracle in rational arithmetic.
 *
 * The oracle shares no code with the code under test: it asks whether the linear system
 * p + t (q - p) = a + u (b - a) + v (c - a), 0 <= t <= 1, u, v >= 0, u + v <= 1 has a
 * solution, by elimination of the equations and Fourier-Motzkin elimination of the rest. */
#include <criterion/criterion.h>
#include <gmp.h>
#include <math.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "audit/intersect.h"
#include "audit/orientation.h"

enum { MAX_ROWS = 256 };

/* ---- random numbers ---- */

static uint64_t next_isect_bits(uint64_t *s)
{
  uint64_t z = (*s += UINT64_C(0x9e3779b97f4a7c15));
  z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
  z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
  return z ^ (z >> 31);
}

static double next_isect_uniform(uint64_t *s)
{
  return (double)(next_isect_bits(s) >> 11) * 0x1p-53;
}

/* ---- oracle ---- */

typedef struct system {
  mpq_t row[MAX_ROWS][4]; /* row . (t, u, v, 1) >= 0 */
  int rows;
} lin_system;

static void system_open(lin_system *s)
{
  s->rows = 0;
  for (int i = 0; i < MAX_ROWS; ++i)
    for (int k = 0; k < 4; ++k) mpq_init(s->row[i][k]);
}

/* out = a f + b g */
static void combine_rows(mpq_t *out, mpq_t *a, const mpq_t f, mpq_t *b, const mpq_t g)
{
  mpq_t s, t, r[4];
  mpq_inits(s, t, NULL);
  for (int k = 0; k < 4; ++k) {
    mpq_init(r[k]);
    mpq_mul(s, a[k], f);
    mpq_mul(t, b[k], g);
    mpq_add(r[k], s, t);
  }
  for (int k = 0; k < 4; ++k) {
    mpq_set(out[k], r[k]);
    mpq_clear(r[k]);
  }
  mpq_clears(s, t, NULL);
}

/* Remove variable k from `row` with the equation eq, in which it has a nonzero factor. */
static void substitute_variable(mpq_t *row, mpq_t *eq, int k)
{
  mpq_t f, one;
  mpq_inits(f, one, NULL);
  mpq_set_ui(one, 1, 1);
  mpq_div(f, row[k], eq[k]);
  mpq_neg(f, f);
  combine_rows(row, row, one, eq, f);
  mpq_clears(f, one, NULL);
}

/* Fourier-Motzkin: rows of *in without variable k into *out. */
static void eliminate_variable(lin_system *in, lin_system *out, int k)
{
  out->rows = 0;
  for (int i = 0; i < in->rows; ++i) {
    if (mpq_sgn(in->row[i][k]) == 0) {
      for (int c = 0; c < 4; ++c) mpq_set(out->row[out->rows][c], in->row[i][c]);
      ++out->rows;
    }
    if (mpq_sgn(in->row[i][k]) <= 0) continue;
    for (int j = 0; j < in->rows; ++j) {
      if (mpq_sgn(in->row[j][k]) >= 0) continue;
      mpq_t f;
      mpq_init(f);
      mpq_neg(f, in->row[j][k]);
      cr_assert(out->rows < MAX_ROWS);
      combine_rows(out->row[out->rows++], in->row[i], f, in->row[j], in->row[i][k]);
      mpq_clear(f);
    }
  }
}

static int is_system_feasible(mpq_t eq[3][4], lin_system *s, lin_system *spare)
{
  int ok = 1;
  for (int e = 0; e < 3; ++e) {
    int k = 0;
    while (k < 3 && mpq_sgn(eq[e][k]) == 0) ++k;
    if (k == 3) {
      if (mpq_sgn(eq[e][3]) != 0) ok = 0;
      continue;
    }
    for (int f = e + 1; f < 3; ++f) substitute_variable(eq[f], eq[e], k);
    for (int i = 0; i < s->rows; ++i) substitute_variable(s->row[i], eq[e], k);
  }
  for (int k = 0; k < 3 && ok; ++k) {
    eliminate_variable(s, spare, k);
    lin_system *const t = s;
    s = spare;
    spare = t;
  }
  for (int i = 0; i < s->rows && ok; ++i) ok = mpq_sgn(s->row[i][3]) >= 0;
  return ok;
}

static int is_edge_meeting_triangle(const double *p, const double *q, const double *a,
                                    const double *b, const double *c)
{
  static lin_system s, spare; /* large; every test is a process of its own */
  static int opened = 0;
  static const int bounds[5][4] = {
      {1, 0, 0, 0}, {-1, 0, 0, 1}, {0, 1, 0, 0}, {0, 0, 1, 0}, {0, -1, -1, 1}};
  mpq_t eq[3][4], t;
  if (!opened) {
    system_open(&s);
    system_open(&spare);
    opened = 1;
  }
  mpq_init(t);
  for (int k = 0; k < 3; ++k) {
    const double from[4] = {p[k], b[k], c[k], a[k]}, to[4] = {q[k], a[k], a[k], p[k]};
    for (int j = 0; j < 4; ++j) {
      mpq_init(eq[k][j]);
      mpq_set_d(eq[k][j], to[j]);
      mpq_set_d(t, from[j]);
      mpq_sub(eq[k][j], eq[k][j], t);
    }
  }
  s.rows = 5;
  for (int i = 0; i < 5; ++i)
    for (int k = 0; k < 4; ++k) mpq_set_si(s.row[i][k], bounds[i][k], 1);
  const int yes = is_system_feasible(eq, &s, &spare);
  for (int k = 0; k < 3; ++k)
    for (int j = 0; j < 4; ++j) mpq_clear(eq[k][j]);
  mpq_clear(t);
  return yes;
}

static int oracle_orient(const double *a, const double *b, const double *c, const double *d)
{
  const double *const v[3] = {b, c, d};
  mpq_t m[9], t, det;
  mpq_inits(t, det, NULL);
  for (int i = 0; i < 9; ++i) {
    mpq_init(m[i]);
    mpq_set_d(m[i], v[i / 3][i % 3]);
    mpq_set_d(t, a[i % 3]);
    mpq_sub(m[i], m[i], t);
  }
  for (int k = 0; k < 6; ++k) { /* Leibniz formula over the six permutations */
    static const int perm[6][3] = {{0, 1, 2}, {1, 2, 0}, {2, 0, 1},
                                   {0, 2, 1}, {2, 1, 0}, {1, 0, 2}};
    mpq_mul(t, m[perm[k][0]], m[3 + perm[k][1]]);
    mpq_mul(t, t, m[6 + perm[k][2]]);
    if (k < 3)
      mpq_add(det, det, t);
    else
      mpq_sub(det, det, t);
  }
  const int s = mpq_sgn(det);
  for (int i = 0; i < 9; ++i) mpq_clear(m[i]);
  mpq_clears(t, det, NULL);
  return s;
}

/* ---- inputs ---- */

enum { SOUP_LATTICE, SOUP_TENTHS, SOUP_ULP, SOUP_FLAT, SOUP_RANDOM, NUM_SOUPS };

/* A coordinate: lattice kinds make touching, coplanar and degenerate cases common, the
 * `ulp` kind moves them by one unit in the last place. */
static double random_soup_coordinate(uint64_t *s, int kind, int axis)
{
  const double k = (double)(next_isect_bits(s) % 4);
  double x = k;
  if (kind == SOUP_TENTHS || kind == SOUP_ULP) x = 0.1 * k + 0.3;
  if (kind == SOUP_ULP) {
    const uint64_t move = next_isect_bits(s) % 3;
    if (move != 2) x = nextafter(x, move == 0 ? -1.0 : 2.0);
  }
  if (kind == SOUP_FLAT) x = axis == 2 ? 0.1 : 0.1 * k + 0.01 * (double)(next_isect_bits(s) % 3);
  if (kind == SOUP_RANDOM) x = next_isect_uniform(s);
  return x;
}

static void fill_soup_points(uint64_t *s, int kind, double *x, int count)
{
  for (int i = 0; i < count; ++i) x[i] = random_soup_coordinate(s, kind, i % 3);
}

/* ---- predicates ---- */

Test(intersect, orientation_sign_is_exact)
{
  uint64_t s = 1;
  int zero = 0;
  for (int kind = 0; kind < NUM_SOUPS; ++kind)
    for (int i = 0; i < 4000; ++i) {
      double x[12];
      fill_soup_points(&s, kind, x, 12);
      const int want = oracle_orient(x, x + 3, x + 6, x + 9);
      zero += want == 0;
      cr_assert_eq(orientation_sign3(x, x + 3, x + 6, x + 9), want, "kind %d, case %d", kind, i);
    }
  cr_expect(zero > 1000, "too few degenerate cases: %d", zero);
}

Test(intersect, orientation_over_the_whole_range_of_doubles)
{
  static const double scale[] = {0x1p-1074, 0x1p-1022, 1e-120, 1e-60, 1.0, 1e60, 1e120, 1e307};
  uint64_t s = 2;
  for (int i = 0; i < 6000; ++i) {
    double x[12];
    for (int k = 0; k < 12; ++k)
      x[k] = (double)((int)(next_isect_bits(&s) % 7) - 3) *
             scale[i % 2 ? next_isect_bits(&s) % 8 : (uint64_t)(i / 2 % 8)];
    cr_assert_eq(orientation_sign3(x, x + 3, x + 6, x + 9), oracle_orient(x, x + 3, x + 6, x + 9),
                 "case %d", i);
  }
}

Test(intersect, segment_and_triangle_agree_with_the_oracle)
{
  uint64_t s = 3;
  for (int kind = 0; kind < NUM_SOUPS; ++kind) {
    int yes = 0, flat = 0;
    for (int i = 0; i < 8000; ++i) {
      double x[15];
      fill_soup_points(&s, kind, x, 15);
      if (i % 8 == 1) memcpy(x + 3, x, 3 * sizeof *x);      /* a point for a segment */
      if (i % 8 == 2) memcpy(x + 12, x + 9, 3 * sizeof *x); /* a segment for a triangle */
      if (i % 16 == 3) {                                    /* a point for a triangle */
        memcpy(x + 9, x + 6, 3 * sizeof *x);
        memcpy(x + 12, x + 6, 3 * sizeof *x);
      }
      const int want = is_edge_meeting_triangle(x, x + 3, x + 6, x + 9, x + 12);
      yes += want;
      flat += oracle_orient(x, x + 6, x + 9, x + 12) == 0 &&
              oracle_orient(x + 3, x + 6, x + 9, x + 12) == 0;
      cr_assert_eq(isect_segment_triangle(x, x + 3, x + 6, x + 9, x + 12), want,
                   "kind %d, case %d: oracle says %d", kind, i, want);
    }
    cr_expect(yes > 50 && yes < 7950, "kind %d is one-sided: %d of 8000 meet", kind, yes);
    if (kind < SOUP_ULP) cr_expect(flat > 300, "kind %d: only %d coplanar", kind, flat);
  }
}

Test(intersect, one_ulp_decides)
{
  /* the plane x + y + z = 0.75 through three points; the segment ends on it, before it,
   * and one unit in the last place beyond it */
  const double a[3] = {0.75, 0, 0}, b[3] = {0, 0.75, 0}, c[3] = {0, 0, 0.75};
  const double far_end[3] = {1, 1, 1};
  const double on[3] = {0.25, 0.25, 0.25};
  const double above[3] = {0.25, 0.25, nextafter(0.25, 1.0)};
  const double below[3] = {0.25, 0.25, nextafter(0.25, 0.0)};
  cr_expect_eq(isect_segment_triangle(on, far_end, a, b, c), 1);
  cr_expect_eq(isect_segment_triangle(below, far_end, a, b, c), 1);
  cr_expect_eq(isect_segment_triangle(above, far_end, a, b, c), 0);
}

/* ---- meshes ---- */

static int compare_isect_pairs(const void *a, const void *b)
{
  const isect_pair *const p = a, *const q = b;
  if (p->edge[0] != q->edge[0]) return p->edge[0] < q->edge[0] ? -1 : 1;
  if (p->edge[1] != q->edge[1]) return p->edge[1] < q->edge[1] ? -1 : 1;
  return (p->tri > q->tri) - (p->tri < q->tri);
}

/* Every edge against every triangle with the oracle, sorted, each pair once. */
static int64_t find_oracle_pairs(const double *x, const int32_t *tris, int nt, isect_pair *out)
{
  int64_t m = 0, unique = 0;
  for (int t = 0; t < nt; ++t)
    for (int c = 0; c < 3; ++c) {
      int32_t i = tris[3 * t + c], j = tris[3 * t + (c + 1) % 3];
      if (i > j) {
        const int32_t swap = i;
        i = j;
        j = swap;
      }
      for (int f = 0; f < nt; ++f) {
        const int32_t *const v = tris + 3 * f;
        if (v[0] == i || v[1] == i || v[2] == i || v[0] == j || v[1] == j || v[2] == j) continue;
        if (is_edge_meeting_triangle(x + 3 * i, x + 3 * j, x + 3 * v[0], x + 3 * v[1],
                                     x + 3 * v[2]))
          out[m++] = (isect_pair){{i, j}, f, -1, 0};
      }
    }
  qsort(out, (size_t)m, sizeof *out, compare_isect_pairs);
  for (int64_t i = 0; i < m; ++i)
    if (i == 0 || compare_isect_pairs(out + i, out + i - 1) != 0) out[unique++] = out[i];
  return unique;
}

Test(intersect, soups_agree_with_brute_force)
{
  enum { NV = 60, NT = 40 };
  static isect_pair want[3 * NT * NT], have[3 * NT * NT];
  uint64_t s = 4;
  loom_err err = {0};
  for (int kind = 0; kind < NUM_SOUPS; ++kind) {
    double x[3 * NV];
    int32_t tris[3 * NT];
    int64_t total = -1;
    fill_soup_points(&s, kind, x, 3 * NV);
    for (int i = 0; i < 3 * NT; ++i) tris[i] = (int32_t)(next_isect_bits(&s) % NV);
    for (int t = 0; t < NT; ++t) /* a soup of triangles with distinct vertices */
      for (int c = 1; c < 3; ++c)
        while (tris[3 * t + c] == tris[3 * t] || (c == 2 && tris[3 * t + 2] == tris[3 * t + 1]))
          tris[3 * t + c] = (tris[3 * t + c] + 1) % NV;
    const int64_t m = find_oracle_pairs(x, tris, NT, want);
    cr_expect(m > 20, "kind %d: only %d pairs", kind, (int)m);
    cr_assert_eq(isect_mesh(&err, x, NV, tris, NT, 2, have, 3 * NT * NT, &total), LOOM_OK, "%s",
                 err.text);
    cr_assert_eq(total, m, "kind %d: %d pairs instead of %d", kind, (int)total, (int)m);
    cr_expect_eq(memcmp(have, want, (size_t)m * sizeof *have), 0, "kind %d: lists differ", kind);
  }
}

/* Grid of nx by ny vertices, folded in layers `gap` apart along x. */
static void fill_folded_sheet(int nx, int ny, int period, double gap, double *x, int32_t *tris)
{
  int64_t m = 0;
  for (int j = 0; j < ny; ++j)
    for (int i = 0; i < nx; ++i) {
      const int layer = i / period, along = layer % 2 ? period - 1 - i % period : i % period;
      double *const p = x + 3 * (int64_t)(j * nx + i);
      p[0] = 0.01 * along;
      p[1] = 0.01 * j + 0.003 * layer;
      p[2] = gap * layer + 0.1 * gap * sin(0.7 * along) * sin(0.4 * j);
    }
  for (int j = 0; j + 1 < ny; ++j)
    for (int i = 0; i + 1 < nx; ++i) {
      const int32_t v = j * nx + i, q[6] = {v, v + 1, v + nx + 1, v, v + nx + 1, v + nx};
      memcpy(tris + m, q, sizeof q);
      m += 6;
    }
}

Test(intersect, folded_sheet_is_clean_until_a_vertex_is_pushed_through)
{
  enum { NX = 60, NY = 20, NV = NX * NY, NT = 2 * (NX - 1) * (NY - 1) };
  static double x[3 * NV];
  static int32_t tris[3 * NT];
  isect_pair one[64], two[64], few[2];
  int64_t n1 = -1, n2 = -1, n3 = -1;
  loom_err err = {0};
  fill_folded_sheet(NX, NY, 20, 1e-3, x, tris);
  cr_assert_eq(isect_mesh(&err, x, NV, tris, NT, 1, one, 64, &n1), LOOM_OK, "%s", err.text);
  cr_expect_eq(n1, 0, "%d intersections in a clean sheet", (int)n1);
  x[3 * (10 * NX + 10) + 2] += 1.5e-3;
  cr_assert_eq(isect_mesh(&err, x, NV, tris, NT, 1, one, 64, &n1), LOOM_OK);
  cr_assert_eq(isect_mesh(&err, x, NV, tris, NT, 2, two, 64, &n2), LOOM_OK);
  cr_assert_eq(isect_mesh(&err, x, NV, tris, NT, 2, few, 2, &n3), LOOM_OK);
  cr_expect(n1 > 2 && n1 <= 64, "%d intersections", (int)n1);
  cr_expect_eq(n2, n1);
  cr_expect_eq(n3, n1, "the total must not depend on the capacity");
  cr_expect_eq(memcmp(one, two, (size_t)n1 * sizeof *one), 0, "threads change the list");
  cr_expect_eq(memcmp(one, few, sizeof few), 0, "the first pairs differ");
}

Test(intersect, bad_input_is_refused)
{
  const double x[9] = {0, 0, 0, 1, 0, 0, NAN, 1, 0};
  const double y[9] = {0, 0, 0, 1, 0, 0, 0, 1, 0};
  const int32_t good[3] = {0, 1, 2}, bad[3] = {0, 1, 3};
  loom_err err = {0};
  int64_t total = -1;
  cr_expect_eq(isect_mesh(&err, x, 3, good, 1, 1, NULL, 0, &total), LOOM_E_NUMERIC);
  cr_expect(strstr(err.text, "vertex 2") != NULL, "%s", err.text);
  cr_expect_eq(isect_mesh(&err, y, 3, bad, 1, 1, NULL, 0, &total), LOOM_E_ARG);
  cr_expect(strstr(err.text, "triangle 0") != NULL, "%s", err.text);
  cr_expect_eq(isect_mesh(&err, y, 3, good, 0, 1, NULL, 0, &total), LOOM_OK);
  cr_expect_eq(total, 0);
}

Test(intersect, time_of_a_large_sheet_is_printed)
{
  enum { NX = 500, NY = 101, NV = NX * NY, NT = 2 * (NX - 1) * (NY - 1) };
  double *const x = malloc(3 * NV * sizeof *x);
  int32_t *const tris = malloc(3 * NT * sizeof *tris);
  loom_err err = {0};
  int64_t total = -1;
  cr_assert(x != NULL && tris != NULL);
  fill_folded_sheet(NX, NY, 100, 1e-3, x, tris);
  for (int threads = 1; threads <= 2; ++threads) {
    const double t0 = omp_get_wtime();
    cr_assert_eq(isect_mesh(&err, x, NV, tris, NT, threads, NULL, 0, &total), LOOM_OK);
    printf("audit of %d triangles, %d thread(s): %.3f s\n", NT, threads, omp_get_wtime() - t0);
    cr_expect_eq(total, 0);
  }
  free(x);
  free(tris);
}
