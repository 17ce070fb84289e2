/* friction.kern.c - see friction.kern.h. */
#include "kit/friction.kern.h"

LK_REDUCE_SUM_PLAIN(fric_dissipation, a, i)
{
  lk_real u[3];
  const lk_real y = fric_slip(&a->f, i, u);
  if (a->ahead.coast != NULL) return LK_R(0.5) * fric_secant(&a->f, &a->ahead, i, y) * y * y;
  return a->f.most[i] * friction_f0(y, a->f.eps);
}

LK_REDUCE_SUM_PLAIN(fric_work, a, i)
{
  lk_real u[3];
  const lk_real y = fric_slip(&a->f, i, u);
  return a->f.most[i] * friction_f1_over(y, a->f.eps) * y * y;
}

LK_KERNEL_PLAIN(fric_drag, a, i)
{
  lk_real u[3];
  const lk_real y = fric_slip(&a->f, i, u);
  const lk_real k = fric_secant(&a->f, &a->ahead, i, y);
  int64_t at = a->at[i];
  for (int b = 0; b < 4; ++b) {
    if (!cand_is_free(a->f.v[4 * i + b], a->f.n, a->f.fixed)) continue;
    for (int c = 0; c < 3; ++c) a->force[3 * at + c] = a->f.w[4 * i + b] * k * u[c];
    ++at;
  }
}

LK_KERNEL_PLAIN(fric_size, a, i)
{
  lk_real f[3];
  LK_LOAD3(f, a->force, i);
  f[0] = lk_norm3(f);
  LK_STORE3(a->force, i, f);
}

LK_KERNEL_PLAIN(fric_hold, a, i)
{
  const fric_state *const f = &a->f;
  int64_t at = a->at[i];
  if (at == a->at[i + 1]) return;
  for (int b = 0; b < 4; ++b) {
    if (!cand_is_free(f->v[4 * i + b], f->n, f->fixed)) continue;
    const lk_real part[3] = {LK_FABS(f->w[4 * i + b]) * f->most[i], LK_R(0.0), LK_R(0.0)};
    LK_STORE3(a->force, at, part);
    ++at;
  }
}

/* mu lambda [ f1/|u| (I - n n') + (f1' - f1/|u|) u u' / |u|^2 ]: never indefinite; the secant is
 * without the second part. */
LK_KERNEL_PLAIN(fric_hessian, a, i)
{
  const fric_state *const f = &a->f;
  lk_real n[3], u[3], H[9];
  int64_t at = a->first + a->at_block[i];
  if (a->at_block[i] == a->at_block[i + 1]) return;
  LK_LOAD3(n, f->normal, i);
  const lk_real y = fric_slip(f, i, u);
  const lk_real kt = fric_secant(f, &a->ahead, i, y);
  const lk_real ku = y > LK_R(0.0) && a->ahead.coast == NULL
                         ? (f->most[i] * friction_f1_slope(y, f->eps) - kt) / (y * y)
                         : LK_R(0.0);
  for (int r = 0; r < 3; ++r)
    for (int c = 0; c < 3; ++c)
      H[3 * r + c] = kt * ((r == c ? LK_R(1.0) : LK_R(0.0)) - n[r] * n[c]) + ku * u[r] * u[c];
  for (int r = 0; r < 4; ++r) {
    if (!cand_is_free(f->v[4 * i + r], f->n, f->fixed)) continue;
    for (int c = 0; c < 4; ++c) {
      if (!cand_is_free(f->v[4 * i + c], f->n, f->fixed)) continue;
      a->row[at] = f->v[4 * i + r];
      a->col[at] = f->v[4 * i + c];
      for (int k = 0; k < 9; ++k) a->val[9 * at + k] = f->w[4 * i + r] * f->w[4 * i + c] * H[k];
      ++at;
    }
  }
}

LK_REDUCE_SUM(fric_differ, a, j) { return a->a[j] != a->b[j] ? LK_R(1.0) : LK_R(0.0); }

LK_REDUCE_SUM(fric_sum_most, a, i) { return a->most[i]; }
