/* maps.c - see maps.h. */
#include "rig/maps.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "geom/pose.h"
#include "mesh/mesh.h"
#include "rig/animation.h"
#include "rig/rig.h"
#include "rig/tracks.h"

enum { PART = 16 }; /* shift (m), quaternion, stretch row by row */

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

static void split_map(const double P[12], double part[PART])
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

static void join_part(const double part[PART], double P[12])
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
  for (int k = 0; k < PART; ++k)
    if (k < 3 || k > 6) out[k] = a[k] + s * (b[k] - a[k]);
  quat_slerp(a + 3, b + 3, s, out + 3);
}

/* ---- nodes and tracks ---- */

static loom_status copy_track(loom_err *err, const loom_rig_track *from, double scale,
                              loom_rig_track *to)
{
  const int64_t width = rig_track_width(from), all = width * from->num_keys;
  *to = *from;
  to->time = to->value = NULL;
  LOOM_TRY(mesh_alloc(err, from->num_keys, sizeof *to->time, &to->time));
  LOOM_TRY(mesh_alloc(err, all, sizeof *to->value, &to->value));
  memcpy(to->time, from->time, (size_t)from->num_keys * sizeof *to->time);
  for (int64_t k = 0; k < all; ++k)
    to->value[k] = (from->part == LOOM_RIG_SHIFT ? scale : 1) * from->value[k];
  return LOOM_OK;
}

static void scale_map(const double from[12], double scale, double to[12])
{
  for (int k = 0; k < 12; ++k) to[k] = (k < 9 ? 1 : scale) * from[k];
}

static loom_status copy_nodes(loom_err *err, const loom_rig_file *f, const loom_rig_clip *from,
                              double scale, rig_maps *to)
{
  LOOM_TRY(mesh_alloc(err, f->num_nodes, sizeof *to->node, &to->node));
  LOOM_TRY(mesh_alloc(err, f->num_nodes, sizeof *to->of, &to->of));
  LOOM_TRY(mesh_alloc(err, 12 * (int64_t)f->num_nodes, sizeof *to->world, &to->world));
  LOOM_TRY(mesh_alloc(err, from->num_tracks, sizeof *to->track, &to->track));
  to->num_nodes = f->num_nodes;
  for (int32_t n = 0; n < f->num_nodes; ++n) {
    to->node[n] = f->node[n];
    scale_map(f->node[n].local, scale, to->node[n].local);
    for (int c = 0; c < 3; ++c) to->of[n][c] = -1;
  }
  for (int32_t k = 0; k < from->num_tracks; ++k) {
    const loom_rig_track *const t = &from->track[k];
    to->num_tracks = k + 1;
    LOOM_TRY(copy_track(err, t, scale, &to->track[k]));
    if (to->of[t->node][t->part] < 0) to->of[t->node][t->part] = k;
  }
  return LOOM_OK;
}

loom_status rig_maps_make(loom_err *err, const loom_rig_file *f, int32_t clip, double scale,
                          rig_maps *out)
{
  const int64_t n = f->num_joints;
  memset(out, 0, sizeof *out);
  LOOM_TRY(mesh_alloc(err, n, sizeof *out->parent, &out->parent));
  LOOM_TRY(mesh_alloc(err, 12 * n, sizeof *out->rest, &out->rest));
  LOOM_TRY(mesh_alloc(err, 12 * n, sizeof *out->to, &out->to));
  out->num_joints = f->num_joints;
  out->length = f->clip[clip].length;
  for (int32_t j = 0; j < f->num_joints; ++j) {
    out->parent[j] = f->joint[j].parent;
    scale_map(f->joint[j].rest, scale, out->rest + 12 * j);
    if (!pose_invert(out->rest + 12 * j, out->to + 12 * j))
      return err_set(err, LOOM_E_CONFIG, "joint %d is flat in the rest pose; export it again", j);
  }
  return copy_nodes(err, f, &f->clip[clip], scale, out);
}

void rig_maps_free(rig_maps *m)
{
  free(m->parent);
  free(m->rest);
  free(m->to);
  free(m->node);
  rig_tracks_free(m->num_tracks, m->track);
  free(m->of);
  free(m->world);
  memset(m, 0, sizeof *m);
}

/* ---- times ---- */

void rig_maps_frames(const rig_maps *m, double t, double *F)
{
  for (int32_t n = 0; n < m->num_nodes; ++n) {
    const loom_rig_node *const node = &m->node[n];
    const loom_rig_track *track[3];
    double *const P = m->world + 12 * (ptrdiff_t)n;
    int moves = 0;
    for (int c = 0; c < 3; ++c) {
      const int32_t k = m->of[n][c];
      track[c] = k >= 0 ? &m->track[k] : NULL;
      moves |= k >= 0;
    }
    if (moves)
      rig_tracks_map(track, t, P);
    else
      memcpy(P, node->local, 12 * sizeof *P);
    if (node->parent >= 0) pose_mul(m->world + 12 * (ptrdiff_t)node->parent, P, P);
    if (node->joint >= 0) memcpy(F + 12 * (ptrdiff_t)node->joint, P, 12 * sizeof *P);
  }
}

/* F, the frames at a share of the way from the maps base to frames F.  A joint whose parent's frame
 * has no inverse in one of both goes its way in the world. */
static void blend_frames(const rig_maps *m, const double *base, double share, double *F)
{
  double from[12 * RIG_MAX_JOINTS], to[12 * RIG_MAX_JOINTS];
  memcpy(to, F, 12 * (size_t)m->num_joints * sizeof *F);
  for (int32_t j = 0; j < m->num_joints; ++j) {
    const int32_t up = m->parent[j];
    double a[12], b[12], one[PART], two[PART];
    pose_mul(base + 12 * j, m->rest + 12 * j, from + 12 * j);
    const int in_parent = up >= 0 && pose_invert(from + 12 * up, a) && pose_invert(to + 12 * up, b);
    if (in_parent) {
      pose_mul(a, from + 12 * j, a);
      pose_mul(b, to + 12 * j, b);
    }
    split_map(in_parent ? a : from + 12 * j, one);
    split_map(in_parent ? b : to + 12 * j, two);
    blend_parts(one, two, share, one);
    join_part(one, F + 12 * j);
    if (in_parent) pose_mul(F + 12 * up, F + 12 * j, F + 12 * j);
  }
}

void rig_maps_at(const rig_maps *m, double t, double period, const double *base, double share,
                 double *T)
{
  double F[12 * RIG_MAX_JOINTS];
  if (period > 0) t -= period * floor(t / period);
  rig_maps_frames(m, t, F);
  if (base != NULL) blend_frames(m, base, share, F);
  for (int32_t j = 0; j < m->num_joints; ++j) pose_mul(F + 12 * j, m->to + 12 * j, T + 12 * j);
}
