/* sdf.c - baking a closed triangle mesh to a grid of signed distances. */
#include "mesh/sdf.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "config/words.h"
#include "mesh/bvh.h"
#include "mesh/topo.h"

enum { MAX_NODES = 1 << 29 };

static loom_status check_grid_nodes(loom_err *err, const sdf_grid *g)
{
  for (int c = 0; c < 3; ++c)
    if (g->dims[c] < 2) return err_set(err, LOOM_E_CONFIG, "the SDF grid needs 2 nodes per side");
  if ((double)g->dims[0] * g->dims[1] * g->dims[2] > MAX_NODES)
    return err_set(err, LOOM_E_CONFIG,
                   "the SDF grid of %d x %d x %d nodes is too large; lower sdf_resolution",
                   g->dims[0], g->dims[1], g->dims[2]);
  return LOOM_OK;
}

loom_status sdf_frame(loom_err *err, const mesh *m, int64_t resolution, double padding,
                      sdf_grid *out)
{
  double lo[3] = {DBL_MAX, DBL_MAX, DBL_MAX}, hi[3] = {-DBL_MAX, -DBL_MAX, -DBL_MAX}, longest = 0;
  for (int64_t k = 0; k < 3 * (int64_t)m->num_tris; ++k)
    for (int c = 0; c < 3; ++c) {
      const double v = m->x[3 * (int64_t)m->tris[k] + c];
      lo[c] = fmin(lo[c], v);
      hi[c] = fmax(hi[c], v);
    }
  for (int c = 0; c < 3; ++c) longest = fmax(longest, hi[c] - lo[c]);
  if (!(longest > 0) || resolution < 4)
    return err_set(err, LOOM_E_CONFIG, "an SDF needs a mesh with a size and 4 nodes per side");
  const double pad = padding > 0 ? padding : 0.1 * longest;
  out->spacing = longest / (double)(resolution - 1);
  for (int c = 0; c < 3; ++c) {
    /* whole cells, as many too much on the low as on the high side */
    const double cells = ceil((hi[c] - lo[c] + 2 * pad) / out->spacing);
    if (cells > 1 << 20)
      return err_set(err, LOOM_E_CONFIG,
                     "the SDF grid would have %g nodes along a side; lower "
                     "sdf_resolution or sdf_padding",
                     cells);
    out->dims[c] = (int32_t)cells + 1;
    out->origin[c] = 0.5 * (lo[c] + hi[c]) - 0.5 * cells * out->spacing;
  }
  return check_grid_nodes(err, out);
}

/* ---- pseudonormals ---- */

typedef struct surface {
  const mesh *m;
  bvh *tree;
  int32_t *across;     /* [3 nt] triangle on the other side of each side */
  double *vert_normal; /* [n][3], sum of angle times unit normal, not normalised */
} surface;

static void unit_normal(const mesh *m, int32_t t, double n[3])
{
  const double *a = m->x + 3 * (int64_t)m->tris[3 * (int64_t)t];
  const double *b = m->x + 3 * (int64_t)m->tris[3 * (int64_t)t + 1];
  const double *c = m->x + 3 * (int64_t)m->tris[3 * (int64_t)t + 2];
  double u[3], v[3];
  for (int k = 0; k < 3; ++k) u[k] = b[k] - a[k], v[k] = c[k] - a[k];
  n[0] = u[1] * v[2] - u[2] * v[1];
  n[1] = u[2] * v[0] - u[0] * v[2];
  n[2] = u[0] * v[1] - u[1] * v[0];
  const double len = sqrt(n[0] * n[0] + n[1] * n[1] + n[2] * n[2]);
  for (int k = 0; k < 3; ++k) n[k] /= len;
}

/* Angle at corner `c` of triangle t. */
static double corner_angle(const mesh *m, int32_t t, int c)
{
  const int32_t *v = m->tris + 3 * (int64_t)t;
  const double *p = m->x + 3 * (int64_t)v[c];
  const double *q = m->x + 3 * (int64_t)v[(c + 1) % 3], *r = m->x + 3 * (int64_t)v[(c + 2) % 3];
  double a[3], b[3], dot = 0;
  for (int k = 0; k < 3; ++k) {
    a[k] = q[k] - p[k];
    b[k] = r[k] - p[k];
    dot += a[k] * b[k];
  }
  const double n[3] = {a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2],
                       a[0] * b[1] - a[1] * b[0]};
  return atan2(sqrt(n[0] * n[0] + n[1] * n[1] + n[2] * n[2]), dot);
}

static loom_status surface_build(loom_err *err, const mesh *m, surface *s)
{
  topo tp;
  s->m = m;
  LOOM_TRY(bvh_build(err, m->x, m->tris, m->num_tris, &s->tree));
  LOOM_TRY(mesh_alloc(err, 3 * (int64_t)m->num_tris, sizeof *s->across, &s->across));
  LOOM_TRY(mesh_alloc(err, 3 * (int64_t)m->num_verts, sizeof(double), &s->vert_normal));
  LOOM_TRY(topo_build(err, m->tris, m->num_tris, m->num_verts, &tp));
  loom_status status = LOOM_OK;
  for (int64_t e = 0; e < tp.num_edges; ++e) {
    const int32_t *side = tp.sides + tp.first[e];
    if (tp.first[e + 1] - tp.first[e] != 2) {
      status = err_set(err, LOOM_E_ARG, "edge %d-%d: the surface of a body must be closed",
                       tp.edges[2 * e], tp.edges[2 * e + 1]);
      break;
    }
    s->across[side[0]] = side[1] / 3;
    s->across[side[1]] = side[0] / 3;
  }
  topo_free(&tp);
  for (int32_t t = 0; t < m->num_tris; ++t) {
    double n[3];
    unit_normal(m, t, n);
    for (int c = 0; c < 3; ++c) {
      const double angle = corner_angle(m, t, c);
      double *sum = s->vert_normal + 3 * (int64_t)m->tris[3 * (int64_t)t + c];
      for (int k = 0; k < 3; ++k) sum[k] += angle * n[k];
    }
  }
  return status;
}

static void surface_free(surface *s)
{
  bvh_free(s->tree);
  free(s->across);
  free(s->vert_normal);
}

static void compute_pseudonormal(const surface *s, const bvh_hit *hit, double n[3])
{
  unit_normal(s->m, hit->tri, n);
  if (hit->feature == BVH_FACE) return;
  if (hit->feature < BVH_EDGE0) {
    const int32_t v = s->m->tris[3 * (int64_t)hit->tri + hit->feature - BVH_VERTEX0];
    memcpy(n, s->vert_normal + 3 * (int64_t)v, 3 * sizeof(double));
    return;
  }
  double other[3];
  unit_normal(s->m, s->across[3 * (int64_t)hit->tri + hit->feature - BVH_EDGE0], other);
  for (int k = 0; k < 3; ++k) n[k] += other[k];
}

static void bake_distance_row(const surface *s, const sdf_grid *g, double offset, int32_t j,
                              int32_t k, loom_real *row)
{
  double p[3] = {0, g->origin[1] + j * g->spacing, g->origin[2] + k * g->spacing};
  double last = -1;
  for (int32_t i = 0; i < g->dims[0]; ++i) {
    bvh_hit hit;
    double n[3], side = 0;
    p[0] = g->origin[0] + i * g->spacing;
    /* distance is 1-Lipschitz: the neighbour's plus one spacing bounds the search */
    bvh_closest(s->tree, p, last < 0 ? DBL_MAX : (last + g->spacing) * (1 + 1e-9), &hit);
    compute_pseudonormal(s, &hit, n);
    for (int c = 0; c < 3; ++c) side += (p[c] - hit.point[c]) * n[c];
    last = hit.dist;
    row[i] = (loom_real)((side < 0 ? -hit.dist : hit.dist) - offset);
  }
}

loom_status sdf_bake(loom_err *err, const mesh *m, const sdf_grid *g, double offset,
                     loom_real *value)
{
  surface s = {0};
  loom_status status = surface_build(err, m, &s);
  if (status == LOOM_OK) {
    const int32_t rows = g->dims[1] * g->dims[2];
#pragma omp parallel for schedule(dynamic, 16)
    for (int32_t r = 0; r < rows; ++r)
      bake_distance_row(&s, g, offset, r % g->dims[1], r / g->dims[1],
                        value + (int64_t)r * g->dims[0]);
  }
  surface_free(&s);
  return status;
}

/* ---- files and sampling ---- */

static loom_status read_values(loom_err *err, const char *path, words *w, sdf_grid *g,
                               loom_real **value)
{
  int64_t n[3];
  for (int c = 0; c < 3; ++c)
    if (!words_int(w, &n[c]) || n[c] < 2 || n[c] > 1 << 20)
      return err_set(err, LOOM_E_IO, "%s: line 1: three numbers of nodes (2 or more) needed", path);
  for (int c = 0; c < 3; ++c) {
    g->dims[c] = (int32_t)n[c];
    if (!words_real(w, &g->origin[c]))
      return err_set(err, LOOM_E_IO, "%s: line 2: the position of node 0 needed", path);
  }
  if (!words_real(w, &g->spacing) || !(g->spacing > 0))
    return err_set(err, LOOM_E_IO, "%s: line 3: a spacing above 0 needed", path);
  LOOM_TRY(check_grid_nodes(err, g));
  const int64_t count = n[0] * n[1] * n[2];
  if (2 * count - 1 > (int64_t)strlen(w->p)) /* before memory is asked for */
    return err_set(err, LOOM_E_IO, "%s: %lld values needed, the file is too short", path,
                   (long long)count);
  LOOM_TRY(mesh_alloc(err, count, sizeof **value, value));
  for (int64_t i = 0; i < count; ++i) {
    double v;
    if (!words_real(w, &v))
      return err_set(err, LOOM_E_IO, "%s: value %lld of %lld is missing or not a finite number",
                     path, (long long)i, (long long)count);
    (*value)[i] = (loom_real)v;
  }
  if (!words_at_end(w))
    return err_set(err, LOOM_E_IO, "%s: more than the %lld values that its first line says", path,
                   (long long)count);
  return LOOM_OK;
}

loom_status sdf_read(loom_err *err, const char *path, sdf_grid *g, loom_real **value)
{
  char *text;
  size_t len;
  words w;
  *value = NULL;
  LOOM_TRY(words_file(err, path, &text, &len));
  words_start(&w, text);
  const loom_status s = read_values(err, path, &w, g, value);
  free(text);
  if (s != LOOM_OK) {
    free(*value);
    *value = NULL;
  }
  return s;
}
