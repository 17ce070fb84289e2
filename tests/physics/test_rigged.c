/* Bodies of shape = rig: the same as a sequence of the meshes that their skin takes, at every step;
 * a sheet lies on a thigh that is raised. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "geom/pose.h"
#include "log/h5read.h"
#include "rig/animation.h"
#include "support/proc.h"
#include "support/sim.h"

TestSuite(rigged, .init = proc_enter, .fini = proc_leave);

static const char raise_thigh[] = "columns hip.flexion knee.flexion root.z\n"
                                  "0 0 0 0\n0.08 8 10 0.004\n0.2 24 30 0.01\n";

/* The leg lies on its back: its +y is up. */
static const char scene[] =
    "[run]\nsteps = 16\ndt = 0.01\n[exec]\nbackend = cpu\n[log]\naudit = every\n"
    "checkpoint_every = 5\n"
    "[stop]\ntol_abs = 1e-9\ntol_rel = 0\nmax_iters = 200\n"
    "[solver]\nplugin = cholmod_newton\n"
    "[cloth.sheet]\nmodel = arap+isometric\npattern = regular\nsize = 0.1\nresolution = "
    "7\ntransform = translate 0.003 0.3 0.08\n"
    "density = 0.3\nthickness = 1e-3\n"
    "[collision.self]\nplugin = patch_bvh\n[contact.self]\nplugin = ipc_barrier\nd_hat = 3e-3\n"
    "[body.leg]\nrotation = 1 0 0 90\nfriction = 0.5\n";

static void write_rigged_scene(char *text, size_t room, const char *body)
{
  char dir[512];
  cr_assert(getcwd(dir, sizeof dir) != NULL);
  const char *const at = strchr(body, '@');
  if (at != NULL)
    snprintf(text, room, "%s%.*s%s%s", scene, (int)(at - body), body, dir, at + 1);
  else
    snprintf(text, room, "%s%s", scene, body);
}

static void run_leg(sim *s, const char *body)
{
  char text[2048];
  write_rigged_scene(text, sizeof text, body);
  sim_run(s, text, NULL, 0);
  cr_assert_eq(s->sum.intersections, 0);
}

static double largest_rigged_difference(const sim *a, const sim *b)
{
  double most = 0;
  for (int64_t i = 0; i < 3 * a->n; ++i) most = fmax(most, fabs(a->x[i] - b->x[i]));
  return most;
}

/* The skin at the ends of all steps as files. */
static void write_skins(void)
{
  loom_err err = {0};
  rig r;
  rig_animation a;
  double T[3 * 12], value[RIG_ROOT + 4], root[12];
  cr_assert_eq(rig_make(&err, "leg", 0.03, &r), LOOM_OK);
  cr_assert_eq(rig_animation_read(&err, "raise.txt", &r, &a), LOOM_OK, "%s", err.text);
  double *const x = malloc(3 * (size_t)r.skin.num_verts * sizeof *x);
  for (int k = 0; k <= 16; ++k) {
    char name[32];
    snprintf(name, sizeof name, "skin%02d.obj", k);
    FILE *const f = fopen(name, "w");
    cr_assert(f != NULL && x != NULL);
    rig_animation_at(&a, 0.01 * k, value);
    rig_root(&r, value, root);
    rig_pose(&r, value + RIG_ROOT, root, T);
    rig_skin(&r, T, x);
    for (int32_t v = 0; v < r.skin.num_verts; ++v)
      fprintf(f, "v %.17g %.17g %.17g\n", x[3 * v], x[3 * v + 1], x[3 * v + 2]);
    for (int32_t t = 0; t < r.skin.num_tris; ++t)
      fprintf(f, "f %d %d %d\n", r.skin.tris[3 * t] + 1, r.skin.tris[3 * t + 1] + 1,
              r.skin.tris[3 * t + 2] + 1);
    fclose(f);
  }
  free(x);
  rig_animation_free(&a);
  rig_free(&r);
}

Test(rigged, moves_as_the_sequence_of_its_skins_does)
{
  sim rigged, files, still;
  proc_write("raise.txt", raise_thigh);
  write_skins();
  run_leg(&rigged, "shape = rig\nrig = leg\nedge_length = 0.03\nanimation_ease = 0\n"
                   "animation_file = @/raise.txt\n");
  run_leg(&files, "shape = mesh\nsdf_resolution = 0\nmotion = sequence\nframe_rate = 100\n"
                  "frames = @/skin%02d.obj\n");
  run_leg(&still, "shape = rig\nrig = leg\nedge_length = 0.03\n");
  printf("sheet on a thigh: %.3g m from the sequence, %.3g m from the leg at rest\n",
         largest_rigged_difference(&rigged, &files), largest_rigged_difference(&rigged, &still));
  cr_assert_lt(largest_rigged_difference(&rigged, &files), sizeof(loom_real) == 4 ? 1e-4 : 1e-8);
  cr_assert_gt(largest_rigged_difference(&rigged, &still), 0.05); /* the control: it is lifted */
  sim_free(&rigged), sim_free(&files), sim_free(&still);
}

/* The rigid motion of the body comes on top, and `angles` hold without an animation. */
Test(rigged, a_pose_and_a_motion_on_top)
{
  sim a, b;
  proc_write("hold.txt", "columns hip.flexion\n0 10\n");
  run_leg(&a, "shape = rig\nrig = leg\nedge_length = 0.03\nangles = hip.flexion 10\n"
              "position = 0 0 -0.06\nmotion = translate 0 0.2 0\n");
  run_leg(&b, "shape = rig\nrig = leg\nedge_length = 0.03\nanimation_file = @/hold.txt\n"
              "animation_ease = 0\nangles = hip.flexion 10\nposition = 0 0 -0.06\n"
              "motion = translate 0 0.2 0\n");
  cr_assert(!(largest_rigged_difference(&a, &b) > 0));
  sim_free(&a), sim_free(&b);
}

Test(rigged, resumes_threads_and_passes_the_audit)
{
  char text[2048];
  proc_write("raise.txt", raise_thigh);
  write_rigged_scene(text, sizeof text,
                     "shape = rig\nrig = leg\nedge_length = 0.03\nanimation_file = @/raise.txt\n"
                     "animation_start = 0.02\nanimation_ease = 0.05\nanimation_speed = 0.8\n");
  proc_write("leg.ini", text);
  LOOM_FINE("run", "leg.ini", "--quiet", "-o", "whole.h5");
  LOOM_FINE("run", "leg.ini", "--quiet", "-o", "parts.h5", "-n", "7");
  LOOM_FINE("run", "leg.ini", "--quiet", "-o", "parts.h5", "--resume=4");
  LOOM_FINE("compare", "whole.h5", "parts.h5", "--tol", "0");
  LOOM_FINE("run", "leg.ini", "--quiet", "-o", "one.h5", "--threads", "1");
  LOOM_FINE("compare", "whole.h5", "one.h5", "--tol", "0");
  LOOM_FINE("verify", "whole.h5", "--trajectory");
  LOOM_FINE("run", "leg.ini", "--quiet", "-o", "again.h5", "--set", "run.replay=whole.h5");
  LOOM_FINE("compare", "whole.h5", "again.h5", "--tol", "1e-9");
  LOOM_FINE("run", "leg.ini", "--quiet", "-o", "front.h5", "--set",
            "collision.self.plugin=bvtt_front");
  LOOM_FINE("compare", "whole.h5", "front.h5", "--tol", "1e-9");
}

static void joints_of(const char *path, double *T, int64_t room, int64_t *frames)
{
  loom_err err = {0};
  h5read *log;
  void *data;
  int rank;
  int64_t dims[4];
  cr_assert_eq(h5read_open(&err, path, &log), LOOM_OK, "%s", err.text);
  cr_assert_eq(h5read_dataset(log, &err, "scene/obstacles/leg/joints", 1, &data, &rank, dims),
               LOOM_OK, "%s", err.text);
  cr_assert(rank == 3 && dims[1] == 3 && dims[2] == 12 && dims[0] * 36 <= room);
  memcpy(T, data, (size_t)dims[0] * 36 * sizeof *T);
  *frames = dims[0];
  free(data);
  h5read_close(log);
}

/* The joints in the log are where the animation has them at the frame's time. */
Test(rigged, the_log_holds_the_joints_of_every_frame)
{
  char text[2048];
  double T[40 * 36], want[36];
  int64_t frames;
  proc_write("raise.txt", raise_thigh);
  write_rigged_scene(text, sizeof text,
                     "shape = rig\nrig = leg\nedge_length = 0.03\nanimation_file = @/raise.txt\n"
                     "animation_ease = 0\n");
  proc_write("leg.ini", text);
  LOOM_FINE("run", "leg.ini", "--quiet", "-o", "leg.h5");
  joints_of("leg.h5", T, 40 * 36, &frames);
  cr_assert_eq(frames, 17);
  loom_err err = {0};
  rig r;
  rig_animation a;
  cr_assert_eq(rig_make(&err, "leg", 0.03, &r), LOOM_OK);
  cr_assert_eq(rig_animation_read(&err, "raise.txt", &r, &a), LOOM_OK);
  for (int k = 0; k < 17; ++k) {
    double value[RIG_ROOT + 4], root[12];
    rig_animation_at(&a, 0.01 * k, value);
    rig_root(&r, value, root);
    rig_pose(&r, value + RIG_ROOT, root, want);
    for (int i = 0; i < 36; ++i) cr_assert_float_eq(T[36 * k + i], want[i], 1e-9);
  }
  rig_animation_free(&a);
  rig_free(&r);
}

Test(rigged, bad_rigs_are_refused)
{
  static const char *const cases[][3] = {
      {"shape = rig\n", "[body.leg] shape", "needs the key rig"},
      {"shape = rig\nrig = arm\n", "[body.leg] rig: there is no body 'arm'", "lower_body"},
      {"shape = rig\nrig = leg\nangles = kne.flexion 3\n", "[body.leg] angles",
       "did you mean 'knee.flexion'"},
      {"shape = rig\nrig = leg\nangles = knee.flexion 180\n", "[body.leg] angles", "allowed: 0 to"},
      {"shape = rig\nrig = leg\nanimation = hop\n", "[body.leg] animation",
       "searched for animations/hop.txt"},
      {"shape = rig\nrig = leg\nanimation_file = @/none.txt\n", "[body.leg] animation_file",
       "none.txt"},
      {"shape = rig\nrig = leg\nanimation_file = @/bad.txt\n", "bad.txt:2", "for every column"},
      {"shape = rig\nrig = leg\nanimation = hop\nanimation_file = @/bad.txt\n", "animation_file",
       "leave one of them out"},
      {"shape = rig\nrig = leg\nanimation_speed = 2\n", "animation_speed", "has no effect"},
      {"shape = rig\nrig = leg\nsdf_resolution = 20\n", "sdf_resolution", "has no effect"},
      {"shape = rig\nrig = leg\ndistance = neural\n", "[body.leg] distance",
       "needs the key networks"},
      {"shape = rig\nrig = leg\ndistance = grid\nsdf_resolution = 3\n", "[body.leg] sdf_resolution",
       "4 to 512 nodes"},
      {"shape = rig\nrig = leg\ndistance = exact\nnetworks = @/none.h5\n", "networks",
       "has no effect"},
      {"shape = rig\nrig = leg\ndistance = capsule\n", "distance", "did you mean 'capsules'"},
      {"shape = rig\nrig = leg\nthickness = 0.01\n", "thickness", "has no layer"},
      {"shape = rig\nrig = leg\nmotion = sequence\nframes = a%d.obj\n", "frames", "shape = mesh"},
      {"shape = sphere\nradius = 0.1\nrig = leg\n", "[body.leg] rig", "it takes shape = rig"},
  };
  proc_write("bad.txt", "columns hip.flexion\n0\n");
  for (size_t k = 0; k < sizeof cases / sizeof *cases; ++k) {
    char text[2048];
    write_rigged_scene(text, sizeof text, cases[k][0]);
    proc_write("bad.ini", text);
    proc p;
    proc_loom(&p, LOOM_ARGS("run", "bad.ini", "--quiet"));
    for (int i = 1; i < 3; ++i)
      cr_expect(strstr(p.err, cases[k][i]) != NULL, "%s: no '%s' in: %s", cases[k][0], cases[k][i],
                p.err);
    cr_expect_eq(p.code, 2, "%s: exit code %d", cases[k][0], p.code);
  }
}

/* Said once, with the place; the run goes on. */
Test(rigged, angles_outside_limits_are_said)
{
  char text[2048];
  proc_write("far.txt", "columns hip.flexion\n0 0\n0.1 100\n0.2 110\n");
  write_rigged_scene(text, sizeof text,
                     "shape = rig\nrig = leg\nanimation_file = @/far.txt\n"
                     "edge_length = 0.05\nposition = 0 0 -1\n");
  proc_write("far.ini", text);
  proc p;
  proc_loom(&p, LOOM_ARGS("check", "far.ini"));
  cr_assert_eq(p.code, 0, "%s", p.err);
  const char *const said = strstr(p.err, "far.txt:3: hip.flexion is outside its limits");
  cr_assert(said != NULL || strstr(p.out, "far.txt:3: hip.flexion is outside") != NULL, "%s%s",
            p.out, p.err);
}
