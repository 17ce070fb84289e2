/* sdf.kern.c - vertices against signed distances: proximity, overlap, impact, safe steps. */
#include "sdf.kern.h"

#include "geom/sorted.kern.h"

/* Steps never vanish altogether: so little of any motion is below its rounding. */
static const lk_real t_min = LK_R(1e-12);
static const lk_real no_impact = LK_R(2.0);

/* The vertex is free to move, and the pair is wanted. */
LK_FN int is_candidate(const sdf_query *q, int64_t c)
{
  const int64_t o = c / q->n, i = c % q->n;
  if (q->fixed[i] || (q->mask != NULL && !q->mask[i])) return 0;
  return q->exclude == NULL ||
         !lk_is_in(q->exclude, q->num_exclude, (uint64_t)o << 32 | (uint64_t)i);
}

LK_KERNEL_PLAIN(sdf_ask, a, row)
{
  const int64_t at = a->first + row, c = a->q.first + row;
  const int64_t i = a->v != NULL ? (int64_t)a->v[4 * at] : c % a->q.n;
  sdf_meeting_gap(a->gap[a->gap_first + row], a->q.radius[i], a->q.tol, a->floor + at, a->tol + at);
  if (a->v == NULL && !is_candidate(&a->q, c)) a->tol[at] = LK_R(-1.0);
}

LK_KERNEL_PLAIN(sdf_find, a, row)
{
  const sdf_query *const q = &a->q;
  const int64_t c = q->first + row;
  const lk_real gap = a->gap[a->gap_first + row] - q->radius[c % q->n];
  int yes = 0;
  if ((q->what & LOOM_DETECT_PROXIMITY) && gap < q->margin) yes = 1;
  if ((q->what & LOOM_DETECT_OVERLAP) && gap < LK_R(0.0)) yes = 1;
  if (a->toi != NULL && a->toi[row] <= LK_R(1.0)) yes = 1;
  a->found[c] = (uint8_t)(yes && is_candidate(q, c));
}

LK_KERNEL_PLAIN(sdf_count, a, g)
{
  const lk_int lo = SDF_GROUP * g, hi = a->num - lo < SDF_GROUP ? a->num : lo + SDF_GROUP;
  int64_t sum = 0;
  for (lk_int c = lo; c < hi; ++c) sum += a->found[c];
  a->count[g] = sum;
}

LK_KERNEL_PLAIN(sdf_fill, a, c)
{
  if (!a->found[c]) return;
  const lk_int group = c / SDF_GROUP;
  int64_t j = a->place[group];
  for (lk_int b = SDF_GROUP * group; b < c; ++b) j += a->found[b];
  j += a->first;
  const lk_int o = c / a->n, i = c % a->n;
  a->kind[j] = LOOM_PAIR_VO;
  a->obst[j] = o;
  a->key[j] = (uint64_t)o << 32 | (uint64_t)i;
  for (int k = 0; k < 4; ++k) {
    a->v[4 * j + k] = k == 0 ? i : -1;
    a->w[4 * j + k] = k == 0 ? LK_R(1.0) : LK_R(0.0);
  }
}

/* gap and normal are the body's at x0, toi has been searched if the query says so. */
LK_KERNEL_PLAIN(sdf_place, a, row)
{
  const sdf_query *const q = &a->q;
  const int64_t j = a->first + row, i = a->v[4 * j];
  const lk_real f = a->gap[j], gap = f - q->radius[i];
  lk_real n[3], point[3];
  LK_LOAD3(n, a->normal, j);
  for (int k = 0; k < 3; ++k) point[k] = q->x0[3 * i + k] - f * n[k];
  if (!(q->what & LOOM_DETECT_CCD)) a->toi[j] = no_impact;
  const int close = ((q->what & LOOM_DETECT_PROXIMITY) && gap < q->margin) ||
                    ((q->what & LOOM_DETECT_OVERLAP) && gap < LK_R(0.0));
  if (close || a->hit_gap == NULL) {
    a->gap[j] = gap;
    LK_STORE3(a->point, j, point);
    return;
  }
  LK_LOAD3(n, a->hit_normal, j);
  LK_LOAD3(point, a->hit_point, j);
  a->gap[j] = a->hit_gap[j];
  LK_STORE3(a->normal, j, n);
  LK_STORE3(a->point, j, point);
}

LK_KERNEL_PLAIN(sdf_floor, a, row)
{
  const lk_int i = (lk_int)((a->first + row) % a->n);
  const lk_real gap = a->gap[row] - a->radius[i];
  lk_real floor = LK_R(0.0), tol = LK_R(-1.0);
  if (a->fixed[i] || gap <= LK_R(0.0)) { /* inside already: free to leave */
  } else if (gap > a->min_gap) {
    floor = a->min_gap + a->keep * (gap - a->min_gap);
    tol = LK_FMIN(a->most, LK_R(0.1) * (gap - floor));
  } else { /* closer than wanted: it may only move away */
    floor = gap * (LK_R(1.0) - LK_R(1e-9));
    tol = LK_R(0.0);
  }
  a->floor[row] = floor;
  a->tol[row] = tol;
}

LK_KERNEL_PLAIN(sdf_free, a, i)
{
  a->t[i] = LK_R(1.0);
  a->who[i] = -1;
}

LK_KERNEL_PLAIN(sdf_bound, a, i)
{
  lk_real t = a->t[i];
  int32_t who = a->who[i];
  for (int32_t o = 0; o < a->bodies; ++o) {
    const int64_t row = (int64_t)o * a->n + i;
    if (a->tol[row] < LK_R(0.0)) continue;
    const lk_real b = LK_FMAX(LK_FMIN(a->toi[row], LK_R(1.0)), t_min);
    if (b > t) continue;
    t = b;
    who = a->first_body + o;
  }
  a->t[i] = t;
  a->who[i] = who;
}

LK_REDUCE_MAX(sdf_shortest, a, i) { return -a->t[i]; }

LK_REDUCE_MAX(sdf_blocker, a, i) { return a->t[i] > a->t_all ? LK_R(-1.0) : (lk_real)a->who[i]; }
