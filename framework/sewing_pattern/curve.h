/* curve.h - edges of pieces: straight lines, Bezier curves and circular arcs in the plane. */
#ifndef LOOM_PATTERN_CURVE_H
#define LOOM_PATTERN_CURVE_H

#include "core/err.h"

enum { CURVE_LINE, CURVE_BEZIER, CURVE_ARC };

typedef struct curve {
  int kind;       /* CURVE_* */
  int num;        /* points: 2 of a line, 3 or 4 of a Bezier curve, 3 of an arc */
  double p[4][2]; /* m: the start, control points (of an arc: a point on it), the end */
  double centre[2], radius, from, sweep; /* of an arc: m, m, rad, rad */
} curve;

/* Reads "line X Y", "curve CX CY [CX CY] X Y" or "arc MX MY X Y" (m) as the curve from `start`; the
 * message has no place. */
loom_status curve_read(loom_err *err, const char *text, const double start[2], curve *out);
void curve_at(const curve *c, double t, double out[2]); /* t in [0,1], not by length */
double curve_length(const curve *c);                    /* m, to about 1e-6 of it */
/* num + 1 points, equally far from each other along the curve, with both ends: x [num + 1][2] */
void curve_points(const curve *c, int32_t num, double *x);

#endif
