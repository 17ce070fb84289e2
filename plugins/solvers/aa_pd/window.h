/* window.h - the last iterates of a fixed-point iteration x <- G(x), and the combination of them
 * from which Anderson acceleration continues.
 *
 * With f_k = G(x_k) - x_k, df_j = f_j+1 - f_j, dg_j = G(x_j+1) - G(x_j) and at most m differences:
 *   theta = argmin |f_k - sum_j theta_j df_j|^2,   x_k+1 = G(x_k) - sum_j theta_j dg_j
 * (Peng et al. 2018, equations 6 and 7, in the form of Walker and Ni 2011,
 * doi 10.1137/10078356X).  The norm is that of R^3n, as in the paper.
 *
 * DEVIATION: islands of the scene, which cannot touch, are fixed-point iterations of their own,
 * each with its theta.  One theta for all would make the iterates of one depend on the others.
 */
#ifndef AA_PD_WINDOW_H
#define AA_PD_WINDOW_H

#include "loom/plugin.h"

enum { AA_PD_MOST = 32 }; /* differences at most */

typedef struct window { /* fine when zeroed */
  const loom_host *host;
  const loom_exec *e;
  int32_t m;                                 /* largest number of differences */
  int32_t num;                               /* present number of differences */
  int32_t islands;                           /* of the next two; 0: none yet */
  int32_t usable[LOOM_ISLANDS_MOST];         /* latest differences that the island may use, -1: the
                                              * next one is not usable either */
  int32_t at;                                /* place of the next difference */
  int32_t any;                               /* nonzero: f and g hold an iterate */
  loom_buf *f, *g;                           /* real [n][3], m: f and G of the latest iterate */
  loom_buf *df[AA_PD_MOST], *dg[AA_PD_MOST]; /* real [n][3], m */
  double gram[LOOM_ISLANDS_MOST][AA_PD_MOST][AA_PD_MOST]; /* df_i . df_j, m^2 */
} window;

/* m = 0: no acceleration. */
loom_status window_new(window *w, const loom_host *host, const loom_exec *e, int32_t num_verts,
                       int32_t m);
void window_forget(window *w);
void window_forget_island(window *w, int32_t k);
/* The scene has `num` islands now; another number: those that were have merged, which empties it.
 */
void window_islands(window *w, int32_t num);
/* Takes in the iterate x with G(x) in g, both real [n][3]. */
loom_status window_add(window *w, loom_buf *x, loom_buf *g);
/* out = G(x_k) - sum theta_j dg_j; used [islands] (out): differences that took part; *most, the
 * largest of them, 0: out is not written. */
loom_status window_mix(window *w, loom_buf *out, int32_t *used, int32_t *most);

#endif
