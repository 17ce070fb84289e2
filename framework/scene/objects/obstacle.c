/* obstacle.c - bodies: [body.*] sections to posed obstacles.
 *
 * `thickness` moves the surface outwards: into the sizes of a shape with a closed form, the values
 * of a distance grid.  With mesh_size these shapes become closed meshes, layer included. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "audit/intersect.h"
#include "config/words.h"
#include "core/suffix.h"
#include "geom/pose.h"
#include "mesh/clean.h"
#include "mesh/merge.h"
#include "mesh/placement.h"
#include "mesh/sdf.h"
#include "scene/base/build.h"
#include "scene/moving/moving.h"

enum { MAX_PROFILE = 256, MAX_COPIES = 4096 };

static loom_status check_positive_key(const builder *b, const cfg_section *sec, const char *key,
                                      double value)
{
  if (value > 0) return LOOM_OK;
  return build_place(b, sec, key,
                     err_set(b->err, LOOM_E_CONFIG, "%g: must be above 0 for this shape", value));
}

static loom_status new_sdf(builder *b, const sdf_grid *g, loom_obstacle *o)
{
  for (int c = 0; c < 3; ++c) {
    o->dims[c] = g->dims[c];
    o->origin[c] = (loom_real)g->origin[c];
  }
  o->spacing = (loom_real)g->spacing;
  return build_new(b, "body_sdf", LOOM_REAL, (int64_t)g->dims[0] * g->dims[1] * g->dims[2],
                   &o->sdf);
}

static int has_frame_sequence(const body_settings *s) { return strcmp(s->motion, "sequence") == 0; }

/* Vertices at one place become one, so that a surface that is cut along seams of its texture is
 * closed. */
static loom_status weld_body(builder *b, const char *file, mesh *m)
{
  int32_t *leader = NULL, *map = NULL, welded = 0;
  if (!build_has_valid_ids(m)) return LOOM_OK; /* the doctor tells */
  loom_status s = mesh_alloc(b->err, m->num_verts, sizeof *leader, &leader);
  if (s == LOOM_OK) s = mesh_alloc(b->err, m->num_verts, sizeof *map, &map);
  if (s == LOOM_OK) s = merge_coincident(b->err, m, NULL, 0, NULL, leader);
  if (s == LOOM_OK) s = merge_keep_sound(b->err, m, leader);
  if (s == LOOM_OK) s = merge_groups(b->err, m, file, leader, map, &welded);
  free(leader);
  free(map);
  if (s != LOOM_OK || welded == 0) return s;
  return build_note(b, "%s: %d vertices at the place of another one became one with it", file,
                    welded);
}

/* The mesh of a file, scaled, repaired if asked for, and found to be a surface, which is closed if
 * it is to have distances. */
static loom_status load_obstacle_surface(builder *b, const cfg_section *sec, const body_settings *s,
                                         mesh *m)
{
  char name[4096];
  const char *file = s->file;
  double S[12];
  int32_t flipped = 0;
  doctor d = {0};
  loom_status st;
  if (has_frame_sequence(s)) { /* the first of the frames */
    st = sequence_mesh(b->err, s->frames, s->frame_first, name, sizeof name, m);
    file = name;
  } else {
    st = build_read_any(b, file, m);
  }
  if (st != LOOM_OK) return build_place(b, sec, has_frame_sequence(s) ? "frames" : "file", st);
  pose_scale(s->scale, S);
  mesh_transform(m, S);
  const int use = s->sdf_resolution > 0 ? DOCTOR_BODY : DOCTOR_CONTACT;
  const int drop = s->repair & BODY_REPAIR_CLEAN                     ? CLEAN_FLAT | CLEAN_DOUBLED
                   : use == DOCTOR_CONTACT && !has_frame_sequence(s) ? CLEAN_DOUBLED
                                                                     : 0;
  if (drop) LOOM_TRY(build_clean(b, file, drop, m));
  if (s->repair & BODY_REPAIR_CLEAN && use == DOCTOR_BODY) LOOM_TRY(weld_body(b, file, m));
  if (s->repair & BODY_REPAIR_ORIENTATION) {
    LOOM_TRY(doctor_orient(b->err, m, &flipped));
    if (flipped < 0)
      return err_set(b->err, LOOM_E_CONFIG, "%s: the surface is one-sided, no orientation fits",
                     file);
    if (flipped > 0) LOOM_TRY(build_note(b, "%s: %d triangles were turned", file, flipped));
    if (use == DOCTOR_BODY && doctor_turn_outwards(m) > 0)
      LOOM_TRY(build_note(b, "%s: the surface was inside out; all triangles were turned", file));
  }
  LOOM_TRY(doctor_mesh(b->err, &d, file, m, use));
  return doctor_verdict(b->err, &d);
}

static loom_status copy_surface(builder *b, const mesh *m, loom_obstacle *o)
{
  loom_real *x;
  int32_t *t;
  LOOM_TRY(build_new(b, "body_verts", LOOM_REAL, 3 * (int64_t)m->num_verts, &o->verts));
  LOOM_TRY(build_new(b, "body_tris", LOOM_I32, 3 * (int64_t)m->num_tris, &o->tris));
  LOOM_TRY(build_map(b, o->verts, &x));
  LOOM_TRY(build_map(b, o->tris, &t));
  for (int64_t k = 0; k < 3 * (int64_t)m->num_verts; ++k) x[k] = (loom_real)m->x[k];
  memcpy(t, m->tris, 3 * (size_t)m->num_tris * sizeof *t);
  LOOM_TRY(buf_unmap(b->s->m, o->verts));
  return buf_unmap(b->s->m, o->tris);
}

static loom_status bake_surface(builder *b, const body_settings *s, const mesh *m, double offset,
                                loom_obstacle *o)
{
  sdf_grid g;
  loom_real *value;
  if (s->sdf_resolution < 4)
    return err_set(b->err, LOOM_E_CONFIG, "%lld: 4 to 2048 nodes, or 0 for no grid",
                   (long long)s->sdf_resolution);
  LOOM_TRY(sdf_frame(b->err, m, s->sdf_resolution, s->sdf_padding, &g));
  const double cells = (double)g.dims[0] * (double)g.dims[1] * (double)g.dims[2];
  LOOM_TRY(build_check_room(b, NULL, NULL, &(scene_counts){.cells = cells}));
  LOOM_TRY(new_sdf(b, &g, o));
  if (b->room != NULL && b->room->look_only && cells > b->room->most_cells) {
    b->s->empty_grids = 1;
    return LOOM_OK;
  }
  LOOM_TRY(build_map(b, o->sdf, &value));
  LOOM_TRY(sdf_bake(b->err, m, &g, offset, value));
  return buf_unmap(b->s->m, o->sdf);
}

/* Corners "R Z | R Z | ..." of a profile. */
static loom_status read_profile(const builder *b, const char *text, double *profile, int64_t *count)
{
  words w;
  *count = 0;
  words_start(&w, text);
  while (!words_at_end(&w)) {
    double *const p = profile + 2 * *count;
    if (*count == MAX_PROFILE)
      return err_set(b->err, LOOM_E_CONFIG, "more than %d corners", MAX_PROFILE);
    if (!words_real(&w, p) || !words_real(&w, p + 1) ||
        (!words_at_end(&w) && !(words_next(&w) && strcmp(w.word, "|") == 0)))
      return err_set(b->err, LOOM_E_CONFIG, "corner %lld: two numbers R Z (m) and then '|' needed",
                     (long long)*count);
    if (p[0] < 0)
      return err_set(b->err, LOOM_E_CONFIG, "corner %lld: the radius %g m is below 0",
                     (long long)*count, p[0]);
    ++*count;
  }
  if (*count >= 3) return LOOM_OK;
  return err_set(b->err, LOOM_E_CONFIG, "three or more corners R Z needed, %lld given",
                 (long long)*count);
}

static loom_status revolve_surface(builder *b, const cfg_section *sec, const body_settings *s,
                                   mesh *m)
{
  double profile[2 * MAX_PROFILE];
  int64_t count = 0, crossing = 0;
  doctor d = {0};
  loom_status st = read_profile(b, s->profile, profile, &count);
  if (st != LOOM_OK) return build_place(b, sec, "profile", st);
  LOOM_TRY(check_positive_key(b, sec, "mesh_size", s->mesh_size));
  st = mesh_revolve(b->err, profile, count, s->mesh_size, m);
  if (st != LOOM_OK) return build_place(b, sec, "mesh_size", st);
  LOOM_TRY(doctor_mesh(b->err, &d, "profile", m, DOCTOR_BODY));
  st = doctor_verdict(b->err, &d);
  if (st != LOOM_OK) return build_place(b, sec, "profile", st);
  st = isect_mesh(b->err, m->x, m->num_verts, m->tris, m->num_tris, 1, NULL, 0, &crossing);
  if (st == LOOM_OK && crossing > 0)
    st = err_set(b->err, LOOM_E_CONFIG,
                 "the surface meets itself in %lld places: sides of the profile cross or touch",
                 (long long)crossing);
  return st == LOOM_OK ? LOOM_OK : build_place(b, sec, "profile", st);
}

/* Reports the fault that a kind of body finds in the value of a key. */
static loom_status wrong_key(const builder *b, const cfg_section *sec, const char *key,
                             const char *why)
{
  return build_place(b, sec, key, err_set(b->err, LOOM_E_CONFIG, "%s", why));
}

/* The mesh of a shape that has a closed form, with its layer. */
static loom_status shape_surface(builder *b, const cfg_section *sec, const body_settings *s,
                                 mesh *m)
{
  const body_kind *const kind = body_kind_at(s->shape);
  const char *key = NULL;
  loom_obstacle unused = {0};
  const char *const why = kind->open(&s->own, s->thickness, &unused, &key);
  if (why != NULL) return wrong_key(b, sec, key, why);
  const loom_status st = kind->outline(b->err, &s->own, s->thickness, s->mesh_size, m);
  return st == LOOM_OK ? LOOM_OK : build_place(b, sec, "mesh_size", st);
}

/* The frames of motion = sequence, for the mesh m that was read as the first of them. */
static loom_status read_sequence(const builder *b, const cfg_section *sec, const body_settings *s,
                                 const mesh *m)
{
  const sequence_files files = {.pattern = s->frames,
                                .first = s->frame_first,
                                .count = s->frame_count,
                                .rate = s->frame_rate,
                                .scale = s->scale};
  const int index = b->s->pub.num_obstacles - 1;
  const loom_status st = sequence_read(b->err, &files, m, &b->s->motion->bodies[index].sequence);
  return st == LOOM_OK ? LOOM_OK : build_place(b, sec, "frames", st);
}

/* motion = sequence and frames go together, without `file`. */
static loom_status check_frames_key(const builder *b, const cfg_section *sec,
                                    const body_settings *s)
{
  if (!has_frame_sequence(s)) {
    if (s->frames[0] == '\0') return LOOM_OK;
    return wrong_key(b, sec, "frames", "has no effect without motion = sequence; set it");
  }
  if (s->shape != BODY_MESH)
    return wrong_key(b, sec, "motion", "a sequence of meshes takes shape = mesh");
  if (s->frames[0] == '\0')
    return wrong_key(
        b, sec, "motion",
        "sequence needs the key frames: a file for each, as body%d.obj, or one body.h5");
  if (s->repair & BODY_REPAIR_CLEAN)
    return wrong_key(b, sec, "repair",
                     "frames of a sequence keep all their triangles; leave clean out");
  if (s->file[0] != '\0')
    return wrong_key(b, sec, "file", "the frames are the mesh; leave this key out");
  if (s->sdf_resolution > 0)
    return wrong_key(b, sec, "sdf_resolution",
                     "a body that changes its shape has no distance grid; set 0, for contact "
                     "between triangles");
  return LOOM_OK;
}

static loom_status create_body_mesh(builder *b, const cfg_section *sec, const body_settings *s,
                                    loom_obstacle *o)
{
  const int has_layer = s->shape < BODY_NUM_CLOSED; /* in the mesh */
  const int has_grid = s->sdf_resolution > 0 && s->shape != BODY_RIG;
  const int has_distance = has_grid || (s->shape == BODY_RIG && s->distance != DISTANCE_NONE);
  mesh m = {0};
  loom_status st;
  o->kind = "mesh";
  if (!has_layer && s->thickness > 0 && !has_distance)
    return build_place(b, sec, "thickness",
                       err_set(b->err, LOOM_E_CONFIG,
                               "a mesh without a distance has no layer; set 0, or "
                               "sdf_resolution above 0, or distance of a rig"));
  switch (s->shape) {
  case BODY_MESH:
    st = load_obstacle_surface(b, sec, s, &m);
    break;
  case BODY_REVOLVE:
    st = revolve_surface(b, sec, s, &m);
    break;
  case BODY_RIG:
    st = build_rigged(b, sec, s, &m);
    if (st == LOOM_OK) st = build_field(b, sec, s, o);
    break;
  default:
    st = shape_surface(b, sec, s, &m);
  }
  if (st == LOOM_OK && has_grid) {
    st = bake_surface(b, s, &m, has_layer ? 0.0 : s->thickness, o);
    if (st != LOOM_OK) build_place(b, sec, "sdf_resolution", st);
  }
  if (st == LOOM_OK && b->listed != sec) st = build_list_body(b, o->name, s->file, &m);
  b->listed = sec;
  if (st == LOOM_OK) st = copy_surface(b, &m, o);
  if (st == LOOM_OK && has_frame_sequence(s)) st = read_sequence(b, sec, s, &m);
  mesh_free(&m);
  return st;
}

static loom_status make_grid(builder *b, const cfg_section *sec, const body_settings *s,
                             loom_obstacle *o)
{
  sdf_grid g;
  loom_real *read, *value;
  loom_status st = sdf_read(b->err, s->file, &g, &read);
  if (st != LOOM_OK) return build_place(b, sec, "file", st);
  const int64_t count = (int64_t)g.dims[0] * g.dims[1] * g.dims[2];
  st = new_sdf(b, &g, o);
  if (st == LOOM_OK) st = build_map(b, o->sdf, &value);
  if (st == LOOM_OK) {
    for (int64_t i = 0; i < count; ++i) value[i] = read[i] - (loom_real)s->thickness;
    st = buf_unmap(b->s->m, o->sdf);
  }
  free(read);
  return st;
}

static loom_status make_shape(builder *b, const cfg_section *sec, const body_settings *s,
                              loom_obstacle *o)
{
  const body_kind *const kind = s->shape < BODY_NUM_CLOSED ? body_kind_at(s->shape) : NULL;
  const char *key = NULL;
  if ((s->shape == BODY_MESH || s->shape == BODY_SDF) && s->file[0] == '\0' &&
      !has_frame_sequence(s))
    return wrong_key(b, sec, "shape", "needs the key file, the file to read");
  if (s->mesh_size > 0 && (s->shape == BODY_SDF || (kind != NULL && kind->outline == NULL)))
    return wrong_key(b, sec, "mesh_size",
                     "this shape has no mesh; for a floor of triangles take a flat box");
  if (s->shape == BODY_SDF) {
    o->kind = "sdf";
    return make_grid(b, sec, s, o);
  }
  if (kind == NULL || s->mesh_size > 0) return create_body_mesh(b, sec, s, o);
  o->kind = kind->name;
  const char *const why = kind->open(&s->own, s->thickness, o, &key);
  return why == NULL ? LOOM_OK : wrong_key(b, sec, key, why);
}

static loom_status place_body(builder *b, const cfg_section *sec, const body_settings *s,
                              moving_body *body)
{
  double T[12];
  loom_status st = placement_rotation(b->err, s->rotation, body->base);
  if (st != LOOM_OK) return build_place(b, sec, "rotation", st);
  pose_translation(s->position, T);
  pose_mul(T, body->base, body->base);
  memcpy(body->velocity, s->velocity, sizeof body->velocity);
  memcpy(body->spin, s->spin, sizeof body->spin);
  const char *const text = has_frame_sequence(s) ? "hold" : s->motion;
  st = motion_parse(b->err, text, s->keyframes, s->keyframe_file, s->position, &body->move);
  return st == LOOM_OK ? LOOM_OK : build_place(b, sec, "motion", st);
}

/* ---- bodies with a mass, copies ---- */

static int is_zero_vector(const double v[3]) { return v[0] == 0 && v[1] == 0 && v[2] == 0; }

/* A body with a mass must be of a kind with an inertia, have its exact shape, and have no motion.
 */
static loom_status check_mass(const builder *b, const cfg_section *sec, const body_settings *s,
                              const motion *move)
{
  if (!(s->mass > 0)) {
    if (!is_zero_vector(s->velocity))
      return wrong_key(b, sec, "velocity",
                       "has no effect without a mass; give one, or take motion");
    if (!is_zero_vector(s->spin))
      return wrong_key(b, sec, "spin", "has no effect without a mass; give one, or take motion");
    return LOOM_OK;
  }
  if (s->shape >= BODY_NUM_CLOSED || body_kind_at(s->shape)->inertia == NULL)
    return wrong_key(
        b, sec, "mass",
        "only spheres move by themselves; take an affine body ([solid.NAME] model = affine), set "
        "shape = sphere, or leave the mass out and "
        "say how the body moves (motion)");
  if (s->mesh_size > 0)
    return wrong_key(b, sec, "mesh_size",
                     "a ball with a mass has the exact shape; leave this key out");
  if (!motion_is_hold(move))
    return wrong_key(b, sec, "motion",
                     "a body with a mass moves by itself; leave this key out, or the mass");
  return LOOM_OK;
}

/* In [-1, 1), from a number and an axis (splitmix64). */
static double random_jitter(int64_t k, int axis)
{
  uint64_t z = (uint64_t)(3 * k + axis + 1) * UINT64_C(0x9e3779b97f4a7c15);
  z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
  z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
  return (double)((z ^ z >> 31) >> 11) * 0x1p-52 - 1.0;
}

static loom_status read_copies(builder *b, const cfg_section *sec, const body_settings *s,
                               int64_t n[3])
{
  int given = 0;
  loom_status st = words_ints(b->err, s->copies, 3, n, &given);
  if (st == LOOM_OK && given != 3)
    st = err_set(b->err, LOOM_E_CONFIG, "\"%s\": three whole numbers NX NY NZ needed", s->copies);
  for (int c = 0; c < 3 && st == LOOM_OK; ++c)
    if (n[c] < 1 || n[c] > MAX_COPIES)
      st = err_set(b->err, LOOM_E_CONFIG, "%lld: 1 to %d copies along an axis", (long long)n[c],
                   MAX_COPIES);
  if (st != LOOM_OK) return build_place(b, sec, "copies", st);
  for (int c = 0; c < 3; ++c)
    if (n[c] > 1 && !(s->copy_spacing[c] > 0))
      return wrong_key(b, sec, "copy_spacing", "needed above 0 along the axes that have copies");
  return LOOM_OK;
}

static int name_is_taken(const builder *b, const char *name)
{
  for (int k = 0; k < b->s->pub.num_obstacles; ++k)
    if (strcmp(b->s->obstacles[k].name, name) == 0) return 1;
  return 0;
}

static loom_status build_body(builder *b, const cfg_section *sec, const body_settings *s,
                              const char *name)
{
  const int index = b->s->pub.num_obstacles;
  loom_obstacle *o = &b->s->obstacles[index];
  moving_body *const body = &b->s->motion->bodies[index];
  char *copy;
  if (name_is_taken(b, name))
    return build_place(b, sec, NULL,
                       err_set(b->err, LOOM_E_CONFIG,
                               "another body is called \"%s\", too; give one of them another name",
                               name));
  LOOM_TRY(build_copy(b, name, &copy));
  o->struct_size = sizeof *o;
  o->name = copy;
  o->friction = (loom_real)s->friction;
  o->mass = (loom_real)s->mass;
  b->s->pub.num_obstacles = index + 1; /* from here on scene_free frees it */
  LOOM_TRY(place_body(b, sec, s, body));
  LOOM_TRY(check_mass(b, sec, s, &body->move));
  if (s->mass > 0) body->inertia = body_kind_at(s->shape)->inertia(&s->own, s->mass);
  LOOM_TRY(make_shape(b, sec, s, o));
  o->has = (o->verts != NULL ? LOOM_BODY_MESH : 0) |
           (o->verts == NULL || o->sdf != NULL || o->field != NULL ? LOOM_BODY_DISTANCE : 0);
  return LOOM_OK;
}

static loom_status build_copies(builder *b, const cfg_section *sec, body_settings *s)
{
  const char *const name = cfg_section_suffix(sec);
  const double at[3] = {s->position[0], s->position[1], s->position[2]};
  int64_t n[3];
  char text[512];
  LOOM_TRY(read_copies(b, sec, s, n));
  LOOM_TRY(check_frames_key(b, sec, s));
  const int64_t total = n[0] * n[1] * n[2];
  for (int64_t k = 0; k < total; ++k) {
    const int64_t i[3] = {k % n[0], k / n[0] % n[1], k / (n[0] * n[1])};
    for (int c = 0; c < 3 && total > 1; ++c)
      s->position[c] = at[c] + ((double)i[c] - 0.5 * (double)(n[c] - 1)) * s->copy_spacing[c] +
                       s->copy_jitter * random_jitter(k, c);
    if (total > 1)
      snprintf(text, sizeof text, "%s_%lld", name, (long long)k);
    else
      snprintf(text, sizeof text, "%s", name);
    LOOM_TRY(build_body(b, sec, s, text));
  }
  return LOOM_OK;
}

static loom_status bind_body(builder *b, const cfg_section *sec, body_settings *s)
{
  scene_table tables[SCENE_MAX_TABLES]; /* before the keys of kinds, these, behind them */
  body_keys others;
  scene_tables("body", tables);
  LOOM_TRY(cfg_bind(b->err, sec, tables[0].params, tables[0].count, s));
  for (int i = 0; i < BODY_NUM_CLOSED; ++i) {
    const body_kind *const kind = body_kind_at(i);
    const int chosen = i == s->shape;
    if (chosen || kind->keys_always)
      LOOM_TRY(cfg_bind(b->err, sec, kind->params, kind->num_params, chosen ? &s->own : &others));
  }
  LOOM_TRY(cfg_bind(b->err, sec, tables[2].params, tables[2].count, s));
  if (cfg_section_suffix(sec)[0] != '\0') return LOOM_OK;
  return wrong_key(b, sec, NULL, "needs a name, as [body.floor]");
}

static loom_status publish_body_friction(builder *b)
{
  loom_real *mu;
  const int num = b->s->pub.num_obstacles;
  LOOM_TRY(build_new(b, "body_friction", LOOM_REAL, num, &b->s->pub.body_friction));
  LOOM_TRY(build_map(b, b->s->pub.body_friction, &mu));
  for (int k = 0; k < num; ++k) mu[k] = b->s->obstacles[k].friction;
  return buf_unmap(b->s->m, b->s->pub.body_friction);
}

loom_status build_obstacles(builder *b)
{
  body_settings set;
  int64_t count = 0, n[3];
  for (const cfg_section *s = NULL; (s = cfg_next(b->c, "body", s)) != NULL;) {
    LOOM_TRY(bind_body(b, s, &set));
    LOOM_TRY(build_check_effects(b, s, "body", &set));
    LOOM_TRY(build_check_kind_effects(b, s, set.shape));
    LOOM_TRY(read_copies(b, s, &set, n));
    count += n[0] * n[1] * n[2];
    if (count > MAX_COPIES)
      return build_place(b, s, "copies",
                         err_set(b->err, LOOM_E_CONFIG, "%lld bodies, at most %d are possible",
                                 (long long)count, MAX_COPIES));
  }
  LOOM_TRY(mesh_alloc(b->err, count, sizeof *b->s->obstacles, &b->s->obstacles));
  LOOM_TRY(mesh_alloc(b->err, count, sizeof *b->s->motion->bodies, &b->s->motion->bodies));
  b->s->pub.obstacles = b->s->obstacles;
  for (const cfg_section *s = NULL; (s = cfg_next(b->c, "body", s)) != NULL;) {
    LOOM_TRY(bind_body(b, s, &set));
    LOOM_TRY(build_copies(b, s, &set));
  }
  return publish_body_friction(b);
}
