/* ndb.kern.c - contacts of the non-distance barrier: freezing, ages, forces, terms, Hessian. */
#include "ndb.kern.h"

#include "kit/mass_share.kern.h"

/* ---- freezing ---- */

/* Pairs come in the order of kind and name.  Below 2^29 vertices the three highest bits of a name
 * are the same within a kind, and give way to the kind; as no contact is of two yarns, the kinds
 * behind LOOM_PAIR_YY have the number before theirs, and all fit. */
LK_KERNEL_PLAIN(ndb_key, a, c)
{
  const lk_int i = a->pick != NULL ? a->pick[c] : c;
  const int32_t kind = a->kind[i];
  const uint64_t number = (uint64_t)(kind > LOOM_PAIR_YY ? kind - 1 : kind);
  a->key[c] = (a->name[i] & (~UINT64_C(0) >> 3)) | number << 61;
}

LK_KERNEL_PLAIN(ndb_carry, a, c)
{
  const int32_t kind = a->kind[c], from = a->from[c];
  const int32_t o = pair_is_body(kind) ? a->obst[c] : -1;
  const lk_real mu = pair_friction_at(&a->named, kind, a->v + 4 * c, o,
                                      o >= 0 ? a->friction[o] : a->self_friction);
  a->age[c] = from >= 0 && a->keep_age ? a->age_old[from] : 0;
  a->brought[c] = from >= 0 && a->keep_age ? a->brought_old[from] : 0;
  a->most[c] = from >= 0 ? mu * a->force_old[from] : LK_R(0.0);
}

/* fade: mollifier or share of the pair */
LK_FN void compute_side_shares(const ndb_freeze_args *a, lk_int c, lk_real fade, const lk_real *w,
                               lk_real *out)
{
  const int element = a->s.kind[c] == LOOM_PAIR_EO;
  out[0] = out[1] = LK_R(0.0);
  if (a->targets == NDB_MASS) {
    (void)mass_share(&a->s, a->mass, c, w, out);
    out[0] *= fade;
    out[1] *= fade;
    return;
  }
  for (int b = 0; b < 4; ++b)
    if (element || cand_is_free(a->s.v[4 * c + b], a->s.n, a->s.fixed)) out[0] += w[b] * w[b];
  out[0] = fade * dist_inverse(out[0]);
}

LK_KERNEL_PLAIN(ndb_freeze, a, c)
{
  const cand_state *const s = &a->s;
  lk_real x[12], w[4], n[3], d;
  lk_real p[3] = {LK_R(0.0), LK_R(0.0), LK_R(0.0)}, fade = LK_R(1.0);
  if (pair_is_point(s->kind[c])) {
    d = cand_point(s, c, w, n);
    fade = cand_share(s, c);
    const lk_real inv = dist_inverse(lk_norm3(n));
    cand_point_at(s, c, w, p);
    for (int k = 0; k < 3; ++k) n[k] *= inv;
    a->off[c] = lk_dot3(n, p) - d + s->xi[c];
    for (int k = 0; k < 3; ++k) p[k] -= d * n[k];
  } else {
    d = LK_SQRT(cand_pair(s, c, x, w));
    dist_combine(x, w, n);
    const lk_real inv = dist_inverse(d);
    for (int k = 0; k < 3; ++k) n[k] *= inv;
    a->off[c] = s->xi[c];
    if (a->mollify) fade = cand_mollifier(s, c, x);
    if (a->thin && cand_is_covered(s, c, a->count, w, d * d)) fade = LK_R(0.0);
  }
  a->slip_obst[c] = -1;
  if (pair_is_point(s->kind[c])) {
    a->slip_obst[c] = s->obst[c];
    LK_STORE3(a->point, s->row[c], p);
  }
  for (int b = 0; b < 4; ++b) a->w[4 * c + b] = w[b];
  LK_STORE3(a->normal, c, n);
  compute_side_shares(a, c, fade, w, a->share + 2 * c);
}

/* ---- gaps and forces ---- */

LK_FN void load_corner_position(const ndb_state *s, const lk_real *x, int32_t i, lk_real *p)
{
  const fric_state *const f = &s->f;
  if (i < f->n) {
    LK_LOAD3(p, x, i);
    return;
  }
  const int32_t b = i - f->n;
  for (int k = 0; k < 3; ++k)
    p[k] = place_between(f->body0[3 * b + k], f->body1[3 * b + k], s->progress);
}

/* g(x), m */
LK_FN lk_real ndb_contact_gap(const ndb_state *s, lk_int c)
{
  const fric_state *const f = &s->f;
  lk_real g = -s->off[c];
  for (int b = 0; b < 4; ++b) {
    const int32_t i = f->v[4 * c + b];
    lk_real p[3];
    if (i < 0) continue;
    load_corner_position(s, f->x, i, p);
    for (int k = 0; k < 3; ++k) g += f->w[4 * c + b] * f->normal[3 * c + k] * p[k];
  }
  return g;
}

/* Distance to d_hat that a contact with the gap g lacks, m; 0 beyond. */
LK_FN lk_real lack_at(const ndb_state *s, lk_real g)
{
  const lk_real lack = s->d_hat - g;
  return lack > LK_R(0.0) ? lack : LK_R(0.0);
}

/* Most contacts held are beyond d_hat.  The kernels after this one read 9 bytes of each of them,
 * not its positions, weights and normal.  A gap that is NaN counts as live: it shows in the forces.
 */
LK_KERNEL_PLAIN(ndb_measure, a, c)
{
  const lk_real g = ndb_contact_gap(&a->s, c);
  a->lack[c] = lack_at(&a->s, g);
  a->live[c] = !(g >= a->s.d_hat) || a->s.f.most[c] > LK_R(0.0);
}

/* Normal force between the two sides, N, of a contact with the weight w. */
LK_FN lk_real normal_force(const ndb_state *s, lk_int c, lk_real w, lk_real lack)
{
  if (s->targets == NDB_HALFSPACE) return w * s->share[2 * c] * lack;
  const int32_t kind = s->kind[c];
  const lk_real one = (lk_real)pair_first_side(kind, s->f.v + 4 * c) * s->share[2 * c];
  const lk_real two = (lk_real)pair_second_side(kind) * s->share[2 * c + 1];
  return w * lack * LK_FMAX(one, two);
}

/* Friction takes the force at the end of the step (fric_temper) in place of the one that the
 * contact had in the last step; contacts that push at x_start have some, the others none. */
LK_KERNEL_PLAIN(ndb_temper, a, c)
{
  const ndb_state *const s = &a->s;
  const fric_state *const f = &s->f;
  const int32_t *const v = f->v + 4 * c;
  const int32_t o = pair_is_body(s->kind[c]) ? a->obst[c] : -1;
  const lk_real lack = lack_at(s, ndb_contact_gap(s, c));
  const lk_real force = normal_force(s, c, s->weight[c], lack);
  const lk_real mu =
      pair_friction_at(&a->named, s->kind[c], v, o, o >= 0 ? a->friction[o] : a->self_friction);
  lk_real n[3];
  cand_state at;
  at.x = f->x_start;
  at.body0 = f->body0;
  at.body1 = f->body1;
  at.fixed = f->fixed;
  at.n = f->n;
  a->limit[c] = LK_R(0.0);
  if (!(mu * force > LK_R(0.0))) return;
  LK_LOAD3(n, f->normal, c);
  a->limit[c] = mu * fric_end_force(&a->t, &at, v, f->w + 4 * c, n, force,
                                    normal_force(s, c, s->weight[c], LK_R(1.0)));
}

/* Gradient of corner b along n, per unit of w lack. */
LK_FN lk_real corner_pull(const ndb_state *s, lk_int c, int b)
{
  if (s->targets == NDB_HALFSPACE) return -s->share[2 * c] * s->f.w[4 * c + b];
  return b < pair_first_side(s->kind[c], s->f.v + 4 * c) ? -s->share[2 * c] : s->share[2 * c + 1];
}

/* Sums of |W| over all corners, or over free corners only. */
LK_FN lk_real sum_abs_corners(const ndb_state *s, lk_int c, int free_only)
{
  lk_real sum = LK_R(0.0);
  for (int b = 0; b < 4; ++b)
    if (!free_only || cand_is_free(s->f.v[4 * c + b], s->f.n, s->f.fixed))
      sum += LK_FABS(s->f.w[4 * c + b]);
  return sum;
}

/* Share of the largest unit that the contact takes: the least of its objects. */
LK_FN lk_real least_object_part(const ndb_state *s, lk_int c)
{
  lk_real least = LK_R(1.0);
  for (int b = 0; b < 4 && s->part; ++b) {
    const int32_t i = s->f.v[4 * c + b];
    if (i < 0 || i >= s->f.n) continue; /* of a body */
    if (s->part[s->object[i]] < least) least = s->part[s->object[i]];
  }
  return least;
}

/* Displacement that is smoothed into sticking, m.  Terms of friction are isotropic, so they
 * resist motion along the normal as well; a normal force that was overestimated, by a weight that
 * had outgrown its purpose, must not block the way out.  So the stiffness 2 mu lambda / eps is
 * at most that of the contact, or that of the cloth. */
LK_FN lk_real stick_of(const ndb_state *s, lk_int c)
{
  const lk_real stiff = s->weight[c] * s->share[2 * c];
  const lk_real scale = s->scale * least_object_part(s, c);
  const lk_real eps = LK_R(2.0) * s->f.most[c] / (stiff > scale ? stiff : scale);
  return eps > s->f.eps ? eps : s->f.eps;
}

/* Friction: u, and the force is K u; 0 without. */
LK_FN lk_real compute_ndb_drag(const ndb_state *s, lk_int c, lk_real *u)
{
  u[0] = u[1] = u[2] = LK_R(0.0);
  if (!(s->f.most[c] > LK_R(0.0))) return LK_R(0.0);
  lk_real y = fric_slip(&s->f, c, u);
  if (s->ahead.coast != NULL) y = fric_slip_ahead(&s->f, &s->ahead, c);
  return s->f.most[c] * friction_f1_over(y, stick_of(s, c));
}

/* ---- ages ---- */

/* Do sample points of the pair collide on the way from x_feas to x? */
LK_FN int samples_hit(const ndb_age_args *a, lk_int c, lk_real gap)
{
  const ndb_state *const s = &a->s;
  lk_real x0[12], x1[12];
  /* behind the plane of its normal, or within its thickness, which samples do not see */
  if (pair_is_point(s->kind[c]) || s->off[c] > LK_R(0.0)) {
    if (gap <= LK_R(0.0)) return 1;
    if (pair_is_point(s->kind[c])) return 0;
  }
  for (int b = 0; b < 4; ++b) {
    load_corner_position(s, a->x_feas, s->f.v[4 * c + b], x0 + 3 * b);
    load_corner_position(s, s->f.x, s->f.v[4 * c + b], x1 + 3 * b);
  }
  return (ccd_partial(pair_is_edges(s->kind[c]) ? CCD_EE : CCD_VT, x0, x1, s->f.w + 4 * c,
                      &a->partial) &
          CCD_PARTIAL_ACTIVE) != 0;
}

LK_KERNEL_PLAIN(ndb_age, a, c)
{
  const ndb_state *const s = &a->s;
  const lk_real gap = ndb_contact_gap(s, c), part = least_object_part(s, c);
  int32_t age = a->frozen ? a->brought[c] : a->age[c], acts;
  if (a->ageing) {
    const int hit = a->grow == NDB_GROW_GAP ? 0 : samples_hit(a, c, gap);
    age = ndb_next_age(a->grow, age, a->brought[c], gap, s->d_hat, a->base, hit, a->cap);
    a->age[c] = age;
  }
  a->leave[c] = ndb_brought_age(a->grow, age, gap, s->d_hat, a->base);
  acts = a->frozen ? a->brought[c] : age;
  a->weight[c] = ndb_weight(a->w0 * part, a->base, age, a->w_max * part);
  a->force[c] =
      normal_force(s, c, ndb_weight(a->w0 * part, a->base, acts, a->w_max * part), lack_at(s, gap));
}

/* ---- sums ---- */

LK_REDUCE_SUM_PLAIN(ndb_energy, a, c)
{
  const lk_real lack = a->s.lack[c];
  if (lack == LK_R(0.0)) return LK_R(0.0);
  return LK_R(0.5) * a->s.weight[c] * a->s.share[2 * c] * lack * lack;
}

LK_REDUCE_SUM_PLAIN(ndb_loss, a, c)
{
  lk_real u[3];
  if (!(a->s.f.most[c] > LK_R(0.0))) return LK_R(0.0);
  if (a->s.ahead.coast != NULL) {
    const lk_real K = compute_ndb_drag(&a->s, c, u);
    return LK_R(0.5) * K * lk_dot3(u, u);
  }
  return a->s.f.most[c] * friction_f0(fric_slip(&a->s.f, c, u), stick_of(&a->s, c));
}

LK_REDUCE_SUM_PLAIN(ndb_work, a, c)
{
  lk_real u[3];
  const lk_real K = compute_ndb_drag(&a->s, c, u);
  return K * lk_dot3(u, u);
}

LK_REDUCE_SUM_PLAIN(ndb_active, a, c) { return a->s.lack[c] > LK_R(0.0) ? LK_R(1.0) : LK_R(0.0); }

LK_REDUCE_MAX(ndb_strongest, a, c)
{
  const lk_real lack = a->s.lack[c];
  return lack == LK_R(0.0) ? LK_R(0.0) : normal_force(&a->s, c, a->s.weight[c], lack);
}

LK_REDUCE_MAX(ndb_least_gap, a, c)
{
  lk_real x[12], w[4];
  const lk_real d =
      pair_is_point(a->s.kind[c]) ? cand_point(&a->s, c, w, x) : LK_SQRT(cand_pair(&a->s, c, x, w));
  return a->s.xi[c] - d;
}

LK_REDUCE_SUM_PLAIN(ndb_grown, a, c) { return a->age[c] > 0 ? LK_R(1.0) : LK_R(0.0); }

LK_REDUCE_MAX(ndb_oldest, a, c) { return (lk_real)a->age[c]; }

/* ---- gradient, terms, Hessian ---- */

/* Gradient of corner b, g, N. */
LK_FN void ndb_corner_gradient(const ndb_state *s, lk_int c, int b, lk_real lack, lk_real K,
                               const lk_real *u, lk_real *g)
{
  const lk_real f = s->weight[c] * lack * corner_pull(s, c, b);
  for (int k = 0; k < 3; ++k) g[k] = f * s->f.normal[3 * c + k] + K * s->f.w[4 * c + b] * u[k];
}

LK_KERNEL_PLAIN(ndb_force, a, c)
{
  const ndb_state *const s = &a->s;
  if (!a->live[c]) return;
  int64_t at = a->at[c];
  lk_real u[3];
  const lk_real lack = s->lack[c], K = compute_ndb_drag(s, c, u);
  for (int b = 0; b < 4; ++b) {
    if (!cand_is_free(s->f.v[4 * c + b], s->f.n, s->f.fixed)) continue;
    ndb_corner_gradient(s, c, b, lack, K, u, a->force + 3 * at++);
  }
}

/* `force` has room for the live contacts. */
LK_KERNEL_PLAIN(ndb_push, a, c)
{
  const ndb_state *const s = &a->s;
  int64_t at = a->at[c];
  if (a->at[c] == a->at[c + 1]) return;
  const lk_real lack = lack_at(s, ndb_contact_gap(s, c));
  const lk_real force = normal_force(s, c, s->weight[c], lack);
  const lk_real u[3] = {LK_R(0.0), LK_R(0.0), LK_R(0.0)};
  for (int b = 0; b < 4; ++b) {
    if (!cand_is_free(s->f.v[4 * c + b], s->f.n, s->f.fixed)) continue;
    lk_real row[3] = {LK_FABS(s->f.w[4 * c + b]) * force, LK_R(0.0), LK_R(0.0)};
    if (!a->size) ndb_corner_gradient(s, c, b, lack, LK_R(0.0), u, row);
    LK_STORE3(a->force, at, row);
    ++at;
  }
}

LK_KERNEL_PLAIN(ndb_count, a, c)
{
  const int64_t num = a->live[c] ? a->num[c] : 0;
  a->count[c] = a->square ? num * num : num;
}

/* A term of no vertex with the energy 0.  Weights of vertices that a term does not use are not
 * read. */
LK_KERNEL_PLAIN(ndb_quad_clear, a, l)
{
  const int64_t at = a->t.first + l;
  for (int b = 0; b < 4; ++b) a->t.v[4 * at + b] = -1;
  a->t.k[at] = LK_R(0.0);
  for (int c = 0; c < 3; ++c) {
    a->t.p[3 * at + c] = LK_R(0.0);
    if (a->t.dir != NULL) a->t.dir[3 * at + c] = LK_R(0.0);
  }
}

/* The term k/2 |x_i - p|^2 of each corner has its gradient at x, and the diagonal k is nowhere
 * below the second derivatives of the half-space and of friction; NDB_MASS: k = w as given. */
LK_KERNEL_PLAIN(ndb_quad, a, c)
{
  const ndb_state *const s = &a->s;
  int64_t at = a->at[c];
  lk_real u[3];
  if (a->at[c] == a->at[c + 1]) return;
  const lk_real lack = s->lack[c], K = compute_ndb_drag(s, c, u);
  const lk_real all = sum_abs_corners(s, c, 0), movable = sum_abs_corners(s, c, 1);
  for (int b = 0; b < 4; ++b) {
    const int32_t i = s->f.v[4 * c + b];
    const lk_real W = LK_FABS(s->f.w[4 * c + b]);
    lk_real x[3], g[3], k = K * W * all;
    if (!cand_is_free(i, s->f.n, s->f.fixed)) continue;
    if (lack > LK_R(0.0))
      k += s->weight[c] * (s->targets == NDB_HALFSPACE ? s->share[2 * c] * W * movable : LK_R(1.0));
    ndb_corner_gradient(s, c, b, lack, K, u, g);
    LK_LOAD3(x, s->f.x, i);
    iso_write(&a->t, at, i, x, k, g);
    ++at;
  }
}

/* d gradient / dx: w pull W n n' and, of friction, W W [K (I - n n') + (f1' - f1/|u|) u u'/|u|^2]
 * with their factors; never indefinite for NDB_HALFSPACE. */
LK_KERNEL_PLAIN(ndb_hessian, a, c)
{
  const ndb_state *const s = &a->s;
  int64_t at = a->first + a->at[c];
  lk_real n[3], u[3], F[9], ku = LK_R(0.0);
  if (a->at[c] == a->at[c + 1]) return;
  const lk_real lack = s->lack[c], K = compute_ndb_drag(s, c, u), y = lk_norm3(u);
  LK_LOAD3(n, s->f.normal, c);
  if (y > LK_R(0.0) && s->ahead.coast == NULL)
    ku = (s->f.most[c] * friction_f1_slope(y, stick_of(s, c)) - K) / (y * y);
  for (int r = 0; r < 3; ++r)
    for (int q = 0; q < 3; ++q)
      F[3 * r + q] = K * ((r == q ? LK_R(1.0) : LK_R(0.0)) - n[r] * n[q]) + ku * u[r] * u[q];
  for (int r = 0; r < 4; ++r) {
    if (!cand_is_free(s->f.v[4 * c + r], s->f.n, s->f.fixed)) continue;
    const lk_real stiff = lack > LK_R(0.0) ? -s->weight[c] * corner_pull(s, c, r) : LK_R(0.0);
    for (int q = 0; q < 4; ++q) {
      if (!cand_is_free(s->f.v[4 * c + q], s->f.n, s->f.fixed)) continue;
      const lk_real W = s->f.w[4 * c + q];
      a->row[at] = s->f.v[4 * c + r];
      a->col[at] = s->f.v[4 * c + q];
      for (int k = 0; k < 9; ++k)
        a->val[9 * at + k] = W * (stiff * n[k / 3] * n[k % 3] + s->f.w[4 * c + r] * F[k]);
      ++at;
    }
  }
}

/* ---- repair ---- */

LK_REDUCE_MAX(ndb_deepest, a, c) { return LK_R(0.5) * a->s.d_hat - ndb_contact_gap(&a->s, c); }

LK_KERNEL_PLAIN(ndb_play, a, c)
{
  a->plays[c] = ndb_contact_gap(&a->s, c) < a->reach;
  a->inverse[c] = a->plays[c] ? LK_R(1.0) : LK_R(0.0);
}

LK_KERNEL_PLAIN(ndb_load, a, c)
{
  const ndb_state *const s = &a->s;
  int64_t at = a->at[c];
  if (!a->plays[c]) return;
  for (int b = 0; b < 4; ++b) {
    if (!cand_is_free(s->f.v[4 * c + b], s->f.n, s->f.fixed)) continue;
    a->force[3 * at] = LK_FABS(s->f.w[4 * c + b]);
    a->force[3 * at + 1] = a->force[3 * at + 2] = LK_R(0.0);
    ++at;
  }
}

LK_KERNEL_PLAIN(ndb_damp, a, c)
{
  const ndb_state *const s = &a->s;
  lk_real D = LK_R(0.0);
  for (int b = 0; b < 4; ++b) {
    const int32_t i = s->f.v[4 * c + b];
    if (cand_is_free(i, s->f.n, s->f.fixed))
      D += LK_FABS(s->f.w[4 * c + b]) * a->load[3 * i] / a->mass[i];
  }
  a->inverse[c] *= dist_inverse(D);
  a->impulse[2 * c] = a->impulse[2 * c + 1] = LK_R(0.0);
}

LK_KERNEL_PLAIN(ndb_impulse, a, c)
{
  const ndb_state *const s = &a->s;
  int64_t at = a->at[c];
  if (!a->plays[c]) return;
  const lk_real old = a->impulse[2 * c];
  lk_real next = LK_R(0.0);
  if (a->inverse[c] > LK_R(0.0)) {
    next = a->impulse[2 * c + 1] + a->inverse[c] * (LK_R(0.5) * s->d_hat - ndb_contact_gap(s, c));
    if (!(next > LK_R(0.0))) next = LK_R(0.0);
    a->impulse[2 * c] = next;
    next += a->beta * (next - old);
    if (!(next > LK_R(0.0))) next = LK_R(0.0);
    a->impulse[2 * c + 1] = next;
  }
  for (int b = 0; b < 4; ++b) {
    if (!cand_is_free(s->f.v[4 * c + b], s->f.n, s->f.fixed)) continue;
    for (int k = 0; k < 3; ++k)
      a->force[3 * at + k] = next * s->f.w[4 * c + b] * s->f.normal[3 * c + k];
    ++at;
  }
}

LK_KERNEL(ndb_shift, a, i)
{
  for (int k = 0; k < 3; ++k)
    a->x[3 * i + k] =
        a->hat[3 * i + k] + (a->fixed[i] ? LK_R(0.0) : a->push[3 * i + k] / a->mass[i]);
}
