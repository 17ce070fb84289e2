/* ndb_repair.c - what the last bound of a step would cut is put right by impulses between contacts.
 *
 * A step that ends at its cap leaves contacts whose weights had no time to grow; a global bound
 * then stops every vertex of the scene for the worst of them.  The nearest point that has all of
 * them open by d_hat/2, in the metric of the masses, is what inelastic impacts would lead to: they
 * keep the momentum of all that is free.  DEVIATION: the paper cuts. */
#include "ndb.h"

static const lk_entry k_deepest = LK_ENTRY(ndb_deepest), k_load = LK_ENTRY(ndb_load);
static const lk_entry k_damp = LK_ENTRY(ndb_damp), k_impulse = LK_ENTRY(ndb_impulse);
static const lk_entry k_shift = LK_ENTRY(ndb_shift);

enum { SWEEPS = 60 }; /* an impact passes about as many cloths that lie on each other */

/* One kernel over the contacts at x. */
static loom_status over_contacts(ndb *d, const loom_step *s, loom_buf *x, const lk_entry *k,
                                 ndb_repair_args *a)
{
  ipc *const p = &d->base;
  plug_map m[NDB_MAPS];
  void *q[6];
  const plug_map o[6] = {{p->corner.at, LOOM_READ}, {p->sc->mass, LOOM_READ},
                         {d->push, LOOM_READ},      {p->corner.force, LOOM_RDWR},
                         {d->impulse, LOOM_RDWR},   {d->inverse, LOOM_RDWR}};
  LOOM_TRY(ndb_open(d, s, x, 0, m, &a->s));
  LOOM_TRY(plug_map_all(p->h, p->e, 6, o, q));
  a->at = q[0];
  a->mass = q[1];
  a->load = q[2];
  a->force = q[3];
  a->impulse = q[4];
  a->inverse = q[5];
  LOOM_TRY(plug_run(p->h, p->e, k, a, p->m, NULL));
  LOOM_TRY(plug_unmap_all(p->h, 6, o));
  return ndb_close(d, m);
}

/* What a kernel left in the corners, summed into `push`. */
static loom_status gather(ndb *d)
{
  ipc *const p = &d->base;
  LOOM_TRY(p->h->axpby(p->h, p->e, 0.0, d->hat, 0.0, d->push));
  return ipc_gather_forces(p, &p->corner, NULL, d->push);
}

static loom_status shift(ndb *d, loom_buf *x)
{
  ipc *const p = &d->base;
  void *q[5];
  const plug_map o[5] = {{d->hat, LOOM_READ},
                         {d->push, LOOM_READ},
                         {p->sc->mass, LOOM_READ},
                         {p->sc->fixed, LOOM_READ},
                         {x, LOOM_WRITE}};
  LOOM_TRY(plug_map_all(p->h, p->e, 5, o, q));
  const ndb_shift_args a = {q[0], q[1], q[2], q[3], q[4]};
  LOOM_TRY(plug_run(p->h, p->e, &k_shift, &a, p->sc->num_verts, NULL));
  return plug_unmap_all(p->h, 5, o);
}

loom_status ndb_resolve(void *self, const loom_step *s, loom_buf *x_feas, loom_buf *x)
{
  ndb *const d = self;
  ipc *const p = &d->base;
  const loom_host *const h = p->h;
  const int64_t n3 = 3 * (int64_t)p->sc->num_verts;
  ndb_repair_args a = {.beta = LK_R(0.0)};
  double deepest = 0.0;
  (void)x_feas; /* contacts are those found there */
  if (p->m == 0 || p->corner.count == 0) return LOOM_OK;
  LOOM_TRY(ndb_reduce(d, s, x, &k_deepest, &deepest));
  if (!(deepest > 0.0)) return LOOM_OK;
  LOOM_TRY(h->buf_resize(h, d->hat, n3));
  LOOM_TRY(h->buf_resize(h, d->push, n3));
  LOOM_TRY(h->buf_resize(h, d->impulse, 2 * p->m));
  LOOM_TRY(h->buf_resize(h, d->inverse, p->m));
  LOOM_TRY(h->buf_copy(h, p->e, d->hat, x));
  LOOM_TRY(h->buf_copy(h, p->e, d->push, x));              /* finite, for what follows */
  a.reach = (lk_real)(0.5 * p->set.d_hat + 2.0 * deepest); /* both sides may give way */
  LOOM_TRY(over_contacts(d, s, x, &k_load, &a));
  LOOM_TRY(gather(d));
  LOOM_TRY(over_contacts(d, s, x, &k_damp, &a));
  for (int k = 0; k < SWEEPS; ++k) {
    a.beta = k + 1 < SWEEPS ? (lk_real)k / (lk_real)(k + 3) : LK_R(0.0); /* Nesterov */
    LOOM_TRY(over_contacts(d, s, x, &k_impulse, &a));
    LOOM_TRY(gather(d));
    LOOM_TRY(shift(d, x));
  }
  return LOOM_OK;
}
