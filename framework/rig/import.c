/* import.c - from frames of joints to pivots and angles. */
#include "rig/import.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "geom/pose.h"
#include "mesh/merge.h"
#include "rig/reader.h"
#include "rig/rig_shapes.h"

static const double pi = 3.14159265358979323846;
void rig_file_free(rig_file *f)
{
  for (int32_t k = 0; f->clip != NULL && k < f->num_clips; ++k) {
    rig_animation_free(&f->clip[k].a);
    rig_maps_free(&f->clip[k].maps);
  }
  free(f->clip);
  rig_free(&f->r);
  memset(f, 0, sizeof *f);
}

void rig_clip_names(const rig_file *f, char *text, size_t room)
{
  size_t used = 0;
  text[0] = '\0';
  for (int32_t k = 0; k < f->num_clips; ++k) {
    const rig_animation *const a = &f->clip[k].a;
    char one[128];
    const double length = a->num_keys > 0 ? a->time[a->num_keys - 1] : 0;
    const int n =
        snprintf(one, sizeof one, "%s%s (%.3g s)", k > 0 ? ", " : "", f->clip[k].name, length);
    if (used + (size_t)n + 5 > room) {
      snprintf(text + used, room - used, " ...");
      return;
    }
    memcpy(text + used, one, (size_t)n + 1);
    used += (size_t)n;
  }
}

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

/* ---- joints and skin ---- */

static loom_status convert_joints(loom_err *err, const loom_rig_file *f, double scale, rig *r)
{
  static const double axis[3][3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
  static const char *const names[3] = {"x", "y", "z"};
  LOOM_TRY(rig_alloc(err, f->num_joints, f->per, r));
  for (int32_t j = 0; j < f->num_joints; ++j) {
    const double *const at = f->joint[j].rest + 9;
    const double pivot[3] = {scale * at[0], scale * at[1], scale * at[2]};
    rig_set_joint(r, j, f->joint[j].name, f->joint[j].parent, pivot);
    /* a turn has no limits; a long animation may count several */
    for (int k = 0; k < 3; ++k) rig_add_dof(r, j, names[k], axis[k], -64 * pi, 64 * pi);
  }
  return LOOM_OK;
}

static loom_status convert_skin(loom_err *err, const loom_rig_file *f, double scale, mesh *m)
{
  m->num_verts = f->num_verts;
  m->num_tris = f->num_tris;
  LOOM_TRY(mesh_alloc(err, 3 * (int64_t)m->num_verts, sizeof *m->x, &m->x));
  LOOM_TRY(mesh_alloc(err, 3 * (int64_t)m->num_tris, sizeof *m->tris, &m->tris));
  for (int64_t k = 0; k < 3 * (int64_t)m->num_verts; ++k) m->x[k] = scale * f->x[k];
  memcpy(m->tris, f->tris, 3 * (size_t)m->num_tris * sizeof *m->tris);
  return LOOM_OK;
}

/* 1: the same joints move both vertices, with the same weights. */
static int same_weights(const loom_rig_file *f, int32_t v, int32_t w)
{
  const int32_t *const a = f->bone + (int64_t)v * f->per, *const b = f->bone + (int64_t)w * f->per;
  const double *const p = f->weight + (int64_t)v * f->per, *const q =
                                                               f->weight + (int64_t)w * f->per;
  for (int32_t k = 0; k < f->per; ++k) { /* sums over equal joints, so that their order is free */
    double of_v = 0, of_w = 0, back_v = 0, back_w = 0;
    for (int32_t i = 0; i < f->per; ++i) {
      of_v += a[i] == a[k] ? p[i] : 0;
      of_w += b[i] == a[k] ? q[i] : 0;
      back_v += a[i] == b[k] ? p[i] : 0;
      back_w += b[i] == b[k] ? q[i] : 0;
    }
    if (of_v != of_w || back_v != back_w) return 0;
  }
  return 1;
}

/* Parts groups by their weights: leader [num_verts] becomes the first of each group with the same.
 */
static loom_status part_by_weights(loom_err *err, const loom_rig_file *f, int32_t *leader)
{
  int32_t *next; /* the next first vertex in the same group, 0: none */
  LOOM_TRY(mesh_alloc(err, f->num_verts, sizeof *next, &next));
  for (int32_t v = 0; v < f->num_verts; ++v) {
    int32_t at = leader[v];
    if (at == v) continue;
    while (!same_weights(f, at, v) && next[at] != 0) at = next[at];
    if (same_weights(f, at, v)) {
      leader[v] = at;
    } else {
      next[at] = v;
      leader[v] = v;
    }
  }
  free(next);
  return LOOM_OK;
}

/* Vertices at one place that the same joints move become one: files split them where normals or
 * textures have a seam.  Shells of other joints stay apart, and so do vertices whose edge would get
 * a third triangle.  map [f->num_verts] gets the new numbers. */
static loom_status weld_skin_verts(loom_err *err, const char *path, const loom_rig_file *f, mesh *m,
                                   int32_t *map, int32_t *gone)
{
  int32_t *leader;
  LOOM_TRY(mesh_alloc(err, m->num_verts, sizeof *leader, &leader));
  loom_status s = merge_coincident(err, m, NULL, 1e-7, NULL, leader);
  if (s == LOOM_OK) s = part_by_weights(err, f, leader);
  if (s == LOOM_OK) s = merge_keep_sound(err, m, leader);
  if (s == LOOM_OK) s = merge_groups(err, m, path, leader, map, gone);
  free(leader);
  return s;
}

/* Vertices that no joint moves follow the first one. */
static void weigh_free_verts(const loom_rig_file *f, rig_file *out)
{
  for (int32_t v = 0; v < f->num_verts && f->per > 0; ++v) {
    double sum = 0;
    for (int32_t k = 0; k < f->per; ++k) sum += f->weight[(int64_t)v * f->per + k];
    if (sum != 0) continue;
    f->bone[(int64_t)v * f->per] = 0;
    f->weight[(int64_t)v * f->per] = 1;
    ++out->unweighted;
  }
}

static loom_status put_body(loom_err *err, const char *path, const loom_rig_file *f, double scale,
                            rig_file *out)
{
  int32_t *map;
  rig *const r = &out->r;
  weigh_free_verts(f, out);
  LOOM_TRY(convert_skin(err, f, scale, &r->skin));
  LOOM_TRY(convert_joints(err, f, scale, r));
  LOOM_TRY(mesh_alloc(err, f->num_verts, sizeof *map, &map));
  const loom_status s = weld_skin_verts(err, path, f, &r->skin, map, &out->welded);
  for (int32_t v = f->num_verts - 1; v >= 0 && s == LOOM_OK;
       --v) { /* the first of a group counts */
    memcpy(r->bone + (int64_t)map[v] * r->per, f->bone + (int64_t)v * r->per,
           (size_t)r->per * sizeof *r->bone);
    memcpy(r->weight + (int64_t)map[v] * r->per, f->weight + (int64_t)v * r->per,
           (size_t)r->per * sizeof *r->weight);
  }
  free(map);
  LOOM_TRY(s);
  const loom_status done = rig_finish(err, r);
  if (done != LOOM_OK) err_prefix(err, "%s", path);
  return done;
}

/* ---- animations ---- */

typedef struct room { /* of one frame */
  double (*turn)[9];  /* [num_joints] rotation of each since the rest pose, in the world */
  double *T;          /* [num_joints][12] as the rig has them */
} room;

/* Row k of a clip: angles of all joints, the shift of the first one. */
static void convert_clip_row(const loom_rig_file *f, const double *frame, double scale,
                             rig_file *out, room *w, const double *was, double *value)
{
  const rig *const r = &out->r;
  double root[12];
  for (int32_t j = 0; j < f->num_joints; ++j) {
    const int32_t parent = f->joint[j].parent;
    double now[9], rest[9], D[9];
    rig_rotation_of(frame + 12 * j, now);
    rig_rotation_of(f->joint[j].rest, rest);
    mul_transposed(now, rest, 1, w->turn[j]);
    memcpy(D, w->turn[j], sizeof D);
    if (parent >= 0) mul_transposed(w->turn[parent], w->turn[j], 0, D);
    angles_of(D, was + RIG_ROOT + 3 * j, value + RIG_ROOT + 3 * j);
  }
  for (int c = 0; c < 3; ++c) value[c] = scale * frame[9 + c] - r->joint[0].rest[c];
  rig_root(r, value, root);
  rig_pose(r, value + RIG_ROOT, root, w->T);
  for (int32_t j = 0; j < f->num_joints; ++j) { /* motion that pivots and angles cannot express */
    double at[3], far = 0;
    pose_apply(w->T + 12 * j, r->joint[j].rest, at);
    for (int c = 0; c < 3; ++c) far += pow(at[c] - scale * frame[12 * j + 9 + c], 2);
    out->stretch = fmax(out->stretch, sqrt(far));
  }
}

/* The maps of all joints, in m. */
static loom_status put_maps(loom_err *err, const loom_rig_file *f, const loom_rig_clip *from,
                            double scale, rig_maps *to)
{
  const int64_t n = f->num_joints, maps = n * from->num_frames;
  double *rest = NULL, *frame = NULL;
  int32_t *parent = NULL;
  loom_status s = mesh_alloc(err, n, sizeof *parent, &parent);
  if (s == LOOM_OK) s = mesh_alloc(err, 12 * n, sizeof *rest, &rest);
  if (s == LOOM_OK) s = mesh_alloc(err, 12 * maps, sizeof *frame, &frame);
  for (int64_t j = 0; j < n && s == LOOM_OK; ++j) {
    parent[j] = f->joint[j].parent;
    for (int k = 0; k < 12; ++k) rest[12 * j + k] = (k < 9 ? 1 : scale) * f->joint[j].rest[k];
  }
  for (int64_t k = 0; k < 12 * maps && s == LOOM_OK; ++k)
    frame[k] = (k % 12 < 9 ? 1 : scale) * from->frame[k];
  if (s == LOOM_OK)
    s = rig_maps_make(err, f->num_joints, parent, rest, from->num_frames, from->time, frame, to);
  free(parent);
  free(rest);
  free(frame);
  return s;
}

static loom_status put_clip(loom_err *err, const loom_rig_file *f, const loom_rig_clip *from,
                            double scale, rig_file *out, rig_clip *to)
{
  room w = {0};
  rig_animation *const a = &to->a;
  if (from->name[0] != '\0')
    snprintf(to->name, sizeof to->name, "%s", from->name);
  else /* a name is optional in glTF */
    snprintf(to->name, sizeof to->name, "%d", (int)(from - f->clip));
  a->width = RIG_ROOT + out->r.num_dofs;
  a->num_keys = from->num_frames;
  LOOM_TRY(mesh_alloc(err, a->num_keys, sizeof *a->time, &a->time));
  LOOM_TRY(mesh_alloc(err, (int64_t)a->num_keys * a->width, sizeof *a->value, &a->value));
  loom_status s = mesh_alloc(err, f->num_joints, sizeof *w.turn, &w.turn);
  if (s == LOOM_OK) s = mesh_alloc(err, 12 * (int64_t)f->num_joints, sizeof *w.T, &w.T);
  for (int32_t k = 0; k < a->num_keys && s == LOOM_OK; ++k) {
    double *const value = a->value + (int64_t)k * a->width;
    a->time[k] = from->time[k];
    convert_clip_row(f, from->frame + 12 * (int64_t)f->num_joints * k, scale, out, &w,
                     k > 0 ? value - a->width : value, value);
  }
  free(w.turn);
  free(w.T);
  return s;
}

static loom_status convert_rig_file(loom_err *err, const char *path, const loom_rig_file *f,
                                    double scale, rig_file *out)
{
  LOOM_TRY(put_body(err, path, f, scale, out));
  LOOM_TRY(mesh_alloc(err, f->num_clips, sizeof *out->clip, &out->clip));
  for (int32_t k = 0; k < f->num_clips; ++k) {
    out->num_clips = k + 1;
    LOOM_TRY(put_clip(err, f, &f->clip[k], scale, out, &out->clip[k]));
    const loom_status s = put_maps(err, f, &f->clip[k], scale, &out->clip[k].maps);
    if (s != LOOM_OK) {
      err_prefix(err, "%s", path);
      return s;
    }
  }
  out->left_out = f->left_out;
  return LOOM_OK;
}

loom_status rig_import(loom_err *err, const char *path, double scale, rig_file *out)
{
  loom_rig_file f;
  memset(out, 0, sizeof *out);
  LOOM_TRY(rig_reader_read(err, path, &f));
  const loom_status s = convert_rig_file(err, path, &f, scale, out);
  rig_reader_free(&f);
  return s;
}
