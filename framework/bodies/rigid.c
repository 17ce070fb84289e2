/* rigid.c - state of the balls: start, step, reaction of contact. */
#include "bodies/rigid.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "geom/pose.h"

/* n items, all zero */
static loom_status alloc_rigid_array(loom_err *err, int64_t n, size_t item, void *out)
{
  void *const p = calloc(n > 0 ? (size_t)n : 1, item);
  if (p == NULL) return err_set(err, LOOM_E_NOMEM, "no memory for the state of the balls");
  memcpy(out, &p, sizeof p);
  /* cppcheck-suppress memleak ; *out has it */
  return LOOM_OK;
}

/* Unit quaternion of a rotation matrix, from the largest of its four squares. */
static void quat_of(const loom_real *R, double q[4])
{
  const double four[4] = {1 + R[0] + R[4] + R[8], 1 + R[0] - R[4] - R[8], 1 - R[0] + R[4] - R[8],
                          1 - R[0] - R[4] + R[8]};
  int best = 0;
  double len = 0;
  for (int k = 1; k < 4; ++k)
    if (four[k] > four[best]) best = k;
  const double row[4][4] = {{four[0], R[7] - R[5], R[2] - R[6], R[3] - R[1]},
                            {R[7] - R[5], four[1], R[1] + R[3], R[2] + R[6]},
                            {R[2] - R[6], R[1] + R[3], four[2], R[5] + R[7]},
                            {R[3] - R[1], R[2] + R[6], R[5] + R[7], four[3]}};
  for (int k = 0; k < 4; ++k) len += row[best][k] * row[best][k];
  for (int k = 0; k < 4; ++k) q[k] = row[best][k] / sqrt(len);
}

/* q turned by the angular velocity w for h seconds */
static void rotate_quaternion(double q[4], const double w[3], double h)
{
  const double rate = sqrt(w[0] * w[0] + w[1] * w[1] + w[2] * w[2]);
  double p[4], out[4], len = 0;
  if (!(rate > 0)) return;
  const double axis[3] = {w[0] / rate, w[1] / rate, w[2] / rate};
  quat_axis_angle(axis, h * rate, p);
  out[0] = p[0] * q[0] - p[1] * q[1] - p[2] * q[2] - p[3] * q[3];
  out[1] = p[0] * q[1] + p[1] * q[0] + p[2] * q[3] - p[3] * q[2];
  out[2] = p[0] * q[2] - p[1] * q[3] + p[2] * q[0] + p[3] * q[1];
  out[3] = p[0] * q[3] + p[1] * q[2] - p[2] * q[1] + p[3] * q[0];
  for (int k = 0; k < 4; ++k) len += out[k] * out[k];
  for (int k = 0; k < 4; ++k) q[k] = out[k] / sqrt(len);
}

static void store_ball_pose(const rigid_state *s, loom_real *pose)
{
  double R[9];
  quat_matrix(s->q, R);
  for (int k = 0; k < 9; ++k) pose[k] = (loom_real)R[k];
  for (int c = 0; c < 3; ++c) pose[9 + c] = (loom_real)s->x[c];
}

static void append_ball(rigid *r, const loom_scene *sc, int32_t k, double inertia, const double *v,
                        const double *w)
{
  const loom_obstacle *const o = &sc->obstacles[k];
  rigid_state *const s = &r->state[r->num];
  const double m = (double)o->mass;
  r->ball[r->num] = (rigid_ball){.body = k,
                                 .mass = m,
                                 .inertia = inertia,
                                 .radius = (double)o->shape[3],
                                 .friction = (double)o->friction};
  quat_of(o->pose1, s->q);
  for (int c = 0; c < 3; ++c) {
    s->x[c] = (double)o->pose1[9 + c];
    s->v[c] = v[c];
    s->w[c] = w[c];
  }
  r->order[r->num] = r->num;
  ++r->num;
}

static loom_status append_prescribed_body(loom_err *err, rigid *r, const loom_scene *sc, int32_t k)
{
  obst_view *const v = &r->view[r->num_bodies];
  const char *const why = obst_view_fill(&sc->obstacles[k], v);
  if (why != NULL) return err_set(err, LOOM_E_CONFIG, "[body.%s]: %s", sc->obstacles[k].name, why);
  if (!obst_view_has_distance(v))
    return err_set(err, LOOM_E_CONFIG,
                   "[body.%s] is a mesh without a distance grid, on which no ball can lie; set its "
                   "sdf_resolution above 0, or take the exact shape (mesh_size = 0)",
                   sc->obstacles[k].name);
  r->body[r->num_bodies++] = k;
  return LOOM_OK;
}

static loom_status fill_rigid(loom_err *err, rigid *r, const loom_scene *sc, const double *inertia,
                              const double *velocity, const double *spin)
{
  const int64_t n = sc->num_obstacles;
  LOOM_TRY(alloc_rigid_array(err, n, sizeof *r->ball, &r->ball));
  LOOM_TRY(alloc_rigid_array(err, n, sizeof *r->state, &r->state));
  LOOM_TRY(alloc_rigid_array(err, n, sizeof *r->body, &r->body));
  LOOM_TRY(alloc_rigid_array(err, n, sizeof *r->view, &r->view));
  LOOM_TRY(alloc_rigid_array(err, n, sizeof *r->order, &r->order));
  LOOM_TRY(alloc_rigid_array(err, 2 * n, sizeof *r->interval, &r->interval));
  for (int32_t k = 0; k < sc->num_obstacles; ++k)
    if (sc->obstacles[k].mass > 0)
      append_ball(r, sc, k, inertia[k], velocity + 3 * (int64_t)k, spin + 3 * (int64_t)k);
    else
      LOOM_TRY(append_prescribed_body(err, r, sc, k));
  return LOOM_OK;
}

loom_status rigid_new(loom_err *err, const loom_scene *sc, const double *inertia,
                      const double *velocity, const double *spin, rigid **out)
{
  rigid *r = NULL;
  *out = NULL;
  LOOM_TRY(alloc_rigid_array(err, 1, sizeof *r, &r));
  const loom_status s = fill_rigid(err, r, sc, inertia, velocity, spin);
  if (s != LOOM_OK) {
    rigid_free(r);
    return s;
  }
  *out = r;
  return LOOM_OK;
}

void rigid_free(rigid *r)
{
  if (r == NULL) return;
  free(r->ball);
  free(r->state);
  free(r->body);
  free(r->view);
  free(r->order);
  free(r->interval);
  free(r->touch);
  free(r->last);
  free(r);
}

static loom_status update_body_poses(loom_err *err, rigid *r, const loom_obstacle *o,
                                     const loom_real *const *sdf)
{
  for (int32_t k = 0; k < r->num_bodies; ++k) {
    const int32_t i = r->body[k];
    const char *const why = obst_view_pose(&o[i], &r->view[k]);
    if (why != NULL) return err_set(err, LOOM_E_CONFIG, "[body.%s]: %s", o[i].name, why);
    r->view[k].sdf = sdf[i];
  }
  return LOOM_OK;
}

loom_status rigid_step(loom_err *err, rigid *r, loom_obstacle *o, const loom_real *const *sdf,
                       const double g[3], double h)
{
  LOOM_TRY(update_body_poses(err, r, o, sdf));
  for (int32_t i = 0; i < r->num; ++i) {
    store_ball_pose(&r->state[i], o[r->ball[i].body].pose0);
    for (int c = 0; c < 3; ++c) r->state[i].v[c] += h * g[c];
  }
  if (!rigid_find(r, h))
    return err_set(err, LOOM_E_NOMEM, "no memory for contacts of %d balls", r->num);
  rigid_solve(r, h);
  for (int32_t i = 0; i < r->num; ++i) {
    rigid_state *const s = &r->state[i];
    for (int c = 0; c < 3; ++c) s->x[c] += h * s->v[c];
    rotate_quaternion(s->q, s->w, h);
  }
  rigid_separate(r);
  for (int32_t i = 0; i < r->num; ++i) store_ball_pose(&r->state[i], o[r->ball[i].body].pose1);
  return LOOM_OK;
}

void rigid_push(rigid *r, const loom_real *rows, int32_t *light)
{
  *light = -1;
  for (int32_t i = 0; i < r->num; ++i) {
    rigid_ball *const b = &r->ball[i];
    const loom_real *const row = rows + (int64_t)BODY_IMPULSE * b->body;
    for (int c = 0; c < 3; ++c) {
      r->state[i].v[c] += (double)row[c] / b->mass;
      r->state[i].w[c] += (double)row[3 + c] / b->inertia;
    }
    if (!((double)row[6] > RIGID_TOUCH * b->mass) || b->warned || *light >= 0) continue;
    b->warned = 1;
    *light = i;
  }
}

/* ---- checkpoints ---- */

enum { STATE = sizeof(rigid_state) / sizeof(double), BALL = STATE + 1, TOUCH = 6 };

int64_t rigid_save(const rigid *r, uint64_t *out)
{
  const int64_t count = 1 + (int64_t)BALL * r->num + (int64_t)TOUCH * r->num_touch;
  if (out == NULL) return count;
  *out++ = (uint64_t)r->num;
  for (int32_t i = 0; i < r->num; ++i, out += BALL) {
    memcpy(out, &r->state[i], sizeof *r->state);
    out[STATE] = (uint64_t)r->ball[i].warned;
  }
  for (int32_t k = 0; k < r->num_touch; ++k, out += TOUCH) {
    const rigid_touch *const t = &r->touch[k];
    out[0] = (uint64_t)t->a;
    out[1] = (uint64_t)(int64_t)t->b;
    memcpy(out + 2, &t->push, sizeof t->push);
    memcpy(out + 3, t->drag, sizeof t->drag);
  }
  return count;
}

/* Every state is finite and every contact is one of these balls with another or with a body. */
static int can_be(const rigid *r, const uint64_t *in, int64_t num)
{
  double d;
  for (int32_t i = 0; i < r->num; ++i, in += BALL)
    for (int c = 0; c < STATE; ++c) {
      memcpy(&d, in + c, sizeof d);
      if (!isfinite(d)) return 0;
    }
  for (int64_t k = 0; k < num; ++k, in += TOUCH) {
    const int64_t a = (int64_t)in[0], b = (int64_t)in[1];
    if (a < 0 || a >= r->num || b >= r->num || b < -(int64_t)r->num_bodies) return 0;
    for (int c = 2; c < TOUCH; ++c) {
      memcpy(&d, in + c, sizeof d);
      if (!isfinite(d)) return 0;
    }
  }
  return 1;
}

int rigid_load(rigid *r, const uint64_t *in, int64_t count)
{
  const int64_t left = count - 1 - (int64_t)BALL * r->num, num = left / TOUCH;
  if (left < 0 || left % TOUCH != 0 || in[0] != (uint64_t)r->num || num > INT32_MAX) return 0;
  if (!can_be(r, in + 1, num)) return 0;
  rigid_touch *const t = calloc((size_t)num + 1, sizeof *t);
  if (t == NULL) return 0;
  free(r->touch);
  r->touch = t;
  r->num_touch = r->max_touch = (int32_t)num;
  ++in;
  for (int32_t i = 0; i < r->num; ++i, in += BALL) {
    memcpy(&r->state[i], in, sizeof *r->state);
    r->ball[i].warned |= in[STATE] != 0; /* a step that begins again warns no second time */
  }
  for (int64_t k = 0; k < num; ++k, in += TOUCH) {
    t[k].a = (int32_t)in[0];
    t[k].b = (int32_t)(int64_t)in[1];
    memcpy(&t[k].push, in + 2, sizeof t->push);
    memcpy(t[k].drag, in + 3, sizeof t->drag);
  }
  return 1;
}
