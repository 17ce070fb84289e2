/* vec3.h - vectors of three numbers on the host; kernels have theirs in small.kern.h. */
#ifndef LOOM_GEOM_VEC3_H
#define LOOM_GEOM_VEC3_H

#include <math.h>

/* All vectors: double [3]. */
static inline double vec3_dot(const double *a, const double *b)
{
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static inline double vec3_norm(const double *a) { return sqrt(vec3_dot(a, a)); }

/* c = a - b; c may be a or b. */
static inline void vec3_sub(const double *a, const double *b, double *c)
{
  for (int k = 0; k < 3; ++k) c[k] = a[k] - b[k];
}

/* c = a x b; c is neither a nor b. */
static inline void vec3_cross(const double *a, const double *b, double *c)
{
  c[0] = a[1] * b[2] - a[2] * b[1];
  c[1] = a[2] * b[0] - a[0] * b[2];
  c[2] = a[0] * b[1] - a[1] * b[0];
}

#endif
