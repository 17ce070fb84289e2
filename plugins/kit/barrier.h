/* barrier.h - contact models with friction and an energy that grows without bound as a gap closes:
 * stiffness (stiffness.h), lags of friction, checks for overlaps, checkpoints.
 *
 *   B(x) = sum over pairs of  m(x) b(D(x))
 * over all vertex-triangle and edge-edge pairs without a common vertex, and all vertices and bodies
 * with a signed distance; b is the model's own (pair_energy.kern.h), with the numbers kappa and
 * d_hat.  At a point with D <= xi^2 for some pair, energy and gradient are LOOM_REJECTED. */
#ifndef KIT_BARRIER_H
#define KIT_BARRIER_H

#include "kit/friction.h"
#include "kit/stiffness.h"

enum { BARRIER_LAG_STEP = 0, BARRIER_LAG_ITERATION = 1 };
enum { BARRIER_HESSIAN_CLAMP = 0, BARRIER_HESSIAN_GAUSS_NEWTON = 1 };
enum { BARRIER_KAPPA = STIFFNESS_NUMBER, BARRIER_D_HAT = 1 }; /* numbers of the law, N/m and m */

typedef struct barrier_settings {
  double d_hat;
  double stiffness; /* N/m, kappa; 0: chosen */
  double slack;
  int32_t hessian; /* BARRIER_HESSIAN_* */
  double self_friction;
  double epsilon_v;
  int32_t friction_lag; /* BARRIER_LAG_* */
  int64_t lag_rounds;
} barrier_settings;

/* Rows for a plugin's table of parameters; `lag` is the default of friction_lag.  The settings of
 * the plugin are a barrier_settings, or a struct that begins with it. */
#define BARRIER_PARAM_D_HAT                                 \
  LOOM_PARAM_REAL(barrier_settings, d_hat, 1e-3, 0, 1, "m", \
                  "Gap (distance minus both radii) at which the force begins.", LOOM_P_OPEN_MIN)
#define BARRIER_PARAM_SLACK                                                                        \
  LOOM_PARAM_REAL(barrier_settings, slack, 0, 0, 1, "m",                                           \
                  "Pairs are looked for this far beyond d_hat, and again when a vertex has moved " \
                  "by half of it; 0: 2 mm, less in fine meshes.")
#define BARRIER_SLACK 2e-3 /* m, see there */
#define BARRIER_PARAM_HESSIAN                                                                   \
  LOOM_PARAM_ENUM(barrier_settings, hessian, BARRIER_HESSIAN_CLAMP, "clamp|gauss_newton",       \
                  "Second derivatives: exact, with negative eigenvalues treated as the solver " \
                  "asks; or without the curvature of the distance.")
#define BARRIER_PARAMS_FRICTION(lag)                                                              \
  LOOM_PARAM_REAL(barrier_settings, self_friction, 0, 0, 10, "1",                                 \
                  "Coulomb coefficient between cloths; bodies bring their own.", LOOM_P_PROBLEM), \
      LOOM_PARAM_REAL(barrier_settings, epsilon_v, 1e-3, 1e-9, 1, "m/s",                          \
                      "Sliding speed below which friction fades: sticking pairs creep slower "    \
                      "than this (Li et al. 2020, eq. 18, doi 10.1145/3386569.3392425)."),        \
      LOOM_PARAM_ENUM(                                                                            \
          barrier_settings, friction_lag, lag, "step|iteration",                                  \
          "Normal forces and planes for friction: of the start of the step, which leaves cloth "  \
          "that lands too fast by about one step of friction, mu g h, or of the last accepted "   \
          "iterate, which makes Newton linear and can cycle."),                                   \
      LOOM_PARAM_INT(barrier_settings, lag_rounds, 0, 0, 1000000, "1",                            \
                     "With friction_lag = iteration: lags per step at most, the first at its "    \
                     "start; 0: at every accepted iterate.",                                      \
                     0, "friction_lag = iteration")

#define BARRIER_COLUMNS                                                             \
  {                                                                                 \
    "kappa", "N/m",                                                                 \
        "stiffness of the barrier: as given, or as chosen and doubled since; each " \
        "object has its own, this is the largest"                                   \
  }

typedef struct barrier_model { /* kernels of the plugin's energy */
  pair_kernels pair;
  lk_entry lag;
} barrier_model;

typedef struct barrier {
  candidates c;
  pair_energy energy;
  friction friction;
  const barrier_model *model;
  barrier_settings set;
  stiffness stiffness;
  int frozen_rule;  /* FRIC_* of frozen contact; barrier_new() leaves FRIC_END */
  int64_t rounds;   /* lags of this step */
  uint32_t pending; /* LOOM_CHANGED_* since the last update */
} barrier;

/* Callbacks of loom_contact_ops, for the plugin's own of the same name.
 * unit: see stiffness_new(). */
loom_status barrier_new(barrier *p, const loom_host *host, const loom_scene *sc, const loom_exec *e,
                        const barrier_settings *set, const barrier_model *model, double unit);
void barrier_free(barrier *p); /* also after a barrier_new() that failed */
loom_status barrier_reset(barrier *p);
/* Weights of displacements in the problem that this barrier is part of, real [n][width], N/m: they
 * replace m/h^2 in the choice of the first stiffness.  Call it before the first
 * barrier_begin_step() of a run. */
loom_status barrier_weigh(barrier *p, loom_buf *weight, int width);
loom_status barrier_begin_step(barrier *p, const loom_step *s);
/* For frozen contact, where friction has no accepted iterates to follow within a step.  Call it
 * when a correction has ended at x.  If friction has no normal forces yet, it takes the forces at
 * x, as far as lag_rounds allows.  *again = 1: they changed by more than 2 %, so the correction has
 * to go on.  Without this call the step in which a contact begins would have no friction. */
loom_status barrier_follow(barrier *p, const loom_step *s, loom_buf *x, int *again);
loom_status barrier_plan(barrier *p, const loom_step *s, loom_query *q);
loom_status barrier_update(barrier *p, const loom_step *s, const loom_pairs *pairs, int when,
                           uint32_t *changed);
loom_status barrier_end_step(barrier *p, const loom_step *s);
loom_status barrier_eval(barrier *p, const loom_step *s, loom_buf *x, double *energy,
                         double *dissipation, loom_buf *grad);
loom_status barrier_hessian(barrier *p, const loom_step *s, loom_buf *x, int how,
                            loom_blocks3 *out);
/* With BARRIER_COLUMNS. */
loom_status barrier_metrics(barrier *p, const loom_step *s, loom_contact_metrics *out);
loom_status barrier_checkpoint(barrier *p, const loom_step *s, int restore);

/* cand_activate() at x, which fails where pairs overlap; `what` begins the message. */
loom_status barrier_activate(barrier *p, const loom_step *s, loom_buf *x, const char *what);

/* Callbacks of a plugin with the instance T, which pass its member `barrier b` on. */
#define BARRIER_CALLBACKS(T)                                                                       \
  static void T##_destroy(void *self)                                                              \
  {                                                                                                \
    barrier_free(&((T *)self)->b);                                                                 \
    plug_free(self);                                                                               \
  }                                                                                                \
  static loom_status T##_reset(void *self) { return barrier_reset(&((T *)self)->b); }              \
  static loom_status T##_begin_step(void *self, const loom_step *s)                                \
  {                                                                                                \
    return barrier_begin_step(&((T *)self)->b, s);                                                 \
  }                                                                                                \
  static loom_status T##_plan(void *self, const loom_step *s, loom_query *q)                       \
  {                                                                                                \
    return barrier_plan(&((T *)self)->b, s, q);                                                    \
  }                                                                                                \
  static loom_status T##_update(void *self, const loom_step *s, const loom_pairs *pairs, int when, \
                                uint32_t *changed)                                                 \
  {                                                                                                \
    return barrier_update(&((T *)self)->b, s, pairs, when, changed);                               \
  }                                                                                                \
  static loom_status T##_end_step(void *self, const loom_step *s)                                  \
  {                                                                                                \
    return barrier_end_step(&((T *)self)->b, s);                                                   \
  }                                                                                                \
  static loom_status T##_eval(void *self, const loom_step *s, loom_buf *x, double *energy,         \
                              double *dissipation, loom_buf *grad)                                 \
  {                                                                                                \
    return barrier_eval(&((T *)self)->b, s, x, energy, dissipation, grad);                         \
  }                                                                                                \
  static loom_status T##_hessian(void *self, const loom_step *s, loom_buf *x, int how,             \
                                 loom_blocks3 *out)                                                \
  {                                                                                                \
    return barrier_hessian(&((T *)self)->b, s, x, how, out);                                       \
  }                                                                                                \
  static loom_status T##_metrics(void *self, const loom_step *s, loom_contact_metrics *out)        \
  {                                                                                                \
    return barrier_metrics(&((T *)self)->b, s, out);                                               \
  }                                                                                                \
  static loom_status T##_checkpoint(void *self, const loom_step *s, int restore)                   \
  {                                                                                                \
    return barrier_checkpoint(&((T *)self)->b, s, restore);                                        \
  }

#endif
