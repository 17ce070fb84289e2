/* ndb_repair.c - impulses between contacts open pairs for which the last bound would cut the step.
 *
 * A step that ends at its cap leaves contacts with weights that had no time to grow; a global bound
 * then stops every vertex of the scene for the worst of them.  The nearest point that has all of
 * them open by d_hat/2, in the metric of the masses, is the result of inelastic impacts: they
 * keep the momentum of all free vertices.  DEVIATION: the paper cuts. */
#include "ndb.h"

static const lk_entry k_deepest = LK_ENTRY_MOVES(ndb_deepest, 29, 4),
                      k_play = LK_ENTRY_MOVES(ndb_play, 29, 5),
                      k_load = LK_ENTRY_MOVES(ndb_load, 17, 11);
static const lk_entry k_damp = LK_ENTRY_MOVES(ndb_damp, 13, 7),
                      k_impulse = LK_ENTRY_MOVES(ndb_impulse, 60, 11);
static const lk_entry k_shift = LK_ENTRY_MOVES(ndb_shift, 12, 3);

enum { SWEEPS = 60 }; /* an impact passes about as many cloths that lie on each other */

/* One kernel over the contacts at x. */
static loom_status over_contacts(ndb *d, const loom_step *s, loom_buf *x, const lk_entry *k,
                                 ndb_repair_args *a)
{
  candidates *const c = &d->c;
  plug_maps m = plug_maps_on(c->host, c->e);
  a->s = ndb_open(d, &m, s, x, 0);
  a->at = plug_read(&m, ndb_places(d));
  a->mass = plug_read(&m, c->sc->mass);
  a->load = plug_read(&m, d->push);
  a->force = plug_rdwr(&m, c->corner.force);
  a->impulse = plug_rdwr(&m, d->impulse);
  a->inverse = plug_rdwr(&m, d->inverse);
  a->plays = plug_rdwr(&m, d->live);
  return plug_launch(&m, k, a, c->m, NULL);
}

/* Sums the impulses that a kernel left in the corners into `push`. */
static loom_status gather_pushes(ndb *d)
{
  candidates *const c = &d->c;
  LOOM_TRY(c->host->axpby(c->host, c->e, 0.0, d->hat, 0.0, d->push));
  return ndb_gather(d, d->push);
}

static loom_status shift_pushed_vertices(ndb *d, loom_buf *x)
{
  candidates *const c = &d->c;
  plug_maps m = plug_maps_on(c->host, c->e);
  const ndb_shift_args a = {.hat = plug_read(&m, d->hat),
                            .push = plug_read(&m, d->push),
                            .mass = plug_read(&m, c->sc->mass),
                            .fixed = plug_read(&m, c->sc->fixed),
                            .x = plug_write(&m, x)};
  return plug_launch(&m, &k_shift, &a, c->sc->num_verts, NULL);
}

loom_status ndb_resolve(void *self, const loom_step *s, loom_buf *x_feas, loom_buf *x)
{
  ndb *const d = self;
  candidates *const c = &d->c;
  const loom_host *const host = c->host;
  const int64_t n3 = 3 * (int64_t)c->sc->num_verts;
  ndb_repair_args a = {.beta = LK_R(0.0)};
  double deepest = 0.0;
  (void)x_feas; /* the contacts were found there */
  if (c->m == 0 || c->corner.count == 0) return LOOM_OK;
  LOOM_TRY(ndb_reduce(d, s, x, &k_deepest, &deepest));
  if (!(deepest > 0.0)) return LOOM_OK;
  LOOM_TRY(host->buf_resize(host, d->hat, n3));
  LOOM_TRY(host->buf_resize(host, d->push, n3));
  LOOM_TRY(host->buf_new(host, "impulses", LOOM_REAL, 2 * c->m, &d->impulse));
  LOOM_TRY(host->buf_new(host, "metric", LOOM_REAL, c->m, &d->inverse));
  LOOM_TRY(host->buf_copy(host, c->e, d->hat, x));
  LOOM_TRY(host->buf_copy(host, c->e, d->push, x));        /* makes all entries finite */
  a.reach = (lk_real)(0.5 * d->set.d_hat + 2.0 * deepest); /* both sides may give way */
  ndb_forget(d);                                           /* live is of contacts in play now */
  LOOM_TRY(over_contacts(d, s, x, &k_play, &a));
  LOOM_TRY(ndb_place_forces(d));
  LOOM_TRY(over_contacts(d, s, x, &k_load, &a));
  LOOM_TRY(gather_pushes(d));
  LOOM_TRY(over_contacts(d, s, x, &k_damp, &a));
  for (int k = 0; k < SWEEPS; ++k) {
    a.beta = k + 1 < SWEEPS ? (lk_real)k / (lk_real)(k + 3) : LK_R(0.0); /* Nesterov */
    LOOM_TRY(over_contacts(d, s, x, &k_impulse, &a));
    LOOM_TRY(gather_pushes(d));
    LOOM_TRY(shift_pushed_vertices(d, x));
  }
  ndb_forget(d);
  host->buf_free(host, d->impulse);
  host->buf_free(host, d->inverse);
  return LOOM_OK;
}
