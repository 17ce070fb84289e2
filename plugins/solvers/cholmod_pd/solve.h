/* solve.h - triangular solves of three right-hand sides with a supernodal factor. */
#ifndef CHOLMOD_PD_SOLVE_H
#define CHOLMOD_PD_SOLVE_H

#include <cholmod.h>

/* Length of the workspace for this factor, in doubles. */
size_t cholmod_pd_solve_work(const cholmod_factor *L);
/* y := (C C')^-1 y, y [n][3] with row k in the factor's order */
void cholmod_pd_solve3(const cholmod_factor *L, double *y, double *work);

#endif
