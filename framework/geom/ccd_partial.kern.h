/* ccd_partial.kern.h - partial continuous collision detection at sample points.
 *
 * L. Lan et al., "Efficient GPU cloth simulation with non-distance barriers and subspace reuse",
 * ACM TOG 43(6), 2024, eqs. 8 to 15.  A point P of one primitive and Q of the other, moving
 * linearly, can only meet if f = (P0 - Q0) . (P1 - Q1) <= 0 (eq. 9); the pair counts as active
 * when f(u, v) <= 0 (eq. 10) at a sample,
 *   vertex-triangle  P - Q = v - ((1 - u - w) a + u b + w c)
 *   edge-edge        P - Q = (1 - u) a0 + u a1 - (1 - w) b0 - w b1.
 * It must start free of contact.  Not a guarantee: an impact between the samples is missed unless
 * eq. 15 holds, and fast sliding can be taken for one; ccd_toi() decides about steps.
 */
#ifndef LOOM_CCD_PARTIAL_KERN_H
#define LOOM_CCD_PARTIAL_KERN_H

#include "geom/ccd_pair.kern.h"

enum {
  CCD_SAMPLES_NONE = 0, /* the projection alone */
  CCD_SAMPLES_CENTRE = 1,
  CCD_SAMPLES_3 = 3,
  CCD_SAMPLES_6 = 6,
  CCD_SAMPLES_ADAPTIVE = -1 /* the fewest that satisfy eq. 15; else 6 and the projection */
};
enum { CCD_PARTIAL_FREE = 0, CCD_PARTIAL_ACTIVE = 1, CCD_PARTIAL_CERTAIN = 2 /* eq. 15 held */ };

typedef struct ccd_partial_settings {
  int32_t samples;    /* CCD_SAMPLES_* */
  int32_t projection; /* 1: also at the closest points of the start */
  lk_real eta;        /* eq. 14: the latest time of impact that must be seen, in (0,1) */
} ccd_partial_settings;

/* Sample (u, w) number k of the set of 1, 3 or 6.  The 6 of the triangle were
 * searched for a small sample interval. */
LK_FN void ccd_sample(int kind, int samples, int k, lk_real *u, lk_real *w)
{
  const lk_real third = LK_R(1.0) / LK_R(3.0), sixth = LK_R(1.0) / LK_R(6.0);
  if (samples == CCD_SAMPLES_CENTRE) {
    *u = *w = kind == CCD_VT ? third : LK_R(0.5);
  } else if (samples == CCD_SAMPLES_3 && kind == CCD_VT) {
    *u = k == 1 ? LK_R(4.0) * sixth : sixth;
    *w = k == 2 ? LK_R(4.0) * sixth : sixth;
  } else if (samples == CCD_SAMPLES_3) {
    *u = k == 0 ? LK_R(0.5) : k == 1 ? LK_R(0.19) : LK_R(0.81);
    *w = k == 0 ? LK_R(0.19) : LK_R(0.81);
  } else if (kind == CCD_VT) {
    const lk_real su[6] = {LK_R(0.4),   LK_R(0.112), LK_R(0.829),
                           LK_R(0.513), LK_R(0.1),   LK_R(0.187)};
    const lk_real sw[6] = {LK_R(0.483), LK_R(0.813), LK_R(0.101),
                           LK_R(0.188), LK_R(0.413), LK_R(0.1)};
    *u = su[k];
    *w = sw[k];
  } else {
    *u = ((lk_real)(2 * (k % 3)) + LK_R(1.0)) * sixth;
    *w = k < 3 ? LK_R(0.25) : LK_R(0.75);
  }
}

/* The sample interval r_S: no point of the domain is farther than this from a sample. */
LK_FN lk_real ccd_sample_interval(int kind, int samples)
{
  if (samples == CCD_SAMPLES_CENTRE) return kind == CCD_VT ? LK_R(0.7454) : LK_R(0.7072);
  if (samples == CCD_SAMPLES_3) return kind == CCD_VT ? LK_R(0.3727) : LK_R(0.5349);
  return kind == CCD_VT ? LK_R(0.2287) : LK_R(0.3005);
}

/* The vectors of P - Q = p + u e + w h at one end of the interval. */
LK_FN void ccd_partial_vectors(int kind, const lk_real *x, lk_real *p, lk_real *e, lk_real *h)
{
  const int vt = kind == CCD_VT;
  lk_sub3(x, x + (vt ? 3 : 6), p);
  lk_sub3(x + 3, x + (vt ? 6 : 0), e); /* a - b or a1 - a0 */
  lk_sub3(x + (vt ? 3 : 6), x + 9, h); /* a - c or b0 - b1 */
}

/* Largest length in which the vertices of one side and of the other differ, squared, and the
 * largest edge of either side, squared. */
LK_FN void ccd_partial_extent(int kind, const lk_real *x, lk_real *far2, lk_real *edge2)
{
  const int first = kind == CCD_VT ? 1 : 2;
  lk_real r[3];
  for (int i = 0; i < 4; ++i)
    for (int j = i + 1; j < 4; ++j) {
      lk_sub3(x + 3 * i, x + 3 * j, r);
      const lk_real q = lk_dot3(r, r);
      lk_real *const out = i < first && j >= first ? far2 : edge2;
      *out = q > *out ? q : *out;
    }
}

/* Eq. 15: r_bar = (1 - eta)/eta d0^2 / (2 sqrt(2) L D). */
LK_FN lk_real ccd_partial_threshold(int kind, const lk_real *x0, const lk_real *x1, lk_real eta,
                                    lk_real d0_squared)
{
  lk_real far2 = LK_R(0.0), edge2 = LK_R(0.0);
  ccd_partial_extent(kind, x0, &far2, &edge2);
  ccd_partial_extent(kind, x1, &far2, &edge2);
  return (LK_R(1.0) - eta) / eta * d0_squared / LK_SQRT(LK_R(8.0) * edge2 * far2);
}

/* f <= 0 at one of the samples of the set */
LK_FN int ccd_partial_samples(int kind, int samples, const lk_real *x0, const lk_real *x1)
{
  lk_real p0[3], e0[3], h0[3], p1[3], e1[3], h1[3];
  int active = 0;
  ccd_partial_vectors(kind, x0, p0, e0, h0);
  ccd_partial_vectors(kind, x1, p1, e1, h1);
  for (int k = 0; k < samples; ++k) {
    lk_real u, w, f = LK_R(0.0);
    ccd_sample(kind, samples, k, &u, &w);
    LK_UNROLL
    for (int c = 0; c < 3; ++c)
      f += (p0[c] + u * e0[c] + w * h0[c]) * (p1[c] + u * e1[c] + w * h1[c]);
    active |= f <= LK_R(0.0);
  }
  return active;
}

/* f <= 0 for given weights W (distance.kern.h) of the closest points */
LK_FN int ccd_partial_at(const lk_real *x0, const lk_real *x1, const lk_real *weights)
{
  lk_real f = LK_R(0.0);
  LK_UNROLL
  for (int c = 0; c < 3; ++c) { /* relative to vertex 0: the weights add up to 0 */
    lk_real r0 = LK_R(0.0), r1 = LK_R(0.0);
    LK_UNROLL
    for (int i = 1; i < 4; ++i) {
      r0 += weights[i] * (x0[3 * i + c] - x0[c]);
      r1 += weights[i] * (x1[3 * i + c] - x1[c]);
    }
    f += r0 * r1;
  }
  return f <= LK_R(0.0);
}

/* CCD_PARTIAL_* flags of a pair that moves from x0 to x1, real [4][3], m.  weights: of the closest
 * points at x0 where they are known, else NULL. */
LK_FN int ccd_partial(int kind, const lk_real *x0, const lk_real *x1, const lk_real *weights,
                      const ccd_partial_settings *s)
{
  lk_real w[4], d2 = LK_R(0.0);
  const int adaptive = s->samples == CCD_SAMPLES_ADAPTIVE;
  const lk_real *use = weights;
  int samples = s->samples, certain = 0, projection = s->projection;
  if (adaptive || (projection && weights == NULL)) {
    d2 = ccd_distance2(kind, x0, w);
    use = w;
  }
  if (adaptive) {
    const lk_real threshold = ccd_partial_threshold(kind, x0, x1, s->eta, d2);
    samples = CCD_SAMPLES_CENTRE;
    if (!(ccd_sample_interval(kind, samples) < threshold)) samples = CCD_SAMPLES_3;
    if (!(ccd_sample_interval(kind, samples) < threshold)) samples = CCD_SAMPLES_6;
    certain = ccd_sample_interval(kind, samples) < threshold;
    projection = projection || !certain;
  }
  int active = ccd_partial_samples(kind, samples, x0, x1);
  if (projection && !active) active = ccd_partial_at(x0, x1, use);
  return (active ? CCD_PARTIAL_ACTIVE : 0) | (certain ? CCD_PARTIAL_CERTAIN : 0);
}

#endif
