/* prim.kern.h - search of keys, permutations: argument blocks and prototypes. */
#ifndef LOOM_LINALG_PRIM_KERN_H
#define LOOM_LINALG_PRIM_KERN_H

#include "loom/kernel.h"

typedef struct prim_match_args {
  const uint64_t *LK_RESTRICT old_key; /* [num_old], ascending */
  const uint64_t *LK_RESTRICT new_key; /* [n] */
  int32_t *LK_RESTRICT old_index;      /* [n], -1: no equal old key */
  int64_t num_old;
} prim_match_args;

typedef struct prim_compose_args {
  const int32_t *LK_RESTRICT first;  /* [.] */
  const int32_t *LK_RESTRICT second; /* [n], indices into first */
  int32_t *LK_RESTRICT out;          /* [n] */
} prim_compose_args;

LK_DECLARE(prim_match, prim_match_args)
LK_DECLARE(prim_compose, prim_compose_args)

#endif
