/* xpbd.kern.h - compliant constraints: argument blocks and prototypes of the kernels. */
#ifndef XPBD_KERN_H
#define XPBD_KERN_H

#include "loom/kernel.h"

enum { XPBD_ARITY = 4 }; /* of elements at most */

/* One launch per colour of a block; element i of the launch is elem[i]. */
typedef struct xpbd_project_args {
  const int32_t *LK_RESTRICT elem;   /* [count] */
  const int32_t *LK_RESTRICT verts;  /* [ne][a] */
  const lk_real *LK_RESTRICT weight; /* [ne][a][a] N/m, w A'A */
  const lk_real *LK_RESTRICT grad;   /* [count][a][3] N, w A'(A x - p) */
  const lk_real *LK_RESTRICT mass;   /* [n] kg */
  const uint8_t *LK_RESTRICT fixed;  /* [n] */
  lk_real *LK_RESTRICT pull;         /* [ne][a][3] kg m, A' lambda */
  lk_real *LK_RESTRICT x;            /* [n][3] m */
  lk_real scale;                     /* s^2: h^2 over the factor on the compliance */
  int32_t arity;
} xpbd_project_args;
LK_DECLARE(xpbd_project, xpbd_project_args)

/* Per vertex: the constraint of contact. */
typedef struct xpbd_contact_args {
  const uint8_t *LK_RESTRICT fixed; /* [n] */
  const lk_real *LK_RESTRICT mass;  /* [n] kg */
  const lk_real *LK_RESTRICT x0;    /* [n][3] m, where contact was linearised */
  const lk_real *LK_RESTRICT force; /* [n][3] N, gradient of contact at x0; NULL: no contact */
  const int64_t *LK_RESTRICT row;   /* [n+1] */
  const int32_t *LK_RESTRICT col;   /* [row[n]] */
  const lk_real *LK_RESTRICT val;   /* [row[n]][3][3] N/m */
  lk_real *LK_RESTRICT pull;        /* [n][3] kg m */
  lk_real *LK_RESTRICT x;           /* [n][3] m (out) */
  lk_real h2;                       /* s^2, h^2 */
} xpbd_contact_args;
LK_DECLARE(xpbd_contact, xpbd_contact_args)

/* pull += sign m (a - b): a point that was moved by others, or where a step begins. */
typedef struct xpbd_absorb_args {
  const uint8_t *LK_RESTRICT fixed; /* [n] */
  const lk_real *LK_RESTRICT mass;  /* [n] kg */
  const lk_real *LK_RESTRICT a;     /* [n][3] m */
  const lk_real *LK_RESTRICT b;     /* [n][3] m; NULL: zero */
  lk_real *LK_RESTRICT pull;        /* [n][3] kg m */
  lk_real sign;
} xpbd_absorb_args;
LK_DECLARE(xpbd_absorb, xpbd_absorb_args)

#endif
