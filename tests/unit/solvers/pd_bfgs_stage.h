/* pd_bfgs_stage.h - a small sheet for the parts of pd_bfgs: its matrix as dense numbers, too, and
 * contact between vertices that are far apart. */
#ifndef PD_BFGS_STAGE_H
#define PD_BFGS_STAGE_H

#include "pd_bfgs.h"
#include "support/test_host.h"

enum { SIDE = 21, N = SIDE * SIDE };

typedef struct stage {
  test_host t;
  pd_bfgs s;
  double H[N][N]; /* of free vertices, unit rows at fixed ones */
  double B[3 * N][3 * N];
  loom_csr L;
  loom_bsr3 contact;
  double g[N][3];
  uint8_t fixed[N];
} stage;

extern const pd_bfgs_settings stage_defaults;

/* All but the basis; the sheet bulges by `bulge` per vertex and row. */
void stage_open_shape(stage *z, int threads, const pd_bfgs_settings *set, double bulge);
void stage_open(stage *z, int threads, const pd_bfgs_settings *set);
void stage_close(stage *z);
/* Pairs of vertices pushed along a direction, k (d, -d)(d, -d)': rank one, far apart in the sheet.
 */
void stage_give_contact(stage *z, double weight);
/* The matrix of grid_matrix.h, for the solver, too. */
void stage_give_matrix(stage *z);

#endif
