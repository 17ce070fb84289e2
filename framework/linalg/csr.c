/* csr.c - the constant scalar matrix of projective dynamics.
 *
 * It is assembled when the step size or the materials change, so only the matrix itself is
 * kept: the incidence of a block is built for the call and dropped.
 */
#include <stdlib.h>

#include "linalg/assemble.h"
#include "linalg/assemble.kern.h"
#include "linalg/linalg.h"
#include "linalg/sparsity.h"

static const lk_entry k_mass = LK_ENTRY_MOVES(asm_csr_mass, 3, 4),
                      k_elem = LK_ENTRY_MOVES(asm_csr_elem, 0, 0),
                      k_unit = LK_ENTRY_MOVES(asm_csr_unit, 2, 30);

struct asm_csr {
  mem *m;
  const loom_exec *e;
  const loom_scene *sc;
  int any_fixed;
  loom_csr L;
};

static loom_status build_csr_pattern(asm_csr *A)
{
  const loom_scene *sc = A->sc;
  loom_status s = LOOM_OK;
  int32_t built = 0;
  asm_incidence *inc = calloc((size_t)sc->num_blocks + 1, sizeof *inc);
  if (inc == NULL) return err_set(mem_err(A->m), LOOM_E_NOMEM, "no memory for the matrix pattern");
  for (; s == LOOM_OK && built < sc->num_blocks; ++built)
    s = asm_incidence_build(A->m, &sc->blocks[built], sc->num_verts, &inc[built]);
  const asm_sparsity p = {.num_verts = sc->num_verts,
                          .num_blocks = sc->num_blocks,
                          .blocks = sc->blocks,
                          .inc = inc,
                          .row_ptr = A->L.row_ptr,
                          .col = A->L.col};
  if (s == LOOM_OK) s = asm_sparsity_build(A->m, &p);
  while (built > 0) asm_incidence_drop(A->m, &inc[--built]);
  free(inc);
  return s;
}

static loom_status init_csr(asm_csr *A)
{
  loom_csr *L = &A->L;
  LOOM_TRY(asm_any_fixed(A->m, A->sc, &A->any_fixed));
  LOOM_TRY(buf_new(A->m, "core", "csr row_ptr", LOOM_I64, 0, &L->row_ptr));
  LOOM_TRY(buf_new(A->m, "core", "csr col", LOOM_I32, 0, &L->col));
  LOOM_TRY(build_csr_pattern(A));
  L->struct_size = sizeof *L;
  L->num_rows = A->sc->num_verts;
  L->nnz = buf_count(L->col);
  L->pattern_id = 1;
  return buf_new(A->m, "core", "csr val", LOOM_REAL, L->nnz, &L->val);
}

loom_status asm_csr_new(loom_err *err, mem *m, const loom_exec *e, const loom_scene *sc,
                        asm_csr **out)
{
  asm_csr *A = calloc(1, sizeof *A);
  *out = A;
  if (A == NULL) return err_set(err, LOOM_E_NOMEM, "no memory for the matrix");
  A->m = m;
  A->e = e;
  A->sc = sc;
  const loom_status s = init_csr(A);
  if (s == LOOM_OK) return s;
  *err = *mem_err(m);
  asm_csr_free(A);
  *out = NULL;
  return s;
}

void asm_csr_free(asm_csr *A)
{
  if (A == NULL) return;
  buf_free(A->m, A->L.row_ptr);
  buf_free(A->m, A->L.col);
  buf_free(A->m, A->L.val);
  free(A);
}

loom_status asm_csr_begin(asm_csr *A) { return la_fill(A->m, A->e, A->L.val, 0); }

static loom_status run_csr_rows(asm_csr *A, const lk_entry *k, double scale)
{
  asm_row_args args = {.scale = (lk_real)scale};
  buf_maps q = {.m = A->m, .e = A->e};
  args.row_ptr = buf_maps_add(&q, A->L.row_ptr, LOOM_READ);
  args.col = buf_maps_add(&q, A->L.col, LOOM_READ);
  args.val = buf_maps_add(&q, A->L.val, LOOM_RDWR);
  args.mass = buf_maps_add(&q, A->sc->mass, LOOM_READ);
  args.fixed = buf_maps_add(&q, A->sc->fixed, LOOM_READ);
  if (q.status == LOOM_OK) q.status = exec_run(mem_err(A->m), A->e, k, &args, A->L.num_rows, NULL);
  return buf_maps_end(&q);
}

loom_status asm_csr_add_mass(asm_csr *A, double scale) { return run_csr_rows(A, &k_mass, scale); }

loom_status asm_csr_finish(asm_csr *A)
{
  return A->any_fixed ? run_csr_rows(A, &k_unit, 0) : LOOM_OK;
}

static loom_status add_element_rows(asm_csr *A, const loom_elem_block *block,
                                    const asm_incidence *inc, loom_buf *weights)
{
  asm_csr_elem_args args = {.first = inc->first, .arity = inc->arity};
  buf_maps q = {.m = A->m, .e = A->e};
  args.ptr = buf_maps_add(&q, inc->ptr, LOOM_READ);
  args.corner = buf_maps_add(&q, inc->corner, LOOM_READ);
  args.verts = buf_maps_add(&q, block->verts, LOOM_READ);
  args.row_ptr = buf_maps_add(&q, A->L.row_ptr, LOOM_READ);
  args.col = buf_maps_add(&q, A->L.col, LOOM_READ);
  args.weights = buf_maps_add(&q, weights, LOOM_READ);
  args.val = buf_maps_add(&q, A->L.val, LOOM_RDWR);
  lk_moved(A->e, (int64_t)block->num_elems * block->arity * block->arity, LK_MOVES(3, 2));
  if (q.status == LOOM_OK)
    q.status = exec_run(mem_err(A->m), A->e, &k_elem, &args, inc->count, NULL);
  return buf_maps_end(&q);
}

loom_status asm_csr_add_elements(asm_csr *A, int b, loom_buf *weights)
{
  asm_incidence inc;
  if (b < 0 || b >= A->sc->num_blocks)
    return err_set(mem_err(A->m), LOOM_E_ARG, "element block %d; the scene has %d", b,
                   A->sc->num_blocks);
  const loom_elem_block *block = &A->sc->blocks[b];
  if (buf_type(weights) != LOOM_REAL ||
      buf_count(weights) < (int64_t)block->num_elems * block->arity * block->arity)
    return err_set(mem_err(A->m), LOOM_E_ARG, "%s: buffer '%s' is not real [%d][%d][%d]",
                   block->type, buf_name(weights), block->num_elems, block->arity, block->arity);
  LOOM_TRY(asm_incidence_build(A->m, block, A->sc->num_verts, &inc));
  const loom_status s = add_element_rows(A, block, &inc, weights);
  asm_incidence_drop(A->m, &inc);
  return s;
}

const loom_csr *asm_csr_matrix(const asm_csr *A) { return &A->L; }
