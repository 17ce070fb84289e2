/* sample.c - see sample.h. */
#include "ssdf/sample.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

const double ssdf_test_reach = 0.02;

/* ---- chance ---- */

enum { CHANCE_NODE = 1, CHANCE_EXTRA, CHANCE_TEST, CHANCE_POSE };

/* A random number in [0, 1) from four numbers (splitmix64), so that no draw depends on another. */
static double draw_sample_chance(uint64_t seed, int what, int64_t pose, int64_t k)
{
  uint64_t z = seed * UINT64_C(0x9e3779b97f4a7c15);
  const uint64_t in[3] = {(uint64_t)what, (uint64_t)pose, (uint64_t)k};
  for (int i = 0; i < 3; ++i) {
    z += in[i] + UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    z ^= z >> 31;
  }
  return (double)(z >> 11) * 0x1p-53;
}

/* ---- poses ---- */

loom_status ssdf_poser_open(loom_err *err, const ssdf_region *g, ssdf_poser *out)
{
  *out = (ssdf_poser){.region = g};
  loom_status s = mesh_alloc(err, 12 * (int64_t)g->part.num_joints, sizeof(double), &out->T);
  if (s == LOOM_OK) s = mesh_alloc(err, g->part.num_dofs, sizeof(double), &out->all);
  if (s == LOOM_OK)
    s = mesh_alloc(err, 3 * (int64_t)g->part.skin.num_verts, sizeof(double), &out->x);
  if (s != LOOM_OK) ssdf_poser_close(out);
  return s;
}

void ssdf_poser_close(ssdf_poser *p)
{
  free(p->T);
  free(p->all);
  free(p->x);
  memset(p, 0, sizeof *p);
}

void ssdf_product_pose(const ssdf_region_spec *s, const double (*range)[2], const int64_t *counts,
                       int64_t k, double *angles)
{
  for (int32_t d = 0; d < s->num_dofs; ++d) {
    const double share = counts[d] > 1 ? (double)(k % counts[d]) / (double)(counts[d] - 1) : 0.5;
    angles[d] = range[d][0] + share * (range[d][1] - range[d][0]);
    k /= counts[d];
  }
}

void ssdf_random_pose(const ssdf_region_spec *s, const double (*range)[2], uint64_t seed, int64_t k,
                      double *angles)
{
  for (int32_t d = 0; d < s->num_dofs; ++d)
    angles[d] =
        range[d][0] + draw_sample_chance(seed, CHANCE_POSE, k, d) * (range[d][1] - range[d][0]);
}

void ssdf_box_of(const ssdf_poser *p, const double (*range)[2], const int64_t *counts, int64_t num,
                 double margin, ssdf_box *out)
{
  double angles[SSDF_MAX_DOFS];
  for (int c = 0; c < 3; ++c) out->lo[c] = DBL_MAX, out->hi[c] = -DBL_MAX;
  for (int64_t k = 0; k < num; ++k) {
    ssdf_product_pose(&p->region->spec, range, counts, k, angles);
    ssdf_region_pose(p->region, angles, p->T, p->all, p->x);
    for (int64_t i = 0; i < 3 * (int64_t)p->region->part.skin.num_verts; ++i) {
      out->lo[i % 3] = fmin(out->lo[i % 3], p->x[i] - margin);
      out->hi[i % 3] = fmax(out->hi[i % 3], p->x[i] + margin);
    }
  }
  out->half = 0;
  for (int c = 0; c < 3; ++c) {
    out->centre[c] = 0.5 * (out->lo[c] + out->hi[c]);
    out->half = fmax(out->half, 0.5 * (out->hi[c] - out->lo[c]));
  }
}

/* ---- samples ---- */

void ssdf_samples_free(ssdf_samples *s)
{
  free(s->x);
  free(s->d);
  free(s->label);
  memset(s, 0, sizeof *s);
}

static loom_status allocate_samples(loom_err *err, int64_t room, ssdf_samples *s)
{
  *s = (ssdf_samples){.room = room};
  loom_status st = mesh_alloc(err, 3 * room, sizeof *s->x, &s->x);
  if (st == LOOM_OK) st = mesh_alloc(err, room, sizeof *s->d, &s->d);
  if (st == LOOM_OK) st = mesh_alloc(err, room, sizeof *s->label, &s->label);
  if (st != LOOM_OK) ssdf_samples_free(s);
  return st;
}

static void set_sample(const ssdf_truth *t, const unsigned char *cut, const ssdf_box *box,
                       const double p[3], double bound, ssdf_samples *s, int64_t at)
{
  bvh_hit hit;
  const double d = ssdf_truth_distance(t, p, bound, &hit);
  for (int c = 0; c < 3; ++c) s->x[3 * at + c] = (float)((p[c] - box->centre[c]) / box->half);
  s->d[at] = (float)(d / box->half);
  s->label[at] = d < 0 && cut[hit.tri] ? -1 : 1;
}

/* Nodes along each axis and their distance (m), for about resolution^3 of them. */
static void grid_of(const ssdf_box *box, int64_t resolution, int64_t n[3], double *spacing)
{
  double volume = 1;
  for (int c = 0; c < 3; ++c) volume *= box->hi[c] - box->lo[c];
  *spacing = cbrt(volume) / (double)resolution;
  for (int c = 0; c < 3; ++c) n[c] = 1 + (int64_t)((box->hi[c] - box->lo[c]) / *spacing);
}

/* Drops the nodes that a random choice leaves out; keeps the order. */
static void select_random_nodes(const ssdf_sampling *how, int64_t pose, ssdf_samples *s)
{
  int64_t kept = 0;
  for (int64_t i = 0; i < s->nodes; ++i) {
    const double sides = 0.5 * fabs((double)s->d[i]); /* a side is two half sides */
    if (!(sides < how->near_bound) &&
        !(draw_sample_chance(how->seed, CHANCE_NODE, pose, i) * sides < how->random_bound))
      continue;
    memcpy(s->x + 3 * kept, s->x + 3 * i, 3 * sizeof *s->x);
    s->d[kept] = s->d[i];
    s->label[kept++] = s->label[i];
  }
  s->count = kept;
}

/* Running sums of areas, sum [num_exposed], over all exposed triangles or, with `cut`, over the
 * skin alone. */
static double sum_areas(const ssdf_truth *t, const unsigned char *cut, double *sum)
{
  double total = 0;
  for (int32_t k = 0; k < t->num_exposed; ++k) {
    const int32_t *const v = t->tris + 3 * (int64_t)k;
    double e[2][3], n2 = 0;
    for (int c = 0; c < 3; ++c)
      for (int a = 0; a < 2; ++a)
        e[a][c] = t->x[3 * (int64_t)v[a + 1] + c] - t->x[3 * (int64_t)v[0] + c];
    for (int c = 0; c < 3; ++c) {
      const int i = (c + 1) % 3, j = (c + 2) % 3;
      n2 += pow(e[0][i] * e[1][j] - e[0][j] * e[1][i], 2);
    }
    if (cut == NULL || !cut[t->number[k]]) total += sqrt(n2);
    sum[k] = total;
  }
  return total;
}

static void normalise_vector3(double v[3])
{
  const double len = sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
  for (int c = 0; c < 3; ++c) v[c] = len > 0 ? v[c] / len : 0;
}

/* A point up to `reach` (m) before or behind the surface: u [5] in [0,1). */
static void point_near(const ssdf_truth *t, const double *sum, double total, double reach,
                       const double u[4], double p[3])
{
  int32_t lo = 0, hi = t->num_exposed - 1;
  while (lo < hi) {
    const int32_t mid = (lo + hi) / 2;
    if (sum[mid] > u[0] * total)
      hi = mid;
    else
      lo = mid + 1;
  }
  const int32_t *const v = t->tris + 3 * (int64_t)lo;
  const double r = sqrt(u[1]), w[3] = {1 - r, r * (1 - u[2]), r * u[2]};
  const double *const a = t->x + 3 * (int64_t)v[0], *const b = t->x + 3 * (int64_t)v[1],
                      *const c = t->x + 3 * (int64_t)v[2];
  double n[3];
  for (int k = 0; k < 3; ++k) {
    const int i = (k + 1) % 3, j = (k + 2) % 3;
    n[k] = (b[i] - a[i]) * (c[j] - a[j]) - (b[j] - a[j]) * (c[i] - a[i]);
  }
  normalise_vector3(n);
  for (int k = 0; k < 3; ++k)
    p[k] = w[0] * a[k] + w[1] * b[k] + w[2] * c[k] + (2 * u[3] - 1) * reach * n[k];
}

/* Points around the surface behind the first `at` samples. */
static loom_status add_near(loom_err *err, const ssdf_truth *t, const ssdf_poser *p,
                            const ssdf_box *box, const ssdf_sampling *how, int what, int64_t pose,
                            ssdf_samples *s)
{
  const unsigned char *const cut = p->region->cut;
  const int64_t first = s->count;
  const int64_t count = what == CHANCE_TEST ? how->test_points : how->extra;
  const double reach = what == CHANCE_TEST ? ssdf_test_reach : 2 * how->near_bound * box->half;
  double *sum;
  LOOM_TRY(mesh_alloc(err, t->num_exposed, sizeof *sum, &sum));
  const double total = sum_areas(t, what == CHANCE_TEST ? cut : NULL, sum);
#pragma omp parallel for schedule(dynamic, 64)
  for (int64_t k = 0; k < count; ++k) {
    double u[4], q[3];
    for (int i = 0; i < 4; ++i) u[i] = draw_sample_chance(how->seed, what, pose, 4 * k + i);
    point_near(t, sum, total, reach, u, q);
    set_sample(t, cut, box, q, DBL_MAX, s, first + k);
  }
  s->count += count;
  free(sum);
  return LOOM_OK;
}

static loom_status pose_truth(loom_err *err, const ssdf_poser *p, const double *angles,
                              ssdf_truth *t)
{
  const mesh *const skin = &p->region->part.skin;
  ssdf_region_pose(p->region, angles, p->T, p->all, p->x);
  return ssdf_truth_build(err, p->x, skin->num_verts, skin->tris, skin->num_tris, 1, t);
}

/* A row of the grid; distances change by no more than points do. */
static void sample_row(const ssdf_truth *t, const unsigned char *cut, const ssdf_box *box,
                       const int64_t n[3], double spacing, int64_t row, ssdf_samples *s)
{
  double bound = DBL_MAX;
  for (int64_t i = 0; i < n[0]; ++i) {
    const int64_t at = row * n[0] + i, of[3] = {i, row % n[1], row / n[1]};
    double p[3];
    for (int c = 0; c < 3; ++c) p[c] = box->lo[c] + spacing * (double)of[c];
    set_sample(t, cut, box, p, bound, s, at);
    bound = (fabs((double)s->d[at]) * box->half + spacing) * (1 + 1e-5); /* rounded to float */
  }
}

loom_status ssdf_sample_training(loom_err *err, const ssdf_poser *p, const ssdf_box *box,
                                 const ssdf_sampling *how, const double *angles, int64_t pose,
                                 ssdf_samples *out)
{
  int64_t n[3];
  double spacing;
  ssdf_truth t;
  *out = (ssdf_samples){0};
  grid_of(box, how->resolution, n, &spacing);
  const int64_t nodes = n[0] * n[1] * n[2], rows = n[1] * n[2];
  LOOM_TRY(pose_truth(err, p, angles, &t));
  loom_status s = allocate_samples(err, nodes + how->extra, out);
  if (s == LOOM_OK) {
    out->nodes = nodes;
#pragma omp parallel for schedule(dynamic, 16)
    for (int64_t r = 0; r < rows; ++r) sample_row(&t, p->region->cut, box, n, spacing, r, out);
    select_random_nodes(how, pose, out);
    s = add_near(err, &t, p, box, how, CHANCE_EXTRA, pose, out);
  }
  ssdf_truth_free(&t);
  if (s != LOOM_OK) ssdf_samples_free(out);
  return s;
}

loom_status ssdf_sample_test(loom_err *err, const ssdf_poser *p, const ssdf_box *box,
                             const ssdf_sampling *how, const double *angles, int64_t pose,
                             ssdf_samples *out)
{
  ssdf_truth t;
  *out = (ssdf_samples){0};
  LOOM_TRY(pose_truth(err, p, angles, &t));
  loom_status s = allocate_samples(err, how->test_points, out);
  if (s == LOOM_OK) s = add_near(err, &t, p, box, how, CHANCE_TEST, pose, out);
  ssdf_truth_free(&t);
  if (s != LOOM_OK) ssdf_samples_free(out);
  return s;
}
