/* scene_build.c - builds a scene from its sections, frees it. */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config/words.h"
#include "geom/pose.h"
#include "scene/base/build.h"
#include "scene/base/exclusions.h"
#include "scene/moving/growing.h"
#include "scene/moving/moving.h"
#include "scene/moving/sewing.h"
#include "scene/moving/twisting.h"
#include "scene/objects/followers.h"
#include "scene/objects/friction.h"
#include "scene/objects/ignored.h"
#include "scene/objects/pressure.h"
#include "scene/objects/wind.h"

/* ---- parts ---- */

static loom_status build_world(builder *b)
{
  world_settings w;
  uint32_t count;
  const loom_param *params = scene_params("run", &count);
  const cfg_section *sec = cfg_need(b->c, "run");
  if (sec == NULL) return err_set(b->err, LOOM_E_NOMEM, "no memory for [run]");
  LOOM_TRY(cfg_bind(b->err, sec, params, count, &w));
  b->detail = w.detail;
  if (strcmp(w.gravity, "auto") == 0) {
    b->s->gravity[w.up_axis] = -9.81;
    return LOOM_OK;
  }
  int given = 0;
  loom_status s = words_reals(b->err, w.gravity, "m/s^2", 3, b->s->gravity, &given);
  if (s == LOOM_OK && given != 3)
    s = err_set(b->err, LOOM_E_CONFIG, "\"%s\": three numbers (m/s^2) or auto needed", w.gravity);
  for (int c = 0; c < 3 && s == LOOM_OK; ++c)
    if (!(fabs(b->s->gravity[c]) <= SCENE_REACH))
      s = err_set(b->err, LOOM_E_CONFIG, "\"%s\" is out of range; allowed: up to %g m/s^2",
                  w.gravity, SCENE_REACH);
  return s == LOOM_OK ? LOOM_OK : build_place(b, sec, "gravity", s);
}

static loom_status name_objects(builder *b)
{
  char **names;
  LOOM_TRY(mesh_alloc(b->err, b->num_objects, sizeof *names, &names));
  b->s->pub.object_names = (const char *const *)names;
  for (int k = 0; k < b->num_objects; ++k) {
    LOOM_TRY(build_copy(b, b->objects[k].name, &names[k]));
    b->s->pub.num_objects = k + 1;
  }
  return LOOM_OK;
}

/* A half of density times length, a third of density times area, a quarter of density times
 * volume, to every corner. */
static void lump_mass(const object *o, double *mass)
{
  const double *x = o->m.x;
  if (o->kind == OBJECT_YARN) {
    for (int64_t e = 0; e < o->tp.num_edges; ++e) {
      const int32_t *v = o->tp.edges + 2 * e;
      const double length = build_yarn_length(o, e);
      for (int a = 0; a < 2; ++a) mass[v[a]] += o->common->density * length / 2;
    }
    return;
  }
  if (o->weights != NULL) {
    for (int a = 0; a < AFFINE_NODES; ++a) mass[a] = o->mass / AFFINE_NODES;
    return;
  }
  if (o->kind == OBJECT_SOLID) {
    for (int64_t t = 0; t < o->m.num_tets; ++t) {
      const int32_t *v = o->m.tets + 4 * t;
      double e[3][3];
      for (int a = 0; a < 3; ++a)
        for (int c = 0; c < 3; ++c)
          e[a][c] = x[3 * (int64_t)v[a + 1] + c] - x[3 * (int64_t)v[0] + c];
      const double six = e[0][0] * (e[1][1] * e[2][2] - e[1][2] * e[2][1]) -
                         e[0][1] * (e[1][0] * e[2][2] - e[1][2] * e[2][0]) +
                         e[0][2] * (e[1][0] * e[2][1] - e[1][1] * e[2][0]);
      for (int a = 0; a < 4; ++a) mass[v[a]] += o->common->density * fabs(six) / 24;
    }
    return;
  }
  for (int64_t t = 0; t < o->m.num_tris; ++t) {
    const int32_t *v = o->m.tris + 3 * t;
    const double area = build_rest_area(o, t);
    for (int a = 0; a < 3; ++a) mass[v[a]] += build_density(o, t) * area / 3;
  }
}

static loom_status fill_mass(builder *b)
{
  double *mass;
  loom_real *out;
  for (int k = 0; k < b->num_objects; ++k) {
    const object *o = &b->objects[k];
    LOOM_TRY(mesh_alloc(b->err, o->m.num_verts, sizeof *mass, &mass));
    lump_mass(o, mass);
    const int32_t heavy = o->weights != NULL ? AFFINE_NODES : o->m.num_verts;
    for (int32_t i = 0; i < heavy; ++i)
      if (!((loom_real)mass[i] > 0) || !isfinite((loom_real)mass[i]))
        doctor_add(&b->doc, DOCTOR_MASS, (const int32_t[4]){i, -1, -1, -1},
                   "%s: vertex %d has the mass %g kg; check density and the mesh's size", o->label,
                   i, mass[i]);
    const loom_status s =
        buf_map(b->s->m, NULL, b->s->pub.mass, LOOM_RDWR, LOOM_AT_HOST, (void **)&out);
    if (s != LOOM_OK) {
      free(mass);
      *b->err = *mem_err(b->s->m);
      return s;
    }
    for (int32_t i = 0; i < o->m.num_verts; ++i) out[o->first_vert + i] = (loom_real)mass[i];
    free(mass);
    LOOM_TRY(buf_unmap(b->s->m, b->s->pub.mass));
  }
  return doctor_verdict(b->err, &b->doc);
}

typedef struct vert_arrays {
  loom_real *x0, *v0, *damping, *radius;
  int32_t *object;
} vert_arrays;

static void fill_object_verts(const object *o, int index, const vert_arrays *a)
{
  for (int64_t i = 0; i < o->m.num_verts; ++i) {
    const int64_t g = o->first_vert + i;
    double x[3], v[3] = {0, 0, 0};
    pose_apply(o->place, o->m.x + 3 * i, x);
    if (o->velocity != NULL) pose_rotate(o->place, o->velocity + 3 * i, v);
    for (int c = 0; c < 3; ++c) {
      a->x0[3 * g + c] = (loom_real)x[c];
      /* pinned vertices get theirs from the motion of the pin */
      a->v0[3 * g + c] =
          (loom_real)((o->pinned[i] & PIN_AT_START) ? 0 : o->common->velocity[c] + v[c]);
    }
    a->damping[g] = (loom_real)o->common->damping;
    a->radius[g] = (loom_real)(0.5 * o->common->thickness);
    a->object[g] = index;
  }
}

/* s->rayleigh, where an object has some. */
static loom_status build_rayleigh(builder *b)
{
  scene_data *const s = b->s;
  loom_real *out;
  int any = 0;
  for (int k = 0; k < b->num_objects; ++k) any |= b->objects[k].common->stiffness_damping > 0.0;
  if (!any) return LOOM_OK;
  LOOM_TRY(build_new(b, "stiffness damping", LOOM_REAL, s->pub.num_verts, &s->rayleigh));
  LOOM_TRY(build_map(b, s->rayleigh, &out));
  for (int k = 0; k < b->num_objects; ++k) {
    const object *const o = &b->objects[k];
    for (int64_t i = 0; i < o->m.num_verts; ++i)
      out[o->first_vert + i] = (loom_real)o->common->stiffness_damping;
  }
  return buf_unmap(s->m, s->rayleigh);
}

/* Where vertices are at rest, in *x [num_verts][3]; 0: where they start, *x is not of use. */
static loom_status places_at_rest(builder *b, const object *o, double **x, int *other)
{
  LOOM_TRY(mesh_alloc(b->err, 3 * (int64_t)o->m.num_verts, sizeof **x, x));
  *other = build_rest_places(o, *x);
  return LOOM_OK;
}

/* rest_x is x0 itself where no object has other places at rest. */
static loom_status build_rest_positions(builder *b)
{
  scene_data *const s = b->s;
  loom_real *out;
  double *x;
  int other = 0;
  for (int k = 0; k < b->num_objects && !other; ++k) {
    LOOM_TRY(places_at_rest(b, &b->objects[k], &x, &other));
    free(x);
  }
  if (!other) {
    s->pub.rest_x = s->x0;
    return LOOM_OK;
  }
  LOOM_TRY(build_new(b, "rest_x", LOOM_REAL, buf_count(s->x0), &s->pub.rest_x));
  LOOM_TRY(build_map(b, s->pub.rest_x, &out));
  for (int k = 0; k < b->num_objects; ++k) {
    const object *const o = &b->objects[k];
    LOOM_TRY(places_at_rest(b, o, &x, &other));
    for (int64_t i = 0; i < o->m.num_verts; ++i) {
      double at[3];
      pose_apply(o->place, (other ? x : o->m.x) + 3 * i, at);
      for (int c = 0; c < 3; ++c) out[3 * (o->first_vert + i) + c] = (loom_real)at[c];
    }
    free(x);
  }
  return buf_unmap(s->m, s->pub.rest_x);
}

static loom_status build_vertices(builder *b)
{
  scene_data *s = b->s;
  const object *last = &b->objects[b->num_objects - 1];
  const int64_t n = last->first_vert + (int64_t)last->m.num_verts;
  s->pub.num_verts = (int32_t)n;
  LOOM_TRY(build_new(b, "x0", LOOM_REAL, 3 * n, &s->x0));
  LOOM_TRY(build_new(b, "v0", LOOM_REAL, 3 * n, &s->v0));
  LOOM_TRY(build_new(b, "damping", LOOM_REAL, n, &s->damping));
  LOOM_TRY(build_new(b, "mass", LOOM_REAL, n, &s->pub.mass));
  LOOM_TRY(build_new(b, "fixed", LOOM_U8, n, &s->pub.fixed));
  LOOM_TRY(build_new(b, "radius", LOOM_REAL, n, &s->pub.radius));
  LOOM_TRY(build_new(b, "object", LOOM_I32, n, &s->pub.object));
  s->pub.layer = s->pub.object; /* a layer is an object */
  LOOM_TRY(build_pins(b));
  LOOM_TRY(fill_mass(b));
  vert_arrays a;
  LOOM_TRY(build_map(b, s->x0, &a.x0));
  LOOM_TRY(build_map(b, s->v0, &a.v0));
  LOOM_TRY(build_map(b, s->damping, &a.damping));
  LOOM_TRY(build_map(b, s->pub.radius, &a.radius));
  LOOM_TRY(build_map(b, s->pub.object, &a.object));
  for (int k = 0; k < b->num_objects; ++k) fill_object_verts(&b->objects[k], k, &a);
  loom_buf *const mapped[5] = {s->x0, s->v0, s->damping, s->pub.radius, s->pub.object};
  for (int k = 0; k < 5; ++k) LOOM_TRY(buf_unmap(s->m, mapped[k]));
  LOOM_TRY(build_rayleigh(b));
  LOOM_TRY(build_rest_positions(b));
  return build_followers(b);
}

/* `count` rows of vertex ids, moved up by the object's first vertex. */
static int32_t *append_ids(int32_t *to, const int32_t *from, int64_t count, int32_t first)
{
  for (int64_t k = 0; k < count; ++k) to[k] = from[k] + first;
  return to + count;
}

static loom_status build_topology(builder *b)
{
  scene_data *s = b->s;
  int64_t edges = 0, tris = 0, tets = 0;
  int32_t *e, *t, *q;
  for (int k = 0; k < b->num_objects; ++k) {
    edges += b->objects[k].tp.num_edges;
    tris += b->objects[k].m.num_tris;
    tets += b->objects[k].m.num_tets;
  }
  s->pub.num_edges = (int32_t)edges;
  s->pub.num_tris = (int32_t)tris;
  s->pub.num_tets = (int32_t)tets;
  LOOM_TRY(build_new(b, "edges", LOOM_I32, 2 * edges, &s->pub.edges));
  LOOM_TRY(build_new(b, "tris", LOOM_I32, 3 * tris, &s->pub.tris));
  LOOM_TRY(build_new(b, "tets", LOOM_I32, 4 * tets, &s->pub.tets));
  LOOM_TRY(build_map(b, s->pub.edges, &e));
  LOOM_TRY(build_map(b, s->pub.tris, &t));
  LOOM_TRY(build_map(b, s->pub.tets, &q));
  for (int k = 0; k < b->num_objects; ++k) {
    const object *o = &b->objects[k];
    e = append_ids(e, o->tp.edges, 2 * o->tp.num_edges, o->first_vert);
    t = append_ids(t, o->m.tris, 3 * (int64_t)o->m.num_tris, o->first_vert);
    q = append_ids(q, o->m.tets, 4 * (int64_t)o->m.num_tets, o->first_vert);
  }
  LOOM_TRY(buf_unmap(s->m, s->pub.edges));
  LOOM_TRY(buf_unmap(s->m, s->pub.tris));
  return buf_unmap(s->m, s->pub.tets);
}

static loom_status build_scene_parts(builder *b, int check)
{
  LOOM_TRY(build_world(b));
  LOOM_TRY(build_dress(b));
  LOOM_TRY(build_objects(b));
  LOOM_TRY(name_objects(b));
  LOOM_TRY(build_vertices(b));
  LOOM_TRY(scene_check_thickness(b->err, b->s));
  LOOM_TRY(build_list_objects(b));
  LOOM_TRY(build_topology(b));
  LOOM_TRY(build_wind(b));
  LOOM_TRY(build_pressure(b));
  LOOM_TRY(build_yarns(b));
  LOOM_TRY(build_growing(b));
  LOOM_TRY(build_attachments(b));
  LOOM_TRY(build_blocks(b));
  LOOM_TRY(build_twisting(b));
  LOOM_TRY(build_material(b));
  LOOM_TRY(build_obstacles(b));
  LOOM_TRY(build_friction(b));
  LOOM_TRY(build_body_mesh(b));
  LOOM_TRY(build_follow(b));
  LOOM_TRY(build_seams(b));
  LOOM_TRY(scene_pose(b->s, 0, 0));
  LOOM_TRY(build_balls(b));
  if (check == SCENE_UNCHECKED) return build_ignored(b);
  LOOM_TRY(build_check_yarns(b));
  if (check == SCENE_REFUSE || check == SCENE_LIST) LOOM_TRY(build_meeting(b));
  LOOM_TRY(build_check_intersections(b, check));
  return build_ignored(b);
}

loom_status scene_build(loom_err *err, mem *m, cfg *c, int check, scene_data **out)
{
  return scene_build_within(err, m, c, check, NULL, out);
}

loom_status scene_build_within(loom_err *err, mem *m, cfg *c, int check, const scene_room *room,
                               scene_data **out)
{
  scene_data *s;
  *out = NULL;
  LOOM_TRY(mesh_alloc(err, 1, sizeof *s, &s));
  builder b = {.err = err, .c = c, .s = s, .room = room};
  s->m = m;
  s->pub.struct_size = sizeof s->pub;
  loom_status st = mesh_alloc(err, 1, sizeof *s->motion, &s->motion);
  if (st == LOOM_OK) st = build_scene_parts(&b, check);
  for (int k = 0; k < b.num_objects; ++k) build_free_object(&b.objects[k]);
  free(b.objects);
  free(b.ties);
  if (st != LOOM_OK) {
    /* a mistaken unit is often the reason why objects intersect */
    if (s->warnings != NULL) err_append(err, "%.*s", (int)strcspn(s->warnings, "\n"), s->warnings);
    mem_release_maps(m);
    scene_free(s);
    return st;
  }
  *out = s;
  return LOOM_OK;
}

static void free_motion(scene_motion *sm, int num_obstacles)
{
  for (int32_t g = 0; g < sm->num_groups; ++g) {
    motion_free(&sm->groups[g].move);
    follow_free(sm->groups[g].follow);
    free(sm->groups[g].verts);
    free(sm->groups[g].x);
    free(sm->groups[g].at);
  }
  for (int k = 0; k < num_obstacles; ++k) {
    motion_free(&sm->bodies[k].move);
    sequence_free(sm->bodies[k].sequence);
    bend_field_close(sm->bodies[k].field); /* looks at the rig */
    rigged_free(sm->bodies[k].rigged);
  }
  free(sm->groups);
  free(sm->bodies);
  free(sm);
}

void scene_free(scene_data *s)
{
  if (s == NULL) return;
  /* some arrays may be the same ones */
  if (s->x0 != s->pub.rest_x) buf_free(s->m, s->x0);
  if (s->pub.layer != s->pub.object) buf_free(s->m, s->pub.layer);
  for (int k = 0; k < s->pub.num_blocks; ++k) {
    if (s->blocks[k].verts != s->pub.tris) buf_free(s->m, s->blocks[k].verts);
    if (k == 0 || s->blocks[k].rest != s->blocks[k - 1].rest) buf_free(s->m, s->blocks[k].rest);
    buf_free(s->m, s->blocks[k].mat);
  }
  loom_buf *const own[10] = {s->v0,        s->damping,   s->rayleigh,   s->pub.rest_x,
                             s->pub.mass,  s->pub.fixed, s->pub.radius, s->pub.object,
                             s->pub.edges, s->pub.tris};
  for (int k = 0; k < 10; ++k) buf_free(s->m, own[k]);
  buf_free(s->m, s->pub.tets);
  build_free_yarns(s);
  for (int k = 0; k < s->pub.num_obstacles; ++k) {
    buf_free(s->m, s->obstacles[k].sdf);
    buf_free(s->m, s->obstacles[k].verts);
    buf_free(s->m, s->obstacles[k].tris);
    free((void *)(uintptr_t)s->obstacles[k].name);
  }
  buf_free(s->m, s->pub.body_friction);
  rigid_free(s->balls);
  free(s->grids);
  body_mesh_free(s);
  if (s->motion != NULL) free_motion(s->motion, s->pub.num_obstacles);
  for (int k = 0; k < s->pub.num_objects; ++k) free((void *)(uintptr_t)s->pub.object_names[k]);
  free((void *)(uintptr_t)s->pub.object_names);
  scene_left_out_free(s);
  scene_followers_free(s);
  scene_sewing_free(s);
  twisting_free(s);
  scene_growing_free(s);
  wind_free(s->wind);
  pressure_free(s->pressure);
  friction_free(s);
  ignored_free(s);
  free(s->extensions);
  free((void *)(uintptr_t)s->pub.elements);
  build_free_material(s);
  free(s->obstacles);
  free(s->blocks);
  free(s->notes);
  free(s->warnings);
  free(s->inventory);
  free(s->start_lines);
  free(s);
}
