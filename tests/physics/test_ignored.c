/* test_ignored.c - [ignore.NAME]: a cloth falls through one part of a body while it is dressed.
 *
 * The body has a shelf at z = 0.2 m over a floor at z = 0.  The sheet falls from 0.25 m: it reaches
 * the shelf after 0.1 s and the floor after 0.226 s. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/proc.h"
#include "support/sim.h"
#include "support/tiny_scene.h"

TestSuite(ignored, .init = proc_enter, .fini = proc_leave);

#define SHEET                                                                                 \
  "[cloth.sheet]\nmodel = arap+isometric\npattern = regular\nsize = 0.2 0.2\nresolution = 5 " \
  "5\nthickness = 1 mm\ntransform = rotate 1 2 0 3 translate 0.01 0.02 0.25\n"
#define BODY "[body.rack]\nshape = mesh\nfile = rack.obj\nsdf_resolution = 0\nfriction = 0\n"
#define RUN                                                                                     \
  "[run]\ndt = 0.01\nsteps = 40\n[exec]\nbackend = cpu\n[stop]\ntol_abs = 1e-6\ntol_rel = 0\n"  \
  "max_iters = 60\n[log]\naudit = every\n[solver]\nplugin = cholmod_newton\n[collision.self]\n" \
  "plugin = patch_bvh\n[contact.all]\nplugin = ipc_barrier\n"
#define IGNORE "[ignore.shelf]\nobject = sheet\nbody = rack\npart = shelf\n"

static void write_rack(void)
{
  char text[1024] = "";
  for (int k = 0; k < 2; ++k)
    for (int i = 0; i < 4; ++i)
      snprintf(text + strlen(text), 64, "v %g %g %g\n", i == 1 || i == 2 ? 0.6 : -0.6,
               i > 1 ? 0.6 : -0.6, k ? 0.0 : 0.2);
  strcat(text, "g shelf\nf 1 2 3 4\ng floor\nf 5 6 7 8\n");
  proc_write("rack.obj", text);
  proc_write("labels.txt", "top\ntop\ntop\ntop\nlow\nlow\nlow\nlow\n");
  proc_write("labels.json", "{\"low\": [4, 5, 6, 7], \"top\": [0, 1, 2, 3]}");
}

/* Height of the sheet at the end; *crossed: intersections of the start in some step, *found: all
 * others. */
static double run_to_end(const char *more, const char *const *sets, int *crossed, int *found)
{
  char text[4096];
  double z = 0;
  sim s;
  snprintf(text, sizeof text, "%s%s%s%s", RUN, SHEET, BODY, more);
  sim_run(&s, text, sets, 0);
  for (int i = 0; i < s.n; ++i) z += s.x[3 * i + 2] / (double)s.n;
  h5log_step_row *const rows = sim_steps(&s);
  *crossed = *found = 0;
  for (int64_t k = 0; k < s.steps; ++k) {
    *crossed += rows[k].start_intersections > 0;
    *found += (int)rows[k].intersections;
  }
  cr_expect_eq(rows[s.steps - 1].start_intersections, 0);
  free(rows);
  sim_free(&s);
  return z;
}

#define FILES "body.rack.file=rack.obj"

/* Without the section the shelf holds the sheet; with it the floor; with a time before the sheet is
 * there the shelf again. */
Test(ignored, the_part_is_passed_until_its_time)
{
  int crossed, found;
  write_rack();
  const double without = run_to_end("", (const char *const[]){FILES, NULL}, &crossed, &found);
  cr_expect(crossed == 0 && found == 0);
  const double with =
      run_to_end(IGNORE "until = 0.18\n", (const char *const[]){FILES, NULL}, &crossed, &found);
  cr_expect(crossed > 0 && found == 0, "%d %d", crossed, found);
  const double early =
      run_to_end(IGNORE "until = 0.05\n", (const char *const[]){FILES, NULL}, &crossed, &found);
  cr_expect(crossed == 0 && found == 0);
  printf("rests at %.4f m without, %.4f m with the section, %.4f m with until = 0.05\n", without,
         with, early);
  cr_expect_float_eq(without, 0.2, 0.005, "%g", without);
  cr_expect_float_eq(with, 0, 0.005, "%g", with);
  cr_expect_float_eq(early, 0.2, 0.005, "%g", early);
}

/* Labels of the body, a line each or lists, name the part, too; the time is by default that of
 * dressing. */
Test(ignored, labels_and_the_end_of_dressing)
{
  static const char *const files[] = {"ignore.shelf.part_labels=labels.txt",
                                      "ignore.shelf.part_labels=labels.json"};
  int crossed, found;
  write_rack();
  for (int k = 0; k < 2; ++k) {
    const double z = run_to_end("[ignore.shelf]\nobject = sheet\nbody = rack\npart = "
                                "top\npart_labels = labels.txt\n[dress]\n"
                                "gravity_from = 0.0\ngravity_rise = 0.18\n",
                                (const char *const[]){FILES, files[k], "run.steps=50",
                                                      "cloth.sheet.velocity=0 0 -0.5", NULL},
                                &crossed, &found);
    cr_expect_float_eq(z, 0, 0.005, "%g", z);
    cr_expect(crossed > 0 && found == 0, "%d %d", crossed, found);
  }
}

Test(ignored, refusals)
{
  write_rack();
  tiny_refused(SHEET BODY IGNORE, LOOM_TEXTS("[ignore.shelf] until", "is missing", NULL));
  tiny_refused(SHEET BODY "[ignore.a]\nobject = sheet\nbody = rack\npart = shelv\nuntil = 1\n",
               LOOM_TEXTS("[ignore.a] part", "no part \"shelv\"", "there is shelf, floor", NULL));
  tiny_refused(SHEET BODY "[ignore.a]\nobject = shet\nbody = rack\nuntil = 1\n",
               LOOM_TEXTS("[ignore.a] object", "there is sheet", NULL));
  tiny_refused(SHEET BODY "[ignore.a]\nobject = sheet\nbody = rak\nuntil = 1\n",
               LOOM_TEXTS("[ignore.a] body", "there is rack", NULL));
  tiny_refused(SHEET "[body.ball]\nshape = sphere\nposition = 0 0 -1\n[ignore.a]\nobject = sheet\n"
                     "body = ball\nuntil = 1\n",
               LOOM_TEXTS("[ignore.a] body", "has a distance", NULL));
#define TOP \
  SHEET BODY "[ignore.a]\nobject = sheet\nbody = rack\npart = top\nuntil = 1\npart_labels = "
  proc_write("far.json", "{\"top\": [0, 8]}");
  tiny_refused(TOP "far.json\n", LOOM_TEXTS("[ignore.a] part_labels", "number 1 of \"top\"", NULL));
  proc_write("list.json", "[0, 1]");
  tiny_refused(TOP "list.json\n", LOOM_TEXTS("[ignore.a] part_labels", "lists of vertices", NULL));
  proc_write("cut.json", "{\"top\": [0, 1");
  tiny_refused(TOP "cut.json\n", LOOM_TEXTS("[ignore.a] part_labels", "cut.json:1: ", NULL));
}
