/* placement.h - where things are put: words of the keys transform and rotation as maps of space. */
#ifndef LOOM_MESH_PLACEMENT_H
#define LOOM_MESH_PLACEMENT_H

#include "core/err.h"

/* "scale S | rotate AX AY AZ DEG | translate X Y Z" ..., from left to right, as the rigid map
 * `place` (see pose.h) behind a scale.  LOOM_E_CONFIG without a place if the text is none. */
loom_status placement_transform(loom_err *err, const char *text, double place[12], double *scale);
/* "AX AY AZ DEG" */
loom_status placement_rotation(loom_err *err, const char *text, double P[12]);

#endif
