/* ipc.h - a barrier on all distances: what the plugins ipc_barrier and dbb share.
 *
 *   B(x) = sum over pairs of  m(x) b(D(x))
 * over all vertex-triangle and edge-edge pairs without a common vertex, and all vertices and
 * bodies with a signed distance f (D = f^2); m is the mollifier of nearly parallel edges, else 1;
 * b is one of the two forms of barrier.kern.h.
 * Detection only names candidates; distances and closest features are evaluated at the x that
 * is asked for.  Candidates are found up to a gap of d_hat + slack, and anew as soon as a vertex
 * is further than slack/2 from where it was: no pair within d_hat is ever missed, and B, its
 * derivatives and all sums are to the bit functions of x alone, whenever detection ran.
 *
 * Energy, gradient and Hessian at a point where D <= xi^2 for some pair: LOOM_REJECTED. */
#ifndef IPC_H
#define IPC_H

#include "geom/obstacle_view.h"
#include "ipc.kern.h"
#include "loom/plug.h"
#include "loom/plugin.h"

enum { LAG_STEP = 0, LAG_ITERATION = 1 };
enum { HESSIAN_CLAMP = 0, HESSIAN_GAUSS_NEWTON = 1 };
enum {
  IPC_KINDS = LOOM_BIT(LOOM_PAIR_VT) | LOOM_BIT(LOOM_PAIR_EE) | LOOM_BIT(LOOM_PAIR_VO) |
              LOOM_BIT(LOOM_PAIR_BVT) | LOOM_BIT(LOOM_PAIR_BEE)
};

typedef struct ipc_settings {
  double d_hat;
  double stiffness; /* N/m, kappa; 0: chosen */
  double slack;
  int32_t hessian; /* HESSIAN_* */
  double self_friction;
  double epsilon_v;
  int32_t friction_lag; /* LAG_* */
  int64_t lag_rounds;
} ipc_settings;

/* Rows of a plugin's table of parameters; its settings are an ipc_settings, or begin with one. */
#define IPC_PARAM_D_HAT                                                                           \
  {                                                                                               \
    "d_hat", LOOM_P_REAL, LOOM_P_OPEN_MIN, offsetof(ipc_settings, d_hat), 1e-3, 0, 1, NULL, NULL, \
        "m", "Gap (distance minus both radii) at which the force begins."                         \
  }
#define IPC_PARAM_SLACK                                                                            \
  LOOM_PARAM_REAL(ipc_settings, slack, 0, 0, 1, "m",                                               \
                  "Pairs are looked for this far beyond d_hat, and again when a vertex has moved " \
                  "by half of it; 0: 2 mm, a quarter of the mean edge where that is less.")
#define IPC_SLACK 2e-3 /* m, see there */
#define IPC_PARAM_HESSIAN                                                                       \
  LOOM_PARAM_ENUM(ipc_settings, hessian, HESSIAN_CLAMP, "clamp|gauss_newton",                   \
                  "Second derivatives: exact, with negative eigenvalues treated as the solver " \
                  "asks; or without the curvature of the distance.")
#define IPC_PARAMS_FRICTION                                                                       \
  LOOM_PARAM_REAL(ipc_settings, self_friction, 0, 0, 10, "1",                                     \
                  "Coulomb coefficient between cloths; bodies bring their own."),                 \
      LOOM_PARAM_REAL(ipc_settings, epsilon_v, 1e-3, 1e-9, 1, "m/s",                              \
                      "Sliding speed below which friction fades: what sticks creeps slower than " \
                      "this (Li et al. 2020, eq. 18, doi 10.1145/3386569.3392425)."),             \
      LOOM_PARAM_ENUM(                                                                            \
          ipc_settings, friction_lag, LAG_ITERATION, "step|iteration",                            \
          "Normal forces and planes for friction: of the start of the step, or of the "           \
          "last accepted iterate."),                                                              \
      LOOM_PARAM_INT(ipc_settings, lag_rounds, 0, 0, 1000000, "1",                                \
                     "With friction_lag = iteration: lags per step at most, the first at its "    \
                     "start; 0: at every accepted iterate.")

#define IPC_COLUMNS                                                                      \
  {                                                                                      \
    "kappa", "N/m", "stiffness of the barrier: as given, or as chosen and doubled since" \
  }

/* Vertices of pairs, sorted by vertex, so that forces are gathered in a fixed order. */
typedef struct corner_set {
  int64_t count;
  loom_buf *num;    /* i64 [m], corners of each pair */
  loom_buf *at;     /* i64 [m+1], their exclusive sums */
  loom_buf *vertex; /* u64 [count], ascending */
  loom_buf *place;  /* i32 [count], where they were */
  loom_buf *owner;  /* i32 [count], the pair, by place */
  loom_buf *force;  /* real [count][3], N, by place */
} corner_set;

typedef struct ipc {
  const loom_host *h;
  const loom_scene *sc;
  const loom_exec *e;
  ipc_settings set;
  int form;         /* BARRIER_* */
  uint32_t kinds;   /* LOOM_BIT(LOOM_PAIR_*) this instance is asked for */
  obst_view *view;  /* [num_obstacles], host */
  loom_buf *views;  /* u8, the same as bytes; grid pointers are those of one call */
  int grids;        /* 1: some body is a grid */
  int moving;       /* 1: some body moves in this step */
  loom_buf *result; /* real [4] */
  loom_buf *total;  /* i64 [1] */

  /* candidates: every pair with a gap below d_hat + slack at `anchor` */
  int64_t m;
  int valid;          /* 0: there are none yet, or bodies have moved on */
  int planned;        /* 1: found for plan(), and the core's list, too */
  int asked;          /* 1: plan() asked for detection */
  double progress;    /* at which they were found */
  loom_buf *anchor;   /* real [n][3], m */
  loom_buf *kind, *v; /* i32 [m], [m][4] */
  loom_buf *obst;     /* i32 [m] */
  loom_buf *xi, *par; /* real [m], m and m^4 */
  corner_set corner;

  /* active pairs of the point looked at last */
  int64_t num_active;
  double least_room;           /* m^2, smallest D - xi^2; infinite without candidates */
  loom_buf *room;              /* real [m], m^2 */
  loom_buf *active;            /* i64 [m], 0 or 1 */
  loom_buf *place;             /* i64 [m+1], exclusive sums of it */
  loom_buf *list;              /* i32 [num_active] */
  loom_buf *blocks, *at_block; /* i64 [num_active], [num_active+1] */

  /* friction, lagged */
  int friction;                            /* 1: some coefficient is positive */
  int64_t nf;                              /* pairs */
  int64_t rounds;                          /* lags of this step */
  loom_buf *fv, *fv_old;                   /* i32 [nf][4] */
  loom_buf *fobst;                         /* i32 [nf] */
  loom_buf *fw, *fnormal, *fpoint, *fmost; /* real [nf][4], [nf][3], [nf][3], [nf] */
  loom_buf *fblocks, *fat_block;           /* i64 [nf], [nf+1] */
  int64_t num_fblocks;
  corner_set fcorner;

  /* stiffness; outlives steps */
  double kappa;     /* N/m; 0: not chosen yet */
  double last_gap;  /* m, smallest gap of the last accepted iterate of the step */
  double mass;      /* kg, mean of free vertices */
  loom_buf *memory; /* real [1]: kappa, for checkpoints */
  uint32_t pending; /* LOOM_CHANGED_* since the last update() */
} ipc;

/* ---- life.c: callbacks of loom_contact_ops; self is an ipc, or begins with one -------------- */
/* form: BARRIER_*; usual_slack: where `set` has none, and edges are not shorter, m */
loom_status ipc_init(ipc *p, const loom_host *h, const loom_scene *sc, const loom_exec *e,
                     const ipc_settings *set, int form, double usual_slack);
loom_status ipc_reset(void *self);
loom_status ipc_begin_step(void *self, const loom_step *s);
loom_status ipc_plan(void *self, const loom_step *s, loom_query *q);
loom_status ipc_update(void *self, const loom_step *s, const loom_pairs *pairs, int when,
                       uint32_t *changed);
loom_status ipc_end_step(void *self, const loom_step *s);
/* ipc_metrics with IPC_COLUMNS: for models whose stiffness is kappa. */
loom_status ipc_metrics_kappa(void *self, const loom_step *s, loom_contact_metrics *out);
loom_status ipc_checkpoint(void *self, const loom_step *s, int restore);

/* ---- candidates.c ------------------------------------------------------------------------- */
loom_status ipc_new(ipc *p);
void ipc_free(ipc *p);
/* Poses of the bodies for this step. */
loom_status ipc_bodies(ipc *p);
/* Candidates from detection at x. */
loom_status ipc_take_pairs(ipc *p, const loom_step *s, loom_buf *x, double progress,
                           const loom_pairs *pairs);
/* *good: the candidates hold every pair within d_hat at x. */
loom_status ipc_covers(ipc *p, loom_buf *x, double progress, int *good);
/* Find candidates for x unless those at hand will do. */
loom_status ipc_cover(ipc *p, const loom_step *s, loom_buf *x, double progress);
/* D - xi^2 of the candidates at x, and its least. */
loom_status ipc_measure_room(ipc *p, const loom_step *s, loom_buf *x, double progress);
/* Active pairs at x; LOOM_REJECTED where some pair has no room left. */
loom_status ipc_activate(ipc *p, const loom_step *s, loom_buf *x, double progress);
/* Smallest gap at the point activated last, m; NaN without candidates. */
loom_status ipc_least_gap_now(ipc *p, double *gap);
/* An error that names the worst pair of the point measured last; loom_status of LOOM_FAIL.
 * `remedy` is for pairs that really overlap; where rounding takes the rest of a gap another is
 * named. */
loom_status ipc_overlap_error(ipc *p, const loom_step *s, const char *what, const char *remedy);
/* Count, sort and number the corners of m pairs v [m][4] whose numbers stand in c->num. */
loom_status ipc_sort_corners(ipc *p, corner_set *c, loom_buf *v, int64_t m);
loom_status ipc_last_of(ipc *p, loom_buf *sums, int64_t at, int64_t *out);

/* Largest way of a vertex from a to b, m. */
loom_status ipc_way(ipc *p, loom_buf *a, loom_buf *b, double *way);

/* Maps what the kernels read at x; m is closed by ipc_close() or ipc_launch(). */
ipc_state ipc_open(ipc *p, plug_maps *m, const loom_step *s, loom_buf *x, double progress);
/* The bodies alone, [num_obstacles]; NULL after an error.  Closed likewise. */
const obst_view *ipc_open_views(ipc *p, plug_maps *m);
loom_status ipc_close(ipc *p, plug_maps *m);
/* plug_launch() for maps with bodies. */
loom_status ipc_launch(ipc *p, plug_maps *m, const lk_entry *k, const void *args, int64_t n,
                       lk_real *result);

/* ---- forms.c ----------------------------------------------------------------------------------
 */
loom_status ipc_eval(void *self, const loom_step *s, loom_buf *x, double *energy,
                     double *dissipation, loom_buf *grad);
loom_status ipc_hess(void *self, const loom_step *s, loom_buf *x, int how, loom_blocks3 *out);
loom_status ipc_metrics(void *self, const loom_step *s, loom_contact_metrics *out);
/* Sum of what every active pair has, its corners or with `square` their square, and the exclusive
 * sums in p->at_block. */
loom_status ipc_count(ipc *p, int square, int64_t *total);
/* grad += forces of the corners; place: see ipc_gather_args, or NULL. */
loom_status ipc_gather_forces(ipc *p, corner_set *c, loom_buf *place, loom_buf *grad);

/* ---- friction.c -------------------------------------------------------------------------------
 */
/* Lag at x; *changed: LOOM_CHANGED_*. */
loom_status ipc_lag_at(ipc *p, const loom_step *s, loom_buf *x, double progress, uint32_t *changed);
/* Maps what the kernels read of the lagged pairs; closed like ipc_open(). */
ipc_lagged ipc_open_lagged(ipc *p, plug_maps *m, const loom_step *s, loom_buf *x);
/* NULL: not wanted; work: mu lambda f1 |u| */
loom_status ipc_friction_sums(ipc *p, const loom_step *s, loom_buf *x, double *potential,
                              double *work);
loom_status ipc_friction_gradient(ipc *p, const loom_step *s, loom_buf *x, loom_buf *grad);
/* Blocks from out's place `first` on. */
loom_status ipc_friction_hessian(ipc *p, const loom_step *s, loom_buf *x, int64_t first,
                                 loom_blocks3 *out);

#endif
