/* ccd_oracle.c - contact is decided at the roots of the coplanarity cubic, as algebraic numbers:
 * a square-free polynomial with an interval that holds one of its roots.  The sign of another
 * polynomial there is 0 if a common divisor has the root, and otherwise seen after bisection.
 * Where the four points are coplanar at all times, first contact is at t = 0 or when a vertex
 * meets an edge.  It shares no code with the code under test. */
#include "support/ccd_oracle.h"

#include <stdlib.h>

enum { MAX_DEGREE = 6, MAX_ROOTS = 6 };

typedef struct poly {
  mpq_t c[MAX_DEGREE + 1];
  int degree; /* -1: zero */
} poly;

static void p_open(poly *p)
{
  for (int i = 0; i <= MAX_DEGREE; ++i) mpq_init(p->c[i]);
  p->degree = -1;
}

static void p_close(poly *p)
{
  for (int i = 0; i <= MAX_DEGREE; ++i) mpq_clear(p->c[i]);
}

static void p_trim(poly *p, int degree)
{
  while (degree >= 0 && mpq_sgn(p->c[degree]) == 0) --degree;
  p->degree = degree;
}

static void p_zero(poly *p)
{
  for (int i = 0; i <= MAX_DEGREE; ++i) mpq_set_ui(p->c[i], 0, 1);
  p->degree = -1;
}

static void p_set(poly *out, const poly *a)
{
  for (int i = 0; i <= MAX_DEGREE; ++i) mpq_set(out->c[i], a->c[i]);
  out->degree = a->degree;
}

/* out = a - b; may be one of them */
static void p_sub(poly *out, const poly *a, const poly *b)
{
  const int degree = a->degree > b->degree ? a->degree : b->degree;
  for (int i = 0; i <= MAX_DEGREE; ++i) mpq_sub(out->c[i], a->c[i], b->c[i]);
  p_trim(out, degree);
}

/* out += s a b */
static void p_add_product(poly *out, int s, const poly *a, const poly *b)
{
  mpq_t t;
  mpq_init(t);
  for (int i = 0; i <= a->degree; ++i)
    for (int j = 0; j <= b->degree; ++j) {
      mpq_mul(t, a->c[i], b->c[j]);
      if (s > 0)
        mpq_add(out->c[i + j], out->c[i + j], t);
      else
        mpq_sub(out->c[i + j], out->c[i + j], t);
    }
  p_trim(out, MAX_DEGREE);
  mpq_clear(t);
}

static void p_value(mpq_t out, const poly *p, const mpq_t t)
{
  mpq_t s;
  mpq_init(s);
  for (int i = p->degree; i >= 0; --i) {
    mpq_mul(s, s, t);
    mpq_add(s, s, p->c[i]);
  }
  mpq_set(out, s);
  mpq_clear(s);
}

static int p_sign(const poly *p, const mpq_t t)
{
  mpq_t v;
  mpq_init(v);
  p_value(v, p, t);
  const int s = mpq_sgn(v);
  mpq_clear(v);
  return s;
}

/* a = a mod b, and the quotient if wanted */
static void p_divide(poly *a, const poly *b, poly *quotient)
{
  mpq_t f, t;
  mpq_inits(f, t, NULL);
  if (quotient != NULL) p_zero(quotient);
  while (a->degree >= b->degree) {
    const int shift = a->degree - b->degree;
    mpq_div(f, a->c[a->degree], b->c[b->degree]);
    for (int i = 0; i <= b->degree; ++i) {
      mpq_mul(t, f, b->c[i]);
      mpq_sub(a->c[i + shift], a->c[i + shift], t);
    }
    if (quotient != NULL) {
      mpq_set(quotient->c[shift], f);
      p_trim(quotient, MAX_DEGREE);
    }
    p_trim(a, a->degree);
  }
  mpq_clears(f, t, NULL);
}

static void p_gcd(poly *out, const poly *a, const poly *b)
{
  poly r[2];
  int k = 0;
  p_open(&r[0]), p_open(&r[1]);
  p_set(&r[0], a), p_set(&r[1], b);
  while (r[1 - k].degree >= 0) {
    p_divide(&r[k], &r[1 - k], NULL);
    k = 1 - k;
  }
  p_set(out, &r[k]);
  p_close(&r[0]), p_close(&r[1]);
}

/* the same roots, each once */
static void p_square_free(poly *out, const poly *p)
{
  poly d, g, rest;
  mpq_t k;
  p_open(&d), p_open(&g), p_open(&rest);
  mpq_init(k);
  for (int i = 1; i <= p->degree; ++i) {
    mpq_set_ui(k, (unsigned long)i, 1);
    mpq_mul(d.c[i - 1], p->c[i], k);
  }
  p_trim(&d, p->degree - 1);
  p_gcd(&g, p, &d);
  p_set(&rest, p);
  p_divide(&rest, &g, out);
  mpq_clear(k);
  p_close(&d), p_close(&g), p_close(&rest);
}

/* Sign changes of the Bernstein coefficients of p on [lo, hi]: a bound of the number of roots
 * in between, right if 0 or 1 (Descartes).  *sign: of the coefficients if all are the same and
 * none is 0, else 0. */
static int p_variations(const poly *p, const mpq_t lo, const mpq_t hi, int *sign)
{
  mpq_t c[MAX_DEGREE + 1], b, t;
  mpq_inits(b, t, NULL);
  const int n = p->degree;
  for (int i = 0; i <= n; ++i) {
    mpq_init(c[i]);
    mpq_set(c[i], p->c[i]);
  }
  for (int i = 0; i < n; ++i) /* p(lo + u) */
    for (int j = n - 1; j >= i; --j) {
      mpq_mul(t, lo, c[j + 1]);
      mpq_add(c[j], c[j], t);
    }
  mpq_sub(b, hi, lo);
  for (int i = 1; i <= n; ++i) /* u = (hi - lo) w */
    for (int j = i; j <= n; ++j) mpq_mul(c[j], c[j], b);
  int last = 0, changes = 0, same = 1;
  for (int k = 0; k <= n; ++k) { /* b_k = sum_i c_i binom(k,i) / binom(n,i) */
    mpz_t num, den;
    mpz_inits(num, den, NULL);
    mpq_set_ui(b, 0, 1);
    for (int i = 0; i <= k; ++i) {
      mpz_bin_uiui(num, (unsigned long)k, (unsigned long)i);
      mpz_bin_uiui(den, (unsigned long)n, (unsigned long)i);
      mpq_set_z(t, num);
      mpz_set(mpq_denref(t), den);
      mpq_canonicalize(t);
      mpq_mul(t, t, c[i]);
      mpq_add(b, b, t);
    }
    mpz_clears(num, den, NULL);
    const int s = mpq_sgn(b);
    if (s == 0 || (k > 0 && s != last)) same = 0;
    if (s != 0 && last != 0 && s != last) ++changes;
    if (s != 0) last = s;
  }
  *sign = same ? last : 0;
  for (int i = 0; i <= n; ++i) mpq_clear(c[i]);
  mpq_clears(b, t, NULL);
  return changes;
}

/* ---- algebraic numbers ---- */
typedef struct root {
  const poly *p; /* square-free */
  mpq_t lo, hi;  /* equal: the number itself; else the only root of p between them */
} root;

static void r_open(root *r)
{
  r->p = NULL;
  mpq_inits(r->lo, r->hi, NULL);
}

static void r_close(root *r) { mpq_clears(r->lo, r->hi, NULL); }

static void r_exact(root *r, const mpq_t t)
{
  mpq_set(r->lo, t);
  mpq_set(r->hi, t);
}

static void r_bisect(root *r)
{
  mpq_t mid, half;
  int unused;
  if (mpq_equal(r->lo, r->hi)) return;
  mpq_inits(mid, half, NULL);
  mpq_set_ui(half, 1, 2);
  mpq_add(mid, r->lo, r->hi);
  mpq_mul(mid, mid, half);
  if (p_sign(r->p, mid) == 0)
    r_exact(r, mid);
  else if (p_variations(r->p, r->lo, mid, &unused) == 1)
    mpq_set(r->hi, mid);
  else
    mpq_set(r->lo, mid);
  mpq_clears(mid, half, NULL);
}

static int r_sign(root *r, const poly *q)
{
  if (q->degree < 0) return 0;
  if (mpq_equal(r->lo, r->hi)) return p_sign(q, r->lo);
  poly g;
  int sign = 0, zero = 0, unused;
  p_open(&g);
  p_gcd(&g, r->p, q);
  zero = g.degree > 0 && p_variations(&g, r->lo, r->hi, &unused) == 1;
  p_close(&g);
  if (zero) return 0;
  for (p_variations(q, r->lo, r->hi, &sign); sign == 0; p_variations(q, r->lo, r->hi, &sign)) {
    r_bisect(r);
    if (mpq_equal(r->lo, r->hi)) return p_sign(q, r->lo);
  }
  return sign;
}

/* Rounded to double. */
static double r_value(root *r)
{
  mpq_t width, enough;
  mpq_inits(width, enough, NULL);
  mpq_set_d(enough, 0x1p-53);
  for (mpq_sub(width, r->hi, r->lo); mpq_cmp(width, enough) > 0; mpq_sub(width, r->hi, r->lo))
    r_bisect(r);
  const double t = mpq_get_d(r->hi);
  mpq_clears(width, enough, NULL);
  return t;
}

/* Roots of the square-free p in the open interval, ascending. */
static int isolate_roots(const poly *p, const mpq_t lo, const mpq_t hi, root *out, int num)
{
  int unused;
  const int changes = p_variations(p, lo, hi, &unused);
  if (changes == 0) return num;
  if (changes == 1) {
    out[num].p = p;
    mpq_set(out[num].lo, lo);
    mpq_set(out[num].hi, hi);
    return num + 1;
  }
  mpq_t mid, half;
  mpq_inits(mid, half, NULL);
  mpq_set_ui(half, 1, 2);
  mpq_add(mid, lo, hi);
  mpq_mul(mid, mid, half);
  num = isolate_roots(p, lo, mid, out, num);
  if (p_sign(p, mid) == 0) {
    out[num].p = p;
    r_exact(&out[num++], mid);
  }
  num = isolate_roots(p, mid, hi, out, num);
  mpq_clears(mid, half, NULL);
  return num;
}

/* Roots in [0,1], ascending; p square-free and not 0. */
static int roots_of(const poly *p, root *out)
{
  mpq_t zero, one;
  int num = 0;
  mpq_inits(zero, one, NULL);
  mpq_set_ui(one, 1, 1);
  if (p_sign(p, zero) == 0) {
    out[num].p = p;
    r_exact(&out[num++], zero);
  }
  num = isolate_roots(p, zero, one, out, num);
  if (p_sign(p, one) == 0) {
    out[num].p = p;
    r_exact(&out[num++], one);
  }
  mpq_clears(zero, one, NULL);
  return num;
}

/* ---- geometry ---- */
typedef struct motion {
  int kind;
  poly x[4][3]; /* linear in t */
} motion;

/* out = (b - a) x (d - c), component k of the cross product */
static void cross_motion(poly *out, motion *m, int k, int a, int b, int c, int d)
{
  const int u = (k + 1) % 3, v = (k + 2) % 3;
  poly e[4];
  for (int i = 0; i < 4; ++i) p_open(&e[i]);
  p_sub(&e[0], &m->x[b][u], &m->x[a][u]);
  p_sub(&e[1], &m->x[d][v], &m->x[c][v]);
  p_sub(&e[2], &m->x[b][v], &m->x[a][v]);
  p_sub(&e[3], &m->x[d][u], &m->x[c][u]);
  p_zero(out);
  p_add_product(out, 1, &e[0], &e[1]);
  p_add_product(out, -1, &e[2], &e[3]);
  for (int i = 0; i < 4; ++i) p_close(&e[i]);
}

/* out = (p - a) . (p - b): at most 0 between a and b on their line */
static void between_motion(poly *out, motion *m, int p, int a, int b)
{
  poly e[2];
  p_open(&e[0]), p_open(&e[1]);
  p_zero(out);
  for (int k = 0; k < 3; ++k) {
    p_sub(&e[0], &m->x[p][k], &m->x[a][k]);
    p_sub(&e[1], &m->x[p][k], &m->x[b][k]);
    p_add_product(out, 1, &e[0], &e[1]);
  }
  p_close(&e[0]), p_close(&e[1]);
}

static void coplanarity_cubic(poly *f, motion *m)
{
  poly n, e;
  const int first = m->kind == ORACLE_VT ? 1 : 2;
  p_open(&n), p_open(&e);
  p_zero(f);
  for (int k = 0; k < 3; ++k) {
    if (m->kind == ORACLE_VT)
      cross_motion(&n, m, k, 1, 2, 1, 3);
    else
      cross_motion(&n, m, k, 0, 1, 2, 3);
    p_sub(&e, &m->x[0][k], &m->x[first][k]);
    p_add_product(f, 1, &n, &e);
  }
  p_close(&n), p_close(&e);
}

static int on_edge(motion *m, root *r, int p, int a, int b)
{
  poly q;
  int on = 1;
  p_open(&q);
  for (int k = 0; k < 3 && on; ++k) {
    cross_motion(&q, m, k, a, b, a, p);
    on = r_sign(r, &q) == 0;
  }
  if (on) {
    between_motion(&q, m, p, a, b);
    on = r_sign(r, &q) <= 0;
  }
  p_close(&q);
  return on;
}

static const int vertex_edges[2][4][3] = {{{0, 1, 2}, {0, 2, 3}, {0, 3, 1}, {0, 0, 0}},
                                          {{0, 2, 3}, {1, 2, 3}, {2, 0, 1}, {3, 0, 1}}};

/* In contact at a time r at which the four points are coplanar. */
static int contact_at(motion *m, root *r)
{
  const int vt = m->kind == ORACLE_VT;
  poly q;
  int sn = 0, k = 0, hit = 1, s[4];
  p_open(&q);
  for (; k < 3; ++k) {
    cross_motion(&q, m, k, vt ? 1 : 0, vt ? 2 : 1, vt ? 1 : 2, 3);
    sn = r_sign(r, &q);
    if (sn != 0) break;
  }
  if (sn == 0) { /* a degenerate triangle or parallel edges: only boundaries can meet */
    hit = 0;
    for (int i = 0; i < (vt ? 3 : 4) && !hit; ++i)
      hit = on_edge(m, r, vertex_edges[vt ? 0 : 1][i][0], vertex_edges[vt ? 0 : 1][i][1],
                    vertex_edges[vt ? 0 : 1][i][2]);
  } else if (vt) { /* projected along axis k: on the inner side of all sides */
    for (int i = 0; i < 3 && hit; ++i) {
      cross_motion(&q, m, k, 1 + i, 1 + (i + 1) % 3, 1 + i, 0);
      hit = sn * r_sign(r, &q) >= 0;
    }
  } else { /* the ends of each edge on both sides of the other */
    for (int i = 0; i < 4; ++i) {
      const int e = i < 2 ? 0 : 2, p = i < 2 ? 2 + i : i - 2;
      cross_motion(&q, m, k, e, e + 1, e, p);
      s[i] = r_sign(r, &q);
    }
    hit = s[0] * s[1] <= 0 && s[2] * s[3] <= 0;
  }
  p_close(&q);
  return hit;
}

/* First time in [0,1] at which vertex p lies on edge a b, if they are coplanar with the rest at
 * all times; 2 if never. */
static double meets_edge(motion *m, int p, int a, int b)
{
  poly g, q, h;
  root r[MAX_ROOTS];
  double first = 2.0;
  p_open(&g), p_open(&q), p_open(&h);
  for (int i = 0; i < MAX_ROOTS; ++i) r_open(&r[i]);
  for (int k = 0; k < 3; ++k) {
    cross_motion(&q, m, k, a, b, a, p);
    p_gcd(&h, &g, &q);
    p_set(&g, &h);
  }
  if (g.degree < 0)
    between_motion(&g, m, p, a, b); /* always in one line: when it enters the edge */
  if (g.degree >= 0) {
    p_square_free(&h, &g);
    const int num = roots_of(&h, r);
    for (int i = 0; i < num && first > 1.0; ++i)
      if (on_edge(m, &r[i], p, a, b)) first = r_value(&r[i]);
  } else {
    first = 0.0;
  }
  for (int i = 0; i < MAX_ROOTS; ++i) r_close(&r[i]);
  p_close(&g), p_close(&q), p_close(&h);
  return first;
}

static double coplanar_contact(motion *m)
{
  const int vt = m->kind == ORACLE_VT;
  root start;
  r_open(&start); /* t = 0 */
  double first = contact_at(m, &start) ? 0.0 : 2.0;
  r_close(&start);
  for (int i = 0; i < (vt ? 3 : 4) && first > 0.0; ++i) {
    const int *e = vertex_edges[vt ? 0 : 1][i];
    const double t = meets_edge(m, e[0], e[1], e[2]);
    first = t < first ? t : first;
  }
  return first;
}

int oracle_contact_q(int kind, mpq_t *x0, mpq_t *x1, double *first)
{
  motion m;
  poly f, s;
  root r[MAX_ROOTS];
  double t = 2.0;
  m.kind = kind;
  p_open(&f), p_open(&s);
  for (int i = 0; i < MAX_ROOTS; ++i) r_open(&r[i]);
  for (int i = 0; i < 12; ++i) {
    poly *p = &m.x[i / 3][i % 3];
    p_open(p);
    mpq_set(p->c[0], x0[i]);
    mpq_sub(p->c[1], x1[i], x0[i]);
    p_trim(p, 1);
  }
  coplanarity_cubic(&f, &m);
  if (f.degree < 0) {
    t = coplanar_contact(&m);
  } else {
    p_square_free(&s, &f);
    const int num = roots_of(&s, r);
    for (int i = 0; i < num && t > 1.0; ++i)
      if (contact_at(&m, &r[i])) t = r_value(&r[i]);
  }
  for (int i = 0; i < 12; ++i) p_close(&m.x[i / 3][i % 3]);
  for (int i = 0; i < MAX_ROOTS; ++i) r_close(&r[i]);
  p_close(&f), p_close(&s);
  if (t <= 1.0 && first != NULL) *first = t;
  return t <= 1.0;
}

int oracle_contact_exact(int kind, const double *x0, const double *x1, double *first)
{
  mpq_t q[24];
  for (int i = 0; i < 24; ++i) {
    mpq_init(q[i]);
    mpq_set_d(q[i], i < 12 ? x0[i] : x1[i - 12]);
  }
  const int hit = oracle_contact_q(kind, q, q + 12, first);
  for (int i = 0; i < 24; ++i) mpq_clear(q[i]);
  return hit;
}
