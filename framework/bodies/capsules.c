/* capsules.c - kind of field: a round cone for each joint, fitted to the skin that follows it most.
 *
 * The cone begins as the axis and mean radius of these vertices, and then takes steps of Levenberg
 * and Marquardt towards the least squared distance of them all. */
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bodies/bend_field.h"
#include "bodies/body.h"

enum { FEWEST = 16, NUMBERS = 8, STEPS = 60 };

typedef struct fit {
  const rig *body;
  const int32_t *vertex; /* [num] */
  int32_t num;
} fit;

/* Ends a [3], b [3] and radii to a cone; 0: one end would be within the other. */
static int set_cone(const double u[NUMBERS], capsules_bone *k)
{
  lk_real z[3], x[3], y[3];
  const double d[3] = {u[3] - u[0], u[4] - u[1], u[5] - u[2]};
  const double length = sqrt(d[0] * d[0] + d[1] * d[1] + d[2] * d[2]);
  if (!(length > 1.05 * fabs(u[6] - u[7]) + 1e-6 && u[6] > 0 && u[7] > 0)) return 0;
  for (int c = 0; c < 3; ++c) {
    z[c] = (lk_real)(d[c] / length);
    k->a[c] = (lk_real)u[c];
  }
  obst_orthogonal(z, x);
  lk_cross3(z, x, y);
  for (int c = 0; c < 3; ++c) {
    k->R[c] = x[c];
    k->R[3 + c] = y[c];
    k->R[6 + c] = z[c];
  }
  k->length = (lk_real)length;
  k->radius[0] = (lk_real)u[6];
  k->radius[1] = (lk_real)u[7];
  return 1;
}

/* Sum of squared distances, m^2, and r [num] (m), or NULL. */
static double sum_cone_misfit(const fit *f, const double u[NUMBERS], double *r)
{
  capsules_bone k;
  double sum = 0;
  if (!set_cone(u, &k)) return DBL_MAX;
  for (int32_t i = 0; i < f->num; ++i) {
    const double *const x = f->body->skin.x + 3 * (int64_t)f->vertex[i];
    const lk_real at[3] = {(lk_real)x[0], (lk_real)x[1], (lk_real)x[2]};
    lk_real q[3], m[2], curvature;
    const double d = (double)capsules_cone(&k, at, q, m, &curvature);
    if (r != NULL) r[i] = d;
    sum += d * d;
  }
  return sum;
}

/* The direction in which the vertices spread most, by the power method. */
static void start_cone(const fit *f, double u[NUMBERS])
{
  double mean[3] = {0}, S[9] = {0}, axis[3] = {0.4, 0.5, 0.6}, lo = DBL_MAX, hi = -DBL_MAX,
         wide = 0;
  for (int32_t i = 0; i < f->num; ++i)
    for (int c = 0; c < 3; ++c) mean[c] += f->body->skin.x[3 * (int64_t)f->vertex[i] + c] / f->num;
  for (int32_t i = 0; i < f->num; ++i) {
    const double *const x = f->body->skin.x + 3 * (int64_t)f->vertex[i];
    for (int k = 0; k < 9; ++k) S[k] += (x[k / 3] - mean[k / 3]) * (x[k % 3] - mean[k % 3]);
  }
  for (int k = 0; k < 200; ++k) {
    double next[3], len = 0;
    for (int c = 0; c < 3; ++c) {
      next[c] = S[3 * c] * axis[0] + S[3 * c + 1] * axis[1] + S[3 * c + 2] * axis[2];
      len += next[c] * next[c];
    }
    for (int c = 0; c < 3 && len > 0; ++c) axis[c] = next[c] / sqrt(len);
  }
  for (int32_t i = 0; i < f->num; ++i) {
    const double *const x = f->body->skin.x + 3 * (int64_t)f->vertex[i];
    double t = 0, d2 = 0;
    for (int c = 0; c < 3; ++c) t += axis[c] * (x[c] - mean[c]);
    for (int c = 0; c < 3; ++c) d2 += pow(x[c] - mean[c] - t * axis[c], 2);
    lo = fmin(lo, t);
    hi = fmax(hi, t);
    wide += sqrt(d2) / f->num;
  }
  const double half = fmax(0.5 * (hi - lo) - wide, 0.05 * (hi - lo)), middle = 0.5 * (lo + hi);
  for (int c = 0; c < 3; ++c) {
    u[c] = mean[c] + (middle - half) * axis[c];
    u[3 + c] = mean[c] + (middle + half) * axis[c];
  }
  u[6] = u[7] = fmax(wide, 1e-6);
}

/* A x = b for a positive definite A [NUMBERS][NUMBERS], x in the place of b. */
static void solve_cone_system(double A[NUMBERS][NUMBERS], double b[NUMBERS])
{
  for (int i = 0; i < NUMBERS; ++i)
    for (int r = i + 1; r < NUMBERS; ++r) {
      const double s = A[r][i] / A[i][i];
      for (int c = i; c < NUMBERS; ++c) A[r][c] -= s * A[i][c];
      b[r] -= s * b[i];
    }
  for (int i = NUMBERS - 1; i >= 0; --i) {
    for (int c = i + 1; c < NUMBERS; ++c) b[i] -= A[i][c] * b[c];
    b[i] /= A[i][i];
  }
}

/* Normal equations J'J and J'r by differences; room [NUMBERS + 1][num]. */
static void normal_equations(const fit *f, const double u[NUMBERS], double *room,
                             double A[NUMBERS][NUMBERS], double b[NUMBERS])
{
  const double h = 1e-6; /* m */
  double *const r = room + (int64_t)NUMBERS * f->num;
  (void)sum_cone_misfit(f, u, r);
  for (int k = 0; k < NUMBERS; ++k) {
    double v[NUMBERS], *const column = room + (int64_t)k * f->num;
    memcpy(v, u, sizeof v);
    v[k] += h;
    (void)sum_cone_misfit(f, v, column);
    for (int32_t i = 0; i < f->num; ++i) column[i] = (column[i] - r[i]) / h;
  }
  for (int k = 0; k < NUMBERS; ++k) {
    b[k] = 0;
    for (int l = 0; l < NUMBERS; ++l) A[k][l] = 0;
    for (int32_t i = 0; i < f->num; ++i) {
      b[k] -= room[(int64_t)k * f->num + i] * r[i];
      for (int l = 0; l < NUMBERS; ++l)
        A[k][l] += room[(int64_t)k * f->num + i] * room[(int64_t)l * f->num + i];
    }
  }
}

static loom_status fit_cone(loom_err *err, const fit *f, capsules_bone *k)
{
  double u[NUMBERS], *room, damping = 1e-3;
  LOOM_TRY(mesh_alloc(err, (NUMBERS + 1) * (int64_t)f->num, sizeof *room, &room));
  start_cone(f, u);
  double now = sum_cone_misfit(f, u, NULL);
  for (int step = 0; step < STEPS; ++step) {
    double A[NUMBERS][NUMBERS], b[NUMBERS], v[NUMBERS];
    normal_equations(f, u, room, A, b);
    for (int i = 0; i < NUMBERS; ++i) A[i][i] += damping * (A[i][i] + 1e-9 * f->num);
    solve_cone_system(A, b);
    for (int i = 0; i < NUMBERS; ++i) v[i] = u[i] + b[i];
    const double then = sum_cone_misfit(f, v, NULL);
    damping = fmin(fmax(then < now ? 0.3 * damping : 4 * damping, 1e-9), 1e9);
    if (!(then < now)) continue;
    memcpy(u, v, sizeof u);
    now = then;
  }
  free(room);
  return set_cone(u, k) ? LOOM_OK
                        : err_set(err, LOOM_E_INTERNAL, "a cone of the body has no length");
}

/* ---- the field ---- */

typedef struct cones {
  int32_t num;
  capsules_bone bone[BEND_MAX_FRAMES];
} cones;

static int32_t follows_most(const rig *r, int32_t v)
{
  const double *const w = r->weight + (int64_t)v * r->per;
  int best = 0;
  for (int k = 1; k < r->per; ++k)
    if (w[k] > w[best]) best = k;
  return r->bone[(int64_t)v * r->per + best];
}

static loom_status capsules_field_open(loom_err *err, body_field *f)
{
  const rig *const r = f->body;
  loom_status s = LOOM_OK;
  int32_t *vertex;
  cones *own;
  LOOM_TRY(mesh_alloc(err, 1, sizeof *own, &own));
  f->own = own;
  LOOM_TRY(mesh_alloc(err, r->skin.num_verts, sizeof *vertex, &vertex));
  for (int32_t j = 0; j < r->num_joints && s == LOOM_OK; ++j) {
    fit one = {.body = r, .vertex = vertex};
    for (int32_t v = 0; v < r->skin.num_verts; ++v)
      if (follows_most(r, v) == j) vertex[one.num++] = v;
    if (one.num < FEWEST) continue;
    s = fit_cone(err, &one, &own->bone[own->num]);
    own->bone[own->num].frame = j;
    for (int end = 0; end < 2; ++end) own->bone[own->num].radius[end] += (lk_real)f->opt.layer;
    own->num += s == LOOM_OK;
  }
  free(vertex);
  if (s == LOOM_OK && own->num == 0)
    return err_set(err, LOOM_E_CONFIG,
                   "no joint of the body moves %d vertices of its skin; take distance = exact",
                   FEWEST);
  return s;
}

static void capsules_field_settle(body_field *f)
{
  const cones *const own = f->own;
  capsules_field *const to = (capsules_field *)(void *)f->block;
  to->num_bones = own->num;
  memcpy(to->bone, own->bone, sizeof to->bone);
}

static loom_status capsules_field_step(loom_err *err, body_field *f) /* frames are all */
{
  (void)err;
  (void)f;
  return LOOM_OK;
}

static void capsules_field_close(body_field *f) { free(f->own); }

const field_kind field_capsules = {.head = sizeof(capsules_field),
                                   .open = capsules_field_open,
                                   .settle = capsules_field_settle,
                                   .step = capsules_field_step,
                                   .close = capsules_field_close};
const body_kind body_capsules = {.name = "capsules", .shape = BODY_SHAPE_capsules};
