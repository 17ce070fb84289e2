/* read_file.h - opening a file to read it. */
#ifndef LOOM_READ_FILE_H
#define LOOM_READ_FILE_H

#include <stdint.h>
#include <stdio.h>

/* Opens a regular file; a pipe or a device, whose opening or reading could wait for ever, is
 * refused like a file that cannot be opened: NULL, and *why says what is wrong. */
FILE *read_file_open(const char *path, int64_t *bytes, const char **why);

#endif
