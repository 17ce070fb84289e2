/* truth.c - see truth.h. */
#include "ssdf/truth.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "mesh/mesh.h"

enum { CUTS = 4, PARTS = CUTS * CUTS, CORNERS = (CUTS + 1) * (CUTS + 2) / 2 };

static const double just_outside = 1e-4; /* m */

typedef struct burial {
  const double *x;
  const int32_t *tris;
  int32_t nt, correct;
  uint16_t *exposed; /* [nt] a bit for each part; all or none where the triangle stays whole */
} burial;

void ssdf_truth_free(ssdf_truth *t)
{
  bvh_free(t->all);
  bvh_free(t->exposed);
  free(t->x);
  free(t->tris);
  free(t->number);
  memset(t, 0, sizeof *t);
}

/* ---- parts: barycentric coordinates in CUTS-ths, of rows from corner 0 on ---- */

/* Number of the point i along side 01 and j along side 02. */
static int corner_at(int i, int j) { return j * (CUTS + 1) - j * (j - 1) / 2 + i; }

static void locate_lattice_corner(int corner, int *i, int *j)
{
  for (*j = 0; corner > CUTS - *j; ++*j) corner -= CUTS + 1 - *j;
  *i = corner;
}

/* Corners of part k, in the triangle's orientation.  Parts with the triangle's shape come first,
 * then the inverted ones between them. */
static void part_corners(int k, int c[3])
{
  int n = k;
  for (int j = 0; j < CUTS; ++j)
    for (int i = 0; i + j < CUTS; ++i)
      if (n-- == 0) {
        c[0] = corner_at(i, j);
        c[1] = corner_at(i + 1, j);
        c[2] = corner_at(i, j + 1);
        return;
      }
  for (int j = 0; j + 1 < CUTS; ++j)
    for (int i = 0; i + j + 1 < CUTS; ++i)
      if (n-- == 0) {
        c[0] = corner_at(i + 1, j);
        c[1] = corner_at(i + 1, j + 1);
        c[2] = corner_at(i, j + 1);
        return;
      }
}

static void corner_point(const double *x, const int32_t *v, int corner, double p[3])
{
  int i, j;
  locate_lattice_corner(corner, &i, &j);
  for (int c = 0; c < 3; ++c)
    p[c] = ((CUTS - i - j) * x[3 * (int64_t)v[0] + c] + i * x[3 * (int64_t)v[1] + c] +
            j * x[3 * (int64_t)v[2] + c]) /
           CUTS;
}

/* ---- exposed triangles and parts ---- */

static int compute_tri_normal(const double *x, const int32_t *v, double n[3])
{
  const double *const a = x + 3 * (int64_t)v[0], *const b = x + 3 * (int64_t)v[1],
                      *const c = x + 3 * (int64_t)v[2];
  for (int k = 0; k < 3; ++k) {
    const int i = (k + 1) % 3, j = (k + 2) % 3;
    n[k] = (b[i] - a[i]) * (c[j] - a[j]) - (b[j] - a[j]) * (c[i] - a[i]);
  }
  const double len = sqrt(n[0] * n[0] + n[1] * n[1] + n[2] * n[2]);
  for (int k = 0; k < 3; ++k) n[k] = len > 0 ? n[k] / len : 0;
  return len > 0;
}

static int part_exposed(const burial *b, const bvh *all, const int32_t *v, const double n[3], int k)
{
  double p[3] = {0, 0, 0}, q[3];
  int corner[3];
  part_corners(k, corner);
  for (int a = 0; a < 3; ++a) {
    corner_point(b->x, v, corner[a], q);
    for (int c = 0; c < 3; ++c) p[c] += q[c] / 3;
  }
  for (int c = 0; c < 3; ++c) p[c] += just_outside * n[c];
  return !(bvh_winding(all, p) > 0);
}

/* The parts at the corners and the one in the middle are asked first: mostly they agree. */
static uint16_t find_part_exposure(const burial *b, const bvh *all, int32_t t)
{
  static const int first[4] = {0, CUTS - 1, CUTS * (CUTS + 1) / 2 - 1, PARTS - 2};
  const int32_t *const v = b->tris + 3 * (int64_t)t;
  double n[3];
  int open = 0;
  uint16_t bits = 0;
  if (!b->correct || !compute_tri_normal(b->x, v, n)) return UINT16_MAX;
  for (int k = 0; k < 4; ++k) open += part_exposed(b, all, v, n, first[k]);
  if (open == 0 || open == 4) return open == 0 ? 0 : UINT16_MAX;
  for (int k = 0; k < PARTS; ++k)
    if (part_exposed(b, all, v, n, k)) bits |= (uint16_t)(1U << k);
  return bits;
}

static int is_split(uint16_t bits) { return bits != 0 && bits != UINT16_MAX; }

static void append_exposed_tri(ssdf_truth *out, int32_t t, const int32_t v[3])
{
  memcpy(out->tris + 3 * (int64_t)out->num_exposed, v, 3 * sizeof *v);
  out->number[out->num_exposed++] = t;
}

/* The exposed triangles and parts; *points vertices so far. */
static void add_exposed(const burial *b, int32_t t, int32_t *points, ssdf_truth *out)
{
  const int32_t *const v = b->tris + 3 * (int64_t)t;
  out->num_buried += b->exposed[t] == 0;
  if (!is_split(b->exposed[t])) {
    if (b->exposed[t] != 0) append_exposed_tri(out, t, v);
    return;
  }
  for (int k = 0; k < CORNERS; ++k) corner_point(b->x, v, k, out->x + 3 * (int64_t)(*points + k));
  for (int k = 0; k < PARTS; ++k) {
    int corner[3];
    if (!(b->exposed[t] >> k & 1)) continue;
    part_corners(k, corner);
    const int32_t part[3] = {*points + corner[0], *points + corner[1], *points + corner[2]};
    append_exposed_tri(out, t, part);
  }
  *points += CORNERS;
}

static loom_status build_exposed_surface(loom_err *err, const burial *b, int32_t n, ssdf_truth *out)
{
  int64_t split = 0;
  int32_t points = n;
#pragma omp parallel for schedule(dynamic, 256)
  for (int32_t t = 0; t < b->nt; ++t) b->exposed[t] = find_part_exposure(b, out->all, t);
  for (int32_t t = 0; t < b->nt; ++t) split += is_split(b->exposed[t]);
  const int64_t tris = b->nt + PARTS * split, verts = n + CORNERS * split;
  if (verts > INT32_MAX / 4 || tris > INT32_MAX / 4)
    return err_set(err, LOOM_E_CONFIG, "the surface has too many triangles");
  LOOM_TRY(mesh_alloc(err, 3 * verts, sizeof *out->x, &out->x));
  LOOM_TRY(mesh_alloc(err, 3 * tris, sizeof *out->tris, &out->tris));
  LOOM_TRY(mesh_alloc(err, tris, sizeof *out->number, &out->number));
  memcpy(out->x, b->x, 3 * (size_t)n * sizeof *b->x);
  for (int32_t t = 0; t < b->nt; ++t) add_exposed(b, t, &points, out);
  if (out->num_exposed > 0) return LOOM_OK;
  return err_set(err, LOOM_E_CONFIG,
                 "no triangle of the surface has its outside outside; turn them (repair = "
                 "orientation)");
}

loom_status ssdf_truth_build(loom_err *err, const double *x, int32_t n, const int32_t *tris,
                             int32_t nt, int correct, ssdf_truth *out)
{
  burial b = {.x = x, .tris = tris, .nt = nt, .correct = correct};
  memset(out, 0, sizeof *out);
  loom_status s = bvh_build(err, x, tris, nt, &out->all);
  if (s == LOOM_OK) s = mesh_alloc(err, nt, sizeof *b.exposed, &b.exposed);
  if (s == LOOM_OK) s = build_exposed_surface(err, &b, n, out);
  if (s == LOOM_OK) s = bvh_build(err, out->x, out->tris, out->num_exposed, &out->exposed);
  free(b.exposed);
  if (s != LOOM_OK) ssdf_truth_free(out);
  return s;
}

double ssdf_truth_distance(const ssdf_truth *t, const double p[3], double bound, bvh_hit *hit)
{
  bvh_hit own = {0};
  bvh_hit *const at = hit != NULL ? hit : &own;
  bvh_closest(t->exposed, p, bound, at);
  at->tri = t->number[at->tri];
  return bvh_winding(t->all, p) > 0 ? -at->dist : at->dist;
}
