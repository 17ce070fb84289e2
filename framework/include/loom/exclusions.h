/* loom/exclusions.h - pairs that contact and the audit leave out; an extension of the scene.
 *
 * Two primitives (a vertex and a triangle, two edges, and in the audit an edge and a triangle) are
 * left out when some vertex of the one is listed with some vertex of the other.  This extends the
 * rule that primitives with a common vertex are no pair: what is sewn to each other has one vertex
 * in common where the seam is closed.  A collision plugin that honours the lists, in detect() and
 * in max_step(), announces LOOM_COLL_LEAVES_OUT; a scene with lists is refused without it.
 */
#ifndef LOOM_EXCLUSIONS_H
#define LOOM_EXCLUSIONS_H

#include "scene.h"

#define LOOM_EXCLUSIONS "loom.exclusions/1" /* name of the extension */

/* Rows are vertices of the scene, then those of bodies by their ids in pairs, n + nb in all. */
typedef struct loom_exclusions {
  uint32_t struct_size;
  int32_t epoch;   /* grows when the lists change, between two steps, before begin_step() */
  int64_t count;   /* ids in `other`; 0: nothing is left out at present */
  loom_buf *first; /* i32 [n + nb + 1]: row v is other[first[v]] to other[first[v + 1] - 1] */
  loom_buf *other; /* i32 [at least count], ascending in each row; w is in row v if v is in row w */
} loom_exclusions;

/* The table of the scene, or NULL.  [any] */
static inline const loom_exclusions *loom_scene_exclusions(const loom_scene *sc)
{
  return (const loom_exclusions *)loom_scene_extension(sc, LOOM_EXCLUSIONS);
}

#endif
