/* test_bvtt_front.c - the front of plugins/collision/bvtt_front: after any earlier queries it
 * finds the same pairs as brute, to the bit; it tests only boxes that have moved; a step begins
 * with the front of a traversal from the root. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "leaves.h"
#include "support/day.h"
#include "support/mesh_case_faces.h"

/* ---- leaves ---- */

static void check_leaf(const mesh_faces *m, const leaf_set *s, int i, uint8_t *tri, uint8_t *edge,
                       uint8_t *vert)
{
  const int32_t *const p = s->corner + 4 * i, *const own = s->owned + 4 * i;
  const int t = p[3], body = i >= s->num_cloth;
  if (t >= 0) {
    cr_assert_eq(memcmp(p, m->tris + 3 * t, 3 * sizeof *p), 0);
    cr_assert_eq(body, t >= m->cloth_tris);
    ++tri[t];
  }
  for (int c = 0; c < 3; ++c) {
    if (own[3] >> c & 1) ++vert[p[c]];
    if (own[c] < 0) continue;
    const int32_t *const e = m->edges + 2 * own[c], a = p[c], b = p[(c + 1) % 3];
    cr_assert((e[0] == a && e[1] == b) || (e[0] == b && e[1] == a), "edge %d of leaf %d", c, i);
    cr_assert_eq(body, own[c] >= m->cloth_edges);
    ++edge[own[c]];
  }
}

/* Of triangles, of edges and of vertices that are in any each is in one leaf. */
static void check_leaves(int which)
{
  mesh_case c = mc_make(which);
  int32_t *tris, *edges;
  const mesh_faces m = mc_faces(&c, &tris, &edges);
  const int nv = m.num_verts, nt = m.num_tris, ne = m.num_edges;
  uint8_t *const seen = calloc((size_t)(nt + ne + nv) + 1, 1), *const used = calloc((size_t)nv, 1);
  leaf_set s;
  for (int i = 0; i < 3 * nt; ++i) used[tris[i]] = 1;
  for (int i = 0; i < 2 * ne; ++i) used[edges[i]] = 1;
  cr_assert(leaves_make(&m, &s));
  for (int i = 0; i < s.num; ++i) check_leaf(&m, &s, i, seen, seen + nt, seen + nt + ne);
  for (int i = 0; i < nt + ne; ++i) cr_assert_eq(seen[i], 1, "%s: %d", mc_scene_names[which], i);
  for (int i = 0; i < nv; ++i) cr_assert_eq(seen[nt + ne + i], used[i], "vertex %d", i);
  leaves_free(&s);
  free(tris), free(edges), free(seen), free(used);
  mc_free(&c);
}

Test(bvtt_front, every_edge_and_vertex_is_owned_once)
{
  for (int k = 0; k < MC_SCENES; ++k) check_leaves(k);
}

/* ---- queries in any order ---- */

enum { NUM_FRONTS = 2 };
#ifdef __SANITIZE_ADDRESS__
enum { ORDER = 3, LONG_ORDER = 10, LARGE_SHEET = 49 }; /* every access is checked, brute's too */
#else
enum { ORDER = 8, LONG_ORDER = 40, LARGE_SHEET = 97 };
#endif
static const char *const updates[NUM_FRONTS] = {"update=0 crowd=1e9", "update=1 crowd=1e9"};

typedef struct walk { /* a scene that goes on, seen by brute and by both ways to update */
  mc_host h;
  mc_plugin oracle, front[NUM_FRONTS];
  mesh_case c;
  uint64_t seed;
  loom_real *x0, *x1; /* [n][3] m, contents of b0 and b1 */
  loom_buf *mask;     /* u8 [n] */
} walk;

static int draw_walk_number(walk *w, int of)
{
  return (int)((1.0 + th_random(&w->seed)) * 0.5 * of) % of;
}

static void walk_open(walk *w, int which, uint64_t seed, int check)
{
  memset(w, 0, sizeof *w);
  w->seed = seed;
  w->c = mc_make(which);
  mc_open(&w->h, &w->c, 2, check);
  mc_plugin_open(&w->oracle, &w->h, "brute", "");
  for (int k = 0; k < NUM_FRONTS; ++k)
    mc_plugin_open(&w->front[k], &w->h, "bvtt_front", updates[k]);
  w->x0 = th_get(&w->h.t, w->h.b0);
  w->x1 = th_get(&w->h.t, w->h.b1);
  uint8_t *const mask = calloc((size_t)w->c.cloth.n, 1);
  for (int i = 0; i < w->c.cloth.n; ++i) mask[i] = i % 5 == 0;
  w->mask = th_buf(&w->h.t, LOOM_U8, w->c.cloth.n, mask);
  free(mask);
}

static void walk_close(walk *w)
{
  free(w->x0), free(w->x1);
  for (int k = 0; k < NUM_FRONTS; ++k) mc_plugin_close(&w->front[k]);
  mc_plugin_close(&w->oracle);
  mc_close(&w->h);
  mc_free(&w->c);
}

/* num vertices of x, from `first` on, by at most `size` */
static void shift_walk_vertices(walk *w, loom_real *x, loom_buf *b, int first, int num, double size)
{
  for (int i = 3 * first; i < 3 * (first + num); ++i)
    x[i] += (loom_real)(size * th_random(&w->seed));
  th_put(&w->h.t, b, x);
}

static void move_something(walk *w)
{
  const int n = w->c.cloth.n, few = n < 4 ? n : 1 + draw_walk_number(w, 4),
            first = draw_walk_number(w, n - few + 1);
  switch (draw_walk_number(w, 6)) {
  case 0:
    break; /* the same again */
  case 1:
  case 2:
    shift_walk_vertices(w, w->x1, w->h.b1, first, few, 0.02);
    break;
  case 3:
    shift_walk_vertices(w, w->x1, w->h.b1, first, few, 1e-9);
    break; /* less than boxes can tell */
  case 4:
    shift_walk_vertices(w, w->x0, w->h.b0, first, few, 0.02);
    break;
  default:
    shift_walk_vertices(w, w->x1, w->h.b1, 0, n, 0.01);
  }
}

static void ask_all(walk *w, const loom_query *q, int step)
{
  char text[80];
  mc_found want = mc_find(&w->oracle, q);
  for (int k = 0; k < NUM_FRONTS; ++k) {
    mc_found got = mc_find(&w->front[k], q);
    snprintf(text, sizeof text, "query %d, what %u, kinds %x, %s", step, q->what, q->kinds,
             updates[k]);
    mc_same(&want, &got, text);
    mc_drop(&got);
  }
  mc_drop(&want);
}

static void ask_pairs(walk *w, int step)
{
  static const uint32_t kinds[] = {LOOM_DETECT_CCD, LOOM_DETECT_CCD, LOOM_DETECT_PROXIMITY,
                                   LOOM_DETECT_OVERLAP, LOOM_DETECT_CCD | LOOM_DETECT_PROXIMITY};
  static const double margins[] = {0.02, 0.02, 0.03, -0.002};
  static const uint32_t of[] = {LOOM_PAIR_MASK_ALL, LOOM_PAIR_MASK_ALL, LOOM_PAIR_MASK_SELF,
                                LOOM_PAIR_MASK_OBSTACLE};
  loom_query q = mc_query(&w->h, kinds[draw_walk_number(w, 5)], margins[draw_walk_number(w, 4)]);
  q.kinds = of[draw_walk_number(w, 4)];
  q.progress0 = draw_walk_number(w, 3) == 0 ? 0.3 : 0.0;
  if (draw_walk_number(w, 4) == 0) q.mask = w->mask;
  ask_all(w, &q, step);
}

static loom_bound compute_front_bound(mc_plugin *p)
{
  mc_host *const h = p->h;
  loom_bound b = {.struct_size = sizeof b, .min_gap = 1e-4, .progress1 = 1.0, .blocker = -1};
  cr_assert_eq(p->p->ops.collision->max_step(p->self, &h->t.step, h->b0, h->b1, &b), LOOM_OK, "%s",
               h->t.err.text);
  return b;
}

static void ask_bound(walk *w, int step)
{
  const loom_bound want = compute_front_bound(&w->oracle);
  for (int k = 0; k < NUM_FRONTS; ++k) {
    const loom_bound got = compute_front_bound(&w->front[k]);
    cr_assert(got.t_global == want.t_global && got.blocker == want.blocker &&
                  got.touching == want.touching,
              "query %d, %s: %.17g, not %.17g", step, updates[k], got.t_global, want.t_global);
  }
}

static void compare_front_walks(int which, uint64_t seed, int queries, int check)
{
  walk w;
  walk_open(&w, which, seed, check);
  for (int k = 0; k < queries; ++k) {
    move_something(&w);
    for (int f = 0; f < NUM_FRONTS && k % 9 == 8; ++f) {
      const loom_collision_ops *const ops = w.front[f].p->ops.collision;
      cr_assert_eq(ops->begin_step(w.front[f].self, &w.h.t.step), LOOM_OK);
      if (k % 27 == 26) cr_assert_eq(ops->reset(w.front[f].self), LOOM_OK);
    }
    if (draw_walk_number(&w, 4) == 0)
      ask_bound(&w, k);
    else
      ask_pairs(&w, k);
  }
  walk_close(&w);
}

Test(bvtt_front, any_order_of_queries_equals_brute_to_the_bit)
{
  for (int k = 0; k < MC_SCENES; ++k) compare_front_walks(k, 1000 + (uint64_t)k, ORDER, 1);
}

Test(bvtt_front, long_orders_of_queries_with_bodies_and_loose_edges_equal_brute)
{
  test_of_the_night();
  compare_front_walks(MC_BODIES, 7, LONG_ORDER, 0);
  compare_front_walks(MC_OBJECTS, 8, LONG_ORDER, 0);
}

/* The front with bodies misses a query that is not for it, and sees later the vertices that moved
 * before. */
Test(bvtt_front, what_a_front_has_not_seen_waits_for_it)
{
  test_of_the_night();
  walk w;
  walk_open(&w, MC_BODIES, 5, 0);
  loom_query q = mc_query(&w.h, LOOM_DETECT_CCD, 0.0);
  for (int k = 0; k < 12; ++k) {
    q.kinds = LOOM_PAIR_MASK_ALL;
    ask_all(&w, &q, 3 * k);
    shift_walk_vertices(&w, w.x1, w.h.b1, 20 * k, 40, 0.1);
    q.kinds = k % 2 ? LOOM_PAIR_MASK_SELF : LOOM_PAIR_MASK_OBSTACLE;
    ask_all(&w, &q, 3 * k + 1);
    q.kinds = k % 2 ? LOOM_PAIR_MASK_OBSTACLE : LOOM_PAIR_MASK_SELF;
    ask_all(&w, &q, 3 * k + 2);
  }
  walk_close(&w);
}

/* ---- pairs that are tested ---- */

static double read_front_column(mc_plugin *p, const char *name)
{
  double out[16], value = NAN;
  for (int i = 0; i < 16; ++i) out[i] = NAN;
  cr_assert_eq(p->p->ops.collision->log_iter(p->self, &p->h->t.step, out), LOOM_OK);
  for (uint32_t i = 0; i < p->p->num_columns; ++i)
    if (strcmp(p->p->columns[i].name, name) == 0) value = out[i];
  return value;
}

/* Share of the front that a query for impacts tests. */
static double measure_front_share(mc_plugin *p, const loom_query *q)
{
  mc_found f = mc_find(p, q);
  mc_drop(&f);
  return read_front_column(p, "share");
}

static void check_front_shares(int which, double most)
{
  walk w;
  walk_open(&w, which, 3, 0);
  const loom_query q = mc_query(&w.h, LOOM_DETECT_CCD, 0.0);
  const loom_query near = mc_query(&w.h, LOOM_DETECT_PROXIMITY, 0.02);
  for (int k = 0; k < NUM_FRONTS; ++k)
    cr_expect_eq(measure_front_share(&w.front[k], &q), 1.0,
                 "the first query of a step tests everything");
  shift_walk_vertices(&w, w.x1, w.h.b1, w.c.cloth.n / 2, 2, 0.01);
  for (int k = 0; k < NUM_FRONTS; ++k)
    (void)measure_front_share(&w.front[k], &near); /* is another kind */
  const double some = measure_front_share(&w.front[0], &q),
               all = measure_front_share(&w.front[1], &q);
  cr_expect(some > 0.0 && some < most, "%s: %g of the front", mc_scene_names[which], some);
  cr_expect_eq(all, 1.0, "full: %g of the front", all);
  cr_expect_eq(measure_front_share(&w.front[0], &q), 0.0, "no vertex has moved");
  cr_assert_eq(w.front[0].p->ops.collision->begin_step(w.front[0].self, &w.h.t.step), LOOM_OK);
  cr_expect_eq(measure_front_share(&w.front[0], &q), 1.0, "a new step");
  walk_close(&w);
}

/* Two of 289, 441 and 549 vertices have about 12 triangles of 512, 800 and 960. */
Test(bvtt_front, only_what_has_moved_is_tested)
{
  check_front_shares(MC_BODIES, 0.15);
  check_front_shares(MC_CRUMPLED, 0.15);
  check_front_shares(MC_FOLDED, 0.15);
}

/* ---- a front is the one of a traversal from the root ---- */

Test(bvtt_front, a_step_begins_with_a_front_that_has_no_history)
{
  walk w;
  mc_plugin late;
  walk_open(&w, MC_BODIES, 11, 0);
  for (int step = 0; step < 5; ++step) {
    shift_walk_vertices(&w, w.x0, w.h.b0, 0, w.c.cloth.n, 0.01 + 0.03 * (step % 2));
    const loom_query q = mc_query(&w.h, LOOM_DETECT_PROXIMITY, step % 2 ? 0.05 : 0.01);
    mc_plugin_open(&late, &w.h, "bvtt_front", "");
    cr_assert_eq(w.front[0].p->ops.collision->begin_step(w.front[0].self, &w.h.t.step), LOOM_OK);
    (void)measure_front_share(&w.front[0], &q);
    (void)measure_front_share(&late, &q);
    cr_assert_eq(w.front[0].p->ops.collision->begin_step(w.front[0].self, &w.h.t.step), LOOM_OK);
    cr_assert_eq(late.p->ops.collision->begin_step(late.self, &w.h.t.step), LOOM_OK);
    mc_found a = mc_find(&w.front[0], &q), b = mc_find(&late, &q);
    const double front = read_front_column(&w.front[0], "front");
    cr_expect(front > 100.0 && front == read_front_column(&late, "front"), "step %d: %g pairs",
              step, front);
    mc_drop(&a), mc_drop(&b);
    mc_plugin_close(&late);
  }
  walk_close(&w);
}

/* Pairs of boxes for each triangle of a flat sheet do not become more with its size. */
static double front_of_sheet(int side)
{
  mc_host h;
  mc_plugin p;
  mesh_case c = {.seed = 5};
  (void)mc_add_sheet(&c, &(mc_object){.radius = 1e-4}, side, side, 0.1 * side, 0.1 * side, 0.0);
  mc_open(&h, &c, 1, 0);
  mc_plugin_open(&p, &h, "bvtt_front", "");
  const loom_query q = mc_query(&h, LOOM_DETECT_PROXIMITY, 0.01);
  mc_found f = mc_find(&p, &q);
  const double pairs = read_front_column(&p, "front") / c.cloth.nt;
  mc_drop(&f);
  mc_plugin_close(&p);
  mc_close(&h);
  mc_free(&c);
  return pairs;
}

Test(bvtt_front, the_front_is_linear_in_the_mesh)
{
  const double small = front_of_sheet(25), large = front_of_sheet(LARGE_SHEET);
  cr_expect(large < 1.3 * small && large < 40.0, "%g and %g pairs for each triangle", small, large);
}
