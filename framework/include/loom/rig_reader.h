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

#define LOOM_RIG_READER_ABI 3u

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

typedef struct loom_rig_clip { /* an animation */
  char name[64];
  int32_t num_frames;
  int32_t reserved;
  double *time;  /* [num_frames] s, ascending from 0: at least the file's own keys */
  double *frame; /* [num_frames][num_joints][12], maps of the joints, as `rest` */
} loom_rig_clip;

/* Contents of a file: `read` allocates them, `release` frees them.  Lengths are in the file's unit,
 * or in m where the file states its scale.  The core calls `read` in a child process with limits on
 * time, memory and stack, and checks all ids and numbers before it uses them. */
typedef struct loom_rig_file {
  int32_t num_joints, num_verts, num_tris, per, num_clips; /* per: joints of a vertex */
  int32_t left_out;      /* count of meshes without a skin, which are not read */
  loom_rig_joint *joint; /* [num_joints] */
  double *x;             /* [num_verts][3] in the pose that the skin was bound in */
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
