/* other_start.c - see other_start.h. */
#include "run/replay/other_start.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "loom/plugin.h"

static const double same_share = 1e-5;  /* of the largest coordinate: coordinates that are equal */
static const double place_share = 1e-4; /* of it: size of a cell that tells two places apart */

static double find_largest(const loom_real *x, int64_t n)
{
  double largest = 0.0;
  for (int64_t i = 0; i < 3 * n; ++i) largest = fmax(largest, fabs((double)x[i]));
  return largest;
}

/* ---- units and axes ---- */

typedef struct frame_map {
  int axis[3];    /* of the frame, for x, y, z of the scene */
  double sign[3]; /* 1 or -1 */
  double scale;   /* m in a unit of the frame */
} frame_map;

static int map_fits(const frame_map *m, const loom_real *x, const double *frame, int64_t n,
                    double tol)
{
  for (int64_t i = 0; i < n; ++i)
    for (int c = 0; c < 3; ++c)
      if (!(fabs((double)x[3 * i + c] - m->sign[c] * m->scale * frame[3 * i + m->axis[c]]) <= tol))
        return 0;
  return 1;
}

static int find_map(const loom_real *x, const double *frame, int64_t n, double tol, frame_map *m)
{
  static const int axes[6][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
  static const double scales[] = {1.0, 0.01, 0.001};
  for (size_t s = 0; s < LOOM_COUNT(scales); ++s)
    for (size_t a = 0; a < LOOM_COUNT(axes); ++a)
      for (unsigned signs = 0; signs < 8; ++signs) {
        m->scale = scales[s];
        for (unsigned c = 0; c < 3; ++c) {
          m->axis[c] = axes[a][c];
          m->sign[c] = (signs >> c & 1U) != 0 ? -1.0 : 1.0;
        }
        if (map_fits(m, x, frame, n, tol)) return 1;
      }
  return 0;
}

/* ---- order ---- */

typedef struct place {
  int64_t cell[3];
} place;

static int compare_places(const void *a, const void *b)
{
  const place *const p = a, *const q = b;
  for (int c = 0; c < 3; ++c)
    if (p->cell[c] != q->cell[c]) return p->cell[c] < q->cell[c] ? -1 : 1;
  return 0;
}

static int places_agree(place *ours, place *theirs, int64_t n)
{
  qsort(ours, (size_t)n, sizeof *ours, compare_places);
  qsort(theirs, (size_t)n, sizeof *theirs, compare_places);
  for (int64_t i = 0; i < n; ++i)
    if (compare_places(ours + i, theirs + i) != 0) return 0;
  return 1;
}

static int order_differs(const loom_real *x, const double *frame, int64_t n, double cell)
{
  place *const both = malloc((size_t)n * 2 * sizeof *both);
  int fits = both != NULL;
  for (int64_t i = 0; i < n && fits; ++i)
    for (int c = 0; c < 3; ++c) {
      const double a = (double)x[3 * i + c] / cell, b = frame[3 * i + c] / cell;
      fits = fits && fabs(b) < 1e15; /* an int64 holds it */
      both[i].cell[c] = fits ? llround(a) : 0;
      both[n + i].cell[c] = fits ? llround(b) : 0;
    }
  fits = fits && places_agree(both, both + n, n);
  free(both);
  return fits;
}

int other_start_name(const loom_real *x, const double *frame, int64_t n, char *text, size_t size)
{
  const double largest = find_largest(x, n);
  const double tol = same_share * largest;
  const frame_map same = {{0, 1, 2}, {1.0, 1.0, 1.0}, 1.0};
  frame_map m;
  text[0] = '\0';
  if (n < 1 || !(largest > 0.0) || map_fits(&same, x, frame, n, tol)) return 0;
  if (find_map(x, frame, n, tol, &m)) {
    char at[3][3];
    for (int c = 0; c < 3; ++c)
      snprintf(at[c], sizeof at[c], "%s%c", m.sign[c] < 0 ? "-" : "", "xyz"[m.axis[c]]);
    snprintf(text, size,
             "(x, y, z) of the scene are (%s, %s, %s) of the frame, times %g: write positions and "
             "velocities so",
             at[0], at[1], at[2], m.scale);
    return 1;
  }
  if (!order_differs(x, frame, n, place_share * largest)) return 0;
  snprintf(text, size,
           "it has its vertices in another order: write them in that of /scene/rest of `loom run "
           "CONFIG -n 0`");
  return 1;
}
