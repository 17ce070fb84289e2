/* newton_factor.h - the seam between Newton's method and what factorises its matrix.
 *
 * Two factorisations of H + sigma M/h^2 stand behind one table: the multifrontal one of our own and
 * CHOLMOD's supernodal one, so that each can be checked against the other. */
#ifndef NEWTON_FACTOR_H
#define NEWTON_FACTOR_H

#include "loom/plugin.h"

enum { NEWTON_AMD = 0, NEWTON_METIS = 1 }; /* fill-reducing orderings of the vertices */

/* Blocks of the strictly lower triangle that are not zero, by rows. */
typedef struct newton_pattern {
  int32_t n;    /* block rows */
  int64_t *ptr; /* [n+1] */
  int32_t *col; /* [ptr[n]], ascending in each row */
} newton_pattern;

/* Numbers for a pattern: H + shift M. */
typedef struct newton_entries {
  const loom_real *val;    /* [num_blocks][3][3], N/m, all blocks of H */
  const int64_t *lower;    /* [ptr[n]], which of them the blocks of the pattern are */
  const int64_t *diagonal; /* [n], and those on the diagonal */
  const loom_real *mass;   /* [n], kg */
  double shift;            /* 1/s^2 */
} newton_entries;

/* b [3][3]: block k of the pattern; the diagonal block of row i. */
static inline void newton_lower(const newton_entries *e, int64_t k, double *b)
{
  const loom_real *const v = e->val + 9 * e->lower[k];
  for (int c = 0; c < 9; ++c) b[c] = (double)v[c];
}

static inline void newton_diagonal(const newton_entries *e, int32_t i, double *b)
{
  const loom_real *const v = e->val + 9 * e->diagonal[i];
  for (int c = 0; c < 9; ++c) b[c] = (double)v[c];
  /* rows of fixed vertices are unit; a shift there changes nothing */
  for (int c = 0; c < 9; c += 4) b[c] += e->shift * (double)e->mass[i];
}

typedef struct newton_factor_ops {
  loom_status (*open)(const loom_host *h, const loom_exec *e, int32_t n, int ordering, void **self);
  void (*close)(void *self); /* NULL is fine */
  /* Bring order and pattern of the factor up to date; nothing is done while the pattern stands. */
  loom_status (*analyse)(void *self, const newton_pattern *p);
  /* The factor, of the pattern last analysed.  LOOM_REJECTED: not positive definite, seen at
   * vertex *pivot. */
  loom_status (*factorise)(void *self, const newton_pattern *p, const newton_entries *v,
                           int32_t *pivot);
  loom_status (*solve)(void *self, double *x); /* x [n][3] := A^-1 x */
  void (*forget)(void *self);                  /* what came from patterns met before */
  /* What of that shows in the bits to come; NULL: nothing does. */
  loom_status (*checkpoint)(void *self, int restore);
} newton_factor_ops;

extern const newton_factor_ops newton_multifrontal; /* mf.h */
extern const newton_factor_ops newton_supernodal;   /* chol.h */

#endif
