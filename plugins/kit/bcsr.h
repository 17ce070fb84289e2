/* bcsr.h - staged assembly of dense element matrices into block rows (BCSR) with a pattern that may
 * change from step to step: count, fill, unique, values.
 *
 * M. Tang et al., CAMA: Contact-Aware Matrix Assembly with Unified Collision Handling for GPU-based
 * Cloth Simulation, Computer Graphics Forum 35(2), 2016, algorithm 1, doi 10.1111/cgf.12851.
 * DEVIATION: rows gather from their corners, which are sorted by row once, in place of atomic adds:
 * the same bits for any number of threads, equal to a plain loop over elements.
 *
 *   bcsr_index(&A, n, &kinds[k]);                elements of this kind came or went
 *   bcsr_pattern(&A, kinds, num);                of some kind
 *   ... a kernel writes kinds[k].K ...
 *   bcsr_values(&A, kinds, num);
 *
 * An "element" couples some rows: a triangle, a hinge, a pair in contact.  In the matrix of
 * impacts, S = G M^-1 G', rows are impacts, elements the vertices with the list of their impacts,
 * and b = 1.
 *
 * host->hessian() gives the matrix of the scene's elements and contact models; this kit is for
 * matrices that plugins assemble themselves.  The core does not use it: its own assembly
 * (framework/linalg) relies on elements that never change, and works on the core's memory rather
 * than through loom_host.
 */
#ifndef KIT_BCSR_H
#define KIT_BCSR_H

#include "kit/bcsr.kern.h"
#include "loom/plug.h"
#include "loom/plugin.h"

typedef struct bcsr_kind { /* elements of one kind; set unused members to zero */
  int64_t count;
  int32_t arity; /* corners of an element */
  loom_buf
      *ptr; /* i64 [count+1], first corner of each where they have different numbers; or NULL */
  loom_buf *node; /* i32 [corners], rows; -1: none */
  loom_buf *to;   /* i32 [count], of arity 1: the columns of single blocks, -1: none; or NULL */
  loom_buf *K;    /* real [blocks][b][b], N/m: of each element arity x arity blocks, row by row */
  int32_t dense;  /* 1: they are one matrix [arity b][arity b] instead, as host->elem_hessians() */
  /* index, made and kept by bcsr_index() */
  loom_buf *key, *owner, *corner, *first, *squares, *block;
  int64_t corners;
} bcsr_kind;

typedef struct bcsr { /* fine when zeroed */
  const loom_host *host;
  const loom_exec *e;
  int32_t n, b;            /* rows; blocks of b x b numbers, 1 or 3 */
  int64_t nnz, pattern_id; /* blocks; changes with the pattern */
  loom_buf *row, *col; /* i64 [n+1], i32 [nnz]: ascending in each row, the diagonal always there */
  loom_buf *diag;      /* i64 [n], where in col and val the diagonals are */
  loom_buf *val;       /* real [nnz][b][b], N/m */
  loom_buf *num, *room, *list, *spare; /* see bcsr.kern.h */
  loom_buf *base_row,
      *base_col; /* of kinds that never change, bcsr_steady.h; NULL: there are none */
  loom_buf *map; /* i32 [nnz of the base], where in col and val its blocks are */
} bcsr;

loom_status bcsr_new(bcsr *A, const loom_host *host, const loom_exec *e, int32_t b);
/* Sorts the corners of a kind by their rows, for a matrix of n rows.  `count`, `ptr`, `node` and
 * `to` must not change as long as this index is used. */
loom_status bcsr_index(bcsr *A, int32_t n, bcsr_kind *kind);
/* Rows and columns that the elements of all kinds couple, once they have an index; waits for the
 * device. */
loom_status bcsr_pattern(bcsr *A, const bcsr_kind *kinds, int num);
/* Sums all K with the present pattern: kind by kind, in the order of elements. */
loom_status bcsr_values(bcsr *A, const bcsr_kind *kinds, int num);
/* bcsr_values() in parts, for kinds that share one buffer K: sets all blocks to zero; adds K of one
 * kind. */
loom_status bcsr_clear(bcsr *A);
loom_status bcsr_add_kind(bcsr *A, const bcsr_kind *kind);
/* Adds K of `count` elements from `first` on; K holds these elements alone.  A kind that is added
 * part by part, from the first element to the last one, makes the same bits. */
loom_status bcsr_add_part(bcsr *A, const bcsr_kind *kind, int64_t first, int64_t count);
/* For comparison, bcsr_add_part() in a loop over elements, each of which searches its places and
 * adds there.  _scatter_ runs on all threads with atomic adds, as the paper does, so that bits
 * depend on the order of threads; _serial_ runs on one thread of the CPU, with the bits of
 * bcsr_add_part(). Both need no index. */
loom_status bcsr_scatter_part(bcsr *A, const bcsr_kind *kind, int64_t first, int64_t count);
loom_status bcsr_serial_part(bcsr *A, const bcsr_kind *kind, int64_t first, int64_t count);
/* The matrix in the form of the host's services and of krylov_bsr3.h, for b = 3. */
loom_bsr3 bcsr_matrix3(const bcsr *A);

#endif
