/* command.c - see command.h. */
#include "support/command.h"

#include <criterion/criterion.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct { /* texts live until the test process ends */
  char *text[256];
  int num;
} kept;

static void free_kept(void)
{
  while (kept.num > 0) free(kept.text[--kept.num]);
}

char *command_file(const char *path)
{
  FILE *const f = fopen(path, "rb");
  cr_assert(f != NULL, "%s", path);
  fseek(f, 0, SEEK_END);
  const long size = ftell(f);
  rewind(f);
  char *const s = calloc(1, (size_t)size + 1);
  cr_assert_eq(fread(s, 1, (size_t)size, f), (size_t)size);
  fclose(f);
  cr_assert_lt(kept.num, 256);
  if (kept.num == 0) atexit(free_kept);
  kept.text[kept.num++] = s;
  return s;
}

/* Run a command with stdout and stderr in files. */
command_result command_call(int (*cmd)(int, char **), const char *line)
{
  static char words[16][512]; /* getopt moves pointers, never texts */
  char copy[2048], *argv[17];
  int argc = 0;
  command_result o;
  snprintf(copy, sizeof copy, "%s", line);
  for (char *w = strtok(copy, " "); w != NULL && argc < 16; w = strtok(NULL, " ")) {
    snprintf(words[argc], sizeof words[0], "%s", w);
    argv[argc] = words[argc];
    ++argc;
  }
  argv[argc] = NULL;
  const char *const files[2] = {tiny_path(2, "stdout"), tiny_path(3, "stderr")};
  int keep[2];
  fflush(NULL);
  for (int i = 0; i < 2; ++i) {
    const int fd = open(files[i], O_RDWR | O_CREAT | O_TRUNC, 0600);
    keep[i] = dup(i + 1);
    dup2(fd, i + 1);
    close(fd);
  }
  o.code = cmd(argc, argv);
  fflush(NULL);
  for (int i = 0; i < 2; ++i) {
    dup2(keep[i], i + 1);
    close(keep[i]);
  }
  o.out = command_file(files[0]);
  o.err = command_file(files[1]);
  return o;
}

void command_log(const char *path, const tiny_options *o, int64_t steps)
{
  loom_err err = {0};
  cr_assert_eq(tiny_write(&err, path, o, steps), LOOM_OK, "%s", err.text);
}

void command_has(const char *text, const char *part)
{
  cr_assert(strstr(text, part) != NULL, "\"%s\" is not in:\n%s", part, text);
}

char *command_line(const char *fmt, const char *a, const char *b)
{
  static char line[2048];
  snprintf(line, sizeof line, fmt, a, b);
  return line;
}
