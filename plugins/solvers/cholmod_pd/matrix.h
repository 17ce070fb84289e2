/* matrix.h - the matrix of the global step, L + contact, in CHOLMOD's hands.
 *
 * It is kept in the factor's order, where CHOLMOD takes it as it is; in any other it makes a
 * permuted copy for each factorisation.  So the core's operator L is needed once and may go.
 */
#ifndef CHOLMOD_PD_MATRIX_H
#define CHOLMOD_PD_MATRIX_H

#include "contact.h"
#include "kit/chol.h"

typedef struct cholmod_pd_change { /* of an entry that a coupling was added to */
  int32_t at;                      /* its place in the matrix */
  double was;                      /* N/m */
} cholmod_pd_change;

typedef struct cholmod_pd_matrix {
  double *diag;   /* [n], N/m, of L, in the factor's order */
  int32_t *place; /* [n], row of each vertex in the factor's order; NULL without couplings */
  cholmod_pd_change *change; /* [num_change], in the order they were made */
  int64_t num_change, cap_change;
} cholmod_pd_matrix;

/* Pattern: lower triangle of the core's operator L, without the entries that join fixed
 * vertices, united with the couplings `extra` [num_extra]; the analysis; L's values. */
loom_status cholmod_pd_matrix_pattern(cholmod_pd_matrix *A, chol *c, const loom_exec *e,
                                      const loom_scene *sc, const loom_csr *L,
                                      const cholmod_pd_coupling *extra, int64_t num_extra);
/* Nonzero if the pattern has room for every coupling of `k`. */
int cholmod_pd_matrix_covers(const cholmod_pd_matrix *A, const chol *c,
                             const cholmod_pd_contact *k);
/* Values: L + contact.  The pattern must cover the contact. */
loom_status cholmod_pd_matrix_values(cholmod_pd_matrix *A, chol *c, const cholmod_pd_contact *k);
void cholmod_pd_matrix_free(cholmod_pd_matrix *A);

#endif
