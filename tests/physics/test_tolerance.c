/* The stopping test: the same at every time step, of every object alone, in every frame, and for
 * stiff objects; the reports of a run and its log on steps that did not meet it; the momentum
 * defect. */
#include "physics/tolerance.h"

TestSuite(tolerance, .init = proc_enter_memory, .fini = proc_leave);

static const char *const no_sets[] = {NULL, NULL};

Test(tolerance, a_flag_hangs_at_every_time_step)
{
  tol_flag("cholmod_newton", "1e-2", 1);
  tol_flag("ndb_pd", "1e-2", 1);
  tol_flag("vbd", "1e-2", 0);
  tol_flag("cholmod_newton", "1e-3", 1);
  tol_flag("pcg_newton", "1e-3", 1);
  tol_flag("vbd", "1e-3", 1);
  tol_flag("aa_pd", "1e-4", 1);
}

/* The control: a bound on the length passes every force at a small step.  It is the only one where
 * it is given. */
Test(tolerance, a_length_lets_all_forces_pass)
{
  tol_run t;
  proc p;
  tol_make(TOL_FLAG, "300",
           (const char *const[]){"stop.tol_abs=1e-6", "run.dt=1e-5", "solver.plugin=cholmod_newton",
                                 NULL},
           &t);
  int64_t iters = 0;
  for (int64_t i = 0; i < t.steps; ++i) iters += t.rows[i].iters;
  cr_expect_eq(iters, 0);
  tol_free(&t);
  proc_loom(&p, LOOM_ARGS("info", "case.h5"));
  cr_expect(strstr(p.out, "300 of 300 steps had no iteration") != NULL, "%s", p.out);
  proc_loom(&p, LOOM_ARGS("run", "case.ini", "--set", "stop.tol_abs=-0.5", "-o", "b.h5"));
  cr_expect_eq(p.code, 2);
  cr_expect(strstr(p.err, "tol_abs") != NULL && strstr(p.err, "tol_acc") != NULL, "%s", p.err);
}

/* Parts of a step are steps. */
Test(tolerance, substeps_are_solved)
{
  tol_run parts, steps;
  tol_make(TOL_FLAG, "1",
           (const char *const[]){"run.substeps=100", "run.dt=1e-2", "solver.plugin=cholmod_newton",
                                 NULL},
           &parts);
  tol_make(TOL_FLAG, "100",
           (const char *const[]){"run.dt=1e-4", "solver.plugin=cholmod_newton", NULL}, &steps);
  cr_expect_lt(tol_distance(&parts, &steps, 0.0), 1e-12);
  cr_expect_eq(tol_count(&parts, 0), 0);
  for (int64_t i = 0; i < parts.steps; ++i)
    cr_expect_gt(parts.rows[i].iters, 0, "part %lld", (long long)i);
  tol_free(&parts);
  tol_free(&steps);
}

/* dt = 10 s from the last position: gravity alone is 981 m of residual, which is no reason to end.
 */
Test(tolerance, quasi_static_steps_iterate)
{
  tol_run t;
  tol_make(TOL_FLAG, "2",
           (const char *const[]){"run.dt=10", "run.guess=last", "solver.plugin=cholmod_newton",
                                 "stop.max_iters=300", NULL},
           &t);
  for (int64_t i = 0; i < t.steps; ++i) cr_expect_gt(t.rows[i].iters, i == 0 ? 1 : -1);
  cr_expect_gt(tol_sag(&t), 1e-3);
  tol_free(&t);
}

Test(tolerance, stiff_objects)
{
  static const char *const soft[] = {"cholmod_newton", "cholmod_pd", "aa_pd", "vbd", NULL};
  static const char *const stiff[] = {"pcg_newton", "cholmod_pd", "aa_pd", "xpbd", NULL};
  tol_pendulum(soft, "1e4");
  tol_pendulum(stiff, "1e8");
}

/* A stiff block in free fall: its first guess is the answer, which no solver moves off. */
Test(tolerance, a_stiff_block_falls_without_an_iteration)
{
  static const char *const solvers[] = {"cholmod_newton", "ndb_pd", "xpbd"};
  for (size_t k = 0; k < sizeof solvers / sizeof *solvers; ++k) {
    char plugin[64];
    tol_run t;
    (void)snprintf(plugin, sizeof plugin, "solver.plugin=%s", solvers[k]);
    tol_make(TOL_PENDULUM, "20",
             (const char *const[]){plugin, "solid.block.pins=none", "solid.block.stiffness=1e8",
                                   "solid.block.transform=rotate 1 2 3 40", NULL},
             &t);
    for (int64_t i = 0; i < t.steps; ++i) cr_expect_eq(t.rows[i].iters, 0, "%s", solvers[k]);
    /* implicit Euler: g h^2 n (n + 1)/2 */
    for (int64_t i = 0; i < t.verts; ++i)
      cr_expect(fabs(t.x[3 * i + 2] - t.x0[3 * i + 2] + 9.81 * 1e-4 * 210) < 1e-12);
    tol_free(&t);
  }
}

#define PENALTY                                                                     \
  "[collision.b]\nplugin = sdf\n[contact.b]\nplugin = penalty\n[solver]\nplugin = " \
  "cholmod_newton\n"

#define BARRIER                                                                            \
  "[collision.s]\nplugin = patch_bvh\n[collision.b]\nplugin = sdf\n[contact.c]\nplugin = " \
  "ipc_barrier\n[solver]\nplugin = cholmod_newton\n"

/* Nor the stiffness that a barrier chooses: 20 kg/m^2 elsewhere, and the gaps here are the same. */
Test(tolerance, a_barrier_is_chosen_for_its_object) { tol_far(BARRIER, TOL_HEAVY, "25"); }

#define SELF(contact, solver)                                                                      \
  "[collision.s]\nplugin = patch_bvh\n[collision.b]\nplugin = sdf\n[contact.c]\nplugin = " contact \
  "\n[solver]\nplugin = " solver "\n"

/* Islands of objects are problems of their own, under a direct solver to rounding.  With a line
 * search of the whole scene the other object chooses between two solutions of step 59, 2.6 mm
 * apart; one share of clamped eigenvalues for all moves the strip by 0.3 um. */
Test(tolerance, islands_are_problems_of_their_own)
{
  tol_far_within(SELF("penalty", "cholmod_newton"), TOL_HEAVY, "60", "stop.max_iters=60", 1e-9);
  tol_far_within(SELF("penalty", "pcg_newton"), TOL_HEAVY, "60", "stop.max_iters=60", 1e-6);
  tol_far_within(SELF("ndb", "cholmod_newton"), TOL_HEAVY, "30", "stop.max_iters=60", 1e-9);
  tol_far_within(SELF("ipc_barrier\nstiffness = 0.5", "cholmod_newton"), TOL_OTHER, "30",
                 "stop.max_iters=60", 1e-6);
}

/* A stiffness that a barrier chooses is doubled by the gaps of its own island (0.49 and 0.43 mm by
 * those of the scene), and not by iterations that only the other island needs (0.04 mm). */
Test(tolerance, a_barrier_is_doubled_for_its_island)
{
  tol_far_within(SELF("ipc_barrier", "cholmod_newton"), TOL_OTHER, "30", "stop.max_iters=60", 1e-6);
  tol_far_within(SELF("dbb", "cholmod_newton"), TOL_OTHER, "30", "stop.max_iters=60", 1e-5);
}

/* The correction of split steps.  With one linear solve for all objects the fast sheet moves the
 * strip by 3 um; with one step bound or line search, and a single iteration, the strip falls 52 mm
 * less as the other sheet meets a ball. */
Test(tolerance, a_correction_is_a_problem_of_each_island)
{
  tol_far_within(SELF("ipc_barrier", "cama_pcg"), TOL_FAST, "30", "stop.max_iters=60", 1e-7);
  tol_far_within(SELF("ipc_barrier\ncorrection_iters = 1", "cama_pcg"), TOL_HITS, "12",
                 "stop.max_iters=60", 1e-6);
}

/* An island within its tolerance stays where it is while another one iterates.  If it moves on, two
 * frozen steps differ by 1e-9 m, and the slide over the rod makes 0.19 mm of it in 40 steps. */
Test(tolerance, an_island_within_its_tolerance_stays)
{
  tol_far_within(SELF("ipc_barrier", "cama_pcg"), TOL_OTHER, "40", "stop.max_iters=60", 1e-6);
}

Test(tolerance, what_is_far_away_changes_nothing)
{
  tol_far(PENALTY, TOL_HEAVY, "30");
  tol_far(PENALTY, TOL_FAST, "30");
}

/* Modes, damping and momentum of ndb_pd are of the whole scene, and change the way to the solution
 * alone.  Were the weight of a contact that of the heavy sheet, the strip would end elsewhere. */
Test(tolerance, modes_of_a_scene_do_not_move_a_solution)
{
  tol_far_set(SELF(TOL_FIXED, "ndb_pd"), TOL_HEAVY, "15", TOL_TIGHT, 1e-6);
}

/* A flag with pins that move with 1 m/s, and all of it with them. */
Test(tolerance, a_frame_that_moves_is_no_other)
{
  static const char *const solvers[] = {"cholmod_newton", "ndb_pd", "aa_pd", NULL};
  for (const char *const *s = solvers; *s != NULL; ++s) {
    char plugin[64];
    tol_run rests, moves;
    (void)snprintf(plugin, sizeof plugin, "solver.plugin=%s", *s);
    tol_make(TOL_FLAG, "30", (const char *const[]){"stop.max_iters=500", plugin, NULL}, &rests);
    tol_make(TOL_FLAG, "30",
             (const char *const[]){"cloth.flag.velocity=1 0 0",
                                   "cloth.flag.pin_motion=translate 1 0 0", "stop.max_iters=500",
                                   plugin, NULL},
             &moves);
    const double off = tol_distance(&rests, &moves, 0.3);
    printf("frames     %-15s %.1e mm\n", *s, 1e3 * off);
    cr_expect_lt(off, 1e-6, "%s", *s);
    for (int64_t i = 0; i < rests.steps; ++i)
      cr_expect_float_eq(rests.rows[i].r_ref, moves.rows[i].r_ref, 1e-4 * rests.rows[i].r_ref,
                         "step %lld: %g, %g m", (long long)i, rests.rows[i].r_ref,
                         moves.rows[i].r_ref);
    tol_free(&rests);
    tol_free(&moves);
  }
}

/* ---- messages ---- */

Test(tolerance, a_run_says_how_far_it_is)
{
  proc p;
  const char *at;
  proc_write("case.ini", TOL_FLAG);
  proc_loom(&p, LOOM_ARGS("run", "case.ini", "-o", "a.h5", "--set", "solver.plugin=cholmod_pd",
                          "--set", "stop.max_iters=2"));
  cr_expect_eq(p.code, 0, "%d", p.code);
  cr_expect(strstr(p.err, "loom: warning: 3 of 3 steps did not converge; the worst ended at ") !=
                NULL,
            "%s", p.err);
  cr_expect(strstr(p.out, "3 of 3 steps did not converge") != NULL, "%s", p.out);
  proc_loom(&p, LOOM_ARGS("info", "a.h5"));
  at = strchr(p.out, '\n');
  cr_assert(at != NULL);
  cr_expect_eq(strncmp(at + 1, "  warning     3 of 3 steps did not converge", 43), 0, "%s", p.out);
  proc_loom(&p, LOOM_ARGS("run", "case.ini", "--quiet", "-o", "b.h5", "--set",
                          "solver.plugin=cholmod_newton"));
  cr_expect_str_eq(p.err, "");
  proc_loom(&p, LOOM_ARGS("info", "b.h5"));
  at = strchr(p.out, '\n');
  cr_assert(at != NULL);
  cr_expect_eq(strncmp(at + 1, "  converged   all 3 steps converged\n", 36), 0, "%s", p.out);
}

/* The physical limits of a method stand where it is chosen, and where its run ends. */
Test(tolerance, limits_of_methods_are_told)
{
  static const char *const loses = "two sheets that collide keep 0.3 to 0.9 of their angular";
  proc p;
  proc_write("case.ini", TOL_FLAG);
  proc_loom(
      &p, LOOM_ARGS("run", "case.ini", "-o", "b.h5", "-n", "1", "--set", "solver.plugin=cama_pcg"));
  cr_expect(strstr(p.out, "  limit   cama_pcg: contact is frozen") != NULL, "%s", p.out);
  cr_expect(strstr(p.out, loses) != NULL, "%s", p.out);
  proc_loom(&p, LOOM_ARGS("run", "case.ini", "-o", "c.h5", "-n", "1", "--set",
                          "solver.plugin=cholmod_newton"));
  cr_expect(strstr(p.out, "  limit ") == NULL, "%s", p.out);
  proc_loom(&p, LOOM_ARGS("check", "case.ini", "--set", "solver.plugin=cama_pcg"));
  cr_expect(strstr(p.out, loses) != NULL, "%s", p.out);
  proc_loom(&p, LOOM_ARGS("describe", "cama_pcg"));
  cr_expect(strstr(p.out, loses) != NULL, "%s", p.out);
  proc_write("touch.ini", TOL_FLAG "[contact.c]\nplugin = none\n[solver]\nplugin = gd\n");
  proc_loom(&p, LOOM_ARGS("list", "--fit", "touch.ini"));
  const char *const at = strstr(p.out, "limits: physical errors of the plugins");
  cr_assert(at != NULL, "%s", p.out);
  cr_expect(strstr(at, loses) != NULL && strstr(at, "vbd ") != NULL, "%s", at);
  proc_loom(&p, LOOM_ARGS("describe", "cama_pcg", "--json"));
  cr_expect(strstr(p.out,
                   "\"summary\": \"implicit Euler as one linear system a step, with contact in "
                   "the matrix\", \"limits\": [\"contact is frozen") != NULL,
            "%s", p.out);
}

/* A distance to a point that is no solution is no error: the step is marked. */
Test(tolerance, a_reference_that_did_not_converge_is_told)
{
  static const char *const few[] = {"stop.max_iters=2", "stop.max_iters=500"};
  for (int good = 0; good < 2; ++good) {
    proc p;
    tol_run t;
    proc_write("case.ini", TOL_FLAG);
    LOOM_FINE("run", "case.ini", "--quiet", "-o", "ref.h5", "--overwrite", "--set",
              "solver.plugin=cholmod_pd", "--set", few[good], "--set", "log.frames_every=1");
    proc_loom(&p, LOOM_ARGS("run", "case.ini", "--quiet", "-n", "2", "-o", "a.h5", "--overwrite",
                            "--set", "solver.plugin=cholmod_newton", "--set", "run.replay=ref.h5"));
    cr_assert_eq(p.code, 0, "%s", p.err);
    cr_expect_eq(strstr(p.err, "the reference did not converge in 2 of 2 steps") != NULL, !good,
                 "%s", p.err);
    tol_read("a.h5", &t);
    for (int64_t i = 0; i < t.steps; ++i) cr_expect_eq(t.rows[i].ref_unconverged, !good);
    tol_free(&t);
    proc_loom(&p, LOOM_ARGS("info", "a.h5"));
    cr_expect_eq(strstr(p.out, "the reference did not converge in 2 of 2 steps") != NULL, !good,
                 "%s", p.out);
  }
}

/* ---- momentum ---- */

#define FREE                                                                                 \
  "[run]\ndt = 0.01\ngravity = 0 0 0\n[collision.c]\nplugin = none\n[cloth.sheet]\nmodel = " \
  "arap+isometric\npattern = regular\nsize = 0.2 "                                           \
  "0.2\n"                                                                                    \
  "resolution = 9 9\ndensity = 0.2\nmembrane = 500\nk_b = 1e-4\nthickness = 1 mm\n"          \
  "velocity = 0.3 0 0\nrest = uv\nimperfection = 4 mm\n" TOL_END

/* A wavy sheet, stretched against its flat rest shape, flies on: its momentum is mass times
 * velocity, and stays but for the solver's residual. */
Test(tolerance, momentum_of_free_flight)
{
  tol_run t;
  tol_make(FREE, "20", (const char *const[]){"solver.plugin=cholmod_newton", NULL}, &t);
  const double p = 0.3 * 0.2 * 0.2 * 0.2; /* kg m/s */
  for (int64_t i = 0; i < t.steps; ++i) {
    cr_expect_float_eq(t.rows[i].p_x, p, 1e-3 * p, "step %lld: %g", (long long)i, t.rows[i].p_x);
    cr_expect_lt(fabs(t.rows[i].p_y) + fabs(t.rows[i].p_z), 1e-3 * p);
    cr_expect_lt(t.rows[i].defect_force, 1e-3);
    cr_expect_lt(t.rows[i].defect_torque, 1e-3);
    cr_expect_gt(t.rows[i].e_elastic, 0.0);
  }
  tol_free(&t);
}

/* The residual of blocks of vertices pushes from outside: the columns are the change of momentum
 * less the impulse of gravity, over the weight, and the run warns of it. */
Test(tolerance, a_defect_is_what_momentum_loses)
{
  tol_run t;
  proc p;
  const double g = 9.80665, h = 0.01;
  tol_make(FREE, "20",
           (const char *const[]){"solver.plugin=vbd", "stop.max_iters=10", no_sets[0], NULL}, &t);
  const double weight = t.rows[0].p_x > 0.0 ? t.rows[0].p_x / 0.3 * g : 1.0;
  double most = 0.0;
  for (int64_t i = 1; i < t.steps; ++i) {
    const h5log_step_row *const a = &t.rows[i - 1], *const b = &t.rows[i];
    const double d[] = {b->p_x - a->p_x, b->p_y - a->p_y, b->p_z - a->p_z};
    const double lost = sqrt(d[0] * d[0] + d[1] * d[1] + d[2] * d[2]) / (h * weight);
    cr_expect_float_eq(b->defect_force, lost, 0.05 * lost + 1e-6, "step %lld: %g, %g", (long long)i,
                       b->defect_force, lost);
    most = fmax(most, b->defect_force);
  }
  cr_expect_gt(most, 0.01, "%g", most);
  tol_free(&t);
  proc_loom(&p, LOOM_ARGS("run", "case.ini", "--quiet", "-n", "20", "-o", "b.h5", "--set",
                          "solver.plugin=vbd", "--set", "stop.max_iters=10"));
  cr_expect_eq(p.code, 0);
  cr_expect(strstr(p.err, "loom: warning: momentum defect up to ") != NULL, "%s", p.err);
  proc_loom(&p, LOOM_ARGS("info", "b.h5"));
  cr_expect(strstr(p.out, "momentum defect up to ") != NULL, "%s", p.out);
}
