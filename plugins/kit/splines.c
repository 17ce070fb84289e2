/* splines.c - see splines.h. */
#include "kit/splines.h"

#include <math.h>
#include <stdlib.h>

#include "kit/subspace.h"

typedef struct grid {    /* of one piece */
  double lo[2], step[2]; /* m */
  int32_t cells[2];
  int64_t first; /* number of its first spline */
} grid;

/* The grid of a piece; the number of the first spline behind it. */
static int64_t lay_out(const spline_request *r, int32_t piece, int64_t first, grid *g)
{
  double hi[2] = {-INFINITY, -INFINITY};
  g->lo[0] = g->lo[1] = INFINITY;
  for (int64_t i = 0; i < r->num_samples; ++i)
    for (int d = 0; d < 2 && r->sample[i].piece == piece; ++d) {
      g->lo[d] = fmin(g->lo[d], r->sample[i].u[d]);
      hi[d] = fmax(hi[d], r->sample[i].u[d]);
    }
  for (int d = 0; d < 2; ++d) {
    const double length = hi[d] - g->lo[d], want = r->cell[piece];
    double cells = want > 0.0 && length > 0.0 ? ceil(length / want - 1e-9) : 1.0;
    cells = fmin(fmax(cells, 1.0), 4.0 * (double)r->most);
    g->cells[d] = (int32_t)cells;
    g->step[d] = length > 0.0 ? length / cells : 1.0;
  }
  g->first = first;
  return first + (int64_t)(g->cells[0] + 2) * (g->cells[1] + 2);
}

/* The three splines that are not zero at u: number of the first, and their values. */
static int32_t weights(const grid *g, int d, double u, double w[3])
{
  const double at = (u - g->lo[d]) / g->step[d];
  int32_t c = (int32_t)at;
  c = c < 0 ? 0 : (c >= g->cells[d] ? g->cells[d] - 1 : c);
  const double f = at - (double)c;
  w[0] = 0.5 * (1.0 - f) * (1.0 - f);
  w[1] = 0.5 + f * (1.0 - f);
  w[2] = 0.5 * f * f;
  return c;
}

/* The nine splines of a sample and their values. */
static void nine(const grid *grids, const spline_sample *s, int64_t id[9], double w[9])
{
  const grid *const g = &grids[s->piece];
  double a[3], b[3];
  const int32_t ca = weights(g, 0, s->u[0], a), cb = weights(g, 1, s->u[1], b);
  for (int p = 0; p < 3; ++p)
    for (int q = 0; q < 3; ++q) {
      id[3 * p + q] = g->first + (int64_t)(ca + p) * (g->cells[1] + 2) + cb + q;
      w[3 * p + q] = a[p] * b[q];
    }
}

/* Splines over vertices that are not fixed, numbered anew in `number` (-1: none); most [all] is
 * workspace. */
static int32_t number_splines(const spline_request *r, const grid *grids, int64_t all, double *most,
                              int32_t *number)
{
  int64_t id[9];
  int32_t cols = 0;
  double w[9];
  for (int64_t k = 0; k < all; ++k) most[k] = 0.0;
  for (int64_t i = 0; i < r->num_samples; ++i) {
    if (r->fixed[r->sample[i].row]) continue;
    nine(grids, &r->sample[i], id, w);
    for (int k = 0; k < 9; ++k) most[id[k]] = fmax(most[id[k]], w[k]);
  }
  /* one that reaches no vertex with more than a trace makes the reduced matrix singular */
  for (int64_t k = 0; k < all; ++k) number[k] = most[k] > 1e-6 ? cols++ : -1;
  return cols;
}

static void fill(const spline_request *r, const grid *grids, const int32_t *number,
                 const int32_t *times, int32_t ld, double *U)
{
  int64_t id[9];
  double w[9];
  for (int64_t i = 0; i < r->num_samples; ++i) {
    const int32_t at = r->sample[i].row;
    if (r->fixed[at]) continue;
    double *const row = U + (size_t)at * (size_t)ld;
    nine(grids, &r->sample[i], id, w);
    for (int k = 0; k < 9; ++k)
      if (number[id[k]] >= 0) row[number[id[k]]] += w[k] / times[at];
  }
}

loom_status spline_basis(const loom_host *h, const spline_request *r, double **U, int32_t *cols,
                         int64_t *all)
{
  grid *const grids = calloc((size_t)r->num_pieces + 1, sizeof *grids);
  int32_t *const times = calloc((size_t)r->n + 1, sizeof *times); /* samples of each row */
  int64_t count = 0;
  *U = NULL;
  *cols = 0;
  for (int32_t k = 0; grids != NULL && k < r->num_pieces; ++k)
    count = lay_out(r, k, count, &grids[k]);
  *all = count;
  const size_t room = count <= r->most ? (size_t)count + 1 : 1;
  double *const most = malloc(room * sizeof *most);
  int32_t *const number = malloc(room * sizeof *number);
  const int fine = grids != NULL && times != NULL && most != NULL && number != NULL;
  if (fine && count <= r->most) {
    for (int64_t i = 0; i < r->num_samples; ++i) ++times[r->sample[i].row];
    *cols = number_splines(r, grids, count, most, number);
    *U = calloc((size_t)r->n * (size_t)subspace_ld(*cols) + 1, sizeof **U);
    if (*U != NULL) fill(r, grids, number, times, subspace_ld(*cols), *U);
  }
  free(grids);
  free(times);
  free(most);
  free(number);
  LOOM_CHECK(h, fine && (*U != NULL || count > r->most), LOOM_E_NOMEM,
             "no memory for %lld splines over %d vertices", (long long)count, r->n);
  return LOOM_OK;
}
