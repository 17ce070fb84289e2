/* sdf.kern.c - vertices against signed distances: proximity, overlap, impact, safe steps. */
#include "sdf.kern.h"

/* Steps never vanish altogether: so little of any motion is below its rounding. */
static const lk_real T_MIN = LK_R(1e-12);
static const lk_real NO_IMPACT = LK_R(2.0);

typedef struct sdf_hit {
  lk_real gap, toi;
  lk_real normal[3], point[3];
} sdf_hit;

LK_FN int is_excluded(const sdf_query *q, uint64_t key)
{
  int64_t lo = 0, hi = q->num_exclude;
  while (lo < hi) {
    const int64_t mid = lo + (hi - lo) / 2;
    if (q->exclude[mid] < key)
      lo = mid + 1;
    else
      hi = mid;
  }
  return lo < q->num_exclude && q->exclude[lo] == key;
}

LK_FN lk_real time_of_impact(const sdf_query *q, const obst_view *o, lk_int i)
{
  obst_path w;
  LK_LOAD3(w.x0, q->x0, i);
  LK_LOAD3(w.x1, q->x1, i);
  w.radius = q->radius[i];
  w.floor = LK_R(0.0);
  w.tol = q->tol;
  w.s0 = q->s0;
  w.s1 = q->s1;
  w.max_iters = q->max_iters;
  return obst_impact(o, &w);
}

/* Where the vertex will be struck: contact plane at the impact, carried along with the body
 * to where it stands at x1; gap of x1 above it. */
LK_FN void plane_of_impact(const sdf_query *q, const obst_view *o, lk_int i, sdf_hit *hit)
{
  obst_pose P, P1;
  lk_real x0[3], x1[3], x[3], p[3], nb[3], depth = LK_R(0.0);
  obst_pose_at(o, q->s0 + hit->toi * (q->s1 - q->s0), &P);
  obst_pose_at(o, q->s1, &P1);
  LK_LOAD3(x0, q->x0, i);
  LK_LOAD3(x1, q->x1, i);
  for (int c = 0; c < 3; ++c) x[c] = x0[c] + hit->toi * (x1[c] - x0[c]);
  obst_to_body(&P, x, p);
  const lk_real f = obst_distance_body(o, p, nb);
  for (int c = 0; c < 3; ++c) p[c] -= f * nb[c];
  obst_rotate(&P1, nb, hit->normal);
  obst_to_world(&P1, p, hit->point);
  for (int c = 0; c < 3; ++c) depth += hit->normal[c] * (x1[c] - hit->point[c]);
  hit->gap = depth - q->radius[i];
}

/* 1 if the candidate is to be reported; *hit is complete then. */
LK_FN int examine(const sdf_query *q, lk_int c, sdf_hit *hit)
{
  const lk_int o = c / q->n, i = c % q->n;
  const obst_view *const view = q->view + o;
  const uint64_t key = (uint64_t)o << 32 | (uint64_t)i;
  const int articulated = !view->convex && view->sdf == NULL;
  obst_pose P;
  lk_real x0[3];
  int yes = 0;
  if (q->fixed[i] || articulated || (q->mask != NULL && !q->mask[i])) return 0;
  if (q->exclude != NULL && is_excluded(q, key)) return 0;
  LK_LOAD3(x0, q->x0, i);
  obst_pose_at(view, q->s0, &P);
  const lk_real f = obst_distance(view, &P, x0, hit->normal);
  hit->gap = f - q->radius[i];
  for (int k = 0; k < 3; ++k) hit->point[k] = x0[k] - f * hit->normal[k];
  hit->toi = NO_IMPACT;
  if ((q->what & LOOM_DETECT_PROXIMITY) && hit->gap < q->margin) yes = 1;
  if ((q->what & LOOM_DETECT_OVERLAP) && hit->gap < LK_R(0.0)) yes = 1;
  if (q->what & LOOM_DETECT_CCD) {
    hit->toi = time_of_impact(q, view, i);
    if (hit->toi <= LK_R(1.0) && !yes) {
      plane_of_impact(q, view, i, hit);
      yes = 1;
    }
  }
  return yes;
}

LK_KERNEL_PLAIN(sdf_find, a, c)
{
  sdf_hit hit;
  a->found[c] = (uint8_t)examine(&a->q, c, &hit);
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
  sdf_hit hit;
  if (!a->found[c] || !examine(&a->q, c, &hit)) return;
  const lk_int group = c / SDF_GROUP;
  int64_t j = a->first + a->place[group];
  for (lk_int b = SDF_GROUP * group; b < c; ++b) j += a->found[b];
  const lk_int o = c / a->q.n, i = c % a->q.n;
  a->kind[j] = LOOM_PAIR_VO;
  a->obst[j] = o;
  a->gap[j] = hit.gap;
  a->toi[j] = hit.toi;
  a->key[j] = (uint64_t)o << 32 | (uint64_t)i;
  for (int k = 0; k < 4; ++k) {
    a->v[4 * j + k] = k == 0 ? i : -1;
    a->w[4 * j + k] = k == 0 ? LK_R(1.0) : LK_R(0.0);
  }
  LK_STORE3(a->normal, j, hit.normal);
  LK_STORE3(a->point, j, hit.point);
}

/* Largest t for which the gap stays above the floor on the way, for one body. */
LK_FN lk_real bound_of(const sdf_bound_args *a, const obst_view *o, lk_int i)
{
  obst_path w;
  obst_pose P;
  lk_real n[3];
  if (!o->convex && o->sdf == NULL) return LK_R(1.0);
  LK_LOAD3(w.x0, a->x0, i);
  LK_LOAD3(w.x1, a->x1, i);
  obst_pose_at(o, a->s0, &P);
  w.radius = a->radius[i];
  const lk_real gap = obst_distance(o, &P, w.x0, n) - w.radius;
  if (gap <= LK_R(0.0)) return LK_R(1.0); /* inside already: free to leave */
  if (gap > a->min_gap) {
    w.floor = a->min_gap + a->keep * (gap - a->min_gap);
    w.tol = LK_FMIN(a->tol, LK_R(0.1) * (gap - w.floor));
  } else { /* closer than wanted: it may only move away */
    w.floor = gap * (LK_R(1.0) - LK_R(1e-9));
    w.tol = LK_R(0.0);
  }
  w.s0 = a->s0;
  w.s1 = a->s1;
  w.max_iters = a->max_iters;
  return LK_FMAX(LK_FMIN(obst_impact(o, &w), LK_R(1.0)), T_MIN);
}

LK_KERNEL_PLAIN(sdf_bound, a, i)
{
  lk_real t = LK_R(1.0);
  if (!a->fixed[i])
    for (int32_t o = 0; o < a->num_obst; ++o) t = LK_FMIN(t, bound_of(a, a->view + o, i));
  a->t[i] = t;
}

LK_REDUCE_MAX(sdf_shortest, a, i) { return -a->t[i]; }

LK_REDUCE_MAX(sdf_blocker, a, i)
{
  lk_real who = LK_R(-1.0);
  if (a->fixed[i] || a->t[i] > a->t_all) return who;
  for (int32_t o = 0; o < a->num_obst; ++o)
    if (bound_of(a, a->view + o, i) <= a->t_all) who = (lk_real)o;
  return who;
}
