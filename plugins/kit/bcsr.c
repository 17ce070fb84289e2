/* bcsr.c - see bcsr.h. */
#include "kit/bcsr.h"

static const lk_entry k_corner = LK_ENTRY_MOVES(bcsr_corner, 4, 6),
                      k_first = LK_ENTRY_MOVES(bcsr_first, 10, 0);
static const lk_entry k_start = LK_ENTRY_MOVES(bcsr_start, 2, 2),
                      k_count = LK_ENTRY_MOVES(bcsr_count, 11, 4);
static const lk_entry k_collect = LK_ENTRY_MOVES(bcsr_collect, 9, 85),
                      k_unique = LK_ENTRY_MOVES(bcsr_unique, 3, 771);
static const lk_entry k_compact = LK_ENTRY_MOVES(bcsr_compact, 53, 52),
                      k_add = LK_ENTRY_MOVES(bcsr_add, 259, 264);
static const lk_entry k_add_number = LK_ENTRY_MOVES(bcsr_add, 29, 29); /* one of nine */
static const lk_entry k_scatter =
    LK_ENTRY_NEAR_MOVES(bcsr_scatter, 64, 376, 67); /* sums in any order */

loom_status bcsr_new(bcsr *A, const loom_host *host, const loom_exec *e, int32_t b)
{
  *A = (bcsr){.host = host, .e = e, .b = b};
  const plug_buf all[] = {{"rows", LOOM_I64, 1, &A->row},
                          {"columns", LOOM_I32, 0, &A->col},
                          {"blocks", LOOM_REAL, 0, &A->val},
                          {"diagonals", LOOM_I64, 0, &A->diag},
                          {"room of rows", LOOM_I64, 1, &A->room},
                          {"columns of rows", LOOM_I64, 0, &A->num},
                          {"columns so far", LOOM_I32, 0, &A->list},
                          {"columns while sorted", LOOM_I32, 0, &A->spare}};
  return plug_bufs_new(host, all, LOOM_COUNT(all));
}

/* ---- index of a kind ----
 */

static loom_status new_index(const bcsr *A, bcsr_kind *k)
{
  const plug_buf all[] = {
      {"corner rows", LOOM_U64, 0, &k->key},           {"corner elements", LOOM_I32, 0, &k->owner},
      {"corners by row", LOOM_I32, 0, &k->corner},     {"first corners", LOOM_I64, 1, &k->first},
      {"numbers of blocks", LOOM_I64, 0, &k->squares}, {"first blocks", LOOM_I64, 1, &k->block}};
  return k->key != NULL ? LOOM_OK : plug_bufs_new(A->host, all, LOOM_COUNT(all));
}

/* The elements and their index, as every kernel reads them. */
static bcsr_args bind_bcsr_args(const bcsr *A, const bcsr_kind *k, plug_maps *m)
{
  return (bcsr_args){.ptr = plug_read(m, k->ptr),
                     .node = plug_read(m, k->node),
                     .to = plug_read(m, k->to),
                     .block = plug_read(m, k->ptr != NULL ? k->block : NULL),
                     .key = plug_rdwr(m, k->key),
                     .owner = plug_rdwr(m, k->owner),
                     .corner = plug_rdwr(m, k->corner),
                     .first = plug_rdwr(m, k->first),
                     .corners = k->corners,
                     .n = A->n,
                     .arity = k->arity,
                     .b = A->b,
                     .dense = k->dense};
}

loom_status bcsr_index(bcsr *A, int32_t n, bcsr_kind *k)
{
  const loom_host *const host = A->host;
  A->n = n;
  LOOM_TRY(new_index(A, k));
  k->corners = k->ptr != NULL ? host->buf_count(host, k->node) : k->arity * k->count;
  LOOM_CHECK(host, k->corners <= LK_MAX_ELEMS, LOOM_E_UNSUPPORTED,
             "%lld corners of elements are more than %d", (long long)k->corners, LK_MAX_ELEMS);
  LOOM_TRY(host->buf_resize(host, k->key, k->corners));
  LOOM_TRY(host->buf_resize(host, k->owner, k->corners));
  LOOM_TRY(host->buf_resize(host, k->corner, k->corners));
  LOOM_TRY(host->buf_resize(host, k->first, (int64_t)A->n + 1));
  if (k->ptr != NULL) {
    LOOM_TRY(host->buf_resize(host, k->squares, k->count));
    LOOM_TRY(host->buf_resize(host, k->block, k->count + 1));
  }
  plug_maps m = plug_maps_on(host, A->e);
  bcsr_args a = bind_bcsr_args(A, k, &m);
  a.squares = plug_write(&m, k->ptr != NULL ? k->squares : NULL);
  LOOM_TRY(plug_launch(&m, &k_corner, &a, k->count, NULL));
  if (k->ptr != NULL) LOOM_TRY(host->scan_i64(host, A->e, k->squares, k->block, NULL));
  LOOM_TRY(host->sort_u64(host, A->e, k->key, k->corner));
  a = bind_bcsr_args(A, k, &m);
  return plug_launch(&m, &k_first, &a, (int64_t)A->n + 1, NULL);
}

/* ---- pattern ----
 */

static void bind_base(const bcsr *A, plug_maps *m, bcsr_args *a)
{
  a->base_row = plug_read(m, A->base_row);
  a->base_col = plug_read(m, A->base_col);
}

/* `each` over the rows for every kind, behind the base or the diagonals; list NULL: they are only
 * counted. */
static loom_status over_rows(const bcsr *A, const bcsr_kind *kinds, int num, const lk_entry *each,
                             loom_buf *list)
{
  for (int k = -1; k < num; ++k) {
    plug_maps m = plug_maps_on(A->host, A->e);
    bcsr_args a = {.n = A->n};
    if (k >= 0) a = bind_bcsr_args(A, &kinds[k], &m);
    a.num = plug_rdwr(&m, A->num);
    a.room = plug_read(&m, list != NULL ? A->room : NULL);
    a.list = plug_rdwr(&m, list);
    if (k < 0) bind_base(A, &m, &a);
    LOOM_TRY(plug_launch(&m, k >= 0 ? each : &k_start, &a, A->n, NULL));
  }
  return LOOM_OK;
}

static loom_status run_bcsr_rows(const bcsr *A, const lk_entry *k, loom_buf *row, loom_buf *col,
                                 loom_buf *diag)
{
  plug_maps m = plug_maps_on(A->host, A->e);
  bcsr_args a = {.num = plug_rdwr(&m, A->num),
                 .room = plug_read(&m, A->room),
                 .list = plug_rdwr(&m, A->list),
                 .spare = plug_rdwr(&m, A->spare),
                 .row = plug_read(&m, row),
                 .col = plug_write(&m, col),
                 .diag = plug_write(&m, diag),
                 .n = A->n};
  if (row != NULL) {
    bind_base(A, &m, &a);
    a.map = plug_write(&m, A->map);
  }
  return plug_launch(&m, k, &a, A->n, NULL);
}

loom_status bcsr_pattern(bcsr *A, const bcsr_kind *kinds, int num)
{
  const loom_host *const host = A->host;
  const int64_t n = A->n;
  int64_t all = 0;
  LOOM_TRY(host->buf_resize(host, A->num, n));
  LOOM_TRY(host->buf_resize(host, A->room, n + 1));
  LOOM_TRY(host->buf_resize(host, A->row, n + 1));
  LOOM_TRY(over_rows(A, kinds, num, &k_count, NULL));
  LOOM_TRY(host->scan_i64(host, A->e, A->num, A->room, &all));
  LOOM_TRY(host->buf_resize(host, A->list, all));
  LOOM_TRY(host->buf_resize(host, A->spare, all));
  LOOM_TRY(over_rows(A, kinds, num, &k_collect, A->list));
  LOOM_TRY(run_bcsr_rows(A, &k_unique, NULL, NULL, NULL));
  LOOM_TRY(host->scan_i64(host, A->e, A->num, A->row, &A->nnz));
  LOOM_TRY(host->buf_resize(host, A->col, A->nnz));
  LOOM_TRY(host->buf_resize(host, A->diag, n));
  LOOM_TRY(host->buf_resize(host, A->val, A->nnz * A->b * A->b));
  ++A->pattern_id;
  return run_bcsr_rows(A, &k_compact, A->row, A->col, A->diag);
}

/* ---- values ----
 */

loom_status bcsr_clear(bcsr *A) { return A->host->fill(A->host, A->e, A->val, 0.0); }

/* An index of the launch is a row, or with `scatter` an element. */
static loom_status add_elements(bcsr *A, const loom_exec *e, const bcsr_kind *kind, int64_t first,
                                int64_t count, int scatter)
{
  plug_maps m = plug_maps_on(A->host, e);
  bcsr_args a = bind_bcsr_args(A, kind, &m);
  a.K = plug_read(&m, kind->K);
  a.row = plug_read(&m, A->row);
  a.col = plug_rdwr(&m, A->col);
  a.val = plug_rdwr(&m, A->val);
  a.from = first;
  a.end = first + count;
  a.atomic = e->backend != LOOM_CPU || e->num_threads > 1;
  if (scatter) return plug_launch(&m, &k_scatter, &a, count, NULL);
  a.split = e->backend != LOOM_CPU;
  if (a.split) return plug_launch(&m, &k_add_number, &a, A->b * A->b * (int64_t)A->n, NULL);
  return plug_launch(&m, &k_add, &a, A->n, NULL);
}

loom_status bcsr_add_part(bcsr *A, const bcsr_kind *kind, int64_t first, int64_t count)
{
  return add_elements(A, A->e, kind, first, count, 0);
}

loom_status bcsr_scatter_part(bcsr *A, const bcsr_kind *kind, int64_t first, int64_t count)
{
  return add_elements(A, A->e, kind, first, count, 1);
}

loom_status bcsr_serial_part(bcsr *A, const bcsr_kind *kind, int64_t first, int64_t count)
{
  loom_exec one = *A->e;
  LOOM_CHECK(A->host, one.backend == LOOM_CPU, LOOM_E_UNSUPPORTED,
             "the sum on one thread of the CPU needs a matrix on the CPU, not on a device");
  one.num_threads = 1;
  return add_elements(A, &one, kind, first, count, 1);
}

loom_status bcsr_add_kind(bcsr *A, const bcsr_kind *kind)
{
  return bcsr_add_part(A, kind, 0, kind->count);
}

loom_status bcsr_values(bcsr *A, const bcsr_kind *kinds, int num)
{
  LOOM_TRY(bcsr_clear(A));
  for (int k = 0; k < num; ++k) LOOM_TRY(bcsr_add_kind(A, &kinds[k]));
  return LOOM_OK;
}

loom_bsr3 bcsr_matrix3(const bcsr *A)
{
  return (loom_bsr3){.struct_size = sizeof(loom_bsr3),
                     .num_rows = A->n,
                     .num_blocks = A->nnz,
                     .pattern_id = A->pattern_id,
                     .row_ptr = A->row,
                     .col = A->col,
                     .val = A->val};
}
