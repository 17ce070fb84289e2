/* acl.kern.c - see acl.kern.h. */
#include "acl.kern.h"

#include "acl_pose.kern.h"
#include "loom/scene.h"

LK_KERNEL_PLAIN(acl_lanes, a, s) { yarn_points(&a->l, a->x, s, a->P + YARN_POS * s); }

/* ---- the model ---- */

/* Y += K X for n slots, X and Y [3][n]; returns X'K X. */
LK_FN lk_real acl_stiffness(const lk_real *K, int n, const lk_real *X, lk_real *Y)
{
  lk_real xkx = LK_R(0.0);
  for (int a = 0; a < n; ++a) {
    const int m = n - a;
    const lk_real *const xx = K, *const xy = K + m, *const xz = K + 2 * m, *const yy = K + 3 * m;
    const lk_real *const yz = K + 4 * m, *const zz = K + 5 * m;
    const lk_real *const x = X + a, *const y = X + n + a, *const z = X + 2 * n + a;
    lk_real *const fx = Y + a, *const fy = Y + n + a, *const fz = Y + 2 * n + a;
    const lk_real x0 = x[0], y0 = y[0], z0 = z[0];
    lk_real sx = xx[0] * x0 + xy[0] * y0 + xz[0] * z0;
    lk_real sy = xy[0] * x0 + yy[0] * y0 + yz[0] * z0;
    lk_real sz = xz[0] * x0 + yz[0] * y0 + zz[0] * z0;
    xkx += x0 * sx + y0 * sy + z0 * sz;
    lk_real ox = LK_R(0.0), oy = LK_R(0.0), oz = LK_R(0.0);
    for (int b0 = 1; b0 < m; b0 += ACL_ROW) {
      lk_real tx[ACL_ROW], ty[ACL_ROW], tz[ACL_ROW];
      const int end = m - b0 < ACL_ROW ? m - b0 : ACL_ROW;
      for (int k = 0; k < end; ++k) {
        const int b = b0 + k;
        tx[k] = xx[b] * x[b] + xy[b] * y[b] + xz[b] * z[b];
        ty[k] = xy[b] * x[b] + yy[b] * y[b] + yz[b] * z[b];
        tz[k] = xz[b] * x[b] + yz[b] * y[b] + zz[b] * z[b];
      }
      for (int k = 0; k < end; ++k) {
        const int b = b0 + k;
        fx[b] += xx[b] * x0 + xy[b] * y0 + xz[b] * z0;
        fy[b] += xy[b] * x0 + yy[b] * y0 + yz[b] * z0;
        fz[b] += xz[b] * x0 + yz[b] * y0 + zz[b] * z0;
      }
      for (int k = 0; k < end; ++k) {
        ox += tx[k];
        oy += ty[k];
        oz += tz[k];
      }
    }
    fx[0] += sx + ox;
    fy[0] += sy + oy;
    fz[0] += sz + oz;
    xkx += LK_R(2.0) * (x0 * ox + y0 * oy + z0 * oz);
    K += 6 * m;
  }
  return xkx;
}

/* The weights of both points have the rest lengths of the step. */
LK_FN lk_real acl_weight(const acl_args *a)
{
  return (LK_R(1.0) + a->change) * (LK_R(1.0) + a->change);
}

LK_KERNEL_PLAIN(acl_apply, a, k)
{
  acl_model *const m = a->model + a->job[k].set;
  acl_out *const o = a->out + a->job[k].out;
  const acl_place *const s = &m->at;
  const int n = s->slots;
  const int32_t *const vert = a->p.vert + s->slot;
  const lk_real *const qbar = a->p.qbar + 3 * s->slot, *const fbar = a->p.fbar + 3 * s->slot;
  const lk_real *const M = a->p.M + s->slot;
  lk_real *const X = a->p.X + 3 * s->slot, *const Y = a->p.Y + 3 * s->slot;
  lk_real *const F = a->p.F + 3 * s->slot;
  lk_real c[3], A[9], R[9], most = LK_R(0.0), work = LK_R(0.0);
  c[0] = c[1] = c[2] = LK_R(0.0);
  for (int i = 0; i < n; ++i) {
    acl_slot(a, vert, i, F + 3 * i); /* positions; forces take their place at the end */
    for (int d = 0; d < 3; ++d) c[d] += F[3 * i + d];
  }
  for (int d = 0; d < 3; ++d) c[d] /= (lk_real)n;
  for (int i = 0; i < 9; ++i) A[i] = LK_R(0.0);
  for (int i = 0; i < n; ++i) {
    lk_real *const q = F + 3 * i;
    for (int d = 0; d < 3; ++d) q[d] -= c[d];
    for (int d = 0; d < 3; ++d)
      for (int e = 0; e < 3; ++e) A[3 * d + e] += q[d] * qbar[3 * i + e];
  }
  for (int i = 0; i < 9; ++i) R[i] = m->R[i];
  acl_rotation(A, R);
  for (int i = 0; i < n; ++i) {
    const lk_real *const q = F + 3 * i;
    lk_real x[3];
    for (int d = 0; d < 3; ++d) {
      x[d] = R[d] * q[0] + R[3 + d] * q[1] + R[6 + d] * q[2] - qbar[3 * i + d];
      work += fbar[3 * i + d] * x[d];
      X[n * d + i] = x[d];
      Y[n * d + i] = fbar[3 * i + d];
    }
    const lk_real far = M[i] * M[i] * lk_dot3(x, x);
    most = far > most ? far : most;
  }
  o->metric = LK_SQRT(most) * s->reach / s->eps2;
  o->energy = m->energy - work;
  if (m->pairs > 0) o->energy -= LK_R(0.5) * acl_stiffness(a->p.K + s->block, n, X, Y);
  const lk_real weight = acl_weight(a);
  o->energy *= weight;
  for (int i = 0; i < n; ++i)
    for (int d = 0; d < 3; ++d)
      F[3 * i + d] =
          weight * (R[3 * d] * Y[i] + R[3 * d + 1] * Y[n + i] + R[3 * d + 2] * Y[2 * n + i]);
  if (a->keep)
    for (int i = 0; i < 9; ++i) m->R[i] = R[i];
  o->energy += acl_springs(a, m, F);
  acl_fold(vert, n, F);
}

/* ---- all pairs of a set ---- */

/* Lanes of point range [p0, p1] in segment s. */
LK_FN void lanes_in(const yarn_line *l, int32_t s, int32_t p0, int32_t p1, int *lo, int *hi)
{
  *lo = p0 > l->pt0[s] ? p0 - l->pt0[s] : 0;
  *hi = (p1 < l->pt0[s + 1] - 1 ? p1 : l->pt0[s + 1] - 1) - l->pt0[s];
}

/* Pair (i, j) of segments sa, sb; points that are no pair of the upper triangle do not count. */
LK_FN int is_counted_pair(const yarn_line *l, int32_t sa, int i, int32_t sb, int j)
{
  const int32_t p = l->pt0[sa] + i, q = l->pt0[sb] + j;
  if (p >= q) return 0;
  return l->seg_yarn[sa] != l->seg_yarn[sb] || yarn_apart(l, l->seg_yarn[sa], p, q);
}

/* mask[i], lanes j of sb that are no pair with point i of sa, for points i0 to i1 and j0 to j1. */
LK_FN void mask_of(const yarn_line *l, int32_t sa, int32_t sb, int j0, int j1, int i0, int i1,
                   uint16_t *mask)
{
  const unsigned in = (2u << j1) - (1u << j0);
  const int near = (sb <= sa || yarn_adjacent(l, sa, sb)) && l->seg_yarn[sa] == l->seg_yarn[sb];
  for (int i = i0; i <= i1; ++i) {
    mask[i] = (uint16_t)~in;
    if (!near) continue;
    for (int j = j0; j <= j1; ++j)
      if (!is_counted_pair(l, sa, i, sb, j)) mask[i] = (uint16_t)(mask[i] | 1u << j);
  }
}

/* Exact force at the points of x, F [slots][3] not folded; returns the energy. */
LK_FN lk_real exact_force(const acl_args *a, const acl_place *s, lk_real *F)
{
  const yarn_line *const l = &a->l;
  const int32_t ea = yarn_seg_of(l, l->seg_yarn[s->sa], s->u1);
  const int32_t eb = yarn_seg_of(l, l->seg_yarn[s->sb], s->v1);
  lk_real energy = LK_R(0.0);
  for (int i = 0; i < 3 * s->slots; ++i) F[i] = LK_R(0.0);
  for (int32_t sa = s->sa; sa <= ea; ++sa)
    for (int32_t sb = s->sb; sb <= eb; ++sb) {
      uint16_t mask[YARN_LANES];
      lk_real ga[YARN_POS], gb[YARN_POS];
      int i0, i1, j0, j1;
      lanes_in(l, sa, s->u0, s->u1, &i0, &i1);
      lanes_in(l, sb, s->v0, s->v1, &j0, &j1);
      mask_of(l, sa, sb, j0, j1, i0, i1, mask);
      for (int i = 0; i < YARN_POS; ++i) ga[i] = gb[i] = LK_R(0.0);
      energy += yarn_pair_gradient(a->P + YARN_POS * sa, l->weight + YARN_LANES * sa, i0, i1,
                                   a->P + YARN_POS * sb, l->weight + YARN_LANES * sb,
                                   s->reach * s->reach, a->stiffness, mask, ga, gb);
      lk_real *const Fa = F + 3 * (sa - s->sa), *const Fb = F + 3 * (s->off + sb - s->sb);
      for (int k = 0; k < 4; ++k) {
        const lk_real *const w = l->basis + YARN_LANES * k;
        for (int c = 0; c < 3; ++c) {
          lk_real fa = LK_R(0.0), fb = LK_R(0.0);
          for (int i = 0; i < YARN_LANES; ++i) {
            fa += w[i] * ga[YARN_LANES * c + i];
            fb += w[i] * gb[YARN_LANES * c + i];
          }
          Fa[3 * k + c] -= fa;
          Fb[3 * k + c] -= fb;
        }
      }
    }
  return energy;
}

LK_KERNEL_PLAIN(acl_force, a, k)
{
  acl_model *const m = a->model + a->job[k].set;
  acl_out *const o = a->out + a->job[k].out;
  lk_real *const F = a->p.F + 3 * m->at.slot;
  const lk_real weight = acl_weight(a);
  o->energy = weight * exact_force(a, &m->at, F);
  for (int i = 0; i < 3 * m->at.slots; ++i) F[i] *= weight;
  o->energy += acl_springs(a, m, F);
  acl_fold(a->p.vert + m->at.slot, m->at.slots, F);
}

LK_KERNEL_PLAIN(acl_range, a, k)
{
  const acl_place *const s = a->place + a->job[k].out;
  acl_out *const o = a->out + a->job[k].out;
  const yarn_line *const l = &a->l;
  const lk_real r2 = s->reach * s->reach;
  const int32_t ea = yarn_seg_of(l, l->seg_yarn[s->sa], s->u1);
  const int32_t eb = yarn_seg_of(l, l->seg_yarn[s->sb], s->v1);
  int32_t *const out = o->range;
  lk_real all = YARN_FAR * YARN_FAR;
  out[0] = s->u1 + 1;
  out[1] = s->u0 - 1;
  out[2] = s->v1 + 1;
  out[3] = s->v0 - 1;
  out[4] = 0;
  for (int32_t sa = s->sa; sa <= ea; ++sa)
    for (int32_t sb = s->sb; sb <= eb; ++sb) {
      uint16_t mask[YARN_LANES];
      const lk_real *const A = a->P + YARN_POS * sa, *const B = a->P + YARN_POS * sb;
      int i0, i1, j0, j1;
      lanes_in(l, sa, s->u0, s->u1, &i0, &i1);
      lanes_in(l, sb, s->v0, s->v1, &j0, &j1);
      mask_of(l, sa, sb, j0, j1, i0, i1, mask);
      for (int i = i0; i <= i1; ++i) {
        lk_real d[YARN_LANES];
        for (int j = 0; j < YARN_LANES; ++j) {
          const lk_real dx = A[i] - B[j], dy = A[YARN_LANES + i] - B[YARN_LANES + j];
          const lk_real dz = A[2 * YARN_LANES + i] - B[2 * YARN_LANES + j];
          d[j] = dx * dx + dy * dy + dz * dz;
        }
        for (int j = j0; j <= j1; ++j) {
          if (mask[i] >> j & 1u) continue;
          all = d[j] < all ? d[j] : all;
          if (!(d[j] < r2)) continue;
          const int32_t p = l->pt0[sa] + i, q = l->pt0[sb] + j;
          out[0] = p < out[0] ? p : out[0];
          out[1] = p > out[1] ? p : out[1];
          out[2] = q < out[2] ? q : out[2];
          out[3] = q > out[3] ? q : out[3];
          ++out[4];
        }
      }
    }
  /* if any pairs are in contact, the smallest of all is one of them */
  o->smallest = all;
}

/* ---- building ----
 */

/* M_i: integral of |B_i| over the set's range, trapezoid over the points. */
LK_FN void compute_set_weights(const yarn_line *l, int32_t first, int32_t p0, int32_t p1,
                               lk_real *M)
{
  for (int32_t p = p0; p <= p1; ++p) {
    int seg;
    const int lane = acl_lane(l, first, p, &seg);
    const lk_real part = (p == p0 || p == p1 ? LK_R(0.5) : LK_R(1.0)) / (lk_real)YARN_B;
    for (int k = 0; k < 4; ++k)
      M[seg - first + k] += part * LK_FABS(l->basis[YARN_LANES * k + lane]);
  }
}

/* K += w times H at slots i, j in any order. */
LK_FN void add_set_block(lk_real *K, int n, int i, int j, lk_real w, const lk_real *H)
{
  const int a = i < j ? i : j, b = i < j ? j - i : i - j, m = n - a;
  lk_real *const row = K + 6 * (a * n - a * (a - 1) / 2) + b;
  for (int h = 0; h < 6; ++h) row[m * h] += w * H[h];
}

/* w w' H for the four slots from `at` on. */
LK_FN void add_side(lk_real *K, int n, int at, const lk_real *w, const lk_real *H)
{
  for (int i = 0; i < 4; ++i)
    for (int j = i; j < 4; ++j) add_set_block(K, n, at + i, at + j, w[i] * w[j], H);
}

/* K = - sum over pairs in contact of (c c') H, c the weights of y_i - y_j: the four slots of
 * either point.  Terms that a row of pairs shares are added once. */
LK_FN void assemble_set_matrix(const acl_args *a, acl_model *m)
{
  const acl_place *const s = &m->at;
  const yarn_line *const l = &a->l;
  const lk_real r2 = s->reach * s->reach;
  const int32_t eb = yarn_seg_of(l, l->seg_yarn[s->sb], s->v1);
  const int n = s->slots;
  lk_real *const K = a->p.K + s->block;
  for (int i = 0; i < 3 * n * (n + 1); ++i) K[i] = LK_R(0.0);
  m->pairs = 0;
  for (int32_t p = s->u0; p <= s->u1; ++p) {
    int sa;
    const int i = acl_lane(l, s->sa, p, &sa), before = m->pairs;
    const lk_real *const A = a->P + YARN_POS * sa + i;
    lk_real wi[4], all[6];
    for (int k = 0; k < 4; ++k) wi[k] = l->basis[YARN_LANES * k + i];
    for (int h = 0; h < 6; ++h) all[h] = LK_R(0.0);
    for (int32_t sb = s->sb; sb <= eb; ++sb) {
      const int at = s->off + sb - s->sb, first = m->pairs;
      lk_real T[4][6];
      int j0, j1;
      for (int k = 0; k < 24; ++k) T[k / 6][k % 6] = LK_R(0.0);
      lanes_in(l, sb, s->v0, s->v1, &j0, &j1);
      for (int j = j0; j <= j1; ++j) {
        const lk_real *const B = a->P + YARN_POS * sb + j;
        const lk_real d[3] = {A[0] - B[0], A[YARN_LANES] - B[YARN_LANES],
                              A[2 * YARN_LANES] - B[2 * YARN_LANES]};
        lk_real H[6], wj[4];
        if (!(lk_dot3(d, d) < r2) || !is_counted_pair(l, sa, i, sb, j)) continue;
        const lk_real w =
            -a->stiffness * l->weight[YARN_LANES * sa + i] * l->weight[YARN_LANES * sb + j];
        yarn_hess(d, r2, H);
        for (int h = 0; h < 6; ++h) {
          H[h] *= w;
          all[h] += H[h];
        }
        for (int k = 0; k < 4; ++k) {
          wj[k] = l->basis[YARN_LANES * k + j];
          for (int h = 0; h < 6; ++h) T[k][h] += wj[k] * H[h];
        }
        add_side(K, n, at, wj, H);
        ++m->pairs;
      }
      for (int k = 0; k < 16 && m->pairs > first; ++k) {
        const int ra = sa - s->sa + k / 4, rb = at + k % 4;
        /* on the diagonal of shared slots both orders of the pair meet */
        add_set_block(K, n, ra, rb, ra == rb ? LK_R(-2.0) * wi[k / 4] : -wi[k / 4], T[k % 4]);
      }
    }
    if (m->pairs > before) add_side(K, n, sa - s->sa, wi, all);
  }
}

LK_KERNEL_PLAIN(acl_springs_of, a, k)
{
  const int32_t *const from = a->place[a->job[k].out].from;
  lk_real *const length = a->length + (int64_t)ACL_SPRINGS * a->job[k].out;
  for (int i = 0; i < ACL_SPRINGS; ++i)
    length[i] =
        from[i] < 0 ? LK_R(-1.0) : a->model[from[i] / ACL_SPRINGS].length[from[i] % ACL_SPRINGS];
}

LK_KERNEL_PLAIN(acl_build, a, k)
{
  acl_model *const m = a->model + a->job[k].set;
  acl_out *const o = a->out + a->job[k].out;
  const acl_place *const s = &m->at;
  m->at = a->place[a->job[k].out];
  const int n = s->slots;
  int32_t *const vert = a->p.vert + s->slot;
  lk_real *const qbar = a->p.qbar + 3 * s->slot, *const fbar = a->p.fbar + 3 * s->slot;
  lk_real *const M = a->p.M + s->slot, *const F = a->p.F + 3 * s->slot;
  acl_vertices(&a->l, s, vert);
  for (int i = 0; i < ACL_SPRINGS; ++i)
    m->length[i] =
        a->stiction > LK_R(0.0) ? a->length[(int64_t)ACL_SPRINGS * a->job[k].out + i] : LK_R(-1.0);
  m->energy = exact_force(a, s, fbar);
  m->pairs = 0;
  if (!a->exact) {
    lk_real c[3];
    for (int d = 0; d < 3; ++d) c[d] = LK_R(0.0);
    for (int i = 0; i < n; ++i) {
      acl_slot(a, vert, i, qbar + 3 * i);
      for (int d = 0; d < 3; ++d) c[d] += qbar[3 * i + d];
      M[i] = LK_R(0.0);
    }
    for (int d = 0; d < 3; ++d) c[d] /= (lk_real)n;
    for (int i = 0; i < n; ++i)
      for (int d = 0; d < 3; ++d) qbar[3 * i + d] -= c[d];
    acl_identity(m->R);
    compute_set_weights(&a->l, s->sa, s->u0, s->u1, M);
    compute_set_weights(&a->l, s->sb, s->v0, s->v1, M + s->off);
    if (s->with_K) assemble_set_matrix(a, m); /* else no pair is in contact */
  }
  const lk_real weight = acl_weight(a);
  for (int i = 0; i < 3 * n; ++i) F[i] = weight * fbar[i];
  o->energy = weight * m->energy + acl_springs(a, m, F);
  acl_fold(vert, n, F);
}

/* ---- new contacts ---- */

/* Points of segments a, b within the ranges w that are in contact. */
LK_KERNEL_PLAIN(acl_touching, a, k)
{
  const yarn_line *const l = &a->l;
  acl_touch *const o = a->out + k;
  int r[4];
  for (int i = 0; i < YARN_LANES; ++i) o->row[i] = 0;
  if (a->kind[k] != LOOM_PAIR_YY) return;
  const int32_t sa = a->v[4 * k], sb = a->v[4 * k + 1];
  const lk_real *const A = a->P + (int64_t)YARN_POS * sa, *const B = a->P + (int64_t)YARN_POS * sb;
  const lk_real sum = l->radius[sa] + l->radius[sb];
  const int near = yarn_adjacent(l, sa, sb);
  for (int i = 0; i < 4; ++i) r[i] = (int)(a->w[4 * k + i] * (lk_real)YARN_B + LK_R(0.5));
  for (int i = r[0]; i <= r[1]; ++i)
    for (int j = r[2]; j <= r[3]; ++j) {
      lk_real d2 = LK_R(0.0);
      for (int c = 0; c < 3; ++c) {
        const lk_real d = A[YARN_LANES * c + i] - B[YARN_LANES * c + j];
        d2 += d * d;
      }
      if (!(d2 < sum * sum)) continue;
      if (near && !yarn_apart(l, l->seg_yarn[sa], l->pt0[sa] + i, l->pt0[sb] + j)) continue;
      o->row[i] = (uint16_t)(o->row[i] | 1u << j);
    }
}

/* ---- memory, forces ---- */

/* X and Y are workspace and are not moved. */
LK_KERNEL_PLAIN(acl_move, a, k)
{
  acl_model *const m = a->model + a->job[k].set;
  const acl_place *const to = a->place + a->job[k].out;
  const int n = m->at.slots;
  const int64_t was = m->at.slot, is = to->slot;
  for (int i = 0; i < n; ++i) {
    a->to.vert[is + i] = a->from.vert[was + i];
    a->to.M[is + i] = a->from.M[was + i];
  }
  for (int i = 0; i < 3 * n; ++i) {
    a->to.qbar[3 * is + i] = a->from.qbar[3 * was + i];
    a->to.fbar[3 * is + i] = a->from.fbar[3 * was + i];
    a->to.F[3 * is + i] = a->from.F[3 * was + i];
  }
  for (int i = 0; m->at.with_K && i < 3 * n * (n + 1); ++i)
    a->to.K[to->block + i] = a->from.K[m->at.block + i];
  m->at.slot = is;
  m->at.block = to->block;
}

LK_KERNEL_PLAIN(acl_gather, a, i)
{
  lk_real f[3];
  f[0] = f[1] = f[2] = LK_R(0.0);
  for (int64_t k = a->at[i]; k < a->at[i + 1]; ++k) {
    const lk_real *const F = a->F + 3 * (int64_t)a->slot[k];
    for (int c = 0; c < 3; ++c) f[c] += F[c];
  }
  LK_STORE3(a->force, i, f);
}

LK_REDUCE_MAX(acl_differ, a, i)
{
  int same = 1;
  for (int c = 0; c < 3; ++c) same = same && a->a[3 * i + c] == a->b[3 * i + c];
  return same ? LK_R(0.0) : LK_R(1.0);
}

LK_REDUCE_MAX(acl_longest, a, i)
{
  lk_real f[3];
  LK_LOAD3(f, a->a, i);
  return LK_SQRT(f[0] * f[0] + f[1] * f[1] + f[2] * f[2]);
}

LK_KERNEL(acl_subtract, a, i)
{
  for (int c = 0; c < 3; ++c) a->out[3 * i + c] -= a->a[3 * i + c];
}
