/* A run that is interrupted and continued leaves the bits of one that was not. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>

#include "regress/drape.h"
#include "support/day.h"
#include "support/logdiff.h"
#include "support/proc.h"

TestSuite(resume, .init = proc_enter, .fini = proc_leave);

static void write_config(const char *plugin)
{
  char text[4096];
  snprintf(text, sizeof text, "%s[solver]\nplugin = %s\n", DRAPE, plugin);
  proc_write("drape.ini", text);
}

static void check_plugin_resume(const char *plugin)
{
  write_config(plugin);
  LOOM_FINE("run", "drape.ini", "--quiet", "-n", "20", "-o", "whole.h5");
  LOOM_FINE("run", "drape.ini", "--quiet", "-n", "12", "-o", "parts.h5");
  cr_assert_eq(log_is_whole("parts.h5", "finished"), 12);
  LOOM_FINE("run", "drape.ini", "--quiet", "-n", "20", "-o", "parts.h5", "--resume");
  cr_assert_eq(log_is_whole("parts.h5", "finished"), 20);
  logs_same_bits("whole.h5", "parts.h5", 12);
  /* once more, now over finished steps, from the older of the two checkpoints (after steps 14
   * and 19), with another number of threads */
  LOOM_FINE("run", "drape.ini", "--quiet", "-n", "20", "-o", "parts.h5", "--threads", "1",
            "--resume", "14");
  cr_assert_eq(log_is_whole("parts.h5", "finished"), 20);
  logs_same_bits("whole.h5", "parts.h5", LOGS_ANYWHERE); /* in steps 12 and 15 */
}

Test(resume, gd) { check_plugin_resume("gd"); }
Test(resume, cholmod_pd) { check_plugin_resume("cholmod_pd"); }
Test(resume, aa_pd) { check_plugin_resume("aa_pd"); }
Test(resume, cholmod_newton) { check_plugin_resume("cholmod_newton"); }
Test(resume, cholmod_newton_by_amd)
{
  test_of_the_night();
  check_plugin_resume("cholmod_newton\nordering = amd");
}
Test(resume, pcg_newton) { check_plugin_resume("pcg_newton"); }
Test(resume, cama_pcg)
{
  test_of_the_night();
  check_plugin_resume("cama_pcg");
}
Test(resume, vbd) { check_plugin_resume("vbd"); }
Test(resume, xpbd) { check_plugin_resume("xpbd"); }
Test(resume, chebyshev_pd) { check_plugin_resume("chebyshev_pd"); }
Test(resume, pd_bfgs) { check_plugin_resume("pd_bfgs"); }

/* Momentum is history: it must be in the checkpoint, or be dropped at every step. */
Test(resume, cholmod_pd_with_momentum)
{
  proc_write("drape.ini", DRAPE "[solver]\nplugin = cholmod_pd\nmomentum = nesterov\n");
  LOOM_FINE("run", "drape.ini", "--quiet", "-n", "20", "-o", "whole.h5");
  LOOM_FINE("run", "drape.ini", "--quiet", "-n", "12", "-o", "parts.h5");
  LOOM_FINE("run", "drape.ini", "--quiet", "-n", "20", "-o", "parts.h5", "--resume");
  logs_same_bits("whole.h5", "parts.h5", 12);
}

/* Friction from velocities at the start of a step, and no state that outlives it. */
Test(resume, one_linear_system_a_step)
{
  test_of_the_night();
  proc_write("drape.ini", DRAPE_RUN DRAPE_EXEC DRAPE_SHEET DRAPE_BODIES DRAPE_STOP DRAPE_LOG
             "[solver]\nplugin = cama_pcg\n[collision.bodies]\nplugin = sdf\n"
             "[collision.self]\nplugin = patch_bvh\n"
             "[contact.all]\nplugin = cama_repulsion\nself_friction = 0.3\n");
  LOOM_FINE("run", "drape.ini", "--quiet", "-n", "20", "-o", "whole.h5");
  LOOM_FINE("run", "drape.ini", "--quiet", "-n", "12", "-o", "parts.h5");
  LOOM_FINE("run", "drape.ini", "--quiet", "-n", "20", "-o", "parts.h5", "--resume");
  logs_same_bits("whole.h5", "parts.h5", 12);
}

/* Impacts after the solve: fronts, multipliers and rigid zones belong to one step. */
Test(resume, impacts_in_one_system)
{
  test_of_the_night();
  proc_write("drape.ini", DRAPE_IMPACTS "[solver]\nplugin = cama_pcg\n");
  LOOM_FINE("run", "drape.ini", "--quiet", "-n", "20", "-o", "whole.h5");
  LOOM_FINE("run", "drape.ini", "--quiet", "-n", "12", "-o", "parts.h5");
  LOOM_FINE("run", "drape.ini", "--quiet", "-n", "20", "-o", "parts.h5", "--resume");
  logs_same_bits("whole.h5", "parts.h5", 12);
}

/* Contact that corrects positions and velocities outside of the solver. */
Test(resume, contact_by_projection)
{
  proc_write("drape.ini", DRAPE_RUN DRAPE_EXEC DRAPE_SHEET DRAPE_BODIES DRAPE_STOP DRAPE_LOG
             "[solver]\nplugin = cholmod_pd\n[collision.bodies]\nplugin = sdf\n"
             "[contact.bodies]\nplugin = project\npairs = obstacle\n");
  LOOM_FINE("run", "drape.ini", "--quiet", "-n", "20", "-o", "whole.h5");
  LOOM_FINE("run", "drape.ini", "--quiet", "-n", "12", "-o", "parts.h5");
  LOOM_FINE("run", "drape.ini", "--quiet", "-n", "20", "-o", "parts.h5", "--resume");
  logs_same_bits("whole.h5", "parts.h5", 12);
}

/* A sheet on another: contact couples vertices, in a pattern that changes with them.  State that a
 * solver keeps of it must not show, or must be in the checkpoint. */
static void resumes_with_couplings(const char *plugin)
{
  char text[4096], path[1024];
  snprintf(path, sizeof path, "%s/touch", getenv("LOOM_FIXTURE_DIR"));
  snprintf(text, sizeof text,
           DRAPE_RUN DRAPE_EXEC
           "plugin_path = %s\n" DRAPE_SHEET
           "[cloth.above]\nmodel = arap+isometric\npattern = regular\nshape = grid\nsize = 0.5 "
           "0.5\nresolution = 15 15\n"
           "transform = rotate 0 0 1 30 translate 0.02 0.01 0.244\ndensity = 0.2\n"
           "membrane = 1000\nk_b = 1e-4\nthickness = 2 mm\n" DRAPE_BODIES DRAPE_STOP DRAPE_LOG
           "[detect]\nevery = iteration\n"
           "[collision.bodies]\nplugin = sdf\n[collision.cloth]\nplugin = fx_touch\n"
           "[contact.bodies]\nplugin = penalty\npairs = obstacle\ncollision = bodies\n"
           "[contact.cloth]\nplugin = penalty\npairs = self\ncollision = cloth\noffset = 3 mm\n"
           "stiffness = 1e5\n[solver]\nplugin = %s\n",
           path, plugin);
  proc_write("drape.ini", text);
  LOOM_FINE("run", "drape.ini", "--quiet", "--trust-config", "-n", "20", "-o", "whole.h5");
  LOOM_FINE("run", "drape.ini", "--quiet", "--trust-config", "-n", "12", "-o", "parts.h5");
  LOOM_FINE("run", "drape.ini", "--quiet", "--trust-config", "-n", "20", "-o", "parts.h5",
            "--resume");
  logs_same_bits("whole.h5", "parts.h5", 12);
  LOOM_FINE("run", "drape.ini", "--quiet", "--trust-config", "-n", "20", "-o", "parts.h5",
            "--threads", "1", "--resume", "14");
  logs_same_bits("whole.h5", "parts.h5", LOGS_ANYWHERE);
}

Test(resume, couplings_cholmod_newton) { resumes_with_couplings("cholmod_newton"); }
Test(resume, couplings_cholmod_newton_by_amd)
{
  test_of_the_night();
  resumes_with_couplings("cholmod_newton\nordering = amd");
}
Test(resume, couplings_pcg_newton) { resumes_with_couplings("pcg_newton"); }
Test(resume, couplings_pd_bfgs)
{
  test_of_the_night();
  resumes_with_couplings("pd_bfgs");
}

Test(resume, another_config_is_refused)
{
  write_config("gd");
  LOOM_FINE("run", "drape.ini", "--quiet", "-n", "6", "-o", "run.h5");
  LOOM_FINE("run", "drape.ini", "--quiet", "-n", "6", "-o", "same.h5");
  proc_expect_error(
      2, LOOM_TEXTS("run.h5", "another config", "[cloth.sheet] density: 0.2 then, 0.3 now"),
      LOOM_ARGS("run", "drape.ini", "--quiet", "-o", "run.h5", "--resume", "--set",
                "cloth.sheet.density=0.3"));
  /* and the log was not touched */
  cr_assert_eq(log_is_whole("run.h5", "finished"), 6);
  logs_same_bits("run.h5", "same.h5", LOGS_UNBROKEN);
}

Test(resume, nothing_to_resume)
{
  write_config("gd");
  proc_expect_error(1, LOOM_TEXTS("none.check.h5", "checkpoint"),
                    LOOM_ARGS("run", "drape.ini", "--quiet", "-o", "none.h5", "--resume"));
  cr_assert(!proc_exists("none.h5"));
  LOOM_FINE("run", "drape.ini", "--quiet", "-n", "12", "-o", "run.h5");
  /* the last two are kept: after steps 9 and 11 */
  proc_expect_error(1, LOOM_TEXTS("run.check.h5", "4", "9", "11"),
                    LOOM_ARGS("run", "drape.ini", "--quiet", "-o", "run.h5", "--resume", "4"));
  cr_assert_eq(log_is_whole("run.h5", "finished"), 12);
}

/* Barriers keep their stiffness, and find their candidates when they need them. */
static void resume_barrier_on(const char *collision, const char *methods)
{
  char config[2048];
  snprintf(config, sizeof config,
           DRAPE_RUN DRAPE_EXEC DRAPE_SHEET DRAPE_BODIES DRAPE_STOP DRAPE_LOG
           "[collision.bodies]\nplugin = sdf\n[collision.self]\nplugin = %s\n%s",
           collision, methods);
  proc_write("drape.ini", config);
  LOOM_FINE("run", "drape.ini", "--quiet", "-n", "20", "-o", "whole.h5");
  LOOM_FINE("run", "drape.ini", "--quiet", "-n", "12", "-o", "parts.h5");
  LOOM_FINE("run", "drape.ini", "--quiet", "-n", "20", "-o", "parts.h5", "--resume");
  logs_same_bits("whole.h5", "parts.h5", 12);
}

static void resume_barrier(const char *methods) { resume_barrier_on("patch_bvh", methods); }

/* Its columns depend on the step alone, but for work counters. */
Test(resume, contact_on_fronts_of_box_pairs)
{
  resume_barrier_on("bvtt_front",
                    "[solver]\nplugin = cholmod_newton\n[contact.all]\nplugin = ipc_barrier\n");
}

Test(resume, contact_by_barrier)
{
  resume_barrier("[solver]\nplugin = cholmod_newton\n[contact.all]\nplugin = ipc_barrier\n");
}

Test(resume, contact_by_cubic_barrier)
{
  test_of_the_night();
  resume_barrier("[solver]\nplugin = cholmod_newton\n[contact.all]\nplugin = cubic_barrier\n");
}

/* Each object has doublings of its own: two sheets that fall fast onto plates far apart, one of
 * them later. */
Test(resume, contact_by_barriers_of_two_objects)
{
  proc_write("drape.ini", TWO_THROWN("ipc_barrier") DRAPE_LOG);
  LOOM_FINE("run", "drape.ini", "--quiet", "-n", "20", "-o", "whole.h5");
  LOOM_FINE("run", "drape.ini", "--quiet", "-n", "12", "-o", "parts.h5");
  LOOM_FINE("run", "drape.ini", "--quiet", "-n", "20", "-o", "parts.h5", "--resume");
  logs_same_bits("whole.h5", "parts.h5", 12);
}

/* Split steps: the correction's stiffness goes on, the history of the elastic step does not. */
Test(resume, contact_by_barrier_in_split_steps)
{
  test_of_the_night();
  resume_barrier("[solver]\nplugin = pd_bfgs\n[contact.all]\nplugin = ipc_barrier\n");
}

Test(resume, contact_by_barrier_after_one_linear_system)
{
  test_of_the_night();
  resume_barrier("[solver]\nplugin = cama_pcg\n[contact.all]\nplugin = ipc_barrier\n");
}

Test(resume, contact_by_targets_shared_by_mass)
{
  test_of_the_night();
  resume_barrier("[solver]\nplugin = cholmod_pd\n[contact.all]\nplugin = pd_ipc\n");
}

Test(resume, contact_by_distance_barrier)
{
  resume_barrier("[solver]\nplugin = cholmod_newton\n[contact.all]\nplugin = dbb\n");
}

Test(resume, contact_by_barrier_in_projective_form)
{
  resume_barrier("[solver]\nplugin = cholmod_pd\n[contact.all]\nplugin = dbb\n");
}

/* delta of the last step goes over to the next one. */
Test(resume, residual_forwarding)
{
  char config[2048];
  snprintf(config, sizeof config, "%s[solver]\nplugin = cholmod_pd\n",
           "[run]\nforwarding = corrected\nsteps = 25\ndt = 0.01\n" DRAPE_EXEC DRAPE_SHEET
               DRAPE_BODIES DRAPE_STOP DRAPE_PLUGINS DRAPE_LOG);
  proc_write("drape.ini", config);
  LOOM_FINE("run", "drape.ini", "--quiet", "-n", "20", "-o", "whole.h5");
  LOOM_FINE("run", "drape.ini", "--quiet", "-n", "12", "-o", "parts.h5");
  LOOM_FINE("run", "drape.ini", "--quiet", "-n", "20", "-o", "parts.h5", "--resume");
  logs_same_bits("whole.h5", "parts.h5", 12);
}

/* Ages and forces of contacts go over from step to step. */
Test(resume, contact_by_weights_that_grow)
{
  resume_barrier("[solver]\nplugin = cholmod_pd\n[contact.all]\nplugin = ndb\ncarry = yes\n");
}
