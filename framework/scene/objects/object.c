/* object.c - cloth, solids and yarns: from their sections to placed meshes. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config/words.h"
#include "geom/pose.h"
#include "mesh/clean.h"
#include "mesh/placement.h"
#include "mesh/tet_file.h"
#include "scene/base/build.h"

void build_free_object(object *o)
{
  mesh_free(&o->m);
  topo_free(&o->tp);
  yarn_free(&o->yarns);
  free(o->merged);
  free(o->pinned);
  free(o->elem);
  free(o->stitches);
  free(o->velocity);
  free(o->rest_x);
  free(o->seg_rest);
  free(o->curvature);
  free(o->directors);
  free(o->weights);
  for (int32_t k = 0; k < o->num_regions; ++k) free(o->regions[k].elem);
  free(o->regions);
  free(o->tri_region);
}

/* ---- meshes ---- */

/* One or two numbers of `size` and `resolution`, or the shape's own defaults. */
static loom_status sheet_numbers(builder *b, const object *o, const double size_def[2],
                                 const int64_t res_def[2], int one_only, double size[2],
                                 int64_t res[2])
{
  const object_settings *s = o->common;
  const int max = one_only ? 1 : 2;
  int num_size = 0, num_res = 0;
  if (s->size[0] != '\0') {
    loom_status st = words_reals(b->err, s->size, "m", max, size, &num_size);
    for (int k = 0; st == LOOM_OK && k < num_size; ++k)
      if (!(size[k] > 0)) st = err_set(b->err, LOOM_E_CONFIG, "%g m: must be above 0", size[k]);
    if (st != LOOM_OK) return build_place(b, o->sec, "size", st);
  }
  if (s->resolution[0] != '\0') {
    const loom_status st = words_ints(b->err, s->resolution, max, res, &num_res);
    if (st != LOOM_OK) return build_place(b, o->sec, "resolution", st);
  }
  for (int k = 0; k < 2; ++k) {
    if (k >= num_size) size[k] = num_size > 0 ? size[0] : size_def[k];
    if (k >= num_res) res[k] = num_res > 0 ? res[0] : res_def[k];
  }
  return LOOM_OK;
}

/* Nodes of `cells` times `detail`; of counts that are cells themselves (rings, vertices around
 * a tube) closed is 1. */
static int64_t refine_node_count(const builder *b, int64_t count, int closed)
{
  if (count < 1 || count > INT32_MAX) return count; /* the generator tells */
  return closed ? count * b->detail : (count - 1) * b->detail + 1;
}

static loom_status generate_sheet(builder *b, object *o)
{
  static const double sizes[][2] = {[CLOTH_GRID] = {1, 1},
                                    [CLOTH_DISK] = {1, 1},
                                    [CLOTH_STRIP] = {1, 0.25},
                                    [CLOTH_CYLINDER] = {0.2, 0.5}};
  static const int64_t counts[][2] = {[CLOTH_GRID] = {21, 21},
                                      [CLOTH_DISK] = {10, 10},
                                      [CLOTH_STRIP] = {41, 11},
                                      [CLOTH_CYLINDER] = {32, 26}};
  const cloth_settings *s = &o->cloth;
  double size[2] = {0};
  int64_t n[2] = {0};
  LOOM_TRY(sheet_numbers(b, o, sizes[s->shape], counts[s->shape], s->shape == CLOTH_DISK, size, n));
  n[0] = refine_node_count(b, n[0], s->shape == CLOTH_DISK || s->shape == CLOTH_CYLINDER);
  n[1] = refine_node_count(b, n[1], 0);
  const double along = (double)n[0], rows = s->shape == CLOTH_DISK ? 3 * (along + 1) : (double)n[1];
  LOOM_TRY(build_check_room(b, o->sec, "resolution", &(scene_counts){.verts = along * rows}));
  loom_status st;
  if (s->shape == CLOTH_DISK)
    st = mesh_disk(b->err, size[0], n[0], &o->m);
  else if (s->shape == CLOTH_CYLINDER)
    st = mesh_cylinder(b->err, size[0], size[1], n[0], n[1], s->pattern, &o->m);
  else
    st = mesh_grid(b->err, size[0], size[1], n[0], n[1], s->pattern, &o->m);
  return st == LOOM_OK ? LOOM_OK : build_place(b, o->sec, "resolution", st);
}

static loom_status read_sheet(builder *b, object *o)
{
  const char *file = o->cloth.file;
  if (file[0] == '\0')
    return build_place(b, o->sec, "shape",
                       err_set(b->err, LOOM_E_CONFIG, "needs the key file, the mesh to read"));
  const int any = o->cloth.shape == CLOTH_MESH;
  const loom_status st = any ? build_read_any(b, file, &o->m)
                             : build_read_mesh(b->err, file, o->cloth.shape == CLOTH_PLY, &o->m);
  if (st != LOOM_OK) return build_place(b, o->sec, "file", st);
  LOOM_TRY(build_check_room(b, o->sec, "file", &(scene_counts){.verts = o->m.num_verts}));
  snprintf(o->label, sizeof o->label, "%s", file);
  return any ? LOOM_OK : build_note_file(b, o->label, &o->m);
}

static loom_status make_block(builder *b, object *o)
{
  double size[3];
  int64_t n[3];
  int count = 0;
  loom_status st = words_reals(b->err, o->common->size, "m", 3, size, &count);
  if (st == LOOM_OK && (count != 3 || !(size[0] > 0 && size[1] > 0 && size[2] > 0)))
    st = err_set(b->err, LOOM_E_CONFIG, "three lengths above 0 needed");
  if (st != LOOM_OK) return build_place(b, o->sec, "size", st);
  st = words_ints(b->err, o->common->resolution, 3, n, &count);
  if (st == LOOM_OK && count != 3)
    st = err_set(b->err, LOOM_E_CONFIG, "three numbers of vertices needed");
  for (int k = 0; k < 3 && st == LOOM_OK; ++k) n[k] = refine_node_count(b, n[k], 0);
  const double verts = st == LOOM_OK ? (double)n[0] * (double)n[1] * (double)n[2] : 0.0;
  if (verts > 0.0)
    LOOM_TRY(build_check_room(b, o->sec, "resolution", &(scene_counts){.verts = verts}));
  if (st == LOOM_OK) st = mesh_tet_box(b->err, size, n, &o->m);
  return st == LOOM_OK ? LOOM_OK : build_place(b, o->sec, "resolution", st);
}

static loom_status repair_sheet(builder *b, object *o)
{
  int32_t flipped;
  for (int64_t k = 0; k < 3 * (int64_t)o->m.num_tris; ++k)
    if (o->m.tris[k] < 0 || o->m.tris[k] >= o->m.num_verts) return LOOM_OK; /* doctor tells */
  LOOM_TRY(doctor_orient(b->err, &o->m, &flipped));
  if (flipped < 0)
    return build_place(b, o->sec, "repair",
                       err_set(b->err, LOOM_E_CONFIG,
                               "%s: no orientation fits (one-sided like a Moebius strip); cut it",
                               o->label));
  if (flipped > 0) LOOM_TRY(build_note(b, "%s: %d triangles were turned", o->label, flipped));
  return LOOM_OK;
}

/* ---- sections ---- */

static loom_status check_name(const builder *b, const object *o)
{
  if (o->name[0] == '\0')
    return build_place(
        b, o->sec, NULL,
        err_set(b->err, LOOM_E_CONFIG, "needs a name, as [%s.sheet]", cfg_section_name(o->sec)));
  for (const object *k = b->objects; k < o; ++k)
    if (strcmp(k->name, o->name) == 0)
      return build_place(
          b, o->sec, NULL,
          err_set(b->err, LOOM_E_CONFIG,
                  "the name is taken by [%s]; names of cloth, solids and yarns differ",
                  cfg_section_name(k->sec)));
  return LOOM_OK;
}

static const char *const kind_names[OBJECT_KINDS] = {
    [OBJECT_CLOTH] = "cloth", [OBJECT_SOLID] = "solid", [OBJECT_YARN] = "yarn"};

static loom_status bind_object(builder *b, object *o)
{
  void *const into[OBJECT_KINDS] = {&o->cloth, &o->solid, &o->yarn};
  const object_settings *const common[OBJECT_KINDS] = {&o->cloth.common, &o->solid.common,
                                                       &o->yarn.common};
  LOOM_TRY(cfg_apply_material(b->err, b->c, o->sec, NULL));
  LOOM_TRY(build_bind(b, o, kind_names[o->kind], into[o->kind]));
  o->common = common[o->kind];
  snprintf(o->label, sizeof o->label, "[%s]", cfg_section_name(o->sec));
  return check_name(b, o);
}

static loom_status create_solid(builder *b, object *o)
{
  const char *const file = o->solid.file;
  if (o->solid.shape == SOLID_BOX) return make_block(b, o);
  if (o->solid.shape == SOLID_BLOB) return build_blob(b, o);
  if (o->solid.shape == SOLID_SPHERE) return build_fill_solid(b, o);
  if (file[0] == '\0')
    return build_place(b, o->sec, "shape",
                       err_set(b->err, LOOM_E_CONFIG, "needs the key file, the mesh to read"));
  return tet_file_is(file) ? build_read_solid(b, o) : build_fill_solid(b, o);
}

static loom_status create_object_mesh(builder *b, object *o)
{
  if (o->kind == OBJECT_YARN) return build_yarn_object(b, o);
  if (o->kind == OBJECT_SOLID) return create_solid(b, o);
  if (build_is_of_file(o)) return read_sheet(b, o);
  if (o->cloth.shape == CLOTH_PATTERN) return build_pattern(b, o);
  return generate_sheet(b, o);
}

/* Merges and repairs the mesh of cloth or solids, has the doctor examine it, and finds its edges.
 */
static loom_status examine_mesh(builder *b, object *o)
{
  const int solid = o->kind == OBJECT_SOLID;
  const int clean =
      !solid && (o->cloth.repair == REPAIR_CLEAN || o->cloth.repair == REPAIR_MERGE_CLEAN);
  if (clean) LOOM_TRY(build_clean(b, o->label, CLEAN_FLAT | CLEAN_DOUBLED, &o->m));
  if (!solid) LOOM_TRY(build_merge(b, o));
  build_renumber_stitches(o);
  if (clean) LOOM_TRY(build_clean(b, o->label, CLEAN_FLAT | CLEAN_DOUBLED, &o->m));
  if (!solid &&
      (o->cloth.repair == REPAIR_ORIENTATION || o->cloth.repair == REPAIR_MERGE_ORIENTATION))
    LOOM_TRY(repair_sheet(b, o));
  const int pieces = !solid && o->cloth.shape == CLOTH_PATTERN;
  LOOM_TRY(doctor_mesh(b->err, &b->doc, o->label, &o->m,
                       solid    ? DOCTOR_SOLID
                       : pieces ? DOCTOR_PIECES
                                : DOCTOR_CLOTH));
  if (b->doc.total > 0) return LOOM_OK; /* ids may be wild; the verdict comes after all objects */
  LOOM_TRY(topo_build(b->err, o->m.tris, o->m.num_tris, o->m.num_verts, &o->tp));
  for (int64_t e = 0; e < o->tp.num_edges; ++e)
    o->inner_edges += o->tp.first[e + 1] - o->tp.first[e] == 2;
  return LOOM_OK;
}

/* Refuses sizes, placements and files that put a vertex out of reach, before other code uses them.
 * The doctor reports vertices that are not finite. */
static loom_status check_object_reach(const builder *b, const object *o)
{
  for (int32_t i = 0; i < o->m.num_verts; ++i) {
    double p[3];
    pose_apply(o->place, o->m.x + 3 * (ptrdiff_t)i, p);
    for (int c = 0; c < 3; ++c) {
      if (!isfinite(o->m.x[3 * (ptrdiff_t)i + c]) || fabs(p[c]) <= SCENE_REACH) continue;
      return build_place(b, o->sec, NULL,
                         err_set(b->err, LOOM_E_CONFIG,
                                 "vertex %d lies at %.3g %.3g %.3g m, further than %g m from the "
                                 "origin; look at size, transform and the unit of the file",
                                 i, p[0], p[1], p[2], SCENE_REACH));
    }
  }
  return LOOM_OK;
}

static loom_status load_object(builder *b, object *o)
{
  double scale, S[12];
  LOOM_TRY(bind_object(b, o));
  const loom_status st = placement_transform(b->err, o->common->transform, o->place, &scale);
  if (st != LOOM_OK) return build_place(b, o->sec, "transform", st);
  LOOM_TRY(create_object_mesh(b, o));
  if (o->kind == OBJECT_CLOTH) LOOM_TRY(build_rest(b, o, scale));
  LOOM_TRY(build_velocities(b, o, scale));
  LOOM_TRY(build_read_stitches(b, o));
  pose_scale(scale, S);
  mesh_transform(&o->m, S);
  build_scale_yarn(o, scale);
  LOOM_TRY(check_object_reach(b, o));
  if (o->kind != OBJECT_YARN) LOOM_TRY(examine_mesh(b, o));
  if (build_is_affine(o) && b->doc.total == 0) LOOM_TRY(build_affine(b, o));
  LOOM_TRY(build_merge_velocities(b, o));
  /* seams are merged by now: their vertices stay together; meshes with faults are left alone */
  if (o->kind == OBJECT_CLOTH && b->doc.total == 0) LOOM_TRY(build_imperfection(b, o));
  return mesh_alloc(b->err, o->m.num_verts, 1, &o->pinned);
}

static loom_status number_vertices(builder *b)
{
  int64_t verts = 0, tris = 0, tets = 0;
  for (int k = 0; k < b->num_objects; ++k) {
    object *o = &b->objects[k];
    o->first_vert = (int32_t)verts;
    o->first_tri = (int32_t)tris;
    verts += o->m.num_verts;
    tris += o->m.num_tris;
    tets += o->m.num_tets;
    if (verts > INT32_MAX / 3 || tris > INT32_MAX / 6 || tets > INT32_MAX / 6)
      return build_place(b, o->sec, NULL,
                         err_set(b->err, LOOM_E_CONFIG,
                                 "the scene has too many vertices or elements with this object"));
  }
  return LOOM_OK;
}

loom_status build_objects(builder *b)
{
  int count = 0;
  for (int kind = 0; kind < OBJECT_KINDS; ++kind)
    for (const cfg_section *s = NULL; (s = cfg_next(b->c, kind_names[kind], s)) != NULL;) ++count;
  if (count == 0)
    return err_set(b->err, LOOM_E_CONFIG,
                   "%s: no object to simulate; add a section [cloth.NAME], [solid.NAME] or "
                   "[yarn.NAME]",
                   cfg_path(b->c));
  LOOM_TRY(mesh_alloc(b->err, count, sizeof *b->objects, &b->objects));
  for (int kind = 0; kind < OBJECT_KINDS; ++kind)
    for (const cfg_section *s = NULL; (s = cfg_next(b->c, kind_names[kind], s)) != NULL;) {
      object *o = &b->objects[b->num_objects++];
      o->sec = s;
      o->name = cfg_section_suffix(s);
      o->kind = kind;
      LOOM_TRY(load_object(b, o));
    }
  LOOM_TRY(doctor_verdict(b->err, &b->doc));
  LOOM_TRY(build_regions(b));
  return number_vertices(b);
}
