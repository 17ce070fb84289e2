/* ipc.h - state of one instance, shared by the files of the plugin. */
#ifndef IPC_H
#define IPC_H

#include "geom/obstacle_view.h"
#include "ipc.kern.h"
#include "loom/plugin.h"
#include "plug.h"

enum { LAG_STEP = 0, LAG_ITERATION = 1 };
enum { HESSIAN_CLAMP = 0, HESSIAN_GAUSS_NEWTON = 1 };
enum {
  IPC_KINDS = LOOM_BIT(LOOM_PAIR_VT) | LOOM_BIT(LOOM_PAIR_EE) | LOOM_BIT(LOOM_PAIR_VO) |
              LOOM_BIT(LOOM_PAIR_BVT) | LOOM_BIT(LOOM_PAIR_BEE)
};

typedef struct settings {
  double d_hat;
  double stiffness;
  double slack;
  int32_t hessian; /* HESSIAN_* */
  double self_friction;
  double epsilon_v;
  int32_t friction_lag; /* LAG_* */
  int64_t lag_rounds;
} settings;

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
  settings set;
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
/* Active pairs at x; LOOM_REJECTED where some pair has no room left. */
loom_status ipc_activate(ipc *p, const loom_step *s, loom_buf *x, double progress);
/* Smallest gap at the point activated last, m; NaN without candidates. */
loom_status ipc_least_gap_now(ipc *p, double *gap);
/* An error that names the worst pair of the point activated last; loom_status of LOOM_FAIL. */
loom_status ipc_overlap_error(ipc *p, const loom_step *s, const char *what, const char *remedy);
/* Count, sort and number the corners of m pairs v [m][4] whose numbers stand in c->num. */
loom_status ipc_sort_corners(ipc *p, corner_set *c, loom_buf *v, int64_t m);
loom_status ipc_last_of(ipc *p, loom_buf *sums, int64_t at, int64_t *out);

/* Map everything the kernels read at x; closed by ipc_close(). */
enum { IPC_MAPS = 10 };
loom_status ipc_open(ipc *p, const loom_step *s, loom_buf *x, double progress, plug_map m[IPC_MAPS],
                     ipc_state *out);
loom_status ipc_close(ipc *p, const plug_map m[IPC_MAPS]);
loom_status ipc_views_open(ipc *p, const obst_view **out);
loom_status ipc_views_close(ipc *p);

/* ---- forms.c ----------------------------------------------------------------------------------
 */
loom_status ipc_eval(void *self, const loom_step *s, loom_buf *x, double *energy,
                     double *dissipation, loom_buf *grad);
loom_status ipc_hess(void *self, const loom_step *s, loom_buf *x, int how, loom_blocks3 *out);
loom_status ipc_metrics(void *self, const loom_step *s, loom_contact_metrics *out);
/* grad += forces of the corners; place: see ipc_gather_args, or NULL. */
loom_status ipc_gather_forces(ipc *p, corner_set *c, loom_buf *place, loom_buf *grad);

/* ---- friction.c -------------------------------------------------------------------------------
 */
/* Lag at x; *changed: LOOM_CHANGED_*. */
loom_status ipc_lag_at(ipc *p, const loom_step *s, loom_buf *x, double progress, uint32_t *changed);
/* NULL: not wanted; work: mu lambda f1 |u| */
loom_status ipc_friction_sums(ipc *p, const loom_step *s, loom_buf *x, double *potential,
                              double *work);
loom_status ipc_friction_gradient(ipc *p, const loom_step *s, loom_buf *x, loom_buf *grad);
/* Blocks from out's place `first` on. */
loom_status ipc_friction_hessian(ipc *p, const loom_step *s, loom_buf *x, int64_t first,
                                 loom_blocks3 *out);

#endif
