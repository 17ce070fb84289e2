/* cmd_check.c - `loom check CONFIG`: parse, load, test the fit, make the first iteration, print;
 * run no step but, with --time, the first ones. */
#include <stdio.h>
#include <time.h>

#include "app/commands.h"
#include "app/options.h"
#include "run/run.h"

static const char usage[] =
    "usage: loom check CONFIG [--set section.key=value]... [-n STEPS]\n"
    "                  [--device auto|cpu|cuda] [--plugin-path DIRS] [--trust-config] "
    "[--time | --fix-report]\n"
    "-n STEPS replaces [run] steps, as for run.\n"
    "--time runs the first steps, some seconds of processor time and at least two, keeps no log, "
    "and\n"
    "says how long all would take if they were like these.\n"
    "--fix-report lists only the places where objects intersect at the start (each other,\n"
    "themselves, mesh bodies); exit code 3 if there are any.\n";

static void print_check_message(void *user, int level, const char *text)
{
  static const char *const names[] = {"error", "warning", "note"};
  (void)user;
  if (level >= 0 && level <= LOOM_LOG_INFO) fprintf(stderr, "loom: %s: %s\n", names[level], text);
}

/* The scene is built without plugins: it can be repaired before they fit. */
static int fix_report(const common_options *c)
{
  loom_err err = {0};
  cfg *conf = NULL;
  mem *m = NULL;
  scene_data *s = NULL;
  const scene_room look = {.look_only = 1};
  int code = EXIT_FINE;
  loom_status st = cfg_load(&err, c->config, c->sets, c->num_sets, &conf);
  if (st == LOOM_OK) st = mem_new(&err, 0, &m);
  if (st == LOOM_OK) st = scene_build_within(&err, m, conf, SCENE_LIST, &look, &s);
  if (st != LOOM_OK) {
    code = cmd_fail(&err);
  } else {
    fputs(s->start_lines, stdout);
    if (s->start_total > SCENE_MAX_LISTED)
      printf("... and at least %lld more\n", (long long)s->start_total - SCENE_MAX_LISTED);
    printf("%s: %s%lld intersections at the start (ids count from 0 in each object)\n", c->config,
           s->start_total >= SCENE_MAX_LISTED ? "at least " : "", (long long)s->start_total);
    if (s->start_total > 0) code = EXIT_INTERSECTIONS;
  }
  scene_free(s);
  mem_free(m);
  cfg_free(conf);
  return code;
}

/* ---- --time ---- */

static const double trial = 2.0; /* s of processor time */

typedef struct stopwatch {
  double begin, first, last; /* s of processor time: after the start, after the first step, now */
  int64_t steps, planned;
} stopwatch;

static double processor_time(void)
{
  struct timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int step_ended(void *user, const run *r, const run_summary *s)
{
  stopwatch *const w = user;
  (void)r;
  w->last = processor_time();
  w->steps = s->steps_done;
  w->planned = s->steps_planned;
  if (w->steps == 1) w->first = w->last;
  return w->steps >= 2 && w->last - w->begin > trial;
}

/* The first step is reported apart: solvers build data in it that they keep. */
static void print_time(const stopwatch *w)
{
  const double first = w->first - w->begin;
  if (w->steps < 2) {
    printf("time         %.2g s of processor time for the one step\n", first);
    return;
  }
  const double each = (w->last - w->first) / (double)(w->steps - 1);
  printf(
      "time         about %.2g s of processor time for %lld steps, if they were all like the first "
      "%lld: %.2g s, then %.2g s each\n",
      first + each * (double)(w->planned - 1), (long long)w->planned, (long long)w->steps, first,
      each);
}

static int measure_time(const common_options *c, cfg *conf)
{
  loom_err err = {0};
  run *r = NULL;
  stopwatch w = {0};
  int complaints = 0;
  const run_options o = {.command = c->command,
                         .steps = c->steps,
                         .no_log = 1,
                         .trust_config = c->trust_config,
                         .progress = step_ended,
                         .user = &w};
  loom_status s = run_open(&err, conf, &o, &r);
  w.begin = processor_time();
  if (s == LOOM_OK) s = run_execute(r, &o);
  if (s == LOOM_OK) print_time(&w);
  run_close(r, &complaints);
  return s == LOOM_OK ? EXIT_FINE : cmd_fail(&err);
}

int cmd_check(int argc, char **argv)
{
  common_options c;
  loom_err err = {0};
  cfg *conf = NULL;
  run *r = NULL;
  if (options_parse(argc, argv, OPTIONS_CHECK, usage, &c) != 0) return c.exit_code;
  if (c.fix_report) {
    const int code = fix_report(&c);
    options_free(&c);
    return code;
  }
  const run_options o = {.command = c.command,
                         .steps = c.steps,
                         .no_log = 1,
                         .look_only = 1,
                         .trust_config = c.trust_config,
                         .message = print_check_message};
  loom_status s = cfg_load(&err, c.config, c.sets, c.num_sets, &conf);
  if (s == LOOM_OK) s = run_open(&err, conf, &o, &r);
  if (s == LOOM_OK) s = run_try_start(r);
  if (s == LOOM_OK) {
    run_describe(r, stdout);
    char hash[17];
    cfg_hash(conf, hash);
    if (!c.time) printf("\n; resolved configuration, hash %s\n%s", hash, cfg_resolved(conf));
  }
  int complaints = 0;
  run_close(r, &complaints);
  int code = s != LOOM_OK ? cmd_fail(&err) : complaints > 0 ? EXIT_RUNTIME : EXIT_FINE;
  if (code == EXIT_FINE && c.time) code = measure_time(&c, conf);
  cfg_free(conf);
  options_free(&c);
  return code;
}
