/* pair_energy.h - energy, gradient and Hessian of a model with an energy that depends on the
 * distance of each active pair alone (pair_energy.kern.h).  Call cand_activate() for x before the
 * functions below. */
#ifndef KIT_PAIR_ENERGY_H
#define KIT_PAIR_ENERGY_H

#include "kit/candidates.h"
#include "kit/pair_energy.kern.h"

typedef struct pair_kernels {
  lk_entry energy, strongest, force, hessian;
  lk_entry mollified; /* unused by a model that is always Gauss-Newton */
} pair_kernels;
/* static const pair_kernels kernels = PAIR_KERNELS(my_model);
 * Laws may call log and the like: see LK_ENTRY_NEAR. */
#define PAIR_KERNELS(model)                                         \
  {                                                                 \
    .energy = LK_ENTRY_NEAR_MOVES(model##_energy, 4, 20, 11),       \
    .strongest = LK_ENTRY_NEAR_MOVES(model##_strongest, 4, 20, 11), \
    .force = LK_ENTRY_NEAR_MOVES(model##_force, 4, 28, 17),         \
    .hessian = LK_ENTRY_NEAR_MOVES(model##_hessian, 4, 110, 70),    \
    .mollified = LK_ENTRY_NEAR_MOVES(model##_mollified, 4, 15, 6)   \
  }

typedef struct pair_energy {
  candidates *c;
  const pair_kernels *k;
  int gauss_newton;
  double number[PAIR_NUMBERS]; /* of the model's law */
  loom_buf *share;             /* real [num_objects], factors on number[0]; NULL: 1 */
  /* real [c->m], further factors on number[0], such as a stiffness of each contact; NULL: 1.
   * Candidates are other pairs when c->generation has changed: then fill it anew, after
   * cand_activate() and before the functions below. */
  loom_buf *each;
} pair_energy;

/* Adds to *energy, J, and to grad, real [n][3], N; either may be NULL.  *energy is complete when
 * the core has read it (plug_reduce_later()). */
loom_status pair_eval(const pair_energy *p, const loom_step *s, loom_buf *x, double *energy,
                      loom_buf *grad);
/* The gradient per corner, into the gather's `force`, for a model that adds to it; then
 * gather_add(&c->corner, c->act.place, NULL, grad). */
loom_status pair_forces(const pair_energy *p, const loom_step *s, loom_buf *x);
/* Largest normal force at x, N, when the core has read it; 0 without pairs. */
loom_status pair_strongest(const pair_energy *p, const loom_step *s, loom_buf *x, double *out);
/* Writes the blocks to `out` from place `first` on, after cand_count(c, 1, .), which gives their
 * number and places. */
loom_status pair_energy_hessian(const pair_energy *p, const loom_step *s, loom_buf *x, int how,
                                int64_t first, loom_blocks3 *out);
/* Arguments for kernels of the model's own; the caller may fill in more members. */
pair_args pair_open(const pair_energy *p, plug_maps *m, const loom_step *s, loom_buf *x);

#endif
