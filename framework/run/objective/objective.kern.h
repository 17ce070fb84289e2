/* objective.kern.h - kernels of the objective: inertia, residual norms, quadratic contact terms,
 * forwarding.  Fixed vertices carry fixed[i] = 1. */
#ifndef LOOM_RUN_OBJECTIVE_KERN_H
#define LOOM_RUN_OBJECTIVE_KERN_H

#include "loom/kernel.h"

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

#endif
