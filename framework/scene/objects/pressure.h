/* pressure.h - pressure on the triangles of cloth, as a force of each step that its target y
 * contains.
 *
 * A triangle of area A and normal n has the force p A n, a third of it at each corner; A and n
 * belong to the start of the step.  On a closed mesh n points out of it, on an open one n is the
 * normal of the triangles as the mesh has them.
 *   law = constant   p is given
 *   law = gas        p = (p0 + p_out) V0/V - p_out, gas of constant temperature inside of a closed
 *                    mesh of volume V, which belongs to the start of the step, too
 * With G_i = dV/dx_i gas alone swings with omega^2 = (p0 + p_out) V0/V^2 sum |G_i|^2/m_i.  Its
 * force is explicit: it is stable for (h omega)^2 below 4, or below 4 + (h omega_e)^2 where the
 * membrane, which is implicit, adds omega_e^2. */
#ifndef LOOM_SCENE_PRESSURE_H
#define LOOM_SCENE_PRESSURE_H

#include "scene/objects/loads.h"

void pressure_free(scene_pressure *p); /* NULL is fine */
/* Adds the forces of the step to y.  LOOM_E_NUMERIC if a mesh with gas has no volume left. */
loom_status pressure_push(const scene_data *s, loom_err *err, const load_step *step);
/* [n][3], N, of the last pressure_push(). */
const double *pressure_force(const scene_data *s);
/* omega (1/s) of the gas that swings fastest at x [n][3] (m), 0: there is none; mass [n] (kg),
 * fixed [n].  *section is its section, "pressure.air". */
double pressure_fastest(const scene_data *s, const loom_real *x, const loom_real *mass,
                        const uint8_t *fixed, const char **section);

#endif
