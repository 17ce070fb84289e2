/* project.kern.c - push vertices out of bodies; inelastic, frictional velocities. */
#include "project.kern.h"

/* Gauss-Seidel sweeps over the at most three bodies of a vertex. */
enum { SWEEPS = 8 };

LK_KERNEL(project_clear, a, i)
{
  for (int k = 0; k < PROJECT_SLOTS; ++k) {
    a->c.obst[PROJECT_SLOTS * i + k] = -1;
    a->c.push[PROJECT_SLOTS * i + k] = LK_R(0.0);
  }
  if (a->c.given != NULL)
    for (int k = 0; k < 3 * PROJECT_SLOTS; ++k) a->c.given[3 * PROJECT_SLOTS * i + k] = LK_R(0.0);
  a->c.loss[i] = LK_R(0.0);
}

LK_KERNEL(project_key, a, j) { a->key[j] = (uint64_t)a->v[4 * j]; }
LK_REDUCE_MAX(project_deepest, a, j) { return -a->gap[j]; }

/* The vertex's slot for this body: its own, a free one, or that of the smallest push. */
LK_FN int find_contact_slot(const project_contacts *c, int64_t i, int32_t obst)
{
  int best = 0;
  for (int k = 0; k < PROJECT_SLOTS; ++k) {
    const int32_t o = c->obst[PROJECT_SLOTS * i + k];
    if (o == obst) return k;
    if (c->push[PROJECT_SLOTS * i + k] < c->push[PROJECT_SLOTS * i + best]) best = k;
  }
  c->push[PROJECT_SLOTS * i + best] = LK_R(0.0);
  c->obst[PROJECT_SLOTS * i + best] = obst;
  if (c->given != NULL)
    for (int k = 0; k < 3; ++k) c->given[3 * (PROJECT_SLOTS * i + best) + k] = LK_R(0.0);
  return best;
}

/* Row l has changed the vertex's velocity by f d, m/s. */
LK_FN void record_given_velocity(const project_contacts *c, int64_t l, lk_real f, const lk_real *d)
{
  if (c->given == NULL) return;
  for (int k = 0; k < 3; ++k) c->given[3 * l + k] -= f * d[k];
}

/* Shortens the part of d orthogonal to n by at most `most`; *length: length of that part before.
 * Returns the length taken off. */
LK_FN lk_real shorten_tangent(lk_real *d, const lk_real *n, lk_real most, lk_real *length)
{
  lk_real t[3];
  const lk_real dn = lk_dot3(d, n);
  for (int c = 0; c < 3; ++c) t[c] = d[c] - dn * n[c];
  *length = LK_SQRT(lk_dot3(t, t));
  const lk_real cut = LK_FMIN(most, *length);
  if (cut > LK_R(0.0))
    for (int c = 0; c < 3; ++c) d[c] -= cut / *length * t[c];
  return cut;
}

/* The first of a run of equal vertices moves the vertex out of the body it is deepest in. */
LK_KERNEL_PLAIN(project_push, a, l)
{
  const int64_t i = (int64_t)a->key[l];
  lk_real n[3], x[3], point[3], move[3], u[3], length;
  if ((l > 0 && a->key[l - 1] == a->key[l]) || a->fixed[i]) return;
  int32_t j = a->perm[l];
  for (int64_t k = l + 1; k < a->m && a->key[k] == a->key[l]; ++k)
    if (a->gap[a->perm[k]] < a->gap[j]) j = a->perm[k];
  const lk_real delta = a->clearance - a->gap[j];
  LK_LOAD3(n, a->normal, j);
  LK_LOAD3(point, a->point, j);
  LK_LOAD3(x, a->x, i);
  for (int c = 0; c < 3; ++c) move[c] = point[c] - a->before[3 * j + c];
  for (int c = 0; c < 3; ++c) u[c] = x[c] + delta * n[c] - a->x_start[3 * i + c] - move[c];
  const lk_real mu = pair_friction_on(&a->named, i, a->obst[j], a->friction[a->obst[j]]);
  const lk_real cut = shorten_tangent(u, n, mu * delta, &length);
  for (int c = 0; c < 3; ++c) {
    a->x[3 * i + c] = a->x_start[3 * i + c] + move[c] + u[c];
    u[c] = a->x[3 * i + c] - x[c];
  }
  const int s = find_contact_slot(&a->c, i, a->obst[j]);
  record_given_velocity(&a->c, PROJECT_SLOTS * i + s, a->mass[i] * a->inv_h, u);
  a->c.push[PROJECT_SLOTS * i + s] += delta;
  LK_STORE3(a->c.normal, PROJECT_SLOTS * i + s, n);
  a->c.loss[i] += a->mass[i] * cut * (length - LK_R(0.5) * cut) * a->inv_h * a->inv_h;
}

LK_KERNEL_PLAIN(project_touch, a, l)
{
  const int64_t i = l / PROJECT_SLOTS;
  for (int c = 0; c < 3; ++c)
    a->point[3 * l + c] = a->x[3 * i + c] - a->radius[i] * a->normal[3 * l + c];
  if (a->weight != NULL) a->weight[l] = a->mass[i];
}

/* Velocity of the body's surface point under the vertex, m/s. */
LK_FN void surface_velocity(const project_inelastic_args *a, lk_int i, int k, lk_real *w)
{
  const int64_t l = (int64_t)PROJECT_SLOTS * i + k;
  for (int c = 0; c < 3; ++c) w[c] = (a->point[3 * l + c] - a->before[3 * l + c]) * a->inv_h;
}

/* One sweep over the bodies of a vertex.  J: normal impulses per mass so far (m/s), never negative,
 * beginning with the impulses of the push: an outward speed that only stems from the push is taken
 * back, an outward speed that the vertex had before stays. */
LK_FN void stop_inward(const project_inelastic_args *a, lk_int i, lk_real *v, lk_real *J)
{
  for (int k = 0; k < PROJECT_SLOTS; ++k) {
    const int64_t l = (int64_t)PROJECT_SLOTS * i + k;
    lk_real n[3], w[3], vn = LK_R(0.0);
    if (a->c.obst[l] < 0) continue;
    LK_LOAD3(n, a->c.normal, l);
    surface_velocity(a, i, k, w);
    for (int c = 0; c < 3; ++c) vn += n[c] * (v[c] - w[c]);
    const lk_real add = LK_FMAX(-vn, -J[k]);
    J[k] += add;
    for (int c = 0; c < 3; ++c) v[c] += add * n[c];
    record_given_velocity(&a->c, l, a->mass[i] * add, n);
  }
}

/* Friction of the part of the impulses beyond the push; the friction of the push is already in x.
 */
LK_FN void slow_down(const project_inelastic_args *a, lk_int i, lk_real *v, const lk_real *J)
{
  for (int k = 0; k < PROJECT_SLOTS; ++k) {
    const int64_t l = (int64_t)PROJECT_SLOTS * i + k;
    lk_real n[3], w[3], r[3], length;
    if (a->c.obst[l] < 0) continue;
    const lk_real more = J[k] - a->inv_h * a->c.push[l];
    if (!(more > LK_R(0.0))) continue;
    LK_LOAD3(n, a->c.normal, l);
    surface_velocity(a, i, k, w);
    for (int c = 0; c < 3; ++c) r[c] = v[c] - w[c];
    const int32_t o = a->c.obst[l];
    const lk_real mu = pair_friction_on(&a->named, i, o, a->friction[o]);
    const lk_real cut = shorten_tangent(r, n, mu * more, &length);
    a->c.loss[i] += a->mass[i] * cut * (length - LK_R(0.5) * cut);
    for (int c = 0; c < 3; ++c) {
      const lk_real before = v[c];
      v[c] = r[c] + w[c];
      r[c] = v[c] - before;
    }
    record_given_velocity(&a->c, l, a->mass[i], r);
  }
}

LK_KERNEL_PLAIN(project_inelastic, a, i)
{
  lk_real v[3], J[PROJECT_SLOTS];
  LK_LOAD3(v, a->v, i);
  for (int k = 0; k < PROJECT_SLOTS; ++k) J[k] = a->inv_h * a->c.push[PROJECT_SLOTS * i + k];
  for (int sweep = 0; sweep < SWEEPS; ++sweep) stop_inward(a, i, v, J);
  slow_down(a, i, v, J);
  stop_inward(a, i, v, J);
  LK_STORE3(a->v, i, v);
}

LK_REDUCE_SUM(project_active, a, i)
{
  lk_real sum = LK_R(0.0);
  for (int k = 0; k < PROJECT_SLOTS; ++k)
    if (a->push[PROJECT_SLOTS * i + k] > LK_R(0.0)) sum += LK_R(1.0);
  return sum;
}

LK_REDUCE_MAX(project_strongest, a, i)
{
  lk_real most = LK_R(0.0);
  for (int k = 0; k < PROJECT_SLOTS; ++k) most = LK_FMAX(most, a->push[PROJECT_SLOTS * i + k]);
  return a->mass[i] * most * a->inv_h2;
}

LK_REDUCE_SUM(project_loss, a, i) { return a->loss[i]; }
