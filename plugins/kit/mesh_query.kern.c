/* mesh_query.kern.c - narrow phase and step bounds of named pairs; see mesh_query.kern.h. */
#include "kit/mesh_query.kern.h"

#include "kit/mesh_pair.kern.h"

/* The pass for the CPU, neither CUDA's nor that of the simulated device. */
#if !defined(__CUDACC__) && !defined(LOOM_MEM_SIM_H)
#define MESH_BOTH_FAMILIES
#endif

/* Steps never vanish altogether: so little of any motion is below its rounding. */
static const lk_real t_min = LK_R(1e-12);

/* ---- quick test ---- */

/* Largest square of the displacement of a vertex of one side relative to one of the other. */
LK_FN lk_real relative_motion(int family, const lk_real *u)
{
  lk_real r[3], q, best = LK_R(0.0);
  const int first = family == MESH_VT ? 1 : 2;
  LK_UNROLL
  for (int i = 0; i < 2; ++i) {
    LK_UNROLL
    for (int j = 1; j < 4; ++j) {
      if (i >= first || j < first) continue;
      lk_sub3(u + 3 * i, u + 3 * j, r);
      q = lk_dot3(r, r);
      best = q > best ? q : best;
    }
  }
  return best;
}

/* Positions of a pair relative to its first vertex, their distance and the radii. */
LK_FN lk_real distance_at_start(const mesh_near_args *a, int family, lk_int c, int32_t *v,
                                lk_real *x)
{
  lk_real w[4];
  mesh_verts(&a->m, family, a->name[c], v);
  mesh_gather(a->m.x0, v, x);
  return distance_of(family, x, w);
}

LK_FN int64_t is_close(const mesh_near_args *a, int family, lk_int c)
{
  int32_t v[4];
  lk_real x[12];
  const lk_real d = distance_at_start(a, family, c, v, x);
  return d - mesh_radii(&a->m, family, v) < a->reach;
}

/* 0 where the pair can be refused: with the distance d at x0 and motions of at most l its sides
 * stay at least d - l apart, and that is more than the share of d to be kept. */
LK_FN int64_t may_matter(const mesh_near_args *a, int family, lk_int c)
{
  int32_t v[4];
  lk_real x[12], y[12], size = LK_R(0.0);
  const lk_real d = distance_at_start(a, family, c, v, x), r = mesh_radii(&a->m, family, v);
  mesh_gather(a->m.x1, v, y);
  LK_UNROLL
  for (int i = 11; i >= 0; --i) {
    size += LK_FABS(x[i]);
    y[i] = y[i] - y[i % 3] - x[i];
  }
  const lk_real l = LK_SQRT(relative_motion(family, y)), gap = d - r;
  /* as much as rounding could make this test and CCD differ */
  const lk_real slack = LK_R(64.0) * LK_EPSILON * (size + l + r);
  const lk_real excess = (LK_R(1.0) - a->keep) * (gap - a->min_gap);
  return !(excess > l + slack) | (gap < a->reach);
}

LK_KERNEL(mesh_close_vt, a, c) { a->found[c] = is_close(a, MESH_VT, c); }
LK_KERNEL(mesh_close_ee, a, c) { a->found[c] = is_close(a, MESH_EE, c); }
LK_KERNEL(mesh_near_vt, a, c) { a->found[c] = may_matter(a, MESH_VT, c); }
LK_KERNEL(mesh_near_ee, a, c) { a->found[c] = may_matter(a, MESH_EE, c); }
LK_KERNEL(mesh_clear, a, c) { a->found[a->count + c] = 0; }

/* ---- pairs left out ---- */

LK_KERNEL_PLAIN(mesh_leave_out, a, c)
{
  int32_t v[4];
  if (!a->found[c]) return;
  const int split = a->family == MESH_VT ? 1 : 2;
  int listed = 0;
  mesh_verts(&a->m, a->family, a->name[c], v);
  for (int i = 0; i < split; ++i)
    for (int j = split; j < 4; ++j) listed |= lk_is_in_row(a->first, a->other, v[i], v[j]);
  if (listed) a->found[c] = 0;
}

/* ---- exact test ---- */

LK_FN int is_gap_near(const mesh_query *q, lk_real gap)
{
  return ((q->what & LOOM_DETECT_PROXIMITY) && gap < q->margin) ||
         ((q->what & LOOM_DETECT_OVERLAP) && gap < LK_R(0.0));
}

/* Largest safe share of the way from x0 to x1: see ccd_toi(). */
LK_FN lk_real safe_time(const mesh_query *q, int family, const int32_t *v, lk_real xi, lk_real base)
{
  lk_real x0[12], x1[12];
  ccd_settings s = q->ccd;
  s.xi = xi;
  s.base = base;
  mesh_gather(q->m.x0, v, x0);
  mesh_gather(q->m.x1, v, x1);
  return ccd_toi(q->method, family, x0, x1, &s);
}

/* Time at which the distance of the pair falls to xi; the settings of step bounds have no effect.
 */
LK_FN lk_real time_of_impact(const mesh_query *q, int family, const int32_t *v, lk_real xi)
{
  lk_real x0[12], x1[12];
  ccd_settings s = q->ccd;
  s.xi = xi;
  mesh_gather(q->m.x0, v, x0);
  mesh_gather(q->m.x1, v, x1);
  return ccd_impact(family, x0, x1, &s);
}

LK_FN void classify_mesh_pair(const mesh_judge_args *a, int family, lk_int c)
{
  const mesh_query *const q = &a->q;
  const uint64_t name = a->name[c];
  int32_t v[4];
  lk_real toi = CCD_NONE;
  mesh_verts(&q->m, family, name, v);
  int yes = is_mesh_pair_allowed(q, name, v);
  if (yes && (q->what & LOOM_DETECT_CCD)) { /* otherwise the quick test was the exact one */
    lk_real x[12], w[4];
    const lk_real r = mesh_radii(&q->m, family, v);
    mesh_gather(q->m.x0, v, x);
    /* a query for contacts as well takes the pairs at which a step bound would stop, too */
    toi = (q->what & LOOM_DETECT_PROXIMITY) ? safe_time(q, family, v, r, LK_R(0.0))
                                            : time_of_impact(q, family, v, r);
    yes = toi <= LK_R(1.0) || is_gap_near(q, distance_of(family, x, w) - r);
  }
  a->copy[c] = name;
  a->toi[c] = toi;
  a->found[c] = yes;
}

#ifdef MESH_BOTH_FAMILIES
LK_KERNEL_PLAIN(mesh_judge, a, c) { classify_mesh_pair(a, mesh_family(a->name[c]), c); }
#endif
/* On a device each family has a kernel of its own, since a kernel for both would need the registers
 * of either in every thread.  In the list the families follow each other. */
LK_KERNEL_PLAIN(mesh_judge_vt, a, c)
{
  if (mesh_family(a->name[c]) == MESH_VT) classify_mesh_pair(a, MESH_VT, c);
}
LK_KERNEL_PLAIN(mesh_judge_ee, a, c)
{
  if (mesh_family(a->name[c]) == MESH_EE) classify_mesh_pair(a, MESH_EE, c);
}

LK_KERNEL_PLAIN(mesh_keep, a, c)
{
  if (a->place[c] == a->place[c + 1]) return;
  a->to[a->place[c]] = a->from[c];
  if (a->toi != NULL) a->to_toi[a->place[c]] = a->toi[c];
}

/* ---- result ---- */

/* Unit vector from the second side to the first; x relative to vertex 0.  Where the closest
 * points meet: the triangle's normal or the common perpendicular, else a perpendicular of an
 * edge. */
LK_FN void compute_pair_normal(int family, const lk_real *x, const lk_real *w, lk_real d,
                               lk_real *n)
{
  lk_real size = LK_R(0.0), a[3], b[3];
  for (int i = 3; i < 12; ++i) size = LK_FABS(x[i]) > size ? LK_FABS(x[i]) : size;
  lk_real len = ccd_separating(family, x, w, d, size, n);
  if (!(len > LK_R(0.0))) {
    lk_sub3(x + (family == MESH_VT ? 6 : 3), x + (family == MESH_VT ? 3 : 0), a);
    lk_sub3(x + 9, x + (family == MESH_VT ? 3 : 6), b);
    lk_cross3(a, b, n);
    len = lk_norm3(n);
    if (!(len > LK_R(0.0))) {
      lk_perp3(lk_dot3(a, a) > LK_R(0.0) ? a : b, n);
      return;
    }
  }
  for (int c = 0; c < 3; ++c) n[c] /= len;
}

LK_KERNEL_PLAIN(mesh_fill, a, c)
{
  const mesh_query *const q = &a->q;
  const uint64_t name = a->name[c];
  const int family = mesh_family(name);
  const int64_t j = a->first + c;
  const lk_real toi = a->found[c];
  int32_t v[4], body = -1;
  lk_real x[12], y[12], w[4], n[3];
  mesh_verts(&q->m, family, name, v);
  mesh_gather(q->m.x0, v, x);
  const lk_real r = mesh_radii(&q->m, family, v);
  lk_real d = distance_of(family, x, w), gap = d - r;
  if (toi <= LK_R(1.0) && !is_gap_near(q, gap)) { /* as they meet; gap of x1 along that normal */
    mesh_gather(q->m.x0, v, x);
    mesh_gather(q->m.x1, v, y);
    for (int i = 0; i < 12; ++i) x[i] += toi * (y[i] - x[i]);
    d = distance_of(family, x, w);
    compute_pair_normal(family, x, w, d, n);
    gap = -r;
    for (int i = 1; i < 4; ++i)
      for (int k = 0; k < 3; ++k) gap += w[i] * n[k] * (y[3 * i + k] - y[k]);
  } else {
    compute_pair_normal(family, x, w, d, n);
  }
  for (int i = 0; i < 4; ++i)
    if (v[i] >= q->m.cloth_verts) body = q->body_of[v[i] - q->m.cloth_verts];
  a->kind[j] = mesh_kind(&q->m, family, v);
  a->obst[j] = body;
  a->gap[j] = gap;
  a->toi[j] = toi;
  a->key[j] = name;
  for (int k = 0; k < 4; ++k) {
    a->v[4 * j + k] = v[k];
    a->w[4 * j + k] = w[k];
  }
  for (int k = 0; k < 3; ++k) {
    a->normal[3 * j + k] = n[k];
    a->point[3 * j + k] = LK_R(0.0);
  }
}

/* ---- step bounds ---- */

LK_FN void bound_pair_step(const mesh_bound_args *a, int family, lk_int c)
{
  const mesh_query *const q = &a->q;
  const uint64_t name = a->name[c];
  int32_t v[4];
  lk_real x[12], w[4], size = LK_R(0.0), t = LK_R(1.0);
  mesh_verts(&q->m, family, name, v);
  if (is_mesh_pair_allowed(q, name, v)) {
    mesh_gather(q->m.x0, v, x);
    const lk_real d = distance_of(family, x, w);
    for (int i = 3; i < 12; ++i) size = LK_FABS(x[i]) > size ? LK_FABS(x[i]) : size;
    const lk_real r = mesh_radii(&q->m, family, v), gap = d - r;
    lk_real base;
    const lk_real xi = r + kept_gap(gap, q->margin, &base);
    /* a pair that touches within rounding sets no bound: no step could part it again */
    if (d <= LK_R(1e4) * CCD_ROUNDING * size) {
      a->t[c] = MESH_TOUCHES;
      return;
    }
    t = safe_time(q, family, v, xi, gap > LK_R(0.0) ? r + base : LK_R(0.0));
  }
  a->t[c] = t > LK_R(1.0) ? LK_R(1.0) : t > t_min ? t : t_min;
}

#ifdef MESH_BOTH_FAMILIES
LK_KERNEL_PLAIN(mesh_bound, a, c) { bound_pair_step(a, mesh_family(a->name[c]), c); }
#endif
LK_KERNEL_PLAIN(mesh_bound_vt, a, c)
{
  if (mesh_family(a->name[c]) == MESH_VT) bound_pair_step(a, MESH_VT, c);
}
LK_KERNEL_PLAIN(mesh_bound_ee, a, c)
{
  if (mesh_family(a->name[c]) == MESH_EE) bound_pair_step(a, MESH_EE, c);
}

LK_REDUCE_MAX(mesh_shortest, a, c) { return -LK_FMIN(a->t[c], LK_R(1.0)); }

LK_REDUCE_MAX(mesh_touching, a, c) { return a->t[c]; }

LK_REDUCE_MAX(mesh_blocker, a, c)
{
  int32_t v[4];
  if (a->t[c] > -a->least[0]) return LK_R(-1.0);
  const int family = mesh_family(a->name[c]);
  mesh_verts(&a->m, family, a->name[c], v);
  for (int i = 0; i < 4; ++i)
    if (v[i] >= a->m.cloth_verts) return (lk_real)a->body_of[v[i] - a->m.cloth_verts];
  return LK_R(-1.0);
}

/* ---- positions and lists ----
 */

LK_KERNEL_PLAIN(mesh_pose, a, i)
{
  const lk_int j = i - a->cloth_verts;
  for (int c = 0; c < 3; ++c)
    a->out[3 * i + c] = j < 0
                            ? a->x[3 * i + c]
                            : place_between(a->body0[3 * j + c], a->body1[3 * j + c], a->progress);
}

LK_KERNEL(mesh_part, a, i) { a->out[i] = a->x0[i] + a->share * (a->x1[i] - a->x0[i]); }

LK_REDUCE_MAX(mesh_far, a, i)
{
  int near = 1;
  for (int c = 0; c < 3; ++c)
    near &= (LK_FABS(a->x0[3 * i + c]) <= MESH_FAR) & (LK_FABS(a->x1[3 * i + c]) <= MESH_FAR);
  return near ? LK_R(0.0) : LK_R(1.0);
}

LK_REDUCE_MAX(mesh_moved, a, i)
{
  const int64_t at = 3 * ((int64_t)a->cloth_verts + i), body = 3 * (int64_t)i;
  int moved = 0;
  for (int c = 0; c < 3; ++c) {
    const lk_real x = a->x0[at + c];
    moved |= !(x == a->seen[body + c]) | !(x == a->x1[at + c]);
    a->seen[body + c] = x;
  }
  return moved ? LK_R(1.0) : LK_R(0.0);
}

LK_KERNEL_PLAIN(mesh_mark, a, i)
{
  const int marked = a->mask == NULL || (i < a->cloth_verts && a->mask[i]);
  a->state[i] = (uint8_t)(a->fixed_state[i] | (marked ? MESH_MARKED : 0));
}

LK_KERNEL_PLAIN(mesh_cut, a, i)
{
  int64_t lo = a->first, hi = a->num; /* lo fits */
  const int64_t most = a->place[a->first] + a->room;
  while (lo < hi) {
    const int64_t mid = hi - (hi - lo) / 2;
    if (a->place[mid] <= most)
      lo = mid;
    else
      hi = mid - 1;
  }
  a->out[0] = lo;
  a->out[1] = a->place[lo];
  (void)i;
}
