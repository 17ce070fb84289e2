/* assemble.kern.h - gathering kernels: argument blocks and prototypes.
 *
 * A corner is one vertex slot of an element, numbered q = arity * element + slot; it is
 * also the row number of its contribution, its Hessian rows and its weights.
 */
#ifndef LOOM_LINALG_ASSEMBLE_KERN_H
#define LOOM_LINALG_ASSEMBLE_KERN_H

#include "loom/kernel.h"

/* One chunk of elements: adds the vectors of its corners to their vertices.  Indices count from the
 * chunk's first corner and first vertex, so that 16 bits nearly always suffice. */
typedef struct asm_vec_args {
  const uint16_t *LK_RESTRICT vert;   /* [n], vertex base + vert[i], ascending; or NULL: */
  const uint16_t *LK_RESTRICT ptr;    /* [n+1], corners of row i */
  const uint16_t *LK_RESTRICT corner; /* [ptr[n]], ascending in each row */
  const int32_t *LK_RESTRICT wide_vert, *LK_RESTRICT wide_ptr, *LK_RESTRICT wide_corner;
  const lk_real *LK_RESTRICT contrib; /* [corners of the chunk][3] */
  lk_real *LK_RESTRICT out;           /* [num_verts][3] */
  int32_t base, reserved;
} asm_vec_args;

/* Matrix rows; bsr: val [.][3][3], csr: val [.] */
typedef struct asm_row_args {
  const int64_t *LK_RESTRICT row_ptr; /* [n+1] */
  const int32_t *LK_RESTRICT col;     /* [row_ptr[n]], ascending in each row */
  lk_real *LK_RESTRICT val;
  const lk_real *LK_RESTRICT mass;  /* [n], kg, or any other diagonal */
  const uint8_t *LK_RESTRICT fixed; /* [n] */
  lk_real scale;                    /* of it: of the mass, 1/s^2 */
} asm_row_args;

/* One block's element matrices into bsr rows: where each 3x3 piece goes is stored. */
typedef struct asm_bsr_elem_args {
  const int32_t *LK_RESTRICT ptr;     /* [n+1], corners of vertex first + i */
  const int32_t *LK_RESTRICT corner;  /* [ptr[n]], ascending in each row */
  const uint16_t *LK_RESTRICT pos;    /* [corners in row order][arity], offset in the base row */
  const int64_t *LK_RESTRICT row_ptr; /* [num_verts+1] of the base pattern */
  const int32_t *LK_RESTRICT map;     /* base -> present pattern, NULL: the same */
  const lk_real *LK_RESTRICT hess;    /* [.][3a][3a] of elements from `from` on; asm_bsr_square: B
                                       * [.][3][3a] of H = B'B */
  lk_real *LK_RESTRICT val;           /* [.][3][3] */
  int32_t first, arity;
  int32_t from, until; /* of these elements alone; until 0: of all */
  int32_t used;        /* hess is [.][3 used][3 used] of each element's first vertices; 0: arity */
  int32_t reserved;
} asm_bsr_elem_args;

/* One block's element matrices into csr rows: places are searched (a rare operation). */
typedef struct asm_csr_elem_args {
  const int32_t *LK_RESTRICT ptr, *LK_RESTRICT corner; /* as asm_bsr_elem_args */
  const int32_t *LK_RESTRICT verts;                    /* [ne][a] */
  const int64_t *LK_RESTRICT row_ptr;
  const int32_t *LK_RESTRICT col;
  const lk_real *LK_RESTRICT weights; /* [ne][a][a] */
  lk_real *LK_RESTRICT val;
  int32_t first, arity;
} asm_csr_elem_args;

/* Contact triplets: their places, then their sums. */
typedef struct asm_place_args {
  const int32_t *LK_RESTRICT row, *LK_RESTRICT col; /* [n] vertex ids of the triplets */
  const int64_t *LK_RESTRICT row_ptr;
  const int32_t *LK_RESTRICT cols;
  uint64_t *LK_RESTRICT place; /* [n] index into the pattern, ASM_NO_PLACE: not in it */
  int32_t num_rows;
} asm_place_args;
#define ASM_NO_PLACE     UINT64_MAX
#define ASM_MOST_CORNERS 12 /* of an element */

typedef struct asm_triplet_args {
  const uint64_t *LK_RESTRICT place; /* [n], ascending */
  const int32_t *LK_RESTRICT order;  /* [n], triplet of each place */
  const lk_real *LK_RESTRICT block;  /* [.][3][3] */
  lk_real *LK_RESTRICT val;          /* [.][3][3] */
  int64_t n;
} asm_triplet_args;

LK_DECLARE(asm_vec_gather, asm_vec_args)
LK_DECLARE(asm_bsr_mass, asm_row_args)
LK_DECLARE(asm_bsr_unit, asm_row_args)
LK_DECLARE(asm_bsr_elem, asm_bsr_elem_args)
LK_DECLARE(asm_bsr_elem_number, asm_bsr_elem_args) /* 9 n elements */
LK_DECLARE(asm_bsr_square, asm_bsr_elem_args)
LK_DECLARE(asm_bsr_square_number, asm_bsr_elem_args) /* 9 n elements */
LK_DECLARE(asm_csr_mass, asm_row_args)
LK_DECLARE(asm_csr_unit, asm_row_args)
LK_DECLARE(asm_csr_elem, asm_csr_elem_args)
LK_DECLARE(asm_place, asm_place_args)
LK_DECLARE(asm_missing, asm_triplet_args) /* max: 1 if a triplet has no place */
LK_DECLARE(asm_triplet_sum, asm_triplet_args)

#endif
