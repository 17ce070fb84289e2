/* The exact audit through the binary: after steps, of stored frames, between frames, and
 * before the first step. */
#include <criterion/criterion.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "regress/drape.h"
#include "support/proc.h"

/* A tetrahedron flies downwards through a sheet that rests in space: there is no contact detection.
 */
#define TETRA "v -.1 -.1 0\nv .1 -.1 0\nv 0 .1 0\nv 0 0 -.15\nf 1 2 3\nf 1 4 2\nf 2 4 3\nf 3 4 1\n"
#define SHEET                                                                                 \
  "[cloth.sheet]\nmodel = arap+isometric\npattern = regular\nsize = 0.6 0.6\nresolution = 7 " \
  "7\npins = corners\n"                                                                       \
  "transform = translate 0.01 0.02 0\n"
#define FLIGHT(speed)                                                                      \
  "[run]\nsteps = 6\ndt = 0.1\ngravity = 0 0 0\n" DRAPE_EXEC SHEET                         \
  "[body.rock]\nshape = mesh\nfile = rock.obj\nsdf_resolution = 8\nposition = 0 0 0.605\n" \
  "motion = translate 0 0 -" speed "\n[solver]\nplugin = gd\n"                             \
  "[contact.none]\nplugin = none\n"

static void create_rock_folder(void)
{
  proc_enter();
  proc_write("rock.obj", TETRA);
}

TestSuite(audit_run, .init = create_rock_folder, .fini = proc_leave);

static void assert_audit_text(const char *text, const char *part)
{
  cr_assert(strstr(text, part) != NULL, "\"%s\" is not in:\n%s", part, text);
}

static void run_flight(proc *p, const char *config, const char *audit)
{
  char set[64];
  snprintf(set, sizeof set, "log.audit=%s", audit);
  proc_write("flight.ini", config);
  proc_loom(p, LOOM_ARGS("run", "flight.ini", "--overwrite", "-o", "flight.h5", "--set", set));
}

/* 1 m/s: the sheet is at the height of the body's tip, or cut by it, from 0.46 s to 0.6 s */
Test(audit_run, a_body_in_the_cloth_is_found_after_the_step_and_in_the_log)
{
  proc p;
  run_flight(&p, FLIGHT("1"), "every");
  cr_assert_eq(p.code, 3, "exit code %d:\n%s%s", p.code, p.out, p.err);
  assert_audit_text(p.err, "step 4: the audit finds ");
  assert_audit_text(p.err, " of body rock");
  cr_expect(strstr(strstr(p.err, "the audit finds") + 1, "the audit finds") == NULL, "told twice");
  proc_loom(&p, LOOM_ARGS("verify", "flight.h5"));
  cr_assert_eq(p.code, 3, "%s%s", p.out, p.err);
  assert_audit_text(p.out, "frame 6 (step 5, time 0.6 s):");
  assert_audit_text(p.out, "frame 5 (step 4, time 0.5 s):");
  assert_audit_text(p.out, " of body rock");
  assert_audit_text(p.out, "frames affected 2\n");
  proc_loom(&p, LOOM_ARGS("verify", "flight.h5", "--frames", "0:4"));
  cr_assert_eq(p.code, 0, "%s%s", p.out, p.err);
}

/* A run that looks at its end alone does not claim more. */
Test(audit_run, the_summary_says_after_how_many_steps_it_looked)
{
  proc p;
  run_flight(&p, FLIGHT("4"), "end");
  assert_audit_text(p.out, "found by the audit: 0, after 1 of 6 steps\n");
}

/* 4 m/s: clear above at 0.1 s, clear below at 0.2 s */
Test(audit_run, what_jumps_through_between_frames_is_found_on_the_way)
{
  proc p;
  run_flight(&p, FLIGHT("4"), "every");
  cr_assert_eq(p.code, 0, "exit code %d:\n%s%s", p.code, p.out, p.err);
  assert_audit_text(p.out, "found by the audit: 0, after 6 of 6 steps\n");
  proc_loom(&p, LOOM_ARGS("verify", "flight.h5"));
  cr_assert_eq(p.code, 0, "%s%s", p.out, p.err);
  proc_loom(&p, LOOM_ARGS("verify", "flight.h5", "--trajectory"));
  cr_assert_eq(p.code, 3, "%s%s", p.out, p.err);
  assert_audit_text(p.out, "frame 1 to 2 (time 0.1 to 0.2 s):");
  assert_audit_text(p.out, " of body rock and triangle (");
  assert_audit_text(p.out, "in 1 of 6 intervals");
  proc_loom(&p, LOOM_ARGS("verify", "flight.h5", "--trajectory", "--frames", "2:"));
  cr_assert_eq(p.code, 0, "%s%s", p.out, p.err);
  proc_loom(&p, LOOM_ARGS("verify", "flight.h5", "--trajectory", "--tolerance", "2"));
  cr_assert_eq(p.code, 2);
}

/* The run itself looks at the way of every step, says that it did, and ends with 3. */
Test(audit_run, the_run_audits_its_trajectory_when_asked)
{
  proc p;
  run_flight(&p, FLIGHT("4"), "trajectory");
  cr_assert_eq(p.code, 3, "exit code %d:\n%s%s", p.code, p.out, p.err);
  assert_audit_text(p.err, "step 1: on its straight way ");
  assert_audit_text(p.err, " and triangle (");
  assert_audit_text(p.err, " of body rock, ");
  cr_expect(strstr(strstr(p.err, "straight way") + 1, "straight way") == NULL, "told twice");
  assert_audit_text(p.out, "found by the audit: 0, after 6 of 6 steps\n");
  assert_audit_text(p.out, "pairs that pass through each other within a step: ");
  assert_audit_text(p.out, ", on the ways of 6 of 6 steps\n");
  int64_t passes = -1;
  cr_assert_eq(sscanf(strstr(p.out, "within a step: "), "within a step: %" SCNd64, &passes), 1);
  proc_loom(&p, LOOM_ARGS("verify", "flight.h5", "--trajectory"));
  int64_t seen = -2;
  cr_assert_eq(sscanf(strstr(p.out, "between frames: "), "between frames: %" SCNd64, &seen), 1);
  cr_expect_eq(passes, seen, "%" PRId64 " of the run, %" PRId64 " of verify", passes, seen);
  run_flight(&p, FLIGHT("4"), "every");
  assert_audit_text(p.out, "passes within a step were not looked for ([log] audit = trajectory)\n");
  run_flight(&p, FLIGHT("0.1"), "trajectory"); /* it stays above the sheet */
  cr_expect_eq(p.code, 0, "exit code %d:\n%s%s", p.code, p.out, p.err);
  assert_audit_text(p.out, "within a step: 0, on the ways of 6 of 6 steps\n");
}

/* Looking changes no bit of the run, also where bodies move, bend the cloth, and steps are resumed
 * or made in parts. */
#define VERTICES "collision.bodies.elements=none" /* edges enter the ball */
Test(audit_run, looking_at_the_way_changes_nothing)
{
  proc_write("drape.ini", DRAPE "[solver]\nplugin = cholmod_pd\n");
  static const char *const audits[] = {"log.audit=every", "log.audit=trajectory"};
  proc p;
  for (int k = 0; k < 2; ++k) {
    proc_loom(&p, LOOM_ARGS("run", "drape.ini", "--quiet", "-n", "8", "-o", k ? "b.h5" : "a.h5",
                            "--set", VERTICES, "--set", "run.substeps=2", "--set",
                            "body.ball.motion=translate 0 0 0.05", "--set", audits[k]));
    cr_assert_eq(p.code, 3, "edges of 3 cm dip into the ball\n%s", p.err);
  }
  LOOM_FINE("run", "drape.ini", "--quiet", "-n", "5", "-o", "c.h5", "--set", VERTICES, "--set",
            "run.substeps=2", "--set", "body.ball.motion=translate 0 0 0.05", "--set", audits[1]);
  proc_loom(&p, LOOM_ARGS("run", "drape.ini", "--quiet", "-n", "8", "-o", "c.h5", "--resume",
                          "--set", VERTICES, "--set", "run.substeps=2", "--set",
                          "body.ball.motion=translate 0 0 0.05", "--set", audits[1]));
  cr_assert_eq(p.code, 3, "%s", p.err);
  LOOM_FINE("compare", "a.h5", "b.h5", "--tol", "0");
  LOOM_FINE("compare", "a.h5", "c.h5", "--tol", "0");
}

/* A sheet without pins falls through a ring; with contact it lies on it. */
Test(audit_run, depth_in_a_shape_with_a_closed_form)
{
  proc p;
  proc_write("ring.ini", "[run]\nsteps = 15\ndt = 0.01\n" DRAPE_EXEC
                         "[cloth.sheet]\nmodel = arap+isometric\npattern = regular\nsize = 0.3 "
                         "0.3\nresolution = 13 13\n"
                         "transform = translate 0 0 0.05\n[body.ring]\nshape = torus\n"
                         "ring_radius = 0.1\ntube_radius = 0.04\n[solver]\nplugin = cholmod_pd\n"
                         "[collision.b]\nplugin = sdf\n[contact.c]\nplugin = none\n");
  for (int k = 0; k < 2; ++k) {
    proc_loom(&p, LOOM_ARGS("run", "ring.ini", "-o", k ? "on.h5" : "off.h5", "--set",
                            k ? "contact.c.plugin=project" : "contact.c.plugin=none"));
    /* `project` holds vertices; edges of 2.5 cm dip into a tube of 4 cm */
    cr_assert_eq(p.code, k ? 3 : 0, "exit code %d:\n%s%s", p.code, p.out, p.err);
    proc_loom(&p, LOOM_ARGS("verify", k ? "on.h5" : "off.h5"));
    assert_audit_text(p.out, k ? "no vertex inside an exact shape" : " in ring, frame ");
    cr_expect(strstr(p.out, "not checked") == NULL, "%s", p.out);
  }
}

Test(audit_run, at_the_start_pairs_are_named_and_the_run_refused)
{
  proc p;
  proc_write("start.ini",
             FLIGHT("1") "[cloth.cape]\nmodel = arap+isometric\nsize = 0.3 0.3\nresolution = 3 3\n"
                         "transform = rotate 1 0 0 90 translate 0 0 0.4\n");
  proc_loom(&p, LOOM_ARGS("run", "start.ini", "-o", "start.h5"));
  cr_assert_eq(p.code, 2, "exit code %d:\n%s%s", p.code, p.out, p.err);
  assert_audit_text(p.err, "[cloth.cape]: edge ");
  assert_audit_text(p.err, "of body rock at (");
  assert_audit_text(p.err, "move them apart");
  cr_expect(!proc_exists("start.h5"));
  proc_loom(&p, LOOM_ARGS("check", "start.ini", "--fix-report"));
  cr_assert_eq(p.code, 3, "exit code %d:\n%s%s", p.code, p.out, p.err);
  assert_audit_text(p.out, "body rock: edge ");
  assert_audit_text(p.out, " of [cloth.cape] at (");
  assert_audit_text(p.out, " intersections at the start");
  proc_loom(&p, LOOM_ARGS("check", "start.ini", "--fix-report", "--set",
                          "cloth.cape.transform=translate 3 0 0"));
  cr_assert_eq(p.code, 0, "exit code %d:\n%s%s", p.code, p.out, p.err);
  assert_audit_text(p.out, "start.ini: 0 intersections");
  proc_expect_error(2, LOOM_TEXTS("--fix-report belongs to check"),
                    LOOM_ARGS("run", "start.ini", "--fix-report"));
}
