/* splines.c - see splines.h. */
#include "kit/splines.h"

#include <math.h>
#include <stdlib.h>

#include "kit/radial.h"
#include "kit/subspace.h"

typedef struct grid {    /* of one piece */
  double lo[2], step[2]; /* m */
  int32_t cells[2];
  int64_t first; /* number of its first spline */
} grid;

/* The grid of a piece; the number of the first spline behind it. */
static int64_t lay_out_piece_grid(const spline_request *r, int32_t piece, int64_t first, grid *g)
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
static int32_t evaluate_axis_splines(const grid *g, int d, double u, double w[3])
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
static void evaluate_sample_splines(const grid *grids, const spline_sample *s, int64_t id[9],
                                    double w[9])
{
  const grid *const g = &grids[s->piece];
  double a[3], b[3];
  const int32_t ca = evaluate_axis_splines(g, 0, s->u[0], a),
                cb = evaluate_axis_splines(g, 1, s->u[1], b);
  for (int p = 0; p < 3; ++p)
    for (int q = 0; q < 3; ++q) {
      id[3 * p + q] = g->first + (int64_t)(ca + p) * (g->cells[1] + 2) + cb + q;
      w[3 * p + q] = a[p] * b[q];
    }
}

typedef struct functions { /* either of the two */
  const grid *grids;
  radial_set radial;
} functions;

/* The functions that may not be zero at a sample, and their values; their number. */
static int evaluate_sample_terms(const spline_request *r, const functions *f,
                                 const spline_sample *s, int64_t id[RADIAL_MOST],
                                 double w[RADIAL_MOST])
{
  double sum = 0.0;
  if (r->kind == SPLINE_QUADRATIC) {
    evaluate_sample_splines(f->grids, s, id, w);
    return 9;
  }
  const int num = radial_at(r, &f->radial, s, id, w);
  for (int k = 0; k < num; ++k) sum += w[k];
  for (int k = 0; k < num && r->kind == SPLINE_SHEPARD; ++k) w[k] /= sum;
  return num;
}

/* Functions over vertices that are not fixed, numbered anew in `number` (-1: none); most [all] is
 * workspace. */
static int32_t number_terms(const spline_request *r, const functions *f, int64_t all, double *most,
                            int32_t *number)
{
  int64_t id[RADIAL_MOST];
  int32_t cols = 0;
  double w[RADIAL_MOST];
  for (int64_t k = 0; k < all; ++k) most[k] = 0.0;
  for (int64_t i = 0; i < r->num_samples; ++i) {
    if (r->fixed[r->sample[i].row]) continue;
    const int num = evaluate_sample_terms(r, f, &r->sample[i], id, w);
    for (int k = 0; k < num; ++k) most[id[k]] = fmax(most[id[k]], w[k]);
  }
  /* one that reaches no vertex with more than a trace makes the reduced matrix singular */
  for (int64_t k = 0; k < all; ++k) number[k] = most[k] > 1e-6 ? cols++ : -1;
  return cols;
}

typedef struct lists { /* samples by row */
  int32_t *first;      /* [n+1] */
  int32_t *sample;     /* [num_samples], of each row in their order */
} lists;

static int list_samples(const spline_request *r, lists *l)
{
  l->first = calloc((size_t)r->n + 2, sizeof *l->first);
  l->sample = malloc(((size_t)r->num_samples + 1) * sizeof *l->sample);
  if (l->first == NULL || l->sample == NULL) return 0;
  for (int64_t i = 0; i < r->num_samples; ++i) ++l->first[r->sample[i].row + 2];
  for (int32_t i = 0; i < r->n; ++i) l->first[i + 2] += l->first[i + 1];
  for (int64_t i = 0; i < r->num_samples; ++i)
    l->sample[l->first[r->sample[i].row + 1]++] = (int32_t)i;
  return 1;
}

/* Inserts the entry (k, v) into the entries [first, *end) of a row, which ascend by k. */
static void insert_basis_entry(spline_rows *b, int64_t first, int64_t *end, int32_t k, double v)
{
  int64_t at = *end;
  while (at > first && b->col[at - 1] > k) --at;
  if (at > first && b->col[at - 1] == k) {
    b->val[at - 1] += v;
    return;
  }
  for (int64_t m = (*end)++; m > at; --m) {
    b->col[m] = b->col[m - 1];
    b->val[m] = b->val[m - 1];
  }
  b->col[at] = k;
  b->val[at] = v;
}

static void fill_spline_rows(const spline_request *r, const functions *f, const int32_t *number,
                             const lists *l, spline_rows *b)
{
  int64_t id[RADIAL_MOST], end = 0;
  double w[RADIAL_MOST];
  for (int32_t i = 0; i < r->n; ++i) {
    const int32_t times = l->first[i + 1] - l->first[i];
    b->ptr[i] = end;
    for (int32_t j = 0; j < times && !r->fixed[i]; ++j) {
      const int num = evaluate_sample_terms(r, f, &r->sample[l->sample[l->first[i] + j]], id, w);
      for (int k = 0; k < num; ++k)
        if (number[id[k]] >= 0) insert_basis_entry(b, b->ptr[i], &end, number[id[k]], w[k] / times);
    }
  }
  b->ptr[r->n] = end;
}

/* Makes the rows of the basis with workspace for functions and numbers; 0: no memory. */
static int build_spline_rows(const spline_request *r, const functions *f, spline_rows *out,
                             double *most, int32_t *number)
{
  lists l = {NULL, NULL};
  const size_t each = r->kind == SPLINE_QUADRATIC ? 9 : RADIAL_MOST;
  const size_t room = each * (size_t)r->num_samples + 1;
  out->cols = number_terms(r, f, out->all, most, number);
  out->ptr = malloc(((size_t)r->n + 1) * sizeof *out->ptr);
  out->col = malloc(room * sizeof *out->col);
  out->val = malloc(room * sizeof *out->val);
  const int fine = out->ptr != NULL && out->col != NULL && out->val != NULL && list_samples(r, &l);
  if (fine) fill_spline_rows(r, f, number, &l, out);
  free(l.first);
  free(l.sample);
  return fine;
}

loom_status spline_basis(const loom_host *host, const spline_request *r, spline_rows *out)
{
  grid *const grids = calloc((size_t)r->num_pieces + 1, sizeof *grids);
  functions f = {.grids = grids};
  *out = (spline_rows){.n = r->n};
  for (int32_t k = 0; grids != NULL && k < r->num_pieces; ++k)
    out->all = lay_out_piece_grid(r, k, out->all, &grids[k]);
  const int found = r->kind == SPLINE_QUADRATIC || radial_find(r, &f.radial);
  if (r->kind != SPLINE_QUADRATIC) out->all = f.radial.num;
  const size_t room = out->all <= r->most ? (size_t)out->all + 1 : 1;
  double *const most = malloc(room * sizeof *most);
  int32_t *const number = malloc(room * sizeof *number);
  int fine = found && grids != NULL && most != NULL && number != NULL;
  if (fine && out->all <= r->most) fine = build_spline_rows(r, &f, out, most, number);
  radial_free(&f.radial);
  free(grids);
  free(most);
  free(number);
  if (!fine) spline_free(out);
  LOOM_CHECK(host, fine, LOOM_E_NOMEM, "no memory for %lld splines over %d vertices",
             (long long)out->all, r->n);
  return LOOM_OK;
}

void spline_free(spline_rows *b)
{
  free(b->ptr);
  free(b->col);
  free(b->val);
  b->ptr = NULL;
  b->col = NULL;
  b->val = NULL;
}

loom_status spline_dense(const loom_host *host, const spline_rows *b, double **U)
{
  const size_t ld = (size_t)subspace_ld(b->cols);
  *U = NULL;
  if (b->ptr == NULL) return LOOM_OK;
  *U = calloc((size_t)b->n * ld + 1, sizeof **U);
  LOOM_CHECK(host, *U != NULL, LOOM_E_NOMEM, "no memory for %d splines over %d vertices", b->cols,
             b->n);
  for (int32_t i = 0; i < b->n; ++i)
    for (int64_t k = b->ptr[i]; k < b->ptr[i + 1]; ++k)
      (*U)[(size_t)i * ld + (size_t)b->col[k]] = b->val[k];
  return LOOM_OK;
}
