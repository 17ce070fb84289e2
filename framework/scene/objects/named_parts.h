/* named_parts.h - triangles of a mesh by the names of its parts: pieces, materials (usemtl), or
 * labels of a file. */
#ifndef LOOM_SCENE_NAMED_PARTS_H
#define LOOM_SCENE_NAMED_PARTS_H

#include "scene/base/build.h"

typedef struct named_parts {
  const cfg_section *sec; /* with the two keys, for messages: */
  const char *where_key, *labels_key;
  const char *where;  /* names, separated by blanks */
  const char *labels; /* file with a line of labels for each vertex or triangle, or (.json) names
                       * with lists of vertices; "": names of the mesh */
  const mesh *m;
  const char *label;     /* of the mesh, for messages */
  const int32_t *merged; /* [num_named] id in m of each vertex of the file; NULL: the same ids */
  int32_t num_named;
} named_parts;

/* tri [m->num_tris]: 1 where the triangle is in a part that `where` names.  *seams: triangles of
 * which all vertices are at seams, so that labels do not decide.  LOOM_E_CONFIG names the nearest
 * part where there is none of a name. */
loom_status named_parts_choose(builder *b, const named_parts *of, unsigned char *tri,
                               int64_t *seams);

#endif
