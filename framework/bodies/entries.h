/* entries.h - edges and triangles of a mesh inside bodies with a closed form: their audit.
 *
 * Collision `sdf` looks at vertices alone, so a thin body can pass between them.  Here the signed
 * distance is minimised along edges and over triangles by branch and bound: a part is dropped only
 * when a lower bound proves it to be outside, and an entry is reported only with a point of it that
 * lies inside.  "Inside" means deeper than ENTRY_ROUNDING times the largest coordinate of the edge
 * or triangle.  The search uses the distances of collision plugins and no other part of them. */
#ifndef LOOM_BODIES_ENTRIES_H
#define LOOM_BODIES_ENTRIES_H

#include "bodies/body.h"
#include "core/err.h"

/* 1; four units in the last place of float: stored frames and poses may have been rounded to it */
#define ENTRY_ROUNDING 4.8e-7

typedef struct entry_mesh { /* at rest, or on straight ways in a step */
  const double *x;          /* [n][3], m */
  const double *x_start;    /* [n][3], m, where the ways begin; NULL: at rest at x */
  const int32_t *tris;      /* [nt][3] */
  int64_t nt;
} entry_mesh;

typedef struct entry {
  int32_t body;
  int32_t v[3];   /* an edge: ids ascending, then -1; a triangle: ascending */
  double depth;   /* m, at least this deep; at rest found to 2 % */
  double time;    /* share of the way at which it was found so deep; 1 at rest */
  int32_t unsure; /* 1: the search gave up, nearer to touching than it can tell */
} entry;

typedef struct entry_list {
  entry *all; /* [num] sorted by body, vertices */
  int64_t num;
  entry deepest; /* body -1: none */
} entry_list;

/* At rest: every edge that enters body k, at its end pose, and every triangle that does without one
 * of its edges.  On ways: every triangle that, anywhere on its way from x_start to x, is inside
 * body k on the way between its poses.  Bodies that are not of closed form are passed over.
 * Coordinates are finite.  The same list for any number of threads; free it also after an error. */
loom_status entries_find(loom_err *err, const entry_mesh *m, const obst_view *bodies, int num,
                         int threads, entry_list *out);
void entries_free(entry_list *l);

/* 1: entries_find() can look at it. [any] */
int entries_sees(const obst_view *o);
/* "edge 3-4 is 2.3e-03 m deep in body bar" */
void entry_describe(const entry *e, const char *body, char *buf, size_t len);

#endif
