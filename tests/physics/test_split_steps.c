/* Split steps: an elastic step on contact frozen at its start (pd_bfgs), and the correction of
 * ipc_barrier.  No step ends with an intersection, for any result of the elastic step; a proxy
 * spares the correction most of its work; bodies and pins that move arrive; without contact
 * the steps equal Newton's method. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "log/h5read.h"
#include "support/sim.h"

#define RUN                                                                           \
  "[run]\nup_axis = z\nsteps = 24\ndt = 0.01\n[exec]\nbackend = cpu\nthreads = 1\n"   \
  "[stop]\ntol_rel = 1e-4\nmax_iters = 40\n[log]\naudit = every\n[solver]\nplugin = " \
  "pd_bfgs\n"
#define CONTACT                                                                           \
  "[collision.bodies]\nplugin = sdf\n[collision.self]\nplugin = patch_bvh\n[contact.all]" \
  "\nplugin = ipc_barrier\nd_hat = 5 mm\n"
#define PRINTED /* the correction of the paper */ "contact.all.correction=splitting"
#define SHEET                                                                             \
  "[cloth.sheet]\nmodel = arap+isometric\nsize = 0.6 0.6\nresolution = 21 21\ndensity = " \
  "0.2\nmembrane = 500\n"                                                                 \
  "k_b = 1e-4\nthickness = 1 mm\n"

/* One column of /steps_extra, [steps]; the caller frees it. */
static double *read_extra_column(sim *s, const char *name)
{
  double *const out = calloc((size_t)s->steps + 1, sizeof *out);
  h5read *r = NULL;
  cr_assert_eq(h5read_open(&s->err, s->log, &r), LOOM_OK, "%s", s->err.text);
  cr_assert_eq(h5read_column(r, &s->err, "steps_extra", name, 'R', 0, s->steps, out), LOOM_OK, "%s",
               s->err.text);
  h5read_close(r);
  return out;
}

static double mean_positive_value(const double *v, int64_t n)
{
  double sum = 0.0;
  int64_t count = 0;
  for (int64_t k = 0; k < n; ++k)
    if (isfinite(v[k]) && v[k] > 0.0) sum += v[k], ++count;
  return count > 0 ? sum / (double)count : 0.0;
}

/* Touched, and clean in every step; contact with an exact ball sees vertices alone, and edges dip
 * into it between them. */
static void expect_clean_contact(sim *s, const char *what)
{
  h5log_step_row *const st = sim_steps(s);
  int touched = 0;
  for (int64_t k = 0; k < s->steps; ++k) {
    touched += st[k].contacts > 0;
    cr_expect_eq(st[k].intersections - st[k].shape_entries, 0, "%s, step %d", what, (int)k);
  }
  cr_expect(touched >= 5, "%s: %d steps touch", what, touched);
  free(st);
}

static const char ball[] =
    RUN SHEET "transform = translate 0.02 0.01 0.215\n"
              "[body.ball]\nshape = sphere\nradius = 0.2\nfriction = 0.2\n" CONTACT;

/* The proxy has the effect of the paper's figure: without it the correction has to do all the work.
 */
Test(split_steps, a_proxy_spares_the_correction)
{
  static const char *const proxies[] = {"full", "half", "none"};
  double moved[3], cg[3];
  for (int k = 0; k < 3; ++k) {
    char set[64];
    sim s;
    snprintf(set, sizeof set, "solver.proxy=%s", proxies[k]);
    sim_run(&s, ball, (const char *const[]){set, PRINTED, NULL}, 0);
    expect_clean_contact(&s, proxies[k]);
    double *const m = read_extra_column(&s, "contact.all.moved"), *const c = read_extra_column(
                                                                      &s, "contact.all.cg");
    moved[k] = mean_positive_value(m, s.steps);
    cg[k] = mean_positive_value(c, s.steps);
    printf("proxy %s: moved %.3g m, %.1f iterations of linear solves\n", proxies[k], moved[k],
           cg[k]);
    free(m);
    free(c);
    sim_free(&s);
  }
  cr_expect_gt(moved[2], 2.0 * moved[0], "%g m, with the proxy %g m", moved[2], moved[0]);
  cr_expect_gt(moved[2], 1.5 * moved[1], "%g m, with half of it %g m", moved[2], moved[1]);
  cr_expect_gt(moved[1], 1.1 * moved[0], "half of it %g m, all of it %g m", moved[1], moved[0]);
  cr_expect_gt(cg[2], cg[0], "%g, with the proxy %g", cg[2], cg[0]);
}

static double mean_range_height(const sim *s, int64_t first, int64_t num)
{
  double sum = 0.0;
  for (int64_t i = first; i < first + num; ++i) sum += s->x[3 * i + 2];
  return sum / (double)num;
}

/* Two sheets that meet by 20 mm a step go on together, wrapped around each other: on no step's way
 * a pair passes through the other.  The control: without a bound there is no correction, and one
 * sheet passes through the other. */
Test(split_steps, without_the_correction_cloth_passes_through)
{
  static const char flat[] =
      RUN "[cloth.one]\nmodel = arap+isometric\npattern = regular\nsize = 0.2 0.2\nresolution = 9 "
          "9\ndensity = 0.2\nmembrane = 50\n"
          "thickness = 1 mm\nvelocity = 0 0 -2\ntransform = translate 0 0 0.03\n"
          "[cloth.two]\nmodel = arap+isometric\npattern = regular\nsize = 0.2 0.2\nresolution = 9 "
          "9\ndensity = 0.2\nmembrane = 50\n"
          "thickness = 1 mm\ntransform = translate 0.01 0.02 0 rotate 0 0 1 20\n"
          "[collision.self]\nplugin = patch_bvh\n[contact.all]\nplugin = ipc_barrier\n"
          "d_hat = 5 mm\n";
  for (int with = 0; with < 2; ++with) {
    sim s;
    sim_run(&s, flat,
            (const char *const[]){with ? "filter.bound=auto" : "filter.bound=none",
                                  "log.audit=trajectory", NULL},
            !with);
    const double gap = mean_range_height(&s, 0, 81) - mean_range_height(&s, 81, 81);
    if (with) expect_clean_contact(&s, "two sheets");
    printf("%s the correction: %lld pairs pass, the sheets are %.4f m apart\n",
           with ? "with" : "without", (long long)s.sum.passes, gap);
    if (with)
      cr_expect_eq(s.sum.passes, 0);
    else
      cr_expect((s.sum.passes > 0 && gap < -0.1) || s.status != LOOM_OK, "%g m", gap);
    sim_free(&s);
  }
}

/* A ball comes from below by 8 mm a step, over one and a half times d_hat, and pins turn: both are
 * where they should be at the end, with the cloth on the outside. */
Test(split_steps, bodies_and_pins_arrive)
{
  static const char pushed[] =
      RUN SHEET "pins = corners\n[body.ball]\nshape = sphere\nradius = 0.1\nposition = 0 0 -0.115\n"
                "motion = translate 0 0 0.8 0 0.1\n" CONTACT;
  sim s;
  sim_run(&s, pushed, (const char *const[]){"run.steps=14", NULL}, 0);
  expect_clean_contact(&s, "pushed by a ball");
  const double z = s.x[3 * (10 * 21 + 10) + 2];
  printf("the ball's top is at %.4f m, the middle of the sheet at %.4f m\n", 0.065, z);
  cr_expect(z > 0.0655 && z < 0.09, "%g m", z);
  sim_free(&s);
}

/* By five times d_hat a step, in whole steps: between two moves the correction opens the gap again
 * that the move has halved. */
Test(split_steps, a_fast_body_arrives_without_halving_the_step)
{
  static const char risen[] =
      RUN SHEET "transform = translate 0.02 0.01 0.205\n[body.ball]\nshape = sphere\nradius = 0.2\n"
                "motion = translate 0 0 0.2 0 0.2\n" CONTACT;
  sim s;
  sim_run(&s, risen,
          (const char *const[]){"run.steps=9", "contact.all.d_hat=2 mm", "stop.tol_rel=1e-2",
                                "stop.max_iters=400", "filter.max_halvings=0", NULL},
          1);
  cr_expect_eq(s.sum.steps_done, 9, "%d steps: %s", (int)s.sum.steps_done, s.err.text);
  expect_clean_contact(&s, "pushed by a fast ball");
  sim_free(&s);
}

/* Without contact a step equals any other solver's for the same energy. */
Test(split_steps, without_contact_it_ends_where_newton_ends)
{
  static const char hang[] =
      "[run]\nsteps = 5\ndt = 0.01\n[exec]\nbackend = cpu\n[stop]\ntol_abs = 1e-10\ntol_rel = 0\n"
      "max_iters = 3000\n[cloth.sheet]\nmodel = arap+isometric\npattern = regular\nsize = 0.3 "
      "0.3\nresolution = 9 9\ndensity = 0.2\nmembrane "
      "= "
      "50\nk_b = 1e-4\npins = top_left top_right\n[solver]\nplugin = cholmod_newton\n";
  static const char *const solvers[][3] = {{"solver.plugin=cholmod_newton", NULL, NULL},
                                           {"solver.plugin=pd_bfgs", NULL, NULL},
                                           {"solver.plugin=pd_bfgs", "solver.momentum=none", NULL}};
  sim s[3];
  for (int k = 0; k < 3; ++k) sim_run(&s[k], hang, solvers[k], 0);
  for (int k = 1; k < 3; ++k) {
    double most = 0.0;
    for (int64_t i = 0; i < 3 * s[0].n; ++i) most = fmax(most, fabs(s[k].x[i] - s[0].x[i]));
    cr_expect_lt(most, 1e-6, "%s %s: %g m", solvers[k][0], k == 2 ? solvers[k][1] : "", most);
  }
  cr_expect_lt(s[1].iters, s[2].iters / 2, "momentum: %d iterations, without %d", (int)s[1].iters,
               (int)s[2].iters);
  for (int k = 0; k < 3; ++k) sim_free(&s[k]);
}

/* The sheet at rest on the ball, by Newton's method.  A split step that counts contact twice moves
 * the sheet, in and out; a proximal step on the whole problem leaves it where it is. */
Test(split_steps, what_rests_stays_with_a_proximal_step)
{
  static const char *const kinds[] = {"splitting", "proximal"};
  double moved[2], excess[2];
  sim ref;
  sim_run(&ref, ball,
          (const char *const[]){"solver.plugin=cholmod_newton", "filter.when=every",
                                "contact.all.stiffness=1", "cloth.sheet.damping=20", "run.steps=60",
                                "log.frames_every=1", NULL},
          1);
  h5log_step_row *const right = sim_steps(&ref);
  for (int k = 0; k < 2; ++k) {
    char log[200], kind[64];
    sim s;
    snprintf(log, sizeof log, "run.replay=%s", ref.log);
    snprintf(kind, sizeof kind, "contact.all.correction=%s", kinds[k]);
    sim_run(&s, ball,
            (const char *const[]){log, "run.replay_first=56", "run.steps=4",
                                  "run.replay_state=fresh", "contact.all.stiffness=1",
                                  "cloth.sheet.damping=20", "stop.max_iters=400", kind, NULL},
            0);
    h5log_step_row *const st = sim_steps(&s);
    double *const m = read_extra_column(&s, "contact.all.moved");
    moved[k] = mean_positive_value(m, s.steps);
    excess[k] = st[3].e_elastic - right[59].e_elastic;
    for (int j = 0; j < 4; ++j) cr_expect_eq(st[j].intersections, 0);
    printf("%s: moved %.3g m, elastic energy above Newton's %.3g J of %.3g J\n", kinds[k], moved[k],
           excess[k], right[59].e_elastic);
    free(m);
    free(st);
    sim_free(&s);
  }
  cr_expect_gt(moved[0], 10.0 * moved[1], "%g m, with a proximal step %g m", moved[0], moved[1]);
  cr_expect_gt(fabs(excess[0]), 5.0 * fabs(excess[1]), "%g J, with a proximal step %g J", excess[0],
               excess[1]);
  free(right);
  sim_free(&ref);
}

/* One column of a table of iterations, [*num]; the caller frees it. */
static double *of_iterations(sim *s, const char *table, const char *name, int64_t *num)
{
  h5read *r = NULL;
  cr_assert_eq(h5read_open(&s->err, s->log, &r), LOOM_OK, "%s", s->err.text);
  *num = h5read_num_rows(r, table);
  cr_assert_gt(*num, 0, "no rows in %s", table);
  double *const out = calloc((size_t)*num, sizeof *out);
  cr_assert_eq(h5read_column(r, &s->err, table, name, 'R', 0, *num, out), LOOM_OK, "%s: %s", name,
               s->err.text);
  h5read_close(r);
  return out;
}

/* While contact is frozen its model is not asked, and has no numbers; it has when it corrects. */
Test(split_steps, frozen_contact_has_no_numbers)
{
  int64_t num, known = 0, last = 0;
  sim s;
  sim_run(&s, ball, (const char *const[]){NULL}, 0);
  double *const kappa = of_iterations(&s, "iters_extra", "contact.all.kappa", &num);
  for (int64_t k = 0; k < num; ++k) {
    known += isfinite(kappa[k]);
    last = isfinite(kappa[k]) ? k : last;
    cr_expect(!isfinite(kappa[k]) || kappa[k] > 0.0, "row %d: %g", (int)k, kappa[k]);
  }
  cr_expect_eq(known, s.steps, "%d rows with numbers", (int)known);
  cr_expect_eq(last, num - 1);
  free(kappa);
  sim_free(&s);
}

/* The matrices do not change within a step, and the pairs that its iterations learned of them are
 * kept; in the next step contact is another one, and it is forgotten. */
Test(split_steps, the_history_lasts_for_a_step)
{
  int64_t num, begins = 0, most = 0;
  sim s;
  sim_run(&s, ball, (const char *const[]){"solver.history=1000", NULL}, 0);
  double *const pairs = of_iterations(&s, "iters_extra", "history", &num);
  for (int64_t k = 1; k < num; ++k) {
    /* the row of the guess has none */
    const int first = !isfinite(pairs[k - 1]) && isfinite(pairs[k]) && pairs[k] > 0.0;
    const int second = k > 1 && !isfinite(pairs[k - 2]) && isfinite(pairs[k - 1]);
    begins += first;
    if (first) cr_expect_eq(pairs[k], 2.0, "a step begins with %g pairs", pairs[k]);
    if (second && pairs[k - 1] > 0.0 && isfinite(pairs[k]))
      cr_expect_eq(pairs[k], 4.0, "and goes on with %g", pairs[k]);
    if (isfinite(pairs[k])) most = pairs[k] > (double)most ? (int64_t)pairs[k] : most;
  }
  printf("%d steps with a history, of up to %d pairs\n", (int)begins, (int)most);
  cr_expect_gt(begins, 5);
  cr_expect_gt(most, 20);
  free(pairs);
  sim_free(&s);
}

/* The paper's guess is a solve in the span of the splines from the start of the step, which lowers
 * the energy. */
Test(split_steps, the_guess_of_the_paper_is_a_solve)
{
  static const char hang[] = RUN SHEET "pins = top_left top_right\n[contact.c]\nplugin = none\n";
  static const char *const guesses[] = {"run.guess=last", "solver.guess=reduced"};
  double first[2];
  for (int k = 0; k < 2; ++k) {
    sim s;
    sim_run(&s, hang, (const char *const[]){guesses[k], "run.steps=1", NULL}, 0);
    int64_t num;
    double *const e = of_iterations(&s, "iters", "e_total", &num);
    first[k] = e[0];
    free(e);
    sim_free(&s);
  }
  cr_expect_lt(first[1], first[0], "%g J, at the start %g J", first[1], first[0]);
}

/* A barrier for m/h^2 that has to hold against the elastic operator is too soft: stiffness is found
 * for the weights of the correction, and gaps stay as under Newton's method. */
Test(split_steps, the_stiffness_is_for_the_weights_of_the_correction)
{
  static const char *const kinds[] = {"contact.all.correction=splitting",
                                      "contact.all.correction=proximal"};
  double first[2] = {0.0, 0.0}, gap = INFINITY;
  for (int k = 0; k < 2; ++k) {
    int64_t num;
    sim s;
    sim_run(&s, ball, (const char *const[]){kinds[k], NULL}, 0);
    double *const kappa = of_iterations(&s, "iters_extra", "contact.all.kappa", &num);
    for (int64_t j = 0; j < num && !(first[k] > 0.0); ++j)
      if (isfinite(kappa[j])) first[k] = kappa[j];
    h5log_step_row *const st = sim_steps(&s);
    for (int64_t j = 0; k == 1 && j < s.steps; ++j)
      if (st[j].contacts > 0) gap = fmin(gap, st[j].min_gap);
    free(st);
    free(kappa);
    sim_free(&s);
  }
  printf("stiffness %.3g and %.3g N/m, smallest gap %.3g m\n", first[0], first[1], gap);
  cr_expect_gt(first[1], 10.0 * first[0], "%g N/m, for the mass %g N/m", first[1], first[0]);
  cr_expect_gt(gap, 1e-4, "%g m", gap);
}

/* The correction's requests to collision keep [filter] min_gap like every other step, with a
 * barrier that is too soft to keep it by itself. */
Test(split_steps, the_correction_keeps_the_least_gap)
{
  double gap[2] = {INFINITY, INFINITY};
  for (int k = 0; k < 2; ++k) {
    sim s;
    sim_run(&s, ball,
            (const char *const[]){"contact.all.stiffness=0.1",
                                  k == 0 ? "filter.min_gap=0" : "filter.min_gap=0.1 mm", NULL},
            0);
    h5log_step_row *const st = sim_steps(&s);
    for (int64_t j = 0; j < s.steps; ++j)
      if (st[j].contacts > 0) gap[k] = fmin(gap[k], st[j].min_gap);
    free(st);
    sim_free(&s);
  }
  printf("smallest gap %.3g m, with min_gap = 1e-4 m %.3g m\n", gap[0], gap[1]);
  cr_expect_lt(gap[0], 1e-5, "%g m", gap[0]);
  cr_expect_geq(gap[1], 0.999e-4, "%g m", gap[1]);
}

/* X. Li et al. 2023: splines of three to four cells and five sweeps take three cycles to a
 * hundredth of the error, in the energy norm. */
Test(split_steps, two_levels_take_few_cycles)
{
  static const char hang[] =
      RUN "[cloth.sheet]\nmodel = arap+isometric\npattern = regular\nsize = 1 1\nresolution = 51 "
          "51\ndensity = 0.2\nmembrane = 300\n"
          "k_b = 1e-5\npins = top_left top_right\n[contact.c]\nplugin = none\n";
  enum { CYCLES = 6 };
  for (int spacing = 3; spacing <= 4; ++spacing) {
    char cells[32];
    int64_t num;
    double worst = 0.0;
    sim s;
    snprintf(cells, sizeof cells, "solver.spacing=%d", spacing);
    sim_run(&s, hang,
            (const char *const[]){cells, "run.steps=3", "stop.tol_rel=0", "stop.tol_abs=0",
                                  "stop.max_iters=5", "solver.cycles=6", "solver.monitor=error",
                                  "solver.momentum=none", NULL},
            1);
    double *const error = of_iterations(&s, "inner", "value", &num);
    cr_assert_eq(num, 3 * 5 * CYCLES, "%d rows", (int)num);
    for (int64_t k = 2; k < num; k += CYCLES) worst = fmax(worst, error[k]);
    printf("spacing %d: after three cycles %.3g of the error\n", spacing, worst);
    cr_expect_leq(worst, 1e-2, "spacing %d: %g", spacing, worst);
    free(error);
    sim_free(&s);
  }
}

/* Frozen contact has a Hessian, which the splines and the sweeps have to know: in every step that
 * touches, a few iterations come nearer to the end of the elastic step. */
Test(split_steps, iterations_converge_with_contact)
{
  enum { TOUCHES = 5, STEPS = 7, LAST = 7 }; /* step and iteration numbers */
  int touched = 0;
  double first = NAN;
  sim s;
  sim_run(&s, ball,
          (const char *const[]){"run.steps=7", "stop.max_iters=8", "solver.momentum=none", NULL},
          1);
  cr_expect_eq(s.sum.steps_done, STEPS, "%s", s.err.text);
  h5log_iter_row *const it = sim_iters(&s);
  for (int64_t j = 0; j < s.iters; ++j) {
    if (it[j].k == 0) first = it[j].r_solved_rms;
    if (it[j].k != LAST || it[j].stage == -1 || it[j].step < TOUCHES) continue;
    ++touched;
    printf("step %d: %.3g m, at first %.3g m\n", (int)it[j].step, it[j].r_solved_rms, first);
    cr_expect_lt(it[j].r_solved_rms, 0.5 * first, "step %d: %g m, at first %g m", (int)it[j].step,
                 it[j].r_solved_rms, first);
  }
  cr_expect_eq(touched, STEPS - TOUCHES, "%d steps made all iterations", touched);
  free(it);
  sim_free(&s);
}

/* At the start of a step no pair has slipped in it, and the Hessian of friction there is that of
 * sticking contact: an expansion by it would hold a sheet that slides down to epsilon_v, 1 mm/s. On
 * a floor of 30 degrees, 0.3 s after it has been dropped from a millimetre, the sheet gains speed
 * by g (sin - mu cos), less some percent, since friction is too large by the slip of this step over
 * that of the last one; and with a coefficient above the tangent it stays. */
Test(split_steps, what_slides_is_not_held_by_friction)
{
  static const char slope[] =
      RUN "[cloth.sheet]\nmodel = arap+isometric\npattern = regular\nsize = 0.3 0.3\nresolution = "
          "9 9\ndensity = 0.2\nmembrane = 500\n"
          "k_b = 1e-4\nthickness = 1 mm\ntransform = translate 0 0 0.003\n"
          "[body.floor]\nshape = plane\n[collision.bodies]\nplugin = sdf\n[collision.self]\n"
          "plugin = patch_bvh\n[contact.all]\nplugin = ipc_barrier\n";
  static const struct {
    const char *solver, *friction;
    double gains; /* m/s^2 */
    const char *contact;
  } cases[] = {
      {"solver.plugin=pd_bfgs", "body.floor.friction=0.3", 2.3564, "contact.all.d_hat=2 mm"},
      {"solver.plugin=cama_pcg", "body.floor.friction=0.3", 2.3564, "contact.all.plugin=penalty"},
      {"solver.plugin=pd_bfgs", "body.floor.friction=0.7", 0.0, "contact.all.d_hat=2 mm"},
      {"solver.plugin=cama_pcg", "body.floor.friction=0.7", 0.0, "contact.all.plugin=penalty"}};
  for (size_t k = 0; k < sizeof cases / sizeof *cases; ++k) {
    double speed[2];
    sim s;
    sim_run(&s, slope,
            (const char *const[]){cases[k].solver, cases[k].friction, cases[k].contact,
                                  "run.gravity=4.905 0 -8.4957", "run.steps=40",
                                  "log.frames_every=1", NULL},
            0);
    expect_clean_contact(&s, cases[k].friction);
    for (int end = 0; end < 2; ++end) {
      speed[end] = 0.0;
      sim_frame(&s, end ? s.frames - 1 : s.frames - 11, s.x, s.v, NULL);
      for (int64_t i = 0; i < s.n; ++i) speed[end] += s.v[3 * i] / (double)s.n;
    }
    const double gain = (speed[1] - speed[0]) / 0.1;
    printf("%s, %s: %.4f m/s at the end, %.4f m/s^2\n", cases[k].solver, cases[k].friction,
           speed[1], gain);
    cr_expect_lt(fabs(gain - cases[k].gains), 0.06 * cases[k].gains + 1e-3, "%s, %s: %g m/s^2",
                 cases[k].solver, cases[k].friction, gain);
    cr_expect(cases[k].gains > 0.0 ? speed[1] > 0.3 : speed[1] < 2e-3, "%s, %s: %g m/s",
              cases[k].solver, cases[k].friction, speed[1]);
    sim_free(&s);
  }
}
