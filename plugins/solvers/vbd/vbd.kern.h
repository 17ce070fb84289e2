/* vbd.kern.h - vertex block descent: argument blocks and prototypes of the kernels. */
#ifndef VBD_KERN_H
#define VBD_KERN_H

#include "loom/kernel.h"

/* One launch per colour; element i is the vertex order[i]. */
typedef struct vbd_move_args {
  const int32_t *LK_RESTRICT order;  /* [count], vertices of the colour */
  const int64_t *LK_RESTRICT ptr;    /* [num_blocks][stride], corners of each vertex, by block */
  const int64_t *LK_RESTRICT base;   /* [num_blocks], row of `grad` and `diag` of corner 0 */
  const lk_real *LK_RESTRICT grad;   /* [.][3] N, of corners */
  const lk_real *LK_RESTRICT diag;   /* [.][3][3] N/m, of corners */
  const lk_real *LK_RESTRICT mass;   /* [n] kg */
  const lk_real *LK_RESTRICT y;      /* [n][3] m, inertial target */
  const lk_real *LK_RESTRICT force;  /* [n][3] N, gradient of contact at x0; NULL: no contact */
  const int64_t *LK_RESTRICT row;    /* [n+1] */
  const int32_t *LK_RESTRICT col;    /* [row[n]] */
  const lk_real *LK_RESTRICT val;    /* [row[n]][3][3] N/m, Hessian of contact at x0 */
  const int32_t *LK_RESTRICT colour; /* [n] */
  const lk_real *LK_RESTRICT x0;     /* [n][3] m, where contact was linearised */
  lk_real *x;                        /* [n][3] m, the sweep's point: rows of this colour change */
  int64_t stride;
  lk_real scale; /* 1/h^2, 1/s^2 */
  int32_t num_blocks;
} vbd_move_args;
LK_DECLARE(vbd_move, vbd_move_args)

typedef struct vbd_accelerate_args {
  const lk_real *LK_RESTRICT swept;  /* [n][3] m, after the sweep */
  const lk_real *LK_RESTRICT before; /* [n][3] m, the iterate before the one that was swept */
  const uint8_t *LK_RESTRICT fixed;  /* [n] */
  const int64_t *LK_RESTRICT row;    /* [n+1], blocks of contact; NULL: none */
  const lk_real *LK_RESTRICT val;    /* [row[n]][3][3] N/m */
  lk_real *LK_RESTRICT out;          /* [n][3] m */
  lk_real omega;                     /* 1 */
} vbd_accelerate_args;
LK_DECLARE(vbd_accelerate, vbd_accelerate_args)

typedef struct vbd_guess_args {
  const uint8_t *LK_RESTRICT fixed;   /* [n] */
  const lk_real *LK_RESTRICT x_start; /* [n][3] m */
  const lk_real *LK_RESTRICT v;       /* [n][3] m/s, at the start of the step */
  const lk_real *LK_RESTRICT v_last;  /* [n][3] m/s, at the start of the step before */
  const lk_real *LK_RESTRICT y;       /* [n][3] m */
  lk_real *LK_RESTRICT out;           /* [n][3] m */
  lk_real h, h_last;                  /* s */
} vbd_guess_args;
LK_DECLARE(vbd_guess, vbd_guess_args)

#endif
