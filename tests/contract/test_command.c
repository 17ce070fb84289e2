/* `loom contract` on plugins that are wrong in one place: the check for this fault fails, and names
 * the fault; no check of a correct plugin fails. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/proc.h"

TestSuite(command, .init = proc_enter, .fini = proc_leave);

/* FAULT in plugin NAME of the fixtures */
static void run_contract_command(proc *p, const char *name, const char *fault, const char *check,
                                 const char *limit)
{
  char path[1024], set[64];
  snprintf(path, sizeof path, "%s/wrong", getenv("LOOM_FIXTURE_DIR"));
  snprintf(set, sizeof set, "fault=%s", fault);
  unsetenv("LOOM_MEM_CHECK");
  const char *args[12] = {"contract", name, "--plugin-path", path, "--set", set, "--time", limit};
  if (check != NULL) args[8] = "--check", args[9] = check;
  proc_loom(p, args);
}

/* The check fails alone among the checks of `run`, and `says` so. */
static void expect_check_failure(const char *name, const char *fault, const char *check,
                                 const char *says)
{
  proc p;
  char line[128], *at;
  run_contract_command(&p, name, fault, check, strcmp(fault, "hang") == 0 ? "2" : "60");
  snprintf(line, sizeof line, "FAIL  %s ", check);
  at = strstr(p.out, line);
  cr_assert(at != NULL, "%s: %s does not fail:\n%s%s", fault, check, p.out, p.err);
  at[strcspn(at, "\n")] = '\0';
  cr_assert(strstr(at, says) != NULL, "%s: no '%s' in: %s", fault, says, at);
  cr_assert_eq(p.code, 1, "%s: exit code %d", fault, p.code);
}

Test(command, finds_wrong_derivatives_of_contact)
{
  expect_check_failure("fx_wrong_contact", "vt_gradient", "contact.self_gradient",
                       "differences of its energy");
  expect_check_failure("fx_wrong_contact", "ee_gradient", "contact.self_gradient",
                       "differences of its energy");
  expect_check_failure("fx_wrong_contact", "vo_gradient", "contact.gradient_of_energy",
                       "differences of its");
  expect_check_failure("fx_wrong_contact", "vt_hessian", "contact.self_hessian",
                       "differences of the gradient");
  expect_check_failure("fx_wrong_contact", "ee_hessian", "contact.self_hessian",
                       "differences of the gradient");
  expect_check_failure("fx_wrong_contact", "vo_hessian", "contact.hessian_of_gradient",
                       "off by 0.05");
  expect_check_failure("fx_wrong_contact", "update", "contact.update_reports",
                       "update(LOOM_AFTER_ACCEPT) says LOOM_CHANGED_NONE, but the energy");
  expect_check_failure("fx_wrong_contact", "column", "contact.metrics",
                       "wrote extra[1] of loom_contact_metrics");
}

Test(command, finds_what_is_wrong_with_a_life)
{
  expect_check_failure("fx_wrong_solver", "checkpoint", "life.restart_continues",
                       "after a restart: vertex");
  expect_check_failure("fx_wrong_solver", "threads", "life.threads_do_not_matter",
                       "exec.threads=3: vertex");
  expect_check_failure("fx_wrong_solver", "leak", "life.buffers_settle", "buffers after 3 steps");
  expect_check_failure("fx_wrong_solver", "reset", "life.reset_forgets", "after reset(): vertex");
#ifdef __SANITIZE_ADDRESS__ /* its own handler ends the process with a code */
  expect_check_failure("fx_wrong_solver", "crash", "life.two_at_once",
                       "ended in fx_wrong_solver.iterate() of");
#else
  expect_check_failure("fx_wrong_solver", "crash", "life.two_at_once", "signal 11");
#endif
  expect_check_failure("fx_wrong_solver", "leave", "life.two_at_once", "left the process");
  expect_check_failure("fx_wrong_solver", "hang", "life.two_at_once", "not done after 2 s");
  expect_check_failure("fx_wrong_solver", "column", "solver.reports",
                       "wrote extra[1] of loom_iterate");
  expect_check_failure("fx_wrong_solver", "past_end", "solver.reports",
                       "buffer 'trial' of core: written past");
  expect_check_failure("fx_wrong_solver", "past_end_quiet", "life.reset_forgets",
                       "written past its end");
  expect_check_failure("fx_wrong_solver", "read", "life.reset_forgets",
                       "buffer 'mass' of scene: mapped READ");
}

Test(command, passes_what_is_right)
{
  static const char *const names[] = {"fx_wrong_contact", "fx_wrong_solver"};
  for (int i = 0; i < 2; ++i) {
    proc p;
    run_contract_command(&p, names[i], "none", NULL, "60");
    cr_assert_eq(p.code, 0, "%s%s", p.out, p.err);
    cr_assert(strstr(p.out, "FAIL") == NULL && strstr(p.out, " 0 failed, ") != NULL, "%s", p.out);
  }
}

/* Models without pairs, or without pairs of bodies, are legal: checks that do not apply are left
 * out. */
Test(command, leaves_out_checks_that_do_not_apply)
{
  static const char *const runs[][3] = {
      {"fx_no_pairs", "SKIP  contact.metrics_of_forces ", "it takes no pairs"},
      {"fx_no_pairs", "PASS  contact.hessian_of_gradient ", ""},
      {"fx_mesh_contact", "SKIP  contact.gradient_of_energy ", "it takes no pairs of a vertex and"},
      {"fx_mesh_contact", "PASS  contact.self_hessian ", ""}};
  char path[1024];
  snprintf(path, sizeof path, "%s/legal", getenv("LOOM_FIXTURE_DIR"));
  unsetenv("LOOM_MEM_CHECK");
  for (int i = 0; i < 4; ++i) {
    proc p;
    proc_loom(&p, LOOM_ARGS("contract", runs[i][0], "--plugin-path", path, "--time", "60"));
    cr_assert_eq(p.code, 0, "%s%s", p.out, p.err);
    const char *const at = strstr(p.out, runs[i][1]);
    cr_assert(at != NULL && strstr(at, runs[i][2]) != NULL, "%s: no '%s' in:\n%s", runs[i][0],
              runs[i][1], p.out);
  }
}

Test(command, refuses_what_it_does_not_know)
{
  char path[1024];
  snprintf(path, sizeof path, "%s/bad", getenv("LOOM_FIXTURE_DIR"));
  proc_expect_error(2, LOOM_TEXTS("there is no plugin 'penatly'", "did you mean 'penalty'?"),
                    LOOM_ARGS("contract", "penatly"));
  proc_expect_error(2, LOOM_TEXTS("fx_layout.so was refused: built with other headers"),
                    LOOM_ARGS("contract", "fx_layout", "--plugin-path", path));
  proc_expect_error(2, LOOM_TEXTS("is the name of 2 plugins; choose with --kind"),
                    LOOM_ARGS("contract", "none"));
  proc_expect_error(2, LOOM_TEXTS("there is no directory '/nowhere'"),
                    LOOM_ARGS("contract", "gd", "--plugin-path", "/nowhere"));
  proc_expect_error(2, LOOM_TEXTS("no check of this kind of plugin is called 'contact'"),
                    LOOM_ARGS("contract", "gd", "--check", "contact"));
  proc_expect_error(2, LOOM_TEXTS("--backend wants cpu or cuda, found 'gpu'"),
                    LOOM_ARGS("contract", "gd", "--backend", "gpu"));
  LOOM_FINE("contract", "--list");
}

/* In a run it is the buffer check that finds it, and [exec] debug that turns it on. */
Test(command, debug_finds_writes_outside_of_buffers)
{
  static const char *const faults[] = {"past_end", "past_end_quiet", "read"};
  static const char *const says[] = {"buffer 'trial' of core: written past its end: item 48 of 48",
                                     "buffer 'trial' of core: written past its end: item 48 of 48",
                                     "buffer 'mass' of scene: mapped READ but written to"};
  char path[1024];
  snprintf(path, sizeof path, "%s/wrong", getenv("LOOM_FIXTURE_DIR"));
  unsetenv("LOOM_MEM_CHECK");
  proc_write("a.ini", "[run]\ndt = 0.01\nsteps = 2\n[log]\naudit = off\n[cloth.a]\nmodel = "
                      "arap+isometric\npattern = regular\n"
                      "resolution = 4 4\npins = corners\n[solver]\nplugin = fx_wrong_solver\n");
  for (int i = 0; i < 3; ++i) {
    proc p;
    char set[64];
    snprintf(set, sizeof set, "solver.fault=%s", faults[i]);
    proc_loom(&p, LOOM_ARGS("run", "a.ini", "-o", "a.h5", "--plugin-path", path, "--set", set,
                            "--set", "exec.debug=1", "--overwrite"));
    cr_assert_eq(p.code, 1, "%s: exit code %d: %s", faults[i], p.code, p.err);
    cr_assert(strstr(p.err, says[i]) != NULL, "%s", p.err);
    cr_assert(strstr(p.err, "fx_wrong_solver") != NULL && strstr(p.err, "iterate()") != NULL,
              "neither plugin nor callback is named: %s", p.err);
  }
}

/* Columns are checked in every run. */
Test(command, columns_past_those_announced_end_a_run)
{
  char path[1024];
  snprintf(path, sizeof path, "%s/wrong", getenv("LOOM_FIXTURE_DIR"));
  proc_write(
      "a.ini",
      "[run]\ndt = 0.01\nsteps = 2\n[log]\naudit = off\n[cloth.a]\nmodel = arap+isometric\npattern "
      "= regular\n"
      "resolution = 4 4\npins = corners\n[solver]\nplugin = fx_wrong_solver\nfault = column\n");
  proc_expect_error(1, LOOM_TEXTS("fx_wrong_solver", "extra[1] of loom_iterate", "1 log columns"),
                    LOOM_ARGS("run", "a.ini", "-o", "a.h5", "--quiet", "--plugin-path", path));
}
