/* pcg.c - conjugate gradients with the preconditioner D^-1 + U S^-1 U',
 * in loom_real.  A fixed number of iterations; nothing waits for the device in between. */
#include "pcg.kern.h"

#include "ndb.h"

static const lk_entry k_zero = LK_ENTRY(ndb_pcg_zero), k_jacobi = LK_ENTRY(ndb_pcg_jacobi);
static const lk_entry k_rho = LK_ENTRY(ndb_pcg_rho), k_conjugate = LK_ENTRY(ndb_pcg_conjugate);
static const lk_entry k_turn = LK_ENTRY(ndb_pcg_turn), k_multiply = LK_ENTRY(ndb_pcg_multiply);
static const lk_entry k_length = LK_ENTRY(ndb_pcg_length), k_advance = LK_ENTRY(ndb_pcg_advance);

static loom_status iteration(const ndb *s, const ndb_view *v, const ndb_plan *p, ndb_pcg_args *a)
{
  LOOM_TRY(ndb_run(s, &k_jacobi, a, s->n, NULL));
  if (p->cols > 0) LOOM_TRY(ndb_correct(s, v, p, a->r, a->z, 1));
  LOOM_TRY(ndb_run(s, &k_rho, a, s->n, a->s + NDB_RHO_NEXT));
  LOOM_TRY(ndb_run(s, &k_conjugate, a, 1, NULL));
  a->first = 0;
  LOOM_TRY(ndb_run(s, &k_turn, a, s->n, NULL));
  LOOM_TRY(ndb_run(s, &k_multiply, a, s->n, a->s + NDB_CURVATURE));
  LOOM_TRY(ndb_run(s, &k_length, a, 1, NULL));
  return ndb_run(s, &k_advance, a, s->n, NULL);
}

loom_status ndb_pcg(ndb *s, const loom_step *st, const ndb_view *v, const ndb_plan *p,
                    int64_t count, ndb_report *out)
{
  const loom_host *const h = s->h;
  if (s->cg == NULL) {
    LOOM_TRY(h->buf_new(h, "cg product", LOOM_REAL, 3 * (int64_t)s->n, &s->cg));
    LOOM_TRY(h->buf_new(h, "cg record", LOOM_REAL, NDB_RECORD, &s->record));
  }
  plug_maps m = plug_maps_on(h, s->e);
  ndb_pcg_args a = {.ptr = v->ptr,
                    .col = v->col,
                    .val = v->val,
                    .w = v->w,
                    .dinv = v->dinv,
                    .u = v->u[0],
                    .r = v->r,
                    .z = v->u[1],
                    .p = v->u[2],
                    .q = plug_write(&m, s->cg),
                    .s = plug_write(&m, s->record),
                    .first = 1};
  LOOM_TRY(plug_run_on(&m, &k_zero, &a, s->n, NULL));
  for (int64_t k = 0; k < count; ++k) {
    LOOM_TRY(iteration(s, v, p, &a));
    ++out->mv;
    ++out->sweeps;
    out->corrections += p->cols > 0;
    ndb_monitor_tell(s, st, v, v->u[0], 0, out);
  }
  LOOM_TRY(plug_unbind(&m));
  return ndb_settle(s, v, v->u[0], 0, 0);
}
