/* import.c - rigs of files: joints as pivots with angles, skins, animations. */
#include "rig/import.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mesh/merge.h"
#include "rig/clip_angles.h"
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
    char one[128];
    const int n = snprintf(one, sizeof one, "%s%s (%.3g s)", k > 0 ? ", " : "", f->clip[k].name,
                           f->clip[k].maps.length);
    if (used + (size_t)n + 5 > room) {
      snprintf(text + used, room - used, " ...");
      return;
    }
    memcpy(text + used, one, (size_t)n + 1);
    used += (size_t)n;
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

static loom_status put_clip(loom_err *err, const loom_rig_file *f, int32_t k, double scale,
                            rig_file *out, rig_clip *to, double *numbers)
{
  const loom_rig_clip *const from = &f->clip[k];
  if (from->name[0] != '\0')
    snprintf(to->name, sizeof to->name, "%s", from->name);
  else /* a name is optional in glTF */
    snprintf(to->name, sizeof to->name, "%d", (int)k);
  to->morphs = from->morphs;
  *numbers += (double)f->num_nodes * sizeof(loom_rig_node) / sizeof(double);
  if (*numbers > RIG_CLIP_NUMBERS)
    return err_set(err, LOOM_E_CONFIG, "it has too many animations; export a part of them");
  LOOM_TRY(rig_maps_make(err, f, k, scale, &to->maps));
  return rig_clip_angles(err, &out->r, &to->maps, &to->a, &out->stretch, numbers);
}

static loom_status convert_rig_file(loom_err *err, const char *path, const loom_rig_file *f,
                                    double scale, rig_file *out)
{
  double numbers = 0;
  LOOM_TRY(put_body(err, path, f, scale, out));
  LOOM_TRY(mesh_alloc(err, f->num_clips, sizeof *out->clip, &out->clip));
  for (int32_t k = 0; k < f->num_clips; ++k) {
    out->num_clips = k + 1;
    const loom_status s = put_clip(err, f, k, scale, out, &out->clip[k], &numbers);
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
