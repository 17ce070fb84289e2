/* basis.kern.h - subspace correction u = s U S^-1 (s U)' r, U [n][ld] by rows, s a scale per
 * row (1, or the mask of contact).  Modes come in groups of eight, so that a row's numbers are
 * used together; sums over vertices go by chunks of fixed size, in a fixed order. */
#ifndef NDB_BASIS_KERN_H
#define NDB_BASIS_KERN_H

#include "loom/kernel.h"

enum { NDB_GROUP = 8, NDB_ROWS = 256 }; /* modes of a group, vertices of a chunk */

typedef struct ndb_basis_args {
  const lk_real *LK_RESTRICT U;     /* [n][ld] */
  const lk_real *LK_RESTRICT scale; /* [n]; NULL: 1 */
  const lk_real *LK_RESTRICT r;     /* [n][3], N */
  const lk_real *LK_RESTRICT inv;   /* [cols][cols], inverse of the reduced matrix */
  lk_real *LK_RESTRICT part;        /* [chunks][ld][3] */
  lk_real *LK_RESTRICT g;           /* [ld][3], U' r */
  lk_real *LK_RESTRICT q;           /* [ld][3] */
  lk_real *LK_RESTRICT u;           /* [n][3] */
  int32_t n, ld, cols, groups;      /* groups: of eight modes, to cover cols */
  int32_t chunks, add;              /* add: u += instead of u = */
} ndb_basis_args;

LK_DECLARE(ndb_restrict, ndb_basis_args)     /* per chunk and group */
LK_DECLARE(ndb_restrict_sum, ndb_basis_args) /* per mode */
LK_DECLARE(ndb_reduced, ndb_basis_args)      /* per mode: q = S^-1 g */
LK_DECLARE(ndb_prolong, ndb_basis_args)      /* per vertex */

#endif
