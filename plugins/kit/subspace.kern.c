/* subspace.kern.c - see subspace.kern.h. */
#include "kit/subspace.kern.h"

#include "geom/small.kern.h"

LK_KERNEL_PLAIN(subspace_restrict_part, a, e)
{
  const int32_t groups = subspace_groups(a->cols);
  const int32_t chunk = e / groups, first = SUBSPACE_GROUP * (e % groups);
  const int32_t lo = chunk * SUBSPACE_ROWS,
                hi = a->n - lo < SUBSPACE_ROWS ? a->n : lo + SUBSPACE_ROWS;
  lk_real acc[3 * SUBSPACE_GROUP];
  for (int k = 0; k < 3 * SUBSPACE_GROUP; ++k) acc[k] = LK_R(0.0);
  for (int32_t i = lo; i < hi; ++i) {
    const lk_real *const u = a->U + (int64_t)i * a->ld + first;
    const lk_real s = a->scale != NULL ? a->scale[i] : LK_R(1.0);
    lk_real r[3];
    LK_LOAD3(r, a->r, (int64_t)i);
    for (int c = 0; c < 3; ++c)
      for (int k = 0; k < SUBSPACE_GROUP; ++k) acc[SUBSPACE_GROUP * c + k] += u[k] * (s * r[c]);
  }
  lk_real *const out = a->part + 3 * ((int64_t)chunk * a->ld + first);
  for (int k = 0; k < SUBSPACE_GROUP; ++k)
    for (int c = 0; c < 3; ++c) out[3 * k + c] = acc[SUBSPACE_GROUP * c + k];
}

/* Every sum adds the chunks in their order, so additions cannot run in parallel; loads can, hence
 * the unrolling. */
LK_KERNEL_PLAIN(subspace_restrict_sum, a, k)
{
  const int32_t chunks = subspace_chunks(a->n);
  lk_real s = LK_R(0.0);
#ifdef __CUDACC__
#pragma unroll 16
#endif
  for (int32_t chunk = 0; chunk < chunks; ++chunk) s += a->part[3 * (int64_t)chunk * a->ld + k];
  a->g[k] = s;
}

LK_KERNEL_PLAIN(subspace_invert, a, k)
{
  const lk_real *const row = a->inv + (int64_t)k * a->cols;
  lk_real s[3], v[3];
  s[0] = s[1] = s[2] = LK_R(0.0);
  for (int32_t m = 0; m < a->cols; ++m) {
    LK_LOAD3(v, a->g, (int64_t)m);
    for (int c = 0; c < 3; ++c) s[c] += row[m] * v[c];
  }
  LK_STORE3(a->q, (int64_t)k, s);
}

/* The sums of subspace_invert in the same order, for a device: neighbouring threads read
 * neighbouring numbers.  Some thousand threads reach the bandwidth of a device only if each waits
 * for many numbers at a time. */
enum { AHEAD = 32 };
LK_KERNEL_WARP(subspace_invert_turned, a, k)
{
  lk_real s[3], v[3], own[AHEAD];
  s[0] = s[1] = s[2] = LK_R(0.0);
  for (int32_t first = 0; first < a->cols; first += AHEAD) {
    LK_UNROLL
    for (int32_t u = 0; u < AHEAD; ++u)
      own[u] = first + u < a->cols ? a->inv[(int64_t)(first + u) * a->cols + k] : LK_R(0.0);
    LK_UNROLL
    for (int32_t u = 0; u < AHEAD; ++u) {
      if (first + u >= a->cols) continue;
      LK_LOAD3(v, a->g, (int64_t)(first + u));
      for (int c = 0; c < 3; ++c) s[c] += own[u] * v[c];
    }
  }
  LK_STORE3(a->q, (int64_t)k, s);
}

LK_FN void store_prolonged_row(const subspace_args *a, int32_t i, lk_real *s)
{
  const lk_real scale = a->scale != NULL ? a->scale[i] : LK_R(1.0);
  lk_real v[3];
  for (int c = 0; c < 3; ++c) s[c] *= scale;
  if (a->add) {
    LK_LOAD3(v, a->u, (int64_t)i);
    for (int c = 0; c < 3; ++c) s[c] += v[c];
  }
  LK_STORE3(a->u, (int64_t)i, s);
}

LK_FN void prolong_row(const subspace_args *a, int32_t i)
{
  const lk_real *const u = a->U + (int64_t)i * a->ld;
  lk_real s[3], v[3];
  s[0] = s[1] = s[2] = LK_R(0.0);
  for (int32_t m = 0; m < a->cols; ++m) {
    LK_LOAD3(v, a->q, (int64_t)m);
    for (int c = 0; c < 3; ++c) s[c] += u[m] * v[c];
  }
  store_prolonged_row(a, i, s);
}

/* The sums of prolong_row() of SUBSPACE_LANES rows at a time: each waits for its last addition. */
LK_FN void prolong_lanes(const subspace_args *a, int32_t first)
{
  const lk_real *const U = a->U + (int64_t)first * a->ld;
  lk_real s[3][SUBSPACE_LANES], row[3], v[3];
  for (int c = 0; c < 3; ++c)
    for (int k = 0; k < SUBSPACE_LANES; ++k) s[c][k] = LK_R(0.0);
  for (int32_t m = 0; m < a->cols; ++m) {
    lk_real u[SUBSPACE_LANES];
    LK_LOAD3(v, a->q, (int64_t)m);
    for (int k = 0; k < SUBSPACE_LANES; ++k) u[k] = U[(int64_t)k * a->ld + m];
    for (int c = 0; c < 3; ++c)
      for (int k = 0; k < SUBSPACE_LANES; ++k) s[c][k] += u[k] * v[c];
  }
  for (int k = 0; k < SUBSPACE_LANES; ++k) {
    for (int c = 0; c < 3; ++c) row[c] = s[c][k];
    store_prolonged_row(a, first + k, row);
  }
}

LK_KERNEL_PLAIN(subspace_prolong_rows, a, e)
{
  const int32_t first = e * a->lanes;
  if (a->lanes == SUBSPACE_LANES && first + SUBSPACE_LANES <= a->n) {
    prolong_lanes(a, first);
    return;
  }
  for (int32_t i = first; i < first + a->lanes && i < a->n; ++i) prolong_row(a, i);
}
