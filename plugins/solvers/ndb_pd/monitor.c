/* monitor.c - residual or error of every inner iterate, for figures and tests.
 *
 * `error` and `position` solve every global step exactly beforehand, by CHOLMOD; the solution does
 * not enter the iteration.  On the host only. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "ndb_pd.h"

void ndb_pd_monitor_free(ndb_pd *s)
{
  ndb_pd_monitor *const m = &s->mon;
  free(m->r0);
  free(m->exact);
  free(m->e);
  free(m->Ae);
}

/* y = (H + W) x, both double [n][3] */
static void multiply_global_matrix(const ndb_pd *s, const ndb_pd_view *v, const double *x,
                                   double *y)
{
  for (int32_t i = 0; i < s->n; ++i)
    for (int c = 0; c < 3; ++c) {
      double q = (double)v->w[i] * x[3 * i + c];
      for (int64_t k = v->ptr[i]; k < v->ptr[i + 1]; ++k)
        q += (double)v->val[k] * x[3 * v->col[k] + c];
      y[3 * i + c] = q;
    }
}

static double dot_increments(const ndb_pd *s, const double *a, const double *b)
{
  double sum = 0.0;
  for (int32_t k = 0; k < 3 * s->n; ++k) sum += a[k] * b[k];
  return sum;
}

static loom_status solve_exactly(ndb_pd *s, const ndb_pd_view *v)
{
  const loom_host *const host = s->host;
  const size_t nnz = (size_t)v->ptr[s->n];
  double *val = malloc((nnz + 1) * sizeof *val);
  chol c = {0};
  LOOM_CHECK(host, val != NULL, LOOM_E_NOMEM, "no memory for the exact solution");
  for (int32_t i = 0; i < s->n; ++i)
    for (int64_t k = v->ptr[i]; k < v->ptr[i + 1]; ++k)
      val[k] = (double)v->val[k] + (v->col[k] == i ? (double)v->w[i] : 0.0);
  const eig_system sys = {s->n, v->ptr, v->col, val, NULL};
  loom_status st = eig_factorise(host, &sys, &c);
  for (int d = 0; d < 3 && st == LOOM_OK; ++d) {
    const int *const perm = chol_perm(&c);
    double *const rhs = chol_rhs(&c); /* and the solution */
    for (int32_t k = 0; k < s->n; ++k) rhs[k] = s->mon.r0[3 * perm[k] + d];
    st = chol_solve(&c);
    for (int32_t k = 0; k < s->n; ++k) s->mon.exact[3 * perm[k] + d] = rhs[k];
  }
  chol_close(&c);
  free(val);
  return st;
}

/* norm that is watched, of the increment x [n][3] */
static double measure_increment(ndb_pd *s, const ndb_pd_view *v, const double *x)
{
  ndb_pd_monitor *const m = &s->mon;
  const int32_t n3 = 3 * s->n;
  if (s->set.monitor == MONITOR_RESIDUAL) {
    multiply_global_matrix(s, v, x, m->Ae);
    for (int32_t k = 0; k < n3; ++k) m->Ae[k] = m->r0[k] - m->Ae[k];
    return sqrt(dot_increments(s, m->Ae, m->Ae));
  }
  double *const e = m->e;
  for (int32_t k = 0; k < n3; ++k) e[k] = m->exact[k] - x[k];
  if (s->set.monitor == MONITOR_POSITION) return sqrt(dot_increments(s, e, e));
  multiply_global_matrix(s, v, e, m->Ae);
  return sqrt(dot_increments(s, e, m->Ae));
}

loom_status ndb_pd_monitor_begin(ndb_pd *s, const ndb_pd_view *v)
{
  ndb_pd_monitor *const m = &s->mon;
  const size_t n3 = 3 * (size_t)s->n;
  if (s->set.monitor == MONITOR_NONE) return LOOM_OK;
  if (m->r0 == NULL) {
    m->r0 = calloc(n3 + 1, sizeof *m->r0);
    m->exact = calloc(n3 + 1, sizeof *m->exact);
    m->e = calloc(n3 + 1, sizeof *m->e);
    m->Ae = calloc(n3 + 1, sizeof *m->Ae);
  }
  LOOM_CHECK(s->host, m->r0 != NULL && m->exact != NULL && m->e != NULL && m->Ae != NULL,
             LOOM_E_NOMEM, "no memory for the monitor of %d vertices", s->n);
  for (size_t k = 0; k < n3; ++k) m->r0[k] = (double)v->r[k];
  if (s->set.monitor != MONITOR_RESIDUAL) LOOM_TRY(solve_exactly(s, v));
  double *zero = calloc(n3 + 1, sizeof *zero);
  LOOM_CHECK(s->host, zero != NULL, LOOM_E_NOMEM, "no memory for the monitor of %d vertices", s->n);
  m->start = measure_increment(s, v, zero);
  free(zero);
  return LOOM_OK;
}

void ndb_pd_monitor_tell(ndb_pd *s, const loom_step *st, const ndb_pd_view *v, const void *u,
                         int single, ndb_pd_report *out)
{
  static const int norms[] = {0, LOOM_NORM_RESIDUAL_2, LOOM_NORM_ENERGY, -1};
  if (s->set.monitor == MONITOR_NONE || st == NULL) return;
  double *x = calloc(3 * (size_t)s->n + 1, sizeof *x);
  if (x == NULL) return;
  for (int32_t k = 0; k < 3 * s->n; ++k) {
    x[k] = (double)v->total[k];
    if (u != NULL) x[k] += single ? (double)((const float *)u)[k] : (double)((const lk_real *)u)[k];
  }
  out->last = s->mon.start > 0.0 ? measure_increment(s, v, x) / s->mon.start : 0.0;
  s->host->inner(s->host, out->mv, norms[s->set.monitor], out->last);
  free(x);
}
