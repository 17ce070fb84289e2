/* islands.kern.h - kernels of islands.h. */
#ifndef LOOM_ISLANDS_KERN_H
#define LOOM_ISLANDS_KERN_H

#include "run/objects/objects.kern.h"

enum { ISLAND_BOX = 6 }; /* numbers of a box: largest x, y, z, -x, -y, -z */

LK_DECLARE(run_island_box, object_rows_args) /* ISLAND_BOX of x */
LK_DECLARE(run_island_top, object_sum_args)  /* largest of each number in place of the sum */
LK_DECLARE(run_island_dot, object_rows_args) /* sum of x.y */

typedef struct island_way_args {
  const lk_real *LK_RESTRICT a;      /* [n][3], m */
  const lk_real *LK_RESTRICT b;      /* [n][3], m; of island_step the way */
  const lk_real *LK_RESTRICT share;  /* [objects], 1 */
  const int32_t *LK_RESTRICT object; /* [n] */
  lk_real *LK_RESTRICT out;          /* [n][3], m */
} island_way_args;
LK_DECLARE(run_island_blend, island_way_args)
LK_DECLARE(run_island_step, island_way_args)
LK_DECLARE(run_island_add, island_way_args) /* out += share b */

typedef struct island_beyond_args {
  const lk_real *LK_RESTRICT ratio;  /* [num], 1, residuals over tolerances */
  const int32_t *LK_RESTRICT island; /* [num] */
  lk_int num;                        /* objects */
  lk_real *LK_RESTRICT out;          /* [islands] */
} island_beyond_args;
LK_DECLARE(run_island_beyond,
           island_beyond_args) /* number of objects with a ratio above 1 or NaN */

#endif
