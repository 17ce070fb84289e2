/* contact.c - checks of contact models above a ball: its gradient is that of its energy, its
 * Hessian that of its gradient, its quadratic form agrees with both, its numbers make sense. */
#include <math.h>
#include <stdlib.h>

#include "contract/derive.h"
#include "run/objective/term.h"

enum { COLUMNS = 1024 }; /* more than a descriptor may announce */

/* A model that admits no overlap keeps this much from the first point it rejects, m: below it
 * a barrier is too steep for differences of 1e-7 m. */
static const double left_over = 4e-4;

/* Values of which nothing changed are sums of the same terms. */
static const double unchanged = 1e-12;

/* The sheet pushed down by `depth`, m, from x into y; 1 if the model has a value there. */
static int push_sheet(ct_run *t, int64_t n, const double *x, double depth, double *y)
{
  run *const r = t->r;
  double e = 0.0, dissipation = 0.0;
  for (int64_t i = 0; i < n; ++i)
    y[i] = x[i] - (i % 3 == 2 ? depth + 1e-4 * sin(12.9 * floor((double)i / 3.0)) : 0.0);
  ct_set_values(r, r->st.trial, y);
  const loom_status s =
      contact_eval(r, &r->contact[0], r->st.problem, r->st.trial, &e, &dissipation, NULL);
  CT_ASSERT(s == LOOM_OK || s == LOOM_REJECTED, "%s", t->err.text);
  return s == LOOM_OK;
}

/* A run with its sheet pushed into the ball, or as far as the model lets it, and with contact
 * brought up to date; returns the positions, [3 n].  The inner vertices stand 28 mm off the axis,
 * where the ball lies 4 mm lower than at its top. */
static double *press_sheet_on_ball(ct_run *t, const ct_plugin *p, int64_t *n)
{
  uint32_t changed = 0;
  double depth = 9e-3;
  ct_open(t, p, "");
  ct_steps(t, 0, 1);
  double *const x = ct_values(t->r, t->r->st.x, n), *const y = malloc(sizeof *y * (size_t)*n);
  CT_ASSERT(y != NULL, "out of memory");
  if (!push_sheet(t, *n, x, depth, y)) {
    double good = 0.0;
    for (int i = 0; i < 40; ++i) {
      const double mid = 0.5 * (good + depth);
      if (push_sheet(t, *n, x, mid, y))
        good = mid;
      else
        depth = mid;
    }
    CT_ASSERT(push_sheet(t, *n, x, good - left_over, y),
              "it has no value %g m before the point that it refuses", left_over);
  }
  free(x);
  ct_set_values(t->r, t->r->st.x, y);
  ct_set_values(t->r, t->r->st.y, y); /* explicit forces come from where the vertices are going */
  CT_ASSERT(detect_all(t->r, &changed) == LOOM_OK, "%s", t->err.text);
  return y;
}

/* The scene has pairs of a vertex and a body alone; models without any pairs have forces of their
 * own. */
static void need_pairs_on_ball(const ct_plugin *p, int also_without)
{
  registry *reg = NULL;
  const uint32_t kinds = ct_load(p, &reg)->ops.contact->pair_kinds;
  registry_close(reg);
  if (kinds == 0 && !also_without) ct_skip("it takes no pairs");
  if (kinds != 0 && !(kinds & (LOOM_BIT(LOOM_PAIR_VO) | LOOM_BIT(LOOM_PAIR_YY))))
    ct_skip("it takes no pairs of a vertex and a body");
}

/* A check of derive.h there, if the model has the form. */
static void check_ball_derivative(const ct_plugin *p, uint32_t form,
                                  void (*check)(ct_run *t, const double *x, int64_t n))
{
  ct_run t;
  int64_t n;
  need_pairs_on_ball(p, 1);
  double *const x = press_sheet_on_ball(&t, p, &n);
  ct_need_forms(&t, form);
  check(&t, x, n);
  free(x);
  ct_close(&t);
}

void ct_contact_gradient(const ct_plugin *p)
{
  check_ball_derivative(p, LOOM_CONT_GRADIENT, ct_check_gradient);
}

void ct_contact_hessian(const ct_plugin *p)
{
  check_ball_derivative(p, LOOM_CONT_HESSIAN, ct_check_hessian);
}

void ct_contact_quad(const ct_plugin *p)
{
  check_ball_derivative(p, LOOM_CONT_QUAD, ct_check_quad);
}

void ct_contact_metrics(const ct_plugin *p)
{
  ct_run t;
  int64_t n;
  double *const x = press_sheet_on_ball(&t, p, &n);
  run *const r = t.r;
  double extra[COLUMNS];
  for (int k = 0; k < COLUMNS; ++k) extra[k] = NAN;
  loom_contact_metrics m = {.struct_size = sizeof m, .min_gap = NAN, .extra = extra};
  instance *const in = &r->contact[0].in;
  if (in->plugin->ops.contact->metrics == NULL) ct_skip("it has no metrics");
  CT_ASSERT(in->plugin->ops.contact->metrics(in->self, &r->st, &m) == LOOM_OK, "%s", t.err.text);
  CT_ASSERT(results_settle(r) == LOOM_OK, "%s", t.err.text);
  CT_ASSERT(m.active >= 0 && m.active <= r->contact[0].pairs.count, "%lld of %lld pairs active",
            (long long)m.active, (long long)r->contact[0].pairs.count);
  CT_ASSERT(isnan(m.max_force) || m.max_force >= 0.0, "max_force is %g N", m.max_force);
  CT_ASSERT(isnan(m.dissipated) || m.dissipated >= 0.0, "dissipated is %g J", m.dissipated);
  for (uint32_t k = 0; k < COLUMNS; ++k)
    CT_ASSERT((isnan(extra[k]) == 0) == (k < in->plugin->num_columns),
              "extra[%u] is %g; %u columns are announced", k, extra[k], in->plugin->num_columns);
  free(x);
  ct_close(&t);
}

/* No vertex is pushed harder than by all active pairs together, each as hard as the hardest. */
void ct_contact_forces(const ct_plugin *p)
{
  ct_run t;
  int64_t n;
  need_pairs_on_ball(p, 0);
  double *const x = press_sheet_on_ball(&t, p, &n);
  ct_need_forms(&t, LOOM_CONT_GRADIENT);
  double extra[COLUMNS], most = 0.0, *const g = ct_alloc(n);
  loom_contact_metrics m = {.struct_size = sizeof m, .min_gap = NAN, .extra = extra};
  instance *const in = &t.r->contact[0].in;
  CT_ASSERT(in->plugin->ops.contact->metrics(in->self, &t.r->st, &m) == LOOM_OK, "%s", t.err.text);
  CT_ASSERT(results_settle(t.r) == LOOM_OK, "%s", t.err.text);
  (void)ct_energy_at(&t, x, g);
  for (int64_t i = 0; i + 2 < n; i += 3)
    most = fmax(most, sqrt(g[i] * g[i] + g[i + 1] * g[i + 1] + g[i + 2] * g[i + 2]));
  CT_ASSERT(m.active > 0 && m.max_force > 0.0, "pressed, but %lld pairs push with %g N",
            (long long)m.active, m.max_force);
  CT_ASSERT(most > 0.0 && most <= (1.0 + 1e-9) * (double)m.active * m.max_force,
            "%g N on a vertex from %lld pairs of %g N at most", most, (long long)m.active,
            m.max_force);
  CT_ASSERT(isfinite(m.min_gap), "the smallest gap is %g m", m.min_gap);
  free(x);
  free(g);
  ct_close(&t);
}

/* Energy and gradient [n] at st.x, with contact as it is. */
static double ask_values(ct_run *t, int64_t n, const double *x, double *g)
{
  for (int64_t i = 0; i < n; ++i) g[i] = 0.0;
  return ct_energy_at(t, x, g);
}

/* update() that says LOOM_CHANGED_NONE leaves energy and gradient at x as they are. */
static void check_update_flags(ct_run *t, int when, int64_t n, const double *x)
{
  run *const r = t->r;
  double *const before = ct_alloc(n), *const after = ct_alloc(n);
  double miss = 0.0;
  uint32_t changed = LOOM_CHANGED_NONE;
  const double e = ask_values(t, n, x, before);
  CT_OK(t, when == LOOM_AFTER_ACCEPT ? detect_after_accept(r, &changed) : detect_all(r, &changed));
  if (changed == LOOM_CHANGED_NONE) {
    const double now = ask_values(t, n, x, after), size = ct_norm(before, n);
    for (int64_t i = 0; i < n; ++i) miss += (after[i] - before[i]) * (after[i] - before[i]);
    CT_ASSERT((isnan(e) && isnan(now)) || fabs(now - e) <= unchanged * fabs(e),
              "update(%s) says LOOM_CHANGED_NONE, but the energy at x was %.9g J and is %.9g J: "
              "solvers keep what they made of it",
              when == LOOM_AFTER_ACCEPT ? "LOOM_AFTER_ACCEPT" : "LOOM_AFTER_DETECT", e, now);
    CT_ASSERT(sqrt(miss) <= unchanged * size,
              "update(%s) says LOOM_CHANGED_NONE, but the gradient at x differs by %.2g of itself: "
              "solvers keep what they made of it",
              when == LOOM_AFTER_ACCEPT ? "LOOM_AFTER_ACCEPT" : "LOOM_AFTER_DETECT",
              sqrt(miss) / size);
  }
  free(before), free(after);
}

void ct_contact_update_reports(const ct_plugin *p)
{
  enum { POINTS = 6 };
  ct_run t;
  int64_t n;
  double *const x = press_sheet_on_ball(&t, p, &n);
  ct_need_forms(&t, LOOM_CONT_GRADIENT | LOOM_CONT_ENERGY);
  for (int k = 0; k < POINTS; ++k) { /* accepted points, farther down and up again */
    const double way = k < POINTS / 2 ? -5e-5 : 5e-5;
    for (int64_t i = 2; i < n; i += 3) x[i] += way;
    ct_set_values(t.r, t.r->st.x, x);
    check_update_flags(&t, LOOM_AFTER_ACCEPT, n, x);
    check_update_flags(&t, LOOM_AFTER_DETECT, n, x);
  }
  free(x);
  ct_close(&t);
}
