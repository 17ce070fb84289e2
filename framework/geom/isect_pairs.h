/* isect_pairs.h - what the audits of frames and of paths share: meshes made ready for the
 * search, and lists of findings that do not depend on the number of threads.
 */
#ifndef LOOM_ISECT_PAIRS_H
#define LOOM_ISECT_PAIRS_H

#include "geom/intersect.h"
#include "geom/isect_tree.h"

typedef struct isect_ready {
  const isect_surface *s;
  uint8_t *owns; /* [nt] bit c: no triangle before has side c; bit 3 + c: none has corner c */
  isect_tree tree;
} isect_ready;

/* Refuses ids out of range and numbers that are not finite.  Boxes hold a triangle on all
 * of its way. */
loom_status isect_ready_open(loom_err *err, const isect_surface *s, isect_ready *out);
void isect_ready_close(isect_ready *r);

typedef int (*isect_compare)(const void *a, const void *b);

/* Findings of one thread: all are counted, the least `capacity` are kept. */
typedef struct isect_list {
  char *items; /* [count] of `size` bytes */
  size_t size;
  int64_t count, room, capacity, total;
  isect_compare compare;
  int failed; /* out of memory */
} isect_list;
void isect_list_add(isect_list *l, const void *item);

typedef struct isect_job { /* of one thread; handed to the visitor */
  const isect_ready *a, *b;
  const void *user;
  isect_list found;
} isect_job;

/* Visit all pairs of triangles of a and b whose boxes meet (b == a: of the mesh with
 * itself); out gets the least `capacity` findings in order, *total their number. */
loom_status isect_search(loom_err *err, const isect_ready *a, const isect_ready *b, int threads,
                         isect_visit visit, const void *user, size_t size, isect_compare compare,
                         void *out, int64_t capacity, int64_t *total);

#endif
