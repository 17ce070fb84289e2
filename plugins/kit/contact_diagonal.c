/* contact_diagonal.c - see contact_diagonal.h. */
#include "kit/contact_diagonal.h"

static const lk_entry k_key = LK_ENTRY_MOVES(contact_diagonal_key, 1, 1),
                      k_sum = LK_ENTRY_MOVES(contact_diagonal_sum, 12, 1),
                      k_none = LK_ENTRY_MOVES(contact_diagonal_none, 1, 0);

loom_status contact_diagonal_new(contact_diagonal *d, const loom_host *host, const loom_scene *sc,
                                 const loom_exec *e)
{
  const plug_buf all[] = {{"corner keys", LOOM_U64, 0, &d->key},
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

loom_status contact_diagonal_of(contact_diagonal *d, const loom_quad *q)
{
  const loom_host *const host = d->host;
  if (q == NULL || q->count == 0) return clear_contact_weights(d);
  const int64_t corners = q->width * q->count;
  if (host->buf_count(host, d->key) != corners) {
    LOOM_TRY(host->buf_resize(host, d->key, corners));
    LOOM_TRY(host->buf_resize(host, d->order, corners));
  }
  plug_maps m = plug_maps_on(host, d->e);
  const contact_diagonal_args keys = {.v = plug_read(&m, q->v),
                                      .w = plug_read(&m, q->w),
                                      .k = plug_read(&m, q->k),
                                      .fixed = plug_read(&m, d->fixed),
                                      .key = plug_write(&m, d->key),
                                      .corners = corners,
                                      .n = d->n,
                                      .width = q->width};
  LOOM_TRY(plug_launch(&m, &k_key, &keys, corners, NULL));
  LOOM_TRY(host->sort_u64(host, d->e, d->key, d->order));
  const contact_diagonal_args sums = {.v = plug_read(&m, q->v),
                                      .w = plug_read(&m, q->w),
                                      .k = plug_read(&m, q->k),
                                      .fixed = plug_read(&m, d->fixed),
                                      .key = plug_bind(&m, d->key, LOOM_READ, LOOM_AT_EXEC),
                                      .order = plug_read(&m, d->order),
                                      .weight = plug_write(&m, d->weight),
                                      .corners = corners,
                                      .n = d->n,
                                      .width = q->width};
  return plug_launch(&m, &k_sum, &sums, d->n, NULL);
}
