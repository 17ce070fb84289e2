/* `loom measure`: a run's own frames, given back, have its residuals; frames that are moved have
 * the residual that is computed by hand; data that do not fit are refused, with file, data set and
 * remedy. */
#include <criterion/criterion.h>
#include <hdf5.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>

#include "log/h5read.h"
#include "regress/drape.h"
#include "support/device.h"
#include "support/logdiff.h"
#include "support/proc.h"

TestSuite(measure, .init = proc_enter, .fini = proc_leave);

#define STEPS "12"
/* A sheet that falls and is stretched: no contact, no pins. */
#define SHEET                                                                               \
  "[cloth.sheet]\nmodel = arap+isometric\npattern = regular\nresolution = 9 9\nsize = 0.3 " \
  "0.3\ndensity = 0.2\nmembrane = 300\n"                                                    \
  "k_b = 1e-4\nthickness = 1 mm\ntransform = rotate 0 1 0 10 translate 0.02 0.01 0.16\n"
#define FALL_OF(sheet, log)                                                         \
  DRAPE_RUN DRAPE_EXEC SHEET sheet "[log]\naudit = off\n" log "[solver]\nplugin = " \
                                   "cholmod_newton\n"
#define FALL FALL_OF("", "")
#define HANG FALL_OF("pins = bottom_left bottom_right\n", "error = newton\n")
/* The stiffness of barriers is given: one that is chosen grows within a step. */
#define ON_BALL(contact)                                                                  \
  DRAPE_RUN DRAPE_EXEC SHEET                                                              \
      "velocity = 0 0 -2\n[body.ball]\nshape = sphere\nradius = 0.1\nmesh_size = 0.04\n"  \
      "sdf_resolution = 16\nfriction = 0.4\n[log]\naudit = off\n[stop]\nmax_iters = 30\n" \
      "[solver]\nplugin = cholmod_newton\n[collision.self]\nplugin = patch_bvh\n"         \
      "[contact.all]\n" contact "\n"
/* ---- logs ---- */

typedef struct numbers {
  int64_t steps;
  h5log_step_row row[32];
} numbers;

static void read_steps(const char *path, numbers *out)
{
  loom_err err = {0};
  h5read *r = NULL;
  cr_assert_eq(h5read_open(&err, path, &r), LOOM_OK, "%s", err.text);
  out->steps = h5read_num_steps(r);
  cr_assert(out->steps > 0 && out->steps <= 32);
  cr_assert_eq(h5read_steps(r, &err, 0, out->steps, out->row), LOOM_OK, "%s", err.text);
  h5read_close(r);
}

static void expect_same(const char *what, int64_t step, double run, double measured)
{
  if (isnan(run) && isnan(measured)) return;
  /* a device adds up in another order: defects are differences of forces of the size 1 */
  const double error = test_on_cuda() ? 1e-12 + 1e-9 * fabs(run) : 1e-12 * fabs(run);
  cr_assert(fabs(run - measured) <= error, "step %lld, %s: %.17g in the run, %.17g",
            (long long)step, what, run, measured);
}

/* Every step of `measured` has the numbers of `run`; the number of contacts. */
static int64_t expect_same_steps(const char *run, const char *measured)
{
  static numbers a, b;
  int64_t contacts = 0;
  read_steps(run, &a);
  read_steps(measured, &b);
  cr_assert_eq(a.steps, b.steps);
  for (int64_t i = 0; i < a.steps; ++i) {
    const h5log_step_row *const p = &a.row[i], *const q = &b.row[i];
    expect_same("r_final", i, p->r_final, q->r_final);
    expect_same("r_energy", i, p->r_energy, q->r_energy);
    expect_same("e_elastic", i, p->e_elastic, q->e_elastic);
    expect_same("e_contact", i, p->e_contact, q->e_contact);
    expect_same("e_kinetic", i, p->e_kinetic, q->e_kinetic);
    expect_same("e_gravity", i, p->e_gravity, q->e_gravity);
    expect_same("defect_force", i, p->defect_force, q->defect_force);
    expect_same("defect_torque", i, p->defect_torque, q->defect_torque);
    expect_same("min_gap", i, p->min_gap, q->min_gap);
    cr_assert_eq(q->reason, H5LOG_foreign);
    cr_assert(q->intersections >= 0 && q->passes >= 0, "step %lld was not audited", (long long)i);
    cr_assert_eq(p->contacts, q->contacts);
    contacts += q->contacts;
  }
  return contacts;
}

/* ---- frames as another program writes them ---- */

typedef struct frames {
  hsize_t shape[3];
  double *x, *v;
} frames;

static frames load_frames(const char *path)
{
  loom_err err = {0};
  h5read *r = NULL;
  frames f = {0};
  cr_assert_eq(h5read_open(&err, path, &r), LOOM_OK, "%s", err.text);
  f.shape[0] = (hsize_t)h5read_num_frames(r);
  f.shape[1] = (hsize_t)h5read_num_verts(r);
  f.shape[2] = 3;
  const size_t n3 = 3 * f.shape[1];
  f.x = malloc(f.shape[0] * n3 * sizeof *f.x);
  f.v = malloc(f.shape[0] * n3 * sizeof *f.v);
  for (hsize_t k = 0; k < f.shape[0]; ++k)
    cr_assert_eq(h5read_frame(r, &err, (int64_t)k, f.x + k * n3, f.v + k * n3, NULL, NULL), LOOM_OK,
                 "%s", err.text);
  h5read_close(r);
  return f;
}

static void drop_frames(frames *f)
{
  free(f->x);
  free(f->v);
}

static void put_set(hid_t file, const char *name, int rank, const hsize_t *dims, const double *data)
{
  const hid_t space = H5Screate_simple(rank, dims, NULL);
  const hid_t d =
      H5Dcreate2(file, name, H5T_IEEE_F64LE, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
  cr_assert(d >= 0 && H5Dwrite(d, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, data) >= 0);
  H5Dclose(d);
  H5Sclose(space);
}

/* shape_v, time: NULL for none */
static void write_frames(const char *path, const frames *f, const hsize_t *shape_v,
                         const double *time)
{
  const hid_t file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
  put_set(file, "x", 3, f->shape, f->x);
  if (shape_v != NULL) put_set(file, "v", 3, shape_v, f->v);
  if (time != NULL) put_set(file, "time", 1, f->shape, time);
  cr_assert(H5Fclose(file) >= 0);
}

/* ---- a run's own frames ---- */

static void measures_itself(const char *text, int in_contact)
{
  proc p;
  proc_write("scene.ini", text);
  LOOM_FINE("run", "scene.ini", "--quiet", "-n", STEPS, "-o", "run.h5");
  LOOM_FINE("measure", "run.h5", "scene.ini", "--quiet", "-o", "of_log.h5");
  const int64_t contacts = expect_same_steps("run.h5", "of_log.h5");
  cr_assert_eq(contacts > 0, in_contact, "%lld contacts", (long long)contacts);
  proc_loom(&p, LOOM_ARGS("compare", "run.h5", "of_log.h5", "--quiet", "--tol", "0"));
  cr_assert_eq(p.code, 0, "%s%s", p.out, p.err);
  frames f = load_frames("run.h5");
  write_frames("plain.h5", &f, f.shape, NULL);
  LOOM_FINE("measure", "plain.h5", "scene.ini", "--quiet", "-o", "of_plain.h5");
  expect_same_steps("run.h5", "of_plain.h5");
  /* the velocity of a step without contact that corrects it is the difference of its frames */
  write_frames("positions.h5", &f, NULL, NULL);
  LOOM_FINE("measure", "positions.h5", "scene.ini", "--quiet", "-o", "of_positions.h5");
  expect_same_steps("run.h5", "of_positions.h5");
  drop_frames(&f);
}

Test(measure, own_hang) { measures_itself(HANG, 0); }
Test(measure, own_penalty)
{
  measures_itself(ON_BALL("plugin = penalty\npairs = obstacle\n[collision.bodies]\nplugin = sdf\n"),
                  1);
}
Test(measure, own_ipc_barrier)
{
  measures_itself(ON_BALL("plugin = ipc_barrier\nstiffness = 1e4\n"), 1);
}
Test(measure, own_dbb) { measures_itself(ON_BALL("plugin = dbb\nkappa = 1e3\n"), 1); }

/* ---- by hand ---- */

/* One frame of a falling sheet moved by 1 mm as a whole: nothing but inertia changes, which is the
 * second difference of the frames. */
static void expect_residuals(const char *config, const char *data, int64_t moved,
                             const double want[3])
{
  static numbers m;
  LOOM_FINE("measure", data, config, "--quiet", "--overwrite", "-o", "moved.h5");
  read_steps("moved.h5", &m);
  for (int64_t i = 0; i < m.steps; ++i) {
    const double w = i + 1 >= moved && i + 1 < moved + 3 ? want[i + 1 - moved] : 0.0;
    cr_assert(fabs(m.row[i].r_final - w) < 1e-9, "step %lld: %.12g m, by hand %g m", (long long)i,
              m.row[i].r_final, w);
  }
}

Test(measure, moved_frame)
{
  enum { MOVED = 5 };
  static numbers run, with_v;
  proc_write("fall.ini", FALL "[stop]\ntol_abs = 1e-11\ntol_rel = 0\n");
  LOOM_FINE("run", "fall.ini", "--quiet", "-n", STEPS, "-o", "run.h5");
  frames f = load_frames("run.h5");
  for (hsize_t i = 0; i < f.shape[1]; ++i) f.x[3 * (MOVED * f.shape[1] + i) + 1] += 1e-3;
  write_frames("with_v.h5", &f, f.shape, NULL);
  expect_residuals("fall.ini", "with_v.h5", MOVED, (const double[]){1e-3, 1e-3, 0.0});
  read_steps("run.h5", &run);
  read_steps("moved.h5", &with_v);
  for (int64_t i = 0; i < run.steps; ++i) /* velocities are those of the file */
    expect_same("e_kinetic", i, run.row[i].e_kinetic, with_v.row[i].e_kinetic);
  write_frames("without_v.h5", &f, NULL, NULL);
  expect_residuals("fall.ini", "without_v.h5", MOVED, (const double[]){1e-3, 2e-3, 1e-3});
  drop_frames(&f);
}

/* ---- distance to a reference, names ---- */

static double last_e_ref(const char *path)
{
  loom_err err = {0};
  h5read *r = NULL;
  h5log_iter_row row;
  cr_assert_eq(h5read_open(&err, path, &r), LOOM_OK, "%s", err.text);
  cr_assert_eq(h5read_iters(r, &err, h5read_num_iters(r) - 1, 1, &row), LOOM_OK, "%s", err.text);
  h5read_close(r);
  return row.e_ref;
}

Test(measure, reference_and_peer)
{
  proc p;
  proc_write("fall.ini", FALL);
  proc_write("peer.json", "{\"name\": \"toycloth\", \"version\": \"2.1\", \"licence\": \"MIT\",\n"
                          " \"settings\": {\"iterations\": 10}}\n");
  LOOM_FINE("run", "fall.ini", "--quiet", "-n", STEPS, "-o", "run.h5");
  frames f = load_frames("run.h5");
  const size_t all = f.shape[0] * f.shape[1];
  for (size_t i = 0; i < all; ++i) f.x[3 * i + 2] += 2e-3;
  write_frames("data.h5", &f, f.shape, NULL);
  drop_frames(&f);
  LOOM_FINE("measure", "data.h5", "fall.ini", "--quiet", "--peer", "peer.json", "--reference",
            "run.h5");
  const char *const out = "out/data_measured.h5";
  cr_assert(fabs(last_e_ref(out) - 2e-3) < 1e-12, "%g m", last_e_ref(out));
  proc_loom(&p, LOOM_ARGS("info", out));
  cr_assert(strstr(p.out, "steps of toycloth 2.1, made by no method of loom") != NULL, "%s", p.out);
  cr_assert(strstr(p.out, "{\"iterations\":10}") != NULL, "%s", p.out);
  cr_assert(strstr(p.out, "cholmod") == NULL && strstr(p.out, "converged") == NULL, "%s", p.out);
  proc_loom(&p, LOOM_ARGS("compare", out, "run.h5", "--quiet"));
  cr_assert(strstr(p.out, "A: 12 steps of toycloth 2.1, measured") != NULL, "%s", p.out);
  proc_loom(&p, LOOM_ARGS("verify", out));
  cr_assert(strstr(p.out, "of toycloth 2.1") != NULL, "%s", p.out);
}

/* ---- frames for which contact has no value ---- */

Test(measure, overlapping_frames)
{
  static numbers m;
  proc_write("scene.ini", ON_BALL("plugin = ipc_barrier\nstiffness = 1e4\n"));
  LOOM_FINE("run", "scene.ini", "--quiet", "-n", STEPS, "-o", "run.h5");
  frames f = load_frames("run.h5");
  const size_t n = f.shape[1];
  for (size_t i = 0; i < n; ++i) f.x[3 * (9 * n + i) + 2] -= 0.04;
  write_frames("data.h5", &f, f.shape, NULL);
  drop_frames(&f);
  LOOM_FINE("measure", "data.h5", "scene.ini", "--quiet", "-o", "m.h5");
  read_steps("m.h5", &m);
  for (int64_t i = 0; i < m.steps; ++i) {
    const int overlaps = i == 8 || i == 9; /* the frame ends one and begins the other */
    cr_assert_eq(isnan(m.row[i].r_final), overlaps, "step %lld: %g", (long long)i,
                 m.row[i].r_final);
    cr_assert(isfinite(m.row[i].e_elastic) && isfinite(m.row[i].e_kinetic));
    if (i == 8) cr_assert(m.row[i].intersections > 0 && m.row[i].passes > 0);
  }
}

/* ---- a signal ---- */

/* The same frame 20,000 times. */
Test(measure, signal_ends_it_with_a_whole_log)
{
  enum { LONG = 20000 };
  const struct timespec ten_ms = {0, 10 * 1000 * 1000};
  proc_write("fall.ini", FALL);
  LOOM_FINE("run", "fall.ini", "--quiet", "-n", "1", "-o", "run.h5");
  frames f = load_frames("run.h5");
  const size_t n3 = 3 * f.shape[1];
  frames many = {.shape = {LONG, f.shape[1], 3}, .x = calloc(LONG * n3, sizeof *many.x)};
  for (size_t k = 0; k < LONG; ++k) memcpy(many.x + k * n3, f.x, n3 * sizeof *f.x);
  write_frames("many.h5", &many, NULL, NULL);
  drop_frames(&many);
  drop_frames(&f);
  const pid_t pid =
      proc_start(LOOM_ARGS("measure", "many.h5", "fall.ini", "--quiet", "-o", "m.h5"));
  while (!proc_exists("m.h5")) nanosleep(&ten_ms, NULL);
  cr_assert_eq(kill(pid, SIGINT), 0);
  int status = 0;
  cr_assert_eq(waitpid(pid, &status, 0), pid);
  cr_assert(WIFEXITED(status) && WEXITSTATUS(status) == 5, "%d", status);
  const int64_t done = log_is_whole("m.h5", "stopped");
  cr_assert(done > 0 && done < LONG - 1, "%lld steps", (long long)done);
}

/* ---- a sequence of files ---- */

Test(measure, sequence)
{
  static numbers a, b;
  proc_write("fall.ini", FALL "[stop]\ntol_abs = 1e-11\ntol_rel = 0\n");
  LOOM_FINE("run", "fall.ini", "--quiet", "-n", STEPS, "-o", "run.h5");
  LOOM_FINE("export", "run.h5", "--format", "obj", "-o", "obj");
  LOOM_FINE("measure", "obj", "fall.ini", "--quiet", "-o", "m.h5");
  read_steps("run.h5", &a);
  read_steps("m.h5", &b);
  cr_assert_eq(a.steps, b.steps);
  for (int64_t i = 0; i < a.steps; ++i)
    cr_assert(fabs(a.row[i].r_final - b.row[i].r_final) < 1e-9, "step %lld: %g and %g m",
              (long long)i, a.row[i].r_final, b.row[i].r_final);
}

/* ---- refusals ---- */

#define REFUSED(data, ...)                      \
  proc_expect_error(2, LOOM_TEXTS(__VA_ARGS__), \
                    LOOM_ARGS("measure", data, "fall.ini", "--quiet", "-o", "no.h5"))

Test(measure, refuses_data)
{
  proc_write("fall.ini", FALL);
  LOOM_FINE("run", "fall.ini", "--quiet", "-n", STEPS, "-o", "run.h5");
  frames f = load_frames("run.h5");
  const hsize_t n = f.shape[1], fewer[3] = {f.shape[0] - 1, n, 3};
  double time[13];
  write_frames("short_v.h5", &f, fewer, NULL);
  REFUSED("short_v.h5", "short_v.h5: /v has not the shape of /x", "the first among them");
  for (int i = 0; i < 13; ++i) time[i] = 0.01 * (i == 6 ? 7 : i == 7 ? 6 : i);
  write_frames("order.h5", &f, f.shape, time);
  REFUSED("order.h5", "order.h5: /time: from frame 5 to 6", "frames must be in order");
  for (int i = 0; i < 13; ++i) time[i] = 0.02 * i;
  write_frames("dt.h5", &f, f.shape, time);
  REFUSED("dt.h5", "dt.h5: its frames are 0.02 s apart", "set [run] dt");
  f.v[3 * (4 * n + 7)] = NAN;
  write_frames("nan.h5", &f, f.shape, NULL);
  REFUSED("nan.h5", "nan.h5: /v, frame 4: the velocity of vertex 7 is not finite", "-n 3");
  LOOM_FINE("measure", "nan.h5", "fall.ini", "--quiet", "-n", "3", "-o", "three.h5");
  const hid_t file = H5Fcreate("no_x.h5", H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
  put_set(file, "v", 3, f.shape, f.v);
  H5Fclose(file);
  REFUSED("no_x.h5", "no_x.h5: there is no data set /x", "`loom measure` reads a log");
  f.shape[1] = n / 2;
  write_frames("half.h5", &f, NULL, NULL);
  REFUSED("half.h5", "half.h5: has 40 vertices, the scene of fall.ini has 81", "give the config");
  REFUSED("none.h5", "none.h5: there is no file or folder of that name");
  REFUSED("fall.ini", "fall.ini: is no HDF5 file", "NAME0000.obj");
  drop_frames(&f);
  cr_assert(!proc_exists("no.h5"), "a refused measurement left a log");
}

Test(measure, refuses_sequences)
{
  static const char triangle[] = "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n";
  proc_write("fall.ini", FALL);
  proc_write("f_0001.obj", triangle);
  REFUSED("f_0001.obj", "f_0001.obj: 1 OBJ or PLY files of a sequence", "a step needs two");
  proc_write("f_0003.obj", triangle);
  REFUSED("f_0001.obj", "f_0003.obj follows f_0001.obj", "without a gap");
  proc_write("f_0002.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 1 1 0\nf 1 2 3\nf 2 4 3\n");
  REFUSED("f_0001.obj", "has 3 vertices, the scene of fall.ini has 81");
  proc_write("g_0002.obj", triangle);
  REFUSED(".", "which are of two sequences", "name one file");
}

Test(measure, refuses_other_scenes)
{
  proc_write("fall.ini", FALL);
  LOOM_FINE("run", "fall.ini", "--quiet", "-n", STEPS, "-o", "run.h5");
  proc_write("peer.json", "{\"version\": \"1\"}");
  proc_expect_error(2, LOOM_TEXTS("peer.json: has no \"name\""),
                    LOOM_ARGS("measure", "run.h5", "fall.ini", "--peer", "peer.json"));
  proc_expect_error(
      2, LOOM_TEXTS("[cloth.sheet] membrane is 300 there and 400 here"),
      LOOM_ARGS("measure", "run.h5", "fall.ini", "--set", "cloth.sheet.membrane=400"));
  proc_expect_error(2, LOOM_TEXTS("run.h5: is the reference that [run] replay reads"),
                    LOOM_ARGS("measure", "run.h5", "fall.ini", "--overwrite", "-o", "run.h5"));
  LOOM_FINE("run", "fall.ini", "--quiet", "-n", STEPS, "-o", "other.h5");
  proc_expect_error(2, LOOM_TEXTS("other.h5: is a file that is measured, or the reference"),
                    LOOM_ARGS("measure", "run.h5", "fall.ini", "--reference", "other.h5",
                              "--overwrite", "-o", "other.h5"));
}
