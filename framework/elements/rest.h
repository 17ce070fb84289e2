/* rest.h - rest data of the element types from rest positions, on the host.
 *
 * Each rest_TYPE has the form of elem_type.init_rest: X [arity][3] in m, rest as the
 * type's header says; NULL, or why the element is degenerate. */
#ifndef LOOM_ELEM_REST_H
#define LOOM_ELEM_REST_H

const char *rest_pin(const double *X, double *rest);
const char *rest_spring(const double *X, double *rest);
/* tri_arap and tri_stvk.  The triangle is flattened in its own plane: u is the global x
 * direction projected into it (y where the plane is within 5 degrees of perpendicular to
 * x), v = n x u with the normal n.  Orthotropic fabric is thus laid out along x and y of
 * a rest shape in the xy plane, exactly; the sign of v does not matter to it. */
const char *rest_triangle(const double *X, double *rest);
const char *rest_hinge_isometric(const double *X, double *rest);
const char *rest_hinge_shell(const double *X, double *rest);
const char *rest_tet(const double *X, double *rest);

/* Rods: one element by itself, or (rest_rod_frames) with the frames u that neighbours share. */
const char *rest_rod(const double *X, double *rest);
const char *rest_rod_edges(const double *X, double t[2][3], double len[2]);
void rest_rod_start(const double *t, double *u);
void rest_rod_transport(const double *u, const double *a, const double *b, double *out);
void rest_rod_frames(double t[2][3], const double len[2], double u[2][3], double *rest);

#endif
