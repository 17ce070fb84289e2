/* clip_angles.c - see clip_angles.h. */
#include "rig/clip_angles.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "geom/pose.h"
#include "mesh/mesh.h"

enum { RATE = 60, MAX_ROWS = 1 << 17 };
static const double pi = 3.14159265358979323846;

/* ---- rotations ---- */

/* P = A^T B or, for `right`, A B^T. */
static void mul_transposed(const double A[9], const double B[9], int right, double P[9])
{
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j) {
      P[3 * i + j] = 0;
      for (int k = 0; k < 3; ++k)
        P[3 * i + j] += right ? A[3 * i + k] * B[3 * j + k] : A[3 * k + i] * B[3 * k + j];
    }
}

static double unwrap_angle(double angle, double to)
{
  return angle - 2 * pi * round((angle - to) / (2 * pi));
}

/* Angles of Rz(q2) Ry(q1) Rx(q0) = D, of the two triples the one nearer to `was` (rad). */
static void angles_of(const double D[9], const double was[3], double q[3])
{
  const double y = asin(fmin(fmax(-D[6], -1), 1));
  const double one[3] = {atan2(D[7], D[8]), y, atan2(D[3], D[0])};
  double best = INFINITY;
  for (int k = 0; k < 2; ++k) {
    const double try[3] = {one[0] + k * pi, k == 0 ? y : pi - y, one[2] + k * pi};
    double far = 0, p[3];
    for (int c = 0; c < 3; ++c) {
      p[c] = unwrap_angle(try[c], was[c]);
      far += (p[c] - was[c]) * (p[c] - was[c]);
    }
    if (!(far < best)) continue;
    best = far;
    memcpy(q, p, sizeof p);
  }
}

/* ---- times ---- */

static int compare_times(const void *a, const void *b)
{
  const double p = *(const double *)a, q = *(const double *)b;
  return (p > q) - (p < q);
}

/* Ascending, the first one 0, without times nearer than a nanosecond; the count of them. */
static int32_t settle_times(double *time, int64_t num)
{
  int32_t kept = 1;
  qsort(time, (size_t)num, sizeof *time, compare_times);
  for (int64_t k = 1; k < num; ++k)
    if (time[k] - time[kept - 1] > 1e-9) time[kept++] = time[k];
  return kept;
}

static loom_status refuse_long_clip(loom_err *err)
{
  return err_set(err, LOOM_E_CONFIG, "the animations are too long; export a part of them");
}

static loom_status list_times(loom_err *err, const rig_maps *m, double **time, int32_t *num)
{
  int64_t keys = 0, count = 0;
  if (!(m->length * RATE < MAX_ROWS)) return refuse_long_clip(err);
  const int64_t even = (int64_t)floor(m->length * RATE + 1e-6) + 1;
  for (int32_t k = 0; k < m->num_tracks; ++k) keys += m->track[k].num_keys;
  LOOM_TRY(mesh_alloc(err, even + 1 + keys, sizeof **time, time));
  for (int64_t k = 0; k < even; ++k) (*time)[count++] = fmin((double)k / RATE, m->length);
  (*time)[count++] = m->length;
  for (int32_t k = 0; k < m->num_tracks; ++k)
    for (int32_t i = 0; i < m->track[k].num_keys; ++i) {
      const double t = m->track[k].time[i];
      if (t >= 0 && t <= m->length) (*time)[count++] = t;
    }
  *num = settle_times(*time, count);
  return *num < MAX_ROWS ? LOOM_OK : refuse_long_clip(err);
}

/* ---- rows ---- */

typedef struct room { /* of one frame */
  double *F;          /* [num_joints][12] frames, m */
  double (*rest)[9];  /* [num_joints] rotations at rest, in the world */
  double (*turn)[9];  /* [num_joints] rotation of each since the rest pose, in the world */
  double *T;          /* [num_joints][12] as the rig has them */
} room;

static loom_status take_frame_room(loom_err *err, const rig_maps *m, room *w)
{
  const int64_t n = m->num_joints;
  LOOM_TRY(mesh_alloc(err, 12 * n, sizeof *w->F, &w->F));
  LOOM_TRY(mesh_alloc(err, n, sizeof *w->rest, &w->rest));
  LOOM_TRY(mesh_alloc(err, n, sizeof *w->turn, &w->turn));
  LOOM_TRY(mesh_alloc(err, 12 * n, sizeof *w->T, &w->T));
  for (int32_t j = 0; j < m->num_joints; ++j) rig_rotation_of(m->rest + 12 * j, w->rest[j]);
  return LOOM_OK;
}

/* Angles of all joints, the shift of the first one; `was`: those of the row before. */
static void convert_frame(const rig *r, const rig_maps *m, room *w, const double *was,
                          double *value, double *stretch)
{
  double root[12];
  for (int32_t j = 0; j < m->num_joints; ++j) {
    const int32_t parent = m->parent[j];
    double now[9], D[9];
    rig_rotation_of(w->F + 12 * j, now);
    mul_transposed(now, w->rest[j], 1, w->turn[j]);
    memcpy(D, w->turn[j], sizeof D);
    if (parent >= 0) mul_transposed(w->turn[parent], w->turn[j], 0, D);
    angles_of(D, was + RIG_ROOT + 3 * j, value + RIG_ROOT + 3 * j);
  }
  for (int c = 0; c < 3; ++c) value[c] = w->F[9 + c] - r->joint[0].rest[c];
  rig_root(r, value, root);
  rig_pose(r, value + RIG_ROOT, root, w->T);
  for (int32_t j = 0; j < m->num_joints; ++j) { /* motion that pivots and angles cannot express */
    double at[3], far = 0;
    pose_apply(w->T + 12 * j, r->joint[j].rest, at);
    for (int c = 0; c < 3; ++c) far += pow(at[c] - w->F[12 * j + 9 + c], 2);
    *stretch = fmax(*stretch, sqrt(far));
  }
}

loom_status rig_clip_angles(loom_err *err, const rig *r, const rig_maps *m, rig_animation *out,
                            double *stretch, double *numbers)
{
  room w = {0};
  memset(out, 0, sizeof *out);
  out->width = RIG_ROOT + r->num_dofs;
  LOOM_TRY(list_times(err, m, &out->time, &out->num_keys));
  *numbers += (double)out->num_keys * ((double)out->width + m->num_nodes);
  if (*numbers > RIG_CLIP_NUMBERS) return refuse_long_clip(err);
  LOOM_TRY(mesh_alloc(err, (int64_t)out->num_keys * out->width, sizeof *out->value, &out->value));
  const loom_status s = take_frame_room(err, m, &w);
  for (int32_t k = 0; k < out->num_keys && s == LOOM_OK; ++k) {
    double *const value = out->value + (int64_t)k * out->width;
    rig_maps_frames(m, out->time[k], w.F);
    convert_frame(r, m, &w, k > 0 ? value - out->width : value, value, stretch);
  }
  free(w.F);
  free(w.rest);
  free(w.turn);
  free(w.T);
  return s;
}
