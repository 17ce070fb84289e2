/* acl_pose.kern.h - control points of a set, the rotation it has made, points and springs. */
#ifndef ACL_POSE_KERN_H
#define ACL_POSE_KERN_H

#include "acl.kern.h"
#include "geom/small.kern.h"

/* Position of slot k; a missing one is reflected from the two next to it. */
LK_FN void acl_slot(const acl_args *a, const int32_t *vert, int k, lk_real *q)
{
  const int32_t v = vert[k];
  if (v >= 0) {
    LK_LOAD3(q, a->x, v);
    return;
  }
  const int32_t near = v == -1 ? vert[k + 1] : vert[k - 1];
  const int32_t far = v == -1 ? vert[k + 2] : vert[k - 2];
  for (int c = 0; c < 3; ++c) q[c] = LK_R(2.0) * a->x[3 * near + c] - a->x[3 * far + c];
}

/* The force on a missing slot goes to the two slots next to it: F [slots][3]. */
LK_FN void acl_fold(const int32_t *vert, int slots, lk_real *F)
{
  for (int k = 0; k < slots; ++k) {
    if (vert[k] >= 0) continue;
    const int near = vert[k] == -1 ? k + 1 : k - 1, far = vert[k] == -1 ? k + 2 : k - 2;
    for (int c = 0; c < 3; ++c) {
      F[3 * near + c] += LK_R(2.0) * F[3 * k + c];
      F[3 * far + c] -= F[3 * k + c];
      F[3 * k + c] = LK_R(0.0);
    }
  }
}

/* Control points of segments `first` on, n slots: a missing one at the start is -1, at the end
 * -2. */
LK_FN void acl_range_vertices(const yarn_line *l, int32_t first, int n, int32_t *vert)
{
  const int32_t *const segs = l->segs + 4 * (int64_t)first;
  const int64_t last = n - 4;
  vert[0] = segs[0] < 0 ? -1 : segs[0];
  vert[1] = segs[1];
  for (int64_t s = 0; s <= last; ++s) vert[2 + s] = segs[4 * s + 2];
  vert[n - 1] = segs[4 * last + 3] < 0 ? -2 : segs[4 * last + 3];
}

/* Of both ranges, or of the one that they make. */
LK_FN void acl_vertices(const yarn_line *l, const acl_place *s, int32_t *vert)
{
  const int32_t ea = yarn_seg_of(l, l->seg_yarn[s->sa], s->u1);
  if (s->off < ea - s->sa + 4) {
    acl_range_vertices(l, s->sa, s->slots, vert);
    return;
  }
  acl_range_vertices(l, s->sa, s->off, vert);
  acl_range_vertices(l, s->sb, s->slots - s->off, vert + s->off);
}

/* Segment and lane of point p, of the segments from s on. */
LK_FN int acl_lane(const yarn_line *l, int32_t s, int32_t p, int *seg)
{
  const int32_t yarn = l->seg_yarn[s];
  *seg = yarn_seg_of(l, yarn, p);
  return p - l->pt0[*seg];
}

/* Z_a += w_a f */
LK_FN void acl_spread(const lk_real *basis, int lane, const lk_real *f, lk_real *Z)
{
  for (int k = 0; k < 4; ++k) {
    const lk_real w = basis[YARN_LANES * k + lane];
    for (int c = 0; c < 3; ++c) Z[3 * k + c] += w * f[c];
  }
}

LK_FN void acl_identity(lk_real *R)
{
  for (int i = 0; i < 9; ++i) R[i] = i % 4 == 0 ? LK_R(1.0) : LK_R(0.0);
}

/* R becomes the rotation nearest to A = sum (q - c)(qbar - cbar)': Newton's method for the largest
 * tr(R'A) from the present R,  (tr S 1 - sym S) w = axial S,  S = R'A; from too far away the
 * singular vectors of A. */
LK_FN void acl_rotation(const lk_real *A, lk_real *R)
{
  for (int it = 0; it < 12; ++it) {
    lk_real S[9], G[9], I[9], w[3], T[9], Q[9];
    for (int i = 0; i < 3; ++i)
      for (int j = 0; j < 3; ++j)
        S[3 * i + j] = R[i] * A[j] + R[3 + i] * A[3 + j] + R[6 + i] * A[6 + j];
    const lk_real tr = S[0] + S[4] + S[8];
    for (int i = 0; i < 3; ++i)
      for (int j = 0; j < 3; ++j)
        G[3 * i + j] = (i == j ? tr : LK_R(0.0)) - LK_R(0.5) * (S[3 * i + j] + S[3 * j + i]);
    const lk_real minor = G[0] * G[4] - G[1] * G[1];
    if (!(G[0] > LK_R(0.0) && minor > LK_R(1e-12) * tr * tr && lk_det33(G) > LK_R(0.0))) break;
    lk_inv33(G, I);
    const lk_real ax[3] = {S[7] - S[5], S[2] - S[6], S[3] - S[1]};
    for (int i = 0; i < 3; ++i)
      w[i] = LK_R(0.5) * (I[3 * i] * ax[0] + I[3 * i + 1] * ax[1] + I[3 * i + 2] * ax[2]);
    /* Cayley's map of 2w: a rotation that agrees with exp to second order */
    const lk_real q = lk_dot3(w, w), f = LK_R(1.0) / (LK_R(1.0) + q);
    Q[0] = f * (LK_R(1.0) - q + LK_R(2.0) * w[0] * w[0]);
    Q[4] = f * (LK_R(1.0) - q + LK_R(2.0) * w[1] * w[1]);
    Q[8] = f * (LK_R(1.0) - q + LK_R(2.0) * w[2] * w[2]);
    Q[1] = f * LK_R(2.0) * (w[0] * w[1] - w[2]);
    Q[3] = f * LK_R(2.0) * (w[0] * w[1] + w[2]);
    Q[2] = f * LK_R(2.0) * (w[0] * w[2] + w[1]);
    Q[6] = f * LK_R(2.0) * (w[0] * w[2] - w[1]);
    Q[5] = f * LK_R(2.0) * (w[1] * w[2] - w[0]);
    Q[7] = f * LK_R(2.0) * (w[1] * w[2] + w[0]);
    lk_mul33(R, Q, T);
    /* back to an orthogonal matrix: rounding must not add up over thousands of steps */
    for (int i = 0; i < 3; ++i)
      for (int j = 0; j < 3; ++j)
        S[3 * i + j] = (i == j ? LK_R(1.5) : LK_R(0.0)) -
                       LK_R(0.5) * (T[i] * T[j] + T[3 + i] * T[3 + j] + T[6 + i] * T[6 + j]);
    lk_mul33(T, S, R);
    if (q < LK_R(1e-15)) return; /* the next one would be below rounding */
  }
  lk_real U[9], s[3], V[9];
  lk_svd33(A, U, s, V);
  lk_mul33_bt(U, V, R);
}

/* Forces of the springs, added to F [slots][3]; their energy.  A new step makes missing springs,
 * and breaks springs with too much energy. */
LK_FN lk_real acl_springs(const acl_args *a, acl_model *m, lk_real *F)
{
  const acl_place *const s = &m->at;
  lk_real energy = LK_R(0.0);
  if (!(a->stiction > LK_R(0.0))) return energy;
  for (int k = 0; k < ACL_SPRINGS; ++k) {
    int si, sj;
    const int32_t i = s->spring[k][0], j = s->spring[k][1];
    const int li = acl_lane(&a->l, s->sa, i, &si), lj = acl_lane(&a->l, s->sb, j, &sj);
    const lk_real *const A = a->P + YARN_POS * si + li, *const B = a->P + YARN_POS * sj + lj;
    lk_real d[3], f[3];
    for (int c = 0; c < 3; ++c) d[c] = A[YARN_LANES * c] - B[YARN_LANES * c];
    const lk_real len = lk_norm3(d);
    lk_real rest = m->length[k];
    const int loose =
        rest < LK_R(0.0) || LK_R(0.5) * a->stiction * (len - rest) * (len - rest) > a->breaks;
    if (loose && a->keep) m->length[k] = len;
    if (loose || !(len > LK_R(0.0))) continue;
    energy += LK_R(0.5) * a->stiction * (len - rest) * (len - rest);
    for (int c = 0; c < 3; ++c) f[c] = a->stiction * (rest / len - LK_R(1.0)) * d[c];
    acl_spread(a->l.basis, li, f, F + 3 * (si - s->sa));
    for (int c = 0; c < 3; ++c) f[c] = -f[c];
    acl_spread(a->l.basis, lj, f, F + 3 * (s->off + sj - s->sb));
  }
  return energy;
}

#endif
