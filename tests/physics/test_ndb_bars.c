/* The global solver of ndb_pd by counts that no machine changes: products with the global matrix
 * until the error of a frozen system is down, with and without contact; settings that must diverge
 * diverge; the energy falls in every iteration; the same fixed-length run as with an exact
 * solve.  Frozen: the first global step of a step of a reference run, from the inertial guess. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "log/h5read.h"
#include "support/sim.h"

#define HANG(side)                                                                    \
  "[run]\nsteps = 13\ndt = 0.01\n[exec]\nbackend = cpu\nthreads = 2\n"                \
  "[cloth.sheet]\nmodel = arap+isometric\npattern = regular\nshape = grid\nsize = 1 " \
  "1\nresolution = " side "\ndensity = 0.2\n"                                         \
  "membrane = 1000\nk_b = 1e-4\npins = bottom_left bottom_right\n"                    \
  "[stop]\ntol_rel = 0\ntol_abs = 0\nmax_iters = 20\n[log]\naudit = off\n"            \
  "[solver]\nplugin = cholmod_pd\n\n"

/* A sheet on a ball, time in units of 10 s: the same motion as with dt = 0.01 s, 0.2 kg/m^2 and
 * gravity 9.81, and contact weights up to a million times the diagonal are within range. */
static const char ball[] =
    "[run]\nsteps = 31\ndt = 0.1\ngravity = 0 0 -0.0981\n[exec]\nbackend = cpu\nthreads = 2\n"
    "[cloth.sheet]\nmodel = arap+isometric\npattern = regular\nshape = grid\nsize = 1 "
    "1\nresolution = 50 50\ndensity = 20\n"
    "membrane = 1000\nk_b = 1e-4\nthickness = 0\ntransform = translate 0 0 0.32\n"
    "[body.ball]\nshape = sphere\nradius = 0.3\n"
    "[stop]\ntol_rel = 0\ntol_abs = 0\nmax_iters = 20\n[log]\naudit = off\n"
    "[solver]\nplugin = cholmod_pd\n[collision.bodies]\nplugin = sdf\n[contact.bodies]\n"
    "plugin = penalty\npairs = obstacle\ncollision = bodies\nstiffness = 4.8e5\n\n";
/* 4.8e5 /s^2 times the mass of a vertex is the diagonal of the global matrix there */
static const double STIFF = 4.8e5;

enum { MOST_SETS = 24 };

typedef struct curve { /* the values of the monitor */
  int64_t rows;
  int64_t *mv; /* [rows] */
  double *value;
} curve;

static void curve_free(curve *c)
{
  free(c->mv);
  free(c->value);
}

/* One global step of step `first` of the reference, with further settings. */
static curve record_error_curve(const sim *ref, const char *text, int first,
                                const char *const *more)
{
  const char *sets[MOST_SETS + 1] = {
      "run.steps=1",          "stop.max_iters=1",     "solver.plugin=ndb_pd",
      "solver.warm=0",        "solver.momentum=none", "solver.cache=",
      "solver.monitor=error", "exec.backend=cpu"}; /* the monitor reads every iterate there */
  char replay[256], from[64];
  int n = 8;
  snprintf(replay, sizeof replay, "run.replay=%s", ref->log);
  snprintf(from, sizeof from, "run.replay_first=%d", first);
  sets[n++] = replay;
  sets[n++] = from;
  while (*more != NULL && n < MOST_SETS) sets[n++] = *more++;
  sim s;
  h5read *r = NULL;
  sim_run(&s, text, sets, 0);
  cr_assert_eq(h5read_open(&s.err, s.log, &r), LOOM_OK, "%s", s.err.text);
  curve c = {.rows = h5read_num_rows(r, "inner")};
  cr_assert_gt(c.rows, 0);
  c.mv = malloc((size_t)c.rows * sizeof *c.mv);
  c.value = malloc((size_t)c.rows * sizeof *c.value);
  cr_assert(c.mv != NULL && c.value != NULL);
  cr_assert_eq(h5read_column(r, &s.err, "inner", "j", 'I', 0, c.rows, c.mv), LOOM_OK);
  cr_assert_eq(h5read_column(r, &s.err, "inner", "value", 'R', 0, c.rows, c.value), LOOM_OK);
  h5read_close(r);
  sim_free(&s);
  return c;
}
#define WATCH(ref, text, first, ...) \
  record_error_curve(ref, text, first, (const char *const[]){__VA_ARGS__, NULL})

/* products until the value is down, INT_MAX if it never is */
static int64_t count_curve_products(const curve *c, double value)
{
  for (int64_t k = 0; k < c->rows; ++k)
    if (c->value[k] <= value) return c->mv[k];
  return INT32_MAX;
}

static int64_t count_and_free_curve(curve c, double value)
{
  const int64_t mv = count_curve_products(&c, value);
  curve_free(&c);
  return mv;
}

static void hang_bars(const char *text, const char *bend, const char *r1, int64_t few, int64_t many)
{
  const char *const sets[] = {bend, NULL};
  sim ref;
  sim_run(&ref, text, sets, 0);
  const int64_t a =
      count_and_free_curve(WATCH(&ref, text, 12, bend, "solver.r1=30", "solver.sweeps=200"), 1e-2);
  const int64_t b = count_and_free_curve(WATCH(&ref, text, 12, bend, r1, "solver.sweeps=60"), 1e-2);
  printf("%s: %d products with 30 modes, %d with 100\n", bend, (int)a, (int)b);
  cr_expect_leq(a, few);
  cr_expect_leq(b, many);
  sim_free(&ref);
}

Test(ndb_bars, hanging_sheet)
{
  hang_bars(HANG("50 50"), "cloth.sheet.k_b=1e-4", "solver.r1=100", 90, 30);
}
Test(ndb_bars, hanging_sheet_that_bends_less)
{
  hang_bars(HANG("50 50"), "cloth.sheet.k_b=1e-2", "solver.r1=100", 140, 45);
}
Test(ndb_bars, hanging_sheet_of_10000)
{
  hang_bars(HANG("100 100"), "cloth.sheet.k_b=1e-4", "solver.r1=100", 380, 115);
}

/* The paper to the letter where it fails, and the gain of each setting. */
Test(ndb_bars, settings_on_the_hanging_sheet)
{
  static const char text[] = HANG("50 50");
  sim ref;
  sim_run(&ref, text, NULL, 0);
  const int64_t sub =
      count_and_free_curve(WATCH(&ref, text, 12, "solver.r1=30", "solver.sweeps=20"), 1e-1);
  char sweeps[64];
  snprintf(sweeps, sizeof sweeps, "solver.sweeps=%d", (int)(50 * sub));
  const int64_t plain =
      count_and_free_curve(WATCH(&ref, text, 12, "solver.subspace=none", sweeps), 1e-1);
  printf("error 0.1: %d products; without subspace not in %d\n", (int)sub, (int)(100 * sub));
  cr_expect(plain > 100 * sub, "%d", (int)plain);
  /* generalised modes hold Jacobi's rate, ordinary ones lose it */
  const int64_t general =
      count_and_free_curve(WATCH(&ref, text, 12, "solver.r1=100", "solver.sweeps=60"), 1e-4);
  const int64_t ordinary = count_and_free_curve(
      WATCH(&ref, text, 12, "solver.r1=100", "solver.sweeps=60", "solver.modes=ordinary"), 1e-4);
  cr_expect(general <= 85 && ordinary > 120, "%d, %d", (int)general, (int)ordinary);
  /* from the rest shape it has to find all details again */
  const int64_t rest = count_and_free_curve(
      WATCH(&ref, text, 12, "solver.r1=30", "solver.sweeps=45", "solver.base=rest"), 1e-2);
  cr_expect(rest > 90, "%d", (int)rest);
  const int64_t cg =
      count_and_free_curve(WATCH(&ref, text, 12, "solver.r1=30", "solver.smoother=pcg",
                                 "solver.sweeps=60", "solver.monitor=residual"),
                           1e-4);
  cr_expect(cg <= 45, "%d", (int)cg);
  /* float sweeps: to rounding of the increment, and then on through residuals in double */
  curve f = WATCH(&ref, text, 12, "solver.r1=100", "solver.sweeps=60", "solver.cycle=20",
                  "solver.precision=mixed");
  cr_expect_lt(f.value[f.rows - 1], 1e-7);
  curve_free(&f);
  sim_free(&ref);
}

Test(ndb_bars, undamped_jacobi_diverges_and_the_log_says_so)
{
  static const char text[] = HANG("50 50");
  static const char *const sets[] = {
      "cloth.sheet.k_b=1e-2", "solver.plugin=ndb_pd", "solver.theta=1", "solver.subspace=none",
      "solver.sweeps=20",     "solver.momentum=none", "run.steps=1",    NULL};
  sim s;
  sim_run(&s, text, sets, 0);
  h5log_step_row *const st = sim_steps(&s);
  cr_expect_eq(st[0].reason, H5LOG_diverged);
  free(st);
  sim_free(&s);
  sim ref;
  sim_run(&ref, text, (const char *const[]){"cloth.sheet.k_b=1e-2", NULL}, 0);
  curve c = WATCH(&ref, text, 12, "cloth.sheet.k_b=1e-2", "solver.theta=1", "solver.subspace=none",
                  "solver.sweeps=100");
  cr_expect_gt(c.value[c.rows - 1], 1.0);
  curve_free(&c);
  /* the subspace does not help: the mode that grows is the highest one */
  c = WATCH(&ref, text, 12, "cloth.sheet.k_b=1e-2", "solver.theta=1", "solver.sweeps=100");
  cr_expect_gt(c.value[c.rows - 1], 1.0);
  curve_free(&c);
  sim_free(&ref);
}

/* ---- contact ---- */

/* The sheet fell from 0.32 m for 3.1 s; without the ball it would be 0.47 m lower. */
static void run_on_ball(sim *ref)
{
  double top = -INFINITY;
  sim_run(ref, ball, NULL, 0);
  for (int64_t i = 0; i < ref->n; ++i) top = fmax(top, ref->x[3 * i + 2]);
  cr_assert(top > 0.28 && top < 0.33, "no contact: the test would be empty, %g m", top);
}

Test(ndb_bars, contact_as_heavy_as_the_diagonal)
{
  sim ref;
  run_on_ball(&ref);
  const int64_t cyclic = count_and_free_curve(
      WATCH(&ref, ball, 30, "solver.cycle=5", "solver.sweeps=110", "solver.monitor=residual"),
      1e-4);
  const int64_t plain = count_and_free_curve(
      WATCH(&ref, ball, 30, "solver.subspace=none", "solver.sweeps=330", "solver.monitor=residual"),
      1e-4);
  const int64_t wide =
      count_and_free_curve(WATCH(&ref, ball, 30, "solver.cycle=5", "solver.sweeps=60",
                                 "solver.r2=100", "solver.monitor=residual"),
                           1e-4);
  printf("contact, residual 1e-4: %d products with 30 modes, %d with 100, without %d\n",
         (int)cyclic, (int)wide, (int)plain);
  /* a cycle of five double sweeps is counted as twelve products, with the two residuals */
  cr_expect_leq(cyclic, 264);
  cr_expect(plain >= 3 * cyclic, "%d", (int)plain);
  cr_expect_leq(wide, 35 * 12 / 5);
  sim_free(&ref);
}

/* mean weight w H_jj: masked reuse does not see w, conjugate gradients hardly do */
Test(ndb_bars, any_contact_weight)
{
  static const double weights[] = {0.1, 1, 100, 1e4, 1e6};
  sim ref;
  run_on_ball(&ref);
  for (int k = 0; k < 5; ++k) {
    char stiff[64];
    snprintf(stiff, sizeof stiff, "contact.bodies.stiffness=%g", STIFF * weights[k]);
    /* ten sweeps (twenty products) and one correction make a cycle of eleven records */
    curve masked = WATCH(&ref, ball, 30, stiff, "solver.cycle=10", "solver.sweeps=80",
                         "solver.monitor=position");
    int64_t first = 0;
    while (first < masked.rows && masked.value[first] > 1e-2) ++first;
    const curve pre = WATCH(&ref, ball, 30, stiff, "solver.cycle=10", "solver.sweeps=10",
                            "solver.reuse=presmooth", "solver.monitor=position");
    const int64_t cg = count_and_free_curve(WATCH(&ref, ball, 30, stiff, "solver.smoother=pcg",
                                                  "solver.sweeps=60", "solver.monitor=residual"),
                                            1e-4);
    printf("w = %g: masked %.2g after a cycle, 0.01 in cycle %d; presmooth %.2g; pcg %d\n",
           weights[k], masked.value[10], (int)(first / 11) + 1, pre.value[pre.rows - 1], (int)cg);
    cr_expect(first < masked.rows && first / 11 + 1 <= 8);
    cr_expect_leq(masked.value[10], 0.35);
    cr_expect_lt(pre.value[pre.rows - 1], 1.0);
    cr_expect_leq(cg, 45);
    curve_free(&masked);
    free(pre.mv);
    free(pre.value);
  }
  sim_free(&ref);
}

/* ---- local-global iteration ---- */

static void expect_energy_fall(const char *const *sets)
{
  static const char text[] = HANG("30 30");
  sim s;
  sim_run(&s, text, sets, 0);
  h5log_iter_row *const it = sim_iters(&s);
  int compared = 0;
  for (int64_t k = 1; k < s.iters; ++k) {
    if (it[k].step != it[k - 1].step) continue;
    ++compared;
    cr_expect(it[k].e_total <= it[k - 1].e_total + 1e-10 * fabs(it[k].e_total),
              "%s: step %d, iteration %d: %.15g J after %.15g J", sets[1], (int)it[k].step,
              (int)it[k].k, it[k].e_total, it[k - 1].e_total);
  }
  cr_expect_geq(compared, 250);
  free(it);
  sim_free(&s);
}
#define FALLS(...) expect_energy_fall((const char *const[]){__VA_ARGS__, NULL})

Test(ndb_bars, energy_falls_in_every_iteration)
{
  static const char ndb[] = "solver.plugin=ndb_pd", none[] = "solver.momentum=none";
  static const char cache[] = "solver.cache=";
  FALLS("solver.plugin=cholmod_pd", "run.steps=13");
  FALLS(ndb, "solver.sweeps=1", none, cache);
  FALLS(ndb, "solver.sweeps=5", none, cache, "solver.r1=30", "solver.r2=30");
  FALLS(ndb, "solver.sweeps=0", none, cache);
  FALLS(ndb, "solver.smoother=jacobi", none, "solver.subspace=none");
  FALLS(ndb, "solver.subspace=bspline", none);
  FALLS(ndb, "solver.rank=3", none, cache, "solver.precision=mixed");
}

/* A global step done well is an exact one: the same run as cholmod_pd at a fixed number of
 * iterations, for each smoother. */
Test(ndb_bars, the_same_run_as_with_an_exact_solve)
{
  static const char text[] = HANG("20 20");
  static const char *const smoothers[] = {"solver.smoother=pcg", "solver.smoother=a_jacobi",
                                          "solver.smoother=chebyshev", "solver.smoother=jacobi"};
  static const char *const exact[] = {"run.steps=5", NULL};
  sim a;
  sim_run(&a, text, exact, 0);
  for (int k = 0; k < 4; ++k) {
    const char *const sets[] = {
        "solver.plugin=ndb_pd", smoothers[k],    "solver.sweeps=200", "solver.warm=0",
        "solver.momentum=none", "solver.cache=", "run.steps=5",       NULL};
    sim b;
    double far = 0.0;
    sim_run(&b, text, sets, 0);
    for (int64_t i = 0; i < 3 * a.n; ++i) far = fmax(far, fabs(a.x[i] - b.x[i]));
    printf("%s: off by %.3g m\n", smoothers[k], far);
    cr_expect_lt(far, 1e-9);
    sim_free(&b);
  }
  sim_free(&a);
}

/* ---- barriers ---- */

/* Two sheets that meet at 0.8 m/s, as in test_dbb.c. */
static const char sheets[] =
    "[run]\nsteps = 5\ndt = 0.01\ngravity = 0 0 0\n[exec]\nbackend = cpu\nthreads = 1\n"
    "[stop]\ntol_abs = 1e-6\ntol_rel = 0\nmax_iters = 1000\n[log]\naudit = every\n"
    "[cloth.one]\nmodel = arap+isometric\npattern = regular\nshape = grid\nsize = 0.1 "
    "0.1\nresolution = 5 5\ndensity = 0.2\nmembrane = 20\n"
    "k_b = 1e-5\nthickness = 0.001\nvelocity = 0 0 0.4\n"
    "[cloth.two]\nmodel = arap+isometric\npattern = regular\nshape = grid\nsize = 0.1 "
    "0.1\nresolution = 5 5\ndensity = 0.2\nmembrane = 20\n"
    "k_b = 1e-5\nthickness = 0.001\nvelocity = 0.2 0 -0.4\n"
    "transform = translate 0.02 0.01 0.02 rotate 0 0 1 25 rotate 1 0 0 8\n"
    "[solver]\nplugin = ndb_pd\ncache =\n[collision.self]\nplugin = patch_bvh\n"
    "[contact.self]\nplugin = dbb\nd_hat = 3e-3\n\n";

/* Barriers change their weights by orders of magnitude: the matrix must not follow them down. */
Test(ndb_bars, barriers_converge_and_nothing_intersects)
{
  sim s;
  int touched = 0;
  sim_run(&s, sheets, NULL, 0);
  h5log_step_row *const st = sim_steps(&s);
  for (int64_t k = 0; k < s.steps; ++k) {
    touched += st[k].contacts > 0;
    cr_expect_eq(st[k].reason, H5LOG_converged_abs, "step %d", (int)k);
    cr_expect_eq(st[k].intersections, 0, "step %d", (int)k);
  }
  printf("dbb: %d iterations\n", (int)s.iters);
  cr_expect_geq(touched, 3);
  free(st);
  sim_free(&s);
}

/* Truncated after a few iterations it is penetration-free all the same, and not because a bound
 * holds everything where it is: no step is cut, and gaps stay near the middle of d_hat. */
Test(ndb_bars, non_distance_barrier_cut_short)
{
  static const char *const sets[] = {"contact.self.plugin=ndb", "stop.max_iters=20", NULL};
  sim s;
  double lowest = INFINITY, shortest = 1.0;
  int repairs = 0, touched = 0;
  sim_run(&s, sheets, sets, 0);
  h5log_step_row *const st = sim_steps(&s);
  h5log_iter_row *const it = sim_iters(&s);
  for (int64_t k = 0; k < s.steps; ++k) {
    cr_expect_eq(st[k].intersections, 0, "step %d", (int)k);
    touched += st[k].contacts > 0;
    if (isfinite(st[k].min_gap)) lowest = fmin(lowest, st[k].min_gap);
  }
  for (int64_t i = 0; i < s.iters; ++i) {
    if (it[i].stage == -1) ++repairs;
    if (it[i].stage == -1) shortest = fmin(shortest, it[i].alpha);
  }
  printf(
      "ndb cut short: %d steps in contact, %d filters behind the last iteration, the shortest step "
      "%.3g, smallest gap %.3g m\n",
      touched, repairs, shortest, lowest);
  /* 2.1 mm measured; with next to no weight (w0 = 1e-12, growth_base = 1) bounds take the gap to
   * rounding */
  cr_expect(touched >= 3 && shortest >= 1.0 && lowest > 1.2e-3, "%d, %g, %g m", touched, shortest,
            lowest);
  free(st), free(it);
  sim_free(&s);
}
