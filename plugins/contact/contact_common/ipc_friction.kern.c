/* ipc_friction.kern.c - lagged friction of the barrier's pairs.
 *
 * Lagging freezes the normal force lambda = |b'| |dD/dd|, the weights W and the normal n of
 * every active pair.  Then D = sum mu lambda f0(|u|) with the tangential displacement over the
 * step so far, u = (I - n n') sum_i W_i (x_i - x_start_i), where body vertices and points of
 * bodies move by what they have done of their motion. */
#include "ipc.kern.h"

LK_KERNEL_PLAIN(ipc_lag, a, i)
{
  const ipc_state *const s = &a->s;
  const int32_t c = a->list[i], kind = s->kind[c];
  const int body = kind == LOOM_PAIR_VO || kind == LOOM_PAIR_BVT || kind == LOOM_PAIR_BEE;
  const lk_real mu = body ? s->view[s->obst[c]].friction : a->self_friction;
  lk_real x[12], w[4], n[3], p[3], C[9], force, d;
  int64_t num = 0;
  barrier_law law;
  ipc_law(s, c, &law);
  if (kind == LOOM_PAIR_VO) {
    obst_pose P;
    d = ipc_body(s, c, n, C);
    const lk_real len = lk_norm3(n);
    force = LK_R(-2.0) * d * barrier_slope(&law, d * d) * len;
    LK_LOAD3(x, s->x, s->v[4 * c]);
    for (int k = 0; k < 3; ++k) {
      n[k] /= len;
      x[k] -= d * n[k];
    }
    obst_pose_at(s->view + s->obst[c], s->progress, &P);
    obst_to_body(&P, x, p);
    w[0] = LK_R(1.0);
    w[1] = w[2] = w[3] = LK_R(0.0);
  } else {
    const lk_real D = ipc_pair(s, c, x, w);
    d = LK_SQRT(D);
    force = LK_R(-2.0) * d * ipc_mollifier(s, c, x) * barrier_slope(&law, D);
    dist_combine(x, w, n);
    for (int k = 0; k < 3; ++k) {
      n[k] /= d;
      p[k] = LK_R(0.0);
    }
  }
  for (int b = 0; b < 4; ++b) {
    a->v[4 * i + b] = s->v[4 * c + b];
    a->w[4 * i + b] = w[b];
    num += ipc_is_free(s->v[4 * c + b], s->n, s->fixed);
  }
  a->obst[i] = kind == LOOM_PAIR_VO ? s->obst[c] : -1;
  LK_STORE3(a->normal, i, n);
  LK_STORE3(a->point, i, p);
  a->most[i] = mu * force;
  a->num[i] = num;
  a->blocks[i] = a->most[i] > LK_R(0.0) ? num * num : 0;
}

LK_REDUCE_SUM_PLAIN(ipc_dissipation, a, i)
{
  lk_real u[3];
  const lk_real y = ipc_slip(&a->f, i, u);
  return a->f.most[i] * friction_f0(y, a->f.eps);
}

LK_REDUCE_SUM_PLAIN(ipc_work, a, i)
{
  lk_real u[3];
  const lk_real y = ipc_slip(&a->f, i, u);
  return a->f.most[i] * friction_f1_over(y, a->f.eps) * y * y;
}

LK_KERNEL_PLAIN(ipc_drag, a, i)
{
  lk_real u[3];
  const lk_real y = ipc_slip(&a->f, i, u);
  const lk_real k = a->f.most[i] * friction_f1_over(y, a->f.eps);
  int64_t at = a->at[i];
  for (int b = 0; b < 4; ++b) {
    if (!ipc_is_free(a->f.v[4 * i + b], a->f.n, a->f.fixed)) continue;
    for (int c = 0; c < 3; ++c) a->force[3 * at + c] = a->f.w[4 * i + b] * k * u[c];
    ++at;
  }
}

/* mu lambda [ f1/|u| (I - n n') + (f1' - f1/|u|) u u' / |u|^2 ]: never indefinite. */
LK_KERNEL_PLAIN(ipc_drag_hessian, a, i)
{
  const ipc_lagged *const f = &a->f;
  lk_real n[3], u[3], H[9];
  int64_t at = a->first + a->at_block[i];
  if (a->at_block[i] == a->at_block[i + 1]) return;
  LK_LOAD3(n, f->normal, i);
  const lk_real y = ipc_slip(f, i, u);
  const lk_real kt = f->most[i] * friction_f1_over(y, f->eps);
  const lk_real ku =
      y > LK_R(0.0) ? (f->most[i] * friction_f1_slope(y, f->eps) - kt) / (y * y) : LK_R(0.0);
  for (int r = 0; r < 3; ++r)
    for (int c = 0; c < 3; ++c)
      H[3 * r + c] = kt * ((r == c ? LK_R(1.0) : LK_R(0.0)) - n[r] * n[c]) + ku * u[r] * u[c];
  for (int r = 0; r < 4; ++r) {
    if (!ipc_is_free(f->v[4 * i + r], f->n, f->fixed)) continue;
    for (int c = 0; c < 4; ++c) {
      if (!ipc_is_free(f->v[4 * i + c], f->n, f->fixed)) continue;
      a->row[at] = f->v[4 * i + r];
      a->col[at] = f->v[4 * i + c];
      for (int k = 0; k < 9; ++k) a->val[9 * at + k] = f->w[4 * i + r] * f->w[4 * i + c] * H[k];
      ++at;
    }
  }
}

LK_REDUCE_SUM(ipc_differ, a, j) { return a->a[j] != a->b[j] ? LK_R(1.0) : LK_R(0.0); }
