/* sweep.c - the relaxation over all vertices: diagonal, damping, sweeps. */
#include <math.h>

#include "pd_bfgs.h"
#include "sweep.kern.h"

static const lk_entry k_invert = LK_ENTRY_MOVES(pd_bfgs_invert, 17, 13),
                      k_sweep = LK_ENTRY_MOVES(pd_bfgs_sweep, 18, 5);
static const lk_entry k_power = LK_ENTRY_MOVES(pd_bfgs_power, 15, 5),
                      k_weigh = LK_ENTRY_MOVES(pd_bfgs_weigh, 6, 4);
static const lk_entry k_blocks = LK_ENTRY_MOVES(pd_bfgs_blocks, 3, 5),
                      k_noise = LK_ENTRY_MOVES(pd_bfgs_noise, 7, 1);

/* Power iteration comes from below: so much is put on top.  Jacobi converges below 2 / mu_hi; at
 * 1.6 the upper end of the spectrum falls by a third with every sweep, and changes its sign.
 * Momentum needs that margin: an iteration that multiplies some mode by less than -1/3 diverges
 * with it, which five sweeps do above 1.8. */
enum { POWER_STEPS = 40 };
static const double sweep_safety = 1.05, sweep_damping = 1.6;

loom_status pd_bfgs_sweep_new(pd_bfgs *s)
{
  const int64_t n3 = 3 * (int64_t)s->n;
  const plug_buf all[] = {{"diagonal blocks, inverted", LOOM_REAL, 2 * n3, &s->inv},
                          {"power, v", LOOM_REAL, n3, &s->v},
                          {"power, t", LOOM_REAL, n3, &s->t},
                          {"r", LOOM_REAL, n3, &s->r},
                          {"u0", LOOM_REAL, n3, &s->u[0]},
                          {"u1", LOOM_REAL, n3, &s->u[1]},
                          {"full", LOOM_REAL, n3, &s->full},
                          {"sums", LOOM_REAL, 2, &s->sums},
                          {"total", LOOM_REAL, s->set.cycles > 1 ? n3 : 0, &s->total}};
  return plug_bufs_new(s->host, all, LOOM_COUNT(all));
}

pd_bfgs_sweep_args pd_bfgs_open_matrices(const pd_bfgs *s, plug_maps *m)
{
  const loom_csr *const H = s->A.H;
  const loom_bsr3 *const B = s->A.B;
  pd_bfgs_sweep_args a = {.ptr = plug_read(m, H->row_ptr),
                          .col = plug_read(m, H->col),
                          .val = plug_read(m, H->val),
                          .fixed = plug_read(m, s->sc->fixed),
                          .scalar = s->set.jacobi == JACOBI_SCALAR};
  if (B == NULL) return a;
  a.bptr = plug_read(m, B->row_ptr);
  a.bcol = plug_read(m, B->col);
  a.bval = plug_read(m, B->val);
  return a;
}

void pd_bfgs_product_moved(const pd_bfgs *s)
{
  lk_moved(s->e, s->A.H->nnz, LK_MOVES(4, 1));
  if (s->A.B != NULL) lk_moved(s->e, s->A.B->num_blocks, LK_MOVES(12, 1));
}

static loom_status invert_sweep_blocks(pd_bfgs *s)
{
  plug_maps m = plug_maps_on(s->host, s->e);
  pd_bfgs_sweep_args a = pd_bfgs_open_matrices(s, &m);
  a.inv = plug_write(&m, s->inv);
  return plug_launch(&m, &k_invert, &a, s->n, NULL);
}

/* Modes of contact are few among many of the cloth that are almost as high: they are looked for
 * from where it is. */
static loom_status fill_power_vector(pd_bfgs *s)
{
  plug_maps m = plug_maps_on(s->host, s->e);
  pd_bfgs_sweep_args a = pd_bfgs_open_matrices(s, &m);
  a.to = plug_write(&m, s->v);
  return plug_launch(&m, &k_noise, &a, s->n, NULL);
}

/* t = D^-1 A v with A = H + B; `last`: also v'A v and t'A v. */
static loom_status power_step(pd_bfgs *s, loom_buf *v, loom_buf *t, int last)
{
  plug_maps m = plug_maps_on(s->host, s->e);
  pd_bfgs_sweep_args a = pd_bfgs_open_matrices(s, &m);
  a.inv = plug_bind(&m, s->inv, LOOM_READ, LOOM_AT_EXEC);
  a.from = plug_read(&m, v);
  a.to = plug_write(&m, t);
  lk_real *const sums = plug_rdwr(&m, s->sums);
  pd_bfgs_product_moved(s);
  if (last) pd_bfgs_product_moved(s);
  LOOM_TRY(plug_run_on(&m, &k_power, &a, s->n, sums));
  if (last) LOOM_TRY(plug_run_on(&m, &k_weigh, &a, s->n, sums + 1));
  return plug_unbind(&m);
}

/* Largest eigenvalue of D^-1 A, from below. */
static loom_status estimate_largest_eigenvalue(pd_bfgs *s, double *mu)
{
  double sums[2];
  LOOM_TRY(fill_power_vector(s));
  for (int k = 0; k < POWER_STEPS; k += 2) {
    LOOM_TRY(power_step(s, s->v, s->t, 0));
    LOOM_TRY(power_step(s, s->t, s->v, k + 2 == POWER_STEPS));
  }
  LOOM_TRY(plug_fetch(s->host, s->e, s->sums, 2, sums));
  s->host->count(s->host, LOOM_C_SPMV, POWER_STEPS);
  *mu = sums[0] > 0.0 ? sums[1] / sums[0] : 1.0; /* no free vertex: anything will do */
  LOOM_CHECK(s->host, isfinite(*mu), LOOM_E_NUMERIC,
             "the largest eigenvalue of the global step is not finite (%g); look for collapsed "
             "triangles at rest",
             *mu);
  return LOOM_OK;
}

/* Inverse blocks and damping for the matrices in force. */
static loom_status prepare_sweep_damping(pd_bfgs *s)
{
  LOOM_TRY(invert_sweep_blocks(s));
  if (s->set.omega > 0.0) {
    s->omega = s->set.omega;
    s->mu_hi = NAN;
    return LOOM_OK;
  }
  LOOM_TRY(estimate_largest_eigenvalue(s, &s->mu_hi));
  if (s->A.B == NULL)
    s->mu_free = s->mu_hi;
  else
    s->mu_hi = fmax(s->mu_hi, s->mu_free);
  s->omega = fmin(1.0, sweep_damping / (sweep_safety * s->mu_hi));
  return LOOM_OK;
}

/* The cloth's own eigenvalue is a bound from below in every step: it is found first. */
static loom_status prepare_cloth(pd_bfgs *s)
{
  const loom_bsr3 *const B = s->A.B;
  s->A.B = NULL;
  LOOM_TRY(prepare_sweep_damping(s));
  s->A.B = B;
  s->sweeps_for = SWEEPS_FOR_CLOTH;
  return LOOM_OK;
}

loom_status pd_bfgs_sweep_make(pd_bfgs *s)
{
  const int known = s->sweeps_for != SWEEPS_FOR_NOTHING;
  if (!known || (s->A.B == NULL && s->sweeps_for == SWEEPS_FOR_CONTACT)) LOOM_TRY(prepare_cloth(s));
  if (s->A.B == NULL) return LOOM_OK;
  s->sweeps_for = SWEEPS_FOR_CONTACT;
  return prepare_sweep_damping(s);
}

loom_status pd_bfgs_contact_product(pd_bfgs *s, loom_buf *x, loom_buf *y)
{
  plug_maps m = plug_maps_on(s->host, s->e);
  pd_bfgs_sweep_args a = pd_bfgs_open_matrices(s, &m);
  a.from = plug_read(&m, x);
  a.to = plug_write(&m, y);
  return plug_launch(&m, &k_blocks, &a, s->n, NULL);
}

loom_status pd_bfgs_sweeps(pd_bfgs *s, int *at)
{
  for (int64_t k = 0; k < s->set.jacobi_iters; ++k, *at = !*at) {
    plug_maps m = plug_maps_on(s->host, s->e);
    pd_bfgs_sweep_args a = pd_bfgs_open_matrices(s, &m);
    a.inv = plug_bind(&m, s->inv, LOOM_READ, LOOM_AT_EXEC);
    a.r = plug_read(&m, s->r);
    a.from = plug_read(&m, s->u[*at]);
    a.to = plug_write(&m, s->u[!*at]);
    a.omega = (lk_real)s->omega;
    pd_bfgs_product_moved(s);
    LOOM_TRY(plug_launch(&m, &k_sweep, &a, s->n, NULL));
  }
  s->host->count(s->host, LOOM_C_SPMV, s->set.jacobi_iters);
  return LOOM_OK;
}
