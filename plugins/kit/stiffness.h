/* stiffness.h - the stiffness kappa of a barrier: as given, or chosen from the mass of each object
 * (cloth, solid, yarn) and doubled where its gaps stay tiny.
 *
 * A chosen kappa belongs to an object: first value times doublings.  Gaps are those of islands, so
 * that an object far away does not change it; all objects of an island are doubled together.  A
 * pair of two objects takes the smaller value (pair_energy.kern.h).  A scene of one object has one
 * kappa. */
#ifndef KIT_STIFFNESS_H
#define KIT_STIFFNESS_H

#include "kit/pair_energy.h"

enum { STIFFNESS_NUMBER = 0 }; /* the number of the law that is kappa, N/m */

typedef struct stiffness_object {
  double share;    /* 1, first kappa over the largest of all objects */
  double doubled;  /* 1, a power of 2 */
  double last_gap; /* m, least gap of its island at the last accepted iterate of the step */
  int free;        /* 1: it has free vertices */
} stiffness_object;

typedef struct stiffness {
  pair_energy *energy; /* gets kappa, and the factors of objects */
  double given;        /* N/m; 0: chosen */
  double d_hat;        /* m */
  double unit;         /* see stiffness_new() */
  double first;        /* N/m, largest first kappa of the objects; 0: not chosen; outlives steps */
  double mass;   /* kg, mean of free vertices; of several objects the largest of their means */
  double weight; /* N/m, see stiffness_weigh(); 0: mass / h^2 */
  int32_t num;   /* objects, at least 1 */
  stiffness_object *of; /* [num] */
} stiffness;

/* unit: d2b/dd2 at half of d_hat for kappa = 1, without thickness. */
loom_status stiffness_new(stiffness *k, pair_energy *energy, double given, double d_hat,
                          double unit);
void stiffness_free(stiffness *k);
loom_status stiffness_reset(stiffness *k);
/* Weights of displacements, real [n][width], N/m, in place of m/h^2; before the first step. */
loom_status stiffness_weigh(stiffness *k, loom_buf *weight, int width);
loom_status stiffness_begin_step(stiffness *k, const loom_step *s);
/* An iterate has been accepted: doubles kappa of objects where gaps stay tiny. */
loom_status stiffness_follow(stiffness *k, const loom_step *s, uint32_t *changed);
/* Largest kappa of all objects, N/m. */
double stiffness_most(const stiffness *k);
loom_status stiffness_checkpoint(stiffness *k, int restore);

#endif
