/* assemble.h - from per-element results to vertex vectors and sparse matrices.
 *
 * Always by gather in a fixed order (never by atomics): element kernels write one
 * result per element, then every row of the result collects its contributions.
 * Patterns are built on the host once; values are assembled where `e` runs.
 */
#ifndef LOOM_ASSEMBLE_H
#define LOOM_ASSEMBLE_H

#include "mem/mem.h"

/* ---- vectors: one block's element corners around each vertex ---- */
/* A block is gathered in chunks of `elems` elements (the last may be shorter), so that the
 * results of one chunk at a time need to exist.  Every vertex adds its corners one after
 * the other in ascending order: the same bits for any size of the chunks. */
typedef struct asm_gather asm_gather;
loom_status asm_gather_new(loom_err *err, mem *m, const loom_elem_block *block, int32_t num_verts,
                           int32_t elems, asm_gather **out);
void asm_gather_free(asm_gather *g);

typedef struct asm_gather_view {
  const asm_gather *g;
  const void *vert, *ptr, *corner; /* where the maps run */
  lk_real *out;                    /* [n][3] */
} asm_gather_view;
/* Adds the maps of the index and of out (real [n][3], added to) to q; q->status tells. */
void asm_gather_open(asm_gather *g, buf_maps *q, loom_buf *out, asm_gather_view *v);
/* out += sum over the corners (e, a) of chunk c of contrib [chunk][arity][3], which lies
 * where the maps run; chunks must be given in ascending order. */
loom_status asm_gather_chunk(const asm_gather_view *v, const loom_exec *e, int32_t c,
                             const lk_real *contrib);

/* ---- 3x3 block matrix: mass, elements, contact ---- */
typedef struct asm_bsr asm_bsr;
/* pattern of the scene's element blocks; contact blocks may extend it later */
loom_status asm_bsr_new(loom_err *err, mem *m, const loom_exec *e, const loom_scene *sc,
                        asm_bsr **out);
void asm_bsr_free(asm_bsr *A);
/* Starts a matrix with values zero; its pattern also holds the (row, col) of contact (NULL: none).
 * pattern_id changes exactly when row_ptr or col change; a contact pattern that is a subset of the
 * last one used keeps it. */
loom_status asm_bsr_begin(asm_bsr *A, const loom_blocks3 *contact);
/* + scale * w_i I, w [n] */
loom_status asm_bsr_add_diagonal(asm_bsr *A, loom_buf *w, double scale);
/* + hess [ne][3a][3a], row-major, of element block b */
loom_status asm_bsr_add_elements(asm_bsr *A, int b, loom_buf *hess);
loom_status asm_bsr_add_contact(asm_bsr *A, const loom_blocks3 *contact);
/* The same for `count` elements from `first` on, hess [count][3a][3a]; in ascending order the sums
 * are those of all at once. */
loom_status asm_bsr_add_some(asm_bsr *A, int b, int32_t first, int32_t count, loom_buf *hess);
/* The same for the first `used` vertices of each element, hess [count][3 used][3 used]. */
loom_status asm_bsr_add_part(asm_bsr *A, int b, int32_t first, int32_t count, int32_t used,
                             loom_buf *hess);
/* + B'B, B [ne][3][3a], of element block b: its Hessians have rank 3 */
loom_status asm_bsr_add_squares(asm_bsr *A, int b, loom_buf *B);
/* rows and columns of fixed vertices become unit (diagonal block I, zero elsewhere):
 * with a zero right-hand side they do not move, and the matrix stays definite */
loom_status asm_bsr_finish(asm_bsr *A);
const loom_bsr3 *asm_bsr_matrix(const asm_bsr *A);

/* ---- scalar matrix of projective dynamics ---- */
typedef struct asm_csr asm_csr;
loom_status asm_csr_new(loom_err *err, mem *m, const loom_exec *e, const loom_scene *sc,
                        asm_csr **out);
void asm_csr_free(asm_csr *A);
loom_status asm_csr_begin(asm_csr *A);
loom_status asm_csr_add_mass(asm_csr *A, double scale);
loom_status asm_csr_add_elements(asm_csr *A, int b, loom_buf *weights); /* [ne][a][a] */
loom_status asm_csr_finish(asm_csr *A); /* fixed rows and columns become unit */
const loom_csr *asm_csr_matrix(const asm_csr *A);

#endif
