/* tiny_file.h - a file of a few lines, for tests. */
#ifndef LOOM_TESTS_TINY_FILE_H
#define LOOM_TESTS_TINY_FILE_H

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Writes a new file; `path` ends in XXXXXX and four letters, for example .obj, and gets its name.
 * Includers define _DEFAULT_SOURCE, for mkstemps(). */
static inline void tiny_file(char *path, const char *text)
{
  const int fd = mkstemps(path, 4);
  cr_assert(fd >= 0);
  cr_assert_eq(write(fd, text, strlen(text)), (ssize_t)strlen(text));
  close(fd);
}

#endif
