/* test_one_gap.c - detection and barrier see one gap, also in a scene that a run refuses because
 * its thickness differs within an object: they share one rule (kit/thickness.kern.h). */
#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>

#include "support/mesh_case.h"

static const char *const others[] = {"patch_bvh", "bvtt_front", "spatial_hash"};
enum { NUM_OTHERS = sizeof others / sizeof *others };

static const double d_hat = 0.012; /* m */

/* Least gap and number of active pairs of a barrier that takes the pairs of the plugin. */
static loom_contact_metrics metrics_of_barrier(mc_plugin *p)
{
  mc_host *const h = p->h;
  test_host *const t = &h->t;
  const loom_plugin *const barrier = th_plugin("ipc_barrier", LOOM_KIND_CONTACT, "ipc_barrier");
  const loom_contact_ops *const ops = barrier->ops.contact;
  void *const set = th_settings(barrier, "d_hat=0.012 stiffness=100");
  void *const self = th_create(t, barrier, set);
  uint32_t changed;
  double extra[8];
  loom_pairs pairs;
  loom_query q = mc_query(h, LOOM_DETECT_PROXIMITY, 0.0);
  loom_contact_metrics m = {.struct_size = sizeof m, .min_gap = NAN, .extra = extra};
  th_pairs_open(t, &pairs, 0);
  th_attach(t, p->p, p->self);
  cr_assert_eq(ops->begin_step(self, &t->step), LOOM_OK, "%s", t->err.text);
  q.x1 = q.x0;
  cr_assert_eq(ops->plan(self, &t->step, &q), LOOM_OK, "%s", t->err.text);
  th_detect(t, &q, &pairs);
  cr_assert_eq(ops->update(self, &t->step, &pairs, LOOM_AFTER_DETECT, &changed), LOOM_OK);
  cr_assert_eq(ops->metrics(self, &t->step, &m), LOOM_OK, "%s", t->err.text);
  th_pairs_close(t, &pairs);
  ops->destroy(self);
  free(set);
  return m;
}

Test(one_gap, one_gap_for_detection_and_barrier)
{
  mc_host h;
  mc_plugin p;
  mesh_case c = {.seed = 5};
  mc_add_sheet(&c, &(mc_object){.radius = 1e-3}, 14, 14, 0.2, 0.2, 0.0);
  mc_add_sheet(&c, &(mc_object){.radius = 1e-3}, 14, 14, 0.2, 0.2, 0.014);
  mc_shake(&c, 0, 1e-3);
  for (int i = 0; i < c.cloth.n; i += 3) c.cloth.r[i] *= 4.0;
  mc_open(&h, &c, 2, 0);
  const loom_query q = mc_query(&h, LOOM_DETECT_PROXIMITY, d_hat);
  mc_plugin_open(&p, &h, "brute", "");
  mc_found want = mc_find(&p, &q);
  double least = INFINITY;
  cr_assert(want.n > 100, "%lld pairs", (long long)want.n);
  for (int64_t j = 0; j < want.n; ++j) least = fmin(least, (double)want.gap[j]);
  for (int k = -1; k < NUM_OTHERS; ++k) {
    if (k >= 0) {
      mc_plugin_close(&p);
      mc_plugin_open(&p, &h, others[k], "");
      mc_found got = mc_find(&p, &q);
      mc_same(&want, &got, others[k]);
      mc_drop(&got);
    }
    const loom_contact_metrics m = metrics_of_barrier(&p);
    cr_assert(fabs(m.min_gap - least) < 1e-15, "%s: %.17g m, the barrier %.17g m", p.p->name, least,
              m.min_gap);
    cr_assert_eq(m.active, want.n, "%s: %lld pairs, the barrier has %lld", p.p->name,
                 (long long)want.n, (long long)m.active);
  }
  mc_drop(&want);
  mc_plugin_close(&p);
  mc_close(&h);
  mc_free(&c);
}

static double bound_of(mc_plugin *p)
{
  mc_host *const h = p->h;
  loom_bound b = {.struct_size = sizeof b, .t_global = 1.0};
  cr_assert_eq(p->p->ops.collision->max_step(p->self, &h->t.step, h->b0, h->b1, &b), LOOM_OK, "%s",
               h->t.err.text);
  return b.t_global;
}

/* The upper sheet loses more of its gap than a step may take, and its boxes on the whole way stay
 * apart from those of the lower: they have to grow by a share of the way (mesh_inflation()). */
Test(one_gap, a_bound_finds_pairs_of_features_that_stay_apart)
{
  mc_host h;
  mc_plugin p;
  mesh_case c = {.seed = 5};
  mc_add_sheet(&c, &(mc_object){.radius = 1e-3}, 8, 8, 0.2, 0.2, 0.0);
  mc_add_sheet(&c, &(mc_object){.radius = 1e-3}, 8, 8, 0.2, 0.2, 0.1);
  for (int i = 64; i < c.cloth.n; ++i) c.cloth.x1[3 * i + 2] -= 0.094;
  mc_open(&h, &c, 2, 0);
  mc_plugin_open(&p, &h, "brute", "");
  const double want = bound_of(&p);
  cr_assert(want > 0.5 && want < 1.0, "%g", want);
  for (int k = 0; k < 2; ++k) {
    mc_plugin_close(&p);
    mc_plugin_open(&p, &h, others[k], "");
    cr_assert_eq(bound_of(&p), want, "%s: %g, brute %g", others[k], bound_of(&p), want);
  }
  mc_plugin_close(&p);
  mc_close(&h);
  mc_free(&c);
}
