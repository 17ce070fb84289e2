/* loom/rig_reader.h - how the core and a module that reads skinned, animated bodies meet.
 *
 * Files of 3-D programs are read by a library.  It stands in a module NAME.so of its own, in the
 * folder `readers` beside that of the plugins, and is opened when a body of shape = rig names a
 * file: loom as such neither links nor needs it.
 */
#ifndef LOOM_RIG_READER_H
#define LOOM_RIG_READER_H

#include <stddef.h>

#include "types.h"

#define LOOM_RIG_READER_ABI 2u

/* What a file is; the core tells by its contents, not by its name. */
enum { LOOM_RIG_GLTF = 0, LOOM_RIG_GLB = 1, LOOM_RIG_COLLADA = 2, LOOM_RIG_FBX = 3 };

/* A map of space: 3x3 matrix row-major, then the translation, as in loom/scene.h. */
typedef struct loom_rig_joint {
  char name[64];
  int32_t parent; /* stands before it; -1: a root */
  int32_t reserved;
  double rest[12]; /* frame of the joint in the pose that the skin was bound in */
} loom_rig_joint;

typedef struct loom_rig_clip { /* an animation */
  char name[64];
  int32_t num_frames;
  int32_t reserved;
  double rate;   /* 1/s, frames at equal distances, the first at 0 */
  double *frame; /* [num_frames][num_joints][12], frames of the joints */
} loom_rig_clip;

/* What `read` allocates and `release` frees; lengths in the file's unit, scaled to m where it says
 * so.  The core calls `read` in a child process with limits on time, memory and stack, and checks
 * all ids and numbers before it uses them. */
typedef struct loom_rig_file {
  int32_t num_joints, num_verts, num_tris, per, num_clips;
  int32_t left_out;      /* meshes without a skin, which are not read */
  loom_rig_joint *joint; /* [num_joints] */
  double *x;             /* [num_verts][3] in the pose that the skin was bound in */
  int32_t *tris;         /* [num_tris][3] */
  int32_t *bone;         /* [num_verts][per] joints */
  double *weight;        /* [num_verts][per] as the file has them, 0 where a vertex has fewer */
  loom_rig_clip *clip;   /* [num_clips] */
} loom_rig_file;

typedef struct loom_rig_reader {
  uint32_t struct_size;
  uint32_t abi; /* LOOM_RIG_READER_ABI */
  const char *name, *version;
  const char *license; /* SPDX, of what is linked in */
  const char *summary; /* one sentence */
  /* Reads `path` as `format` (LOOM_RIG_GLTF, ...), and of other files only regular ones in its
   * folder. On failure: LOOM_E_NOMEM, LOOM_E_IO or LOOM_E_CONFIG, a sentence without the path in
   * why [len], and *out empty. */
  loom_status (*read)(const char *path, int format, loom_rig_file *out, char *why, size_t len);
  void (*release)(loom_rig_file *f); /* *f is empty afterwards; may be called twice */
} loom_rig_reader;

/* The one function that a module exports; NULL: it does not know this version of the interface. */
typedef const loom_rig_reader *(*loom_rig_reader_query_fn)(uint32_t abi);
LOOM_EXPORT const loom_rig_reader *loom_rig_reader_query(uint32_t abi);

#endif /* LOOM_RIG_READER_H */
