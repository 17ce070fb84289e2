/* compare.kern.h - kernels of test_compare.c, some of which do something else on a device. */
#ifndef LOOM_TESTS_COMPARE_KERN_H
#define LOOM_TESTS_COMPARE_KERN_H

#include "loom/kernel.h"

typedef struct compare_box {
  const lk_real *in;
  lk_real *out;
} compare_box;

typedef struct {
  const lk_real *in; /* [n] */
  const compare_box *box;
  lk_real *out;   /* [n] */
  int32_t *place; /* [n] */
} compare_args;
LK_DECLARE(compare_right, compare_args)     /* out = 2 in */
LK_DECLARE(compare_follow, compare_args)    /* ... by the addresses in the box */
LK_DECLARE(compare_wrong, compare_args)     /* ... but for the last bit of one item */
LK_DECLARE(compare_misplaced, compare_args) /* place = i, off by one on a device */
LK_DECLARE(compare_race, compare_args)      /* out = out of the neighbour + 1 */
LK_DECLARE(compare_log, compare_args)       /* out = log(in) */
LK_DECLARE(compare_sum, compare_args)       /* sum of in */
LK_DECLARE(compare_less, compare_args)      /* ... without the last one on a device */

#endif
