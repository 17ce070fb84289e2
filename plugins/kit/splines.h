/* splines.h - quadratic B-splines on the parameter plane of cloth as a basis of a subspace (as in
 * J. Li et al., Subspace-Preconditioned GPU Projective Dynamics with Contact for Cloth Simulation,
 * SIGGRAPH Asia 2023: a tensor grid over each piece, uniform knots).
 *
 * Rows sum to one, and every function that is at most quadratic in each coordinate of a piece is in
 * the span.  On the host. */
#ifndef KIT_SPLINES_H
#define KIT_SPLINES_H

#include "loom/host.h"

typedef struct spline_sample { /* where a vertex lies */
  int32_t row;                 /* 0 to n - 1 */
  int32_t piece;               /* 0 to num_pieces - 1; each has splines of its own */
  double u[2];                 /* m */
} spline_sample;

typedef struct spline_request {
  int32_t n, num_pieces;
  int64_t num_samples;
  const spline_sample *sample; /* [num_samples]; of a row with several, as on a seam: their mean */
  const double *cell;          /* [num_pieces] m, the largest side of a cell; 0: one cell */
  const uint8_t *fixed;        /* [n]; rows of fixed vertices are zero */
  int64_t most;                /* splines; for more of them nothing is made */
} spline_request;

/* *all: splines of all grids.  *U [n][*ld], malloc'ed, with *cols columns: those that reach a
 * vertex which is not fixed, and zeros in the padding (subspace_ld() of subspace.h).  *U is NULL
 * where *all is above `most`. */
loom_status spline_basis(const loom_host *h, const spline_request *r, double **U, int32_t *cols,
                         int64_t *all);

#endif
