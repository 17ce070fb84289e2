/* test_open_front.c - two pieces of a pattern that meet and are not sewn, as the fronts of a
 * jacket. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/proc.h"
#include "support/sim.h"

TestSuite(open_front, .init = proc_enter, .fini = proc_leave);

#define PIECES                                                                                \
  "[piece.left]\nstart = 0 0\nlow = line 0.2 0\nout = line 0.2 0.2\ntop = line 0 0.2\nfront " \
  "= line 0 0\n[piece.right]\nstart = -0.2 0\nlow = line 0 0\nfront = line 0 0.2\ntop = "     \
  "line -0.2 0.2\nout = line -0.2 0\n"
#define SCENE                                                                                  \
  "[run]\ndt = 0.01\nsteps = 15\nup_axis = y\n[exec]\nbackend = cpu\n[stop]\ntol_abs = 1e-7\n" \
  "tol_rel = 0\nmax_iters = 100\n[log]\naudit = every\n[solver]\nplugin = cholmod_newton\n"    \
  "[collision.self]\nplugin = patch_bvh\n[contact.all]\nplugin = ipc_barrier\n[cloth.a]\n"     \
  "model = arap+isometric\nshape = pattern\nedge_length = 0.05\nthickness = 0.5 mm\n"
#define PINS                                                                            \
  "[pin.left]\nobject = a\nwhere = box 0.19 -1 -1 1 1 1\nmotion = translate 0.5 0 0 0 " \
  "0.1\n[pin.right]\nobject = a\nwhere = box -1 -1 -1 -0.19 1 1\n"

static void write_pieces(const char *name, const char *seams)
{
  char text[1024];
  snprintf(text, sizeof text, "%s[seams]\n%s", PIECES, seams);
  proc_write(name, text);
}

/* `check` takes them as they are; sewn they have 5 vertices fewer. */
Test(open_front, pieces_that_meet_stay_two)
{
  proc p;
  write_pieces("open.ini", "");
  write_pieces("sewn.ini", "front = left.front right.front\n");
  proc_write("a.ini", SCENE "file = open.ini\n");
  proc_loom(&p, LOOM_ARGS("check", "a.ini"));
  cr_assert_eq(p.code, 0, "%s", p.err);
  cr_assert_not_null(strstr(p.err, "5 pairs of vertices of pieces that meet and are not sewn"),
                     "%s", p.err);
  for (int k = 0; k < 2; ++k) /* the other treatments reach them, too */
    LOOM_FINE("check", "a.ini", "--set", k ? "run.start=untangle" : "run.start=exclude");
  proc_loom(&p, LOOM_ARGS("check", "a.ini", "--set", "cloth.a.file=sewn.ini"));
  cr_assert_eq(p.code, 0, "%s", p.err);
  cr_assert_null(strstr(p.err, "that meet"), "%s", p.err);
}

/* A piece is drawn aside: the pairs part, contact takes them over, and no other pair intersects. */
Test(open_front, they_part)
{
  sim s;
  write_pieces("open.ini", "");
  sim_run(&s, SCENE PINS, (const char *const[]){"cloth.a.file=open.ini", NULL}, 0);
  h5log_step_row *const rows = sim_steps(&s);
  cr_expect_eq(rows[s.steps - 1].start_intersections, 0);
  for (int64_t k = 0; k < s.steps; ++k) cr_expect_eq(rows[k].intersections, 0);
  double left = INFINITY, right = -INFINITY; /* of both fronts, m */
  for (int64_t k = 0; k < s.nt; ++k) {
    double mean = 0;
    for (int a = 0; a < 3; ++a) mean += s.rest[3 * s.tris[3 * k + a]];
    for (int a = 0; a < 3; ++a) {
      const double x = s.x[3 * s.tris[3 * k + a]];
      if (mean > 0) left = fmin(left, x);
      if (mean < 0) right = fmax(right, x);
    }
  }
  cr_expect_gt(left - right, 0.02, "%g m", left - right);
  free(rows);
  sim_free(&s);
}
