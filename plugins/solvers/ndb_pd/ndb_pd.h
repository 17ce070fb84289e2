/* ndb_pd.h - the solver's settings, state and parts.
 *
 * One global step solves (H + W) u = r for an increment u, with r = -grad E(x) as the core
 * measured it, H the constant operator of projective dynamics and W the contact weights
 * (operator.c).  global.c alternates corrections in a subspace (basis.c; with contact reuse.c) with
 * sweeps of a smoother (smooth.c, fused.c) or takes conjugate gradients (pcg.c). */
#ifndef NDB_PD_H
#define NDB_PD_H

#include "eigen.h"
#include "kit/body_turns.h"
#include "kit/contact_diagonal.h"
#include "kit/krylov.h"
#include "kit/subspace.h"
#include "loom/plug.h"
#include "operator.kern.h"
#include "sweep.kern.h"

enum { SMOOTHER_JACOBI = 0, SMOOTHER_A_JACOBI, SMOOTHER_CHEBYSHEV, SMOOTHER_PCG };
enum { SUBSPACE_NONE = 0, SUBSPACE_EIGEN, SUBSPACE_BSPLINE };
enum { MODES_ORDINARY = 0, MODES_GENERALISED };
enum { BASE_CURRENT = 0, BASE_REST };
enum { REUSE_PLAIN = 0, REUSE_PRESMOOTH, REUSE_MASKED };
enum { WEIGHTS_AUTO = 0, WEIGHTS_EXACT, WEIGHTS_HELD };
enum { UPDATE_SYRK = 0, UPDATE_TABLE, UPDATE_FULL };
enum { REDUCED_CHOLESKY = 0, REDUCED_INVERSE };
enum { MOMENTUM_NONE = 0, MOMENTUM_CHEBYSHEV, MOMENTUM_NESTEROV };
enum { PRECISION_DOUBLE = 0, PRECISION_MIXED };
enum { ROTATION_EXACT = 0, ROTATION_PLAIN };
enum { MONITOR_NONE = 0, MONITOR_RESIDUAL, MONITOR_ERROR, MONITOR_POSITION };

enum { /* log columns */
       COL_MV = 0,
       COL_CORRECTIONS,
       COL_MODES,
       COL_ROWS,
       COL_W_MAX,
       COL_THETA,
       COL_MU_HI,
       COL_BETA,
       NUM_COLUMNS
};

enum { TOLD_T = 0, TOLD_BETA, TOLD_MOVED, TOLD_FAILED, TOLD_NUM };

typedef struct ndb_pd_settings {
  int32_t smoother, fused, subspace, modes, base, reuse, weights, update, reduced, momentum,
      precision;
  int32_t rotation, monitor;
  int64_t rank, sweeps, cycle, presmooth, r1, r2, warm, inner, eigen_restarts;
  double theta, spacing, momentum_rho, inner_tolerance, eigen_tolerance;
  const char *cache;
} ndb_pd_settings;

enum { NUM_PARAMS = 28 };
extern const loom_param ndb_pd_params[NUM_PARAMS];

extern const loom_column ndb_pd_columns[NUM_COLUMNS];
/* Checks relations between settings, which the table cannot express. */
loom_status ndb_pd_check(const loom_host *host, const loom_exec *e, const ndb_pd_settings *s);

typedef struct ndb_pd_matrix { /* H on the host, without the couplings of fixed rows */
  const int64_t *ptr;          /* [n+1] */
  const int32_t *col;
  const loom_real *val, *diag; /* N/m; [n] */
  const uint8_t *fixed;        /* [n] */
} ndb_pd_matrix;

/* Everything a solve touches, mapped where the kernels run. */
typedef struct ndb_pd_view {
  const int64_t *ptr; /* [n+1] */
  const int32_t *col;
  const lk_real *val; /* N/m */
  const float *valf;  /* NULL without the float path */
  const lk_real *w, *dinv, *mask;
  const float *wf, *dinvf;
  lk_real *r, *total, *u[3]; /* [n][3] */
  float *rf, *uf[3];
  const int32_t *control; /* [4 bodies], control points; NULL without bodies */
  subspace_args space;    /* with the inverse of the reduced matrix in force */
} ndb_pd_view;

typedef struct ndb_pd_twofold { /* literal two-sweep operator, see fused.c */
  loom_buf *ptr, *col, *b1, *list, *middle, *product, *val, *shift;
  int32_t fresh; /* nonzero: val is of the present diagonal and theta */
  double theta;
} ndb_pd_twofold;
typedef struct ndb_pd_fused_call { /* mapped for some sweeps, see ndb_pd_fused_open */
  plug_maps m;
  ndb_pd_fused_args d;
  ndb_pd_fused_f_args f;
} ndb_pd_fused_call;

typedef struct ndb_pd_monitor { /* host copies for the figures, see monitor.c */
  double *r0, *exact, *e, *Ae;  /* [n][3] */
  double start;                 /* norm of the first residual or error */
} ndb_pd_monitor;

typedef struct ndb_pd {
  const loom_host *host;
  const loom_scene *sc;
  const loom_exec *e;
  ndb_pd_settings set;
  int32_t n;
  int32_t sweep_rows;  /* rows up to the last free one: increments of the others stay zero */
  int64_t sweep_nnz;   /* entries of these rows */
  double inertia_made; /* 1/s^2, weight of inertia in all data below; 0: not made yet */

  /* operator.c: H without the couplings of fixed rows */
  loom_buf *ptr, *col, *val, *valf; /* i64 [n+1], i32, real, float in i32 */
  loom_buf *diag;                   /* real [n], N/m */
  int64_t nnz;                      /* of H */
  loom_buf *w, *dinv, *mask, *wf, *dinvf, *touched, *place;
  contact_diagonal now; /* the weights of this iteration */
  double mu_lo, mu_hi;  /* bounds of the spectrum of D^-1 H */
  int32_t holding;      /* nonzero: w is of this step */
  int32_t leads;        /* nonzero: an iterate of this step ran ahead of the filter */
  int64_t rows;         /* vertices in contact */
  double w_max;         /* N/m */
  loom_buf *r, *total, *u[3], *rf, *uf[3], *grad, *before, *result;

  /* basis.c */
  subspace space;  /* no columns: there is none */
  int32_t r1, r2;  /* modes without contact and with it */
  double *S;       /* [cols][cols], N/m, U' H U */
  double mu1, mu2; /* first eigenvalue of D^-1 H that r1, r2 modes leave out */
  loom_buf *inv1,
      *inv2; /* real [r1][r1], [r2][r2], m/N, inverses of S without contact and with it */

  /* reuse.c */
  loom_buf *list, *V, *table, *parts, *S2;
  double *work;  /* [4][cols][cols] */
  double *extra; /* the last quarter of it */

  /* kit/body_turns.h */
  body_turns turns; /* without bodies: rotation = plain */

  krylov_cg cg; /* of pcg.c */
  ndb_pd_twofold two;
  ndb_pd_monitor mon;

  /* ahead.c: iterations on a device without waiting */
  int32_t ahead;   /* nonzero: this mode is on */
  int32_t ready;   /* contact of the next iteration is under way: w, rows and w_max in `found` */
  int32_t restart; /* momentum starts anew */
  double found[2]; /* w_max, rows */
  loom_buf *told; /* real [TOLD_NUM], numbers of an iteration for the log, and t for the next one */
  double tells[4];          /* the same on the host, when the core has waited */
  loom_iterate *it;         /* the report that gets them */
  loom_buf *S_copy, *M, *L; /* real [cols][cols] */

  /* momentum and the inner loop, of one step */
  double t;     /* Nesterov's sequence; 1: start */
  double omega; /* Chebyshev's weight */
  int32_t momentum_steps, since_filter;
} ndb_pd;

/* How one global step is done. */
typedef struct ndb_pd_plan {
  int32_t cols;   /* modes of the correction, 0: none */
  int32_t masked; /* contact rows of U are scaled */
  int32_t pre;    /* smoother iterations before each correction */
  double theta, lo;
} ndb_pd_plan;

typedef struct ndb_pd_report {
  int32_t mv, corrections, sweeps;
  double last; /* monitored number at the end, NaN without */
} ndb_pd_report;

/* ---- operator.c ---- */
loom_status ndb_pd_operator_new(ndb_pd *s);
loom_status ndb_pd_operator_make(ndb_pd *s, const loom_step *st); /* for the step length of st */
/* H where the host can read it; plug_unbind(m) closes it. */
loom_status ndb_pd_matrix_open(ndb_pd *s, plug_maps *m, ndb_pd_matrix *A);
/* W, and w_max and rows in result; then these on the host, from `found`. */
loom_status ndb_pd_contact_begin(ndb_pd *s, const loom_quad *q);
loom_status ndb_pd_contact_end(ndb_pd *s, const double *found);
loom_status ndb_pd_contact(ndb_pd *s, const loom_quad *q); /* both; q NULL: none */
/* The view of a solve with `inv` (NULL: no subspace); plug_unbind(m) closes it. */
loom_status ndb_pd_open(ndb_pd *s, loom_buf *inv, plug_maps *m, ndb_pd_view *v);
static inline loom_status ndb_pd_run(const ndb_pd *s, const lk_entry *k, const void *a, int64_t n,
                                     lk_real *result)
{
  return plug_run(s->host, s->e, k, a, n, result);
}

/* ---- basis.c, bspline.c, reduced.c ---- */
loom_status ndb_pd_basis_make(ndb_pd *s);
void ndb_pd_basis_free(ndb_pd *s);
/* Quadratic B-splines on the rest shape, *cols columns; malloc'ed. */
loom_status ndb_pd_bspline(ndb_pd *s, double **U, int32_t *cols);
/* Leading `cols` of S plus `extra` (NULL: none), inverted as set, into `out`. */
loom_status ndb_pd_invert(ndb_pd *s, int32_t cols, const double *extra, loom_buf *out);

/* ---- reuse.c ---- */
loom_status ndb_pd_reuse_new(ndb_pd *s); /* after the basis was made */
loom_status ndb_pd_reuse(ndb_pd *s);     /* inverse of the reduced matrix with contact, into inv2 */

/* u = s U S^-1 (s U)' r, or u += that; s: the mask of contact, or 1 */
loom_status ndb_pd_correct(const ndb_pd *s, const ndb_pd_view *v, const ndb_pd_plan *p,
                           const lk_real *r, lk_real *u, int add);

/* ---- smooth.c, fused.c, pcg.c ---- */
/* `count` iterations from zero on r, counted and monitored; total and r are brought up to date
 * (r as in ndb_pd_settle()). */
loom_status ndb_pd_smooth(ndb_pd *s, const loom_step *st, const ndb_pd_view *v,
                          const ndb_pd_plan *p, int64_t count, int residual, ndb_pd_report *out);
/* total += u, r -= (H + W) u if `residual`, else of rows of control points alone; u in float if
 * `single` */
loom_status ndb_pd_settle(const ndb_pd *s, const ndb_pd_view *v, const void *u, int single,
                          int residual);
loom_status ndb_pd_fused_make(ndb_pd *s);
/* plug_unbind(&c->m) closes it */
loom_status ndb_pd_fused_open(ndb_pd *s, const ndb_pd_view *v, double theta, ndb_pd_fused_call *c);
loom_status ndb_pd_fused_sweep_run(ndb_pd *s, ndb_pd_fused_call *c, const void *from, void *to);
/* `count` iterations with D^-1 + U S^-1 U' as preconditioner; total is brought up to date */
loom_status ndb_pd_pcg(ndb_pd *s, const loom_step *st, const ndb_pd_view *v, const ndb_pd_plan *p,
                       int64_t count, ndb_pd_report *out);

/* ---- monitor.c ---- */
loom_status ndb_pd_monitor_begin(ndb_pd *s, const ndb_pd_view *v);
/* the iterate total + u (u: loom_real or float, NULL: none) to the log */
void ndb_pd_monitor_tell(ndb_pd *s, const loom_step *st, const ndb_pd_view *v, const void *u,
                         int single, ndb_pd_report *out);
void ndb_pd_monitor_free(ndb_pd *s);

/* ---- ahead.c ---- */
loom_status ndb_pd_ahead_new(ndb_pd *s);
/* The reduced matrix without contact goes to the device. */
loom_status ndb_pd_ahead_make(ndb_pd *s);
/* In accepted(): contact of the next iteration; its numbers are read with the numbers of this one.
 */
loom_status ndb_pd_ahead_contact(ndb_pd *s, const loom_step *st);
/* inv2 from S2. */
loom_status ndb_pd_ahead_invert(ndb_pd *s);
/* trial = trial + momentum, with m and a of next_point(); _tell: the numbers of the iteration. */
loom_status ndb_pd_ahead_momentum(ndb_pd *s, plug_maps *m, ndb_pd_vector_args *a);
loom_status ndb_pd_ahead_tell(ndb_pd *s, loom_iterate *it);

/* ---- global.c, warm.c ---- */
loom_status ndb_pd_solve(ndb_pd *s, const loom_step *st, loom_buf *x, loom_buf *grad,
                         int with_contact, ndb_pd_report *out, double *theta);
loom_status ndb_pd_warm(ndb_pd *s, const loom_step *st);

#endif
