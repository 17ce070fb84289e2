/* isect_pairs.h - common part of the audits of frames and of paths: meshes prepared for the search,
 * and lists of findings that do not depend on the number of threads. */
#ifndef LOOM_ISECT_PAIRS_H
#define LOOM_ISECT_PAIRS_H

#include "audit/intersect.h"
#include "audit/isect_tree.h"

typedef struct isect_ready {
  const isect_surface *s;
  uint8_t *owns; /* [nt] bit c: no triangle before has side c; bit 3 + c: none has corner c */
  isect_tree tree;
} isect_ready;

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
  int32_t body; /* index of b, -1: b is a */
  const void *user;
  isect_list found;
} isect_job;

typedef struct isect_query {
  isect_visit visit; /* of an isect_job */
  const void *user;
  size_t size; /* of a finding, bytes */
  isect_compare compare;
  int64_t enough; /* the search ends when about so many are found, 0: all */
} isect_query;

/* Visits all pairs of triangles with boxes that meet, of m with itself and of m with each body.
 * out gets the first `capacity` findings, ordered within each body, *total their number. */
loom_status isect_search(loom_err *err, const isect_surface *m, const isect_surface *bodies,
                         int num_bodies, int threads, const isect_query *q, void *out,
                         int64_t capacity, int64_t *total);

#endif
