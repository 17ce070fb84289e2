/* chol_numeric.h - values of a supernodal Cholesky factor, by several threads.
 *
 * Method: the multifrontal method; I. S. Duff, J. K. Reid, The multifrontal solution of indefinite
 * sparse symmetric linear equations, ACM TOMS 9(3), 1983, doi 10.1145/356044.356047; J. W. H. Liu,
 * The multifrontal method for sparse matrix solution: theory and practice, SIAM Review 34(1), 1992,
 * doi 10.1137/1034004.  The pattern of L is the one that CHOLMOD's analysis found, and the values
 * are laid out as CHOLMOD lays them out, so that its solves and the solves of this kit take them.
 *
 * The bits of L depend on the matrix and its pattern alone: the threads share tasks and tiles that
 * the pattern determines, and a front adds the updates of its children in ascending order,
 * whichever thread computed them. */
#ifndef KIT_CHOL_NUMERIC_H
#define KIT_CHOL_NUMERIC_H

#include "kit/chol_fronts.h"

typedef struct chol_numeric { /* zeroed before its first use */
  chol_fronts fronts;
  int planned;   /* nonzero: fronts is the plan for the present pattern */
  double *space; /* updates of the threads, then those of tops and roots of tasks */
  int *place;    /* of each thread: [n], then [2 most_rows + 2] */
  int64_t space_cap, place_cap;
} chol_numeric;

enum { CHOL_NUMERIC_DONE, CHOL_NUMERIC_NO_MEMORY, CHOL_NUMERIC_NO_POSTORDER };
/* L->x and L->minor from A, the lower triangle by columns in the factor's order, other entries of
 * which are skipped.  L->minor is the first column for which the diagonal of L is no positive
 * number, or n; the columns of L after it are not determined. */
int chol_numeric_factorise(chol_numeric *m, const cholmod_sparse *A, cholmod_factor *L,
                           int threads);
/* The pattern of L changes. */
void chol_numeric_forget(chol_numeric *m);
void chol_numeric_free(chol_numeric *m); /* fine on a zeroed struct */

#endif
