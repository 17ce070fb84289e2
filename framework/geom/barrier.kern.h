/* barrier.kern.h - the barrier of incremental potential contact and its mollifier.
 *
 * M. Li et al., "Incremental potential contact", ACM TOG 39(4), 2020,
 * doi 10.1145/3386569.3392425, eq. 6 and section 4; thickness: M. Li, D. M. Kaufman, C. Jiang,
 * "Codimensional incremental potential contact", ACM TOG 40(4), 2021,
 * doi 10.1145/3450626.3459767, section 5.  Both codes use the squared distance D:
 *   s = D - xi^2,   s_hat = (d_hat + xi)^2 - xi^2 = d_hat^2 + 2 d_hat xi   [m^2]
 * with the thickness xi (sum of both radii) and the gap d_hat at which the force begins.
 * DEVIATION: theirs is -kappa (s - s_hat)^2 ln(s / s_hat) with kappa in J/m^4; here z = s / s_hat,
 *   b = kappa d_hat^2 g(z),   g(z) = -(z - 1)^2 ln z   for 0 < z < 1, else 0,
 * so that kappa is a stiffness in N/m that means the same for every d_hat and xi.
 * g is twice continuously differentiable at z = 1 and infinite at z = 0.
 *
 * The second form takes the gap itself, z = (d - xi) / d_hat with d = sqrt(D):
 *   b = kappa d_hat^2 g(z) = -kappa (d - xi - d_hat)^2 ln((d - xi) / d_hat).
 * It is the one of projective solvers: with the weight w of barrier_weight() the quadratic
 * w/2 (d - xi - d_hat)^2 with frozen w has the same derivative. */
#ifndef LOOM_BARRIER_KERN_H
#define LOOM_BARRIER_KERN_H

#include "geom/small.kern.h"
#include "loom/kernel.h"

/* g and its first two derivatives at 0 < z < 1 */
LK_FN lk_real barrier_g(lk_real z) { return -(z - LK_R(1.0)) * (z - LK_R(1.0)) * LK_LOG(z); }

LK_FN lk_real barrier_g1(lk_real z)
{
  const lk_real y = z - LK_R(1.0);
  return -y * (LK_R(2.0) * LK_LOG(z) + y / z);
}

LK_FN lk_real barrier_g2(lk_real z)
{
  const lk_real q = (z - LK_R(1.0)) / z;
  return -(LK_R(2.0) * LK_LOG(z) + LK_R(4.0) * q - q * q);
}

enum { BARRIER_SQUARED = 0, BARRIER_DISTANCE = 1 };

/* One pair: squares of lengths, and the factor of g. */
typedef struct barrier_law {
  lk_real xi2;   /* m^2, xi^2 */
  lk_real s_hat; /* m^2 */
  lk_real scale; /* J, kappa d_hat^2 */
  lk_real d_hat; /* m; 0: BARRIER_SQUARED */
  lk_real xi;    /* m */
} barrier_law;

LK_FN void barrier_law_of(lk_real kappa, lk_real d_hat, lk_real xi, barrier_law *b)
{
  b->xi2 = xi * xi;
  b->s_hat = d_hat * (d_hat + LK_R(2.0) * xi);
  b->scale = kappa * d_hat * d_hat;
  b->d_hat = LK_R(0.0);
  b->xi = xi;
}

LK_FN void barrier_law_distance(lk_real kappa, lk_real d_hat, lk_real xi, barrier_law *b)
{
  barrier_law_of(kappa, d_hat, xi, b);
  b->d_hat = d_hat;
}

/* z; the gap is D - xi^2 over d + xi, without cancellation, and 1 at most where rounding says
 * a little more */
LK_FN lk_real barrier_z(const barrier_law *b, lk_real D)
{
  const lk_real s = D - b->xi2;
  if (!(b->d_hat > LK_R(0.0))) return s / b->s_hat;
  const lk_real z = s / ((LK_SQRT(D) + b->xi) * b->d_hat);
  return z > LK_R(1.0) ? LK_R(1.0) : z; /* NaN stays */
}

/* b, J; b' = db/dD, N/m; b'' , N/m^3, of an active pair */
LK_FN lk_real barrier_value(const barrier_law *b, lk_real D)
{
  return b->scale * barrier_g(barrier_z(b, D));
}
LK_FN lk_real barrier_slope(const barrier_law *b, lk_real D)
{
  const lk_real z = barrier_z(b, D);
  if (!(b->d_hat > LK_R(0.0))) return b->scale / b->s_hat * barrier_g1(z);
  return b->scale * barrier_g1(z) / (LK_R(2.0) * LK_SQRT(D) * b->d_hat);
}
LK_FN lk_real barrier_curvature(const barrier_law *b, lk_real D)
{
  const lk_real z = barrier_z(b, D);
  if (!(b->d_hat > LK_R(0.0))) return b->scale / (b->s_hat * b->s_hat) * barrier_g2(z);
  const lk_real z1 = LK_R(0.5) / (LK_SQRT(D) * b->d_hat); /* dz/dD; d2z/dD2 = -z1 / 2D */
  return b->scale * z1 * (barrier_g2(z) * z1 - LK_R(0.5) * barrier_g1(z) / D);
}

/* ---- as a quadratic term, for BARRIER_DISTANCE: N/m ---- */
/* The weight with which a target at the gap d_hat pulls with the force of the barrier,
 *   w (d_hat - gap) = -db/dd,   w = kappa (-2 ln z + (1 - z) / z). */
LK_FN lk_real barrier_weight(const barrier_law *b, lk_real D)
{
  const lk_real z = barrier_z(b, D);
  return b->scale / (b->d_hat * b->d_hat) * (LK_R(-2.0) * LK_LOG(z) + (LK_R(1.0) - z) / z);
}

/* d2b/dd2: more than the weight */
LK_FN lk_real barrier_curvature_d(const barrier_law *b, lk_real D)
{
  return b->scale / (b->d_hat * b->d_hat) * barrier_g2(barrier_z(b, D));
}

/* ---- edges that are nearly parallel ---- */
/* Their distance has a kink where they are parallel, so the barrier is multiplied by
 *   m(c) = (2 - c/e) c/e   for c < e, else 1,   c = |u x v|^2,   e = 1e-3 |U|^2 |V|^2   [m^4]
 * (Li et al. 2020, section 5 of the supplement) with the edges u, v and their rest lengths.
 *
 *      crossing: the closest points            nearly parallel: the closest points
 *      move with the edges                     jump from end to end as the edges turn
 *
 *            v                                    o--------------o  v
 *             \                                   :              :
 *       u -----:---- u     m = 1                  o--------------o  u      m -> 0
 *               \
 *                v
 *
 *      m(c)  1 |        .--------     slope 2/e at c = 0, slope 0 at c = e
 *              |     .'
 *              |   /
 *            0 +--'------+-------- c
 *              0         e                                                             */
#define BARRIER_PARALLEL LK_R(1e-3)

LK_FN lk_real mollifier_value(lk_real c, lk_real e)
{
  return c < e ? (LK_R(2.0) - c / e) * (c / e) : LK_R(1.0);
}
LK_FN lk_real mollifier_slope(lk_real c, lk_real e)
{
  return c < e ? LK_R(2.0) * (LK_R(1.0) - c / e) / e : LK_R(0.0);
}
LK_FN lk_real mollifier_curvature(lk_real c, lk_real e)
{
  return c < e ? LK_R(-2.0) / (e * e) : LK_R(0.0);
}

/* c of the edges x[0] x[1] and x[2] x[3]; x real [4][3], m. */
LK_FN lk_real mollifier_cross(const lk_real *x)
{
  lk_real u[3], v[3], w[3];
  lk_sub3(x + 3, x, u);
  lk_sub3(x + 9, x + 6, v);
  lk_cross3(u, v, w);
  return lk_dot3(w, w);
}

/* dc/dx, real [4][3], m^3 */
LK_FN void mollifier_cross_gradient(const lk_real *x, lk_real *g)
{
  lk_real u[3], v[3];
  lk_sub3(x + 3, x, u);
  lk_sub3(x + 9, x + 6, v);
  const lk_real uu = lk_dot3(u, u), vv = lk_dot3(v, v), uv = lk_dot3(u, v);
  for (int c = 0; c < 3; ++c) {
    g[3 + c] = LK_R(2.0) * (vv * u[c] - uv * v[c]);
    g[c] = -g[3 + c];
    g[9 + c] = LK_R(2.0) * (uu * v[c] - uv * u[c]);
    g[6 + c] = -g[9 + c];
  }
}

/* H [12][12] += f d2c/dx2 */
LK_FN void mollifier_cross_hessian(const lk_real *x, lk_real f, lk_room H)
{
  lk_real u[3], v[3];
  lk_sub3(x + 3, x, u);
  lk_sub3(x + 9, x + 6, v);
  const lk_real uu = lk_dot3(u, u), vv = lk_dot3(v, v), uv = lk_dot3(u, v);
  for (int r = 0; r < 3; ++r)
    for (int c = 0; c < 3; ++c) {
      const lk_real one = r == c ? LK_R(1.0) : LK_R(0.0);
      const lk_real huu = LK_R(2.0) * f * (vv * one - v[r] * v[c]);
      const lk_real hvv = LK_R(2.0) * f * (uu * one - u[r] * u[c]);
      const lk_real huv =
          LK_R(2.0) * f * (LK_R(2.0) * u[r] * v[c] - v[r] * u[c] - uv * one); /* row u, column v */
      for (int i = 0; i < 2; ++i)
        for (int j = 0; j < 2; ++j) {
          const lk_real sign = i == j ? LK_R(1.0) : LK_R(-1.0);
          LK_SCRATCH(H, 12 * (3 * i + r) + 3 * j + c) += sign * huu;
          LK_SCRATCH(H, 12 * (6 + 3 * i + r) + 6 + 3 * j + c) += sign * hvv;
          LK_SCRATCH(H, 12 * (3 * i + r) + 6 + 3 * j + c) += sign * huv;
          LK_SCRATCH(H, 12 * (6 + 3 * j + c) + 3 * i + r) += sign * huv;
        }
    }
}

#endif
