/* sweep.kern.c - see sweep.kern.h. */
#include "sweep.kern.h"

#include "geom/small.kern.h"

/* Rows of about 20 ns each: see loom/kernel.h. */
#undef LK_PARALLEL_MIN
#define LK_PARALLEL_MIN 4096

LK_FN void add_contact_blocks(const pd_bfgs_sweep_args *a, int32_t i, lk_real *q)
{
  const int64_t end = a->bptr[i + 1];
  lk_real u[3];
  for (int64_t k = a->bptr[i]; k < end; ++k) {
    const lk_real *const v = a->bval + 9 * k;
    LK_LOAD3(u, a->from, (int64_t)a->bcol[k]);
    LK_UNROLL
    for (int c = 0; c < 3; ++c) q[c] += v[3 * c] * u[0] + v[3 * c + 1] * u[1] + v[3 * c + 2] * u[2];
  }
}

/* q = (H + B) from */
LK_FN void multiply_sweep_row(const pd_bfgs_sweep_args *a, int32_t i, lk_real *q)
{
  const int64_t end = a->ptr[i + 1];
  lk_real u[3];
  q[0] = q[1] = q[2] = LK_R(0.0);
  for (int64_t k = a->ptr[i]; k < end; ++k) {
    const lk_real h = a->val[k];
    LK_LOAD3(u, a->from, (int64_t)a->col[k]);
    LK_UNROLL
    for (int c = 0; c < 3; ++c) q[c] += h * u[c];
  }
  if (a->bptr != NULL) add_contact_blocks(a, i, q);
}

LK_FN void multiply_inverse_block(const lk_real *inv, const lk_real *q, lk_real *out)
{
  out[0] = inv[0] * q[0] + inv[1] * q[1] + inv[2] * q[2];
  out[1] = inv[1] * q[0] + inv[3] * q[1] + inv[4] * q[2];
  out[2] = inv[2] * q[0] + inv[4] * q[1] + inv[5] * q[2];
}

LK_FN lk_real find_row_diagonal(const pd_bfgs_sweep_args *a, int32_t i)
{
  const int64_t end = a->ptr[i + 1];
  lk_real d = LK_R(1.0);
  for (int64_t k = a->ptr[i]; k < end; ++k)
    if (a->col[k] == i) d = a->val[k];
  return d;
}

LK_KERNEL_PLAIN(pd_bfgs_invert, a, i)
{
  lk_real D[9], I[9];
  const lk_real h = find_row_diagonal(a, i);
  LK_UNROLL
  for (int c = 0; c < 9; ++c) D[c] = I[c] = c % 4 == 0 ? h : LK_R(0.0);
  if (a->bptr != NULL && !a->fixed[i]) {
    const int64_t end = a->bptr[i + 1];
    for (int64_t k = a->bptr[i]; k < end; ++k)
      if (a->bcol[k] == i)
        for (int c = 0; c < 9; ++c)
          if (!a->scalar || c % 4 == 0) D[c] += a->bval[9 * k + c];
  }
  lk_inv33(D, I);
  lk_real *const inv = a->inv + 6 * (int64_t)i;
  inv[0] = I[0];
  inv[1] = I[1];
  inv[2] = I[2];
  inv[3] = I[4];
  inv[4] = I[5];
  inv[5] = I[8];
}

LK_KERNEL_PLAIN(pd_bfgs_sweep, a, i)
{
  lk_real q[3], r[3], u[3], d[3];
  multiply_sweep_row(a, i, q);
  LK_LOAD3(r, a->r, (int64_t)i);
  LK_LOAD3(u, a->from, (int64_t)i);
  for (int c = 0; c < 3; ++c) r[c] -= q[c];
  multiply_inverse_block(a->inv + 6 * (int64_t)i, r, d);
  for (int c = 0; c < 3; ++c) u[c] = a->fixed[i] ? LK_R(0.0) : u[c] + a->omega * d[c];
  LK_STORE3(a->to, (int64_t)i, u);
}

LK_REDUCE_SUM_PLAIN(pd_bfgs_power, a, i)
{
  lk_real q[3], u[3], d[3];
  multiply_sweep_row(a, i, q);
  multiply_inverse_block(a->inv + 6 * (int64_t)i, q, d);
  if (a->fixed[i]) d[0] = d[1] = d[2] = LK_R(0.0);
  LK_LOAD3(u, a->from, (int64_t)i);
  LK_STORE3(a->to, (int64_t)i, d);
  return lk_dot3(u, q);
}

LK_REDUCE_SUM_PLAIN(pd_bfgs_weigh, a, i)
{
  lk_real q[3], t[3];
  multiply_sweep_row(a, i, q);
  LK_LOAD3(t, a->to, (int64_t)i);
  return lk_dot3(t, q);
}

LK_KERNEL_PLAIN(pd_bfgs_settle, a, i)
{
  lk_real q[3], r[3], u[3], t[3];
  multiply_sweep_row(a, i, q);
  LK_LOAD3(r, a->left, (int64_t)i);
  LK_LOAD3(u, a->from, (int64_t)i);
  LK_LOAD3(t, a->to, (int64_t)i);
  for (int c = 0; c < 3; ++c) {
    t[c] += u[c];
    r[c] = a->fixed[i] ? LK_R(0.0) : r[c] - q[c];
  }
  LK_STORE3(a->to, (int64_t)i, t);
  LK_STORE3(a->left, (int64_t)i, r);
}

LK_KERNEL_PLAIN(pd_bfgs_blocks, a, i)
{
  lk_real q[3];
  q[0] = q[1] = q[2] = LK_R(0.0);
  if (!a->fixed[i]) add_contact_blocks(a, i, q);
  LK_STORE3(a->to, (int64_t)i, q);
}

LK_FN int has_contact_block(const pd_bfgs_sweep_args *a, int32_t i)
{
  const int64_t end = a->bptr[i + 1];
  lk_real sum = LK_R(0.0);
  for (int64_t k = a->bptr[i]; k < end; ++k)
    for (int c = 0; c < 9; c += 4) sum += LK_FABS(a->bval[9 * k + c]);
  return sum > LK_R(0.0);
}

LK_KERNEL_PLAIN(pd_bfgs_noise, a, i)
{
  const int still = a->fixed[i] || (a->bptr != NULL && !has_contact_block(a, i));
  lk_real v[3];
  for (int c = 0; c < 3; ++c) {
    const uint32_t bits = ((uint32_t)i * 3U + (uint32_t)c) * 2654435761U;
    const uint32_t mixed = (bits ^ (bits >> 15)) * 2246822519U;
    v[c] = still ? LK_R(0.0) : (lk_real)(mixed >> 8) * LK_R(0x1p-24) - LK_R(0.5);
  }
  LK_STORE3(a->to, (int64_t)i, v);
}
