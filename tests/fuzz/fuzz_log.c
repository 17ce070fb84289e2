/* fuzz_log.c - a small log, damaged as the input says: the commands end with a code and, if
 * they fail, one line; they never hang, and a crash of the HDF5 library is caught.
 *
 * The input is a list of 5-byte edits: kind, position (3 bytes), value.  Positions count
 * only blocks of the log that are not empty, where metadata and tables lie.
 *
 * As a libFuzzer program it runs the commands in its own process, for coverage; HDF5 itself crashes
 * on damaged files: run it with -fork=1 -ignore_crashes=1 and look at the remaining reports.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "app/log_tools.h"
#include "support/tiny_log.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { BLOCK = 64, EDIT = 5, SECONDS = 60 };

static struct { /* the undamaged log */
  unsigned char *bytes;
  size_t size;
  size_t *blocks; /* offsets of the blocks that are not all zero */
  size_t num_blocks;
  long inputs, crashes;
} base;

static void require_log_property(int condition, const char *what)
{
  if (condition) return;
  fprintf(stderr, "fuzz_log: %s\n", what);
  abort();
}

static void report_caught_crashes(void)
{
  if (base.crashes > 0)
    printf("fuzz_log: the HDF5 library crashed on %ld of %ld inputs, all caught\n", base.crashes,
           base.inputs);
}

static void make_base(void)
{
  const char *const path = tiny_path(0, "base.h5");
  static const char *const balls[1] = {"ball"};
  tiny_options o = {.log = {.num_obstacles = 1, .obstacle_names = balls}};
  loom_err err = {0};
  struct stat st;
  require_log_property(tiny_write(&err, path, &o, 5) == LOOM_OK, err.text);
  FILE *const f = fopen(path, "rb");
  require_log_property(f != NULL && fstat(fileno(f), &st) == 0, "no base");
  base.size = (size_t)st.st_size;
  base.bytes = malloc(base.size + BLOCK);
  base.blocks = malloc((base.size / BLOCK + 1) * sizeof *base.blocks);
  require_log_property(base.bytes != NULL && base.blocks != NULL, "out of memory");
  require_log_property(fread(base.bytes, 1, base.size, f) == base.size, "cannot read the base");
  fclose(f);
  static const unsigned char zero[BLOCK];
  for (size_t at = 0; at + BLOCK <= base.size; at += BLOCK)
    if (memcmp(base.bytes + at, zero, BLOCK) != 0) base.blocks[base.num_blocks++] = at;
  atexit(report_caught_crashes);
}

/* Apply the edits; the new size of the file. */
static size_t damage_log_bytes(unsigned char *b, const uint8_t *data, size_t size)
{
  size_t end = base.size;
  for (; size >= EDIT; data += EDIT, size -= EDIT) {
    const size_t at24 = (size_t)data[1] | (size_t)data[2] << 8 | (size_t)data[3] << 16;
    const size_t block = base.blocks[(at24 / BLOCK) % base.num_blocks], at = block + at24 % BLOCK;
    switch (data[0] % 8) {
    case 0:
      b[at] ^= (unsigned char)(1u << data[4] % 8);
      break;
    case 1:
      memset(b + at, data[4], 8);
      break;
    case 2:
      memset(b + block, data[4], BLOCK);
      break;
    case 3:
      memcpy(b + block, b + base.blocks[data[4] % base.num_blocks], BLOCK);
      break;
    case 4:
      if (data[4] > 250) end = at;
      break;
    default:
      b[at] = data[4];
    }
  }
  return end;
}

static int run_log_commands(const char *path)
{
  char *const info[] = {"info", "--json", (char *)path, NULL};
  char *const verify[] = {"verify", (char *)path, NULL};
  char *const compare[] = {"compare", (char *)path, (char *)path, NULL};
  char *const export[] = {"export", (char *)path, "--format", "csv", "-o", "/dev/null", NULL};
  const int codes[4] = {cmd_info(3, (char **)info), cmd_verify(2, (char **)verify),
                        cmd_compare(3, (char **)compare), cmd_export(6, (char **)export)};
  for (int i = 0; i < 4; ++i)
    if (codes[i] < 0 || codes[i] > EXIT_TOLERANCE) return 99;
  loom_err err = {0};
  tiny_check(&err, path, -1);
  return 0;
}

#ifndef FUZZ_IN_PROCESS
static void in_a_child(const char *path)
{
  fflush(NULL);
  const pid_t pid = fork();
  require_log_property(pid >= 0, "cannot fork");
  if (pid == 0) {
    const int nowhere = open("/dev/null", O_WRONLY);
    dup2(nowhere, STDOUT_FILENO);
    if (getenv("LOOM_FUZZ_VERBOSE") == NULL) dup2(nowhere, STDERR_FILENO);
    setenv("LOOM_NO_GUARD", "1", 1); /* this process is the guarded one */
    setrlimit(RLIMIT_CPU, &(struct rlimit){SECONDS, SECONDS + 1}); /* asleep, run_limited ends it */
    const int code = run_log_commands(path);
    fflush(NULL);
    _exit(code);
  }
  int status;
  pid_t ended;
  do ended = waitpid(pid, &status, 0);
  while (ended < 0 && errno == EINTR); /* libFuzzer's alarm */
  require_log_property(ended == pid, "lost the child");
  ++base.inputs;
  if (WIFSIGNALED(status)) {
    require_log_property(WTERMSIG(status) != SIGXCPU, "a command does not end");
    ++base.crashes;
  } else {
    require_log_property(WEXITSTATUS(status) == 0, "a command ended with an unknown code");
  }
}
#endif

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  if (base.bytes == NULL) make_base();
  const char *const path = tiny_path(1, "damaged.h5");
  unsigned char *const b = malloc(base.size + BLOCK);
  require_log_property(b != NULL, "out of memory");
  memcpy(b, base.bytes, base.size);
  const size_t end = damage_log_bytes(b, data, size);
  FILE *const f = fopen(path, "wb");
  require_log_property(f != NULL && fwrite(b, 1, end, f) == end && fclose(f) == 0, "cannot write");
  free(b);

#ifdef FUZZ_IN_PROCESS /* libFuzzer counts the code that this process runs */
  setenv("LOOM_NO_GUARD", "1", 1);
  require_log_property(run_log_commands(path) == 0, "a command ended with an unknown code");
  ++base.inputs;
#else
  in_a_child(path);
#endif
  return 0;
}
