/* h5log_target.c - the present file at the path of a new log, and whether it may be replaced.
 *
 * A log is put in place by a rename, which would replace any file.  So loom replaces only files
 * that loom wrote, and a log with steps only if the caller allows it.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "log/h5checkpoint.h"
#include "log/h5journal.h"
#include "log/h5log.h"
#include "log/h5place.h"
#include "log/h5util.h"

enum { CREATED_LEN = 40 };

typedef struct found { /* a log of ours */
  int64_t steps;
  char status[H5LOG_STATUS_LEN], created[CREATED_LEN];
} found;

/* Reads the root attributes and the number of steps, if it is a log of loom. */
static loom_status read_present_log(loom_err *err, const char *path, int writing, found *out)
{
  const hid_t fapl = h5u_fapl();
  const unsigned flags = H5F_ACC_RDONLY | (writing ? H5F_ACC_SWMR_READ : 0);
  const hid_t f = fapl < 0 ? H5I_INVALID_HID : H5Fopen(path, flags, fapl);
  h5u_close(fapl, H5Pclose);
  if (f < 0) {
    H5Eclear2(H5E_DEFAULT);
    return h5place_refuse(
        err, path,
        "is an HDF5 file that cannot be read, so its origin is unknown (`loom info` "
        "repairs a log after its writer died)");
  }
  char *const schema = h5u_get_text(f, "schema"), *const version = h5u_get_text(f, "loom_version");
  char *const status = h5u_get_text(f, "status"), *const created = h5u_get_text(f, "created");
  const int ours = schema != NULL && version != NULL && status != NULL;
  snprintf(out->status, sizeof out->status, "%s", status != NULL ? status : "");
  snprintf(out->created, sizeof out->created, "%s", created != NULL ? created : "");
  free(schema);
  free(version);
  free(status);
  free(created);
  int64_t rows = 0;
  const hid_t steps = H5Dopen2(f, "steps", H5P_DEFAULT);
  if (steps < 0 || h5u_last_step(steps, &rows) < -1) rows = 0;
  out->steps = rows;
  h5u_close(steps, H5Dclose);
  H5Fclose(f);
  H5Eclear2(H5E_DEFAULT);
  return ours ? LOOM_OK : h5place_refuse(err, path, "is an HDF5 file, but no log of loom");
}

static const char *state_of(const found *f)
{
  return strcmp(f->status, "finished") == 0     ? "finished"
         : strcmp(f->status, "stopped") == 0    ? "stopped"
         : strncmp(f->status, "failed", 6) == 0 ? "failed"
                                                : "unfinished";
}

static loom_status check_log_replaceable(loom_err *err, const char *path, const found *f,
                                         int overwrite)
{
  const char *const state = state_of(f);
  const int finished = strcmp(state, "finished") == 0;
  if (overwrite == H5LOG_OVERWRITE || f->steps == 0) return LOOM_OK;
  if (overwrite == H5LOG_OVERWRITE_UNFINISHED && !finished) return LOOM_OK;
  return err_set(err, LOOM_E_CONFIG,
                 "%s: is a%s %s log of %s, %" PRId64 " step%s; %s--overwrite replaces it, -o names "
                 "another file",
                 path, state[0] == 'u' ? "n" : "", state,
                 f->created[0] != '\0' ? f->created : "unknown date", f->steps,
                 f->steps == 1 ? "" : "s",
                 !finished && h5checkpoint_exists(path) ? "--resume continues it, " : "");
}

static loom_status check_file(loom_err *err, const char *path, int fd, int overwrite)
{
  char writer[160];
  struct stat st;
  h5u_super super;
  found f = {0};
  if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_size == 0) return LOOM_OK; /* mktemp */
  if (!h5u_like_ours(fd) || h5u_peek(err, path, fd, NULL, &super) != LOOM_OK)
    return h5place_refuse(err, path, "exists and is no log of loom");
  if (h5u_lock_writer(path, fd) == H5U_BUSY) {
    h5u_writer_of(path, writer, sizeof writer);
    return err_set(err, LOOM_E_IO,
                   "%s: is in use by another process (writer: %s); wait or name another file", path,
                   writer[0] != '\0' ? writer : "unknown");
  }
  LOOM_TRY(read_present_log(err, path, super.writing, &f));
  return check_log_replaceable(err, path, &f, overwrite);
}

/* Missing folders are reported where they are made. */
static loom_status check_journal(loom_err *err, const char *path)
{
  h5u_place place;
  loom_err quiet = {0};
  if (h5u_place_open(&quiet, path, &place) != LOOM_OK) return LOOM_OK;
  const loom_status s = h5u_journal_target(err, &place);
  h5u_place_close(&place);
  return s;
}

loom_status h5log_target(loom_err *err, const char *path, int overwrite)
{
  struct stat st;
  h5u_quiet();
  LOOM_TRY(h5checkpoint_target(err, path));
  LOOM_TRY(check_journal(err, path));
  if (lstat(path, &st) != 0) return h5place_absent(err, path);
  LOOM_TRY(h5place_check_kind(err, path, &st));
  const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW);
  if (fd < 0)
    return err_set(err, LOOM_E_IO, "%s: exists and cannot be read: %s; name another file", path,
                   strerror(errno));
  const loom_status s = check_file(err, path, fd, overwrite);
  close(fd);
  return s;
}
