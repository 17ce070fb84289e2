/* chol.h - a sparse symmetric matrix and its supernodal Cholesky factor, P A P' = L L'.
 *
 * The kit keeps the matrix, the factor and the workspace of the solves, so that an iteration does
 * not allocate, and turns CHOLMOD's status codes into messages.  The order, the pattern of L and
 * the solves are CHOLMOD's: Y. Chen, T. A. Davis, W. W. Hager, S. Rajamanickam, Algorithm 887:
 * CHOLMOD, ACM TOMS 35(3), 2008, doi 10.1145/1391989.1391995.  The values of L are found by
 * chol_numeric.h.
 *
 * Licence: this source is MIT, but CHOLMOD's supernodal module is GPL-2.0-or-later.  So a plugin
 * that links this kit is GPL-2.0-or-later as built, and its descriptor has to say so.
 *
 * Indices are int: they suffice for the matrices of a million vertices and take half the memory of
 * 64-bit ones.  CHOLMOD refuses a factor of more than 2^31 entries (16 GiB), and so does this kit.
 */
#ifndef KIT_CHOL_H
#define KIT_CHOL_H

#include <cholmod.h>

#include "kit/chol_numeric.h"
#include "loom/plugin.h"

enum { CHOL_AMD = 0, CHOL_METIS = 1 }; /* fill-reducing orderings */

typedef struct chol {
  const loom_host *host;
  cholmod_common cm;
  int32_t started;    /* nonzero: cm is initialised */
  int32_t ordering;   /* CHOL_* */
  int32_t own_solve;  /* nonzero: the caller reads L itself, no workspace is kept here */
  const char *remedy; /* end of the message about a factor that is too large */
  /* Before chol_matrix_permuted() the upper triangle by columns, which is the lower triangle by
   * rows: CHOLMOD permutes it in one go; the other triangle would need a further copy.  chol_ptr(),
   * chol_row() and chol_val() give the arrays. */
  cholmod_sparse *A;
  cholmod_factor *L; /* symbolic after chol_analyse, numeric after chol_factorise */
  chol_numeric numeric;
  double *values; /* [values_cap], room for the values of L, kept while patterns change */
  size_t values_cap;
  cholmod_dense *Y; /* real [rows]: right-hand side, in the factor's order */
  cholmod_dense *E; /* workspace of the solves */
} chol;

/* `remedy` lives as long as c; the plugins with a key `ordering` share this one. */
#define CHOL_REMEDY "use ordering = metis, a smaller mesh or a solver without factorisation"
loom_status chol_open(chol *c, const loom_host *host, int ordering, int own_solve,
                      const char *remedy);
void chol_close(chol *c); /* fine on a zeroed struct */

/* Give the matrix room for nnz entries (rows ascending in each column, the diagonal last),
 * to be filled by the caller; drops the factor. */
loom_status chol_matrix(chol *c, int64_t rows, int64_t nnz);
static inline int *chol_ptr(const chol *c) { return c->A->p; }    /* [rows + 1] */
static inline int *chol_row(const chol *c) { return c->A->i; }    /* [nnz] */
static inline double *chol_val(const chol *c) { return c->A->x; } /* [nnz] */

/* After chol_analyse: the same for the lower triangle by columns in the factor's order (the
 * diagonal first, other rows in any order).  The factor is kept; from now on chol_factorise
 * takes the matrix as it is, without making a permuted copy. */
loom_status chol_matrix_permuted(chol *c, int64_t nnz);

/* Ordering, elimination tree and pattern of L from the pattern of A alone. */
loom_status chol_analyse(chol *c);
/* L from the values of A, on the threads that OpenMP gives (the core tells it [exec] threads), with
 * the same bits for each number of them.  LOOM_REJECTED: A is not positive definite; *pivot is the
 * row, in the caller's numbering, of the first column of L that showed it. */
loom_status chol_factorise(chol *c, int *pivot);

/* For other parts of this kit: fails with a message for c->cm.status; workspace for c->L. */
loom_status chol_fail(chol *c, const char *doing);
loom_status chol_workspace(chol *c);
/* Enclose calls of CHOLMOD in these two, so that it starts no threads of its own. */
int chol_alone(void);
void chol_together(int before);

/* Bytes of the factor: values, row indices, supernodes, ordering. */
double chol_factor_bytes(const chol *c);

/* Counts the bytes that a solve moves (LOOM_C_BYTES): the factor once in each direction, and
 * `columns` right-hand sides read and written.  chol_solve() calls it; a plugin with a solve of its
 * own has to call it.  (chol_factorise() counts the matrix read and the factor written, a lower
 * bound.) */
void chol_count_solve(const chol *c, int columns);

/* Row k of the factor is row perm[k] of A. */
static inline const int *chol_perm(const chol *c) { return c->L->Perm; } /* [rows] */
/* Solve in place: the caller writes entry perm[k] of the right-hand side to chol_rhs()[k]
 * and reads the solution from there. */
static inline double *chol_rhs(const chol *c) { return c->Y->x; } /* [rows] */
loom_status chol_solve(chol *c);
/* The same with L alone: y := L^-1 y, the first half of it. */
loom_status chol_forward(chol *c);

#endif
