/* read_file.h - opening a file to read it. */
#ifndef LOOM_READ_FILE_H
#define LOOM_READ_FILE_H

#include <stdint.h>
#include <stdio.h>

/* Opens a regular file.  A pipe or a device is refused like a file that cannot be opened, because
 * opening or reading it could wait for ever: NULL, and *why holds the reason. */
FILE *read_file_open(const char *path, int64_t *bytes, const char **why);

#endif
