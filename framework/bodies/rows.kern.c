/* rows.kern.c - bodies against points, row by row. */
#include "bodies/rows.kern.h"

#include "bodies/near_impact.kern.h"

/* Row i of the requested rows: its place, its body (-1: none) and its point. */
typedef struct body_row {
  int64_t at, point;
  int32_t body;
} body_row;

LK_FN body_row decode_body_row(const body_rows *r, lk_int i)
{
  body_row w;
  w.at = r->first + i;
  w.body = r->body != NULL ? r->body[w.at] : (int32_t)((r->pair + i) / r->num_points);
  w.point = r->body == NULL    ? (r->pair + i) % r->num_points
            : r->point != NULL ? r->point[r->stride * w.at]
                               : w.at;
  return w;
}

/* The body of a row if it is of the family, else NULL. */
LK_FN const obst_view *find_row_body(int32_t family, const body_rows *r, const body_row *w)
{
  const obst_view *const o = r->view + (w->body < 0 ? 0 : w->body);
  return w->body >= 0 && obst_is_of(family, o) ? o : NULL;
}

/* Whether the gap of row i has certainly stayed above known.enough; *gap: a lower bound of it. */
LK_FN int is_far(const body_gap_args *a, const obst_view *o, lk_int i, int64_t point,
                 const lk_real *x, lk_real *gap)
{
  const body_known *const k = &a->known;
  lk_real d[3];
  if (k->x == NULL) return 0;
  for (int c = 0; c < 3; ++c) d[c] = x[c] - k->x[3 * point + c];
  *gap = k->gap[a->r.pair + i] - o->lipschitz * lk_norm3(d);
  return *gap - k->radius[point] > k->enough;
}

LK_FN void gap_of_row(int32_t family, const body_gap_args *a, lk_int i)
{
  const body_row w = decode_body_row(&a->r, i);
  const obst_view *const o = find_row_body(family, &a->r, &w);
  obst_pose P;
  lk_real x[3], n[3] = {LK_R(0.0), LK_R(0.0), LK_R(0.0)}, f;
  if (o == NULL) return;
  LK_LOAD3(x, a->r.x, w.point);
  if (a->normal != NULL || !is_far(a, o, i, w.point, x, &f)) { /* normals are for all rows */
    obst_pose_at(o, a->progress, &P);
    f = a->normal != NULL ? obst_distance_of(family, o, &P, x, n) : obst_value_of(family, o, &P, x);
  }
  if (a->gap != NULL) a->gap[w.at] = f;
  if (a->normal != NULL) LK_STORE3(a->normal, w.at, n);
}

#ifndef __CUDACC__
/* Rows `from` to `to`, at most NEURAL_MANY, all of a body that takes many points at once. */
LK_FN void gaps_of_many(const body_gap_args *a, lk_int from, lk_int to, const obst_view *o)
{
  lk_real p[3 * NEURAL_MANY], v[NEURAL_MANY], n[3 * NEURAL_MANY], far;
  int64_t at[NEURAL_MANY];
  int32_t num = 0;
  obst_pose P;
  obst_pose_at(o, a->progress, &P);
  body_row w = decode_body_row(&a->r, from);
  for (lk_int i = from; i < to; ++i) {
    lk_real x[3], y[3];
    if (a->r.body != NULL) {
      w = decode_body_row(&a->r, i);
    } else { /* one after the other, of one body */
      w.at += i > from;
      w.point += i > from;
    }
    LK_LOAD3(x, a->r.x, w.point);
    if (is_far(a, o, i, w.point, x, &far)) {
      a->gap[w.at] = far;
      continue;
    }
    obst_to_body(&P, x, y);
    for (int c = 0; c < 3; ++c) p[c * NEURAL_MANY + num] = y[c];
    at[num++] = w.at;
  }
  neural_many(o, a->progress, num, p, v, a->normal != NULL ? n : NULL);
  for (int32_t i = 0; i < num; ++i) {
    if (a->gap != NULL) a->gap[at[i]] = v[i];
    if (a->normal == NULL) continue;
    const lk_real own[3] = {n[i], n[NEURAL_MANY + i], n[2 * NEURAL_MANY + i]};
    lk_real world[3];
    obst_rotate(&P, own, world);
    LK_STORE3(a->normal, at[i], world);
  }
}

/* The end of the rows from i on that have its body. */
LK_FN lk_int end_of_body(const body_rows *r, lk_int i, lk_int end, int32_t body)
{
  if (r->body == NULL) {
    const int64_t to = (body + 1) * r->num_points - r->pair;
    return to < end ? (lk_int)to : end;
  }
  while (i < end && r->body[r->first + i] == body) ++i;
  return i;
}
#endif

/* Only CPUs and simulated devices launch it. */
LK_KERNEL_PLAIN(body_lanes, a, block)
{
#ifndef __CUDACC__
  const lk_int first = block * NEURAL_MANY;
  const lk_int end = a->count - first < NEURAL_MANY ? (lk_int)a->count : first + NEURAL_MANY;
  for (lk_int i = first; i < end;) {
    const int32_t body = decode_body_row(&a->g.r, i).body;
    const lk_int to = end_of_body(&a->g.r, i, end, body);
    const obst_view *const o = a->g.r.view + body;
    if (body >= 0 && obst_takes_many(o) && (a->g.normal == NULL || neural_has_many_normals(o)))
      gaps_of_many(&a->g, i, to, o);
    else
      for (lk_int k = i; k < to; ++k) gap_of_row(OBST_ANY, &a->g, k);
    i = to;
  }
#endif
}

LK_FN void slope_of_row(int32_t family, const body_gap_args *a, lk_int i)
{
  const body_row w = decode_body_row(&a->r, i);
  const obst_view *const o = find_row_body(family, &a->r, &w);
  obst_pose P;
  lk_real x[3], n[3], g[3], C[9];
  if (o == NULL) return;
  LK_LOAD3(x, a->r.x, w.point);
  obst_pose_at(o, a->progress, &P);
  const lk_real f = obst_hess_of(family, o, &P, x, g, C);
  if (a->gap != NULL) a->gap[w.at] = f;
  if (a->gradient != NULL) LK_STORE3(a->gradient, w.at, g);
  if (a->curvature != NULL)
    for (int k = 0; k < 9; ++k) a->curvature[9 * w.at + k] = C[k];
  if (a->normal != NULL) {
    const lk_real len = lk_norm3(g);
    const int known = obst_bends(o) && len > LK_R(0.0);
    for (int c = 0; c < 3; ++c) n[c] = known ? g[c] / len : g[c];
    if (!known) (void)obst_distance_of(family, o, &P, x, n);
    LK_STORE3(a->normal, w.at, n);
  }
}

/* The contact plane at the impact, carried along with the body to where it stands at x1; gap of
 * x1 above it. */
LK_FN void plane_of_impact(int32_t family, const body_impact_args *a, const obst_view *o,
                           const obst_path *w, lk_real toi, int64_t at)
{
  const lk_real s = w->s0 + toi * (w->s1 - w->s0);
  obst_pose P;
  lk_real x[3], n[3], point[3], depth = LK_R(0.0);
  obst_pose_at(o, s, &P);
  for (int c = 0; c < 3; ++c) x[c] = w->x0[c] + toi * (w->x1[c] - w->x0[c]);
  const lk_real f = obst_distance_of(family, o, &P, x, n);
  for (int c = 0; c < 3; ++c) x[c] -= f * n[c];
  obst_carry_of(family, o, s, w->s1, x, point, n);
  for (int c = 0; c < 3; ++c) depth += n[c] * (w->x1[c] - point[c]);
  a->gap[at] = depth - w->radius;
  LK_STORE3(a->normal, at, n);
  LK_STORE3(a->point, at, point);
}

LK_FN void impact_of_row(int32_t family, const body_impact_args *a, lk_int i)
{
  const body_row w = decode_body_row(&a->r, i);
  const obst_view *const o = find_row_body(family, &a->r, &w);
  lk_real toi = LK_R(2.0);
  obst_path path;
  if (o == NULL) return;
  if (o->shape >= 0 && a->tol[w.at] >= LK_R(0.0)) {
    LK_LOAD3(path.x0, a->r.x, w.point);
    LK_LOAD3(path.x1, a->x1, w.point);
    path.radius = a->radius[w.point];
    path.floor = a->floor[w.at];
    path.tol = a->tol[w.at];
    path.s0 = a->s0;
    path.s1 = a->s1;
    path.max_iters = a->max_iters;
    toi = obst_impact_of(family, o, &path);
    if (toi <= LK_R(1.0) && a->gap != NULL) plane_of_impact(family, a, o, &path, toi, w.at);
  }
  a->toi[w.at] = toi;
}

/* Corners of an element; returns how many. */
LK_FN int decode_corners(const body_rows *r, const body_row *w, int32_t *v)
{
  int num = 1;
  for (int k = 0; k < 3; ++k) v[k] = r->point[r->stride * w->at + k];
  while (num < 3 && v[num] >= 0) ++num;
  return num;
}

LK_FN void store_weights(lk_real *weight, int64_t at, int corners, const lk_real *w)
{
  for (int k = 0; k < 4; ++k) weight[4 * at + k] = k < corners ? w[k] : LK_R(0.0);
}

LK_KERNEL_PLAIN(body_near, a, i)
{
  const body_row w = decode_body_row(&a->r, i);
  const obst_view *const o = find_row_body(OBST_ANY, &a->r, &w);
  lk_real n[3] = {LK_R(0.0), LK_R(0.0), LK_R(0.0)}, g[3] = {LK_R(0.0), LK_R(0.0), LK_R(0.0)}, C[9];
  obst_pose P;
  near_element e;
  near_point q;
  int32_t v[3];
  if (o == NULL) return;
  e.o = o;
  e.corners = decode_corners(&a->r, &w, v);
  obst_pose_at(o, a->progress, &P);
  for (int k = 0; k < e.corners; ++k) {
    lk_real x[3];
    LK_LOAD3(x, a->r.x, v[k]);
    obst_to_body(&P, x, e.p[k]);
  }
  near_deepest(&e, &q);
  obst_rotate(&P, q.n, n);
  if (a->flat != NULL) a->flat[w.at] = near_flat(&e);
  if (a->gap != NULL) a->gap[w.at] = q.f;
  if (a->weight != NULL) store_weights(a->weight, w.at, e.corners, q.w);
  if (a->normal != NULL) LK_STORE3(a->normal, w.at, n);
  if (a->gradient == NULL && a->curvature == NULL) return;
  for (int k = 0; k < 9; ++k) C[k] = LK_R(0.0);
  if (near_sees(o)) {
    lk_real x[3] = {LK_R(0.0), LK_R(0.0), LK_R(0.0)};
    for (int k = 0; k < e.corners; ++k)
      for (int c = 0; c < 3; ++c) x[c] += q.w[k] * a->r.x[3 * (int64_t)v[k] + c];
    (void)obst_hess_of(OBST_RIGID, o, &P, x, g, C);
  }
  if (a->gradient != NULL) LK_STORE3(a->gradient, w.at, g);
  for (int k = 0; k < 9 && a->curvature != NULL; ++k) a->curvature[9 * w.at + k] = C[k];
}

LK_KERNEL_PLAIN(body_near_impact, args, i)
{
  const body_impact_args *const a = &args->i;
  const body_row w = decode_body_row(&a->r, i);
  const obst_view *const o = find_row_body(OBST_ANY, &a->r, &w);
  lk_real toi = LK_R(2.0);
  near_path path;
  int32_t v[3];
  if (o == NULL) return;
  a->toi[w.at] = toi;
  if (!near_sees(o) || !(a->tol[w.at] >= LK_R(0.0))) return;
  path.corners = decode_corners(&a->r, &w, v);
  for (int k = 0; k < path.corners; ++k) {
    LK_LOAD3(path.x0[k], a->r.x, v[k]);
    LK_LOAD3(path.x1[k], a->x1, v[k]);
  }
  path.radius = a->radius[v[0]];
  path.floor = a->floor[w.at];
  path.tol = a->tol[w.at];
  path.s0 = a->s0;
  path.s1 = a->s1;
  path.max_iters = a->max_iters;
  a->toi[w.at] = toi = near_impact(o, &path);
  if (!(toi <= LK_R(1.0)) || (a->gap == NULL && args->weight == NULL)) return;
  obst_path point = {{LK_R(0.0), LK_R(0.0), LK_R(0.0)},
                     {LK_R(0.0), LK_R(0.0), LK_R(0.0)},
                     path.radius,
                     path.floor,
                     path.tol,
                     path.s0,
                     path.s1,
                     path.max_iters};
  near_element e;
  near_point q;
  near_path_at(o, &path, toi, &e);
  near_deepest(&e, &q);
  for (int k = 0; k < path.corners; ++k)
    for (int c = 0; c < 3; ++c) {
      point.x0[c] += q.w[k] * path.x0[k][c];
      point.x1[c] += q.w[k] * path.x1[k][c];
    }
  if (a->gap != NULL) plane_of_impact(OBST_RIGID, a, o, &point, toi, w.at);
  if (args->weight != NULL) store_weights(args->weight, w.at, path.corners, q.w);
}

#define BODY_KERNELS(kind, name, family)                        \
  kind(body_gap_##name, a, i) { gap_of_row(family, a, i); }     \
  kind(body_slope_##name, a, i) { slope_of_row(family, a, i); } \
  kind(body_impact_##name, a, i) { impact_of_row(family, a, i); }
BODY_KERNELS(LK_KERNEL_PLAIN, rigid, OBST_RIGID)
#define BODY_FIELD(name) BODY_KERNELS(LK_KERNEL_LONG, name, BODY_SHAPE_##name)
#define BODY_WIDE(name)  BODY_KERNELS(LK_KERNEL_WARP, name, BODY_SHAPE_##name)
#include "bodies/bodies.def"

LK_KERNEL_PLAIN(body_carry_rigid, a, i)
{
  const body_row w = decode_body_row(&a->r, i);
  const obst_view *const o = find_row_body(OBST_RIGID, &a->r, &w);
  lk_real x[3], to[3];
  if (o == NULL) return;
  LK_LOAD3(x, a->r.x, w.point);
  for (int c = 0; c < 3; ++c) to[c] = x[c];
  if (o->moves) obst_carry_of(OBST_RIGID, o, a->s0, a->s1, x, to, NULL);
  LK_STORE3(a->to, w.at, to);
}

LK_KERNEL_PLAIN(body_carry_bent, a, i)
{
  const body_row w = decode_body_row(&a->r, i);
  const obst_view *const o = find_row_body(OBST_ANY, &a->r, &w);
  lk_real x[3], to[3];
  if (o == NULL || !obst_bends(o)) return;
  LK_LOAD3(x, a->r.x, w.point);
  obst_carry(o, a->s0, a->s1, x, to, NULL);
  LK_STORE3(a->to, w.at, to);
}

LK_KERNEL_PLAIN(body_push, a, chunk)
{
  lk_real *const part = a->part + (int64_t)chunk * a->movers * BODY_IMPULSE;
  const int64_t first = (int64_t)chunk * BODY_CHUNK;
  const int64_t end = first + BODY_CHUNK < a->count ? first + BODY_CHUNK : a->count;
  for (int k = 0; k < a->movers * BODY_IMPULSE; ++k) part[k] = LK_R(0.0);
  for (int64_t i = first; i < end; ++i) {
    const body_row w = decode_body_row(&a->r, (lk_int)i);
    const int32_t mover = w.body >= 0 ? a->mover[w.body] : -1;
    lk_real x[3], p[3], arm[3], torque[3];
    if (mover < 0) continue;
    LK_LOAD3(p, a->impulse, w.at);
    if (!(lk_dot3(p, p) > LK_R(0.0))) continue;
    LK_LOAD3(x, a->r.x, w.point);
    for (int c = 0; c < 3; ++c) arm[c] = x[c] - a->r.view[w.body].t1[c];
    lk_cross3(arm, p, torque);
    for (int c = 0; c < 3; ++c) {
      part[BODY_IMPULSE * mover + c] += p[c];
      part[BODY_IMPULSE * mover + 3 + c] += torque[c];
    }
    part[BODY_IMPULSE * mover + 6] += a->mass[w.at];
  }
}

LK_KERNEL_PLAIN(body_push_sum, a, mover)
{
  lk_real *const row = a->rows + (int64_t)BODY_IMPULSE * a->body_of[mover];
  for (int64_t chunk = 0; chunk < a->chunks; ++chunk)
    for (int k = 0; k < BODY_IMPULSE; ++k)
      row[k] += a->part[(chunk * a->movers + mover) * BODY_IMPULSE + k];
}
