/* coulomb.kern.c - Signorini's and Coulomb's law on single vertices, and its numbers for the log.
 */
#include "coulomb.kern.h"

/* A body's mesh has no inside for detection: its normals point to the side on which the vertex is.
 * The side that counts is that of the start of the step. */
LK_FN int has_crossed(const coulomb_setup_args *a, lk_int j, const lk_real *n, lk_real distance,
                      const lk_real *move)
{
  const int32_t i = a->v[4 * j];
  lk_real way = LK_R(0.0);
  if (a->kind[j] != LOOM_PAIR_BVT) return 0;
  for (int c = 0; c < 3; ++c) way += n[c] * (a->x_start[3 * i + c] + move[c] - a->x[3 * i + c]);
  return distance + way < LK_R(0.0);
}

/* How far the body has gone since the start of the step at the contact, m. */
LK_FN void find_body_move(const coulomb_setup_args *a, lk_int j, lk_real *move)
{
  const int mesh = a->kind[j] == LOOM_PAIR_BVT;
  for (int c = 0; c < 3; ++c) {
    move[c] = mesh ? LK_R(0.0) : a->point[3 * j + c] - a->move[3 * j + c];
    for (int b = 1; mesh && b < 4; ++b) {
      const int64_t p = 3 * (int64_t)(a->v[4 * j + b] - a->n) + c;
      move[c] -= a->progress * a->w[4 * j + b] * (a->body1[p] - a->body0[p]);
    }
  }
}

LK_KERNEL_PLAIN(coulomb_setup, a, j)
{
  lk_real n[3], move[3] = {LK_R(0.0), LK_R(0.0), LK_R(0.0)}, c = LK_R(0.0);
  const int32_t i = a->v[4 * j], o = a->obst[j];
  LK_LOAD3(n, a->given, j);
  for (int b = 0; b < 4; ++b) a->node[4 * j + b] = -1;
  a->mu[j] = a->away[j] = LK_R(0.0);
  if (i < a->n && o >= 0) { /* not a vertex of the body against a triangle of the cloth */
    const lk_real radius = a->radius[i], distance = a->gap[j] + radius;
    find_body_move(a, j, move);
    const lk_real side = has_crossed(a, j, n, distance, move) ? LK_R(-1.0) : LK_R(1.0);
    c = side * distance - radius;
    a->away[j] = distance;
    for (int b = 0; b < 3; ++b) n[b] *= side;
    for (int b = 0; b < 3; ++b) c -= n[b] * a->x[3 * i + b];
    a->mu[j] = pair_friction_at(&a->named, a->kind[j], a->v + 4 * j, o, a->friction[o]);
    a->node[4 * j] = i;
  }
  a->c[j] = c;
  LK_STORE3(a->normal, j, n);
  LK_STORE3(a->move, j, move);
  for (int b = 0; b < 3; ++b) a->r[3 * j + b] = LK_R(0.0);
}

/* Pair number k of a vertex is not the nearest with its body. */
LK_FN int has_nearer(const coulomb_choose_args *a, int64_t from, int64_t to, int64_t k)
{
  const int32_t j = a->pair[k];
  for (int64_t l = from; l < to; ++l) {
    const int32_t other = a->pair[l];
    if (a->obst[other] != a->obst[j]) continue;
    if (a->away[other] < a->away[j] || (a->away[other] == a->away[j] && l < k)) return 1;
  }
  return 0;
}

LK_KERNEL_PLAIN(coulomb_choose, a, i)
{
  const int64_t from = a->first[i], to = a->first[i + 1];
  for (int64_t k = from; k < to; ++k)
    if (has_nearer(a, from, to, k)) a->node[4 * (int64_t)a->pair[k]] = -1;
}

/* ---- the law ---- */

/* r, m, of contact j where the vertex would move by d, m, without it.  At the end of the step its
 * gap above the offset would be `gap`.  A gap >= 0: it takes off.  Else the normal part of r closes
 * the gap, and the tangential part stops the slip as far as the cone |r_t| <= mu r_n lets it. */
LK_FN void find_reaction(const coulomb_law_args *a, lk_int j, int32_t i, const lk_real *d,
                         lk_real *r)
{
  lk_real n[3], slip[3], across = LK_R(0.0), gap = a->c[j] - a->offset;
  LK_LOAD3(n, a->normal, j);
  for (int c = 0; c < 3; ++c) {
    slip[c] = d[c] - a->move[3 * j + c];
    across += n[c] * slip[c];
    gap += n[c] * (a->x_start[3 * i + c] + d[c]);
  }
  for (int c = 0; c < 3; ++c) slip[c] -= across * n[c];
  if (a->by_speed && gap < LK_R(0.0)) gap = across;
  const lk_real push = gap < LK_R(0.0) ? -gap : LK_R(0.0);
  const lk_real length = LK_SQRT(lk_dot3(slip, slip)), most = a->mu[j] * push;
  const lk_real share = length > most ? most / length : LK_R(1.0);
  for (int c = 0; c < 3; ++c) r[c] = push > LK_R(0.0) ? push * n[c] - share * slip[c] : LK_R(0.0);
}

LK_KERNEL_PLAIN(coulomb_law, a, i)
{
  lk_real d[3], sum[3] = {LK_R(0.0), LK_R(0.0), LK_R(0.0)};
  const int64_t from = a->first[i], to = a->first[i + 1];
  const int sweeps = to - from > 1 ? COULOMB_SWEEPS : 1;
  d[0] = d[1] = d[2] = LK_R(0.0);
  if (to > from)
    for (int c = 0; c < 3; ++c)
      d[c] = a->x[3 * i + c] - a->x_start[3 * i + c] - a->h2 / a->mass[i] * a->grad[3 * i + c];
  for (int64_t k = from; k < to; ++k)
    for (int c = 0; c < 3; ++c) sum[c] += a->r[3 * (int64_t)a->pair[k] + c];
  for (int s = 0; s < sweeps; ++s)
    for (int64_t k = from; k < to; ++k) {
      const lk_int j = a->pair[k];
      lk_real r[3], rest[3];
      if (a->node[4 * j] < 0) continue;
      for (int c = 0; c < 3; ++c) sum[c] -= a->r[3 * j + c];
      for (int c = 0; c < 3; ++c) rest[c] = d[c] + sum[c];
      find_reaction(a, j, (int32_t)i, rest, r);
      for (int c = 0; c < 3; ++c) sum[c] += r[c];
      LK_STORE3(a->r, j, r);
    }
  for (int c = 0; c < 3; ++c) a->force[3 * i + c] = a->mass[i] / a->h2 * sum[c];
}

/* ---- numbers for the log ---- */

LK_FN lk_real normal_reaction(const coulomb_measure_args *a, lk_int j)
{
  return lk_dot3(a->normal + 3 * j, a->r + 3 * j);
}

LK_REDUCE_SUM(coulomb_active, a, j)
{
  return a->node[4 * j] >= 0 && normal_reaction(a, j) > LK_R(0.0) ? LK_R(1.0) : LK_R(0.0);
}

LK_REDUCE_MAX(coulomb_lowest, a, j)
{
  const int32_t i = a->node[4 * j];
  if (i < 0) return -LK_REAL_MAX;
  return -(a->c[j] + lk_dot3(a->normal + 3 * j, a->x + 3 * (int64_t)i));
}

LK_REDUCE_MAX(coulomb_strongest, a, j)
{
  const int32_t i = a->node[4 * j];
  return i < 0 ? LK_R(0.0) : a->mass[i] / a->h2 * normal_reaction(a, j);
}

LK_REDUCE_SUM(coulomb_work, a, j)
{
  const int32_t i = a->node[4 * j];
  lk_real work = LK_R(0.0);
  if (i < 0) return work;
  const lk_real push = normal_reaction(a, j);
  for (int c = 0; c < 3; ++c) {
    const lk_real slip = a->x[3 * i + c] - a->x_start[3 * i + c] - a->move[3 * j + c];
    work -= (a->r[3 * j + c] - push * a->normal[3 * j + c]) * slip;
  }
  return a->mass[i] / a->h2 * work;
}
