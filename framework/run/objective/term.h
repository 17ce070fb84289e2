/* term.h - the summands of an objective: term_inertia.c, term_elements.c, term_damping.c
 * and term_contact.c each have one; problem.c adds them up. */
#ifndef LOOM_RUN_TERM_H
#define LOOM_RUN_TERM_H

#include <stddef.h>

#include "elements/elements.h"
#include "run/plugins/instances.h"

/* Called for every buffer of the core that outlives a step, with its name in checkpoints. */
typedef loom_status (*state_visit)(run *r, const char *name, loom_buf *b);

/* Of a problem that has the term; x, d, g, Hd and rhs are real [n][3].  A member may be NULL: the
 * term adds 0. */
typedef struct term {
  uint32_t bit;  /* LOOM_TERM_* */
  size_t energy; /* place of its energy in loom_energies */
  loom_status (*open)(run *r);
  void (*close)(run *r);
  /* Adds its gradient to g (NULL: not asked), except that inertia, which comes first,
   * overwrites g.  Leaves partial energies in the result slots *slots, ... and raises *slots
   * (NULL: not asked): they are fetched for all terms at once. */
  loom_status (*gradient)(run *r, const loom_problem *p, loom_buf *x, loom_buf *g, int *slots);
  /* The same for a term with an energy that is known at once.  LOOM_REJECTED: x is infeasible. */
  loom_status (*eval)(run *r, const loom_problem *p, loom_buf *x, loom_energies *e, loom_buf *g);
  /* A += H, how: LOOM_HESS_*; Hd += H d */
  loom_status (*hessian)(run *r, const loom_problem *p, loom_buf *x, int how, asm_bsr *A);
  loom_status (*apply)(run *r, const loom_problem *p, loom_buf *x, int how, loom_buf *d,
                       loom_buf *Hd);
  /* projective form; the right-hand side of inertia overwrites rhs */
  loom_status (*pd_operator)(run *r, const loom_problem *p, asm_csr *A);
  loom_status (*pd_rhs)(run *r, const loom_problem *p, loom_buf *x, loom_buf *rhs);
  /* at the end of a step at x */
  loom_status (*commit)(run *r, loom_buf *x);
  loom_status (*state)(run *r, state_visit visit);
} term;

extern const term term_inertia, term_elements, term_damping, term_contact;

/* State of the terms in a run. */
typedef struct elements_data {
  elastic *el;
  loom_csr couplings; /* of free vertices to fixed ones, N/m; see term_elements.c */
  loom_buf *pull;     /* real [n][3], N, forces of the couplings on free vertices; NULL: not made */
  double scaled;      /* 1, rest data have rest lengths of 1 + this; NaN: unknown */
} elements_data;

typedef struct damping_data { /* unused in scenes without damping */
  loom_buf *beta;             /* real [n], s; NULL: no damping, and all other members are unused */
  asm_bsr *W;                 /* N s/m: the sum of beta H of all elements at x_start */
  int stale;                  /* W is that of an earlier step */
  loom_scene loose;           /* the scene without fixed vertices, so that W has no unit rows ... */
  loom_buf *none_fixed;       /* ... u8 [n] */
  loom_buf *H;                /* real [.], N/m: room for the Hessians of some elements */
  loom_buf *d, *Wd;           /* real [n][3]: x - x_start, m, and W times that, N s */
  asm_csr *L;                 /* N s/m: the sum of beta w A'A; NULL: not asked for */
} damping_data;

typedef struct contact_data {
  loom_blocks3 blocks; /* of all models, concatenated */
  loom_quad quad;      /* of all models, concatenated */
  int frozen;          /* contact_freeze() was called */
} contact_data;

/* ---- term_elements.c ---- */
/* Rest lengths of yarns become 1 + change times the scene's. */
loom_status elements_rest_change(run *r, double change);
/* Rest data were written over: they may have any rest lengths. */
void elements_forget_lengths(run *r);
void elements_forget_fixed(run *r); /* other vertices are fixed now */

/* ---- term_damping.c ---- */
void damping_pose(run *r); /* another step begins */
void damping_forget_fixed(run *r);
/* out, element Hessians at x (elastic_elem_hessians), + beta / h times the Hessians at x_start */
loom_status damping_add_hessians(run *r, int block, int32_t first, int32_t count, loom_buf *x,
                                 int how, loom_buf *out);

/* ---- term_contact.c: one model, or all of them ---- */
/* Adds to *energy and *dissipation (J) and g; live or frozen as p says.  LOOM_REJECTED as above. */
loom_status contact_eval(run *r, contact_inst *c, const loom_problem *p, loom_buf *x,
                         double *energy, double *dissipation, loom_buf *g);
/* Blocks of all models, concatenated. */
loom_status contact_blocks(run *r, const loom_problem *p, loom_buf *x, int how,
                           const loom_blocks3 **out);
/* Quadratic terms of all models at x, concatenated. */
loom_status contact_quad(run *r, loom_buf *x, const loom_quad **out);
/* Expansions of all models at x, times `share`, for LOOM_CONTACT_FROZEN. */
loom_status contact_freeze(run *r, loom_buf *x, double share);

#endif
