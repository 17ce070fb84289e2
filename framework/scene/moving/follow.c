/* follow.c - pins with the key body: held vertices keep their places on a body.
 *
 * On a rigid body, and on a joint, a place is a point of the body's or the joint's own frame.  On a
 * mesh that bends it is the nearest point of the nearest triangle, with an offset in the frame of
 * the triangle: e along its first side, n along its normal, n x e.  Both definitions are exact for
 * rigid motions, and a vertex on the skin moves as this point of the skin. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "geom/distance.kern.h"
#include "geom/pose.h"
#include "scene/base/build.h"
#include "scene/moving/moving.h"

enum { PLACE_LEN = 6 };

struct pin_follow {
  int32_t body;    /* index of the obstacle */
  int32_t joint;   /* of its rig, -1: none */
  int32_t *corner; /* [count][3] vertices of the body's mesh; NULL: rigid */
  double *place;   /* [count][PLACE_LEN] m, point of the frame; or weights of the corners, then m,
                    * offset in the frame of the triangle */
};

void follow_free(pin_follow *f)
{
  if (f == NULL) return;
  free(f->corner);
  free(f->place);
  free(f);
}

/* ---- frames at a time ---- */

/* The map of the body, or of its joint, to the world at t (s). */
static void map_followed(const scene_data *s, const pin_follow *f, double t, double P[12])
{
  const moving_body *const body = &s->motion->bodies[f->body];
  double T[12];
  motion_at(&body->move, t, T);
  pose_mul(T, body->base, P);
  if (f->joint < 0) return;
  rigged_joint_at(body->rigged, f->joint, t, T);
  pose_mul(P, T, P);
}

static void unit_vector(double v[3])
{
  const double len = sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
  for (int c = 0; c < 3 && len > 0; ++c) v[c] /= len;
}

static void cross_vectors(const double a[3], const double b[3], double out[3])
{
  for (int c = 0; c < 3; ++c)
    out[c] = a[(c + 1) % 3] * b[(c + 2) % 3] - a[(c + 2) % 3] * b[(c + 1) % 3];
}

/* Rows of F: the axes of the triangle x [3][3]. */
static void frame_of_triangle(const double x[9], double F[9])
{
  double side[3];
  for (int c = 0; c < 3; ++c) {
    F[c] = x[3 + c] - x[c];
    side[c] = x[6 + c] - x[c];
  }
  unit_vector(F);
  cross_vectors(F, side, F + 3);
  unit_vector(F + 3);
  cross_vectors(F + 3, F, F + 6);
}

/* Where the corners of a triangle are in the world; rest, real [.][3], m: the body's vertices as
 * they were built, skin: of a rig, at t; else NULL. */
static void find_corners(const moving_body *body, const double *skin, const double P[12], double t,
                         const int32_t corner[3], double x[9])
{
  for (int a = 0; a < 3; ++a) {
    double at[3];
    if (skin != NULL)
      memcpy(at, skin + 3 * (int64_t)corner[a], sizeof at);
    else
      sequence_at(body->sequence, t, corner[a], at);
    pose_apply(P, at, x + 3 * (ptrdiff_t)a);
  }
}

void follow_positions(const scene_data *s, const pin_group *g, double t, double *out)
{
  const pin_follow *const f = g->follow;
  const moving_body *const body = &s->motion->bodies[f->body];
  double P[12], x[9], F[9];
  map_followed(s, f, t, P);
  if (f->corner == NULL) {
    for (int64_t k = 0; k < g->count; ++k) pose_apply(P, f->place + PLACE_LEN * k, out + 3 * k);
    return;
  }
  const double *const skin = body->rigged != NULL ? rigged_skin_at(body->rigged, t) : NULL;
  for (int64_t k = 0; k < g->count; ++k) {
    const double *const w = f->place + PLACE_LEN * k, *const off = w + 3;
    find_corners(body, skin, P, t, f->corner + 3 * k, x);
    frame_of_triangle(x, F);
    for (int c = 0; c < 3; ++c)
      out[3 * k + c] = w[0] * x[c] + w[1] * x[3 + c] + w[2] * x[6 + c] + F[c] * off[0] +
                       F[3 + c] * off[1] + F[6 + c] * off[2];
  }
}

int follow_is_rigid(const pin_follow *f) { return f->corner == NULL; }

void follow_carry(const scene_data *s, const pin_group *g, double t0, double t, double P[12])
{
  double before[12], back[12];
  map_followed(s, g->follow, t0, before);
  map_followed(s, g->follow, t, P);
  if (pose_invert(before, back))
    pose_mul(P, back, P);
  else /* a joint without size has no inside that moves with it */
    pose_identity(P);
}

/* ---- places at time 0 ---- */

/* The weights of the point of a triangle x [3][3] that is nearest to p; returns the squared
 * distance, m^2. */
static double nearest_of_triangle(const double p[3], const double x[9], double w[3])
{
  lk_real q[12], of[4];
  for (int c = 0; c < 3; ++c) q[c] = 0; /* digits for differences */
  for (int k = 0; k < 9; ++k) q[3 + k] = (lk_real)(x[k] - p[k % 3]);
  const double d2 = dist_vt(q, of);
  for (int a = 0; a < 3; ++a) w[a] = -of[1 + a];
  w[0] = 1 - w[1] - w[2];
  return d2;
}

void follow_nearest_place(const double p[3], const double *x, const int32_t *t, int64_t count,
                          int32_t corner[3], double w[3])
{
  double best = INFINITY, y[9], own[3];
  for (int64_t k = 0; k < count; ++k) {
    double apart = 0; /* no triangle is nearer than the box around it */
    for (int a = 0; a < 3; ++a)
      memcpy(y + 3 * (ptrdiff_t)a, x + 3 * (int64_t)t[3 * k + a], 3 * sizeof *y);
    for (int c = 0; c < 3; ++c) {
      const double low = fmin(y[c], fmin(y[3 + c], y[6 + c])),
                   high = fmax(y[c], fmax(y[3 + c], y[6 + c]));
      const double gap = fmax(0, fmax(low - p[c], p[c] - high));
      apart += gap * gap;
    }
    if (apart >= best) continue;
    const double d2 = nearest_of_triangle(p, y, own);
    if (d2 >= best) continue;
    best = d2;
    memcpy(corner, t + 3 * k, 3 * sizeof *corner);
    memcpy(w, own, sizeof own);
  }
}

/* Vertices [num][3] of the body in the world at time 0. */
static loom_status place_body_mesh(builder *b, const pin_follow *f, int64_t num, double **x)
{
  moving_body *const body = &b->s->motion->bodies[f->body];
  double P[12];
  LOOM_TRY(mesh_alloc(b->err, 3 * num, sizeof **x, x));
  const double *const skin = body->rigged != NULL ? rigged_skin_at(body->rigged, 0) : NULL;
  map_followed(b->s, f, 0, P);
  for (int64_t i = 0; i < num; ++i) {
    double at[3];
    if (skin != NULL)
      memcpy(at, skin + 3 * i, sizeof at);
    else
      sequence_at(body->sequence, 0, i, at);
    pose_apply(P, at, *x + 3 * i);
  }
  return LOOM_OK;
}

static void find_place_on_mesh(const pin_group *g, const double *x, const int32_t *tris, int64_t nt)
{
  pin_follow *const f = g->follow;
  for (int64_t k = 0; k < g->count; ++k) {
    int32_t *const corner = f->corner + 3 * k;
    double *const w = f->place + PLACE_LEN * k, y[9], F[9], off[3];
    follow_nearest_place(g->x + 3 * k, x, tris, nt, corner, w);
    for (int a = 0; a < 3; ++a)
      memcpy(y + 3 * (ptrdiff_t)a, x + 3 * (int64_t)corner[a], 3 * sizeof *y);
    frame_of_triangle(y, F);
    for (int c = 0; c < 3; ++c)
      off[c] = g->x[3 * k + c] - (w[0] * y[c] + w[1] * y[3 + c] + w[2] * y[6 + c]);
    for (int a = 0; a < 3; ++a)
      w[3 + a] = F[3 * a] * off[0] + F[3 * a + 1] * off[1] + F[3 * a + 2] * off[2];
  }
}

static loom_status place_on_mesh(builder *b, const pin_group *g)
{
  pin_follow *const f = g->follow;
  const loom_obstacle *const o = &b->s->obstacles[f->body];
  double *x = NULL;
  void *tris;
  LOOM_TRY(mesh_alloc(b->err, 3 * (int64_t)g->count, sizeof *f->corner, &f->corner));
  loom_status st = place_body_mesh(b, f, buf_count(o->verts) / 3, &x);
  if (st == LOOM_OK) st = buf_map(b->s->m, NULL, o->tris, LOOM_READ, LOOM_AT_HOST, &tris);
  if (st == LOOM_OK) {
    find_place_on_mesh(g, x, tris, buf_count(o->tris) / 3);
    st = buf_unmap(b->s->m, o->tris);
  }
  free(x);
  return st;
}

/* ---- keys ---- */

static loom_status find_followed_body(builder *b, const pin_settings *p, pin_follow *f)
{
  const scene_data *const s = b->s;
  const char **names;
  for (f->body = 0; f->body < s->pub.num_obstacles; ++f->body)
    if (strcmp(s->obstacles[f->body].name, p->body) == 0) break;
  if (f->body < s->pub.num_obstacles && !(s->obstacles[f->body].mass > 0)) return LOOM_OK;
  if (f->body < s->pub.num_obstacles)
    return err_set(b->err, LOOM_E_CONFIG,
                   "\"%s\" has a mass and moves by itself; pins follow bodies with a prescribed "
                   "motion",
                   p->body);
  if (s->pub.num_obstacles == 0)
    return err_set(b->err, LOOM_E_CONFIG, "there is no body named \"%s\", nor any other", p->body);
  LOOM_TRY(mesh_alloc(b->err, s->pub.num_obstacles, sizeof *names, &names));
  for (int k = 0; k < s->pub.num_obstacles; ++k) names[k] = s->obstacles[k].name;
  char list[600];
  err_names(list, sizeof list, p->body, names, s->pub.num_obstacles);
  free((void *)names);
  return err_set(b->err, LOOM_E_CONFIG, "there is no body named \"%s\"; there is %s", p->body,
                 list);
}

static loom_status find_followed_joint(builder *b, const pin_settings *p, pin_follow *f)
{
  const rigged *const r = scene_rigged(b->s, f->body);
  const char *names[RIG_MAX_JOINTS];
  f->joint = -1;
  if (p->joint[0] == '\0') return LOOM_OK;
  if (r == NULL)
    return err_set(b->err, LOOM_E_CONFIG, "\"%s\" has no joints; shape = rig has", p->body);
  f->joint = rig_find_joint(&r->r, p->joint);
  if (f->joint >= 0) return LOOM_OK;
  for (int32_t j = 0; j < r->r.num_joints; ++j) names[j] = r->r.joint[j].name;
  char list[600];
  err_names(list, sizeof list, p->joint, names, r->r.num_joints);
  return err_set(b->err, LOOM_E_CONFIG, "\"%s\" has no joint \"%s\"; it has %s", p->body, p->joint,
                 list);
}

static loom_status place_on_frame(builder *b, const pin_group *g)
{
  double P[12], inverse[12];
  map_followed(b->s, g->follow, 0, P);
  if (!pose_invert(P, inverse))
    return err_set(b->err, LOOM_E_CONFIG, "the joint has no size at time 0");
  for (int64_t k = 0; k < g->count; ++k)
    pose_apply(inverse, g->x + 3 * k, g->follow->place + PLACE_LEN * k);
  return LOOM_OK;
}

static loom_status follow_group(builder *b, pin_group *g)
{
  pin_settings p;
  uint32_t count;
  const loom_param *const params = scene_params("pin", &count);
  LOOM_TRY(cfg_bind(b->err, g->sec, params, count, &p));
  LOOM_TRY(mesh_alloc(b->err, 1, sizeof *g->follow, &g->follow));
  pin_follow *const f = g->follow;
  loom_status st = find_followed_body(b, &p, f);
  if (st != LOOM_OK) return build_place(b, g->sec, "body", st);
  st = find_followed_joint(b, &p, f);
  if (st != LOOM_OK) return build_place(b, g->sec, "joint", st);
  LOOM_TRY(mesh_alloc(b->err, PLACE_LEN * (int64_t)g->count, sizeof *f->place, &f->place));
  if (f->joint < 0 && body_deforms(&b->s->motion->bodies[f->body])) {
    if (!(g->from > 0)) return place_on_mesh(b, g);
    return build_place(b, g->sec, "hold_from",
                       err_set(b->err, LOOM_E_CONFIG,
                               "\"%s\" bends, and vertices that it catches later have no place on "
                               "it; give a joint, or a body that is rigid",
                               p.body));
  }
  st = place_on_frame(b, g);
  return st == LOOM_OK ? LOOM_OK : build_place(b, g->sec, "joint", st);
}

loom_status build_follow(builder *b)
{
  scene_motion *const sm = b->s->motion;
  for (int32_t g = 0; g < sm->num_groups; ++g) {
    if (sm->groups[g].sec != NULL) LOOM_TRY(follow_group(b, &sm->groups[g]));
    sm->groups[g].sec = NULL;
  }
  return LOOM_OK;
}
