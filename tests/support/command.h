/* command.h - commands of the binary called within a test, with their output. */
#ifndef LOOM_TESTS_COMMAND_H
#define LOOM_TESTS_COMMAND_H

#include "support/tiny_log.h"

typedef struct command_result {
  int code;
  char *out, *err; /* live until the test process ends */
} command_result;

/* Run a command on words that blanks part; stdout and stderr go through files 2 and 3 of
 * tiny_path(). */
command_result command_call(int (*cmd)(int, char **), const char *line);
/* The contents of a file, until the test process ends. */
char *command_file(const char *path);
/* fmt with a and b, in one static buffer. */
char *command_line(const char *fmt, const char *a, const char *b);
/* Fails the test unless `part` is in `text`. */
void command_has(const char *text, const char *part);
/* A log of so many steps. */
void command_log(const char *path, const tiny_options *o, int64_t steps);

#endif
