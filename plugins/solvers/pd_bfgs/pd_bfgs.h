/* pd_bfgs.h - the solver's settings, state and parts.
 *
 * One outer iteration improves u in (H + B) u = r, with r = -grad E(x) as the core measured it, H
 * the constant operator of projective dynamics (numbers that hold for all three components) and B
 * the Hessian of contact, frozen at the start of the step (3x3 blocks): first in the span of
 * splines, by quasi-Newton iterations that begin with the factor of P' H P (bfgs.c, reduced.c),
 * then by damped Jacobi sweeps over all vertices (sweep.c). */
#ifndef PD_BFGS_H
#define PD_BFGS_H

#include "bfgs.h"
#include "kit/chol.h"
#include "kit/sparse_basis.h"
#include "loom/plug.h"
#include "sweep.kern.h"

enum { PROXY_FULL = 0, PROXY_HALF, PROXY_NONE };
enum { GUESS_REDUCED = 0, GUESS_CORE };
enum { JACOBI_BLOCK = 0, JACOBI_SCALAR };
enum { MOMENTUM_NONE = 0, MOMENTUM_NESTEROV };
enum { MONITOR_NONE = 0, MONITOR_ERROR };
enum { REDUCED_AUTO = 0, REDUCED_FACTOR, REDUCED_INVERSE };

enum { SWEEPS_FOR_NOTHING = 0, SWEEPS_FOR_CLOTH, SWEEPS_FOR_CONTACT };

enum { /* log columns */
       COL_SPLINES = 0,
       COL_PAIRS,
       COL_OMEGA,
       COL_MU_HI,
       NUM_COLUMNS
};

typedef struct pd_bfgs_settings {
  double spacing, omega;
  int64_t bfgs_iters, history, jacobi_iters, cycles;
  int32_t basis, proxy, guess, jacobi, reduced, momentum, monitor;
} pd_bfgs_settings;

enum { NUM_PARAMS = 13 };
extern const loom_param pd_bfgs_params[NUM_PARAMS];
extern const loom_column pd_bfgs_columns[NUM_COLUMNS];

typedef struct pd_bfgs_monitor { /* on the host, see monitor.c */
  chol factor;                   /* of H */
  double *left, *y, *work; /* [n][3] m, exact solution less all cycles; [n][3]; of the solves */
  double start;            /* energy norm of the solution */
} pd_bfgs_monitor;

/* Matrices of a step where the kernels run; they belong to the core.  B NULL: no contact. */
typedef struct pd_bfgs_matrices {
  const loom_csr *H;
  const loom_bsr3 *B;
} pd_bfgs_matrices;

typedef struct pd_bfgs {
  const loom_host *host;
  const loom_scene *sc;
  const loom_exec *e;
  pd_bfgs_settings set;
  int32_t n;
  double inertia_made; /* 1/s^2, weight of inertia in all below; 0: not made yet */

  /* basis.c, reduced.c */
  sparse_basis basis;
  spline_rows rows;
  loom_buf *sptr, *scol, *sval; /* i64 [cols+1], i32, real: P' H P, N/m */
  chol factor;                  /* of it */
  double *y, *work;             /* [cols][3] in the factor's order, workspace of the solve */
  loom_buf *inverse;            /* real [cols][cols], m/N; empty with the factor */
  loom_buf *reduced;            /* real [cols][3], N */

  /* sweep.c */
  loom_buf *inv;          /* real [n][6], m/N, inverse blocks of the diagonal of H + B */
  double mu_free;         /* the largest eigenvalue of D^-1 H, from below */
  double omega, mu_hi;    /* damping of the sweeps; largest eigenvalue of D^-1 (H + B) */
  int32_t sweeps_for;     /* SWEEPS_FOR_*: the matrices of inv, omega */
  loom_buf *v, *t, *sums; /* real [n][3], [n][3], [2], of the power iteration */

  /* of a step */
  pd_bfgs_matrices A;
  int32_t looked; /* A.B is of the contact that is frozen now */
  bfgs bfgs;
  loom_buf *r, *u[2], *full; /* real [n][3] */
  loom_buf *total;           /* real [n][3], of several cycles */
  pd_bfgs_monitor monitor;
  loom_buf *before, *record; /* of momentum.c */
  int32_t restart;           /* 1: momentum has no iterate to start from */
} pd_bfgs;

/* ---- pieces.c ---- */
typedef struct pd_bfgs_pieces { /* malloc'ed; fine when zeroed */
  int32_t num;
  int64_t num_samples;
  spline_sample *sample;
  double *cell;      /* [num] m */
  const char **name; /* [num] for messages; the strings belong to the scene */
} pd_bfgs_pieces;
/* Where vertices lie on the fabric, one sample per vertex, piece and place. */
loom_status pd_bfgs_pieces_find(pd_bfgs *s, pd_bfgs_pieces *out);
void pd_bfgs_pieces_free(pd_bfgs_pieces *p);

/* ---- basis.c ---- */
loom_status pd_bfgs_basis_make(pd_bfgs *s); /* once in a run */

/* ---- reduced.c ---- */
loom_status pd_bfgs_reduced_new(pd_bfgs *s);
void pd_bfgs_reduced_free(pd_bfgs *s);
loom_status pd_bfgs_reduced_make(pd_bfgs *s, const loom_csr *H); /* where h has changed */
/* y [cols][3] = P' (H + B) P x, and z = (P' H P)^-1 x: bfgs_system.self is the instance */
loom_status pd_bfgs_reduced_multiply(void *self, loom_buf *x, loom_buf *y);
loom_status pd_bfgs_reduced_solve(void *self, loom_buf *x, loom_buf *z);

/* ---- sweep.c ---- */
loom_status pd_bfgs_sweep_new(pd_bfgs *s);
/* Arguments of all kernels that read the matrices of the step. */
pd_bfgs_sweep_args pd_bfgs_open_matrices(const pd_bfgs *s, plug_maps *m);
void pd_bfgs_product_moved(const pd_bfgs *s); /* counts the bytes of one product with H + B */
/* Diagonal and damping for s->A. */
loom_status pd_bfgs_sweep_make(pd_bfgs *s);
/* y = B x */
loom_status pd_bfgs_contact_product(pd_bfgs *s, loom_buf *x, loom_buf *y);
/* Sweeps on (H + B) u = r from u = *at of s->u; *at: where the last one is. */
loom_status pd_bfgs_sweeps(pd_bfgs *s, int *at);

/* ---- cycle.c ---- */
/* u[*at] from zero on s->r: iterations in the span of the splines, then sweeps; *iters += both. */
loom_status pd_bfgs_cycle(pd_bfgs *s, int *at, int32_t *iters);
/* *u: the result of all cycles for s->r; several cycles overwrite s->r. */
loom_status pd_bfgs_solve(pd_bfgs *s, loom_buf **u, int32_t *iters);

/* ---- monitor.c ---- */
loom_status pd_bfgs_monitor_make(pd_bfgs *s); /* where h has changed */
void pd_bfgs_monitor_free(pd_bfgs *s);
loom_status pd_bfgs_monitor_begin(pd_bfgs *s);                            /* for s->r */
loom_status pd_bfgs_monitor_tell(pd_bfgs *s, int32_t cycle, loom_buf *u); /* after a cycle */

/* ---- momentum.c ---- */
loom_status pd_bfgs_momentum_new(pd_bfgs *s);
/* trial = x + u, and momentum on it */
loom_status pd_bfgs_advance(pd_bfgs *s, const loom_step *st, loom_buf *u);
/* it->own_res: the largest row of u, once the core has read it. */
loom_status pd_bfgs_tell(pd_bfgs *s, loom_buf *u, loom_iterate *it);

#endif
