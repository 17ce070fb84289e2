/* read_file.c - opens only regular files; the check itself never waits. */
#include "core/read_file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

FILE *read_file_open(const char *path, int64_t *bytes, const char **why)
{
  struct stat st;
  const int fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
  FILE *f = NULL;
  *why = "not a regular file";
  if (fd < 0 || fstat(fd, &st) != 0) {
    if (errno != ENXIO) *why = strerror(errno); /* ENXIO: a socket */
  } else if (S_ISREG(st.st_mode)) {
    *bytes = (int64_t)st.st_size;
    f = fdopen(fd, "rb");
    if (f == NULL) *why = strerror(errno);
  }
  if (f == NULL && fd >= 0) close(fd);
  return f;
}
