/* rod.h - common part of yarn_bend and yarn_twist on the host: settings and rest data. */
#ifndef LOOM_ELEM_ROD_H
#define LOOM_ELEM_ROD_H

#include "elements/elements.h"

typedef struct rod_settings {
  double bending, twisting;          /* N m^2 */
  double plasticity, plasticity_max; /* 1 */
} rod_settings;

/* The rows of [yarn.*] for both: one table, so that they share its values. */
enum { ROD_NUM_PARAMS = 4 };
extern const loom_param rod_params[ROD_NUM_PARAMS];

/* The frames that yarn_bend and yarn_twist have in common, in the rest data of yarn_bend: at the
 * end of a step they are carried to x, the twist of least energy is found, and rest curvatures
 * yield. */
extern const elem_state rod_state;

/* Twist that is imposed on the yarns of a scene: an extension of the scene of this name, for the
 * core alone.  Segments in the order of rod_args.held, ne joints of ny yarns. */
#define ROD_CLAMPS "rod.clamps"
typedef struct rod_clamps {
  loom_buf *held; /* u8 [ne + ny], 1: the material frame turns about its segment by `turn` alone */
  loom_buf *turn; /* real [ne + ny], rad, angle of the present step; 0 where not held */
  loom_buf *slip; /* real [ne], rad, twist that the present step adds to a joint: the yarn is cut,
                   * turned and glued there */
} rod_clamps;

/* Twist that is imposed from the start on: carries out the angles in ROD_CLAMPS at x, real [n][3],
 * with the twist of least energy, on one thread of the host.  Rest curvatures do not yield. */
loom_status rod_turn_start(loom_err *err, mem *m, const loom_scene *sc, loom_buf *x);

/* init_rest and init_line (elements.h): natural curvature as built. */
const char *rest_rod(const double *X, double *rest);
const char *rest_rod_line(const double *X, int32_t n, int closed, double *rest, int32_t *where);
/* pose_line: rest lengths, curvatures and twist of files; frames where the line starts. */
const char *rest_rod_pose(const elem_line *l, double *rest, int32_t *where);

#endif
