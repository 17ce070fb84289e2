/* derive.h - derivatives of the contact model of a run at st.x, where contact is up to date.  Fixed
 * vertices do not take part. */
#ifndef LOOM_CONTRACT_DERIVE_H
#define LOOM_CONTRACT_DERIVE_H

#include "contract/contract.h"

void *ct_alloc(int64_t count); /* [count] doubles, zero */
double ct_norm(const double *v, int64_t n);
/* Energy and dissipation at x [n], J, and their gradient [n] (N, NULL: not wanted), with the pairs
 * as they are. */
double ct_energy_at(ct_run *t, const double *x, double *grad);
/* eval()'s gradient is that of its energy; x [n] are the positions in st.x. */
void ct_check_gradient(ct_run *t, const double *x, int64_t n);
/* hessian() is the derivative of the gradient, to 1e-5, or to 20 % with LOOM_CONT_HESS_APPROX. */
void ct_check_hessian(ct_run *t, const double *x, int64_t n);
/* The terms of quad() add up to the gradient at x. */
void ct_check_quad(ct_run *t, const double *x, int64_t n);

enum { CT_FORMS = LOOM_CONT_ENERGY | LOOM_CONT_GRADIENT | LOOM_CONT_HESSIAN | LOOM_CONT_QUAD };
/* Skip the check if the model in the run has none of the forms `need`, or takes yarns alone. */
void ct_need_forms(ct_run *t, uint32_t need);

#endif
