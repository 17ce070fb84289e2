/* rigid.h - the fail-safe: vertices that impacts connect move as one rigid body.
 *
 * X. Provot, Collision and Self-collision Handling in Cloth Model Dedicated to Design Garments,
 * Computer Animation and Simulation 1997, doi 10.1007/978-3-7091-6874-5_13, in the form of Bridson
 * et al. 2002, section 7.  Vertices of one zone then cannot meet.  The next detection finds impacts
 * between zones, and of zones with other cloth, and zones merge.  A zone that touches fixed
 * vertices or bodies is carried along by them.
 *
 * On the host: it is needed seldom, and then for few vertices.
 */
#ifndef IMPACT_RIGID_H
#define IMPACT_RIGID_H

#include "impacts.h"

/* Moves the vertices of all impacts, in x, from x_start with the mean velocities of their zones,
 * which are taken from x_before; mask, u8 [n], = 1 there.  *moved: number of these vertices. */
loom_status rigid_zones(const impacts *all, loom_buf *x_start, loom_buf *x_before, loom_buf *x,
                        loom_buf *mask, int64_t *moved);

#endif
