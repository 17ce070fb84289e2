/* outline.c - the closed line around a piece. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sewing_pattern/pattern.h"

enum { FINE = 32 }; /* chords of a curve that is looked at before it is cut */

typedef struct sample { /* the outline as straight lines: line k from x[k] to x[k + 1] */
  int num;
  double *x; /* [num][2] m */
  int *edge; /* [num] which edge it is of */
} sample;

static loom_status refuse_outline_edge(loom_err *err, const pattern_piece *q, int edge)
{
  char place[600];
  err_prefix(err, "%s", cfg_place(q->sec, q->edges[edge].name, place, sizeof place));
  return LOOM_E_CONFIG;
}

static loom_status take_sample(loom_err *err, const pattern_piece *q, sample *s)
{
  double part[2 * (FINE + 1)];
  LOOM_TRY(mesh_alloc(err, (int64_t)q->num_edges * FINE, 2 * sizeof *s->x, &s->x));
  LOOM_TRY(mesh_alloc(err, (int64_t)q->num_edges * FINE, sizeof *s->edge, &s->edge));
  for (int e = 0; e < q->num_edges; ++e) {
    const int cells = q->edges[e].c.kind == CURVE_LINE ? 1 : FINE;
    curve_points(&q->edges[e].c, cells, part);
    memcpy(s->x + 2 * (ptrdiff_t)s->num, part, 2 * (size_t)cells * sizeof *part);
    for (int k = 0; k < cells; ++k) s->edge[s->num++] = e;
  }
  return LOOM_OK;
}

static double outline_signed_area(const double *x, int num)
{
  double sum = 0;
  for (int k = 0; k < num; ++k) {
    const double *const a = x + 2 * (ptrdiff_t)k, *const b = x + 2 * (ptrdiff_t)((k + 1) % num);
    sum += (a[0] - x[0]) * (b[1] - x[1]) - (a[1] - x[1]) * (b[0] - x[0]);
  }
  return sum / 2;
}

/* Twice the signed area of a, b, c; 0 where it is within rounding. */
static double twice_signed_area(const double *a, const double *b, const double *c)
{
  const double u[2] = {b[0] - a[0], b[1] - a[1]}, v[2] = {c[0] - a[0], c[1] - a[1]};
  const double area = u[0] * v[1] - u[1] * v[0];
  return fabs(area) <= 1e-12 * (fabs(u[0] * v[1]) + fabs(u[1] * v[0])) ? 0 : area;
}

static int is_within_segment(const double *a, const double *b,
                             const double *c) /* c is on their line */
{
  return fmin(a[0], b[0]) <= c[0] && c[0] <= fmax(a[0], b[0]) && fmin(a[1], b[1]) <= c[1] &&
         c[1] <= fmax(a[1], b[1]);
}

/* Do the lines a b and c d have a point in common? */
static int has_common_point(const double *a, const double *b, const double *c, const double *d)
{
  const double abc = twice_signed_area(a, b, c), abd = twice_signed_area(a, b, d),
               cda = twice_signed_area(c, d, a), cdb = twice_signed_area(c, d, b);
  if (((abc > 0 && abd < 0) || (abc < 0 && abd > 0)) &&
      ((cda > 0 && cdb < 0) || (cda < 0 && cdb > 0)))
    return 1;
  return (!(fabs(abc) > 0) && is_within_segment(a, b, c)) ||
         (!(fabs(abd) > 0) && is_within_segment(a, b, d)) ||
         (!(fabs(cda) > 0) && is_within_segment(c, d, a)) ||
         (!(fabs(cdb) > 0) && is_within_segment(c, d, b));
}

/* b is the corner of two lines: does the second run back on the first? */
static int folds_back(const double *a, const double *b, const double *c)
{
  return !(fabs(twice_signed_area(a, b, c)) > 0) &&
         (b[0] - a[0]) * (c[0] - b[0]) + (b[1] - a[1]) * (c[1] - b[1]) < 0;
}

static loom_status check_simple(loom_err *err, const pattern_piece *q, const sample *s)
{
  for (int i = 0; i < s->num; ++i) {
    const int i1 = (i + 1) % s->num;
    const double *const a = s->x + 2 * (ptrdiff_t)i, *const b = s->x + 2 * (ptrdiff_t)i1;
    for (int j = i + 1; j < s->num; ++j) {
      const int j1 = (j + 1) % s->num;
      const double *const c = s->x + 2 * (ptrdiff_t)j, *const d = s->x + 2 * (ptrdiff_t)j1;
      const int bad = (j == i1 && folds_back(a, b, d)) || (j1 == i && folds_back(c, d, b)) ||
                      (j != i1 && j1 != i && has_common_point(a, b, c, d));
      if (!bad) continue;
      err_set(err, LOOM_E_CONFIG,
              "the edge meets %s%s near %.4g %.4g m; a piece must not overlap or touch itself",
              s->edge[i] == s->edge[j] ? "it" : "the edge ",
              s->edge[i] == s->edge[j] ? "self" : q->edges[s->edge[i]].name, c[0], c[1]);
      return refuse_outline_edge(err, q, s->edge[j]);
    }
  }
  return LOOM_OK;
}

loom_status outline_check(loom_err *err, pattern_piece *q)
{
  const curve *const first = &q->edges[0].c, *const last = &q->edges[q->num_edges - 1].c;
  const double *const start = first->p[0], *const end = last->p[last->num - 1];
  if (hypot(end[0] - start[0], end[1] - start[1]) > 1e-6) {
    err_set(err, LOOM_E_CONFIG,
            "the last edge ends at %g %g m and the piece starts at %g %g m; let it end there",
            end[0], end[1], start[0], start[1]);
    return refuse_outline_edge(err, q, q->num_edges - 1);
  }
  sample s = {0};
  loom_status st = take_sample(err, q, &s);
  if (st == LOOM_OK) st = check_simple(err, q, &s);
  if (st == LOOM_OK) q->clockwise = outline_signed_area(s.x, s.num) < 0;
  free(s.x);
  free(s.edge);
  return st;
}

double outline_area(const pattern_piece *q)
{
  loom_err err;
  sample s = {0};
  const double area =
      take_sample(&err, q, &s) == LOOM_OK ? fabs(outline_signed_area(s.x, s.num)) : 0;
  free(s.x);
  free(s.edge);
  return area;
}

void outline_points(pattern_piece *q, double *x)
{
  const int32_t n = q->num_outline;
  int32_t at = 0; /* along the edges; the outline may run against them */
  for (int e = 0; e < q->num_edges; ++e) {
    pattern_edge *const edge = &q->edges[e];
    curve_points(&edge->c, edge->cells, x + 2 * (int64_t)at);
    edge->first_vert = q->clockwise ? (n - at) % n : at;
    at += edge->cells;
  }
  if (!q->clockwise) return;
  for (int32_t k = 1; k < n - k; ++k)
    for (int d = 0; d < 2; ++d) {
      double *const a = &x[2 * (int64_t)k + d], *const b = &x[2 * (int64_t)(n - k) + d];
      const double swap = *a;
      *a = *b;
      *b = swap;
    }
}
