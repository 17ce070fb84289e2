/* ahead.kern.h - the slip of a pair in the step to come, for friction that is frozen at its start.
 *
 * Friction that serves a whole step has the secant mu lambda f1/y of a slip y that has to be known
 * before the step.  The slip c of vertices that go on with their velocity lags behind: cloth that
 * rests above its limit of friction gains no speed but by the factor T/(mu lambda) per step, T the
 * force along the plane (at 10 ms a patch makes half of its way in 0.9 s).  So
 *   y = max(c, min(|c + h^2 T/m|, |c + h^2 T'/m|) - h^2 sum mu lambda / m),
 * T the forces from outside, T' these with elasticity at x_start, the sum over all pairs of a
 * vertex.  Forces from outside alone would let cloth slip that elasticity carries.  Elasticity of a
 * step that did not converge may be large, and must not let cloth slip by itself.
 *
 * Friction that slows a pair down leaves it a slip below c, and with the secant at c its force is
 * too small by the quotient of both.  So where, of cloth and a body,
 *   z = max(|c + h^2 T/m|, |c + h^2 T'/m|) - h^2 sum mu lambda / m
 * is between c/2 and c, and its first part is c but for a quarter of the second one, z stands for
 * c.  Where forces drive the pair on, c stays: of a strip over a rod tension presses and pulls
 * light cloth, z is no slip, and the strip would hardly begin to slip (0.09 in place of 0.19 of its
 * speed).
 *
 * Of two cloths either may be held by others: a sheet on one that sticks to a slope falls as the
 * other does, and the other does not slip.  So each side adds to c the way that its own forces
 * drive it on, less the way that its own friction holds, where that is positive; less the friction
 * of both sides the sheet would have 0.62 to 0.79 of its acceleration. */
#ifndef KIT_AHEAD_KERN_H
#define KIT_AHEAD_KERN_H

#include "geom/small.kern.h"
#include "loom/kernel.h"

/* Where vertices go in the step. */
typedef struct ahead_ways {
  const lk_real *LK_RESTRICT coast; /* [n][3] m, with their velocity; NULL: there are no secants */
  const lk_real *LK_RESTRICT outer; /* [n][3] m, with forces from outside; NULL: not known */
  const lk_real *LK_RESTRICT all;   /* [n][3] m, with elasticity, too */
  const lk_real *LK_RESTRICT hold;  /* [n][3] m, the first: h^2/m sum |w| mu lambda */
} ahead_ways;

typedef struct ahead_args {
  const lk_real *LK_RESTRICT x_start; /* [n][3] m */
  const lk_real *LK_RESTRICT v_start; /* [n][3] m/s */
  const lk_real *LK_RESTRICT y;       /* [n][3] m, inertial target */
  const lk_real *LK_RESTRICT pull;    /* [n][3] N, gradient of elasticity at x_start */
  const lk_real *LK_RESTRICT mass;    /* [n] kg */
  const uint8_t *LK_RESTRICT fixed;   /* [n] */
  lk_real *LK_RESTRICT coast;         /* [n][3], out, as in ahead_ways, and so are the next two */
  lk_real *LK_RESTRICT outer;
  lk_real *LK_RESTRICT all;
  lk_real *LK_RESTRICT hold; /* [n][3], in: sum |w| mu lambda, N; out: as in ahead_ways */
  lk_real h, h2;             /* s; s^2, of the weight of inertia */
} ahead_args;
LK_DECLARE(ahead_move, ahead_args)

/* A pair has the vertices v and weights w, [4]; vertices from n on belong to bodies. */

/* Sum over its cloth of |w| times `hold`. */
LK_FN lk_real ahead_hold(const ahead_ways *a, const int32_t *v, const lk_real *w, int32_t n)
{
  lk_real sum = LK_R(0.0);
  for (int b = 0; b < 4; ++b)
    if (v[b] >= 0 && v[b] < n) sum += LK_FABS(w[b]) * a->hold[3 * v[b]];
  return sum;
}

/* Weights of cloth add up to 1 or -1 beside a body, to 0 beside cloth. */
LK_FN int ahead_is_with_body(const int32_t *v, const lk_real *w, int32_t n)
{
  lk_real sum = LK_R(0.0);
  for (int b = 0; b < 4; ++b)
    if (v[b] >= 0 && v[b] < n) sum += w[b];
  return LK_FABS(sum) > LK_R(0.5);
}

/* y, m, of cloth and a body, from the slips at the places of ahead_ways. */
LK_FN lk_real ahead_slip(const ahead_ways *a, const int32_t *v, const lk_real *w, int32_t n,
                         lk_real coast, lk_real outer, lk_real all)
{
  const lk_real hold = ahead_hold(a, v, w, n), driven = LK_FMAX(outer, all), z = driven - hold;
  const int slows = z >= LK_R(0.5) * coast && driven - coast < LK_R(0.25) * hold;
  return LK_FMAX(slows ? LK_FMIN(coast, z) : coast, LK_FMIN(outer, all) - hold);
}

/* Adds to u the way along the plane that one side of a pair, its corners with weights above or
 * below 0, gains at `to` over going on, less the way that friction of all its pairs holds. */
LK_FN void ahead_add_gain(const ahead_ways *a, const lk_real *to, const int32_t *v,
                          const lk_real *w, int32_t n, const lk_real *normal, int negative,
                          lk_real *u)
{
  lk_real d[3] = {LK_R(0.0), LK_R(0.0), LK_R(0.0)}, hold = LK_R(0.0);
  for (int b = 0; b < 4; ++b) {
    if (v[b] < 0 || v[b] >= n || (w[b] < LK_R(0.0)) != negative) continue;
    hold += LK_FABS(w[b]) * a->hold[3 * v[b]];
    for (int k = 0; k < 3; ++k) d[k] += w[b] * (to[3 * v[b] + k] - a->coast[3 * v[b] + k]);
  }
  const lk_real dn = lk_dot3(normal, d);
  for (int k = 0; k < 3; ++k) d[k] -= dn * normal[k];
  const lk_real way = lk_norm3(d);
  if (!(way > hold)) return;
  for (int k = 0; k < 3; ++k) u[k] += (LK_R(1.0) - hold / way) * d[k];
}

/* y, m, of two cloths; u: their slip at `coast`, [3], across the normal. */
LK_FN lk_real ahead_cloth_slip(const ahead_ways *a, const int32_t *v, const lk_real *w, int32_t n,
                               const lk_real *normal, const lk_real *u)
{
  lk_real slip[2];
  for (int k = 0; k < 2; ++k) {
    lk_real sum[3] = {u[0], u[1], u[2]};
    ahead_add_gain(a, k == 0 ? a->outer : a->all, v, w, n, normal, 0, sum);
    ahead_add_gain(a, k == 0 ? a->outer : a->all, v, w, n, normal, 1, sum);
    slip[k] = lk_norm3(sum);
  }
  return LK_FMAX(lk_norm3(u), LK_FMIN(slip[0], slip[1]));
}

#endif
