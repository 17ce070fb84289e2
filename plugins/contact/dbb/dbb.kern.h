/* dbb.kern.h - the barrier as isotropic terms k/2 |x_i - p|^2, one per free corner of a pair. */
#ifndef DBB_KERN_H
#define DBB_KERN_H

#include "kit/friction.kern.h"
#include "kit/iso_terms.kern.h"

PAIR_DECLARE(dbb)
PAIR_DECLARE_MOLLIFIED(dbb)
FRIC_DECLARE(dbb)

enum { DBB_WEIGHT_ENERGY = 0, DBB_WEIGHT_CURVATURE = 1 };

typedef struct dbb_quad_args {
  pair_args p;
  iso_terms t;
  const int64_t *LK_RESTRICT at; /* [active+1] first term of a pair */
  int32_t weight;                /* DBB_WEIGHT_* */
} dbb_quad_args;
LK_DECLARE(dbb_quad, dbb_quad_args)

typedef struct dbb_drag_args {
  fric_state f;
  iso_terms t;
  const int64_t *LK_RESTRICT at; /* [nf+1] */
} dbb_drag_args;
LK_DECLARE(dbb_drag, dbb_drag_args)

#endif
