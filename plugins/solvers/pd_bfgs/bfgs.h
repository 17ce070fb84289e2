/* bfgs.h - quasi-Newton iterations with exact line search on a quadratic, A y = g, that keep their
 * pairs for the next right-hand side.
 *
 * L-BFGS (J. Nocedal, Updating Quasi-Newton Matrices with Limited Storage, Math. Comp. 35, 1980,
 * doi 10.1090/S0025-5718-1980-0572855-7; two loops as in J. Nocedal, S. Wright, Numerical
 * Optimization, 2nd ed., algorithm 7.4) from an inverse of another matrix, with the change of the
 * gradient known exactly: A s.  With an empty history the iterates equal conjugate gradients
 * preconditioned by that inverse.  Vectors and scalars stay where the kernels run; the host does
 * not wait for the device. */
#ifndef PD_BFGS_BFGS_H
#define PD_BFGS_BFGS_H

#include "loom/plug.h"
#include "loom/plugin.h"

typedef struct bfgs_system {
  loom_status (*multiply)(void *self, loom_buf *x, loom_buf *y); /* y = A x */
  loom_status (*solve)(void *self, loom_buf *x, loom_buf *z);    /* z = A0^-1 x */
  void *self;
} bfgs_system;

typedef struct bfgs {
  const loom_host *host;
  const loom_exec *e;
  int32_t rows, history; /* pairs kept at most */
  int32_t num, next;     /* pairs there are; the slot of the next one */
  loom_buf *s, *as;      /* real [history][rows][3]: steps s and A s */
  loom_buf *record;      /* real, scalars: see bfgs.kern.h */
  loom_buf *y, *g;       /* real [rows][3]: the solution, the residual */
  loom_buf *q, *d, *ad;  /* real [rows][3] */
} bfgs;

loom_status bfgs_new(bfgs *b, const loom_host *host, const loom_exec *e, int32_t history);
loom_status bfgs_resize(bfgs *b, int32_t rows); /* and forgets */
static inline void bfgs_forget(bfgs *b) { b->num = b->next = 0; }
/* b->g is the right-hand side; y = 0. */
loom_status bfgs_begin(bfgs *b);
/* y += ..., g -= A ...; the pair is remembered. */
loom_status bfgs_iterate(bfgs *b, const bfgs_system *A);

#endif
