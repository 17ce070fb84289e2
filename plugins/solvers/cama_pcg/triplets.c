/* triplets.c - see triplets.h. */
#include "triplets.h"

#include "triplets.kern.h"

static const lk_entry k_write = LK_ENTRY_MOVES(triplet_write, 67, 4),
                      k_diagonal = LK_ENTRY_MOVES(triplet_diagonal, 14, 0);
static const lk_entry k_head = LK_ENTRY_MOVES(triplet_head, 3, 0),
                      k_list = LK_ENTRY_MOVES(triplet_list, 1, 0);
static const lk_entry k_rows = LK_ENTRY_MOVES(triplet_rows, 16, 0),
                      k_sum = LK_ENTRY_MOVES(triplet_sum, 1382, 323);

/* Keys of one slot. */
static int64_t count_slot_keys(const triplets *t) { return t->entries ? 9 : 1; }

loom_status triplets_new(triplets *t, const bcsr *A, int entries)
{
  t->entries = entries;
  const plug_buf all[] = {
      {"triplet keys", LOOM_U64, 0, &t->key},       {"triplet order", LOOM_I32, 0, &t->perm},
      {"triplets", LOOM_REAL, 0, &t->each},         {"first triplets", LOOM_I64, 0, &t->head},
      {"places of blocks", LOOM_I64, 1, &t->place}, {"starts of blocks", LOOM_I64, 1, &t->start}};
  return plug_bufs_new(A->host, all, LOOM_COUNT(all));
}

loom_status triplets_begin(triplets *t, const bcsr *A, int64_t slots)
{
  const loom_host *const host = A->host;
  t->slots = A->n + slots;
  const int64_t keys = count_slot_keys(t) * t->slots;
  LOOM_CHECK(host, keys <= LK_MAX_ELEMS, LOOM_E_UNSUPPORTED,
             "%lld places to sort are more than %d; use assembly = staged", (long long)keys,
             LK_MAX_ELEMS);
  LOOM_TRY(host->buf_resize(host, t->key, keys));
  LOOM_TRY(host->buf_resize(host, t->perm, keys));
  LOOM_TRY(host->buf_resize(host, t->each, 9 * t->slots));
  LOOM_TRY(host->buf_resize(host, t->head, keys));
  LOOM_TRY(host->buf_resize(host, t->place, keys + 1));
  plug_maps m = plug_maps_on(host, A->e);
  const triplet_write_args a = {
      .key = plug_rdwr(&m, t->key), .val = plug_rdwr(&m, t->each), .entries = t->entries};
  return plug_launch(&m, &k_diagonal, &a, A->n, NULL);
}

loom_status triplets_add(triplets *t, const bcsr *A, const bcsr_kind *kind, int64_t *first)
{
  plug_maps m = plug_maps_on(A->host, A->e);
  const triplet_write_args a = {.node = plug_read(&m, kind->node),
                                .to = plug_read(&m, kind->to),
                                .K = plug_read(&m, kind->K),
                                .key = plug_rdwr(&m, t->key),
                                .val = plug_rdwr(&m, t->each),
                                .first = A->n + *first,
                                .arity = kind->arity,
                                .entries = t->entries};
  *first += (int64_t)kind->arity * kind->arity * kind->count;
  return plug_launch(&m, &k_write, &a, kind->count, NULL);
}

loom_status triplets_sum(triplets *t, bcsr *A)
{
  const loom_host *const host = A->host;
  const int64_t keys = count_slot_keys(t) * t->slots;
  int64_t places;
  LOOM_TRY(host->sort_u64(host, A->e, t->key, t->perm));
  plug_maps m = plug_maps_on(host, A->e);
  triplet_sum_args a = {.key = plug_read(&m, t->key),
                        .head = plug_write(&m, t->head),
                        .keys = keys,
                        .n = A->n,
                        .entries = t->entries};
  LOOM_TRY(plug_launch(&m, &k_head, &a, keys, NULL));
  LOOM_TRY(host->scan_i64(host, A->e, t->head, t->place, &places));
  A->nnz = places / count_slot_keys(t);
  LOOM_TRY(host->buf_resize(host, t->start, places + 1));
  LOOM_TRY(host->buf_resize(host, A->row, (int64_t)A->n + 1));
  LOOM_TRY(host->buf_resize(host, A->diag, A->n));
  LOOM_TRY(host->buf_resize(host, A->col, A->nnz));
  LOOM_TRY(host->buf_resize(host, A->val, 9 * A->nnz));
  ++A->pattern_id;
  a.key = plug_read(&m, t->key);
  a.perm = plug_read(&m, t->perm);
  a.each = plug_read(&m, t->each);
  a.head = plug_rdwr(&m, t->head);
  a.place = plug_read(&m, t->place);
  a.start = plug_rdwr(&m, t->start);
  a.row = plug_write(&m, A->row);
  a.col = plug_write(&m, A->col);
  a.diag = plug_write(&m, A->diag);
  a.val = plug_write(&m, A->val);
  (void)plug_run_on(&m, &k_list, &a, keys, NULL);
  (void)plug_run_on(&m, &k_rows, &a, (int64_t)A->n + 1, NULL);
  return plug_launch(&m, &k_sum, &a, A->n, NULL);
}
