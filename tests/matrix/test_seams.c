/* Every solver with every collision and contact plugin that stand for self-contact: stitches, a
 * cloth that sticks through another one at the start, and a body that moves as a mesh.  Runs that
 * go on after a stop, and on other numbers of threads, leave the same bits. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "support/proc.h"
#include "support/sim.h"

TestSuite(seams, .init = proc_enter, .fini = proc_leave);

enum { SIDE = 5, N = SIDE * SIDE };

static size_t write_seam_grid(char *text, size_t room, int first, const double at[3], double size)
{
  size_t n = 0;
  for (int k = 0; k < N; ++k)
    n += (size_t)snprintf(text + n, room - n, "v %.17g %.17g %.17g\n",
                          at[0] + size * (k % SIDE) / (SIDE - 1),
                          at[1] + size * (double)(k / SIDE) / (SIDE - 1), at[2]);
  for (int j = 0; j + 1 < SIDE; ++j)
    for (int i = 0; i + 1 < SIDE; ++i) {
      const int a = first + i + j * SIDE + 1, b = a + 1, c = b + SIDE, d = a + SIDE;
      n += (size_t)snprintf(text + n, room - n, "f %d %d %d\nf %d %d %d\n", a, b, c, a, c, d);
    }
  return n;
}

/* Two sheets side by side, 4 mm apart and sewn; a plate that rises in two frames. */
static void write_meshes(void)
{
  char text[16384];
  size_t n = write_seam_grid(text, sizeof text, 0, (const double[3]){-0.102, -0.05, 0}, 0.1);
  n += write_seam_grid(text + n, sizeof text - n, N, (const double[3]){0.002, -0.05, 0}, 0.1);
  for (int k = 0; k < SIDE; ++k)
    n += (size_t)snprintf(text + n, sizeof text - n, "stitch %d %d %d 0\n", SIDE * k + SIDE - 1,
                          N + SIDE * k, N + SIDE * k + 1);
  proc_write("sewn.obj", text);
  for (int k = 0; k < 2; ++k) {
    write_seam_grid(text, sizeof text, 0, (const double[3]){-0.3, -0.3, -0.0061 + 0.004 * k}, 0.61);
    proc_write(k == 0 ? "plate0.obj" : "plate1.obj", text);
  }
}

static void write_seam_scene(char *text, size_t room, const char *solver, const char *collision,
                             const char *contact)
{
  char dir[512];
  cr_assert(getcwd(dir, sizeof dir) != NULL);
  snprintf(text, room,
           "[run]\nsteps = 6\ndt = 0.002\nup_axis = z\nstart = exclude\n[exec]\nbackend = cpu\n"
           "[stop]\ntol_rel = 1e-3\nmax_iters = 20\n[log]\naudit = every\ncheckpoint_every = 2\n"
           "[cloth.sewn]\nmodel = arap+isometric\nshape = obj\nfile = %s/sewn.obj\nsewing_time = "
           "0.008\ndensity = 0.2\n"
           "membrane = 20\nthickness = 1e-3\n"
           "[cloth.flag]\nmodel = arap+isometric\npattern = regular\nsize = 0.03\nresolution = "
           "4\ntransform = rotate 1 0 0 90 translate 0.047 "
           "0.0031 0.012\ndensity = 0.2\nmembrane = 20\nthickness = 1e-3\nvelocity = 0 0 1\n"
           "[body.plate]\nshape = mesh\nmotion = sequence\nframes = %s/plate%%d.obj\n"
           "frame_rate = 100\nsdf_resolution = 0\n"
           "[solver]\nplugin = %s\n[collision.c]\nplugin = %s\n[contact.c]\nplugin = %s\n",
           dir, dir, solver, collision, contact);
}

static int is_seam_run_expected(const char *solver, const char *collision, const char *contact)
{
  char path[1024], line[512], want[256];
  int found = 0;
  snprintf(path, sizeof path, "%s/tests/matrix/expected.txt", getenv("LOOM_SOURCE_DIR"));
  snprintf(want, sizeof want, "%s %s %s runs\n", solver, collision, contact);
  FILE *const f = fopen(path, "r");
  cr_assert(f != NULL, "%s is missing", path);
  while (!found && fgets(line, sizeof line, f) != NULL) found = strcmp(line, want) == 0;
  fclose(f);
  return found;
}

static const char *const solvers[] = {"gd",     "cholmod_pd", "cholmod_newton", "pcg_newton",
                                      "ndb_pd", "pd_bfgs",    "cama_pcg",       "aa_pd",
                                      "vbd",    "xpbd",       "chebyshev_pd"};
static const char *const collisions[] = {"brute", "bvtt_front", "patch_bvh", "spatial_hash"};
static const char *const contacts[] = {"ipc_barrier",    "dbb", "pd_ipc",       "ndb", "repulsion",
                                       "cama_repulsion", "ogc", "cubic_barrier"};
/* Contacts from ONE_COLLISION on take the pairs of ipc_barrier, and go with patch_bvh alone. */
enum { SOLVERS = 10, COLLISIONS = 4, CONTACTS = 8, ONE_COLLISION = 6 };

/* A repulsion that is frozen at the start of a step pulls back vertices that leave, as its
 * expansion does not end at its reach, and the stiffer the more; with a barrier the correction
 * makes up for it. */
static int parts_slowly(const char *solver, const char *contact)
{
  const int frozen = strcmp(solver, "pd_bfgs") == 0 || strcmp(solver, "cama_pcg") == 0;
  return frozen && strstr(contact, "repulsion") != NULL;
}

Test(seams, every_combination_runs)
{
  int num = 0;
  write_meshes();
  for (int k = 0; k < SOLVERS * COLLISIONS * CONTACTS; ++k) {
    const char *const solver = solvers[k / (COLLISIONS * CONTACTS)];
    const char *const collision = collisions[k / CONTACTS % COLLISIONS];
    const char *const contact = contacts[k % CONTACTS];
    char text[4096];
    sim s;
    if (k % CONTACTS >= ONE_COLLISION && strcmp(collision, "patch_bvh") != 0) continue;
    if (!is_seam_run_expected(solver, collision, contact)) continue;
    write_seam_scene(text, sizeof text, solver, collision, contact);
    sim_run(&s, text, NULL, 1);
    cr_assert_eq(s.status, LOOM_OK, "%s %s %s: %s", solver, collision, contact, s.err.text);
    h5log_step_row *const row = sim_steps(&s);
    const h5log_step_row *const last = &row[s.steps - 1];
    cr_assert(last->stitch_gap < 0.6 * row[0].stitch_gap, "%s %s %s: %g m, then %g m", solver,
              collision, contact, row[0].stitch_gap, last->stitch_gap);
    cr_assert_gt(row[0].start_intersections, 0);
    if (parts_slowly(solver, contact)) {
      cr_assert_leq(last->start_intersections, row[0].start_intersections);
    } else {
      cr_assert_eq(last->start_intersections, 0, "%s %s %s: %lld", solver, collision, contact,
                   (long long)last->start_intersections);
    }
    free(row);
    sim_free(&s);
    ++num;
  }
  printf("%d combinations sew, part and follow a sequence\n", num);
  cr_assert(num >= 30, "%d", num);
}

Test(seams, the_same_bits_resumed_and_threaded)
{
  static const char *const methods[][2] = {{"cholmod_newton", "ipc_barrier"},
                                           {"pcg_newton", "ipc_barrier"},
                                           {"cholmod_newton", "ogc"},
                                           {"cholmod_newton", "cubic_barrier"},
                                           {"pd_bfgs", "ipc_barrier"},
                                           {"cholmod_pd", "dbb"},
                                           {"ndb_pd", "pd_ipc"},
                                           {"ndb_pd", "ndb"},
                                           {"gd", "repulsion"}};
  write_meshes();
  for (size_t k = 0; k < sizeof methods / sizeof *methods; ++k) {
    char text[4096];
    write_seam_scene(text, sizeof text, methods[k][0], "patch_bvh", methods[k][1]);
    proc_write("seams.ini", text);
    LOOM_FINE("run", "seams.ini", "--quiet", "-o", "whole.h5", "--overwrite");
    LOOM_FINE("run", "seams.ini", "--quiet", "-o", "parts.h5", "--overwrite", "-n", "4");
    LOOM_FINE("run", "seams.ini", "--quiet", "-o", "parts.h5", "--resume=1");
    LOOM_FINE("compare", "whole.h5", "parts.h5", "--tol", "0");
    LOOM_FINE("run", "seams.ini", "--quiet", "-o", "one.h5", "--overwrite", "--threads", "1");
    LOOM_FINE("compare", "whole.h5", "one.h5", "--tol", "0");
  }
}
