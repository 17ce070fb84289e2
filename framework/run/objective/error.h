/* error.h - how far an iterate is from the solution, in the norm of a matrix ([log] error), r the
 * gradient of the problem as it stands, contact live.
 *
 * newton: r_energy = sqrt(r' H^-1 r), Newton's decrement, H the Hessian at the iterate.  Where H is
 * positive definite it is sqrt(2 (E - E*)) but for terms of third order.  Where it is not, the
 * eigenvalues of element and contact Hessians are clamped at zero, and the iterate is marked: next
 * to a saddle no local number tells how far away the solution is.
 *
 * projective: r_energy = sqrt(r' P^-1 r), P = M/h^2 + sum w A'A, the operator of projective
 * dynamics, plus the Hessian of contact at the iterate.
 *
 * Both are the core's own work on the host, with matrices and factors of its own: charged to
 * MEASURE, and not counted as work of the method.  Residuals in metres stay as they are. */
#ifndef LOOM_RUN_ERROR_H
#define LOOM_RUN_ERROR_H

#include "core/err.h"
#include "linalg/assemble.h"
#include "linalg/sym3.h"
#include "run/run.h"

typedef struct error_value {
  double energy;      /* sqrt(J), NaN: not measured */
  double step;        /* m, mass-weighted RMS of Newton's direction; NaN but for newton */
  int64_t indefinite; /* 1: the exact Hessian is not positive definite, 0: it is, -1: not asked */
  int64_t solves;     /* back-substitutions, or products with the matrix */
  int64_t factors;    /* numeric factorisations */
} error_value;

typedef struct error_factor { /* one matrix, and its factor where there is a module */
  sym3 A;                     /* pattern of the last analysis */
  void *self;
  int ready; /* A was factorised */
} error_factor;

typedef struct run_error {
  const loom_factor *module; /* NULL: by conjugate gradients */
  asm_bsr *bsr;              /* Hessian, or contact alone for projective */
  sym3 now;                  /* ... of the present iterate */
  sym3 op;                   /* projective, without contact */
  double op_h;               /* s, h of the values of `op`; 0: not assembled */
  error_factor whole;        /* Hessian; projective: operator and contact, of this step */
  error_factor bare;         /* projective: the operator alone */
  double *r, *d, *work;      /* [n][3], [n][3], [SYM3_WORK n], on the host */
  int64_t failed;            /* iterates that could not be measured so far */
} run_error;

/* Checks that the scene has the terms that [log] error needs; opens the module. */
loom_status error_open(run *r);
void error_close(run *r);
loom_status error_forget(run *r); /* the scene's `fixed` changed: drops matrices and factors */
void error_begin_step(run *r);    /* drops the factor of the step before */
/* At st.x, of which st.grad is the gradient; NaN where contact has no value there. */
loom_status error_measure(run *r, error_value *out);
error_value error_unmeasured(void);

#endif
