/* newton_supernodal.c - Newton's matrix factorised by CHOLMOD's supernodal module.
 *
 * Ordering and analysis are made anew for every pattern and kept while it stands: the factor
 * depends on H alone, and there is nothing to keep in checkpoints. */
#include <stdlib.h>

#include "chol.h"
#include "newton_factor.h"

typedef struct supernodal {
  const loom_host *h;
  chol c;
  int32_t shaped; /* the analysis is that of the matrix in c */
} supernodal;

static loom_status supernodal_open(const loom_host *h, const loom_exec *e, int32_t n, int ordering,
                                   void **self)
{
  (void)e;
  (void)n;
  supernodal *const s = calloc(1, sizeof *s);
  LOOM_CHECK(h, s != NULL, LOOM_E_NOMEM, "no memory for the factorisation");
  *self = s;
  s->h = h;
  return chol_open(&s->c, h, ordering == NEWTON_METIS ? CHOL_METIS : CHOL_AMD, 3, 0, CHOL_REMEDY);
}

static void supernodal_close(void *self)
{
  supernodal *const s = self;
  if (s == NULL) return;
  chol_close(&s->c);
  free(s);
}

static void supernodal_forget(void *self)
{
  supernodal *const s = self;
  s->shaped = 0;
}

/* Begin of row 3i + c of the lower triangle: the rows of a vertex have its blocks left of the
 * diagonal complete and end inside the diagonal block. */
static int64_t row_begin(const newton_pattern *p, int32_t i, int c)
{
  const int64_t left = p->ptr[i], own = p->ptr[i + 1] - left;
  return 9 * left + 6 * (int64_t)i + 3 * c * own + c * (c + 1) / 2;
}

/* Is the matrix in c of this pattern?  The first row of each vertex tells. */
static int stands(const supernodal *s, const newton_pattern *p)
{
  if (!s->shaped) return 0;
  const int *const ap = chol_ptr(&s->c), *const ai = chol_row(&s->c);
  for (int32_t i = 0; i <= p->n; ++i)
    if (ap[3 * (size_t)i] != 9 * p->ptr[i] + 6 * (int64_t)i) return 0;
  for (int32_t i = 0; i < p->n; ++i) {
    const int *a = ai + ap[3 * (size_t)i];
    for (int64_t k = p->ptr[i]; k < p->ptr[i + 1]; ++k, a += 3)
      if (*a != 3 * p->col[k]) return 0;
  }
  return 1;
}

static loom_status supernodal_analyse(void *self, const newton_pattern *p)
{
  supernodal *const s = self;
  if (stands(s, p)) return LOOM_OK;
  s->shaped = 0;
  s->h->tic(s->h, "analyse");
  LOOM_TRY(chol_matrix(&s->c, 3 * (int64_t)p->n, 9 * p->ptr[p->n] + 6 * (int64_t)p->n));
  int *const ap = chol_ptr(&s->c), *const ai = chol_row(&s->c);
  for (int32_t i = 0; i < p->n; ++i)
    for (int c = 0; c < 3; ++c) {
      int64_t m = row_begin(p, i, c);
      ap[3 * (size_t)i + (size_t)c] = (int)m;
      for (int64_t k = p->ptr[i]; k < p->ptr[i + 1]; ++k)
        for (int d = 0; d < 3; ++d) ai[m++] = 3 * p->col[k] + d;
      for (int d = 0; d <= c; ++d) ai[m++] = 3 * i + d;
    }
  ap[3 * (size_t)p->n] = (int)(9 * p->ptr[p->n] + 6 * (int64_t)p->n);
  LOOM_TRY(chol_analyse(&s->c));
  s->h->toc(s->h, "analyse");
  s->shaped = 1;
  return LOOM_OK;
}

static void fill(const supernodal *s, const newton_pattern *p, const newton_entries *v)
{
  double *const ax = chol_val(&s->c), b[9];
  for (int32_t i = 0; i < p->n; ++i) {
    double *row[3];
    for (int c = 0; c < 3; ++c) row[c] = ax + row_begin(p, i, c);
    for (int64_t k = p->ptr[i]; k < p->ptr[i + 1]; ++k) {
      newton_lower(v, k, b);
      for (int c = 0; c < 3; ++c)
        for (int d = 0; d < 3; ++d) *row[c]++ = b[3 * c + d];
    }
    newton_diagonal(v, i, b);
    for (int c = 0; c < 3; ++c)
      for (int d = 0; d <= c; ++d) *row[c]++ = b[3 * c + d];
  }
}

static loom_status supernodal_factorise(void *self, const newton_pattern *p,
                                        const newton_entries *v, int32_t *pivot)
{
  supernodal *const s = self;
  int row;
  fill(s, p, v);
  const loom_status f = chol_factorise(&s->c, &row);
  *pivot = f == LOOM_REJECTED ? row / 3 : -1;
  return f;
}

static loom_status supernodal_solve(void *self, double *x)
{
  supernodal *const s = self;
  const size_t m = s->c.A->nrow;
  const int *const perm = chol_perm(&s->c);
  double *const y = chol_rhs(&s->c);
  for (size_t k = 0; k < m; ++k) y[k] = x[perm[k]];
  LOOM_TRY(chol_solve(&s->c));
  for (size_t k = 0; k < m; ++k) x[perm[k]] = y[k];
  return LOOM_OK;
}

const newton_factor_ops newton_supernodal = {
    .open = supernodal_open,
    .close = supernodal_close,
    .analyse = supernodal_analyse,
    .factorise = supernodal_factorise,
    .solve = supernodal_solve,
    .forget = supernodal_forget,
};
