/* merge.c - vertices that become one, see merge.h. */
#include "mesh/merge.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "mesh/topo.h"

/* ---- groups ---- */

static double vertex_distance2(const mesh *m, int32_t i, int32_t j)
{
  const double *const a = m->x + 3 * (int64_t)i, *const b = m->x + 3 * (int64_t)j;
  const double d[3] = {a[0] - b[0], a[1] - b[1], a[2] - b[2]};
  return d[0] * d[0] + d[1] * d[1] + d[2] * d[2];
}

/* The lowest number of i's group; paths are halved on the way. */
static int32_t find_group_leader(int32_t *leader, int32_t i)
{
  while (leader[i] != i) i = leader[i] = leader[leader[i]];
  return i;
}

static void join_groups(int32_t *leader, int32_t i, int32_t j)
{
  const int32_t a = find_group_leader(leader, i), b = find_group_leader(leader, j);
  leader[a < b ? b : a] = a < b ? a : b;
}

/* No side of a triangle may vanish; that bounds the number of vertices in a cell, too. */
static loom_status check_sides(loom_err *err, const mesh *m, const char *name, double tolerance,
                               const unsigned char *only)
{
  for (int64_t t = 0; t < m->num_tris; ++t)
    for (int a = 0; a < 3; ++a) {
      const int32_t i = m->tris[3 * t + a], j = m->tris[3 * t + (a + 1) % 3];
      if (i == j || (only != NULL && !(only[i] && only[j]))) continue;
      const double d2 = vertex_distance2(m, i, j);
      if (d2 <= tolerance * tolerance)
        return err_set(err, LOOM_E_CONFIG,
                       "%s: the side %d-%d of triangle %lld (ids count from 0) is %.3g m long, not "
                       "longer than merge_tolerance = %.3g m, and would vanish; lower it%s",
                       name, i, j, (long long)t, sqrt(d2), tolerance,
                       d2 == 0 ? ", or set repair = merge+clean" : "");
    }
  return LOOM_OK;
}

typedef struct cells { /* vertices by cells as wide as the tolerance */
  double origin[3], width;
  int64_t mask;
  int32_t *head, *next; /* [mask + 1], [num_verts]: vertex + 1, 0: none */
} cells;

static void find_vertex_cell(const cells *g, const double *x, int64_t c[3])
{
  for (int k = 0; k < 3; ++k) c[k] = (int64_t)floor((x[k] - g->origin[k]) / g->width);
}

static int64_t hash_vertex_cell(const cells *g, const int64_t c[3])
{
  uint64_t h = UINT64_C(1469598103934665603);
  for (int k = 0; k < 3; ++k) {
    h = (h ^ (uint64_t)c[k]) * UINT64_C(0x9e3779b97f4a7c15);
    h ^= h >> 29;
  }
  return (int64_t)(h & (uint64_t)g->mask);
}

/* Joins vertex i to the near vertices before it, and adds it to its cell. */
static void join_near_verts(cells *g, const mesh *m, double tolerance, int32_t i, int32_t *leader)
{
  int64_t c[3], n[3], d[3];
  find_vertex_cell(g, m->x + 3 * (int64_t)i, c);
  for (d[0] = -1; d[0] <= 1; ++d[0])
    for (d[1] = -1; d[1] <= 1; ++d[1])
      for (d[2] = -1; d[2] <= 1; ++d[2]) {
        for (int k = 0; k < 3; ++k) n[k] = c[k] + d[k];
        for (int32_t j = g->head[hash_vertex_cell(g, n)]; j != 0; j = g->next[j - 1])
          if (vertex_distance2(m, i, j - 1) <= tolerance * tolerance) join_groups(leader, i, j - 1);
      }
  const int64_t own = hash_vertex_cell(g, c);
  g->next[i] = g->head[own];
  g->head[own] = i + 1;
}

loom_status merge_coincident(loom_err *err, const mesh *m, const char *name, double tolerance,
                             const unsigned char *only, int32_t *leader)
{
  cells g = {.mask = 15};
  double reach = 0;
  for (int32_t i = 0; i < m->num_verts; ++i) leader[i] = i;
  if (name != NULL) LOOM_TRY(check_sides(err, m, name, tolerance, only));
  for (int k = 0; k < 3; ++k) g.origin[k] = m->num_verts > 0 ? m->x[k] : 0;
  for (int64_t k = 0; k < 3 * (int64_t)m->num_verts; ++k)
    reach = fmax(reach, fabs(m->x[k] - g.origin[k % 3]));
  /* the numbers of cells are to be exact also for a tolerance of 0 */
  g.width = fmax(tolerance, fmax(1e-12 * reach, 1e-300));
  while (g.mask < 2 * (int64_t)m->num_verts) g.mask = 2 * g.mask + 1;
  loom_status s = mesh_alloc(err, g.mask + 1, sizeof *g.head, &g.head);
  if (s == LOOM_OK) s = mesh_alloc(err, m->num_verts, sizeof *g.next, &g.next);
  for (int32_t i = 0; i < m->num_verts && s == LOOM_OK; ++i)
    if (only == NULL || only[i]) join_near_verts(&g, m, tolerance, i, leader);
  for (int32_t i = 0; i < m->num_verts; ++i) leader[i] = find_group_leader(leader, i);
  free(g.head);
  free(g.next);
  return s;
}

loom_status merge_boundary(loom_err *err, const mesh *m, unsigned char *only)
{
  topo tp;
  memset(only, 0, (size_t)m->num_verts);
  LOOM_TRY(topo_build(err, m->tris, m->num_tris, m->num_verts, &tp));
  for (int64_t e = 0; e < tp.num_edges; ++e)
    if (tp.first[e + 1] - tp.first[e] == 1) only[tp.edges[2 * e]] = only[tp.edges[2 * e + 1]] = 1;
  topo_free(&tp);
  return LOOM_OK;
}

/* ---- one vertex for each group ---- */

/* 1: the three sides are one edge of the mesh as it is, which merging does not make. */
static int are_same_edge(const mesh *m, const int32_t side[3], int32_t v[3][3])
{
  int same = 1;
  for (int k = 0; k < 3; ++k) {
    topo_side(m->tris, side[k], &v[k][0], &v[k][1], &v[k][2]);
    same &= v[k][0] + v[k][1] == v[0][0] + v[0][1] && (v[k][0] == v[0][0] || v[k][0] == v[0][1]);
  }
  return same;
}

/* An edge of the result with a third triangle, named in the numbers of the mesh as it was. */
static loom_status check_edges(loom_err *err, const mesh *m, const char *name, const int32_t *tris,
                               int32_t num_verts)
{
  topo tp;
  loom_status s = LOOM_OK;
  LOOM_TRY(topo_build(err, tris, m->num_tris, num_verts, &tp));
  for (int64_t e = 0; e < tp.num_edges && s == LOOM_OK; ++e) {
    const int32_t *const side = tp.sides + tp.first[e];
    if (tp.first[e + 1] - tp.first[e] <= 2) continue;
    int32_t v[3][3];
    if (are_same_edge(m, side, v)) continue; /* one edge already: the doctor tells */
    s = err_set(
        err, LOOM_E_CONFIG,
        "%s: merging the edges %d-%d, %d-%d and %d-%d of triangles %d, %d and %d (ids count "
        "from 0) would leave one edge with %lld triangles; at most two may share an edge: "
        "move the sheets apart or lower merge_tolerance",
        name, v[0][0], v[0][1], v[1][0], v[1][1], v[2][0], v[2][1], side[0] / 3, side[1] / 3,
        side[2] / 3, (long long)(tp.first[e + 1] - tp.first[e]));
  }
  topo_free(&tp);
  return s;
}

/* Marks the leaders of groups that spoil a triangle or an edge in bad [num_verts]; tris: room. */
static loom_status mark_bad_groups(loom_err *err, const mesh *m, const int32_t *leader,
                                   int32_t *tris, unsigned char *bad, int *found)
{
  topo tp;
  *found = 0;
  for (int64_t k = 0; k < 3 * (int64_t)m->num_tris; ++k) tris[k] = leader[m->tris[k]];
  for (int64_t k = 0; k < 3 * (int64_t)m->num_tris; ++k) {
    const int64_t other = k - k % 3 + (k + 1) % 3;
    if (tris[k] != tris[other] || m->tris[k] == m->tris[other]) continue;
    *found = bad[tris[k]] = 1;
  }
  LOOM_TRY(topo_build(err, tris, m->num_tris, m->num_verts, &tp));
  for (int64_t e = 0; e < tp.num_edges; ++e) {
    int32_t v[3][3];
    if (tp.first[e + 1] - tp.first[e] <= 2 || are_same_edge(m, tp.sides + tp.first[e], v)) continue;
    *found = bad[tp.edges[2 * e]] = bad[tp.edges[2 * e + 1]] = 1;
  }
  topo_free(&tp);
  return LOOM_OK;
}

loom_status merge_keep_sound(loom_err *err, const mesh *m, int32_t *leader)
{
  enum { MOST_PASSES = 16 }; /* then all groups are taken apart */
  unsigned char *bad = NULL;
  int32_t *tris = NULL;
  int found = 1;
  loom_status s = mesh_alloc(err, m->num_verts, 1, &bad);
  if (s == LOOM_OK) s = mesh_alloc(err, 3 * (int64_t)m->num_tris, sizeof *tris, &tris);
  for (int pass = 0; pass <= MOST_PASSES && found && s == LOOM_OK; ++pass) {
    s = mark_bad_groups(err, m, leader, tris, bad, &found);
    for (int32_t i = 0; i < m->num_verts && s == LOOM_OK; ++i)
      if (bad[leader[i]] || (pass == MOST_PASSES && found)) leader[i] = i;
  }
  free(bad);
  free(tris);
  return s;
}

static loom_status renumber_tris(loom_err *err, const mesh *m, const char *name, const int32_t *map,
                                 int32_t num_verts, int32_t *tris)
{
  for (int64_t t = 0; t < m->num_tris; ++t) {
    const int32_t *const v = m->tris + 3 * t;
    int32_t *const w = tris + 3 * t;
    for (int a = 0; a < 3; ++a) w[a] = map[v[a]];
    for (int a = 0; a < 3; ++a)
      if (w[a] == w[(a + 1) % 3] && v[a] != v[(a + 1) % 3])
        return err_set(err, LOOM_E_CONFIG,
                       "%s: merging vertices %d and %d, both of triangle %lld (ids count from 0), "
                       "would leave it without area; lower merge_tolerance, or sew other edges",
                       name, v[a], v[(a + 1) % 3], (long long)t);
  }
  return check_edges(err, m, name, tris, num_verts);
}

/* Means over groups; the leader's place plus the mean offset, so that equal places stay exact. */
static loom_status place_groups(loom_err *err, mesh *m, const int32_t *leader, const int32_t *map)
{
  double *offset;
  int32_t *count;
  LOOM_TRY(mesh_alloc(err, 3 * (int64_t)m->num_verts, sizeof *offset, &offset));
  const loom_status s = mesh_alloc(err, m->num_verts, sizeof *count, &count);
  for (int64_t i = 0; i < m->num_verts && s == LOOM_OK; ++i) {
    const int64_t l = leader[i];
    ++count[l];
    for (int c = 0; c < 3; ++c) offset[3 * l + c] += m->x[3 * i + c] - m->x[3 * l + c];
  }
  for (int64_t i = 0; i < m->num_verts && s == LOOM_OK; ++i) /* never moves one up */
    for (int c = 0; c < 3 && leader[i] == i; ++c)
      m->x[3 * (int64_t)map[i] + c] = m->x[3 * i + c] + offset[3 * i + c] / count[i];
  free(count);
  free(offset);
  return s;
}

loom_status merge_groups(loom_err *err, mesh *m, const char *name, const int32_t *leader,
                         int32_t *map, int32_t *gone)
{
  int32_t *tris, n = 0;
  for (int32_t i = 0; i < m->num_verts; ++i) map[i] = leader[i] == i ? n++ : map[leader[i]];
  *gone = m->num_verts - n;
  if (*gone == 0) return LOOM_OK;
  LOOM_TRY(mesh_alloc(err, 3 * (int64_t)m->num_tris, sizeof *tris, &tris));
  loom_status s = renumber_tris(err, m, name, map, n, tris);
  if (s == LOOM_OK) s = place_groups(err, m, leader, map);
  if (s != LOOM_OK) {
    free(tris);
    return s;
  }
  free(m->tris);
  m->tris = tris;
  m->num_verts = n;
  memset(m->lattice, 0, sizeof m->lattice); /* its rows and columns are gone */
  m->closed_x = 0;
  return LOOM_OK;
}
