/* shared_data.h - finds reference data that is too large for the repository. */
#ifndef LOOM_TESTS_SHARED_DATA_H
#define LOOM_TESTS_SHARED_DATA_H

#include <stdio.h>
#include <stdlib.h>

/* Path of `name` below $LOOM_SHARED_DATA, or ../shared/data beside the source tree; 0 if
 * the file is missing. */
static inline int shared_data(const char *name, char *path, size_t len)
{
  const char *root = getenv("LOOM_SHARED_DATA"), *source = getenv("LOOM_SOURCE_DIR");
  if (root != NULL)
    snprintf(path, len, "%s/%s", root, name);
  else if (source != NULL)
    snprintf(path, len, "%s/../shared/data/%s", source, name);
  else
    return 0;
  FILE *f = fopen(path, "rb");
  if (f == NULL) return 0;
  fclose(f);
  return 1;
}

#endif
