/* same_scenes.h - small scenes with friction and an answer from theory, for any solver and
 * contact model: the measurements of test_same_physics.c. */
#ifndef SAME_SCENES_H
#define SAME_SCENES_H

#include "support/sim.h"

typedef enum same_row {
  SAME_SLOPE,     /* slides down with g (sin - mu cos), mu = tan/2 */
  SAME_CREEP,     /* sticks at mu = 1.2 tan: creeps below 2 epsilon_v */
  SAME_BELT,      /* a belt pulls cloth that lies on it with mu g */
  SAME_THROWN,    /* a table stops cloth thrown along it with mu g */
  SAME_TURNTABLE, /* carries cloth round with omega r */
  SAME_CLOTHS,    /* as SAME_SLOPE, on a sheet that is held */
  SAME_SHEETS,    /* the same on a free sheet, which sticks to the slope */
  SAME_HOLDS,     /* capstan: a strip over a rod, at 0.97 of the load that slips: creeps below 2
                     epsilon_v */
  SAME_SLIPS,     /* at 1.03 of it: slips */
  SAME_ROWS
} same_row;

typedef enum same_body { SAME_EXACT, SAME_MESH } same_body;

typedef struct same_case {
  same_row row;
  same_body body;
  const char *solver, *contact; /* names; lines of settings may follow that of contact */
  double dt;                    /* s */
  const char *more;             /* further lines of the config, or NULL */
  const double *moving;         /* m/s [3], of the whole scene; NULL: 0 */
  double lower;                 /* m, cloth starts so far below where it rests */
  double tol_rel;               /* 1; 0: 1e-6 */
  int max_iters;                /* 0: 100 */
} same_case;

enum { SAME_TRACK = 60 };
typedef struct same_track {               /* of the patch */
  double t[SAME_TRACK], x[SAME_TRACK][3]; /* s, m */
  double r_ref[SAME_TRACK];               /* m, the reference of `tol_rel` in the step to t */
} same_track;

typedef struct same_result {
  int runs;      /* 0: the parts do not fit; why stands in `error` */
  double value;  /* measured over theory, 1; of sticking cloth: speed over 2 epsilon_v, 1 */
  double capped; /* 1, share of steps that did not reach their tolerance */
  char error[256];
} same_result;

extern const char *const same_names[SAME_ROWS];

/* Whether `r` is as theory says, to within `bound` (1). */
int same_holds(same_row row, const same_result *r, double bound);
void same_measure(const same_case *c, same_result *r);
/* The way of the patch.  Returns 0 where the parts of the case do not fit; the test fails there
 * unless `may_fail`. */
int same_follow(const same_case *c, same_track *track, int may_fail);
/* The config of a case; folder: where the meshes of SAME_HOLDS and SAME_SLIPS are. */
void same_write(const same_case *c, const char *folder, char *text, size_t size);

#endif
