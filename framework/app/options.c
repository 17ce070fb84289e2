/* options.c - options of `run`, `check` and `measure`, stored as --set overrides or in run_options.
 */
#include "app/options.h"

#include <errno.h>
#include <getopt.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "app/commands.h"
#include "app/listing.h"
#include "config/config.h"
#include "run/run.h"

enum {
  OPT_SET = 256,
  OPT_DEVICE,
  OPT_THREADS,
  OPT_RESUME,
  OPT_QUIET,
  OPT_PATH,
  OPT_FIX,
  OPT_TIME,
  OPT_OVERWRITE,
  OPT_TRUST,
  OPT_MAX_TIME,
  OPT_PEER,
  OPT_REFERENCE
};

static const struct option long_options[] = {
    {"set", required_argument, NULL, OPT_SET},
    {"device", required_argument, NULL, OPT_DEVICE},
    {"threads", required_argument, NULL, OPT_THREADS},
    {"resume", optional_argument, NULL, OPT_RESUME},
    {"overwrite", no_argument, NULL, OPT_OVERWRITE},
    {"trust-config", no_argument, NULL, OPT_TRUST},
    {"quiet", no_argument, NULL, OPT_QUIET},
    {"plugin-path", required_argument, NULL, OPT_PATH},
    {"fix-report", no_argument, NULL, OPT_FIX},
    {"time", no_argument, NULL, OPT_TIME},
    {"output", required_argument, NULL, 'o'},
    {"steps", required_argument, NULL, 'n'},
    {"max-time", required_argument, NULL, OPT_MAX_TIME},
    {"peer", required_argument, NULL, OPT_PEER},
    {"reference", required_argument, NULL, OPT_REFERENCE},
    {"help", no_argument, NULL, 'h'},
    {NULL, 0, NULL, 0},
};

static int finish_options(common_options *o, const char *usage, int code)
{
  fputs(usage, code == EXIT_FINE ? stdout : stderr);
  o->exit_code = code;
  options_free(o);
  return 1;
}

static int parse_option_count(const char *text, int64_t *out)
{
  char *end = NULL;
  if (text == NULL) return 0;
  errno = 0;
  const long long v = strtoll(text, &end, 10);
  if (errno != 0 || end == text || *end != '\0' || v < 0) return 0;
  *out = v;
  return 1;
}

/* --device cuda is --set exec.backend=cuda, and so on */
static int as_set(common_options *o, const char *key, const char *value)
{
  if (value == NULL) return 0;
  const size_t len = strlen(key) + strlen(value) + 2;
  char *const text = malloc(len);
  if (text == NULL) return 0;
  snprintf(text, len, "%s=%s", key, value);
  o->owned[o->num_owned++] = text;
  o->sets[o->num_sets++] = text;
  return 1;
}

/* Appends one word in a form that a POSIX shell reads back: plain, or in single quotes, which keep
 * all characters but the single quote.  Returns the end of the text. */
static char *add_word(char *to, const char *word)
{
  static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                              "_@%+=:,./-";
  const size_t n = strlen(word);
  if (n > 0 && strspn(word, plain) == n) return memcpy(to, word, n + 1), to + n;
  *to++ = '\'';
  for (; *word != '\0'; ++word) {
    if (*word == '\'') {
      memcpy(to, "'\\''", 4);
      to += 4;
    } else {
      *to++ = *word;
    }
  }
  *to++ = '\'';
  *to = '\0';
  return to;
}

/* The command line in a form that can be pasted into a shell. */
static char *join_command(int argc, char **argv)
{
  size_t len = sizeof "loom";
  for (int i = 0; i < argc; ++i) len += 4 * strlen(argv[i]) + 3; /* all quotes, at worst */
  char *const text = malloc(len);
  if (text == NULL) return NULL;
  strcpy(text, "loom");
  char *at = text + strlen(text);
  for (int i = 0; i < argc; ++i) {
    *at++ = ' ';
    at = add_word(at, argv[i]);
  }
  return text;
}

/* Reports the option that getopt refused; k = ':' for a missing value. */
static void bad_option(char **argv, int k)
{
  const char letter[] = {'-', (char)optopt, '\0'};
  const int is_letter = optopt > 0 && optopt < OPT_SET;
  const char *const name = is_letter ? letter : argv[optind - 1];
  const char *names[sizeof long_options / sizeof *long_options] = {0};
  int n = 0;
  for (; long_options[n].name != NULL; ++n) names[n] = long_options[n].name;
  const char *const near = k == ':' || name[1] != '-' ? NULL : err_nearest(name + 2, names, n);
  if (k == ':')
    fprintf(stderr, "loom: option %s needs a value\n", name);
  else
    fprintf(stderr, "loom: there is no option %s%s%s\n", name, near ? "; nearest is --" : "",
            near ? near : "");
}

/* "--resume 40" as well as "--resume=40": takes the next argument if it is a step or "auto". */
static int resume_option(int argc, char **argv, common_options *o)
{
  const char *const next = optarg != NULL ? optarg : optind < argc ? argv[optind] : "";
  const int automatic = strcmp(next, "auto") == 0;
  const int taken = automatic || parse_option_count(next, &o->resume_step);
  o->resume = automatic ? RUN_RESUME_AUTO : RUN_RESUME;
  if (optarg == NULL) optind += taken;
  return taken || optarg == NULL;
}

/* "1800", "30 min": seconds after which the run stops itself. */
static int time_option(common_options *o)
{
  loom_err err = {0};
  if (cfg_parse_real(&err, optarg, "s", &o->max_time) == LOOM_OK && o->max_time > 0) return 1;
  fprintf(stderr, "loom: --max-time '%s': a time above 0 is expected, like 1800 or '30 min'\n",
          optarg);
  return 0;
}

/* One option that getopt found.  FINE, or the fault of its value; REFUSED: already reported. */
enum { FINE, NO_NUMBER, REFUSED };

static int apply_option(int argc, char **argv, int k, common_options *o)
{
  char dirs[8192];
  int fine = 1;
  switch (k) {
  case 'o':
    o->out = optarg;
    break;
  case 'n':
    fine = parse_option_count(optarg, &o->steps);
    break;
  case OPT_SET:
    o->sets[o->num_sets++] = optarg;
    break;
  case OPT_DEVICE:
    fine = as_set(o, "exec.backend", optarg);
    break;
  case OPT_THREADS:
    fine = as_set(o, "exec.threads", optarg);
    break;
  case OPT_PATH:
    if (!listing_absolute_dirs(optarg, dirs, sizeof dirs)) return REFUSED;
    fine = as_set(o, "exec.plugin_path", dirs);
    break;
  case OPT_QUIET:
    o->quiet = 1;
    break;
  case OPT_TRUST:
    o->trust_config = 1;
    break;
  case OPT_OVERWRITE:
    o->overwrite = 1;
    break;
  case OPT_FIX:
    o->fix_report = 1;
    break;
  case OPT_TIME:
    o->time = 1;
    break;
  case OPT_PEER:
    o->peer = optarg;
    break;
  case OPT_REFERENCE:
    o->reference = optarg;
    break;
  case OPT_MAX_TIME:
    return time_option(o) ? FINE : REFUSED;
  case OPT_RESUME:
    fine = resume_option(argc, argv, o);
    break;
  default:
    bad_option(argv, k);
    return REFUSED;
  }
  return fine ? FINE : NO_NUMBER;
}

/* Reason why the options do not go together, or NULL. */
static const char *check_together(int command, const common_options *o)
{
  const int of_run = o->resume || o->out != NULL || o->overwrite || isfinite(o->max_time);
  if (command != OPTIONS_MEASURE && (o->peer != NULL || o->reference != NULL))
    return "--peer and --reference belong to measure";
  if (command == OPTIONS_MEASURE && (o->resume || isfinite(o->max_time)))
    return "--resume and --max-time belong to run";
  if (command == OPTIONS_MEASURE && (o->fix_report || o->time))
    return "--fix-report and --time belong to check";
  if (command == OPTIONS_CHECK && of_run)
    return "check runs no simulation: -o, --overwrite, --resume and --max-time belong to run";
  if (o->resume == RUN_RESUME && o->overwrite)
    return "--resume continues a log and --overwrite replaces it: give one of them";
  if (command == OPTIONS_RUN && o->fix_report) return "--fix-report belongs to check";
  if (command == OPTIONS_RUN && o->time) return "--time belongs to check";
  if (o->time && o->fix_report) return "--time and --fix-report: give one of them";
  return NULL;
}

int options_parse(int argc, char **argv, int command, const char *usage, common_options *o)
{
  memset(o, 0, sizeof *o);
  o->steps = o->resume_step = -1;
  o->max_time = INFINITY;
  o->sets = calloc((size_t)argc + 1, sizeof *o->sets);
  o->owned = calloc((size_t)argc + 1, sizeof *o->owned);
  o->command = join_command(argc, argv);
  if (o->sets == NULL || o->owned == NULL || o->command == NULL)
    return finish_options(o, "loom: out of memory\n", EXIT_RUNTIME);
  optind = 0; /* parse from the start: another command may have parsed before */
  opterr = 0; /* this file prints the message, as for every error */
  for (int k; (k = getopt_long(argc, argv, ":o:n:h", long_options, NULL)) != -1;) {
    if (k == 'h') return finish_options(o, usage, EXIT_FINE);
    const int said = apply_option(argc, argv, k, o);
    if (said == NO_NUMBER)
      fprintf(stderr, "loom: '%s' is not a number >= 0%s\n", optarg,
              k == OPT_RESUME ? " and not auto" : "");
    if (said != FINE) return finish_options(o, usage, EXIT_USAGE);
  }
  const int wanted = command == OPTIONS_MEASURE ? 2 : 1;
  if (wanted == 2 && optind != argc - 2) {
    fprintf(stderr, "loom: DATA and a CONFIG file expected, found %d names\n", argc - optind);
    return finish_options(o, usage, EXIT_USAGE);
  }
  if (wanted == 2) o->data = argv[optind++];
  if (optind != argc - 1) {
    fprintf(stderr, "loom: %s CONFIG file expected%s%s\n", argc > optind ? "exactly one" : "a",
            argc > optind + 1 ? ", found also " : "", argc > optind + 1 ? argv[optind + 1] : "");
    return finish_options(o, usage, EXIT_USAGE);
  }
  o->config = argv[optind];
  const char *const why = check_together(command, o);
  if (why == NULL) return 0;
  fprintf(stderr, "loom: %s\n", why);
  return finish_options(o, usage, EXIT_USAGE);
}

void options_free(common_options *o)
{
  for (int i = 0; o->owned != NULL && i < o->num_owned; ++i) free(o->owned[i]);
  free(o->owned);
  free(o->sets);
  free(o->command);
  o->owned = NULL;
  o->sets = NULL;
  o->command = NULL;
}
