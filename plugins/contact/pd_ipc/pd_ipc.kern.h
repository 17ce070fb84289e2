/* pd_ipc.kern.h - targets shared by mass, weighted with the value of a barrier. */
#ifndef PD_IPC_KERN_H
#define PD_IPC_KERN_H

#include "kit/friction.kern.h"
#include "kit/iso_terms.kern.h"

typedef struct pd_ipc_args {
  cand_state s;
  const lk_real *LK_RESTRICT mass; /* [n] kg */
  const int32_t *LK_RESTRICT list; /* [active] candidates */
  lk_real kappa;                   /* N/m */
  lk_real d_hat;                   /* m */
  lk_real inv_h2;                  /* 1/s^2 */
} pd_ipc_args;

typedef struct pd_ipc_quad_args {
  pd_ipc_args p;
  const int64_t *LK_RESTRICT at; /* [active+1] first term of a pair */
  iso_terms t;
} pd_ipc_quad_args;
LK_DECLARE(pd_ipc_quad, pd_ipc_quad_args)

typedef struct pd_ipc_force_args {
  pd_ipc_args p;
  const int64_t *LK_RESTRICT at; /* [m+1] first corner of a candidate */
  lk_real *LK_RESTRICT force;    /* [corners][3] N, out: gradient per corner */
} pd_ipc_force_args;
LK_DECLARE(pd_ipc_force, pd_ipc_force_args)

enum { PD_IPC_KAPPA = 0, PD_IPC_D_HAT = 1, PD_IPC_INV_H2 = 2 }; /* numbers of fric_lag_args.p */
FRIC_DECLARE(pd_ipc)

typedef struct pd_ipc_drag_args {
  fric_state f;
  const int64_t *LK_RESTRICT at; /* [pairs+1] first term of a lagged pair */
  iso_terms t;
} pd_ipc_drag_args;
LK_DECLARE(pd_ipc_drag, pd_ipc_drag_args)

LK_DECLARE(pd_ipc_strongest, pd_ipc_args) /* largest force on a side of a pair, N */

#endif
