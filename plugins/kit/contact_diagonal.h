/* contact_diagonal.h - isotropic contact terms as weights on the diagonal of a global step.
 *
 * A term k/2 |sum_a w_a x_a - p|^2 is k w w' in the matrix.  By Cauchy's inequality
 * w w' <= diag(|w_a| sum_b |w_b|); this kit adds up these diagonals.  The fixed points of an
 * iteration do not depend on its matrix, and a matrix that bounds the exact one from above keeps
 * every step a descent step.  Terms of one vertex are exact. */
#ifndef KIT_CONTACT_DIAGONAL_H
#define KIT_CONTACT_DIAGONAL_H

#include "kit/contact_diagonal.kern.h"
#include "loom/plug.h"
#include "loom/plugin.h"

typedef struct contact_diagonal {
  const loom_host *host;
  const loom_exec *e;
  loom_buf *fixed; /* the scene's */
  int32_t n;       /* vertices */
  /* On the CPU the corners with a part alone are listed and sorted: one of four in terms of one
   * vertex.  On a device the host would have to wait for their number. */
  loom_buf *num, *place; /* i64 [m], [m+1] */
  loom_buf *all;         /* real [m] */
  loom_buf *corner;      /* i32 [corners] */
  loom_buf *key;         /* u64 [corners], on a device [4 m] */
  loom_buf *order;       /* i32 [corners], on a device [4 m] */
  loom_buf *weight;      /* real [n], N/m, zero for fixed vertices */
} contact_diagonal;

/* Buffers are freed by the core. */
loom_status contact_diagonal_new(contact_diagonal *d, const loom_host *host, const loom_scene *sc,
                                 const loom_exec *e);
/* `weight` of the terms of q; NULL: no terms.  It does not wait for the device. */
loom_status contact_diagonal_of(contact_diagonal *d, const loom_quad *q);

#endif
