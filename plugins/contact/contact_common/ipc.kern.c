/* ipc.kern.c - candidates, active pairs, energy, forces and Hessians of the barrier. */
#include "ipc.kern.h"

/* ---- candidates ------------------------------------------------------------------------- */

LK_FN lk_real radius_of(const ipc_take_args *a, int32_t i)
{
  return i >= 0 && i < a->n ? a->radius[i] : LK_R(0.0);
}

/* |U|^2 of the edge i j at rest */
LK_FN lk_real rest_length2(const ipc_take_args *a, int32_t i, int32_t j)
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

LK_KERNEL_PLAIN(ipc_take, a, j)
{
  const int32_t kind = a->kind_in[j], *const v = a->v_in + 4 * j;
  const int edges = ipc_is_edges(kind);
  int64_t num = 0;
  a->kind[j] = kind;
  a->obst[j] = a->obst_in[j];
  for (int b = 0; b < 4; ++b) {
    a->v[4 * j + b] = v[b];
    num += ipc_is_free(v[b], a->n, a->fixed);
  }
  a->num[j] = num;
  /* radii are constant within an object, so any vertex of a side has that of the side */
  a->xi[j] = radius_of(a, v[0]);
  if (kind != LOOM_PAIR_VO) a->xi[j] += radius_of(a, v[3]);
  a->par[j] = edges ? BARRIER_PARALLEL * rest_length2(a, v[0], v[1]) * rest_length2(a, v[2], v[3])
                    : LK_R(0.0);
}

LK_REDUCE_MAX(ipc_moved, a, i)
{
  const lk_real d[3] = {a->x[3 * i] - a->anchor[3 * i], a->x[3 * i + 1] - a->anchor[3 * i + 1],
                        a->x[3 * i + 2] - a->anchor[3 * i + 2]};
  return lk_dot3(d, d);
}

LK_KERNEL_PLAIN(ipc_corner_keys, a, j)
{
  int64_t at = a->at[j];
  for (int b = 0; b < 4; ++b) {
    const int32_t i = a->v[4 * j + b];
    if (!ipc_is_free(i, a->n, a->fixed)) continue;
    a->owner[at] = j;
    a->key[at++] = (uint64_t)i;
  }
}

LK_KERNEL_PLAIN(ipc_pick, a, i) { a->to[i] = a->from[a->at]; }

/* The first of a run of equal keys adds up the run, in the order of the pairs. */
LK_KERNEL_PLAIN(ipc_gather, a, j)
{
  const uint64_t i = a->key[j];
  lk_real sum[3] = {LK_R(0.0), LK_R(0.0), LK_R(0.0)};
  if (j > 0 && a->key[j - 1] == i) return;
  for (int64_t l = j; l < a->corners && a->key[l] == i; ++l) {
    const int64_t at = a->perm[l];
    const int32_t o = a->owner[at];
    if (a->place != NULL && a->place[o] == a->place[o + 1]) continue;
    for (int c = 0; c < 3; ++c) sum[c] += a->force[3 * at + c];
  }
  for (int c = 0; c < 3; ++c) a->grad[3 * i + (uint64_t)c] += sum[c];
}

/* ---- active pairs ------------------------------------------------------------------------- */

LK_KERNEL_PLAIN(ipc_measure, a, c)
{
  const ipc_state *const s = &a->s;
  lk_real x[12], w[4], C[9], D;
  barrier_law law;
  if (a->num[c] == 0) { /* nobody could move it */
    a->room[c] = LK_REAL_MAX;
    a->active[c] = 0;
    return;
  }
  ipc_law(s, c, &law);
  if (s->kind[c] == LOOM_PAIR_VO) {
    const lk_real f = ipc_body(s, c, w, C);
    D = f * LK_FABS(f); /* negative inside */
  } else {
    D = ipc_pair(s, c, x, w);
  }
  a->room[c] = D - law.xi2;
  a->active[c] = barrier_active(&law, D);
}

LK_REDUCE_MAX(ipc_least_room, a, c) { return -a->room[c]; }

LK_REDUCE_MAX(ipc_least_gap, a, c)
{
  const lk_real D = a->room[c] + a->xi[c] * a->xi[c];
  if (a->room[c] == LK_REAL_MAX) return -LK_REAL_MAX;
  return a->xi[c] - (D < LK_R(0.0) ? -LK_SQRT(-D) : LK_SQRT(D));
}

LK_KERNEL_PLAIN(ipc_compact, a, c)
{
  if (a->place[c] != a->place[c + 1]) a->list[a->place[c]] = c;
}

LK_REDUCE_SUM_PLAIN(ipc_energy, a, i)
{
  const ipc_state *const s = &a->s;
  const int32_t c = a->list[i];
  lk_real x[12], w[4], C[9];
  barrier_law law;
  ipc_law(s, c, &law);
  if (s->kind[c] == LOOM_PAIR_VO) {
    const lk_real f = ipc_body(s, c, w, C);
    return barrier_value(&law, f * f);
  }
  const lk_real D = ipc_pair(s, c, x, w);
  return ipc_mollifier(s, c, x) * barrier_value(&law, D);
}

LK_REDUCE_MAX(ipc_strongest, a, i)
{
  const ipc_state *const s = &a->s;
  const int32_t c = a->list[i];
  lk_real x[12], w[4], C[9];
  barrier_law law;
  ipc_law(s, c, &law);
  if (s->kind[c] == LOOM_PAIR_VO) {
    const lk_real f = ipc_body(s, c, w, C);
    return LK_R(-2.0) * f * barrier_slope(&law, f * f) * lk_norm3(w);
  }
  const lk_real D = ipc_pair(s, c, x, w);
  return LK_R(-2.0) * LK_SQRT(D) * ipc_mollifier(s, c, x) * barrier_slope(&law, D);
}

LK_KERNEL_PLAIN(ipc_force, a, i)
{
  const ipc_state *const s = &a->s;
  const int32_t c = a->list[i];
  int64_t at = a->at[c];
  lk_real g[12], C[9];
  barrier_law law;
  ipc_law(s, c, &law);
  if (s->kind[c] == LOOM_PAIR_VO) {
    const lk_real f = ipc_body(s, c, g, C);
    const lk_real b1 = barrier_slope(&law, f * f);
    for (int k = 0; k < 3; ++k) a->force[3 * at + k] = LK_R(2.0) * b1 * f * g[k];
    return;
  }
  ipc_pair_gradient(s, c, &law, g);
  for (int b = 0; b < 4; ++b) {
    if (!ipc_is_free(s->v[4 * c + b], s->n, s->fixed)) continue;
    for (int k = 0; k < 3; ++k) a->force[3 * at + k] = g[3 * b + k];
    ++at;
  }
}

/* ---- Hessian --------------------------------------------------------------------------------- */

LK_KERNEL_PLAIN(ipc_count_corners, a, i)
{
  const int64_t num = a->num[a->list[i]];
  a->count[i] = a->square ? num * num : num;
}

/* b'' dD dD' + b' d2D with D = f^2, and f's gradient g and Hessian C; H [3][3]. */
LK_FN void body_hessian(const ipc_hessian_args *a, const barrier_law *law, lk_int c, lk_real *H)
{
  lk_real g[3], C[9], V[9], W[9];
  const lk_real f = ipc_body(&a->s, c, g, C);
  const lk_real b1 = barrier_slope(law, f * f), b2 = barrier_curvature(law, f * f);
  const lk_real k = LK_R(4.0) * f * f * b2 + LK_R(2.0) * b1;
  if (a->s.gauss_newton) {
    for (int i = 0; i < 9; ++i) H[i] = LK_FMAX(k, LK_R(0.0)) * g[i / 3] * g[i % 3];
    return;
  }
  for (int i = 0; i < 9; ++i) H[i] = k * g[i / 3] * g[i % 3] + LK_R(2.0) * b1 * f * C[i];
  if (a->how != LOOM_HESS_EXACT) lk_sym_psd(3, H, V, W, a->how);
}

/* The product rule for m(c) b(D) of two edges in the mollified range, H [12][12]. */
LK_FN void mollified_hessian(const ipc_hessian_args *a, const barrier_law *law, const lk_real *x,
                             lk_real D, lk_real e, const dist_frame *f, lk_real *H)
{
  lk_real S[25], B[9], dc[12], db[12], V[144], W[144];
  const lk_real c = mollifier_cross(x), b0 = barrier_value(law, D), b1 = barrier_slope(law, D);
  const lk_real m0 = mollifier(c, e), m1 = mollifier_slope(c, e), m2 = mollifier_curvature(c, e);
  dist_hessian(f, m0 * b1, m0 * barrier_curvature(law, D), LOOM_HESS_EXACT, S);
  for (int i = 0; i < 4; ++i)
    for (int j = 0; j < 4; ++j) {
      dist_block(f, S, i, j, B);
      for (int k = 0; k < 9; ++k) H[12 * (3 * i + k / 3) + 3 * j + k % 3] = B[k];
    }
  mollifier_cross_gradient(x, dc);
  for (int i = 0; i < 12; ++i) db[i] = LK_R(2.0) * b1 * f->d * f->W[i / 3] * f->F[0][i % 3];
  for (int i = 0; i < 12; ++i)
    for (int j = 0; j < 12; ++j)
      H[12 * i + j] += m1 * (db[i] * dc[j] + dc[i] * db[j]) + b0 * m2 * dc[i] * dc[j];
  mollifier_cross_hessian(x, b0 * m1, H);
  if (a->how != LOOM_HESS_EXACT) lk_sym_psd(12, H, V, W, a->how);
}

/* Blocks of the corners of candidate c behind `at`: from S, or from H if that is given. */
LK_FN void write_blocks(const ipc_hessian_args *a, lk_int c, int64_t at, const dist_frame *f,
                        const lk_real *S, const lk_real *H)
{
  const ipc_state *const s = &a->s;
  for (int i = 0; i < 4; ++i) {
    if (!ipc_is_free(s->v[4 * c + i], s->n, s->fixed)) continue;
    for (int j = 0; j < 4; ++j) {
      if (!ipc_is_free(s->v[4 * c + j], s->n, s->fixed)) continue;
      a->row[at] = s->v[4 * c + i];
      a->col[at] = s->v[4 * c + j];
      if (H == NULL) {
        dist_block(f, S, i, j, a->val + 9 * at);
      } else {
        for (int k = 0; k < 9; ++k) a->val[9 * at + k] = H[12 * (3 * i + k / 3) + 3 * j + k % 3];
      }
      ++at;
    }
  }
}

LK_KERNEL_PLAIN(ipc_hessian, a, i)
{
  const ipc_state *const s = &a->s;
  const int32_t c = a->list[i];
  const int64_t at = a->first + a->at_block[i];
  lk_real x[12], w[4], S[25];
  barrier_law law;
  dist_frame f;
  ipc_law(s, c, &law);
  if (s->kind[c] == LOOM_PAIR_VO) {
    a->row[at] = a->col[at] = s->v[4 * c];
    body_hessian(a, &law, c, a->val + 9 * at);
    return;
  }
  const lk_real D = ipc_pair(s, c, x, w);
  dist_frame_of(ipc_is_edges(s->kind[c]), x, w, &f);
  const int mollified = s->par[c] > LK_R(0.0) && mollifier_cross(x) < s->par[c];
  if (mollified && !s->gauss_newton) {
    lk_real H[144];
    mollified_hessian(a, &law, x, D, s->par[c], &f, H);
    write_blocks(a, c, at, &f, NULL, H);
    return;
  }
  const lk_real m = ipc_mollifier(s, c, x);
  const lk_real b1 = m * barrier_slope(&law, D), b2 = m * barrier_curvature(&law, D);
  if (s->gauss_newton)
    dist_gauss_newton(&f, b1, b2, S);
  else
    dist_hessian(&f, b1, b2, a->how, S);
  write_blocks(a, c, at, &f, S, NULL);
}
