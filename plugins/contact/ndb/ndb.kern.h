/* ndb.kern.h - kernels of the non-distance barrier: contacts frozen at the last feasible point.
 *
 * A contact c has, from the closest points at x_feas, signed weights W and a normal n; until it
 * is frozen again its gap is g(x) = n . sum_i W_i x_i - off, a linear function of x.  Its force
 * pushes towards g = d_hat with the weight w of ndb_rule.kern.h, and is zero beyond.
 *   NDB_HALFSPACE  the closest point of the half-space {g >= d_hat}: E = w (d_hat - g)^2 / (2 S),
 *                  S = sum of W_i^2 over the corners that are free; of an element and a body (EO)
 *                  over all, and E times its share (kit/element_share.h)
 *   NDB_MASS       every vertex of the first side to x + r1 (d_hat - g) n, of the second to
 *                  x - r2 (d_hat - g) n, with the shares r1 = m2/(m1+m2), r2 = m1/(m1+m2) of the
 *                  masses m = sum |W| m_i of the two sides (the rule of the authors' earlier
 *                  demo); it has no energy
 */
#ifndef NDB_KERN_H
#define NDB_KERN_H

#include "geom/ccd_partial.kern.h"
#include "kit/friction.kern.h"
#include "kit/iso_terms.kern.h"
#include "ndb_rule.kern.h"

enum { NDB_HALFSPACE = 0, NDB_MASS = 1 };

/* Contacts and where their vertices are; f: weights, normals and friction (kit/friction.kern.h). */
typedef struct ndb_state {
  fric_state f;
  const int32_t *LK_RESTRICT kind;   /* [m] LOOM_PAIR_* */
  const lk_real *LK_RESTRICT off;    /* [m] m */
  const lk_real *LK_RESTRICT share;  /* [m][2] 1: {1/S, 0} or {r1, r2}, times the mollifier */
  const lk_real *LK_RESTRICT weight; /* [m] N/m */
  const lk_real *LK_RESTRICT lack;   /* [m] m, d_hat - g at x, 0 beyond (ndb_measure) */
  ahead_ways ahead;                  /* as in kit/friction.kern.h */
  lk_real progress;                  /* of the bodies, for gaps; f.progress: for slips */
  lk_real d_hat;                     /* m */
  lk_real scale;                     /* N/m, the unit of w0, of several objects the largest */
  const int32_t *LK_RESTRICT object; /* [n], where `part` is given */
  const lk_real *LK_RESTRICT part;   /* [num_objects] share of scale; NULL: 1 */
  int32_t targets;                   /* NDB_HALFSPACE or NDB_MASS */
} ndb_state;

typedef struct ndb_key_args {
  const int32_t *LK_RESTRICT pick; /* [m] indices of contacts in kind and name; NULL: all of them */
  const int32_t *LK_RESTRICT kind;
  const uint64_t *LK_RESTRICT name; /* [m] keys of detection, unique within a kind */
  uint64_t *LK_RESTRICT key;        /* [m] out: unique, ascending */
} ndb_key_args;
LK_DECLARE(ndb_key, ndb_key_args)

typedef struct ndb_carry_args {           /* data that new contacts take over from old ones */
  const int32_t *LK_RESTRICT from;        /* [m] index of the contact before, -1: new */
  const int32_t *LK_RESTRICT age_old;     /* [m before] */
  const int32_t *LK_RESTRICT brought_old; /* [m before] */
  const lk_real *LK_RESTRICT force_old;   /* [m before] N */
  const int32_t *LK_RESTRICT kind;
  const int32_t *LK_RESTRICT v;        /* [m][4] */
  const int32_t *LK_RESTRICT obst;     /* [m] obstacle or -1 */
  const lk_real *LK_RESTRICT friction; /* [num_obstacles] 1 */
  int32_t *LK_RESTRICT age;            /* [m] out */
  int32_t *LK_RESTRICT brought;        /* [m] out: age at the start of the step */
  lk_real *LK_RESTRICT most;           /* [m] N, out: mu times the normal force there was */
  pair_friction named;
  lk_real self_friction;
  int32_t keep_age;
} ndb_carry_args;
LK_DECLARE(ndb_carry, ndb_carry_args)

typedef struct ndb_freeze_args {
  cand_state s;                    /* at x_feas */
  const lk_real *LK_RESTRICT mass; /* [n] kg */
  int32_t *LK_RESTRICT slip_obst;  /* [m] out: obst of exact shapes, else -1 */
  lk_real *LK_RESTRICT w;          /* [m][4] out */
  lk_real *LK_RESTRICT normal;     /* [m][3] out */
  lk_real *LK_RESTRICT point;      /* [s.row[m]][3] m, out: of exact shapes, on the body */
  lk_real *LK_RESTRICT off;        /* [m] out */
  lk_real *LK_RESTRICT share;      /* [m][2] out */
  int32_t targets;
  int32_t mollify; /* 1: shares of nearly parallel edges fade (geom/barrier.kern.h) */
  int32_t thin;    /* 1: contacts that others cover (kit/candidates.kern.h) have the share 0 */
  int64_t count;   /* contacts */
} ndb_freeze_args;
LK_DECLARE(ndb_freeze, ndb_freeze_args)

typedef struct ndb_measure_args { /* the state has no lacks */
  ndb_state s;
  lk_real *LK_RESTRICT lack; /* [m] m, out */
  uint8_t *LK_RESTRICT live; /* [m] out: 0: neither normal force nor friction */
} ndb_measure_args;
LK_DECLARE(ndb_measure, ndb_measure_args)

typedef struct ndb_age_args { /* ages, weights and forces at x; the state has neither weights nor
                                 lacks */
  ndb_state s;
  const lk_real *LK_RESTRICT x_feas;  /* [n][3] m */
  int32_t *LK_RESTRICT age;           /* [m] */
  const int32_t *LK_RESTRICT brought; /* [m] */
  int32_t *LK_RESTRICT leave;         /* [m] out: age to begin the next step with */
  lk_real *LK_RESTRICT weight;        /* [m] N/m, out */
  lk_real *LK_RESTRICT force;         /* [m] N, out: normal force */
  ccd_partial_settings partial;
  lk_real w0, base, w_max; /* N/m, 1, N/m */
  int32_t grow, cap;
  int32_t ageing; /* 0: ages stay */
  int32_t
      frozen; /* 1: contact of the start of the step serves all of it, with the weights of then */
} ndb_age_args;
LK_DECLARE(ndb_age, ndb_age_args)

/* Normal forces at x_start: per free corner the gradient, or |w| times the force as the first
 * number. */
typedef struct ndb_push_args {
  ndb_state s;                   /* at x_start, without lacks */
  const int64_t *LK_RESTRICT at; /* [m+1] first corner; a contact without room has no force */
  lk_real *LK_RESTRICT force;    /* [corners][3] N, out */
  int32_t size;                  /* 1: |w| times the force */
} ndb_push_args;
LK_DECLARE(ndb_push, ndb_push_args)

/* Forces of friction in an expansion (fric_temper). */
typedef struct ndb_temper_args {
  ndb_state s;                         /* at x_start, without lacks */
  const int32_t *LK_RESTRICT obst;     /* [m] obstacle or -1 */
  const lk_real *LK_RESTRICT friction; /* [num_obstacles] 1 */
  lk_real *LK_RESTRICT limit;          /* [m] N, out: mu times the force */
  pair_friction named;
  lk_real self_friction;
  fric_temper t; /* with push and size */
} ndb_temper_args;
LK_DECLARE(ndb_temper, ndb_temper_args)

typedef struct ndb_sum_args {
  ndb_state s;
} ndb_sum_args;
LK_DECLARE(ndb_energy, ndb_sum_args)    /* J, NDB_HALFSPACE */
LK_DECLARE(ndb_loss, ndb_sum_args)      /* J, sum of mu lambda f0 */
LK_DECLARE(ndb_work, ndb_sum_args)      /* J, sum of mu lambda f1 |u| */
LK_DECLARE(ndb_active, ndb_sum_args)    /* contacts with a normal force */
LK_DECLARE(ndb_strongest, ndb_sum_args) /* N, largest normal force */

LK_DECLARE(ndb_deepest, ndb_sum_args) /* m, largest lack to d_hat / 2 */

typedef struct ndb_ages_args {
  const int32_t *LK_RESTRICT age; /* [m] */
} ndb_ages_args;
LK_DECLARE(ndb_grown, ndb_ages_args)  /* contacts with an age above 0 */
LK_DECLARE(ndb_oldest, ndb_ages_args) /* largest age */

typedef struct ndb_gap_args {
  cand_state s;
} ndb_gap_args;
LK_DECLARE(ndb_least_gap, ndb_gap_args) /* largest -(distance - xi), m */

typedef struct ndb_force_args {
  ndb_state s;
  const int64_t *LK_RESTRICT at;   /* [m+1] first corner */
  const uint8_t *LK_RESTRICT live; /* [m] */
  lk_real *LK_RESTRICT force;      /* [corners][3] N, out: gradient per corner of live contacts */
} ndb_force_args;
LK_DECLARE(ndb_force, ndb_force_args)

typedef struct ndb_count_args {
  const uint8_t *LK_RESTRICT live; /* [m] */
  const int64_t *LK_RESTRICT num;  /* [m] corners */
  int64_t *LK_RESTRICT count;      /* [m] out: corners, or their square, of live contacts */
  int32_t square;
} ndb_count_args;
LK_DECLARE(ndb_count, ndb_count_args)

typedef struct ndb_quad_args {
  ndb_state s;
  const int64_t *LK_RESTRICT at; /* [m+1] first term */
  iso_terms t;
} ndb_quad_args;
LK_DECLARE(ndb_quad, ndb_quad_args)
LK_DECLARE(ndb_quad_clear, ndb_quad_args) /* per term */

typedef struct ndb_hessian_args {
  ndb_state s;
  const int64_t *LK_RESTRICT at; /* [m+1] first block */
  int64_t first;                 /* blocks already there */
  int32_t *LK_RESTRICT row;
  int32_t *LK_RESTRICT col;
  lk_real *LK_RESTRICT val; /* [.][3][3] N/m */
} ndb_hessian_args;
LK_DECLARE(ndb_hessian, ndb_hessian_args)

/* ---- repair: min sum m_i/2 |x_i - hat_i|^2 subject to g_c(x) >= d_hat/2, by accelerated projected
 * gradients on the impulses lambda_c >= 0, x = hat + M^-1 sum_c lambda_c grad g_c.  The metric
 * D_c = sum_i |W_ic|/m_i sum_c' |W_ic'| bounds the dual matrix by its row sums, so steps of D^-1
 * are safe.  Sums over the contacts of a vertex are gathered from corners. */

typedef struct ndb_repair_args {
  ndb_state s;                     /* at x */
  const int64_t *LK_RESTRICT at;   /* [m+1] first corner */
  const lk_real *LK_RESTRICT mass; /* [n] kg */
  const lk_real *LK_RESTRICT load; /* [n][3] {sum of |W|, ., .} (ndb_damp) */
  lk_real *LK_RESTRICT force;      /* [corners][3] out: {|W|, 0, 0}, or lambda W n */
  lk_real *LK_RESTRICT impulse;    /* [m][2] kg m: lambda, and extrapolated */
  lk_real *LK_RESTRICT inverse;    /* [m] kg, 1/D_c; 0: not in play */
  uint8_t *LK_RESTRICT plays;      /* [m] 1: in play (ndb_play), else without places in force */
  lk_real reach;                   /* m, gaps in play */
  lk_real beta;                    /* extrapolation of this sweep */
} ndb_repair_args;
LK_DECLARE(ndb_play, ndb_repair_args)
LK_DECLARE(ndb_load, ndb_repair_args)
LK_DECLARE(ndb_damp, ndb_repair_args)
LK_DECLARE(ndb_impulse, ndb_repair_args)

typedef struct ndb_shift_args {
  const lk_real *LK_RESTRICT hat;  /* [n][3] m */
  const lk_real *LK_RESTRICT push; /* [n][3] kg m */
  const lk_real *LK_RESTRICT mass; /* [n] kg */
  const uint8_t *LK_RESTRICT fixed;
  lk_real *LK_RESTRICT x; /* [n][3] m, out */
} ndb_shift_args;
LK_DECLARE(ndb_shift, ndb_shift_args)

#endif
