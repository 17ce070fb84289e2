/* Replay: a run replayed by itself is that run, also where its contact models keep state from step
 * to step; and a reference that poses another problem is refused, with the keys that differ. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "log/h5read.h"
#include "log/h5util.h"
#include "regress/drape.h"
#include "support/day.h"
#include "support/logdiff.h"
#include "support/proc.h"

TestSuite(replay, .init = proc_enter, .fini = proc_leave);

enum { STEPS = 20, LATE = 13 };

/* A sheet on a ball and a floor, by vertices and bodies. */
#define BODIES                                                                                    \
  DRAPE_RUN DRAPE_EXEC                                                                            \
      "[cloth.sheet]\nmodel = arap+isometric\npattern = regular\nresolution = 11 11\nsize = 0.4 " \
      "0.4\ntransform = translate 0.02 0.01 "                                                     \
      "0.225\ndensity = 0.2\nmembrane = 500\nk_b = 1e-4\nthickness = 2 mm\n" DRAPE_BODIES         \
      "[log]\naudit = off\n[solver]\nplugin = cholmod_newton\n[collision.bodies]\nplugin = sdf\n"
#define ON_BODIES(plugin) \
  BODIES "[contact.bodies]\nplugin = " plugin "\npairs = obstacle\ncollision = bodies\n"

/* A sheet that is thrown onto a ball and a floor of triangles, and stays in contact: fast enough
 * that stiffnesses and weights must grow. */
#define ON_MESHES(plugin)                                                                          \
  DRAPE_RUN DRAPE_EXEC "[cloth.sheet]\nmodel = arap+isometric\npattern = regular\nresolution = 9 " \
                       "9\nsize = 0.3 0.3\ndensity = 0.2\n"                                        \
                       "membrane = 300\nk_b = 1e-4\nvelocity = 0 0 -4\n"                           \
                       "transform = rotate 0 1 0 10 translate 0.02 0.01 0.16\n"                    \
                       "[body.ball]\nshape = sphere\nradius = 0.1\nmesh_size = 0.04\n"             \
                       "sdf_resolution = 16\n"                                                     \
                       "friction = 0.4\n[body.floor]\nshape = box\nsize = 1 1 0.1\n"               \
                       "position = 0 0 -0.05\nmesh_size = 0.5\nsdf_resolution = 16\n"              \
                       "[log]\naudit = off\n"                                                      \
                       "[solver]\nplugin = cholmod_newton\n[collision.self]\nplugin = "            \
                       "patch_bvh\n[contact.all]\nplugin = " plugin "\n"

/* Knitted loops, which are in contact as soon as they shrink. */
#define YARN(plugin)                                                                             \
  "[run]\nsteps = 120\ndt = 6.1728395e-5\n" DRAPE_EXEC                                           \
  "[detect]\nevery = step\n[log]\naudit = off\n"                                                 \
  "[solver]\nplugin = yarn_explicit\nmu_prop = 4500\nmu_const = 0\nshrink = 0.9\n"               \
  "shrink_time = 6e-3\n[collision.grid]\nplugin = yarn_grid\n"                                   \
  "[yarn.swatch]\npattern = stockinette\nrows = 4\nloops = 5\n[contact.yarns]\nplugin = " plugin \
  "\n"

typedef struct outcome {
  double e_ref;     /* m, largest at the end of a step */
  int64_t contacts; /* in all steps */
  int64_t steps;
} outcome;

static outcome read_replay_outcome(const char *path)
{
  loom_err err = {0};
  h5read *r = NULL;
  outcome o = {0};
  h5log_step_row s;
  cr_assert_eq(h5read_open(&err, path, &r), LOOM_OK, "%s", err.text);
  o.steps = h5read_num_steps(r);
  for (int64_t i = 0; i < o.steps; ++i) {
    cr_assert_eq(h5read_steps(r, &err, i, 1, &s), LOOM_OK, "%s", err.text);
    o.contacts += s.contacts;
  }
  const int64_t n = h5read_num_iters(r);
  h5log_iter_row *const rows = malloc((size_t)(n + 1) * sizeof *rows);
  cr_assert(rows != NULL);
  cr_assert_eq(h5read_iters(r, &err, 0, n, rows), LOOM_OK, "%s", err.text);
  for (int64_t i = 0; i < n; ++i) {
    if (i + 1 < n && rows[i + 1].step == rows[i].step) continue;
    cr_assert(!isnan(rows[i].e_ref), "step %lld has no reference", (long long)rows[i].step);
    o.e_ref = fmax(o.e_ref, rows[i].e_ref);
  }
  free(rows);
  h5read_close(r);
  return o;
}

/* The last `steps` of the reference once more, with further settings. */
static outcome replay_last_steps(const char *config, int64_t from, int64_t steps,
                                 const char *const *sets)
{
  char first[64], num[32];
  const char *args[32] = {"run", config,     "--quiet", "--overwrite",       "-n",    num,
                          "-o",  "again.h5", "--set",   "run.replay=ref.h5", "--set", first};
  int n = 12;
  proc p;
  snprintf(first, sizeof first, "run.replay_first=%lld", (long long)from);
  snprintf(num, sizeof num, "%lld", (long long)steps);
  for (; sets != NULL && *sets != NULL; ++sets) {
    args[n++] = "--set";
    args[n++] = *sets;
  }
  args[n] = NULL;
  proc_loom(&p, args);
  cr_assert_eq(p.code, 0, "exit code %d:\n%s%s", p.code, p.out, p.err);
  return read_replay_outcome("again.h5");
}

static int has_contact_model(const char *name) { return strcmp(name, "none") != 0; }

static void replays_itself(const char *name, const char *text, int64_t steps, const char *more)
{
  char num[32];
  snprintf(num, sizeof num, "%lld", (long long)steps);
  proc_write("scene.ini", text);
  LOOM_FINE("run", "scene.ini", "--quiet", "--overwrite", "-n", num, "-o", "ref.h5", "--set",
            more != NULL ? more : "run.seed=0");
  const char *const sets[] = {more, NULL};
  /* all of it, and its end alone, without the state that a run from the start would bring along */
  const outcome whole = replay_last_steps("scene.ini", 0, steps, sets);
  cr_assert_eq(whole.steps, steps);
  const int64_t from = steps - (STEPS - LATE);
  const outcome late = replay_last_steps("scene.ini", from, STEPS - LATE, sets);
  printf("replay, %s%s%s: %lld contacts, %.3g m from itself, its end %.3g m\n", name,
         more != NULL ? ", " : "", more != NULL ? more : "", (long long)whole.contacts, whole.e_ref,
         late.e_ref);
  if (has_contact_model(name)) cr_assert(late.contacts > 0, "%s: no contact", name);
  cr_assert(whole.e_ref < 1e-12, "%s: %g m", name, whole.e_ref);
  cr_assert(late.e_ref < 1e-12, "%s: %g m from step %d on", name, late.e_ref, (int)from);
}

Test(replay, penalty) { replays_itself("penalty", ON_BODIES("penalty"), STEPS, NULL); }
Test(replay, project) { replays_itself("project", ON_BODIES("project"), STEPS, NULL); }
Test(replay, cama_repulsion)
{
  replays_itself("cama_repulsion", ON_MESHES("cama_repulsion"), STEPS, "solver.plugin=cama_pcg");
}
Test(replay, none) { replays_itself("none", ON_BODIES("none"), STEPS, NULL); }
Test(replay, ipc_barrier) { replays_itself("ipc_barrier", ON_MESHES("ipc_barrier"), STEPS, NULL); }
/* Two objects, each with a stiffness of its own. */
Test(replay, ipc_barrier_of_two_objects)
{
  replays_itself("ipc_barrier", TWO_THROWN("ipc_barrier") "[log]\naudit = off\n", STEPS, NULL);
}
Test(replay, dbb) { replays_itself("dbb", ON_MESHES("dbb"), STEPS, NULL); }
Test(replay, ogc) { replays_itself("ogc", ON_MESHES("ogc"), STEPS, NULL); }
Test(replay, cubic_barrier)
{
  replays_itself("cubic_barrier", ON_MESHES("cubic_barrier"), STEPS, NULL);
}
Test(replay, pd_ipc)
{
  replays_itself("pd_ipc", ON_MESHES("pd_ipc"), STEPS, "solver.plugin=cholmod_pd");
}
Test(replay, ndb) { replays_itself("ndb", ON_MESHES("ndb"), STEPS, NULL); }
Test(replay, yarn_penalty) { replays_itself("yarn_penalty", YARN("yarn_penalty"), 120, NULL); }
Test(replay, acl) { replays_itself("acl", YARN("acl\nstiction = 0.05"), 120, NULL); }

/* State of solvers: the step length of gd, couplings of cholmod_pd; forces carried over. */
Test(replay, solvers)
{
  test_of_the_night();
  replays_itself("penalty", ON_BODIES("penalty"), STEPS, "solver.plugin=gd");
  replays_itself("penalty", ON_BODIES("penalty"), STEPS, "solver.plugin=cholmod_pd");
  replays_itself("dbb", ON_MESHES("dbb"), STEPS, "solver.plugin=cholmod_pd");
  replays_itself("dbb", ON_MESHES("dbb"), STEPS, "solver.plugin=aa_pd");
  replays_itself("dbb", ON_MESHES("dbb"), STEPS, "solver.plugin=chebyshev_pd");
  replays_itself("penalty", ON_BODIES("penalty"), STEPS, "solver.plugin=vbd");
  replays_itself("penalty", ON_BODIES("penalty"), STEPS, "solver.plugin=xpbd");
  replays_itself("penalty", ON_BODIES("penalty"), STEPS, "run.forwarding=paper");
}

/* The control: without the state the steps of these models are others, so a replay is refused
 * unless `fresh` asks for it. */
static void needs_its_state(const char *text, const char *model, int64_t steps)
{
  char num[32], who[128];
  snprintf(num, sizeof num, "%lld", (long long)steps);
  snprintf(who, sizeof who, "%s keeps a state", model);
  proc_write("scene.ini", text);
  LOOM_FINE("run", "scene.ini", "--quiet", "--overwrite", "-n", num, "-o", "ref.h5", "--set",
            "log.state=off");
  proc_expect_error(2, LOOM_TEXTS("[run] replay", who, "was not recorded", "replay_state = fresh"),
                    LOOM_ARGS("run", "scene.ini", "--quiet", "--overwrite", "-n", num, "-o",
                              "again.h5", "--set", "run.replay=ref.h5"));
  const outcome fresh = replay_last_steps("scene.ini", 0, steps,
                                          (const char *const[]){"run.replay_state=fresh", NULL});
  printf("replay, %s without its state: %.3g m from itself\n", model, fresh.e_ref);
  cr_assert(fresh.e_ref > 1e-12, "%s: %g m", model, fresh.e_ref);
}

Test(replay, without_the_state_it_is_another_problem)
{
  needs_its_state(ON_MESHES("ipc_barrier"), "[contact.all] 'ipc_barrier'", STEPS);
  needs_its_state(ON_MESHES("dbb"), "[contact.all] 'dbb'", STEPS);
  needs_its_state(ON_MESHES("ndb"), "[contact.all] 'ndb'", STEPS);
  needs_its_state(YARN("acl\nstiction = 0.05"), "[contact.yarns] 'acl'", 120);
}

/* Another model, or the same with other keys, cannot take the state over. */
Test(replay, state_of_another_model)
{
  proc_write("scene.ini", ON_MESHES("ipc_barrier"));
  LOOM_FINE("run", "scene.ini", "--quiet", "-n", "16", "-o", "ref.h5");
  proc_expect_error(2,
                    LOOM_TEXTS("[contact.all] 'dbb' keeps a state", "has the plugin ipc_barrier",
                               "replay_state = fresh"),
                    LOOM_ARGS("run", "scene.ini", "--quiet", "--overwrite", "-n", "16", "-o",
                              "again.h5", "--set", "run.replay=ref.h5", "--set",
                              "contact.all.plugin=dbb"));
  proc_expect_error(2, LOOM_TEXTS("[contact.all] 'ipc_barrier'", "d_hat is 0.001 there and 0.002"),
                    LOOM_ARGS("run", "scene.ini", "--quiet", "--overwrite", "-n", "16", "-o",
                              "again.h5", "--set", "run.replay=ref.h5", "--set",
                              "contact.all.d_hat=2 mm"));
  const outcome o =
      replay_last_steps("scene.ini", 0, 16,
                        (const char *const[]){"run.replay_state=fresh", "contact.all.plugin=dbb",
                                              "solver.plugin=cholmod_pd", NULL});
  cr_assert(o.e_ref > 0.0); /* another model */
  /* solvers and keys of no model may differ freely */
  replay_last_steps("scene.ini", 6, 4,
                    (const char *const[]){"solver.plugin=pcg_newton", "stop.max_iters=7",
                                          "exec.threads=1", "detect.every=step", NULL});
}

/* kappa is logged: it doubles in the reference, and the replay has it from its first step on. */
static double largest_kappa(const char *path, int64_t *first_step)
{
  loom_err err = {0};
  h5read *r = NULL;
  double largest = 0.0;
  cr_assert_eq(h5read_open(&err, path, &r), LOOM_OK, "%s", err.text);
  const int64_t n = h5read_num_rows(r, "iters_extra");
  double *const kappa = malloc((size_t)n * sizeof *kappa);
  int64_t *const step = malloc((size_t)n * sizeof *step);
  cr_assert(kappa != NULL && step != NULL && n > 0);
  cr_assert_eq(h5read_column(r, &err, "iters_extra", "contact.all.kappa", 'R', 0, n, kappa),
               LOOM_OK, "%s", err.text);
  cr_assert_eq(h5read_column(r, &err, "iters_extra", "step", 'I', 0, n, step), LOOM_OK);
  for (int64_t i = 0; i < n; ++i) {
    if (kappa[i] <= largest) continue;
    largest = kappa[i];
    *first_step = step[i];
  }
  free(kappa);
  free(step);
  h5read_close(r);
  return largest;
}

Test(replay, kappa_is_logged_and_restored)
{
  int64_t grown = 0, seen = 0;
  proc_write("scene.ini", ON_MESHES("ipc_barrier"));
  LOOM_FINE("run", "scene.ini", "--quiet", "-n", "20", "-o", "ref.h5");
  const double most = largest_kappa("ref.h5", &grown);
  printf("replay: kappa is %g N/m from step %lld on\n", most, (long long)grown);
  cr_assert(grown > 1 && grown < STEPS - 2, "it grew last in step %lld", (long long)grown);
  replay_last_steps("scene.ini", grown + 1, 1, NULL);
  cr_assert_eq(largest_kappa("again.h5", &seen), most);
  cr_assert_eq(seen, grown + 1);
}

/* The column has the largest of all objects: here of a sheet of 100 times the mass that touches
 * nothing; the other one's is doubled to 32 times its first value. */
Test(replay, kappa_is_the_largest_of_all_objects)
{
  int64_t grown = -1;
  proc_write("scene.ini", TWO_THROWN("ipc_barrier") "[log]\naudit = off\n");
  LOOM_FINE("run", "scene.ini", "--quiet", "-n", "6", "-o", "heavy.h5", "--set",
            "cloth.other.density=20");
  LOOM_FINE("run", "scene.ini", "--quiet", "-n", "6", "-o", "equal.h5");
  const double heavy = largest_kappa("heavy.h5", &grown);
  cr_expect_eq(grown, 0, "it grew in step %lld", (long long)grown);
  const double equal = largest_kappa("equal.h5", &grown);
  cr_expect_gt(grown, 0);
  cr_expect_float_eq(equal / heavy, 0.32, 1e-3, "%g of %g N/m", equal, heavy);
}

/* Frame 0 is the state from which the first step starts. */
Test(replay, frame_0_is_the_start_of_the_first_step)
{
  loom_err err = {0};
  h5read *r = NULL;
  double x[2][3 * 121], v[2][3 * 121], time[2];
  int64_t step[2];
  proc_write("scene.ini", ON_BODIES("penalty"));
  LOOM_FINE("run", "scene.ini", "--quiet", "-n", "8", "-o", "ref.h5");
  replay_last_steps("scene.ini", 6, 2, NULL);
  for (int i = 0; i < 2; ++i) {
    cr_assert_eq(h5read_open(&err, i == 0 ? "ref.h5" : "again.h5", &r), LOOM_OK, "%s", err.text);
    cr_assert_eq(h5read_num_verts(r), 121);
    cr_assert_eq(h5read_frame(r, &err, i == 0 ? 6 : 0, x[i], v[i], &time[i], &step[i]), LOOM_OK,
                 "%s", err.text);
    h5read_close(r);
  }
  cr_assert_eq(step[0], step[1]);
  cr_assert_float_eq(time[0], time[1], 1e-12);
  cr_assert(memcmp(x[0], x[1], sizeof x[0]) == 0 && memcmp(v[0], v[1], sizeof v[0]) == 0);
  LOOM_FINE("compare", "again.h5", "again.h5", "--tol", "0");
}

/* ---- other problems ---- */

static void expect_refusal_of_replay(const char *set, const char *key, const char *there,
                                     const char *here)
{
  char what[256];
  snprintf(what, sizeof what, "%s is %s there and %s here", key, there, here);
  proc_expect_error(2, LOOM_TEXTS("[run] replay", "the reference solved another problem", what),
                    LOOM_ARGS("run", "scene.ini", "--quiet", "--overwrite", "-n", "2", "-o",
                              "again.h5", "--set", "run.replay=ref.h5", "--set", set));
}

Test(replay, other_physics_are_refused)
{
  proc_write("scene.ini", ON_BODIES("penalty"));
  LOOM_FINE("run", "scene.ini", "--quiet", "-n", "5", "-o", "ref.h5");
  expect_refusal_of_replay("run.dt=0.005", "[run] dt", "0.01", "0.005");
  expect_refusal_of_replay("run.gravity=0 0 -1", "[run] gravity", "auto", "0 0 -1");
  expect_refusal_of_replay("run.substeps=2", "[run] substeps", "1", "2");
  expect_refusal_of_replay("cloth.sheet.density=0.3", "[cloth.sheet] density", "0.2", "0.3");
  expect_refusal_of_replay("cloth.sheet.membrane=400", "[cloth.sheet] membrane", "500", "400");
  expect_refusal_of_replay("cloth.sheet.k_b=2e-4", "[cloth.sheet] k_b", "0.0001", "0.0002");
  expect_refusal_of_replay("cloth.sheet.damping=1", "[cloth.sheet] damping", "0", "1");
  expect_refusal_of_replay("cloth.sheet.thickness=1 mm", "[cloth.sheet] thickness", "0.002",
                           "0.001");
  expect_refusal_of_replay("cloth.sheet.pins=corners", "[cloth.sheet] pins", "none", "corners");
  expect_refusal_of_replay("cloth.sheet.model=springs", "[cloth.sheet] model", "arap+isometric",
                           "springs");
  expect_refusal_of_replay("body.ball.friction=0.1", "[body.ball] friction", "0.3", "0.1");
  expect_refusal_of_replay("contact.bodies.self_friction=0.2", "[contact.bodies] self_friction",
                           "0", "0.2");
  expect_refusal_of_replay("body.ball.radius=0.1", "[body.ball] radius", "0.12", "0.1");
  proc_expect_error(2, LOOM_TEXTS("another problem", "[body.obstruction] is not there"),
                    LOOM_ARGS("run", "scene.ini", "--quiet", "--overwrite", "-n", "4", "-o",
                              "again.h5", "--set", "run.replay=ref.h5", "--set",
                              "body.obstruction.shape=plane", "--set",
                              "body.obstruction.position=0 0 -1"));
  /* keys of the method may differ */
  replay_last_steps("scene.ini", 0, 4,
                    (const char *const[]){"solver.plugin=gd", "stop.tol_abs=1e-4",
                                          "filter.line_search=on", "contact.bodies.stiffness=1e5",
                                          "run.guess=velocity", "run.seed=7",
                                          "run.forwarding=paper", "log.compression=1", NULL});
}

/* Logs of older versions have a key of [run] that is no more. */
Test(replay, scheme_of_older_logs)
{
  proc_write("scene.ini", ON_BODIES("penalty"));
  LOOM_FINE("run", "scene.ini", "--quiet", "-n", "3", "-o", "ref.h5");
  h5u_quiet();
  const hid_t f = H5Fopen("ref.h5", H5F_ACC_RDWR, H5P_DEFAULT);
  cr_assert(f >= 0);
  char *const now = h5u_get_text(f, "config");
  cr_assert(now != NULL);
  const size_t len = strlen(now) + 64;
  char *const old = malloc(len);
  cr_assert(old != NULL && strncmp(now, "[run]\n", 6) == 0, "%.40s", now);
  snprintf(old, len, "[run]\nscheme = backward_euler\n%s", now + 6);
  cr_assert_eq(h5u_drop_attr(f, "config"), 0);
  cr_assert_eq(h5u_put_text(f, "config", old, 0), 0);
  cr_assert(H5Fclose(f) >= 0);
  free(old);
  free(now);
  const outcome o = replay_last_steps("scene.ini", 0, 3, NULL);
  cr_assert_eq(o.steps, 3);
  cr_assert(o.e_ref < 1e-12, "%g m", o.e_ref);
}

/* Keys of a solver that pose the problem, also where the solver here has no such key. */
Test(replay, other_rest_lengths_are_refused)
{
  proc_write("scene.ini", YARN("yarn_penalty"));
  LOOM_FINE("run", "scene.ini", "--quiet", "-n", "5", "-o", "ref.h5");
  expect_refusal_of_replay("solver.shrink=0.8", "[solver] shrink", "0.9", "0.8");
  expect_refusal_of_replay("solver.shrink_time=0.01", "[solver] shrink_time", "0.006", "0.01");
  expect_refusal_of_replay("solver.mu_const=5", "[solver] mu_const", "0", "5");
  replay_last_steps("scene.ini", 0, 4, (const char *const[]){"solver.max_iters=20", NULL});
}

/* The same keys, another file: the mesh itself is compared. */
Test(replay, another_mesh_of_the_same_name_is_refused)
{
  static const char mesh[] = "v 0 0 0\nv %g 0 0\nv 0 0.1 0\nv 0.1 0.1 0\nf 1 2 3\nf 2 4 3\n";
  char text[256];
  proc_write("scene.ini",
             DRAPE_RUN DRAPE_EXEC "[cloth.patch]\nmodel = arap+isometric\nshape = obj\nfile = "
                                  "patch.obj\n[solver]\nplugin = cholmod_pd\n");
  snprintf(text, sizeof text, mesh, 0.1);
  proc_write("patch.obj", text);
  LOOM_FINE("run", "scene.ini", "--quiet", "-n", "5", "-o", "ref.h5");
  replay_last_steps("scene.ini", 0, 4, NULL);
  snprintf(text, sizeof text, mesh, 0.11);
  proc_write("patch.obj", text);
  proc_expect_error(2, LOOM_TEXTS("another problem", "/scene/rest differs"),
                    LOOM_ARGS("run", "scene.ini", "--quiet", "--overwrite", "-n", "4", "-o",
                              "again.h5", "--set", "run.replay=ref.h5"));
}
