/* bspline.c - quadratic B-splines on the rest shape as a subspace (as in J. Li et al.,
 * Subspace-Preconditioned GPU Projective Dynamics with Contact for Cloth Simulation, SIGGRAPH
 * Asia 2023: a tensor grid over the sheet, spacing in cells of the mesh).
 *
 * Every object is projected on the plane of its two largest extents; what lies one above the
 * other there shares its splines.  Rows sum to one over free vertices, fixed ones have none. */
#include <math.h>
#include <stdlib.h>

#include "basis.kern.h"
#include "ndb.h"

enum { MOST_SPLINES = 2000 };

extern void dsyev_(const char *job, const char *half, const int *n, double *a, const int *lda,
                   double *w, double *work, const int *lwork, int *info);

typedef struct sheet { /* one object */
  double centre[3], axis[2][3];
  double lo[2], step[2];   /* m */
  int32_t cells[2], first; /* number of its first spline */
} sheet;

typedef struct shape {
  const loom_real *x;    /* [n][3] */
  const int32_t *object; /* [n] */
  const int32_t *tris;   /* [nt][3] */
  const uint8_t *fixed;
  int32_t n, nt;
} shape;

static void plane_of(const shape *g, int32_t object, sheet *t)
{
  double C[9] = {0}, w[3], work[64];
  const int three = 3, len = 64;
  int64_t count = 0;
  int info;
  *t = (sheet){0};
  for (int32_t i = 0; i < g->n; ++i) {
    if (g->object[i] != object) continue;
    for (int c = 0; c < 3; ++c) t->centre[c] += (double)g->x[3 * i + c];
    ++count;
  }
  for (int c = 0; c < 3; ++c) t->centre[c] /= count > 0 ? (double)count : 1.0;
  for (int32_t i = 0; i < g->n; ++i) {
    if (g->object[i] != object) continue;
    for (int a = 0; a < 3; ++a)
      for (int b = 0; b < 3; ++b)
        C[3 * a + b] +=
            ((double)g->x[3 * i + a] - t->centre[a]) * ((double)g->x[3 * i + b] - t->centre[b]);
  }
  dsyev_("V", "L", &three, C, &three, w, work, &len, &info);
  for (int c = 0; c < 3; ++c) {
    t->axis[0][c] = C[6 + c];
    t->axis[1][c] = C[3 + c];
  }
}

static double along(const shape *g, const sheet *t, int32_t i, int d)
{
  double u = 0.0;
  for (int c = 0; c < 3; ++c) u += t->axis[d][c] * ((double)g->x[3 * i + c] - t->centre[c]);
  return u;
}

/* side of a square of two triangles of the object's mean area, m */
static double cell_size(const shape *g, int32_t object)
{
  double area = 0.0;
  int64_t count = 0;
  for (int32_t k = 0; k < g->nt; ++k) {
    const int32_t *v = g->tris + 3 * k;
    double a[3], b[3];
    if (g->object[v[0]] != object) continue;
    for (int c = 0; c < 3; ++c) {
      a[c] = (double)(g->x[3 * v[1] + c] - g->x[3 * v[0] + c]);
      b[c] = (double)(g->x[3 * v[2] + c] - g->x[3 * v[0] + c]);
    }
    const double n0 = a[1] * b[2] - a[2] * b[1], n1 = a[2] * b[0] - a[0] * b[2];
    const double n2 = a[0] * b[1] - a[1] * b[0];
    area += 0.5 * sqrt(n0 * n0 + n1 * n1 + n2 * n2);
    ++count;
  }
  return count > 0 ? sqrt(2.0 * area / (double)count) : 0.0;
}

static int64_t lay_out(const shape *g, int32_t object, double spacing, int64_t first, sheet *t)
{
  double hi[2] = {-INFINITY, -INFINITY};
  plane_of(g, object, t);
  t->lo[0] = t->lo[1] = INFINITY;
  for (int32_t i = 0; i < g->n; ++i) {
    if (g->object[i] != object) continue;
    for (int d = 0; d < 2; ++d) {
      const double u = along(g, t, i, d);
      t->lo[d] = fmin(t->lo[d], u);
      hi[d] = fmax(hi[d], u);
    }
  }
  const double want = spacing * cell_size(g, object);
  for (int d = 0; d < 2; ++d) {
    const double length = hi[d] - t->lo[d];
    double cells = want > 0.0 && length > 0.0 ? ceil(length / want - 1e-9) : 1.0;
    cells = fmin(fmax(cells, 1.0), 4.0 * MOST_SPLINES);
    t->cells[d] = (int32_t)cells;
    t->step[d] = length > 0.0 ? length / cells : 1.0;
  }
  t->first = (int32_t)first;
  return first + (int64_t)(t->cells[0] + 2) * (t->cells[1] + 2);
}

/* The three splines that are not zero at u: number of the first, and their values. */
static int32_t weights(const sheet *t, int d, double u, double w[3])
{
  const double at = (u - t->lo[d]) / t->step[d];
  int32_t c = (int32_t)at;
  c = c < 0 ? 0 : (c >= t->cells[d] ? t->cells[d] - 1 : c);
  const double f = at - (double)c;
  w[0] = 0.5 * (1.0 - f) * (1.0 - f);
  w[1] = 0.5 + f * (1.0 - f);
  w[2] = 0.5 * f * f;
  return c;
}

static int32_t nine(const shape *g, const sheet *t, int32_t i, int32_t id[9], double w[9])
{
  double a[3], b[3];
  const int32_t ca = weights(t, 0, along(g, t, i, 0), a), cb = weights(t, 1, along(g, t, i, 1), b);
  for (int p = 0; p < 3; ++p)
    for (int q = 0; q < 3; ++q) {
      id[3 * p + q] = t->first + (ca + p) * (t->cells[1] + 2) + cb + q;
      w[3 * p + q] = a[p] * b[q];
    }
  return 9;
}

/* Splines over free vertices, numbered anew in `number` (-1: none). */
static int32_t number_splines(const shape *g, const sheet *t, int64_t all, double *most,
                              int32_t *number)
{
  int32_t id[9], cols = 0;
  double w[9];
  for (int64_t k = 0; k < all; ++k) most[k] = 0.0;
  for (int32_t i = 0; i < g->n; ++i) {
    if (g->fixed[i]) continue;
    nine(g, &t[g->object[i]], i, id, w);
    for (int k = 0; k < 9; ++k) most[id[k]] = fmax(most[id[k]], w[k]);
  }
  /* one that reaches no vertex with more than a trace makes the reduced matrix singular */
  for (int64_t k = 0; k < all; ++k) number[k] = most[k] > 1e-6 ? cols++ : -1;
  return cols;
}

static loom_status fill(ndb *s, const shape *g, const sheet *t, int64_t all, double **U,
                        int32_t *cols, int32_t *ld)
{
  double *most = malloc(((size_t)all + 1) * sizeof *most), w[9];
  int32_t *number = malloc(((size_t)all + 1) * sizeof *number), id[9];
  *U = NULL;
  if (most != NULL && number != NULL) {
    *cols = number_splines(g, t, all, most, number);
    *ld = (*cols + NDB_GROUP - 1) / NDB_GROUP * NDB_GROUP;
    *U = calloc((size_t)g->n * (size_t)*ld + 1, sizeof **U);
  }
  for (int32_t i = 0; *U != NULL && number != NULL && i < g->n; ++i) {
    if (g->fixed[i]) continue;
    double *const row = *U + (size_t)i * (size_t)*ld;
    nine(g, &t[g->object[i]], i, id, w);
    for (int k = 0; k < 9; ++k)
      if (number[id[k]] >= 0) row[number[id[k]]] += w[k];
  }
  free(most);
  free(number);
  LOOM_CHECK(s->h, *U != NULL, LOOM_E_NOMEM, "no memory for %lld splines", (long long)all);
  return LOOM_OK;
}

loom_status ndb_bspline(ndb *s, double **U, int32_t *cols, int32_t *ld)
{
  const loom_host *const h = s->h;
  const loom_scene *const sc = s->sc;
  plug_maps m = plug_maps_on(h, s->e);
  int64_t all = 0;
  *cols = *ld = 0;
  sheet *t = calloc((size_t)sc->num_objects + 1, sizeof *t);
  LOOM_CHECK(h, t != NULL, LOOM_E_NOMEM, "no memory for the splines of %d objects",
             sc->num_objects);
  const shape g = {.x = plug_read_host(&m, sc->rest_x),
                   .object = plug_read_host(&m, sc->object),
                   .tris = plug_read_host(&m, sc->tris),
                   .fixed = plug_read_host(&m, sc->fixed),
                   .n = s->n,
                   .nt = sc->num_tris};
  loom_status st = m.status;
  if (st == LOOM_OK) {
    for (int32_t k = 0; k < sc->num_objects; ++k) all = lay_out(&g, k, s->set.spacing, all, &t[k]);
    if (all > MOST_SPLINES)
      st = LOOM_FAIL(h, LOOM_E_CONFIG,
                     "spacing = %g makes %lld splines, a dense reduced matrix of at most %d is "
                     "meant; raise spacing or use subspace = eigen",
                     s->set.spacing, (long long)all, MOST_SPLINES);
    else
      st = fill(s, &g, t, all, U, cols, ld);
  }
  free(t);
  LOOM_TRY(st);
  return plug_unbind(&m);
}
