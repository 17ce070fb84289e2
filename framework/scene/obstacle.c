/* obstacle.c - bodies: [body.*] sections to posed obstacles.
 *
 * `thickness` moves the surface outwards: into the radius of sphere and capsule, the outer
 * half extents and the edge radius of the box, the offset of the plane, the values of a
 * distance grid.  The capsule's axis is the body's z. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "scene/build.h"
#include "scene/pose.h"
#include "scene/sdf.h"

static int has_suffix(const char *path, const char *suffix)
{
  const size_t n = strlen(path), k = strlen(suffix);
  return n > k && strcmp(path + n - k, suffix) == 0;
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

/* The mesh of a file, scaled, repaired if asked for, and found to be a closed surface. */
static loom_status load_surface(builder *b, const cfg_section *sec, const body_settings *s, mesh *m)
{
  const int ply = has_suffix(s->file, ".ply");
  double S[12];
  int32_t flipped = 0;
  doctor d = {0};
  if (!ply && !has_suffix(s->file, ".obj"))
    return build_place(b, sec, "file",
                       err_set(b->err, LOOM_E_CONFIG,
                               "\"%s\": a mesh body needs a file that ends in .obj or .ply",
                               s->file));
  const loom_status st = build_read_mesh(b->err, s->file, ply, m);
  if (st != LOOM_OK) return build_place(b, sec, "file", st);
  pose_scale(s->scale, S);
  mesh_transform(m, S);
  if (s->repair == REPAIR_ORIENTATION) {
    LOOM_TRY(doctor_orient(b->err, m, &flipped));
    if (flipped < 0)
      return err_set(b->err, LOOM_E_CONFIG, "%s: the surface is one-sided, no orientation fits",
                     s->file);
    if (flipped > 0) LOOM_TRY(build_note(b, "%s: %d triangles were turned", s->file, flipped));
  }
  LOOM_TRY(doctor_mesh(b->err, &d, s->file, m, DOCTOR_BODY));
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

static loom_status bake_surface(builder *b, const body_settings *s, const mesh *m, loom_obstacle *o)
{
  sdf_grid g;
  loom_real *value;
  LOOM_TRY(sdf_frame(b->err, m, s->sdf_resolution, s->sdf_padding, &g));
  LOOM_TRY(new_sdf(b, &g, o));
  LOOM_TRY(build_map(b, o->sdf, &value));
  LOOM_TRY(sdf_bake(b->err, m, &g, s->thickness, value));
  LOOM_TRY(buf_unmap(b->s->m, o->sdf));
  return copy_surface(b, m, o);
}

static loom_status make_mesh(builder *b, const cfg_section *sec, const body_settings *s,
                             loom_obstacle *o)
{
  mesh m = {0};
  loom_status st = load_surface(b, sec, s, &m);
  if (st == LOOM_OK) {
    st = bake_surface(b, s, &m, o);
    if (st != LOOM_OK) build_place(b, sec, "sdf_resolution", st);
  }
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

static loom_status need(builder *b, const cfg_section *sec, const char *key, double value)
{
  if (value > 0) return LOOM_OK;
  return build_place(b, sec, key,
                     err_set(b->err, LOOM_E_CONFIG, "%g: must be above 0 for this shape", value));
}

static loom_status make_shape(builder *b, const cfg_section *sec, const body_settings *s,
                              loom_obstacle *o)
{
  static const int32_t kinds[] = {
      [BODY_PLANE] = LOOM_OBST_PLANE, [BODY_SPHERE] = LOOM_OBST_SPHERE,
      [BODY_BOX] = LOOM_OBST_BOX,     [BODY_CAPSULE] = LOOM_OBST_CAPSULE,
      [BODY_MESH] = LOOM_OBST_MESH,   [BODY_SDF] = LOOM_OBST_SDF};
  const double layer = s->thickness;
  loom_real *p = o->shape;
  o->kind = kinds[s->shape];
  if ((s->shape == BODY_MESH || s->shape == BODY_SDF) && s->file[0] == '\0')
    return build_place(b, sec, "shape",
                       err_set(b->err, LOOM_E_CONFIG, "needs the key file, what to read"));
  switch (s->shape) {
  case BODY_PLANE: {
    const double *n = s->normal, len = sqrt(n[0] * n[0] + n[1] * n[1] + n[2] * n[2]);
    LOOM_TRY(need(b, sec, "normal", len));
    for (int c = 0; c < 3; ++c) p[c] = (loom_real)(n[c] / len);
    p[3] = (loom_real)layer;
    return LOOM_OK;
  }
  case BODY_SPHERE:
    LOOM_TRY(need(b, sec, "radius", s->radius));
    p[3] = (loom_real)(s->radius + layer);
    return LOOM_OK;
  case BODY_BOX:
    for (int c = 0; c < 3; ++c) {
      LOOM_TRY(need(b, sec, "size", s->size[c]));
      p[c] = (loom_real)(0.5 * s->size[c] + layer);
    }
    p[3] = (loom_real)layer;
    return LOOM_OK;
  case BODY_CAPSULE:
    LOOM_TRY(need(b, sec, "radius", s->radius));
    p[2] = (loom_real)(-0.5 * s->length);
    p[5] = (loom_real)(0.5 * s->length);
    p[6] = (loom_real)(s->radius + layer);
    return LOOM_OK;
  case BODY_MESH:
    return make_mesh(b, sec, s, o);
  default:
    return make_grid(b, sec, s, o);
  }
}

static loom_status place_body(builder *b, const cfg_section *sec, const body_settings *s,
                              moving_body *body)
{
  double T[12];
  loom_status st = build_rotation(b->err, s->rotation, body->base);
  if (st != LOOM_OK) return build_place(b, sec, "rotation", st);
  pose_translation(s->position, T);
  pose_mul(T, body->base, body->base);
  st = motion_parse(b->err, s->motion, s->keyframes, s->keyframe_file, s->position, &body->move);
  return st == LOOM_OK ? LOOM_OK : build_place(b, sec, "motion", st);
}

static loom_status build_body(builder *b, const cfg_section *sec, int index)
{
  body_settings s;
  uint32_t count;
  const loom_param *params = scene_params("body", &count);
  loom_obstacle *o = &b->s->obstacles[index];
  LOOM_TRY(cfg_bind(b->err, sec, params, count, &s));
  const char *name = cfg_section_suffix(sec);
  if (name[0] == '\0')
    return build_place(b, sec, NULL,
                       err_set(b->err, LOOM_E_CONFIG, "needs a name, as [body.floor]"));
  char *copy;
  LOOM_TRY(build_copy(b, name, &copy));
  o->struct_size = sizeof *o;
  o->name = copy;
  o->friction = (loom_real)s.friction;
  b->s->pub.num_obstacles = index + 1; /* what scene_free has to look after */
  LOOM_TRY(place_body(b, sec, &s, &b->s->motion->bodies[index]));
  return make_shape(b, sec, &s, o);
}

loom_status build_obstacles(builder *b)
{
  int count = 0;
  for (const cfg_section *s = NULL; (s = cfg_next(b->c, "body", s)) != NULL;) ++count;
  LOOM_TRY(mesh_alloc(b->err, count, sizeof *b->s->obstacles, &b->s->obstacles));
  LOOM_TRY(mesh_alloc(b->err, count, sizeof *b->s->motion->bodies, &b->s->motion->bodies));
  b->s->pub.obstacles = b->s->obstacles;
  count = 0;
  for (const cfg_section *s = NULL; (s = cfg_next(b->c, "body", s)) != NULL;)
    LOOM_TRY(build_body(b, s, count++));
  return LOOM_OK;
}
