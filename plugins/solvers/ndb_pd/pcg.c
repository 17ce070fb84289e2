/* pcg.c - conjugate gradients with the preconditioner D^-1 + U S^-1 U', in loom_real.  A fixed
 * number of iterations, without waiting for the device in between. */
#include "pcg.kern.h"

#include "ndb_pd.h"

static const lk_entry k_jacobi = LK_ENTRY_MOVES(ndb_pd_pcg_jacobi, 7, 0),
                      k_multiply = LK_ENTRY_MOVES(ndb_pd_pcg_multiply, 7, 4);

typedef struct solve { /* context of the system's callbacks */
  ndb_pd *s;
  const loom_step *st;
  const ndb_pd_view *v;
  const ndb_pd_plan *p;
  ndb_pd_report *out;
} solve;

static loom_status run_pcg_kernel(const solve *z, const lk_entry *k, const krylov_product *p,
                                  lk_real *result)
{
  const ndb_pd_view *const v = z->v;
  const ndb_pd_pcg_args a = {.ptr = v->ptr,
                             .col = v->col,
                             .val = v->val,
                             .w = v->w,
                             .dinv = v->dinv,
                             .x = p->x,
                             .y = p->y};
  return ndb_pd_run(z->s, k, &a, z->s->n, result);
}

static loom_status pcg_multiply(void *self, const krylov_product *p)
{
  const ndb_pd *const s = ((const solve *)self)->s;
  lk_moved(s->e, s->nnz, LK_MOVES(4, 1));
  return run_pcg_kernel(self, &k_multiply, p, p->dot);
}

static loom_status pcg_precondition(void *self, const krylov_product *p)
{
  const solve *const z = self;
  LOOM_TRY(run_pcg_kernel(z, &k_jacobi, p, NULL));
  if (z->p->cols > 0) LOOM_TRY(ndb_pd_correct(z->s, z->v, z->p, p->x, p->y, 1));
  return krylov_dot(&z->s->cg, p);
}

static void pcg_iterated(void *self)
{
  const solve *const z = self;
  ++z->out->mv;
  ++z->out->sweeps;
  z->out->corrections += z->p->cols > 0;
  ndb_pd_monitor_tell(z->s, z->st, z->v, z->v->u[0], 0, z->out);
}

loom_status ndb_pd_pcg(ndb_pd *s, const loom_step *st, const ndb_pd_view *v, const ndb_pd_plan *p,
                       int64_t count, ndb_pd_report *out)
{
  solve z = {.s = s, .st = st, .v = v, .p = p, .out = out};
  const krylov_system A = {.multiply = pcg_multiply,
                           .precondition = pcg_precondition,
                           .iterated = pcg_iterated,
                           .self = &z};
  if (s->cg.s == NULL) LOOM_TRY(krylov_cg_new(&s->cg, s->host, s->e, s->n, (int32_t)count));
  LOOM_TRY(krylov_cg_iterate(&s->cg, &A, v->r, v->u[0], (int32_t)count));
  return ndb_pd_settle(s, v, v->u[0], 0, 0);
}
