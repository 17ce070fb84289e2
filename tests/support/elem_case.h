/* elem_case.h - small sets of separate elements of one type, for tests of the kernels. */
#ifndef LOOM_TEST_ELEM_CASE_H
#define LOOM_TEST_ELEM_CASE_H

#include "elements/elements.h"

enum { CASE_MAX_DOF = 3 * ELEM_MAX_ARITY };

enum {                /* where the vertices are, relative to the rest shape */
       CASE_AT_REST,  /* the rest shape itself, rotated and translated */
       CASE_RANDOM,   /* moved by about a third of the element's size */
       CASE_STRETCH,  /* rotated, stretched by about a third */
       CASE_COMPRESS, /* rotated, compressed to about two thirds */
       CASE_NUM_POSES
};

typedef struct elem_case {
  const elem_type *type;
  int ne;
  double *rest_x;   /* [ne][arity][3] m */
  loom_real *x;     /* [ne][arity][3] m */
  int32_t *verts;   /* [ne][arity] */
  loom_real *rest;  /* [ne][rest_len] */
  loom_real *mat;   /* [ne][mat_len] */
  loom_exec exec;   /* CPU, one thread */
  loom_real result; /* of reductions */
} elem_case;

/* Elements of about 0.1 m with stiffnesses of about 1; flat: they rest in the xy plane. */
void case_new(elem_case *c, const elem_type *t, int ne, int flat, unsigned seed);
void case_free(elem_case *c);
void case_pose(elem_case *c, int pose, unsigned seed);
/* A number in [-1, 1) from a counter: the same everywhere. */
double case_random(unsigned seed, unsigned counter);

/* One element's energy, J. */
double case_energy(elem_case *c, int e);
/* Run one of the type's kernels on all elements; out as in elem_args. */
void case_run(elem_case *c, const lk_entry *k, int how, loom_real *out);
/* The same for one element. */
void case_run1(elem_case *c, const lk_entry *k, int how, int e, loom_real *out);

double case_max_abs(const loom_real *v, int n);
/* Extreme eigenvalues of a symmetric n x n matrix, n <= CASE_MAX_DOF. */
void case_eigen_range(const loom_real *A, int n, double *lo, double *hi);

#endif
