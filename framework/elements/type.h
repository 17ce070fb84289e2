/* type.h - macros for the descriptor of an element type, TYPE.c. */
#ifndef LOOM_ELEM_TYPE_H
#define LOOM_ELEM_TYPE_H

#include "elements/elements.h"

/* Members for the kernels TYPE_energy, TYPE_gradient, ... of a type; ulps: as of LK_ENTRY_NEAR.
 * Bytes follow from the numbers of an element: elastic.c and listed.c declare them. */
#define ELEM_KERNEL_(type, what, ulps) \
  .what = &(const lk_entry)LK_ENTRY_NEAR_MOVES(type##_##what, ulps, 0, 0)
#define ELEM_FORCES_(type, ulps) \
  ELEM_KERNEL_(type, energy, ulps), ELEM_KERNEL_(type, gradient, ulps)
/* energy and gradient */
#define ELEM_FORCES(type, ulps) \
  .caps = LOOM_ELEM_SMALL | LOOM_ELEM_ENERGY | LOOM_ELEM_GRADIENT, ELEM_FORCES_(type, ulps)
/* and Hessian; `small` is LOOM_ELEM_SMALL, or 0 for patches */
#define ELEM_SMOOTH_(type, ulps, small)                                        \
  .caps = LOOM_ELEM_ENERGY | LOOM_ELEM_GRADIENT | LOOM_ELEM_HESSIAN | (small), \
  ELEM_FORCES_(type, ulps), ELEM_KERNEL_(type, hessian, ulps), ELEM_KERNEL_(type, corner, ulps)
#define ELEM_SMOOTH(type, ulps)       ELEM_SMOOTH_(type, ulps, LOOM_ELEM_SMALL)
#define ELEM_SMOOTH_PATCH(type, ulps) ELEM_SMOOTH_(type, ulps, 0)
/* and projective form */
#define ELEM_PROJECTIVE_(type, small)                                                              \
  .caps = LOOM_ELEM_ENERGY | LOOM_ELEM_GRADIENT | LOOM_ELEM_HESSIAN | LOOM_ELEM_PROJECT | (small), \
  ELEM_FORCES_(type, 0), ELEM_KERNEL_(type, hessian, 0), ELEM_KERNEL_(type, project, 0),           \
  ELEM_KERNEL_(type, weights, 0), ELEM_KERNEL_(type, listed, 0), ELEM_KERNEL_(type, corner, 0)
#define ELEM_PROJECTIVE(type)       ELEM_PROJECTIVE_(type, LOOM_ELEM_SMALL)
#define ELEM_PROJECTIVE_PATCH(type) ELEM_PROJECTIVE_(type, 0)

/* Rows of the settings. */
#define ELEM_PARAMS(rows) .params = (rows), .num_params = (uint32_t)(sizeof(rows) / sizeof *(rows))

#endif
