/* rest_rod.c - rest data of yarn_bend and yarn_twist: natural curvature as built, frames that
 * neighbours share. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "elements/rod.h"
#include "elements/rod.kern.h"
#include "geom/vec3.h"

static void transport_vector(const double *u, const double *a, const double *b, double *out)
{
  double n[3], nu[3];
  vec3_cross(a, b, n);
  vec3_cross(n, u, nu);
  const double c = vec3_dot(a, b), f = vec3_dot(n, u) / fmax(1 + c, 1e-15);
  for (int k = 0; k < 3; ++k) out[k] = c * u[k] + nu[k] + f * n[k];
}

/* Any unit vector perpendicular to t. */
static void choose_perpendicular(const double *t, double *u)
{
  const int k = fabs(t[0]) < fabs(t[1]) ? (fabs(t[0]) < fabs(t[2]) ? 0 : 2)
                                        : (fabs(t[1]) < fabs(t[2]) ? 1 : 2);
  double axis[3] = {0, 0, 0};
  axis[k] = 1;
  vec3_cross(t, axis, u);
  const double s = vec3_norm(u);
  for (int c = 0; c < 3; ++c) u[c] /= s;
}

static const char *compute_edge_tangents(const double *X, double t[2][3], double len[2])
{
  for (int j = 0; j < 2; ++j) {
    for (int c = 0; c < 3; ++c) t[j][c] = X[3 * (j + 1) + c] - X[3 * j + c];
    len[j] = vec3_norm(t[j]);
    if (!(len[j] > 0) || !isfinite(len[j])) return "an edge has no length";
    for (int c = 0; c < 3; ++c) t[j][c] /= len[j];
  }
  if (vec3_dot(t[0], t[1]) < -0.999) return "the yarn turns back on itself";
  return NULL;
}

/* Everything from both edges' frames u; theta = 0. */
static void fill_rest_frames(double t[2][3], const double len[2], double u[2][3], double *rest)
{
  double kb[3], p[3], s[3];
  const double den = len[0] * len[1] * (1 + vec3_dot(t[0], t[1]));
  memset(rest, 0, ROD_REST * sizeof *rest);
  vec3_cross(t[0], t[1], kb);
  for (int c = 0; c < 3; ++c) kb[c] *= 2 * len[0] * len[1] / den;
  for (int j = 0; j < 2; ++j) {
    double v[3], *f = rest + ROD_FRAME + ROD_FRAME_LEN * j;
    vec3_cross(t[j], u[j], v);
    rest[ROD_LENGTH + j] = len[j];
    rest[ROD_WBAR + 2 * j] = vec3_dot(kb, v);
    rest[ROD_WBAR + 2 * j + 1] = -vec3_dot(kb, u[j]);
    memcpy(f, t[j], 3 * sizeof *f);
    memcpy(f + 3, u[j], 3 * sizeof *f);
  }
  transport_vector(u[0], t[0], t[1], p);
  vec3_cross(t[1], p, s);
  rest[ROD_MREF] = rest[ROD_MBAR] = atan2(vec3_dot(u[1], s), vec3_dot(u[1], p));
}

const char *rest_rod(const double *X, double *rest)
{
  double t[2][3], len[2], u[2][3];
  const char *why = compute_edge_tangents(X, t, len);
  if (why != NULL) return why;
  choose_perpendicular(t[0], u[0]);
  transport_vector(u[0], t[0], t[1], u[1]);
  fill_rest_frames(t, len, u, rest);
  return NULL;
}

/* Frames are transported along the line from its first edge. */
const char *rest_rod_line(const double *X, int32_t n, int closed, double *rest, int32_t *where)
{
  const int32_t joints = closed ? n : n - 2;
  double u[2][3] = {{0}}, first[3] = {0};
  for (int32_t i = 0; i < joints; ++i) {
    double at[9], t[2][3], len[2];
    for (int32_t a = 0; a < 3; ++a)
      memcpy(at + 3 * (size_t)a, X + 3 * (int64_t)((i + a) % n), 3 * sizeof *at);
    const char *const why = compute_edge_tangents(at, t, len);
    *where = i;
    if (why != NULL) return why;
    if (i == 0) choose_perpendicular(t[0], u[0]);
    if (i == 0) memcpy(first, u[0], sizeof first);
    transport_vector(u[0], t[0], t[1], u[1]);
    if (closed && i == joints - 1) memcpy(u[1], first, sizeof first);
    fill_rest_frames(t, len, u, rest + (int64_t)ROD_REST * i);
    memcpy(u[0], u[1], sizeof first);
  }
  return NULL;
}

/* ---- a line that does not start at rest ---- */

static const lk_entry k_theta = LK_ENTRY_NEAR_MOVES(rod_theta, 4, 0, 0);

/* Directors that are nearer than this to the tangent have no direction across it. */
static const double least_across = 1e-3;

/* The part of a director across the tangent t, scaled to unit length. */
static const char *project_director(const double *director, const double *t, double *u)
{
  const double size = vec3_norm(director), along = vec3_dot(director, t);
  for (int c = 0; c < 3; ++c) u[c] = director[c] - along * t[c];
  const double across = vec3_norm(u);
  if (!(across > least_across * size)) return "a director lies along its segment, or has no length";
  for (int c = 0; c < 3; ++c) u[c] /= across;
  return NULL;
}

/* kb.v, -kb.u of edge j: the curvature w^j at theta = 0. */
static void curvature_at(const double *rest, const double kb[3], int j, double w[2])
{
  const double *const f = rest + ROD_FRAME + ROD_FRAME_LEN * j;
  double v[3];
  vec3_cross(f, f + 3, v);
  w[0] = vec3_dot(kb, v);
  w[1] = -vec3_dot(kb, f + 3);
}

static void curvature_binormal(const double *rest, double t[2][3], const double len[2],
                               double kb[3])
{
  const double ll = rest[ROD_LENGTH] * rest[ROD_LENGTH + 1], ee = len[0] * len[1];
  vec3_cross(t[0], t[1], kb);
  for (int c = 0; c < 3; ++c) kb[c] *= 2 * ee / (ll + ee * vec3_dot(t[0], t[1]));
}

/* Frames of joint i at the start, theta = 0; adds its terms to fit [2], sums of w x wbar and of
 * w.wbar, which turn all frames to the rest curvatures. */
static const char *frame_joint(const elem_line *l, int32_t i, double *u, double *rest, double *fit)
{
  double at[9], t[2][3], len[2], kb[3], p[3], s[3], next[3];
  const int32_t segs = l->closed ? l->n : l->n - 1, joints = l->closed ? l->n : l->n - 2;
  for (int32_t a = 0; a < 3; ++a)
    memcpy(at + 3 * (size_t)a, l->x + 3 * (int64_t)((i + a) % l->n), 3 * sizeof *at);
  const char *why = compute_edge_tangents(at, t, len);
  for (int j = 0; j < 2 && why == NULL && l->director != NULL; ++j)
    why = project_director(l->director + 3 * (int64_t)((i + j) % segs), t[j], j == 0 ? u : next);
  if (why != NULL) return why;
  if (l->director == NULL) {
    if (i == 0) choose_perpendicular(t[0], u);
    if (l->closed && i == joints - 1)
      memcpy(next, rest - (int64_t)ROD_REST * i + ROD_FRAME + 3, sizeof next);
    else
      transport_vector(u, t[0], t[1], next);
  }
  for (int j = 0; j < 2; ++j) {
    double *const f = rest + ROD_FRAME + ROD_FRAME_LEN * j;
    memcpy(f, t[j], 3 * sizeof *f);
    memcpy(f + 3, j == 0 ? u : next, 3 * sizeof *f);
    f[6] = 0;
  }
  transport_vector(u, t[0], t[1], p);
  vec3_cross(t[1], p, s);
  rest[ROD_MREF] =
      rest[ROD_MBAR] +
      remainder(atan2(vec3_dot(next, s), vec3_dot(next, p)) - rest[ROD_MBAR], 6.283185307179586);
  curvature_binormal(rest, t, len, kb);
  for (int j = 0; j < 2; ++j) {
    double w[2];
    const double *const b = rest + ROD_WBAR + 2 * j;
    curvature_at(rest, kb, j, w);
    fit[0] += w[1] * b[0] - w[0] * b[1];
    fit[1] += w[0] * b[0] + w[1] * b[1];
  }
  memcpy(u, next, sizeof next);
  return NULL;
}

/* The twist of least energy from there: as after a step (rod.c), on one thread of the host. */
static const char *relax_rest_twist(const elem_line *l, int32_t joints, double *rest)
{
  enum { MAX_ITERS = 20 };
  const rod_settings *const set = l->settings;
  const loom_exec e = {.struct_size = sizeof e, .backend = LOOM_CPU, .num_threads = 1};
  const int32_t first[2] = {0, joints};
  const unsigned char closed = l->closed != 0;
  const size_t n = (size_t)joints, numbers = n * (ROD_REST + 3 + 1 + 4) + ROD_WORK * (n + 1);
  lk_real *const room = calloc(numbers, sizeof *room);
  if (room == NULL) return "no memory for its twist";
  lk_real *const own = room, *const bend = own + ROD_REST * n, *const twist = bend + 3 * n;
  lk_real *const flat = twist + n, *const work = flat + 4 * n;
  for (size_t i = 0; i < n; ++i) {
    const double *const q = rest + ROD_REST * i;
    double t[2][3], len[2], kb[3], w[2];
    for (int c = 0; c < ROD_REST; ++c) own[ROD_REST * i + (size_t)c] = (lk_real)q[c];
    bend[3 * i] = (lk_real)set->bending;
    twist[i] = (lk_real)set->twisting;
    for (int j = 0; j < 2; ++j) {
      const double *const a = l->x + 3 * ((i + (size_t)j) % (size_t)l->n);
      const double *const b = l->x + 3 * ((i + (size_t)j + 1) % (size_t)l->n);
      memcpy(t[j], q + ROD_FRAME + ROD_FRAME_LEN * j, sizeof t[j]);
      double d[3];
      vec3_sub(b, a, d);
      len[j] = vec3_norm(d);
    }
    curvature_binormal(q, t, len, kb);
    for (int j = 0; j < 2; ++j) {
      curvature_at(q, kb, j, w);
      flat[4 * i + 2 * (size_t)j] = (lk_real)-w[1];
      flat[4 * i + 2 * (size_t)j + 1] = (lk_real)w[0];
    }
  }
  const rod_args a = {.rest = own,
                      .bend = bend,
                      .twist = twist,
                      .flat = flat,
                      .first = first,
                      .closed = &closed,
                      .work = work,
                      .stride = joints + 1,
                      .max_iters = MAX_ITERS,
                      .tolerance = (lk_real)(sizeof(lk_real) == 4 ? 1e-5 : 1e-11)};
  const loom_status s = lk_run(&k_theta, &e, &a, 1, NULL);
  for (size_t i = 0; i < n && s == LOOM_OK; ++i)
    for (int j = 0; j < 2; ++j) {
      const size_t at = ROD_REST * i + ROD_FRAME + ROD_FRAME_LEN * (size_t)j + 6;
      rest[at] = (double)own[at];
    }
  free(room);
  return s == LOOM_OK ? NULL : "its twist cannot be found";
}

const char *rest_rod_pose(const elem_line *l, double *rest, int32_t *where)
{
  const int32_t segs = l->closed ? l->n : l->n - 1, joints = l->closed ? l->n : l->n - 2;
  double u[3] = {0}, fit[2] = {0, 0};
  for (int32_t i = 0; i < joints; ++i) {
    double *const q = rest + (int64_t)ROD_REST * i;
    for (int j = 0; j < 2 && l->length != NULL; ++j) q[ROD_LENGTH + j] = l->length[(i + j) % segs];
    if (l->curvature == NULL) continue;
    memcpy(q + ROD_WBAR, l->curvature + 5 * (int64_t)i, 4 * sizeof *q);
    q[ROD_MBAR] = l->curvature[5 * (int64_t)i + 4];
  }
  if (joints < 1 ||
      (!l->elsewhere && l->length == NULL && l->curvature == NULL && l->director == NULL))
    return NULL;
  for (int32_t i = 0; i < joints; ++i) {
    *where = i;
    const char *const why = frame_joint(l, i, u, rest + (int64_t)ROD_REST * i, fit);
    if (why != NULL) return why;
  }
  if (l->director != NULL) return NULL;
  const double theta = fit[0] != 0 || fit[1] != 0 ? atan2(fit[0], fit[1]) : 0;
  for (int32_t i = 0; i < joints; ++i)
    for (int j = 0; j < 2; ++j)
      rest[(int64_t)ROD_REST * i + ROD_FRAME + ROD_FRAME_LEN * j + 6] = theta;
  return relax_rest_twist(l, joints, rest);
}
