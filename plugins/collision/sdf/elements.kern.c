/* elements.kern.c - edges and triangles against signed distances: culling, pairs, safe steps. */
#include "elements.kern.h"

#include "geom/small.kern.h"
#include "geom/sorted.kern.h"

static const lk_real t_least = LK_R(1e-12);
/* A point so near an end or a side of its element is on it, 1. */
static const lk_real at_rim = LK_R(1e-6);

LK_FN int count_element_corners(const int32_t *v) { return v[2] < 0 ? 2 : 3; }

LK_FN lk_real measure_element_side(const lk_real *x, int32_t a, int32_t b)
{
  const lk_real d[3] = {x[3 * (int64_t)a] - x[3 * (int64_t)b],
                        x[3 * (int64_t)a + 1] - x[3 * (int64_t)b + 1],
                        x[3 * (int64_t)a + 2] - x[3 * (int64_t)b + 2]};
  return lk_norm3(d);
}

/* m, no point of the element moves farther against the body of the slot. */
LK_FN lk_real bound_element_way(const sdf_ways *w, const int32_t *v, lk_int slot)
{
  const lk_real *const motion = w->motion + (int64_t)SDF_MOTION * slot;
  lk_real own = LK_R(0.0), arm = LK_R(0.0);
  if (w->x1 == NULL) return LK_R(0.0);
  for (int k = 0; k < count_element_corners(v); ++k) {
    lk_real d[3], at[3];
    for (int c = 0; c < 3; ++c) {
      const int64_t i = 3 * (int64_t)v[k] + c;
      d[c] = w->x1[i] - w->x0[i];
      at[c] = w->x0[i] - motion[2 + c];
    }
    own = LK_FMAX(own, lk_norm3(d));
    arm = LK_FMAX(arm, lk_norm3(at));
  }
  return own + w->share * (motion[0] + motion[1] * (arm + own + motion[0]));
}

/* A gap of the corner now, from the gap known where it was. */
LK_FN lk_real bound_corner_gap(const sdf_reach_args *a, int32_t body, int32_t v)
{
  lk_real gap = a->gap[(int64_t)(body - a->first_body) * a->c.n + v], d[3];
  if (a->known_x == NULL) return gap;
  for (int c = 0; c < 3; ++c) d[c] = a->w.x0[3 * (int64_t)v + c] - a->known_x[3 * (int64_t)v + c];
  return gap - lk_norm3(d);
}

LK_KERNEL_PLAIN(sdf_reach, a, i)
{
  const int64_t cand = a->c.base + i;
  const lk_int slot = (lk_int)(cand / a->c.num);
  const int32_t *const v = a->c.corner + 4 * (cand % a->c.num), body = a->c.body[slot];
  const int num = count_element_corners(v);
  lk_real sum = LK_R(0.0);
  int fixed = 1;
  a->near[i] = 0;
  if (!a->c.wants[(int64_t)slot * a->c.num_objects + a->c.object[v[0]]]) return;
  for (int k = 0; k < num; ++k) {
    fixed &= a->c.fixed[v[k]] != 0;
    sum += bound_corner_gap(a, body, v[k]);
  }
  if (fixed) return;
  const lk_real ab = measure_element_side(a->w.x0, v[0], v[1]);
  lk_real spread = ab;
  if (num == 3) { /* no point is farther from all corners together than two sides are long */
    const lk_real bc = measure_element_side(a->w.x0, v[1], v[2]),
                  ca = measure_element_side(a->w.x0, v[2], v[0]);
    spread = ab + bc + ca - LK_FMIN(ab, LK_FMIN(bc, ca));
  }
  const lk_real least = (sum - spread) / (lk_real)num - a->c.radius[v[0]];
  a->near[i] = (uint8_t)(least < a->reach + a->scale * bound_element_way(&a->w, v, slot));
}

LK_KERNEL_PLAIN(sdf_row, a, i)
{
  if (!a->near[i]) return;
  const lk_int group = i / SDF_GROUP;
  int64_t j = a->place[group];
  for (lk_int b = SDF_GROUP * group; b < i; ++b) j += a->near[b];
  const int64_t cand = a->c.base + i;
  const int32_t *const v = a->c.corner + 4 * (cand % a->c.num);
  a->body[j] = a->c.body[cand / a->c.num];
  a->element[j] = v[3];
  for (int k = 0; k < 3; ++k) a->v[4 * j + k] = v[k];
  a->v[4 * j + 3] = (int32_t)(cand / a->c.num);
}

LK_KERNEL_PLAIN(sdf_meet, a, row)
{
  const lk_real radius = a->radius[a->r.v[4 * (int64_t)row]];
  sdf_meeting_gap(a->r.gap[row], radius, a->most, a->floor + row, a->tol + row);
}

LK_FN int is_inner_point(const int32_t *v, const lk_real *w)
{
  int inner = 1;
  for (int k = 0; k < count_element_corners(v); ++k) inner &= w[k] > at_rim;
  return inner;
}

LK_FN int is_close_element(const sdf_query *q, lk_real gap)
{
  return ((q->what & LOOM_DETECT_PROXIMITY) && gap < q->margin) ||
         ((q->what & LOOM_DETECT_OVERLAP) && gap < LK_R(0.0));
}

LK_FN uint64_t make_element_key(const sdf_rows *r, int64_t row)
{
  return (uint64_t)(uint32_t)r->body[row] << 32 | (uint64_t)(uint32_t)r->element[row];
}

LK_KERNEL_PLAIN(sdf_judge, a, row)
{
  const sdf_query *const q = &a->q;
  const int32_t *const v = a->r.v + 4 * (int64_t)row;
  const lk_real gap = a->r.gap[row] - q->radius[v[0]];
  int yes = 0, marked = q->mask == NULL;
  if ((q->what & LOOM_DETECT_PROXIMITY) && gap < q->margin && a->flat[row] <= q->margin) yes = 1;
  if ((q->what & LOOM_DETECT_OVERLAP) && gap < LK_R(0.0) &&
      is_inner_point(v, a->r.weight + 4 * (int64_t)row))
    yes = 1;
  if (a->r.toi != NULL && a->r.toi[row] <= LK_R(1.0) &&
      is_inner_point(v, a->r.hit + 4 * (int64_t)row))
    yes = 1;
  for (int k = 0; k < count_element_corners(v) && !marked; ++k) marked |= q->mask[v[k]] != 0;
  if (yes && q->exclude != NULL)
    yes = !lk_is_in(q->exclude, q->num_exclude, make_element_key(&a->r, row));
  a->found[row] = (uint8_t)(yes && marked);
}

LK_KERNEL_PLAIN(sdf_emit, a, row)
{
  const sdf_query *const q = &a->q;
  const int32_t *const v = a->r.v + 4 * (int64_t)row;
  if (!a->found[row]) return;
  const lk_int group = row / SDF_GROUP;
  int64_t j = a->first + a->place[group];
  for (lk_int b = SDF_GROUP * group; b < row; ++b) j += a->found[b];
  const lk_real f = a->r.gap[row];
  const int close = is_close_element(q, f - q->radius[v[0]]) || a->r.toi == NULL;
  const lk_real *const w = (close ? a->r.weight : a->r.hit) + 4 * (int64_t)row;
  lk_real n[3], p[3];
  if (close) {
    LK_LOAD3(n, a->normal_at, row);
    for (int c = 0; c < 3; ++c) {
      p[c] = -f * n[c];
      for (int k = 0; k < count_element_corners(v); ++k)
        p[c] += w[k] * q->x0[3 * (int64_t)v[k] + c];
    }
  } else {
    LK_LOAD3(n, a->hit_normal, row);
    LK_LOAD3(p, a->hit_point, row);
  }
  a->kind[j] = LOOM_PAIR_EO;
  a->obst[j] = a->r.body[row];
  a->key[j] = make_element_key(&a->r, row);
  a->gap[j] = close ? f - q->radius[v[0]] : a->hit_gap[row];
  a->toi[j] = a->r.toi != NULL ? a->r.toi[row] : LK_R(2.0);
  LK_STORE3(a->normal, j, n);
  LK_STORE3(a->point, j, p);
  for (int k = 0; k < 4; ++k) {
    a->v[4 * j + k] = k < 3 ? v[k] : -1;
    a->w[4 * j + k] = w[k];
  }
}

LK_KERNEL_PLAIN(sdf_stop, a, row)
{
  const int32_t *const v = a->r.v + 4 * (int64_t)row;
  const lk_real gap = a->r.gap[row] - a->radius[v[0]];
  lk_real floor = LK_R(0.0), tol = LK_R(-1.0);
  const lk_real way = bound_element_way(&a->w, v, v[3]);
  /* inside already: free to leave; or too far for its way */
  if (gap <= LK_R(0.0) || (LK_R(1.0) - a->keep) * (gap - a->min_gap) > way) {
  } else if (gap > a->min_gap) {
    floor = a->min_gap + a->keep * (gap - a->min_gap);
    tol = LK_FMIN(a->most, LK_R(0.1) * (gap - floor));
  } else { /* closer than wanted: it may only move away; the least distance is known to 1e-10 */
    lk_real longest = measure_element_side(a->w.x0, v[0], v[1]);
    for (int k = 0; k < 2 && v[2] >= 0; ++k)
      longest = LK_FMAX(longest, measure_element_side(a->w.x0, v[k], v[2]));
    floor = LK_FMAX(gap - LK_R(1e-9) * LK_FMAX(gap, longest), LK_R(0.0));
    tol = LK_R(0.0);
  }
  a->floor[row] = floor;
  a->tol[row] = tol;
}

LK_KERNEL_PLAIN(sdf_span, a, e)
{
  const int32_t *const v = a->c.corner + 4 * (int64_t)e;
  lk_real t = a->t[e];
  int32_t who = a->who[e];
  for (lk_int s = 0; s < a->slots; ++s) {
    const int64_t i = (int64_t)s * a->c.num + e;
    if (!a->near[i]) continue;
    const int64_t group = i / SDF_GROUP;
    const lk_int slot = (lk_int)(a->c.base / a->c.num) + s;
    int64_t row = a->place[group];
    for (int64_t b = SDF_GROUP * group; b < i; ++b) row += a->near[b];
    if (a->tol[row] < LK_R(0.0)) continue;
    lk_real b = LK_FMIN(a->toi[row], LK_R(1.0));
    const lk_real above = a->gap[row] - a->c.radius[v[0]] - a->min_gap;
    if (a->apart && above > LK_R(0.0)) {
      const lk_real way = bound_element_way(&a->w, v, slot), most = (LK_R(1.0) - a->keep) * above;
      if (way > most) b = LK_FMIN(b, most / way);
    }
    b = LK_FMAX(b, t_least);
    if (b >= t) continue;
    t = b;
    who = a->c.body[slot];
  }
  a->t[e] = t;
  a->who[e] = who;
}

LK_KERNEL_PLAIN(sdf_corner, a, i)
{
  lk_real t = a->t[i];
  int32_t who = a->who[i];
  for (int32_t k = a->first[i]; k < a->first[i + 1]; ++k) {
    const int32_t e = a->element[k];
    if (a->t_of[e] >= t) continue;
    t = a->t_of[e];
    who = a->who_of[e];
  }
  a->t[i] = t;
  a->who[i] = who;
}
