/* grid_matrix.h - a square sheet of side x side vertices for parts of solvers: its triangles, and a
 * matrix like that of projective dynamics, dense and as the core gives it. */
#ifndef TEST_GRID_MATRIX_H
#define TEST_GRID_MATRIX_H

#include "support/test_host.h"

/* H [n][n], n = side^2: membrane and bending of a regular grid, a 5-point Laplacian and some of its
 * square, plus mass; unit rows for `fixed` [n]. */
void grid_matrix(int side, const uint8_t *fixed, double *H);
/* Its nonzero entries. */
loom_csr grid_csr(test_host *t, int n, const double *H);
/* Two triangles per cell, one object. */
void grid_triangles(test_host *t, int side);

#endif
