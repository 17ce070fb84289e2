/* gather.c - see gather.h. */
#include "kit/gather.h"

static const lk_entry k_count = LK_ENTRY_MOVES(gather_count, 1, 6),
                      k_keys = LK_ENTRY_MOVES(gather_keys, 3, 8);
static const lk_entry k_rows = LK_ENTRY_MOVES(gather_rows, 2, 3),
                      k_sum = LK_ENTRY_MOVES(gather_sum, 15, 9);
/* of one number, whose vertex's indices the threads of three numbers read at once */
static const lk_entry k_sum_number = LK_ENTRY_MOVES(gather_sum, 5, 3);

loom_status gather_create(gather *g, const loom_host *host, const loom_exec *e)
{
  const plug_buf all[] = {{"corners", LOOM_I64, 0, &g->num},
                          {"first corners", LOOM_I64, 1, &g->at},
                          {"first corners of vertices", LOOM_I64, 1, &g->first},
                          {"corner places", LOOM_I32, 0, &g->place},
                          {"corner pairs", LOOM_I32, 0, &g->owner},
                          {"corner forces", LOOM_REAL, 0, &g->force}};
  g->host = host;
  g->e = e;
  g->count = 0;
  g->n = 0;
  return plug_bufs_new(host, all, LOOM_COUNT(all));
}

static loom_status count_gather_corners(gather *g, loom_buf *v, loom_buf *fixed, int32_t n,
                                        int64_t m)
{
  const loom_host *const host = g->host;
  LOOM_TRY(host->buf_resize(host, g->num, m));
  LOOM_TRY(host->buf_resize(host, g->at, m + 1));
  plug_maps maps = plug_maps_on(host, g->e);
  const gather_count_args a = {.v = plug_read(&maps, v),
                               .fixed = plug_read(&maps, fixed),
                               .num = plug_write(&maps, g->num),
                               .n = n};
  LOOM_TRY(plug_launch(&maps, &k_count, &a, m, NULL));
  return host->scan_i64(host, g->e, g->num, g->at, &g->count);
}

/* Rows of the vertices, after the sort. */
static loom_status find_rows(gather *g, loom_buf *vertex, loom_buf *by_place)
{
  plug_maps maps = plug_maps_on(g->host, g->e);
  const gather_row_args a = {.vertex = plug_read(&maps, vertex),
                             .place = plug_read(&maps, g->place),
                             .by_place = plug_read(&maps, by_place),
                             .owner = plug_write(&maps, g->owner),
                             .first = plug_write(&maps, g->first),
                             .corners = g->count,
                             .n = g->n};
  return plug_launch(&maps, &k_rows, &a, g->count + 1, NULL);
}

/* Corners in the order of their vertices.  The vertices and the pairs of places serve the sort
 * alone: memory for them would be a sixth of all that is held for a pair. */
static loom_status sort_corners(gather *g, loom_buf *v, loom_buf *fixed, int64_t m)
{
  const loom_host *const host = g->host;
  loom_buf *vertex = NULL, *by_place = NULL;
  LOOM_TRY(host->buf_new(host, "corner vertices", LOOM_U64, g->count, &vertex));
  LOOM_TRY(host->buf_new(host, "pairs of places", LOOM_I32, g->count, &by_place));
  plug_maps maps = plug_maps_on(host, g->e);
  const gather_key_args a = {.v = plug_read(&maps, v),
                             .fixed = plug_read(&maps, fixed),
                             .at = plug_read(&maps, g->at),
                             .vertex = plug_write(&maps, vertex),
                             .owner = plug_write(&maps, by_place),
                             .n = g->n};
  LOOM_TRY(plug_launch(&maps, &k_keys, &a, m, NULL));
  LOOM_TRY(host->sort_u64(host, g->e, vertex, g->place));
  LOOM_TRY(find_rows(g, vertex, by_place));
  host->buf_free(host, vertex);
  host->buf_free(host, by_place);
  return LOOM_OK;
}

loom_status gather_sort(gather *g, loom_buf *v, loom_buf *fixed, int32_t n, int64_t m)
{
  const loom_host *const host = g->host;
  LOOM_TRY(count_gather_corners(g, v, fixed, n, m));
  LOOM_CHECK(host, g->count < LK_MAX_ELEMS, LOOM_E_ARG,
             "%lld corners of pairs are more than %d; look for pairs not as far away",
             (long long)g->count, (int)LK_MAX_ELEMS);
  LOOM_TRY(host->buf_resize(host, g->place, g->count));
  LOOM_TRY(host->buf_resize(host, g->owner, g->count));
  LOOM_TRY(host->buf_resize(host, g->first, (int64_t)n + 1));
  if (!g->compact) LOOM_TRY(host->buf_resize(host, g->force, 3 * g->count));
  g->n = n;
  return sort_corners(g, v, fixed, m);
}

static loom_status add_forces(gather *g, loom_buf *active, loom_buf *live, loom_buf *live_at,
                              loom_buf *out)
{
  if (g->count == 0) return LOOM_OK;
  plug_maps m = plug_maps_on(g->host, g->e);
  const gather_sum_args a = {.first = plug_read(&m, g->first),
                             .place = plug_read(&m, g->place),
                             .owner = plug_read(&m, g->owner),
                             .at = plug_read(&m, live_at != NULL ? g->at : NULL),
                             .live_at = plug_read(&m, live_at),
                             .active = plug_read(&m, active),
                             .live = plug_read(&m, live),
                             .force = plug_read(&m, g->force),
                             .out = plug_rdwr(&m, out),
                             .split = g->e->backend != LOOM_CPU};
  if (a.split) return plug_launch(&m, &k_sum_number, &a, 3 * (int64_t)g->n, NULL);
  return plug_launch(&m, &k_sum, &a, g->n, NULL);
}

loom_status gather_add(gather *g, loom_buf *active, loom_buf *live, loom_buf *out)
{
  return add_forces(g, active, live, NULL, out);
}

loom_status gather_add_live(gather *g, loom_buf *live, loom_buf *at, loom_buf *out)
{
  return add_forces(g, NULL, live, at, out);
}
