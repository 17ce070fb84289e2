/* folded_sheet.h - a square sheet in 10 layers half an edge length apart, wrinkled and about to
 * move by about 0.3 edge lengths: for measurements of detection. */
#ifndef FOLDED_SHEET_H
#define FOLDED_SHEET_H

#include <math.h>

#include "run/run_state.h"

enum { FOLDED_LAYERS = 10 };

/* Smooth wrinkles and some noise, in units of an edge length. */
static inline double folded_wrinkle(double x, double y, int k)
{
  return 0.15 * sin(0.37 * x + 0.11 * k) * cos(0.29 * y) + 0.02 * sin(7.1 * x + 3.3 * y + k);
}

/* Position of the grid vertex (i, j) of side n; `moved`: at the end of the way. */
static inline void folded_place(int n, int i, int j, int moved, double x[3])
{
  const double edge = 1.0 / (n - 1), width = (double)(n - 1) / FOLDED_LAYERS;
  const int layer = (int)fmin(i / width, FOLDED_LAYERS - 1);
  const double s = i - layer * width;
  x[0] = layer % 2 ? width - s : s;
  x[1] = j;
  x[2] = 0.5 * (layer + s / width) + folded_wrinkle(x[0], x[1], 0);
  if (moved) {
    x[0] += 0.2 + 0.1 * folded_wrinkle(i, j, 3);
    x[2] -= 0.2 + folded_wrinkle(i, j, 5);
  }
  for (int c = 0; c < 3; ++c) x[c] *= edge;
}

static inline loom_status folded_pose(run *r, loom_buf *b, int n, int moved)
{
  void *p;
  LOOM_TRY(buf_map(r->m, NULL, b, LOOM_WRITE, LOOM_AT_HOST, &p));
  for (int i = 0; i < n * n; ++i) {
    double x[3];
    folded_place(n, i % n, i / n, moved, x);
    for (int c = 0; c < 3; ++c) ((loom_real *)p)[3 * (int64_t)i + c] = (loom_real)x[c];
  }
  return buf_unmap(r->m, b);
}

#endif
