/* type.h - what the descriptor of an element type, TYPE.c, is written with. */
#ifndef LOOM_ELEM_TYPE_H
#define LOOM_ELEM_TYPE_H

#include "elements/elements.h"

/* Members for what a type can compute, with its kernels TYPE_energy, TYPE_gradient, ... */
#define ELEM_KERNEL_(type, what) .what = &(const lk_entry)LK_ENTRY(type##_##what)
#define ELEM_FORCES_(type)       ELEM_KERNEL_(type, energy), ELEM_KERNEL_(type, gradient)
/* energy and gradient */
#define ELEM_FORCES(type) .caps = LOOM_ELEM_ENERGY | LOOM_ELEM_GRADIENT, ELEM_FORCES_(type)
/* and Hessian */
#define ELEM_SMOOTH(type)                                                                \
  .caps = LOOM_ELEM_ENERGY | LOOM_ELEM_GRADIENT | LOOM_ELEM_HESSIAN, ELEM_FORCES_(type), \
  ELEM_KERNEL_(type, hessian)
/* and projective form */
#define ELEM_PROJECTIVE(type)                                                            \
  .caps = LOOM_ELEM_ENERGY | LOOM_ELEM_GRADIENT | LOOM_ELEM_HESSIAN | LOOM_ELEM_PROJECT, \
  ELEM_FORCES_(type), ELEM_KERNEL_(type, hessian), ELEM_KERNEL_(type, project),          \
  ELEM_KERNEL_(type, weights)

/* Rows of the settings. */
#define ELEM_PARAMS(rows) .params = (rows), .num_params = (uint32_t)(sizeof(rows) / sizeof *(rows))

#endif
