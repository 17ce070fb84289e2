/* scene_data.h - the scene as the core holds it: the plugins' view, plus motion. */
#ifndef LOOM_SCENE_DATA_H
#define LOOM_SCENE_DATA_H

#include "bodies/rigid.h"
#include "config/config.h"
#include "elements/elements.h"
#include "loom/material.h"
#include "mem/mem.h"
#include "scene/base/settings.h"

typedef struct scene_motion scene_motion; /* prescribed motion of bodies and pins */
typedef struct scene_exclusions scene_exclusions;
typedef struct scene_ignored scene_ignored;
typedef struct scene_sewing scene_sewing;
typedef struct scene_twisting scene_twisting;
typedef struct scene_growing scene_growing;
typedef struct scene_wind scene_wind;
typedef struct scene_pressure scene_pressure;
typedef struct scene_friction scene_friction;
typedef struct scene_followers scene_followers;

typedef struct scene_data {
  loom_scene pub; /* the plugins' view */
  mem *m;
  loom_buf *x0;             /* real [n][3], m, initial positions; may be pub.rest_x itself */
  loom_buf *v0;             /* real [n][3], m/s; NULL after a run took it over as its state */
  loom_buf *damping;        /* real [n], 1/s: velocities decay as exp(-damping h) in PREDICT */
  loom_buf *rayleigh;       /* real [n], s, stiffness_damping of the object; NULL: all are zero */
  loom_elem_block *blocks;  /* [pub.num_blocks], owned */
  loom_obstacle *obstacles; /* [pub.num_obstacles], owned */
  scene_motion *motion;
  rigid *balls;               /* bodies that move by themselves; NULL: none */
  const loom_real **grids;    /* [num_obstacles] with balls: room for mapped sdf */
  loom_buf *body0, *body1;    /* real [nb][3], m: body vertices at both ends of the step */
  int bodies_placed;          /* 1: they hold positions */
  loom_material *material;    /* NULL: no cloth has any, and all rest as they start */
  double gravity[3];          /* m/s^2, in the step of the last scene_pose() */
  double whole_gravity[3];    /* m/s^2, of [run] gravity */
  dress_settings dress;       /* zeros without [dress] */
  loom_extension *extensions; /* [pub.num_extensions], owned; tables belong to their makers */
  scene_sewing *sewing;       /* stitches (sewing.h); NULL: none */
  scene_twisting *twisting;   /* [twist.*] (moving/twisting.h); NULL: none */
  scene_growing *growing;     /* radii of yarns (moving/growing.h); NULL: all have their size */
  scene_wind *wind;           /* [wind] (wind.h); NULL: none */
  scene_pressure *pressure;   /* [pressure.*] (pressure.h); NULL: none */
  scene_friction *friction;   /* [friction.*] (friction.h); NULL: none */
  scene_followers *followers; /* vertices that others carry (followers.h); NULL: none */
  scene_ignored *ignored;     /* [ignore.*] (objects/ignored.h), or NULL */
  scene_exclusions *left_out; /* pairs left out (exclusions.h); NULL: there never were any */
  char *notes;     /* lines for the user that are no errors (polygons cut, keys without effect), or
                    * NULL */
  int empty_grids; /* 1: the distances of some body are left out (scene_room) */
  char *warnings;  /* lines on values that are probably mistaken, or NULL */
  char *inventory; /* lines on sizes of objects and bodies, for `loom check`, or NULL */
  int64_t start_total; /* intersections found at the start, with SCENE_LIST and SCENE_EXCLUDE */
  char *start_lines;   /* a line for each of the first SCENE_MAX_LISTED of them, or NULL */
} scene_data;

enum { /* treatment of objects that intersect at the start */
       SCENE_UNCHECKED = 0,
       SCENE_REFUSE = 1,  /* an error that names the first pairs */
       SCENE_LIST = 2,    /* count and list them */
       SCENE_EXCLUDE = 3, /* leave them out until they have parted (starts.h), with a note */
       SCENE_UNTANGLE = 4 /* move them apart, with a note; remaining intersections are an error */
};
/* The search ends when about so many are found: copies of one cloth have millions. */
enum { SCENE_MAX_LISTED = 100000, SCENE_MAX_COUNTED = 10000 };

/* Objects are numbered cloth first, then solids, then yarns, each in the order of the file.
 * Build from the sections [cloth.*], [solid.*], [yarn.*], [pin.*], [body.*] and the gravity and
 * up_axis keys of [run] (see scene_params).  Runs the input doctor: NaN, degenerate,
 * duplicate, non-manifold and, with SCENE_REFUSE, initially intersecting elements are errors
 * that name file and ids. */
loom_status scene_build(loom_err *err, mem *m, cfg *c, int check, scene_data **out);

/* Sizes of the scene as far as it has been read: known before memory for it is taken. */
typedef struct scene_counts {
  double verts;      /* of cloth, solids and yarns */
  double yarn_verts; /* of yarns */
  double cells;      /* of distance grids */
} scene_counts;
typedef struct scene_room {
  loom_status (*check)(void *user, loom_err *err, const scene_counts *so_far);
  void *user;
  int look_only;     /* 1: there will be no run, so distance grids of meshes stay empty ... */
  double most_cells; /* ... if they have more nodes than these */
} scene_room;
/* The same, and room->check, unless it is NULL, may refuse it with each object. */
loom_status scene_build_within(loom_err *err, mem *m, cfg *c, int check, const scene_room *room,
                               scene_data **out);
void scene_free(scene_data *s);
/* LOOM_E_CONFIG with the name of an object with more than one thickness: loom_scene.radius is
 * constant within an object.  scene_build() asks it, and a run for a scene made in the program. */
loom_status scene_check_thickness(loom_err *err, const scene_data *s);
/* Makes pub.elements. */
loom_status scene_resolve(loom_err *err, scene_data *s, double h);

/* Obstacle poses for a step: pose0 at t0, pose1 at t1 (s); targets of soft pins at t1.
 * Can fail only if the pins' material data cannot be mapped. */
loom_status scene_pose(scene_data *s, double t0, double t1);
/* After scene_pose: balls move on by h (s). */
loom_status scene_balls_step(scene_data *s, loom_err *err, double h);
/* 1 if some fixed vertex, or some body, has a prescribed motion. */
int scene_pins_move(const scene_data *s);
int scene_bodies_move(const scene_data *s);
/* 1 if the obstacle has a surface mesh, which takes part in contact. */
int body_has_mesh(const loom_obstacle *o);
/* Positions at time t of the vertices the scene prescribes: writes rows of x [n][3] for
 * fixed vertices only.  Before, x is the start of the step: pins with hold_from carry it on. */
void scene_fixed_positions(const scene_data *s, double t, loom_real *x);
/* Rows of pin number g alone, from y to x, both [n][3]; returns its name in the config, or NULL
 * where it holds still, is soft or released. */
int scene_num_pins(const scene_data *s);
const char *scene_pin_rows(const scene_data *s, int g, const loom_real *y, loom_real *x);

/* ---- scene_hold.c ---- */
/* 1 if some pins begin to hold, or are released, during the run. */
int scene_pins_switch(const scene_data *s);
/* `fixed` and the stiffness of soft pins of the pins that hold at t (s); t < 0: of pins that hold
 * always.  *changed: other pins than before. */
loom_status scene_hold(scene_data *s, double t, int *changed);
/* Kinds of pairs that do not name the vertices they touch: they name segments of yarns. */
enum { SCENE_PAIRS_UNNAMED = 1 << LOOM_PAIR_YY };
/* Vertices that pairs of these kinds (LOOM_BIT(LOOM_PAIR_*)) may touch without naming them: *mark,
 * u8 [n], 1 for each of these vertices, which the caller frees; NULL if there is none. */
loom_status scene_mark_unnamed(scene_data *s, uint32_t kinds, loom_buf **mark);

/* The rows of a section of the scene without its element types and the keys of all objects; NULL:
 * unknown section. */
const loom_param *scene_params(const char *section, uint32_t *count);
/* All rows of it in the order of `loom describe`, and the number of tables they stand in. */
enum { SCENE_OWN_TABLES = 2, SCENE_MAX_TABLES = 3 + ELEM_MAX_TYPES };
typedef struct scene_table {
  const loom_param *params;
  uint32_t count;
  int elem; /* settings of this element type (elem_at), or -1: of the section itself */
} scene_table;
int scene_tables(const char *section, scene_table out[SCENE_MAX_TABLES]);
/* The tables of all rows but those of element types and kinds of bodies, and their number. */
int scene_own_tables(const char *section, scene_table out[SCENE_OWN_TABLES]);

/* Brings a config that a log or a checkpoint of an older version holds to today's keys.  note
 * [len]: the change that keeps its numbers, or "". */
loom_status scene_translate(loom_err *err, const cfg *c, char *note, size_t len);

#endif
