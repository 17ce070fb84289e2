/* h5space.c - reserves disk space before HDF5 needs it.
 *
 * A write that fails inside HDF5 leaves its caches in a state that can be neither flushed
 * nor closed.  So the log asks the file system for the blocks beforehand: if the disk is full, the
 * request fails before HDF5 writes, and the space kept in reserve suffices to close the file
 * properly.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* fallocate */
#endif
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "core/suffix.h"
#include "log/h5checkpoint.h"
#include "log/h5util.h"

enum {
  RESERVE_CLOSE = 4 << 20, /* bytes kept free for closing: metadata, the journal of a repair */
  RESERVE_SLAB = 16 << 20  /* bytes reserved at a time, given back at close */
};

char *h5u_name_beside(const char *log_path, const char *tail)
{
  size_t stem = strlen(log_path);
  if (has_suffix(log_path, ".h5")) stem -= 3;
  const size_t len = stem + strlen(tail) + 1;
  char *const s = malloc(len);
  if (s != NULL) snprintf(s, len, "%.*s%s", (int)stem, log_path, tail);
  return s;
}

int h5checkpoint_exists(const char *log_path)
{
  char *const names[] = {h5u_name_beside(log_path, ".check.h5"),
                         h5u_name_beside(log_path, ".check.prev.h5")};
  int found = 0;
  for (int i = 0; i < 2; ++i) {
    found |= names[i] != NULL && access(names[i], F_OK) == 0;
    free(names[i]);
  }
  return found;
}

/* Whether a log has a checkpoint, or the checkpoint that is being written replaces an older one. */
static int can_continue(const char *path)
{
  if (has_suffix(path, ".check.h5")) return access(path, F_OK) == 0;
  return h5checkpoint_exists(path);
}

static loom_status report_disk_full(loom_err *err, const char *path, int64_t eoa, int code)
{
  char why[160];
  if (code == EFBIG)
    snprintf(why, sizeof why, "the file size limit of this process (ulimit -f) is reached");
  else if (code == EDQUOT)
    snprintf(why, sizeof why, "the disk quota is used up");
  else
    snprintf(why, sizeof why, "no space left on the disk");
  return err_set(err, LOOM_E_IO,
                 "%s: %s (it holds %.1f MiB); finished steps are kept: free space, then %s", path,
                 why, (double)eoa / (1 << 20),
                 can_continue(path) ? "continue with --resume"
                                    : "run again: there is no checkpoint to continue from");
}

/* Reserves [eoa, end); 0 or the error number.  The file's size does not change. */
static int allocate_file_range(int fd, int64_t eoa, int64_t end)
{
  struct statvfs vfs;
  int code;
  do code = fallocate(fd, FALLOC_FL_KEEP_SIZE, (off_t)eoa, (off_t)(end - eoa)) == 0 ? 0 : errno;
  while (code == EINTR);
  if (code != EOPNOTSUPP && code != ENOSYS) return code;
  /* This file system has no reservation: at least test whether there is room now. */
  if (fstatvfs(fd, &vfs) != 0) return 0;
  const double avail = (double)vfs.f_bavail * (double)vfs.f_frsize;
  return avail < (double)(end - eoa) ? ENOSPC : 0;
}

loom_status h5u_reserve(loom_err *err, const char *path, int fd, int64_t eoa, int64_t bytes,
                        int64_t *limit)
{
  const int64_t end = eoa + bytes + RESERVE_CLOSE;
  int64_t slab = end + RESERVE_SLAB;
  struct rlimit max;
  if (end <= *limit) return LOOM_OK;
  if (getrlimit(RLIMIT_FSIZE, &max) == 0 && max.rlim_cur != RLIM_INFINITY) {
    if ((uint64_t)max.rlim_cur < (uint64_t)end) return report_disk_full(err, path, eoa, EFBIG);
    if ((uint64_t)max.rlim_cur < (uint64_t)slab) slab = (int64_t)max.rlim_cur;
  }
  if (allocate_file_range(fd, eoa, slab) == 0) {
    *limit = slab;
    return LOOM_OK;
  }
  const int code = allocate_file_range(fd, eoa, end);
  if (code != 0) return report_disk_full(err, path, eoa, code);
  *limit = end;
  return LOOM_OK;
}
