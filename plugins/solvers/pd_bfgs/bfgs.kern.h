/* bfgs.kern.h - vectors of rows of three and a record of scalars. */
#ifndef PD_BFGS_BFGS_KERN_H
#define PD_BFGS_BFGS_KERN_H

#include "loom/kernel.h"

enum {              /* the record, then alpha [history] and s'As [history] of the pairs */
       BFGS_DG = 0, /* d'g */
       BFGS_DAD,    /* d'A d */
       BFGS_BETA,   /* (A s)'z */
       BFGS_STEP,   /* along d */
       BFGS_PAIRS
};

typedef struct bfgs_dot_args {
  const lk_real *LK_RESTRICT a; /* [rows][3] */
  const lk_real *LK_RESTRICT b; /* [rows][3] */
} bfgs_dot_args;

typedef struct bfgs_add_args { /* y += x (plus - minus) / curvature; 0 where that is not positive */
  const lk_real *LK_RESTRICT x;         /* [rows][3] */
  lk_real *LK_RESTRICT y;               /* [rows][3] */
  const lk_real *LK_RESTRICT plus;      /* [1]; NULL: 0 */
  const lk_real *LK_RESTRICT minus;     /* [1]; NULL: 0 */
  const lk_real *LK_RESTRICT curvature; /* [1] */
} bfgs_add_args;

typedef struct bfgs_step_args {
  lk_real *LK_RESTRICT record;
  lk_real *LK_RESTRICT sas;      /* [1], s'As of the new pair */
  const lk_real *LK_RESTRICT d;  /* [rows][3] */
  const lk_real *LK_RESTRICT ad; /* [rows][3] */
  lk_real *LK_RESTRICT y;        /* [rows][3] */
  lk_real *LK_RESTRICT g;        /* [rows][3] */
  lk_real *LK_RESTRICT s;        /* [rows][3], the new pair */
  lk_real *LK_RESTRICT as;       /* [rows][3] */
} bfgs_step_args;

LK_DECLARE(bfgs_dot, bfgs_dot_args)
LK_DECLARE(bfgs_add, bfgs_add_args)
LK_DECLARE(bfgs_length, bfgs_step_args)  /* one element: the step to the minimum along d */
LK_DECLARE(bfgs_advance, bfgs_step_args) /* per row: y, g, and the pair */

#endif
