/* elastic_form.c - see elastic_form.h. */
#include "elements/elastic_form.h"

#include <stdlib.h>

#include "elements/elastic.kern.h"
#include "elements/elastic_form.kern.h"

static const lk_entry k_form = LK_ENTRY_MOVES(elastic_form, 7, 4),
                      k_parts = LK_ENTRY_MOVES(elastic_parts, 32, 0),
                      k_sum = LK_ENTRY_MOVES(elastic_sum, 1, 0);

struct elastic_form {
  mem *m;
  loom_scene one; /* the scene with this block alone, for the pattern */
  asm_csr *A;
  loom_buf *energy, *part; /* real [n] and [n / ELASTIC_PART], J */
};

loom_status elastic_form_asked(elastic *el, int b, int *quadratic)
{
  const loom_elem_block *const blk = &el->sc->blocks[b];
  const elem_type *const t = el->blocks[b].type;
  *quadratic = 0;
  if (t->is_quadratic == NULL || blk->num_elems == 0) return LOOM_OK;
  buf_maps q = {.m = el->m}; /* on the host */
  const loom_real *const rest = buf_maps_add(&q, blk->rest, LOOM_READ);
  int32_t i = 0;
  if (q.status == LOOM_OK)
    while (i < blk->num_elems && t->is_quadratic(rest + (int64_t)t->rest_len * i)) ++i;
  *quadratic = i == blk->num_elems;
  return buf_maps_end(&q);
}

void elastic_form_free(elastic_form *f)
{
  if (f == NULL) return;
  asm_csr_free(f->A);
  buf_free(f->m, f->energy);
  buf_free(f->m, f->part);
  free(f);
}

static loom_status create_form(elastic *el, int b, elastic_form *f)
{
  loom_buf *w = NULL;
  const loom_elem_block *const blk = &el->sc->blocks[b];
  const int32_t n = el->sc->num_verts, a = blk->arity;
  f->one = *el->sc;
  f->one.blocks = blk;
  f->one.num_blocks = 1;
  LOOM_TRY(buf_new(el->m, "core", "form energies", LOOM_REAL, n, &f->energy));
  LOOM_TRY(buf_new(el->m, "core", "form energies, summed", LOOM_REAL,
                   (n + ELASTIC_PART - 1) / ELASTIC_PART, &f->part));
  LOOM_TRY(asm_csr_new(mem_err(el->m), el->m, el->e, &f->one, &f->A));
  LOOM_TRY(asm_csr_begin(f->A));
  LOOM_TRY(
      buf_new(el->m, "core", "element weights", LOOM_REAL, (int64_t)blk->num_elems * a * a, &w));
  loom_status s = elastic_run(el, b, el->blocks[b].type->weights, el->sc->rest_x, a * a, w, NULL);
  if (s == LOOM_OK) s = asm_csr_add_elements(f->A, 0, w);
  buf_free(el->m, w);
  return s;
}

static loom_status open_form(elastic *el, int b, elastic_form **out)
{
  elastic_form *const f = calloc(1, sizeof *f);
  if (f == NULL) return err_set(mem_err(el->m), LOOM_E_NOMEM, "no memory for a quadratic form");
  f->m = el->m;
  const loom_status s = create_form(el, b, f);
  if (s == LOOM_OK)
    *out = f;
  else
    elastic_form_free(f);
  return s;
}

loom_status elastic_form_add(elastic *el, int b, loom_buf *x, loom_buf *grad, int slot)
{
  el_block *const blk = &el->blocks[b];
  if (blk->form == NULL) LOOM_TRY(open_form(el, b, &blk->form));
  const loom_csr *const A = asm_csr_matrix(blk->form->A);
  loom_err *const err = mem_err(el->m);
  const int32_t n = A->num_rows;
  buf_maps q = {.m = el->m, .e = el->e};
  elastic_form_args a = {.row_ptr = buf_maps_add(&q, A->row_ptr, LOOM_READ)};
  a.col = buf_maps_add(&q, A->col, LOOM_READ);
  a.val = buf_maps_add(&q, A->val, LOOM_READ);
  a.x = buf_maps_add(&q, x, LOOM_READ);
  if (grad != NULL) a.grad = buf_maps_add(&q, grad, LOOM_RDWR);
  if (slot >= 0) a.energy = buf_maps_add(&q, blk->form->energy, LOOM_WRITE);
  lk_real *const part = slot >= 0 ? buf_maps_add(&q, blk->form->part, LOOM_WRITE) : NULL;
  lk_moved(el->e, A->nnz, LK_MOVES(4, 1));
  if (q.status == LOOM_OK) q.status = exec_run(err, el->e, &k_form, &a, n, NULL);
  if (q.status == LOOM_OK && slot >= 0) {
    const int32_t parts = (n + ELASTIC_PART - 1) / ELASTIC_PART;
    const elastic_sum_args first = {a.energy, part, n, 0}, all = {part, NULL, 0, 0};
    q.status = exec_run(err, el->e, &k_parts, &first, parts, NULL);
    if (q.status == LOOM_OK)
      q.status = exec_run(err, el->e, &k_sum, &all, parts, el->e->result + slot);
  }
  return buf_maps_end(&q);
}
