/* rod.kern.h - discrete elastic rods (Bergou et al. 2008 and 2010) on three vertices x_-, x_0,
 * x_+ with the edges e^0 = x_0 - x_- and e^1 = x_+ - x_0.
 *
 *   kb  = 2 e^0 x e^1 / (l0 l1 + e^0.e^1)               curvature binormal, rest lengths l
 *   m1  = cos theta u + sin theta v,  m2 = -sin theta u + cos theta v,  v = t x u
 *   w^j = (kb.m2^j, -kb.m1^j),  j = 0, 1
 *   m   = theta^1 - theta^0 + mref - mbar               twist
 *
 * u^j is the reference frame of edge j, carried along in time: rest data hold it at a tangent
 * t^j of the past, from which it is parallel transported to the present one.  mref is the angle
 * about t^1 from u^0, transported to t^1, to u^1, continued from the value in the rest data.
 * So both energies are functions of x alone while theta and the stored frames stand still, and
 * rod_state (rod.h) moves the frames on after every step.
 *
 * yarn_bend:   E = k_b/(2 L) sum_j |w^j - wbar^j|^2,   yarn_twist:   E = k_t m^2/L,   L = l0 + l1
 */
#ifndef LOOM_ELEM_ROD_KERN_H
#define LOOM_ELEM_ROD_KERN_H

#include "elements/elements.h"
#include "geom/small.kern.h"

/* Rest data, the same rows for both types; the numbers after ROD_MREF change in time. */
enum {
  ROD_LENGTH = 0, /* [2] m, rest lengths l0, l1 */
  ROD_MBAR = 2,   /* rad, twist of the rest shape's reference frames */
  ROD_WBAR = 3,   /* [2][2], 1, rest curvatures wbar^0, wbar^1 */
  ROD_MREF = 7,   /* rad */
  ROD_FRAME = 8,  /* [2] of { t[3], u[3], theta rad } */
  ROD_FRAME_LEN = 7,
  ROD_REST = 22
};

typedef struct rod {
  lk_real e[2][3]; /* m */
  lk_real len[2];  /* m, present lengths */
  lk_real t[2][3]; /* tangents */
  lk_real u[2][3]; /* reference frames at these tangents */
  lk_real v[2][3];
  lk_real kb[3]; /* 1 */
  lk_real den;   /* m^2 */
} rod;

/* out = u, perpendicular to a, transported to b */
LK_FN void rod_transport(const lk_real *u, const lk_real *a, const lk_real *b, lk_real *out)
{
  lk_real n[3], nu[3];
  const lk_real c = lk_dot3(a, b);
  lk_cross3(a, b, n);
  lk_cross3(n, u, nu);
  /* opposite tangents have no shortest way between them: any will do */
  const lk_real f = lk_dot3(n, u) / LK_FMAX(LK_R(1.0) + c, LK_EPSILON);
  for (int k = 0; k < 3; ++k) out[k] = c * u[k] + nu[k] + f * n[k];
}

/* Perpendicular to t and of length 1 again. */
LK_FN void rod_straighten(const lk_real *t, lk_real *u)
{
  const lk_real p = lk_dot3(u, t);
  for (int k = 0; k < 3; ++k) u[k] -= p * t[k];
  const lk_real s = LK_R(1.0) / LK_SQRT(lk_dot3(u, u));
  for (int k = 0; k < 3; ++k) u[k] *= s;
}

/* q from three vertices and a row of rest data. */
LK_FN void rod_load(const lk_real *x, const int32_t *verts, const lk_real *rest, rod *q)
{
  lk_real X[3][3];
  for (int a = 0; a < 3; ++a) LK_LOAD3(X[a], x, verts[a]);
  for (int j = 0; j < 2; ++j) {
    const lk_real *f = rest + ROD_FRAME + ROD_FRAME_LEN * j;
    lk_real e[3];
    lk_sub3(X[j + 1], X[j], e);
    /* without a direction of its own an edge keeps the last one */
    const lk_real least = LK_EPSILON * rest[ROD_LENGTH + j], len = lk_norm3(e);
    q->len[j] = LK_FMAX(len, least);
    for (int k = 0; k < 3; ++k) {
      q->e[j][k] = e[k];
      q->t[j][k] = len > least ? e[k] / len : f[k];
    }
    rod_transport(f + 3, f, q->t[j], q->u[j]);
    lk_cross3(q->t[j], q->u[j], q->v[j]);
  }
  /* turned back on itself: kb has a pole */
  const lk_real ll = rest[ROD_LENGTH] * rest[ROD_LENGTH + 1];
  q->den = LK_FMAX(ll + lk_dot3(q->e[0], q->e[1]), LK_EPSILON * ll);
  lk_cross3(q->e[0], q->e[1], q->kb);
  for (int k = 0; k < 3; ++k) q->kb[k] *= LK_R(2.0) / q->den;
}

/* Material frame and curvature w [2] of edge j. */
LK_FN void rod_curvature(const rod *q, const lk_real *rest, int j, lk_real *m1, lk_real *m2,
                         lk_real *w)
{
  const lk_real theta = rest[ROD_FRAME + ROD_FRAME_LEN * j + 6];
  const lk_real c = LK_COS(theta), s = LK_SIN(theta);
  for (int k = 0; k < 3; ++k) {
    m1[k] = c * q->u[j][k] + s * q->v[j][k];
    m2[k] = c * q->v[j][k] - s * q->u[j][k];
  }
  w[0] = lk_dot3(q->kb, m2);
  w[1] = -lk_dot3(q->kb, m1);
}

/* The angle nearest to `last` that is a multiple of 2 pi from a. */
LK_FN lk_real rod_unwrap(lk_real a, lk_real last)
{
  const lk_real turn = LK_R(6.283185307179586);
  return a - turn * LK_FLOOR((a - last) / turn + LK_R(0.5));
}

LK_FN lk_real rod_mref(const rod *q, lk_real last)
{
  lk_real p[3];
  rod_transport(q->u[0], q->t[0], q->t[1], p);
  /* u^1 in the frame (p, t^1 x p) */
  lk_real s[3];
  lk_cross3(q->t[1], p, s);
  return rod_unwrap(LK_ATAN2(lk_dot3(q->u[1], s), lk_dot3(q->u[1], p)), last);
}

LK_FN lk_real rod_twist(const rod *q, const lk_real *rest)
{
  const lk_real *f = rest + ROD_FRAME;
  return f[ROD_FRAME_LEN + 6] - f[6] + rod_mref(q, rest[ROD_MREF]) - rest[ROD_MBAR];
}

/* Where the stored tangent a differs from t, a change of e turns the transported frame about t
 * against one transported from t itself, by the solid angle of a, t and the new tangent:
 * d psi/d e = -(a x t)/((1 + a.t) |e|) */
LK_FN void rod_turning(const rod *q, const lk_real *rest, int j, lk_real *d)
{
  const lk_real *a = rest + ROD_FRAME + ROD_FRAME_LEN * j;
  lk_cross3(a, q->t[j], d);
  const lk_real f = LK_R(-1.0) / (LK_FMAX(LK_R(1.0) + lk_dot3(a, q->t[j]), LK_EPSILON) * q->len[j]);
  for (int k = 0; k < 3; ++k) d[k] *= f;
}

/* out [3][3] from the derivatives with respect to both edges */
LK_FN void rod_scatter(const lk_real *g0, const lk_real *g1, lk_real *out)
{
  for (int k = 0; k < 3; ++k) {
    out[k] = -g0[k];
    out[3 + k] = g0[k] - g1[k];
    out[6 + k] = g1[k];
  }
}

/* ---- frames in time ---- */

typedef struct rod_args {
  const lk_real *LK_RESTRICT x;     /* [n][3] m */
  const int32_t *LK_RESTRICT verts; /* [ne][3] */
  lk_real *LK_RESTRICT rest;        /* [ne][ROD_REST] */
  const lk_real *LK_RESTRICT bend;  /* [ne][3] material of yarn_bend */
  const lk_real *LK_RESTRICT twist; /* [ne][1] material of yarn_twist, or NULL: none */
  lk_real *LK_RESTRICT flat;        /* [ne][4] kb.u^0, kb.v^0, kb.u^1, kb.v^1 */
  const int32_t *LK_RESTRICT first; /* [ny + 1] elements of yarn k: first[k] .. first[k+1]-1 */
  const unsigned char *LK_RESTRICT closed; /* [ny] */
  lk_real *LK_RESTRICT work; /* [ROD_WORK][ne + ny], columns of the tridiagonal system */
  /* Imposed twist (rod_clamps in rod.h), all three or none (NULL).  Segment j of yarn k stands at
   * first[k] + k + j. */
  const unsigned char *LK_RESTRICT held; /* [ne + ny] 1: the angle theta is prescribed */
  const lk_real *LK_RESTRICT turn;       /* [ne + ny] rad, by which a held theta grows */
  const lk_real *LK_RESTRICT slip;       /* [ne] rad, by which the twist m of a joint grows */
  int32_t stride;                        /* ne + ny */
  int32_t max_iters;
  lk_real tolerance; /* rad */
} rod_args;
enum { ROD_WORK = 6 };

LK_DECLARE(rod_frames, rod_args)  /* one index per element: frames, mref and `flat` at x */
LK_DECLARE(rod_theta, rod_args)   /* one index per yarn: dE/dtheta = 0 */
LK_DECLARE(rod_plastic, rod_args) /* one index per element: rest curvatures follow */

/* Rest lengths are `factor` times the scene's: one index per element.  wbar and mbar are
 * angles and stay, so that a yarn which has shrunk evenly has the curvature kb it had, and is at
 * rest. */
typedef struct rod_scale_args {
  lk_real *LK_RESTRICT rest;         /* [ne][ROD_REST] */
  const lk_real *LK_RESTRICT length; /* [ne][2] m, of the scene */
  lk_real factor;                    /* 1 */
} rod_scale_args;
LK_DECLARE(rod_scale, rod_scale_args)

#endif
