/* bcsr_steady.c - see bcsr_steady.h. */
#include "kit/bcsr_steady.h"

#include <string.h>

static const lk_entry k_corner = LK_ENTRY_MOVES(steady_corner, 1, 1),
                      k_head = LK_ENTRY_MOVES(steady_head, 3, 0);
static const lk_entry k_from = LK_ENTRY_MOVES(steady_from, 11, 0),
                      k_list = LK_ENTRY_MOVES(steady_list, 10, 21);
static const lk_entry k_add = LK_ENTRY_MOVES(steady_add, 0, 0);

/* ---- the base ---- */

/* Frees the index that bcsr_index() made; once places are known it is not needed. */
static void drop_index(const bcsr *A, bcsr_kind *k)
{
  loom_buf **const all[] = {&k->key, &k->owner, &k->corner, &k->first, &k->squares, &k->block};
  for (size_t i = 0; i < LOOM_COUNT(all); ++i) {
    A->host->buf_free(A->host, *all[i]);
    *all[i] = NULL;
  }
}

loom_status bcsr_base(bcsr *A, int32_t n, bcsr_kind *kinds, int num)
{
  const loom_host *const host = A->host;
  A->n = n;
  for (int k = 0; k < num; ++k) LOOM_TRY(bcsr_index(A, n, &kinds[k]));
  LOOM_TRY(bcsr_pattern(A, kinds, num));
  LOOM_CHECK(host, A->nnz <= INT32_MAX, LOOM_E_UNSUPPORTED, "%lld blocks in a matrix",
             (long long)A->nnz);
  for (int k = 0; k < num; ++k) drop_index(A, &kinds[k]);
  loom_buf *row, *col;
  LOOM_TRY(host->buf_new(host, "base rows", LOOM_I64, (int64_t)n + 1, &row));
  LOOM_TRY(host->buf_new(host, "base columns", LOOM_I32, A->nnz, &col));
  LOOM_TRY(host->buf_new(host, "places of the base", LOOM_I32, A->nnz, &A->map));
  LOOM_TRY(host->buf_copy(host, A->e, row, A->row));
  LOOM_TRY(host->buf_copy(host, A->e, col, A->col));
  A->base_row = row;
  A->base_col = col;
  return LOOM_OK;
}

/* ---- elements ---- */

typedef struct scratch {
  loom_buf *key, *head, *seg, *from;
} scratch;

static steady_args bind_steady_args(const bcsr *A, const bcsr_steady *s, plug_maps *m)
{
  return (steady_args){.row = plug_rdwr(m, s->row),
                       .start = plug_rdwr(m, s->start),
                       .corner = plug_rdwr(m, s->corner),
                       .place = plug_rdwr(m, s->place),
                       .base_row = plug_read(m, A->base_row),
                       .base_col = plug_read(m, A->base_col),
                       .corners = s->corners,
                       .part = s->part,
                       .n = A->n,
                       .arity = s->arity};
}

static loom_status fetch_from(bcsr_steady *s, const bcsr *A, loom_buf *from)
{
  plug_maps m = plug_maps_on(A->host, A->e);
  const int64_t *const there = plug_read_host(&m, from);
  LOOM_TRY(m.status);
  memcpy(s->from, there, (size_t)(s->parts + 1) * sizeof *there);
  return plug_unbind(&m);
}

static loom_status sort_steady_corners(bcsr_steady *s, bcsr *A, const bcsr_kind *kind,
                                       const scratch *t)
{
  const loom_host *const host = A->host;
  int64_t segments;
  plug_maps m = plug_maps_on(host, A->e);
  steady_args a = bind_steady_args(A, s, &m);
  a.node = plug_read(&m, kind->node);
  a.key = plug_write(&m, t->key);
  LOOM_TRY(plug_launch(&m, &k_corner, &a, s->corners, NULL));
  LOOM_TRY(host->sort_u64(host, A->e, t->key, s->corner));
  a.key = plug_rdwr(&m, t->key);
  a.head = plug_write(&m, t->head);
  LOOM_TRY(plug_launch(&m, &k_head, &a, s->corners, NULL));
  LOOM_TRY(host->scan_i64(host, A->e, t->head, t->seg, &segments));
  LOOM_TRY(host->buf_resize(host, s->row, segments));
  LOOM_TRY(host->buf_resize(host, s->start, segments + 1));
  a = bind_steady_args(A, s, &m);
  a.node = plug_read(&m, kind->node);
  a.key = plug_rdwr(&m, t->key);
  a.head = plug_rdwr(&m, t->head);
  a.seg = plug_read(&m, t->seg);
  a.from = plug_write(&m, t->from);
  (void)plug_run_on(&m, &k_from, &a, s->parts + 1, NULL);
  LOOM_TRY(plug_launch(&m, &k_list, &a, s->corners, NULL));
  return fetch_from(s, A, t->from);
}

loom_status bcsr_steady_new(bcsr_steady *s, bcsr *A, const bcsr_kind *kind, int64_t part)
{
  const loom_host *const host = A->host;
  const int64_t corners = kind->arity * kind->count, parts = (kind->count + part - 1) / part;
  scratch t;
  *s = (bcsr_steady){.count = kind->count,
                     .part = part,
                     .parts = parts,
                     .corners = corners,
                     .arity = kind->arity,
                     .from = calloc((size_t)parts + 1, sizeof *s->from)};
  LOOM_CHECK(host, s->from != NULL, LOOM_E_NOMEM, "no memory for %lld parts", (long long)parts);
  LOOM_CHECK(host, kind->dense && kind->ptr == NULL && kind->to == NULL && A->b == 3, LOOM_E_ARG,
             "only dense elements of 3x3 blocks with one arity are steady");
  const plug_buf all[] = {{"rows of segments", LOOM_I32, 0, &s->row},
                          {"segments", LOOM_I32, 1, &s->start},
                          {"corners by segment", LOOM_I32, corners, &s->corner},
                          {"places of blocks", LOOM_I32, corners * kind->arity, &s->place},
                          {"corner keys", LOOM_U64, corners, &t.key},
                          {"first corners", LOOM_I64, corners, &t.head},
                          {"segments of corners", LOOM_I64, corners + 1, &t.seg},
                          {"segments of parts", LOOM_I64, parts + 1, &t.from}};
  LOOM_TRY(plug_bufs_new(host, all, LOOM_COUNT(all)));
  if (corners > 0) LOOM_TRY(sort_steady_corners(s, A, kind, &t));
  loom_buf *const gone[] = {t.key, t.head, t.seg, t.from};
  for (size_t i = 0; i < LOOM_COUNT(gone); ++i) host->buf_free(host, gone[i]);
  return LOOM_OK;
}

void bcsr_steady_free(bcsr_steady *s)
{
  free(s->from);
  s->from = NULL;
}

int64_t bcsr_steady_count(const bcsr_steady *s, int64_t p)
{
  const int64_t left = s->count - p * s->part;
  return left < s->part ? left : s->part;
}

loom_status bcsr_steady_add(bcsr *A, const bcsr_steady *s, loom_buf *K, int64_t p)
{
  plug_maps m = plug_maps_on(A->host, A->e);
  const steady_args a = {.start = plug_rdwr(&m, s->start),
                         .corner = plug_rdwr(&m, s->corner),
                         .place = plug_rdwr(&m, s->place),
                         .map = plug_read(&m, A->map),
                         .K = plug_read(&m, K),
                         .val = plug_rdwr(&m, A->val),
                         .first = s->from[p],
                         .elem = p * s->part,
                         .arity = s->arity,
                         .split = A->e->backend != LOOM_CPU};
  const int64_t elems =
      bcsr_steady_count(s, p); /* their blocks are read, and added to the matrix's */
  lk_moved(A->e, elems * s->arity * s->arity, LK_MOVES(27, 2));
  const int64_t segments = s->from[p + 1] - s->from[p];
  return plug_launch(&m, &k_add, &a, a.split ? 9 * segments : segments, NULL);
}
