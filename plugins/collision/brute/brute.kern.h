/* brute.kern.h - kernels that count and name all pairs without a common vertex. */
#ifndef BRUTE_KERN_H
#define BRUTE_KERN_H

#include "kit/mesh_query.kern.h"

typedef struct brute_args {
  mesh_view m;
  uint32_t kinds;                   /* LOOM_BIT(LOOM_PAIR_VT) ... */
  int64_t *LK_RESTRICT count;       /* [vertices or edges] pairs of which it is the first */
  const int64_t *LK_RESTRICT place; /* [vertices or edges + 1], exclusive scan of count */
  uint64_t *LK_RESTRICT name;       /* [.] */
  lk_int first;                     /* element 0 of this launch */
  int64_t base;                     /* place of name[0] */
} brute_args;

LK_DECLARE(brute_count_vt, brute_args)
LK_DECLARE(brute_count_ee, brute_args)
LK_DECLARE(brute_list_vt, brute_args)
LK_DECLARE(brute_list_ee, brute_args)

#endif
