/* eigen.h - the k smallest eigenpairs of a sparse symmetric positive definite matrix.
 *
 * Ordinary, H u = mu u, or generalised with a positive diagonal W, H u = mu W u.  Both are
 * brought to standard form, A y = mu y with A = W^-1/2 H W^-1/2 and u = W^-1/2 y, and solved by
 * the implicitly restarted Lanczos method on A^-1 (shift-invert at 0; R. Lehoucq, D. Sorensen,
 * C. Yang, ARPACK Users' Guide, SIAM 1998, doi 10.1137/1.9780898719628) with the factor of
 * CHOLMOD; small systems by LAPACK's dense solver.  Always the same start vector, so the same
 * system gives the same bits.
 *
 * The work is not counted (host->count): the count would depend on whether the file exists.
 *
 * Results can be kept on disk under a name made of a hash of the system.  A file is checked
 * against a second hash; residuals of the pairs are checked in either case.
 */
#ifndef EIGEN_H
#define EIGEN_H

#include "kit/chol.h"
#include "loom/plugin.h"

typedef struct eig_system {
  int32_t n;            /* rows */
  const int64_t *ptr;   /* [n + 1] */
  const int32_t *col;   /* [ptr[n]], ascending in each row, both triangles, with the diagonal */
  const double *val;    /* [ptr[n]] */
  const double *weight; /* [n], > 0, the diagonal W; NULL: the identity */
} eig_system;

typedef struct eig_request {
  int32_t count;     /* pairs wanted, < n */
  int32_t restarts;  /* of the Lanczos method, at most */
  double tolerance;  /* relative, of the eigenvalues of A^-1 */
  const char *cache; /* folder, made if it is missing; NULL or "": no files */
} eig_request;

enum { EIG_COMPUTED = 0, EIG_READ = 1, EIG_DENSE = 2 };

typedef struct eig_pairs {
  int32_t n, count; /* may be fewer than wanted, then `converged` is 0 */
  int32_t source;   /* EIG_* */
  int32_t converged;
  int32_t stale;   /* nonzero: a file was there and not of this system, it was replaced */
  int32_t unsaved; /* nonzero: the file could not be written */
  int64_t solves;  /* with the factor */
  double residual; /* largest |A y - mu y| over |A|_inf, y of length 1 */
  double *mu;      /* [count], ascending */
  double *vec;     /* [count][n], u' W u = 1 */
} eig_pairs;

/* Fewer pairs than wanted is an outcome (see `converged`), not an error. */
loom_status eig_smallest(const loom_host *host, const eig_system *s, const eig_request *r,
                         eig_pairs *out);
void eig_free(eig_pairs *p); /* fine on a zeroed struct */

/* Cholesky factor of H. */
loom_status eig_factorise(const loom_host *host, const eig_system *s, chol *c);

/* Largest |A y - mu y| over |A|_inf of the pairs p. */
double eig_residual(const eig_system *s, const eig_pairs *p);

/* ---- eigen_cache.c ---- */
/* Nonzero if the file of this system was there and is right. */
int eig_cache_read(const eig_system *s, const eig_request *r, eig_pairs *out);
int eig_cache_write(const eig_system *s, const eig_request *r, const eig_pairs *p);
/* Name of the file in a new string, NULL without memory. */
char *eig_cache_path(const eig_system *s, const eig_request *r);

#endif
