/* test_rigid_pairs.c - pairs within an affine body that a collision plugin reports all the same:
 * the core leaves them out of a list in order, and of one that it sorts; memory of the sort. */
#include <criterion/criterion.h>
#include <stdlib.h>

#include "run/plugins/pairs.h"
#include "support/test_host.h"

enum { VERTS = 12, PAIRS = 7 };

/* objects 0: cloth, 1: an affine body, 2: cloth, 4 vertices each */
static const int32_t object[VERTS] = {0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2};
static const uint8_t rigid[3] = {0, 1, 0};

typedef struct row {
  int32_t kind, v[4];
  uint64_t key;
  int stays;
} row;

/* in order */
static const row rows[PAIRS] = {
    {LOOM_PAIR_VT, {0, 4, 5, 6}, 1, 1},    {LOOM_PAIR_VT, {4, 5, 6, 7}, 2, 0},
    {LOOM_PAIR_VT, {8, 9, 10, 11}, 3, 1},  {LOOM_PAIR_EE, {4, 5, 6, 7}, 4, 0},
    {LOOM_PAIR_EE, {6, 7, 8, 9}, 5, 1},    {LOOM_PAIR_VV, {4, 5, -1, -1}, 6, 0},
    {LOOM_PAIR_BVT, {4, 13, 14, 15}, 7, 1}};

static void put_rows(test_host *t, loom_pairs *p, const int *order)
{
  int32_t kind[PAIRS], v[4 * PAIRS];
  uint64_t key[PAIRS];
  for (int i = 0; i < PAIRS; ++i) {
    kind[i] = rows[order[i]].kind;
    key[i] = rows[order[i]].key;
    for (int c = 0; c < 4; ++c) v[4 * i + c] = rows[order[i]].v[c];
  }
  th_pairs_open(t, p, PAIRS);
  th_put(t, p->kind, kind);
  th_put(t, p->v, v);
  th_put(t, p->key, key);
  p->count = PAIRS;
  p->kinds = LOOM_PAIR_MASK_ALL;
}

static void check_rows(test_host *t, const loom_pairs *p)
{
  int n = 0;
  uint64_t *const key = th_get(t, p->key);
  int32_t *const v = th_get(t, p->v);
  for (int i = 0; i < PAIRS; ++i) {
    if (!rows[i].stays) continue;
    cr_assert(n < p->count, "pair %d is missing", i);
    cr_expect_eq(key[n], rows[i].key, "pair %d", i);
    for (int c = 0; c < 4; ++c) cr_expect_eq(v[4 * n + c], rows[i].v[c]);
    ++n;
  }
  cr_expect_eq(p->count, n);
  free(key), free(v);
}

static void drop_from(const int *order, int sorted)
{
  test_host t;
  loom_pairs p;
  th_open(&t, 1, 1);
  const pairs_rigid r = {th_buf(&t, LOOM_I32, VERTS, object), th_buf(&t, LOOM_U8, 3, rigid)};
  double within = 0.0;
  put_rows(&t, &p, order);
  cr_assert_eq(pairs_within_begin(t.m, &t.exec, &p, &r, 0), LOOM_OK);
  cr_assert_eq(exec_fetch(&t.err, &t.exec, 0, 1, &within), LOOM_OK);
  cr_expect_eq(within, 3.0);
  cr_assert_eq((sorted ? pairs_drop_rigid : pairs_sort)(t.m, &t.exec, &p, &r), LOOM_OK);
  check_rows(&t, &p);
  th_pairs_close(&t, &p);
  th_close(&t);
}

Test(rigid_pairs, they_are_left_out_of_both_kinds_of_lists)
{
  drop_from((const int[PAIRS]){0, 1, 2, 3, 4, 5, 6}, 1);
  drop_from((const int[PAIRS]){6, 3, 0, 5, 1, 4, 2}, 0);
}

/* Sorting a long list needs memory for keys, places and the largest of its arrays, not for a second
 * list. */
Test(rigid_pairs, a_list_is_sorted_without_a_second_one)
{
  enum { MANY = 20000 };
  test_host t;
  loom_pairs p;
  int32_t *const kind = malloc(MANY * sizeof *kind);
  uint64_t *const key = malloc(MANY * sizeof *key);
  loom_real *const gap = malloc(MANY * sizeof *gap);
  th_open(&t, 1, 0);
  for (int i = 0; i < MANY; ++i) {
    kind[i] = i % 2 ? LOOM_PAIR_VT : LOOM_PAIR_EE;
    key[i] = (uint64_t)(MANY - i);
    gap[i] = (loom_real)key[i];
  }
  th_pairs_open(&t, &p, MANY);
  loom_buf *const all[] = {p.v, p.obst, p.w, p.normal, p.point, p.toi};
  for (size_t k = 0; k < LOOM_COUNT(all); ++k) free(th_get(&t, all[k])); /* they have memory */
  th_put(&t, p.kind, kind);
  th_put(&t, p.key, key);
  th_put(&t, p.gap, gap);
  p.count = MANY;
  p.kinds = LOOM_PAIR_MASK_ALL;
  const int64_t before = mem_bytes(t.m, LOOM_AT_HOST);
  cr_assert_eq(pairs_sort(t.m, &t.exec, &p, &(pairs_rigid){.rigid = NULL}), LOOM_OK);
  const double more = (double)(mem_peak_bytes(t.m, LOOM_AT_HOST) - before);
  cr_expect(more < 0.6 * PAIR_BYTES * MANY, "%g bytes a pair", more / MANY);
  free(key), free(gap);
  uint64_t *const sorted = th_get(&t, p.key);
  loom_real *const far = th_get(&t, p.gap);
  for (int i = 0; i < MANY; ++i) {
    cr_assert(i == 0 || i == MANY / 2 || sorted[i] > sorted[i - 1], "place %d", i);
    cr_assert_eq(far[i], (loom_real)sorted[i], "place %d", i);
  }
  free(kind), free(sorted), free(far);
  th_pairs_close(&t, &p);
  th_close(&t);
}
