/* maps.c - see maps.h. */
#include "rig/maps.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "geom/pose.h"
#include "mesh/mesh.h"
#include "rig/animation.h"
#include "rig/rig.h"

/* ---- maps and their parts ---- */

void rig_rotation_of(const double P[12], double R[9])
{
  double c[3][3]; /* columns */
  for (int k = 0; k < 3; ++k)
    for (int i = 0; i < 3; ++i) c[k][i] = P[3 * i + k];
  for (int k = 0; k < 2; ++k) {
    double dot = 0, len = 0;
    for (int i = 0; i < 3 && k == 1; ++i) dot += c[0][i] * c[1][i];
    for (int i = 0; i < 3; ++i) c[k][i] -= dot * c[0][i];
    for (int i = 0; i < 3; ++i) len += c[k][i] * c[k][i];
    for (int i = 0; i < 3; ++i) c[k][i] /= len > 0 ? sqrt(len) : 1;
  }
  for (int i = 0; i < 3; ++i)
    c[2][i] = c[0][(i + 1) % 3] * c[1][(i + 2) % 3] - c[0][(i + 2) % 3] * c[1][(i + 1) % 3];
  for (int k = 0; k < 3; ++k)
    for (int i = 0; i < 3; ++i) R[3 * i + k] = c[k][i];
}

static double matrix_determinant(const double A[9])
{
  return A[0] * (A[4] * A[8] - A[5] * A[7]) - A[1] * (A[3] * A[8] - A[5] * A[6]) +
         A[2] * (A[3] * A[7] - A[4] * A[6]);
}

/* S. W. Shepperd, "Quaternion from rotation matrix", J. Guidance and Control 1(3), 1978: by the
 * largest component. */
static void quat_of_matrix(const double R[9], double q[4])
{
  const double trace = R[0] + R[4] + R[8];
  int k = 0;
  double most = trace;
  for (int i = 0; i < 3; ++i)
    if (R[4 * i] > most) most = R[4 * i], k = i + 1;
  if (k == 0) {
    q[0] = 1 + trace;
    q[1] = R[7] - R[5];
    q[2] = R[2] - R[6];
    q[3] = R[3] - R[1];
  } else {
    const int i = k - 1, j = (i + 1) % 3, l = (i + 2) % 3;
    q[0] = R[3 * l + j] - R[3 * j + l];
    q[1 + i] = 1 + R[4 * i] - R[4 * j] - R[4 * l];
    q[1 + j] = R[3 * i + j] + R[3 * j + i];
    q[1 + l] = R[3 * i + l] + R[3 * l + i];
  }
  const double len = sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]);
  for (int c = 0; c < 4; ++c) q[c] /= len;
}

static void split_map(const double P[12], double part[RIG_PART])
{
  double R[9];
  rig_rotation_of(P, R);
  if (!(fabs(matrix_determinant(R) - 1) < 1e-6)) { /* flat: all of it is stretch */
    memset(R, 0, sizeof R);
    R[0] = R[4] = R[8] = 1;
  }
  memcpy(part, P + 9, 3 * sizeof *part);
  quat_of_matrix(R, part + 3);
  quat_matrix(part + 3, R); /* so that R S is P to rounding */
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j)
      part[7 + 3 * i + j] = R[i] * P[j] + R[3 + i] * P[3 + j] + R[6 + i] * P[6 + j];
}

static void join_part(const double part[RIG_PART], double P[12])
{
  double R[9];
  quat_matrix(part + 3, R);
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j)
      P[3 * i + j] =
          R[3 * i] * part[7 + j] + R[3 * i + 1] * part[10 + j] + R[3 * i + 2] * part[13 + j];
  memcpy(P + 9, part, 3 * sizeof *P);
}

static void blend_parts(const double *a, const double *b, double s, double *out)
{
  for (int k = 0; k < RIG_PART; ++k)
    if (k < 3 || k > 6) out[k] = a[k] + s * (b[k] - a[k]);
  quat_slerp(a + 3, b + 3, s, out + 3);
}

/* ---- keys ---- */

/* Joints whose parent's frame has an inverse at every time keep it, others get the world. */
static void choose_parents(rig_maps *m, const double *frame)
{
  double inverse[12];
  for (int32_t j = 0; j < m->num_joints; ++j)
    for (int32_t k = 0; k < m->num_keys && m->parent[j] >= 0; ++k)
      if (!pose_invert(frame + 12 * ((int64_t)k * m->num_joints + m->parent[j]), inverse))
        m->parent[j] = -1;
}

/* Parts of frames F [num_joints][12]. */
static void split_frames(const rig_maps *m, const double *F, double *part)
{
  for (int32_t j = 0; j < m->num_joints; ++j) {
    double L[12];
    if (m->parent[j] < 0 || !pose_invert(F + 12 * m->parent[j], L))
      memcpy(L, F + 12 * j, sizeof L);
    else
      pose_mul(L, F + 12 * j, L);
    split_map(L, part + (int64_t)RIG_PART * j);
  }
}

loom_status rig_maps_make(loom_err *err, int32_t num_joints, const int32_t *parent,
                          const double *rest, int32_t num_keys, const double *time,
                          const double *frame, rig_maps *out)
{
  const int64_t n = num_joints, keys = num_keys;
  memset(out, 0, sizeof *out);
  LOOM_TRY(mesh_alloc(err, n, sizeof *out->parent, &out->parent));
  LOOM_TRY(mesh_alloc(err, keys, sizeof *out->time, &out->time));
  LOOM_TRY(mesh_alloc(err, RIG_PART * n * keys, sizeof *out->part, &out->part));
  LOOM_TRY(mesh_alloc(err, 12 * n, sizeof *out->rest, &out->rest));
  LOOM_TRY(mesh_alloc(err, 12 * n, sizeof *out->to, &out->to));
  out->num_joints = num_joints;
  out->num_keys = num_keys;
  memcpy(out->parent, parent, (size_t)n * sizeof *parent);
  memcpy(out->time, time, (size_t)keys * sizeof *time);
  memcpy(out->rest, rest, 12 * (size_t)n * sizeof *rest);
  for (int32_t j = 0; j < num_joints; ++j)
    if (!pose_invert(rest + 12 * j, out->to + 12 * j))
      return err_set(err, LOOM_E_CONFIG, "joint %d is flat in the rest pose; export it again", j);
  choose_parents(out, frame);
  for (int64_t k = 0; k < keys; ++k)
    split_frames(out, frame + 12 * n * k, out->part + RIG_PART * n * k);
  return LOOM_OK;
}

void rig_maps_free(rig_maps *m)
{
  free(m->parent);
  free(m->time);
  free(m->part);
  free(m->rest);
  free(m->to);
  memset(m, 0, sizeof *m);
}

void rig_maps_split(const rig_maps *m, const double *T, double *part)
{
  double F[12 * RIG_MAX_JOINTS];
  for (int32_t j = 0; j < m->num_joints; ++j) pose_mul(T + 12 * j, m->rest + 12 * j, F + 12 * j);
  split_frames(m, F, part);
}

/* ---- times ---- */

void rig_maps_at(const rig_maps *m, double t, double period, const double *base, double share,
                 double *T)
{
  double F[12 * RIG_MAX_JOINTS];
  if (period > 0) t -= period * floor(t / period);
  const int32_t i = rig_key_before(m->time, m->num_keys, t), next = i + 1 < m->num_keys ? i + 1 : i;
  const double h = m->time[next] - m->time[i];
  const double s = h > 0 ? fmin(fmax((t - m->time[i]) / h, 0), 1) : 0;
  const int64_t width = (int64_t)RIG_PART * m->num_joints;
  for (int32_t j = 0; j < m->num_joints; ++j) {
    const int64_t at = (int64_t)RIG_PART * j;
    double part[RIG_PART], *const P = F + 12 * j;
    blend_parts(m->part + width * i + at, m->part + width * next + at, s, part);
    if (base != NULL) blend_parts(base + at, part, share, part);
    join_part(part, P);
    if (m->parent[j] >= 0) pose_mul(F + 12 * m->parent[j], P, P);
    pose_mul(P, m->to + 12 * j, T + 12 * j);
  }
}
