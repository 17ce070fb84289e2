/* matrix.c - see matrix.h.
 *
 * The pattern holds the blocks that are above the rounding of H.  Blocks that the core's matrix
 * carries on from earlier contact are left out: so the factorised matrix depends on H alone, not on
 * its history.  Blocks of rounding are those in which the parts of several plates cancel; whether
 * they are exactly zero changes from iteration to iteration, and the pattern with them. */
#include "matrix.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "loom/kernel.h"

loom_status cholmod_newton_matrix_open(cholmod_newton_matrix *m, const loom_host *host,
                                       const loom_scene *sc, const loom_exec *e, int ordering)
{
  *m = (cholmod_newton_matrix){.host = host, .sc = sc, .e = e, .p.n = sc->num_verts};
  m->p.ptr = malloc(((size_t)sc->num_verts + 1) * sizeof *m->p.ptr);
  m->own = malloc(((size_t)sc->num_verts + 1) * sizeof *m->own);
  m->num = malloc(((size_t)sc->num_verts + 1) * sizeof *m->num);
  LOOM_CHECK(host, m->p.ptr != NULL && m->own != NULL && m->num != NULL, LOOM_E_NOMEM,
             "no memory for the matrix of %d vertices", sc->num_verts);
  return cholmod_newton_factor_open(&m->factor, host, e, sc->num_verts, ordering);
}

void cholmod_newton_matrix_close(cholmod_newton_matrix *m)
{
  if (m->host == NULL) return;
  cholmod_newton_factor_close(&m->factor);
  free(m->p.ptr);
  free(m->p.col);
  free(m->from);
  free(m->own);
  free(m->num);
}

void cholmod_newton_matrix_forget(cholmod_newton_matrix *m)
{
  cholmod_newton_factor_forget(&m->factor);
}

loom_status cholmod_newton_matrix_checkpoint(cholmod_newton_matrix *m, int restore)
{
  return cholmod_newton_factor_checkpoint(&m->factor, restore);
}

/* ---- pattern ---- */

/* Largest number of a block, N/m */
static double block_size(const loom_real *b)
{
  double most = 0.0;
  for (int c = 0; c < 9; ++c) most = fmax(most, fabs((double)b[c]));
  return most;
}

static loom_status reserve_lower_blocks(cholmod_newton_matrix *m, int64_t blocks)
{
  if (blocks <= m->cap && m->from != NULL) return LOOM_OK;
  free(m->p.col);
  free(m->from);
  const int64_t cap = blocks + blocks / 8;
  m->cap = -1;                                             /* until both arrays are there */
  m->p.col = malloc(((size_t)cap + 1) * sizeof *m->p.col); /* + 1: never NULL for 0 blocks */
  m->from = malloc(((size_t)cap + (size_t)m->p.n) * sizeof *m->from);
  LOOM_CHECK(m->host, m->p.col != NULL && m->from != NULL, LOOM_E_NOMEM,
             "no memory for the pattern of %lld blocks", (long long)blocks);
  m->cap = cap;
  return LOOM_OK;
}

/* Places in H of the blocks of row i left of the diagonal that are above rounding; their number. */
static int64_t filter_row_blocks(const cholmod_newton_matrix *m, const int64_t *ptr,
                                 const int32_t *col, const loom_real *val, int32_t i, int64_t *to)
{
  int64_t num = 0;
  for (int64_t k = ptr[i]; k < m->from[m->cap + i]; ++k)
    if (block_size(val + 9 * k) > DBL_EPSILON * fmin(m->own[i], m->own[col[k]])) to[num++] = k;
  return num;
}

/* The pattern, and the places of its blocks and of the diagonal.  The rows are filtered each
 * into room for all of its blocks, and then moved together. */
static void collect_lower_blocks(cholmod_newton_matrix *m, const int64_t *ptr, const int32_t *col,
                                 const loom_real *val)
{
  const int32_t n = m->p.n;
  int64_t *const start = m->p.ptr, *const diagonal = m->from + m->cap;
#pragma omp parallel for schedule(static) num_threads(m->e->num_threads) if (n >= LK_PARALLEL_MIN)
  for (int32_t i = 0; i < n; ++i) {
    int64_t at = ptr[i];
    while (col[at] < i) ++at;
    diagonal[i] = at;
    m->own[i] = block_size(val + 9 * at);
  }
  start[0] = 0;
  for (int32_t i = 0; i < n; ++i) start[i + 1] = start[i] + (diagonal[i] - ptr[i]);
#pragma omp parallel for schedule(static) num_threads(m->e->num_threads) if (n >= LK_PARALLEL_MIN)
  for (int32_t i = 0; i < n; ++i)
    m->num[i] = (int32_t)filter_row_blocks(m, ptr, col, val, i, m->from + start[i]);
  int64_t num = 0;
  for (int32_t i = 0; i < n; ++i) {
    memmove(m->from + num, m->from + start[i], (size_t)m->num[i] * sizeof *m->from);
    start[i] = num;
    for (int32_t k = 0; k < m->num[i]; ++k, ++num) m->p.col[num] = col[m->from[num]];
  }
  start[n] = num;
}

loom_status cholmod_newton_matrix_shape(cholmod_newton_matrix *m, const loom_bsr3 *H)
{
  const loom_host *const host = m->host;
  void *p, *c, *v;
  LOOM_TRY(
      reserve_lower_blocks(m, (H->num_blocks - H->num_rows) / 2)); /* its pattern is symmetric */
  LOOM_TRY(host->map(host, m->e, H->row_ptr, LOOM_READ, LOOM_AT_HOST, &p));
  LOOM_TRY(host->map(host, m->e, H->col, LOOM_READ, LOOM_AT_HOST, &c));
  LOOM_TRY(host->map(host, m->e, H->val, LOOM_READ, LOOM_AT_HOST, &v));
  collect_lower_blocks(m, p, c, v);
  LOOM_TRY(host->unmap(host, H->val));
  LOOM_TRY(host->unmap(host, H->col));
  LOOM_TRY(host->unmap(host, H->row_ptr));
  return cholmod_newton_factor_analyse(&m->factor, &m->p);
}

/* ---- factor ---- */

loom_status cholmod_newton_matrix_factor(cholmod_newton_matrix *m, const loom_bsr3 *H, double shift,
                                         int32_t *pivot)
{
  const loom_host *const host = m->host;
  void *val, *mass;
  LOOM_TRY(host->map(host, m->e, H->val, LOOM_READ, LOOM_AT_HOST, &val));
  LOOM_TRY(host->map(host, m->e, m->sc->mass, LOOM_READ, LOOM_AT_HOST, &mass));
  const cholmod_newton_entries v = {
      .val = val, .lower = m->from, .diagonal = m->from + m->cap, .mass = mass, .shift = shift};
  const loom_status f = cholmod_newton_factor_make(&m->factor, &v, pivot);
  LOOM_TRY(host->unmap(host, m->sc->mass));
  LOOM_TRY(host->unmap(host, H->val));
  return f;
}

loom_status cholmod_newton_matrix_solve(cholmod_newton_matrix *m, double *x)
{
  return cholmod_newton_factor_solve(&m->factor, x);
}
