/* test_collision_mesh.c - collision plugins for triangle meshes: brute against a loop written
 * here, the others against brute, to the bit. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "geom/distance.kern.h"
#include "support/mesh_case.h"

/* ---- brute against a loop ----
 */

typedef struct loop { /* pairs of a plain double loop */
  const mesh_case *c;
  const mc_found *f;
  double threshold, progress;
  int64_t num; /* pairs that stand in f */
} loop;

static int64_t lower_bound_of_key(const mc_found *f, int32_t kind, uint64_t key)
{
  int64_t lo = 0, hi = f->n;
  while (lo < hi) {
    const int64_t mid = (lo + hi) / 2;
    if (f->kind[mid] < kind || (f->kind[mid] == kind && f->key[mid] < key))
      lo = mid + 1;
    else
      hi = mid;
  }
  return lo < f->n && f->kind[lo] == kind && f->key[lo] == key ? lo : -1;
}

/* The record of a pair: gap, weights that give the closest points, unit normal along them. */
static void check_record(const loop *l, int64_t j, const mc_pair *p, const double *x, double d)
{
  const mc_found *const f = l->f;
  double r[3] = {0}, first = 0, second = 0, nn = 0, nr = 0, size = 0;
  for (int i = 0; i < 12; ++i) size = fmax(size, fabs(x[i] - x[i % 3]));
  const double tol = 1e-12 * (size + fabs(x[0]));
  cr_assert_eq(memcmp(f->v + 4 * j, p->v, sizeof p->v), 0);
  for (int i = 0; i < 4; ++i) {
    const double w = f->w[4 * j + i];
    const int one = i < p->split;
    cr_assert((one ? w : -w) > -1e-15 && (one ? w : -w) < 1 + 1e-15, "weight %d is %g", i, w);
    *(one ? &first : &second) += w;
    for (int c = 0; c < 3; ++c) r[c] += w * x[3 * i + c];
  }
  cr_assert(fabs(first - 1) < 1e-14 && fabs(second + 1) < 1e-14);
  for (int c = 0; c < 3; ++c) {
    nn += f->normal[3 * j + c] * f->normal[3 * j + c];
    nr += f->normal[3 * j + c] * r[c];
    cr_assert(f->point[3 * j + c] == 0);
  }
  cr_assert(fabs(nn - 1) < 1e-12, "normal of length %g", sqrt(nn));
  cr_assert(fabs(sqrt(r[0] * r[0] + r[1] * r[1] + r[2] * r[2]) - d) < tol);
  cr_assert(nr > d - tol - 1e-7 * size, "normal along %g of %g", nr, d);
  cr_assert(fabs(f->gap[j] - (d - p->radii)) < tol);
  cr_assert(f->toi[j] == 2.0);
  cr_assert_eq(f->obst[j], p->body);
}

static void append_loop_pair(void *user, const mc_pair *p)
{
  loop *const l = user;
  double x[12], y[12], w[4];
  mc_verts(l->c, p->v, 0.0, x);
  mc_verts(l->c, p->v, l->progress, y);
  for (int i = 0; i < 4; ++i) /* bodies alone have moved on */
    if (p->v[i] >= l->c->cloth.n) memcpy(x + 3 * i, y + 3 * i, 3 * sizeof *x);
  const double d = sqrt(p->split == 2 ? dist_ee(x, w) : dist_vt(x, w)), gap = d - p->radii;
  const int64_t j = lower_bound_of_key(l->f, p->kind, p->key);
  if (fabs(gap - l->threshold) > 1e-12 * (1.0 + fabs(x[0])))
    cr_assert_eq(j >= 0, gap < l->threshold, "kind %d, key %llx, gap %g: %s", p->kind,
                 (unsigned long long)p->key, gap, j >= 0 ? "found" : "missing");
  if (j < 0) return;
  check_record(l, j, p, x, d);
  ++l->num;
}

static void brute_is_the_loop(int which, uint32_t what, double margin, double progress)
{
  mc_host h;
  mc_plugin p;
  mesh_case c = mc_make(which);
  mc_open(&h, &c, 2, 1);
  mc_plugin_open(&p, &h, "brute", "");
  loom_query q = mc_query(&h, what, margin);
  q.progress0 = progress;
  mc_found f = mc_find(&p, &q);
  loop l = {.c = &c,
            .f = &f,
            .progress = progress,
            .threshold = what == LOOM_DETECT_OVERLAP ? 0.0 : margin};
  mc_each_pair(&c, append_loop_pair, &l);
  cr_assert_eq(l.num, f.n, "%s: %lld of %lld pairs exist", mc_scene_names[which], (long long)l.num,
               (long long)f.n);
  if (what == LOOM_DETECT_PROXIMITY && margin > 0.0 && which != MC_LONE) {
    cr_expect(f.n > 20, "%s: only %lld pairs", mc_scene_names[which], (long long)f.n);
    cr_expect_eq(f.grown, 1, "it asks once, for all the room it needs");
  }
  mc_drop(&f);
  mc_plugin_close(&p);
  mc_close(&h);
  mc_free(&c);
}

Test(collision_mesh, brute_finds_what_a_plain_loop_finds)
{
  for (int k = 0; k < MC_SCENES; ++k) {
    brute_is_the_loop(k, LOOM_DETECT_PROXIMITY, 0.01, 0.0);
    brute_is_the_loop(k, LOOM_DETECT_OVERLAP, 0.01, 0.0);
  }
  brute_is_the_loop(MC_OBJECTS, LOOM_DETECT_PROXIMITY, -0.002, 0.0);
  brute_is_the_loop(MC_BODIES, LOOM_DETECT_PROXIMITY, 0.01, 0.37);
}

/* ---- the others against brute ---- */

static const char *const others[] = {"patch_bvh", "bvtt_front", "spatial_hash"};
enum { NUM_OTHERS = sizeof others / sizeof *others };

static void compare_mesh_plugins(int which, uint32_t what, double margin, int check)
{
  mc_host h;
  mc_plugin oracle, p;
  mesh_case c = mc_make(which);
  mc_open(&h, &c, 2, check);
  mc_plugin_open(&oracle, &h, "brute", "");
  const loom_query q = mc_query(&h, what, margin);
  mc_found want = mc_find(&oracle, &q);
  for (int k = 0; k < NUM_OTHERS; ++k) {
    char text[80];
    snprintf(text, sizeof text, "%s: %s, %u, margin %g", mc_scene_names[which], others[k], what,
             margin);
    mc_plugin_open(&p, &h, others[k], "");
    if (p.p->ops.collision->provides & LOOM_COLL_CCD || !(what & LOOM_DETECT_CCD)) {
      mc_found got = mc_find(&p, &q);
      mc_same(&want, &got, text);
      mc_drop(&got);
    }
    mc_plugin_close(&p);
  }
  mc_drop(&want);
  mc_plugin_close(&oracle);
  mc_close(&h);
  mc_free(&c);
}

Test(collision_mesh, proximity_equals_brute_to_the_bit)
{
  static const double margins[] = {-0.002, 0.0, 0.003, 0.02, 0.06};
  for (int k = 0; k < MC_SCENES; ++k)
    for (size_t i = 0; i < sizeof margins / sizeof *margins; ++i)
      compare_mesh_plugins(k, LOOM_DETECT_PROXIMITY, margins[i], i == 2);
  compare_mesh_plugins(MC_LONE, LOOM_DETECT_PROXIMITY, 10.0, 0); /* everything */
  compare_mesh_plugins(MC_DEGENERATE, LOOM_DETECT_PROXIMITY, 10.0, 1);
}

Test(collision_mesh, overlap_equals_brute_to_the_bit)
{
  for (int k = 0; k < MC_SCENES; ++k) compare_mesh_plugins(k, LOOM_DETECT_OVERLAP, 0.0, 0);
}

/* ---- masks, excluded keys, kinds, room ---- */

static int64_t keep_rows(mc_found *f, const mesh_case *c, const uint8_t *mask, const uint64_t *drop,
                         int64_t num_drop, uint32_t kinds)
{
  int64_t n = 0;
  for (int64_t j = 0; j < f->n; ++j) {
    int marked = mask == NULL, dropped = 0;
    for (int i = 0; i < 4 && mask != NULL; ++i)
      marked |= f->v[4 * j + i] < c->cloth.n && mask[f->v[4 * j + i]];
    for (int64_t i = 0; i < num_drop; ++i) dropped |= drop[i] == f->key[j];
    if (!marked || dropped || !(kinds & LOOM_BIT(f->kind[j]))) continue;
    f->kind[n] = f->kind[j], f->key[n] = f->key[j], f->obst[n] = f->obst[j];
    f->gap[n] = f->gap[j], f->toi[n] = f->toi[j];
    memmove(f->v + 4 * n, f->v + 4 * j, 4 * sizeof *f->v);
    memmove(f->w + 4 * n, f->w + 4 * j, 4 * sizeof *f->w);
    memmove(f->normal + 3 * n, f->normal + 3 * j, 3 * sizeof *f->normal);
    memmove(f->point + 3 * n, f->point + 3 * j, 3 * sizeof *f->point);
    ++n;
  }
  return n;
}

static int compare_u64(const void *a, const void *b)
{
  const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
  return (x > y) - (x < y);
}

/* Every third key; both passes of the key family stay in order. */
static int64_t some_keys(const mc_found *f, uint64_t *out)
{
  int64_t n = 0;
  for (int64_t j = 0; j < f->n; j += 3) out[n++] = f->key[j];
  qsort(out, (size_t)n, sizeof *out, compare_u64);
  return n;
}

static void check_filtered_pairs(const char *name, int which, uint32_t kinds, int use_mask,
                                 int use_exclude)
{
  mc_host h;
  mc_plugin p;
  mesh_case c = mc_make(which);
  mc_open(&h, &c, 2, 1);
  mc_plugin_open(&p, &h, name, "");
  loom_query q = mc_query(&h, LOOM_DETECT_PROXIMITY, 0.07);
  mc_found all = mc_find(&p, &q);
  uint8_t *const mask = calloc((size_t)c.cloth.n, 1);
  uint64_t *const drop = calloc((size_t)all.n + 1, sizeof *drop);
  for (int i = 0; i < c.cloth.n; ++i) mask[i] = i % 7 == 0 || i > c.cloth.n - 10;
  const int64_t num = use_exclude ? some_keys(&all, drop) : 0;
  if (use_mask) q.mask = th_buf(&h.t, LOOM_U8, c.cloth.n, mask);
  if (use_exclude) q.exclude = th_buf(&h.t, LOOM_U64, num, drop);
  q.kinds = kinds;
  mc_found some = mc_find(&p, &q);
  const int64_t before = all.n;
  all.n = keep_rows(&all, &c, use_mask ? mask : NULL, drop, num, kinds);
  cr_expect(all.n > 0 && all.n < before, "%s: %lld of %lld", name, (long long)all.n,
            (long long)before);
  mc_same(&all, &some, name);
  free(mask), free(drop);
  mc_drop(&all), mc_drop(&some);
  mc_plugin_close(&p);
  mc_close(&h);
  mc_free(&c);
}

Test(collision_mesh, masks_excluded_keys_and_kinds_leave_out_what_they_name)
{
  for (int k = -1; k < NUM_OTHERS; ++k) {
    const char *const name = k < 0 ? "brute" : others[k];
    check_filtered_pairs(name, MC_BODIES, LOOM_PAIR_MASK_ALL, 1, 0);
    check_filtered_pairs(name, MC_BODIES, LOOM_PAIR_MASK_ALL, 0, 1);
    check_filtered_pairs(name, MC_OBJECTS, LOOM_PAIR_MASK_ALL, 1, 1);
    for (int kind = LOOM_PAIR_VT; kind <= LOOM_PAIR_BEE; ++kind)
      if (kind < LOOM_PAIR_VE || kind > LOOM_PAIR_YY)
        check_filtered_pairs(name, MC_BODIES, LOOM_BIT(kind), 0, 0);
  }
}

/* Pairs of other plugins stand in front and stay; pairs that do not fit are counted, not written.
 */
Test(collision_mesh, appends_behind_the_pairs_of_others)
{
  for (int k = -1; k < NUM_OTHERS; ++k) {
    mc_host h;
    mc_plugin p;
    loom_pairs out;
    mesh_case c = mc_make(MC_BODIES);
    mc_open(&h, &c, 2, 0);
    mc_plugin_open(&p, &h, k < 0 ? "brute" : others[k], "");
    const loom_query q = mc_query(&h, LOOM_DETECT_PROXIMITY, 0.02);
    mc_found all = mc_find(&p, &q);
    th_pairs_open(&h.t, &out, all.n + 4);
    int32_t *const mark = calloc((size_t)all.n + 4, sizeof *mark);
    for (int64_t i = 0; i < all.n + 4; ++i) mark[i] = 77;
    th_put(&h.t, out.kind, mark);
    out.count = 5;
    cr_assert_eq(p.p->ops.collision->detect(p.self, &h.t.step, &q, &out), LOOM_GROW);
    cr_expect_eq(out.count, 5 + all.n);
    int32_t *got = th_get(&h.t, out.kind);
    cr_expect_eq(memcmp(got, mark, (size_t)(all.n + 4) * sizeof *got), 0, "written past the room");
    free(got);
    out.count = 4;
    cr_assert_eq(p.p->ops.collision->detect(p.self, &h.t.step, &q, &out), LOOM_OK);
    got = th_get(&h.t, out.kind);
    for (int i = 0; i < 4; ++i) cr_expect_eq(got[i], 77, "pair %d is another plugin's", i);
    for (int64_t i = 4; i < out.count; ++i) cr_assert_neq(got[i], 77);
    free(got), free(mark);
    th_pairs_close(&h.t, &out);
    mc_drop(&all);
    mc_plugin_close(&p);
    mc_close(&h);
    mc_free(&c);
  }
}

/* ---- threads ---- */

/* Also the order of the list is the same, not only its contents. */
Test(collision_mesh, the_same_list_for_any_number_of_threads)
{
  static const int threads[] = {1, 2, 4};
  for (int k = -1; k < NUM_OTHERS; ++k) {
    uint64_t *first = NULL;
    loom_real *first_gap = NULL;
    int64_t count = -1;
    for (int i = 0; i < 3; ++i) {
      mc_host h;
      mc_plugin p;
      loom_pairs out;
      mesh_case c = mc_make(MC_FOLDED);
      mc_open(&h, &c, threads[i], 0);
      mc_plugin_open(&p, &h, k < 0 ? "brute" : others[k], "");
      th_pairs_open(&h.t, &out, 0);
      th_attach(&h.t, p.p, p.self);
      const loom_query q = mc_query(&h, LOOM_DETECT_PROXIMITY, 0.02);
      (void)th_detect(&h.t, &q, &out);
      uint64_t *const key = th_get(&h.t, out.key);
      loom_real *const gap = th_get(&h.t, out.gap);
      if (i == 0) {
        first = key, first_gap = gap, count = out.count;
        cr_expect(count > 1000);
      } else {
        cr_assert_eq(out.count, count);
        cr_assert_eq(memcmp(first, key, (size_t)count * sizeof *key), 0);
        cr_assert_eq(memcmp(first_gap, gap, (size_t)count * sizeof *gap), 0);
        free(key), free(gap);
      }
      th_pairs_close(&h.t, &out);
      mc_plugin_close(&p);
      mc_close(&h);
      mc_free(&c);
    }
    free(first), free(first_gap);
  }
}

/* ---- refusals ---- */

Test(collision_mesh, brute_refuses_what_is_too_large)
{
  mc_host h;
  mesh_case c = mc_make(MC_OBJECTS);
  void *self = NULL;
  mc_open(&h, &c, 1, 0);
  const loom_plugin *const p = th_plugin("brute", LOOM_KIND_COLLISION, "brute");
  void *const set = th_settings(p, "max_tests=1000");
  cr_expect_eq(p->ops.collision->create(&h.t.host, &h.t.scene, &h.t.exec, set, &self),
               LOOM_E_CONFIG);
  cr_expect(strstr(h.t.err.text, "max_tests = 1000") != NULL, "%s", h.t.err.text);
  p->ops.collision->destroy(self);
  free(set);
  mc_close(&h);
  mc_free(&c);
}

Test(collision_mesh, a_scene_without_triangles_has_no_pairs)
{
  for (int k = -1; k < NUM_OTHERS; ++k) {
    mc_host h;
    mc_plugin p;
    mesh_case c = {.seed = 1};
    const double x[6] = {0, 0, 0, 1, 0, 0};
    (void)mc_add_chain(&c, &(mc_object){.radius = 1.0}, 1, x);
    mc_open(&h, &c, 1, 1);
    mc_plugin_open(&p, &h, k < 0 ? "brute" : others[k], "");
    const loom_query q = mc_query(&h, LOOM_DETECT_PROXIMITY, 5.0);
    mc_found f = mc_find(&p, &q);
    cr_expect_eq(f.n, 0);
    mc_drop(&f);
    mc_plugin_close(&p);
    mc_close(&h);
    mc_free(&c);
  }
}

/* ---- a scene that goes on ---- */

/* Steps of a cloth that crumples more and more and is thrown about, bodies at some share of
 * their way; the tree is built once, or in every step. */
static void goes_on(const char *name, const char *values)
{
  mc_host h;
  mc_plugin oracle, p;
  mesh_case c = mc_make(MC_BODIES);
  mc_open(&h, &c, 2, 0);
  mc_plugin_open(&oracle, &h, "brute", "");
  mc_plugin_open(&p, &h, name, values);
  loom_real *const x = th_get(&h.t, h.b0);
  for (int step = 0; step < 4; ++step) {
    loom_query q = mc_query(&h, LOOM_DETECT_PROXIMITY, 0.05);
    q.progress0 = 0.3 * step;
    mc_found want = mc_find(&oracle, &q), got = mc_find(&p, &q);
    mc_same(&want, &got, values);
    cr_expect(want.n > 50, "step %d: %lld pairs", step, (long long)want.n);
    mc_drop(&want), mc_drop(&got);
    for (int i = 0; i < 3 * c.cloth.n; ++i)
      x[i] = (loom_real)(0.7 * x[i] + 0.3 * sin(9.0 * step + 5.0 * x[(i + 4) % (3 * c.cloth.n)]));
    th_put(&h.t, h.b0, x);
    cr_assert_eq(TH_CALL(p.p->ops.collision, begin_step, p.self, &h.t.step), LOOM_OK);
  }
  free(x);
  mc_plugin_close(&p);
  mc_plugin_close(&oracle);
  mc_close(&h);
  mc_free(&c);
}

Test(collision_mesh, steps_equal_brute_whether_the_tree_is_built_anew_or_not)
{
  goes_on("patch_bvh", "rebuild=1");
  goes_on("patch_bvh", "rebuild=1000000");
  goes_on("bvtt_front", "");
  goes_on("bvtt_front", "update=1");
  goes_on("spatial_hash", "");
  goes_on("spatial_hash", "cell=0.1 max_cells=8");
}

/* Coordinate `i` of the start (or of the end) is `value`: the query is an error that names the
 * vertex. */
static void far_away(const char *name, int bodies, int at_end, int i, double value)
{
  mc_host h;
  mc_plugin p;
  loom_bound bound;
  char vertex[32];
  mesh_case c = mc_make(bodies ? MC_BODIES : MC_LONE);
  mc_open(&h, &c, 1, 0);
  mc_plugin_open(&p, &h, name, "");
  const loom_collision_ops *const ops = p.p->ops.collision;
  cr_assert_eq(TH_CALL(ops, begin_step, p.self, &h.t.step), LOOM_OK);
  loom_buf *const b = at_end ? h.b1 : h.b0;
  loom_real *const x = th_get(&h.t, b);
  x[i] = (loom_real)value;
  th_put(&h.t, b, x);
  snprintf(vertex, sizeof vertex, "vertex %d ", i / 3);
  cr_expect_eq(ops->max_step(p.self, &h.t.step, h.b0, h.b1, &bound), LOOM_E_NUMERIC, "%s %g", name,
               value);
  cr_expect(strstr(h.t.err.text, vertex) != NULL, "%s %g: %s", name, value, h.t.err.text);
  cr_expect(strstr(h.t.err.text, at_end ? "ends" : "begins") != NULL, "%s", h.t.err.text);
  mem_release_maps(h.t.m);
  if (!at_end && strcmp(name, "patch_bvh") == 0 && ops->begin_step(p.self, &h.t.step) == LOOM_OK)
    cr_expect_fail("%s: %g at the start of a step", name, value);
  mem_release_maps(h.t.m);
  free(x);
  mc_plugin_close(&p);
  mc_close(&h);
  mc_free(&c);
}

/* Finite, too: floats end at 3.4e38, and boxes that are infinite meet empty slots. */
Test(collision_mesh, positions_that_no_box_can_hold_are_an_error)
{
  static const double values[] = {NAN, INFINITY, -INFINITY, 1e300, -1e39, 3.5e38, 1e35, -1.1e30};
  for (size_t k = 0; k < LOOM_COUNT(values); ++k)
    for (int at_end = 0; at_end < 2; ++at_end) {
      far_away("patch_bvh", 0, at_end, 4, values[k]);
      far_away("patch_bvh", 1, at_end, 17, values[k]);
      if (k % 3 == 0) far_away("brute", 0, at_end, 2, values[k]);
      if (k % 3 == 0) far_away("bvtt_front", 1, at_end, 17, values[k]);
    }
}

/* The furthest that is allowed still works. */
static void goes_far(const char *name)
{
  mc_host h;
  mc_plugin p;
  loom_bound bound;
  mesh_case c = mc_make(MC_BODIES);
  mc_open(&h, &c, 1, 0);
  mc_plugin_open(&p, &h, name, "");
  loom_real *const x = th_get(&h.t, h.b1);
  for (int i = 0; i < 3 * c.cloth.n; ++i)
    x[i] = (loom_real)((i % 2 ? 1 : -1) * (sizeof(loom_real) == 8 ? 1e30 : 1e15));
  th_put(&h.t, h.b1, x);
  cr_expect_eq(p.p->ops.collision->max_step(p.self, &h.t.step, h.b0, h.b1, &bound), LOOM_OK, "%s",
               h.t.err.text);
  mem_release_maps(h.t.m);
  free(x);
  mc_plugin_close(&p);
  mc_close(&h);
  mc_free(&c);
}

Test(collision_mesh, far_positions_are_found)
{
  goes_far("patch_bvh");
  goes_far("bvtt_front");
}

/* Cells of a primitive that spans the whole scene are counted without overflow. */
Test(collision_mesh, far_positions_are_hashed)
{
  mc_host h;
  mc_plugin p;
  mesh_case c = mc_make(MC_BODIES);
  mc_open(&h, &c, 1, 0);
  mc_plugin_open(&p, &h, "spatial_hash", "");
  loom_real *const x = th_get(&h.t, h.b0);
  for (int i = 0; i < 3 * c.cloth.n; ++i)
    x[i] = (loom_real)((i % 2 ? 1 : -1) * (sizeof(loom_real) == 8 ? 1e30 : 1e15));
  th_put(&h.t, h.b0, x);
  const loom_query q = mc_query(&h, LOOM_DETECT_PROXIMITY, 0.05);
  mc_found found = mc_find(&p, &q);
  mc_drop(&found);
  free(x);
  mc_plugin_close(&p);
  mc_close(&h);
  mc_free(&c);
}
