/* settings.h - the settings of the scene's sections, as cfg_bind fills them; element types hold the
 * settings of the models of objects. */
#ifndef LOOM_SCENE_SETTINGS_H
#define LOOM_SCENE_SETTINGS_H

#include "bodies/body.h"
#include "loom/param.h"

enum {
  CLOTH_GRID,
  CLOTH_OBJ,
  CLOTH_PLY,
  CLOTH_DISK,
  CLOTH_STRIP,
  CLOTH_CYLINDER,
  CLOTH_PATTERN,
  CLOTH_MESH
};
enum { SOLID_BOX, SOLID_MESH, SOLID_SPHERE, SOLID_BLOB };
enum { YARN_STOCKINETTE, YARN_GARTER, YARN_RIB, YARN_TUBE, YARN_BCC, YARN_OBJ };
enum {
  REPAIR_NONE,
  REPAIR_ORIENTATION,
  REPAIR_MERGE,
  REPAIR_MERGE_ORIENTATION,
  REPAIR_CLEAN,
  REPAIR_MERGE_CLEAN
};
enum { BODY_REPAIR_ORIENTATION = 1, BODY_REPAIR_CLEAN = 2 }; /* bits */
enum { REST_AUTO, REST_INITIAL, REST_UV, REST_FILE };
enum { SEWING_AUTO, SEWING_NONE, SEWING_MERGE, SEWING_PULL };
enum { DISTANCE_NONE, DISTANCE_NEURAL, DISTANCE_GRID, DISTANCE_EXACT, DISTANCE_CAPSULES };
/* Values of a body's `shape`: kinds with a closed form have their number (body_kind_at), and then
 */
enum { BODY_MESH = BODY_NUM_CLOSED, BODY_SDF, BODY_REVOLVE, BODY_RIG };

/* Settings common to all kinds of objects. */
typedef struct object_settings {
  const char *material, *size, *resolution, *transform;
  double velocity[3];       /* m/s */
  const char *velocities;   /* file, "" for none */
  double density;           /* kg/m^2 of cloth, kg/m^3 of solids */
  double thickness;         /* m */
  double damping;           /* 1/s */
  double stiffness_damping; /* s */
  const char *pins, *pin_motion;
  double pin_stiffness; /* N/m */
} object_settings;

typedef struct cloth_settings {
  object_settings common;
  int32_t shape, pattern, repair, rest, sewing;
  const char *file, *model, *rest_file, *positions, *stitches;
  double uv_scale;
  double edge_length;                   /* m */
  double merge_tolerance;               /* m */
  double stitch_stiffness, sewing_time; /* N/m, s */
  int64_t seam_rings;
  double imperfection; /* m */
  int64_t imperfection_seed;
} cloth_settings;

typedef struct region_settings {
  const char *object, *where, *labels, *material;
  double density; /* kg/m^2 */
} region_settings;
enum { SCENE_REGION_PARAMS = 5 };
extern const loom_param scene_region_params[SCENE_REGION_PARAMS]; /* settings_loads.c */

typedef struct ignore_settings {
  const char *object, *where, *labels, *body, *part, *part_labels;
  double until; /* s */
} ignore_settings;
enum { SCENE_IGNORE_PARAMS = 7 };
extern const loom_param scene_ignore_params[SCENE_IGNORE_PARAMS]; /* settings_loads.c */

typedef struct solid_settings {
  object_settings common;
  int32_t shape;
  const char *file, *model, *parts;
  double radius, mesh_size, cell, blend; /* m */
} solid_settings;

enum { SCENE_SOLID_KEYS = 12 };
extern const loom_param scene_solid_params[SCENE_SOLID_KEYS];
/* Of the key `thickness` of cloth and solids. */
#define SCENE_THICKNESS_DOC                                                                      \
  "Twice the contact radius: contact counts gaps from half the thickness of either side.  The "  \
  "contact model sets the gap that is kept beyond it (its README; 0 of penalty, up to d_hat of " \
  "barriers), and the summary of a run tells it; without contact it has no effect."

typedef struct yarn_settings {
  object_settings common; /* density in kg/m, thickness twice the radius */
  int32_t pattern;
  const char *file;
  int64_t rows, loops, stripe, rib;
  int32_t closed, bind;
  const char *glue;
  const char *positions, *rest_lengths, *rest_curvature, *directors; /* files, "" for none */
  double radius, loop_width, row_height;                             /* m */
  double radius_time;                                                /* s */
} yarn_settings;

typedef struct pin_settings {
  const char *object, *where, *motion, *keyframes, *keyframe_file, *body, *joint;
  double stiffness;             /* N/m */
  double hold_from, hold_until; /* s */
} pin_settings;

typedef struct body_settings {
  int32_t shape, repair;
  double position[3]; /* m */
  const char *rotation;
  body_keys own; /* the chosen kind's */
  const char *file, *profile;
  double mesh_size; /* m */
  double scale;
  int64_t sdf_resolution;
  double sdf_padding; /* m */
  double friction;
  double thickness; /* m */
  const char *motion, *keyframes, *keyframe_file;
  const char *frames; /* pattern of files */
  int64_t frame_first, frame_count;
  double frame_rate; /* 1/s */
  int32_t distance, regions, gradient;
  const char *networks;
  const char *rig, *angles, *animation, *animation_file;
  double edge_length;                     /* m */
  double animation_start, animation_ease; /* s */
  double animation_speed;
  int32_t animation_loop;
  double mass;                 /* kg */
  double velocity[3], spin[3]; /* m/s, rad/s */
  const char *copies;
  double copy_spacing[3], copy_jitter; /* m */
} body_settings;

typedef struct attach_settings {
  const char *object, *where, *to;
  double stiffness;      /* N/m */
  double length, within; /* m */
} attach_settings;

enum { SCENE_ATTACH_PARAMS = 6 };
extern const loom_param scene_attach_params[SCENE_ATTACH_PARAMS]; /* settings_loads.c */

typedef struct twist_settings {
  const char *object, *segments, *cut;
  double turn;                  /* degrees */
  double turn_from, turn_until; /* s */
} twist_settings;
enum { SCENE_TWIST_PARAMS = 6 };
extern const loom_param scene_twist_params[SCENE_TWIST_PARAMS]; /* settings_loads.c */

typedef struct wind_settings {
  double velocity[3];                    /* m/s */
  double density;                        /* kg/m^3 */
  double normal, tangential;             /* coefficients, 1 */
  double gust, gust_period, gust_length; /* 1, s, m */
} wind_settings;

enum { PRESSURE_CONSTANT, PRESSURE_GAS };
typedef struct pressure_settings {
  const char *object;
  int32_t law;              /* PRESSURE_* */
  double pressure, outside; /* Pa */
  double volume, rise;      /* m^3, s */
} pressure_settings;
enum { SCENE_PRESSURE_PARAMS = 6 };
extern const loom_param scene_pressure_params[SCENE_PRESSURE_PARAMS]; /* settings_loads.c */

typedef struct friction_settings {
  const char *between;
  double mu; /* 1 */
} friction_settings;
enum { SCENE_FRICTION_PARAMS = 2 };
extern const loom_param scene_friction_params[SCENE_FRICTION_PARAMS]; /* settings_loads.c */

typedef struct dress_settings {
  double gravity_from, gravity_rise, motion_from; /* s */
  double settle;                                  /* m/s */
} dress_settings;
enum { SCENE_DRESS_PARAMS = 4 };
extern const loom_param scene_dress_params[SCENE_DRESS_PARAMS]; /* settings_loads.c */

typedef struct world_settings {
  int32_t up_axis;
  int64_t detail;
  const char *gravity;
} world_settings;

#endif
