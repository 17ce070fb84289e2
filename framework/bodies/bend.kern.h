/* bend.kern.h - the common part of all fields, the distances to bodies that bend: joints that
 * move within a step, and the motion of points that the body carries along.
 *
 * Within a step joints move as bodies do (body.kern.h). */
#ifndef LOOM_BODIES_BEND_KERN_H
#define LOOM_BODIES_BEND_KERN_H

#include "bodies/body.kern.h"

enum { BEND_MAX_FRAMES = 64, BEND_ANCHORS = 192, BEND_LANES = 16 };

typedef struct bend_frame { /* a joint: its rest pose to the body frame, as in obst_view */
  lk_real R0[9], R1[9], t0[3], t1[3], axis[3], angle;
} bend_frame;

/* The head of a field's block of memory; the struct of each kind has it as first member.
 * Anchors are points of the skin that tell how points near them move: positions at both ends of the
 * step, float [2][3][BEND_ANCHORS] (m, body frame), and shares of the joints in them, float
 * [num_frames][BEND_ANCHORS].
 */
typedef struct bend_head {
  int32_t num_frames;
  int64_t anchors_at, own_at; /* bytes from the start: anchors; arrays of the kind */
  lk_real sweep;              /* m, how far any vertex of the skin moves in this step, body frame */
  bend_frame frame[BEND_MAX_FRAMES];
} bend_head;

LK_FN void bend_pose(const bend_head *f, int32_t frame, lk_real s, obst_pose *P)
{
  if (frame < 0) {
    for (int i = 0; i < 9; ++i) P->R[i] = i % 4 == 0 ? LK_R(1.0) : LK_R(0.0);
    for (int c = 0; c < 3; ++c) P->t[c] = LK_R(0.0);
    P->s = s;
    return;
  }
  const bend_frame *const a = &f->frame[frame];
  obst_pose_between(a->R0, a->R1, a->t0, a->t1, a->axis, a->angle, s, P);
}

/* C = R H R' of a Hessian H in the frame of P. */
LK_FN void bend_turn_hess(const obst_pose *P, const lk_real *H, lk_real *C)
{
  lk_real M[9];
  for (int r = 0; r < 3; ++r)
    for (int c = 0; c < 3; ++c)
      M[3 * r + c] = P->R[3 * r] * H[c] + P->R[3 * r + 1] * H[3 + c] + P->R[3 * r + 2] * H[6 + c];
  for (int r = 0; r < 3; ++r)
    for (int c = 0; c < 3; ++c) C[3 * r + c] = lk_dot3(M + 3 * r, P->R + 3 * c);
}

/* Shares of the joints in the motion of point p at share s of the step: the shares of the anchors,
 * weighed by the inverse fourth power of their distance from p (Shepard 1968).  Single precision is
 * plenty for weights. */

LK_FN const float *bend_anchors(const bend_head *f)
{
  return (const float *)(const void *)((const unsigned char *)f + f->anchors_at);
}

/* Weight of anchor i, 1/m^4. */
LK_FN float bend_weight(const bend_head *f, lk_real s, const lk_real *p, int i)
{
  const float *const x = bend_anchors(f), *const y = x + 3 * BEND_ANCHORS;
  const float late = (float)s, early = 1.0F - late;
  float d2 = 1e-8F; /* m^2: near an anchor its own are all */
  for (int c = 0; c < 3; ++c) {
    const int k = c * BEND_ANCHORS + i;
    const float d = (float)p[c] - (early * x[k] + late * y[k]);
    d2 += d * d;
  }
  return 1.0F / (d2 * d2);
}

/* Sum over the anchors of joint k's shares; w [BEND_ANCHORS]: their weights, or NULL, and they are
 * made.  It goes by lanes, which a vector unit takes at once. */
LK_FN lk_real bend_sum(const bend_head *f, lk_real s, const lk_real *p, const float *w, int32_t k)
{
  const float *const own = bend_anchors(f) + (6 + (int64_t)k) * BEND_ANCHORS;
  float lane[BEND_LANES] = {0.0F}, sum = 0.0F;
  for (int i = 0; i < BEND_ANCHORS; i += BEND_LANES)
    for (int l = 0; l < BEND_LANES; ++l)
      lane[l] += (w != NULL ? w[i + l] : bend_weight(f, s, p, i + l)) * own[i + l];
  for (int l = 0; l < BEND_LANES; ++l) sum += lane[l];
  return (lk_real)sum;
}

/* The sums that are kept: on a device the total alone, as more than 1 kB of every thread costs
 * more there than making them again. */
typedef struct bend_shares {
  lk_real total;
#ifndef __CUDACC__
  lk_real sum[BEND_MAX_FRAMES];
#endif
} bend_shares;

LK_FN void bend_share_all(const bend_head *f, lk_real s, const lk_real *p, bend_shares *out)
{
  out->total = LK_R(0.0);
#ifdef __CUDACC__
  for (int32_t k = 0; k < f->num_frames; ++k) out->total += bend_sum(f, s, p, NULL, k);
#else
  float w[BEND_ANCHORS];
  for (int i = 0; i < BEND_ANCHORS; ++i) w[i] = bend_weight(f, s, p, i);
  for (int32_t k = 0; k < f->num_frames; ++k) {
    out->sum[k] = bend_sum(f, s, p, w, k);
    out->total += out->sum[k];
  }
#endif
}

LK_FN lk_real bend_share(const bend_head *f, lk_real s, const lk_real *p, const bend_shares *all,
                         int32_t k)
{
#ifdef __CUDACC__
  return bend_sum(f, s, p, NULL, k) / all->total;
#else
  (void)f, (void)s, (void)p;
  return all->sum[k] / all->total;
#endif
}

/* to: position at s1, in the body frame, of the material point that is at p at s0; v [3], or NULL:
 * a direction that is turned with it. */
LK_FN void bend_carry(const obst_view *o, lk_real s0, lk_real s1, const lk_real *p, lk_real *to,
                      lk_real *v)
{
  const bend_head *const f = (const bend_head *)o->field;
  bend_shares all;
  lk_real turned[3] = {LK_R(0.0), LK_R(0.0), LK_R(0.0)};
  bend_share_all(f, s0, p, &all);
  for (int c = 0; c < 3; ++c) to[c] = LK_R(0.0);
  for (int32_t k = 0; k < f->num_frames; ++k) {
    obst_pose A, B;
    lk_real y[3], x[3];
    const lk_real share = bend_share(f, s0, p, &all, k);
    if (!(share > LK_R(0.0))) continue;
    bend_pose(f, k, s0, &A);
    bend_pose(f, k, s1, &B);
    obst_to_body(&A, p, y);
    obst_to_world(&B, y, x);
    for (int c = 0; c < 3; ++c) to[c] += share * x[c];
    if (v == NULL) continue;
    for (int c = 0; c < 3; ++c) y[c] = A.R[c] * v[0] + A.R[3 + c] * v[1] + A.R[6 + c] * v[2];
    obst_rotate(&B, y, x);
    for (int c = 0; c < 3; ++c) turned[c] += share * x[c];
  }
  if (v != NULL) (void)obst_unit(turned, v, v);
}

#endif
