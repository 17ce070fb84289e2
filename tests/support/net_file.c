/* net_file.c - see net_file.h. */
#include "support/net_file.h"

#include <criterion/criterion.h>
#include <hdf5.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static int is_net_damage(const net_file *f, const char *damage)
{
  return f->damage != NULL && strcmp(f->damage, damage) == 0;
}

static void put_text(hid_t obj, const char *name, const char *text)
{
  const hid_t space = H5Screate(H5S_SCALAR), type = H5Tcopy(H5T_C_S1);
  H5Tset_size(type, strlen(text) + 1);
  const hid_t a = H5Acreate2(obj, name, type, space, H5P_DEFAULT, H5P_DEFAULT);
  cr_assert(H5Awrite(a, type, text) >= 0);
  H5Aclose(a);
  H5Tclose(type);
  H5Sclose(space);
}

static void write_real_attribute(hid_t obj, const char *name, const double *v, hsize_t count)
{
  const hid_t space = H5Screate_simple(1, &count, NULL);
  const hid_t a = H5Acreate2(obj, name, H5T_IEEE_F64LE, space, H5P_DEFAULT, H5P_DEFAULT);
  cr_assert(H5Awrite(a, H5T_NATIVE_DOUBLE, v) >= 0);
  H5Aclose(a);
  H5Sclose(space);
}

static void put_dofs(hid_t obj, const char names[2][32])
{
  const hsize_t two = 2;
  const hid_t space = H5Screate_simple(1, &two, NULL), type = H5Tcopy(H5T_C_S1);
  H5Tset_size(type, 32);
  const hid_t a = H5Acreate2(obj, "dofs", type, space, H5P_DEFAULT, H5P_DEFAULT);
  cr_assert(H5Awrite(a, type, names) >= 0);
  H5Aclose(a);
  H5Tclose(type);
  H5Sclose(space);
}

/* (|y0| + |y1| + |y2|) / sqrt(3) - 0.09, of leaky(z) + leaky(-z) = 0.99 |z|, and up to 0.01
 * more or less for a first angle between the ends of its range. */
static void put_octahedron(float *v)
{
  memset(v, 0, 3 * 31 * sizeof *v);
  for (int c = 0; c < 3; ++c)
    for (int side = 0; side < 2; ++side) {
      v[3 * (2 * c + side) + c] = side == 0 ? 1 : -1;
      v[24 + 2 * c + side] = (float)(1 / (0.99 * sqrt(3)));
    }
  v[30] = -0.09F;
  v[31 + 30] = -0.01F;
}

static void write_network(hid_t group, const char *name, const net_file *f, int hidden, uint64_t *z)
{
  const double in_file[2] = {is_net_damage(f, "hidden") ? 99 : hidden, f->width};
  const hsize_t dims[2] = {
      is_net_damage(f, "rows") ? 2 : 3,
      (hsize_t)(SSDF_NUM_PARAMS(hidden, f->width) - (is_net_damage(f, "columns") ? 1 : 0))};
  float *const v = calloc(dims[0] * dims[1], sizeof *v);
  const hid_t space = H5Screate_simple(2, dims, NULL);
  for (hsize_t k = 0; k < dims[0] * dims[1]; ++k) {
    *z = *z * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    v[k] = (float)(((double)(*z >> 11) * 0x1p-53 - 0.5) * (k < dims[1] ? 1.4 : 0.3));
  }
  if (is_net_damage(f, "nan")) v[7] = NAN;
  if (f->octahedra) put_octahedron(v);
  const hid_t set =
      H5Dcreate2(group, name, H5T_IEEE_F32LE, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
  cr_assert(H5Dwrite(set, H5T_NATIVE_FLOAT, H5S_ALL, H5S_ALL, H5P_DEFAULT, v) >= 0);
  write_real_attribute(set, "hidden", in_file, 1);
  write_real_attribute(set, "width", in_file + 1, 1);
  H5Dclose(set);
  H5Sclose(space);
  free(v);
}

void net_file_write(const char *path, const rig *leg, const net_file *f)
{
  static const char dofs[2][2][32] = {{"hip.flexion", "hip.abduction"},
                                      {"knee.flexion", "knee.side"}};
  static const char wrong[2][32] = {"elbow.flexion", "knee.side"};
  static const double lo[2][2] = {{-0.5, -0.3}, {0, -0.15}}, hi[2][2] = {{1.4, 0.7}, {2.1, 0.15}};
  static const double box[2][2][3] = {{{-0.4, -0.3, -0.5}, {0.25, 0.5, 0.3}},
                                      {{-0.2, -0.6, -1}, {0.2, 0.2, -0.1}}};
  static const char *const joint[2] = {"hip", "knee"}, *const frame[2] = {"pelvis", "hip"};
  const double half[2] = {0.4, 0.45}, margin = 0.07, clamp[2] = {0.04, 0.045};
  const hid_t file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
  uint64_t z = 11;
  cr_assert(file >= 0, "%s", path);
  put_text(file, "format", is_net_damage(f, "format") ? "loom-ssdf-data" : "loom-ssdf-net");
  put_text(file, "version", is_net_damage(f, "version") ? "9" : "1");
  put_text(file, "body_hash", is_net_damage(f, "hash") ? "0123456789abcdef" : leg->hash);
  put_text(file, "activation", is_net_damage(f, "activation") ? "cosine" : f->activation);
  for (int k = 0; k < 2; ++k) {
    const hid_t g = H5Gcreate2(file, joint[k], H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    double centre[3];
    for (int c = 0; c < 3; ++c) centre[c] = 0.5 * (box[k][0][c] + box[k][1][c]);
    put_text(g, "joint", is_net_damage(f, "joint") ? "ankle" : joint[k]);
    put_text(g, "frame", frame[k]);
    put_dofs(g, is_net_damage(f, "dofs") ? wrong : dofs[k]);
    write_real_attribute(g, "lo", is_net_damage(f, "range") ? hi[k] : lo[k], 2);
    write_real_attribute(g, "hi", hi[k], 2);
    write_real_attribute(g, "centre", centre, 3);
    write_real_attribute(g, "half", &half[k], is_net_damage(f, "box") ? 0 : 1);
    write_real_attribute(g, "box_lo", box[k][0], 3);
    write_real_attribute(g, "box_hi", box[k][1], 3);
    write_real_attribute(g, "margin", &margin, 1);
    write_real_attribute(g, "clamp", &clamp[k], 1);
    if (!is_net_damage(f, "no distance")) write_network(g, "distance", f, f->hidden, &z);
    if (f->labels) write_network(g, "label", f, 2, &z);
    H5Gclose(g);
  }
  H5Fclose(file);
}
