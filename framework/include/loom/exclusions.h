/* loom/exclusions.h - pairs that contact and the audit ignore; an extension of the scene.
 *
 * Contact ignores a vertex and a triangle, or two edges, if some vertex of the first is listed with
 * some vertex of the second; the audit also an edge and a triangle.  The lists hold vertices that
 * are sewn to each other, and vertices of primitives that intersected at the start, until these
 * have parted (the audit counts these pairs apart).  A collision plugin that applies the lists in
 * detect() and max_step() announces LOOM_COLL_LEAVES_OUT; without it a scene with lists is refused.
 */
#ifndef LOOM_EXCLUSIONS_H
#define LOOM_EXCLUSIONS_H

#include "scene.h"

#define LOOM_EXCLUSIONS "loom.exclusions/1" /* name of the extension */

/* Row v belongs to vertex v: the n vertices of the scene, then the nb body vertices by their ids in
 * pairs (num_verts + j). */
typedef struct loom_exclusions {
  uint32_t struct_size;
  int32_t epoch;   /* grows when the lists change, between two steps, before begin_step() */
  int64_t count;   /* ids in `other`; 0: no pair is ignored at present */
  loom_buf *first; /* i32 [n + nb + 1]: row v is other[first[v]] to other[first[v + 1] - 1] */
  loom_buf *other; /* i32 [at least count], ascending in each row; w is in row v if v is in row w */
} loom_exclusions;

/* The scene's table, or NULL if it has none.  It belongs to the scene and lives as long.  [any] */
static inline const loom_exclusions *loom_scene_exclusions(const loom_scene *sc)
{
  return (const loom_exclusions *)loom_scene_extension(sc, LOOM_EXCLUSIONS);
}

#endif
