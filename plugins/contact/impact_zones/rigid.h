/* rigid.h - the fail-safe: vertices that impacts connect move as one rigid body.
 *
 * X. Provot, Collision and Self-collision Handling in Cloth Model Dedicated to Design Garments,
 * Computer Animation and Simulation 1997, doi 10.1007/978-3-7091-6874-5_13, in the form of Bridson
 * et al. 2002, section 7.  Nothing inside of a zone can meet then; what two zones or a zone and
 * other cloth do is found by the next detection, and zones merge.  A zone that touches something
 * prescribed, fixed vertices or bodies, is carried along by it.
 *
 * On the host: it is needed seldom, and then for few vertices.
 */
#ifndef IMPACT_RIGID_H
#define IMPACT_RIGID_H

#include "impacts.h"

/* x of the vertices of all impacts, from x_start to where the mean velocities of their zones, those
 * of x_before, take them; mask, u8 [n], = 1 there.  *moved: how many they are. */
loom_status rigid_zones(const impacts *all, loom_buf *x_start, loom_buf *x_before, loom_buf *x,
                        loom_buf *mask, int64_t *moved);

#endif
