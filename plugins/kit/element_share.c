/* element_share.c - see element_share.h. */
#include "kit/element_share.h"

static const lk_entry k_flag = LK_ENTRY_MOVES(share_flag, 1, 1),
                      k_rows = LK_ENTRY_MOVES(share_rows, 2, 21),
                      k_blend = LK_ENTRY_MOVES(share_blend, 17, 5);

loom_status element_share_new(element_share *k, const loom_host *host, const loom_exec *e)
{
  const plug_buf all[] = {{"shares of elements", LOOM_REAL, 0, &k->share},
                          {"elements", LOOM_I64, 0, &k->flag},
                          {"rows of elements", LOOM_I64, 1, &k->row},
                          {"bodies of elements", LOOM_I32, 0, &k->body},
                          {"corners of elements", LOOM_I32, 0, &k->point},
                          {"distances of elements", LOOM_REAL, 0, &k->gap},
                          {"flat elements", LOOM_REAL, 0, &k->flat}};
  k->host = host;
  k->e = e;
  k->num = 0;
  return plug_bufs_new(host, all, LOOM_COUNT(all));
}

static loom_status list_element_rows(element_share *k, loom_buf *kind, loom_buf *v, loom_buf *obst,
                                     int64_t m)
{
  const loom_host *const host = k->host;
  LOOM_TRY(host->buf_resize(host, k->flag, m));
  LOOM_TRY(host->buf_resize(host, k->row, m + 1));
  plug_maps flags = plug_maps_on(host, k->e);
  const share_rows_args which = {.kind = plug_read(&flags, kind),
                                 .flag = plug_write(&flags, k->flag)};
  LOOM_TRY(plug_launch(&flags, &k_flag, &which, m, NULL));
  LOOM_TRY(host->scan_i64(host, k->e, k->flag, k->row, &k->num));
  if (k->num == 0) return LOOM_OK;
  LOOM_CHECK(host, k->num < LK_MAX_ELEMS / (3 * SHARE_ROWS), LOOM_E_ARG,
             "%lld pairs of elements and bodies are more than %d; look for pairs not as far away",
             (long long)k->num, (int)LK_MAX_ELEMS / (3 * SHARE_ROWS));
  LOOM_TRY(host->buf_resize(host, k->body, SHARE_ROWS * k->num));
  LOOM_TRY(host->buf_resize(host, k->point, 3 * SHARE_ROWS * k->num));
  LOOM_TRY(host->buf_resize(host, k->gap, SHARE_ROWS * k->num));
  LOOM_TRY(host->buf_resize(host, k->flat, SHARE_ROWS * k->num));
  plug_maps rows = plug_maps_on(host, k->e);
  const share_rows_args a = {.v = plug_read(&rows, v),
                             .obst = plug_read(&rows, obst),
                             .row = plug_read(&rows, k->row),
                             .body = plug_write(&rows, k->body),
                             .point = plug_write(&rows, k->point)};
  return plug_launch(&rows, &k_rows, &a, m, NULL);
}

loom_status element_share_find(element_share *k, const loom_step *s, loom_buf *kind, loom_buf *v,
                               loom_buf *obst, int64_t m, uint32_t kinds, double reach)
{
  const loom_host *const host = k->host;
  k->num = 0;
  if (m == 0 || !(kinds & LOOM_BIT(LOOM_PAIR_EO))) return LOOM_OK;
  LOOM_TRY(list_element_rows(k, kind, v, obst, m));
  if (k->num == 0) return LOOM_OK;
  const loom_body_rows rows = {.struct_size = sizeof rows,
                               .stride = 3,
                               .count = SHARE_ROWS * k->num,
                               .body = k->body,
                               .point = k->point,
                               .x = s->x_start};
  const loom_body_near near = {.struct_size = sizeof near, .gap = k->gap, .flat = k->flat};
  LOOM_TRY(host->body_near(host, k->e, &rows, 0.0, &near));
  LOOM_TRY(host->buf_resize(host, k->share, m));
  plug_maps maps = plug_maps_on(host, k->e);
  const share_blend_args a = {.x = plug_read(&maps, s->x_start),
                              .v = plug_read(&maps, v),
                              .row = plug_read(&maps, k->row),
                              .gap = plug_read(&maps, k->gap),
                              .flat = plug_read(&maps, k->flat),
                              .reach = (lk_real)reach,
                              .share = plug_write(&maps, k->share)};
  return plug_launch(&maps, &k_blend, &a, m, NULL);
}

loom_buf *element_share_of(const element_share *k) { return k->num > 0 ? k->share : NULL; }
