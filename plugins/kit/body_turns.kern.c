/* body_turns.kern.c - see body_turns.kern.h. */
#include "kit/body_turns.kern.h"

#include "kit/body_matrix.kern.h"
#include "kit/body_turn.kern.h"

/* Entry of H + W in row i and column j */
LK_FN lk_real find_operator_entry(const body_turns_args *a, int32_t i, int32_t j)
{
  for (int64_t k = a->ptr[i]; k < a->ptr[i + 1]; ++k)
    if (a->col[k] == j) return i == j ? a->val[k] + a->w[i] : a->val[k];
  return LK_R(0.0);
}

/* A = H + W + C of the control points v; C has no rows of fixed points. */
LK_FN void fill_body_matrix(const body_turns_args *a, const int32_t *v, const body_turn *t,
                            lk_real *A)
{
  LK_ROLLED
  for (int p = 0; p < 4; ++p) {
    LK_ROLLED
    for (int q = 0; q < 4; ++q) {
      const lk_real h = find_operator_entry(a, v[p], v[q]);
      const int turns = !a->fixed[v[p]] && !a->fixed[v[q]];
      LK_ROLLED
      for (int k = 0; k < 9; ++k) {
        const int row = 3 * p + k / 3, column = 3 * q + k % 3;
        A[12 * row + column] =
            (k % 4 == 0 ? h : LK_R(0.0)) + (turns ? body_turn_entry(t, row, column) : LK_R(0.0));
      }
    }
  }
}

/* d = r - C total, 0 in rows of fixed points */
LK_FN void load_body_residual(const body_turns_args *a, const int32_t *v, const body_turn *t,
                              lk_real *d)
{
  lk_real along[3] = {LK_R(0.0), LK_R(0.0), LK_R(0.0)};
  LK_ROLLED
  for (int q = 0; q < 12; ++q)
    for (int k = 0; k < 3 && !a->fixed[v[q / 3]]; ++k)
      along[k] += t->k[k] * t->m[k][q] * a->total[3 * (int64_t)v[q / 3] + q % 3];
  LK_ROLLED
  for (int p = 0; p < 12; ++p) {
    d[p] = LK_R(0.0);
    if (a->fixed[v[p / 3]]) continue;
    d[p] = a->r[3 * (int64_t)v[p / 3] + p % 3];
    for (int k = 0; k < 3; ++k) d[p] -= along[k] * t->m[k][p];
  }
}

LK_KERNEL_PLAIN(body_turns_solve, a, i)
{
  const int32_t *const v = a->vert + 4 * (int64_t)i;
  const lk_real *const rest = a->data + BODY_TURNS_DATA * (int64_t)i;
  lk_real *const A = a->matrix + 144 * (int64_t)i;
  lk_real d[12], share = LK_R(0.0);
  body_turn t;
  body_turn_find(a->x, v, rest, rest[10], &t);
  fill_body_matrix(a, v, &t, A);
  load_body_residual(a, v, &t, d);
  if (body_matrix_factorise(A)) {
    body_matrix_solve(A, d);
    const lk_real turn = body_turn_angle(&t, d);
    share = turn > BODY_TURN_MOST ? BODY_TURN_MOST / turn : LK_R(1.0);
  }
  LK_ROLLED
  for (int p = 0; p < 12; ++p) a->total[3 * (int64_t)v[p / 3] + p % 3] += share * d[p];
}
