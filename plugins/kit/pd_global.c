/* pd_global.c - see pd_global.h. */
#include "kit/pd_global.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kit/chol_solve3.h"
#include "loom/plug.h"

/* Largest ratio of a contact weight to the one in the factor, and the headroom that a weight
 * gets which outgrew it; below 2, see pd_global.h. */
static const double growth = 1.5;

loom_status pd_global_open(pd_global *g, const loom_host *host, const loom_scene *sc,
                           const loom_exec *e, int refactor, int ordering, int rotation)
{
  g->host = host;
  g->sc = sc;
  g->e = e;
  g->refactor = refactor;
  LOOM_TRY(host->buf_new(host, "couplings", LOOM_I32, 0, &g->saved));
  LOOM_TRY(pd_rotation_open(&g->turn, host, sc, e, rotation));
  return chol_open(&g->c, host, ordering, 1, CHOL_REMEDY);
}

void pd_global_close(pd_global *g)
{
  chol_close(&g->c);
  pd_matrix_free(&g->A);
  pd_rotation_close(&g->turn);
  pd_contact_free(&g->now);
  pd_contact_free(&g->used);
  free(g->extra);
  free(g->work);
  free(g->y);
}

/* Build the matrix for L and the couplings `off`, which are remembered. */
static loom_status new_pattern(pd_global *g, const loom_step *st, const pd_coupling *off,
                               int64_t num_off)
{
  const loom_host *host = g->host;
  const loom_csr *L;
  g->inertia_made = g->inertia_used = 0.0;
  if (off != g->extra) {
    pd_coupling *extra = NULL;
    if (num_off > 0) {
      extra = malloc((size_t)num_off * sizeof *extra);
      LOOM_CHECK(host, extra != NULL, LOOM_E_NOMEM, "no memory for %lld contact couplings",
                 (long long)num_off);
      memcpy(extra, off, (size_t)num_off * sizeof *extra);
    }
    free(g->extra);
    g->extra = extra;
    g->num_extra = num_off;
  }
  host->tic(host, "analyse");
  LOOM_TRY(host->pd_operator(host, st->problem, &L));
  LOOM_TRY(pd_matrix_pattern(&g->A, &g->c, g->e, g->sc, L, g->extra, g->num_extra));
  free(g->work);
  g->work = malloc(chol_solve3_work(g->c.L) * sizeof *g->work);
  LOOM_CHECK(host, g->work != NULL, LOOM_E_NOMEM, "no memory for the workspace of the solve");
  host->toc(host, "analyse");
  g->inertia_made = st->problem->inertia;
  return LOOM_OK;
}

void pd_global_forget(pd_global *g)
{
  free(g->extra);
  g->extra = NULL;
  g->num_extra = 0;
  g->inertia_made = 0.0;
}

loom_status pd_global_begin_step(pd_global *g, const loom_step *st)
{
  g->first = 1;
  return st->problem->inertia == g->inertia_made ? LOOM_OK
                                                 : new_pattern(g, st, g->extra, g->num_extra);
}

static loom_status factorise_global_matrix(pd_global *g, const loom_step *st)
{
  const loom_host *host = g->host;
  int pivot;
  host->tic(host, "factorise");
  g->inertia_used = 0.0;
  free(g->y);
  g->y = NULL;
  pd_contact_free(&g->used);
  LOOM_TRY(pd_matrix_values(&g->A, &g->c, &g->now));
  const loom_status f = chol_factorise(&g->c, &pivot);
  host->toc(host, "factorise");
  host->count(host, LOOM_C_FACTORISE, 1);
  if (f == LOOM_REJECTED)
    return LOOM_FAIL(host, LOOM_E_NUMERIC,
                     "the global matrix is not positive definite at vertex %d: check masses and "
                     "stiffnesses there, and for negative contact weights",
                     pivot);
  LOOM_TRY(f);
  g->y = malloc(3 * (size_t)g->sc->num_verts * sizeof *g->y);
  LOOM_CHECK(host, g->y != NULL, LOOM_E_NOMEM, "no memory for the right-hand sides of %d vertices",
             g->sc->num_verts);
  LOOM_TRY(pd_rotation_factor(&g->turn, &g->c, g->work));
  g->used = g->now;
  g->now = (pd_contact){0};
  g->inertia_used = st->problem->inertia;
  return LOOM_OK;
}

loom_status pd_global_refresh(pd_global *g, const loom_step *st, double *factorised)
{
  const loom_host *host = g->host;
  const int32_t n = g->sc->num_verts;
  const loom_quad *q = NULL;
  if (!g->bare) LOOM_TRY(host->contact_quad(host, st->x, &q));
  LOOM_TRY(pd_contact_gather(&g->now, host, g->e, g->sc, q));
  *factorised = 0.0;
  /* the first matrix of a step is always the exact one, so that a restart meets it too */
  const int keep = g->refactor == PD_REFACTOR_RELAXED && !g->first;
  g->first = 0;
  if (st->problem->inertia == g->inertia_used) {
    if (pd_contact_equal(&g->now, &g->used, n)) return LOOM_OK;
    if (keep && pd_contact_within(&g->now, &g->used, growth, n)) return LOOM_OK;
  }
  if (keep) pd_contact_raise(&g->now, &g->used, growth, n);
  /* a pattern with room for many couplings that are gone costs fill: build a smaller one */
  if (st->problem->inertia != g->inertia_made || !pd_matrix_covers(&g->A, &g->c, &g->now) ||
      2 * g->now.num_off < g->num_extra)
    LOOM_TRY(new_pattern(g, st, g->now.off, g->now.num_off));
  *factorised = 1.0;
  return factorise_global_matrix(g, st);
}

/* y = -grad, in the factor's order */
static void load_rhs(const pd_global *g, const loom_real *grad)
{
  const int n = g->sc->num_verts, *perm = chol_perm(&g->c);
  double *y = g->y;
#pragma omp parallel for schedule(static) num_threads(g->e->num_threads) if (n > 4096)
  for (int k = 0; k < n; ++k) {
    const loom_real *f = grad + 3 * (size_t)perm[k];
    for (int c = 0; c < 3; ++c) y[3 * (size_t)k + (size_t)c] = -(double)f[c];
  }
}

/* trial = x + dx; returns the largest |dx_i|, m */
static double store_point(const pd_global *g, const loom_real *x, loom_real *trial)
{
  const int n = g->sc->num_verts, *perm = chol_perm(&g->c);
  double d2max = 0.0;
#pragma omp parallel for schedule(static) num_threads(g->e->num_threads) \
    reduction(max                                                        \
              : d2max) if (n > 4096)
  for (int k = 0; k < n; ++k) {
    const size_t v = 3 * (size_t)perm[k];
    const double *d = g->y + 3 * (size_t)k, d2 = d[0] * d[0] + d[1] * d[1] + d[2] * d[2];
    for (size_t c = 0; c < 3; ++c) trial[v + c] = (loom_real)((double)x[v + c] + d[c]);
    d2max = d2 > d2max ? d2 : d2max;
  }
  return sqrt(d2max);
}

loom_status pd_global_step(pd_global *g, const loom_step *st, loom_buf *to, double *longest)
{
  plug_maps m = plug_maps_on(g->host, g->e);
  const loom_real *const grad = plug_read_host(&m, st->grad);
  const loom_real *const x = plug_read_host(&m, st->x);
  loom_real *const out = plug_write_host(&m, to);
  LOOM_TRY(m.status);
  load_rhs(g, grad);
  chol_count_solve(&g->c, 3);
  chol_solve3(g->c.L, g->y, g->work);
  LOOM_TRY(pd_rotation_apply(&g->turn, x, g->y));
  g->host->count(g->host, LOOM_C_PROJECT, 1);
  g->host->count(g->host, LOOM_C_TRISOLVE, 1);
  *longest = store_point(g, x, out);
  return plug_unbind(&m);
}

loom_status pd_global_checkpoint(pd_global *g, int restore)
{
  const loom_host *host = g->host;
  void *p;
  if (!restore) {
    LOOM_TRY(host->buf_resize(host, g->saved, 2 * g->num_extra));
    LOOM_TRY(host->map(host, g->e, g->saved, LOOM_WRITE, LOOM_AT_HOST, &p));
    int32_t *pair = p;
    for (int64_t k = 0; k < g->num_extra; ++k) {
      pair[2 * k] = g->extra[k].row;
      pair[2 * k + 1] = g->extra[k].col;
    }
    LOOM_TRY(host->unmap(host, g->saved));
    return host->state_io(host, 0, "couplings", g->saved);
  }
  LOOM_TRY(host->state_io(host, 1, "couplings", g->saved));
  pd_global_forget(g);
  const int64_t m = host->buf_count(host, g->saved) / 2;
  LOOM_CHECK(host, host->buf_count(host, g->saved) == 2 * m, LOOM_E_IO,
             "checkpoint: couplings are %lld numbers, not pairs; start the run again",
             (long long)host->buf_count(host, g->saved));
  if (m == 0) return LOOM_OK;
  g->extra = malloc((size_t)m * sizeof *g->extra);
  LOOM_CHECK(host, g->extra != NULL, LOOM_E_NOMEM, "no memory for %lld contact couplings",
             (long long)m);
  LOOM_TRY(host->map(host, g->e, g->saved, LOOM_READ, LOOM_AT_HOST, &p));
  const int32_t *pair = p;
  const int32_t n = g->sc->num_verts;
  for (int64_t k = 0; k < m; ++k) {
    const int32_t row = pair[2 * k], col = pair[2 * k + 1];
    LOOM_CHECK(host, col >= 0 && col < row && row < n, LOOM_E_IO,
               "checkpoint: coupling %lld (%d, %d) is not one of %d vertices", (long long)k, row,
               col, n);
    g->extra[k] = (pd_coupling){row, col, 0.0};
  }
  g->num_extra = m;
  return host->unmap(host, g->saved);
}
