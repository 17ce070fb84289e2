/* rig_shapes.h - the procedural bodies behind rig_make(). */
#ifndef LOOM_RIG_BODIES_H
#define LOOM_RIG_BODIES_H

#include "rig/rig.h"

typedef loom_status rig_maker(loom_err *err, double edge, rig *out);
rig_maker rig_make_leg, rig_make_lower_body; /* rig_free() also after an error */

/* Room for joints, and for the weights of the skin that *out has. */
loom_status rig_alloc(loom_err *err, int32_t joints, int32_t per, rig *out);
/* Joint j about `pivot` (m) without dofs. */
void rig_set_joint(rig *r, int32_t j, const char *name, int32_t parent, const double pivot[3]);
/* One more dof of joint j, between lo and hi (rad). */
void rig_add_dof(rig *r, int32_t j, const char *name, const double axis[3], double lo, double hi);

#endif
