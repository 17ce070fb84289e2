/* h5log_scene.c - /scene: topology, rest state and obstacles, written once. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "log/h5log_internal.h"

static hid_t make_parents(void)
{
  const hid_t lcpl = H5Pcreate(H5P_LINK_CREATE);
  if (lcpl < 0) return H5I_INVALID_HID;
  if (H5Pset_create_intermediate_group(lcpl, 1) >= 0) return lcpl;
  H5Pclose(lcpl);
  return H5I_INVALID_HID;
}

static hid_t file_type(const h5log_array *a)
{
  return a->type == H5LOG_F64 ? H5T_IEEE_F64LE : h5u_file_type(a->type);
}

static hid_t mem_type(const h5log_array *a)
{
  return a->type == H5LOG_F64 ? H5T_NATIVE_DOUBLE : h5u_mem_type(a->type);
}

/* Written once, so one chunk with a checksum; an empty array, or one larger than a chunk can be, is
 * stored contiguously without one. */
static hid_t array_dcpl(const h5log_array *a, const hsize_t *dims, size_t item)
{
  const double chunk_max = 4294967295.0; /* bytes, of HDF5 */
  double bytes = (double)item;
  const hid_t dcpl = H5Pcreate(H5P_DATASET_CREATE);
  for (int i = 0; i < a->rank; ++i) bytes *= (double)dims[i];
  if (dcpl < 0 || a->rank < 1 || bytes < 1 || bytes > chunk_max) return dcpl;
  if (H5Pset_chunk(dcpl, a->rank, dims) >= 0 && H5Pset_fletcher32(dcpl) >= 0) return dcpl;
  H5Pclose(dcpl);
  return H5I_INVALID_HID;
}

static int put_array(hid_t group, const h5log_array *a)
{
  hsize_t dims[4] = {0};
  for (int i = 0; i < a->rank; ++i) dims[i] = (hsize_t)a->dims[i];
  const hid_t lcpl = make_parents();
  const hid_t space = a->rank > 0 ? H5Screate_simple(a->rank, dims, NULL) : H5Screate(H5S_SCALAR);
  const int is_text = a->type == H5LOG_TEXT;
  const hid_t text = is_text ? h5u_text_type(strlen(a->data) + 1) : H5I_INVALID_HID;
  const hid_t type = is_text ? text : file_type(a);
  const hid_t dcpl = type >= 0 ? array_dcpl(a, dims, H5Tget_size(type)) : H5I_INVALID_HID;
  hid_t dset = H5I_INVALID_HID;
  if (lcpl >= 0 && space >= 0 && type >= 0 && dcpl >= 0)
    dset = H5Dcreate2(group, a->name, type, space, lcpl, dcpl, H5P_DEFAULT);
  int bad = dset < 0;
  if (!bad && H5Sget_simple_extent_npoints(space) > 0)
    bad = H5Dwrite(dset, is_text ? text : mem_type(a), H5S_ALL, H5S_ALL, H5P_DEFAULT, a->data) < 0;
  bad = bad || h5u_describe(dset, a->unit != NULL ? a->unit : "1", a->doc) < 0;
  bad |= h5u_close(dset, H5Dclose) < 0;
  h5u_close(dcpl, H5Pclose);
  h5u_close(space, H5Sclose);
  h5u_close(text, H5Tclose);
  h5u_close(lcpl, H5Pclose);
  return bad ? -1 : 0;
}

loom_status h5log_create_scene(loom_err *err, const char *path, hid_t file,
                               const h5log_array *scene, int num_scene)
{
  const hid_t group = H5Gopen2(file, "scene", H5P_DEFAULT);
  if (group < 0) return h5u_fail(err, path, "cannot open /scene");
  loom_status s = LOOM_OK;
  for (int i = 0; s == LOOM_OK && i < num_scene; ++i) {
    const h5log_array *const a = &scene[i];
    int ok = a->name != NULL && a->rank >= 0 && a->rank <= 4;
    if (a->type == H5LOG_TEXT)
      ok = ok && a->rank == 0 && a->data != NULL;
    else
      ok = ok && file_type(a) >= 0;
    for (int d = 0; ok && d < a->rank; ++d) ok = a->dims[d] >= 0;
    if (!ok) {
      s = err_set(err, LOOM_E_ARG, "%s: /scene/%s: bad name, type or shape", path,
                  a->name != NULL ? a->name : "?");
    } else if (put_array(group, a) < 0) {
      char what[256];
      snprintf(what, sizeof what, "cannot write /scene/%s", a->name);
      s = h5u_fail(err, path, what);
    }
  }
  H5Gclose(group);
  return s;
}
