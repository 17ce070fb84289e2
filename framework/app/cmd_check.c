/* cmd_check.c - `loom check CONFIG`: parse, load, test the fit, print; run nothing. */
#include <stdio.h>

#include "app/commands.h"
#include "app/options.h"
#include "run/run.h"

static const char usage[] =
    "usage: loom check CONFIG [--set section.key=value]... [-n STEPS]\n"
    "                  [--device auto|cpu|cuda] [--plugin-path DIRS] [--trust-config] "
    "[--fix-report]\n"
    "--fix-report lists where objects intersect at the start (each other, themselves, mesh\n"
    "bodies) and nothing else; exit code 3 if there are such places.\n";

static void show_message(void *user, int level, const char *text)
{
  static const char *const names[] = {"error", "warning", "note"};
  (void)user;
  if (level >= 0 && level <= LOOM_LOG_INFO) fprintf(stderr, "loom: %s: %s\n", names[level], text);
}

/* The scene is built without plugins: it can be put right before they fit. */
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
                         .message = show_message};
  loom_status s = cfg_load(&err, c.config, c.sets, c.num_sets, &conf);
  if (s == LOOM_OK) s = run_open(&err, conf, &o, &r);
  if (s == LOOM_OK) {
    run_describe(r, stdout);
    char hash[17];
    cfg_hash(conf, hash);
    printf("\n; resolved configuration, hash %s\n%s", hash, cfg_resolved(conf));
  }
  int complaints = 0;
  run_close(r, &complaints);
  const int code = s != LOOM_OK ? cmd_fail(&err) : complaints > 0 ? EXIT_RUNTIME : EXIT_FINE;
  cfg_free(conf);
  options_free(&c);
  return code;
}
