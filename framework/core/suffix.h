/* suffix.h - endings of file names. */
#ifndef LOOM_SUFFIX_H
#define LOOM_SUFFIX_H

#include <string.h>

/* Whether a name ends in `suffix` (".obj") and has something before it. */
static inline int has_suffix(const char *name, const char *suffix)
{
  const size_t n = strlen(name), k = strlen(suffix);
  return n > k && strcmp(name + n - k, suffix) == 0;
}

#endif
