/* h5log_own.c - checks that the objects a run appends to have loom's form.
 *
 * Another program may have replaced one of the log's objects by its own, by default in the format
 * of HDF5 1.6: version 1 of the object's header, without a checksum, which SWMR mode does not
 * allow. HDF5 does not check this when it turns the mode on.  Opened in that mode, the object ends
 * the process if the library is built with assertions, and otherwise the first write fails. */
#include <stdio.h>
#include <string.h>

#include "log/h5log_internal.h"

enum { HEADER_VERSION = 2 }; /* HDF5 File Format Specification Version 3.0, IV.A.1.b */

enum { DAMAGED = -1, ABSENT, OWN, FOREIGN };

static int classify_object(hid_t file, const char *path, int chunked)
{
  const htri_t there = H5Lexists(file, path, H5P_DEFAULT);
  if (there <= 0) return there < 0 ? DAMAGED : ABSENT;
  const hid_t object = H5Oopen(file, path, H5P_DEFAULT);
  if (object < 0) return DAMAGED;
  int own = h5api_header_version(object) == HEADER_VERSION;
  if (own && chunked) {
    const hid_t list =
        H5Iget_type(object) == H5I_DATASET ? H5Dget_create_plist(object) : H5I_INVALID_HID;
    own = list >= 0 && H5Pget_layout(list) == H5D_CHUNKED;
    h5u_close(list, H5Pclose);
  }
  H5Oclose(object);
  return own ? OWN : FOREIGN;
}

/* Checks the groups on the path, and the data set at its end. */
static loom_status check_path(loom_err *err, const h5log *l, const char *path, int chunked)
{
  char part[512];
  int kind = OWN;
  snprintf(part, sizeof part, "%s", path);
  for (char *end = part; end != NULL && kind != ABSENT;) {
    end = strchr(end, '/');
    if (end != NULL) *end = '\0';
    kind = classify_object(l->file, part, chunked && end == NULL);
    if (kind == DAMAGED) {
      char what[600];
      snprintf(what, sizeof what, "has no readable /%s: the file is damaged", part);
      return h5u_fail(err, l->path, what);
    }
    if (kind == FOREIGN)
      return err_set(err, LOOM_E_IO,
                     "%s: /%s is not as loom makes it, another program has replaced it; start a "
                     "new log with -o",
                     l->path, part);
    if (end != NULL) *end++ = '/';
  }
  return LOOM_OK;
}

loom_status h5log_check_own(loom_err *err, const h5log *l, const h5log_options *opt)
{
  static const char *const appended[] = {"steps_extra", "iters_extra", "frames/x",  "frames/v",
                                         "frames/time", "frames/step", "state_data"};
  LOOM_TRY(check_path(err, l, "status", 0));
  for (size_t i = 0; i < sizeof appended / sizeof *appended; ++i)
    LOOM_TRY(check_path(err, l, appended[i], 1));
  for (int i = 0; i < H5U_NUM_TABLES; ++i) LOOM_TRY(check_path(err, l, h5u_table_of(i)->name, 1));
  for (int k = 0; k < H5LOG_NUM_FIELDS; ++k)
    if (opt->fields & LOOM_BIT(k)) LOOM_TRY(check_path(err, l, h5log_field_infos[k].path, 1));
  for (int i = 0; i < opt->num_obstacles; ++i)
    for (int k = 0; k < 2; ++k) {
      char path[512];
      snprintf(path, sizeof path, "scene/obstacles/%s/%s", opt->obstacle_names[i],
               k == 0 ? "pose" : "joints");
      LOOM_TRY(check_path(err, l, path, 1));
    }
  return LOOM_OK;
}
