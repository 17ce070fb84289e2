/* install_prefix.c - the folder that loom is installed to, from the path of the running program. */
#include "core/install_prefix.h"

#include <string.h>
#include <unistd.h>

int install_prefix(char *prefix, size_t len)
{
  const ssize_t n = readlink("/proc/self/exe", prefix, len - 1);
  if (n < 0) return 0;
  prefix[n] = '\0';
  for (int up = 0; up < 2; ++up) {
    char *const slash = strrchr(prefix, '/');
    if (slash == NULL) return 0;
    *slash = '\0';
  }
  return 1;
}
