/* sparsity.h - which corners touch a vertex, and which matrix columns that makes. */
#ifndef LOOM_LINALG_PATTERN_H
#define LOOM_LINALG_PATTERN_H

#include "mem/mem.h"

/* Corners (arity * element + slot, see assemble.kern.h) around the vertices
 * first .. first + count that the block touches, ascending for each vertex. */
typedef struct asm_incidence {
  int32_t first, count, arity;
  loom_buf *ptr;    /* i32 [count+1] */
  loom_buf *corner; /* i32 [ne * arity] */
} asm_incidence;

loom_status asm_incidence_build(mem *m, const loom_elem_block *block, int32_t num_verts,
                                asm_incidence *inc);
void asm_incidence_drop(mem *m, asm_incidence *inc);

/* Rows of a square pattern: the diagonal and all vertices that share an element.
 * row_ptr (i64 [n+1]) and col (i32) are reset and written on the host. */
typedef struct asm_sparsity {
  int32_t num_verts, num_blocks;
  const loom_elem_block *blocks; /* [num_blocks] */
  const asm_incidence *inc;      /* [num_blocks] */
  loom_buf *row_ptr, *col;
  loom_buf *const *pos; /* [num_blocks] u8 for u16 [corners in row order][arity], or NULL */
} asm_sparsity;
loom_status asm_sparsity_build(mem *m, const asm_sparsity *p);

/* The union of a base pattern and further places `key` (u64, row << 32 | col, ascending,
 * repetitions allowed): row_ptr, col, and the new index of every base nonzero (map, i32).
 * On the host, with `threads`. */
typedef struct asm_union {
  int32_t num_rows;
  int threads;
  loom_buf *base_ptr, *base_col, *key; /* read */
  loom_buf *row_ptr, *col, *map;       /* reset and written */
} asm_union;
loom_status asm_sparsity_union(mem *m, const asm_union *u);

/* Is any vertex fixed? */
loom_status asm_any_fixed(mem *m, const loom_scene *sc, int *any);

#endif
