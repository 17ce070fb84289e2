/* curve.c - edges of pieces, see curve.h. */
#include "sewing_pattern/curve.h"

#include <math.h>
#include <string.h>

#include "config/words.h"

static const double pi = 3.14159265358979323846;

enum { CHORDS = 1024 }; /* that a length is measured with */

/* ---- reading ---- */

/* The circle through three points. */
static loom_status find_circle(loom_err *err, curve *c)
{
  const double *const a = c->p[0], *const m = c->p[1], *const b = c->p[2];
  const double u[2] = {m[0] - a[0], m[1] - a[1]}, v[2] = {b[0] - a[0], b[1] - a[1]};
  const double cross = u[0] * v[1] - u[1] * v[0];
  const double uu = u[0] * u[0] + u[1] * u[1], vv = v[0] * v[0] + v[1] * v[1];
  if (fabs(cross) <= 1e-9 * sqrt(uu * vv))
    return err_set(err, LOOM_E_CONFIG,
                   "the three points of the arc lie on a line; write line %g %g", b[0], b[1]);
  const double r[2] = {(v[1] * uu - u[1] * vv) / (2 * cross),
                       (u[0] * vv - v[0] * uu) / (2 * cross)};
  c->centre[0] = a[0] + r[0];
  c->centre[1] = a[1] + r[1];
  c->radius = sqrt(r[0] * r[0] + r[1] * r[1]);
  c->from = atan2(-r[1], -r[0]);
  c->sweep = atan2(b[1] - c->centre[1], b[0] - c->centre[0]) - c->from;
  while (cross > 0 && c->sweep <= 0) c->sweep += 2 * pi; /* counter-clockwise */
  while (cross < 0 && c->sweep >= 0) c->sweep -= 2 * pi;
  return LOOM_OK;
}

loom_status curve_read(loom_err *err, const char *text, const double start[2], curve *out)
{
  words w;
  double v[6];
  int num = 0;
  words_start(&w, text);
  const int given = words_next(&w);
  char kind[8] = "";
  if (given && strlen(w.word) < sizeof kind) strcpy(kind, w.word);
  const int line = strcmp(kind, "line") == 0, arc = strcmp(kind, "arc") == 0;
  if (!line && !arc && strcmp(kind, "curve") != 0)
    return err_set(
        err, LOOM_E_CONFIG,
        "an edge is line X Y, curve CX CY [CX CY] X Y or arc MX MY X Y (m), not \"%.60s\"", text);
  while (num < 6 && words_real(&w, &v[num])) ++num;
  const int fits = line ? num == 2 : arc ? num == 4 : num == 4 || num == 6;
  if (!fits || !words_at_end(&w))
    return err_set(err, LOOM_E_CONFIG, "%s takes %s (m)", kind,
                   line  ? "two numbers, X Y"
                   : arc ? "four numbers, MX MY of a point on it and X Y of its end"
                         : "four numbers, CX CY X Y, or six with two control points");
  *out = (curve){.kind = line ? CURVE_LINE : arc ? CURVE_ARC : CURVE_BEZIER, .num = 1 + num / 2};
  memcpy(out->p[0], start, sizeof out->p[0]);
  memcpy(out->p[1], v, (size_t)num * sizeof *v);
  if (arc) LOOM_TRY(find_circle(err, out));
  if (curve_length(out) > 0) return LOOM_OK;
  return err_set(err, LOOM_E_CONFIG, "the edge ends where it starts, at %g %g m; leave it out",
                 start[0], start[1]);
}

/* ---- points ---- */

void curve_at(const curve *c, double t, double out[2])
{
  if (c->kind == CURVE_ARC) {
    const double at = c->from + t * c->sweep;
    out[0] = c->centre[0] + c->radius * cos(at);
    out[1] = c->centre[1] + c->radius * sin(at);
    return;
  }
  double p[4][2];
  memcpy(p, c->p, sizeof p);
  for (int left = c->num - 1; left > 0; --left) /* de Casteljau's corners */
    for (int k = 0; k < left; ++k)
      for (int d = 0; d < 2; ++d) p[k][d] = (1 - t) * p[k][d] + t * p[k + 1][d];
  memcpy(out, p[0], sizeof p[0]);
}

/* far [CHORDS + 1] gets the length up to each chord's start. */
static double measure_curve(const curve *c, double *far)
{
  double at[2], next[2], sum = 0;
  curve_at(c, 0, at);
  for (int k = 0; k < CHORDS; ++k) {
    if (far != NULL) far[k] = sum;
    curve_at(c, (k + 1) / (double)CHORDS, next);
    sum += hypot(next[0] - at[0], next[1] - at[1]);
    memcpy(at, next, sizeof at);
  }
  if (far != NULL) far[CHORDS] = sum;
  return sum;
}

double curve_length(const curve *c)
{
  if (c->kind == CURVE_LINE) return hypot(c->p[1][0] - c->p[0][0], c->p[1][1] - c->p[0][1]);
  return c->kind == CURVE_ARC ? fabs(c->radius * c->sweep) : measure_curve(c, NULL);
}

void curve_points(const curve *c, int32_t num, double *x)
{
  double far[CHORDS + 1];
  const double length = measure_curve(c, far);
  int k = 0;
  memcpy(x, c->p[0], sizeof c->p[0]);
  for (int32_t i = 1; i < num; ++i) {
    const double want = length * i / num;
    if (c->kind == CURVE_BEZIER) {
      while (k + 1 < CHORDS && far[k + 1] < want) ++k;
      curve_at(c, (k + (want - far[k]) / (far[k + 1] - far[k])) / CHORDS, x + 2 * (int64_t)i);
    } else {
      curve_at(c, i / (double)num, x + 2 * (int64_t)i);
    }
  }
  memcpy(x + 2 * (int64_t)num, c->p[c->num - 1], sizeof c->p[0]);
}
