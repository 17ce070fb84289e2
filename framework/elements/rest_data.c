/* rest_data.c - helpers of several element types for rest data from rest positions. */
#include "elements/rest_data.h"

#include <math.h>
#include <stddef.h>

#include "geom/vec3.h"

/* Normal N = p x q; returns its length, or 0 for edges that are parallel within rounding. */
static double compute_face_normal(const double *p, const double *q, double *N)
{
  vec3_cross(p, q, N);
  const double len = vec3_norm(N);
  return len > REST_MIN_SHAPE * (vec3_dot(p, p) + vec3_dot(q, q)) ? len : 0.0;
}

void rest_data_first_axis(const double *N, double *u)
{
  const double len = vec3_norm(N), n[3] = {N[0] / len, N[1] / len, N[2] / len};
  const int steep = 1.0 - n[0] * n[0] < 0.0076; /* sin^2 of 5 degrees */
  u[0] = steep ? 0.0 : 1.0;
  u[1] = steep ? 1.0 : 0.0;
  u[2] = 0.0;
  const double k = vec3_dot(u, n);
  for (int c = 0; c < 3; ++c) u[c] -= k * n[c];
  const double length = vec3_norm(u);
  for (int c = 0; c < 3; ++c) u[c] /= length;
}

const char *rest_data_triangle(const double *X, double *rest)
{
  double e1[3], e2[3], n[3], u[3], v[3];
  vec3_sub(X + 3, X, e1);
  vec3_sub(X + 6, X, e2);
  const double len = compute_face_normal(e1, e2, n);
  if (!(len > 0.0)) return "zero area";
  rest_data_first_axis(n, u);
  for (int c = 0; c < 3; ++c) n[c] /= len;
  vec3_cross(n, u, v);
  /* Dm = [e1, e2] in (u, v); det Dm = |e1 x e2| > 0 */
  const double m00 = vec3_dot(e1, u), m01 = vec3_dot(e2, u), m10 = vec3_dot(e1, v),
               m11 = vec3_dot(e2, v);
  const double det = m00 * m11 - m01 * m10;
  rest[0] = m11 / det;
  rest[1] = -m01 / det;
  rest[2] = -m10 / det;
  rest[3] = m00 / det;
  return NULL;
}

const char *rest_data_hinge_faces(const double *X, double e[3][3], double N0[3], double N1[3],
                                  double *area)
{
  for (int k = 0; k < 3; ++k) vec3_sub(X + 3 * (k + 1), X, e[k]);
  const double a0 = compute_face_normal(e[0], e[1], N0), a1 = compute_face_normal(e[2], e[0], N1);
  if (!(a0 > 0.0)) return "zero area of the face on vertex 2";
  if (!(a1 > 0.0)) return "zero area of the face on vertex 3";
  *area = 0.5 * (a0 + a1);
  return NULL;
}

const char *rest_data_tet(const double *X, double *rest)
{
  double d[3][3], c[3][3];
  double size = 0.0;
  for (int k = 0; k < 3; ++k) {
    vec3_sub(X + 3 * (k + 1), X, d[k]);
    size = fmax(size, vec3_norm(d[k]));
  }
  for (int k = 0; k < 3; ++k) vec3_cross(d[(k + 1) % 3], d[(k + 2) % 3], c[k]);
  /* rows of Dm^-1 are the cross products of the other two edges over the determinant */
  const double det = vec3_dot(d[0], c[0]);
  if (!(fabs(det) > REST_MIN_SHAPE * size * size * size)) return "zero volume";
  for (int k = 0; k < 3; ++k)
    for (int j = 0; j < 3; ++j) rest[3 * k + j] = c[k][j] / det;
  rest[9] = fabs(det) / 6.0;
  return NULL;
}

const char *rest_data_positions(const double *X, int num)
{
  double sum = 0.0;
  for (int k = 0; k < 3 * num; ++k) sum += X[k];
  return isfinite(sum) ? NULL : "position is not a number";
}
