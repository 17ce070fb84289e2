/* blocks.c - see blocks.h. */
#include "linalg/blocks.h"

#include <string.h>

#include "linalg/blocks.kern.h"
#include "linalg/linalg.h"

static const lk_entry k_vertex_key = LK_ENTRY(blocks_vertex_key);
static const lk_entry k_key_sum = LK_ENTRY(blocks_key_sum);
static const lk_entry k_apply = LK_ENTRY(blocks_apply), k_append = LK_ENTRY(blocks_append);

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

loom_status blocks_product(mem *m, const loom_exec *e, const loom_blocks3 *b, loom_buf *p,
                           loom_buf *q, loom_buf *out)
{
  loom_buf *val = NULL;
  if (b->count == 0) return LOOM_OK;
  LOOM_TRY(buf_new(m, "core", "contact block products", LOOM_REAL, 3 * b->count, &val));
  buf_maps maps = {.m = m, .e = e};
  const blocks_apply_args a = {.H = buf_maps_add(&maps, b->val, LOOM_READ),
                               .col = buf_maps_add(&maps, b->col, LOOM_READ),
                               .p = buf_maps_add(&maps, p, LOOM_READ),
                               .q = buf_maps_add(&maps, q, LOOM_READ),
                               .val = buf_maps_add(&maps, val, LOOM_WRITE)};
  LOOM_TRY(buf_maps_launch(&maps, &k_apply, &a, b->count, NULL));
  const loom_status done = sum_by_vertex(m, e, b->row, b->count, val, out);
  buf_free(m, val);
  return done;
}

loom_status sum_by_vertex(mem *m, const loom_exec *e, loom_buf *id, int64_t count, loom_buf *val,
                          loom_buf *out)
{
  const int32_t n = (int32_t)(buf_count(out) / 3);
  loom_buf *key = NULL, *perm = NULL;
  if (count == 0) return LOOM_OK;
  LOOM_TRY(buf_new(m, "core", "vertex keys", LOOM_U64, count, &key));
  LOOM_TRY(buf_new(m, "core", "vertex order", LOOM_I32, count, &perm));
  buf_maps q = {.m = m, .e = e};
  const blocks_key_args ka = {
      .id = buf_maps_add(&q, id, LOOM_READ), .key = buf_maps_add(&q, key, LOOM_WRITE), .n = n};
  LOOM_TRY(buf_maps_launch(&q, &k_vertex_key, &ka, count, NULL));
  LOOM_TRY(la_sort_u64(m, e, key, perm));
  const blocks_sum_args sa = {.key = buf_maps_add(&q, key, LOOM_READ),
                              .perm = buf_maps_add(&q, perm, LOOM_READ),
                              .val = buf_maps_add(&q, val, LOOM_READ),
                              .out = buf_maps_add(&q, out, LOOM_RDWR),
                              .m = count};
  LOOM_TRY(buf_maps_launch(&q, &k_key_sum, &sa, n, NULL));
  buf_free(m, key);
  buf_free(m, perm);
  return LOOM_OK;
}
