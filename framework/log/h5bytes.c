/* h5bytes.c - reads and writes all bytes of a range of a file, in several calls if needed. */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "log/h5util.h"

/* Bytes behind the end of the file read as zero, as HDF5 expects of a driver. */
int h5u_read_at(int fd, void *out, int64_t bytes, int64_t addr)
{
  char *p = out;
  while (bytes > 0) {
    const ssize_t n = pread(fd, p, (size_t)bytes, (off_t)addr);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return errno;
    if (n == 0) break;
    p += n, addr += n, bytes -= n;
  }
  memset(p, 0, (size_t)bytes);
  return 0;
}

int h5u_write_at(int fd, const void *data, int64_t bytes, int64_t addr)
{
  const char *p = data;
  while (bytes > 0) {
    const ssize_t n = pwrite(fd, p, (size_t)bytes, (off_t)addr);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return n < 0 ? errno : EIO;
    p += n, addr += n, bytes -= n;
  }
  return 0;
}
