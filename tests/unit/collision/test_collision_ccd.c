/* test_collision_ccd.c - times of impact and step bounds of the collision plugins for triangle
 * meshes: brute against dense sampling of every pair, the others against brute, to the bit. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "geom/distance.kern.h"
#include "support/mesh_case.h"

enum { SAMPLES = 64 };
static const double KEEP = 0.1;
static const char *const others[] = {"patch_bvh", "bvtt_front"};
enum { NUM_OTHERS = sizeof others / sizeof *others };
static const char *const methods[] = {"ccd=0", "ccd=1", "ccd=2"};

static double mesh_pair_distance(const mesh_case *c, const mc_pair *p, double t)
{
  double x[12], w[4];
  mc_verts(c, p->v, t, x);
  return sqrt(p->split == 2 ? dist_ee(x, w) : dist_vt(x, w));
}

/* Largest displacement of a vertex of one side relative to one of the other: the distance
 * never falls by more. */
static double largest_pair_motion(const mesh_case *c, const mc_pair *p)
{
  double x[12], y[12], best = 0.0;
  mc_verts(c, p->v, 0.0, x);
  mc_verts(c, p->v, 1.0, y);
  for (int i = 0; i < p->split; ++i)
    for (int j = p->split; j < 4; ++j) {
      double q = 0.0;
      for (int k = 0; k < 3; ++k)
        q += pow(y[3 * i + k] - x[3 * i + k] - y[3 * j + k] + x[3 * j + k], 2);
      best = fmax(best, sqrt(q));
    }
  return best;
}

/* ---- impacts ---- */

typedef struct impacts {
  const mesh_case *c;
  const mc_found *f;
  int64_t num, hits;
} impacts;

static int64_t lower_bound_of_pair(const mc_found *f, const mc_pair *p)
{
  int64_t lo = 0, hi = f->n;
  while (lo < hi) {
    const int64_t mid = (lo + hi) / 2;
    if (f->kind[mid] < p->kind || (f->kind[mid] == p->kind && f->key[mid] < p->key))
      lo = mid + 1;
    else
      hi = mid;
  }
  return lo < f->n && f->kind[lo] == p->kind && f->key[lo] == p->key ? lo : -1;
}

/* gap of x1 along the normal at the impact */
static void check_impact(const impacts *s, int64_t j, const mc_pair *p)
{
  const mc_found *const f = s->f;
  double x[12], y[12], r[3] = {0}, nn = 0, nr = 0, gap = -p->radii;
  mc_verts(s->c, p->v, f->toi[j], x);
  mc_verts(s->c, p->v, 1.0, y);
  for (int c = 0; c < 3; ++c) {
    const double n = f->normal[3 * j + c];
    for (int i = 0; i < 4; ++i) {
      r[c] += f->w[4 * j + i] * x[3 * i + c];
      gap += n * f->w[4 * j + i] * y[3 * i + c];
    }
    nn += n * n;
    nr += n * r[c];
  }
  const double d = mesh_pair_distance(s->c, p, f->toi[j]);
  cr_assert(fabs(nn - 1) < 1e-12);
  cr_assert(nr > d - 1e-9, "%g of %g", nr, d);
  cr_assert(fabs(gap - f->gap[j]) < 1e-12, "gap %g, not %g", f->gap[j], gap);
}

static void visit_impact(void *user, const mc_pair *p)
{
  impacts *const s = user;
  const double d0 = mesh_pair_distance(s->c, p, 0.0), xi = fmin(p->radii, 0.999 * d0);
  const int may = d0 - largest_pair_motion(s->c, p) <= xi;
  double first = 2.0;
  for (int k = 0; k <= SAMPLES && may && first > 1.0; ++k)
    if (mesh_pair_distance(s->c, p, (double)k / SAMPLES) <= xi) first = (double)k / SAMPLES;
  const int64_t j = lower_bound_of_pair(s->f, p);
  if (first <= 1.0)
    cr_assert(j >= 0 && s->f->toi[j] <= first, "kind %d, key %llx is missed", p->kind,
              (unsigned long long)p->key);
  if (j < 0) return;
  ++s->num;
  s->hits += first <= 1.0;
  const double toi = s->f->toi[j], d = mesh_pair_distance(s->c, p, toi);
  cr_assert(toi >= 0.0 && toi <= 1.0);
  /* cubic methods step back by the share KEEP of the time */
  cr_assert(d >= xi * (1 - 1e-9), "%g inside %g", d, xi);
  check_impact(s, j, p);
}

static void impacts_equal_sampling(int which, const char *method)
{
  mc_host h;
  mc_plugin p;
  mesh_case c = mc_make(which);
  mc_open(&h, &c, 2, 0);
  mc_plugin_open(&p, &h, "brute", method);
  const loom_query q = mc_query(&h, LOOM_DETECT_CCD, 0.0);
  mc_found f = mc_find(&p, &q);
  impacts s = {.c = &c, .f = &f};
  mc_each_pair(&c, visit_impact, &s);
  cr_assert_eq(s.num, f.n);
  cr_expect(s.hits > 20 && s.hits > f.n / 3, "%s, %s: %lld impacts, %lld reported",
            mc_scene_names[which], method, (long long)s.hits, (long long)f.n);
  mc_drop(&f);
  mc_plugin_close(&p);
  mc_close(&h);
  mc_free(&c);
}

Test(collision_ccd, brute_misses_no_impact_that_sampling_sees)
{
  for (int m = 0; m < 3; ++m) {
    impacts_equal_sampling(MC_SOUP, methods[m]);
    impacts_equal_sampling(MC_BODIES, methods[m]);
  }
  impacts_equal_sampling(MC_OBJECTS, methods[0]);
}

static void compare_ccd_plugins(int which, uint32_t what, const char *method)
{
  mc_host h;
  mc_plugin oracle, p;
  mesh_case c = mc_make(which);
  mc_open(&h, &c, 2, what == LOOM_DETECT_CCD);
  mc_plugin_open(&oracle, &h, "brute", method);
  const loom_query q = mc_query(&h, what, 0.01);
  mc_found want = mc_find(&oracle, &q);
  for (int k = 0; k < NUM_OTHERS; ++k) {
    mc_plugin_open(&p, &h, others[k], method);
    mc_found got = mc_find(&p, &q);
    mc_same(&want, &got, mc_scene_names[which]);
    mc_drop(&got);
    mc_plugin_close(&p);
  }
  mc_drop(&want);
  mc_plugin_close(&oracle);
  mc_close(&h);
  mc_free(&c);
}

Test(collision_ccd, impacts_equal_brute_to_the_bit)
{
  for (int k = 0; k < MC_SCENES; ++k) {
    compare_ccd_plugins(k, LOOM_DETECT_CCD, methods[k % 3]);
    compare_ccd_plugins(k, LOOM_DETECT_CCD | LOOM_DETECT_PROXIMITY, methods[0]);
  }
}

/* ---- bounds ---- */

typedef struct bounded {
  const mesh_case *c;
  double t, min_gap;
  double worst; /* least share of its gap that a pair has left at t */
  int32_t blocker;
} bounded;

/* The distance that a pair never falls below, m. */
static double held_of(const mc_pair *p, double min_gap, double d0)
{
  const double gap = d0 - p->radii, rounding = 1e-12;
  if (gap > 1.25 * min_gap + rounding) return p->radii + 1.25 * min_gap;
  if (gap > min_gap) return p->radii + min_gap;
  return gap > rounding ? p->radii + 0.999 * gap : 0.999 * d0;
}

static void visit_bound(void *user, const mc_pair *p)
{
  bounded *const s = user;
  const double d0 = mesh_pair_distance(s->c, p, 0.0), held = held_of(p, s->min_gap, d0);
  if (d0 < 1e-9) return; /* touches: no bound */
  const double floor = held + KEEP * (d0 - held) * (1 - 1e-6) - 1e-9 * d0;
  double d = d0;
  if (d0 - largest_pair_motion(s->c, p) > floor) return;
  for (int k = 1; k <= SAMPLES; ++k) {
    d = mesh_pair_distance(s->c, p, s->t * k / SAMPLES);
    cr_assert(d >= floor, "kind %d: %g of %g, wanted %g", p->kind, d, d0, floor);
  }
  const double share = (d - held) / (d0 - held);
  if (share >= s->worst) return;
  s->worst = share;
  s->blocker = p->body;
}

static loom_bound compute_ccd_bound(mc_plugin *p, double min_gap)
{
  mc_host *const h = p->h;
  loom_bound b = {.struct_size = sizeof b,
                  .min_gap = min_gap,
                  .progress0 = 0.0,
                  .progress1 = 1.0,
                  .blocker = -1};
  cr_assert_eq(p->p->ops.collision->max_step(p->self, &h->t.step, h->b0, h->b1, &b), LOOM_OK, "%s",
               h->t.err.text);
  cr_assert(mem_mapped(h->t.m) == NULL);
  return b;
}

static void check_global_bound(int which, double min_gap, const char *method, double scale)
{
  mc_host h;
  mc_plugin p;
  mesh_case c = mc_make(which);
  for (int i = 0; i < 3 * c.cloth.n; ++i)
    c.cloth.x1[i] = c.cloth.x0[i] + scale * (c.cloth.x1[i] - c.cloth.x0[i]);
  mc_open(&h, &c, 2, which == MC_BODIES);
  mc_plugin_open(&p, &h, "brute", method);
  const loom_bound b = compute_ccd_bound(&p, min_gap);
  cr_assert(b.t_global > 0.0 && b.t_global <= 1.0);
  bounded s = {.c = &c, .t = b.t_global, .min_gap = min_gap, .worst = 2.0, .blocker = -2};
  mc_each_pair(&c, visit_bound, &s);
  if (b.t_global < 1.0 && method == methods[0]) {
    cr_expect(s.worst < 1.6 * KEEP, "held back with %g of the gap left", s.worst);
    cr_expect_eq(b.blocker, s.blocker, "%s: body %d, not %d", mc_scene_names[which], b.blocker,
                 s.blocker);
  }
  for (int k = 0; k < NUM_OTHERS; ++k) {
    mc_plugin o;
    mc_plugin_open(&o, &h, others[k], method);
    const loom_bound got = compute_ccd_bound(&o, min_gap);
    cr_expect(got.t_global == b.t_global && got.blocker == b.blocker, "%s, %s: %.17g, %d",
              others[k], mc_scene_names[which], got.t_global, got.blocker);
    mc_plugin_close(&o);
  }
  mc_plugin_close(&p);
  mc_close(&h);
  mc_free(&c);
}

Test(collision_ccd, bound_is_safe_and_tight_and_names_the_body)
{
  for (int m = 0; m < 3; ++m) {
    check_global_bound(MC_SOUP, 0.0, methods[m], 1.0);
    check_global_bound(MC_BODIES, 0.0, methods[m], 1.0);
    check_global_bound(MC_BODIES, 1e-3, methods[m], 0.3);
  }
  check_global_bound(MC_OBJECTS, 1e-3, methods[0], 1.0);
  check_global_bound(MC_FOLDED, 0.0, methods[0], 0.1);
  check_global_bound(MC_CRUMPLED, 0.0, methods[0], 0.1);
  check_global_bound(MC_DEGENERATE, 0.0, methods[0], 1.0);
  check_global_bound(MC_LONE, 0.0, methods[0], 1.0);
}

/* Sheets that lie on each other within rounding: no step could part them, so they set no bound,
 * and the bound reports this. */
Test(collision_ccd, a_bound_tells_that_something_touches)
{
  for (int k = -1; k < NUM_OTHERS; ++k)
    for (int touch = 0; touch < 2; ++touch) {
      mc_host h;
      mc_plugin p;
      mesh_case c = {.seed = 5};
      (void)mc_add_sheet(&c, &(mc_object){0}, 4, 4, 1.0, 1.0, 0.0);
      (void)mc_add_sheet(&c, &(mc_object){0}, 3, 5, 0.9, 0.8, touch ? 1e-12 : 1e-6);
      mc_move(&c.cloth, &c.seed, 0.1, 0.0, 0.0, 0.0);
      mc_open(&h, &c, 1, 0);
      mc_plugin_open(&p, &h, k < 0 ? "brute" : others[k], "");
      const loom_bound b = compute_ccd_bound(&p, 0.0);
      cr_expect_eq(b.touching, touch, "%s", k < 0 ? "brute" : others[k]);
      cr_expect(touch || b.t_global < 1.0, "%g", b.t_global);
      mc_plugin_close(&p);
      mc_close(&h);
      mc_free(&c);
    }
}

/* The gap of two thick sheets equals the wanted one but for rounding, on either side of it: at the
 * bound their half thicknesses do not overlap. */
Test(collision_ccd, a_gap_within_rounding_of_the_wanted_one_stays_a_gap)
{
  const double radius = 1e-3, min_gap = 1e-8;
  for (int k = -1; k < NUM_OTHERS; ++k)
    for (int ulps = -4; ulps <= 4; ++ulps) {
      mc_host h;
      mc_plugin p;
      mesh_case c = {.seed = 5};
      const double apart = 2 * radius + min_gap + 1e-15 * ulps;
      (void)mc_add_sheet(&c, &(mc_object){.radius = radius}, 4, 4, 0.1, 0.1, 0.0);
      const int half = c.cloth.n;
      (void)mc_add_sheet(&c, &(mc_object){.radius = radius}, 3, 5, 0.09, 0.08, apart);
      memcpy(c.cloth.x1, c.cloth.x0, 3 * (size_t)c.cloth.n * sizeof *c.cloth.x1);
      for (int i = half; i < c.cloth.n; ++i) c.cloth.x1[3 * i + 2] -= 0.01;
      mc_open(&h, &c, 1, 0);
      mc_plugin_open(&p, &h, k < 0 ? "brute" : others[k], "");
      const loom_bound b = compute_ccd_bound(&p, min_gap);
      const double left = apart - 0.01 * b.t_global - 2 * radius;
      cr_expect(b.t_global > 0 && left > 0.998 * min_gap, "%s, %d: a gap of %g m is left",
                k < 0 ? "brute" : others[k], ulps, left);
      mc_plugin_close(&p);
      mc_close(&h);
      mc_free(&c);
    }
}

/* Step after step towards each other, by a way that is millions of times the gap: a pair that
 * starts above the wanted gap keeps it, at every thickness; a pair that starts nearer keeps almost
 * its gap. */
Test(collision_ccd, the_wanted_gap_is_kept_by_every_step)
{
  static const double radii[] = {0.0, 1e-3}, starts[] = {1e-3, 1.0005e-8, 5e-9};
  const double min_gap = 1e-8;
  for (int k = -1; k < NUM_OTHERS; ++k)
    for (int j = 0; j < 6; ++j) {
      mc_host h;
      mc_plugin p;
      mesh_case c = {.seed = 5};
      const double radius = radii[j % 2], gap0 = starts[j / 2];
      double apart = 2 * radius + gap0;
      (void)mc_add_sheet(&c, &(mc_object){.radius = radius}, 4, 4, 0.1, 0.1, 0.0);
      const int half = c.cloth.n;
      (void)mc_add_sheet(&c, &(mc_object){.radius = radius}, 3, 5, 0.09, 0.08, apart);
      memcpy(c.cloth.x1, c.cloth.x0, 3 * (size_t)c.cloth.n * sizeof *c.cloth.x1);
      for (int step = 0; step < 100; ++step) {
        for (int i = half; i < c.cloth.n; ++i) {
          c.cloth.x0[3 * i + 2] = apart;
          c.cloth.x1[3 * i + 2] = apart - 0.01;
        }
        mc_open(&h, &c, 1, 0);
        mc_plugin_open(&p, &h, k < 0 ? "brute" : others[k], "");
        apart -= 0.01 * compute_ccd_bound(&p, min_gap).t_global;
        mc_plugin_close(&p);
        mc_close(&h);
      }
      const double left = apart - 2 * radius, least = gap0 < min_gap ? 0.8 * gap0 : min_gap;
      cr_expect(left > least * (1 - 1e-3), "%s, %g m: a gap of %g m is left of %g m",
                k < 0 ? "brute" : others[k], radius, left, gap0);
      mc_free(&c);
    }
}

/* A step across the whole scene is cut, not searched: safe, and still a step. */
static void check_step_cut(const char *name, const char *values)
{
  mc_host h;
  mc_plugin p, o;
  mesh_case c = {.seed = 3};
  (void)mc_add_sheet(&c, &(mc_object){.radius = 1e-3}, 13, 13, 1.0, 1.0, 0.0);
  (void)mc_add_ball(&c, &(mc_object){.body = 1}, (double[]){0.5, 0.5, -0.22}, 0.2, 60);
  mc_move(&c.cloth, &c.seed, 5.0, 0.0, 0.0, 0.0);
  mc_open(&h, &c, 2, 1);
  mc_plugin_open(&p, &h, name, values);
  mc_plugin_open(&o, &h, "brute", "");
  const loom_bound cut = compute_ccd_bound(&p, 1e-4);
  const int64_t few = h.t.counters[LOOM_C_CCD_PAIR];
  const loom_bound all = compute_ccd_bound(&o, 1e-4);
  cr_expect(4 * few < h.t.counters[LOOM_C_CCD_PAIR] - few, "%s: %lld pairs", name, (long long)few);
  cr_expect(cut.t_global > 1e-4 && cut.t_global <= 1.1 * all.t_global, "%s: %g of %g", name,
            cut.t_global, all.t_global);
  bounded s = {.c = &c, .t = cut.t_global, .min_gap = 1e-4, .worst = 2.0, .blocker = -2};
  mc_each_pair(&c, visit_bound, &s);
  mc_plugin_close(&p);
  mc_plugin_close(&o);
  mc_close(&h);
  mc_free(&c);
}

Test(collision_ccd, steps_across_everything_are_cut)
{
  check_step_cut("patch_bvh", "crowd=4");
  check_step_cut("bvtt_front", "crowd=30");
}

Test(collision_ccd, the_same_bound_for_any_number_of_threads)
{
  static const int threads[] = {1, 2, 4};
  for (int k = -1; k < NUM_OTHERS; ++k) {
    loom_bound first = {.t_global = -1.0};
    for (int i = 0; i < 3; ++i) {
      mc_host h;
      mc_plugin p;
      mesh_case c = mc_make(MC_OBJECTS);
      mc_open(&h, &c, threads[i], 0);
      mc_plugin_open(&p, &h, k < 0 ? "brute" : others[k], "");
      const loom_bound b = compute_ccd_bound(&p, 1e-3);
      if (i == 0) first = b;
      cr_expect(b.t_global == first.t_global && b.blocker == first.blocker, "%d threads: %.17g",
                threads[i], b.t_global);
      mc_plugin_close(&p);
      mc_close(&h);
      mc_free(&c);
    }
  }
}

/* The bound of a tenth of the way. */
static double compute_slow_bound(mc_plugin *p)
{
  mc_host *const h = p->h;
  const int n = 3 * h->c->cloth.n;
  loom_bound b = {.struct_size = sizeof b, .min_gap = 1e-4, .progress1 = 1.0, .blocker = -1};
  double *const x1 = malloc((size_t)n * sizeof *x1);
  for (int i = 0; i < n; ++i)
    x1[i] = h->c->cloth.x0[i] + 0.1 * (h->c->cloth.x1[i] - h->c->cloth.x0[i]);
  loom_buf *const end = th_buf(&h->t, LOOM_REAL, n, x1);
  free(x1);
  cr_assert_eq(p->p->ops.collision->max_step(p->self, &h->t.step, h->b0, end, &b), LOOM_OK);
  return b.t_global;
}

/* Bounds of a step whose last ones were short look at a part of the way: fewer pairs are examined,
 * and the bound is that of a first query, for a motion that is stopped there and for one that is
 * stopped much later. */
static void check_bound_by_parts(const char *name)
{
  mc_host h;
  mc_plugin p;
  mesh_case c = {.seed = 8};
  double t[4], slow[2];
  int64_t pairs[4];
  (void)mc_add_sheet(&c, &(mc_object){.radius = 1e-3}, 13, 13, 1.0, 1.0, 0.0);
  const int half = c.cloth.n;
  (void)mc_add_sheet(&c, &(mc_object){.radius = 1e-3}, 11, 11, 0.9, 0.9, 0.004);
  memcpy(c.cloth.x1, c.cloth.x0, 3 * (size_t)c.cloth.n * sizeof *c.cloth.x1);
  for (int i = half; i < c.cloth.n; ++i) c.cloth.x1[3 * i + 2] -= 0.2 + 1e-3 * (i % 7);
  mc_open(&h, &c, 1, 0);
  mc_plugin_open(&p, &h, name, "");
  for (int k = 0; k < 4; ++k) {
    if (k == 3) {
      slow[0] = compute_slow_bound(&p);
      h.t.step.index++; /* a new step begins with the whole way */
      slow[1] = compute_slow_bound(&p);
      h.t.step.index++;
    }
    const int64_t before = h.t.counters[LOOM_C_CCD_PAIR];
    t[k] = compute_ccd_bound(&p, 1e-4).t_global;
    pairs[k] = h.t.counters[LOOM_C_CCD_PAIR] - before;
  }
  cr_expect(slow[0] > 0.05 && slow[0] == slow[1], "%s: %.17g, %.17g", name, slow[0], slow[1]);
  cr_expect(t[0] < 0.02 && t[2] == t[0] && t[3] == t[0], "%s: %.17g, %.17g, %.17g", name, t[0],
            t[2], t[3]);
  cr_expect(pairs[1] == pairs[0] && pairs[3] == pairs[0] && 2 * pairs[2] < pairs[0],
            "%s: %lld, %lld, %lld, %lld pairs", name, (long long)pairs[0], (long long)pairs[1],
            (long long)pairs[2], (long long)pairs[3]);
  mc_plugin_close(&p);
  mc_close(&h);
  mc_free(&c);
}

Test(collision_ccd, bounds_by_parts_have_the_same_bits)
{
  check_bound_by_parts("patch_bvh");
  check_bound_by_parts("bvtt_front");
}
