/* test_field_bars.c - trousers on networks that follow the pose stay out of the true skin; on
 * networks of zero angles, or of another pose, the same bar falls short. */
#include <criterion/criterion.h>
#include <float.h>
#include <hdf5.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ssdf/truth.h"
#include "support/proc.h"

TestSuite(field_bars, .init = proc_enter, .fini = proc_leave);

static const double bar = 5e-3; /* m */

/* ---- contents of a file ---- */

/* All of a data set as doubles; dims of up to 3 of its extents. */
static double *read_dataset_doubles(hid_t at, const char *name, hsize_t *dims)
{
  const hid_t d = H5Dopen2(at, name, H5P_DEFAULT), s = H5Dget_space(d);
  const hssize_t num = H5Sget_simple_extent_npoints(s);
  cr_assert(d >= 0 && num > 0, "%s", name);
  double *const v = malloc((size_t)num * sizeof *v);
  cr_assert(v != NULL && H5Sget_simple_extent_ndims(s) <= 3);
  H5Sget_simple_extent_dims(s, dims, NULL);
  cr_assert(H5Dread(d, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, v) >= 0);
  H5Sclose(s);
  H5Dclose(d);
  return v;
}

static void read_attribute(hid_t at, const char *name, double *v)
{
  const hid_t a = H5Aopen(at, name, H5P_DEFAULT);
  cr_assert(a >= 0 && H5Aread(a, H5T_NATIVE_DOUBLE, v) >= 0, "%s", name);
  H5Aclose(a);
}

/* ---- the controls ---- */

/* A network of a region gives in every pose its values with its first angle at `angle`, rad. */
static void freeze_network_angle(hid_t region, const char *name, double angle)
{
  hsize_t dims[3];
  double lo[8] = {0}, hi[8] = {0};
  double *const P = read_dataset_doubles(region, name, dims);
  read_attribute(region, "lo", lo);
  read_attribute(region, "hi", hi);
  for (hsize_t k = 1; k < dims[0]; ++k)
    for (hsize_t i = 0; i < dims[1]; ++i) {
      const double at = k == 1 ? angle : 0, span = hi[k - 1] - lo[k - 1];
      P[i] += (2 * at - lo[k - 1] - hi[k - 1]) / span * P[k * dims[1] + i];
      P[k * dims[1] + i] = 0;
    }
  const hid_t d = H5Dopen2(region, name, H5P_DEFAULT);
  cr_assert(H5Dwrite(d, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, P) >= 0);
  H5Dclose(d);
  free(P);
}

static void write_frozen(const char *from, double angle)
{
  static const char *const regions[] = {"left_hip", "left_knee", "right_hip", "right_knee"};
  char text[4096];
  FILE *const in = fopen(from, "rb"), *const out = fopen("frozen.h5", "wb");
  cr_assert(in != NULL && out != NULL);
  for (size_t got; (got = fread(text, 1, sizeof text, in)) > 0;) fwrite(text, 1, got, out);
  fclose(in);
  fclose(out);
  const hid_t f = H5Fopen("frozen.h5", H5F_ACC_RDWR, H5P_DEFAULT);
  for (int k = 0; k < 4; ++k) {
    const hid_t g = H5Gopen2(f, regions[k], H5P_DEFAULT);
    freeze_network_angle(g, "distance", angle);
    freeze_network_angle(g, "label", angle);
    H5Gclose(g);
  }
  H5Fclose(f);
}

/* ---- depths ---- */

static void add_bone_motion(const double *T, const double *p, double share, double *out)
{
  for (int r = 0; r < 3; ++r)
    out[r] += share * (T[3 * r] * p[0] + T[3 * r + 1] * p[1] + T[3 * r + 2] * p[2] + T[9 + r]);
}

/* The skin of the last frame, m, as its bones and weights in the log say. */
static double *last_skin(hid_t man, hsize_t *num)
{
  hsize_t frames[3], joints[3], per[3];
  double *const rest = read_dataset_doubles(man, "vertices", num), *const bones =
                                                                       read_dataset_doubles(
                                                                           man, "bones", per);
  double *const weights = read_dataset_doubles(man, "weights", per), *const T =
                                                                         read_dataset_doubles(
                                                                             man, "joints", joints);
  double *const pose = read_dataset_doubles(man, "pose", frames);
  double *const x = calloc(3 * num[0], sizeof *x);
  const double *const last = T + (joints[0] - 1) * joints[1] * 12;
  cr_assert(x != NULL);
  for (hsize_t v = 0; v < num[0]; ++v) {
    double p[3] = {0, 0, 0};
    for (hsize_t b = 0; b < per[1]; ++b)
      add_bone_motion(last + 12 * (int)bones[per[1] * v + b], rest + 3 * v, weights[per[1] * v + b],
                      p);
    add_bone_motion(pose + 12 * (frames[0] - 1), p, 1, x + 3 * v);
  }
  free(rest);
  free(bones);
  free(weights);
  free(T);
  free(pose);
  return x;
}

/* How deep the deepest vertex of the last frame is in the skin, m; below 0: all are outside. */
static double measure_skin_penetration(const char *log)
{
  loom_err err = {0};
  ssdf_truth truth;
  hsize_t nv[3], nt[3], nx[3];
  double depth = -DBL_MAX;
  const hid_t f = H5Fopen(log, H5F_ACC_RDONLY, H5P_DEFAULT);
  const hid_t man = H5Gopen2(f, "scene/obstacles/man", H5P_DEFAULT);
  double *const skin = last_skin(man, nv), *const t = read_dataset_doubles(man, "triangles", nt);
  double *const cloth = read_dataset_doubles(f, "frames/x", nx);
  int32_t *const tris = malloc(3 * nt[0] * sizeof *tris);
  cr_assert(tris != NULL);
  for (hsize_t i = 0; i < 3 * nt[0]; ++i) tris[i] = (int32_t)t[i];
  cr_assert_eq(ssdf_truth_build(&err, skin, (int32_t)nv[0], tris, (int32_t)nt[0], 1, &truth),
               LOOM_OK);
  for (hsize_t i = 0; i < nx[1]; ++i) {
    const double *const p = cloth + 3 * ((nx[0] - 1) * nx[1] + i);
    depth = fmax(depth, -ssdf_truth_distance(&truth, p, DBL_MAX, NULL));
  }
  ssdf_truth_free(&truth);
  free(skin);
  free(t);
  free(tris);
  free(cloth);
  H5Gclose(man);
  H5Fclose(f);
  return depth;
}

/* After 0.6 s, when a step has begun; infinite where the start is refused, which lies inside the
 * body that the networks tell of. */
static double deepest_with(const char *networks)
{
  char set[4352], config[4352];
  proc p;
  snprintf(set, sizeof set, "body.man.networks=%s", networks);
  snprintf(config, sizeof config, "%s/configs/trousers_walk_neural.ini", getenv("LOOM_SOURCE_DIR"));
  proc_loom(&p, LOOM_ARGS("run", config, "--quiet", "--overwrite", "-n", "60", "-o", "worn.h5",
                          "--set", set));
  if (p.code == 2 && strstr(p.err, "[trousers] starts inside [body.man]") != NULL) return INFINITY;
  cr_assert_eq(p.code, 0, "exit code %d:\n%s", p.code, p.err);
  return measure_skin_penetration("worn.h5");
}

Test(field_bars, trousers_stay_outside_only_with_networks_of_the_pose)
{
  char shipped[4096];
  snprintf(shipped, sizeof shipped, "%s/configs/bodies/lower_body.h5", getenv("LOOM_SOURCE_DIR"));
  const double own = deepest_with(shipped);
  write_frozen(shipped, 0);
  const double zero = deepest_with("frozen.h5");
  write_frozen(shipped, -0.2);
  const double other = deepest_with("frozen.h5");
  write_frozen(shipped, 0.8);
  const double far = deepest_with("frozen.h5");
  printf(
      "deepest vertex in the skin: %.1f mm; networks of zero angles: %.1f, of another pose: %.1f\n",
      1e3 * own, 1e3 * zero, 1e3 * other);
  cr_expect_leq(own, bar);
  cr_expect_gt(zero, bar, "the control");
  cr_expect_gt(other, bar, "the control");
  cr_expect(isinf(far), "trousers that start 57 mm inside another pose ran: %g m", far);
}
