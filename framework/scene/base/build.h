/* build.h - types and functions that the files which build a scene share; none of them outlives
 * scene_build. */
#ifndef LOOM_SCENE_BUILD_H
#define LOOM_SCENE_BUILD_H

#include "mesh/doctor.h"
#include "mesh/mesh.h"
#include "mesh/stitches.h"
#include "mesh/topo.h"
#include "scene/base/scene_data.h"
#include "scene/base/settings.h"
#include "yarn/yarn.h"

enum { OBJECT_CLOTH, OBJECT_SOLID, OBJECT_YARN, OBJECT_KINDS }; /* objects stand in this order */

enum { /* bits of object.pinned: some pin holds the vertex at some time, at the start, always */
       PIN_EVER = 1,
       PIN_AT_START = 2,
       PIN_ALWAYS = 4
};

/* A [region.NAME]: triangles of one cloth with a material of their own. */
typedef struct region {
  const cfg_section *sec;
  const char *name; /* owned by the cfg */
  region_settings set;
  elem_settings *elem; /* [elem_count()] settings of types */
  int64_t num_tris;
} region;

typedef struct object {
  const cfg_section *sec;
  const char *name; /* of [cloth.NAME], owned by the cfg */
  char label[600];  /* the file, or the section in brackets: begins the doctor's lines */
  int kind;         /* OBJECT_* */
  cloth_settings cloth;
  solid_settings solid;
  yarn_settings yarn;
  const object_settings *common; /* of one of these */
  uint64_t model;                /* bit i: has elements of type elem_at(i) */
  elem_settings *elem;           /* [elem_count()] settings of types */
  mesh m;                        /* scaled, but where the file or generator has it */
  double place[12];              /* rigid map into the scene */
  topo tp;                       /* edges of m.tris; of yarns: segments, in no triangle */
  yarn_set yarns;                /* which vertices are one yarn */
  mesh_stitch *stitches;         /* [num_stitches] ids of the object's own */
  int64_t num_stitches;
  int64_t inner_edges; /* edges with two triangles */
  int rest_uv;         /* rest shapes are made of m.uv, else of m.rest, else of m.x */
  int32_t *merged;     /* [num_named] id in m of each vertex of the file; NULL: the same ids */
  int32_t num_named;
  unsigned char *pinned; /* [num_verts], PIN_* */
  double *velocity;      /* [num_verts][3], m/s, not turned, from a file; NULL: none */
  /* yarns: rest positions, as m.x; from files: lengths of segments (m), curvatures and twist
   * [joints][5] (1, rad), directors of segments [.][3]; NULL: computed from m.x */
  double *rest_x, *seg_rest, *curvature, *directors;
  /* model = affine: m has 4 control points, one tetrahedron of them, and the surface; weights
   * [num_verts][4] of the control points; its mass in kg.  NULL: another model */
  double *weights;
  double mass;
  int32_t first_vert, first_tri;
  region *regions; /* [num_regions] */
  int32_t num_regions;
  int32_t *tri_region; /* [m.num_tris] number of its region, -1: none; NULL: no regions */
} object;

enum { AFFINE_NODES = 4 /* the first vertices of the object */ };

typedef struct attachment { /* one element `tie` */
  int32_t from;             /* the object of the first vertex */
  int32_t verts[5];         /* ids of the scene */
  double mat[6];
} attachment;

typedef struct builder {
  loom_err *err;
  cfg *c;
  scene_data *s;
  int64_t detail; /* factor on the cells of generated meshes */
  int num_objects;
  object *objects;
  doctor doc;
  attachment *ties; /* [num_ties], sections in order */
  int64_t num_ties;
  const cfg_section *listed; /* the body that build_list_body() had last: copies are listed once */
  const scene_room *room;    /* NULL: any */
  scene_counts counts;       /* so far */
} builder;

/* ---- build.c ---- */
/* Appends a line for the user to s->notes. */
loom_status build_note(builder *b, const char *fmt, ...) LOOM_PRINTF(2, 3);
/* The same to s->warnings and to s->inventory. */
loom_status build_warn(builder *b, const char *fmt, ...) LOOM_PRINTF(2, 3);
loom_status build_list(builder *b, const char *fmt, ...) LOOM_PRINTF(2, 3);
loom_status build_copy(builder *b, const char *text, char **out);
/* Puts the key's place in front of the message in b->err and returns `s`. */
loom_status build_place(const builder *b, const cfg_section *sec, const char *key, loom_status s);
/* Before memory is taken for `more`: an error at the key if all so far does not fit. */
loom_status build_check_room(builder *b, const cfg_section *sec, const char *key,
                             const scene_counts *more);
/* Map a buffer on the host for writing all of it; never called in an order that can fail
 * but for lack of memory. */
loom_status build_map(builder *b, loom_buf *buf, void *p);
loom_status build_new(builder *b, const char *name, int type, int64_t count, loom_buf **out);
/* Plugins find `table` under the name from now on; the caller keeps both. */
loom_status build_extend(builder *b, const char *name, const void *table);

/* object.c: read every [cloth.*], [solid.*] and [yarn.*], place it, let the doctor look at it. */
loom_status build_objects(builder *b);
void build_free_object(object *o);
/* regions.c: [region.*], after the objects; the settings of type `type` and the density (kg/m^2) of
 * triangle t are those of its region, if it has one. */
loom_status build_regions(builder *b);
/* region_material.c */
const void *build_region_settings(const object *o, int type, int64_t t);
double build_density(const object *o, int64_t t);
/* Material mat [ELEM_MAX_MAT] of element k of a type at a place (ELEM_*) of the object: of its
 * triangle; of an edge of two triangles the mean of both.  0: there is no element. */
int build_elem_material(const object *o, int type, uint32_t place, int64_t k, double *mat);

/* read_mesh.c: the cloth or solid is the mesh of a file. */
int build_is_of_file(const object *o);
/* *out is an OBJ file, or with is_ply a PLY file; the caller frees it. */
loom_status build_read_mesh(loom_err *err, const char *path, int is_ply, mesh *out);
/* *out is an OBJ, PLY or legacy VTK file by its suffix, or a surface of another format
 * (rig/surface.h); notes on it with `label`, of polygons alone if there are concave ones. */
loom_status build_read_any(builder *b, const char *path, mesh *out);
/* o->m of a solid from its file of tetrahedra (mesh/tet_file.h), with notes. */
loom_status build_read_solid(builder *b, object *o);
/* fill.c: o->m of a solid from a closed surface, filled with tetrahedra. */
loom_status build_fill_solid(builder *b, object *o);
/* blob.c: o->m of a solid from the union of round parts. */
loom_status build_blob(builder *b, object *o);
/* affine.c: the object has model = affine; its mesh becomes that of an affine body. */
int build_is_affine(const object *o);
loom_status build_affine(builder *b, object *o);
/* followers.c: the surfaces of affine bodies follow their control points; after pins and masses. */
loom_status build_followers(builder *b);
/* Notes on what the reader did with the file `label`: polygons that were cut, statements that were
 * passed over. */
loom_status build_note_file(builder *b, const char *label, const mesh *m);

/* 1: all ids of triangles are in range. */
int build_has_valid_ids(const mesh *m);
/* Leaves triangles of the kinds `which` (mesh/clean.h) out, with a note if there are
 * any. */
loom_status build_clean(builder *b, const char *label, int which, mesh *m);

/* inventory.c: lines on sizes, masses and rest shapes of all objects, when they have their masses,
 * and on the mesh of a body (`file` "": of no file); warnings where they look mistaken. */
loom_status build_list_objects(builder *b);
loom_status build_list_body(builder *b, const char *name, const char *file, const mesh *m);

/* bind.c: the keys of an object's section, into `own` and o->elem, and which element types it
 * has. */
loom_status build_bind(builder *b, object *o, const char *section, void *own);
/* The keys of a region of object o, into r->set and r->elem; keys of materials that it lacks are
 * those of the object. */
loom_status build_bind_region(builder *b, const object *o, region *r);
/* model.c: o->model by the key `model` in `own`; an object of a section without the key has all
 * types. */
loom_status build_choose_types(builder *b, object *o, const char *section, const void *own);
/* Types that `text` [len] names, joined by +, as bits; 0 if a word is unknown, missing or there
 * twice. */
uint64_t build_model_types(const char *section, const char *text, size_t len);
int build_has(const object *o, int type); /* has it elements of type elem_at(type)? */
const void *build_elem_settings(const object *o, int type);
/* "model = stvk+isometric or stvk+shell": the values of `model` that have elements of the type */
void build_model_takes(int type, char *text, size_t len);

/* effects.c: refuses keys of a section (kind `section`, bound to `settings`) that have no effect
 * with the chosen values; keys of materials, and of files whose choice was changed from outside,
 * are left out with a note. */
loom_status build_check_effects(builder *b, const cfg_section *sec, const char *section,
                                void *settings);
/* The same for keys of an element type that the object has not; *dropped becomes 1 if one was left
 * out, and is to be bound again. */
loom_status build_check_elem_effects(builder *b, const object *o, const scene_table *t,
                                     int *dropped);
/* The same for keys of kinds of bodies that the kind number `shape` has not. */
loom_status build_check_kind_effects(builder *b, const cfg_section *sec, int shape);

/* rest.c: the rest shape of cloth, and where it starts apart from that; before m.x is scaled by
 * `scale`. */
loom_status build_rest(builder *b, object *o, double scale);
/* The rest positions X [arity][3] (m) of element number k at a place (ELEM_*) of the object: of the
 * triangle, edge or inner edge k; `verts` are its vertices. */
void build_rest_element(const object *o, uint32_t place, int64_t k, const int32_t *verts, int arity,
                        double *X);
/* patches.c: vertices [nt][12] and rest data [nt][rest_len] of the patches of all triangles. */
loom_status build_patches(builder *b, const object *o, int type, int32_t *verts, loom_real *rest);
double build_rest_area(const object *o, int64_t t); /* m^2, of triangle t */
/* 1: x [num_verts][3] (m, not placed) is the rest shape vertex by vertex; 0: not so. */
int build_rest_places(const object *o, double *x);
/* A mesh of the file that begins with the vertices and triangles of o->m, or (exact) is of them. */
loom_status build_read_same(const builder *b, const object *o, const char *key, const char *path,
                            int exact, mesh *out);
/* state_files.c: o->velocity from its file, before vertices are merged, and after. */
loom_status build_velocities(builder *b, object *o, double scale);
loom_status build_merge_velocities(builder *b, object *o);
/* Files of a yarn: where it starts in m.x, rest lengths, curvatures, directors; then to scale. */
loom_status build_yarn_state(builder *b, object *o);
void build_scale_yarn(object *o, double scale);
/* At rest: points [num_verts][3] (m, not placed), distance of two, length of segment e (m). */
const double *build_yarn_rest(const object *o);
double build_yarn_distance(const object *o, int64_t i, int64_t j);
double build_yarn_length(const object *o, int64_t e);
/* pattern.c: shape = pattern, with the stitches of its seams. */
loom_status build_pattern(builder *b, object *o);
/* imperfection.c: moves the vertices of cloth by its keys `imperfection`. */
loom_status build_imperfection(builder *b, object *o);
/* merging.c: merges vertices by the keys `repair` and `sewing`. */
loom_status build_merge(builder *b, object *o);
/* material.c: the extension LOOM_MATERIAL of scenes that have any. */
loom_status build_material(builder *b);
void build_free_material(scene_data *s);

/* build_yarn.c: vertices and segments of one yarn object; yarns of the scene; yarns that
 * interpenetrate at the start. */
loom_status build_yarn_object(builder *b, object *o);
loom_status build_yarns(builder *b);
loom_status build_check_yarns(builder *b);
typedef struct yarn_meeting { /* two places that are nearest for their radii */
  yarn_near near;             /* radii that grow count with `share` */
  double growing, whole;      /* m, parts of that sum with a share of 1: radii that grow, others */
} yarn_meeting;
/* At the start, with yarns that have radius_time at `share` of their radius. */
loom_status build_meet_yarns(builder *b, double share, yarn_meeting *out);
void build_free_yarns(scene_data *s);
/* pins.c: pin groups of the objects and of [pin.*], and the rows of `fixed`. */
loom_status build_pins(builder *b);
/* Marks [num_verts] 1 for every vertex that `text` names, as the key `where` of pins. */
loom_status build_select_verts(builder *b, const object *o, const char *text, unsigned char *mark);
/* attach.c: b->ties of the sections [attach.*], after the objects have their numbers. */
loom_status build_attachments(builder *b);
/* grow_yarns.c: radii that grow, after the yarns. */
loom_status build_growing(builder *b);
/* twisting.c: the sections [twist.*], after the blocks. */
loom_status build_twisting(builder *b);
/* dress.c: the section [dress], after gravity. */
loom_status build_dress(builder *b);
/* wind.c: the section [wind], after the objects. */
loom_status build_wind(builder *b);
/* pressure.c: the sections [pressure.*], after the objects. */
loom_status build_pressure(builder *b);
/* friction.c: the sections [friction.*], after the bodies. */
loom_status build_friction(builder *b);
/* follow.c: pins with the key body find their places on it, after the bodies. */
loom_status build_follow(builder *b);
/* blocks.c: element blocks, merged over the objects. */
loom_status build_blocks(builder *b);
/* sewing.c: stitches of an object that are to be pulled; the element block of all; after the
 * bodies, which pairs they leave out. */
loom_status build_read_stitches(builder *b, object *o);
/* After vertices were merged. */
void build_renumber_stitches(object *o);
loom_status build_sewing(builder *b, int block);
loom_status build_seams(builder *b);
/* meeting.c: pairs of vertices of pieces that meet; before intersections are treated, which
 * SCENE_EXCLUDE and SCENE_UNTANGLE do by themselves. */
loom_status build_meeting(builder *b);
/* start_check.c: treats intersections at the start as SCENE_* says; called when all is built. */
loom_status build_check_intersections(builder *b, int check);
/* obstacle.c: [body.*]. */
loom_status build_obstacles(builder *b);
/* rigged.c: shape = rig of the newest body; *m gets its skin in the rest pose. */
loom_status build_rigged(builder *b, const cfg_section *sec, const body_settings *s, mesh *m);
/* Gives the body that was built last, which has its rig, the distance of the key `distance`. */
loom_status build_field(builder *b, const cfg_section *sec, const body_settings *s,
                        loom_obstacle *o);
/* balls.c: bodies with a mass, after the poses. */
loom_status build_balls(builder *b);
/* ignored.c: the sections [ignore.*], after intersections at the start were treated. */
loom_status build_ignored(builder *b);
/* body_mesh.c: body_* of loom_scene, after the obstacles. */
loom_status build_body_mesh(builder *b);

#endif
