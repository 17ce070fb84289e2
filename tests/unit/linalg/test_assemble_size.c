/* test_assemble_size.c - rows of any length, and the memory of assembly. */
#include "linalg/assemble.h"
#include "support/bufs.h"
#include "support/grid.h"

/* a fan: one vertex in very many elements, rows longer than the insertion sort takes */
Test(assemble_size, long_rows_are_sorted)
{
  const int64_t N = 3000;
  loom_err err = {0};
  mem *m = t_mem(1);
  loom_exec e = t_exec(1);
  int32_t *verts = malloc(2 * (size_t)N * sizeof *verts);
  cr_assert(verts != NULL);
  for (int64_t i = 0; i < N; ++i) {
    verts[2 * i] = 17;
    verts[2 * i + 1] = (int32_t)(i * 1009 % N);
  }
  const loom_elem_block block = {.type = "spring",
                                 .num_elems = (int32_t)N,
                                 .arity = 2,
                                 .verts = t_buf(m, LOOM_I32, 2 * N, verts)};
  const loom_scene sc = {.num_verts = (int32_t)N,
                         .num_blocks = 1,
                         .blocks = &block,
                         .mass = t_buf(m, LOOM_REAL, N, NULL),
                         .fixed = t_buf(m, LOOM_U8, N, NULL)};
  asm_csr *A = NULL;
  cr_assert_eq(asm_csr_new(&err, m, &e, &sc, &A), LOOM_OK, "%s", err.text);
  const loom_csr *L = asm_csr_matrix(A);
  int64_t *ptr = t_read(m, L->row_ptr);
  int32_t *col = t_read(m, L->col);
  cr_assert_eq(L->nnz, N + 2 * (N - 1));
  cr_assert_eq(ptr[18] - ptr[17], N);
  for (int j = 0; j < N; ++j) cr_assert_eq(col[ptr[17] + j], j);
  free(ptr);
  free(col);
  free(verts);
  asm_csr_free(A);
  mem_free(m);
  exec_close(&e);
}

/* Projective dynamics keeps, per vertex of a sheet: (6 + 12) x 2 B corners and in every chunk of
 * 1024 elements 4 B for each vertex it touches (1.2 of 2 blocks; 1.6 x here, where a chunk is few
 * rows of the sheet), 13 x 12 B nonzeros and 8 B row begin of the matrix: 214 B, no more. */
Test(assemble_size, sheet_costs_what_its_arrays_cost)
{
  mem *m = t_mem(0);
  loom_exec e = t_exec(2);
  loom_err err = {0};
  grid_sheet g;
  asm_gather *gather[2] = {NULL, NULL};
  asm_csr *A = NULL;
  asm_bsr *B = NULL;
  grid_make(m, 100, &g);
  const int64_t n = g.sc.num_verts, before = mem_bytes(m, LOOM_AT_HOST);
  loom_buf *weights[2];
  for (int b = 0; b < 2; ++b) {
    const int64_t reals = (int64_t)g.blocks[b].num_elems * (b == 0 ? 9 : 16);
    cr_assert_eq(asm_gather_new(&err, m, &g.blocks[b], (int32_t)n, 1024, &gather[b]), LOOM_OK);
    T_OK(m, buf_new(m, "test", "weights", LOOM_REAL, reals, &weights[b]));
  }
  const int64_t index_bytes = mem_bytes(m, LOOM_AT_HOST) - before;
  cr_assert_eq(asm_csr_new(&err, m, &e, &g.sc, &A), LOOM_OK);
  T_OK(m, asm_csr_begin(A));
  for (int b = 0; b < 2; ++b) T_OK(m, asm_csr_add_elements(A, b, weights[b]));
  for (int b = 0; b < 2; ++b) buf_free(m, weights[b]);
  T_OK(m, asm_csr_finish(A));
  const int64_t pd = mem_bytes(m, LOOM_AT_HOST) - before;
  cr_assert_eq(asm_bsr_new(&err, m, &e, &g.sc, &B), LOOM_OK);
  T_OK(m, asm_bsr_begin(B, NULL));
  const int64_t newton = mem_bytes(m, LOOM_AT_HOST) - before - pd;
  const loom_bsr3 *M = asm_bsr_matrix(B);
  const int64_t matrix = 8 * (n + 1) + M->num_blocks * (4 + 9 * (int64_t)sizeof(loom_real));
  cr_log_info("bytes per vertex: gather %.1f, gather + csr %.1f, bsr %.1f of which index %.1f",
              (double)index_bytes / (double)n, (double)pd / (double)n, (double)newton / (double)n,
              (double)(newton - matrix) / (double)n);
  cr_assert_leq(index_bytes, 50 * n);
  cr_assert_leq(pd, 214 * n);
  cr_assert_leq(newton - matrix, 212 * n); /* incidence, and 66 places of 2 B */
  for (int b = 0; b < 2; ++b) asm_gather_free(gather[b]);
  asm_csr_free(A);
  asm_bsr_free(B);
  mem_free(m);
  exec_close(&e);
}
