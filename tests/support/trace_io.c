/* trace_io.c - preloaded into a process: notes every change of a file in the current folder.
 *
 * Each call of pwrite() and similar calls go to the file that LOOM_TRACE names, in order, with the
 * bytes written; test_power.c makes of them the possible contents of a disk after a power failure.
 * Only names without a folder count, as they are given on the command line. */
#define _GNU_SOURCE
#include "support/trace_io.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static int trace_fd(void)
{
  static int fd = -1;
  const char *const name = getenv("LOOM_TRACE");
  if (fd < 0 && name != NULL)
    fd = (int)syscall(SYS_openat, AT_FDCWD, name, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  return fd;
}

static void append_trace_op(trace_op op, const char *name, const char *to, const void *data)
{
  const int fd = trace_fd();
  if (fd < 0) return;
  snprintf(op.name, sizeof op.name, "%s", name != NULL ? name : "");
  snprintf(op.to, sizeof op.to, "%s", to != NULL ? to : "");
  if (syscall(SYS_write, fd, &op, sizeof op) != (long)sizeof op) abort();
  if (op.kind == TRACE_WRITE && syscall(SYS_write, fd, data, op.size) != (long)op.size) abort();
}

/* A file of the current folder that is open: its inode, 0: another one. */
static uint64_t inode_of_own_file(int fd)
{
  struct stat st;
  char link[64], path[4096], here[4096];
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  const ssize_t n = readlink(link, path, sizeof path - 1);
  if (n < 0 || getcwd(here, sizeof here) == NULL || fstat(fd, &st) != 0) return 0;
  path[n] = '\0';
  const size_t len = strlen(here);
  if (S_ISDIR(st.st_mode)) return strcmp(path, here) == 0 ? st.st_ino : 0;
  return S_ISREG(st.st_mode) && strncmp(path, here, len) == 0 && path[len] == '/' ? st.st_ino : 0;
}

static int own_name(const char *name) { return strchr(name, '/') == NULL; }

/* ---- these take the place of the C library's functions ---- */
static int open_traced(int dir, const char *name, int flags, unsigned mode)
{
  struct stat st;
  const int created =
      own_name(name) && (flags & O_CREAT) != 0 && fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) != 0;
  const int fd = (int)syscall(SYS_openat, dir, name, flags, mode);
  const int code = errno;
  if (fd >= 0 && own_name(name) && inode_of_own_file(fd) != 0) {
    if (created)
      append_trace_op((trace_op){.kind = TRACE_CREATE, .file = inode_of_own_file(fd)}, name, NULL,
                      NULL);
    if (flags & O_TRUNC)
      append_trace_op((trace_op){.kind = TRACE_CUT, .file = inode_of_own_file(fd)}, NULL, NULL,
                      NULL);
  }
  errno = code;
  return fd;
}

#define MODE_(flags, last)                          \
  unsigned mode = 0;                                \
  va_list ap;                                       \
  va_start(ap, last);                               \
  if ((flags)&O_CREAT) mode = va_arg(ap, unsigned); \
  va_end(ap);

int open(const char *name, int flags, ...)
{
  MODE_(flags, flags)
  return open_traced(AT_FDCWD, name, flags, mode);
}

int open64(const char *name, int flags, ...)
{
  MODE_(flags, flags)
  return open_traced(AT_FDCWD, name, flags, mode);
}

int openat(int dir, const char *name, int flags, ...)
{
  MODE_(flags, flags)
  return open_traced(dir, name, flags, mode);
}

int openat64(int dir, const char *name, int flags, ...)
{
  MODE_(flags, flags)
  return open_traced(dir, name, flags, mode);
}

static ssize_t write_traced(int fd, const void *data, size_t size, off_t at)
{
  const ssize_t n = syscall(SYS_pwrite64, fd, data, size, at);
  const uint64_t file = n > 0 ? inode_of_own_file(fd) : 0;
  if (file != 0)
    append_trace_op((trace_op){.kind = TRACE_WRITE, .file = file, .at = at, .size = n}, NULL, NULL,
                    data);
  return n;
}

ssize_t pwrite(int fd, const void *data, size_t size, off_t at)
{
  return write_traced(fd, data, size, at);
}

ssize_t pwrite64(int fd, const void *data, size_t size, off64_t at)
{
  return write_traced(fd, data, size, at);
}

static int cut_traced(int fd, off_t size)
{
  const int result = (int)syscall(SYS_ftruncate, fd, size);
  const uint64_t file = result == 0 ? inode_of_own_file(fd) : 0;
  if (file != 0)
    append_trace_op((trace_op){.kind = TRACE_CUT, .file = file, .size = size}, NULL, NULL, NULL);
  return result;
}

int ftruncate(int fd, off_t size) { return cut_traced(fd, size); }
int ftruncate64(int fd, off64_t size) { return cut_traced(fd, size); }

int rename(const char *from, const char *to)
{
  const int result = (int)syscall(SYS_rename, from, to);
  if (result == 0) append_trace_op((trace_op){.kind = TRACE_RENAME}, from, to, NULL);
  return result;
}

int unlink(const char *name)
{
  const int result = (int)syscall(SYS_unlink, name);
  if (result == 0 && own_name(name))
    append_trace_op((trace_op){.kind = TRACE_REMOVE}, name, NULL, NULL);
  return result;
}

int unlinkat(int dir, const char *name, int flags)
{
  const int result = (int)syscall(SYS_unlinkat, dir, name, flags);
  if (result == 0 && own_name(name))
    append_trace_op((trace_op){.kind = TRACE_REMOVE}, name, NULL, NULL);
  return result;
}

static int sync_traced(int fd)
{
  const uint64_t file = inode_of_own_file(fd);
  struct stat st;
  if (file == 0 || fstat(fd, &st) != 0) return 0;
  append_trace_op(
      (trace_op){.kind = S_ISDIR(st.st_mode) ? TRACE_SYNC_FOLDER : TRACE_SYNC, .file = file}, NULL,
      NULL, NULL);
  return 0;
}

int fsync(int fd) { return sync_traced(fd); }
int fdatasync(int fd) { return sync_traced(fd); }
