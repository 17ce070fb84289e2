/* blocks.c - see blocks.h. */
#include "linalg/blocks.h"

#include <string.h>

#include "linalg/blocks.kern.h"
#include "linalg/linalg.h"

static const lk_entry k_vertex_key = LK_ENTRY_MOVES(blocks_vertex_key, 1, 1);
static const lk_entry k_key_sum = LK_ENTRY_MOVES(blocks_key_sum, 20, 1);
static const lk_entry k_apply = LK_ENTRY_MOVES(blocks_apply, 18, 1),
                      k_append = LK_ENTRY_MOVES(blocks_append, 18, 4);

loom_status blocks_new(mem *m, loom_blocks3 *b)
{
  *b = (loom_blocks3){.struct_size = sizeof *b};
  LOOM_TRY(buf_new(m, "core", "blocks.row", LOOM_I32, 0, &b->row));
  LOOM_TRY(buf_new(m, "core", "blocks.col", LOOM_I32, 0, &b->col));
  return buf_new(m, "core", "blocks.val", LOOM_REAL, 0, &b->val);
}

void blocks_free(mem *m, loom_blocks3 *b)
{
  buf_free(m, b->row);
  buf_free(m, b->col);
  buf_free(m, b->val);
  memset(b, 0, sizeof *b);
}

loom_status blocks_reserve(mem *m, void *list, int64_t capacity)
{
  loom_blocks3 *const b = list;
  if (capacity <= b->capacity) return LOOM_OK;
  capacity += capacity / 4; /* so that slowly growing lists are not copied every time */
  LOOM_TRY(buf_resize(m, b->row, capacity));
  LOOM_TRY(buf_resize(m, b->col, capacity));
  LOOM_TRY(buf_resize(m, b->val, 9 * capacity));
  b->capacity = capacity;
  return LOOM_OK;
}

loom_status blocks_add(mem *m, const loom_exec *e, loom_blocks3 *out, const loom_blocks3 *b)
{
  LOOM_TRY(blocks_reserve(m, out, out->count + b->count));
  buf_maps q = {.m = m, .e = e};
  blocks_append_args a = {.row = buf_maps_add(&q, b->row, LOOM_READ),
                          .col = buf_maps_add(&q, b->col, LOOM_READ),
                          .val = buf_maps_add(&q, b->val, LOOM_READ),
                          .row2 = buf_maps_add(&q, out->row, LOOM_RDWR),
                          .col2 = buf_maps_add(&q, out->col, LOOM_RDWR),
                          .val2 = buf_maps_add(&q, out->val, LOOM_RDWR)};
  if (q.status == LOOM_OK) {
    a.row2 += out->count;
    a.col2 += out->count;
    a.val2 += 9 * out->count;
  }
  LOOM_TRY(buf_maps_launch(&q, &k_append, &a, b->count, NULL));
  out->count += b->count;
  return LOOM_OK;
}

/* ---- sums of rows by vertex ---- */

/* The items in the order of their vertices, each vertex's in the order of the list; id < 0: behind
 * all n. */
static loom_status order_by_vertex(mem *m, const loom_exec *e, loom_buf *id, int64_t count,
                                   int32_t n, loom_buf *key, loom_buf *perm)
{
  buf_maps q = {.m = m, .e = e};
  const blocks_key_args a = {
      .id = buf_maps_add(&q, id, LOOM_READ), .key = buf_maps_add(&q, key, LOOM_WRITE), .n = n};
  LOOM_TRY(buf_maps_launch(&q, &k_vertex_key, &a, count, NULL));
  return la_sort_u64(m, e, key, perm);
}

static loom_status sum_ordered(mem *m, const loom_exec *e, loom_buf *key, loom_buf *perm,
                               int64_t count, loom_buf *val, loom_buf *out)
{
  buf_maps q = {.m = m, .e = e};
  const blocks_sum_args a = {.key = buf_maps_add(&q, key, LOOM_READ),
                             .perm = buf_maps_add(&q, perm, LOOM_READ),
                             .val = buf_maps_add(&q, val, LOOM_READ),
                             .out = buf_maps_add(&q, out, LOOM_RDWR),
                             .m = count};
  return buf_maps_launch(&q, &k_key_sum, &a, buf_count(out) / 3, NULL);
}

loom_status sum_by_vertex(mem *m, const loom_exec *e, loom_buf *id, int64_t count, loom_buf *val,
                          loom_buf *out)
{
  loom_buf *key = NULL, *perm = NULL;
  if (count == 0) return LOOM_OK;
  LOOM_TRY(buf_new(m, "core", "vertex keys", LOOM_U64, count, &key));
  LOOM_TRY(buf_new(m, "core", "vertex order", LOOM_I32, count, &perm));
  LOOM_TRY(order_by_vertex(m, e, id, count, (int32_t)(buf_count(out) / 3), key, perm));
  LOOM_TRY(sum_ordered(m, e, key, perm, count, val, out));
  buf_free(m, key);
  buf_free(m, perm);
  return LOOM_OK;
}

/* ---- products ---- */

loom_status blocks_order(mem *m, const loom_exec *e, const loom_blocks3 *b, int32_t n,
                         blocks_ordered *out)
{
  *out = (blocks_ordered){.b = b};
  if (b->count == 0) return LOOM_OK;
  LOOM_TRY(buf_new(m, "core", "block keys", LOOM_U64, b->count, &out->key));
  LOOM_TRY(buf_new(m, "core", "block order", LOOM_I32, b->count, &out->perm));
  LOOM_TRY(buf_new(m, "core", "block products", LOOM_REAL, 3 * b->count, &out->val));
  return order_by_vertex(m, e, b->row, b->count, n, out->key, out->perm);
}

void blocks_order_free(mem *m, blocks_ordered *o)
{
  buf_free(m, o->key);
  buf_free(m, o->perm);
  buf_free(m, o->val);
  *o = (blocks_ordered){.b = NULL};
}

loom_status blocks_ordered_product(mem *m, const loom_exec *e, const blocks_ordered *o, loom_buf *p,
                                   loom_buf *q, loom_buf *out)
{
  if (o->b == NULL || o->b->count == 0) return LOOM_OK;
  buf_maps maps = {.m = m, .e = e};
  const blocks_apply_args a = {.H = buf_maps_add(&maps, o->b->val, LOOM_READ),
                               .col = buf_maps_add(&maps, o->b->col, LOOM_READ),
                               .p = buf_maps_add(&maps, p, LOOM_READ),
                               .q = buf_maps_add(&maps, q, LOOM_READ),
                               .val = buf_maps_add(&maps, o->val, LOOM_WRITE)};
  LOOM_TRY(buf_maps_launch(&maps, &k_apply, &a, o->b->count, NULL));
  return sum_ordered(m, e, o->key, o->perm, o->b->count, o->val, out);
}

loom_status blocks_product(mem *m, const loom_exec *e, const loom_blocks3 *b, loom_buf *p,
                           loom_buf *q, loom_buf *out)
{
  blocks_ordered ordered;
  LOOM_TRY(blocks_order(m, e, b, (int32_t)(buf_count(out) / 3), &ordered));
  LOOM_TRY(blocks_ordered_product(m, e, &ordered, p, q, out));
  blocks_order_free(m, &ordered);
  return LOOM_OK;
}
