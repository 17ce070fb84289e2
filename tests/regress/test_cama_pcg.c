/* cama_pcg: one iteration is one of Newton's method on the core's own matrix; more of them end
 * where the reference does; its message on a matrix that is not definite. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "log/h5read.h"
#include "regress/drape.h"
#include "support/device.h"
#include "support/logdiff.h"
#include "support/proc.h"

TestSuite(cama_pcg, .init = proc_enter, .fini = proc_leave);

#define TOUCHING                                                                                \
  "[run]\nsteps = 20\ndt = 0.01\nguess = last\n" DRAPE_EXEC DRAPE_SHEET DRAPE_BODIES            \
  "[log]\naudit = off\nframes_every = 1\n[stop]\ntol_abs = 0\ntol_rel = 0\nmax_iters = 1\n"     \
  "[collision.bodies]\nplugin = sdf\n[contact.bodies]\nplugin = repulsion\npairs = obstacle\n"  \
  "reach = 5 mm\n[solver]\nplugin = pcg_newton\nhessian = clamp\nforcing = fixed\ntolerance = " \
  "1e-12\n"
#define HANGING                                                                               \
  "[run]\nsteps = 20\ndt = 0.01\n" DRAPE_EXEC DRAPE_SHEET                                     \
  "pins = left\n[log]\naudit = off\nframes_every = 1\n[stop]\ntol_abs = 1e-10\ntol_rel = 0\n" \
  "max_iters = 200\n[solver]\nplugin = cholmod_newton\n"

/* Largest distance from the reference at the end of a step, m. */
static double largest_reference_error(const char *path, int64_t *contacts)
{
  loom_err err = {0};
  h5read *r = NULL;
  h5log_step_row s;
  double most = 0.0;
  cr_assert_eq(h5read_open(&err, path, &r), LOOM_OK, "%s", err.text);
  const int64_t steps = h5read_num_steps(r), n = h5read_num_iters(r);
  for (int64_t i = 0; contacts != NULL && i < steps; ++i) {
    cr_assert_eq(h5read_steps(r, &err, i, 1, &s), LOOM_OK, "%s", err.text);
    *contacts += s.contacts;
  }
  h5log_iter_row *const rows = malloc((size_t)(n + 1) * sizeof *rows);
  cr_assert(rows != NULL);
  cr_assert_eq(h5read_iters(r, &err, 0, n, rows), LOOM_OK, "%s", err.text);
  for (int64_t i = 0; i < n; ++i) {
    if (i + 1 < n && rows[i + 1].step == rows[i].step) continue;
    cr_assert(!isnan(rows[i].e_ref), "step %lld has no reference", (long long)rows[i].step);
    most = fmax(most, rows[i].e_ref);
  }
  free(rows);
  h5read_close(r);
  return most;
}

/* Every step from the state of the reference, by cama_pcg. */
static double from_reference(const char *set, const char *more, int64_t *contacts)
{
  LOOM_FINE("run", "scene.ini", "--quiet", "--overwrite", "-o", "cama.h5", "--set",
            "run.replay=ref.h5", "--set", "solver.plugin=cama_pcg", "--set", "solver.hessian=clamp",
            "--set", set, "--set", more);
  return largest_reference_error("cama.h5", contacts);
}

/* The matrix that it assembles is the core's: the step ends where a step of pcg_newton does, with
 * every preconditioner; with a loose tolerance it does not. */
Test(cama_pcg, one_iteration_is_one_of_newtons)
{
  int64_t contacts = 0;
  proc_write("scene.ini", TOUCHING);
  LOOM_FINE("run", "scene.ini", "--quiet", "-o", "ref.h5");
  const double jacobi = from_reference("solver.tolerance=1e-12", "run.seed=0", &contacts);
  cr_expect_lt(jacobi, 1e-9, "%g m", jacobi);
  cr_expect_gt(contacts, 100, "nothing touches");
  const double block =
      from_reference("solver.tolerance=1e-12", "solver.preconditioner=block_jacobi", NULL);
  const double none = from_reference("solver.tolerance=1e-12", "solver.preconditioner=none", NULL);
  cr_expect_lt(block, 1e-9, "%g m", block);
  cr_expect_lt(none, 1e-9, "%g m", none);
  const double loose = from_reference("solver.tolerance=1e-2", "run.seed=0", NULL);
  cr_expect_gt(loose, 1e-7, "%g m", loose);
}

/* Linearised again and again it solves the step; linearised once it does not. */
Test(cama_pcg, many_iterations_solve_the_step)
{
  proc_write("scene.ini", HANGING);
  LOOM_FINE("run", "scene.ini", "--quiet", "-o", "ref.h5");
  const double many = from_reference("stop.max_iters=200", "solver.tolerance=1e-8", NULL);
  cr_expect_lt(many, 1e-7, "%g m", many);
  const double once = from_reference("stop.max_iters=1", "solver.tolerance=1e-8", NULL);
  cr_expect_gt(once, 1e-5, "%g m", once);
}

/* A sheet that stands on its lower edge is pressed together by its weight. */
Test(cama_pcg, names_the_element_of_an_indefinite_matrix)
{
  proc p;
  proc_write("scene.ini",
             "[run]\nsteps = 5\ndt = 0.1\n" DRAPE_EXEC
             "[cloth.sheet]\npattern = regular\nsize = 0.4 0.4\nresolution = 11 11\ndensity = 1\n"
             "model = stvk+shell\nk0 = 50\nk1 = 10\nk2 = 50\nk3 = 20\nk_e = 1e-7\npins = bottom\n"
             "transform = rotate 1 0 0 80\n[log]\naudit = off\n[stop]\nmax_iters = 1\n"
             "[solver]\nplugin = cama_pcg\nhessian = exact\n");
  proc_loom(&p, LOOM_ARGS("run", "scene.ini", "--quiet", "-o", "run.h5"));
  cr_assert_eq(p.code, 1, "%d: %s", p.code, p.err);
  cr_expect(strstr(p.err, "not positive definite") != NULL, "%s", p.err);
  cr_expect(strstr(p.err, "of tri_stvk (vertices ") != NULL, "%s", p.err);
  LOOM_FINE("run", "scene.ini", "--quiet", "--overwrite", "-o", "run.h5", "--set",
            "solver.hessian=clamp");
}

static void run_with_assembly(const char *how, const char *threads, const char *path)
{
  char set[64];
  snprintf(set, sizeof set, "solver.assembly=%s", how);
  LOOM_FINE("run", "scene.ini", "--quiet", "-o", path, "--set", "solver.plugin=cama_pcg", "--set",
            set, "--set", threads, "--set", "exec.deterministic=no");
}

/* Sorted, in stages or in a loop, the same numbers are added in the same order; atomically by two
 * threads in any. */
Test(cama_pcg, ways_of_assembly_give_the_same_bits)
{
  static const char *const others[] = {"triplets", "entries", "serial"};
  proc_write("scene.ini", TOUCHING);
  run_with_assembly("staged", "exec.threads=2", "staged.h5");
  for (int i = 0; i < (test_on_cuda() ? 2 : 3); ++i) { /* serial: on a processor alone */
    char path[64];
    snprintf(path, sizeof path, "%s.h5", others[i]);
    run_with_assembly(others[i], "exec.threads=2", path);
    logs_same_bits("staged.h5", path, LOGS_ANYWHERE);
  }
  run_with_assembly("atomics", "exec.threads=1", "alone.h5");
  if (!test_on_cuda()) /* where one thread goes through the elements in their order */
    logs_same_bits("staged.h5", "alone.h5", LOGS_ANYWHERE);
  run_with_assembly("atomics", "exec.threads=2", "atomics.h5");
  LOOM_FINE("compare", "staged.h5", "atomics.h5", "--tol", "1e-9");
}

Test(cama_pcg, atomics_need_leave)
{
  proc p;
  proc_write("scene.ini", TOUCHING);
  proc_loom(&p, LOOM_ARGS("run", "scene.ini", "--quiet", "-o", "run.h5", "--set",
                          "solver.plugin=cama_pcg", "--set", "solver.assembly=atomics", "--set",
                          "exec.threads=2"));
  cr_assert_eq(p.code, 2, "%d: %s", p.code, p.err);
  cr_expect(strstr(p.err, "deterministic = no") != NULL, "%s", p.err);
}
