/* loom/plugin.h - the three plugin kinds and the one symbol a .so exports. */
#ifndef LOOM_PLUGIN_H
#define LOOM_PLUGIN_H

#include "exclusions.h"
#include "followers.h"
#include "host.h"
#include "material.h"
#include "pair_friction.h"

enum { LOOM_KIND_SOLVER = 0, LOOM_KIND_COLLISION = 1, LOOM_KIND_CONTACT = 2, LOOM_NUM_KINDS = 3 };

/* ======================================================================== */
/* Life of an instance, all kinds alike, all [step]:
 *
 *   create -> { begin_step -> ... phase calls ... -> end_step }* -> destroy
 *
 * Phases of a step: PREDICT sets the target y and calls begin_step(); DETECT finds pairs for the
 * contact models; then for each iteration ITERATE (the solver's trial), FILTER (line search, step
 * bound, resolve(): from the trial to the accepted point) and MEASURE (residual, log); at the end
 * COMMIT (velocities, end_step()).  framework/doc/architecture.md has them in full.
 *
 * reset() may come between steps: the state was changed from outside, so the plugin drops its
 * history.  checkpoint() may come between steps: the plugin passes all data that outlives a step
 * to host->state_io(), so that a restart, and a replay of the run, continue bit for bit.
 * After an error the core calls only destroy().  Two instances never share mutable state: no
 * globals, no statics (constant tables are fine).  A callback is never entered twice at once;
 * inside it a plugin may use OpenMP with exec->num_threads and the CUDA stream exec->stream, and
 * must not call cudaSetDevice, cudaDeviceSynchronize, cudaDeviceReset, omp_set_num_threads, fork,
 * signal, exit, abort or setlocale, nor print.  Allocation belongs in create() and begin_step(),
 * not in the iteration calls.
 *
 * Every member of the three function tables is [required], or [optional: meaning of NULL].  A
 * capability in `provides` or another member may require an optional member as well; the core
 * refuses a plugin that lacks a required member.
 *
 * Callbacks return LOOM_OK or an error; the comment of a callback names the outcomes that it may
 * return besides.  The core refuses any other status, maps that are left, and results out of their
 * range, with the names of plugin and callback, the step and the iteration. */
/* ======================================================================== */

/* ---- capabilities ----
 * X(NAME, bit, words, member): messages call the capability `words`.  A plugin that has it must set
 * `member` of its function table; `create`, which every plugin sets, stands where no further member
 * is required.  The core makes its constants, checks and messages of these lists, and the tests. */
#define LOOM_CAP_CONSTANT_(name, bit, words, member) name = (bit),
#define LOOM_CAP_OR_(name, bit, words, member)       | (bit)
#define LOOM_CAPS_ALL(LIST)                          (UINT32_C(0) LIST(LOOM_CAP_OR_)) /* all bits */

/* needs of a solver from elements and from the contact model */
#define LOOM_SOLVER_NEEDS(X)                                                                    \
  X(LOOM_NEED_ELEM_ENERGY, 0x1, "element energy", create)                                       \
  X(LOOM_NEED_ELEM_GRADIENT, 0x2, "element gradient", create)                                   \
  X(LOOM_NEED_ELEM_HESSIAN, 0x4, "element Hessian", create)                                     \
  X(LOOM_NEED_ELEM_PROJECT, 0x8, "element projection", create)                                  \
  X(LOOM_NEED_ELEM_SMALL, 0x10, "elements of 4 vertices at most", create)                       \
  X(LOOM_NEED_CONTACT_ENERGY, 0x100, "contact energy", create)                                  \
  X(LOOM_NEED_CONTACT_GRADIENT, 0x200, "contact gradient", create)                              \
  X(LOOM_NEED_CONTACT_HESSIAN, 0x400, "contact Hessian", create)                                \
  X(LOOM_NEED_CONTACT_QUAD, 0x800, "quadratic contact form", create)                            \
  /* with QUAD: isotropic terms only, each with one stiffness for all directions */             \
  X(LOOM_NEED_CONTACT_ISO, 0x1000, "isotropic contact terms", create)                           \
  /* the step's problem has contact linearised at x_start, or at the x of the latest            \
   * host->freeze_contact(); the model must give gradient and Hessian */                        \
  X(LOOM_WANT_CONTACT_FROZEN, 0x2000, "contact linearised at the start of the step", create)    \
  /* reads step->grad: its evaluation is charged to the solver */                               \
  X(LOOM_USES_GRADIENT, 0x10000, "the core's gradient", create)                                 \
  /* FILTER must find a point of lower energy */                                                \
  X(LOOM_NEEDS_LINE_SEARCH, 0x20000, "energy line search", create)                              \
  /* read by estimates of memory */                                                             \
  X(LOOM_USES_FACTOR, 0x40000, "a factorisation", create)                                       \
  /* not proposed for a scene without yarns */                                                  \
  X(LOOM_MADE_FOR_YARNS, 0x80000, "yarns (made for them)", create)                              \
  /* requests no assembled matrix; read by estimates of memory */                               \
  X(LOOM_WITHOUT_MATRIX, 0x100000, "no matrix", create)                                         \
  /* with CONTACT_QUAD: reads loom_quad.width; without it a scene with followers is refused */  \
  X(LOOM_READS_WIDE_QUADS, 0x200000, "quadratic terms of any width", create)                    \
  /* with CONTACT_GRADIENT: contact is in its right-hand side only, so a model with a stiffness \
   * makes it diverge */                                                                        \
  X(LOOM_NEED_CONTACT_EXPLICIT, 0x400000, "explicit contact forces", create)
enum { LOOM_SOLVER_NEEDS(LOOM_CAP_CONSTANT_) };

/* capabilities that a collision plugin provides and a contact model needs */
#define LOOM_COLLISION_CAPS(X)                                     \
  X(LOOM_COLL_PROXIMITY, 1, "proximity queries", detect)           \
  X(LOOM_COLL_CCD, 2, "continuous collision queries", detect)      \
  X(LOOM_COLL_OVERLAP, 4, "overlap queries", detect)               \
  X(LOOM_COLL_STEP_GLOBAL, 8, "global step bound", max_step)       \
  X(LOOM_COLL_STEP_VERTEX, 16, "step bound per vertex", max_step)  \
  X(LOOM_COLL_MASKED, 32, "queries of marked vertices", detect)    \
  X(LOOM_COLL_EXCLUDE, 64, "exclusion of given pairs", detect)     \
  /* in detect() and max_step(): the lists of loom/exclusions.h */ \
  X(LOOM_COLL_LEAVES_OUT, 128, "pairs that the scene leaves out", detect)
enum { LOOM_COLLISION_CAPS(LOOM_CAP_CONSTANT_) };

/* capabilities that a contact model provides; a model with none of the first four is "post-only"
 * and fits every solver */
#define LOOM_CONTACT_CAPS(X)                                                                       \
  X(LOOM_CONT_ENERGY, 1, "contact energy", eval)                                                   \
  X(LOOM_CONT_GRADIENT, 2, "contact gradient", eval)                                               \
  X(LOOM_CONT_HESSIAN, 4, "contact Hessian", hessian)                                              \
  /* implies the three above: the core derives them from quad() */                                 \
  X(LOOM_CONT_QUAD, 8, "quadratic contact form", quad)                                             \
  /* with QUAD: every term is isotropic, with one stiffness for all directions */                  \
  X(LOOM_CONT_QUAD_ISO, 16, "isotropic contact terms", quad)                                       \
  /* corrects positions in FILTER.  When, depends on the model:                                    \
   *   post-only: at the end of the step;                                                          \
   *   LOOM_CONT_UNFILTERED: before the last cut to the step bound, which then cuts off less;      \
   *   another model with forces: in place of that cut, in a split step (its solver has            \
   *   LOOM_WANT_CONTACT_FROZEN and filters only at the end) */                                    \
  X(LOOM_CONT_RESOLVE, 32, "position correction", resolve)                                         \
  /* corrects v_end at COMMIT (inelastic impact, friction) */                                      \
  X(LOOM_CONT_VELOCITY, 64, "velocity correction", velocity)                                       \
  /* adds a dissipation term; its normal forces are those of an earlier point (lagged) */          \
  X(LOOM_CONT_FRICTION, 128, "friction", create)                                                   \
  /* its weights change per iteration: step->epoch grows */                                        \
  X(LOOM_CONT_STATEFUL, 256, "weights that change by iteration", create)                           \
  /* also defined at points that intersect; requests FILTER when its inner loop has settled        \
   * (LOOM_ASK_FILTER).  Unless [filter] says otherwise, filters run on request only, and the      \
   * iterate goes on from the unfiltered point while x_feas follows as far as it can */            \
  X(LOOM_CONT_UNFILTERED, 512, "unfiltered iterates", create)                                      \
  /* reports its impulses on bodies that move by themselves to host->body_push() in velocity();    \
   * without it scenes with such bodies are refused */                                             \
  X(LOOM_CONT_REACTION, 1024, "reactions on bodies", velocity)                                     \
  /* hessian() or quad() leave terms out by design (Gauss-Newton, projected, lagged weights).      \
   * Without this flag LOOM_HESS_EXACT is the derivative of the gradient: a contract test checks   \
   * it to 1e-5 */                                                                                 \
  X(LOOM_CONT_HESS_APPROX, 2048, "a Hessian that leaves terms out", create)                        \
  /* reads loom/pair_friction.h for pairs with bodies, and for pairs of cloths */                  \
  X(LOOM_CONT_FRICTION_BODY, 4096, "friction per pair of an object and a body", create)            \
  X(LOOM_CONT_FRICTION_CLOTH, 8192, "friction per pair of objects", create)                        \
  /* resolve() and velocity() cope with followers (loom/followers.h): the core takes back what     \
   * they do to rows of followers.  Without it such models are refused in scenes that have some */ \
  X(LOOM_CONT_MOVES_FOLLOWERS, 16384, "corrections beside followers", create)                      \
  /* with GRADIENT: forces that do not depend on x between two calls of update(), which predicts   \
   * them from the masses and the gradient without contact */                                      \
  X(LOOM_CONT_EXPLICIT, 32768, "explicit contact forces", eval)
enum { LOOM_CONTACT_CAPS(LOOM_CAP_CONSTANT_) };

/* ---- solver ---- */
enum { LOOM_TRIAL_POINT = 0, LOOM_TRIAL_DIRECTION = 1 };
enum { /* when FILTER runs; it always runs once before COMMIT; [filter] when overrides */
       LOOM_FILTER_EVERY = 0,  /* after every iteration: x stays feasible */
       LOOM_FILTER_ADVICE = 1, /* when loom_iterate.filter requests it */
       LOOM_FILTER_END = 2     /* only before COMMIT */
};

typedef struct loom_iterate { /* result of one outer iteration */
  uint32_t struct_size;
  int32_t inner_iters; /* linear or local iterations done */
  double inner_res;    /* last inner residual, relative; NaN if there is none */
  int32_t inner_norm;  /* LOOM_NORM_* of inner_res */
  int32_t filter;      /* nonzero: requests FILTER now (LOOM_FILTER_ADVICE) */
  int32_t stage;       /* for methods with stages, logged as given */
  int32_t reserved;
  double own_res; /* the method's own stopping quantity, NaN if none; logged
                   * beside the core's residual, which it never replaces */
  double *extra;  /* [num_columns], preset to NaN by the core */
} loom_iterate;

typedef struct loom_accept { /* result of FILTER for the trial */
  uint32_t struct_size;
  int32_t resolved;      /* 1: contact->resolve() moved the point */
  double alpha;          /* step length in (0,1]; 0: the trial was refused */
  double toi;            /* step bound of the collision plugins in (0,1], 1 if none */
  loom_buf *t_vertex;    /* real [n], step length per vertex, or NULL; for residual forwarding */
  int32_t filtered;      /* 0: x was accepted unfiltered this time */
  int32_t final;         /* 1: the last filter of the step, COMMIT follows */
  loom_buf *dx;          /* real [n][3], m, the change of x */
  loom_buf *rejected;    /* real [n][3], m, the part that FILTER took away: trial minus accepted */
  loom_buf *grad_solved; /* real [n][3], N, at the new x, of the problem iterate() saw:
                          * use it for quasi-Newton pairs; step->grad belongs already
                          * to the next problem (epoch may differ) */
} loom_accept;

typedef struct loom_solver_ops {
  uint32_t struct_size;
  uint32_t needs;      /* bits of LOOM_SOLVER_NEEDS */
  int32_t trial;       /* LOOM_TRIAL_*: form of iterate()'s output step->trial */
  int32_t max_outer;   /* 0: the core's limit; 1: a one-shot method */
  int32_t filter_when; /* LOOM_FILTER_* the method was designed for */
  int32_t reserved;
  /* [required] LOOM_OK: *self is not NULL */
  loom_status (*create)(const loom_host *host, const loom_scene *sc, const loom_exec *e,
                        const void *settings, void **self);
  /* [required] also after a failed create that set *self */
  void (*destroy)(void *self);
  /* [optional: it has no history] */
  loom_status (*reset)(void *self);
  /* [optional: the core's guess will do] PREDICT: step->y is set and step->trial holds the core's
   * initial guess, which may be overwritten */
  loom_status (*begin_step)(void *self, const loom_step *s);
  /* [optional: it keeps no data that depend on contact] after DETECT or a contact update: `changed`
   * has LOOM_CHANGED_* since the last call.  With LOOM_WANT_CONTACT_FROZEN also once per step, when
   * contact was linearised; host->freeze_contact() belongs here. */
  loom_status (*contact_changed)(void *self, const loom_step *s, uint32_t changed);
  /* [required] ITERATE: exactly one outer iteration from step->x, into step->trial.
   * LOOM_CONVERGED and LOOM_STALLED are advice; the core's own test decides. */
  loom_status (*iterate)(void *self, const loom_step *s, loom_iterate *it);
  /* [optional: it needs no result] FILTER and MEASURE have ended: step->x is the accepted point */
  loom_status (*accepted)(void *self, const loom_step *s, const loom_accept *a);
  /* [optional: it has no work there] COMMIT: may edit v_end, f_next */
  loom_status (*end_step)(void *self, const loom_step *s);
  /* [optional: no state outlives a step] */
  loom_status (*checkpoint)(void *self, const loom_step *s, int restore);
  /* [optional: it has no columns of steps; required by num_step_columns] the step has ended: one
   * number per column into out [num_step_columns], preset to NaN */
  loom_status (*log_step)(void *self, const loom_step *s, double *out);
  /* [optional: rest lengths do not change] PREDICT, before any begin_step(): *change (out, preset
   * to 0), 1, above -1, becomes step->rest_change.  It depends only on the step's time, so a
   * restart needs no state of it. */
  loom_status (*rest_change)(void *self, const loom_step *s, double *change);
} loom_solver_ops;

/* ---- collision ---- */
typedef struct loom_collision_ops {
  uint32_t struct_size;
  uint32_t provides;   /* LOOM_COLL_* */
  uint32_t pair_kinds; /* LOOM_BIT(LOOM_PAIR_*) it can report */
  uint32_t reserved;
  /* [required] LOOM_OK: *self is not NULL */
  loom_status (*create)(const loom_host *host, const loom_scene *sc, const loom_exec *e,
                        const void *settings, void **self);
  /* [required] also after a failed create that set *self */
  void (*destroy)(void *self);
  /* [optional: it has no history] */
  loom_status (*reset)(void *self);
  /* [optional: it prepares no step] bodies have the poses of the new step: update the search
   * structure */
  loom_status (*begin_step)(void *self, const loom_step *s);
  /* [optional: it answers no queries; required by LOOM_COLL_PROXIMITY, LOOM_COLL_CCD,
   * LOOM_COLL_OVERLAP, LOOM_COLL_MASKED, LOOM_COLL_EXCLUDE, LOOM_COLL_LEAVES_OUT] DETECT: append
   * the pairs that q requests.  If capacity is short: set out->count to the number needed, write no
   * entry past capacity, return LOOM_GROW; the core grows the arrays and calls again.  The core
   * checks ids, bodies and kinds. */
  loom_status (*detect)(void *self, const loom_step *s, const loom_query *q, loom_pairs *out);
  /* [optional: it bounds no step; required by LOOM_COLL_STEP_GLOBAL, LOOM_COLL_STEP_VERTEX] FILTER:
   * largest safe step; several plugins are combined by minimum */
  loom_status (*max_step)(void *self, const loom_step *s, loom_buf *x0, loom_buf *x1,
                          loom_bound *out);
  /* [optional: it has no work there] COMMIT */
  loom_status (*end_step)(void *self, const loom_step *s);
  /* [optional: no state outlives a step] */
  loom_status (*checkpoint)(void *self, const loom_step *s, int restore);
  /* [optional: it has no columns of iterations; required by num_columns] MEASURE: numbers about the
   * latest queries into out [num_columns], preset to NaN */
  loom_status (*log_iter)(void *self, const loom_step *s, double *out);
  /* [optional: it has no columns of steps; required by num_step_columns] the step has ended: one
   * number per column into out [num_step_columns], preset to NaN */
  loom_status (*log_step)(void *self, const loom_step *s, double *out);
} loom_collision_ops;

/* ---- contact ---- */
enum { LOOM_AFTER_DETECT = 0, LOOM_AFTER_ACCEPT = 1 };

typedef struct loom_contact_metrics { /* the model's own view; the core measures gaps as well */
  uint32_t struct_size;
  int32_t reserved;
  int64_t active;    /* count of pairs with nonzero force */
  double min_gap;    /* m; NaN (preset): no pair */
  double max_force;  /* N */
  double dissipated; /* J, by friction in this step */
  double *extra;     /* [num_columns], preset to NaN by the core */
} loom_contact_metrics;

typedef struct loom_contact_ops {
  uint32_t struct_size;
  uint32_t provides;   /* LOOM_CONT_* */
  uint32_t needs;      /* LOOM_COLL_* */
  uint32_t pair_kinds; /* LOOM_BIT(LOOM_PAIR_*) it handles */
  /* [required] LOOM_OK: *self is not NULL */
  loom_status (*create)(const loom_host *host, const loom_scene *sc, const loom_exec *e,
                        const void *settings, void **self);
  /* [required] also after a failed create that set *self */
  void (*destroy)(void *self);
  /* [optional: it has no history] */
  loom_status (*reset)(void *self);
  /* [optional: it prepares no step] */
  loom_status (*begin_step)(void *self, const loom_step *s);
  /* [optional: it requests no pairs] DETECT, first half: fill the query (margin, CCD or proximity,
   * mask); q->what = 0 skips detection and keeps the present pairs. */
  loom_status (*plan)(void *self, const loom_step *s, loom_query *q);
  /* [optional: nothing changes; required by plan] The core calls it with when = LOOM_AFTER_ACCEPT
   * after every accepted iterate, with the present pairs, and with LOOM_AFTER_DETECT after plan()
   * and detection, with the pairs found: at the guess of a step, where bodies have moved on, and
   * as often as [detect] every says.
   * *changed (out, preset to LOOM_CHANGED_NONE): LOOM_CHANGED_* for the solver.  *pairs belongs to
   * the core and stays valid until the next update(). */
  loom_status (*update)(void *self, const loom_step *s, const loom_pairs *pairs, int when,
                        uint32_t *changed);
  /* [optional: it has no energy and no gradient of its own; required by LOOM_CONT_ENERGY,
   * LOOM_CONT_GRADIENT, LOOM_CONT_EXPLICIT] add to *energy and *dissipation (J) and to grad (real
   * [n][3], N); each may be NULL: not requested.  Rows of fixed vertices may be written, the core
   * clears them.
   * LOOM_REJECTED: the model has no value at x (a barrier's other side). */
  loom_status (*eval)(void *self, const loom_step *s, loom_buf *x, double *energy,
                      double *dissipation, loom_buf *grad);
  /* [optional: it has no Hessian of its own; required by LOOM_CONT_HESSIAN] append 3x3 blocks from
   * index out->count on and add their number to out->count; LOOM_GROW as in detect() */
  loom_status (*hessian)(void *self, const loom_step *s, loom_buf *x, int how, loom_blocks3 *out);
  /* [optional: it has no quadratic form; required by LOOM_CONT_QUAD, LOOM_CONT_QUAD_ISO] append
   * terms, as hessian() appends blocks */
  loom_status (*quad)(void *self, const loom_step *s, loom_buf *x, loom_quad *out);
  /* [optional: it corrects no positions; required by LOOM_CONT_RESOLVE] FILTER: change x_trial,
   * real [n][3], m, to a point without intersections, starting from x_start.
   * Post-only model: x_start is the step's start.  LOOM_REJECTED, only from this kind: it found no
   * such point; the core repeats the step in halves ([filter] max_halvings), from reset() on.
   * UNFILTERED model: x_start is x_feas, at which its contacts were just found.  The core cuts
   * x_trial afterwards, so intersections may remain.
   * Other model with forces, in a split step: x_trial is the solver's proposal.  Bodies and pins
   * stand at s->progress in both points, and fixed vertices keep their rows of x_start.  While
   * progress is below 1, bodies then move on and another call follows, so a part of the way is
   * enough. */
  loom_status (*resolve)(void *self, const loom_step *s, loom_buf *x_start, loom_buf *x_trial);
  /* [optional: no active pairs, no gap, no columns; required by num_columns] MEASURE: fill out,
   * which is preset to zero, min_gap and extra to NaN */
  loom_status (*metrics)(void *self, const loom_step *s, loom_contact_metrics *out);
  /* [optional: it corrects no velocities; required by LOOM_CONT_VELOCITY, LOOM_CONT_REACTION]
   * COMMIT: correct s->v_end */
  loom_status (*velocity)(void *self, const loom_step *s);
  /* [optional: it has no work there] COMMIT: updates state for the next step, as that of friction
   */
  loom_status (*end_step)(void *self, const loom_step *s);
  /* [optional: no state outlives a step] */
  loom_status (*checkpoint)(void *self, const loom_step *s, int restore);
  /* [optional: no setting removes a capability] LOOM_CONT_* of `provides` that an instance with
   * these settings lacks; no side effects.  eval() returns NaN for an energy that the instance
   * lacks. */
  uint32_t (*lacks)(const void *settings);
  /* [optional: it has no columns of steps; required by num_step_columns] the step has ended: one
   * number per column into out [num_step_columns], preset to NaN */
  loom_status (*log_step)(void *self, const loom_step *s, double *out);
} loom_contact_ops;

/* ---- exports of a .so ---- */
#define LOOM_MAGIC UINT32_C(0x4d4f4f4c) /* "LOOM" in memory order */
typedef struct loom_plugin {
  uint32_t magic, struct_size;
  uint16_t abi_major, abi_minor; /* of the headers the plugin was built with */
  uint16_t real_size;            /* sizeof(loom_real) */
  uint16_t kind;                 /* LOOM_KIND_* */
  uint32_t backends;             /* LOOM_ON_CPU | LOOM_ON_CUDA, LOOM_CUDA_*: see LK_BACKENDS */
  uint32_t layout;               /* LOOM_LAYOUT of the headers it was built with */
  const char *name;              /* [a-z][a-z0-9_]*; also folder, .so and INI name */
  const char *version;           /* of the plugin, "1.2.0" */
  /* One line.  Further lines are limits: the measured physical cost of the method, one fact a line;
   * `loom list`, `describe`, `list --fit`, `check` and the end of a run print them. */
  const char *summary;
  const char *reference; /* paper: authors, title, venue, year, DOI */
  const char *license;   /* SPDX, of the plugin with its libraries: "GPL-2.0-or-later" */
  const char *build;     /* git hash, compiler, flags: LOOM_BUILD_INFO */
  uint32_t num_params, settings_size;
  const loom_param *params; /* [num_params], offsets into a settings struct */
  uint32_t num_columns, num_step_columns;
  const loom_column *columns;      /* [num_columns] of /iters_extra: one number per iteration */
  const loom_column *step_columns; /* [num_step_columns] of /steps_extra: one per step */
  union {
    const loom_solver_ops *solver;
    const loom_collision_ops *collision;
    const loom_contact_ops *contact;
    const void *any;
  } ops;
} loom_plugin;

/* The only exported symbol: plugin number index = 0, 1, ... of the module, NULL past the last; the
 * result stays valid.  No side effects.  It must answer for every host_abi, so that an old core can
 * name the plugin that it refuses. */
LOOM_C_BEGIN
LOOM_EXPORT const loom_plugin *loom_plugin_query(uint32_t host_abi, uint32_t index);
LOOM_C_END
typedef const loom_plugin *(*loom_plugin_query_fn)(uint32_t host_abi, uint32_t index);
#define LOOM_ABI ((uint32_t)LOOM_ABI_MAJOR << 16 | LOOM_ABI_MINOR)

/* Value of loom_plugin.build.  loom_add_plugin() links the text in as a symbol, so that a new
 * commit does not recompile every plugin. */
#ifdef LOOM_HAVE_BUILD_INFO
LOOM_C_BEGIN
extern const char loom_build_info[];
LOOM_C_END
#define LOOM_BUILD_INFO loom_build_info
#else
#define LOOM_BUILD_INFO "unknown"
#endif
/* Every struct that crosses the interface; a test asks for each one of the headers. */
/* clang-format off */
#define LOOM_STRUCTS(X) \
  X(loom_exec) X(loom_real) X(loom_param) X(loom_column) \
  X(loom_host) X(loom_energies) X(loom_query) X(loom_bound) \
  X(loom_islands) X(loom_elem_rows) X(loom_body_rows) X(loom_body_gap) \
  X(loom_body_path) X(loom_body_near) \
  X(loom_iterate) X(loom_accept) X(loom_contact_metrics) X(loom_solver_ops) \
  X(loom_collision_ops) X(loom_contact_ops) X(loom_plugin) \
  X(loom_elem_block) X(loom_obstacle) X(loom_extension) X(loom_scene) \
  X(loom_exclusions) X(loom_pair_friction) X(loom_piece) X(loom_material) \
  X(loom_problem) X(loom_step) X(loom_pairs) X(loom_quad) \
  X(loom_blocks3) X(loom_bsr3) X(loom_csr)
/* clang-format on */

/* A hash of their sizes: headers that differ in layout differ here, too, even if the ABI number was
 * not raised.  The core compares it with its own hash when the ABI numbers are equal.  Each size
 * has an odd factor of its own, so that one size alone always changes the sum. */
#define LOOM_LAYOUT_PLACE_(type) LOOM_LAYOUT_PLACE_##type,
enum { LOOM_STRUCTS(LOOM_LAYOUT_PLACE_) LOOM_NUM_STRUCTS };
#define LOOM_LAYOUT_TERM_(type) \
  +(uint32_t)sizeof(type) * (UINT32_C(2654435761) * (2 * (uint32_t)LOOM_LAYOUT_PLACE_##type + 1))
#define LOOM_LAYOUT (UINT32_C(2166136261) LOOM_STRUCTS(LOOM_LAYOUT_TERM_))
#define LOOM_PLUGIN_HEAD(kind_, backends_)                                   \
  LOOM_MAGIC, (uint32_t)sizeof(loom_plugin), LOOM_ABI_MAJOR, LOOM_ABI_MINOR, \
      (uint16_t)sizeof(loom_real), kind_, backends_, LOOM_LAYOUT
#define LOOM_COUNT(a) ((uint32_t)(sizeof(a) / sizeof((a)[0])))

/* Parts that are alike in all plugins, in C:
 *
 *   static const loom_plugin plugin = {
 *       LOOM_PLUGIN(solver, ops, LK_BACKENDS),  kind (solver, collision, contact), table, backends
 *       .name = ..., .version = ..., .summary = ..., .reference = ..., .license = ...,
 *       LOOM_SETTINGS(settings, params),        struct and its table, if there are settings
 *       LOOM_COLUMNS(columns),                  if there are columns of iterations
 *       LOOM_STEP_COLUMNS(columns),             if there are columns of steps
 *   };
 *   LOOM_EXPORT_PLUGIN(&plugin)                 all plugins of the module: at most one of each
 *                                              kind, each with the module's name
 */
#define LOOM_PLUGIN(kind_, ops_, backends_) \
  LOOM_PLUGIN_HEAD(LOOM_KIND_OF_##kind_, backends_), .build = LOOM_BUILD_INFO, .ops.kind_ = &(ops_)
#define LOOM_KIND_OF_solver    LOOM_KIND_SOLVER
#define LOOM_KIND_OF_collision LOOM_KIND_COLLISION
#define LOOM_KIND_OF_contact   LOOM_KIND_CONTACT
#define LOOM_SETTINGS(type_, params_) \
  .num_params = LOOM_COUNT(params_), .settings_size = sizeof(type_), .params = (params_)
#define LOOM_COLUMNS(columns_) .num_columns = LOOM_COUNT(columns_), .columns = (columns_)
#define LOOM_STEP_COLUMNS(columns_) \
  .num_step_columns = LOOM_COUNT(columns_), .step_columns = (columns_)
#define LOOM_EXPORT_PLUGIN(...)                                           \
  const loom_plugin *loom_plugin_query(uint32_t host_abi, uint32_t index) \
  {                                                                       \
    static const loom_plugin *const exported[] = {__VA_ARGS__};           \
    (void)host_abi;                                                       \
    return index < LOOM_COUNT(exported) ? exported[index] : NULL;         \
  }

#endif /* LOOM_PLUGIN_H */
