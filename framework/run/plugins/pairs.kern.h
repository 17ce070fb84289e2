/* pairs.kern.h - kernels of detection: lists of pairs, touched vertices, bounds per vertex. */
#ifndef LOOM_RUN_PAIRS_KERN_H
#define LOOM_RUN_PAIRS_KERN_H

#include "loom/kernel.h"

typedef struct {
  lk_real *LK_RESTRICT a;       /* [n] */
  const lk_real *LK_RESTRICT b; /* [n] */
} min_args;
LK_DECLARE(run_min, min_args) /* a = min(a, b) */

typedef struct {
  const int32_t *LK_RESTRICT v; /* [m][4], -1 for unused */
  uint8_t *LK_RESTRICT touched; /* [n] */
  int32_t n;                    /* ids from here on are of bodies */
} touch_args;
LK_DECLARE(run_touch, touch_args) /* touched[v] = 1; every write has the same value */

/* ---- pair lists ---- */
typedef struct {
  const int32_t *LK_RESTRICT kind;
  const int32_t *LK_RESTRICT v;      /* [m][4] */
  const int32_t *LK_RESTRICT object; /* [n] */
  const uint8_t *LK_RESTRICT rigid;  /* [objects], or NULL */
} pair_owners;

typedef struct {
  pair_owners of;
  const int32_t *LK_RESTRICT kind;
  const uint64_t *LK_RESTRICT key;
  const int32_t *LK_RESTRICT perm; /* [m] or NULL: identity */
  uint64_t *LK_RESTRICT out;       /* [m] */
  int64_t *LK_RESTRICT flag;       /* [m] */
} pair_key_args;
LK_DECLARE(run_pair_disorder, pair_key_args) /* sum over i of (i, i+1) not ascending */
LK_DECLARE(run_pair_kind_key, pair_key_args) /* out[i] = kind[perm[i]] */
LK_DECLARE(run_pair_first, pair_key_args)    /* flag[i] = 1 if perm[i] differs from perm[i-1] and is
                                              * not within a rigid object */

typedef struct {
  pair_owners of;
  int32_t *LK_RESTRICT perm; /* [m], i */
  int64_t *LK_RESTRICT flag; /* [m], 0: a pair within a rigid object */
} pair_apart_args;
LK_DECLARE(run_pair_apart, pair_apart_args)
LK_DECLARE(run_pair_within, pair_owners) /* sum of 1 where a pair is within a rigid object */

typedef struct { /* kind, v and obst; gap, toi and key; w; normal; point: NULL: others move */
  const int32_t *LK_RESTRICT perm;  /* [m] */
  const int64_t *LK_RESTRICT place; /* [m+1] exclusive scan of flags */
  const int32_t *LK_RESTRICT kind, *LK_RESTRICT v, *LK_RESTRICT obst;
  const lk_real *LK_RESTRICT w, *LK_RESTRICT normal, *LK_RESTRICT gap, *LK_RESTRICT point,
      *LK_RESTRICT toi;
  const uint64_t *LK_RESTRICT key;
  int32_t *LK_RESTRICT kind2, *LK_RESTRICT v2, *LK_RESTRICT obst2;
  lk_real *LK_RESTRICT w2, *LK_RESTRICT normal2, *LK_RESTRICT gap2, *LK_RESTRICT point2,
      *LK_RESTRICT toi2;
  uint64_t *LK_RESTRICT key2;
} pair_move_args;
LK_DECLARE(run_pair_move, pair_move_args)

#endif
