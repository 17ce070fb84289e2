/* ndb_live.c - which contacts have a force, at which point they were measured, and where the forces
 * of their corners are.
 *
 * In folds a tenth of the contacts held has a force.  On the CPU forces have places for these
 * alone; on a device the host would have to wait for their number. */
#include <string.h>

#include "ndb.h"

static const lk_entry k_count = LK_ENTRY_MOVES(ndb_count, 2, 1);

static int is_compact(const ndb *d) { return d->c.corner.compact; }

/* ---- the point ---- */

void ndb_forget(ndb *d) { d->measured.known = d->measured.placed = 0; }

/* Within a step lack and live follow from x and the progress of the bodies.  Whoever changes the
 * contacts forgets the point. */
loom_status ndb_is_measured(ndb *d, const loom_step *s, loom_buf *x, int *known)
{
  ndb_measured *const at = &d->measured;
  plug_maps m = plug_maps_on(d->c.host, d->c.e);
  *known = 0;
  if (!at->known || at->progress != s->progress) return LOOM_OK;
  const void *const now = plug_read_host(&m, x), *const then = plug_read_host(&m, at->x);
  LOOM_TRY(m.status);
  *known = memcmp(now, then, 3 * (size_t)d->c.sc->num_verts * sizeof(loom_real)) == 0;
  return plug_unbind(&m);
}

loom_status ndb_remember(ndb *d, const loom_step *s, loom_buf *x)
{
  const loom_host *const host = d->c.host;
  ndb_measured *const at = &d->measured;
  ndb_forget(d);
  if (d->c.e->backend != LOOM_CPU) return LOOM_OK;
  LOOM_TRY(host->buf_resize(host, at->x, 3 * (int64_t)d->c.sc->num_verts));
  LOOM_TRY(host->buf_copy(host, d->c.e, at->x, x));
  at->known = 1;
  at->progress = s->progress;
  return LOOM_OK;
}

/* ---- their corners ---- */

/* num: the numbers of corners of live contacts, or their squares, and their exclusive sums. */
static loom_status count_live_corners(ndb *d, int square, loom_buf *num, loom_buf *at,
                                      int64_t *total)
{
  candidates *const c = &d->c;
  plug_maps m = plug_maps_on(c->host, c->e);
  const ndb_count_args a = {.live = plug_read(&m, d->live),
                            .num = plug_read(&m, c->corner.num),
                            .count = plug_write(&m, num),
                            .square = square};
  LOOM_TRY(plug_launch(&m, &k_count, &a, c->m, NULL));
  return c->host->scan_i64(c->host, c->e, num, at, total);
}

loom_status ndb_place_live(ndb *d)
{
  candidates *const c = &d->c;
  ndb_measured *const at = &d->measured;
  if (at->placed) return LOOM_OK;
  at->corners = c->m > 0 ? c->corner.count : 0;
  if (c->m == 0) return LOOM_OK;
  LOOM_TRY(
      count_live_corners(d, 0, c->act.flag, c->act.place, is_compact(d) ? &at->corners : NULL));
  at->placed = at->known;
  return LOOM_OK;
}

loom_status ndb_place_forces(ndb *d)
{
  candidates *const c = &d->c;
  if (!is_compact(d)) return LOOM_OK; /* all corners have room */
  LOOM_TRY(ndb_place_live(d));
  return c->host->buf_resize(c->host, c->corner.force, 3 * d->measured.corners);
}

loom_status ndb_count_squares(ndb *d, int64_t *total)
{
  candidates *const c = &d->c;
  const loom_host *const host = c->host;
  *total = 0;
  if (c->m == 0) return LOOM_OK;
  LOOM_TRY(host->buf_resize(host, c->act.count, c->m));
  LOOM_TRY(host->buf_resize(host, c->act.at, c->m + 1));
  return count_live_corners(d, 1, c->act.count, c->act.at, total);
}

loom_buf *ndb_places(const ndb *d) { return is_compact(d) ? d->c.act.place : d->c.corner.at; }

loom_status ndb_gather(ndb *d, loom_buf *out)
{
  gather *const g = &d->c.corner;
  if (is_compact(d)) return gather_add_live(g, d->live, d->c.act.place, out);
  return gather_add(g, NULL, d->live, out);
}
