/* penalty.kern.c - energy, forces, Hessians and quadratic terms of penalty and friction. */
#include "penalty.kern.h"

/* sum_a w_a x_a */
LK_FN void sum_weighted_corners(const lk_real *x, const int32_t *v, const lk_real *w, lk_int j,
                                lk_real *out)
{
  for (int c = 0; c < 3; ++c) out[c] = LK_R(0.0);
  for (int a = 0; a < 4; ++a) {
    const int32_t i = v[4 * j + a];
    if (i < 0) continue;
    for (int c = 0; c < 3; ++c) out[c] += w[4 * j + a] * x[3 * i + c];
  }
}

LK_FN lk_real penalty_pair_gap(const penalty_state *s, lk_int j)
{
  lk_real n[3], q[3];
  LK_LOAD3(n, s->normal, j);
  sum_weighted_corners(s->x, s->v, s->w, j, q);
  return lk_dot3(n, q) + s->c[j];
}

/* Where bodies stood at the start of the step, a gap was larger by their way along the normal, m.
 */
LK_FN lk_real body_gap_change(const penalty_state *s, lk_int j)
{
  lk_real n[3], move[3];
  LK_LOAD3(n, s->normal, j);
  LK_LOAD3(move, s->move, j);
  return lk_dot3(n, move);
}

/* 1: the pair pushes, d: g - offset.  In an expansion it pushes where it does at the start, or
 * where forces bring it: one that is open at the start would fall by g h^2. */
LK_FN int is_active(const penalty_state *s, lk_int j, lk_real d)
{
  lk_real n[3], q[3];
  if (s->ahead.coast == NULL) return d < LK_R(0.0);
  if (d + body_gap_change(s, j) < LK_R(0.0)) return 1;
  if (s->ahead.all == NULL) return 0;
  for (int b = 0; b < 4; ++b)
    if (s->v[4 * j + b] < 0 || s->w[4 * j + b] == LK_R(0.0)) return 0;
  LK_LOAD3(n, s->normal, j);
  sum_weighted_corners(s->ahead.all, s->v, s->w, j, q);
  return lk_dot3(n, q) + s->c[j] < s->offset;
}

/* g - offset of pairs that push, m; else 0 */
LK_FN lk_real depth_of(const penalty_state *s, lk_int j)
{
  const lk_real d = penalty_pair_gap(s, j) - s->offset;
  return is_active(s, j, d) ? d : LK_R(0.0);
}

/* u, m; returns |u| */
LK_FN lk_real slip_at(const penalty_state *s, const lk_real *x, lk_int j, lk_real *u)
{
  lk_real t[3], q[3], q0[3];
  LK_LOAD3(t, s->across, j);
  sum_weighted_corners(x, s->v, s->w, j, q);
  sum_weighted_corners(s->x_start, s->v, s->w, j, q0);
  for (int c = 0; c < 3; ++c) u[c] = q[c] - q0[c] - s->move[3 * j + c];
  const lk_real ut = lk_dot3(t, u);
  for (int c = 0; c < 3; ++c) u[c] -= ut * t[c];
  return LK_SQRT(lk_dot3(u, u));
}

LK_FN lk_real slip_of(const penalty_state *s, lk_int j, lk_real *u)
{
  return slip_at(s, s->x, j, u);
}

/* Length below which friction fades, m: epsilon_v h, but long enough that the stiffness
 * 2 mu lambda / eps of a sticking pair stays below `stick` times its normal stiffness. */
LK_FN lk_real fade_of(const penalty_state *s, lk_int j)
{
  const lk_real k = s->stick * s->k[j];
  const lk_real most = LK_R(2.0) * s->mu[j] * s->lambda[j];
  return k > LK_R(0.0) ? LK_FMAX(s->eps, most / k) : s->eps;
}

/* The slip of pair j in the step to come, m. */
LK_FN lk_real slip_ahead(const penalty_state *s, lk_int j)
{
  const int32_t *const v = s->v + 4 * j;
  const lk_real *const w = s->w + 4 * j;
  lk_real t[3], u[3], unused[3];
  const lk_real coast = slip_at(s, s->ahead.coast, j, u);
  if (s->ahead.outer == NULL) return coast;
  LK_LOAD3(t, s->across, j);
  if (!ahead_is_with_body(v, w, s->n)) return ahead_cloth_slip(&s->ahead, v, w, s->n, t, u);
  return ahead_slip(&s->ahead, v, w, s->n, coast, slip_at(s, s->ahead.outer, j, unused),
                    slip_at(s, s->ahead.all, j, unused));
}

/* mu lambda f1/y, N/m, at the slip y, or in an expansion at slip_ahead() */
LK_FN lk_real compute_penalty_drag(const penalty_state *s, lk_int j, lk_real y)
{
  const lk_real most = s->mu[j] * s->lambda[j];
  if (!(most > LK_R(0.0))) return LK_R(0.0);
  return most * friction_f1_over(s->ahead.coast != NULL ? slip_ahead(s, j) : y, fade_of(s, j));
}

LK_KERNEL_PLAIN(penalty_setup, a, j)
{
  lk_real n[3], q[3], point[3], move[3] = {LK_R(0.0), LK_R(0.0), LK_R(0.0)};
  lk_real inv_mass = LK_R(0.0);
  int64_t corners = 0;
  const int32_t o = a->obst[j];
  const int element = o >= 0 && a->v[4 * j + 1] >= 0;
  for (int b = 0; b < 4; ++b) {
    const int32_t i = a->v[4 * j + b];
    if (i < 0) continue;
    ++corners;
    if (!a->fixed[i] || element) inv_mass += a->w[4 * j + b] * a->w[4 * j + b] / a->mass[i];
  }
  LK_LOAD3(n, a->normal, j);
  sum_weighted_corners(a->x, a->v, a->w, j, q);
  a->c[j] = a->gap[j] - lk_dot3(n, q);
  a->k[j] = inv_mass > LK_R(0.0) ? a->stiffness / inv_mass : LK_R(0.0);
  if (a->share) a->k[j] *= a->share[j];
  a->mu[j] = pair_friction_at(&a->named, a->kind[j], a->v + 4 * j, o,
                              o >= 0 ? a->friction[o] : a->self_friction);
  LK_LOAD3(point, a->point, j);
  if (o >= 0)
    for (int c = 0; c < 3; ++c) move[c] = point[c] - a->move[3 * j + c];
  LK_STORE3(a->move, j, move);
  a->blocks[j] = corners * corners;
}

/* Gap, m, and normal of a pair of cloth at x_start from its own distance there.  Its plane was
 * found elsewhere, and where the pair has slid since, from a neighbouring triangle for one, that
 * plane may lie millimetres above it, so that its gap by the plane is a deep overlap. */
LK_FN lk_real measure_cloth_gap(const penalty_state *s, int32_t kind, lk_int j, lk_real *n)
{
  lk_real x[12], w[4], r[3] = {LK_R(0.0), LK_R(0.0), LK_R(0.0)};
  int32_t last = s->v[4 * j];
  for (int b = 0; b < 4; ++b) { /* a vertex or an edge is a collapsed triangle */
    const int32_t i = s->v[4 * j + b];
    last = i >= 0 ? i : last;
    for (int c = 0; c < 3; ++c) x[3 * b + c] = s->x_start[3 * last + c];
  }
  const lk_real distance = LK_SQRT(kind == LOOM_PAIR_EE ? dist_ee(x, w) : dist_vt(x, w));
  for (int b = 0; b < 4; ++b)
    for (int c = 0; c < 3; ++c) r[c] += w[b] * x[3 * b + c];
  if (distance > LK_R(0.0))
    for (int c = 0; c < 3; ++c) n[c] = r[c] / distance;
  return distance + s->c[j]; /* c: less the rest gap */
}

LK_KERNEL_PLAIN(penalty_lag, a, j)
{
  lk_real t[3], g;
  LK_LOAD3(t, a->s.normal, j);
  if (a->cloth_at_start && a->kind[j] != LOOM_PAIR_VO)
    g = measure_cloth_gap(&a->s, a->kind[j], j, t);
  else
    g = penalty_pair_gap(&a->s, j) + (a->at_start ? body_gap_change(&a->s, j) : LK_R(0.0));
  LK_STORE3(a->across, j, t);
  lk_real force = a->s.k[j] * LK_FMAX(a->s.offset - g, LK_R(0.0));
  a->lambda[j] = force;
}

/* The forces of the start become the forces of the end of the step (fric_temper) of two cloths.  On
 * a body a strip that tension presses would slip below its load. */
LK_KERNEL_PLAIN(penalty_temper, a, j)
{
  const penalty_state *const s = &a->s;
  lk_real t[3];
  cand_state at; /* cloth alone */
  at.x = s->x_start;
  at.body0 = at.body1 = NULL;
  at.fixed = a->fixed;
  at.n = s->n;
  if (!(a->lambda[j] > LK_R(0.0))) return;
  if (ahead_is_with_body(s->v + 4 * j, s->w + 4 * j, s->n)) return;
  LK_LOAD3(t, a->across, j);
  a->lambda[j] = fric_end_force(&a->t, &at, s->v + 4 * j, s->w + 4 * j, t, a->lambda[j], s->k[j]);
}

/* ---- sums over pairs ---- */

LK_REDUCE_SUM(penalty_energy, a, j)
{
  const lk_real d = depth_of(&a->s, j);
  return LK_R(0.5) * a->s.k[j] * d * d;
}

LK_REDUCE_SUM(penalty_dissipation, a, j)
{
  lk_real u[3];
  const lk_real y = slip_of(&a->s, j, u);
  if (a->s.ahead.coast != NULL) return LK_R(0.5) * compute_penalty_drag(&a->s, j, y) * y * y;
  return a->s.mu[j] * a->s.lambda[j] * friction_f0(y, fade_of(&a->s, j));
}

LK_REDUCE_SUM(penalty_active, a, j)
{
  return depth_of(&a->s, j) < LK_R(0.0) ? LK_R(1.0) : LK_R(0.0);
}
LK_REDUCE_MAX(penalty_lowest, a, j) { return -penalty_pair_gap(&a->s, j); }
LK_REDUCE_MAX(penalty_strongest, a, j) { return -a->s.k[j] * depth_of(&a->s, j); }

LK_REDUCE_SUM(penalty_work, a, j)
{
  lk_real u[3];
  const lk_real y = slip_of(&a->s, j, u);
  return a->s.mu[j] * a->s.lambda[j] * friction_f1_over(y, fade_of(&a->s, j)) * y * y;
}

/* ---- gradient ---- */

/* gradient of the pair with respect to sum_a w_a x_a, N */
LK_FN void compute_penalty_pull(const penalty_state *s, lk_int j, lk_real *f)
{
  lk_real n[3], u[3];
  LK_LOAD3(n, s->normal, j);
  const lk_real normal = s->k[j] * depth_of(s, j);
  lk_real along = LK_R(0.0);
  u[0] = u[1] = u[2] = LK_R(0.0);
  if (s->mu[j] * s->lambda[j] > LK_R(0.0)) along = compute_penalty_drag(s, j, slip_of(s, j, u));
  for (int c = 0; c < 3; ++c) f[c] = normal * n[c] + along * u[c];
}

LK_KERNEL_PLAIN(penalty_force, a, j)
{
  lk_real f[3];
  int64_t at = a->at[j];
  compute_penalty_pull(&a->s, j, f);
  for (int b = 0; b < 4; ++b) {
    if (a->s.v[4 * j + b] < 0) continue;
    for (int c = 0; c < 3; ++c) a->force[3 * at + c] = a->s.w[4 * j + b] * f[c];
    ++at;
  }
}

LK_KERNEL_PLAIN(penalty_hold, a, j)
{
  int64_t at = a->at[j];
  for (int b = 0; b < 4; ++b) {
    if (a->s.v[4 * j + b] < 0) continue;
    const lk_real f = a->s.lambda[j] * (a->sum == PENALTY_FRICTION ? a->s.mu[j] : LK_R(1.0));
    lk_real row[3] = {LK_FABS(a->s.w[4 * j + b]) * f, LK_R(0.0), LK_R(0.0)};
    if (a->sum == PENALTY_PUSH)
      for (int c = 0; c < 3; ++c) row[c] = -a->s.w[4 * j + b] * f * a->s.across[3 * j + c];
    LK_STORE3(a->force, at, row);
    ++at;
  }
}

/* ---- Hessian ---- */

/* H = k n n' where active + mu lambda [ f1/|u| (I - t t') + (f1' - f1/|u|) u u' / |u|^2 ];
 * its eigenvalues k, f1/|u|, f1' are never negative and need no clamping.  In an expansion friction
 * has the first part alone. */
typedef struct pair_curvature {
  lk_real n[3], t[3], u[3], normal, along,
      slope; /* H = along (I - t t') + normal n n' + slope u u' */
} pair_curvature;

LK_FN void curvature_of(const penalty_state *s, lk_int j, pair_curvature *k)
{
  LK_LOAD3(k->n, s->normal, j);
  LK_LOAD3(k->t, s->across, j);
  const lk_real most = s->mu[j] * s->lambda[j];
  const lk_real y = slip_of(s, j, k->u);
  k->along = compute_penalty_drag(s, j, y);
  k->normal = is_active(s, j, penalty_pair_gap(s, j) - s->offset) ? s->k[j] : LK_R(0.0);
  k->slope = most > LK_R(0.0) && y > LK_R(0.0) && s->ahead.coast == NULL
                 ? (most * friction_f1_slope(y, fade_of(s, j)) - k->along) / (y * y)
                 : LK_R(0.0);
}

/* Component r of a vector in registers, which have no addresses. */
LK_FN lk_real vector_component(const lk_real *v, int r)
{
  return r == 0 ? v[0] : r == 1 ? v[1] : v[2];
}

/* Number r, c of H. */
LK_FN lk_real hessian_of(const pair_curvature *k, int r, int c)
{
  const lk_real nn = vector_component(k->n, r) * vector_component(k->n, c);
  const lk_real tt = vector_component(k->t, r) * vector_component(k->t, c);
  const lk_real uu = vector_component(k->u, r) * vector_component(k->u, c);
  return k->along * ((r == c ? LK_R(1.0) : LK_R(0.0)) - tt) + k->normal * nn + k->slope * uu;
}

LK_FN void write_blocks(const penalty_blocks_args *a, lk_int j)
{
  lk_real H[9];
  pair_curvature k;
  int64_t at = a->first + a->at_block[j];
  curvature_of(&a->s, j, &k);
  for (int r = 0; r < 3; ++r)
    for (int c = 0; c < 3; ++c) H[3 * r + c] = hessian_of(&k, r, c);
  for (int r = 0; r < 4; ++r) {
    if (a->s.v[4 * j + r] < 0) continue;
    for (int c = 0; c < 4; ++c) {
      if (a->s.v[4 * j + c] < 0) continue;
      a->row[at] = a->s.v[4 * j + r];
      a->col[at] = a->s.v[4 * j + c];
      for (int i = 0; i < 9; ++i) a->val[9 * at + i] = a->s.w[4 * j + r] * a->s.w[4 * j + c] * H[i];
      ++at;
    }
  }
}

/* Number t % 9 of the blocks of pair t / 9: neighbouring threads write the numbers of one block. */
LK_FN void write_number(const penalty_blocks_args *a, lk_int t)
{
  const lk_int j = t / 9, number = t % 9;
  pair_curvature k;
  int64_t at = a->first + a->at_block[j];
  curvature_of(&a->s, j, &k);
  const lk_real H = hessian_of(&k, number / 3, number % 3);
  for (int r = 0; r < 4; ++r) {
    if (a->s.v[4 * j + r] < 0) continue;
    for (int c = 0; c < 4; ++c) {
      if (a->s.v[4 * j + c] < 0) continue;
      if (number == 0) a->row[at] = a->s.v[4 * j + r];
      if (number == 0) a->col[at] = a->s.v[4 * j + c];
      a->val[9 * at + number] = a->s.w[4 * j + r] * a->s.w[4 * j + c] * H;
      ++at;
    }
  }
}

LK_KERNEL_PLAIN(penalty_blocks, a, i)
{
  if (a->split)
    write_number(a, i);
  else
    write_blocks(a, i);
}

/* ---- quadratic form ---- */

/* One isotropic term with the gradient f of the pair at x and at least its curvature, which
 * is k along the normal and at most w = mu lambda f1/|u| across it:
 *   K/2 |q - p|^2,  K the larger of the two,  p = q - f / K.
 * As w stays below stick k, K = k for every pair with a force unless stick is raised: the
 * matrix of a projective solver, and its factor, then change with the active set only. */
LK_KERNEL_PLAIN(penalty_terms, a, j)
{
  const penalty_state *const s = &a->s;
  lk_real q[3], u[3], f[3], K = LK_R(0.0);
  sum_weighted_corners(s->x, s->v, s->w, j, q);
  compute_penalty_pull(s, j, f);
  const lk_real most = s->mu[j] * s->lambda[j];
  const lk_real w =
      most > LK_R(0.0) ? most * friction_f1_over(slip_of(s, j, u), fade_of(s, j)) : LK_R(0.0);
  if (depth_of(s, j) < LK_R(0.0) || most > LK_R(0.0)) K = LK_FMAX(s->k[j], w);
  iso_write_sum(&a->t, j, s->v + 4 * j, s->w + 4 * j, q, K, f);
}

LK_REDUCE_SUM(penalty_differ, a, j) { return a->a[j] != a->b[j] ? LK_R(1.0) : LK_R(0.0); }
