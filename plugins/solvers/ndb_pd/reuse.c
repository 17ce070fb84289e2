/* reuse.c - the reduced matrix with contact: three ways to bring it up to date.
 *
 *   syrk   tiles of 8 x 8 over the rows in contact
 *   table  sum of products u_j' u_j made beforehand (Lan et al. 2024, eq. 19): one number per
 * vertex and pair of modes full   the product U' (W U) over all rows, as a dense matrix library
 * would do it The sums go by chunks of rows in a fixed order. */
#include "reuse.kern.h"

#include "ndb.h"

static const lk_entry k_list = LK_ENTRY(ndb_list), k_all = LK_ENTRY(ndb_list_all);
static const lk_entry k_rows = LK_ENTRY(ndb_rows);
static const lk_entry k_gram = LK_ENTRY(ndb_gram), k_gram_sum = LK_ENTRY(ndb_gram_sum);
static const lk_entry k_table = LK_ENTRY(ndb_table), k_part = LK_ENTRY(ndb_table_part);
static const lk_entry k_table_sum = LK_ENTRY(ndb_table_sum);

static int32_t triangle(int32_t r) { return r * (r + 1) / 2; }

loom_status ndb_reuse_new(ndb *s)
{
  const loom_host *const h = s->h;
  void *p[2];
  if (s->cols == 0) return LOOM_OK;
  if (s->list == NULL) {
    LOOM_TRY(h->buf_new(h, "touched list", LOOM_I32, s->n, &s->list));
    LOOM_TRY(h->buf_new(h, "touched rows", LOOM_REAL, 0, &s->V));
    LOOM_TRY(h->buf_new(h, "products", LOOM_REAL, 0, &s->table));
    LOOM_TRY(h->buf_new(h, "partial products", LOOM_REAL, 0, &s->parts));
    LOOM_TRY(h->buf_new(h, "reduced contact", LOOM_REAL, 0, &s->S2));
  }
  LOOM_TRY(h->buf_resize(h, s->S2, (int64_t)s->r2 * s->r2));
  if (s->set.update != UPDATE_TABLE) return LOOM_OK;
  LOOM_TRY(h->buf_resize(h, s->table, (int64_t)s->n * triangle(s->r2)));
  const plug_map m[] = {{s->U, LOOM_READ}, {s->table, LOOM_WRITE}};
  LOOM_TRY(plug_map_all(h, s->e, 2, m, p));
  const ndb_reuse_args a = {
      .U = p[0], .table = p[1], .n = s->n, .ld = s->ld, .cols = s->r2, .half = triangle(s->r2)};
  LOOM_TRY(ndb_run(s, &k_table, &a, s->n, NULL));
  return plug_unmap_all(h, 2, m);
}

void ndb_reuse_free(ndb *s)
{
  loom_buf *const all[] = {s->list, s->V, s->table, s->parts, s->S2};
  for (size_t k = 0; k < LOOM_COUNT(all); ++k) s->h->buf_free(s->h, all[k]);
}

/* room for what one update needs, with some to spare: contact grows slowly */
static loom_status reserve(const ndb *s, loom_buf *b, int64_t count)
{
  const loom_host *const h = s->h;
  return h->buf_count(h, b) >= count ? LOOM_OK : h->buf_resize(h, b, count + count / 4);
}

static loom_status launch(ndb *s, ndb_reuse_args *a)
{
  const int64_t square = (int64_t)a->cols * a->cols, tiles = (int64_t)a->groups * a->groups;
  if (s->set.update == UPDATE_TABLE) {
    LOOM_TRY(ndb_run(s, &k_part, a, (int64_t)a->chunks * a->half, NULL));
    return ndb_run(s, &k_table_sum, a, square, NULL);
  }
  LOOM_TRY(ndb_run(s, &k_rows, a, (int64_t)a->rows * a->groups, NULL));
  LOOM_TRY(ndb_run(s, &k_gram, a, a->chunks * tiles, NULL));
  return ndb_run(s, &k_gram_sum, a, square, NULL);
}

loom_status ndb_reuse(ndb *s)
{
  enum { MAPS = 12 };
  const loom_host *const h = s->h;
  const int full = s->set.update == UPDATE_FULL, masked = s->set.reuse == REUSE_MASKED;
  ndb_reuse_args a = {.n = s->n,
                      .ld = s->ld,
                      .cols = s->r2,
                      .groups = (s->r2 + NDB_GROUP - 1) / NDB_GROUP,
                      .rows = full ? s->n : (int32_t)s->rows,
                      .lower = !masked,
                      .half = triangle(s->r2)};
  a.chunks = (a.rows + NDB_TOUCHED - 1) / NDB_TOUCHED;
  const int64_t tiles = (int64_t)a.groups * a.groups * NDB_GROUP * NDB_GROUP;
  LOOM_TRY(reserve(s, s->V, (int64_t)a.rows * s->ld));
  LOOM_TRY(reserve(s, s->parts, a.chunks * (tiles > a.half ? tiles : a.half)));
  const plug_map m[MAPS] = {
      {s->ptr, LOOM_READ},   {s->col, LOOM_READ},   {s->val, LOOM_READ},
      {s->U, LOOM_READ},     {s->w, LOOM_READ},     {masked ? s->mask : NULL, LOOM_READ},
      {s->place, LOOM_READ}, {s->list, LOOM_WRITE}, {s->V, LOOM_RDWR},
      {s->table, LOOM_READ}, {s->parts, LOOM_RDWR}, {s->S2, LOOM_WRITE}};
  void *p[MAPS];
  LOOM_TRY(plug_map_all(h, s->e, MAPS, m, p));
  a.ptr = p[0];
  a.col = p[1];
  a.val = p[2];
  a.U = p[3];
  a.w = p[4];
  a.mask = p[5];
  a.place = p[6];
  a.list = p[7];
  a.V = p[8];
  a.table = p[9];
  a.part = p[10];
  a.S = p[11];
  LOOM_TRY(ndb_run(s, full ? &k_all : &k_list, &a, s->n, NULL));
  LOOM_TRY(launch(s, &a));
  LOOM_TRY(plug_unmap_all(h, MAPS, m));
  /* the one copy of a global step: r2 x r2 numbers to the host and the inverse back */
  void *S;
  LOOM_TRY(h->map(h, s->e, s->S2, LOOM_READ, LOOM_AT_HOST, &S));
  const loom_real *const from = S;
  double *const extra = s->extra;
  for (int64_t k = 0; k < (int64_t)s->r2 * s->r2; ++k) extra[k] = (double)from[k];
  LOOM_TRY(h->unmap(h, s->S2));
  return ndb_invert(s, s->r2, extra, s->inv2);
}
