/* Cloth that starts inside a body is refused with its place, or moved out. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "support/proc.h"
#include "support/sim.h"

TestSuite(inside, .init = proc_enter, .fini = proc_leave);

#define RUN(start)                                                                        \
  "[run]\nsteps = 3\ndt = 0.002\nstart = " start "\n[exec]\nbackend = cpu\nthreads = 1\n" \
  "[log]\naudit = every\n"
#define BY_DISTANCES                                                                        \
  "[solver]\nplugin = cholmod_newton\n[collision.bodies]\nplugin = sdf\n[contact.bodies]\n" \
  "plugin = penalty\npairs = obstacle\n"
#define BY_TRIANGLES                                                                        \
  "[solver]\nplugin = cholmod_newton\n[collision.all]\nplugin = patch_bvh\n[contact.all]\n" \
  "plugin = ipc_barrier\n"
#define SHEET(z)                                                                                   \
  "[cloth.far]\nmodel = arap+isometric\npattern = regular\nsize = 0.1\nresolution = 3\ntransform " \
  "= translate 50 0 0\n"                                                                           \
  "[cloth.sheet]\nmodel = arap+isometric\npattern = regular\nsize = 0.2\nresolution = "            \
  "9\nthickness = 1 mm\ntransform = translate 0 0 " z "\n"
#define BALL "[body.ball]\nshape = sphere\n"

static void expect_refusal_of_start(const char *scene, const char *const parts[])
{
  proc p;
  proc_write("in.ini", scene);
  proc_loom(&p, LOOM_ARGS("run", "in.ini", "--quiet", "-o", "in.h5", "--overwrite"));
  cr_assert_eq(p.code, 2, "exit code %d: %s%s", p.code, p.out, p.err);
  for (int k = 0; parts[k] != NULL; ++k)
    cr_expect(strstr(p.err, parts[k]) != NULL, "\"%s\" is not in: %s", parts[k], p.err);
}

/* The centre of the sheet is 1.9 m from that of the ball, of 2 m. */
Test(inside, a_sheet_deep_in_an_exact_ball_is_refused)
{
  proc p;
  expect_refusal_of_start(
      RUN("refuse") BY_DISTANCES SHEET("1.9") BALL "radius = 2\n",
      LOOM_TEXTS("[sheet] starts inside [body.ball]: 81 vertices, the deepest vertex 40 at (0 0 "
                 "1.9) m, 0.1 m below its surface",
                 "start = untangle"));
  proc_loom(&p, LOOM_ARGS("check", "in.ini"));
  cr_expect_eq(p.code, 2);
  cr_expect(strstr(p.err, "starts inside [body.ball]") != NULL, "%s", p.err);
  /* asked for: as it is */
  proc_loom(&p, LOOM_ARGS("run", "in.ini", "-n", "1", "--set", "run.start=exclude", "-o", "x.h5"));
  cr_expect(strstr(p.err, "warning: [sheet] starts inside [body.ball]") != NULL, "%s", p.err);
}

Test(inside, too_deep_is_not_moved_out)
{
  expect_refusal_of_start(RUN("untangle") BY_DISTANCES SHEET("1.9") BALL "radius = 2\n",
                          LOOM_TEXTS("starts inside [body.ball]", "too far to be moved out"));
}

/* Triangles: wholly inside, no triangles intersect. */
Test(inside, a_sheet_in_a_closed_mesh_is_refused)
{
  proc p;
  expect_refusal_of_start(
      RUN("refuse") BY_TRIANGLES SHEET("0.1") BALL "radius = 2\nmesh_size = 0.4\n"
                                                   "sdf_resolution = 0\n",
      LOOM_TEXTS("[sheet] starts inside [body.ball]: 81 vertices, the first vertex 0",
                 "triangles that face inwards"));
  proc_loom(&p, LOOM_ARGS("run", "in.ini", "-n", "1", "--set", "run.start=exclude", "-o", "x.h5"));
  cr_expect_eq(p.code, 0, "%s", p.err);
}

/* A cube of 2 m as a container, and without its lid. */
static void write_cube(const char *path, int inwards, int open)
{
  static const int face[12][3] = {{1, 3, 2}, {2, 3, 4}, {5, 6, 7}, {6, 8, 7}, {1, 2, 5}, {2, 6, 5},
                                  {3, 7, 4}, {4, 7, 8}, {1, 5, 3}, {3, 5, 7}, {2, 4, 6}, {4, 8, 6}};
  char text[2000];
  size_t at = 0;
  for (int k = 0; k < 8; ++k)
    at += (size_t)snprintf(text + at, sizeof text - at, "v %d %d %d\n", k % 2 ? 1 : -1,
                           k / 2 % 2 ? 1 : -1, k / 4 ? 1 : -1);
  for (int k = 0; k < 12; ++k) {
    const int *const f = face[k];
    if (open && (k == 2 || k == 3)) continue;
    at += (size_t)snprintf(text + at, sizeof text - at, "f %d %d %d\n", f[0], f[inwards ? 2 : 1],
                           f[inwards ? 1 : 2]);
  }
  proc_write(path, text);
}

Test(inside, containers_hold_what_is_in_them)
{
  proc p;
  const char *const scene = RUN("refuse")
      BY_TRIANGLES SHEET("0.1") "[body.box]\nshape = mesh\nfile = box.obj\nsdf_resolution = 0\n";
  for (int k = 0; k < 2; ++k) {
    write_cube("box.obj", k == 0, k == 1);
    proc_write("box.ini", scene);
    proc_loom(&p, LOOM_ARGS("run", "box.ini", "--quiet", "-o", "box.h5", "--overwrite"));
    cr_expect_eq(p.code, 0, "%d: %s", k, p.err);
  }
  write_cube("box.obj", 0, 0);
  expect_refusal_of_start(scene, LOOM_TEXTS("[sheet] starts inside [body.box]"));
}

static double lowest_vertex_height(sim *s, int64_t frame, int64_t first)
{
  double least = INFINITY, time, *const x = malloc(3 * (size_t)s->n * sizeof *x);
  sim_frame(s, frame, x, NULL, &time);
  for (int64_t v = first; v < s->n; ++v) least = fmin(least, x[3 * v + 2]);
  free(x);
  return least;
}

/* A sheet 4 mm below a plane, with edges of 25 mm: it begins at its half thickness, 0.5 mm, and
 * flat. */
Test(inside, a_little_inside_is_moved_out)
{
  sim s;
  proc p;
  const char *const low = SHEET("-0.004") "[body.floor]\nshape = plane\n";
  char text[2048];
  snprintf(text, sizeof text, "%s%s", RUN("untangle") BY_DISTANCES, low);
  sim_run(&s, text, NULL, 0);
  const double z = lowest_vertex_height(&s, 0, 9); /* behind the 9 of the other */
  cr_expect(z >= 0.5e-3 && z < 0.52e-3, "%.9g m", z);
  cr_expect(fabs(lowest_vertex_height(&s, 3, 9) - z) < 2e-4);
  sim_free(&s);
  proc_write("low.ini", text);
  proc_loom(&p, LOOM_ARGS("run", "low.ini", "-o", "low.h5"));
  cr_expect_eq(p.code, 0, "%s", p.err);
  cr_expect(strstr(p.err, "90 vertices started inside bodies") != NULL, "%s", p.err);
  cr_expect(strstr(p.err, "moved out, at most by 0.0045") != NULL, "%s", p.err);
}

/* Less than the half thickness: a warning, and it runs. */
Test(inside, what_contact_mends_is_told)
{
  proc p;
  proc_write("low.ini",
             RUN("refuse") BY_DISTANCES SHEET("-0.0003") "[body.floor]\nshape = plane\n");
  proc_loom(&p, LOOM_ARGS("run", "low.ini", "-o", "low.h5", "--set", "log.audit=off"));
  cr_expect_eq(p.code, 0, "%s", p.err);
  cr_expect(strstr(p.err, "starts inside [body.floor]") != NULL &&
                strstr(p.err, "contact pushes it out") != NULL,
            "%s", p.err);
}

/* A sheet that hangs through the middle of another: a remedy that cannot help is not advised. */
Test(inside, what_untangle_cannot_part_is_not_told_to_untangle)
{
  proc p;
  proc_write("cross.ini", RUN("untangle") BY_TRIANGLES
             "[cloth.a]\nmodel = arap+isometric\npattern = regular\nsize = 0.2\nresolution = "
             "5\npins = 0 4 20 24\n[cloth.b]\nmodel = arap+isometric\nsize = 0.2\n"
             "resolution = 5\ntransform = rotate 1 0 0 90 translate 0 0.01 0\npins = 0 4 20 24\n");
  proc_loom(&p, LOOM_ARGS("run", "cross.ini", "--quiet"));
  cr_expect_eq(p.code, 2);
  cr_expect(strstr(p.err, "start = untangle could not part them") != NULL, "%s", p.err);
  cr_expect(strstr(p.err, "or set [run] start = untangle") == NULL, "%s", p.err);
}
