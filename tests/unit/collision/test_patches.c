/* test_patches.c - patches of plugins/collision/patch_bvh: a partition into small connected
 * pieces, every edge and vertex owned once. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "patches.h"
#include "support/mesh_case_faces.h"

static int count_shared_corners(const int32_t *a, int na, const int32_t *b, int nb)
{
  int n = 0;
  for (int i = 0; i < na; ++i)
    for (int j = 0; j < nb; ++j) n += a[i] == b[j];
  return n;
}

/* Triangles over edges, bare edges over vertices. */
static int is_connected(const mesh_faces *m, const int32_t *item, int n, int tris)
{
  const int arity = tris ? 3 : 2, enough = tris ? 2 : 1;
  const int32_t *const corner = tris ? m->tris : m->edges;
  unsigned seen = 1, before = 0;
  while (seen != before) {
    before = seen;
    for (int i = 0; i < n; ++i)
      for (int j = 0; j < n; ++j)
        if ((seen >> i & 1) && count_shared_corners(corner + arity * item[i], arity,
                                                    corner + arity * item[j], arity) >= enough)
          seen |= 1u << j;
  }
  return seen == (1u << n) - 1;
}

static int list_of(const int32_t *lanes, int num, int32_t *out)
{
  int n = 0;
  for (int i = 0; i < num; ++i)
    if (lanes[i] >= 0) out[n++] = lanes[i];
  return n;
}

/* Is v a corner of a triangle of the patch? */
static int is_corner_of_patch(const mesh_faces *m, const patch_set *s, int p, int32_t v)
{
  for (int i = 0; i < PATCH_TRIS; ++i) {
    const int32_t t = s->tri[PATCH_TRIS * p + i];
    if (t >= 0 && count_shared_corners(&v, 1, m->tris + 3 * t, 3)) return 1;
  }
  for (int i = PATCH_LANES * s->first_block[p]; i < PATCH_LANES * s->first_block[p + 1]; ++i)
    if (s->edge[i] >= 0 && count_shared_corners(&v, 1, m->edges + 2 * s->edge[i], 2)) return 1;
  return 0;
}

/* Returns the share of triangles in patches of 5 to 8. */
static double check_patch_partition(const mesh_case *c)
{
  int32_t *tris, *edges, item[64];
  patch_set s;
  const mesh_faces m = mc_faces(c, &tris, &edges);
  cr_assert(patches_make(&m, &s));
  uint8_t *const tri = calloc((size_t)m.num_tris + 1, 1);
  uint8_t *const edge = calloc((size_t)m.num_edges + 1, 1);
  uint8_t *const vert = calloc((size_t)m.num_verts + 1, 1);
  int good = 0;
  for (int p = 0; p < s.num; ++p) {
    const int n = list_of(s.tri + PATCH_TRIS * p, PATCH_TRIS, item);
    for (int i = 0; i < n; ++i) {
      ++tri[item[i]];
      cr_assert_eq(item[i] < m.cloth_tris, p < s.num_cloth, "patch %d mixes cloth and bodies", p);
    }
    cr_assert(n == 0 || is_connected(&m, item, n, 1), "patch %d is in pieces", p);
    good += n >= PATCH_LEAST ? n : 0;
    const int first = PATCH_LANES * s.first_block[p], end = PATCH_LANES * s.first_block[p + 1];
    cr_assert(end - first <= 3 * PATCH_LANES);
    const int k = list_of(s.edge + first, end - first, item);
    for (int i = 0; i < k; ++i) {
      ++edge[item[i]];
      cr_assert_eq(item[i] < m.cloth_edges, p < s.num_cloth);
      for (int q = 0; q < 2; ++q)
        cr_assert(is_corner_of_patch(&m, &s, p, m.edges[2 * item[i] + q]));
    }
    if (n == 0) cr_assert(k > 0 && k <= PATCH_LANES && is_connected(&m, item, k, 0));
    for (int i = s.first_vert[p]; i < s.first_vert[p + 1]; ++i) {
      ++vert[s.vert[i]];
      cr_assert(is_corner_of_patch(&m, &s, p, s.vert[i]), "patch %d owns a vertex it does not have",
                p);
    }
  }
  for (int i = 0; i < m.num_tris; ++i) cr_assert_eq(tri[i], 1, "triangle %d: %d times", i, tri[i]);
  for (int i = 0; i < m.num_edges; ++i) cr_assert_eq(edge[i], 1, "edge %d: %d times", i, edge[i]);
  for (int i = 0; i < 3 * m.num_tris; ++i) cr_assert_eq(vert[m.tris[i]], 1);
  for (int i = 0; i < 2 * m.num_edges; ++i) cr_assert_eq(vert[m.edges[i]], 1);
  for (int i = 0; i < m.num_verts; ++i) cr_assert(vert[i] <= 1);
  free(tri), free(edge), free(vert), free(tris), free(edges);
  patches_free(&s);
  return m.num_tris > 0 ? (double)good / m.num_tris : 1.0;
}

Test(patches, the_scenes_of_detection)
{
  for (int k = 0; k < MC_SCENES; ++k) {
    mesh_case c = mc_make(k);
    (void)check_patch_partition(&c);
    mc_free(&c);
  }
}

Test(patches, connected_meshes_have_5_to_8_triangles_each)
{
  static const int size[][2] = {{4, 4}, {7, 5}, {20, 20}, {41, 13}, {64, 64}, {2, 90}};
  for (size_t k = 0; k < sizeof size / sizeof *size; ++k) {
    mesh_case c = {.seed = 1};
    (void)mc_add_sheet(&c, &(mc_object){.radius = 0}, size[k][0], size[k][1], 1, 1, 0);
    const double share = check_patch_partition(&c);
    cr_expect(share > 0.97, "%d x %d: only %g", size[k][0], size[k][1], share);
    mc_free(&c);
  }
  for (int m = 40; m < 4000; m *= 3) {
    mesh_case c = {.seed = 1};
    (void)mc_add_ball(&c, &(mc_object){.body = 1}, (double[]){0, 0, 0}, 1, m);
    const double share = check_patch_partition(&c);
    cr_expect(share > 0.97, "ball of %d: only %g", m, share);
    mc_free(&c);
  }
}

/* A fan around one edge, twice the same triangle, a triangle with a corner twice. */
Test(patches, meshes_that_are_no_manifold)
{
  mesh_case c = {.seed = 1};
  int32_t fan[90] = {0};
  const double x[96] = {0};
  for (int i = 0; i < 30; ++i) fan[3 * i + 1] = 1, fan[3 * i + 2] = 2 + i;
  (void)mc_add(&c, &(mc_object){.radius = 0}, 32, x, 30, fan);
  (void)mc_add(&c, &(mc_object){.radius = 0}, 4, x, 4,
               (int32_t[]){0, 1, 2, 0, 1, 2, 1, 1, 3, 3, 2, 1});
  (void)check_patch_partition(&c);
  mc_free(&c);
}
