/* ipc.kern.h - kernels of the barrier: candidates, active pairs, forces, Hessians, friction.
 *
 * A candidate is a pair that detection found, kept by its vertices alone (or vertex and
 * body); everything else is computed from positions when it is needed.  At a point x the
 * active pairs are those with D - xi^2 < s_hat (barrier.kern.h), in the order of the
 * candidates, which is that of their names: sums over them do not depend on the candidates.
 * A corner is a vertex of a pair that is free to move. */
#ifndef IPC_KERN_H
#define IPC_KERN_H

#include "geom/barrier.kern.h"
#include "geom/distance_hess.kern.h"
#include "geom/friction.kern.h"
#include "geom/obstacle_hess.kern.h"
#include "loom/scene.h"

/* Positions and candidates. */
typedef struct ipc_state {
  const lk_real *LK_RESTRICT x;      /* [n][3] m */
  const lk_real *LK_RESTRICT body0;  /* [nb][3] m, or NULL */
  const lk_real *LK_RESTRICT body1;  /* [nb][3] m, or NULL */
  const uint8_t *LK_RESTRICT fixed;  /* [n] */
  const obst_view *LK_RESTRICT view; /* [num_obstacles] */
  const int32_t *LK_RESTRICT kind;   /* [m] LOOM_PAIR_* */
  const int32_t *LK_RESTRICT v;      /* [m][4], ids of body vertices from n */
  const int32_t *LK_RESTRICT obst;   /* [m] */
  const lk_real *LK_RESTRICT xi;     /* [m] m, sum of both radii */
  const lk_real *LK_RESTRICT par;    /* [m] m^4, e of the mollifier; 0: not two edges */
  lk_real progress;                  /* 1, where the bodies stand */
  lk_real kappa;                     /* N/m */
  lk_real d_hat;                     /* m */
  int32_t n;
  int32_t form; /* BARRIER_* */
  int32_t gauss_newton;
} ipc_state;

typedef struct ipc_take_args { /* pairs of detection to candidates */
  const int32_t *LK_RESTRICT kind_in;
  const int32_t *LK_RESTRICT v_in;
  const int32_t *LK_RESTRICT obst_in;
  const lk_real *LK_RESTRICT rest;   /* [n][3] m */
  const lk_real *LK_RESTRICT radius; /* [n] m */
  const lk_real *LK_RESTRICT body0;
  const uint8_t *LK_RESTRICT fixed;
  int32_t *LK_RESTRICT kind;
  int32_t *LK_RESTRICT v;
  int32_t *LK_RESTRICT obst;
  lk_real *LK_RESTRICT xi;
  lk_real *LK_RESTRICT par;
  int64_t *LK_RESTRICT num; /* [m] corners */
  int32_t n;
} ipc_take_args;
LK_DECLARE(ipc_take, ipc_take_args)

typedef struct ipc_moved_args {
  const lk_real *LK_RESTRICT x;
  const lk_real *LK_RESTRICT anchor;
} ipc_moved_args;
LK_DECLARE(ipc_moved, ipc_moved_args) /* largest |x - anchor|^2, m^2 */

/* ---- corners --------------------------------------------------------------------------- */

typedef struct ipc_corner_args {
  const int32_t *LK_RESTRICT v;     /* [m][4] */
  const uint8_t *LK_RESTRICT fixed; /* [n] */
  const int64_t *LK_RESTRICT at;    /* [m+1] first corner of a pair */
  uint64_t *LK_RESTRICT key;        /* [corners] out: vertex */
  int32_t *LK_RESTRICT owner;       /* [corners] out: pair */
  int32_t n;
} ipc_corner_args;
LK_DECLARE(ipc_corner_keys, ipc_corner_args)

typedef struct ipc_pick_args {
  const int64_t *LK_RESTRICT from;
  int64_t *LK_RESTRICT to; /* [1] */
  int64_t at;
} ipc_pick_args;
LK_DECLARE(ipc_pick, ipc_pick_args)

typedef struct ipc_gather_args {
  const uint64_t *LK_RESTRICT key;  /* [corners] ascending vertices */
  const int32_t *LK_RESTRICT perm;  /* [corners] their places in force */
  const int32_t *LK_RESTRICT owner; /* [corners], by place */
  const int64_t *LK_RESTRICT place; /* [m+1] of the owner among the active; NULL: all are */
  const lk_real *LK_RESTRICT force; /* [corners][3] N, by place */
  lk_real *LK_RESTRICT grad;        /* [n][3] N, += */
  int64_t corners;
} ipc_gather_args;
LK_DECLARE(ipc_gather, ipc_gather_args)

/* ---- active pairs ------------------------------------------------------------------------ */

typedef struct ipc_measure_args {
  ipc_state s;
  const int64_t *LK_RESTRICT num; /* [m] corners; pairs without do not count */
  lk_real *LK_RESTRICT room;      /* [m] m^2, out: D - xi^2; REAL_MAX without corners */
  int64_t *LK_RESTRICT active;    /* [m] out: 0 or 1 */
} ipc_measure_args;
LK_DECLARE(ipc_measure, ipc_measure_args)

typedef struct ipc_room_args {
  const lk_real *LK_RESTRICT room; /* [m] */
  const lk_real *LK_RESTRICT xi;   /* [m] */
} ipc_room_args;
LK_DECLARE(ipc_least_room, ipc_room_args) /* largest -(D - xi^2), m^2 */
LK_DECLARE(ipc_least_gap, ipc_room_args)  /* largest -(d - xi), m */

typedef struct ipc_compact_args {
  const int64_t *LK_RESTRICT place; /* [m+1] */
  int32_t *LK_RESTRICT list;        /* [active] out: candidates */
} ipc_compact_args;
LK_DECLARE(ipc_compact, ipc_compact_args)

typedef struct ipc_eval_args {
  ipc_state s;
  const int32_t *LK_RESTRICT list; /* [active] */
} ipc_eval_args;
LK_DECLARE(ipc_energy, ipc_eval_args)    /* sum of b, J */
LK_DECLARE(ipc_strongest, ipc_eval_args) /* largest normal force, N */

typedef struct ipc_force_args {
  ipc_state s;
  const int32_t *LK_RESTRICT list; /* [active] */
  const int64_t *LK_RESTRICT at;   /* [m+1] */
  lk_real *LK_RESTRICT force;      /* [corners][3] N, out: gradient per corner */
} ipc_force_args;
LK_DECLARE(ipc_force, ipc_force_args)

typedef struct ipc_count_args {
  const int32_t *LK_RESTRICT list; /* [active] */
  const int64_t *LK_RESTRICT num;  /* [m] corners */
  int64_t *LK_RESTRICT count;      /* [active] out */
  int32_t square;                  /* 1: their square, for blocks */
} ipc_count_args;
LK_DECLARE(ipc_count_corners, ipc_count_args)

typedef struct ipc_hessian_args {
  ipc_state s;
  const int32_t *LK_RESTRICT list;     /* [active] */
  const int64_t *LK_RESTRICT at_block; /* [active+1] */
  int64_t first;                       /* blocks already there */
  int32_t how;                         /* LOOM_HESS_* */
  int32_t *LK_RESTRICT row;
  int32_t *LK_RESTRICT col;
  lk_real *LK_RESTRICT val; /* [.][3][3] N/m */
} ipc_hessian_args;
LK_DECLARE(ipc_hessian, ipc_hessian_args)

/* ---- friction ------------------------------------------------------------------------------- */

/* What a sticking or sliding pair was when it was lagged, and what it needs besides.  The
 * point on a body is kept in its frame. */
typedef struct ipc_lagged {
  const lk_real *LK_RESTRICT x;       /* [n][3] m */
  const lk_real *LK_RESTRICT x_start; /* [n][3] m */
  const lk_real *LK_RESTRICT body0;
  const lk_real *LK_RESTRICT body1;
  const uint8_t *LK_RESTRICT fixed;
  const obst_view *LK_RESTRICT view;
  const int32_t *LK_RESTRICT v;      /* [nf][4] */
  const int32_t *LK_RESTRICT obst;   /* [nf], of VO alone, else -1 */
  const lk_real *LK_RESTRICT w;      /* [nf][4] */
  const lk_real *LK_RESTRICT normal; /* [nf][3] */
  const lk_real *LK_RESTRICT point;  /* [nf][3] m, body frame, of VO */
  const lk_real *LK_RESTRICT most;   /* [nf] N, mu lambda */
  lk_real progress;
  lk_real eps; /* m, epsilon_v h */
  int32_t n;
} ipc_lagged;

typedef struct ipc_lag_args {
  ipc_state s;
  const int32_t *LK_RESTRICT list; /* [nf] active pairs at the point of lagging */
  int32_t *LK_RESTRICT v;
  int32_t *LK_RESTRICT obst;
  lk_real *LK_RESTRICT w;
  lk_real *LK_RESTRICT normal;
  lk_real *LK_RESTRICT point;
  lk_real *LK_RESTRICT most;
  int64_t *LK_RESTRICT num;    /* [nf] corners */
  int64_t *LK_RESTRICT blocks; /* [nf] */
  lk_real self_friction;
} ipc_lag_args;
LK_DECLARE(ipc_lag, ipc_lag_args)

typedef struct ipc_slip_args {
  ipc_lagged f;
} ipc_slip_args;
LK_DECLARE(ipc_dissipation, ipc_slip_args) /* sum of mu lambda f0, J */
LK_DECLARE(ipc_work, ipc_slip_args)        /* sum of mu lambda f1 |u|, J */

typedef struct ipc_drag_args {
  ipc_lagged f;
  const int64_t *LK_RESTRICT at; /* [nf+1] */
  lk_real *LK_RESTRICT force;    /* [corners][3] N, out */
} ipc_drag_args;
LK_DECLARE(ipc_drag, ipc_drag_args)

typedef struct ipc_drag_hessian_args {
  ipc_lagged f;
  const int64_t *LK_RESTRICT at_block; /* [nf+1] */
  int64_t first;
  int32_t *LK_RESTRICT row;
  int32_t *LK_RESTRICT col;
  lk_real *LK_RESTRICT val;
} ipc_drag_hessian_args;
LK_DECLARE(ipc_drag_hessian, ipc_drag_hessian_args)

typedef struct ipc_differ_args {
  const int32_t *LK_RESTRICT a; /* [4 nf] */
  const int32_t *LK_RESTRICT b; /* [4 nf] */
} ipc_differ_args;
LK_DECLARE(ipc_differ, ipc_differ_args) /* number of places where they differ */

/* ---- shared by the kernel files ----------------------------------------------------------------
 */

/* Vertex i, of the scene or of a body's mesh. */
LK_FN void ipc_position(const ipc_state *s, int32_t i, lk_real *p)
{
  if (i < s->n) {
    LK_LOAD3(p, s->x, i);
    return;
  }
  const int32_t b = i - s->n;
  for (int c = 0; c < 3; ++c)
    p[c] = (LK_R(1.0) - s->progress) * s->body0[3 * b + c] + s->progress * s->body1[3 * b + c];
}

LK_FN int ipc_is_free(int32_t i, int32_t n, const uint8_t *fixed)
{
  return i >= 0 && i < n && !fixed[i];
}

LK_FN int ipc_is_edges(int32_t kind) { return kind == LOOM_PAIR_EE || kind == LOOM_PAIR_BEE; }

/* D, m^2, and weights of a pair of vertices; x [4][3] gets the positions. */
LK_FN lk_real ipc_pair(const ipc_state *s, lk_int c, lk_real *x, lk_real *w)
{
  for (int a = 0; a < 4; ++a) ipc_position(s, s->v[4 * c + a], x + 3 * a);
  return ipc_is_edges(s->kind[c]) ? dist_ee(x, w) : dist_vt(x, w);
}

/* Signed distance, m, of a vertex and a body; g gradient, C Hessian. */
LK_FN lk_real ipc_body(const ipc_state *s, lk_int c, lk_real *g, lk_real *C)
{
  const obst_view *const o = s->view + s->obst[c];
  obst_pose P;
  lk_real x[3];
  LK_LOAD3(x, s->x, s->v[4 * c]);
  obst_pose_at(o, s->progress, &P);
  return obst_hess(o, &P, x, g, C);
}

/* Factor of the barrier for edges that are nearly parallel; 1 for everything else. */
LK_FN lk_real ipc_mollifier(const ipc_state *s, lk_int c, const lk_real *x)
{
  return s->par[c] > LK_R(0.0) ? mollifier(mollifier_cross(x), s->par[c]) : LK_R(1.0);
}

LK_FN void ipc_law(const ipc_state *s, lk_int c, barrier_law *law)
{
  if (s->form == BARRIER_DISTANCE)
    barrier_law_distance(s->kappa, s->d_hat, s->xi[c], law);
  else
    barrier_law_of(s->kappa, s->d_hat, s->xi[c], law);
}

/* Gradient of m b(D) with respect to the four vertices, g [4][3] N. */
LK_FN void ipc_pair_gradient(const ipc_state *s, lk_int c, const barrier_law *law, lk_real *g)
{
  lk_real x[12], w[4], r[3];
  const lk_real D = ipc_pair(s, c, x, w);
  const lk_real b1 = ipc_mollifier(s, c, x) * barrier_slope(law, D);
  dist_combine(x, w, r);
  for (int i = 0; i < 12; ++i) g[i] = LK_R(2.0) * b1 * w[i / 3] * r[i % 3];
  if (s->par[c] > LK_R(0.0)) {
    lk_real dc[12];
    const lk_real cross = mollifier_cross(x);
    if (!(cross < s->par[c])) return;
    const lk_real f = barrier_value(law, D) * mollifier_slope(cross, s->par[c]);
    mollifier_cross_gradient(x, dc);
    for (int i = 0; i < 12; ++i) g[i] += f * dc[i];
  }
}

/* Tangential displacement over the step of a lagged pair, u, m; returns |u|. */
LK_FN lk_real ipc_slip(const ipc_lagged *f, lk_int i, lk_real *u)
{
  lk_real n[3];
  LK_LOAD3(n, f->normal, i);
  u[0] = u[1] = u[2] = LK_R(0.0);
  for (int b = 0; b < 4; ++b) {
    const int32_t v = f->v[4 * i + b];
    const lk_real w = f->w[4 * i + b];
    if (v < 0) continue;
    for (int k = 0; k < 3; ++k)
      u[k] += w * (v < f->n ? f->x[3 * v + k] - f->x_start[3 * v + k]
                            : f->progress *
                                  (f->body1[3 * (v - f->n) + k] - f->body0[3 * (v - f->n) + k]));
  }
  if (f->obst[i] >= 0) {
    const obst_view *const o = f->view + f->obst[i];
    obst_pose P0, P;
    lk_real p[3], then[3], now[3];
    LK_LOAD3(p, f->point, i);
    obst_pose_at(o, LK_R(0.0), &P0);
    obst_pose_at(o, f->progress, &P);
    obst_to_world(&P0, p, then);
    obst_to_world(&P, p, now);
    for (int k = 0; k < 3; ++k) u[k] -= o->moves ? now[k] - then[k] : LK_R(0.0);
  }
  const lk_real un = lk_dot3(n, u);
  for (int k = 0; k < 3; ++k) u[k] -= un * n[k];
  return lk_norm3(u);
}

#endif
