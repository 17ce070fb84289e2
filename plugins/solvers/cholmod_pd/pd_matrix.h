/* pd_matrix.h - the matrix of the global step, L + contact, in CHOLMOD's hands. */
#ifndef PD_MATRIX_H
#define PD_MATRIX_H

#include "chol.h"
#include "pd_contact.h"

/* Pattern: lower triangle by rows of the core's operator L, without the entries that join
 * fixed vertices, united with the couplings `extra` [num_extra]; then the analysis. */
loom_status pd_matrix_pattern(chol *c, const loom_exec *e, const loom_scene *sc, const loom_csr *L,
                              const pd_coupling *extra, int64_t num_extra);
/* Nonzero if the pattern has room for every coupling of `k`. */
int pd_matrix_covers(const chol *c, const pd_contact *k);
/* Values: L + contact.  The pattern must cover the contact. */
loom_status pd_matrix_values(chol *c, const loom_exec *e, const loom_csr *L, const pd_contact *k);

#endif
