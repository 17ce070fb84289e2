/* rigid_contact.c - contacts of balls among each other and with bodies of prescribed motion.
 *
 * With the gap g at the start of the step and the unit normal n, the velocities must satisfy
 *   g + h n.(v_a - v_b) >= 0,
 * for a body of prescribed motion with g to where it stands at the end, and v_b = 0.  Distances to
 * convex bodies lie above their tangents, so pairs that satisfy this do not overlap after the step.
 * Impulses are found contact by contact (projected Gauss-Seidel, ascending), started from the
 * impulses of the step before; friction is |drag| <= mu push.  Friction coefficients of two balls,
 * or of a ball and a body, combine to the root of their product. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bodies/rigid.h"
#include "geom/vec3.h"

enum { SWEEPS = 40, SEPARATIONS = 100 };
/* A sweep that changes no velocity by more has settled, m/s. */
static const double settled_within = 1e-8;
/* Contacts are sought this much beyond the reach of velocities, in radii. */
static const double contact_margin = 0.01;
/* Overlap that is left alone, in radii: rounding. */
static const double contact_slack = 1e-12;

double rigid_gap(const rigid *r, int32_t a, int32_t b, double n[3])
{
  const double *const x = r->state[a].x;
  if (b >= 0) {
    const double d[3] = {x[0] - r->state[b].x[0], x[1] - r->state[b].x[1], x[2] - r->state[b].x[2]};
    const double len = vec3_norm(d);
    /* centres in one place: some direction */
    for (int c = 0; c < 3; ++c) n[c] = len > 0 ? d[c] / len : (c == 2 ? 1.0 : 0.0);
    return len - r->ball[a].radius - r->ball[b].radius;
  }
  const obst_view *const v = &r->view[-1 - b];
  const lk_real at[3] = {(lk_real)x[0], (lk_real)x[1], (lk_real)x[2]};
  lk_real out[3];
  obst_pose P;
  obst_pose_at(v, LK_R(1.0), &P);
  const double d = (double)obst_distance(v, &P, at, out);
  for (int c = 0; c < 3; ++c) n[c] = (double)out[c];
  return d - r->ball[a].radius;
}

/* ---- finding ---- */

/* How far ball i gets in h seconds and a little more, m. */
static double ball_step_reach(const rigid *r, int32_t i, double h)
{
  const double *const v = r->state[i].v;
  return h * vec3_norm(v) + contact_margin * r->ball[i].radius;
}

static int add_touch(rigid *r, const rigid_touch *t)
{
  if (r->num_touch == r->max_touch) {
    const int32_t most = 2 * r->max_touch + 16;
    rigid_touch *const p = realloc(r->touch, (size_t)most * sizeof *p);
    if (p == NULL) return 0;
    r->touch = p;
    r->max_touch = most;
  }
  r->touch[r->num_touch++] = *t;
  return 1;
}

static int add_balls(rigid *r, int32_t i, int32_t j, double h)
{
  rigid_touch t = {.a = i < j ? i : j, .b = i < j ? j : i};
  const rigid_ball *const a = &r->ball[t.a], *const b = &r->ball[t.b];
  t.gap = rigid_gap(r, t.a, t.b, t.n);
  if (t.gap > ball_step_reach(r, i, h) + ball_step_reach(r, j, h)) return 1;
  t.friction = sqrt(a->friction * b->friction);
  t.normal = 1 / (1 / a->mass + 1 / b->mass);
  t.along = 1 / (1 / a->mass + a->radius * a->radius / a->inertia + 1 / b->mass +
                 b->radius * b->radius / b->inertia);
  return add_touch(r, &t);
}

static int append_body_touch(rigid *r, int32_t i, int32_t k, double h)
{
  const rigid_ball *const a = &r->ball[i];
  const obst_view *const v = &r->view[k];
  rigid_touch t = {.a = i, .b = -1 - k};
  lk_real point[3], move[3];
  t.gap = rigid_gap(r, i, t.b, t.n);
  if (t.gap > ball_step_reach(r, i, h)) return 1;
  for (int c = 0; c < 3; ++c) point[c] = (lk_real)(r->state[i].x[c] - (a->radius + t.gap) * t.n[c]);
  obst_displacement(v, point, move);
  for (int c = 0; c < 3; ++c) t.u[c] = h > 0 ? (double)move[c] / h : 0.0;
  t.friction = sqrt(a->friction * (double)v->friction);
  t.normal = a->mass;
  t.along = 1 / (1 / a->mass + a->radius * a->radius / a->inertia);
  return add_touch(r, &t);
}

static int compare_touches(const void *p, const void *q)
{
  const rigid_touch *const a = p, *const b = q;
  if (a->a != b->a) return a->a < b->a ? -1 : 1;
  return (a->b > b->b) - (a->b < b->b);
}

/* The axis along which the balls lie furthest apart. */
static int find_widest_axis(const rigid *r)
{
  int best = 0;
  double most = -1;
  for (int c = 0; c < 3; ++c) {
    double lo = INFINITY, hi = -INFINITY;
    for (int32_t i = 0; i < r->num; ++i) {
      lo = fmin(lo, r->state[i].x[c]);
      hi = fmax(hi, r->state[i].x[c]);
    }
    if (hi - lo > most) {
      most = hi - lo;
      best = c;
    }
  }
  return best;
}

/* Sort and sweep along that axis; the order is nearly that of the step before, so insertion is
 * linear. */
static int sweep_ball_pairs(rigid *r, double h)
{
  const int c = find_widest_axis(r);
  double *const at = r->interval;
  for (int32_t i = 0; i < r->num; ++i) {
    const double half = r->ball[i].radius + ball_step_reach(r, i, h);
    at[2 * i] = r->state[i].x[c] - half;
    at[2 * i + 1] = r->state[i].x[c] + half;
  }
  for (int32_t k = 1; k < r->num; ++k) {
    const int32_t i = r->order[k];
    int32_t l = k;
    for (; l > 0; --l) {
      const int32_t j = r->order[l - 1];
      if (at[2 * j] < at[2 * i] || (at[2 * j] == at[2 * i] && j < i)) break;
      r->order[l] = j;
    }
    r->order[l] = i;
  }
  for (int32_t k = 0; k < r->num; ++k)
    for (int32_t l = k + 1; l < r->num; ++l) {
      const int32_t i = r->order[k], j = r->order[l];
      if (at[2 * j] > at[2 * i + 1]) break;
      if (!add_balls(r, i, j, h)) return 0;
    }
  return 1;
}

/* Starts from the impulses of the step before; drag is projected onto the new tangent plane. */
static void start_from_last(rigid *r)
{
  int32_t l = 0;
  for (int32_t k = 0; k < r->num_touch; ++k) {
    rigid_touch *const t = &r->touch[k];
    while (l < r->num_last && compare_touches(&r->last[l], t) < 0) ++l;
    if (l == r->num_last || compare_touches(&r->last[l], t) != 0) continue;
    const double out = vec3_dot(r->last[l].drag, t->n);
    t->push = r->last[l].push;
    for (int c = 0; c < 3; ++c) t->drag[c] = r->last[l].drag[c] - out * t->n[c];
  }
}

int rigid_find(rigid *r, double h)
{
  rigid_touch *const spare = r->last;
  const int32_t room = r->max_last;
  r->last = r->touch, r->num_last = r->num_touch, r->max_last = r->max_touch;
  r->touch = spare, r->num_touch = 0, r->max_touch = room;
  if (!sweep_ball_pairs(r, h)) return 0;
  for (int32_t i = 0; i < r->num; ++i)
    for (int32_t k = 0; k < r->num_bodies; ++k)
      if (!append_body_touch(r, i, k, h)) return 0;
  if (r->num_touch > 1) qsort(r->touch, (size_t)r->num_touch, sizeof *r->touch, compare_touches);
  start_from_last(r);
  return 1;
}

/* ---- solving ---- */

/* Impulse p (N s) on ball i at arm (m) from its centre. */
static void push_ball(rigid *r, int32_t i, const double arm[3], const double p[3], double sign)
{
  const rigid_ball *const b = &r->ball[i];
  double torque[3];
  vec3_cross(arm, p, torque);
  for (int c = 0; c < 3; ++c) {
    r->state[i].v[c] += sign * p[c] / b->mass;
    r->state[i].w[c] += sign * torque[c] / b->inertia;
  }
}

static void push_both(rigid *r, const rigid_touch *t, const double p[3])
{
  double arm[3];
  for (int c = 0; c < 3; ++c) arm[c] = -r->ball[t->a].radius * t->n[c];
  push_ball(r, t->a, arm, p, 1.0);
  if (t->b < 0) return;
  for (int c = 0; c < 3; ++c) arm[c] = r->ball[t->b].radius * t->n[c];
  push_ball(r, t->b, arm, p, -1.0);
}

/* Velocity of a's surface relative to b's where they meet, m/s. */
static void contact_slip_velocity(const rigid *r, const rigid_touch *t, double u[3])
{
  double arm[3], turn[3];
  for (int c = 0; c < 3; ++c) arm[c] = -r->ball[t->a].radius * t->n[c];
  vec3_cross(r->state[t->a].w, arm, turn);
  for (int c = 0; c < 3; ++c) u[c] = r->state[t->a].v[c] + turn[c] - t->u[c];
  if (t->b < 0) return;
  for (int c = 0; c < 3; ++c) arm[c] = r->ball[t->b].radius * t->n[c];
  vec3_cross(r->state[t->b].w, arm, turn);
  for (int c = 0; c < 3; ++c) u[c] -= r->state[t->b].v[c] + turn[c];
}

/* Bring one contact's impulses up to date; returns the change of velocity, m/s. */
static double solve_one(rigid *r, rigid_touch *t, double h)
{
  double p[3], u[3], drag[3], vn = vec3_dot(r->state[t->a].v, t->n);
  if (t->b >= 0) vn -= vec3_dot(r->state[t->b].v, t->n);
  /* an overlap is no reason to fly apart: rigid_separate mends it */
  const double short_by = vn + fmax(t->gap, 0.0) / h;
  const double push = fmax(0.0, t->push - t->normal * short_by);
  for (int c = 0; c < 3; ++c) p[c] = (push - t->push) * t->n[c];
  double change = fabs(push - t->push) / t->normal;
  t->push = push;
  push_both(r, t, p);

  contact_slip_velocity(r, t, u);
  const double out = vec3_dot(u, t->n);
  for (int c = 0; c < 3; ++c) drag[c] = t->drag[c] - t->along * (u[c] - out * t->n[c]);
  const double size = vec3_norm(drag), most = t->friction * push;
  const double keep = size > most ? most / size : 1.0;
  for (int c = 0; c < 3; ++c) {
    p[c] = keep * drag[c] - t->drag[c];
    t->drag[c] = keep * drag[c];
  }
  change = fmax(change, vec3_norm(p) / t->along);
  push_both(r, t, p);
  return change;
}

void rigid_solve(rigid *r, double h)
{
  for (int32_t k = 0; k < r->num_touch; ++k) {
    const rigid_touch *const t = &r->touch[k];
    double p[3];
    for (int c = 0; c < 3; ++c) p[c] = t->push * t->n[c] + t->drag[c];
    push_both(r, t, p);
  }
  double change = r->num_touch > 0 ? INFINITY : 0.0;
  for (int sweep_no = 0; sweep_no < SWEEPS && change > settled_within; ++sweep_no) {
    change = 0;
    for (int32_t k = 0; k < r->num_touch; ++k) change = fmax(change, solve_one(r, &r->touch[k], h));
  }
}

void rigid_separate(rigid *r)
{
  int moved = r->num_touch > 0;
  for (int pass = 0; pass < SEPARATIONS && moved; ++pass) {
    moved = 0;
    for (int32_t k = 0; k < r->num_touch; ++k) {
      const rigid_touch *const t = &r->touch[k];
      double n[3];
      const double gap = rigid_gap(r, t->a, t->b, n), ma = r->ball[t->a].mass;
      if (!(gap < -contact_slack * r->ball[t->a].radius)) continue;
      const double share = t->b < 0 ? 1.0 : r->ball[t->b].mass / (ma + r->ball[t->b].mass);
      moved = 1;
      for (int c = 0; c < 3; ++c) {
        r->state[t->a].x[c] -= share * gap * n[c];
        if (t->b >= 0) r->state[t->b].x[c] += (1.0 - share) * gap * n[c];
      }
    }
  }
}
