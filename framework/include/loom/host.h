/* loom/host.h - services the core offers to plugins, as one function table.
 *
 * A plugin links against nothing of the core: create() gives it this table, and the plugin keeps
 * the pointer until destroy().  Every function takes the table first.  All are [step] unless marked
 * [any].
 *
 * Errors: a service returns LOOM_OK, an outcome that its comment names, or an error, of which the
 * core keeps the message; the plugin returns that status from its callback.  LOOM_E_ARG: an
 * argument is NULL, has the wrong type or length, or lies out of range.  LOOM_E_STATE: the call is
 * out of order, or the plugin does not declare the capability.  LOOM_E_NOMEM and LOOM_E_DEVICE may
 * come from every service.
 */
#ifndef LOOM_HOST_H
#define LOOM_HOST_H

#include "param.h"
#include "scene.h"

typedef struct loom_host loom_host;

enum { LOOM_LOG_ERROR = 0, LOOM_LOG_WARN = 1, LOOM_LOG_INFO = 2, LOOM_LOG_DEBUG = 3 };

/* eval(): outputs to compute at a point */
enum { LOOM_EVAL_ENERGY = 1, LOOM_EVAL_GRADIENT = 2 };
typedef struct loom_energies { /* J; NaN: a term has no potential; 0: the problem lacks the term */
  double inertia, elastic, contact, dissipation, total;
} loom_energies;

/* hessian(): treatment of element and contact blocks.  LOOM_HESS_EXPANSION is for contact models
 * and comes from the core alone, when it freezes contact (LOOM_EXPAND_STEP in scene.h).  Blocks of
 * normal forces are as with LOOM_HESS_PSD_CLAMP, but pairs of vertices leave out the curvature of
 * their distance: made semidefinite it is a spring along the plane, which drags through the step.
 * Friction gives a secant instead of its Hessian: at the start of the step the slip is zero, and
 * the Hessian there would hold vertices that slide later in the step.
 *
 * LOOM_HESS_NARROW is a flag of hessian() beside one of the first three: elements of more than 4
 * vertices (LOOM_ELEM_SMALL) give a positive semidefinite matrix in place of their Hessian, with
 * couplings between the vertices of a hinge alone.  The blocks that only their Hessian has
 * are zero, as far as neither contact nor damping has them.  For matrices of quasi-Newton methods:
 * the matrix is no derivative of the gradient. */
enum {
  LOOM_HESS_EXACT = 0,
  LOOM_HESS_PSD_CLAMP = 1,
  LOOM_HESS_PSD_ABS = 2,
  LOOM_HESS_EXPANSION = 3,
  LOOM_HESS_NARROW = 8
};

/* Work counters, to compare costs between solvers and machines.  X(with, NAME, column, unit, doc):
 * host->count() takes LOOM_C_<NAME>, the tables /steps and /iters of a log have the column.  `with`
 * is passed through to X. */
#define LOOM_COUNTERS(X, with)                                                        \
  X(with, ENERGY, n_energy, "1", "energy evaluations")                                \
  X(with, GRADIENT, n_gradient, "1", "gradient evaluations")                          \
  X(with, HESSIAN, n_hessian, "1", "Hessian assemblies")                              \
  X(with, SPMV, n_spmv, "1", "sparse matrix-vector products")                         \
  X(with, FACTORISE, n_factorise, "1", "numeric factorisations")                      \
  X(with, TRISOLVE, n_trisolve, "1", "triangular solves, one per right-hand side")    \
  X(with, PROJECT, n_project, "1", "local steps over all elements")                   \
  X(with, DETECT, n_detect, "1", "collision detections")                              \
  X(with, CCD_PAIR, n_ccd_pair, "1", "pairs given to continuous collision detection") \
  X(with, LAUNCH, n_launch, "1", "kernel launches")                                   \
  X(with, BYTES, n_bytes, "B", "bytes that kernels and factors move, as they declare it")
#define LOOM_COUNTER_CONSTANT_(with, name, column, unit, doc) LOOM_C_##name,
enum { LOOM_COUNTERS(LOOM_COUNTER_CONSTANT_, ) LOOM_NUM_COUNTERS };

/* norms of inner (linear or local) iterations, reported by the plugin */
enum {
  LOOM_NORM_RESIDUAL_2 = 0,
  LOOM_NORM_PRECONDITIONED = 1,
  LOOM_NORM_ENERGY = 2,
  LOOM_NORM_UPDATE_MAX = 3
};

/* Request to the collision plugins: contact->plan() fills it, detect() reads it. */
enum { LOOM_DETECT_PROXIMITY = 1, LOOM_DETECT_CCD = 2, LOOM_DETECT_OVERLAP = 4 };
typedef struct loom_query {
  uint32_t struct_size;
  /* For plan() the core presets: what = 0, kinds = the kinds that the model handles in this run,
   * margin = 0, x0 = x1 = loom_step.x, mask = exclude = NULL.  A caller of host->detect() sets all
   * members itself. */
  uint32_t what;  /* LOOM_DETECT_*; 0: skip detection, keep the present pairs */
  uint32_t kinds; /* LOOM_BIT(LOOM_PAIR_*) of each requested kind */
  int32_t reserved;
  loom_real margin;  /* m, report pairs with gap below this */
  loom_buf *x0, *x1; /* real [n][3]: proximity at x0; CCD from x0 to x1; for plan() the core
                      * presets both to step->x */
  loom_buf *mask;    /* u8 [n] or NULL: only pairs that contain a marked vertex */
  loom_buf *exclude; /* u64 [.] ascending keys of pairs that are not reported, or NULL.  For yarns a
                      * key is a box of quadrature points (geom/yarn.kern.h), u to u + nu and v to
                      * v + nv: u << 40 | v << 16 | nu << 8 | nv */
  /* Share of the step's prescribed motion that the bodies have done (loom_step.progress): at x0,
   * and for CCD at x1.  For plan() the core presets both to loom_step.progress. */
  double progress0, progress1;
} loom_query;

/* Bound of a move: x0 + t (x1 - x0) has no new intersection for t up to the bound. */
typedef struct loom_bound {
  uint32_t struct_size;
  int32_t per_vertex; /* in: 1: a bound per vertex is requested, too */
  double t_global;    /* out: in [0,1] */
  /* out: real [n] in [0,1], written if per_vertex.  With any share from 0 to t_vertex[i] for each
   * vertex i, and any from 0 to t_global for bodies and prescribed vertices, no new intersection
   * appears; t_global is then the least share of all of them. */
  loom_buf *t_vertex;
  double min_gap; /* in: m, gap that must remain at x0 + t (x1 - x0); host->max_step() raises it
                     to [filter] min_gap */
  /* in: as in loom_query; at t the bodies stand at progress0 + t (progress1 - progress0) */
  double progress0, progress1;
  int32_t blocker; /* out: index of the obstacle that sets t_global; -1 (preset): none does */
  /* out: 1: some pair touches within rounding already at x0.  No step can part such a pair, so it
   * bounds nothing.  0 (preset): no such pair */
  int32_t touching;
  uint32_t kinds; /* in: LOOM_BIT(LOOM_PAIR_*) of the kinds that contact models take from this
                   * plugin; elements of a kind that no model moves away need not be bounded.  0:
                   * all.  The core sets it for each plugin. */
  int32_t reserved;
} loom_bound;

/* Islands of the present iteration.  They merge within a step where objects come near each other,
 * never part: an equal `num` in one step means the same islands. */
enum { LOOM_ISLANDS_MOST = 8 };
typedef struct loom_islands {
  uint32_t struct_size;
  int32_t num; /* from 1 to LOOM_ISLANDS_MOST */
  const int32_t
      *of; /* [num_objects] the island of each object; NULL if num = 1 in a scene of one */
  /* [num], in accepted() with num > 1, else NULL: loom_accept.alpha and .toi of each island */
  const double *alpha, *toi;
  /* [num], with num > 1, else NULL.  1: an iteration before this one left the island within its
   * tolerance.  Alone its step would have ended there, so a weight that grows from iteration to
   * iteration has to stay. */
  const int32_t *settled;
} loom_islands;

/* Rows of the services on bodies: each row i, first <= i < first + count, pairs a body and a point.
 * The caller owns the buffers; inputs and outputs of a service share the row numbers. */
typedef struct loom_body_rows {
  uint32_t struct_size;
  int32_t stride;       /* items per row of `point`; the first item of a row is its point */
  int64_t first, count; /* rows to compute; other rows of the outputs stay unchanged */
  loom_buf *body;       /* i32 [.]: index of the obstacle; -1: the row is skipped.  NULL: all bodies
                         * with all points, body by body; row `first` is then number `pair` of these
                         * pairs */
  loom_buf *point;      /* i32 [.][stride]: a row of x; NULL: row i has point i */
  loom_buf *x;          /* real [.][3], m */
  int64_t pair;         /* from 0 */
} loom_body_rows;

/* Outputs of body_gap(), buffers of the caller; NULL: not computed.  A body without a distance
 * gives the gap LK_REAL_MAX and zeros. */
typedef struct loom_body_gap {
  uint32_t struct_size;
  uint32_t precise;    /* 1: gaps to the last digit, as step bounds need; 0: gaps of neural fields,
                        * evaluated for many points at once, in single precision */
  loom_buf *gap;       /* real [.], m, negative inside; the point has no radius */
  loom_buf *normal;    /* real [.][3], unit, outward */
  loom_buf *gradient;  /* real [.][3], 1: gradient of `gap`; its length is not 1 on grids */
  loom_buf *curvature; /* real [.][3][3], 1/m: second derivatives of `gap` */
  /* in, or NULL: gaps of an earlier call, which spare evaluations.  They are read only if `gap` is
   * the only output and `body` is NULL.
   *   known_gap  real [pairs], m, gaps of all pairs with the points at known_x and the bodies as
   *              they stand at `progress` now
   *   known_x    real [.][3], m, in the rows of x
   *   radius     real [.], m, of the points
   * A point's distance from known_x, times the body's bound of the slope, bounds how far its gap
   * has fallen.  If the gap then still exceeds radius + enough, this lower bound is the output, and
   * the body is not evaluated.  The bound of a neural field's slope comes from samples, and
   * `enough` (m) must be less than the distance at which the field's output is clamped. */
  loom_buf *known_gap, *known_x, *radius;
  double enough;
} loom_body_gap;

/* Input and output of body_impact(): points move from x to x1 while the bodies move from progress0
 * to progress1.  The caller owns the buffers. */
typedef struct loom_body_path {
  uint32_t struct_size;
  int32_t max_iters; /* advances of one search; at the limit the rest of the way is blocked */
  double progress0, progress1; /* as in loom_query */
  loom_buf *x1;                /* real [.][3], m, in the rows of x */
  loom_buf *radius;            /* real [.], m, radius of each point */
  loom_buf *floor, *tol;       /* real [.] per row, m: floor is the gap that counts as an impact,
                                * tol is added to it; tol < 0: the row is not searched */
  loom_buf *toi;               /* out: real [.] in [0, 1], never later than the impact; 2: none */
  loom_buf *gap, *normal, *point; /* out, or NULL: real [.], m; real [.][3]; real [.][3], m; written
                                   * for rows with an impact: gap of x1 above the plane of impact,
                                   * which moves on with the body, and the plane's normal and point,
                                   * both at progress1 */
  loom_buf *weight; /* out of body_near_impact(), or NULL: real [.][4], written for rows with an
                     * impact: as loom_body_near.weight, where the element then is */
} loom_body_path;

/* Outputs of body_near(), buffers of the caller; NULL: not computed.  A row is an element: the
 * first three items of its `point` are its corners, {a, b, c} a triangle, {a, b, -1} an edge,
 * {a, -1, -1} a vertex.  A body without a closed form (grid, field, mesh) gives the gap
 * LK_REAL_MAX, the weights {1, 0, 0, 0} and zeros. */
typedef struct loom_body_near {
  uint32_t struct_size;
  uint32_t reserved;
  loom_buf *gap;       /* real [.], m, the least signed distance over the element, which has no
                        * radius; to 1e-9 of its longest edge, of a torus to 1e-6 */
  loom_buf *weight;    /* real [.][4], 1, >= 0, sum 1: weights of the corners at the point of least
                        * distance, the fourth 0.  Of an edge with a part equally deep: its middle */
  loom_buf *normal;    /* real [.][3], unit, outward, at that point */
  loom_buf *gradient;  /* real [.][3], 1: gradient of the body's distance at that point */
  loom_buf *curvature; /* real [.][3][3], 1/m: second derivatives of the body's distance there */
  loom_buf *flat;      /* real [.], m: how far each corner may move while the element stays over one
                        * flat face of the body, so that a corner is its deepest point; 0: it is not
                        * over one */
} loom_body_near;

/* Elements of a block in an order that the plugin chooses: row i, first <= i < first + count, names
 * an element and, for elem_corners(), one of its corners.  The caller owns the buffers. */
typedef struct loom_elem_rows {
  uint32_t struct_size;
  int32_t block;
  int64_t first, count;
  int64_t to; /* row of the output for row `first`; rows outside [to, to + count) stay unchanged */
  loom_buf *elem;   /* i32 [.], 0 to num_elems - 1, not checked; may repeat */
  loom_buf *corner; /* i32 [.], 0 to arity - 1, not checked; NULL for elem_gradients() */
} loom_elem_rows;

struct loom_host {
  uint32_t struct_size;
  uint16_t abi_major, abi_minor;
  void *core; /* opaque */

  /* ---- errors and messages [any] ---- */
  /* Records a message with its place and returns `code`; call it by the macros below. */
  loom_status (*fail)(const loom_host *host, loom_status code, const char *file, int line,
                      const char *func, const char *fmt, ...) LOOM_PRINTF(6, 7);
  /* Message to the terminal; errors and warnings also into /messages of the log. */
  void (*log)(const loom_host *host, int level, const char *fmt, ...) LOOM_PRINTF(3, 4);

  /* ---- memory ---- */
  /* A buffer made here belongs to the instance.  The core frees it after destroy(); buf_free() is
   * for a buffer that is no longer needed, for instance one that every step makes anew.  Buffers
   * received in structs belong to the core: never free or resize them. */
  /* `count` items of LOOM_REAL ... LOOM_U64, all zero; the name is copied */
  loom_status (*buf_new)(const loom_host *host, const char *name, int type, int64_t count,
                         loom_buf **out);
  loom_status (*buf_resize)(const loom_host *host, loom_buf *b,
                            int64_t count); /* contents kept; all maps must have ended */
  void (*buf_free)(const loom_host *host, loom_buf *b); /* NULL is fine */
  int64_t (*buf_count)(const loom_host *host, const loom_buf *b);
  /* copies the first items, as many as the shorter buffer has; both have one type */
  loom_status (*buf_copy)(const loom_host *host, const loom_exec *e, loom_buf *dst,
                          const loom_buf *src);
  /* Any number of readers or one writer; every map needs its unmap before the
   * callback returns LOOM_OK or an outcome (the core checks); after an error the
   * core releases the maps that are left.  The pointer is dead after unmap. */
  loom_status (*map)(const loom_host *host, const loom_exec *e, loom_buf *b, int access, int place,
                     void **p);
  loom_status (*unmap)(const loom_host *host, loom_buf *b);

  /* ---- problems (solvers, and contact->resolve) ---- */
  /* `p` is the problem: step->problem or another, see scene.h.  A solver may use only the terms and
   * derivatives that its `needs` declare (else LOOM_E_STATE): the fit test relies on them.
   * x, d, grad, Hd, rhs are real [n][3].  A struct returned through a pointer belongs to the core
   * and is valid until the next call of the same service.  Fixed vertices: their rows of
   * a gradient are zero; in hessian(), hess_apply() and pd_operator() their rows and columns are
   * those of the unit matrix. */
  /* what: LOOM_EVAL_*, decides which of e and grad are written; the other may be NULL.
   * LOOM_REJECTED: x is infeasible for the contact model, values are NaN */
  loom_status (*eval)(const loom_host *host, const loom_problem *p, loom_buf *x, int what,
                      loom_energies *e, loom_buf *grad);
  /* the Hessian at x, N/m; how: LOOM_HESS_EXACT, _PSD_CLAMP or _PSD_ABS, also | LOOM_HESS_NARROW */
  loom_status (*hessian)(const loom_host *host, const loom_problem *p, loom_buf *x, int how,
                         const loom_bsr3 **H);
  /* Hd = Hessian at x times d, matrix-free */
  loom_status (*hess_apply)(const loom_host *host, const loom_problem *p, loom_buf *x, int how,
                            loom_buf *d, loom_buf *Hd);
  /* for solvers that assemble the matrix themselves: out, real [count][3a][3a], N/m, dense Hessians
   * of elements `first` to first + count - 1 of a block, damping included */
  loom_status (*elem_hessians)(const loom_host *host, int block, int32_t first, int32_t count,
                               loom_buf *x, int how, loom_buf *out);
  /* the same for contact: blocks of the contact term of p at x */
  loom_status (*contact_hessian)(const loom_host *host, const loom_problem *p, loom_buf *x, int how,
                                 const loom_blocks3 **out);
  /* projective form: constant operator and right-hand side of the local step; a contact term of p
   * is left out.  Rows and columns of fixed vertices are unit: on free rows the right-hand side is
   * M y/h^2 + sum w A'p minus the contribution of fixed vertices, on fixed rows it is x, so that
   * L x - rhs is the gradient without contact at x, zero on fixed rows. */
  loom_status (*pd_operator)(const loom_host *host, const loom_problem *p, const loom_csr **L);
  loom_status (*pd_rhs)(const loom_host *host, const loom_problem *p, loom_buf *x, loom_buf *rhs);
  /* contact as quadratic terms, made by the contact models at x */
  loom_status (*contact_quad)(const loom_host *host, loom_buf *x, const loom_quad **out);
  /* linearise contact at x, for problems with LOOM_CONTACT_FROZEN; the epoch grows.  share in [0,
   * 1] scales the linearised contact; the core itself starts a step with 1; 0 removes contact */
  loom_status (*freeze_contact)(const loom_host *host, loom_buf *x, double share);

  /* ---- collision services (contact->resolve, solvers that need them) ---- */
  /* pairs for q: a contact model gets them from its own collision plugins, a solver from all */
  loom_status (*detect)(const loom_host *host, const loom_query *q, const loom_pairs **out);
  /* the smallest bound of all collision plugins for the move from x0 to x1, real [n][3] */
  loom_status (*max_step)(const loom_host *host, loom_buf *x0, loom_buf *x1, loom_bound *out);
  /* old_index, i32 [n_new]: index of the old pair with the same key, -1 if the pair is new; carries
   * state over.  old_key u64 [n_old] is ascending, new_key u64 [n_new] */
  loom_status (*match_keys)(const loom_host *host, const loom_exec *e, loom_buf *old_key,
                            int64_t n_old, loom_buf *new_key, int64_t n_new, loom_buf *old_index);

  /* ---- primitives, CPU and CUDA, deterministic when exec says so ---- */
  /* Vectors are whole buffers of reals of equal length. */
  loom_status (*dot)(const loom_host *host, const loom_exec *e, loom_buf *a, loom_buf *b,
                     double *out); /* a . b; waits for the device */
  /* out[i] = a[i] . b[i], i < n <= LOOM_NUM_RESULTS; waits for the device once */
  loom_status (*dots)(const loom_host *host, const loom_exec *e, int n, loom_buf *const *a,
                      loom_buf *const *b, double *out);
  /* all items of a buffer of reals = value */
  loom_status (*fill)(const loom_host *host, const loom_exec *e, loom_buf *x, double value);
  /* y = a x + b y; with b = 0 y is overwritten, even where it held NaN */
  loom_status (*axpby)(const loom_host *host, const loom_exec *e, double a, loom_buf *x, double b,
                       loom_buf *y);
  loom_status (*norm_max3)(const loom_host *host, const loom_exec *e, loom_buf *x,
                           double *out); /* length of the longest row of [n][3] */
  loom_status (*spmv_bsr3)(const loom_host *host, const loom_exec *e, const loom_bsr3 *A,
                           loom_buf *x, loom_buf *y); /* y = A x, [n][3] */
  /* exclusive sums of i64 [m]; out i64 [m+1].  *total: the last sum, for which the call waits for
   * the device; NULL: not requested */
  loom_status (*scan_i64)(const loom_host *host, const loom_exec *e, loom_buf *in, loom_buf *out,
                          int64_t *total);
  loom_status (*sort_u64)(const loom_host *host, const loom_exec *e, loom_buf *key,
                          loom_buf *perm); /* stable; key u64 [m] sorted in place, perm i32 [m] */

  /* ---- record of the run ---- */
  /* Logs iteration k of an inner loop: its residual in LOOM_NORM_* `norm`; cheap enough for every
   * iteration. */
  void (*inner)(const loom_host *host, int32_t k, int norm, double value);
  /* adds n to the work counter LOOM_C_*  [any] */
  void (*count)(const loom_host *host, int counter, int64_t n);
  /* wall and processor time from tic to toc go to /sections; static string; sections nest */
  void (*tic)(const loom_host *host, const char *section);
  void (*toc)(const loom_host *host, const char *section);

  /* Only in checkpoint(): writes the named buffer (restore = 0), or resizes it and reads it back */
  loom_status (*state_io)(const loom_host *host, int restore, const char *name, loom_buf *b);

  /* ---- bodies, CPU and CUDA ---- */
  /* Distances of points from bodies, which stand at `progress` of the step's prescribed motion
   * (loom_step.progress). */
  loom_status (*body_gap)(const loom_host *host, const loom_exec *e, const loom_body_rows *r,
                          double progress, const loom_body_gap *out);
  /* First impact of moving points with moving bodies. */
  loom_status (*body_impact)(const loom_host *host, const loom_exec *e, const loom_body_rows *r,
                             const loom_body_path *path);
  /* out, real [.][3], m, row by row: a point fixed to the body that is at x at progress0 is at
   * `out` at progress1; out = x, to the bit, if the body does not move in this step. */
  loom_status (*body_carry)(const loom_host *host, const loom_exec *e, const loom_body_rows *r,
                            double progress0, double progress1, loom_buf *out);
  /* In velocity(): impulse, real [.][3], N s, that each row gives to its body at x at the end of
   * the step, and mass, real [.], kg, of the vertices that give it.  Sums are in a fixed order;
   * rows of bodies with prescribed motion are ignored. */
  loom_status (*body_push)(const loom_host *host, const loom_exec *e, const loom_body_rows *r,
                           loom_buf *impulse, loom_buf *mass);

  /* ---- numbers that can wait ---- */
  /* Copies the reals b[0] ... b[n - 1], n from 1 to 8, to out [n] without waiting for the device:
   * the core copies them when it next waits for other reasons, at the latest at the end of the
   * iteration, and then calls then(user); `then` may be NULL.  On the CPU both happen at once.  b
   * may be overwritten after the call.  out and user must live until then: they belong to the
   * instance or to the arguments of the callback.  eval() and metrics() may return all their
   * numbers in this way, because the core reads them no earlier. */
  loom_status (*fetch_later)(const loom_host *host, const loom_exec *e, loom_buf *b, int n,
                             double *out, void (*then)(void *user), void *user);

  /* ---- some elements at a time, for methods that visit vertices or elements in an order of their
   * own, for example by colours of a graph; CPU and CUDA.  Rows of fixed vertices are not zero. The
   * work counters charge a pass over the list of the first block, from row 0 on, as one evaluation
   * for each time that it names an element.  LOOM_E_UNSUPPORTED: the scene has stiffness_damping.
   * ---- */
  /* grad: gradients of elements, real [.][a][3], N; only for types with a projective form */
  loom_status (*elem_gradients)(const loom_host *host, const loom_elem_rows *r, loom_buf *x,
                                loom_buf *grad);
  /* one row per corner: grad, its row of the element's gradient, real [.][3], N; diag, the diagonal
   * block of the element's Hessian, real [.][3][3], N/m */
  loom_status (*elem_corners)(const loom_host *host, const loom_elem_rows *r, loom_buf *x, int how,
                              loom_buf *grad, loom_buf *diag);
  /* out: w A'A of the projective form of all elements of a block, real [ne][a][a], N/m */
  loom_status (*elem_weights)(const loom_host *host, int block, loom_buf *out);

  /* ---- islands: groups of objects that cannot touch in this step; CPU and CUDA ---- */
  /* In iterate() and accepted(), and in update() and resolve() of contact.  A step length, a
   * tolerance or a history of the whole scene would let one island decide on the way of another;
   * the core's line search and step bound are those of each island.  Where a solver asks for the
   * islands, one that meets its tolerance stays in place until another test of it fails or the step
   * ends: x and the gradient of its rows do not change, and accepted() tells alpha = 1. */
  loom_status (*islands)(const loom_host *host, loom_islands *out);
  /* out [num]: the dot product of each island's rows of a and b, real [n][3] */
  loom_status (*dot_islands)(const loom_host *host, const loom_exec *e, loom_buf *a, loom_buf *b,
                             double *out);
  /* y = a x + b y, a [num] the factor of each island, x and y real [n][3]; with b = 0 the old y has
   * no effect */
  loom_status (*axpby_islands)(const loom_host *host, const loom_exec *e, const double *a,
                               loom_buf *x, double b, loom_buf *y);

  /* ---- edges and triangles against bodies, CPU and CUDA: r->body and r->point are given, with
   * stride >= 3; bodies of closed form only (LOOM_ELEMENTS_*) ---- */
  /* Least distances of elements from bodies, which stand at `progress`. */
  loom_status (*body_near)(const loom_host *host, const loom_exec *e, const loom_body_rows *r,
                           double progress, const loom_body_near *out);
  /* First impact of elements, with corners that move, with moving bodies.  The radius of an element
   * is that of its first corner; `gap` is that of the point of least distance at the impact. */
  loom_status (*body_near_impact)(const loom_host *host, const loom_exec *e,
                                  const loom_body_rows *r, const loom_body_path *path);
};

/* With LOOM_E_DEVICE the core adds the kernel's name and the text of CUDA's error (loom_exec.why).
 */
#define LOOM_FAIL(h, code, ...) ((h)->fail((h), (code), __FILE__, __LINE__, __func__, __VA_ARGS__))
#define LOOM_CHECK(h, cond, code, ...)                   \
  do {                                                   \
    if (!(cond)) return LOOM_FAIL(h, code, __VA_ARGS__); \
  } while (0)
/* Returns every status but LOOM_OK to the caller: errors, and outcomes (> 0) as well. */
#define LOOM_TRY(call)             \
  do {                             \
    const loom_status s_ = (call); \
    if (s_ != LOOM_OK) return s_;  \
  } while (0)

#endif /* LOOM_HOST_H */
