/* solver.c - checks of solvers: on a convex problem the residual falls, a solved step is a fixed
 * point, pins stay, reported numbers are in range. */
#include <math.h>
#include <stdlib.h>

#include "contract/contract.h"

enum { COLUMNS = 1024 }; /* more than a descriptor may announce */

/* With h = 1 ms the inertia m/h^2 outweighs the soft sheet's stiffness, so the energy is
 * convex on the way and every sound method must get down. */
#define CONVEX "run.dt=0.001 stop.tol_rel=0 "

typedef struct outcome {
  double first, last; /* m, residual before and after */
  int64_t iters;
} outcome;

/* An explicit method does one iteration without solving an equation, so no residual falls. */
static void need_iterations(const ct_plugin *p)
{
  registry *reg;
  const int once = ct_load(p, &reg)->ops.solver->max_outer == 1;
  registry_close(reg);
  if (once) ct_skip("%s does one iteration only", p->name);
}

static outcome one_step(const ct_plugin *p, const char *stop, double **x, int64_t *n)
{
  ct_run t;
  outcome o;
  ct_open(&t, p, stop);
  CT_ASSERT(step_once(t.r, 0) == LOOM_OK, "%s", t.err.text);
  o.last = t.r->measured.next.rms;
  o.first = t.r->measured.r_ref;
  o.iters = t.r->sum.last_iters;
  if (x != NULL) *x = ct_values(t.r, t.r->st.x, n);
  ct_close(&t);
  return o;
}

void ct_solver_residual_falls(const ct_plugin *p)
{
  double last = INFINITY;
  need_iterations(p);
  static const char *const iters[] = {CONVEX "stop.tol_abs=0 stop.max_iters=5",
                                      CONVEX "stop.tol_abs=0 stop.max_iters=20",
                                      CONVEX "stop.tol_abs=0 stop.max_iters=80"};
  for (int i = 0; i < 3; ++i) {
    const outcome o = one_step(p, iters[i], NULL, NULL);
    /* below 1e-13 m the residual is rounding of positions of 0.1 m and cannot fall further */
    CT_ASSERT(o.last < 0.5 * last || o.last < 1e-13, "%s: residual %g m, before %g m", iters[i],
              o.last, last);
    last = o.last;
  }
  CT_ASSERT(last < 1e-9, "residual %g m after 80 iterations", last);
}

/* More iterations at the solution do not move it.  Tolerance: residual 1e-12 m is a distance
 * of that order here, since h^2 M^-1 H has eigenvalues near 1. */
void ct_solver_fixed_point(const ct_plugin *p)
{
  double *a, *b, far = 0.0;
  int64_t n;
  need_iterations(p);
  const outcome o = one_step(p, CONVEX "stop.tol_abs=1e-12 stop.max_iters=2000", &a, &n);
  CT_ASSERT(o.last < 1e-12, "the step was not solved: %g m after %lld iterations", o.last,
            (long long)o.iters);
  one_step(p, CONVEX "stop.tol_abs=0 stop.max_iters=2010", &b, NULL);
  for (int64_t i = 0; i < n; ++i) far = fmax(far, fabs(a[i] - b[i]));
  CT_ASSERT(far < 1e-11, "10 further iterations moved a vertex by %g m", far);
  free(a);
  free(b);
}

/* Fixed vertices stay where the core puts them, to the bit. */
void ct_solver_fixed_vertices(const ct_plugin *p)
{
  static const int pins[] = {0, 6};
  ct_run t;
  ct_open(&t, p, "");
  double *const before = ct_values(t.r, t.r->st.x, NULL);
  ct_steps(&t, 0, 3);
  double *const after = ct_values(t.r, t.r->st.x, NULL);
  for (int i = 0; i < 2; ++i)
    for (int c = 0; c < 3; ++c)
      CT_ASSERT(after[3 * pins[i] + c] == before[3 * pins[i] + c], "pin %d moved", pins[i]);
  free(before);
  free(after);
  ct_close(&t);
}

/* The numbers that a solver reports of an iteration are in range. */
void ct_solver_reports(const ct_plugin *p)
{
  ct_run t;
  double extra[COLUMNS];
  ct_open_checked(&t, p, "");
  ct_steps(&t, 0, 1);
  run *const r = t.r;
  const loom_solver_ops *o = r->solver.plugin->ops.solver;
  for (int i = 0; i < COLUMNS; ++i) extra[i] = NAN;
  loom_iterate it = {.struct_size = sizeof it, .inner_res = NAN, .own_res = NAN, .extra = extra};
  if (o->begin_step != NULL)
    CT_ASSERT(o->begin_step(r->solver.self, &r->st) == LOOM_OK, "%s", t.err.text);
  CT_ASSERT(o->iterate(r->solver.self, &r->st, &it) >= LOOM_OK, "%s", t.err.text);
  CT_ASSERT(results_settle(r) == LOOM_OK, "%s", t.err.text);
  CT_ASSERT(isnan(it.own_res) || it.own_res >= 0.0, "own_res is %g", it.own_res);
  CT_ASSERT(isnan(it.inner_res) || it.inner_res >= 0.0, "inner_res is %g", it.inner_res);
  CT_ASSERT(it.inner_iters >= 0, "inner_iters is %d", it.inner_iters);
  for (uint32_t i = r->solver.plugin->num_columns; i < COLUMNS; ++i)
    CT_ASSERT(isnan(extra[i]), "it wrote column %u, it has %u", i, r->solver.plugin->num_columns);
  double *const trial = ct_values(r, r->st.trial, NULL);
  for (int64_t i = 0; i < buf_count(r->st.trial); ++i)
    CT_ASSERT(isfinite(trial[i]), "trial of vertex %lld is %g", (long long)(i / 3), trial[i]);
  free(trial);
  ct_close(&t);
}
