/* loom/host.h - services the core offers to plugins, as one function table.
 *
 * A plugin links against nothing of the core: it receives this table in
 * create() and keeps the pointer until destroy().  Every function takes the
 * table first.  All are [step] unless marked [any].
 */
#ifndef LOOM_HOST_H
#define LOOM_HOST_H

#include "param.h"
#include "scene.h"

typedef struct loom_host loom_host;

enum { LOOM_LOG_ERROR = 0, LOOM_LOG_WARN = 1, LOOM_LOG_INFO = 2, LOOM_LOG_DEBUG = 3 };

/* eval(): what to compute at a point */
enum { LOOM_EVAL_ENERGY = 1, LOOM_EVAL_GRADIENT = 2 };
typedef struct loom_energies { /* J; NaN where a term has no potential, 0 where it was not asked */
  double inertia, elastic, contact, dissipation, total;
} loom_energies;

/* hessian(): how to treat element and contact blocks.  The core alone asks contact models for
 * LOOM_HESS_EXPANSION, to freeze contact: as _PSD_CLAMP, but it has to serve the whole step, and
 * what slides is not to be held by the Hessian of friction where nothing has slipped yet. */
enum {
  LOOM_HESS_EXACT = 0,
  LOOM_HESS_PSD_CLAMP = 1,
  LOOM_HESS_PSD_ABS = 2,
  LOOM_HESS_EXPANSION = 3
};

/* work counters: make costs comparable between solvers and machines */
enum {
  LOOM_C_ENERGY = 0,
  LOOM_C_GRADIENT,
  LOOM_C_HESSIAN,
  LOOM_C_SPMV,
  LOOM_C_FACTORISE,
  LOOM_C_TRISOLVE,
  LOOM_C_PROJECT,
  LOOM_C_DETECT,
  LOOM_C_CCD_PAIR,
  LOOM_C_LAUNCH,
  LOOM_C_BYTES, /* moved, as kernels and plugins declare it: see LK_ENTRY_MOVES */
  LOOM_NUM_COUNTERS
};

/* norms of inner (linear or local) iterations, reported by the plugin */
enum {
  LOOM_NORM_RESIDUAL_2 = 0,
  LOOM_NORM_PRECONDITIONED = 1,
  LOOM_NORM_ENERGY = 2,
  LOOM_NORM_UPDATE_MAX = 3
};

/* What detection is wanted: filled by contact->plan(), read by collision. */
enum { LOOM_DETECT_PROXIMITY = 1, LOOM_DETECT_CCD = 2, LOOM_DETECT_OVERLAP = 4 };
typedef struct loom_query {
  uint32_t struct_size;
  /* For plan() the core presets: what = 0, kinds = what the model handles in this run, margin = 0,
   * x0 = x1 = loom_step.x, mask = exclude = NULL.  Whoever calls host->detect() fills in all. */
  uint32_t what;  /* LOOM_DETECT_*; 0: nothing to do, skip the phase */
  uint32_t kinds; /* LOOM_BIT(LOOM_PAIR_*) wanted */
  int32_t reserved;
  loom_real margin;  /* m, report pairs with gap below this */
  loom_buf *x0, *x1; /* real [n][3]: proximity at x0; CCD from x0 to x1; for plan() the core
                      * presets both to step->x */
  loom_buf *mask;    /* u8 [n] or NULL: only pairs touching a marked vertex */
  loom_buf *exclude; /* u64 [.] ascending keys or NULL: pairs not to report.  Of yarns boxes of
                      * quadrature points (geom/yarn.kern.h), u to u + nu and v to v + nv:
                      * u << 40 | v << 16 | nu << 8 | nv */
  /* Share of the step's prescribed motion at which the bodies stand (loom_step.progress): at
   * x0, and for CCD at x1.  The core presets both to the present one for plan(). */
  double progress0, progress1;
} loom_query;

/* Safe step: x0 + t (x1 - x0) is free of new intersections. */
typedef struct loom_bound {
  uint32_t struct_size;
  int32_t per_vertex; /* in: 1 if a bound per vertex is wanted */
  double t_global;    /* out: in [0,1] */
  loom_buf *t_vertex; /* out: real [n] in [0,1], when per_vertex */
  double min_gap;     /* in: m, gap that must remain at x0 + t (x1 - x0); host->max_step() takes
                         [filter] min_gap where that is more */
  /* in: as in loom_query; at t the bodies stand at progress0 + t (progress1 - progress0) */
  double progress0, progress1;
  int32_t blocker; /* out: the obstacle that sets t_global; -1 (preset): none of them */
  /* out: 1: some pair touches within rounding at x0; no step can part it, so nothing bounds it;
   * 0 (preset): none */
  int32_t touching;
} loom_bound;

/* Rows of the services on bodies: row i, first <= i < first + count, pairs a body and a point. */
typedef struct loom_body_rows {
  uint32_t struct_size;
  int32_t stride;       /* of `point`: its rows have so many items, of which the first counts */
  int64_t first, count; /* also of what comes out; nothing else there is touched */
  loom_buf *body;       /* i32 [.]: an obstacle; -1: the row is left alone.  NULL: all bodies with
                         * all points, body by body: row `first` is pair number `pair` of them */
  loom_buf *point;      /* i32 [.][stride]: a row of x; NULL: row i has point i */
  loom_buf *x;          /* real [.][3], m */
  int64_t pair;
} loom_body_rows;

/* What is wanted of the distance between body and point; NULL: not wanted.  Of a body without a
 * distance: LK_REAL_MAX and zeros. */
typedef struct loom_body_gap {
  uint32_t struct_size;
  uint32_t precise;    /* 1: gaps to the last digit, as bounds of steps need them; 0: of networks,
                        * asked for many points at once, in single precision */
  loom_buf *gap;       /* real [.], m, negative inside; the point has no radius */
  loom_buf *normal;    /* real [.][3], unit, outward */
  loom_buf *gradient;  /* real [.][3], 1: of what `gap` holds; of grids its length is not 1 */
  loom_buf *curvature; /* real [.][3][3], 1/m: second derivatives of what `gap` holds */
  /* What is known already, or NULL; for gaps alone of rows without a list of bodies: gaps, real
   * [pairs], m, that this service gave for points at known_x, real [.][3], m, with the bodies as
   * they stand now at `progress`.  A row whose gap less the point's radius, real [.], m, has for
   * certain stayed above `enough`, m, is given what is certain, and its body is not asked.  Of
   * networks "certain" rests on slopes that were probed, and `enough` has to lie below the
   * distance at which they are clamped. */
  loom_buf *known_gap, *known_x, *radius;
  double enough;
} loom_body_gap;

/* Points on their way from x to x1 while the bodies move from progress0 to progress1. */
typedef struct loom_body_path {
  uint32_t struct_size;
  int32_t max_iters;           /* advances of one search; the rest counts as blocked, safely */
  double progress0, progress1; /* as in loom_query */
  loom_buf *x1;                /* real [.][3], m, in the rows of x */
  loom_buf *radius;            /* real [.], m, of the points */
  loom_buf *floor, *tol;       /* real [.] of the rows, m: the gap that is an impact, and how much
                                * more counts as one; a tol below 0: the row is not searched */
  loom_buf *toi;               /* out: real [.] in [0, 1], never late; 2: no impact */
  loom_buf *gap, *normal, *point; /* out, or NULL: real [.], [.][3], [.][3], of rows with an impact:
                                   * gap of x1 above the plane of impact, which goes on with the
                                   * body; its normal and its point, both at progress1 */
} loom_body_path;

/* Elements of a block in an order of the plugin's own: row i, first <= i < first + count, names an
 * element and, for elem_corners(), a corner of it. */
typedef struct loom_elem_rows {
  uint32_t struct_size;
  int32_t block;
  int64_t first, count;
  int64_t to;       /* row of what comes out that belongs to row `first`; others are not touched */
  loom_buf *elem;   /* i32 [.], 0 to num_elems - 1, not checked; repeated ones are fine */
  loom_buf *corner; /* i32 [.], 0 to arity - 1, not checked; NULL for elem_gradients() */
} loom_elem_rows;

struct loom_host {
  uint32_t struct_size;
  uint16_t abi_major, abi_minor;
  void *core; /* opaque */

  /* ---- errors and messages [any] ---- */
  /* Record a message with its place and return `code`; use the macros below. */
  loom_status (*fail)(const loom_host *h, loom_status code, const char *file, int line,
                      const char *func, const char *fmt, ...) LOOM_PRINTF(6, 7);
  void (*log)(const loom_host *h, int level, const char *fmt, ...) LOOM_PRINTF(3, 4);

  /* ---- memory ---- */
  /* Buffers made here belong to the instance.  The core frees them when destroy() has returned;
   * buf_free() is for what is needed no longer, and what a step makes anew.  Buffers received in
   * structs belong to the core: never free or resize those. */
  /* `count` items of LOOM_REAL ... LOOM_U64, all zero; the name is copied */
  loom_status (*buf_new)(const loom_host *h, const char *name, int type, int64_t count,
                         loom_buf **out);
  loom_status (*buf_resize)(const loom_host *h, loom_buf *b, int64_t count); /* contents kept */
  void (*buf_free)(const loom_host *h, loom_buf *b);                         /* NULL is fine */
  int64_t (*buf_count)(const loom_host *h, const loom_buf *b);
  /* the first items, as many as the shorter one has; of the same type */
  loom_status (*buf_copy)(const loom_host *h, const loom_exec *e, loom_buf *dst,
                          const loom_buf *src);
  /* Any number of readers or one writer; every map needs its unmap before the
   * callback returns LOOM_OK or an outcome (the core checks); after an error the
   * core releases what is left mapped.  The pointer is dead after unmap. */
  loom_status (*map)(const loom_host *h, const loom_exec *e, loom_buf *b, int access, int place,
                     void **p);
  loom_status (*unmap)(const loom_host *h, loom_buf *b);

  /* ---- problems (solvers, and contact->resolve) ----
   * `p` says which one: step->problem or another, see scene.h.  A solver gets only what its `needs`
   * declare of the terms in p: the fit test looks for nothing else.
   * x, d, grad, Hd, rhs are real [n][3].  What comes out through a pointer to a struct belongs to
   * the core and is valid until the next call of the same service.  Fixed vertices: their rows of
   * a gradient are zero; in hessian(), hess_apply() and pd_operator() their rows and columns are
   * those of the unit matrix. */
  /* grad is overwritten.  LOOM_REJECTED: x is infeasible for the contact model, values are NaN */
  loom_status (*eval)(const loom_host *h, const loom_problem *p, loom_buf *x, int what,
                      loom_energies *e, loom_buf *grad);
  loom_status (*hessian)(const loom_host *h, const loom_problem *p, loom_buf *x, int how,
                         const loom_bsr3 **H);
  loom_status (*hess_apply)(const loom_host *h, const loom_problem *p, loom_buf *x, int how,
                            loom_buf *d, loom_buf *Hd); /* matrix-free */
  /* for solvers that assemble themselves: dense Hessians of elements of one block, `count` from
   * `first` on, with their damping in the step's problem, real [count][3a][3a], N/m, and the blocks
   * of contact */
  loom_status (*elem_hessians)(const loom_host *h, int block, int32_t first, int32_t count,
                               loom_buf *x, int how, loom_buf *out);
  loom_status (*contact_hessian)(const loom_host *h, const loom_problem *p, loom_buf *x, int how,
                                 const loom_blocks3 **out);
  /* projective form: constant operator, local step; contact, if it is in p, is left out.  Rows and
   * columns of fixed vertices are unit: on free rows the right-hand side is M y/h^2 + sum w A'p
   * less what fixed vertices contribute, on fixed rows it is x, so that L x - rhs is the gradient
   * without contact at x, zero on fixed rows. */
  loom_status (*pd_operator)(const loom_host *h, const loom_problem *p, const loom_csr **L);
  loom_status (*pd_rhs)(const loom_host *h, const loom_problem *p, loom_buf *x, loom_buf *rhs);
  /* contact as quadratic terms, as the models give them at x */
  loom_status (*contact_quad)(const loom_host *h, loom_buf *x, const loom_quad **out);
  /* linearise contact at x, for problems with LOOM_CONTACT_FROZEN; the epoch grows.  share: of its
   * energy, in [0, 1]; 1 is what the core itself begins a step with; 0: none of it */
  loom_status (*freeze_contact)(const loom_host *h, loom_buf *x, double share);

  /* ---- collision services (contact->resolve, solvers that need them) ---- */
  loom_status (*detect)(const loom_host *h, const loom_query *q, const loom_pairs **out);
  loom_status (*max_step)(const loom_host *h, loom_buf *x0, loom_buf *x1, loom_bound *out);
  /* index of the old pair with the same key, -1 if new: carries state over.  old_key is ascending
   */
  loom_status (*match_keys)(const loom_host *h, const loom_exec *e, loom_buf *old_key,
                            int64_t n_old, loom_buf *new_key, int64_t n_new, loom_buf *old_index);

  /* ---- primitives, CPU and CUDA, deterministic when exec says so ---- */
  /* Vectors are whole buffers of reals of equal length. */
  loom_status (*dot)(const loom_host *h, const loom_exec *e, loom_buf *a, loom_buf *b,
                     double *out); /* a . b; waits for the device */
  /* out[i] = a[i] . b[i], i < n <= LOOM_NUM_RESULTS; waits once */
  loom_status (*dots)(const loom_host *h, const loom_exec *e, int n, loom_buf *const *a,
                      loom_buf *const *b, double *out);
  /* all items of a buffer of reals = value */
  loom_status (*fill)(const loom_host *h, const loom_exec *e, loom_buf *x, double value);
  /* y = a x + b y; with b = 0 y is overwritten, whatever it held, also NaN */
  loom_status (*axpby)(const loom_host *h, const loom_exec *e, double a, loom_buf *x, double b,
                       loom_buf *y);
  loom_status (*norm_max3)(const loom_host *h, const loom_exec *e, loom_buf *x,
                           double *out); /* length of the longest row of [n][3] */
  loom_status (*spmv_bsr3)(const loom_host *h, const loom_exec *e, const loom_bsr3 *A, loom_buf *x,
                           loom_buf *y); /* y = A x, [n][3] */
  /* exclusive sums of i64 [m]; out i64 [m+1].  *total: the last one; it waits for the device; NULL:
   * not wanted */
  loom_status (*scan_i64)(const loom_host *h, const loom_exec *e, loom_buf *in, loom_buf *out,
                          int64_t *total);
  loom_status (*sort_u64)(const loom_host *h, const loom_exec *e, loom_buf *key,
                          loom_buf *perm); /* stable; key u64 [m] sorted in place, perm i32 [m] */

  /* ---- record of the run ---- */
  /* An inner iteration's own residual; cheap, called as often as it iterates. */
  void (*inner)(const loom_host *h, int32_t k, int norm, double value);
  void (*count)(const loom_host *h, int counter, int64_t n); /* [any] */
  void (*tic)(const loom_host *h, const char *section);      /* static string; nests */
  void (*toc)(const loom_host *h, const char *section);

  /* In checkpoint(): write the named buffer (restore = 0) or read it back, resized. */
  loom_status (*state_io)(const loom_host *h, int restore, const char *name, loom_buf *b);

  /* ---- bodies, CPU and CUDA ---- */
  /* At `progress` of the step's prescribed motion (loom_step.progress). */
  loom_status (*body_gap)(const loom_host *h, const loom_exec *e, const loom_body_rows *r,
                          double progress, const loom_body_gap *out);
  loom_status (*body_impact)(const loom_host *h, const loom_exec *e, const loom_body_rows *r,
                             const loom_body_path *path);
  /* out, real [.][3], m, row by row: where what belongs to the body and is at x at progress0 is at
   * progress1; x itself, to the bit, if the body does not move in this step. */
  loom_status (*body_carry)(const loom_host *h, const loom_exec *e, const loom_body_rows *r,
                            double progress0, double progress1, loom_buf *out);
  /* In velocity(): the impulse, real [.][3], N s, that each row gives its body at x, at the end of
   * the step, and the mass behind it, real [.], kg.  Sums are in a fixed order; what is given to
   * bodies of prescribed motion is nobody's. */
  loom_status (*body_push)(const loom_host *h, const loom_exec *e, const loom_body_rows *r,
                           loom_buf *impulse, loom_buf *mass);

  /* ---- numbers that can wait ---- */
  /* Numbers for the log, or for the next iteration: real b[0 .. n), n from 1 to 8, go to out when
   * the core waits for the device anyway, at the end of the iteration at the latest, and then
   * `then` is called with `user` (NULL: nothing).  On the CPU at once.  b may be written again; out
   * and user live until then: they belong to the instance or to what the callback was given.  In
   * eval() and metrics() for everything they return, as nobody looks at it before.  [step] */
  loom_status (*fetch_later)(const loom_host *h, const loom_exec *e, loom_buf *b, int n,
                             double *out, void (*then)(void *user), void *user);

  /* ---- some elements at a time, for methods that go through vertices or elements in an order of
   * their own, such as colours of a graph; CPU and CUDA.  Rows of fixed vertices are not zero.  A
   * pass over a list, from row 0 on, counts as one evaluation for each time it names an element,
   * by the first block.  Scenes with stiffness_damping are refused. ---- */
  /* gradients of elements, real [.][a][3], N; of types with a projective form */
  loom_status (*elem_gradients)(const loom_host *h, const loom_elem_rows *r, loom_buf *x,
                                loom_buf *grad);
  /* of corners: their row of the element's gradient, real [.][3], N, and the diagonal block of its
   * Hessian, real [.][3][3], N/m */
  loom_status (*elem_corners)(const loom_host *h, const loom_elem_rows *r, loom_buf *x, int how,
                              loom_buf *grad, loom_buf *diag);
  /* w A'A of the projective form of all elements of a block, real [ne][a][a], N/m */
  loom_status (*elem_weights)(const loom_host *h, int block, loom_buf *out);
};

/* With LOOM_E_DEVICE the core adds which kernel failed and what CUDA said (loom_exec.why). */
#define LOOM_FAIL(h, code, ...) ((h)->fail((h), (code), __FILE__, __LINE__, __func__, __VA_ARGS__))
#define LOOM_CHECK(h, cond, code, ...)                   \
  do {                                                   \
    if (!(cond)) return LOOM_FAIL(h, code, __VA_ARGS__); \
  } while (0)
/* Return errors to the caller, let outcomes (> 0) through as well. */
#define LOOM_TRY(call)             \
  do {                             \
    const loom_status s_ = (call); \
    if (s_ != LOOM_OK) return s_;  \
  } while (0)

#endif /* LOOM_HOST_H */
