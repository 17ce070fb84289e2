/* chol_solve3.h - triangular solves of three right-hand sides with a supernodal factor. */
#ifndef KIT_CHOL_SOLVE3_H
#define KIT_CHOL_SOLVE3_H

#include <cholmod.h>

/* Length of the workspace for this factor, in doubles. */
size_t chol_solve3_work(const cholmod_factor *L);
/* y := (C C')^-1 y, y [n][3] with row k in the factor's order */
void chol_solve3(const cholmod_factor *L, double *y, double *work);
/* y := C^-1 y: the first half of it */
void chol_forward3(const cholmod_factor *L, double *y, double *work);

#endif
