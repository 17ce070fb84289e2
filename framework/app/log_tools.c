/* log_tools.c - guarded reading, frame ranges, numbers and files of the log commands. */
#include "app/log_tools.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/crash.h"

/* ---- the guard ---- */
int guard_run(int (*body)(int argc, char **argv), int argc, char **argv)
{
  int status;
  if (getenv("LOOM_NO_GUARD") != NULL) return body(argc, argv);
  fflush(NULL); /* or both processes would write the buffered output */
  const pid_t pid = fork();
  if (pid < 0) return body(argc, argv);
  if (pid == 0) {
    crash_remove();
    const int code = body(argc, argv);
    fflush(NULL);
    _exit(code);
  }
  while (waitpid(pid, &status, 0) < 0)
    if (errno != EINTR) return EXIT_RUNTIME;
  if (WIFEXITED(status)) return WEXITSTATUS(status);
  const int sig = WTERMSIG(status);
  if (sig == SIGINT || sig == SIGTERM || sig == SIGKILL || sig == SIGPIPE) return 128 + sig;
  if (sig == SIGXCPU) {
    fprintf(stderr, "loom: the processor time of this process is used up (ulimit -t); raise it, or "
                    "look at fewer frames\n");
    return 128 + sig;
  }
  fprintf(stderr,
          "loom: %s: the HDF5 library crashed while reading (signal %d): the file is damaged; use "
          "a copy, or run again from the last checkpoint\n",
          argc > 1 ? argv[argc - 1] : argv[0], sig);
  return EXIT_RUNTIME;
}

loom_status tool_open_log(loom_err *err, const char *path, h5read **out)
{
  LOOM_TRY(h5read_open(err, path, out));
  if (h5read_note(*out)[0] != '\0') fprintf(stderr, "loom: note: %s\n", h5read_note(*out));
  return LOOM_OK;
}

const char *tool_peer(h5read *r, char buf[TOOL_PEER_LEN])
{
  const char *const name = h5read_attr(r, "peer"), *const version = h5read_attr(r, "peer_version");
  buf[0] = '\0';
  if (name[0] != '\0')
    snprintf(buf, TOOL_PEER_LEN, " of %.200s%s%.100s", name, version[0] != '\0' ? " " : "",
             version);
  return buf;
}

/* ---- usage ---- */
int tool_usage(const char *command, const char *fmt, ...)
{
  va_list ap;
  fprintf(stderr, "loom: %s: ", command);
  va_start(ap, fmt);
  vfprintf(stderr, fmt, ap);
  va_end(ap);
  fprintf(stderr, "; loom %s --help shows the options\n", command);
  return EXIT_USAGE;
}

int tool_help_or_fault(char **argv, int result, const char *usage)
{
  const char *const word = argv[optind - 1];
  if (result == 'h') {
    fputs(usage, stdout);
    return EXIT_FINE;
  }
  if (result == ':') return tool_usage(argv[0], "%s needs a value", word);
  return tool_usage(argv[0], "there is no option %s", word);
}

static int whole_number(const char *text, const char *end, int64_t *out)
{
  if (text == end) return -1;
  *out = 0;
  for (; text < end; ++text) {
    if (!isdigit((unsigned char)*text) || *out > INT64_MAX / 10 - 9) return -1;
    *out = 10 * *out + (*text - '0');
  }
  return 0;
}

int frame_range_parse(const char *text, frame_range *out)
{
  const char *const end = text + strlen(text), *const colon = strchr(text, ':');
  *out = (frame_range){0, -1};
  if (strcmp(text, "last") == 0) {
    out->first = -1;
    return 0;
  }
  if (colon == NULL) {
    if (whole_number(text, end, &out->first) < 0) return -1;
    out->last = out->first;
    return 0;
  }
  if (colon > text && whole_number(text, colon, &out->first) < 0) return -1;
  if (colon + 1 < end && whole_number(colon + 1, end, &out->last) < 0) return -1;
  return out->last >= 0 && out->last < out->first ? -1 : 0;
}

loom_status frame_range_clip(loom_err *err, const frame_range *r, int64_t num_frames,
                             int64_t *first, int64_t *end)
{
  *first = r->first < 0 ? num_frames + r->first : r->first;
  *end = (r->last < 0 ? num_frames + r->last : r->last) + 1;
  if (*end > num_frames) *end = num_frames;
  if (*first >= 0 && *first < *end) return LOOM_OK;
  if (num_frames == 0) return err_set(err, LOOM_E_IO, "the log holds no frames yet");
  return err_set(err, LOOM_E_CONFIG, "--frames: the log holds frames 0 to %lld",
                 (long long)num_frames - 1);
}

/* ---- numbers ---- */
const char *number_text(double v, char buf[NUMBER_LEN])
{
  if (isnan(v)) return "nan";
  if (isinf(v)) return v < 0 ? "-inf" : "inf";
  /* %.15g drops trailing zeros: where 15 digits suffice it is the shortest, except for
   * subnormal numbers, which have fewer digits to begin with. */
  for (int digits = fpclassify(v) == FP_SUBNORMAL ? 1 : 15; digits < 17; ++digits) {
    snprintf(buf, NUMBER_LEN, "%.*g", digits, v);
    if (strtod(buf, NULL) == v) return buf;
  }
  snprintf(buf, NUMBER_LEN, "%.17g", v);
  return buf;
}

int number_parse(const char *text, double *out)
{
  char *end;
  *out = strtod(text, &end);
  return end == text || *end != '\0' ? -1 : 0;
}

static loom_status load_log_column(h5read *r, loom_err *err, const char *table, const char *name,
                                   char kind, int64_t count, void **out)
{
  *out = malloc(count > 0 ? (size_t)count * 8 : 8);
  if (*out == NULL) return err_set(err, LOOM_E_NOMEM, "/%s: out of memory", table);
  const loom_status s = h5read_column(r, err, table, name, kind, 0, count, *out);
  if (s == LOOM_OK) return s;
  free(*out);
  *out = NULL;
  return s;
}

int64_t count_add(int64_t a, int64_t b)
{
  if (b > 0 && a > INT64_MAX - b) return INT64_MAX;
  if (b < 0 && a < INT64_MIN - b) return INT64_MIN;
  return a + b;
}

loom_status column_ints(h5read *r, loom_err *err, const char *table, const char *name,
                        int64_t count, int64_t **out)
{
  void *p;
  const loom_status s = load_log_column(r, err, table, name, 'I', count, &p);
  *out = p;
  return s;
}

loom_status column_reals(h5read *r, loom_err *err, const char *table, const char *name,
                         int64_t count, double **out)
{
  void *p;
  const loom_status s = load_log_column(r, err, table, name, 'R', count, &p);
  *out = p;
  return s;
}

/* ---- files ---- */
loom_status make_directories(loom_err *err, const char *path)
{
  char part[4096];
  if (strlen(path) >= sizeof part) return err_set(err, LOOM_E_IO, "%s: name too long", path);
  strcpy(part, path);
  for (char *s = part + 1;; ++s) {
    if (*s != '/' && *s != '\0') continue;
    const char here = *s;
    *s = '\0';
    if (mkdir(part, 0777) != 0 && errno != EEXIST)
      return err_set(err, LOOM_E_IO, "%s: cannot be created: %s", part, strerror(errno));
    *s = here;
    if (here == '\0') return LOOM_OK;
  }
}
