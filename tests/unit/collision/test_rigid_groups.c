/* test_rigid_groups.c - detection among the triangles of one affine body, whose vertices follow the
 * same nodes: these pairs are left out before they are candidates, and no others are. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "loom/followers.h"
#include "support/mesh_case.h"

enum { NODES = 4, BALLS = 2, SHEET = 17 };

static const char *const plugins[] = {"brute", "patch_bvh", "bvtt_front", "spatial_hash"};
enum { NUM_PLUGINS = sizeof plugins / sizeof *plugins };

/* Balls of 4 control points and a surface each, and a sheet that the first one touches. */
typedef struct groups_case {
  mesh_case c;
  int first[BALLS]; /* vertex of the surface; 0: not in the scene */
  mc_host h;
  loom_followers followers;
  loom_extension extension;
} groups_case;

enum { BALL_0 = 1, BALL_1 = 2, WITH_SHEET = 4 }; /* parts of a scene */

/* gap: from the first ball to the second, m; < 0: they overlap */
static void make_balls(groups_case *g, int parts, double gap)
{
  static const double radius[BALLS] = {0.2, 0.1};
  const double at[BALLS][3] = {{0.4, 0.5, 0.2}, {0.7 + gap, 0.5, 0.2}};
  const mc_object thick = {.radius = 0.004};
  *g = (groups_case){.c = {.seed = 5}};
  if (parts & WITH_SHEET) {
    const int first = mc_add_sheet(&g->c, &thick, SHEET, SHEET, 1.0, 1.0, 0.0);
    mc_shake(&g->c, first, 0.01);
  }
  for (int k = 0; k < BALLS; ++k) {
    static const double corner[3 * NODES] = {1, 1, 1, 1, -1, -1, -1, 1, -1, -1, -1, 1};
    if (!(parts >> k & 1)) continue;
    (void)mc_add(&g->c, &thick, NODES, corner, 0, NULL);
    g->first[k] = mc_add_ball(&g->c, &thick, at[k], radius[k], 200);
  }
  mc_move(&g->c.cloth, &g->c.seed, 0.0, 0.01, -0.02, -0.03);
}

static int ends_at(const groups_case *g, int k)
{
  return k + 1 < BALLS && g->first[k + 1] > 0 ? g->first[k + 1] - NODES : g->c.cloth.n;
}

/* The ball that the vertex is on, -1: none. */
static int group_ball(const groups_case *g, int v)
{
  for (int k = 0; k < BALLS; ++k)
    if (g->first[k] > 0 && v >= g->first[k] && v < ends_at(g, k)) return k;
  return -1;
}

/* Puts the table of followers into the scene. */
static void tell_of_followers(groups_case *g)
{
  int m = 0;
  int32_t *const id = calloc((size_t)g->c.cloth.n, sizeof *id);
  int32_t *const first = calloc((size_t)g->c.cloth.n + 1, sizeof *first);
  int32_t *const node = calloc((size_t)g->c.cloth.n * NODES, sizeof *node);
  loom_real *const weight = calloc((size_t)g->c.cloth.n * NODES, sizeof *weight);
  cr_assert(id != NULL && first != NULL && node != NULL && weight != NULL);
  for (int v = 0; v < g->c.cloth.n; ++v) {
    if (group_ball(g, v) < 0) continue;
    id[m] = v;
    first[m + 1] = NODES * (m + 1);
    for (int a = 0; a < NODES; ++a) {
      node[NODES * m + a] = g->first[group_ball(g, v)] - NODES + a;
      weight[NODES * m + a] = (loom_real)(1.0 / NODES);
    }
    ++m;
  }
  g->followers = (loom_followers){.struct_size = sizeof g->followers,
                                  .count = m,
                                  .id = th_buf(&g->h.t, LOOM_I32, m, id),
                                  .first = th_buf(&g->h.t, LOOM_I32, m + 1, first),
                                  .node = th_buf(&g->h.t, LOOM_I32, NODES * m, node),
                                  .weight = th_buf(&g->h.t, LOOM_REAL, NODES * m, weight)};
  g->extension = (loom_extension){LOOM_FOLLOWERS, &g->followers};
  g->h.t.scene.extensions = &g->extension;
  g->h.t.scene.num_extensions = 1;
  free(id), free(first), free(node), free(weight);
}

/* Keeps the pairs that are not within one ball. */
static void leave_balls_out(const groups_case *g, mc_found *f)
{
  int64_t n = 0;
  for (int64_t i = 0; i < f->n; ++i) {
    const int k = group_ball(g, f->v[4 * i]);
    if (k >= 0 && k == group_ball(g, f->v[4 * i + 3])) continue;
    f->kind[n] = f->kind[i], f->obst[n] = f->obst[i], f->gap[n] = f->gap[i];
    f->toi[n] = f->toi[i], f->key[n] = f->key[i];
    memmove(f->v + 4 * n, f->v + 4 * i, 4 * sizeof *f->v);
    memmove(f->w + 4 * n, f->w + 4 * i, 4 * sizeof *f->w);
    memmove(f->normal + 3 * n, f->normal + 3 * i, 3 * sizeof *f->normal);
    memmove(f->point + 3 * n, f->point + 3 * i, 3 * sizeof *f->point);
    ++n;
  }
  f->n = n;
}

static mc_found find_with(groups_case *g, const char *name, uint32_t what)
{
  mc_plugin p;
  mc_plugin_open(&p, &g->h, name, "");
  const loom_query q = mc_query(&g->h, what, 0.05);
  const mc_found f = mc_find(&p, &q);
  mc_plugin_close(&p);
  return f;
}

static void compare_with_all_pairs(uint32_t what)
{
  groups_case g;
  make_balls(&g, BALL_0 | BALL_1 | WITH_SHEET, -0.02);
  mc_open(&g.h, &g.c, 2, 0);
  mc_found want = find_with(&g, "brute", what);
  const int64_t all = want.n;
  leave_balls_out(&g, &want);
  cr_assert(want.n > 20 && (want.n < all || what == LOOM_DETECT_OVERLAP), "%u: %lld of %lld pairs",
            what, (long long)want.n, (long long)all);
  tell_of_followers(&g);
  for (int k = 0; k < NUM_PLUGINS; ++k) {
    if (what == LOOM_DETECT_CCD && strcmp(plugins[k], "spatial_hash") == 0) continue;
    mc_found got = find_with(&g, plugins[k], what);
    mc_same(&want, &got, plugins[k]);
    mc_drop(&got);
  }
  mc_drop(&want);
  mc_close(&g.h);
  mc_free(&g.c);
}

Test(rigid_groups, only_pairs_within_a_body_are_left_out)
{
  compare_with_all_pairs(LOOM_DETECT_PROXIMITY);
  compare_with_all_pairs(LOOM_DETECT_OVERLAP);
}

/* ---- work ---- */

/* Elements of all launches of kernels with a name that begins so. */
static int64_t count_elements(const exec_watch *w, const char *begin)
{
  const exec_kernel *all;
  const int num = exec_watch_kernels(w, &all);
  int64_t sum = 0;
  for (int k = 0; k < num; ++k)
    if (strncmp(all[k].name, begin, strlen(begin)) == 0) sum += all[k].elements;
  return sum;
}

typedef struct work {
  int64_t candidates, leaf_pairs, box_pairs;
} work;

static work measure_work(int parts, int followers, const char *name)
{
  groups_case g;
  exec_watch *w;
  make_balls(&g, parts, -0.02);
  mc_open(&g.h, &g.c, 1, 0);
  if (followers) tell_of_followers(&g);
  cr_assert_eq(exec_watch_new(&g.h.t.err, g.h.t.m, &g.h.t.exec, &w), LOOM_OK);
  mc_found f = find_with(&g, name, LOOM_DETECT_PROXIMITY);
  const work out = {.candidates = count_elements(w, "mesh_close_"),
                    .leaf_pairs = count_elements(w, "patch_bvh_list_"),
                    .box_pairs = count_elements(w, "bvtt_front_test")};
  mc_drop(&f);
  mc_close(&g.h);
  exec_watch_free(w);
  mc_free(&g.c);
  return out;
}

Test(rigid_groups, a_body_alone_makes_no_work)
{
  for (int k = 0; k < NUM_PLUGINS; ++k) {
    const work all = measure_work(BALL_0, 0, plugins[k]);
    const work none = measure_work(BALL_0, 1, plugins[k]);
    cr_expect(all.candidates > 1000, "%s: %lld candidates without followers", plugins[k],
              (long long)all.candidates);
    cr_expect(none.candidates == 0 && none.leaf_pairs == 0 && none.box_pairs <= 1,
              "%s: %lld candidates, %lld pairs of leaves, %lld of boxes", plugins[k],
              (long long)none.candidates, (long long)none.leaf_pairs, (long long)none.box_pairs);
  }
}

/* The cells of spatial_hash, and so its candidates, depend on the mean edge of the scene. */
Test(rigid_groups, candidates_are_those_of_all_less_those_within_each_body)
{
  const int parts = BALL_0 | BALL_1 | WITH_SHEET;
  for (int k = 0; k < NUM_PLUGINS; ++k) {
    const work all = measure_work(parts, 0, plugins[k]);
    const work some = measure_work(parts, 1, plugins[k]);
    const int64_t own = measure_work(BALL_0, 0, plugins[k]).candidates +
                        measure_work(BALL_1, 0, plugins[k]).candidates;
    cr_expect(some.candidates > 0 && some.candidates < all.candidates);
    if (strcmp(plugins[k], "spatial_hash") != 0)
      cr_expect_eq(some.candidates, all.candidates - own, "%s lists %lld, not %lld less %lld",
                   plugins[k], (long long)some.candidates, (long long)all.candidates,
                   (long long)own);
    cr_expect(all.box_pairs == 0 || 3 * some.box_pairs < 2 * all.box_pairs,
              "%s tests %lld of %lld pairs of boxes", plugins[k], (long long)some.box_pairs,
              (long long)all.box_pairs);
  }
}

/* ---- step bounds ---- */

/* Each ball shrinks to a twentieth about its own centre: an affine map of each. */
static void shrink_balls(groups_case *g)
{
  for (int k = 0; k < BALLS; ++k) {
    const int top = g->first[k], bottom = ends_at(g, k) - 1;
    for (int c = 0; c < 3; ++c) {
      const double centre = 0.5 * (g->c.cloth.x0[3 * top + c] + g->c.cloth.x0[3 * bottom + c]);
      for (int v = g->first[k]; v < ends_at(g, k); ++v)
        g->c.cloth.x1[3 * v + c] = centre + 0.05 * (g->c.cloth.x0[3 * v + c] - centre);
    }
  }
}

static double group_bound(int followers, const char *name)
{
  groups_case g;
  mc_plugin p;
  make_balls(&g, BALL_0 | BALL_1, 0.05);
  shrink_balls(&g);
  mc_open(&g.h, &g.c, 1, 0);
  if (followers) tell_of_followers(&g);
  mc_plugin_open(&p, &g.h, name, "");
  loom_bound b = {.struct_size = sizeof b, .t_global = 1.0, .progress1 = 1.0};
  b.kinds = LOOM_PAIR_MASK_ALL;
  cr_assert_eq(p.p->ops.collision->max_step(p.self, &g.h.t.step, g.h.b0, g.h.b1, &b), LOOM_OK,
               "%s: %s", name, g.h.t.err.text);
  mc_plugin_close(&p);
  mc_close(&g.h);
  mc_free(&g.c);
  return b.t_global;
}

/* The map of a body keeps its surface from passing through itself, so its own pairs bound no step.
 */
Test(rigid_groups, a_body_does_not_bound_its_own_step)
{
  for (int k = 0; k < NUM_PLUGINS; ++k) {
    if (!(th_plugin(plugins[k], LOOM_KIND_COLLISION, plugins[k])->ops.collision->provides &
          LOOM_COLL_STEP_GLOBAL))
      continue;
    const double all = group_bound(0, plugins[k]), some = group_bound(1, plugins[k]);
    cr_expect(all < 1.0 && some >= 1.0, "%s: %g with all pairs, %g without those within a body",
              plugins[k], all, some);
  }
}
