/* data_write.c - the finished file of training data. */
#define _GNU_SOURCE /* mkstemp, fchmod */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/out_file.h"
#include "log/h5util.h"
#include "ssdf/data.h"

enum { CHUNK = 1 << 16, COMPRESSION = 4, NAME = 4096 };

static const char format_name[] = "loom-ssdf-data";

typedef struct writer {
  loom_err *err;
  const char *path;
  hid_t group;
} writer;

static loom_status fail_data_file(const writer *w, const char *what)
{
  return h5u_fail(w->err, w->path, what);
}

static int write_group_reals(hid_t obj, const char *name, const double *v, hsize_t count)
{
  const hid_t space = H5Screate_simple(1, &count, NULL);
  const hid_t a = H5Acreate2(obj, name, H5T_IEEE_F64LE, space, H5P_DEFAULT, H5P_DEFAULT);
  const int bad = space < 0 || a < 0 || H5Awrite(a, H5T_NATIVE_DOUBLE, v) < 0;
  h5u_close(a, H5Aclose);
  h5u_close(space, H5Sclose);
  return bad ? -1 : 0;
}

/* An empty data set that grows by rows of `width` items (0: plain items). */
static hid_t new_set(hid_t group, const char *name, hid_t type, hsize_t width)
{
  const hsize_t dims[2] = {0, width}, most[2] = {H5S_UNLIMITED, width};
  const hsize_t chunk[2] = {CHUNK / (width > 0 ? width : 1), width};
  const int rank = width > 0 ? 2 : 1;
  const hid_t space = H5Screate_simple(rank, dims, most), list = H5Pcreate(H5P_DATASET_CREATE);
  hid_t set = H5I_INVALID_HID;
  if (space >= 0 && list >= 0 && H5Pset_chunk(list, rank, chunk) >= 0 &&
      H5Pset_shuffle(list) >= 0 && H5Pset_deflate(list, COMPRESSION) >= 0)
    set = H5Dcreate2(group, name, type, space, H5P_DEFAULT, list, H5P_DEFAULT);
  h5u_close(list, H5Pclose);
  h5u_close(space, H5Sclose);
  return set;
}

/* Rows, of a data set that is made if it is not there. */
static int append_data_rows(hid_t group, const char *prefix, const char *name, hid_t type,
                            hsize_t width, int64_t count, const void *data)
{
  char full[64];
  snprintf(full, sizeof full, "%s%s", prefix, name);
  const hid_t set = H5Lexists(group, full, H5P_DEFAULT) > 0 ? H5Dopen2(group, full, H5P_DEFAULT)
                                                            : new_set(group, full, type, width);
  const int bad = set < 0 || (count > 0 && h5u_append(set, type, count, data) < 0);
  h5u_close(set, H5Dclose);
  return bad;
}

static int64_t find_part_record(const ssdf_part *f, int64_t region, int64_t pose)
{
  for (int64_t k = 0; k < f->num; ++k)
    if (f->done[k].region == region && f->done[k].pose == pose) return k;
  return -1;
}

static loom_status put_pose(const writer *w, const ssdf_plan *p, const ssdf_part *f, int64_t region,
                            int64_t pose, int64_t *total)
{
  const ssdf_plan_region *const g = &p->regions[region];
  const int test = pose >= g->num_poses;
  const char *const prefix = test ? "test_" : "";
  double angles[SSDF_MAX_DOFS];
  ssdf_samples s;
  const int64_t k = find_part_record(f, region, pose);
  if (k < 0) return err_set(w->err, LOOM_E_INTERNAL, "pose %lld is missing", (long long)pose);
  LOOM_TRY(ssdf_part_read(w->err, f, k, &s));
  ssdf_plan_angles(p, region, pose, angles);
  if (pose == 0 || pose == g->num_poses) *total = 0;
  int bad = 0;
  if (*total == 0)
    bad |= append_data_rows(w->group, prefix, "first", H5T_NATIVE_INT64, 0, 1, total);
  *total += s.count;
  bad |= append_data_rows(w->group, prefix, "angles", H5T_NATIVE_DOUBLE, (hsize_t)g->spec.num_dofs,
                          1, angles);
  bad |= append_data_rows(w->group, prefix, "first", H5T_NATIVE_INT64, 0, 1, total);
  bad |= append_data_rows(w->group, prefix, "x", H5T_NATIVE_FLOAT, 3, s.count, s.x);
  bad |= append_data_rows(w->group, prefix, "d", H5T_NATIVE_FLOAT, 0, s.count, s.d);
  bad |= append_data_rows(w->group, prefix, "label", H5T_NATIVE_SCHAR, 0, s.count, s.label);
  ssdf_samples_free(&s);
  return bad ? fail_data_file(w, "samples cannot be written") : LOOM_OK;
}

static int put_region_attributes(hid_t group, const ssdf_plan *p, const ssdf_plan_region *g)
{
  char names[SSDF_MAX_DOFS][2 * RIG_NAME_LEN + 2];
  const char *texts[SSDF_MAX_DOFS];
  double lo[SSDF_MAX_DOFS], hi[SSDF_MAX_DOFS];
  for (int32_t k = 0; k < g->spec.num_dofs; ++k) {
    rig_dof_name(&p->body, g->spec.dof[k], names[k], sizeof names[k]);
    texts[k] = names[k];
    lo[k] = g->range[k][0];
    hi[k] = g->range[k][1];
  }
  const hsize_t n = (hsize_t)g->spec.num_dofs;
  const char *const frame = g->region.frame >= 0 ? p->body.joint[g->region.frame].name : "";
  return h5u_put_text(group, "joint", p->body.joint[g->spec.joint].name, 0) |
         h5u_put_text(group, "frame", frame, 0) |
         h5u_put_texts(group, "dofs", texts, g->spec.num_dofs) |
         write_group_reals(group, "lo", lo, n) | write_group_reals(group, "hi", hi, n) |
         write_group_reals(group, "centre", g->box.centre, 3) |
         write_group_reals(group, "half", &g->box.half, 1) |
         write_group_reals(group, "box_lo", g->box.lo, 3) |
         write_group_reals(group, "box_hi", g->box.hi, 3) |
         write_group_reals(group, "margin", &p->margin, 1);
}

/* The surface in the rest pose, for pictures of the region. */
static int put_surface(hid_t group, const ssdf_plan_region *g)
{
  const mesh *const m = &g->region.part.skin;
  return append_data_rows(group, "surface_", "x", H5T_NATIVE_DOUBLE, 3, m->num_verts, m->x) |
         append_data_rows(group, "surface_", "tris", H5T_NATIVE_INT32, 3, m->num_tris, m->tris) |
         append_data_rows(group, "surface_", "cut", H5T_NATIVE_UCHAR, 0, m->num_tris,
                          g->region.cut);
}

static loom_status put_region(writer *w, hid_t file, const ssdf_plan *p, const ssdf_part *f,
                              int64_t region)
{
  const ssdf_plan_region *const g = &p->regions[region];
  int64_t total = 0;
  w->group =
      H5Gcreate2(file, p->body.joint[g->spec.joint].name, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
  loom_status s =
      w->group < 0 || put_region_attributes(w->group, p, g) != 0 ||
              h5u_put_int(w->group, "nodes", f->done[find_part_record(f, region, 0)].nodes) != 0 ||
              put_surface(w->group, g) != 0
          ? fail_data_file(w, "a region cannot be written")
          : LOOM_OK;
  for (int64_t k = 0; s == LOOM_OK && k < g->num_poses + p->num_tests; ++k)
    s = put_pose(w, p, f, region, k, &total);
  h5u_close(w->group, H5Gclose);
  return s;
}

loom_status ssdf_data_target(loom_err *err, const char *file)
{
  LOOM_TRY(out_file_check(err, file, OUT_HDF5));
  struct stat st;
  if (stat(file, &st) != 0 || st.st_size == 0) return LOOM_OK;
  h5u_quiet();
  const hid_t h = H5Fopen(file, H5F_ACC_RDONLY, H5P_DEFAULT);
  char *const format = h >= 0 ? h5u_get_text(h, "format") : NULL;
  const int own = format != NULL && strcmp(format, format_name) == 0;
  free(format);
  h5u_close(h, H5Fclose);
  if (own) return LOOM_OK;
  return err_set(err, LOOM_E_CONFIG,
                 "%s: is there and holds no training data of this command, so it is not replaced; "
                 "remove it, or name another file",
                 file);
}

/* An empty file beside it, which this process alone writes. */
static loom_status new_file(loom_err *err, const char *file, char name[NAME])
{
  const int n = snprintf(name, NAME, "%s.XXXXXX", file);
  if (n < 0 || n >= NAME) return err_set(err, LOOM_E_IO, "%.60s...: the name is too long", file);
  const int fd = mkstemp(name);
  const mode_t mask = umask(0);
  (void)umask(mask);
  if (fd < 0 || fchmod(fd, 0666 & ~mask) != 0 || close(fd) != 0)
    return err_set(err, LOOM_E_IO, "%s: cannot be created: %s", file, strerror(errno));
  return LOOM_OK;
}

loom_status ssdf_data_write(loom_err *err, const char *file, const ssdf_plan *p,
                            const ssdf_part *records)
{
  char name[NAME];
  h5u_quiet();
  LOOM_TRY(ssdf_data_target(err, file));
  LOOM_TRY(new_file(err, file, name));
  writer w = {.err = err, .path = name};
  const hid_t h = H5Fcreate(name, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
  loom_status s = h < 0 || h5u_put_text(h, "format", format_name, 0) != 0 ||
                          h5u_put_int(h, "version", 1) != 0 ||
                          h5u_put_text(h, "body", p->body_name, 0) != 0 ||
                          h5u_put_text(h, "body_hash", p->body.hash, 0) != 0 ||
                          h5u_put_text(h, "settings", p->settings, 0) != 0
                      ? fail_data_file(&w, "cannot be written")
                      : LOOM_OK;
  for (int64_t k = 0; s == LOOM_OK && k < p->num; ++k) s = put_region(&w, h, p, records, k);
  if (h5u_close(h, H5Fclose) != 0 && s == LOOM_OK) s = fail_data_file(&w, "cannot be finished");
  errno = 0;
  if (s == LOOM_OK && rename(name, file) != 0)
    s = err_set(err, LOOM_E_IO, "%s: cannot be renamed to %s: %s", name, file, strerror(errno));
  if (s != LOOM_OK) unlink(name);
  return s;
}
