/* correction.h - the second half of a split step: from a feasible point towards the point x_hat of
 * the elastic step, as near as the barrier allows.
 *
 *   min 1/2 |x - z|_W^2 + B(x) + D(x)
 *
 * X. Li, Y. Fang, L. Lan, H. Wang, Y. Yang, M. Li, C. Jiang, Subspace-Preconditioned GPU Projective
 * Dynamics with Contact for Cloth Simulation, SIGGRAPH Asia 2023, doi 10.1145/3610548.3618157
 * (penetration correction): Newton's method with conjugate gradients, every step cut by the bound
 * on collisions, so that the result never penetrates, for any z.  There W = M/h^2 and z = x_hat,
 * which moves a vertex in contact by h sqrt(s F/M) in every step (F the force, s the gap).
 *
 * DEVIATION: W is the diagonal of M/h^2 plus the elastic operator, and z = x_hat - W^-1 grad
 * Phi(x_hat), Phi inertia and elasticity.  This is a step of the proximal gradient method on the
 * whole problem from x_hat: where x_hat solves it, no vertex moves.
 *
 * Islands of the scene, which cannot touch, are problems of their own: each has its linear solves,
 * step bound, line search and end. */
#ifndef IPC_BARRIER_CORRECTION_H
#define IPC_BARRIER_CORRECTION_H

#include "kit/krylov_bsr3.h"

enum { CORRECTION_PROXIMAL = 0, CORRECTION_SPLITTING /* as printed */ };

typedef struct correction_settings {
  double tolerance; /* m/s, of the largest Newton step over h */
  double cg;        /* relative tolerance of a linear solve */
  int64_t iters;    /* Newton iterations of one call at most */
  int32_t kind;     /* CORRECTION_* */
} correction_settings;

/* Friction of the corrected point.  relag: when the correction has ended, takes the normal forces
 * at x for friction; *again = 1: the forces have changed, go on from x.  NULL: no friction. */
typedef struct correction_friction {
  loom_status (*relag)(void *self, const loom_step *s, loom_buf *x, int *again);
  void *self;
} correction_friction;

typedef struct correction_report { /* of a step */
  int64_t newton, cg;              /* iterations */
  double alpha;                    /* least share of a Newton step that was taken; 1: all of it */
  double moved;                    /* m, the largest distance between x_hat and the result */
  int capped;                      /* some call ended before its tolerance */
} correction_report;

typedef struct correction { /* only W carries over between steps */
  const loom_host *host;
  const loom_exec *e;
  krylov_cg cg;
  krylov_bsr3 matrix;
  loom_buf *hat, *target, *grad, *r, *d, *y; /* real [n][3]; empty in runs that do not split */
  loom_buf *one; /* real [n][3], m, direction of an island; empty while there is only one */
  int32_t num;   /* islands (loom_islands) of the next three; 0: a step begins */
  int done[LOOM_ISLANDS_MOST];      /* 1: it has ended */
  double slope[LOOM_ISLANDS_MOST];  /* J, of the energy along d */
  double length[LOOM_ISLANDS_MOST]; /* m, largest way of a vertex in the last direction */
  loom_buf *weight; /* real [n][3], N/m, W of the proximal kind; made once in a run */
  int weighed;      /* it is there */
  correction_report report;
} correction;

loom_status correction_new(correction *c, const loom_host *host, const loom_exec *e);
void correction_begin(correction *c); /* of a step */
/* c->weight, before contact is frozen. */
loom_status correction_weigh(correction *c, const loom_scene *sc, const loom_step *s);
/* loom_contact_ops.resolve() of a split step, with the energy of the step's contact models.  While
 * bodies and pins are still on their way, a few Newton iterations. */
loom_status correction_resolve(correction *c, const loom_scene *sc, const correction_settings *set,
                               const correction_friction *f, const loom_step *s, loom_buf *x_start,
                               loom_buf *x);

#endif
