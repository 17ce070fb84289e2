/* pd_global.h - the global step of projective dynamics with an exact factor that is kept:
 *
 *   (L + D) dx = -grad E(x),   x' = x + dx
 *
 * L is the constant operator of the elements, D the isotropic terms of contact at x.  Because a
 * projection leaves no first-order trace, grad E(x) = L x - M y/h^2 - sum w A'p(x) is the true
 * gradient, so this is the textbook step L x' = M y/h^2 + sum w A'p of Bouaziz et al. 2014
 * (doi 10.1145/2601097.2601116, section 4), written for the change of x.  The form takes the
 * gradient that the core has measured anyway (its evaluation is the local step), holds pins exactly
 * (their rows have zero gradient) and loses no digits to large coordinates.
 *
 * L + D is factorised again only when its values changed: a new h, or contact that came or went.
 * Friction weights change in every iteration, so within a step the factor of other weights D_f is
 * kept by default while D <= 1.5 D_f.  The fixed points do not depend on the matrix, and
 * L + D <= 1.5 (L + D_f) < 2 (L + D_f) keeps it a descent step (a quadratic model falls along
 * -P^-1 grad whenever its Hessian is below 2 P).  x, y and z are solved together (chol_solve3.h).
 *
 * Affine bodies: the step has the change of their rotations in it (pd_rotation.h).
 *
 * With `bare` the matrix is L alone, whatever contact is: contact acts through the gradient.
 *
 * A solver with it needs LOOM_NEED_ELEM_GRADIENT, _ELEM_PROJECT, _CONTACT_QUAD, _CONTACT_ISO and
 * LOOM_USES_GRADIENT, with `bare` no form of contact; it runs on the CPU.  Licence: that of
 * kit/chol.h.
 */
#ifndef KIT_PD_GLOBAL_H
#define KIT_PD_GLOBAL_H

#include "kit/pd_matrix.h"
#include "kit/pd_rotation.h"

enum { PD_REFACTOR_RELAXED = 0, PD_REFACTOR_EXACT = 1 };

/* Row of the table of parameters for int32_t rotation in the settings T. */
#define PD_GLOBAL_ROTATION(T)                                                                \
  LOOM_PARAM_ENUM(T, rotation, PD_ROTATION_AUTO, "auto|exact|plain",                         \
                  "Rotations of affine bodies: exact has their change in the global step, "  \
                  "which takes a solve per body and factorisation and a dense system of 12 " \
                  "rows per body in each iteration; plain holds them within an iteration, "  \
                  "as projective dynamics does, and a body that contact turns then takes "   \
                  "about 8 times its ratio of stiffness to inertia in iterations; auto is "  \
                  "exact up to 64 bodies.")

/* Rows that solvers with this step have alike; T: their settings, with int32_t refactor, ordering,
 * rotation. */
#define PD_GLOBAL_PARAMS(T)                                                                       \
  LOOM_PARAM_ENUM(T, refactor, PD_REFACTOR_RELAXED, "relaxed|exact",                              \
                  "Contact weights that change within a step are factorised again only when one " \
                  "outgrows its share of the matrix by half, or each time."),                     \
      LOOM_PARAM_ENUM(T, ordering, CHOL_AMD, "amd|metis",                                         \
                      "Fill-reducing ordering of the factorisation: approximate minimum degree, " \
                      "or nested dissection (less fill on large meshes, slower analysis)."),      \
      PD_GLOBAL_ROTATION(T)

typedef struct pd_global { /* fine to close when zeroed */
  const loom_host *host;
  const loom_scene *sc;
  const loom_exec *e;
  int32_t refactor; /* PD_REFACTOR_* */
  int32_t bare;     /* nonzero: no contact in the matrix; set after pd_global_open() */
  int32_t first;    /* nonzero: no iteration of this step was done yet */
  chol c;
  pd_matrix A;
  pd_rotation turn;
  double inertia_made;  /* 1/s^2, weight of inertia in A's values; 0: there is no matrix */
  double inertia_used;  /* 1/s^2, that of the factor; 0: no valid factor */
  pd_contact now, used; /* contact at this iterate, and in the factor */
  pd_coupling *extra;   /* [num_extra], couplings the pattern was built with */
  int64_t num_extra;
  loom_buf *saved; /* i32 [2 num_extra], carries them through a checkpoint */
  double *y;       /* [n][3], right-hand sides and solutions, in the factor's order; given back
                    * while CHOLMOD factorises, which is when most memory is in use */
  double *work;    /* workspace of the solve */
} pd_global;

loom_status pd_global_open(pd_global *g, const loom_host *host, const loom_scene *sc,
                           const loom_exec *e, int refactor, int ordering, int rotation);
void pd_global_close(pd_global *g);
/* For reset(): forget which couplings the pattern holds, they came from a history that is gone. */
void pd_global_forget(pd_global *g);
loom_status pd_global_begin_step(pd_global *g, const loom_step *st);
/* Brings the factor up to date with h and the contact at st->x.  *factorised (out): 1 if it was
 * made anew, else 0. */
loom_status pd_global_refresh(pd_global *g, const loom_step *st, double *factorised);
/* to, real [n][3], = st->x + dx; *longest (out): the largest |dx_i|, m */
loom_status pd_global_step(pd_global *g, const loom_step *st, loom_buf *to, double *longest);
/* For checkpoint(): the factor itself is a function of the step's problem, but its pattern
 * remembers earlier couplings; without them a restart would round differently. */
loom_status pd_global_checkpoint(pd_global *g, int restore);

#endif
