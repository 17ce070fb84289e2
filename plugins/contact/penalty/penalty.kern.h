/* penalty.kern.h - kernels of the quadratic penalty.
 *
 * For pair j with weights w, normal n:  gap  g(x) = n . sum_a w_a x_a + c  (c from detection),
 * depth  d = min(g - offset, 0),  energy  k d^2 / 2.
 * Tangential displacement over the step  u = (I - t t') (sum_a w_a (x_a - x_start_a) - move), t the
 * normal of the pair where its normal force lambda is taken: where x is, or at the start of the
 * step, friction potential  mu lambda f0(|u|), smoothed below max(epsilon_v h, 2 mu lambda / (stick
 * k)).
 */
#ifndef PENALTY_KERN_H
#define PENALTY_KERN_H

#include "geom/distance.kern.h"
#include "geom/friction.kern.h"
#include "geom/small.kern.h"
#include "kit/friction.kern.h"
#include "kit/iso_terms.kern.h"

typedef struct penalty_setup_args {    /* after detection, at the positions x it was made for */
  const lk_real *LK_RESTRICT x;        /* [n][3] m */
  const lk_real *LK_RESTRICT mass;     /* [n] kg */
  const uint8_t *LK_RESTRICT fixed;    /* [n] */
  const int32_t *LK_RESTRICT kind;     /* [m] LOOM_PAIR_* */
  const int32_t *LK_RESTRICT v;        /* [m][4] */
  const lk_real *LK_RESTRICT w;        /* [m][4] */
  const int32_t *LK_RESTRICT obst;     /* [m] */
  const lk_real *LK_RESTRICT normal;   /* [m][3] */
  const lk_real *LK_RESTRICT gap;      /* [m] m */
  const lk_real *LK_RESTRICT point;    /* [m][3] m */
  const lk_real *LK_RESTRICT friction; /* [num_obstacles] 1 */
  const lk_real *LK_RESTRICT share;    /* [m] 1, factors of k; NULL: 1 */
  lk_real *LK_RESTRICT c;              /* [m] m, out */
  lk_real *LK_RESTRICT k;              /* [m] N/m, out */
  lk_real *LK_RESTRICT mu;             /* [m] 1, out */
  lk_real *LK_RESTRICT move;   /* [m][3] m, in: the point of the obstacle at the start of the step;
                                * out: how far it has gone since */
  int64_t *LK_RESTRICT blocks; /* [m] out: square of the number of its vertices */
  lk_real stiffness;           /* 1/s^2 */
  lk_real self_friction;       /* 1 */
  pair_friction named;         /* coefficients of pairs that have their own */
} penalty_setup_args;
LK_DECLARE(penalty_setup, penalty_setup_args)

/* Inputs of an evaluation. */
typedef struct penalty_state {
  const lk_real *LK_RESTRICT x;       /* [n][3] m */
  const lk_real *LK_RESTRICT x_start; /* [n][3] m */
  const int32_t *LK_RESTRICT v;       /* [m][4] */
  const lk_real *LK_RESTRICT w;       /* [m][4] */
  const lk_real *LK_RESTRICT normal;  /* [m][3] */
  const lk_real *LK_RESTRICT c;       /* [m] m */
  const lk_real *LK_RESTRICT k;       /* [m] N/m */
  const lk_real *LK_RESTRICT mu;      /* [m] 1 */
  const lk_real *LK_RESTRICT move;    /* [m][3] m */
  const lk_real *LK_RESTRICT lambda;  /* [m] N */
  const lk_real *LK_RESTRICT across;  /* [m][3] t, friction is in the plane across it */
  /* Of an expansion around x for the whole step, else zeros: planes act that act while bodies are
   * at their start, friction is kt |u|^2 / 2 with its secant kt at ahead_slip(). */
  ahead_ways ahead;
  lk_real offset; /* m */
  lk_real eps;    /* m, epsilon_v h */
  lk_real stick;  /* 1, largest stiffness of friction over k */
  int32_t n;      /* vertices */
} penalty_state;

typedef struct penalty_lag_args {
  penalty_state s;
  const int32_t *LK_RESTRICT kind; /* [m] LOOM_PAIR_* */
  lk_real *LK_RESTRICT lambda;     /* [m] N, out */
  lk_real *LK_RESTRICT across;     /* [m][3], out */
  int32_t at_start;                /* 1: s.x is x_start, obstacles at their start poses */
  int32_t cloth_at_start;          /* 1: pairs of cloth have their force at x_start */
} penalty_lag_args;
LK_DECLARE(penalty_lag, penalty_lag_args)

typedef struct penalty_temper_args {
  penalty_state s;                   /* without lambda and across */
  const uint8_t *LK_RESTRICT fixed;  /* [n] */
  const lk_real *LK_RESTRICT across; /* [m][3] */
  lk_real *LK_RESTRICT lambda;       /* [m] N */
  fric_temper t;
} penalty_temper_args;
LK_DECLARE(penalty_temper, penalty_temper_args)

typedef struct penalty_eval_args {
  penalty_state s;
} penalty_eval_args;
LK_DECLARE(penalty_energy, penalty_eval_args)      /* sum of k d^2 / 2, J */
LK_DECLARE(penalty_dissipation, penalty_eval_args) /* sum of mu lambda f0, J */
LK_DECLARE(penalty_active, penalty_eval_args)      /* number of pairs with d < 0 */
LK_DECLARE(penalty_lowest, penalty_eval_args)      /* largest -g, m */
LK_DECLARE(penalty_strongest, penalty_eval_args)   /* largest normal force, N */
LK_DECLARE(penalty_work, penalty_eval_args)        /* sum of mu lambda f1 |u|, J */

typedef struct penalty_force_args {
  penalty_state s;
  const int64_t *LK_RESTRICT at; /* [m+1] */
  lk_real *LK_RESTRICT force;    /* [corners][3] N, out: gradient per corner */
} penalty_force_args;
LK_DECLARE(penalty_force, penalty_force_args)

/* Of every corner of a pair, as the first number: |w| mu lambda, or |w| lambda; or the gradient. */
enum { PENALTY_FRICTION = 0, PENALTY_SIZE, PENALTY_PUSH };
typedef struct penalty_hold_args {
  penalty_state s;
  int32_t sum;                   /* PENALTY_* */
  const int64_t *LK_RESTRICT at; /* [m+1] */
  lk_real *LK_RESTRICT force;    /* [corners][3] N, out */
} penalty_hold_args;
LK_DECLARE(penalty_hold, penalty_hold_args)

typedef struct penalty_blocks_args {
  penalty_state s;
  const int64_t *LK_RESTRICT at_block; /* [m+1] */
  int64_t first;                       /* blocks already there */
  int32_t *LK_RESTRICT row;
  int32_t *LK_RESTRICT col;
  lk_real *LK_RESTRICT val; /* [.][3][3] N/m */
  int32_t split, reserved;  /* 1: an element is one number of each block of a pair, 9 m elements */
} penalty_blocks_args;
LK_DECLARE(penalty_blocks, penalty_blocks_args)

typedef struct penalty_terms_args {
  penalty_state s;
  iso_terms t;
} penalty_terms_args;
LK_DECLARE(penalty_terms, penalty_terms_args)

typedef struct penalty_differ_args {
  const uint64_t *LK_RESTRICT a; /* [m] */
  const uint64_t *LK_RESTRICT b; /* [m] */
} penalty_differ_args;
LK_DECLARE(penalty_differ, penalty_differ_args) /* number of places where they differ */

#endif
