/* left_out.c - a collision plugin that announces LOOM_COLL_LEAVES_OUT neither reports the pairs
 * that the scene leaves out nor is stopped by them, and finds all others. */
#include <stdlib.h>

#include "contract/contract.h"
#include "scene/base/exclusions.h"

enum { PLACES = 64 }; /* vertex pairs that are listed */

typedef struct names { /* which pairs a query found, and their vertices */
  int64_t num;
  int32_t *kind, *v;
  uint64_t *key;
} names;

static names find_pair_names(ct_run *t, uint32_t what)
{
  run *const r = t->r;
  loom_query q = ct_query(r, what);
  loom_pairs *const p = &r->contact[0].pairs;
  q.x1 = r->st.trial;
  CT_ASSERT(detect_query(r, &r->contact[0], &q, p) == LOOM_OK, "%s", t->err.text);
  return (names){p->count, ct_copy(r, p->kind, p->count), ct_copy(r, p->v, 4 * p->count),
                 ct_copy(r, p->key, p->count)};
}

static void free_pair_names(names *f)
{
  free(f->kind);
  free(f->v);
  free(f->key);
}

/* Number of vertices in the first side of a pair of this kind; 0: it has no vertices to compare. */
static int first_side_count(int32_t kind)
{
  if (kind == LOOM_PAIR_EE || kind == LOOM_PAIR_BEE) return 2;
  return kind == LOOM_PAIR_VO || kind == LOOM_PAIR_EO || kind == LOOM_PAIR_YY ? 0 : 1;
}

static int is_listed(const isect_left_out *l, int32_t kind, const int32_t *v)
{
  const int split = first_side_count(kind);
  for (int i = 0; i < split; ++i)
    for (int j = split; j < 4; ++j)
      if (v[j] >= 0 && isect_is_left_out(l, v[i], v[j])) return 1;
  return 0;
}

/* Every PLACES-th pair gives one: a vertex of its first side and one of its second. */
static int64_t choose_left_out_pairs(const names *all, int32_t pairs[2 * PLACES])
{
  const int64_t step = all->num / PLACES + 1;
  int64_t num = 0;
  for (int64_t j = 0; j < all->num && num < PLACES; j += step) {
    const int split = first_side_count(all->kind[j]);
    if (split == 0) continue;
    pairs[2 * num] = all->v[4 * j];
    pairs[2 * num++ + 1] = all->v[4 * j + split];
  }
  return num;
}

/* The query finds the same pairs as before, except the pairs that the scene leaves out. */
static void compare_pair_names(ct_run *t, const char *what, const names *before, const names *after)
{
  const isect_left_out *const l = scene_left_out(t->r->scene, 1);
  int64_t at = 0, gone = 0;
  for (int64_t j = 0; j < before->num; ++j) {
    const int same =
        at < after->num && after->kind[at] == before->kind[j] && after->key[at] == before->key[j];
    const int listed = l != NULL && is_listed(l, before->kind[j], before->v + 4 * j);
    CT_ASSERT(same != listed, "%s: pair %lld of kind %d with vertices %d %d %d %d is %s", what,
              (long long)j, before->kind[j], before->v[4 * j], before->v[4 * j + 1],
              before->v[4 * j + 2], before->v[4 * j + 3],
              listed ? "reported, but listed" : "missing, but not listed");
    at += same;
    gone += listed;
  }
  CT_ASSERT(at == after->num, "%s: %lld pairs that were not there before", what,
            (long long)(after->num - at));
  CT_ASSERT((gone > 0) == (l != NULL), "%s: %lld pairs are listed, of %lld", what, (long long)gone,
            (long long)before->num);
}

/* The plugin anew, which sees the lists from create() on. */
static void recreate_collision(ct_run *t)
{
  instance *const in = &t->r->collision[0];
  ct_destroy(in);
  CT_OK(t, ct_create(in));
  if (in->plugin->ops.collision->begin_step != NULL)
    CT_OK(t, in->plugin->ops.collision->begin_step(in->self, &t->r->st));
}

/* Sets `trial` to x with the sheet moved by dz. */
static void move_to(ct_run *t, double dz)
{
  double *const x = ct_values(t->r, t->r->st.x, NULL);
  for (int64_t v = 0; v < buf_count(t->r->st.x) / 3; ++v) x[3 * v + 2] += dz;
  ct_set_values(t->r, t->r->st.trial, x);
  free(x);
}

static double query_max_step(ct_run *t)
{
  run *const r = t->r;
  loom_bound b = {
      .struct_size = sizeof b, .t_global = -1.0, .progress0 = 1, .progress1 = 1, .blocker = -1};
  CT_OK(t, r->collision[0].plugin->ops.collision->max_step(r->collision[0].self, &r->st, r->st.x,
                                                           r->st.trial, &b));
  return b.t_global;
}

/* Leaves out every vertex of the sheet with every vertex of the bodies, so that no pair can stop a
 * shift. */
static void leave_bodies_out(ct_run *t)
{
  const loom_scene *const sc = &t->r->scene->pub;
  const int64_t num = (int64_t)sc->num_verts * sc->num_body_verts;
  int32_t *const pairs = malloc(sizeof *pairs * 2 * (size_t)num + 1);
  CT_ASSERT(pairs != NULL, "out of memory");
  for (int64_t k = 0; k < num; ++k) {
    pairs[2 * k] = (int32_t)(k / sc->num_body_verts);
    pairs[2 * k + 1] = sc->num_verts + (int32_t)(k % sc->num_body_verts);
  }
  CT_OK(t, scene_leave_out(&t->err, t->r->scene, SCENE_AT_START, pairs, num));
  free(pairs);
}

static void check_bounds(ct_run *t)
{
  const loom_collision_ops *const o = t->r->collision[0].plugin->ops.collision;
  const uint32_t on_meshes = LOOM_BIT(LOOM_PAIR_BVT) | LOOM_BIT(LOOM_PAIR_BEE);
  if (!(o->provides & LOOM_COLL_STEP_GLOBAL) || !(o->pair_kinds & on_meshes)) return;
  move_to(t, -0.05);
  CT_OK(t, scene_leave_out(&t->err, t->r->scene, SCENE_AT_START, NULL, 0));
  const double before = query_max_step(t);
  CT_ASSERT(before < 0.5, "a way of 50 mm through a block is bounded by %g only", before);
  leave_bodies_out(t);
  const double after = query_max_step(t);
  CT_ASSERT(after == 1.0, "the bound is %g for pairs that are all left out", after);
}

void ct_collision_left_out(const ct_plugin *p)
{
  int32_t pairs[2 * PLACES];
  ct_run t;
  ct_collision_pose(&t, p);
  run *const r = t.r;
  const uint32_t provides = r->collision[0].plugin->ops.collision->provides;
  if (!(provides & LOOM_COLL_LEAVES_OUT)) {
    ct_close(&t);
    ct_skip("%s does not announce it: scenes that leave pairs out refuse it", p->name);
  }
  move_to(&t, -0.01);
  static const uint32_t queries[] = {LOOM_DETECT_PROXIMITY,
                                     LOOM_DETECT_PROXIMITY | LOOM_DETECT_CCD};
  for (int k = 0; k < 2; ++k) {
    if (k == 1 && !(provides & LOOM_COLL_CCD)) continue;
    CT_OK(&t, scene_leave_out(&t.err, r->scene, SCENE_AT_START, NULL, 0));
    recreate_collision(&t);
    names before = find_pair_names(&t, queries[k]);
    const int64_t num = choose_left_out_pairs(&before, pairs);
    CT_ASSERT(num > 0, "no pair was found");
    CT_OK(&t, scene_leave_out(&t.err, r->scene, SCENE_AT_START, pairs, num));
    recreate_collision(&t);
    names after = find_pair_names(&t, queries[k]);
    compare_pair_names(&t, "lists before create()", &before, &after);
    free_pair_names(&after);
    CT_OK(&t, scene_leave_out(&t.err, r->scene, SCENE_AT_START, NULL, 0)); /* all have parted */
    after = find_pair_names(&t, queries[k]);
    compare_pair_names(&t, "lists that became empty", &before, &after);
    free_pair_names(&after);
    CT_OK(&t, scene_leave_out(&t.err, r->scene, SCENE_AT_START, pairs, 1));
    after = find_pair_names(&t, queries[k]);
    compare_pair_names(&t, "lists that changed", &before, &after);
    free_pair_names(&after);
    free_pair_names(&before);
  }
  check_bounds(&t);
  ct_close(&t);
}
