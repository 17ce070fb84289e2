/* rest_rod.c - rest data of yarn_bend and yarn_twist: natural curvature as built, frames that
 * neighbours share. */
#include <math.h>
#include <string.h>

#include "elements/rod.h"
#include "elements/rod.kern.h"
#include "geom/vec3.h"

static void transport(const double *u, const double *a, const double *b, double *out)
{
  double n[3], nu[3];
  vec3_cross(a, b, n);
  vec3_cross(n, u, nu);
  const double c = vec3_dot(a, b), f = vec3_dot(n, u) / fmax(1 + c, 1e-15);
  for (int k = 0; k < 3; ++k) out[k] = c * u[k] + nu[k] + f * n[k];
}

/* Any unit vector perpendicular to t. */
static void start(const double *t, double *u)
{
  const int k = fabs(t[0]) < fabs(t[1]) ? (fabs(t[0]) < fabs(t[2]) ? 0 : 2)
                                        : (fabs(t[1]) < fabs(t[2]) ? 1 : 2);
  double axis[3] = {0, 0, 0};
  axis[k] = 1;
  vec3_cross(t, axis, u);
  const double s = vec3_norm(u);
  for (int c = 0; c < 3; ++c) u[c] /= s;
}

static const char *edges(const double *X, double t[2][3], double len[2])
{
  for (int j = 0; j < 2; ++j) {
    for (int c = 0; c < 3; ++c) t[j][c] = X[3 * (j + 1) + c] - X[3 * j + c];
    len[j] = vec3_norm(t[j]);
    if (!(len[j] > 0) || !isfinite(len[j])) return "an edge has no length";
    for (int c = 0; c < 3; ++c) t[j][c] /= len[j];
  }
  if (vec3_dot(t[0], t[1]) < -0.999) return "the yarn turns back on itself";
  return NULL;
}

/* Everything from both edges' frames u; theta = 0. */
static void frames(double t[2][3], const double len[2], double u[2][3], double *rest)
{
  double kb[3], p[3], s[3];
  const double den = len[0] * len[1] * (1 + vec3_dot(t[0], t[1]));
  memset(rest, 0, ROD_REST * sizeof *rest);
  vec3_cross(t[0], t[1], kb);
  for (int c = 0; c < 3; ++c) kb[c] *= 2 * len[0] * len[1] / den;
  for (int j = 0; j < 2; ++j) {
    double v[3], *f = rest + ROD_FRAME + ROD_FRAME_LEN * j;
    vec3_cross(t[j], u[j], v);
    rest[ROD_LENGTH + j] = len[j];
    rest[ROD_WBAR + 2 * j] = vec3_dot(kb, v);
    rest[ROD_WBAR + 2 * j + 1] = -vec3_dot(kb, u[j]);
    memcpy(f, t[j], 3 * sizeof *f);
    memcpy(f + 3, u[j], 3 * sizeof *f);
  }
  transport(u[0], t[0], t[1], p);
  vec3_cross(t[1], p, s);
  rest[ROD_MREF] = rest[ROD_MBAR] = atan2(vec3_dot(u[1], s), vec3_dot(u[1], p));
}

const char *rest_rod(const double *X, double *rest)
{
  double t[2][3], len[2], u[2][3];
  const char *why = edges(X, t, len);
  if (why != NULL) return why;
  start(t[0], u[0]);
  transport(u[0], t[0], t[1], u[1]);
  frames(t, len, u, rest);
  return NULL;
}

/* Frames are transported along the line from its first edge. */
const char *rest_rod_line(const double *X, int32_t n, int closed, double *rest, int32_t *where)
{
  const int32_t joints = closed ? n : n - 2;
  double u[2][3] = {{0}}, first[3] = {0};
  for (int32_t i = 0; i < joints; ++i) {
    double at[9], t[2][3], len[2];
    for (int32_t a = 0; a < 3; ++a)
      memcpy(at + 3 * (size_t)a, X + 3 * (int64_t)((i + a) % n), 3 * sizeof *at);
    const char *const why = edges(at, t, len);
    *where = i;
    if (why != NULL) return why;
    if (i == 0) start(t[0], u[0]);
    if (i == 0) memcpy(first, u[0], sizeof first);
    transport(u[0], t[0], t[1], u[1]);
    if (closed && i == joints - 1) memcpy(u[1], first, sizeof first);
    frames(t, len, u, rest + (int64_t)ROD_REST * i);
    memcpy(u[0], u[1], sizeof first);
  }
  return NULL;
}
