/* h5frames.c - see h5frames.h. */
#include "log/h5frames.h"

#include <stdlib.h>

#include "log/h5guard.h"
#include "log/h5util.h"

typedef struct opened {
  hid_t file, verts, tris;
} opened;

static void close_file(opened *o)
{
  h5u_close(o->verts, H5Dclose);
  h5u_close(o->tris, H5Dclose);
  h5u_close(o->file, H5Fclose);
  H5Eclear2(H5E_DEFAULT);
}

static loom_status refuse_frames_file(loom_err *err, const char *path, const char *what)
{
  return err_set(err, LOOM_E_CONFIG,
                 "%s: %s; frames in HDF5 are /vertices [frames][n][3] (m) and /triangles [nt][3]",
                 path, what);
}

/* Extents of a numeric data set of `rank` dimensions, the last of them 3. */
static int get_vec3_extents(hid_t set, int rank, hsize_t dims[3])
{
  int fine = 0;
  const hid_t space = H5Dget_space(set), type = H5Dget_type(set);
  if (space >= 0 && type >= 0 && H5Sget_simple_extent_ndims(space) == rank &&
      H5Sget_simple_extent_dims(space, dims, NULL) == rank) {
    const H5T_class_t c = H5Tget_class(type);
    fine = (c == H5T_INTEGER || c == H5T_FLOAT) && dims[rank - 1] == 3;
  }
  h5u_close(space, H5Sclose);
  h5u_close(type, H5Tclose);
  return fine;
}

static loom_status open_frames_file(loom_err *err, const char *path, opened *o,
                                    h5frames_shape *shape)
{
  hsize_t v[3], t[3];
  *o = (opened){H5I_INVALID_HID, H5I_INVALID_HID, H5I_INVALID_HID};
  h5u_quiet();
  o->file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT);
  if (o->file < 0) return refuse_frames_file(err, path, "cannot be read as HDF5");
  o->verts = H5Dopen2(o->file, "vertices", H5P_DEFAULT);
  if (o->verts < 0 || !get_vec3_extents(o->verts, 3, v))
    return refuse_frames_file(err, path, "there is no /vertices of that shape");
  o->tris = H5Dopen2(o->file, "triangles", H5P_DEFAULT);
  if (o->tris < 0 || !get_vec3_extents(o->tris, 2, t))
    return refuse_frames_file(err, path, "there is no /triangles of that shape");
  if (v[0] < 1 || v[1] < 3 || t[0] < 1 || v[1] > INT32_MAX / 3 || t[0] > INT32_MAX / 3)
    return refuse_frames_file(err, path, "holds no mesh, or one that is too large");
  *shape = (h5frames_shape){(int64_t)v[0], (int64_t)v[1], (int64_t)t[0]};
  return LOOM_OK;
}

loom_status h5frames_shape_of(loom_err *err, const char *path, h5frames_shape *out)
{
  opened o;
  const loom_status s = open_frames_file(err, path, &o, out);
  close_file(&o);
  return s;
}

static int read_frame_vertices(const opened *o, const h5frames_shape *shape, int64_t frame,
                               double *x)
{
  const hsize_t start[3] = {(hsize_t)frame, 0, 0}, count[3] = {1, (hsize_t)shape->num_verts, 3};
  const hid_t in = H5Dget_space(o->verts), out = H5Screate_simple(3, count, NULL);
  const int bad = in < 0 || out < 0 ||
                  H5Sselect_hyperslab(in, H5S_SELECT_SET, start, NULL, count, NULL) < 0 ||
                  H5Dread(o->verts, H5T_NATIVE_DOUBLE, out, in, H5P_DEFAULT, x) < 0;
  h5u_close(in, H5Sclose);
  h5u_close(out, H5Sclose);
  return !bad;
}

loom_status h5frames_read(loom_err *err, const char *path, int64_t frame, double *x, int32_t *tris)
{
  opened o;
  h5frames_shape shape = {0};
  loom_status s = open_frames_file(err, path, &o, &shape);
  if (s == LOOM_OK && (frame < 0 || frame >= shape.num_frames))
    s = err_set(err, LOOM_E_CONFIG, "%s: there is no frame %lld; it holds 0 to %lld", path,
                (long long)frame, (long long)shape.num_frames - 1);
  if (s == LOOM_OK && x != NULL && !read_frame_vertices(&o, &shape, frame, x))
    s = refuse_frames_file(err, path, "/vertices cannot be read");
  if (s == LOOM_OK && tris != NULL &&
      H5Dread(o.tris, H5T_NATIVE_INT32, H5S_ALL, H5S_ALL, H5P_DEFAULT, tris) < 0)
    s = refuse_frames_file(err, path, "/triangles cannot be read");
  close_file(&o);
  return s;
}

static int rehearse_frame_reads(void *arg, FILE *out)
{
  const char *const path = *(const char *const *)arg;
  loom_err err = {0};
  h5frames_shape n;
  (void)out;
  if (h5frames_shape_of(&err, path, &n) != LOOM_OK) return 0;
  double *const x = malloc((size_t)n.num_verts * 3 * sizeof *x);
  int32_t *const tris = malloc((size_t)n.num_tris * 3 * sizeof *tris);
  loom_status s = x == NULL || tris == NULL ? LOOM_E_NOMEM : LOOM_OK;
  for (int64_t k = 0; s == LOOM_OK && k < n.num_frames; ++k)
    s = h5frames_read(&err, path, k, x, k == 0 ? tris : NULL);
  free(x);
  free(tris);
  return 0;
}

loom_status h5frames_open(loom_err *err, const char *path, h5frames_shape *out)
{
  LOOM_TRY(h5_rehearse(err, path, rehearse_frame_reads, &path));
  return h5frames_shape_of(err, path, out);
}
