/* test_audit.c - the exact audit finds planted intersections, and the same ones as brute force. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "audit/intersect.h"

static uint64_t next_audit_bits(uint64_t *s)
{
  uint64_t z = (*s += UINT64_C(0x9e3779b97f4a7c15));
  z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
  z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
  return z ^ (z >> 31);
}

static double next_audit_uniform(uint64_t *s)
{
  return (double)(next_audit_bits(s) >> 11) * 0x1p-53;
}

/* ---- planted intersections ---- */

/* Against the triangle (0,0,0) (4,0,0) (0,4,0). */
static const struct {
  const char *what;
  int meets;
  double x[9];
} planted[] = {
    {"edge through the interior", 1, {1, 1, -1, 1, 1, 1, 5, 5, 1}},
    {"edge through an edge", 1, {2, 0, -1, 2, 0, 1, 2, -3, 1}},
    {"edge through a vertex", 1, {4, 0, -1, 4, 0, 1, 9, 0, 1}},
    {"vertex on the interior", 1, {1, 1, 0, 1, 1, 3, 2, 1, 3}},
    {"vertex on an edge", 1, {2, 0, 0, 2, -1, 3, 3, -1, 3}},
    {"vertex on a vertex", 1, {0, 0, 0, -1, -1, 3, -1, 0, 3}},
    {"edge on the interior", 1, {1, 1, 0, 2, 1, 0, 1, 1, 3}},
    {"coplanar overlap", 1, {1, 1, 0, 5, 1, 0, 1, 5, 0}},
    {"coplanar star of six points", 1, {3, 3, 0, -1, 1, 0, 1, -1, 0}},
    {"coplanar containment", 1, {1, 1, 0, 2, 1, 0, 1, 2, 0}},
    {"coplanar, contained by it", 1, {-9, -9, 0, 30, -9, 0, -9, 30, 0}},
    {"coplanar, a common side touching from outside", 1, {1, 0, 0, 3, 0, 0, 2, -2, 0}},
    {"coplanar T-junction", 1, {2, 0, 0, 1, -2, 0, 3, -2, 0}},
    {"T-junction, standing", 1, {2, 0, 0, 1, -1, 1, 3, -1, 1}},
    {"edges crossing in a plane", 1, {2, -1, 0, 2, 1, 0, 2, 0, 5}},
    {"edges collinear, overlapping", 1, {3, 0, 0, 7, 0, 0, 7, 0, 5}},
    {"edges collinear, end to end", 1, {4, 0, 0, 7, 0, 0, 7, 0, 5}},
    {"edges collinear, apart", 0, {5, 0, 0, 7, 0, 0, 7, 0, 5}},
    {"the same triangle again", 1, {0, 0, 0, 4, 0, 0, 0, 4, 0}},
    {"crossing by 1e-15", 1, {1, 1, -1e-15, 1, 1, 1, 2, 1, 1}},
    {"crossing by the smallest double", 1, {1, 1, -0x1p-1074, 1, 1, 1, 2, 1, 1}},
    {"apart by 1e-15", 0, {1, 1, 1e-15, 1, 1, 1, 2, 1, 1}},
    {"apart by the smallest double", 0, {1, 1, 0x1p-1074, 1, 1, 1, 2, 1, 1}},
    {"past the edge by 1e-15", 0, {2, -1e-15, -1, 2, -1e-15, 1, 2, -3, 1}},
    {"past the corner, in the plane", 0, {5, 0, 0, 9, 0, 0, 5, 1, 0}},
    {"parallel, one apart", 0, {0, 0, 1, 4, 0, 1, 0, 4, 1}},
    {"a needle of no area through it", 1, {1, 1, -1, 1, 1, 1, 1, 1, 0}},
    {"a needle of no area beside it", 0, {5, 5, -1, 5, 5, 1, 5, 5, 0}},
};

/* Both triangles in all orders of corners and axes, in one mesh and as two meshes. */
static void expect_planted(size_t k, int turn, int axis, int swap)
{
  static const double base[9] = {0, 0, 0, 4, 0, 0, 0, 4, 0};
  static const int32_t tris[6] = {0, 1, 2, 3, 4, 5};
  double x[18];
  loom_err err = {0};
  isect_pair pairs[32];
  int64_t one = -1, two = -1;
  for (int i = 0; i < 18; ++i) {
    const int first = (i < 9) != swap, v = (i / 3 + turn) % 3, c = (i + axis) % 3;
    x[i] = first ? base[3 * v + c] : planted[k].x[3 * v + c];
  }
  cr_assert_eq(isect_mesh(&err, x, 6, tris, 2, 1, pairs, 32, &one), LOOM_OK, "%s", err.text);
  cr_expect_eq(one > 0, planted[k].meets, "%s: %d pairs (turn %d, axis %d, swap %d)",
               planted[k].what, (int)one, turn, axis, swap);
  const isect_surface a = {.x = x, .n = 3, .tris = tris, .nt = 1};
  const isect_surface b = {.x = x + 9, .n = 3, .tris = tris, .nt = 1};
  cr_assert_eq(isect_scene(&err, &a, &b, 1, 1, pairs, 32, &two), LOOM_OK, "%s", err.text);
  cr_expect_eq(two, one, "%s: between objects %d instead of %d", planted[k].what, (int)two,
               (int)one);
  for (int64_t i = 0; i < two; ++i) { /* the point for messages lies in both boxes */
    const isect_surface *const e = pairs[i].side == 0 ? &a : &b, *const t = e == &a ? &b : &a;
    double p[3];
    const double *const u = e->x + 3 * pairs[i].edge[0], *const w = e->x + 3 * pairs[i].edge[1];
    isect_point(u, w, t->x, t->x + 3, t->x + 6, p);
    for (int c = 0; c < 3; ++c)
      cr_expect(p[c] >= fmin(u[c], w[c]) - 1e-12 && p[c] <= fmax(u[c], w[c]) + 1e-12 &&
                    p[c] >= fmin(t->x[c], fmin(t->x[3 + c], t->x[6 + c])) - 1e-12 &&
                    p[c] <= fmax(t->x[c], fmax(t->x[3 + c], t->x[6 + c])) + 1e-12,
                "%s: point %g %g %g", planted[k].what, p[0], p[1], p[2]);
  }
}

Test(audit, planted_intersections_are_found)
{
  for (size_t k = 0; k < sizeof planted / sizeof *planted; ++k)
    for (int way = 0; way < 18; ++way) expect_planted(k, way % 3, way / 3 % 3, way / 9);
}

/* ---- soups against brute force ---- */

enum { MAX_NV = 80, MAX_NT = 40, MAX_PAIRS = 3 * MAX_NT * MAX_NT };

enum {
  RANDOM,
  GRID_ALIGNED, /* small whole numbers: touching and crossing in planes */
  COPLANAR,     /* all in one inclined plane of representable points */
  TENTHS,       /* decimal lattice moved by units in the last place */
  DUPLICATED,   /* few places for many vertices */
  DEGENERATE,   /* triangles with repeated vertices and of no area */
  SHEETS,       /* two connected grids through each other */
  NUM_KINDS
};

typedef struct soup {
  double x[3 * MAX_NV];
  int32_t tris[3 * MAX_NT];
  int nv, nt;
} soup;

static double random_audit_coordinate(uint64_t *s, int kind)
{
  const double k = (double)(next_audit_bits(s) % 4);
  if (kind == RANDOM) return next_audit_uniform(s);
  if (kind != TENTHS) return k;
  const double x = 0.1 * k + 0.3;
  return next_audit_bits(s) % 2 ? x : nextafter(x, next_audit_bits(s) % 2 ? 9.0 : -9.0);
}

static void make_sheets(uint64_t *s, soup *m)
{
  enum { SIDE = 4 };
  const double tilt = next_audit_uniform(s) - 0.5, up = 0.2 * next_audit_uniform(s);
  const int aligned = next_audit_bits(s) % 2;
  m->nv = m->nt = 0;
  for (int sheet = 0; sheet < 2; ++sheet)
    for (int j = 0; j < SIDE; ++j)
      for (int i = 0; i < SIDE; ++i) {
        const int v = m->nv++;
        const double z = sheet == 0 ? 0 : aligned ? 0.5 * i - 0.5 : tilt * (i - 1.5) + up;
        const double p[3] = {i, j + (sheet && !aligned ? next_audit_uniform(s) : 0), z};
        memcpy(m->x + 3 * v, p, sizeof p);
        if (i + 1 == SIDE || j + 1 == SIDE) continue;
        const int32_t q[6] = {v, v + 1, v + SIDE + 1, v, v + SIDE + 1, v + SIDE};
        memcpy(m->tris + 3 * m->nt, q, sizeof q);
        m->nt += 2;
      }
}

static void make_soup(uint64_t *s, int kind, soup *m)
{
  if (kind == SHEETS) {
    make_sheets(s, m);
    return;
  }
  m->nv = 20 + (int)(next_audit_bits(s) % 20);
  m->nt = 8 + (int)(next_audit_bits(s) % 12);
  for (int i = 0; i < 3 * m->nv; ++i) m->x[i] = random_audit_coordinate(s, kind);
  for (int v = 0; v < m->nv; ++v) {
    double *const p = m->x + 3 * v;
    if (kind == COPLANAR) p[2] = 0.5 * p[0] - 0.25 * p[1] + 1;
    if (kind == DUPLICATED && v >= 8) memcpy(p, m->x + 3 * (next_audit_bits(s) % 8), 3 * sizeof *p);
  }
  for (int t = 0; t < m->nt; ++t) {
    int32_t *const v = m->tris + 3 * t;
    for (int c = 0; c < 3; ++c) v[c] = (int32_t)(next_audit_bits(s) % (uint64_t)m->nv);
    if (kind == DEGENERATE && t % 3 == 0) v[2] = v[0];
    if (kind == DEGENERATE && t % 3 != 1) continue;
    while (v[1] == v[0]) v[1] = (v[1] + 1) % m->nv;
    while (v[2] == v[0] || v[2] == v[1]) v[2] = (v[2] + 1) % m->nv;
  }
}

static int compare_audit_pairs(const void *a, const void *b)
{
  const isect_pair *const p = a, *const q = b;
  const int32_t u[5] = {p->body, p->side, p->edge[0], p->edge[1], p->tri};
  const int32_t w[5] = {q->body, q->side, q->edge[0], q->edge[1], q->tri};
  for (int i = 0; i < 5; ++i)
    if (u[i] != w[i]) return u[i] < w[i] ? -1 : 1;
  return 0;
}

/* Edges of triangles [from, from + count) against edges of triangles [with, with + many); without
 * common vertices if both are of one mesh. */
static int64_t find_soup_crossings(const soup *m, int from, int count, int with, int many, int body,
                                   int side, isect_pair *out)
{
  int64_t found = 0;
  for (int k = 3 * from; k < 3 * (from + count); ++k) {
    const int32_t i = m->tris[k], j = m->tris[k % 3 == 2 ? k - 2 : k + 1];
    if (i == j) continue;
    for (int t = with; t < with + many; ++t) {
      const int32_t *const v = m->tris + 3 * t;
      int common = 0;
      for (int c = 0; c < 3; ++c) common |= v[c] == i || v[c] == j;
      if ((common && body < 0) ||
          !isect_segment_triangle(m->x + 3 * i, m->x + 3 * j, m->x + 3 * v[0], m->x + 3 * v[1],
                                  m->x + 3 * v[2]))
        continue;
      out[found++] = (isect_pair){{i < j ? i : j, i < j ? j : i}, t - with, body, side};
    }
  }
  return found;
}

static int64_t sort_unique_pairs(isect_pair *p, int64_t m)
{
  int64_t unique = 0;
  qsort(p, (size_t)m, sizeof *p, compare_audit_pairs);
  for (int64_t i = 0; i < m; ++i)
    if (i == 0 || compare_audit_pairs(p + i, p + unique - 1) != 0) p[unique++] = p[i];
  return unique;
}

static isect_pair want[2 * MAX_PAIRS], have[2 * MAX_PAIRS];

static void compare_lists(int64_t m, int64_t total, int kind, int i, const char *what)
{
  cr_assert_eq(total, m, "%s, kind %d, soup %d: %d pairs instead of %d", what, kind, i, (int)total,
               (int)m);
  cr_assert_eq(memcmp(have, want, (size_t)m * sizeof *have), 0, "%s, kind %d, soup %d differs",
               what, kind, i);
}

Test(audit, a_thousand_soups_agree_with_brute_force)
{
  enum { SOUPS = 1050 };
  uint64_t s = 11;
  int64_t met[NUM_KINDS] = {0};
  for (int i = 0; i < SOUPS; ++i) {
    soup m;
    loom_err err = {0};
    int64_t total = -1;
    const int kind = i % NUM_KINDS;
    make_soup(&s, kind, &m);
    int64_t count = sort_unique_pairs(want, find_soup_crossings(&m, 0, m.nt, 0, m.nt, -1, 0, want));
    cr_assert_eq(isect_mesh(&err, m.x, m.nv, m.tris, m.nt, 1 + i % 3, have, MAX_PAIRS, &total),
                 LOOM_OK, "%s", err.text);
    compare_lists(count, total, kind, i, "one mesh");
    met[kind] += count;

    /* a third of the triangles as the mesh, the others as two bodies on the same vertices */
    const int third = m.nt / 3, rest = m.nt - 2 * third;
    const isect_surface a = {.x = m.x, .n = m.nv, .tris = m.tris, .nt = third};
    const isect_surface b[2] = {
        {.x = m.x, .n = m.nv, .tris = m.tris + 3 * (size_t)third, .nt = third},
        {.x = m.x, .n = m.nv, .tris = m.tris + 6 * (size_t)third, .nt = rest}};
    count = find_soup_crossings(&m, 0, third, 0, third, -1, 0, want);
    count += find_soup_crossings(&m, 0, third, third, third, 0, 0, want + count);
    count += find_soup_crossings(&m, third, third, 0, third, 0, 1, want + count);
    count += find_soup_crossings(&m, 0, third, 2 * third, rest, 1, 0, want + count);
    count += find_soup_crossings(&m, 2 * third, rest, 0, third, 1, 1, want + count);
    count = sort_unique_pairs(want, count);
    cr_assert_eq(isect_scene(&err, &a, b, 2, 1 + i % 3, have, 2 * MAX_PAIRS, &total), LOOM_OK);
    compare_lists(count, total, kind, i, "mesh and bodies");
  }
  for (int kind = 0; kind < NUM_KINDS; ++kind)
    cr_expect(met[kind] > SOUPS / NUM_KINDS, "kind %d: only %d pairs", kind, (int)met[kind]);
}

Test(audit, the_first_pairs_do_not_depend_on_the_room)
{
  uint64_t s = 12;
  soup m;
  loom_err err = {0};
  int64_t all = -1, total = -1;
  do {
    make_soup(&s, GRID_ALIGNED, &m);
    cr_assert_eq(isect_mesh(&err, m.x, m.nv, m.tris, m.nt, 2, want, MAX_PAIRS, &all), LOOM_OK);
  } while (all < 200);
  for (int64_t room = 0; room <= all; ++room) {
    memset(have, 0, sizeof have);
    cr_assert_eq(isect_mesh(&err, m.x, m.nv, m.tris, m.nt, 2, have, room, &total), LOOM_OK);
    cr_expect_eq(total, all);
    cr_expect_eq(memcmp(have, want, (size_t)room * sizeof *have), 0, "room %d", (int)room);
  }
}

/* A fan: its middle has more sides than are looked through one by one. */
Test(audit, a_vertex_of_many_triangles)
{
  enum { N = 36 };
  static const double spike[9] = {0.5, 0.01, -1, 0.5, 0.01, 1, 9, 9, 1};
  soup m = {.nv = N + 4, .nt = N + 1};
  loom_err err = {0};
  int64_t total = -1;
  for (int i = 0; i < N; ++i) {
    const int32_t t[3] = {0, 1 + i, 1 + (i + 1) % N};
    m.x[3 * i + 3] = cos(6.283 * i / N);
    m.x[3 * i + 4] = sin(6.283 * i / N);
    memcpy(m.tris + 3 * i, t, sizeof t);
  }
  for (int c = 0; c < 3; ++c) m.tris[3 * N + c] = N + 1 + c;
  memcpy(m.x + 3 * (N + 1), spike, sizeof spike);
  const int64_t count =
      sort_unique_pairs(want, find_soup_crossings(&m, 0, m.nt, 0, m.nt, -1, 0, want));
  cr_assert_eq(isect_mesh(&err, m.x, m.nv, m.tris, m.nt, 1, have, MAX_PAIRS, &total), LOOM_OK);
  compare_lists(count, total, 0, 0, "fan");
  cr_expect_gt(count, 3);
}

Test(audit, bodies_are_placed_by_their_pose)
{
  const double pose[12] = {0, -1, 0, 1, 0, 0, 0, 0, 1, 5, 6, 7};
  const double x[6] = {1, 2, 3, -1, 0, 0.5};
  double y[6];
  isect_place(pose, x, 2, y);
  const double placed[6] = {3, 7, 10, 5, 5, 7.5};
  cr_expect_arr_eq(y, placed, sizeof y);
}

/* Ended early, the findings are the same for every number of threads. */
Test(audit, enough_is_enough)
{
  enum {
    COPIES = 40,
    SIDE = 12,
    V = COPIES * SIDE * SIDE,
    T = COPIES * 2 * (SIDE - 1) * (SIDE - 1)
  };
  static double x[3 * V];
  static int32_t tris[3 * T];
  int32_t *t = tris;
  for (int v = 0; v < V; ++v)
    for (int c = 0; c < 2; ++c) x[3 * v + c] = c ? v / SIDE % SIDE : v % SIDE;
  for (int s = 0; s < COPIES; ++s)
    for (int i = 0; i + 1 < SIDE; ++i)
      for (int j = 0; j + 1 < SIDE; ++j) {
        const int32_t a = (s * SIDE + i) * SIDE + j;
        const int32_t two[6] = {a, a + 1, a + SIDE, a + 1, a + SIDE + 1, a + SIDE};
        memcpy(t, two, sizeof two);
        t += 6;
      }
  const isect_surface m = {.x = x, .n = V, .tris = tris, .nt = T};
  isect_pair pairs[2][50];
  int64_t total[2];
  loom_err err = {0};
  memset(pairs, 0, sizeof pairs);
  for (int k = 0; k < 2; ++k)
    cr_assert_eq(isect_scene_upto(&err, &m, NULL, 0, 1 + 2 * k, 1000, pairs[k], 50, &total[k]),
                 LOOM_OK, "%s", err.text);
  cr_expect_eq(total[0], total[1]);
  cr_expect(total[0] >= 1000 && total[0] < 1000000, "%lld", (long long)total[0]);
  cr_expect_eq(memcmp(pairs[0], pairs[1], sizeof pairs[0]), 0);
}

/* ---- pairs that are left out ---- */

/* Three triangles in a row through the plane of a fourth: listed vertices are left out, and no
 * more, in one mesh and with a body, standing and on the way. */
Test(audit, listed_vertices_are_left_out)
{
  static const int32_t tris[12] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11};
  double x[36] = {-1, -1, 0, 9, -1, 0, 4, 9, 0};
  loom_err err = {0};
  isect_pair pairs[16];
  int64_t all, total;
  for (int t = 1; t < 4; ++t)
    for (int c = 0; c < 3; ++c) {
      x[9 * t + 3 * c] = 2 * t;
      x[9 * t + 3 * c + 1] = c == 2 ? 1 : 0;
      x[9 * t + 3 * c + 2] = c == 1 ? -1 : 1;
    }
  int32_t list[8] = {4, 0, 0, 4, 5, 5, 0, 4}; /* one pair, thrice; one of a vertex with itself */
  isect_left_out l = {0};
  const int64_t num = isect_settle_pairs(list, 4);
  cr_assert_eq(num, 1);
  cr_assert(list[0] == 0 && list[1] == 4);
  cr_assert_eq(isect_left_out_make(&err, 12, list, num, &l), LOOM_OK, "%s", err.text);
  cr_expect(isect_is_left_out(&l, 0, 4) && isect_is_left_out(&l, 4, 0));
  cr_expect(!isect_is_left_out(&l, 0, 5) && !isect_is_left_out(&l, 4, 4));
  isect_surface m = {.x = x, .n = 12, .tris = tris, .nt = 4};
  cr_assert_eq(isect_scene(&err, &m, NULL, 0, 2, pairs, 16, &all), LOOM_OK);
  cr_expect_eq(all, 6, "%d", (int)all); /* two edges of each go through */
  m.left_out = &l;
  cr_assert_eq(isect_scene(&err, &m, NULL, 0, 2, pairs, 16, &total), LOOM_OK);
  cr_expect_eq(total, 4, "%d", (int)total);
  for (int64_t i = 0; i < total; ++i) cr_expect(pairs[i].edge[0] > 5);
  /* the three as a body, with ids behind the mesh's */
  isect_surface one = {.x = x, .n = 3, .tris = tris, .nt = 1, .left_out = &l};
  const isect_surface body = {.x = x + 9, .n = 9, .tris = tris, .nt = 3, .first_id = 3};
  cr_assert_eq(isect_scene(&err, &one, &body, 1, 1, pairs, 16, &total), LOOM_OK);
  cr_expect_eq(total, 4, "%d", (int)total);
  one.left_out = NULL;
  cr_assert_eq(isect_scene(&err, &one, &body, 1, 1, pairs, 16, &total), LOOM_OK);
  cr_expect_eq(total, 6, "%d", (int)total);
  isect_left_out_free(&l);
}
