/* candidates.kern.c - see candidates.kern.h. */
#include "kit/candidates.kern.h"

#include "kit/cand_point.kern.h"
#include "kit/thickness.kern.h"

/* |U|^2 of the edge i j at rest */
LK_FN lk_real rest_length2(const cand_take_args *a, int32_t i, int32_t j)
{
  lk_real p[3], q[3], e[3];
  if (i < a->n) {
    LK_LOAD3(p, a->rest, i);
    LK_LOAD3(q, a->rest, j);
  } else {
    LK_LOAD3(p, a->body0, i - a->n);
    LK_LOAD3(q, a->body0, j - a->n);
  }
  lk_sub3(p, q, e);
  return lk_dot3(e, e);
}

/* Gap at rest of two sides of one object, m; REAL_MAX for other pairs. */
LK_FN lk_real gap_at_rest(const cand_rest_args *a, int32_t kind, const int32_t *v)
{
  lk_real x[12], w[4];
  if (kind != LOOM_PAIR_VT && kind != LOOM_PAIR_EE) return LK_REAL_MAX;
  for (int b = 0; b < 4; ++b) {
    if (a->object[v[b]] != a->object[v[0]]) return LK_REAL_MAX;
    LK_LOAD3(x + 3 * b, a->rest, v[b]);
  }
  const lk_real D = pair_is_edges(kind) ? dist_ee(x, w) : dist_vt(x, w);
  return LK_SQRT(D) - pair_radii(a->radius, a->n, kind, v);
}

LK_KERNEL_PLAIN(cand_rest, a, j)
{
  const lk_real gap = a->gap[j];
  a->flag[j] = 1;
  if (gap < a->reach || a->toi[j] <= LK_R(1.0)) return;
  const lk_real then = gap_at_rest(a, a->kind[j], a->v + 4 * j);
  if (then < a->limit && !(gap < LK_R(0.5) * (a->reach + then))) a->flag[j] = 0;
}

LK_KERNEL_PLAIN(cand_take, a, j)
{
  const lk_int i = a->pick != NULL ? a->pick[j] : j;
  const int32_t kind = a->kind_in[i], *const v = a->v_in + 4 * (int64_t)i;
  const int edges = pair_is_edges(kind);
  a->kind[j] = kind;
  a->obst[j] = a->obst_in[i];
  for (int b = 0; b < 4; ++b) a->v[4 * j + b] = v[b];
  a->xi[j] = pair_radii(a->radius, a->n, kind, v);
  a->touch[j] = pair_is_point(kind);
  a->par[j] = edges ? BARRIER_PARALLEL * rest_length2(a, v[0], v[1]) * rest_length2(a, v[2], v[3])
                    : LK_R(0.0);
}

LK_KERNEL_PLAIN(cand_touch, a, c)
{
  const int64_t row = a->row[c];
  if (row == a->row[c + 1]) return;
  a->body[row] = a->obst[c];
  for (int b = 0; b < 4; ++b) a->vert[4 * row + b] = a->v[4 * c + b];
}

LK_REDUCE_MAX(cand_moved, a, i)
{
  const lk_real d[3] = {a->x[3 * i] - a->anchor[3 * i], a->x[3 * i + 1] - a->anchor[3 * i + 1],
                        a->x[3 * i + 2] - a->anchor[3 * i + 2]};
  return lk_dot3(d, d);
}

LK_KERNEL_PLAIN(cand_measure, a, c)
{
  const cand_state *const s = &a->s;
  lk_real x[12], w[4], D;
  if (a->num[c] == 0) { /* all vertices are fixed: no force could move them */
    a->room[c] = LK_REAL_MAX;
    a->flag[c] = 0;
    return;
  }
  const lk_real xi = s->xi[c], xi2 = xi * xi;
  if (pair_is_point(s->kind[c])) {
    const lk_real f = cand_point(s, c, w, x);
    D = f * LK_FABS(f); /* negative inside */
  } else {
    D = cand_pair(s, c, x, w);
  }
  a->room[c] = D - xi2;
  a->flag[c] = !(D - xi2 >= a->reach * (a->reach + LK_R(2.0) * xi)); /* NaN shows */
  if (pair_is_point(s->kind[c]) && cand_share(s, c) == LK_R(0.0)) a->flag[c] = 0;
  if (a->thins && a->flag[c] && cand_is_covered(s, c, a->count, w, D)) a->flag[c] = 0;
}

LK_REDUCE_MAX(cand_least_room, a, c) { return -a->room[c]; }

/* -(d - xi), m; -REAL_MAX without corners */
LK_FN lk_real minus_gap(const cand_room_args *a, lk_int c)
{
  const lk_real D = a->room[c] + a->xi[c] * a->xi[c];
  if (a->room[c] == LK_REAL_MAX) return -LK_REAL_MAX;
  return a->xi[c] - (D < LK_R(0.0) ? -LK_SQRT(-D) : LK_SQRT(D));
}

LK_REDUCE_MAX(cand_least_gap, a, c) { return minus_gap(a, c); }

LK_REDUCE_MAX(cand_least_gap_of, a, i)
{
  const int32_t c = a->list[i];
  for (int b = 0; b < 4; ++b) {
    const int32_t j = a->v[4 * c + b];
    if (j >= 0 && j < a->n && a->island[a->object[j]] == a->k) return minus_gap(&a->of, c);
  }
  return -LK_REAL_MAX;
}

LK_KERNEL_PLAIN(cand_compact, a, c)
{
  if (a->place[c] != a->place[c + 1]) a->list[a->place[c]] = c;
}

LK_KERNEL_PLAIN(cand_count_corners, a, i)
{
  const int64_t num = a->num[a->list[i]];
  a->count[i] = a->square ? num * num : num;
}

LK_KERNEL_PLAIN(cand_tell, a, i)
{
  const int64_t high = *a->total / CAND_DIGIT, low = *a->total % CAND_DIGIT;
  (void)i;
  a->digit[0] = (lk_real)high;
  a->digit[1] = (lk_real)low;
}
