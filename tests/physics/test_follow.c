/* Pins with the key body keep their places on a body: its rigid motion, a joint, a skin. */
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

TestSuite(follow, .init = proc_enter, .fini = proc_leave);

/* A few roundings of numbers of size 1. */
static const double rounding = sizeof(loom_real) == 4 ? 1e-5 : 1e-14;

static const char run_keys[] = "[run]\nsteps = 12\ndt = 0.02\n[exec]\nbackend = cpu\n[stop]\n"
                               "tol_abs = 1e-6\nmax_iters = 20\n[solver]\nplugin = gd\n"
                               "[contact.none]\nplugin = none\n";

/* ---- rigid ---- */

static const char drum[] =
    "[cloth.sheet]\nmodel = arap+isometric\npattern = regular\nsize = 0.4 0.2\nresolution = 5 "
    "3\ntransform = translate 0.1 0.2 0.3\n"
    "[body.drum]\nshape = box\nsize = 0.1 0.2 0.3\nposition = 2 1 -3\nrotation = 1 2 3 40\n"
    "motion = translate 0.3 -0.1 0.2 rotate 0.6 0 0.8 0.5 -0.2 0.1 90\n";

/* R the turn of 90 degrees per second about (0.6, 0, 0.8) through c:
 * x(t) = c + R (x_0 + t u - c), by the formula of Rodrigues. */
static void turn_with_drum(double t, const double x0[3], double out[3])
{
  static const double k[3] = {0.6, 0, 0.8}, c[3] = {0.5, -0.2, 0.1}, u[3] = {0.3, -0.1, 0.2};
  const double angle = 3.14159265358979323846 / 2 * t;
  double p[3], dot = 0;
  for (int i = 0; i < 3; ++i) p[i] = x0[i] + t * u[i] - c[i];
  for (int i = 0; i < 3; ++i) dot += k[i] * p[i];
  for (int i = 0; i < 3; ++i) {
    const int a = (i + 1) % 3, b = (i + 2) % 3;
    out[i] = c[i] + p[i] * cos(angle) + (k[a] * p[b] - k[b] * p[a]) * sin(angle) +
             k[i] * dot * (1 - cos(angle));
  }
}

static double largest_drum_error(const sim *s, double t)
{
  double most = 0, want[3];
  for (int64_t v = 0; v < s->n; v += 5) { /* the left side of 5 x 3 */
    turn_with_drum(t, s->rest + 3 * v, want);
    for (int c = 0; c < 3; ++c) most = fmax(most, fabs(s->x[3 * v + c] - want[c]));
  }
  return most;
}

Test(follow, a_rigid_body_carries_its_pins)
{
  char text[2000];
  sim s;
  snprintf(text, sizeof text, "%s%s[pin.p]\nobject = sheet\nwhere = left\nbody = drum\n", run_keys,
           drum);
  sim_run(&s, text, NULL, 0);
  printf("pins on a body that turns: %.3g m from the formula\n", largest_drum_error(&s, 0.24));
  cr_assert_lt(largest_drum_error(&s, 0.24), rounding);
  cr_assert_gt(largest_drum_error(&s, 0.20), 1e-3); /* the control: they move */
  sim_free(&s);
}

/* Springs of 1e8 N/m hold their ends within 1e-6 m of the same places. */
Test(follow, soft_pins_have_their_targets_on_the_body)
{
  char text[2000];
  sim s;
  snprintf(text, sizeof text,
           "%s%s[pin.p]\nobject = sheet\nwhere = left\nbody = drum\nstiffness = 1e8\n", run_keys,
           drum);
  sim_run(&s, text,
          (const char *const[]){"solver.plugin=cholmod_newton", "stop.tol_abs=1e-9", NULL}, 0);
  cr_assert_lt(largest_drum_error(&s, 0.24), 1e-5);
  cr_assert_gt(largest_drum_error(&s, 0.24), 0.0);
  sim_free(&s);
}

/* ---- a leg that bends ---- */

static const char raise_leg[] = "columns hip.flexion knee.flexion root.z root.turn_z\n"
                                "0 0 10 0 5\n0.1 18 40 0.004 9\n0.4 44 90 0.01 12\n";
enum { SHANK = 2, LEG_JOINTS = 3, NUM_TAKEN = 3 };
static const double leg_turn[12] = {1, 0, 0, 0, 0, -1, 0, 1, 0, 0.1, 0.2, 0.3}; /* 90 about x */

typedef struct leg {
  rig r;
  rig_animation a;
  double *x; /* [num_verts][3], m, its skin */
} leg;

static void pose_raised_leg(leg *l, double t, double T[12 * LEG_JOINTS])
{
  double value[RIG_ROOT + 4], root[12];
  rig_animation_at(&l->a, t, value);
  rig_root(&l->r, value, root);
  rig_pose(&l->r, value + RIG_ROOT, root, T);
  for (int j = 0; j < l->r.num_joints; ++j) pose_mul(leg_turn, T + 12 * j, T + 12 * j);
  rig_skin(&l->r, T, l->x);
}

static void open_leg(leg *l)
{
  loom_err err = {0};
  proc_write("raise.txt", raise_leg);
  cr_assert_eq(rig_make(&err, "leg", 0.05, &l->r), LOOM_OK);
  cr_assert_eq(l->r.num_joints, LEG_JOINTS);
  cr_assert_eq(rig_animation_read(&err, "raise.txt", &l->r, &l->a), LOOM_OK, "%s", err.text);
  l->x = malloc(3 * (size_t)l->r.skin.num_verts * sizeof *l->x);
  cr_assert(l->x != NULL);
}

static void close_posed_leg(leg *l)
{
  rig_animation_free(&l->a);
  rig_free(&l->r);
  free(l->x);
}

/* Three points of the skin over the knee, as a cloth of one triangle; `taken`: their vertices. */
static void write_patch(const leg *l, int32_t taken[NUM_TAKEN])
{
  char text[400];
  size_t used = 0;
  double least = INFINITY;
  for (int32_t v = 0; v < l->r.skin.num_verts; ++v) { /* weights of both joints at the knee */
    const double *const knee = l->r.joint[SHANK].rest, *const x = l->r.skin.x + 3 * (int64_t)v;
    const double d = fabs(x[2] - knee[2]) + 0.1 * fabs(x[0] - knee[0] - 0.03);
    if (d < least) taken[0] = v;
    least = fmin(least, d);
  }
  for (int32_t t = 0; t < l->r.skin.num_tris; ++t)
    for (int a = 0; a < 3; ++a)
      if (l->r.skin.tris[3 * t + a] == taken[0])
        for (int b = 1; b < 3; ++b) taken[b] = l->r.skin.tris[3 * t + (a + b) % 3];
  for (int a = 0; a < NUM_TAKEN; ++a) {
    const double *const x = l->x + 3 * (int64_t)taken[a];
    used += (size_t)snprintf(text + used, sizeof text - used, "v %.17g %.17g %.17g\n", x[0], x[1],
                             x[2]);
  }
  snprintf(text + used, sizeof text - used, "f 1 2 3\n");
  proc_write("patch.obj", text);
}

/* The patch pinned to the leg as `pin` says, to the end of the run. */
static void run_patch(sim *s, const char *body, const char *pin)
{
  char text[4000], dir[1000];
  cr_assert(getcwd(dir, sizeof dir) != NULL);
  snprintf(text, sizeof text,
           "%s[cloth.patch]\nshape = obj\nfile = %s/patch.obj\nmodel = tri_stvk\n"
           "[body.leg]\nrotation = 1 0 0 90\nposition = 0.1 0.2 0.3\n%s\n[pin.p]\nobject = patch\n"
           "where = boundary\nbody = leg\n%s\n",
           run_keys, dir, body, pin);
  for (char *at; (at = strchr(text, '@')) != NULL;) {
    char rest[3000];
    snprintf(rest, sizeof rest, "%s", at + 1);
    snprintf(at, sizeof text - (size_t)(at - text), "%s%s", dir, rest);
  }
  sim_run(s, text, NULL, 0);
}

static const char rig_keys[] = "shape = rig\nrig = leg\nedge_length = 0.05\nanimation_ease = 0\n"
                               "animation_file = @/raise.txt";

Test(follow, pins_keep_their_place_on_a_skin_that_bends)
{
  double T[12 * LEG_JOINTS], most = 0, moved = 0;
  int32_t taken[NUM_TAKEN];
  leg l;
  sim s;
  open_leg(&l);
  pose_raised_leg(&l, 0, T);
  write_patch(&l, taken);
  run_patch(&s, rig_keys, "");
  pose_raised_leg(&l, 0.24, T);
  for (int64_t k = 0; k < 3 * NUM_TAKEN; ++k) {
    const double want = l.x[3 * (int64_t)taken[k / 3] + k % 3];
    most = fmax(most, fabs(s.x[k] - want));
    moved = fmax(moved, fabs(s.rest[k] - want));
  }
  printf("pins on a knee: %.3g m from its skin, which moved by %.3g m\n", most, moved);
  cr_assert_lt(most, 1e-9); /* the nearest point of a triangle to rounding of the OBJ file */
  cr_assert_gt(moved, 0.05);
  sim_free(&s);
  close_posed_leg(&l);
}

/* Where a rotation and shift A that becomes B takes x: B A^-1 x. */
static void carry_point(const double A[12], const double B[12], const double x[3], double out[3])
{
  double local[3], p[3];
  for (int c = 0; c < 3; ++c) p[c] = x[c] - A[9 + c];
  for (int c = 0; c < 3; ++c) local[c] = A[c] * p[0] + A[3 + c] * p[1] + A[6 + c] * p[2];
  pose_apply(B, local, out);
}

/* A vertex off the skin keeps its offset: where all joints move as one, that is their motion. */
Test(follow, pins_beside_a_skin_turn_with_it)
{
  double T[12 * LEG_JOINTS], T0[12 * LEG_JOINTS], most = 0;
  leg l;
  sim s;
  open_leg(&l);
  proc_write("raise.txt", "columns root.x root.turn_x root.turn_z\n0 0.1 5 0\n0.4 0.2 60 40\n");
  rig_animation_free(&l.a);
  cr_assert_eq(rig_animation_read(&(loom_err){0}, "raise.txt", &l.r, &l.a), LOOM_OK);
  proc_write("patch.obj", "v 0.4 0.3 0.3\nv 0.5 0.3 0.3\nv 0.4 0.4 0.35\nf 1 2 3\n");
  run_patch(&s, rig_keys, "");
  pose_raised_leg(&l, 0, T0);
  pose_raised_leg(&l, 0.24, T);
  for (int64_t v = 0; v < NUM_TAKEN; ++v) {
    double want[3];
    carry_point(T0, T, s.rest + 3 * v, want);
    for (int c = 0; c < 3; ++c) most = fmax(most, fabs(s.x[3 * v + c] - want[c]));
  }
  printf("pins 0.3 m from a skin: %.3g m from its turn\n", most);
  cr_assert_lt(most, 100 * rounding); /* the frame of a triangle of some cm */
  sim_free(&s);
  close_posed_leg(&l);
}

/* T_j(t) T_j(0)^-1 x, and not the way of the skin. */
Test(follow, pins_of_a_joint_move_as_one)
{
  double T[12 * LEG_JOINTS], T0[12 * LEG_JOINTS], most = 0, from_skin = 0;
  int32_t taken[NUM_TAKEN];
  leg l;
  sim s;
  open_leg(&l);
  pose_raised_leg(&l, 0, T0);
  write_patch(&l, taken);
  run_patch(&s, rig_keys, "joint = knee");
  pose_raised_leg(&l, 0.24, T);
  for (int64_t v = 0; v < NUM_TAKEN; ++v) {
    double want[3];
    carry_point(T0 + 12 * SHANK, T + 12 * SHANK, s.rest + 3 * v, want);
    for (int c = 0; c < 3; ++c) {
      most = fmax(most, fabs(s.x[3 * v + c] - want[c]));
      from_skin = fmax(from_skin, fabs(s.x[3 * v + c] - l.x[3 * (int64_t)taken[v] + c]));
    }
  }
  cr_assert_lt(most, 10 * rounding);
  cr_assert_gt(from_skin, 1e-3);
  sim_free(&s);
  close_posed_leg(&l);
}

/* A sequence of the same skins, with straight lines between its frames, is the same at frames. */
Test(follow, a_sequence_of_meshes_carries_pins)
{
  double T[12 * LEG_JOINTS], most = 0;
  int32_t taken[NUM_TAKEN];
  leg l;
  sim s;
  open_leg(&l);
  memcpy(T, leg_turn, sizeof leg_turn);
  for (int k = 0; k <= 12; ++k) { /* in the body's frame */
    char name[32];
    double own[12 * LEG_JOINTS], value[RIG_ROOT + 4], root[12];
    rig_animation_at(&l.a, 0.02 * k, value);
    rig_root(&l.r, value, root);
    rig_pose(&l.r, value + RIG_ROOT, root, own);
    rig_skin(&l.r, own, l.x);
    snprintf(name, sizeof name, "skin%02d.obj", k);
    FILE *const f = fopen(name, "w");
    cr_assert(f != NULL);
    for (int32_t v = 0; v < l.r.skin.num_verts; ++v)
      fprintf(f, "v %.17g %.17g %.17g\n", l.x[3 * v], l.x[3 * v + 1], l.x[3 * v + 2]);
    for (int32_t t = 0; t < l.r.skin.num_tris; ++t)
      fprintf(f, "f %d %d %d\n", l.r.skin.tris[3 * t] + 1, l.r.skin.tris[3 * t + 1] + 1,
              l.r.skin.tris[3 * t + 2] + 1);
    fclose(f);
  }
  pose_raised_leg(&l, 0, T);
  write_patch(&l, taken);
  run_patch(&s,
            "shape = mesh\nsdf_resolution = 0\nmotion = sequence\nframe_rate = 50\n"
            "frames = @/skin%02d.obj",
            "");
  pose_raised_leg(&l, 0.24, T);
  for (int64_t k = 0; k < 3 * NUM_TAKEN; ++k)
    most = fmax(most, fabs(s.x[k] - l.x[3 * (int64_t)taken[k / 3] + k % 3]));
  cr_assert_lt(most, sizeof(loom_real) == 4 ? 1e-5 : 1e-9);
  sim_free(&s);
  close_posed_leg(&l);
}

/* ---- commands ---- */

Test(follow, resumes_replays_and_any_number_of_threads)
{
  char text[4000];
  proc_write("raise.txt", raise_leg);
  snprintf(text, sizeof text,
           "%s[log]\ncheckpoint_every = 5\n[cloth.sheet]\nmodel = arap+isometric\npattern = "
           "regular\nsize = 0.1\nresolution = 5\n"
           "transform = translate 0 0.22 -0.3\n[body.leg]\n%s\n[pin.p]\nobject = sheet\n"
           "where = left\nbody = leg\n[pin.q]\nobject = sheet\nwhere = right\nbody = leg\n"
           "joint = hip\n",
           run_keys, "shape = rig\nrig = leg\nedge_length = 0.05\nanimation_file = raise.txt");
  proc_write("a.ini", text);
  LOOM_FINE("run", "a.ini", "--quiet", "-o", "whole.h5");
  LOOM_FINE("run", "a.ini", "--quiet", "-o", "parts.h5", "-n", "7");
  LOOM_FINE("run", "a.ini", "--quiet", "-o", "parts.h5", "--resume=4");
  LOOM_FINE("compare", "whole.h5", "parts.h5", "--tol", "0");
  LOOM_FINE("run", "a.ini", "--quiet", "-o", "one.h5", "--threads", "1");
  LOOM_FINE("compare", "whole.h5", "one.h5", "--tol", "0");
  LOOM_FINE("run", "a.ini", "--quiet", "-o", "again.h5", "--set", "run.replay=whole.h5");
  LOOM_FINE("compare", "whole.h5", "again.h5", "--tol", "0");
}

Test(follow, refusals_name_the_key)
{
  static const struct {
    const char *pin, *texts[3];
  } cases[] = {
      {"body = drumm\n", {"[pin.p] body: there is no body named \"drumm\"", "there is drum, "}},
      {"body = drum\njoint = knee\n", {"[pin.p] joint", "shape = rig"}},
      {"body = leg\njoint = kne\n", {"[pin.p] joint", "it has knee, "}},
      {"body = ball\n", {"[pin.p] body", "moves by itself"}},
      {"body = drum\nmotion = translate 0 0 1\n", {"[pin.p] body", "motion is given, too"}},
      {"joint = knee\n", {"joint", "has no effect"}}};
  for (size_t k = 0; k < sizeof cases / sizeof *cases; ++k) {
    char text[4000];
    snprintf(text, sizeof text,
             "%s%s[body.leg]\nshape = rig\nrig = leg\nposition = 9 9 9\n[body.ball]\n"
             "shape = sphere\nradius = 0.1\nmass = 1\nposition = 5 5 5\n"
             "[pin.p]\nobject = sheet\nwhere = left\n%s",
             run_keys, drum, cases[k].pin);
    proc_write("b.ini", text);
    proc_expect_error(2, cases[k].texts, LOOM_ARGS("check", "b.ini"));
  }
}
