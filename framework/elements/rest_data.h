/* rest_data.h - helpers of several element types for rest data from rest positions, on the host.
 *
 * Functions that check for degenerate elements return NULL, or the reason, as elem_type.init_rest
 * does. */
#ifndef LOOM_ELEM_REST_H
#define LOOM_ELEM_REST_H

/* Triangles lower, tetrahedra flatter than this fraction of their size are refused: their
 * shape functions would have lost most of their digits. */
#define REST_MIN_SHAPE 1e-10

/* The first material axis u, of unit length, of a plane with the normal N of any length: the global
 * x direction projected into it (y where the plane is within 5 degrees of perpendicular to x). */
void rest_data_first_axis(const double *N, double *u);
/* init_rest of membranes.  The triangle is flattened in its own plane, with u the first axis and
 * v = n x u with the normal n.  Orthotropic fabric is thus laid out along x and y of
 * a rest shape in the xy plane, exactly; the sign of v does not matter to it. */
const char *rest_data_triangle(const double *X, double *rest);
/* init_rest of tetrahedra: Dm^-1 row-major (1/m), volume (m^3). */
const char *rest_data_tet(const double *X, double *rest);
/* init_rest without data, of `num` vertices X [num][3]. */
const char *rest_data_positions(const double *X, int num);
/* For a hinge X [4][3]: edge vectors from x0, normals p x q of both faces, the sum A0 + A1 of their
 * areas. */
const char *rest_data_hinge_faces(const double *X, double e[3][3], double N0[3], double N1[3],
                                  double *area);

#endif
