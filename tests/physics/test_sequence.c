/* A plate of triangles that a sequence of files moves is the same as one that a rigid motion moves;
 * a sheet lies on it and is carried by friction. */
#include <criterion/criterion.h>
#include <hdf5.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "mesh/obj.h"
#include "support/proc.h"
#include "support/sim.h"

TestSuite(sequence, .init = proc_enter, .fini = proc_leave);

enum { SIDE = 5, FRAMES = 9 };
static const double rate = 50, wide = 0.3; /* 1/s, m */

/* An open, slightly domed plate at time t: it goes up at 0.2 m/s and to the side at 0.4 m/s;
 * `bend`: and bulges. */
static void write_plate(const char *name, double t, double bend)
{
  char text[8000];
  size_t at = 0;
  for (int k = 0; k < SIDE * SIDE; ++k) {
    const double x = wide * ((k % SIDE) / (SIDE - 1.0) - 0.5);
    const double y = wide * ((double)(k / SIDE) / (SIDE - 1.0) - 0.5);
    const double bulge = (bend * t - 0.2) * (x * x + y * y);
    at += (size_t)snprintf(text + at, sizeof text - at, "v %.17g %.17g %.17g\n", x + 0.4 * t, y,
                           0.2 * t + bulge);
  }
  for (int j = 0; j + 1 < SIDE; ++j)
    for (int i = 0; i + 1 < SIDE; ++i) {
      const int a = i + j * SIDE + 1, b = a + 1, c = b + SIDE, d = a + SIDE;
      at += (size_t)snprintf(text + at, sizeof text - at, "f %d %d %d\nf %d %d %d\n", a, b, c, a, c,
                             d);
    }
  proc_write(name, text);
}

static void write_plate_frames(double bend)
{
  for (int k = 0; k < FRAMES; ++k) {
    char name[32];
    snprintf(name, sizeof name, "plate%02d.obj", k);
    write_plate(name, k / rate, bend);
  }
}

static const char scene[] =
    "[run]\nsteps = 16\ndt = 0.01\n[exec]\nbackend = cpu\n[log]\naudit = every\n"
    "checkpoint_every = 5\n"
    "[stop]\ntol_abs = 1e-9\ntol_rel = 0\nmax_iters = 100\n"
    "[solver]\nplugin = cholmod_newton\n"
    "[cloth.sheet]\nmodel = arap+isometric\npattern = regular\nsize = 0.1\nresolution = "
    "7\ntransform = translate 0.011 0.007 0.004\n"
    "density = 0.3\nthickness = 1e-3\n"
    "[collision.self]\nplugin = brute\n[contact.self]\nplugin = ipc_barrier\nd_hat = 3e-3\n"
    "self_friction = 0.2\n"
    "[body.plate]\nshape = mesh\nfriction = 0.5\nsdf_resolution = 0\n";

static void run_plate(sim *s, const char *motion)
{
  char text[2048], dir[512];
  cr_assert(getcwd(dir, sizeof dir) != NULL);
  char *const at = strchr(motion, '@');
  snprintf(text, sizeof text, "%s%.*s%s%s", scene, (int)(at - motion), motion, dir, at + 1);
  sim_run(s, text, NULL, 0);
  cr_assert_eq(s->sum.intersections, 0);
}

static double largest_plate_difference(const sim *a, const sim *b)
{
  double most = 0;
  for (int64_t i = 0; i < 3 * a->n; ++i) most = fmax(most, fabs(a->x[i] - b->x[i]));
  return most;
}

Test(sequence, moves_as_the_rigid_motion_does)
{
  sim files, moved, still;
  write_plate_frames(0);
  run_plate(&files, "motion = sequence\nframe_rate = 50\nframes = @/plate%02d.obj\n");
  run_plate(&moved, "motion = translate 0.4 0 0.2\nfile = @/plate00.obj\n");
  run_plate(&still, "file = @/plate00.obj\n");
  printf("sheet on a plate: %.3g m from the rigid one, %.3g m from the one at rest\n",
         largest_plate_difference(&files, &moved), largest_plate_difference(&files, &still));
  cr_assert_lt(largest_plate_difference(&files, &moved), sizeof(loom_real) == 4 ? 1e-4 : 1e-8);
  cr_assert_gt(largest_plate_difference(&files, &still),
               0.02); /* the control: it is lifted and carried along */
  sim_free(&files), sim_free(&moved), sim_free(&still);
}

/* Behind the last frame it stands still, between two frames it is between them. */
Test(sequence, last_frame_holds)
{
  sim all, some;
  write_plate_frames(0);
  run_plate(&all, "motion = sequence\nframe_rate = 50\nframes = @/plate%02d.obj\n");
  run_plate(&some, "motion = sequence\nframe_rate = 50\nframe_count = 3\nframes = "
                   "@/plate%02d.obj\n");
  cr_assert_gt(largest_plate_difference(&all, &some), 5e-3);
  sim_free(&all), sim_free(&some);
}

Test(sequence, resumes_threads_and_passes_the_audit)
{
  char text[2048];
  write_plate_frames(4);
  snprintf(text, sizeof text, "%smotion = sequence\nframe_rate = 50\nframes = plate%%02d.obj\n",
           scene);
  proc_write("bulge.ini", text);
  LOOM_FINE("run", "bulge.ini", "--quiet", "-o", "whole.h5");
  LOOM_FINE("run", "bulge.ini", "--quiet", "-o", "parts.h5", "-n", "7");
  LOOM_FINE("run", "bulge.ini", "--quiet", "-o", "parts.h5", "--resume=4");
  LOOM_FINE("compare", "whole.h5", "parts.h5", "--tol", "0");
  LOOM_FINE("run", "bulge.ini", "--quiet", "-o", "one.h5", "--threads", "1");
  LOOM_FINE("compare", "whole.h5", "one.h5", "--tol", "0");
  LOOM_FINE("verify", "whole.h5", "--trajectory");
}

/* ---- one HDF5 file ---- */

static void write_plate_dataset(hid_t file, const char *name, hid_t type, int rank,
                                const hsize_t *dims, const void *data)
{
  const hid_t space = H5Screate_simple(rank, dims, NULL);
  const hid_t set = H5Dcreate2(file, name, type, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
  cr_assert(set >= 0 && H5Dwrite(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, data) >= 0);
  H5Dclose(set);
  H5Sclose(space);
}

/* The frames of write_frames as one file; without_tris: half of it. */
static void join_frames(const char *name, int without_tris)
{
  enum { N = SIDE * SIDE, NT = 2 * (SIDE - 1) * (SIDE - 1) };
  static double x[FRAMES][N][3];
  const hsize_t dims[3] = {FRAMES, N, 3}, tri_dims[2] = {NT, 3};
  int32_t tris[NT * 3];
  for (int k = 0; k < FRAMES; ++k) {
    loom_err err = {0};
    mesh m;
    char file[32];
    snprintf(file, sizeof file, "plate%02d.obj", k);
    cr_assert_eq(obj_read(&err, file, &m), LOOM_OK);
    cr_assert(m.num_verts == N && m.num_tris == NT);
    memcpy(x[k], m.x, sizeof x[k]);
    memcpy(tris, m.tris, sizeof tris);
    mesh_free(&m);
  }
  const hid_t file = H5Fcreate(name, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
  write_plate_dataset(file, "vertices", H5T_NATIVE_DOUBLE, 3, dims, x);
  if (!without_tris) write_plate_dataset(file, "triangles", H5T_NATIVE_INT32, 2, tri_dims, tris);
  H5Fclose(file);
}

Test(sequence, one_hdf5_file_is_the_same)
{
  sim files, one, some;
  write_plate_frames(4);
  join_frames("plate.h5", 0);
  run_plate(&files, "motion = sequence\nframe_rate = 50\nframes = @/plate%02d.obj\n");
  run_plate(&one, "motion = sequence\nframe_rate = 50\nframes = @/plate.h5\n");
  run_plate(&some, "motion = sequence\nframe_rate = 50\nframe_count = 3\nframes = @/plate.h5\n");
  cr_assert(!(largest_plate_difference(&files, &one) > 0), "%g m",
            largest_plate_difference(&files, &one));
  cr_assert_gt(largest_plate_difference(&one, &some), 5e-3); /* the control */
  sim_free(&files), sim_free(&one), sim_free(&some);
}

Test(sequence, bad_frames_are_refused)
{
  static const char *const cases[][4] = {
      {"frames = plate.obj\n", "frames", "one place for the number", "body_%04d.ply"},
      {"frames = none%d.obj\n", "frames", "none0.obj", "No such file"},
      {"frames = plate%02d.obj\nframe_count = 12\n", "frames", "plate09.obj", "No such file"},
      {"frames = gap%d.obj\n", "frames", "gap2.obj is missing", "frame_count"},
      {"frames = other%d.obj\n", "frames", "other1.obj has 3 vertices and 1 triangles",
       "all frames must be of one mesh"},
      {"frames = turned%d.obj\n", "frames", "turned1.obj: triangle 0 is", "of one mesh"},
      {"frames = wild%d.obj\n", "frames", "wild1.obj: vertex 2 is not finite", "repair"},
      {"frames = plate%02d.obj\nfile = plate00.obj\n", "file", "leave this key out", ""},
      {"", "motion", "sequence needs the key frames", "body%d.obj"},
      {"frames = half.h5\n", "frames", "half.h5: there is no /triangles", "[frames][n][3]"},
      {"frames = no.h5\n", "frames", "no.h5: cannot be read as HDF5", "/vertices"},
      {"frames = whole.h5\nframe_first = 8\n", "frames", "whole.h5 holds 9 frames", "two or more"},
      {"frames = whole.h5\nframe_count = 12\n", "frames", "there is no frame 9", "0 to 8"},
      {"frames = plate%d.stl\n", "frames", "plate0.stl", "one in .h5"},
  };
  static const char *const triangles[][2] = {
      {"other1.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n"},
      {"turned0.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n"},
      {"turned1.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 2 3 1\n"},
      {"wild0.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n"},
      {"wild1.obj", "v 0 0 0\nv 1 0 0\nv 0 nan 0\nf 1 2 3\n"}};
  write_plate_frames(0);
  write_plate("gap0.obj", 0, 0), write_plate("gap1.obj", 0, 0), write_plate("gap3.obj", 0, 0);
  write_plate("other0.obj", 0, 0);
  join_frames("half.h5", 1), join_frames("whole.h5", 0);
  proc_write("no.h5", "text");
  for (size_t k = 0; k < sizeof triangles / sizeof *triangles; ++k)
    proc_write(triangles[k][0], triangles[k][1]);
  for (size_t k = 0; k < sizeof cases / sizeof *cases; ++k) {
    char text[2048];
    snprintf(text, sizeof text, "%smotion = sequence\n%s", scene, cases[k][0]);
    proc_write("bad.ini", text);
    proc p;
    proc_loom(&p, LOOM_ARGS("run", "bad.ini", "--quiet"));
    for (int i = 1; i < 4; ++i)
      cr_expect(strstr(p.err, cases[k][i]) != NULL, "%s: no '%s' in: %s", cases[k][0], cases[k][i],
                p.err);
    cr_expect_eq(p.code, 2, "%s: exit code %d", cases[k][0], p.code);
  }
  proc_write("grid.ini", "[body.b]\nshape = mesh\nmotion = sequence\nframes = plate%02d.obj\n"
                         "[cloth.a]\nmodel = arap+isometric\npattern = regular\nresolution = "
                         "3\n[solver]\nplugin = gd\n");
  proc_expect_error(2,
                    LOOM_TEXTS("[body.b] sdf_resolution: a body that changes its shape", "set 0"),
                    LOOM_ARGS("run", "grid.ini"));
}

/* A body that leaves the sheet no time to give way: the run ends with a remedy, the log is whole.
 */
Test(sequence, a_body_too_fast_to_follow)
{
  char text[2048];
  for (int k = 0; k < 3; ++k) {
    char name[32];
    snprintf(name, sizeof name, "fast%d.obj", k);
    write_plate(name, 20.0 * k, 0);
  }
  snprintf(text, sizeof text,
           "%smotion = sequence\nframe_rate = 50\nframes = fast%%d.obj\n[filter]\n"
           "max_halvings = 0\n",
           scene);
  char *const iters = strstr(text, "max_iters = 100");
  memcpy(iters, "max_iters =   1", 15);
  proc_write("fast.ini", text);
  proc p;
  proc_loom(&p, LOOM_ARGS("run", "fast.ini", "--quiet", "-o", "fast.h5"));
  cr_assert_neq(p.code, 0, "%s%s", p.out, p.err);
  cr_assert(strlen(p.err) > 0);
  LOOM_FINE("verify", "fast.h5");
}
