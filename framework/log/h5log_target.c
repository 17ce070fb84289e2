/* h5log_target.c - the present file at the path of a new log, and whether it may be replaced.
 *
 * A log is put in place by a rename, which would replace any file.  So loom replaces only files
 * that loom wrote, and a log with steps only if the caller allows it.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "log/h5checkpoint.h"
#include "log/h5journal.h"
#include "log/h5log.h"
#include "log/h5util.h"

enum { HEAD_LEN = 8, CREATED_LEN = 40 };

typedef struct found { /* a log of ours */
  int64_t steps;
  char status[H5LOG_STATUS_LEN], created[CREATED_LEN];
} found;

static loom_status in_the_way(loom_err *err, const char *path, const char *what)
{
  return err_set(err, LOOM_E_CONFIG, "%s: %s; it is not replaced: remove it, or name another file",
                 path, what);
}

/* After lstat failed.  Missing folders are reported where they are made. */
static loom_status nothing_there(loom_err *err, const char *path)
{
  if (errno == ENOENT || errno == ENOTDIR) return LOOM_OK;
  return err_set(err, LOOM_E_IO, "%s: cannot be examined: %s; name another file", path,
                 strerror(errno));
}

/* Checks the kind of file, by lstat: a link is not followed. */
static loom_status check_kind(loom_err *err, const char *path, const struct stat *st)
{
  if (S_ISREG(st->st_mode)) return LOOM_OK;
  if (S_ISDIR(st->st_mode))
    return err_set(err, LOOM_E_CONFIG, "%s: is a folder; name a file", path);
  if (S_ISLNK(st->st_mode))
    return err_set(err, LOOM_E_CONFIG, "%s: is a symbolic link; name the file it points to", path);
  return err_set(err, LOOM_E_CONFIG, "%s: is a device, a pipe or a socket; name a file", path);
}

/* Whether the file begins as HDF5 does, as a checkpoint does (h5seal.c), or with the zeros of a
 * file whose writer was killed before it wrote the head. */
int h5u_like_ours(int fd)
{
  static const unsigned char hdf5[HEAD_LEN] = {0x89, 'H', 'D', 'F', '\r', '\n', 0x1a, '\n'};
  static const char sealed[] = "loom che"; /* ckpoint */
  static const unsigned char zeros[HEAD_LEN];
  unsigned char head[HEAD_LEN];
  const ssize_t n = pread(fd, head, sizeof head, 0);
  if (n <= 0) return n == 0;
  return memcmp(head, zeros, (size_t)n) == 0 ||
         (n == HEAD_LEN &&
          (memcmp(head, hdf5, HEAD_LEN) == 0 || memcmp(head, sealed, HEAD_LEN) == 0));
}

/* open() reports ENOENT for a missing folder, and for a file system that takes no files (/proc). */
static loom_status cannot_create(loom_err *err, const char *path, int code)
{
  const char *const slash = strrchr(path, '/');
  char folder[PATH_MAX];
  snprintf(folder, sizeof folder, "%.*s", slash == NULL ? 1 : (int)(slash - path),
           slash == NULL ? "." : path);
  if (code == ENOENT && folder[0] != '\0' && access(folder, F_OK) != 0)
    return err_set(err, LOOM_E_IO, "%s: the directory %s does not exist; create it", path, folder);
  if (code == ENOENT)
    return err_set(err, LOOM_E_IO,
                   "%s: cannot be created: the file system of this folder takes no new files; "
                   "name another file",
                   path);
  return err_set(err, LOOM_E_IO, "%s: cannot be created: %s; name another file", path,
                 strerror(code));
}

loom_status h5u_open_part(loom_err *err, const char *path, const char *part, int *fd)
{
  struct stat st;
  *fd = open(part, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0666);
  if (*fd < 0) {
    const int code = errno;
    if (lstat(part, &st) == 0) LOOM_TRY(check_kind(err, part, &st));
    return cannot_create(err, path, code);
  }
  if (fstat(*fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_nlink == 1 && h5u_like_ours(*fd))
    return LOOM_OK;
  close(*fd);
  *fd = -1;
  return in_the_way(err, part, "has the name of a temporary file, and loom did not write it");
}

loom_status h5u_check_place(loom_err *err, const char *path)
{
  struct stat st;
  if (lstat(path, &st) != 0) return nothing_there(err, path);
  LOOM_TRY(check_kind(err, path, &st));
  const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW);
  if (fd < 0)
    return err_set(err, LOOM_E_IO, "%s: exists and cannot be read: %s", path, strerror(errno));
  const int ours = h5u_like_ours(fd);
  close(fd);
  return ours ? LOOM_OK : in_the_way(err, path, "has the name of the log's checkpoint and is none");
}

/* Reads the root attributes and the number of steps, if it is a log of loom. */
static loom_status read_present_log(loom_err *err, const char *path, int writing, found *out)
{
  const hid_t fapl = h5u_fapl();
  const unsigned flags = H5F_ACC_RDONLY | (writing ? H5F_ACC_SWMR_READ : 0);
  const hid_t f = fapl < 0 ? H5I_INVALID_HID : H5Fopen(path, flags, fapl);
  h5u_close(fapl, H5Pclose);
  if (f < 0) {
    H5Eclear2(H5E_DEFAULT);
    return in_the_way(err, path,
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
  return ours ? LOOM_OK : in_the_way(err, path, "is an HDF5 file, but no log of loom");
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
    return in_the_way(err, path, "exists and is no log of loom");
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
  if (lstat(path, &st) != 0) return nothing_there(err, path);
  LOOM_TRY(check_kind(err, path, &st));
  const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW);
  if (fd < 0)
    return err_set(err, LOOM_E_IO, "%s: exists and cannot be read: %s; name another file", path,
                   strerror(errno));
  const loom_status s = check_file(err, path, fd, overwrite);
  close(fd);
  return s;
}
