/* h5checkpoint.c - writing checkpoints: FILE.check.h5 and the one before it, FILE.check.prev.h5.
 *
 * A checkpoint becomes visible by a rename after it is on the disk, so a reader finds the
 * old one or the new one, complete.  It is sealed before (h5seal.c), so a reader notices later
 * damage.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "log/h5checkpoint_internal.h"

enum { META_ROOM = 64 << 10 };

void h5checkpoint_close(h5checkpoint *c)
{
  if (c == NULL) return;
  if (c->file >= 0) H5Fclose(c->file);
  if (c->fd >= 0) close(c->fd);
  if (c->writing && c->part != NULL) unlink(c->part);
  free(c->path);
  free(c->prev);
  free(c->part);
  free(c);
  H5Eclear2(H5E_DEFAULT);
}

void h5checkpoint_abort(h5checkpoint *c) { h5checkpoint_close(c); }

loom_status h5checkpoint_new(loom_err *err, const char *log_path, h5checkpoint **out)
{
  h5u_quiet();
  *out = NULL;
  h5checkpoint *const c = calloc(1, sizeof *c);
  if (c != NULL) {
    c->file = H5I_INVALID_HID;
    c->fd = -1;
    c->path = h5u_name_beside(log_path, ".check.h5");
    c->prev = h5u_name_beside(log_path, ".check.prev.h5");
    c->part = h5u_name_beside(log_path, ".check.h5.part");
  }
  if (c == NULL || c->path == NULL || c->prev == NULL || c->part == NULL) {
    h5checkpoint_close(c);
    return err_set(err, LOOM_E_NOMEM, "%s: out of memory", log_path);
  }
  *out = c;
  return LOOM_OK;
}

/* ---- writing ---- */
loom_status h5checkpoint_begin(loom_err *err, const char *log_path, h5checkpoint **out)
{
  h5checkpoint *c;
  *out = NULL;
  LOOM_TRY(h5checkpoint_new(err, log_path, &c));
  loom_status s = h5u_open_part(err, c->path, c->part, &c->fd);
  if (s == LOOM_OK) {
    c->writing = 1;
    s = h5u_reserve(err, c->path, c->fd, 0, META_ROOM, &c->reserved);
    c->reserved = 0; /* creating the file truncates it */
    const hid_t fapl = h5u_fapl_disk(&c->disk), fcpl = H5Pcreate(H5P_FILE_CREATE);
    if (s == LOOM_OK) {
      if (fapl >= 0 && fcpl >= 0 && H5Pset_userblock(fcpl, H5U_SEAL_BYTES) >= 0)
        c->file = H5Fcreate(c->part, H5F_ACC_TRUNC, fcpl, fapl);
      if (c->file < 0) s = h5u_fail(err, c->path, "the checkpoint cannot be created");
    }
    h5u_close(fcpl, H5Pclose);
    h5u_close(fapl, H5Pclose);
  }
  if (s == LOOM_OK && h5u_put_int(c->file, "schema", H5U_SEAL_VERSION) < 0)
    s = h5u_fail(err, c->path, "the checkpoint cannot be written");
  if (s != LOOM_OK) {
    h5checkpoint_close(c);
    return s;
  }
  *out = c;
  return LOOM_OK;
}

static int put_dataset(hid_t file, const char *name, hid_t file_type, hid_t mem_type, int rank,
                       const hsize_t *dims, const void *data, const char *unit, const char *doc)
{
  const hid_t lcpl = H5Pcreate(H5P_LINK_CREATE);
  const hid_t space = rank > 0 ? H5Screate_simple(rank, dims, NULL) : H5Screate(H5S_SCALAR);
  hid_t d = H5I_INVALID_HID;
  if (lcpl >= 0 && space >= 0 && H5Pset_create_intermediate_group(lcpl, 1) >= 0)
    d = H5Dcreate2(file, name, file_type, space, lcpl, H5P_DEFAULT, H5P_DEFAULT);
  int bad = d < 0;
  if (!bad && H5Sget_simple_extent_npoints(space) > 0)
    bad = H5Dwrite(d, mem_type, H5S_ALL, H5S_ALL, H5P_DEFAULT, data) < 0;
  bad = bad || h5u_describe(d, unit, doc) < 0;
  bad |= h5u_close(d, H5Dclose) < 0;
  h5u_close(space, H5Sclose);
  h5u_close(lcpl, H5Pclose);
  return bad ? -1 : 0;
}

static loom_status reserve_checkpoint_space(h5checkpoint *c, loom_err *err, int64_t bytes)
{
  haddr_t eoa;
  if (H5Fget_eoa(c->file, &eoa) < 0) return h5u_fail(err, c->path, "cannot ask for its size");
  return h5u_reserve(err, c->path, c->fd, (int64_t)eoa, bytes + META_ROOM, &c->reserved);
}

loom_status h5checkpoint_name(loom_err *err, const h5checkpoint *c, const char *group,
                              const char *name, char *out, size_t len)
{
  const int root = group == NULL || group[0] == '\0' || strcmp(group, "/") == 0;
  const int n = snprintf(out, len, "%s%s%s", root ? "" : group, root ? "" : "/", name);
  if (n < 0 || (size_t)n >= len)
    return err_set(err, LOOM_E_ARG, "%s: the name %s is too long", c->path, name);
  return LOOM_OK;
}

loom_status h5checkpoint_put(h5checkpoint *c, loom_err *err, const char *group, const char *name,
                             int type, int64_t count, const void *data)
{
  char full[512];
  LOOM_TRY(h5checkpoint_name(err, c, group, name, full, sizeof full));
  if (count < 0 || h5u_file_type(type) < 0)
    return err_set(err, LOOM_E_ARG, "%s: %s: bad type or count", c->path, full);
  LOOM_TRY(reserve_checkpoint_space(c, err, count * 8));
  const int vectors = strcmp(full, "x") == 0 || strcmp(full, "v") == 0;
  const hsize_t flat[1] = {(hsize_t)count}, rows[2] = {(hsize_t)count / 3, 3};
  const int shaped = vectors && count % 3 == 0;
  const char *const unit = !vectors ? "1" : full[0] == 'x' ? "m" : "m/s";
  const char *const doc = !vectors         ? "state of a plugin instance, in its own units"
                          : full[0] == 'x' ? "positions [vertex][xyz]"
                                           : "velocities [vertex][xyz]";
  if (put_dataset(c->file, full, h5u_file_type(type), h5u_mem_type(type), shaped ? 2 : 1,
                  shaped ? rows : flat, data, unit, doc) < 0) {
    char what[600];
    snprintf(what, sizeof what, "cannot write %s into the checkpoint", full);
    return h5u_fail(err, c->path, what);
  }
  return LOOM_OK;
}

loom_status h5checkpoint_put_scalars(h5checkpoint *c, loom_err *err, int64_t step, double time,
                                     const char *config_hash)
{
  LOOM_TRY(reserve_checkpoint_space(c, err, 4096));
  int bad = put_dataset(c->file, "time", H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, 0, NULL, &time, "s",
                        "time at the end of the step") < 0;
  bad = bad || put_dataset(c->file, "step", H5T_STD_I64LE, H5T_NATIVE_INT64, 0, NULL, &step, "1",
                           "last finished step; -1: the initial state") < 0;
  bad = bad || h5u_put_text(c->file, "config_hash", config_hash, 0) < 0;
  return bad ? h5u_fail(err, c->path, "cannot write step and time into the checkpoint") : LOOM_OK;
}

static int sync_directory(const char *path)
{
  const char *const slash = strrchr(path, '/');
  char dir[4096];
  if (slash == NULL)
    snprintf(dir, sizeof dir, ".");
  else
    snprintf(dir, sizeof dir, "%.*s", slash == path ? 1 : (int)(slash - path), path);
  const int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) return -1;
  const int bad = fsync(fd) != 0 && errno != EINVAL; /* EINVAL: this file system has no fsync */
  close(fd);
  return bad ? -1 : 0;
}

static loom_status publish_checkpoint(h5checkpoint *c, loom_err *err)
{
  struct stat st;
  const int bad = H5Fclose(c->file) < 0;
  c->file = H5I_INVALID_HID;
  if (bad || c->disk.code)
    return h5u_disk_fail(err, c->path, &c->disk, "the checkpoint cannot be written");
  if (fstat(c->fd, &st) != 0 || ftruncate(c->fd, st.st_size) != 0 || h5u_seal(c->fd) != 0 ||
      fsync(c->fd) != 0)
    return err_set(err, LOOM_E_IO, "%s: the checkpoint cannot be synced: %s", c->path,
                   strerror(errno));
  if (rename(c->path, c->prev) != 0 && errno != ENOENT)
    return err_set(err, LOOM_E_IO, "%s: cannot be kept as %s: %s", c->path, c->prev,
                   strerror(errno));
  if (rename(c->part, c->path) != 0)
    return err_set(err, LOOM_E_IO, "%s: cannot be put in place: %s", c->path, strerror(errno));
  c->writing = 0;
  if (sync_directory(c->path) != 0)
    return err_set(err, LOOM_E_IO, "%s: its directory cannot be synced: %s", c->path,
                   strerror(errno));
  return LOOM_OK;
}

loom_status h5checkpoint_commit(h5checkpoint *c, loom_err *err)
{
  const loom_status s = publish_checkpoint(c, err);
  h5checkpoint_close(c);
  return s;
}

loom_status h5checkpoint_discard(loom_err *err, const char *log_path)
{
  h5checkpoint *c;
  loom_status s = LOOM_OK;
  LOOM_TRY(h5checkpoint_new(err, log_path, &c));
  const char *const all[] = {c->prev, c->path};
  for (int i = 0; i < 2 && s == LOOM_OK; ++i)
    if (unlink(all[i]) != 0 && errno != ENOENT)
      s = err_set(err, LOOM_E_IO,
                  "%s: the checkpoint of the log that was replaced cannot be removed: %s; remove "
                  "it, or name another file with -o",
                  all[i], strerror(errno));
  h5checkpoint_close(c);
  return s;
}

loom_status h5checkpoint_target(loom_err *err, const char *log_path)
{
  h5checkpoint *c;
  LOOM_TRY(h5checkpoint_new(err, log_path, &c));
  loom_status s = h5u_check_place(err, c->path);
  if (s == LOOM_OK) s = h5u_check_place(err, c->prev);
  h5checkpoint_close(c);
  return s;
}
