/* test_path.c - passing pairs between two frames: known cases, ground truth, brute force. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "audit/isect_path.h"
#include "support/shared_data.h"

static const double TOL = 1e-9; /* m */

static uint64_t next_path_bits(uint64_t *s)
{
  uint64_t z = (*s += UINT64_C(0x9e3779b97f4a7c15));
  z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
  z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
  return z ^ (z >> 31);
}

static double next_path_uniform(uint64_t *s) { return (double)(next_path_bits(s) >> 11) * 0x1p-53; }

/* x [2][4][3] */
static int find_pass_time(int kind, double x[2][4][3], double *time)
{
  const double *const x0[4] = {x[0][0], x[0][1], x[0][2], x[0][3]};
  const double *const x1[4] = {x[1][0], x[1][1], x[1][2], x[1][3]};
  return isect_pass_pair(kind, x0, x1, TOL, time);
}

/* ---- known cases ---- */

Test(path, a_vertex_through_a_triangle)
{
  double x[2][4][3] = {{{1, 1, 1}, {0, 0, 0}, {4, 0, 0}, {0, 4, 0}},
                       {{1, 1, -3}, {0, 0, 0}, {4, 0, 0}, {0, 4, 0}}};
  double t = -1;
  cr_expect_eq(find_pass_time(ISECT_VT, x, &t), 1);
  cr_expect_float_eq(t, 0.25, 1e-9);
  x[1][0][2] = 1e-6; /* stops above */
  cr_expect_eq(find_pass_time(ISECT_VT, x, &t), 0);
  x[1][0][2] = 0; /* touches at the end */
  cr_expect_eq(find_pass_time(ISECT_VT, x, &t), 1);
  cr_expect_float_eq(t, 1, 1e-8);
  x[1][0][2] = -3;
  x[0][0][0] = x[1][0][0] = -1e-6; /* passes by */
  cr_expect_eq(find_pass_time(ISECT_VT, x, &t), 0);
  for (int k = 0; k < 2; ++k) x[k][0][0] = 0; /* over the edge, to the last bit */
  cr_expect_eq(find_pass_time(ISECT_VT, x, &t), 1);
}

Test(path, both_frames_are_clean_and_the_way_is_not)
{
  /* an edge that turns half around within the step sweeps past the other and back out */
  double x[2][4][3] = {{{-1, 0, 1}, {1, 0, 1}, {0, -1, 0}, {0, 1, 0}},
                       {{-1, 0, -1}, {1, 0, -1}, {0, -1, 0}, {0, 1, 0}}};
  double t = -1;
  cr_expect_eq(find_pass_time(ISECT_EE, x, &t), 1);
  cr_expect_float_eq(t, 0.5, 1e-9);
  x[0][2][0] = x[0][3][0] = x[1][2][0] = x[1][3][0] = 1 + 1e-6; /* beside its end */
  cr_expect_eq(find_pass_time(ISECT_EE, x, &t), 0);
}

Test(path, coplanar_and_standing_still)
{
  double e[2][4][3] = {{{0, 0, 0}, {2, 0, 0}, {3, -1, 0}, {3, 1, 0}},
                       {{2, 0, 0}, {4, 0, 0}, {3, -1, 0}, {3, 1, 0}}}; /* slides in its plane */
  double t = -1;
  cr_expect_eq(find_pass_time(ISECT_EE, e, &t), 1);
  cr_expect_float_eq(t, 0.5, 1e-8);
  double still[2][4][3] = {{{1, 1, 0}, {0, 0, 0}, {4, 0, 0}, {0, 4, 0}},
                           {{1, 1, 0}, {0, 0, 0}, {4, 0, 0}, {0, 4, 0}}};
  cr_expect_eq(find_pass_time(ISECT_VT, still, &t), 1);
  cr_expect_eq(t, 0);
  still[0][0][2] = still[1][0][2] = 1e-7;
  cr_expect_eq(find_pass_time(ISECT_VT, still, &t), 0);
}

/* ---- made to pass ---- */

/* Two points that coincide at time s, carried by a triangle or two edges in random motion:
 * a miss would be a false negative. */
Test(path, made_passes_are_never_missed)
{
  enum { CASES = 4000 };
  uint64_t s = 5;
  int unsure = 0;
  for (int i = 0; i < CASES; ++i) {
    const int kind = i % 2, time_kind = i / 2 % 3;
    const double far_off = i % 5 == 4 ? 100.0 : 0.0, size = i % 7 == 6 ? 1e-3 : 1.0;
    double x[2][4][3], w[4], t = time_kind == 0 ? 0 : time_kind == 1 ? 1 : next_path_uniform(&s);
    for (int k = 0; k < 24; ++k)
      x[k / 12][k / 3 % 4][k % 3] = far_off + size * next_path_uniform(&s);
    const double u = next_path_uniform(&s),
                 v = kind == ISECT_VT ? (1 - u) * next_path_uniform(&s) : next_path_uniform(&s);
    if (kind == ISECT_VT)
      w[0] = 1, w[1] = u + v - 1, w[2] = -u, w[3] = -v;
    else
      w[0] = 1 - u, w[1] = u, w[2] = v - 1, w[3] = -v;
    /* shift the first one's end positions by the vector that separates the points at time t */
    const int split = kind == ISECT_VT ? 1 : 2, end = t > 0.5;
    for (int c = 0; c < 3; ++c) {
      double f = 0;
      for (int a = 0; a < 4; ++a) f += w[a] * ((1 - t) * x[0][a][c] + t * x[1][a][c]);
      for (int a = 0; a < split; ++a) x[end][a][c] -= f / (end ? t : 1 - t);
    }
    double found = -1;
    const double *const x0[4] = {x[0][0], x[0][1], x[0][2], x[0][3]};
    const double *const x1[4] = {x[1][0], x[1][1], x[1][2], x[1][3]};
    const int r = isect_pass_pair(kind, x0, x1, TOL, &found);
    unsure += r == 2;
    /* a pass at the very start or end may be lost to the rounding of this construction */
    if (time_kind == 2) cr_expect_neq(r, 0, "case %d, kind %d, time %g", i, kind, t);
    if (r == 1) cr_expect(found <= t + 1e-6, "case %d: first at %g, made at %g", i, found, t);
  }
  cr_expect(unsure < CASES / 200, "%d unsure", unsure);
}

/* ---- ground truth ---- */

typedef struct truth_count {
  int queries, hits, missed, extra, unsure;
} truth_count;

/* A quotient of whole numbers that is a double (all of the files are). */
static double parse_quotient(const char *num, const char *den)
{
  return strtod(num, NULL) / strtod(den, NULL);
}

static void read_truth(const char *path, int kind, truth_count *n)
{
  char line[1024];
  double x[2][4][3];
  FILE *const f = fopen(path, "r");
  cr_assert(f != NULL, "%s", path);
  for (int row = 0; fgets(line, sizeof line, f) != NULL; ++row) {
    char *word[7], *save = NULL;
    for (int k = 0; k < 7; ++k) word[k] = strtok_r(k == 0 ? line : NULL, ",\n", &save);
    cr_assert(word[6] != NULL, "%s: row %d", path, row);
    for (int c = 0; c < 3; ++c) {
      cr_assert(fabs(strtod(word[2 * c], NULL)) < 0x1p1000);
      x[row / 4 % 2][row % 4][c] = parse_quotient(word[2 * c], word[2 * c + 1]);
    }
    if (row % 8 != 7) continue;
    double t;
    const int truth = atoi(word[6]), r = find_pass_time(kind, x, &t);
    n->queries++;
    n->hits += truth;
    n->missed += truth && r == 0;
    n->extra += !truth && r != 0;
    n->unsure += r == 2;
  }
  fclose(f);
}

Test(path, public_queries_have_no_false_negative)
{
  static const char *const files[] = {
      "unit-tests/%s/data_0_0.csv", "unit-tests/%s/data_0_1.csv", "erleben-spikes/%s/data_0_0.csv",
      "erleben-spikes/%s/data_0_1.csv", "erleben-spike-hole/%s/data_0_0.csv"};
  static const char *const names[] = {"vertex-face", "edge-edge"};
  char root[1024];
  if (!shared_data("ccd/README.md", root, sizeof root))
    cr_skip_test("SKIP: the public collision queries are not there (ccd in the shared data)");
  root[strlen(root) - strlen("/README.md")] = '\0';
  truth_count n = {0};
  for (int kind = 0; kind < 2; ++kind)
    for (size_t k = 0; k < sizeof files / sizeof *files; ++k) {
      char name[256], path[2048];
      snprintf(name, sizeof name, files[k], names[kind]);
      snprintf(path, sizeof path, "%s/%s", root, name);
      read_truth(path, kind, &n);
    }
  printf("%d queries, %d pass; missed %d, extra %d, unsure %d\n", n.queries, n.hits, n.missed,
         n.extra, n.unsure);
  cr_expect_gt(n.queries, 3000);
  cr_expect_eq(n.missed, 0);
}

/* ---- meshes ----
 */

enum { NV = 24, NT = 12, MAX_PASSES = 4000 };

typedef struct moving {
  double x[3 * NV], y[3 * NV];
  int32_t tris[3 * NT];
} moving;

/* Triangles with common vertices that move by `far` at most. */
static void make_moving(uint64_t *s, double far_off, moving *m)
{
  for (int i = 0; i < 3 * NV; ++i) {
    m->x[i] = next_path_uniform(s);
    m->y[i] = m->x[i] + far_off * (next_path_uniform(s) - 0.5);
  }
  for (int t = 0; t < NT; ++t)
    for (int c = 0; c < 3; ++c) m->tris[3 * t + c] = (2 * t + c * (1 + t % 3)) % NV;
}

static isect_pass want[MAX_PASSES], have[MAX_PASSES];

static int pass_order(const void *a, const void *b)
{
  const isect_pass *const p = a, *const q = b;
  const int32_t u[7] = {p->body, p->kind, p->side, p->v[0], p->v[1], p->v[2], p->v[3]};
  const int32_t w[7] = {q->body, q->kind, q->side, q->v[0], q->v[1], q->v[2], q->v[3]};
  for (int i = 0; i < 7; ++i)
    if (u[i] != w[i]) return u[i] < w[i] ? -1 : 1;
  return 0;
}

static int64_t add_pass(const moving *m, int kind, int body, int side, const int32_t v[4],
                        int64_t n)
{
  const double *x0[4], *x1[4];
  const int split = kind == ISECT_VT ? 1 : 2;
  isect_pass p = {.kind = kind, .body = body, .side = side, .v = {v[0], v[1], v[2], v[3]}};
  for (int i = 0; i < 4; ++i) x0[i] = m->x + 3 * v[i], x1[i] = m->y + 3 * v[i];
  for (int i = 0; i < split && body < 0; ++i)
    for (int j = split; j < 4; ++j)
      if (v[i] == v[j]) return n;
  p.unsure = isect_pass_pair(kind, x0, x1, TOL, &p.time);
  if (p.unsure == 0) return n;
  p.unsure -= 1;
  cr_assert(n < MAX_PASSES);
  want[n] = p;
  return n + 1;
}

/* Triangles [0, na) against [b0, b0 + nb), all vertices and edges of both. */
static int64_t find_passing_pairs(const moving *m, int na, int b0, int nb, int body, int64_t n)
{
  for (int a = 0; a < na; ++a)
    for (int b = b0; b < b0 + nb; ++b) {
      const int32_t *const s = m->tris + 3 * a, *const t = m->tris + 3 * b;
      for (int c = 0; c < 3; ++c) {
        const int32_t vt[4] = {s[c], t[0], t[1], t[2]}, tv[4] = {t[c], s[0], s[1], s[2]};
        n = add_pass(m, ISECT_VT, body, 0, vt, n);
        if (body >= 0) n = add_pass(m, ISECT_VT, body, 1, tv, n);
        for (int d = 0; d < 3; ++d) {
          const int32_t e[4] = {s[c], s[(c + 1) % 3], t[d], t[(d + 1) % 3]};
          const int32_t f[4] = {e[0] < e[1] ? e[0] : e[1], e[0] < e[1] ? e[1] : e[0],
                                e[2] < e[3] ? e[2] : e[3], e[2] < e[3] ? e[3] : e[2]};
          if (body < 0 && (f[0] > f[2] || (f[0] == f[2] && f[1] >= f[3]))) continue;
          n = add_pass(m, ISECT_EE, body, 0, f, n);
        }
      }
    }
  return n;
}

static int64_t sort_unique_passes(int64_t n)
{
  int64_t unique = 0;
  qsort(want, (size_t)n, sizeof *want, pass_order);
  for (int64_t i = 0; i < n; ++i)
    if (i == 0 || pass_order(want + i, want + unique - 1) != 0) want[unique++] = want[i];
  return unique;
}

Test(path, meshes_agree_with_brute_force)
{
  uint64_t s = 6;
  int64_t all = 0;
  for (int i = 0; i < 24; ++i) {
    moving m;
    loom_err err = {0};
    int64_t total = -1;
    make_moving(&s, i % 3 == 0 ? 2.0 : 0.1, &m);
    int64_t count = sort_unique_passes(find_passing_pairs(&m, NT, 0, NT, -1, 0));
    const isect_surface one = {.x = m.x, .x_end = m.y, .n = NV, .tris = m.tris, .nt = NT};
    cr_assert_eq(isect_path(&err, &one, NULL, 0, TOL, 1 + i % 3, have, MAX_PASSES, &total), LOOM_OK,
                 "%s", err.text);
    cr_assert_eq(total, count, "case %d: %d instead of %d", i, (int)total, (int)count);
    cr_assert_eq(memcmp(have, want, (size_t)count * sizeof *have), 0, "case %d", i);
    all += count;

    /* the last third as a body */
    const isect_surface mesh = {.x = m.x, .x_end = m.y, .n = NV, .tris = m.tris, .nt = 8},
                        body = {.x = m.x, .x_end = m.y, .n = NV, .tris = m.tris + 24, .nt = 4};
    count = sort_unique_passes(
        find_passing_pairs(&m, 8, 8, 4, 0, find_passing_pairs(&m, 8, 0, 8, -1, 0)));
    cr_assert_eq(isect_path(&err, &mesh, &body, 1, TOL, 1 + i % 3, have, MAX_PASSES, &total),
                 LOOM_OK);
    cr_assert_eq(total, count, "case %d: %d instead of %d", i, (int)total, (int)count);
    cr_assert_eq(memcmp(have, want, (size_t)count * sizeof *have), 0, "case %d", i);
  }
  cr_expect_gt(all, 500);
}

/* Where no pair is reported, the exact audit finds no change at any time in between. */
Test(path, what_is_not_reported_is_clean_at_all_times)
{
  uint64_t s = 7;
  int clean = 0;
  for (int i = 0; i < 1000; ++i) {
    moving m;
    loom_err err = {0};
    int64_t total = -1, start = -1;
    make_moving(&s, 0.02, &m);
    const isect_surface one = {.x = m.x, .x_end = m.y, .n = NV, .tris = m.tris, .nt = NT};
    cr_assert_eq(isect_path(&err, &one, NULL, 0, TOL, 1, NULL, 0, &total), LOOM_OK);
    if (total > 0) continue;
    cr_assert_eq(isect_mesh(&err, m.x, NV, m.tris, NT, 1, NULL, 0, &start), LOOM_OK);
    ++clean;
    for (int k = 1; k <= 16; ++k) {
      double at[3 * NV];
      for (int c = 0; c < 3 * NV; ++c) at[c] = m.x[c] + k / 16.0 * (m.y[c] - m.x[c]);
      cr_assert_eq(isect_mesh(&err, at, NV, m.tris, NT, 1, NULL, 0, &total), LOOM_OK);
      cr_assert_eq(total, start, "case %d: %d pairs at time %d/16, %d at 0", i, (int)total, k,
                   (int)start);
    }
  }
  cr_expect_gt(clean, 100, "only %d clean", clean);
}

/* A corner of one triangle passes through another one. */
Test(path, listed_vertices_are_left_out)
{
  static const int32_t tris[6] = {0, 1, 2, 3, 4, 5};
  const double x[18] = {0, 0, 0, 4, 0, 0, 0, 4, 0, 1, 1, 1, 1, 2, 3, 2, 1, 3};
  double y[18];
  loom_err err = {0};
  int64_t total = -1;
  for (int i = 0; i < 18; ++i) y[i] = x[i] - (i > 8 && i % 3 == 2 ? 1.5 : 0.0);
  const int32_t pair[2] = {1, 3}, other[2] = {1, 4};
  isect_left_out l = {0};
  isect_surface m = {.x = x, .x_end = y, .n = 6, .tris = tris, .nt = 2};
  cr_assert_eq(isect_path(&err, &m, NULL, 0, 1e-9, 1, NULL, 0, &total), LOOM_OK);
  cr_expect_eq(total, 1, "%d", (int)total);
  m.left_out = &l;
  cr_assert_eq(isect_left_out_make(&err, 6, other, 1, &l), LOOM_OK);
  cr_assert_eq(isect_path(&err, &m, NULL, 0, 1e-9, 1, NULL, 0, &total), LOOM_OK);
  cr_expect_eq(total, 1, "%d", (int)total); /* another vertex */
  cr_assert_eq(isect_left_out_make(&err, 6, pair, 1, &l), LOOM_OK);
  cr_assert_eq(isect_path(&err, &m, NULL, 0, 1e-9, 1, NULL, 0, &total), LOOM_OK);
  cr_expect_eq(total, 0, "%d", (int)total);
  isect_left_out_free(&l);
}
