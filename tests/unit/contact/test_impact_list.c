/* test_impact_list.c - impacts of one step as a list: pairs that are found again, in any round and
 * any order, are the same impacts; one that passes by is asked for more. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "contact/impact_zones/impacts.h"
#include "support/test_host.h"

enum { VERTS = 8, MOST = 2 };

typedef struct fixture {
  test_host t;
  impacts all;
  double x0[VERTS][3], x1[VERTS][3]; /* m */
} fixture;

/* Vertices 4 to 7 move up by 1 cm, the others stay. */
static void open_impact_list(fixture *f)
{
  memset(f, 0, sizeof *f);
  for (int i = 0; i < VERTS; ++i) {
    f->x0[i][0] = f->x1[i][0] = 0.1 * i;
    f->x1[i][2] = i < 4 ? 0.0 : 0.01;
  }
  th_open(&f->t, 2, 0);
  th_scene(&f->t, VERTS, &f->x0[0][0], NULL, NULL, 0);
  cr_assert_eq(impacts_new(&f->all, &f->t.host, &f->t.scene, &f->t.exec), LOOM_OK);
}

/* A round: pair k is the vertex 4 + key against three that stay, `gap` above them at the end. */
static void append_impact_round(fixture *f, int num, const uint64_t *key, const double *gap,
                                double clearance)
{
  test_host *const t = &f->t;
  int32_t kind[MOST], v[MOST][4];
  double w[MOST][4], n[MOST][3];
  for (int k = 0; k < num; ++k) {
    const int32_t corners[4] = {4 + (int32_t)key[k], 0, 1, 2};
    const double weights[4] = {1.0, -0.5, -0.25, -0.25}, up[3] = {0, 0, 1};
    kind[k] = LOOM_PAIR_VT;
    memcpy(v[k], corners, sizeof corners);
    memcpy(w[k], weights, sizeof weights);
    memcpy(n[k], up, sizeof up);
  }
  const loom_pairs pairs = {.struct_size = sizeof pairs,
                            .kinds = LOOM_BIT(LOOM_PAIR_VT),
                            .count = num,
                            .kind = th_buf(t, LOOM_I32, num, kind),
                            .v = th_buf(t, LOOM_I32, 4 * num, v),
                            .w = th_buf(t, LOOM_REAL, 4 * num, w),
                            .normal = th_buf(t, LOOM_REAL, 3 * num, n),
                            .gap = th_buf(t, LOOM_REAL, num, gap),
                            .key = th_buf(t, LOOM_U64, num, key)};
  loom_buf *const from = th_buf(t, LOOM_REAL, 3 * VERTS, f->x0), *const to =
                                                                     th_buf(t, LOOM_REAL, 3 * VERTS,
                                                                            f->x1);
  cr_assert_eq(impacts_take(&f->all, &t->step, &pairs, from, to, clearance, 0), LOOM_OK, "%s",
               t->err.text);
}

Test(impact_list, pairs_that_are_found_again_are_the_same_impacts)
{
  fixture f;
  open_impact_list(&f);
  /* keys of later rounds are lower than the present keys: the list is not ascending */
  append_impact_round(&f, 1, (uint64_t[]){3}, (double[]){-1e-3}, 0.0);
  append_impact_round(&f, 2, (uint64_t[]){1, 3}, (double[]){-2e-3, -3e-3}, 0.0);
  append_impact_round(&f, 1, (uint64_t[]){0}, (double[]){-4e-3}, 0.0);
  append_impact_round(&f, 2, (uint64_t[]){0, 3}, (double[]){-5e-3, -6e-3}, 0.0);
  append_impact_round(&f, 2, (uint64_t[]){1, 3}, (double[]){-7e-3, -8e-3}, 0.0);
  cr_assert_eq(f.all.m, 3);
  int32_t *const v = th_get(&f.t, f.all.v);
  uint64_t *const key = th_get(&f.t, f.all.key);
  double *const offset = th_get(&f.t, f.all.offset);
  /* in the order in which they came, each with the values found last */
  static const uint64_t keys[] = {3, 1, 0};
  static const double gaps[] = {-8e-3, -7e-3, -5e-3};
  for (int j = 0; j < 3; ++j) {
    cr_expect_eq(key[j], keys[j], "impact %d", j);
    cr_expect_eq(v[4 * j], 4 + (int32_t)keys[j], "impact %d", j);
    cr_expect_float_eq(offset[j], gaps[j] - 0.01, 1e-15, "impact %d: %g", j, offset[j]);
  }
  free(v), free(key), free(offset);
  th_close(&f.t);
}

/* A gap of 1 mm that was less at the start: no gap is missing, and no value would ever change. */
Test(impact_list, one_that_passes_by_is_asked_for_more)
{
  static const double gap[] = {1e-3};
  fixture f;
  open_impact_list(&f);
  append_impact_round(&f, 1, (uint64_t[]){2}, gap, 1e-6);
  double *target = th_get(&f.t, f.all.target);
  cr_expect_float_eq(target[0], 1e-6, 1e-15, "%g", target[0]);
  free(target);
  append_impact_round(&f, 1, (uint64_t[]){2}, gap, 1e-6);
  target = th_get(&f.t, f.all.target);
  cr_expect_float_eq(target[0], 1.1e-3, 1e-15, "%g", target[0]);
  free(target);
  /* where gaps are to keep their values, no more is asked */
  append_impact_round(&f, 1, (uint64_t[]){2}, gap, -INFINITY);
  target = th_get(&f.t, f.all.target);
  cr_expect_float_eq(target[0], 1e-3 - 0.01, 1e-15, "%g", target[0]);
  free(target);
  th_close(&f.t);
}

/* Vertex 5 and edge 5 have the same key against body 0, and are two impacts.  The edge's point is a
 * quarter of the way along, and the body has come up by 2 cm. */
Test(impact_list, an_edge_and_a_body_are_no_vertex_and_a_body)
{
  static const loom_real plane[4] = {0, 0, 1, -0.03};
  static const double axis[3] = {0, 0, 1}, up[3] = {0, 0, 0.02};
  const int32_t kind[2] = {LOOM_PAIR_VO, LOOM_PAIR_EO}, obst[2] = {0, 0};
  const int32_t v[2][4] = {{5, -1, -1, -1}, {4, 6, -1, -1}};
  const double w[2][4] = {{1, 0, 0, 0}, {0.75, 0.25, 0, 0}}, n[2][3] = {{0, 0, 1}, {0, 0, 1}};
  const double gap[2] = {-1e-3, -2e-3}, point[2][3] = {{0.5, 0, -0.01}, {0.45, 0, -0.01}};
  const uint64_t name[2] = {5, 5};
  fixture f;
  open_impact_list(&f);
  f.t.obstacles[0] = th_obstacle("plane", plane, 4);
  th_pose(f.t.obstacles[0].pose1, axis, 0, up);
  f.t.scene.num_obstacles = 1;
  for (int round = 0; round < 2; ++round) {
    const loom_pairs pairs = {.struct_size = sizeof pairs,
                              .kinds = LOOM_BIT(LOOM_PAIR_VO) | LOOM_BIT(LOOM_PAIR_EO),
                              .count = 2,
                              .kind = th_buf(&f.t, LOOM_I32, 2, kind),
                              .v = th_buf(&f.t, LOOM_I32, 8, v),
                              .obst = th_buf(&f.t, LOOM_I32, 2, obst),
                              .w = th_buf(&f.t, LOOM_REAL, 8, w),
                              .normal = th_buf(&f.t, LOOM_REAL, 6, n),
                              .gap = th_buf(&f.t, LOOM_REAL, 2, gap),
                              .point = th_buf(&f.t, LOOM_REAL, 6, point),
                              .key = th_buf(&f.t, LOOM_U64, 2, name)};
    loom_buf *const from = th_buf(&f.t, LOOM_REAL, 3 * VERTS, f.x0);
    loom_buf *const to = th_buf(&f.t, LOOM_REAL, 3 * VERTS, f.x1);
    cr_assert_eq(impacts_take(&f.all, &f.t.step, &pairs, from, to, -INFINITY, 0), LOOM_OK, "%s",
                 f.t.err.text);
    cr_assert_eq(f.all.m, 2, "round %d", round);
  }
  double *const weight = th_get(&f.t, f.all.w), *const target = th_get(&f.t, f.all.target);
  double *const was = th_get(&f.t, f.all.from);
  cr_expect(weight[4] == 0.75 && weight[5] == 0.25 && weight[6] == 0.0);
  /* cloth has gone up by 1 cm, the body by 2 cm: the gap has fallen by 1 cm */
  for (int j = 0; j < 2; ++j) {
    cr_expect_float_eq(target[j], gap[j] + 0.01, 1e-15, "impact %d: %g", j, target[j]);
    cr_expect_float_eq(was[3 * j + 2], -0.03, 1e-15, "impact %d: %g", j, was[3 * j + 2]);
  }
  free(weight), free(target), free(was);
  th_close(&f.t);
}
