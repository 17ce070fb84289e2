/* Runs that begin at a frame of another run's log: [run] start_log, start_frame. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "log/h5read.h"
#include "support/proc.h"

TestSuite(start_log, .init = proc_enter, .fini = proc_leave);

/* A sheet falls on a ball that moves: pins, bodies and contact are at the frame's time. */
#define CLOTH                                                                                  \
  "[run]\nsteps = 10\ndt = 0.01\n[exec]\nbackend = cpu\nthreads = 1\n"                         \
  "[solver]\nplugin = pcg_newton\n[filter]\nwhen = every\n"                                    \
  "[collision.self]\nplugin = patch_bvh\n[contact.all]\nplugin = ipc_barrier\n[log]\naudit = " \
  "off\n"                                                                                      \
  "[cloth.sheet]\nmodel = arap+isometric\npattern = regular\nsize = 0.2 0.2\nresolution = 7 "  \
  "7\ntransform = translate 0 0 0.02\n"                                                        \
  "velocity = 0 0 -1\npins = corners\npin_motion = translate 0.1 0 0\n"                        \
  "[body.ball]\nradius = 0.05\nposition = 0 0 -0.04\nmesh_size = 0.03\nsdf_resolution = 0\n"   \
  "motion = translate 0.3 0 0\nfriction = 0.3\n"

/* Loops tighten: frames of rods, plastic curvatures, contact sets and lengths change. */
#define KNIT                                                                                      \
  "[run]\nsteps = 60\ndt = 6e-5\n[exec]\nbackend = cpu\nthreads = 1\n[detect]\nevery = step\n"    \
  "[solver]\nplugin = yarn_explicit\nmu_prop = 4500\nmu_const = 0\nshrink = 0.85\nshrink_time = " \
  "2e-3\n[collision.yarns]\nplugin = yarn_grid\n[contact.yarns]\nplugin = acl\n"                  \
  "[yarn.swatch]\nrows = 4\nloops = 4\nplasticity = 0.02\nvelocity = 0 0 -0.6\n"                  \
  "[log]\naudit = off\n"

typedef struct frames {
  int64_t num, n3;
  int64_t *step;
  double *time, *x, *v;
} frames;

static frames read_frames(const char *path)
{
  loom_err err = {0};
  h5read *r = NULL;
  cr_assert_eq(h5read_open(&err, path, &r), LOOM_OK, "%s", err.text);
  frames f = {.num = h5read_num_frames(r), .n3 = 3 * h5read_num_verts(r)};
  const size_t all = (size_t)(f.num * f.n3);
  f.step = malloc((size_t)f.num * sizeof *f.step), f.time = malloc((size_t)f.num * sizeof *f.time);
  f.x = malloc(all * sizeof *f.x), f.v = malloc(all * sizeof *f.v);
  for (int64_t i = 0; i < f.num; ++i)
    cr_assert_eq(h5read_frame(r, &err, i, f.x + i * f.n3, f.v + i * f.n3, f.time + i, f.step + i),
                 LOOM_OK, "%s", err.text);
  h5read_close(r);
  return f;
}

static void free_frames(frames *f) { free(f->step), free(f->time), free(f->x), free(f->v); }

/* Of all frames of b that a has, too: the largest difference of x and v; -1 if b has `num` others.
 */
static double largest_frame_difference(const char *one, const char *two, int64_t num)
{
  frames a = read_frames(one), b = read_frames(two);
  double most = 0;
  int64_t same = 0;
  for (int64_t i = 0; i < b.num; ++i)
    for (int64_t j = 0; j < a.num; ++j) {
      if (a.step[j] != b.step[i]) continue;
      ++same;
      most = fmax(most, fabs(a.time[j] - b.time[i]));
      for (int64_t k = 0; k < a.n3; ++k) {
        most = fmax(most, fabs(a.x[j * a.n3 + k] - b.x[i * a.n3 + k]));
        most = fmax(most, fabs(a.v[j * a.n3 + k] - b.v[i * a.n3 + k]));
      }
    }
  cr_expect(same == b.num && same == num, "%s: %lld frames, %lld of them in %s, %lld wanted", two,
            (long long)b.num, (long long)same, one, (long long)num);
  free_frames(&a), free_frames(&b);
  return most;
}

Test(start_log, cloth_goes_on_from_any_frame)
{
  static const char *const from[] = {"0", "5", "9"}, *const steps[] = {"10", "5", "1"};
  char set[64];
  proc_write("cloth.ini", CLOTH);
  LOOM_FINE("run", "cloth.ini", "--quiet", "-o", "whole.h5");
  for (int i = 0; i < 3; ++i) {
    snprintf(set, sizeof set, "run.start_frame=%s", from[i]);
    LOOM_FINE("run", "cloth.ini", "--quiet", "--overwrite", "-o", "part.h5", "--set",
              "run.start_log=whole.h5", "--set", set, "-n", steps[i]);
    cr_expect_eq(largest_frame_difference("whole.h5", "part.h5", 1 + atoi(steps[i])), 0.0,
                 "frame %s", from[i]);
  }
}

/* The last frame by default; a run that began so is continued, and may end later. */
Test(start_log, such_a_run_is_continued)
{
  proc_write("cloth.ini", CLOTH);
  LOOM_FINE("run", "cloth.ini", "--quiet", "-o", "whole.h5");
  LOOM_FINE("run", "cloth.ini", "--quiet", "-o", "first.h5", "-n", "4");
  LOOM_FINE("run", "cloth.ini", "--quiet", "-o", "rest.h5", "--set", "run.start_log=first.h5", "-n",
            "2");
  LOOM_FINE("run", "cloth.ini", "--quiet", "-o", "rest.h5", "--set", "run.start_log=first.h5", "-n",
            "6", "--resume");
  cr_expect_eq(largest_frame_difference("whole.h5", "rest.h5", 7), 0.0);
}

Test(start_log, yarns_go_on_from_any_frame)
{
  static const char *const models[] = {"contact.yarns.plugin=acl",
                                       "contact.yarns.plugin=yarn_penalty"};
  proc_write("knit.ini", KNIT);
  for (int i = 0; i < 2; ++i) {
    LOOM_FINE("run", "knit.ini", "--quiet", "--overwrite", "-o", "whole.h5", "--set", models[i]);
    LOOM_FINE("run", "knit.ini", "--quiet", "--overwrite", "-o", "part.h5", "--set", models[i],
              "--set", "run.start_log=whole.h5", "--set", "run.start_frame=25", "-n", "35");
    cr_expect_eq(largest_frame_difference("whole.h5", "part.h5", 36), 0.0, "%s", models[i]);
  }
  /* frames of several substeps have a state if it is asked for */
  LOOM_FINE("run", "knit.ini", "--quiet", "--overwrite", "-o", "whole.h5", "-n", "12", "--set",
            "run.dt=3e-4", "--set", "run.substeps=5", "--set", "log.state=frames");
  LOOM_FINE("run", "knit.ini", "--quiet", "--overwrite", "-o", "part.h5", "-n", "6", "--set",
            "run.dt=3e-4", "--set", "run.substeps=5", "--set", "run.start_log=whole.h5", "--set",
            "run.start_frame=6");
  cr_expect_eq(largest_frame_difference("whole.h5", "part.h5", 7), 0.0);
}

/* Another step, if it divides the frame's time: the clock goes on. */
Test(start_log, the_clock_goes_on)
{
  proc_write("cloth.ini", CLOTH);
  LOOM_FINE("run", "cloth.ini", "--quiet", "-o", "whole.h5", "-n", "4");
  LOOM_FINE("run", "cloth.ini", "--quiet", "-o", "fine.h5", "-n", "3", "--set", "run.dt=0.005",
            "--set", "run.start_log=whole.h5");
  frames a = read_frames("whole.h5"), b = read_frames("fine.h5");
  cr_assert(a.num == 5 && b.num == 4);
  cr_expect_eq(b.step[0], 7);
  cr_expect_float_eq(b.time[3], 0.055, 1e-12);
  for (int64_t k = 0; k < a.n3; ++k) cr_assert_eq(a.x[4 * a.n3 + k], b.x[k]);
  /* the pins go on at 0.1 m/s */
  cr_expect_float_eq(b.x[3 * b.n3] - b.x[0], 0.1 * 0.015, 1e-9);
  free_frames(&a), free_frames(&b);
}

/* Two sheets pass through each other without contact, and a ball that moves comes to stand around
 * the lower one. */
#define CROSSING                                                                                  \
  "[run]\nsteps = 8\ndt = 0.01\ngravity = 0 0 0\n[exec]\nbackend = cpu\nthreads = 1\n"            \
  "[solver]\nplugin = pcg_newton\n[log]\naudit = off\n[collision.self]\nplugin = patch_bvh\n"     \
  "[contact.all]\nplugin = none\n[cloth.low]\nmodel = arap+isometric\npattern = regular\nsize = " \
  "0.1 0.1\nresolution = 5 5\n"                                                                   \
  "transform = rotate 0 1 0 20\n[cloth.high]\nmodel = arap+isometric\npattern = regular\nsize = " \
  "0.1 0.1\nresolution = 5 5\n"                                                                   \
  "transform = translate 0 0 0.04\nvelocity = 0 0 -1\n"
#define BALL                                                                           \
  "[collision.bodies]\nplugin = sdf\n[body.ball]\nradius = 0.05\nposition = 0.5 0 0\n" \
  "motion = translate -10 0 0 0 0.05\n"

#define REFUSED(ini, texts, ...) \
  proc_expect_error(2, texts,    \
                    LOOM_ARGS("run", ini, "--quiet", "--overwrite", "-o", "no.h5", __VA_ARGS__))

static void expect_start_refusal(const proc *p, const char *a, const char *b, const char *c)
{
  cr_expect_eq(p->code, 2, "%d: %s%s", p->code, p->out, p->err);
  cr_expect(strstr(p->err, a) && strstr(p->err, b) && strstr(p->err, c), "%s", p->err);
}

/* A frame is a start like any other: with intersections it is refused, or they are left out. */
Test(start_log, intersections_of_the_frame)
{
#define BARRIER     "--set", "contact.all.plugin=ipc_barrier", "--set", "run.replay_state=fresh"
#define FROM(frame) BARRIER, "--set", "run.start_log=cross.h5", "--set", "run.start_frame=" frame
  proc p;
  proc_write("cross.ini", CROSSING);
  LOOM_FINE("run", "cross.ini", "--quiet", "-o", "cross.h5");
  proc_loom(&p, LOOM_ARGS("run", "cross.ini", "-o", "no.h5", FROM("4")));
  expect_start_refusal(&p, "[run] start_log: low: edge ", "of high at",
                       "take another start_frame, or set [run] start = exclude");
  proc_loom(&p, LOOM_ARGS("check", "cross.ini", FROM("4")));
  expect_start_refusal(&p, "[run] start_log: low: edge ", "of high at",
                       "more problems of the input");
  proc_loom(&p,
            LOOM_ARGS("run", "cross.ini", "-o", "no.h5", FROM("4"), "--set", "run.start=untangle"));
  expect_start_refusal(&p, "[run] start_log: low: edge ", "of high at",
                       "start = untangle moves no vertex of a frame");
  LOOM_FINE("run", "cross.ini", "--quiet", "-o", "apart.h5", "-n", "1", FROM("1"));
  proc_loom(&p, LOOM_ARGS("run", "cross.ini", "-o", "out.h5", "-n", "1", FROM("4"), "--set",
                          "run.start=exclude"));
  cr_expect_eq(p.code, 0, "%s%s", p.out, p.err);
  cr_expect(strstr(p.err, "in the frame, left out of contact until they have parted") != NULL, "%s",
            p.err);
}

/* Bodies stand where they stood at the frame. */
Test(start_log, cloth_inside_a_body_in_the_frame)
{
#define SET_BALL "--set", "contact.all.plugin=penalty", "--set", "run.start_log=ball.h5", "-n", "1"
  proc_write("ball.ini", CROSSING BALL);
  LOOM_FINE("run", "ball.ini", "--quiet", "-o", "ball.h5", "--set", "cloth.high.velocity=0 0 1");
  REFUSED("ball.ini", LOOM_TEXTS("[low] starts inside [body.ball]"), SET_BALL);
  LOOM_FINE("run", "ball.ini", "--quiet", "-o", "early.h5", SET_BALL, "--set", "run.start_frame=2");
}

Test(start_log, refusals)
{
  proc_write("cloth.ini", CLOTH);
  proc_write("knit.ini", KNIT);
  proc_write("junk.h5", "nothing");
  LOOM_FINE("run", "cloth.ini", "--quiet", "-o", "whole.h5", "-n", "4");
  LOOM_FINE("run", "knit.ini", "--quiet", "-o", "bare.h5", "-n", "4", "--set", "log.state=off");
  REFUSED("cloth.ini", LOOM_TEXTS("start_frame", "frame 9", "frames 0 to 4"), "--set",
          "run.start_log=whole.h5", "--set", "run.start_frame=9");
  REFUSED("cloth.ini", LOOM_TEXTS("[run] start_frame", "needs [run] start_log"), "--set",
          "run.start_frame=2");
  REFUSED("cloth.ini", LOOM_TEXTS("start_log", "0.04 s", "0.03"), "--set", "run.start_log=whole.h5",
          "--set", "run.dt=0.03");
  REFUSED("cloth.ini", LOOM_TEXTS("start_log", "49 vertices", "64"), "--set",
          "run.start_log=whole.h5", "--set", "cloth.sheet.resolution=8 8");
  REFUSED("cloth.ini", LOOM_TEXTS("start_log", "other meshes", "/scene/triangles"), "--set",
          "run.start_log=whole.h5", "--set", "cloth.sheet.pattern=alternate");
  REFUSED("cloth.ini", LOOM_TEXTS("start_log", "leave one of start_log and replay out"), "--set",
          "run.start_log=whole.h5", "--set", "run.replay=whole.h5", "-n", "2");
  REFUSED("knit.ini", LOOM_TEXTS("start_log", "'acl'", "state = frames", "replay_state = fresh"),
          "--set", "run.start_log=bare.h5");
  REFUSED("knit.ini", LOOM_TEXTS("start_log", "'frames'", "state = frames"), "--set",
          "run.start_log=bare.h5", "--set", "contact.yarns.plugin=yarn_penalty");
  LOOM_FINE("run", "knit.ini", "--quiet", "-o", "fresh.h5", "-n", "2", "--set",
            "run.start_log=bare.h5", "--set", "run.replay_state=fresh");
  proc p;
  static const char *const bad[] = {"run.start_log=none.h5", "run.start_log=junk.h5"};
  for (int i = 0; i < 2; ++i) {
    proc_loom(&p, LOOM_ARGS("run", "cloth.ini", "--quiet", "-o", "no.h5", "--set", bad[i]));
    cr_expect(p.code != 0 && strstr(p.err, "start_log") != NULL, "%d: %s", p.code, p.err);
  }
}
