/* operator.c - the operator of the global step, bounds of its spectrum, and contact weights. */
#include <math.h>
#include <stdlib.h>

#include "kit/jacobi_bound.h"
#include "ndb_pd.h"
#include "operator.kern.h"

static const lk_entry k_diagonal = LK_ENTRY_MOVES(ndb_pd_diagonal, 4, 1),
                      k_heaviest = LK_ENTRY_MOVES(ndb_pd_heaviest, 1, 0);
static const lk_entry k_touched = LK_ENTRY_MOVES(ndb_pd_touched, 1, 0);
static const lk_entry k_hold = LK_ENTRY_MOVES(ndb_pd_hold, 3, 0);

/* Factor on the result of power iteration, which lies below the true value. */
static const double eigen_safety = 1.02;
/* As in cholmod_pd: a weight that exceeds the weight in the matrix enters it times this factor. */
static const double eigen_headroom = 1.5;

loom_status ndb_pd_operator_new(ndb_pd *s)
{
  const loom_host *const host = s->host;
  const int64_t n = s->n, single = s->set.precision == PRECISION_MIXED ? n : 0;
  const plug_buf all[] = {{"rows", LOOM_I64, n + 1, &s->ptr},
                          {"columns", LOOM_I32, 0, &s->col},
                          {"values", LOOM_REAL, 0, &s->val},
                          {"values, float", LOOM_I32, 0, &s->valf},
                          {"diagonal", LOOM_REAL, n, &s->diag},
                          {"contact weights", LOOM_REAL, n, &s->w},
                          {"1/diagonal", LOOM_REAL, n, &s->dinv},
                          {"mask", LOOM_REAL, n, &s->mask},
                          {"weights, float", LOOM_I32, single, &s->wf},
                          {"1/diagonal, float", LOOM_I32, single, &s->dinvf},
                          {"touched", LOOM_I64, n, &s->touched},
                          {"place", LOOM_I64, n + 1, &s->place},
                          {"r", LOOM_REAL, 3 * n, &s->r},
                          {"total", LOOM_REAL, 3 * n, &s->total},
                          {"u0", LOOM_REAL, 3 * n, &s->u[0]},
                          {"u1", LOOM_REAL, 3 * n, &s->u[1]},
                          {"u2", LOOM_REAL, 3 * n, &s->u[2]},
                          {"r, float", LOOM_I32, 3 * single, &s->rf},
                          {"u0, float", LOOM_I32, 3 * single, &s->uf[0]},
                          {"u1, float", LOOM_I32, 3 * single, &s->uf[1]},
                          {"u2, float", LOOM_I32, 3 * single, &s->uf[2]},
                          {"gradient", LOOM_REAL, 3 * n, &s->grad},
                          {"before", LOOM_REAL, 3 * n, &s->before},
                          {"result", LOOM_REAL, 2, &s->result}};
  LOOM_TRY(contact_diagonal_new(&s->now, host, s->sc, s->e));
  return plug_bufs_new(host, all, LOOM_COUNT(all));
}

/* ---- copy of H ---- */

/* Entries that join a fixed row and another one are left out: increments are zero there. */
static loom_status copy_matrix(ndb_pd *s, const loom_csr *L)
{
  const loom_host *const host = s->host;
  const int single = s->set.precision == PRECISION_MIXED;
  plug_maps maps = plug_maps_on(host, s->e);
  LOOM_TRY(host->buf_resize(host, s->col, L->nnz));
  LOOM_TRY(host->buf_resize(host, s->val, L->nnz));
  if (single) LOOM_TRY(host->buf_resize(host, s->valf, L->nnz));
  const int64_t *const ptr = plug_read_host(&maps, L->row_ptr);
  const int32_t *const col = plug_read_host(&maps, L->col);
  const loom_real *const val = plug_read_host(&maps, L->val);
  const uint8_t *const fixed = plug_read_host(&maps, s->sc->fixed);
  int64_t *const to_ptr = plug_write_host(&maps, s->ptr);
  int32_t *const to_col = plug_write_host(&maps, s->col);
  loom_real *const to_val = plug_write_host(&maps, s->val);
  loom_real *const diag = plug_write_host(&maps, s->diag);
  float *const to_valf = plug_write_host(&maps, s->valf);
  LOOM_TRY(maps.status);
  int64_t m = 0;
  s->sweep_rows = 0;
  s->sweep_nnz = 0;
  for (int32_t i = 0; i < s->n; ++i) {
    to_ptr[i] = m;
    for (int64_t k = ptr[i]; k < ptr[i + 1]; ++k) {
      if (col[k] != i && (fixed[i] || fixed[col[k]])) continue;
      if (col[k] == i) diag[i] = val[k];
      to_col[m] = col[k];
      to_val[m] = val[k];
      if (single) to_valf[m] = (float)val[k];
      ++m;
    }
    if (!fixed[i]) {
      s->sweep_rows = i + 1;
      s->sweep_nnz = m;
    }
  }
  to_ptr[s->n] = m;
  s->nnz = m;
  for (int64_t k = m; k < L->nnz; ++k) { /* room that is left over */
    to_col[k] = 0;
    to_val[k] = 0;
    if (single) to_valf[k] = 0.0F;
  }
  return plug_unbind(&maps);
}

loom_status ndb_pd_matrix_open(ndb_pd *s, plug_maps *m, ndb_pd_matrix *A)
{
  *m = plug_maps_on(s->host, s->e);
  *A = (ndb_pd_matrix){.ptr = plug_read_host(m, s->ptr),
                       .col = plug_read_host(m, s->col),
                       .val = plug_read_host(m, s->val),
                       .diag = plug_read_host(m, s->diag),
                       .fixed = plug_read_host(m, s->sc->fixed)};
  return m->status;
}

/* ---- spectrum of D^-1 H ---- */

/* H = M/h^2 + a semidefinite rest: no eigenvalue of D^-1 H is below the least share of the
 * mass in the diagonal. */
static double bound_lowest_eigenvalue(const ndb_pd_matrix *A, const loom_real *mass, int32_t n,
                                      double h2)
{
  double least = 1.0;
  for (int32_t i = 0; i < n; ++i)
    if (!A->fixed[i]) least = fmin(least, (double)mass[i] / (h2 * (double)A->diag[i]));
  return least;
}

static loom_status bound_spectrum(ndb_pd *s, double h2)
{
  const loom_host *const host = s->host;
  plug_maps m;
  ndb_pd_matrix A;
  LOOM_TRY(ndb_pd_matrix_open(s, &m, &A));
  const loom_real *const mass = plug_read_host(&m, s->sc->mass);
  LOOM_TRY(m.status);
  double *v = malloc(2 * ((size_t)s->n + 1) * sizeof *v);
  LOOM_CHECK(host, v != NULL, LOOM_E_NOMEM, "no memory for the spectrum of %d vertices", s->n);
  const jacobi_matrix J = {A.ptr, A.col, A.val, A.diag, A.fixed, s->n};
  s->mu_hi = eigen_safety * jacobi_largest(&J, v);
  s->mu_lo = bound_lowest_eigenvalue(&A, mass, s->n, h2);
  free(v);
  return plug_unbind(&m);
}

loom_status ndb_pd_operator_make(ndb_pd *s, const loom_step *st)
{
  const loom_csr *L;
  LOOM_TRY(s->host->pd_operator(s->host, st->problem, &L));
  LOOM_TRY(copy_matrix(s, L));
  return bound_spectrum(s, loom_problem_h2(st->problem));
}

/* ---- contact ---- */

/* With `auto` weights are held as long as the filter passes each iterate.  An iterate that runs
 * ahead of it may overlap: its weights are of overlaps that the next iterates leave, and a matrix
 * that held them would hold the cloth where it is. */
static int follows_weights(const ndb_pd *s)
{
  return s->set.weights == WEIGHTS_EXACT || (s->set.weights == WEIGHTS_AUTO && s->leads);
}

static loom_status hold_weights(ndb_pd *s)
{
  plug_maps m = plug_maps_on(s->host, s->e);
  const ndb_pd_hold_args a = {.now = plug_read(&m, s->now.weight),
                              .held = plug_rdwr(&m, s->w),
                              .headroom = (lk_real)eigen_headroom,
                              .first = follows_weights(s) || !s->holding};
  LOOM_TRY(plug_launch(&m, &k_hold, &a, s->n, NULL));
  s->holding = 1;
  return LOOM_OK;
}

loom_status ndb_pd_contact_begin(ndb_pd *s, const loom_quad *q)
{
  const loom_host *const host = s->host;
  const int single = s->set.precision == PRECISION_MIXED;
  s->two.fresh = 0;
  LOOM_TRY(contact_diagonal_of(&s->now, q));
  LOOM_TRY(hold_weights(s));
  plug_maps m = plug_maps_on(host, s->e);
  const ndb_pd_diagonal_args a = {.h = plug_read(&m, s->diag),
                                  .w = plug_read(&m, s->w),
                                  .dinv = plug_write(&m, s->dinv),
                                  .mask = plug_write(&m, s->mask),
                                  .wf = plug_write(&m, single ? s->wf : NULL),
                                  .dinvf = plug_write(&m, single ? s->dinvf : NULL),
                                  .touched = plug_write(&m, s->touched)};
  lk_real *const result = plug_rdwr(&m, s->result);
  LOOM_TRY(plug_run_on(&m, &k_diagonal, &a, s->n, NULL));
  LOOM_TRY(plug_run_on(&m, &k_heaviest, &a, s->n, result));
  return plug_launch(&m, &k_touched, &a, s->n, result + 1);
}

loom_status ndb_pd_contact_end(ndb_pd *s, const double *found)
{
  const loom_host *const host = s->host;
  s->w_max = found[0];
  s->rows = (int64_t)found[1];
  LOOM_CHECK(host, isfinite(s->w_max), LOOM_E_NUMERIC, "a contact weight is not finite (%g N/m)",
             s->w_max);
  return s->rows > 0 ? host->scan_i64(host, s->e, s->touched, s->place, NULL) : LOOM_OK;
}

loom_status ndb_pd_contact(ndb_pd *s, const loom_quad *q)
{
  double found[2];
  LOOM_TRY(ndb_pd_contact_begin(s, q));
  LOOM_TRY(plug_fetch(s->host, s->e, s->result, 2, found));
  return ndb_pd_contact_end(s, found);
}

/* ---- views ---- */

loom_status ndb_pd_open(ndb_pd *s, loom_buf *inv, plug_maps *m, ndb_pd_view *v)
{
  const int single = s->set.precision == PRECISION_MIXED;
  *m = plug_maps_on(s->host, s->e);
  *v = (ndb_pd_view){.ptr = plug_read(m, s->ptr),
                     .col = plug_read(m, s->col),
                     .val = plug_read(m, s->val),
                     .w = plug_read(m, s->w),
                     .dinv = plug_read(m, s->dinv),
                     .mask = plug_read(m, s->mask),
                     .r = plug_rdwr(m, s->r),
                     .total = plug_rdwr(m, s->total),
                     .control = plug_read(m, s->turns.vert)};
  for (int k = 0; k < 3; ++k) v->u[k] = plug_rdwr(m, s->u[k]);
  if (single) {
    v->valf = plug_read(m, s->valf);
    v->wf = plug_read(m, s->wf);
    v->dinvf = plug_read(m, s->dinvf);
    v->rf = plug_rdwr(m, s->rf);
    for (int k = 0; k < 3; ++k) v->uf[k] = plug_rdwr(m, s->uf[k]);
  }
  if (inv != NULL) {
    v->space = subspace_bind(&s->space, m);
    v->space.inv = plug_read(m, inv);
  }
  return m->status;
}
