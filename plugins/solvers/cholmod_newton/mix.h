/* mix.h - shares of clamped negative eigenvalues, on a ladder, for each island of the scene. */
#ifndef CHOLMOD_NEWTON_MIX_H
#define CHOLMOD_NEWTON_MIX_H

#include "loom/plugin.h"

enum { CHOLMOD_NEWTON_RUNGS = 5 };
extern const double cholmod_newton_theta[CHOLMOD_NEWTON_RUNGS]; /* 1, from 0 to 1 */

/* Islands cannot touch, so H is block-diagonal over them, and which shares make it definite is a
 * question of each. */
typedef struct cholmod_newton_mix {
  const loom_host *host;
  const loom_scene *sc;
  const loom_exec *e;
  int32_t num; /* islands of `rung`; 0: a step begins */
  /* theta[rung[k]] served last for island k, or comes first; 0 at the start of a step */
  int32_t rung[LOOM_ISLANDS_MOST];
  loom_buf *exact; /* real [num_blocks][3][3], N/m */
  loom_buf *mixed; /* real [num_blocks][3][3], N/m: (1 - theta) exact + theta clamp */
  loom_bsr3 view;  /* the core's pattern with these values */
} cholmod_newton_mix;

loom_status cholmod_newton_mix_open(cholmod_newton_mix *m, const loom_host *host,
                                    const loom_scene *sc, const loom_exec *e);
/* Islands that have merged take the highest rung. */
loom_status cholmod_newton_mix_islands(cholmod_newton_mix *m);
void cholmod_newton_mix_set(cholmod_newton_mix *m, int32_t rung); /* of all islands */
int32_t cholmod_newton_mix_lowest(const cholmod_newton_mix *m);
int32_t cholmod_newton_mix_highest(const cholmod_newton_mix *m);
/* The island of a vertex goes one rung up; *yes = 0: it is at the last one. */
loom_status cholmod_newton_mix_raise(cholmod_newton_mix *m, int32_t vertex, int *yes);
loom_status cholmod_newton_mix_keep_exact(cholmod_newton_mix *m, const loom_bsr3 *H);
/* The mixture of the exact values and the values of `clamp`, as m->view. */
loom_status cholmod_newton_mix_make(cholmod_newton_mix *m, const loom_bsr3 *clamp);
/* A direction that had to be cut because the energy rose was too bold: one rung up.  One that was
 * taken whole: one rung down.  One that a bound of contact cut says nothing: a rung below would
 * mostly fail again, and cost a factorisation. */
loom_status cholmod_newton_mix_learn(cholmod_newton_mix *m, const loom_accept *a);

#endif
