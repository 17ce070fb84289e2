/* friction.h - lagged, smoothed Coulomb friction of the pairs of a pair energy (friction.kern.h).
 */
#ifndef KIT_FRICTION_H
#define KIT_FRICTION_H

#include "kit/ahead.h"
#include "kit/friction.kern.h"
#include "kit/pair_energy.h"

typedef struct friction {
  candidates *c;
  double self_friction; /* 1, between cloths; bodies bring their own */
  double epsilon_v;     /* m/s, sliding speed below which friction fades */
  int64_t num;          /* pairs */
  int64_t num_blocks;
  loom_buf *v, *v_old;                 /* i32 [num][4] */
  loom_buf *obst;                      /* i32 [num], of exact shapes alone, else -1 */
  loom_buf *w, *normal, *point, *most; /* real [num][4], [num][3], [num][3], [num]; point: on the
                                        * body, m, at `progress` */
  loom_buf *push, *size;               /* real [n][3] N, see fric_temper */
  loom_buf *then, *now;                /* real [num][3], m: `point` at the start of the step, now */
  double progress;                     /* of the bodies' motion at the lag */
  int rule;                            /* FRIC_*, where forces of the start serve a whole step */
  ahead_data ahead;                    /* where secants are */
  loom_buf *blocks, *at_block;         /* i64 [num], [num+1] */
  gather corner;
} friction;

loom_status fric_new(friction *f, candidates *c, double self_friction, double epsilon_v);
void fric_reset(friction *f);
/* 1: some coefficient of friction is positive. */
int fric_any(const friction *f);
/* Freezes normal forces and planes of the active pairs at x with the model's kernel `lag`;
 * *changed: LOOM_CHANGED_*.  LOOM_REJECTED as cand_activate(): the last lag stays in force. */
loom_status fric_lag(friction *f, const pair_energy *p, const lk_entry *lag, const loom_step *s,
                     loom_buf *x, double progress, uint32_t *changed);
/* Carries points of bodies along.  point, real [num][3], m: points of the bodies `obst`, i32 [num],
 * at progress `from` of the step's motion; out: the same points at progress `to`.  Rows with the
 * body -1 are left alone. */
loom_status fric_carry(const candidates *c, loom_buf *obst, loom_buf *point, int64_t num,
                       double from, double to, loom_buf *out);
/* fric_lag() for an x at which cand_activate() has just been called. */
loom_status fric_lag_active(friction *f, const pair_energy *p, const lk_entry *lag,
                            const loom_step *s, loom_buf *x, double progress, uint32_t *changed);
/* Maps the lagged pairs for kernels. */
fric_state fric_open(friction *f, plug_maps *m, const loom_step *s, loom_buf *x);
/* Adds to *potential (sum of mu lambda f0) and *work (sum of mu lambda f1 |u|), J, when the core
 * has read the sums; NULL: not requested. */
loom_status fric_sums(friction *f, const loom_step *s, loom_buf *x, double *potential,
                      double *work);
/* Sum of mu lambda, N. */
loom_status fric_most(friction *f, double *sum);
loom_status fric_gradient(friction *f, const loom_step *s, loom_buf *x, loom_buf *grad);
/* Finds f->ahead, where vertices go in this step, for secants. */
loom_status fric_find_ahead(friction *f, const loom_step *s);
/* f->num_blocks blocks from out's place `first` on.
 *
 * An expansion around the start of the step has to serve the whole step (LOOM_EXPAND_STEP, matrix
 * LOOM_HESS_EXPANSION).  At the start the slip u is zero, and the Hessian there is that of sticking
 * pairs; it would hold sliding pairs to the speed epsilon_v.  So energy, gradient and matrix are
 * those of k |u|^2 / 2.  k is the secant mu lambda f1/|u| at the slip that vertices have where they
 * go (kit/ahead.h); slips are relative to bodies at the end of their motion. */
loom_status fric_add_hessian(friction *f, const loom_step *s, loom_buf *x, int how, int64_t first,
                             loom_blocks3 *out);

#endif
