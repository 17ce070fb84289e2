/* pd_matrix.h - the matrix of the global step, L + contact, in CHOLMOD's hands.
 *
 * It is kept in the factor's order, where CHOLMOD takes it as it is; in any other it makes a
 * permuted copy for each factorisation.  So the core's operator L is needed once and may go.
 */
#ifndef KIT_PD_MATRIX_H
#define KIT_PD_MATRIX_H

#include "kit/chol.h"
#include "kit/pd_contact.h"

typedef struct pd_change { /* of an entry that a coupling was added to */
  int32_t at;              /* its place in the matrix */
  double was;              /* N/m */
} pd_change;

typedef struct pd_matrix {
  double *diag;      /* [n], N/m, of L, in the factor's order */
  int32_t *place;    /* [n], row of each vertex in the factor's order; NULL without couplings */
  pd_change *change; /* [num_change], in the order they were made */
  int64_t num_change, cap_change;
} pd_matrix;

/* Pattern: lower triangle of the core's operator L, without the entries that join fixed
 * vertices, united with the couplings `extra` [num_extra]; the analysis; L's values. */
loom_status pd_matrix_pattern(pd_matrix *A, chol *c, const loom_exec *e, const loom_scene *sc,
                              const loom_csr *L, const pd_coupling *extra, int64_t num_extra);
/* Nonzero if the pattern has room for every coupling of `k`. */
int pd_matrix_covers(const pd_matrix *A, const chol *c, const pd_contact *k);
/* Values: L + contact.  The pattern must cover the contact. */
loom_status pd_matrix_values(pd_matrix *A, chol *c, const pd_contact *k);
void pd_matrix_free(pd_matrix *A);

#endif
