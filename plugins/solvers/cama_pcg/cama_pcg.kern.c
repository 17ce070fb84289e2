/* cama_pcg.kern.c - see cama_pcg.kern.h.  Every row is written by one element of the launch. */
#include "cama_pcg.kern.h"

LK_KERNEL_PLAIN(cama_rows, a, i)
{
  lk_real *const D = a->val + 9 * a->diag[i];
  for (int c = 0; c < 3; ++c) D[4 * c] += a->scale * a->mass[i];
  for (int64_t k = a->row[i]; k < a->row[i + 1]; ++k) {
    if (!a->fixed[i] && !a->fixed[a->col[k]]) continue;
    lk_real *const v = a->val + 9 * k;
    for (int c = 0; c < 9; ++c) v[c] = LK_R(0.0);
  }
  if (a->fixed[i]) D[0] = D[4] = D[8] = LK_R(1.0);
}

LK_KERNEL_PLAIN(cama_linearise, a, i)
{
  if (a->fixed[i]) return;
  for (int c = 0; c < 3; ++c) a->out[3 * (int64_t)i + c] = a->x_start[3 * (int64_t)i + c];
}

LK_KERNEL_PLAIN(cama_velocity, a, i)
{
  const lk_real h = a->fixed[i] ? LK_R(0.0) : a->h;
  for (int c = 0; c < 3; ++c) a->out[3 * (int64_t)i + c] = h * a->v[3 * (int64_t)i + c];
}

LK_REDUCE_MAX(cama_differ, a, i)
{
  return a->row0[i] != a->row1[i] || a->col0[i] != a->col1[i] ? LK_R(1.0) : LK_R(0.0);
}
