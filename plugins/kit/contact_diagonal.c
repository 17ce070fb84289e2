/* contact_diagonal.c - see contact_diagonal.h. */
#include "kit/contact_diagonal.h"

static const lk_entry k_key = LK_ENTRY_MOVES(contact_diagonal_key, 1, 1),
                      k_sum = LK_ENTRY_MOVES(contact_diagonal_sum, 6, 3),
                      k_count = LK_ENTRY_MOVES(contact_diagonal_count, 6, 6),
                      k_list = LK_ENTRY_MOVES(contact_diagonal_list, 7, 7),
                      k_none = LK_ENTRY_MOVES(contact_diagonal_none, 1, 0);

loom_status contact_diagonal_new(contact_diagonal *d, const loom_host *host, const loom_scene *sc,
                                 const loom_exec *e)
{
  const plug_buf all[] = {{"corners of terms", LOOM_I64, 0, &d->num},
                          {"weights of terms", LOOM_REAL, 0, &d->all},
                          {"first corners of terms", LOOM_I64, 1, &d->place},
                          {"corners with weights", LOOM_I32, 0, &d->corner},
                          {"corner keys", LOOM_U64, 0, &d->key},
                          {"corner order", LOOM_I32, 0, &d->order},
                          {"contact weights", LOOM_REAL, sc->num_verts, &d->weight}};
  d->host = host;
  d->e = e;
  d->fixed = sc->fixed;
  d->n = sc->num_verts;
  return plug_bufs_new(host, all, LOOM_COUNT(all));
}

static loom_status clear_contact_weights(contact_diagonal *d)
{
  plug_maps m = plug_maps_on(d->host, d->e);
  const contact_diagonal_args a = {.weight = plug_write(&m, d->weight), .n = d->n};
  return plug_launch(&m, &k_none, &a, d->n, NULL);
}

static contact_diagonal_args open_diagonal_terms(const contact_diagonal *d, plug_maps *m,
                                                 const loom_quad *q)
{
  return (contact_diagonal_args){.v = plug_read(m, q->v),
                                 .w = plug_read(m, q->w),
                                 .k = plug_read(m, q->k),
                                 .fixed = plug_read(m, d->fixed),
                                 .n = d->n,
                                 .width = q->width};
}

static loom_status resize_keys(contact_diagonal *d, int64_t corners)
{
  if (d->host->buf_count(d->host, d->key) == corners) return LOOM_OK;
  LOOM_TRY(d->host->buf_resize(d->host, d->key, corners));
  return d->host->buf_resize(d->host, d->order, corners);
}

static loom_status list_all_corners(contact_diagonal *d, const loom_quad *q, int64_t *corners)
{
  *corners = q->width * q->count;
  LOOM_TRY(resize_keys(d, *corners));
  plug_maps m = plug_maps_on(d->host, d->e);
  contact_diagonal_args a = open_diagonal_terms(d, &m, q);
  a.key = plug_write(&m, d->key);
  return plug_launch(&m, &k_key, &a, *corners, NULL);
}

static loom_status list_used_corners(contact_diagonal *d, const loom_quad *q, int64_t *corners)
{
  const loom_host *const host = d->host;
  LOOM_TRY(host->buf_resize(host, d->num, q->count));
  LOOM_TRY(host->buf_resize(host, d->all, q->count));
  LOOM_TRY(host->buf_resize(host, d->place, q->count + 1));
  plug_maps m = plug_maps_on(host, d->e);
  contact_diagonal_args a = open_diagonal_terms(d, &m, q);
  a.num = plug_write(&m, d->num);
  a.all = plug_write(&m, d->all);
  LOOM_TRY(plug_launch(&m, &k_count, &a, q->count, NULL));
  LOOM_TRY(host->scan_i64(host, d->e, d->num, d->place, corners));
  LOOM_TRY(resize_keys(d, *corners));
  LOOM_TRY(host->buf_resize(host, d->corner, *corners));
  m = plug_maps_on(host, d->e);
  a = open_diagonal_terms(d, &m, q);
  a.place = plug_read(&m, d->place);
  a.corner = plug_write(&m, d->corner);
  a.key = plug_write(&m, d->key);
  return plug_launch(&m, &k_list, &a, q->count, NULL);
}

loom_status contact_diagonal_of(contact_diagonal *d, const loom_quad *q)
{
  const loom_host *const host = d->host;
  const int all = d->e->backend == LOOM_CUDA;
  int64_t corners = 0;
  if (q == NULL || q->count == 0) return clear_contact_weights(d);
  LOOM_TRY((all ? list_all_corners : list_used_corners)(d, q, &corners));
  LOOM_TRY(clear_contact_weights(d));
  if (corners == 0) return LOOM_OK;
  LOOM_TRY(host->sort_u64(host, d->e, d->key, d->order));
  plug_maps m = plug_maps_on(host, d->e);
  contact_diagonal_args a = open_diagonal_terms(d, &m, q);
  a.key = plug_bind(&m, d->key, LOOM_READ, LOOM_AT_EXEC);
  a.corner = all ? NULL : plug_bind(&m, d->corner, LOOM_READ, LOOM_AT_EXEC);
  a.all = all ? NULL : plug_bind(&m, d->all, LOOM_READ, LOOM_AT_EXEC);
  a.order = plug_read(&m, d->order);
  a.weight = plug_rdwr(&m, d->weight);
  a.corners = corners;
  return plug_launch(&m, &k_sum, &a, corners, NULL);
}
