/* matrix.c - see matrix.h.
 *
 * The pattern holds the blocks that are not zero.  Blocks that the core's matrix carries on from
 * earlier contact are left out: so the factorised matrix depends on H alone, not on its history. */
#include "matrix.h"

#include <stdlib.h>

loom_status cholmod_newton_matrix_open(cholmod_newton_matrix *m, const loom_host *host,
                                       const loom_scene *sc, const loom_exec *e, int ordering)
{
  *m = (cholmod_newton_matrix){.host = host, .sc = sc, .e = e, .p.n = sc->num_verts};
  m->p.ptr = malloc(((size_t)sc->num_verts + 1) * sizeof *m->p.ptr);
  LOOM_CHECK(host, m->p.ptr != NULL, LOOM_E_NOMEM, "no memory for the matrix of %d vertices",
             sc->num_verts);
  return cholmod_newton_factor_open(&m->factor, host, e, sc->num_verts, ordering);
}

void cholmod_newton_matrix_close(cholmod_newton_matrix *m)
{
  if (m->host == NULL) return;
  cholmod_newton_factor_close(&m->factor);
  free(m->p.ptr);
  free(m->p.col);
  free(m->from);
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

static int is_zero_block(const loom_real *b)
{
  for (int c = 0; c < 9; ++c)
    if (b[c] != (loom_real)0.0) return 0;
  return 1;
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

/* Blocks of H left of the diagonal that are not zero, and where all of them stand. */
static void collect_lower_blocks(cholmod_newton_matrix *m, const int64_t *ptr, const int32_t *col,
                                 const loom_real *val)
{
  const int32_t n = m->p.n;
  int64_t num = 0;
  for (int32_t i = 0; i < n; ++i) {
    int64_t k = ptr[i];
    m->p.ptr[i] = num;
    for (; col[k] < i; ++k) {
      if (is_zero_block(val + 9 * k)) continue;
      m->p.col[num] = col[k];
      m->from[num++] = k;
    }
    m->from[m->cap + i] = k;
  }
  m->p.ptr[n] = num;
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
