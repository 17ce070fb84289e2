/* splines.h - quadratic B-splines on the parameter plane of cloth as a basis of a subspace (as in
 * J. Li et al., Subspace-Preconditioned GPU Projective Dynamics with Contact for Cloth Simulation,
 * SIGGRAPH Asia 2023, doi 10.1145/3610548.3618157: a tensor grid over each piece, uniform knots).
 *
 * Rows sum to one, and every function that is at most quadratic in each coordinate of a piece is in
 * the span.  For comparison, radial functions can take their place (radial.h).  On the host. */
#ifndef KIT_SPLINES_H
#define KIT_SPLINES_H

#include "loom/host.h"

enum {
  SPLINE_QUADRATIC = 0, /* products of two quadratic splines on a grid */
  SPLINE_RADIAL,        /* radial functions around samples: rows have any sum, which leaves even
                           translations out of the span */
  SPLINE_SHEPARD /* radial functions over their sum (D. Shepard 1968): rows sum to one, but affine
                    functions are not in the span */
};
#define SPLINE_KINDS "splines|radial|shepard" /* choices of a plugin's parameter */

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
  int32_t kind;                /* SPLINE_* */
  int64_t most;                /* largest number of splines; with more no basis is made */
} spline_request;

typedef struct spline_rows { /* a basis by its rows, malloc'ed; fine when zeroed */
  int32_t n, cols;           /* rows; columns: splines that reach a vertex which is not fixed */
  int64_t all;               /* functions, including the ones that reach no vertex */
  int64_t *ptr;              /* [n+1]; NULL where `all` is above `most` */
  int32_t *col;              /* [ptr[n]], ascending in each row */
  double *val;               /* [ptr[n]], 1 */
} spline_rows;

loom_status spline_basis(const loom_host *host, const spline_request *r, spline_rows *out);
void spline_free(spline_rows *b);
/* *U [n][subspace_ld(cols)], malloc'ed, zero in the padding (subspace.h); NULL where b has no rows.
 */
loom_status spline_dense(const loom_host *host, const spline_rows *b, double **U);

#endif
