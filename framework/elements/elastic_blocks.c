/* elastic_blocks.c - running a kernel on one block; see elastic_blocks.h. */
#include "elements/elastic_blocks.h"

loom_status elastic_check_vector(elastic *el, const loom_buf *x)
{
  const int64_t want = 3 * (int64_t)el->sc->num_verts;
  if (buf_type(x) == LOOM_REAL && buf_count(x) == want) return LOOM_OK;
  return err_set(mem_err(el->m), LOOM_E_ARG, "elements: buffer '%s' is not real [%d][3]",
                 buf_name(x), el->sc->num_verts);
}

elem_args elastic_map(elastic *el, int b, loom_buf *x, buf_maps *q)
{
  const loom_elem_block *blk = &el->sc->blocks[b];
  elem_args A = {.how = LOOM_HESS_EXACT};
  A.x = buf_maps_add(q, x, LOOM_READ);
  A.verts = buf_maps_add(q, blk->verts, LOOM_READ);
  if (blk->rest_len > 0) A.rest = buf_maps_add(q, blk->rest, LOOM_READ);
  A.mat = buf_maps_add(q, blk->mat, LOOM_READ);
  return A;
}

void elastic_moved(const elastic *el, const elem_type *t, int32_t num, int out)
{
  lk_moved(el->e, num, LK_MOVES(3 * t->arity + t->rest_len + t->mat_len + out, t->arity));
}

loom_status elastic_run(elastic *el, int b, const lk_entry *k, loom_buf *x, int writes,
                        loom_buf *out, loom_real *result)
{
  buf_maps q = {.m = el->m, .e = el->e};
  elem_args A = elastic_map(el, b, x, &q);
  if (out != NULL) A.out = buf_maps_add(&q, out, LOOM_WRITE);
  elastic_moved(el, el->blocks[b].type, el->sc->blocks[b].num_elems, writes);
  if (q.status == LOOM_OK)
    q.status = exec_run(mem_err(el->m), el->e, k, &A, el->sc->blocks[b].num_elems, result);
  return buf_maps_end(&q);
}

elem_args elastic_from(const elem_type *t, const elem_args *all, int32_t first)
{
  elem_args A = *all;
  A.verts += (int64_t)t->arity * first;
  if (t->rest_len > 0) A.rest += (int64_t)t->rest_len * first;
  A.mat += (int64_t)t->mat_len * first;
  return A;
}

kernel_counts elastic_counts(const elastic *el)
{
  return (kernel_counts){.launches = el->e->launches != NULL ? *el->e->launches : 0,
                         .bytes = el->e->bytes != NULL ? *el->e->bytes : 0};
}

void elastic_set_counts(const elastic *el, int b, kernel_counts before, int launches, int writes)
{
  const elem_type *const t = el->blocks[b].type;
  const int32_t num = el->sc->blocks[b].num_elems;
  if (el->e->launches != NULL) *el->e->launches = before.launches + launches;
  if (el->e->bytes == NULL) return;
  *el->e->bytes = before.bytes;
  elastic_moved(el, t, num, writes);
  lk_moved(el->e, (int64_t)num * t->arity, LK_MOVES(3, 1));
  lk_moved(el->e, el->sc->num_verts, LK_MOVES(6, 2));
}
