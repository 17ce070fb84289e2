/* subspace.h - a subspace of the displacements of n vertices, u = U q: its basis where the kernels
 * run, restriction, prolongation and corrections, and reduced matrices on the host.
 *
 * A basis has one column of numbers per degree of freedom, the same for the three components:
 * modes, or splines (splines.h).  Columns are padded to groups of eight.  All sums go in a fixed
 * order. */
#ifndef KIT_SUBSPACE_H
#define KIT_SUBSPACE_H

#include "kit/subspace.kern.h"
#include "loom/plug.h"
#include "loom/plugin.h"

typedef struct subspace { /* fine when zeroed: there is none */
  const loom_host *host;
  const loom_exec *e;
  int32_t n, cols;        /* rows and columns */
  int32_t ld;             /* columns with the padding */
  loom_buf *U;            /* real [n][ld] */
  loom_buf *part, *g, *q; /* workspace of corrections, see subspace.kern.h */
} subspace;

loom_status subspace_new(subspace *s, const loom_host *host, const loom_exec *e, int32_t n);
/* Length of a row of `cols` columns with its padding. */
static inline int32_t subspace_ld(int32_t cols)
{
  return (cols + SUBSPACE_GROUP - 1) / SUBSPACE_GROUP * SUBSPACE_GROUP;
}
/* U [n][subspace_ld(cols)] on the host, zero in the padding. */
loom_status subspace_set(subspace *s, int32_t cols, const double *U);

/* Arguments of the functions below, mapped where `e` runs until plug_unbind(m); the caller sets the
 * remaining members. */
subspace_args subspace_bind(const subspace *s, plug_maps *m);
loom_status subspace_restrict(const subspace *s, const subspace_args *a); /* g = (scale U)' r */
loom_status subspace_prolong(const subspace *s, const subspace_args *a);  /* u = scale U q */
/* u = scale U inv (scale U)' r */
loom_status subspace_correct(const subspace *s, const subspace_args *a);

/* ---- reduced matrices, on the host: subspace_reduced.c ---- */

typedef struct subspace_csr { /* a matrix of numbers, for each component the same */
  int32_t n;
  const int64_t *ptr; /* [n+1] */
  const int32_t *col; /* [ptr[n]] */
  const loom_real *val;
} subspace_csr;

/* S [cols][cols] = U' A U for U [n][ld]; cheap where rows of U have few entries. */
loom_status subspace_reduce(const loom_host *host, const subspace_csr *A, const double *U,
                            int32_t cols, double *S);
/* inv = S^-1 by Cholesky, all [n][n], L workspace; 0 if S is not positive definite to rounding. */
int subspace_cholesky_inverse(int32_t n, const double *S, double *inv, double *L);

#endif
