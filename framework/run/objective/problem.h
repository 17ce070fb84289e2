/* problem.h - problems (loom_problem, loom/scene.h) and their derivatives: sums over terms. */
#ifndef LOOM_PROBLEM_H
#define LOOM_PROBLEM_H

#include "core/err.h"
#include "run/objective/term.h"

typedef struct run_problem {
  loom_problem own;  /* the step's, loom_step.problem */
  loom_problem free; /* the same without contact */
  asm_bsr *bsr;      /* created when first asked for */
  asm_bsr *bsr_bare; /* the same of problems without elements ... */
  loom_scene bare;   /* ... for the scene without them */
  asm_csr *csr;
  double csr_h;       /* s, step length of the assembled values; 0: not assembled */
  double csr_inertia; /* 1/s^2, weight of inertia of the assembled values */
  uint32_t csr_terms;
  int64_t csr_used; /* number of the last step that asked for it */
} run_problem;

loom_status problem_new(run *r);
void problem_free(run *r);
void problem_forget(run *r); /* the scene's `fixed` changed: drops matrices that are made of it */
/* y and h of the step have changed: poses its problem. */
void problem_pose(run *r);
/* e and grad may be NULL, rows of fixed vertices of grad are zero.  LOOM_REJECTED where contact has
 * no value. */
loom_status problem_eval(run *r, const loom_problem *p, loom_buf *x, loom_energies *e,
                         loom_buf *grad);
/* The same in two parts, without regard to fixed rows: the terms that always have a value, and the
 * others added to them. */
loom_status problem_smooth(run *r, const loom_problem *p, loom_buf *x, loom_energies *e,
                           loom_buf *grad);
loom_status problem_add_contact(run *r, const loom_problem *p, loom_buf *x, loom_energies *e,
                                loom_buf *grad);
loom_status problem_hessian(run *r, const loom_problem *p, loom_buf *x, int how,
                            const loom_bsr3 **H);
/* The same into a matrix of the caller's. */
loom_status problem_hessian_into(run *r, const loom_problem *p, loom_buf *x, int how, asm_bsr *A,
                                 const loom_bsr3 **H);
loom_status problem_hess_apply(run *r, const loom_problem *p, loom_buf *x, int how, loom_buf *d,
                               loom_buf *Hd);
loom_status problem_pd_operator(run *r, const loom_problem *p, const loom_csr **L);
loom_status problem_pd_rhs(run *r, const loom_problem *p, loom_buf *x, loom_buf *rhs);

loom_status problem_zero_fixed(run *r, loom_buf *g); /* rows of fixed vertices become zero */
loom_status problem_copy_fixed(run *r, loom_buf *a, loom_buf *b); /* a's fixed rows become b's */
/* Rows of fixed vertices become y, those of followers follow. */
loom_status problem_restore_fixed(run *r, loom_buf *x);

loom_status problem_diag(run *r); /* fills buf.diag */
/* The state of terms that outlives a step: advanced to x at the end of a step; visited for
 * checkpoints. */
loom_status problem_commit(run *r, loom_buf *x);
loom_status problem_state(run *r, state_visit visit);
/* Frees the projective operator if it was not used in this step. */
void problem_end_step(run *r);

#endif
