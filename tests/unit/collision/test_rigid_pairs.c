/* test_rigid_pairs.c - pairs within an affine body that a collision plugin reports all the same:
 * the core leaves them out of a list in order, and of one that it sorts. */
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
