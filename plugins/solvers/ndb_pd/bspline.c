/* bspline.c - quadratic B-splines on the rest shape as a subspace (kit/splines.h), spacing in cells
 * of the mesh.
 *
 * Every object is a piece, projected on the plane of its two largest extents; vertices that lie
 * above each other there share their splines. */
#include <math.h>
#include <stdlib.h>

#include "kit/splines.h"
#include "ndb_pd.h"

enum { MOST_SPLINES = 2000 };

extern void dsyev_(const char *job, const char *half, const int *n, double *a, const int *lda,
                   double *w, double *work, const int *lwork, int *info);

typedef struct plane { /* through one object */
  double centre[3], axis[2][3];
} plane;

typedef struct shape {
  const loom_real *x;    /* [n][3] */
  const int32_t *object; /* [n] */
  const int32_t *tris;   /* [nt][3] */
  const uint8_t *fixed;
  int32_t n, nt;
} shape;

static void fit_object_plane(const shape *g, int32_t object, plane *t)
{
  double C[9] = {0}, w[3], work[64];
  const int three = 3, len = 64;
  int64_t count = 0;
  int info;
  *t = (plane){0};
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

static double plane_coordinate(const shape *g, const plane *t, int32_t i, int d)
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

/* Every vertex in the plane of its object. */
static void sample_objects(const shape *g, double spacing, const plane *planes, int32_t num_objects,
                           spline_sample *sample, double *cell)
{
  for (int32_t i = 0; i < g->n; ++i) {
    const plane *const t = &planes[g->object[i]];
    sample[i] = (spline_sample){
        i, g->object[i], {plane_coordinate(g, t, i, 0), plane_coordinate(g, t, i, 1)}};
  }
  for (int32_t k = 0; k < num_objects; ++k) cell[k] = spacing * cell_size(g, k);
}

static loom_status create_bspline_basis(ndb_pd *s, const shape *g, double **U, int32_t *cols)
{
  const loom_host *const host = s->host;
  const size_t pieces = (size_t)s->sc->num_objects + 1;
  plane *planes = calloc(pieces, sizeof *planes);
  double *cell = calloc(pieces, sizeof *cell);
  spline_sample *sample = calloc((size_t)g->n + 1, sizeof *sample);
  const spline_request r = {.n = g->n,
                            .num_pieces = s->sc->num_objects,
                            .num_samples = g->n,
                            .sample = sample,
                            .cell = cell,
                            .fixed = g->fixed,
                            .most = MOST_SPLINES};
  spline_rows rows = {.n = 0};
  loom_status st = LOOM_E_NOMEM;
  if (planes != NULL && cell != NULL && sample != NULL) {
    for (int32_t k = 0; k < r.num_pieces; ++k) fit_object_plane(g, k, &planes[k]);
    sample_objects(g, s->set.spacing, planes, r.num_pieces, sample, cell);
    st = spline_basis(host, &r, &rows);
    if (st == LOOM_OK) st = spline_dense(host, &rows, U);
    *cols = rows.cols;
    spline_free(&rows);
  } else {
    st = LOOM_FAIL(host, st, "no memory for the splines of %d objects", r.num_pieces);
  }
  free(planes);
  free(cell);
  free(sample);
  LOOM_TRY(st);
  LOOM_CHECK(
      host, *U != NULL, LOOM_E_CONFIG,
      "spacing = %g makes %lld splines, a dense reduced matrix of at most %d is meant; raise "
      "spacing or use subspace = eigen",
      s->set.spacing, (long long)rows.all, MOST_SPLINES);
  return LOOM_OK;
}

loom_status ndb_pd_bspline(ndb_pd *s, double **U, int32_t *cols)
{
  const loom_scene *const sc = s->sc;
  plug_maps m = plug_maps_on(s->host, s->e);
  const shape g = {.x = plug_read_host(&m, sc->rest_x),
                   .object = plug_read_host(&m, sc->object),
                   .tris = plug_read_host(&m, sc->tris),
                   .fixed = plug_read_host(&m, sc->fixed),
                   .n = s->n,
                   .nt = sc->num_tris};
  LOOM_TRY(m.status);
  LOOM_TRY(create_bspline_basis(s, &g, U, cols));
  return plug_unbind(&m);
}
