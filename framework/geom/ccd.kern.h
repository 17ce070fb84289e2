/* ccd.kern.h - time of impact of vertex-triangle and edge-edge pairs that move linearly.
 *
 * ccd_toi() advances t from 0 by certified steps: with every method the distance stays above xi
 * until the returned time.  The methods differ in the step:
 *   CCD_ADDITIVE  the closest points at t give a direction along which the pair stays separated
 *                 for a step that is known exactly (B. Mirtich 1996, conservative advancement;
 *                 M. Li et al., Codimensional IPC, ACM TOG 40(4), 2021, section 5, bounds the
 *                 motion by its largest speed, which is never longer)
 *   CCD_CUBIC     first the first root of the coplanarity cubic, on its monotone pieces
 *   CCD_NEWTON    first steps f / min f', which cannot pass the first root of the cubic
 *                 (C. Yuksel 2022, High-performance polynomial root finding; the demo of
 *                 L. Lan et al., Penetration-free projective dynamics, 2022)
 * DEVIATION: the cubic methods verify a root by additive steps from it instead of an inside test
 * with a tolerance, so near-coplanar motion, where all times are roots, needs no special case.
 * When steps along fixed directions get short (sliding and rolling at a tiny gap), directions
 * that follow a feature take over.  A pair that is not decided after a bounded number of steps is
 * within the gap of ccd_gap_of() and reported as an impact.  No method misses an impact.
 */
#ifndef LOOM_CCD_KERN_H
#define LOOM_CCD_KERN_H

#include "geom/ccd_cubic.kern.h"
#include "geom/ccd_pair.kern.h"

enum { CCD_ADDITIVE = 0, CCD_CUBIC = 1, CCD_NEWTON = 2 };
#define CCD_METHODS "additive|cubic|newton" /* choices of a plugin's parameter `ccd` */

#define CCD_NONE LK_R(2.0) /* no impact, as loom_pairs.toi */

typedef struct ccd_settings {
  lk_real xi;        /* m, distance at which an impact counts */
  lk_real eta;       /* share of the gap (cubic methods: also of the time) that is kept */
  lk_real tolerance; /* cubic methods: a gap below tolerance times the pair's size is impact */
  lk_real base;      /* m, at most xi: a pair that starts below xi ... */
  lk_real hold;      /* ... keeps this share of its distance above base, of its whole distance where
                        base is 0, and base itself where it starts within rounding of it; 0: it is an
                        impact at t = 0 */
  int32_t max_steps; /* along fixed directions; then ones that follow a feature */
} ccd_settings;

/* The gap is the distance less xi.  An impact is reported when it falls below `stop`; steps leave
 * at least `keep`. */
typedef struct ccd_gap {
  lk_real xi, keep, stop;
} ccd_gap;

#define CCD_IMPACT_KEEP LK_R(0.1) /* eta of ccd_impact() */

enum { CCD_FOLLOW_STEPS = 64, CCD_FOLLOW_HALVINGS = 12 };

LK_FN ccd_settings ccd_defaults(void)
{
  ccd_settings s;
  s.xi = LK_R(0.0);
  s.base = LK_R(0.0);
  s.eta = LK_R(0.1);
  s.tolerance = LK_R(1e-6);
  s.hold = LK_R(0.999);
  s.max_steps = 32;
  return s;
}

/* A pair that starts above xi, by however little, never falls below it.  A pair that starts below
 * xi, or within rounding of it, is held: with hold < 1 it can neither be locked at t = 0 for ever
 * while it slides, nor creep closer by the factor eta per call.  The distance that it may lose has
 * to be much larger than rounding; a pair barely above base, and no more than that, may reach it.
 */
LK_FN ccd_gap ccd_gap_of(const ccd_settings *s, int method, const ccd_pair *P, lk_real d0)
{
  ccd_gap g;
  const int below = !(d0 - s->xi > LK_R(64.0) * P->err);
  const lk_real above = d0 - s->base;
  const int from_base = (LK_R(1.0) - s->hold) * above > LK_R(64.0) * P->err;
  const lk_real rest = s->base > LK_R(0.0) ? s->base : s->hold * d0;
  const lk_real held = from_base ? s->base + s->hold * above : rest;
  g.xi = below && s->hold > LK_R(0.0) ? held : s->xi;
  lk_real keep = s->eta * (d0 - g.xi);
  if (method != CCD_ADDITIVE) keep = s->tolerance * P->size < keep ? s->tolerance * P->size : keep;
  g.keep = keep > LK_R(2.0) * P->err ? keep : LK_R(2.0) * P->err;
  g.stop = LK_R(1.2) * g.keep;
  if (g.stop < LK_R(4.0) * P->err) g.stop = LK_R(4.0) * P->err;
  return g;
}

/* The direction in which the closest points at x lie apart, with its length. */
LK_FN lk_real ccd_separating(int kind, const lk_real *x, const lk_real *w, lk_real d, lk_real size,
                             lk_real *n)
{
  ccd_direction D;
  ccd_closest_vector(x, w, n);
  if (d > LK_R(1e-4) * size) return lk_norm3(n);
  /* Nearly touching: the difference of the closest points has digits left for its length but
   * not for its direction; that comes from the features they lie on. */
  const int zeros =
      (w[0] == LK_R(0.0)) + (w[1] == LK_R(0.0)) + (w[2] == LK_R(0.0)) + (w[3] == LK_R(0.0));
  int k = 0;
  if (zeros > 1) return lk_norm3(n); /* two vertices: their difference is exact */
  if (zeros == 1 && kind == CCD_VT) k = w[3] == LK_R(0.0) ? 1 : w[1] == LK_R(0.0) ? 2 : 3;
  if (zeros == 1 && kind == CCD_EE) k = w[2] == LK_R(0.0) || w[3] == LK_R(0.0) ? 1 : 2;
  (void)ccd_follow(kind, k, x, w, &D);
  ccd_frozen(&D, x, n);
  return lk_norm3(n);
}

/* From t on with directions that follow a feature; the time of impact or CCD_NONE. */
LK_FN lk_real ccd_following(const ccd_pair *P, lk_real t, const ccd_gap *gap)
{
  lk_real x[12], y[12], w[4];
  ccd_direction D;
  for (int k = 0; k < CCD_FOLLOW_STEPS; ++k) {
    ccd_at(P, t, x);
    const lk_real d = LK_SQRT(ccd_distance2(P->kind, x, w));
    if (!(d - gap->xi > gap->stop)) return t;
    lk_real best = LK_R(0.0);
    for (int c = 0; c < CCD_NUM_DIRECTIONS; ++c) {
      if (!ccd_follow(P->kind, c, x, w, &D)) continue;
      lk_real h = LK_R(1.0) - t;
      for (int q = 0; q < CCD_FOLLOW_HALVINGS && h > best; ++q, h *= LK_R(0.25)) {
        ccd_at(P, t + h, y);
        if (ccd_separated(P, &D, x, y, gap->xi + gap->keep)) best = h;
      }
    }
    if (t + best >= LK_R(1.0)) return CCD_NONE;
    if (!(best > LK_R(0.0))) return t;
    t += best;
  }
  return t;
}

/* The loop of all methods: time up to which the distance is certified to stay above xi. */
LK_FN lk_real ccd_advance(int method, const ccd_pair *P, const ccd_settings *s)
{
  lk_real x[12], w[4], n[3], t = LK_R(0.0);
  ccd_gap gap;
  ccd_cubic C;
  gap.xi = gap.keep = gap.stop = LK_R(0.0);
  for (int k = 0; k < s->max_steps; ++k) {
    ccd_at(P, t, x);
    const lk_real d = LK_SQRT(ccd_distance2(P->kind, x, w));
    if (k == 0) {
      gap = ccd_gap_of(s, method, P, d);
      if (method != CCD_ADDITIVE) ccd_cubic_open(P, gap.xi + gap.keep, &C);
    }
    if (!(d - gap.xi > gap.stop)) return t; /* also if anything is not a number */
    if (method != CCD_ADDITIVE) {
      const lk_real next =
          method == CCD_CUBIC ? ccd_cubic_next(&C, t) : ccd_newton_next(&C, t, s->tolerance);
      if (next >= LK_R(1.0)) return CCD_NONE;
      if (next > t + s->tolerance) {
        t = next;
        continue;
      }
    }
    const lk_real len = ccd_separating(P->kind, x, w, d, P->size, n);
    const lk_real step = ccd_fixed_step(P, x, n, len, gap.xi + gap.keep);
    if (t + step >= LK_R(1.0)) return CCD_NONE;
    if (!(step > LK_R(0.0))) break;
    t += step;
  }
  return ccd_following(P, t, &gap);
}

/* Time of impact in [0,1], CCD_NONE without; x0, x1: real [4][3], m, at t = 0 and 1. */
LK_FN lk_real ccd_toi(int method, int kind, const lk_real *x0, const lk_real *x1,
                      const ccd_settings *s)
{
  ccd_pair P;
  ccd_open(kind, x0, x1, &P);
  const lk_real t = ccd_advance(method, &P, s);
  return method == CCD_ADDITIVE || t >= CCD_NONE ? t : (LK_R(1.0) - s->eta) * t;
}

/* The same for queries that ask whether there is an impact at all.  A step bound is safe because
 * its method keeps a share of the gap; in a query this share would turn a pair that passes nearby
 * into an impact.  So queries have one method for all settings: up to the root of the cubic,
 * verified by additive steps, until the distance is within 1e-6 of the pair's size of xi, or a
 * tenth of the gap where that is less.  The result is the time of the impact itself. */
LK_FN lk_real ccd_impact(int kind, const lk_real *x0, const lk_real *x1, const ccd_settings *s)
{
  ccd_settings exact = *s;
  ccd_pair P;
  exact.eta = CCD_IMPACT_KEEP;
  ccd_open(kind, x0, x1, &P);
  return ccd_advance(CCD_CUBIC, &P, &exact);
}

#endif
