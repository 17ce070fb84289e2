/* plate_rest.h - the set-up at rest of the elements plate and plate_quadratic: curvatures of a
 * triangle from the folds around it, on the host, once per scene.
 *
 * Each inner edge e has a fold angle d_e (less the rest angle), which its two triangles share:
 *   u_T0 = sum of c_f d_f over e and the other inner edges of both triangles (5 at most),
 *   u_T1 = d_e - u_T0
 * with weights c that give the slope at the middle of e exactly for every quadratic surface.  The
 * curvature of a triangle is
 *   kappa = 1/A sum_e l_e u_e (n_x^2, n_y^2, 2 n_x n_y)
 * with the unit normals n of its sides in its plane, and E = A/2 kappa' D kappa.  At a free edge
 * the moment is 0, which eliminates its slope.  Then E = D/2 |R d|^2 with R [3][9] of each
 * triangle.
 *
 * A patch is a triangle with the vertices around it: 0 to 2 its own, 3 + a the one beyond its side
 * a (from vertex a to a + 1), 6 + 2a and 7 + 2a those beyond that neighbour's two other sides.
 *
 * Source: this project.  Relatives: E. Onate and F. Zarate, Rotation-free triangular plate and
 * shell elements, Int. J. Numer. Methods Eng. 47 (2000), with c = (1/2, 0, 0, 0, 0); E. Grinspun et
 * al., Computing discrete shape operators on general meshes, Computer Graphics Forum 25(3), 2006,
 * with an unknown angle per edge in place of the weights. */
#ifndef LOOM_ELEM_PLATE_REST_H
#define LOOM_ELEM_PLATE_REST_H

#include "mesh/topo.h"

enum { PLATE_SHARES = 5, PLATE_FOLDS = 9, PLATE_VERTS = 12 };

/* Triangles at rest, each in its own plane: only lengths pass from one to the next, which unfolds
 * curved rest shapes and seams.  Side 3 t + a runs from corner a of triangle t to the next one;
 * corners run around the triangle in the positive sense. */
typedef struct plate_mesh {
  int64_t num_tris;
  int32_t *across; /* [nt][3] the other triangle's side of the same edge; -1: none, or several */
  double *corner;  /* [nt][3][2] m, along the material axes */
  double *fold;    /* [nt][3] rad, rest angle of the side's edge, as in elements/hinge.kern.h */
  unsigned char *held; /* [nt] 1: all three vertices are held */
} plate_mesh;

/* Arrays for nt triangles with the edges tp, all zero but `across`; the caller frees. */
loom_status plate_mesh_new(loom_err *err, const topo *tp, int64_t nt, plate_mesh *out);
void plate_mesh_free(plate_mesh *m);
/* Corners of triangle t from rest positions X [3][3] (m): NULL, or why it has no shape. */
const char *plate_mesh_triangle(plate_mesh *m, int64_t t, const double *X);

/* u [5], 1: the slope that the triangle of `side` sees there, by the folds of the side itself, the
 * next two of its triangle, and the next two of the triangle beyond.  The side has a fold. */
void plate_shares(const plate_mesh *m, int32_t side, double *u);
/* Sides whose folds are those of the patch of triangle t, [9]; -1: none.  Fold a is that of its
 * side a, 3 + 2a and 4 + 2a are those of the next two sides of the triangle beyond. */
void plate_fold_sides(const plate_mesh *m, int64_t t, int32_t *side);
/* Vertices [12] of the patch, tris [nt][3]; in place of one that is missing, or only of folds
 * without a part in R, the first one again: patterns of matrices hold no more than the weights
 * need. */
void plate_patch_verts(const plate_mesh *m, const int32_t *tris, int64_t t, const double *R,
                       int32_t *v);
/* R [3][9], 1, of triangle t; D [4]: D11, D22, D12, D66 divided by the element's rigidity. */
void plate_modes(const plate_mesh *m, int64_t t, const double *D, double *R);
/* v [12], 1/m: v x is twice the sine of half the fold of a side, times its direction. */
void plate_fold_vector(const plate_mesh *m, int32_t side, int fold, double *v);

/* Rest data from 12 rest positions X [12][3] (m) of one patch that is a sheet by itself; NULL, or
 * why it has no shape. */
typedef void (*plate_rest_fn)(const plate_mesh *m, int64_t t, const double *R, double *rest);
const char *plate_rest_alone(const double *X, plate_rest_fn rest_of, double *rest);
/* Angle of the hinge X [4][3] (m), rad; NULL, or why it has none. */
const char *plate_hinge_angle(const double *X, double *angle);

#endif
