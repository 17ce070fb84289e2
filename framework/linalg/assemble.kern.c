/* assemble.kern.c - gathering kernels: every row of a result adds up its own contributions. */
#include "linalg/assemble.kern.h"

#include "geom/small.kern.h"

/* Adds contributions one after the other to the present value, so that the sum does not depend on
 * where chunks end. */
LK_KERNEL_PLAIN(asm_vec_gather, a, i)
{
  const int wide = a->vert == NULL;
  const int32_t lo = wide ? a->wide_ptr[i] : a->ptr[i];
  const int32_t hi = wide ? a->wide_ptr[i + 1] : a->ptr[i + 1];
  const int64_t v = (int64_t)a->base + (wide ? a->wide_vert[i] : a->vert[i]);
  lk_real s[3], c[3];
  LK_LOAD3(s, a->out, v);
  for (int32_t k = lo; k < hi; ++k) {
    const int64_t q = wide ? a->wide_corner[k] : a->corner[k];
    LK_LOAD3(c, a->contrib, q);
    s[0] += c[0];
    s[1] += c[1];
    s[2] += c[2];
  }
  LK_STORE3(a->out, v, s);
}

/* place of column j in row i, -1 if it is not there */
LK_FN int64_t find_row_column(const int64_t *row_ptr, const int32_t *col, int32_t i, int32_t j)
{
  int64_t lo = row_ptr[i], len = row_ptr[i + 1] - lo;
  const int64_t end = lo + len;
  while (len > 0) {
    const int64_t half = len / 2;
    if (col[lo + half] < j) {
      lo += half + 1;
      len -= half + 1;
    } else {
      len = half;
    }
  }
  return lo < end && col[lo] == j ? lo : -1;
}

LK_KERNEL_PLAIN(asm_bsr_mass, a, i)
{
  const int64_t k = find_row_column(a->row_ptr, a->col, i, i);
  lk_real *v = a->val + 9 * k;
  const lk_real m = a->scale * a->mass[i];
  v[0] += m;
  v[4] += m;
  v[8] += m;
}

LK_KERNEL_PLAIN(asm_csr_mass, a, i)
{
  a->val[find_row_column(a->row_ptr, a->col, i, i)] += a->scale * a->mass[i];
}

LK_KERNEL_PLAIN(asm_bsr_unit, a, i)
{
  for (int64_t k = a->row_ptr[i]; k < a->row_ptr[i + 1]; ++k) {
    const int32_t j = a->col[k];
    if (!a->fixed[i] && !a->fixed[j]) continue;
    lk_real *v = a->val + 9 * k;
    for (int c = 0; c < 9; ++c) v[c] = i == j && c % 4 == 0 ? LK_R(1.0) : LK_R(0.0);
  }
}

LK_KERNEL_PLAIN(asm_csr_unit, a, i)
{
  for (int64_t k = a->row_ptr[i]; k < a->row_ptr[i + 1]; ++k) {
    const int32_t j = a->col[k];
    if (a->fixed[i] || a->fixed[j]) a->val[k] = i == j ? LK_R(1.0) : LK_R(0.0);
  }
}

/* The corners of row i that belong to the elements, [*lo, *hi) of `corner`. */
LK_FN void asm_find_corners(const asm_bsr_elem_args *a, lk_int i, int32_t *lo, int32_t *hi)
{
  *lo = a->ptr[i];
  *hi = a->ptr[i + 1];
  if (a->until == 0) return;
  while (*lo < *hi && a->corner[*lo] < a->arity * a->from) ++*lo;
  while (*lo < *hi && a->corner[*hi - 1] >= a->arity * a->until) --*hi;
}

/* The three rows of corner q, each 3 used long; NULL: its vertex is not among the first `used`. */
LK_FN const lk_real *asm_corner_rows(const asm_bsr_elem_args *a, int32_t q, int32_t used)
{
  const int32_t e = q / a->arity, slot = q - a->arity * e;
  return slot < used ? a->hess + 9 * (int64_t)used * (used * (e - a->from) + slot) : NULL;
}

/* t = the 3x3 block at s, with rows `stride` apart; returns 0 where it is zero. */
LK_FN int asm_load_block(const lk_real *s, int32_t stride, lk_real *t)
{
  int any = 0;
  LK_UNROLL
  for (int c = 0; c < 9; ++c) {
    t[c] = s[stride * (c / 3) + c % 3];
    any |= t[c] != LK_R(0.0);
  }
  return any;
}

/* Vertices that a patch lacks repeat its first one: their blocks of zeros would all be added to the
 * same place, and each sum would wait for the last. */
LK_KERNEL_PLAIN(asm_bsr_elem, a, i)
{
  const int32_t used = a->used > 0 ? a->used : a->arity, stride = 3 * used;
  const int64_t base = a->row_ptr[a->first + i];
  int32_t lo, hi;
  asm_find_corners(a, i, &lo, &hi);
  for (int32_t k = lo; k < hi; ++k) {
    const lk_real *const rows = asm_corner_rows(a, a->corner[k], used);
    const uint16_t *pos = a->pos + (int64_t)k * a->arity;
    if (rows == NULL) continue;
    for (int32_t b = 0; b < used; ++b) {
      lk_real t[9];
      if (!asm_load_block(rows + 3 * (int64_t)b, stride, t)) continue;
      const int64_t at = a->map != NULL ? a->map[base + pos[b]] : base + pos[b];
      lk_real *const v = a->val + 9 * at;
      LK_UNROLL
      for (int c = 0; c < 9; ++c) v[c] += t[c];
    }
  }
}

/* Number t % 9 of the blocks of row t / 9, with the sums of asm_bsr_elem: neighbouring threads read
 * and write the numbers of one block. */
LK_KERNEL_PLAIN(asm_bsr_elem_number, a, t)
{
  const lk_int i = t / 9, number = t % 9;
  const int32_t used = a->used > 0 ? a->used : a->arity, stride = 3 * used;
  const int64_t base = a->row_ptr[a->first + i];
  int32_t lo, hi;
  asm_find_corners(a, i, &lo, &hi);
  for (int32_t k = lo; k < hi; ++k) {
    const lk_real *s = asm_corner_rows(a, a->corner[k], used);
    const uint16_t *pos = a->pos + (int64_t)k * a->arity;
    if (s == NULL) continue;
    for (int32_t b = 0; b < used; ++b, s += 3) {
      const int64_t at = a->map != NULL ? a->map[base + pos[b]] : base + pos[b];
      a->val[9 * at + number] += s[number / 3 * stride + number % 3];
    }
  }
}

/* B of the element of corner q, and in own [9] its columns of the corner: own[3 r + c] of row r;
 * NULL: the corner has no part in B (missing vertices of a patch), and no blocks. */
LK_FN const lk_real *asm_corner_factor(const asm_bsr_elem_args *a, int32_t q, lk_real *own)
{
  const int32_t side = 3 * a->arity, e = q / a->arity;
  const lk_real *const B = a->hess + 3 * (int64_t)side * (e - a->from);
  return asm_load_block(B + 3 * (q - a->arity * e), side, own) ? B : NULL;
}

/* Blocks of B'B of the elements of row i. */
LK_KERNEL_PLAIN(asm_bsr_square, a, i)
{
  const int32_t side = 3 * a->arity;
  const int64_t base = a->row_ptr[a->first + i];
  int32_t lo, hi;
  asm_find_corners(a, i, &lo, &hi);
  for (int32_t k = lo; k < hi; ++k) {
    lk_real own[9], t[9];
    const lk_real *const B = asm_corner_factor(a, a->corner[k], own);
    const uint16_t *const pos = a->pos + (int64_t)k * a->arity;
    if (B == NULL) continue;
    for (int32_t b = 0; b < a->arity; ++b) {
      if (!asm_load_block(B + 3 * (int64_t)b, side, t)) continue;
      const int64_t at = a->map != NULL ? a->map[base + pos[b]] : base + pos[b];
      lk_real *const v = a->val + 9 * at;
      LK_UNROLL
      for (int c = 0; c < 9; ++c)
        v[c] +=
            own[c / 3] * t[c % 3] + own[3 + c / 3] * t[3 + c % 3] + own[6 + c / 3] * t[6 + c % 3];
    }
  }
}

/* Number t % 9 of the blocks of row t / 9, with the sums of asm_bsr_square. */
LK_KERNEL_PLAIN(asm_bsr_square_number, a, t)
{
  const lk_int i = t / 9, r = t % 9 / 3, c = t % 3;
  const int32_t side = 3 * a->arity;
  const int64_t base = a->row_ptr[a->first + i];
  int32_t lo, hi;
  asm_find_corners(a, i, &lo, &hi);
  for (int32_t k = lo; k < hi; ++k) {
    lk_real own[9];
    const lk_real *const first = asm_corner_factor(a, a->corner[k], own);
    const uint16_t *const pos = a->pos + (int64_t)k * a->arity;
    if (first == NULL) continue;
    const lk_real *const B = first + c;
    for (int32_t b = 0; b < a->arity; ++b) {
      const int64_t at = a->map != NULL ? a->map[base + pos[b]] : base + pos[b];
      a->val[9 * at + t % 9] +=
          own[r] * B[3 * b] + own[3 + r] * B[side + 3 * b] + own[6 + r] * B[2 * side + 3 * b];
    }
  }
}

LK_KERNEL_PLAIN(asm_csr_elem, a, i)
{
  const int32_t hi = a->ptr[i + 1], v = a->first + i;
  for (int32_t k = a->ptr[i]; k < hi; ++k) {
    const int32_t q = a->corner[k];
    const int32_t *verts = a->verts + (q - q % a->arity);
    const lk_real *w = a->weights + (int64_t)a->arity * q;
    for (int32_t b = 0; b < a->arity; ++b)
      a->val[find_row_column(a->row_ptr, a->col, v, verts[b])] += w[b];
  }
}

LK_KERNEL_PLAIN(asm_place, a, i)
{
  const int32_t r = a->row[i], c = a->col[i];
  int64_t k = -1;
  if (r >= 0 && r < a->num_rows) k = find_row_column(a->row_ptr, a->cols, r, c);
  a->place[i] = k < 0 ? ASM_NO_PLACE : (uint64_t)k;
}

LK_REDUCE_MAX(asm_missing, a, i) { return a->place[i] == ASM_NO_PLACE ? LK_R(1.0) : LK_R(0.0); }

/* The first triplet of each place adds all of them, in the order they were given. */
LK_KERNEL_PLAIN(asm_triplet_sum, a, i)
{
  const uint64_t at = a->place[i];
  if (i > 0 && a->place[i - 1] == at) return;
  lk_real s[9] = {0, 0, 0, 0, 0, 0, 0, 0, 0};
  for (int64_t k = i; k < a->n && a->place[k] == at; ++k) {
    const lk_real *b = a->block + 9 * (int64_t)a->order[k];
    for (int c = 0; c < 9; ++c) s[c] += b[c];
  }
  for (int c = 0; c < 9; ++c) a->val[9 * at + (uint64_t)c] += s[c];
}
