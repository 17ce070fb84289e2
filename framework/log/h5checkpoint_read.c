/* h5checkpoint_read.c - reads checkpoints: an undamaged one, or the one before it.
 *
 * The seal protects against accidents, not against forged files, which can have a seal, too.  So
 * kinds, counts and sizes are compared before data is read. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "log/h5checkpoint_internal.h"

#define LAST_STEP INT64_C(100000000000000) /* [run] steps times substeps, at their largest */

typedef struct candidate { /* one of the two files */
  hid_t file;
  int there;
  int64_t step, bytes;
  double time; /* s */
  char config_hash[17];
  char why[256]; /* reason why it cannot be used, for a message after its name */
} candidate;

/* One number of exactly this type; 0 or -1. */
static int read_checkpoint_scalar(hid_t file, const char *name, int type, void *out)
{
  const hid_t d = H5Dopen2(file, name, H5P_DEFAULT);
  const hid_t t = d < 0 ? H5I_INVALID_HID : H5Dget_type(d);
  const hid_t space = d < 0 ? H5I_INVALID_HID : H5Dget_space(d);
  const int good = t >= 0 && space >= 0 && H5Tequal(t, h5u_file_type(type)) > 0 &&
                   H5Sget_simple_extent_npoints(space) == 1 &&
                   H5Dread(d, type == LOOM_REAL ? H5T_NATIVE_DOUBLE : h5u_mem_type(type), H5S_ALL,
                           H5S_ALL, H5P_DEFAULT, out) >= 0;
  h5u_close(space, H5Sclose);
  h5u_close(t, H5Tclose);
  h5u_close(d, H5Dclose);
  return good ? 0 : -1;
}

static void read_scalars(candidate *k)
{
  char *const hash = h5u_get_text(k->file, "config_hash");
  if (hash == NULL || strlen(hash) != 16 ||
      read_checkpoint_scalar(k->file, "step", LOOM_I64, &k->step) < 0 ||
      read_checkpoint_scalar(k->file, "time", LOOM_REAL, &k->time) < 0 || k->step < -1 ||
      k->step > LAST_STEP || !isfinite(k->time))
    snprintf(k->why, sizeof k->why, "has no step, time and config_hash as they are written");
  else
    memcpy(k->config_hash, hash, sizeof k->config_hash);
  free(hash);
}

static void open_checkpoint(const char *path, candidate *k)
{
  struct stat st;
  memset(k, 0, sizeof *k);
  k->file = H5I_INVALID_HID;
  const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK); /* opening a pipe must not wait */
  k->there = fd >= 0 || errno != ENOENT;
  if (fd < 0) {
    snprintf(k->why, sizeof k->why, "cannot be opened: %s", strerror(errno));
    return;
  }
  const int holds = fstat(fd, &st) == 0 && h5u_seal_holds(fd, k->why, sizeof k->why);
  k->bytes = (int64_t)st.st_size;
  if (holds) {
    const hid_t fapl = h5u_fapl();
    if (fapl >= 0) k->file = H5Fopen(path, H5F_ACC_RDONLY, fapl);
    h5u_close(fapl, H5Pclose);
    if (k->file < 0)
      snprintf(k->why, sizeof k->why, "cannot be opened by HDF5");
    else
      read_scalars(k);
  }
  close(fd);
  H5Eclear2(H5E_DEFAULT);
}

static loom_status none_fits(loom_err *err, const h5checkpoint *c, int64_t step,
                             const candidate k[2])
{
  const char *const path[2] = {c->path, c->prev};
  char there[64] = "", bad[1024] = "";
  for (int i = 0; i < 2; ++i) {
    const size_t n = strlen(there), m = strlen(bad);
    if (k[i].there && k[i].why[0] == '\0')
      snprintf(there + n, sizeof there - n, "%s%" PRId64, n > 0 ? " and " : "", k[i].step);
    else if (k[i].there && i == 0)
      snprintf(bad + m, sizeof bad - m, " %s", k[i].why);
    else if (k[i].there)
      snprintf(bad + m, sizeof bad - m, "%s the one before it, %.500s, %s", m > 0 ? ", and" : "",
               path[i], k[i].why);
  }
  if (there[0] != '\0')
    return err_set(err, LOOM_E_IO, "%s: there is no checkpoint of step %" PRId64 ", only of %s%s%s",
                   c->path, step, there, bad[0] != '\0' ? "; it" : "", bad);
  if (bad[0] != '\0')
    return err_set(err, LOOM_E_IO,
                   "%s:%s; there is no other checkpoint to continue from: start the run again",
                   c->path, bad);
  return err_set(err, LOOM_E_IO,
                 "%s: there is no readable checkpoint; start the run again, and set [log] "
                 "checkpoint_every to have one",
                 c->path);
}

loom_status h5checkpoint_open(loom_err *err, const char *log_path, int64_t step, h5checkpoint **out)
{
  h5checkpoint *c;
  candidate k[2];
  *out = NULL;
  LOOM_TRY(h5checkpoint_new(err, log_path, &c));
  open_checkpoint(c->path, &k[0]);
  open_checkpoint(c->prev, &k[1]);
  int pick = -1;
  for (int i = 0; i < 2; ++i)
    if (k[i].why[0] == '\0' && (step < 0 || k[i].step == step) &&
        (pick < 0 || k[i].step > k[pick].step))
      pick = i;
  for (int i = 0; i < 2; ++i)
    if (i != pick && k[i].file >= 0) H5Fclose(k[i].file);
  if (pick < 0) {
    none_fits(err, c, step, k);
    h5checkpoint_close(c);
    return err->code;
  }
  if (pick == 1 && k[0].there && k[0].why[0] != '\0')
    snprintf(c->note, sizeof c->note,
             "%.400s %s; the run goes on from the checkpoint before it, of step %" PRId64, c->path,
             k[0].why, k[1].step);
  c->file = k[pick].file;
  c->step = k[pick].step;
  c->bytes = k[pick].bytes;
  c->time = k[pick].time;
  memcpy(c->config_hash, k[pick].config_hash, sizeof c->config_hash);
  *out = c;
  return LOOM_OK;
}

void h5checkpoint_scalars(const h5checkpoint *c, int64_t *step, double *time, char config_hash[17])
{
  *step = c->step;
  *time = c->time;
  memcpy(config_hash, c->config_hash, sizeof c->config_hash);
}

const char *h5checkpoint_note(const h5checkpoint *c) { return c->note; }

/* Only the types that h5checkpoint_put writes: HDF5 could convert a float to a double, but it is
 * refused. */
static int loom_type_of(hid_t type)
{
  static const int all[] = {LOOM_REAL, LOOM_I32, LOOM_I64, LOOM_U8, LOOM_U64};
  for (size_t i = 0; i < sizeof all / sizeof all[0]; ++i)
    if (H5Tequal(type, h5u_file_type(all[i])) > 0) return all[i];
  return -1;
}

/* Whether the file is large enough for the data set (also a data set that was never filled has a
 * size); else no memory is allocated for it. */
static int is_dataset_in_file(const h5checkpoint *c, hid_t d, hid_t type, int64_t count)
{
  const int64_t item = (int64_t)H5Tget_size(type);
  return count == 0 ||
         (item > 0 && count <= c->bytes / item && (int64_t)H5Dget_storage_size(d) >= count * item);
}

loom_status h5checkpoint_size(h5checkpoint *c, loom_err *err, const char *group, const char *name,
                              int *type, int64_t *count)
{
  char full[512], what[600];
  LOOM_TRY(h5checkpoint_name(err, c, group, name, full, sizeof full));
  snprintf(what, sizeof what, "the checkpoint has no usable %s", full);
  const hid_t d = H5Dopen2(c->file, full, H5P_DEFAULT);
  const hid_t t = d < 0 ? H5I_INVALID_HID : H5Dget_type(d);
  const hid_t space = d < 0 ? H5I_INVALID_HID : H5Dget_space(d);
  *type = t < 0 ? -1 : loom_type_of(t);
  *count = space < 0 ? -1 : (int64_t)H5Sget_simple_extent_npoints(space);
  const int good = *type >= 0 && *count >= 0 && is_dataset_in_file(c, d, t, *count);
  h5u_close(space, H5Sclose);
  h5u_close(t, H5Tclose);
  h5u_close(d, H5Dclose);
  return good ? LOOM_OK : h5u_fail(err, c->path, what);
}

loom_status h5checkpoint_get(h5checkpoint *c, loom_err *err, const char *group, const char *name,
                             int type, int64_t count, void *data)
{
  char full[512], what[600];
  int stored;
  int64_t there;
  LOOM_TRY(h5checkpoint_size(c, err, group, name, &stored, &there));
  LOOM_TRY(h5checkpoint_name(err, c, group, name, full, sizeof full));
  if (stored != type || there != count)
    return err_set(err, LOOM_E_IO,
                   "%s: %s has %" PRId64 " items of type %d, expected %" PRId64 " of type %d: the "
                   "checkpoint belongs to another scene or plugin version",
                   c->path, full, there, stored, count, type);
  snprintf(what, sizeof what, "cannot read %s", full);
  if (count == 0) return LOOM_OK;
  const hid_t d = H5Dopen2(c->file, full, H5P_DEFAULT);
  const int bad = d < 0 || H5Dread(d, h5u_mem_type(type), H5S_ALL, H5S_ALL, H5P_DEFAULT, data) < 0;
  h5u_close(d, H5Dclose);
  return bad ? h5u_fail(err, c->path, what) : LOOM_OK;
}
