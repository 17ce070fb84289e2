/* ccd_filter.c - the floating-point filter in front of the exact oracle.
 *
 * The polynomials of the exact stage in Bernstein form, in long double, on shorter and shorter
 * intervals of time; a sign counts only beyond the bound of its error, and an undecided query
 * goes to the exact stage. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "support/ccd_oracle.h"

enum { MAX_DEPTH = 24, MAX_HALVINGS = 48, UNKNOWN = -1 };

typedef struct bernstein {
  long double b[4], err; /* of every coefficient, also after MAX_HALVINGS */
  int degree;
} bernstein;

typedef struct filter {
  int kind;
  long double x[2][12]; /* relative to vertex 0, at both ends */
} filter;

/* 1 if the boxes around the motions of the two sides do not touch: exact. */
static int boxes_apart(int kind, const double *x0, const double *x1)
{
  const int split = kind == ORACLE_VT ? 3 : 6;
  for (int c = 0; c < 3; ++c) {
    double lo[2] = {HUGE_VAL, HUGE_VAL}, hi[2] = {-HUGE_VAL, -HUGE_VAL};
    for (int i = c; i < 12; i += 3) {
      lo[i >= split] = fmin(lo[i >= split], fmin(x0[i], x1[i]));
      hi[i >= split] = fmax(hi[i >= split], fmax(x0[i], x1[i]));
    }
    if (lo[0] > hi[1] || lo[1] > hi[0]) return 1;
  }
  return 0;
}

static int sign_of(long double v, long double err) { return v > err ? 1 : v < -err ? -1 : 0; }

/* Sign of p on the whole interval, 0 if not certain. */
static int sign_on(const bernstein *p)
{
  const int s = sign_of(p->b[0], p->err);
  for (int i = 1; i <= p->degree; ++i)
    if (sign_of(p->b[i], p->err) != s) return 0;
  return s;
}

/* The left or right half; averages of numbers of at most `size` each add 1 rounding a level. */
static void halve_bernstein(bernstein *p, int right)
{
  for (int level = 1; level <= p->degree; ++level) {
    if (right)
      for (int i = 0; i + level <= p->degree; ++i) p->b[i] = 0.5L * (p->b[i] + p->b[i + 1]);
    else
      for (int i = p->degree; i >= level; --i) p->b[i] = 0.5L * (p->b[i] + p->b[i - 1]);
  }
}

static long double coordinate_difference(const filter *f, int end, int a, int b, int c)
{
  return f->x[end][3 * b + c] - f->x[end][3 * a + c];
}

/* Component k of (b - a) x (d - c): degree 2.  Each factor has one rounding, products and sums
 * three more, each bisection two. */
static void make_cross(const filter *f, int k, int a, int b, int c, int d, bernstein *out)
{
  const int u = (k + 1) % 3, v = (k + 2) % 3;
  long double value[2][2], size[2] = {0};
  for (int i = 0; i < 2; ++i)
    for (int j = 0; j < 2; ++j)
      value[i][j] = coordinate_difference(f, i, a, b, u) * coordinate_difference(f, j, c, d, v) -
                    coordinate_difference(f, i, a, b, v) * coordinate_difference(f, j, c, d, u);
  for (int i = 0; i < 2; ++i) {
    size[0] = fmaxl(size[0], fmaxl(fabsl(coordinate_difference(f, i, a, b, u)),
                                   fabsl(coordinate_difference(f, i, a, b, v))));
    size[1] = fmaxl(size[1], fmaxl(fabsl(coordinate_difference(f, i, c, d, u)),
                                   fabsl(coordinate_difference(f, i, c, d, v))));
  }
  out->degree = 2;
  out->b[0] = value[0][0];
  out->b[1] = 0.5L * (value[0][1] + value[1][0]);
  out->b[2] = value[1][1];
  out->err = (16 + 4 * MAX_HALVINGS) * LDBL_EPSILON * size[0] * size[1];
}

static void make_cubic(const filter *f, bernstein *out)
{
  const int vt = f->kind == ORACLE_VT;
  const int from[3] = {vt ? 1 : 2, vt ? 1 : 0, vt ? 1 : 2}, to[3] = {0, vt ? 2 : 1, 3};
  long double d[2][3][3], size[3] = {0};
  memset(out, 0, sizeof *out);
  for (int e = 0; e < 2; ++e)
    for (int v = 0; v < 3; ++v)
      for (int c = 0; c < 3; ++c) {
        d[e][v][c] = coordinate_difference(f, e, from[v], to[v], c);
        size[v] = fmaxl(size[v], fabsl(d[e][v][c]));
      }
  for (int mask = 0; mask < 8; ++mask) { /* the ends at which each of the three is taken */
    const long double *p = d[mask & 1][0], *q = d[mask >> 1 & 1][1], *r = d[mask >> 2 & 1][2];
    const int degree = (mask & 1) + (mask >> 1 & 1) + (mask >> 2 & 1);
    const long double share = degree == 0 || degree == 3 ? 1.0L : 1.0L / 3.0L;
    out->b[degree] +=
        share * (p[0] * (q[1] * r[2] - q[2] * r[1]) + p[1] * (q[2] * r[0] - q[0] * r[2]) +
                 p[2] * (q[0] * r[1] - q[1] * r[0]));
  }
  out->degree = 3;
  out->err = (128 + 36 * MAX_HALVINGS) * LDBL_EPSILON * size[0] * size[1] * size[2];
}

/* At the root of *f between lo and hi, a simple one: 1 in contact, 0 not, or UNKNOWN. */
static int classify_root(const filter *F, bernstein f, int depth, double range[2])
{
  const int vt = F->kind == ORACLE_VT;
  bernstein n[3], side[3][4];
  int num = vt ? 3 : 4, right[MAX_DEPTH];
  for (int k = 0; k < 3; ++k) {
    make_cross(F, k, vt ? 1 : 0, vt ? 2 : 1, vt ? 1 : 2, 3, &n[k]);
    for (int i = 0; i < num; ++i) {
      const int e = i < 2 ? 0 : 2, p = i < 2 ? 2 + i : i - 2;
      if (vt)
        make_cross(F, k, 1 + i, 1 + (i + 1) % 3, 1 + i, 0, &side[k][i]);
      else
        make_cross(F, k, e, e + 1, e, p, &side[k][i]);
    }
  }
  /* the halves that led here */
  double at = 0.0, width = 1.0;
  for (int l = 0; l < depth; ++l) {
    width *= 0.5;
    right[l] = range[0] >= at + width;
    at += right[l] ? width : 0.0;
  }
  for (int l = 0;; ++l) {
    if (l > depth) { /* follow the root further */
      bernstein left = f;
      halve_bernstein(&left, 0);
      const int s = sign_of(left.b[3], left.err);
      if (l > MAX_DEPTH || s == 0) return UNKNOWN;
      right[l - 1] = s == sign_of(f.b[0], f.err);
      halve_bernstein(&f, right[l - 1]);
      const double mid = 0.5 * (range[0] + range[1]);
      range[right[l - 1] ? 0 : 1] = mid;
    }
    if (l > 0)
      for (int k = 0; k < 3; ++k) {
        halve_bernstein(&n[k], right[l - 1]);
        for (int i = 0; i < num; ++i) halve_bernstein(&side[k][i], right[l - 1]);
      }
    if (l < depth) continue;
    for (int k = 0; k < 3; ++k) {
      int s[4], known = 1, all = 1, none = 0;
      const int sn = sign_on(&n[k]);
      if (sn == 0) continue;
      for (int i = 0; i < num; ++i) {
        s[i] = sign_on(&side[k][i]);
        known = known && s[i] != 0;
        all = all && s[i] == sn;
        none = none || s[i] == -sn;
      }
      if (vt && none) return 0;
      if (vt && all) return 1;
      if (!vt && ((s[0] * s[1] > 0) || (s[2] * s[3] > 0))) return 0;
      if (!vt && known) return 1;
    }
  }
}

/* The only root of f in range, as closely as signs are certain. */
static void refine_simple_root(bernstein f, double range[2])
{
  for (int depth = 0; depth < MAX_DEPTH; ++depth) {
    bernstein left = f;
    halve_bernstein(&left, 0);
    const int s = sign_of(left.b[3], left.err);
    if (s == 0) return;
    const int right = s == sign_of(f.b[0], f.err);
    halve_bernstein(&f, right);
    range[right ? 0 : 1] = 0.5 * (range[0] + range[1]);
  }
}

static int search_first_contact(const filter *F, const bernstein *f, int depth, double lo,
                                double hi, double first[2])
{
  int changes = 0, s[4];
  for (int i = 0; i < 4; ++i) {
    s[i] = sign_of(f->b[i], f->err);
    if (s[i] == 0 && (i == 0 || i == 3)) return UNKNOWN;
    changes += i > 0 && s[i] != s[i - 1];
  }
  const int certain = s[1] != 0 && s[2] != 0;
  if (certain && changes == 0) return 0;
  if (certain && changes == 1) {
    first[0] = lo;
    first[1] = hi;
    const int result = classify_root(F, *f, depth, first);
    first[0] = lo;
    first[1] = hi;
    refine_simple_root(*f, first);
    return result;
  }
  if (depth == MAX_DEPTH) return UNKNOWN;
  bernstein half[2] = {*f, *f};
  halve_bernstein(&half[0], 0);
  halve_bernstein(&half[1], 1);
  const int early = search_first_contact(F, &half[0], depth + 1, lo, 0.5 * (lo + hi), first);
  return early != 0 ? early
                    : search_first_contact(F, &half[1], depth + 1, 0.5 * (lo + hi), hi, first);
}

int oracle_contact(int kind, const double *x0, const double *x1, double first[2])
{
  filter F = {.kind = kind};
  bernstein f;
  if (boxes_apart(kind, x0, x1)) return 0;
  for (int i = 0; i < 12; ++i) {
    F.x[0][i] = (long double)x0[i] - x0[i % 3];
    F.x[1][i] = (long double)x1[i] - x1[i % 3];
  }
  make_cubic(&F, &f);
  const int found = search_first_contact(&F, &f, 0, 0.0, 1.0, first);
  if (found != UNKNOWN) return found;
  const int hit = oracle_contact_exact(kind, x0, x1, &first[0]);
  first[1] = first[0];
  return hit;
}
