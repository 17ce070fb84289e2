/* reuse.c - the reduced matrix with contact: three ways to bring it up to date.
 *
 *   syrk   tiles of 8 x 8 over the rows in contact
 *   table  sum of products u_j' u_j made beforehand (Lan et al. 2024, eq. 19): one number per
 * vertex and pair of modes full   the product U' (W U) over all rows, as a dense matrix library
 * would do it The sums go by chunks of rows in a fixed order. */
#include "reuse.kern.h"

#include "ndb_pd.h"

static const lk_entry k_list = LK_ENTRY_MOVES(ndb_pd_list, 1, 0),
                      k_all = LK_ENTRY_MOVES(ndb_pd_list_all, 0, 1);
static const lk_entry k_rows = LK_ENTRY_MOVES(ndb_pd_rows, 0, 0);
static const lk_entry k_gram = LK_ENTRY_MOVES(ndb_pd_gram, 1282, 17),
                      k_gram_sum = LK_ENTRY_MOVES(ndb_pd_gram_sum, 2, 0);
static const lk_entry k_table = LK_ENTRY_MOVES(ndb_pd_table, 1395, 0),
                      k_part = LK_ENTRY_MOVES(ndb_pd_table_part, 8, 3);
static const lk_entry k_table_sum = LK_ENTRY_MOVES(ndb_pd_table_sum, 2, 0);

static int32_t triangular_number(int32_t r) { return r * (r + 1) / 2; }

loom_status ndb_pd_reuse_new(ndb_pd *s)
{
  const loom_host *const host = s->host;
  if (s->space.cols == 0) return LOOM_OK;
  if (s->list == NULL) {
    LOOM_TRY(host->buf_new(host, "touched list", LOOM_I32, s->n, &s->list));
    LOOM_TRY(host->buf_new(host, "touched rows", LOOM_REAL, 0, &s->V));
    LOOM_TRY(host->buf_new(host, "products", LOOM_REAL, 0, &s->table));
    LOOM_TRY(host->buf_new(host, "partial products", LOOM_REAL, 0, &s->parts));
    LOOM_TRY(host->buf_new(host, "reduced contact", LOOM_REAL, 0, &s->S2));
  }
  LOOM_TRY(host->buf_resize(host, s->S2, (int64_t)s->r2 * s->r2));
  if (s->set.update != UPDATE_TABLE) return LOOM_OK;
  LOOM_TRY(host->buf_resize(host, s->table, (int64_t)s->n * triangular_number(s->r2)));
  plug_maps m = plug_maps_on(host, s->e);
  const ndb_pd_reuse_args a = {.U = plug_read(&m, s->space.U),
                               .table = plug_write(&m, s->table),
                               .n = s->n,
                               .ld = s->space.ld,
                               .cols = s->r2,
                               .half = triangular_number(s->r2)};
  return plug_launch(&m, &k_table, &a, s->n, NULL);
}

/* Makes room for `count` items, with some to spare: contact grows slowly.  The first iterates of a
 * step may have many more than those that follow. */
static loom_status reserve_reuse_buffer(const ndb_pd *s, loom_buf *b, int64_t count)
{
  const loom_host *const host = s->host;
  const int64_t room = host->buf_count(host, b);
  if (room >= count && room / 4 <= count) return LOOM_OK;
  return host->buf_resize(host, b, count + count / 4);
}

static loom_status launch_reuse_kernels(const ndb_pd *s, plug_maps *m, const ndb_pd_reuse_args *a)
{
  const int64_t square = (int64_t)a->cols * a->cols, tiles = (int64_t)a->groups * a->groups;
  if (s->set.update == UPDATE_TABLE) {
    LOOM_TRY(plug_run_on(m, &k_part, a, (int64_t)a->chunks * a->half, NULL));
    return plug_run_on(m, &k_table_sum, a, square, NULL);
  }
  /* rows of the basis, their products with H, and each pair of groups of columns */
  lk_moved(s->e, (int64_t)a->rows * a->ld, LK_MOVES(3 + 2 * a->groups, 1));
  LOOM_TRY(plug_run_on(m, &k_rows, a, (int64_t)a->rows * a->groups, NULL));
  LOOM_TRY(plug_run_on(m, &k_gram, a, a->chunks * tiles, NULL));
  return plug_run_on(m, &k_gram_sum, a, square, NULL);
}

loom_status ndb_pd_reuse(ndb_pd *s)
{
  const loom_host *const host = s->host;
  const int full = s->set.update == UPDATE_FULL, masked = s->set.reuse == REUSE_MASKED;
  ndb_pd_reuse_args a = {.n = s->n,
                         .ld = s->space.ld,
                         .cols = s->r2,
                         .groups = (s->r2 + SUBSPACE_GROUP - 1) / SUBSPACE_GROUP,
                         .rows = full ? s->n : (int32_t)s->rows,
                         .lower = !masked,
                         .half = triangular_number(s->r2)};
  a.chunks = (a.rows + NDB_PD_TOUCHED - 1) / NDB_PD_TOUCHED;
  const int64_t tiles = (int64_t)a.groups * a.groups * SUBSPACE_GROUP * SUBSPACE_GROUP;
  LOOM_TRY(reserve_reuse_buffer(s, s->V, (int64_t)a.rows * s->space.ld));
  LOOM_TRY(reserve_reuse_buffer(s, s->parts, a.chunks * (tiles > a.half ? tiles : a.half)));
  plug_maps m = plug_maps_on(host, s->e);
  a.ptr = plug_read(&m, s->ptr);
  a.col = plug_read(&m, s->col);
  a.val = plug_read(&m, s->val);
  a.U = plug_read(&m, s->space.U);
  a.w = plug_read(&m, s->w);
  a.mask = plug_read(&m, masked ? s->mask : NULL);
  a.place = plug_read(&m, s->place);
  a.list = plug_write(&m, s->list);
  a.V = plug_rdwr(&m, s->V);
  a.table = plug_bind(&m, s->table, LOOM_READ, LOOM_AT_EXEC);
  a.part = plug_rdwr(&m, s->parts);
  a.S = plug_write(&m, s->S2);
  LOOM_TRY(plug_run_on(&m, full ? &k_all : &k_list, &a, s->n, NULL));
  LOOM_TRY(launch_reuse_kernels(s, &m, &a));
  LOOM_TRY(plug_unbind(&m));
  if (s->ahead && s->set.reduced == REDUCED_CHOLESKY) return ndb_pd_ahead_invert(s);
  /* the one copy of a global step: r2 x r2 numbers to the host and the inverse back */
  LOOM_TRY(plug_fetch(host, s->e, s->S2, s->r2 * s->r2, s->extra));
  return ndb_pd_invert(s, s->r2, s->extra, s->inv2);
}
