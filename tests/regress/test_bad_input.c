/* Nonsense of every kind: an error with place and remedy, the exit code of its class, and
 * no file of the user is lost. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "regress/drape.h"
#include "support/logdiff.h"
#include "support/proc.h"

#define OBJ_SHEET                                                                                 \
  "[cloth.sheet]\nmodel = arap+isometric\nshape = obj\nfile = mesh.obj\ntransform = translate 0 " \
  "0 0.5\n"                                                                                       \
  "density = 0.2\nmembrane = 1000\nk_b = 1e-4\n"
#define GD "[solver]\nplugin = gd\n"
#define SET(...) \
  LOOM_ARGS("run", "drape.ini", "--quiet", "--overwrite", "-o", "run.h5", "--set", __VA_ARGS__)

/* A finished log of six steps stands where every bad call would write, and may. */
static void create_finished_log(void)
{
  proc_enter();
  proc_write("drape.ini", DRAPE GD);
  LOOM_FINE("run", "drape.ini", "--quiet", "-n", "6", "-o", "run.h5");
}

/* It stands there still, without an unfinished file beside it. */
static void check_finished_log(void)
{
  cr_expect_eq(log_is_whole("run.h5", "finished"), 6);
  cr_expect(proc_exists("run.check.h5") && !proc_exists("run.h5.part"));
  proc_leave();
}

TestSuite(bad_input, .init = create_finished_log, .fini = check_finished_log);

static void refused_config(const char *text, const char *const *texts)
{
  proc_write("bad.ini", text);
  proc_expect_error(2, texts,
                    LOOM_ARGS("run", "bad.ini", "--quiet", "--overwrite", "-o", "run.h5"));
}

Test(bad_input, config_missing_or_malformed)
{
  proc_expect_error(2, LOOM_TEXTS("loom: none.ini: ", "No such file"),
                    LOOM_ARGS("run", "none.ini", "-o", "run.h5"));
  refused_config("[run]\nsteps = 5\n[stop\n", LOOM_TEXTS("loom: bad.ini:3: ", "]"));
  refused_config("[run]\nsteps 5\n", LOOM_TEXTS("loom: bad.ini:2: ", "steps 5", "key = value"));
  refused_config("[run]\nsteps = 5\nsteps = 6\n", LOOM_TEXTS("loom: bad.ini:3: ", "steps"));
}

Test(bad_input, unknown_names)
{
  refused_config("[run]\nstepz = 5\n" DRAPE_EXEC DRAPE_SHEET GD,
                 LOOM_TEXTS("loom: bad.ini:2: [run] stepz: ", "did you mean 'steps'"));
  refused_config(DRAPE GD "[detekt]\nevery = step\n",
                 LOOM_TEXTS("loom: bad.ini:", "[detekt]", "did you mean [detect]"));
  proc_expect_error(2, LOOM_TEXTS("--set: [solver] grwth", "growth"), SET("solver.grwth=2"));
  proc_expect_error(2, LOOM_TEXTS("[exec] backend", "'gpu'", "auto|cpu|cuda"),
                    LOOM_ARGS("run", "drape.ini", "-o", "run.h5", "--device", "gpu"));
  refused_config(DRAPE, LOOM_TEXTS("loom: bad.ini: ", "[solver]", "plugin = NAME"));
}

Test(bad_input, values)
{
  proc_expect_error(2, LOOM_TEXTS("[cloth.sheet] density: -0.2", ">= 1e-09", "kg/m^2"),
                    SET("cloth.sheet.density=-0.2"));
  proc_expect_error(2, LOOM_TEXTS("[run] dt: 0 ", "1e-09", "s"), SET("run.dt=0"));
  proc_expect_error(2, LOOM_TEXTS("[run] dt: '1 parsec'", "expected unit: s"),
                    SET("run.dt=1 parsec"));
  proc_expect_error(2, LOOM_TEXTS("[run] steps: 'many'"), SET("run.steps=many"));
  proc_expect_error(2, LOOM_TEXTS("--set dt", "section.key=value"), SET("dt"));
}

/* Numbers that cannot be meant are refused by their range, before anything is computed with them.
 */
Test(bad_input, values_that_cannot_be_meant)
{
  proc_expect_error(2, LOOM_TEXTS("[run] gravity", "0 0 -1e150", "1e+06 m/s^2"),
                    SET("run.gravity=0 0 -1e150"));
  proc_expect_error(2, LOOM_TEXTS("[run] dt", ">= 1e-09"), SET("run.dt=4.9e-324"));
  proc_expect_error(2, LOOM_TEXTS("[run] substeps", "100000 parts of 1e-05 s"),
                    SET("run.dt=1e-5", "--set", "run.substeps=100000"));
  proc_expect_error(2, LOOM_TEXTS("[detect] every", "1e9"),
                    SET("detect.every=9223372036854775808"));
  proc_expect_error(2, LOOM_TEXTS("[cloth.sheet]", "vertex 0 lies at", "transform"),
                    SET("cloth.sheet.transform=translate 0 0 1e300"));
  proc_expect_error(2, LOOM_TEXTS("[cloth.sheet]", "vertex 0 lies at"),
                    SET("cloth.sheet.size=1e9 1e9"));
  proc_expect_error(2, LOOM_TEXTS("[cloth.sheet] velocity", "10000"),
                    SET("cloth.sheet.velocity=0 0 1e300"));
  proc_expect_error(2, LOOM_TEXTS("[cloth.sheet] density", ">= 1e-09"),
                    SET("cloth.sheet.density=1e-300"));
  proc_expect_error(
      2, LOOM_TEXTS("[cloth.sheet] pin_motion", "1e+300"),
      SET("cloth.sheet.pins=corners", "--set", "cloth.sheet.pin_motion=translate 0 0 1e300"));
  proc_expect_error(2, LOOM_TEXTS("[body.ball] position"), SET("body.ball.position=0 0 1e300"));
}

/* A cloth that is nowhere any more: each of its steps converges, and the run has failed. */
Test(bad_input, out_of_all_reach)
{
  proc_write("far.ini",
             "[run]\nsteps = 50\ndt = 10\ngravity = 0 0 -1e6\n" DRAPE_EXEC DRAPE_SHEET GD);
  proc_expect_error(1, LOOM_TEXTS("step ", "beyond all reach", "diverged", "gravity"),
                    LOOM_ARGS("run", "far.ini", "--quiet", "-o", "far.h5"));
  cr_assert(log_is_whole("far.h5", NULL) < 50);
}

/* A configuration may name any file: a message shows only a few characters of it. */
Test(bad_input, foreign_files_are_not_printed)
{
  static const char *const uses[] = {
      "[cloth.a]\nmodel = arap+isometric\nshape = obj\nfile = secret.obj\n",
      "[cloth.a]\nmodel = arap+isometric\nshape = ply\nfile = secret.ply\n",
      "[cloth.a]\nmodel = arap+isometric\nshape = pattern\nfile = secret.obj\n",
      "[cloth.a]\nmodel = arap+isometric\nshape = obj\nfile = mesh.obj\nsewing = pull\nstitches = "
      "secret.obj\n",
      "[cloth.a]\nmodel = arap+isometric\npattern = regular\n[body.a]\nshape = rig\nrig = "
      "leg\nanimation_file = secret.obj\n",
      "[cloth.a]\nmodel = arap+isometric\npattern = regular\n[body.a]\nshape = sdf\nfile = "
      "secret.obj\n",
      "[cloth.a]\nmodel = arap+isometric\npattern = regular\n[body.a]\nshape = sphere\nmotion = "
      "keyframes\nkeyframe_file = secret.obj\n",
      "include = secret.obj\n"};
  proc p;
  proc_write("secret.obj", "columns\033[2J-PASSWORD-OF-THE-USER and the rest of a line\nmore\n");
  proc_write("secret.ply",
             "ply\nformat\033[2J-PASSWORD-OF-THE-USER and the rest of a line\nmore\n");
  proc_write("mesh.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n");
  for (size_t k = 0; k < sizeof uses / sizeof *uses; ++k) {
    proc_write("bad.ini", uses[k]);
    proc_loom(&p, LOOM_ARGS("check", "bad.ini", "--set", "solver.plugin=gd"));
    cr_expect(p.code == 2 || p.code == 1, "%zu: exit code %d", k, p.code);
    cr_expect(strstr(p.err, "PASSWORD-OF") == NULL && strstr(p.err, "rest of") == NULL, "%zu: %s",
              k, p.err);
    cr_expect(strchr(p.err, 033) == NULL, "%zu: an escape sequence", k);
    cr_expect(strstr(p.err, "secret") != NULL, "%zu does not name the file: %s", k, p.err);
  }
}

Test(bad_input, plugins)
{
  char bad[1024], fails[1024];
  const char *const dir = getenv("LOOM_FIXTURE_DIR");
  cr_assert(dir != NULL);
  snprintf(bad, sizeof bad, "exec.plugin_path=%s/bad", dir);
  snprintf(fails, sizeof fails, "exec.plugin_path=%s/fails", dir);
  proc_expect_error(2,
                    LOOM_TEXTS("[solver] plugin: ", "'cholmod_newtn'",
                               "did you mean 'cholmod_newton'", "searched: "),
                    SET("solver.plugin=cholmod_newtn"));
  proc_expect_error(2, LOOM_TEXTS("[contact.bodies] plugin: ", "did you mean 'penalty'"),
                    SET("contact.bodies.plugin=penelty"));
  /* why the file of that name was refused */
  proc_expect_error(2,
                    LOOM_TEXTS("[solver] plugin: ", "'fx_major' cannot be used", "fx_major.so",
                               "plugin ABI 99.", "rebuild the plugin"),
                    SET("solver.plugin=fx_major", "--set", bad));
  proc_expect_error(2, LOOM_TEXTS("fx_magic.so was refused", "magic number"),
                    SET("solver.plugin=fx_magic", "--set", bad));
  proc_expect_error(
      1, LOOM_TEXTS("[solver] plugin fx_create: ", "no room for 7 things; use a smaller mesh"),
      SET("solver.plugin=fx_create", "--set", fails));
}

/* Weights that would fall while contacts close in, and other settings that cannot work. */
Test(bad_input, barrier_that_does_not_grow)
{
#define NDB "[solver]\nplugin = cholmod_pd\n[collision.self]\nplugin = patch_bvh\n"
  static const char head[] = DRAPE_RUN DRAPE_EXEC DRAPE_SHEET DRAPE_BODIES DRAPE_STOP NDB
      "[contact.bodies]\nplugin = none\npairs = obstacle\n"
      "[contact.self]\nplugin = ndb\npairs = self\n";
  char text[4096];
  snprintf(text, sizeof text, "%sgrowth_base = 0.9\n", head);
  refused_config(text, LOOM_TEXTS("[contact.self] growth_base: 0.9", ">= 1"));
  snprintf(text, sizeof text, "%sw_max = 1e-3\n", head);
  proc_write("bad.ini", text);
  proc_expect_error(2, LOOM_TEXTS("w_max = 0.001 is below w0 = 0.01", "raise w_max"),
                    LOOM_ARGS("run", "bad.ini", "--quiet", "--overwrite", "-o", "run.h5"));
  snprintf(text, sizeof text, "%ssamples = 4\n", head);
  refused_config(text, LOOM_TEXTS("[contact.self] samples: '4'", "none|1|3|6|adaptive"));
}

/* Triangles of 3 cm: the run goes on, and the warning tells both lengths. */
Test(bad_input, barrier_wider_than_the_mesh)
{
  static const char text[] = DRAPE_RUN DRAPE_EXEC DRAPE_SHEET DRAPE_STOP
      "[solver]\nplugin = cholmod_newton\n[collision.self]\nplugin = patch_bvh\n"
      "[contact.self]\nplugin = ipc_barrier\npairs = self\nd_hat = 0.02\n";
  proc p;
  proc_write("wide.ini", text);
  proc_loom(&p, LOOM_ARGS("run", "wide.ini", "--quiet", "-n", "1", "-o", "wide.h5"));
  cr_assert_eq(p.code, 0, "%s", p.err);
  const char *const texts[] = {"loom: warning: [contact.self] ", "reach over 0.022 m",
                               "height of a triangle at rest is 0.0212 m", "lower d_hat"};
  for (size_t i = 0; i < sizeof texts / sizeof *texts; ++i)
    cr_expect(strstr(p.err, texts[i]) != NULL, "'%s' is not in: %s", texts[i], p.err);
  proc_loom(&p, LOOM_ARGS("run", "wide.ini", "--quiet", "-n", "1", "-o", "wide.h5", "--overwrite",
                          "--set", "contact.self.d_hat=0.01"));
  cr_assert_eq(p.code, 0, "%s", p.err);
  cr_expect(strstr(p.err, "warning") == NULL, "%s", p.err);
  refused_config(DRAPE_RUN DRAPE_EXEC DRAPE_SHEET DRAPE_STOP
                 "[solver]\nplugin = cholmod_newton\n[collision.self]\nplugin = patch_bvh\n"
                 "[contact.self]\nplugin = ipc_barrier\npairs = self\nd_hat = 0\n",
                 LOOM_TEXTS("bad.ini", "[contact.self] d_hat: 0", "> 0 and <= 1 m"));
}

/* A plugin's row says with only_with which values read its key. */
Test(bad_input, key_of_a_plugin_without_effect)
{
  refused_config(DRAPE_RUN DRAPE_EXEC DRAPE_SHEET DRAPE_STOP
                 "[solver]\nplugin = cholmod_newton\n[collision.self]\nplugin = patch_bvh\n"
                 "[contact.self]\nplugin = ipc_barrier\npairs = self\nlag_rounds = 2\n",
                 LOOM_TEXTS("bad.ini", "[contact.self] lag_rounds: has no effect",
                            "it takes friction_lag = iteration"));
}

/* A distance grid of 300 nodes a side takes minutes to compute; a check has no use for it. */
Test(bad_input, check_computes_no_distances)
{
  const struct rlimit few = {.rlim_cur = 20, .rlim_max = 25}; /* s, of the processor */
  proc p;
  cr_assert_eq(setrlimit(RLIMIT_CPU, &few), 0);
  proc_write(
      "grid.ini", DRAPE_RUN DRAPE_EXEC DRAPE_SHEET DRAPE_STOP
      "[body.ball]\nradius = 0.1\nposition = 0 0 -1\nmesh_size = 0.02\nsdf_resolution = 300\n"
      "[solver]\nplugin = cholmod_pd\n[collision.bodies]\nplugin = sdf\n"
      "[contact.bodies]\nplugin = penalty\n");
  proc_loom(&p, LOOM_ARGS("check", "grid.ini"));
  cr_expect_eq(p.code, 0, "%d\n%s", p.code, p.err);
}

/* An estimate from the first steps: no state is kept, and it is of the requested steps. */
Test(bad_input, check_estimates_the_time)
{
  proc p;
  double all = 0.0;
  long long steps = 0, seen = 0;
  proc_loom(&p, LOOM_ARGS("check", "drape.ini", "--time", "-n", "3"));
  cr_assert_eq(p.code, 0, "%s", p.err);
  const char *const line = strstr(p.out, "\ntime ");
  cr_assert_not_null(line, "%s", p.out);
  cr_assert_eq(sscanf(line,
                      "\ntime about %lf s of processor time for %lld steps, if they were all like "
                      "the first %lld",
                      &all, &steps, &seen),
               3, "%s", line);
  cr_expect(all > 0.0 && all < 60.0 && steps == 3 && seen == 3, "%s", line);
  cr_expect(!proc_exists("out"), "a log was written");
  proc_expect_error(2, LOOM_TEXTS("--time belongs to check"),
                    LOOM_ARGS("run", "drape.ini", "--time"));
}

Test(bad_input, no_such_device)
{
  proc p;
  proc_loom(
      &p, LOOM_ARGS("run", "drape.ini", "--quiet", "-n", "6", "-o", "cuda.h5", "--device", "cuda"));
  if (p.code == 0) cr_skip_test("there is a CUDA device here");
  proc_expect_error(
      1, LOOM_TEXTS("there is no CUDA device: ", "backend cpu"),
      LOOM_ARGS("run", "drape.ini", "--quiet", "--overwrite", "-o", "run.h5", "--device", "cuda"));
  cr_expect(!proc_exists("cuda.h5"));
}

Test(bad_input, meshes)
{
  static const char config[] = DRAPE_RUN DRAPE_EXEC OBJ_SHEET DRAPE_LOG GD;
  proc_write("mesh.obj", "v 0 0 0\nv 1 0 0\nv nan 1 0\nf 1 2 3\n");
  proc_write("bad.ini", config);
  /* every problem of a mesh is a line, their number the last */
  proc_expect_errors(2, 2, LOOM_TEXTS("loom: mesh.obj: vertex 2: ", "nan", "finite", "1 problem"),
                     LOOM_ARGS("run", "bad.ini", "--quiet", "--overwrite", "-o", "run.h5"));
  proc_write("mesh.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 3 0 0\nv 4 0 0\nv 5 0 0\n"
                         "f 1 2 3\nf 4 5 6\n");
  proc_expect_errors(2, 2, LOOM_TEXTS("loom: mesh.obj: triangle 1 (3 4 5): zero area", "remove it"),
                     LOOM_ARGS("run", "bad.ini", "--quiet", "--overwrite", "-o", "run.h5"));
  unlink("mesh.obj");
  proc_expect_error(2, LOOM_TEXTS("bad.ini:", "[cloth.sheet] file", "mesh.obj", "No such file"),
                    LOOM_ARGS("run", "bad.ini", "--quiet", "--overwrite", "-o", "run.h5"));
}

/* Needs of splines on the fabric (pd_bfgs): a place on it for every vertex, a free vertex, and
 * no more of them than the mesh has cells. */
Test(bad_input, splines_on_a_fabric)
{
  static const char config[] =
      DRAPE_RUN DRAPE_EXEC OBJ_SHEET DRAPE_LOG "[solver]\nplugin = pd_bfgs\n";
  proc_write("mesh.obj", "v 0 0 0\nv 1 0 0.1\nv 0 1 0.2\nv 1 1 0\nf 1 2 3\nf 2 4 3\n");
  refused_config(config,
                 LOOM_TEXTS("[cloth.sheet] has no material coordinates", "`vt`", "rest = uv"));
  refused_config(DRAPE_RUN DRAPE_EXEC DRAPE_LOG "[solid.cube]\n[solver]\nplugin = pd_bfgs\n",
                 LOOM_TEXTS("pd_bfgs", "[solid.cube] is a solid", "take another solver"));
  proc_write("mesh.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 1 1 0\nf 1 2 3\nf 2 4 3\n");
  proc_write("bad.ini", config);
  proc_expect_error(2, LOOM_TEXTS("piece 'sheet' has no vertex that may move", "pins"),
                    LOOM_ARGS("run", "bad.ini", "--quiet", "--overwrite", "-o", "run.h5", "--set",
                              "cloth.sheet.pins=boundary"));
  refused_config("[run]\nsteps = 1\ndt = 0.01\n" DRAPE_SHEET
                 "[solver]\nplugin = pd_bfgs\nspacing = 0.5\n",
                 LOOM_TEXTS("bad.ini:", "[solver] spacing: 0.5", ">= 1"));
  proc_expect_error(2, LOOM_TEXTS("[solver] history: 0", ">= 1"),
                    SET("solver.plugin=pd_bfgs", "--set", "solver.history=0"));
}

Test(bad_input, output_not_writable)
{
  proc_expect_error(1, LOOM_TEXTS("run.h5", "cannot make folder", "choose another place with -o"),
                    LOOM_ARGS("run", "drape.ini", "--quiet", "-o", "run.h5/deep/run.h5"));
  proc_expect_error(1, LOOM_TEXTS("/proc/loom", "cannot make folder", "-o"),
                    LOOM_ARGS("run", "drape.ini", "--quiet", "-o", "/proc/loom/run.h5"));
  if (geteuid() == 0) return; /* root writes everywhere */
  proc_expect_error(1, LOOM_TEXTS("/loom_test.h5", "name another file"),
                    LOOM_ARGS("run", "drape.ini", "--quiet", "-o", "/loom_test.h5"));
}

/* The first `bytes` bytes of run.h5. */
static void copy_log_head(const char *to, long bytes)
{
  FILE *const in = fopen("run.h5", "rb"), *const out = fopen(to, "wb");
  cr_assert(in != NULL && out != NULL);
  for (int c; bytes-- > 0 && (c = fgetc(in)) != EOF;) cr_assert(fputc(c, out) == c);
  fclose(in);
  cr_assert_eq(fclose(out), 0);
}

Test(bad_input, corrupt_log)
{
  proc p;
  LOOM_FINE("run", "drape.ini", "--quiet", "-n", "6", "-o", "bad.h5");
  copy_log_head("bad.h5", 60000);
  proc_expect_error(1, LOOM_TEXTS("loom: bad.h5: ", "cut short or damaged", "run it again"),
                    LOOM_ARGS("info", "bad.h5"));
  proc_loom(&p, LOOM_ARGS("run", "drape.ini", "--quiet", "-o", "bad.h5", "--resume"));
  cr_expect_eq(p.code, 0, "%s", p.err);
  cr_expect(strstr(p.err, "damaged; so this log begins with step 6") != NULL, "%s", p.err);
  cr_expect(proc_exists("bad.aside-1.h5"));
  proc_write("bad.h5", "this is no log\n");
  static const char *const commands[] = {"info", "verify"};
  for (int i = 0; i < 2; ++i)
    proc_expect_error(1, LOOM_TEXTS("loom: bad.h5: ", "not an HDF5 file", "loom run"),
                      LOOM_ARGS(commands[i], "bad.h5"));
  proc_expect_error(1, LOOM_TEXTS("loom: none.h5: ", "No such file"), LOOM_ARGS("info", "none.h5"));
  /* the checkpoint, and with it the older one */
  unlink("bad.h5");
  LOOM_FINE("run", "drape.ini", "--quiet", "-n", "6", "-o", "bad.h5");
  copy_log_head("bad.check.h5", 500);
  unlink("bad.check.prev.h5");
  proc_expect_error(1, LOOM_TEXTS("bad.check.h5", "no other checkpoint", "start the run again"),
                    LOOM_ARGS("run", "drape.ini", "--quiet", "-o", "bad.h5", "--resume"));
}

Test(bad_input, usage)
{
  proc_expect_error(2, LOOM_TEXTS("no command 'rum'", "'run'"), LOOM_ARGS("rum", "drape.ini"));
  proc_expect_error(2, LOOM_TEXTS("a CONFIG file expected", "usage: loom run"), LOOM_ARGS("run"));
  proc_expect_error(2, LOOM_TEXTS("exactly one CONFIG file", "other.ini"),
                    LOOM_ARGS("run", "drape.ini", "other.ini"));
  proc_expect_error(2, LOOM_TEXTS("no option --threds", "nearest is --threads", "usage: "),
                    LOOM_ARGS("run", "drape.ini", "--threds", "2"));
  proc_expect_error(2, LOOM_TEXTS("option --threads needs a value", "usage: "),
                    LOOM_ARGS("run", "drape.ini", "--threads"));
  proc_expect_error(2, LOOM_TEXTS("'x' is not a number"), LOOM_ARGS("run", "drape.ini", "-n", "x"));
  proc_expect_error(2, LOOM_TEXTS("info: give one log file"), LOOM_ARGS("info"));
  proc_expect_error(2, LOOM_TEXTS("compare: give two log files"), LOOM_ARGS("compare", "run.h5"));
}
