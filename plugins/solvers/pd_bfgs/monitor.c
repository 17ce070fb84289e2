/* monitor.c - the error of every cycle in the energy norm, for figures and tests.
 *
 * CHOLMOD solves every global step without contact exactly beforehand; the iteration does not use
 * this solution.  On the host only. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kit/chol_solve3.h"
#include "pd_bfgs.h"

typedef struct matrix { /* H on the host */
  const int64_t *ptr;
  const int32_t *col;
  const loom_real *val;
} matrix;

static matrix map_monitor_matrix(const pd_bfgs *s, plug_maps *m)
{
  return (matrix){.ptr = plug_read_host(m, s->A.H->row_ptr),
                  .col = plug_read_host(m, s->A.H->col),
                  .val = plug_read_host(m, s->A.H->val)};
}

/* Upper triangle by columns. */
static loom_status fill_monitor_triangle(chol *c, const matrix *H, int32_t n)
{
  int64_t nnz = 0, m = 0;
  for (int32_t i = 0; i < n; ++i)
    for (int64_t k = H->ptr[i]; k < H->ptr[i + 1]; ++k) nnz += H->col[k] <= i;
  LOOM_TRY(chol_matrix(c, n, nnz));
  for (int32_t i = 0; i < n; ++i) {
    chol_ptr(c)[i] = (int)m;
    for (int64_t k = H->ptr[i]; k < H->ptr[i + 1]; ++k) {
      if (H->col[k] > i) continue;
      chol_row(c)[m] = H->col[k];
      chol_val(c)[m++] = (double)H->val[k];
    }
  }
  chol_ptr(c)[n] = (int)m;
  return LOOM_OK;
}

static loom_status factorise_monitor_matrix(pd_bfgs *s, const matrix *H)
{
  pd_bfgs_monitor *const w = &s->monitor;
  int pivot;
  chol_close(&w->factor);
  LOOM_TRY(chol_open(&w->factor, s->host, CHOL_METIS, 1, "use monitor = none"));
  LOOM_TRY(fill_monitor_triangle(&w->factor, H, s->n));
  LOOM_TRY(chol_analyse(&w->factor));
  const loom_status st = chol_factorise(&w->factor, &pivot);
  LOOM_CHECK(s->host, st != LOOM_REJECTED, LOOM_E_NUMERIC,
             "the global matrix is not positive definite at row %d", pivot);
  free(w->work);
  w->work = malloc((chol_solve3_work(w->factor.L) + 1) * sizeof *w->work);
  LOOM_CHECK(s->host, w->work != NULL, LOOM_E_NOMEM, "no memory for the monitor");
  return st;
}

loom_status pd_bfgs_monitor_make(pd_bfgs *s)
{
  pd_bfgs_monitor *const w = &s->monitor;
  const size_t n3 = 3 * (size_t)s->n + 1;
  if (s->set.monitor == MONITOR_NONE) return LOOM_OK;
  if (w->left == NULL) w->left = malloc(n3 * sizeof *w->left);
  if (w->y == NULL) w->y = malloc(n3 * sizeof *w->y);
  LOOM_CHECK(s->host, w->left != NULL && w->y != NULL, LOOM_E_NOMEM,
             "no memory for the monitor of %d vertices", s->n);
  plug_maps m = plug_maps_on(s->host, s->e);
  const matrix H = map_monitor_matrix(s, &m);
  LOOM_TRY(m.status);
  LOOM_TRY(factorise_monitor_matrix(s, &H));
  return plug_unbind(&m);
}

void pd_bfgs_monitor_free(pd_bfgs *s)
{
  chol_close(&s->monitor.factor);
  free(s->monitor.left);
  free(s->monitor.y);
  free(s->monitor.work);
}

/* sqrt(e'H e) of the error e = monitor.left */
static double energy_norm(const pd_bfgs *s, const matrix *H)
{
  const double *const e = s->monitor.left;
  double sum = 0.0;
  for (int32_t i = 0; i < s->n; ++i)
    for (int c = 0; c < 3; ++c) {
      double q = 0.0;
      for (int64_t k = H->ptr[i]; k < H->ptr[i + 1]; ++k)
        q += (double)H->val[k] * e[3 * (size_t)H->col[k] + (size_t)c];
      sum += e[3 * (size_t)i + (size_t)c] * q;
    }
  return sqrt(fmax(sum, 0.0));
}

static int is_monitor_active(const pd_bfgs *s)
{
  return s->set.monitor != MONITOR_NONE && s->A.B == NULL;
}

loom_status pd_bfgs_monitor_begin(pd_bfgs *s)
{
  pd_bfgs_monitor *const w = &s->monitor;
  if (!is_monitor_active(s)) return LOOM_OK;
  plug_maps m = plug_maps_on(s->host, s->e);
  const matrix H = map_monitor_matrix(s, &m);
  const loom_real *const r = plug_read_host(&m, s->r);
  LOOM_TRY(m.status);
  const int *const perm = chol_perm(&w->factor);
  for (int32_t k = 0; k < s->n; ++k)
    for (size_t c = 0; c < 3; ++c) w->y[3 * (size_t)k + c] = (double)r[3 * (size_t)perm[k] + c];
  chol_solve3(w->factor.L, w->y, w->work);
  for (int32_t k = 0; k < s->n; ++k)
    for (size_t c = 0; c < 3; ++c) w->left[3 * (size_t)perm[k] + c] = w->y[3 * (size_t)k + c];
  w->start = energy_norm(s, &H);
  return plug_unbind(&m);
}

loom_status pd_bfgs_monitor_tell(pd_bfgs *s, int32_t cycle, loom_buf *u)
{
  pd_bfgs_monitor *const w = &s->monitor;
  if (!is_monitor_active(s)) return LOOM_OK;
  plug_maps m = plug_maps_on(s->host, s->e);
  const matrix H = map_monitor_matrix(s, &m);
  const loom_real *const now = plug_read_host(&m, u);
  LOOM_TRY(m.status);
  for (size_t k = 0; k < 3 * (size_t)s->n; ++k) w->left[k] -= (double)now[k];
  s->host->inner(s->host, cycle, LOOM_NORM_ENERGY,
                 w->start > 0.0 ? energy_norm(s, &H) / w->start : 0.0);
  return plug_unbind(&m);
}
