/* run.kern.h - kernels of a run: prediction, inertia, residual norms, contact
 * forms.  Fixed vertices carry fixed[i] = 1. */
#ifndef LOOM_RUN_KERN_H
#define LOOM_RUN_KERN_H

#include "loom/kernel.h"

typedef struct {                      /* y = x + h v exp(-c h) + h^2 (g + f / m) */
  const lk_real *LK_RESTRICT x;       /* [n][3] m */
  const lk_real *LK_RESTRICT v;       /* [n][3] m/s */
  const lk_real *LK_RESTRICT f;       /* [n][3] N, forwarded force, or NULL */
  const lk_real *LK_RESTRICT m;       /* [n] kg */
  const lk_real *LK_RESTRICT damping; /* [n] 1/s */
  const uint8_t *LK_RESTRICT fixed;   /* [n]; rows of y of fixed vertices are rows of x */
  lk_real *LK_RESTRICT y;             /* [n][3] m, out */
  lk_real g[3];                       /* m/s^2 */
  lk_real h;                          /* s */
} predict_args;
LK_DECLARE(run_predict, predict_args)

typedef struct { /* the guess x + h v exp(-c h), fixed rows from y */
  const lk_real *LK_RESTRICT x, *LK_RESTRICT v, *LK_RESTRICT damping, *LK_RESTRICT y;
  const uint8_t *LK_RESTRICT fixed;
  lk_real *LK_RESTRICT out; /* [n][3] m */
  lk_real h;                /* s; 0: the guess is x itself */
} guess_args;
LK_DECLARE(run_guess, guess_args)

typedef struct {
  const lk_real *LK_RESTRICT x;  /* [n][3] m */
  const lk_real *LK_RESTRICT x0; /* [n][3] m */
  lk_real *LK_RESTRICT v;        /* [n][3] m/s, out */
  lk_real h;                     /* s */
} velocity_args;
LK_DECLARE(run_velocity, velocity_args) /* v = (x - x0) / h */

typedef struct forward_args {       /* f += (2 delta - share last) m / h^2 */
  const lk_real *LK_RESTRICT delta; /* [n][3] m */
  const lk_real *LK_RESTRICT last;  /* [n][3] m */
  const lk_real *LK_RESTRICT m;     /* [n] kg */
  const uint8_t *LK_RESTRICT fixed; /* [n] */
  lk_real *LK_RESTRICT f;           /* [n][3] N */
  lk_real share;
  lk_real per_h2; /* 1/s^2 */
} forward_args;
LK_DECLARE(run_forward, forward_args)

typedef struct {
  const lk_real *LK_RESTRICT x;     /* [n][3] m */
  const lk_real *LK_RESTRICT y;     /* [n][3] m */
  const lk_real *LK_RESTRICT m;     /* [n] kg */
  const uint8_t *LK_RESTRICT fixed; /* [n] */
  lk_real *LK_RESTRICT out;         /* [n][3] N */
  lk_real inv_h2;                   /* 1/s^2; or 1, where m is D, N/m */
} inertia_args;
LK_DECLARE(run_inertia_gradient, inertia_args) /* out = m (x - y) / h^2 */
LK_DECLARE(run_inertia_energy, inertia_args)   /* sum of m |x - y|^2 / (2 h^2), J */
LK_DECLARE(run_inertia_apply, inertia_args)    /* out += m x / h^2 (matrix-free mass) */
LK_DECLARE(run_mass_times, inertia_args)       /* out = m y / h^2 */

typedef struct {
  const uint8_t *LK_RESTRICT fixed; /* [n] */
  lk_real *LK_RESTRICT a;           /* [n][3] */
  const lk_real *LK_RESTRICT b;     /* [n][3] */
} rows_args;
LK_DECLARE(run_zero_fixed, rows_args) /* a = 0 on fixed rows */
LK_DECLARE(run_copy_fixed, rows_args) /* a = b on fixed rows */

typedef struct {
  const lk_real *LK_RESTRICT g;       /* [n][3] N */
  const lk_real *LK_RESTRICT m;       /* [n] kg, or D in N/m */
  const uint8_t *LK_RESTRICT fixed;   /* [n] */
  const uint8_t *LK_RESTRICT touched; /* [n], or NULL */
} norm_args;
LK_DECLARE(run_norm_sum, norm_args)  /* sum over free, untouched rows of |g|^2 / m */
LK_DECLARE(run_norm_max, norm_args)  /* largest |g|^2 / m^2 over free rows, 0 if none */
LK_DECLARE(run_norm_mass, norm_args) /* sum of m over free, untouched rows */

typedef struct {
  const lk_real *LK_RESTRICT a; /* [n][3] */
  const lk_real *LK_RESTRICT b; /* [n][3], NULL: zero */
  const lk_real *LK_RESTRICT m; /* [n] kg */
  lk_real g[3];                 /* m/s^2 */
} weighted_args;
LK_DECLARE(run_weighted_sq, weighted_args)  /* sum of m |a - b|^2 */
LK_DECLARE(run_weighted_dot, weighted_args) /* sum of m (a - b) . g */

typedef struct {                                /* per-vertex steps: out = a + t (b - a) */
  const lk_real *LK_RESTRICT a, *LK_RESTRICT b; /* [n][3] m */
  const lk_real *LK_RESTRICT t;                 /* [n] */
  const uint8_t *LK_RESTRICT fixed;             /* [n], fixed rows take t_all */
  lk_real *LK_RESTRICT out;                     /* [n][3] m */
  lk_real t_all;                                /* used also where t is NULL */
} blend_args;
LK_DECLARE(run_blend, blend_args)

typedef struct {
  lk_real *LK_RESTRICT a;       /* [n] */
  const lk_real *LK_RESTRICT b; /* [n] */
} min_args;
LK_DECLARE(run_min, min_args) /* a = min(a, b) */

typedef struct {
  const int32_t *LK_RESTRICT v; /* [m][4], -1 for unused */
  uint8_t *LK_RESTRICT touched; /* [n] */
  int32_t n;                    /* ids from here on are of bodies */
} touch_args;
LK_DECLARE(run_touch, touch_args) /* touched[v] = 1; every write has the same value */

/* ---- quadratic contact terms, see loom_quad ---- */
typedef struct {
  const lk_real *LK_RESTRICT x;   /* [n][3] m */
  const int32_t *LK_RESTRICT v;   /* [m][4] */
  const lk_real *LK_RESTRICT w;   /* [m][4] */
  const lk_real *LK_RESTRICT k;   /* [m] N/m */
  const lk_real *LK_RESTRICT p;   /* [m][3] m */
  const lk_real *LK_RESTRICT dir; /* [m][3] or NULL */
  lk_real *LK_RESTRICT out;       /* gradient [m][4][3] N; Hessian [16 m][3][3] N/m */
  int32_t *LK_RESTRICT row;       /* Hessian: [16 m] */
  int32_t *LK_RESTRICT col;       /* Hessian: [16 m] */
} quad_args;
LK_DECLARE(run_quad_energy, quad_args)
LK_DECLARE(run_quad_gradient, quad_args)
LK_DECLARE(run_quad_hessian, quad_args) /* unused corners: row = col = v[0], value 0 */

/* ---- pair lists ---- */
typedef struct {
  const int32_t *LK_RESTRICT kind;
  const uint64_t *LK_RESTRICT key;
  const int32_t *LK_RESTRICT perm; /* [m] or NULL: identity */
  uint64_t *LK_RESTRICT out;       /* [m] */
  int64_t *LK_RESTRICT flag;       /* [m] */
} pair_key_args;
LK_DECLARE(run_pair_disorder, pair_key_args) /* sum over i of (i, i+1) not ascending */
LK_DECLARE(run_pair_kind_key, pair_key_args) /* out[i] = kind[perm[i]] */
LK_DECLARE(run_pair_first, pair_key_args)    /* flag[i] = 1 if perm[i] differs from perm[i-1] */

typedef struct {
  const int32_t *LK_RESTRICT perm;  /* [m] */
  const int64_t *LK_RESTRICT place; /* [m+1] exclusive scan of flags */
  const int32_t *LK_RESTRICT kind, *LK_RESTRICT v, *LK_RESTRICT obst;
  const lk_real *LK_RESTRICT w, *LK_RESTRICT normal, *LK_RESTRICT gap, *LK_RESTRICT point,
      *LK_RESTRICT toi;
  const uint64_t *LK_RESTRICT key;
  int32_t *LK_RESTRICT kind2, *LK_RESTRICT v2, *LK_RESTRICT obst2;
  lk_real *LK_RESTRICT w2, *LK_RESTRICT normal2, *LK_RESTRICT gap2, *LK_RESTRICT point2,
      *LK_RESTRICT toi2;
  uint64_t *LK_RESTRICT key2;
} pair_move_args;
LK_DECLARE(run_pair_move, pair_move_args)

#endif
