/* reuse.kern.c - see reuse.kern.h.
 *
 * Plain (Lan et al. 2024, eq. 19): U' W U = sum_j w_j u_j' u_j.
 * Masked rows, U_m = s U with s_j = H_jj / (H_jj + w_j): with E = (1 - s) U, which lives on
 * contact rows only,
 *   U_m'(H + W) U_m = U'H U - E'H U - (H U)'E + E'H E + sum w_j s_j^2 u_j' u_j
 * that is U'H U plus the symmetric part of sum_j u_j' V_j,
 *   V_j = w_j s_j^2 u_j - (1 - s_j) sum_k H_jk (1 + s_k) u_k. */
#include "reuse.kern.h"

LK_KERNEL_PLAIN(ndb_pd_list, a, i)
{
  if (a->w[i] > LK_R(0.0)) a->list[a->place[i]] = i;
}

LK_KERNEL(ndb_pd_list_all, a, i) { a->list[i] = i; }

LK_KERNEL_PLAIN(ndb_pd_rows, a, e)
{
  const int32_t row = e / a->groups, first = SUBSPACE_GROUP * (e % a->groups), j = a->list[row];
  const lk_real *const own = a->U + (int64_t)j * a->ld + first;
  lk_real acc[SUBSPACE_GROUP];
  const lk_real s = a->mask != NULL ? a->mask[j] : LK_R(1.0);
  for (int k = 0; k < SUBSPACE_GROUP; ++k) acc[k] = LK_R(0.0);
  if (a->mask != NULL && s < LK_R(1.0)) {
    for (int64_t m = a->ptr[j]; m < a->ptr[j + 1]; ++m) {
      const int32_t i = a->col[m];
      const lk_real v = (s - LK_R(1.0)) * a->val[m] * (LK_R(1.0) + a->mask[i]);
      const lk_real *const u = a->U + (int64_t)i * a->ld + first;
      for (int k = 0; k < SUBSPACE_GROUP; ++k) acc[k] += v * u[k];
    }
  }
  lk_real *const out = a->V + (int64_t)row * a->ld + first;
  for (int k = 0; k < SUBSPACE_GROUP; ++k) out[k] = acc[k] + a->w[j] * s * s * own[k];
}

LK_FN int ndb_pd_idle_tile(const ndb_pd_reuse_args *a, int32_t I, int32_t J)
{
  return a->lower && J > I;
}

/* Half of the rows of a tile: their sums fit into the vector registers of a CPU, those of the whole
 * tile do not. */
enum { NDB_PD_HALF = SUBSPACE_GROUP / 2 };

LK_FN void sum_half_tile(const ndb_pd_reuse_args *a, int32_t lo, int32_t hi, int32_t p, int32_t q,
                         lk_real *LK_RESTRICT out)
{
  lk_real acc[NDB_PD_HALF * SUBSPACE_GROUP];
  for (int k = 0; k < NDB_PD_HALF * SUBSPACE_GROUP; ++k) acc[k] = LK_R(0.0);
  for (int32_t row = lo; row < hi; ++row) {
    const lk_real *const u = a->U + (int64_t)a->list[row] * a->ld + p;
    const lk_real *const v = a->V + (int64_t)row * a->ld + q;
    for (int i = 0; i < NDB_PD_HALF; ++i)
      for (int j = 0; j < SUBSPACE_GROUP; ++j) acc[SUBSPACE_GROUP * i + j] += u[i] * v[j];
  }
  for (int k = 0; k < NDB_PD_HALF * SUBSPACE_GROUP; ++k) out[k] = acc[k];
}

LK_KERNEL_PLAIN(ndb_pd_gram, a, e)
{
  const int32_t tiles = a->groups * a->groups, chunk = e / tiles, tile = e % tiles;
  const int32_t I = tile / a->groups, J = tile % a->groups;
  const int32_t lo = chunk * NDB_PD_TOUCHED;
  const int32_t hi = a->rows - lo < NDB_PD_TOUCHED ? a->rows : lo + NDB_PD_TOUCHED;
  lk_real *const out = a->part + (int64_t)SUBSPACE_GROUP * SUBSPACE_GROUP * e;
  if (ndb_pd_idle_tile(a, I, J)) return;
  for (int h = 0; h < 2; ++h)
    sum_half_tile(a, lo, hi, SUBSPACE_GROUP * I + NDB_PD_HALF * h, SUBSPACE_GROUP * J,
                  out + NDB_PD_HALF * SUBSPACE_GROUP * h);
}

LK_KERNEL_PLAIN(ndb_pd_gram_sum, a, e)
{
  const int32_t tiles = a->groups * a->groups;
  int32_t p = e / a->cols, q = e % a->cols;
  if (a->lower && q > p) { /* the mirror image */
    const int32_t t = p;
    p = q;
    q = t;
  }
  const int64_t tile = (int64_t)(p / SUBSPACE_GROUP) * a->groups + q / SUBSPACE_GROUP;
  const int64_t in = (int64_t)(p % SUBSPACE_GROUP) * SUBSPACE_GROUP + q % SUBSPACE_GROUP;
  lk_real s = LK_R(0.0);
#ifdef __CUDACC__
#pragma unroll 16 /* loads under way together; the order of the sum stays */
#endif
  for (int32_t c = 0; c < a->chunks; ++c)
    s += a->part[SUBSPACE_GROUP * SUBSPACE_GROUP * ((int64_t)c * tiles + tile) + in];
  a->S[e] = s;
}

LK_KERNEL_PLAIN(ndb_pd_table, a, j)
{
  const lk_real *const u = a->U + (int64_t)j * a->ld;
  lk_real *const out = a->table + (int64_t)j * a->half;
  int32_t m = 0;
  for (int32_t p = 0; p < a->cols; ++p)
    for (int32_t q = 0; q <= p; ++q) out[m++] = u[p] * u[q];
}

LK_KERNEL_PLAIN(ndb_pd_table_part, a, e)
{
  const int32_t chunk = e / a->half, m = e % a->half, lo = chunk * NDB_PD_TOUCHED;
  const int32_t hi = a->rows - lo < NDB_PD_TOUCHED ? a->rows : lo + NDB_PD_TOUCHED;
  lk_real s = LK_R(0.0);
  for (int32_t row = lo; row < hi; ++row) {
    const int32_t j = a->list[row];
    s += a->w[j] * a->table[(int64_t)j * a->half + m];
  }
  a->part[e] = s;
}

LK_KERNEL_PLAIN(ndb_pd_table_sum, a, e)
{
  int32_t p = e / a->cols, q = e % a->cols;
  if (q > p) {
    const int32_t t = p;
    p = q;
    q = t;
  }
  const int32_t m = p * (p + 1) / 2 + q;
  lk_real s = LK_R(0.0);
  for (int32_t c = 0; c < a->chunks; ++c) s += a->part[(int64_t)c * a->half + m];
  a->S[e] = s;
}
