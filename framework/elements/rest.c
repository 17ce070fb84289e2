/* rest.c - rest data of the element types from rest positions. */
#include "elements/rest.h"

#include <math.h>
#include <stddef.h>

/* Triangles lower, tetrahedra flatter than this fraction of their size are refused: their
 * shape functions would have lost most of their digits. */
static const double min_shape = 1e-10;

static double dot3(const double *a, const double *b)
{
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static void sub3(const double *a, const double *b, double *c)
{
  for (int i = 0; i < 3; ++i) c[i] = a[i] - b[i];
}

static void cross3(const double *a, const double *b, double *c)
{
  c[0] = a[1] * b[2] - a[2] * b[1];
  c[1] = a[2] * b[0] - a[0] * b[2];
  c[2] = a[0] * b[1] - a[1] * b[0];
}

static double norm3(const double *a) { return sqrt(dot3(a, a)); }

/* Normal N = p x q; returns its length, or 0 for edges that are parallel within rounding. */
static double normal(const double *p, const double *q, double *N)
{
  cross3(p, q, N);
  const double len = norm3(N);
  return len > min_shape * (dot3(p, p) + dot3(q, q)) ? len : 0.0;
}

const char *rest_pin(const double *X, double *rest)
{
  (void)rest;
  return isfinite(X[0] + X[1] + X[2]) ? NULL : "position is not a number";
}

const char *rest_spring(const double *X, double *rest)
{
  double d[3];
  sub3(X, X + 3, d);
  rest[0] = norm3(d);
  return isfinite(rest[0]) ? NULL : "length is not a number";
}

const char *rest_triangle(const double *X, double *rest)
{
  double e1[3], e2[3], n[3], u[3] = {1.0, 0.0, 0.0}, v[3];
  sub3(X + 3, X, e1);
  sub3(X + 6, X, e2);
  const double len = normal(e1, e2, n);
  if (!(len > 0.0)) return "zero area";
  for (int c = 0; c < 3; ++c) n[c] /= len;
  if (1.0 - n[0] * n[0] < 0.0076) u[0] = 0.0, u[1] = 1.0; /* sin^2 of 5 degrees */
  const double k = dot3(u, n);
  for (int c = 0; c < 3; ++c) u[c] -= k * n[c];
  const double length = norm3(u);
  for (int c = 0; c < 3; ++c) u[c] /= length;
  cross3(n, u, v);
  /* Dm = [e1, e2] in (u, v); det Dm = |e1 x e2| > 0 */
  const double m00 = dot3(e1, u), m01 = dot3(e2, u), m10 = dot3(e1, v), m11 = dot3(e2, v);
  const double det = m00 * m11 - m01 * m10;
  rest[0] = m11 / det;
  rest[1] = -m01 / det;
  rest[2] = -m10 / det;
  rest[3] = m00 / det;
  return NULL;
}

/* Cotangent of the angle between p and q. */
static double cotangent(const double *p, const double *q)
{
  double c[3];
  cross3(p, q, c);
  return dot3(p, q) / norm3(c);
}

/* Edge vectors from x0 and the areas of the two faces; 0 if all is well. */
static const char *hinge_faces(const double *X, double e[3][3], double N0[3], double N1[3],
                               double *area)
{
  for (int k = 0; k < 3; ++k) sub3(X + 3 * (k + 1), X, e[k]);
  const double a0 = normal(e[0], e[1], N0), a1 = normal(e[2], e[0], N1);
  if (!(a0 > 0.0)) return "zero area of the face on vertex 2";
  if (!(a1 > 0.0)) return "zero area of the face on vertex 3";
  *area = 0.5 * (a0 + a1);
  return NULL;
}

const char *rest_hinge_isometric(const double *X, double *rest)
{
  double e[3][3], N0[3], N1[3], area, back[3], p[3], q[3], y[3];
  const char *why = hinge_faces(X, e, N0, N1, &area);
  if (why != NULL) return why;
  for (int c = 0; c < 3; ++c) back[c] = -e[0][c];
  sub3(X + 6, X + 3, p);
  sub3(X + 9, X + 3, q);
  const double c01 = cotangent(e[0], e[1]), c02 = cotangent(e[0], e[2]);
  const double c03 = cotangent(back, p), c04 = cotangent(back, q);
  const double scale = sqrt(3.0 / area);
  rest[0] = scale * (c01 + c02); /* of vertex 1; vertex 0 has scale (c03 + c04) */
  rest[1] = -scale * (c01 + c03);
  rest[2] = -scale * (c02 + c04);
  for (int c = 0; c < 3; ++c) y[c] = rest[0] * e[0][c] + rest[1] * e[1][c] + rest[2] * e[2][c];
  /* |K X| = 2 |e| sin(theta/2): angles below 1e-6 are the noise of a flat mesh */
  const double L = norm3(y);
  rest[3] = L < 1e-6 * scale * norm3(e[0]) ? 0.0 : dot3(y, N0) < 0.0 ? -L : L;
  return NULL;
}

const char *rest_hinge_shell(const double *X, double *rest)
{
  double e[3][3], N0[3], N1[3], c[3];
  const char *why = hinge_faces(X, e, N0, N1, &rest[1]);
  if (why != NULL) return why;
  cross3(N1, N0, c);
  rest[0] = norm3(e[0]);
  rest[2] = atan2(dot3(e[0], c) / rest[0], dot3(N0, N1));
  return NULL;
}

const char *rest_tet(const double *X, double *rest)
{
  double d[3][3], c[3][3];
  double size = 0.0;
  for (int k = 0; k < 3; ++k) {
    sub3(X + 3 * (k + 1), X, d[k]);
    size = fmax(size, norm3(d[k]));
  }
  for (int k = 0; k < 3; ++k) cross3(d[(k + 1) % 3], d[(k + 2) % 3], c[k]);
  /* rows of Dm^-1 are the cross products of the other two edges over the determinant */
  const double det = dot3(d[0], c[0]);
  if (!(fabs(det) > min_shape * size * size * size)) return "zero volume";
  for (int k = 0; k < 3; ++k)
    for (int j = 0; j < 3; ++j) rest[3 * k + j] = c[k][j] / det;
  rest[9] = fabs(det) / 6.0;
  return NULL;
}
