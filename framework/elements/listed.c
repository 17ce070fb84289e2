/* listed.c - gradients of listed elements, and rows and diagonal blocks of listed corners: the
 * services elem_gradients() and elem_corners() of loom/host.h. */
#include "elements/listed.kern.h"
#include "mem/mem.h"

loom_status elem_listed_run(mem *m, const loom_exec *e, const loom_elem_block *b,
                            const loom_elem_rows *r, loom_buf *x, int how, loom_buf *grad,
                            loom_buf *diag)
{
  const elem_type *const t = elem_find(b->type);
  const lk_entry *const k = diag != NULL ? t->corner : t->listed;
  buf_maps q = {.m = m, .e = e};
  elem_list_args a = {.all = {.how = how}};
  a.all.x = buf_maps_add(&q, x, LOOM_READ);
  a.all.verts = buf_maps_add(&q, b->verts, LOOM_READ);
  if (b->rest_len > 0) a.all.rest = buf_maps_add(&q, b->rest, LOOM_READ);
  a.all.mat = buf_maps_add(&q, b->mat, LOOM_READ);
  const int32_t *const elem = buf_maps_add(&q, r->elem, LOOM_READ);
  const int32_t *const corner = diag != NULL ? buf_maps_add(&q, r->corner, LOOM_READ) : NULL;
  lk_real *const g = buf_maps_add(&q, grad, LOOM_RDWR);
  lk_real *const d = diag != NULL ? buf_maps_add(&q, diag, LOOM_RDWR) : NULL;
  if (q.status != LOOM_OK) return buf_maps_end(&q);
  a.elem = elem + r->first;
  a.grad = g + r->to * (diag != NULL ? 3 : 3 * b->arity);
  if (diag != NULL) {
    a.corner = corner + r->first;
    a.diag = d + 9 * r->to;
  }
  const int out = diag != NULL ? 3 + 9 : 3 * b->arity;
  lk_moved(e, r->count, LK_MOVES(3 * b->arity + b->rest_len + b->mat_len + out, b->arity + 2));
  return buf_maps_launch(&q, k, &a, r->count, NULL);
}

loom_status elem_weights_run(mem *m, const loom_exec *e, const loom_elem_block *b, loom_buf *x,
                             loom_buf *out)
{
  const elem_type *const t = elem_find(b->type);
  buf_maps q = {.m = m, .e = e};
  elem_args a = {.x = buf_maps_add(&q, x, LOOM_READ)};
  a.verts = buf_maps_add(&q, b->verts, LOOM_READ);
  if (b->rest_len > 0) a.rest = buf_maps_add(&q, b->rest, LOOM_READ);
  a.mat = buf_maps_add(&q, b->mat, LOOM_READ);
  a.out = buf_maps_add(&q, out, LOOM_RDWR);
  return buf_maps_launch(&q, t->weights, &a, b->num_elems, NULL);
}
