/* impacts.kern.c - see impacts.kern.h.  Sums are gathered in the order of corners: the same bits
 * for any number of threads. */
#include "impacts.kern.h"

#include "geom/small.kern.h"

#ifdef __CUDACC__
/* One element per thread in sums, as in kit/krylov_bsr3.kern.c. */
#undef LK_CHUNK
#define LK_CHUNK LK_BLOCK
#endif

/* ---- from pairs to impacts ---- */

LK_KERNEL_PLAIN(impact_key, a, i)
{
  a->key[i] = a->pair_key[i] | (pair_is_point(a->kind[i]) ? IMPACT_BODY_BIT : 0) |
              (a->kind[i] == LOOM_PAIR_EO ? IMPACT_ELEMENT_BIT : 0);
}

LK_KERNEL_PLAIN(impact_flag, a, i)
{
  a->flag[i] = a->old[i] < 0 && (a->chosen == NULL || a->chosen[i]);
}

/* Position of vertex j at the start (end 0) or the end of the step. */
LK_FN const lk_real *impact_vertex_position(const impact_take_args *a, int64_t j, int end)
{
  if (j < a->num_verts) return (end ? a->x1 : a->x0) + 3 * j;
  return (end ? a->body1 : a->body0) + 3 * (j - a->num_verts);
}

/* Growth of the gap along n over the step: n . sum w (x1 - x0), less the way of a body's point. */
LK_FN lk_real gap_growth(const impact_take_args *a, int64_t i, const lk_real n[3])
{
  lk_real sum = LK_R(0.0);
  for (int c = 0; c < 3 && pair_is_point(a->kind[i]); ++c)
    sum -= n[c] * (a->point[3 * i + c] - a->point_start[3 * i + c]);
  for (int k = 0; k < 4; ++k) {
    const int64_t j = a->pair_v[4 * i + k];
    lk_real d[3];
    if (j < 0) continue;
    const lk_real *const to = impact_vertex_position(a, j, 1), *const from =
                                                                   impact_vertex_position(a, j, 0);
    for (int c = 0; c < 3; ++c) d[c] = to[c] - from[c];
    sum += a->pair_w[4 * i + k] * lk_dot3(n, d);
  }
  return sum;
}

/* Place of the prescribed side at the start (was) and at the end (is): a body's point, or the
 * weighted mean of the vertices of bodies and of fixed vertices. */
LK_FN void find_carrier(const impact_take_args *a, int64_t i, lk_real *was, lk_real *is)
{
  lk_real weight = LK_R(0.0);
  for (int c = 0; c < 3; ++c) was[c] = is[c] = LK_R(0.0);
  for (int c = 0; c < 3 && pair_is_point(a->kind[i]); ++c) {
    was[c] = a->point_start[3 * i + c];
    is[c] = a->point[3 * i + c];
  }
  if (pair_is_point(a->kind[i])) return;
  for (int k = 0; k < 4; ++k) {
    const int64_t j = a->pair_v[4 * i + k];
    if (j < 0 || (j < a->num_verts && !a->fixed[j])) continue;
    const lk_real w = LK_FABS(a->pair_w[4 * i + k]) + LK_R(1e-12);
    const lk_real *const end = impact_vertex_position(a, j, 1), *const start =
                                                                    impact_vertex_position(a, j, 0);
    for (int c = 0; c < 3; ++c) {
      was[c] += w * start[c];
      is[c] += w * end[c];
    }
    weight += w;
  }
  for (int c = 0; c < 3; ++c) { /* NaN without a prescribed side */
    was[c] /= weight;
    is[c] /= weight;
  }
}

/* So much of its gap is asked of a pair that passes by too closely: see impacts.h. */
#define PASSING LK_R(1.1)

LK_KERNEL_PLAIN(impact_take, a, i)
{
  const int known = a->old[i] >= 0;
  const int64_t j = known ? a->rank[a->old[i]] : a->first + a->place[i];
  lk_real n[3], sum = LK_R(0.0);
  if (a->chosen != NULL && !a->chosen[i]) return;
  LK_LOAD3(n, a->normal, (int64_t)i);
  LK_STORE3(a->n, j, n);
  a->key[j] = a->pair_key[i];
  for (int k = 0; k < 4; ++k) {
    const int32_t at = a->pair_v[4 * (int64_t)i + k];
    const int free = at >= 0 && at < a->num_verts && !a->fixed[at];
    const lk_real w = free ? a->pair_w[4 * (int64_t)i + k] : LK_R(0.0);
    lk_real x[3];
    a->v[4 * j + k] = free ? at : -1;
    a->w[4 * j + k] = w;
    if (!free) continue;
    LK_LOAD3(x, a->x1, (int64_t)at);
    sum += w * lk_dot3(n, x);
  }
  a->offset[j] = a->gap[i] - sum;
  a->target[j] = LK_FMAX(a->gap[i] - gap_growth(a, i, n), a->clearance);
  if (known && a->clearance >= LK_R(0.0) && a->gap[i] >= a->target[j])
    a->target[j] = PASSING * a->gap[i];
  find_carrier(a, i, a->from + 3 * j, a->to + 3 * j);
}

/* ---- the vertices that impacts touch ---- */

LK_KERNEL_PLAIN(impact_corner, a, c) { a->key[c] = (uint64_t)(a->v[c] >= 0 ? a->v[c] : a->n); }

LK_REDUCE_SUM(impact_real, a, c) { return a->v[c] >= 0 ? LK_R(1.0) : LK_R(0.0); }

LK_REDUCE_SUM(impact_square, a, e)
{
  const lk_real k = (lk_real)(a->ptr[e + 1] - a->ptr[e]);
  return k * k;
}

LK_KERNEL_PLAIN(impact_head, a, c)
{
  a->head[c] = a->key[c] < (uint64_t)a->n && (c == 0 || a->key[c] != a->key[c - 1]);
}

LK_KERNEL_PLAIN(impact_list, a, c)
{
  if (a->key[c] >= (uint64_t)a->n) return;
  a->node[c] = a->perm[c] / 4;
  if (a->head[c]) {
    a->ptr[a->place[c]] = c;
    a->vert[a->place[c]] = (int32_t)a->key[c];
  }
  if (c + 1 == a->count || a->key[c + 1] >= (uint64_t)a->n)
    a->ptr[a->place[c] + a->head[c]] = (int64_t)c + 1;
}

/* ---- the system ---- */

LK_KERNEL_PLAIN(impact_couple, a, e)
{
  const lk_real inv = LK_R(1.0) / a->mass[a->vert[e]];
  lk_real *K = a->K + a->block[e];
  for (int64_t c = a->ptr[e]; c < a->ptr[e + 1]; ++c) {
    const int64_t j = a->perm[c] / 4;
    lk_real n[3];
    LK_LOAD3(n, a->n, j);
    for (int k = 0; k < 3; ++k) n[k] *= inv * a->w[a->perm[c]];
    for (int64_t d = a->ptr[e]; d < a->ptr[e + 1]; ++d, ++K) {
      lk_real other[3];
      LK_LOAD3(other, a->n, (int64_t)(a->perm[d] / 4));
      *K = a->w[a->perm[d]] * lk_dot3(n, other);
    }
  }
}

LK_KERNEL_PLAIN(impact_rhs, a, j)
{
  lk_real n[3], x[3], gap = a->offset[j];
  LK_LOAD3(n, a->n, (int64_t)j);
  for (int k = 0; k < 4; ++k) {
    const int64_t i = a->v[4 * (int64_t)j + k];
    if (i < 0) continue;
    LK_LOAD3(x, a->x, i);
    gap += a->w[4 * (int64_t)j + k] * lk_dot3(n, x);
  }
  a->r[j] = a->target[j] - gap;
}

/* y_j = ((S + shift D) x)_j; returns y_j x_j. */
LK_FN lk_real multiply_impact_row(const impact_matrix_args *a, int64_t j)
{
  lk_real y = LK_R(0.0);
  if (j < a->m) y = a->shift * a->val[a->diag[j]] * a->x[j];
  if (j < a->m)
    for (int64_t k = a->row[j]; k < a->row[j + 1]; ++k) y += a->val[k] * a->x[a->col[k]];
  a->y[j] = y;
  return y * a->x[j];
}

LK_REDUCE_SUM_PLAIN(impact_multiply, a, i)
{
  lk_real sum = LK_R(0.0);
  if (*a->stop != 0) return sum;
  if (a->split) return multiply_impact_row(a, i);
  for (int64_t j = 3 * (int64_t)i; j < 3 * ((int64_t)i + 1); ++j) sum += multiply_impact_row(a, j);
  return sum;
}

/* A row of zeros, which belongs to an impact without free vertices, gives y = 0. */
LK_REDUCE_SUM_PLAIN(impact_precondition, a, i)
{
  lk_real sum = LK_R(0.0);
  if (*a->stop != 0) return sum;
  for (int64_t j = 3 * (int64_t)i; j < 3 * ((int64_t)i + 1); ++j) {
    const lk_real d = j < a->m ? a->val[a->diag[j]] : LK_R(0.0);
    const lk_real y = d > LK_R(0.0) ? a->x[j] / d : LK_R(0.0);
    a->y[j] = y;
    sum += y * a->x[j];
  }
  return sum;
}

/* ---- effect of the multipliers ---- */

LK_KERNEL_PLAIN(impact_apply, a, e)
{
  const int64_t i = a->vert[e];
  const lk_real inv = LK_R(1.0) / a->mass[i];
  lk_real x[3], n[3], push[3] = {LK_R(0.0), LK_R(0.0), LK_R(0.0)};
  for (int64_t c = a->ptr[e]; c < a->ptr[e + 1]; ++c) {
    const int64_t j = a->perm[c] / 4;
    const lk_real f = a->w[a->perm[c]] * a->lambda[j];
    LK_LOAD3(n, a->n, j);
    for (int k = 0; k < 3; ++k) push[k] += f * n[k];
  }
  LK_LOAD3(x, a->x_before, i);
  for (int k = 0; k < 3; ++k) x[k] += inv * push[k];
  LK_STORE3(a->x, i, x);
  a->mask[i] = 1;
}

LK_KERNEL_PLAIN(impact_crowd, a, e)
{
  for (int64_t c = a->ptr[e]; c < a->ptr[e + 1]; ++c)
    a->crowd[a->perm[c]] = a->ptr[e + 1] - a->ptr[e];
}

/* Impacts at the most crowded vertex of impact j. */
LK_FN lk_real most_crowded(const int64_t *crowd, const int32_t *v, int64_t j)
{
  int64_t most = 1;
  for (int64_t c = 4 * j; c < 4 * (j + 1); ++c)
    if (v[c] >= 0 && crowd[c] > most) most = crowd[c];
  return (lk_real)most;
}

LK_KERNEL_PLAIN(impact_alone, a, j)
{
  const lk_real d = a->val[a->diag[j]] * most_crowded(a->crowd, a->v, j);
  a->lambda[j] = d > LK_R(0.0) ? a->r[j] / d : LK_R(0.0);
}

/* b - S y */
LK_FN lk_real push_residual(const impact_push_args *a, int64_t j)
{
  lk_real r = a->b[j];
  for (int64_t k = a->row[j]; k < a->row[j + 1]; ++k) r -= a->val[k] * a->y[a->col[k]];
  return r;
}

LK_KERNEL_PLAIN(impact_push, a, j)
{
  const lk_real d = a->val[a->diag[j]] * most_crowded(a->crowd, a->v, j), last = a->lambda[j];
  const lk_real step = d > LK_R(0.0) ? push_residual(a, j) / d : LK_R(0.0);
  const lk_real next = LK_FMAX(LK_R(0.0), a->y[j] + step);
  a->lambda[j] = next;
  a->ahead[j] = next + a->momentum * (next - last);
}

LK_REDUCE_MAX(impact_slack, a, j)
{
  const lk_real r = push_residual(a, j);
  return a->y[j] > LK_R(0.0) ? LK_FABS(r)
                             : r; /* without a push a gap may be as large as it likes */
}

LK_REDUCE_MAX(impact_strongest, a, j) { return LK_FABS(a->lambda[j]); }
LK_REDUCE_SUM(impact_pulling, a, j) { return a->lambda[j] < LK_R(0.0) ? LK_R(1.0) : LK_R(0.0); }

LK_KERNEL(impact_clear, a, i) { a->mask[i] = 0; }

LK_REDUCE_SUM_PLAIN(impact_loss, a, i)
{
  lk_real x[3], before[3], start[3];
  if (a->fixed[i]) return LK_R(0.0);
  LK_LOAD3(x, a->x, (int64_t)i);
  LK_LOAD3(before, a->x_before, (int64_t)i);
  LK_LOAD3(start, a->x_start, (int64_t)i);
  for (int k = 0; k < 3; ++k) {
    x[k] -= start[k];
    before[k] -= start[k];
  }
  return LK_R(0.5) * a->mass[i] * (lk_dot3(before, before) - lk_dot3(x, x));
}
