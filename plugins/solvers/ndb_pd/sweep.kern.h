/* sweep.kern.h - argument blocks and prototypes of the smoothers, in loom_real and in float.
 *
 * All work on an increment u with right-hand side r, (H + W) u = r, H the operator of the global
 * step and W the contact weights: positions never enter, so that float keeps its digits. */
#ifndef NDB_PD_SWEEP_KERN_H
#define NDB_PD_SWEEP_KERN_H

#include "loom/kernel.h"

/* One damped Jacobi sweep, and Wang's Chebyshev step on top of it where omega is not 1. */
#define NDB_PD_SWEEP_ARGS(name, T)                                              \
  typedef struct name {                                                         \
    const int64_t *LK_RESTRICT ptr; /* [n+1] */                                 \
    const int32_t *LK_RESTRICT col; /* [ptr[n]] */                              \
    const T *LK_RESTRICT val;       /* [ptr[n]], N/m */                         \
    const T *LK_RESTRICT w;         /* [n], N/m, contact weights */             \
    const T *LK_RESTRICT dinv;      /* [n], m/N, 1 / diagonal of H + W */       \
    const T *LK_RESTRICT rhs;       /* [n][3], N */                             \
    const T *LK_RESTRICT from;      /* [n][3], m; NULL: zero */                 \
    const T *LK_RESTRICT before;    /* [n][3], m, iterate before; NULL: zero */ \
    T *LK_RESTRICT to;              /* [n][3], m */                             \
    T theta, omega;                                                             \
  } name;

/* Literal fused form of two sweeps: one gather over two rings. */
#define NDB_PD_FUSED_ARGS(name, T)                                                            \
  typedef struct name {                                                                       \
    const int64_t *LK_RESTRICT ptr;    /* [n+1], rows of the two-ring operator */             \
    const int32_t *LK_RESTRICT col;    /* [ptr[n]] */                                         \
    const T *LK_RESTRICT b1;           /* [ptr[n]], N/m, -H_ik of one-ring entries, else 0 */ \
    const int64_t *LK_RESTRICT list;   /* [ptr[n]+1], products of each entry */               \
    const int32_t *LK_RESTRICT middle; /* [list[..]], vertex j of b_ij b_jk */                \
    const T *LK_RESTRICT product;      /* [list[..]], N^2/m^2, b_ij b_jk */                   \
    const T *LK_RESTRICT dinv;         /* [n], m/N */                                         \
    T *LK_RESTRICT val;                /* [ptr[n]], entries of the operator */                \
    const T *LK_RESTRICT rhs;          /* [n][3], N */                                        \
    T *LK_RESTRICT shift;              /* [n][3], m, constant part */                         \
    const T *LK_RESTRICT from;         /* [n][3], m; NULL: zero */                            \
    T *LK_RESTRICT to;                 /* [n][3], m */                                        \
    T theta;                                                                                  \
  } name;

/* End of some sweeps: total += u, and the remaining residual, in loom_real; of all rows, or of
 * those listed. */
#define NDB_PD_SETTLE_ARGS(name, T)                                   \
  typedef struct name {                                               \
    const int64_t *LK_RESTRICT ptr;                                   \
    const int32_t *LK_RESTRICT col;                                   \
    const lk_real *LK_RESTRICT val; /* N/m */                         \
    const lk_real *LK_RESTRICT w;   /* [n], N/m */                    \
    const T *LK_RESTRICT u;         /* [n][3], m */                   \
    lk_real *LK_RESTRICT r;         /* [n][3], N; NULL: not wanted */ \
    lk_real *LK_RESTRICT total;     /* [n][3], m; NULL: not wanted */ \
    const int32_t *LK_RESTRICT row; /* NULL: all rows */              \
  } name;

NDB_PD_SWEEP_ARGS(ndb_pd_sweep_args, lk_real)
NDB_PD_SWEEP_ARGS(ndb_pd_sweep_f_args, float)
NDB_PD_FUSED_ARGS(ndb_pd_fused_args, lk_real)
NDB_PD_FUSED_ARGS(ndb_pd_fused_f_args, float)
NDB_PD_SETTLE_ARGS(ndb_pd_settle_args, lk_real)
NDB_PD_SETTLE_ARGS(ndb_pd_settle_f_args, float)

typedef struct ndb_pd_narrow_args { /* to = (float) from */
  const lk_real *LK_RESTRICT from;
  float *LK_RESTRICT to;
} ndb_pd_narrow_args;

LK_DECLARE(ndb_pd_sweep, ndb_pd_sweep_args)
LK_DECLARE(ndb_pd_sweep_f, ndb_pd_sweep_f_args)
LK_DECLARE(ndb_pd_fused_entries, ndb_pd_fused_args) /* per row: entries for the present diagonal */
LK_DECLARE(ndb_pd_fused_entries_f, ndb_pd_fused_f_args)
LK_DECLARE(ndb_pd_fused_shift, ndb_pd_fused_args) /* per row: constant part for the present rhs */
LK_DECLARE(ndb_pd_fused_shift_f, ndb_pd_fused_f_args)
LK_DECLARE(ndb_pd_fused_sweep, ndb_pd_fused_args)
LK_DECLARE(ndb_pd_fused_sweep_f, ndb_pd_fused_f_args)
LK_DECLARE(ndb_pd_settle, ndb_pd_settle_args)
LK_DECLARE(ndb_pd_settle_f, ndb_pd_settle_f_args)
LK_DECLARE(ndb_pd_narrow, ndb_pd_narrow_args) /* per number */

#endif
