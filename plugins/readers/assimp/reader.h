/* reader.h - declarations shared by the files of this module: the scene of Assimp and the results.
 */
#ifndef LOOM_ASSIMP_READER_H
#define LOOM_ASSIMP_READER_H

#include <assimp/scene.h>

#include "files.h"
#include "loom/host.h"
#include "loom/rig_reader.h"
#include "names.h"

typedef struct rig_node {
  const struct aiNode *node;
  int32_t parent; /* in the list, before it; -1: the root */
  int32_t joint;  /* that it is; -1: none */
  int32_t above;  /* the nearest joint above it; -1: none */
  int32_t used;   /* it is a joint, or above one */
  int32_t given;  /* its index in the result; -1: it is not used */
} rig_node;

typedef struct reader {
  const struct aiScene *s;
  int format; /* LOOM_RIG_* */
  files *files;
  loom_rig_file *out;
  rig_node *node; /* [num_nodes], parents first */
  int32_t num_nodes;
  double (*bind)[12];  /* [num_joints] skin to joint, as the file binds them */
  int32_t num_own;     /* joints before the ones that binds.c adds */
  names joints;        /* name of its node -> rig_node */
  double to_world[12]; /* of the skin as it was bound */
  char *why;
  size_t len;
} reader;

#define READER_NO_BIND_POSE "a joint has no pose in which the skin was bound"

loom_status reader_fail(reader *r, loom_status s, const char *what);
/* count zeroed items in *out (a pointer to a pointer) */
loom_status reader_room(reader *r, size_t count, size_t item, void *out);

loom_status reader_nodes(reader *r);   /* joints.c: node */
loom_status reader_surface(reader *r); /* surface.c: after import alone */
loom_status reader_joints(reader *r);  /* joints.c: node, joints, bind, to_world, out->joint */
loom_status reader_skin(reader *r);    /* skin.c */
/* binds.c: where the vertices of a mesh are at rest, and the joint [mNumBones] of each bone, -1:
 * none.  The vertex ids of the bones are checked. */
loom_status reader_bind_mesh(reader *r, const struct aiMesh *m, double at[12], int32_t *joint);
loom_status reader_clips(reader *r); /* clips.c */

/* A track of a clip with room for its keys; its number of tracks counts it.  `node` in the result.
 */
loom_status reader_track(reader *r, loom_rig_clip *c, int32_t node, int part, int interpolation,
                         int64_t keys, loom_rig_track **out);
/* gltf_clips.c: the animations of a glTF file by its own JSON, in the place of Assimp's, which tell
 * neither the interpolation nor the slopes and have rounded times. */
loom_status reader_gltf_clips(reader *r);
/* gltf_mend.c: before the import, so that Assimp reads what a glTF file means. */
loom_status reader_gltf_mend(reader *r);

#endif
