/* loom/rig_reader.h - interface between the core and a module that reads skinned, animated bodies,
 * and surfaces.
 *
 * A library reads the files of 3-D programs.  It lives in a module NAME.so of its own, in the
 * folder `readers` beside the folder of the plugins.  The core opens the module when a body or
 * a cloth names a file of such a format; loom itself neither links nor needs it.
 */
#ifndef LOOM_RIG_READER_H
#define LOOM_RIG_READER_H

#include <stddef.h>

#include "types.h"

#define LOOM_RIG_READER_ABI 4u

/* Format of a file; the core detects it from the contents, not from the name. */
enum {
  LOOM_RIG_GLTF = 0,
  LOOM_RIG_GLB = 1,
  LOOM_RIG_COLLADA = 2,
  LOOM_RIG_FBX = 3,
  LOOM_RIG_STL = 4, /* surfaces alone */
  LOOM_RIG_OFF = 5
};

/* Maps of space are double [12]: 3x3 matrix row-major, then the translation, as in loom/scene.h. */
typedef struct loom_rig_joint {
  char name[64];
  int32_t parent; /* index, smaller than that of the joint; -1: a root */
  int32_t reserved;
  double rest[12]; /* frame of the joint in the pose that the skin was bound in */
} loom_rig_joint;

/* A node: a joint, or a carrier of joints that moves in some animation or stands above one. */
typedef struct loom_rig_node {
  int32_t parent;   /* index, smaller than that of the node; -1: the world */
  int32_t joint;    /* that it is, each joint once; -1: none */
  double local[12]; /* map to the parent, at rest */
} loom_rig_node;

enum { LOOM_RIG_SHIFT = 0, LOOM_RIG_TURN = 1, LOOM_RIG_SIZE = 2 }; /* loom_rig_track.part */
enum {
  LOOM_RIG_STEP = 0,
  LOOM_RIG_LINEAR = 1,
  LOOM_RIG_CUBIC = 2
}; /* loom_rig_track.interpolation */

/* How a part of a node's map to its parent goes: a shift, a turn (quaternion w x y z) or sizes
 * along the axes.  The map is shift after turn after sizes; a part without a track is 0, no turn
 * or 1. Values hold before the first and after the last key; two keys at one time are a jump.  STEP
 * holds each key until the next one, LINEAR runs on lines and, for turns, on the shorter great arc,
 * CUBIC on Hermite's cubics (of turns made unit afterwards), as glTF 2.0, appendix C, defines them.
 */
typedef struct loom_rig_track {
  int32_t node, part, interpolation, num_keys; /* num_keys > 0 */
  double *time;                                /* [num_keys] s, ascending */
  double *value; /* [num_keys][3, of a turn 4]; CUBIC: [num_keys][3][...]: slope before the key
                  * (1/s), value, slope after it */
} loom_rig_track;

typedef struct loom_rig_clip { /* an animation */
  char name[64];
  int32_t num_tracks;
  int32_t morphs; /* channels that change the shape of a mesh (morph targets), which are not read */
  double length;  /* s; it begins at 0 */
  loom_rig_track
      *track; /* [num_tracks], of several for a part the first counts; other nodes rest */
} loom_rig_clip;

/* Contents of a file: `read` allocates them, `release` frees them.  Lengths are in the file's unit,
 * or in m where the file states its scale.  The core calls `read` in a child process with limits on
 * time, memory and stack, and checks all ids and numbers before it uses them. */
typedef struct loom_rig_file {
  int32_t num_joints, num_verts, num_tris, per, num_clips; /* per: joints of a vertex */
  int32_t left_out;      /* count of meshes without a skin, which are not read */
  int32_t num_nodes;     /* a node for each joint, and others; 0 of surfaces */
  loom_rig_joint *joint; /* [num_joints] */
  loom_rig_node *node;   /* [num_nodes] */
  double *x;             /* [num_verts][3] in the pose that the skin was bound in; of glTF with the
                          * morph targets that are on at rest */
  int32_t *tris;         /* [num_tris][3] */
  int32_t *bone;         /* [num_verts][per] indices of joints */
  double *weight;        /* [num_verts][per] as in the file, 0 where a vertex has fewer joints */
  loom_rig_clip *clip;   /* [num_clips] */
} loom_rig_file;

typedef struct loom_rig_reader {
  uint32_t struct_size;
  uint32_t abi; /* LOOM_RIG_READER_ABI */
  const char *name, *version;
  const char *license; /* SPDX, of the module with its libraries */
  const char *summary; /* one sentence */
  /* Reads `path` as `format` (LOOM_RIG_GLTF, ...).  Other files are read only if they are regular
   * files in the same folder.  On failure: LOOM_E_NOMEM, LOOM_E_IO or LOOM_E_CONFIG, a sentence
   * without the path in why, char [len], and *out empty. */
  loom_status (*read)(const char *path, int format, loom_rig_file *out, char *why, size_t len);
  /* The same for a surface: x and tris of all meshes where the file puts them, no joints
   * (num_joints and per 0), no animations; left_out counts faces that are points or lines. */
  loom_status (*read_surface)(const char *path, int format, loom_rig_file *out, char *why,
                              size_t len);
  void (*release)(loom_rig_file *f); /* *f is empty afterwards; may be called twice */
} loom_rig_reader;

/* The one function that a module exports.  The result stays valid; NULL: `abi` is not supported. */
typedef const loom_rig_reader *(*loom_rig_reader_query_fn)(uint32_t abi);
LOOM_EXPORT const loom_rig_reader *loom_rig_reader_query(uint32_t abi);

#endif /* LOOM_RIG_READER_H */
