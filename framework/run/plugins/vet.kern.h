/* vet.kern.h - kernels that look for ids and numbers that cannot be meant. */
#ifndef LOOM_RUN_VET_KERN_H
#define LOOM_RUN_VET_KERN_H

#include "loom/kernel.h"
#include "loom/scene.h"

typedef struct {
  const int32_t *LK_RESTRICT kind; /* [m] */
  const int32_t *LK_RESTRICT v;    /* [m][4] */
  const int32_t *LK_RESTRICT obst; /* [m] */
  uint32_t kinds;                  /* LOOM_BIT of the kinds that were asked for */
  int32_t verts;                   /* n */
  int32_t all_verts;               /* of cloth and bodies */
  int32_t segs;                    /* of yarns */
  int32_t bodies;
} vet_pair_args;
LK_DECLARE(vet_pairs, vet_pair_args) /* pairs with an id out of range */

typedef struct {
  const int32_t *LK_RESTRICT id; /* [m] */
  int32_t least, end;
} vet_id_args;
LK_DECLARE(vet_ids, vet_id_args) /* ids outside [least, end) */

typedef struct {
  const lk_real *LK_RESTRICT t; /* [n] */
} vet_unit_args;
LK_DECLARE(vet_unit, vet_unit_args) /* numbers outside [0, 1] */

/* Number of the fault of one pair, 0: none; also called on the host, for the message. */
LK_FN int vet_pair(const vet_pair_args *a, lk_int j)
{
  const int32_t k = a->kind[j], body = a->obst[j];
  if (k < 0 || k > LOOM_PAIR_EO || !(a->kinds >> k & 1u)) return 1;
  const int on_body = k == LOOM_PAIR_BVT || k == LOOM_PAIR_BEE;
  const int edge = k == LOOM_PAIR_EO && a->v[4 * j + 2] == -1; /* else a triangle */
  const int used = k == LOOM_PAIR_VO                                ? 1
                   : k == LOOM_PAIR_VV || k == LOOM_PAIR_YY || edge ? 2
                   : k == LOOM_PAIR_VE || k == LOOM_PAIR_EO         ? 3
                                                                    : 4;
  const int32_t end = k == LOOM_PAIR_YY ? a->segs : on_body ? a->all_verts : a->verts;
  const int named = on_body || k == LOOM_PAIR_VO || k == LOOM_PAIR_EO;
  int bad = body >= a->bodies || body < (named ? 0 : -1);
  for (int c = 0; c < 4; ++c) {
    const int32_t i = a->v[4 * j + c];
    bad |= c < used ? i < 0 || i >= end : i != -1;
  }
  return bad;
}

#endif
