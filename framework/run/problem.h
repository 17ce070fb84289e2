/* problem.h - the objective of a step and its derivatives: problem.c, pd_rhs.c. */
#ifndef LOOM_PROBLEM_H
#define LOOM_PROBLEM_H

#include "core/err.h"
#include "elements/elements.h"
#include "linalg/assemble.h"
#include "loom/plugin.h"
#include "run/run.h"

typedef struct run_problem {
  elastic *el;
  rods *rods;   /* NULL: no yarns */
  asm_bsr *bsr; /* created when first asked for */
  asm_csr *csr;
  double csr_h;        /* the step its values were made for, 0: none */
  int64_t csr_used;    /* number of the last step that asked for it */
  loom_csr couplings;  /* of free vertices to fixed ones, N/m; see pd_rhs.c */
  loom_buf *pull;      /* real [n][3], N, what they make of fixed positions; NULL: none made */
  loom_blocks3 blocks; /* contact blocks of all instances, concatenated */
  loom_quad quad;      /* quadratic terms of all instances, concatenated */
} run_problem;

loom_status problem_new(run *r);
void problem_free(run *r);
/* inertia and elastic part: energies (may be NULL), gradient into g (may be NULL) */
loom_status problem_free_part(run *r, loom_buf *x, loom_energies *e, loom_buf *g);
/* contact part: adds to energies and gradient; LOOM_REJECTED where it is infeasible.
 * live: the model itself even if it is frozen. */
loom_status problem_contact_part(run *r, loom_buf *x, int live, loom_energies *e, loom_buf *g);
loom_status problem_zero_fixed(run *r, loom_buf *g); /* rows of fixed vertices become zero */
loom_status problem_copy_fixed(run *r, loom_buf *a, loom_buf *b); /* they become those of b */
loom_status problem_restore_fixed(run *r, loom_buf *x); /* rows of fixed vertices become y */
loom_status problem_eval(run *r, loom_buf *x, int what, loom_energies *e, loom_buf *g);
loom_status problem_hessian(run *r, loom_buf *x, int how, const loom_bsr3 **H);
loom_status problem_hess_apply(run *r, loom_buf *x, int how, loom_buf *p, loom_buf *Hp);
loom_status problem_contact_blocks(run *r, loom_buf *x, int how, const loom_blocks3 **out);
/* out[row[j]] += val[j] (p - q)[col[j]]; q NULL: zero */
loom_status problem_blocks_apply(run *r, const loom_blocks3 *b, loom_buf *p, loom_buf *q,
                                 loom_buf *out);
loom_status problem_pd_operator(run *r, const loom_csr **L);
loom_status problem_mass_times_y(run *r, loom_buf *out); /* out = M y / h^2 */
loom_status problem_quad(run *r, loom_buf *x, const loom_quad **out);
loom_status problem_diag(run *r); /* fills buf.diag */
/* Gives back the projective operator if nobody asked for it in this step. */
void problem_end_step(run *r);

/* ---- pd_rhs.c ---- */
loom_status problem_pd_rhs(run *r, loom_buf *x, loom_buf *rhs);
void pd_rhs_free(run *r);

#endif
