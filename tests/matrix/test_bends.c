/* Every solver with every contact model that stands for distances: a body that bends, with a
 * distance from the networks that ship, a grid, its skin or cones, pushes a sheet.  Runs that
 * go on after a stop, and on other numbers of threads, leave the same bits. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "support/proc.h"
#include "support/sim.h"

TestSuite(bends, .init = proc_enter, .fini = proc_leave);

static const char *const distances[] = {"neural", "grid", "exact", "capsules"};
enum { DISTANCES = 4 };

static const double front =
    0.085; /* m: 13 mm in front of the thigh, as the distances are not one */

/* A thigh rises by 21 mm towards the sheet in front of it. */
static void write_bend_scene(char *text, size_t room, const char *solver, const char *contact,
                             const char *distance, int rises)
{
  /* barriers hold gaps, which jump where flags change */
  const int pushes = strcmp(contact, "penalty") == 0 || strcmp(contact, "project") == 0;
  char dir[512], more[1024] = "";
  cr_assert(getcwd(dir, sizeof dir) != NULL);
  if (strcmp(distance, "neural") == 0)
    snprintf(more, sizeof more, "regions = %s\nnetworks = %s/configs/bodies/lower_body.h5\n",
             pushes ? "flags" : "least", getenv("LOOM_SOURCE_DIR"));
  else /* the networks were trained on the default skin, which takes most of a run's time */
    snprintf(more, sizeof more, "edge_length = 0.03\n");
  if (strcmp(distance, "grid") == 0) strcat(more, "sdf_resolution = 40\n");
  snprintf(text, room,
           "[run]\nsteps = 8\ndt = 0.002\nup_axis = y\ngravity = 0 0 0\n[exec]\nbackend = cpu\n"
           "[stop]\ntol_rel = 1e-3\nmax_iters = 20\n[log]\naudit = off\ncheckpoint_every = 2\n"
           "[cloth.sheet]\nmodel = arap+isometric\npattern = regular\nsize = 0.1\nresolution = "
           "5\ntransform = translate 0.1 0.6 %g\n"
           "density = 0.2\nmembrane = 20\nthickness = 1e-3\n"
           "[body.man]\nshape = rig\nrig = lower_body\ndistance = %s\n%s"
           "animation_file = %s/%s.txt\nanimation_ease = 0\n"
           "[solver]\nplugin = %s\n[collision.c]\nplugin = sdf\n[contact.c]\nplugin = %s\n",
           front, distance, more, dir, rises ? "rise" : "stay", solver, contact);
}

static void write_thigh_animations(void)
{
  proc_write("rise.txt", "interpolation linear\ncolumns left_hip.flexion\n0 0\n0.016 4\n");
  proc_write("stay.txt", "columns left_hip.flexion\n0 0\n");
}

static int is_bend_run_expected(const char *solver, const char *contact)
{
  char path[1024], line[512], want[256];
  int found = 0;
  snprintf(path, sizeof path, "%s/tests/matrix/expected.txt", getenv("LOOM_SOURCE_DIR"));
  snprintf(want, sizeof want, "%s sdf %s runs\n", solver, contact);
  FILE *const f = fopen(path, "r");
  cr_assert(f != NULL, "%s is missing", path);
  while (!found && fgets(line, sizeof line, f) != NULL) found = strcmp(line, want) == 0;
  fclose(f);
  return found;
}

/* How far the sheet was pushed, m. */
static double measure_push_distance(const char *solver, const char *contact, const char *distance,
                                    int rises)
{
  char text[4096];
  sim s;
  double sum = 0;
  write_bend_scene(text, sizeof text, solver, contact, distance, rises);
  sim_run(&s, text, NULL, 1);
  cr_expect_eq(s.status, LOOM_OK, "%s %s %s: %s", solver, contact, distance, s.err.text);
  for (int64_t v = 0; v < s.n; ++v) sum += s.x[3 * v + 2] - front;
  sum /= (double)s.n;
  sim_free(&s);
  return sum;
}

static const char *const solvers[] = {"gd",         "cholmod_pd", "cholmod_newton",
                                      "pcg_newton", "ndb_pd",     "pd_bfgs",
                                      "cama_pcg",   "aa_pd",      "chebyshev_pd"};
static const char *const contacts[] = {"penalty", "project",      "ipc_barrier", "dbb",
                                       "pd_ipc",  "ndb",          "repulsion",   "cama_repulsion",
                                       "ogc",     "cubic_barrier"};
enum { SOLVERS = 8, CONTACTS = 10 };

/* A shortfall, as in test_rigs.c: behind a frozen step no correction by these models follows a body
 * that comes nearer than their reach; the run ends with an error. */
static int is_known_bend_shortfall(const char *solver, const char *contact)
{
  return strcmp(solver, "pd_bfgs") == 0 &&
         (strcmp(contact, "dbb") == 0 || strcmp(contact, "ogc") == 0 ||
          strcmp(contact, "cubic_barrier") == 0);
}

Test(bends, networks_push_with_every_combination)
{
  int num = 0;
  write_thigh_animations();
  for (int k = 0; k < SOLVERS * CONTACTS; ++k) {
    const char *const solver = solvers[k / CONTACTS], *const contact = contacts[k % CONTACTS];
    if (!is_bend_run_expected(solver, contact) || is_known_bend_shortfall(solver, contact))
      continue;
    const double way = measure_push_distance(solver, contact, "neural", 1);
    cr_expect_gt(way, 1e-4, "%s %s: %g m", solver, contact, way);
    ++num;
  }
  printf("%d combinations are pushed by networks\n", num);
  cr_assert_geq(num, 25);
}

Test(bends, every_distance_pushes)
{
  write_thigh_animations();
  for (int k = 0; k < DISTANCES; ++k) {
    const double way = measure_push_distance("ndb_pd", "penalty", distances[k], 1);
    const double barrier = measure_push_distance("cholmod_newton", "ipc_barrier", distances[k], 1);
    const double still =
        measure_push_distance("ndb_pd", "penalty", distances[k], 0); /* the control */
    cr_expect(way > 5e-4 && barrier > 5e-4, "%s: %g m, %g m", distances[k], way, barrier);
    cr_expect_lt(fabs(still), 1e-6, "%s: %g m", distances[k], still);
  }
}

Test(bends, the_same_bits_resumed_and_threaded)
{
  static const char *const methods[][3] = {
      {"ndb_pd", "penalty", "neural"},    {"cholmod_newton", "ipc_barrier", "neural"},
      {"pd_bfgs", "ndb", "neural"},       {"ndb_pd", "project", "grid"},
      {"cholmod_pd", "penalty", "exact"}, {"ndb_pd", "ndb", "capsules"}};
  write_thigh_animations();
  for (size_t k = 0; k < sizeof methods / sizeof *methods; ++k) {
    char text[4096];
    write_bend_scene(text, sizeof text, methods[k][0], methods[k][1], methods[k][2], 1);
    proc_write("field.ini", text);
    LOOM_FINE("run", "field.ini", "--quiet", "-o", "whole.h5", "--overwrite");
    LOOM_FINE("run", "field.ini", "--quiet", "-o", "parts.h5", "--overwrite", "-n", "4");
    LOOM_FINE("run", "field.ini", "--quiet", "-o", "parts.h5", "--resume=1");
    LOOM_FINE("compare", "whole.h5", "parts.h5", "--tol", "0");
    LOOM_FINE("run", "field.ini", "--quiet", "-o", "one.h5", "--overwrite", "--threads", "1");
    LOOM_FINE("compare", "whole.h5", "one.h5", "--tol", "0");
  }
}
