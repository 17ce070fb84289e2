/* exact.h - the hierarchy of a skin for exact.kern.h, fitted to a pose. */
#ifndef LOOM_BODIES_EXACT_H
#define LOOM_BODIES_EXACT_H

#include "bodies/exact.kern.h"
#include "core/err.h"
#include "mesh/bvh.h"
#include "mesh/mesh.h"

typedef struct exact_plan { /* data that all poses share */
  bvh *tree;
  const mesh *skin; /* the caller's */
  bvh_view view;    /* of the tree */
} exact_plan;

/* Of the skin in its rest pose; `skin` must live longer.  Close it also after an error. */
loom_status exact_plan_open(loom_err *err, const mesh *skin, exact_plan *p);
void exact_plan_close(exact_plan *p);
/* Bytes of the arrays of an exact_field. */
int64_t exact_bytes(const exact_plan *p);
/* Lays out the arrays at `at`, bytes from f on, and fills the data that all poses share. */
void exact_settle(const exact_plan *p, int64_t at, exact_field *f);
/* Vertices x0, x1 [num_verts][3] (m) at both ends of a step, boxes, and the buried parts at x1.
 * LOOM_E_CONFIG without a place if all are buried.  The same bits for any number of threads. */
loom_status exact_fit(loom_err *err, const exact_plan *p, const double *x0, const double *x1,
                      exact_field *f);

#endif
