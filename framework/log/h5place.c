/* h5place.c - the files at the paths of a log and its checkpoints: kinds, and whether loom wrote
 * them. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "log/h5place.h"
#include "log/h5util.h"

enum { HEAD_LEN = 8 };

loom_status h5place_refuse(loom_err *err, const char *path, const char *what)
{
  return err_set(err, LOOM_E_CONFIG, "%s: %s; it is not replaced: remove it, or name another file",
                 path, what);
}

/* After lstat failed.  Missing folders are reported where they are made. */
loom_status h5place_absent(loom_err *err, const char *path)
{
  if (errno == ENOENT || errno == ENOTDIR) return LOOM_OK;
  return err_set(err, LOOM_E_IO, "%s: cannot be examined: %s; name another file", path,
                 strerror(errno));
}

/* Checks the kind of file, by lstat: a link is not followed. */
loom_status h5place_check_kind(loom_err *err, const char *path, const struct stat *st)
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
    if (lstat(part, &st) == 0) LOOM_TRY(h5place_check_kind(err, part, &st));
    return cannot_create(err, path, code);
  }
  if (fstat(*fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_nlink == 1 && h5u_like_ours(*fd))
    return LOOM_OK;
  close(*fd);
  *fd = -1;
  return h5place_refuse(err, part, "has the name of a temporary file, and loom did not write it");
}

loom_status h5u_check_place(loom_err *err, const char *path)
{
  struct stat st;
  if (lstat(path, &st) != 0) return h5place_absent(err, path);
  LOOM_TRY(h5place_check_kind(err, path, &st));
  const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW);
  if (fd < 0)
    return err_set(err, LOOM_E_IO, "%s: exists and cannot be read: %s", path, strerror(errno));
  const int ours = h5u_like_ours(fd);
  close(fd);
  return ours ? LOOM_OK
              : h5place_refuse(err, path, "has the name of the log's checkpoint and is none");
}
