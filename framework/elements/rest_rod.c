/* rest_rod.c - rest data of yarn_bend and yarn_twist: natural curvature as built. */
#include <math.h>
#include <string.h>

#include "elements/rest.h"
#include "elements/rod.kern.h"

static double dot3(const double *a, const double *b)
{
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static void cross3(const double *a, const double *b, double *c)
{
  c[0] = a[1] * b[2] - a[2] * b[1];
  c[1] = a[2] * b[0] - a[0] * b[2];
  c[2] = a[0] * b[1] - a[1] * b[0];
}

void rest_rod_transport(const double *u, const double *a, const double *b, double *out)
{
  double n[3], nu[3];
  cross3(a, b, n);
  cross3(n, u, nu);
  const double c = dot3(a, b), f = dot3(n, u) / fmax(1 + c, 1e-15);
  for (int k = 0; k < 3; ++k) out[k] = c * u[k] + nu[k] + f * n[k];
}

/* Any unit vector perpendicular to t. */
void rest_rod_start(const double *t, double *u)
{
  const int k = fabs(t[0]) < fabs(t[1]) ? (fabs(t[0]) < fabs(t[2]) ? 0 : 2)
                                        : (fabs(t[1]) < fabs(t[2]) ? 1 : 2);
  double axis[3] = {0, 0, 0};
  axis[k] = 1;
  cross3(t, axis, u);
  const double s = sqrt(dot3(u, u));
  for (int c = 0; c < 3; ++c) u[c] /= s;
}

const char *rest_rod_edges(const double *X, double t[2][3], double len[2])
{
  for (int j = 0; j < 2; ++j) {
    for (int c = 0; c < 3; ++c) t[j][c] = X[3 * (j + 1) + c] - X[3 * j + c];
    len[j] = sqrt(dot3(t[j], t[j]));
    if (!(len[j] > 0) || !isfinite(len[j])) return "an edge has no length";
    for (int c = 0; c < 3; ++c) t[j][c] /= len[j];
  }
  if (dot3(t[0], t[1]) < -0.999) return "the yarn turns back on itself";
  return NULL;
}

/* Everything from both edges' frames u; theta = 0. */
void rest_rod_frames(double t[2][3], const double len[2], double u[2][3], double *rest)
{
  double kb[3], p[3], s[3];
  const double den = len[0] * len[1] * (1 + dot3(t[0], t[1]));
  memset(rest, 0, ROD_REST * sizeof *rest);
  cross3(t[0], t[1], kb);
  for (int c = 0; c < 3; ++c) kb[c] *= 2 * len[0] * len[1] / den;
  for (int j = 0; j < 2; ++j) {
    double v[3], *f = rest + ROD_FRAME + ROD_FRAME_LEN * j;
    cross3(t[j], u[j], v);
    rest[ROD_LENGTH + j] = len[j];
    rest[ROD_WBAR + 2 * j] = dot3(kb, v);
    rest[ROD_WBAR + 2 * j + 1] = -dot3(kb, u[j]);
    memcpy(f, t[j], 3 * sizeof *f);
    memcpy(f + 3, u[j], 3 * sizeof *f);
  }
  rest_rod_transport(u[0], t[0], t[1], p);
  cross3(t[1], p, s);
  rest[ROD_MREF] = rest[ROD_MBAR] = atan2(dot3(u[1], s), dot3(u[1], p));
}

const char *rest_rod(const double *X, double *rest)
{
  double t[2][3], len[2], u[2][3];
  const char *why = rest_rod_edges(X, t, len);
  if (why != NULL) return why;
  rest_rod_start(t[0], u[0]);
  rest_rod_transport(u[0], t[0], t[1], u[1]);
  rest_rod_frames(t, len, u, rest);
  return NULL;
}
