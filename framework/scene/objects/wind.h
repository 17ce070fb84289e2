/* wind.h - wind on the triangles of cloth, as a force of each step that its target y contains.
 *
 * A triangle of area A, normal n and mean velocity v in air of velocity w has the force
 *   F = C (w - v),   C = rho/2 A |w - v| (c_n n n' + c_t (1 - n n')),
 * that of a flat plate: at an angle a to the flow c_n sin^2 a + c_t cos^2 a is its drag and
 * (c_n - c_t) sin a cos a its lift.  A, n and |w - v| belong to the start of the step.  The
 * other factor v is implicit: it is v* - (h/m) C (v - w), v* the velocity with gravity and all
 * other forces in y, m the mass of the triangle.  C has the eigenvectors n and tangents, so
 *   F = sum over both of c (w - v*) / (1 + h c / m),   c the eigenvalue of C.
 * A third of F acts on each corner.  The force does not grow without bound with h, a sheet that
 * sinks flat has the exact terminal velocity, and F is a function of the start of the step alone:
 * every solver has the same problem, and no matrix changes. */
#ifndef LOOM_SCENE_WIND_H
#define LOOM_SCENE_WIND_H

#include "scene/objects/loads.h"

void wind_free(scene_wind *w); /* NULL is fine */
/* Velocity (m/s) of the air at point x (m) and time t (s).  [any] */
void wind_velocity(const scene_wind *w, const double x[3], double t, double out[3]);
/* Adds the force of the step to y. */
void wind_push(const scene_data *s, const load_step *step);
/* [n][3], N, of the last wind_push(). */
const double *wind_force(const scene_data *s);

#endif
