/* yarn.kern.h - one explicit step of yarns: forces, glue, lengths, damping (Kaldor, James and
 * Marschner 2010, Fig. 4). */
#ifndef YARN_EXPLICIT_KERN_H
#define YARN_EXPLICIT_KERN_H

#include "loom/kernel.h"

/* x = x_start + h v_start + h^2 M^-1 f(x_start), written with the residual r of the core,
 * r = M (x_start - y)/h^2 - f: one index per vertex. */
typedef struct yarn_explicit_force_args {
  const lk_real *LK_RESTRICT x;    /* [n][3] m, where grad was taken */
  const lk_real *LK_RESTRICT y;    /* [n][3] m, inertial target */
  const lk_real *LK_RESTRICT grad; /* [n][3] N */
  const lk_real *LK_RESTRICT mass; /* [n] kg */
  const unsigned char *LK_RESTRICT fixed;
  lk_real *LK_RESTRICT out; /* [n][3] m */
  lk_real h2;               /* s^2 */
} yarn_explicit_force_args;
LK_DECLARE(yarn_explicit_force, yarn_explicit_force_args)

/* Glued vertices to their distance: one index per pair; no vertex is in two pairs, so the
 * system is diagonal and one step of it exact. */
typedef struct yarn_explicit_glue_args {
  const int32_t *LK_RESTRICT glue; /* [num][2] */
  const lk_real *LK_RESTRICT len;  /* [num] m */
  const lk_real *LK_RESTRICT mass; /* [n] kg */
  const unsigned char *LK_RESTRICT fixed;
  lk_real *LK_RESTRICT x; /* [n][3] m */
} yarn_explicit_glue_args;
LK_DECLARE(yarn_explicit_glue, yarn_explicit_glue_args)

/* Fast projection (Goldenthal et al. 2007) of the lengths of one yarn per index:
 *   C_j = |e_j|^2/l_j - l_j,   (J M^-1 J') lambda = C,   x -= M^-1 J' lambda,
 * tridiagonal along the yarn, until all | |e_j|^2/l_j^2 - 1 | < tolerance. */
enum { YARN_EXPLICIT_WORK = 5 };
typedef struct yarn_explicit_length_args {
  const int32_t *LK_RESTRICT vert; /* [ny + 1] */
  const int32_t *LK_RESTRICT seg;  /* [ny + 1] */
  const unsigned char *LK_RESTRICT closed;
  const lk_real *LK_RESTRICT len;  /* [ns] m */
  const lk_real *LK_RESTRICT mass; /* [n] kg */
  const unsigned char *LK_RESTRICT fixed;
  lk_real *LK_RESTRICT x;     /* [n][3] m */
  lk_real *LK_RESTRICT work;  /* [YARN_EXPLICIT_WORK][ns] */
  lk_real *LK_RESTRICT iters; /* [ny] */
  lk_real *LK_RESTRICT error; /* [ny], largest | |e|^2/l^2 - 1 | when it stopped */
  lk_real shrink;             /* factor on all lengths */
  lk_real tolerance;
  int32_t num_segs, max_iters;
} yarn_explicit_length_args;
LK_DECLARE(yarn_explicit_length, yarn_explicit_length_args)

/* Non-rigid damping of one block per index:
 *   dv = -v_nr min(1, max(h mu_prop, h mu_const sqrt(k)/|v_nr|)),
 * v_nr velocity minus that of the best rigid motion, k vertices of the block, |.| over all of
 * them.  Linear and angular momentum of the block stay. */
typedef struct yarn_explicit_damp_args {
  const int32_t *LK_RESTRICT first; /* [num + 1] */
  const int32_t *LK_RESTRICT verts; /* free vertices, by block */
  const lk_real *LK_RESTRICT mass;  /* [n] kg */
  const lk_real *LK_RESTRICT start; /* [n][3] m, x at the start of the step */
  lk_real *LK_RESTRICT x;           /* [n][3] m; v = (x - start)/h */
  lk_real h, mu_prop, mu_const;     /* s, 1/s, m/s^2 */
} yarn_explicit_damp_args;
LK_DECLARE(yarn_explicit_damp, yarn_explicit_damp_args)

#endif
