/* rigged.c - bodies of shape = rig, from their keys to the positions of a step. */
#include "scene/moving/rigged.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "mesh/clean.h"
#include "rig/import.h"
#include "rig/profile.h"
#include "scene/base/build.h"
#include "scene/moving/moving.h"

void rigged_free(rigged *b)
{
  if (b == NULL) return;
  rig_free(&b->r);
  rig_animation_free(&b->animation);
  rig_maps_free(&b->maps);
  double *const own[] = {b->base, b->base_map, b->x};
  for (size_t k = 0; k < sizeof own / sizeof *own; ++k) free(own[k]);
  for (size_t k = 0; k < sizeof b->T / sizeof *b->T; ++k) {
    free(b->value[k]);
    free(b->T[k]);
  }
  free(b);
}

rigged *scene_rigged(const scene_data *s, int k)
{
  return s->motion != NULL ? s->motion->bodies[k].rigged : NULL;
}

int32_t scene_joints(const scene_data *s, int k, const double **T)
{
  const rigged *const b = scene_rigged(s, k);
  if (b == NULL) return 0;
  if (T != NULL) *T = b->T[1];
  return b->r.num_joints;
}

/* ---- a step ---- */

/* The time in the animation at t (s), and the share of the base pose that has passed into it: 0
 * where it has not begun.  Without ease its first frame holds before. */
static double find_animation_time(const rigged *b, double t, double *share)
{
  const double since = t - b->start;
  *share = since >= b->ease ? 1 : since > 0 ? profile_smoothstep(since / b->ease) : 0;
  if (since <= 0 && !(b->ease > 0)) *share = 1;
  double at = fmax(b->speed * since, 0);
  if (!b->loop && b->animation.period > 0) at = fmin(at, nextafter(b->animation.period, 0));
  return at;
}

/* The base pose passes into the animation while that begins. */
static void sample_rig_angles(const rigged *b, double t, double *value)
{
  const int32_t width = RIG_ROOT + b->r.num_dofs;
  double share = 0;
  const double at = find_animation_time(b, t, &share);
  memcpy(value, b->base, (size_t)width * sizeof *value);
  if (b->animation.num_keys == 0 || share == 0) return;
  rig_animation_at(&b->animation, at, value);
  if (share == 1) return;
  for (int32_t k = 0; k < width; ++k) value[k] = b->base[k] + share * (value[k] - b->base[k]);
}

static void sample_rig_maps(const rigged *b, double t, double *T)
{
  double share = 0;
  const double at = find_animation_time(b, t, &share);
  rig_maps_at(&b->maps, at, b->loop ? b->animation.period : 0, share < 1 ? b->base_map : NULL,
              share, T);
}

static void pose_rig_at(rigged *b, int slot, double t)
{
  sample_rig_angles(b, t, b->value[slot]);
  rig_root(&b->r, b->value[slot], b->root[slot]);
  if (b->maps.num_joints > 0)
    sample_rig_maps(b, t, b->T[slot]);
  else
    rig_pose(&b->r, b->value[slot] + RIG_ROOT, b->root[slot], b->T[slot]);
}

void rigged_step(rigged *b, double t0, double t1)
{
  pose_rig_at(b, 0, t0);
  pose_rig_at(b, 1, t1);
}

void rigged_joint_at(rigged *b, int32_t joint, double t, double T[12])
{
  pose_rig_at(b, 2, t);
  memcpy(T, b->T[2] + 12 * (ptrdiff_t)joint, 12 * sizeof *T);
}

const double *rigged_skin_at(rigged *b, double t)
{
  pose_rig_at(b, 2, t);
  return rigged_skin(b, 2);
}

const double *rigged_skin(rigged *b, int end)
{
  rig_skin(&b->r, b->T[end], b->x);
  return b->x;
}

/* ---- keys ---- */

/* Puts the key's place before a message. */
static loom_status prefix_rig_key(const builder *b, const cfg_section *sec, const char *key,
                                  loom_status s)
{
  return s == LOOM_OK ? s : build_place(b, sec, key, s);
}

/* The file of `animation = walk`: in animations/ beside the file with that key or the one that
 * names the rig, beside the top file, or one or two folders above one of these; else in a folder of
 * the search path. */
static loom_status find_animation(const builder *b, const cfg_section *sec, const char *name,
                                  char *path, size_t room)
{
  static const char *const near_by[] = {"animations", "../animations", "../../animations"};
  const char *const top = cfg_path(b->c), *const slash = strrchr(top, '/');
  char of_top[2048] = "";
  const char *dirs[3] = {of_top, of_top, of_top}, *dir;
  if (slash != NULL) snprintf(of_top, sizeof of_top, "%.*s", (int)(slash - top), top);
  if (cfg_given_by_file(sec, "animation", &dir)) dirs[0] = dir;
  if (cfg_given_by_file(sec, "rig", &dir)) dirs[1] = dir;
  for (size_t k = 0; k < 9 && strchr(name, '/') == NULL; ++k) {
    dir = dirs[k / 3];
    snprintf(path, room, "%s%s%s/%s.txt", dir, dir[0] != '\0' ? "/" : "", near_by[k % 3], name);
    if (access(path, R_OK) == 0) return LOOM_OK;
  }
  char shared[256];
  if (strchr(name, '/') == NULL &&
      snprintf(shared, sizeof shared, "animations/%s.txt", name) < (int)sizeof shared &&
      cfg_search_file(shared, path, room))
    return LOOM_OK;
  return err_set(
      b->err, LOOM_E_CONFIG,
      "there is no animation '%.80s': searched for animations/%.80s.txt in the folders of "
      "the config and of the scene, and in one and two above them; animation_file takes "
      "any other file",
      name, name);
}

/* The animation of that name which came with the rig; NULL: none. */
static rig_clip *find_clip(rig_file *f, const char *name)
{
  for (int32_t k = 0; k < f->num_clips; ++k)
    if (strcmp(f->clip[k].name, name) == 0) return &f->clip[k];
  return NULL;
}

static loom_status no_clip(const builder *b, const body_settings *s, const rig_file *f)
{
  char names[600];
  const char **const all = calloc((size_t)f->num_clips + 1, sizeof *all);
  for (int32_t k = 0; all != NULL && k < f->num_clips; ++k) all[k] = f->clip[k].name;
  const char *const near =
      all != NULL && f->num_clips > 0 ? err_nearest(s->animation, all, f->num_clips) : NULL;
  free((void *)all);
  rig_clip_names(f, names, sizeof names);
  return err_set(b->err, LOOM_E_CONFIG, "%s has no animation '%.80s'%s%s%s%s%s", s->file,
                 s->animation, near != NULL ? "; did you mean '" : "", near != NULL ? near : "",
                 near != NULL ? "'?" : "", f->num_clips > 0 ? "; it has " : ", nor any other",
                 names);
}

static loom_status read_animation(builder *b, const cfg_section *sec, const body_settings *s,
                                  rig_file *from, rigged *to)
{
  const int by_name = s->animation[0] != '\0', by_file = s->animation_file[0] != '\0';
  const char *const key = by_name ? "animation" : "animation_file";
  char path[4096];
  loom_status st = LOOM_OK;
  if (by_name && by_file)
    return prefix_rig_key(
        b, sec, "animation_file",
        err_set(b->err, LOOM_E_CONFIG, "animation is given, too; leave one of them out"));
  if (!by_name && !by_file) return LOOM_OK;
  to->start = s->animation_start;
  to->speed = s->animation_speed;
  to->ease = s->animation_ease;
  to->loop = s->animation_loop;
  if (by_name && s->file[0] != '\0') {
    rig_clip *const clip = find_clip(from, s->animation);
    if (clip == NULL) return prefix_rig_key(b, sec, key, no_clip(b, s, from));
    to->animation = clip->a; /* its arrays, too */
    memset(&clip->a, 0, sizeof clip->a);
    if (s->distance == DISTANCE_NONE) { /* distances are made of angles */
      to->maps = clip->maps;
      memset(&clip->maps, 0, sizeof clip->maps);
    }
    if (to->loop) to->animation.period = to->animation.time[to->animation.num_keys - 1];
    return LOOM_OK;
  }
  snprintf(path, sizeof path, "%s", s->animation_file);
  if (by_name) st = find_animation(b, sec, s->animation, path, sizeof path);
  if (st == LOOM_OK) st = rig_animation_read(b->err, path, &to->r, &to->animation);
  if (st != LOOM_OK) return prefix_rig_key(b, sec, key, st);
  return to->animation.note[0] != '\0' ? build_note(b, "%s", to->animation.note) : LOOM_OK;
}

static loom_status take_room(builder *b, rigged *to)
{
  const int64_t width = RIG_ROOT + to->r.num_dofs, maps = 12 * (int64_t)to->r.num_joints;
  LOOM_TRY(mesh_alloc(b->err, width, sizeof *to->base, &to->base));
  for (int k = 0; k < 3; ++k) {
    LOOM_TRY(mesh_alloc(b->err, width, sizeof *to->value[k], &to->value[k]));
    LOOM_TRY(mesh_alloc(b->err, maps, sizeof *to->T[k], &to->T[k]));
  }
  return mesh_alloc(b->err, 3 * (int64_t)to->r.skin.num_verts, sizeof *to->x, &to->x);
}

/* The skin in its rest pose, in numbers that the log holds exactly. */
static loom_status copy_skin(builder *b, mesh *skin, mesh *m)
{
  for (int64_t i = 0; i < 3 * (int64_t)skin->num_verts; ++i)
    skin->x[i] = (double)(loom_real)skin->x[i];
  m->num_verts = skin->num_verts;
  m->num_tris = skin->num_tris;
  LOOM_TRY(mesh_alloc(b->err, 3 * (int64_t)m->num_verts, sizeof *m->x, &m->x));
  LOOM_TRY(mesh_alloc(b->err, 3 * (int64_t)m->num_tris, sizeof *m->tris, &m->tris));
  memcpy(m->x, skin->x, 3 * (size_t)m->num_verts * sizeof *m->x);
  memcpy(m->tris, skin->tris, 3 * (size_t)m->num_tris * sizeof *m->tris);
  return LOOM_OK;
}

/* Notes for the user on parts of a file that the rig leaves out or changes. */
static loom_status note_import(builder *b, const body_settings *s, const rig_file *f)
{
  char names[600];
  if (f->left_out > 0)
    LOOM_TRY(build_note(b, "%s: %d meshes without a skin are left out", s->file, f->left_out));
  if (f->stretch > 1e-4 && s->distance != DISTANCE_NONE)
    LOOM_TRY(build_note(b,
                        "%s: joints of its animations move up to %.3g m against their parents, or "
                        "change their size; with a distance they keep their lengths, without one "
                        "they follow",
                        s->file, f->stretch));
  for (int32_t k = 0; k < f->num_clips; ++k)
    if (f->clip[k].morphs > 0)
      LOOM_TRY(build_note(b,
                          "%s: the animation '%s' changes the shape of the skin by morph targets; "
                          "the body keeps the shape at rest and follows the joints alone",
                          s->file, f->clip[k].name));
  if (f->unweighted > 0)
    LOOM_TRY(build_note(b, "%s: %d vertices have no weight; they follow the first joint", s->file,
                        f->unweighted));
  rig_clip_names(f, names, sizeof names);
  return build_note(b,
                    "%s: %d vertices, %d joints, %d animations%s%s; %d vertices at the place of "
                    "another one became one with it",
                    s->file, f->r.skin.num_verts, f->r.num_joints, f->num_clips,
                    f->num_clips > 0 ? ": " : "", names, f->welded);
}

/* Lines with the names of all joints, for `loom check`. */
static loom_status list_joints(builder *b, const rig *r)
{
  char line[120] = "";
  for (int32_t j = 0; j < r->num_joints; ++j) {
    const char *const name = r->joint[j].name;
    if (strlen(line) + strlen(name) + 2 > sizeof line - 1 || strlen(line) > 80) {
      LOOM_TRY(build_list(b, "    %s", line));
      line[0] = '\0';
    }
    snprintf(line + strlen(line), sizeof line - strlen(line), "%s%s%s", j == 0 ? "joints " : "",
             name, j + 1 < r->num_joints ? ", " : "");
  }
  return build_list(b, "    %s", line);
}

/* The rig of a name or of a file; *f also holds the other data of a file. */
static loom_status make_rig(builder *b, const cfg_section *sec, const body_settings *s, rig_file *f)
{
  const int by_name = s->rig[0] != '\0', by_file = s->file[0] != '\0';
  if (by_name == by_file)
    return prefix_rig_key(b, sec, by_name ? "file" : "shape",
                          err_set(b->err, LOOM_E_CONFIG,
                                  by_name ? "rig is given, too; leave one of them out"
                                          : "needs the key rig (leg or lower_body) or file"));
  if (by_name)
    return prefix_rig_key(b, sec, "rig", rig_make(b->err, s->rig, s->edge_length, &f->r));
  LOOM_TRY(prefix_rig_key(b, sec, "file", rig_import(b->err, s->file, s->scale, f)));
  return note_import(b, s, f);
}

static loom_status keep_base_pose(builder *b, rigged *to)
{
  double root[12];
  LOOM_TRY(mesh_alloc(b->err, 12 * (int64_t)to->r.num_joints, sizeof *to->base_map, &to->base_map));
  rig_root(&to->r, to->base, root);
  rig_pose(&to->r, to->base + RIG_ROOT, root, to->base_map);
  return LOOM_OK;
}

static loom_status fill_rigged(builder *b, const cfg_section *sec, const body_settings *s,
                               rig_file *f, rigged *to)
{
  const char *const key = s->rig[0] != '\0' ? "rig" : "file";
  doctor d = {0};
  char name[160];
  LOOM_TRY(make_rig(b, sec, s, f));
  to->r = f->r; /* its arrays, too */
  memset(&f->r, 0, sizeof f->r);
  LOOM_TRY(take_room(b, to));
  snprintf(name, sizeof name, "skin of %.140s", s->rig[0] != '\0' ? s->rig : s->file);
  const int use = s->distance != DISTANCE_NONE ? DOCTOR_BODY : DOCTOR_CONTACT;
  if (use == DOCTOR_CONTACT) /* a character's own doubles and specks carry no surface */
    LOOM_TRY(build_clean(b, name, CLEAN_FLAT | CLEAN_DOUBLED, &to->r.skin));
  LOOM_TRY(doctor_mesh(b->err, &d, name, &to->r.skin, use));
  LOOM_TRY(prefix_rig_key(b, sec, key, doctor_verdict(b->err, &d)));
  if (to->r.num_scaled > 0)
    LOOM_TRY(build_note(b, "%s: the weights of %lld vertices did not sum to 1; they were scaled",
                        name, (long long)to->r.num_scaled));
  LOOM_TRY(prefix_rig_key(b, sec, "angles",
                          rig_angles_parse(b->err, &to->r, s->angles, to->base + RIG_ROOT)));
  LOOM_TRY(read_animation(b, sec, s, f, to));
  return to->maps.num_joints > 0 ? keep_base_pose(b, to) : LOOM_OK;
}

loom_status build_rigged(builder *b, const cfg_section *sec, const body_settings *s, mesh *m)
{
  moving_body *const body = &b->s->motion->bodies[b->s->pub.num_obstacles - 1];
  rig_file f = {0};
  LOOM_TRY(mesh_alloc(b->err, 1, sizeof *body->rigged, &body->rigged));
  const loom_status st = fill_rigged(b, sec, s, &f, body->rigged);
  rig_file_free(&f);
  LOOM_TRY(st);
  if (b->listed != sec) LOOM_TRY(list_joints(b, &body->rigged->r));
  return copy_skin(b, &body->rigged->r.skin, m);
}
