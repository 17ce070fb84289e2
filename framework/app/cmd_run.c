/* cmd_run.c - `loom run CONFIG`: simulate, show progress, summarise. */
#include <getopt.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "app/commands.h"
#include "app/ends_text.h"
#include "app/options.h"
#include "app/stop_signal.h"
#include "core/seconds.h"
#include "run/base/clock.h"
#include "run/run.h"

static const char usage[] =
    "usage: loom run CONFIG [-o FILE.h5] [--set section.key=value]... [-n STEPS]\n"
    "                [--device auto|cpu|cuda] [--threads N] [--resume[=STEP|auto]]\n"
    "                [--max-time SECONDS] [--overwrite] [--plugin-path DIRS] [--trust-config]\n"
    "                [--quiet]\n"
    "The log is FILE.h5, else [log] file, else out/CONFIG.h5; missing folders are made.  A log "
    "that\n"
    "holds steps is replaced only with --overwrite, any other file never.\n"
    "-n STEPS replaces [run] steps: time steps of [run] dt, of a resumed log with those that it "
    "has.\n"
    "With [run] substeps = K each is solved and logged as K steps, which all messages and tables\n"
    "count.\n"
    "--resume continues the log from its newest checkpoint, or from that of STEP; --resume=auto\n"
    "starts anew where there is none, for jobs that a cluster starts again.\n"
    "--max-time 1800 or '30 min' stops the run, with a checkpoint, before a step that would end\n"
    "later than that after the start of the command; the last step tells how long one takes.\n"
    "--trust-config honours [exec] plugin_path in the file, and so runs code that it chooses.\n"
    "SIGINT, SIGTERM and SIGHUP stop the run after the present step, with a checkpoint; a second\n"
    "one ends it at once.\n"
    "exit codes:\n"
    "  0  every step ended converged, at max_iters or at the time budget; no intersections\n"
    "  1  run-time failure, or a step stalled or diverged\n"
    "  2  wrong usage or configuration; no step was run\n"
    "  3  the audit found intersections, or pairs that passed through each other within a step;\n"
    "     the log is finished\n"
    "  4  (loom compare) a difference above the tolerance\n"
    "  5  stopped by a signal before the end; --resume continues\n"
    "  6  stopped by --max-time before the end; --resume continues\n";

typedef struct progress {
  int quiet, tty;
  double last;            /* s, clock when a line was last shown */
  double begun, max_time; /* s, clock at the start of the command; its time limit */
  double before;          /* s, clock after the step before */
  int out_of_time;
} progress;

/* Whether the next step would end too late, if it takes as long as the last one. */
static int time_is_up(progress *p, double now)
{
  const double step = now - p->before;
  p->before = now;
  return p->out_of_time = now + step - p->begun > p->max_time;
}

static int show_progress(void *user, const run *r, const run_summary *s)
{
  progress *const p = user;
  const double now = seconds_now();
  (void)r;
  const double every = p->tty ? 0.2 : 10.0;
  if (!p->quiet && (now - p->last > every || s->steps_done == s->steps_planned)) {
    const double eta = s->wall / (double)(s->steps_done - s->steps_before) *
                       (double)(s->steps_planned - s->steps_done);
    fprintf(stderr,
            "%sstep %lld/%lld  t %.3f s  iters %lld  residual %.2e m  contacts %lld  ETA %.0f s%s",
            p->tty ? "\r" : "loom: ", (long long)s->steps_done, (long long)s->steps_planned,
            s->time, (long long)s->last_iters, s->last_residual, (long long)s->last_contacts, eta,
            p->tty ? "   " : "\n");
    p->last = now;
  }
  return time_is_up(p, now) || stop_signal_asked();
}

static void log_opened(void *user)
{
  (void)user;
  stop_signal_defer();
}

static const char *name_stop_cause(void *user)
{
  const progress *const p = user;
  return stop_signal_asked() ? stop_signal_name(stop_signal_asked())
         : p->out_of_time    ? "--max-time"
                             : "";
}

static void print_run_message(void *user, int level, const char *text)
{
  const progress *const p = user;
  static const char *const names[] = {"error", "warning", "note", "debug"};
  if (level >= LOOM_LOG_DEBUG || (p->quiet && level >= LOOM_LOG_INFO)) return;
  fprintf(stderr, "loom: %s: %s\n", names[level < 0 ? 0 : level], text);
}

/* Features that the audit tested, and its findings in bodies of closed form. */
static void print_features(const run_summary *s)
{
  if (s->intersections < 0) return;
  printf("    looked at: edges with triangles");
  if (s->num_shapes > 0)
    printf(", edges and triangles with %d exact shape%s", s->num_shapes,
           s->num_shapes > 1 ? "s" : "");
  printf("\n");
  if (s->shape_entries > 0)
    printf("    of them edges and triangles inside exact shapes: %lld, the deepest %.3g m in body "
           "%s\n",
           (long long)s->shape_entries, s->shape_depth, s->shape_body);
}

/* Each contact model has a gap of its own beyond the thickness. */
static void print_gaps(const run *r)
{
  for (int i = 0; i < run_num_contacts(r); ++i) {
    run_gap g;
    if (run_contact_gap(r, i, &g) != LOOM_OK || isnan(g.median)) continue;
    printf("  %s (%s) keeps gaps of %.3g m beyond the thickness: the median of %lld vertices that "
           "have something near in the last step\n",
           g.name, g.plugin, g.median, (long long)g.verts);
  }
}

static void print_run_summary(const run *r, const run_summary *s)
{
  double total = 0.0;
  char text[ENDS_TEXT_LEN];
  if (s->steps_done == s->steps_before) { /* there are no times and no memory to report */
    if (s->steps_before > 0 && s->steps_before >= s->steps_planned)
      printf("%s: holds %lld steps already, %lld are asked for; no step was left to do\n",
             run_out_path(r), (long long)s->steps_before, (long long)s->steps_planned);
    return;
  }
  printf("%s: %lld of %lld steps, %.4g s simulated in %.2f s (processor time of the process: "
         "%.2f s), %lld iterations\n",
         run_out_path(r), (long long)s->steps_done, (long long)s->steps_planned, s->time, s->wall,
         clock_cpu_now(), (long long)s->iters);
  if (s->substeps > 1)
    printf("  each of [run] steps, or of -n, is %lld of these steps: its substeps\n",
           (long long)s->substeps);
  printf("  %s\n", ends_converged(&s->ends, text));
  if (ends_idle(&s->ends, text)[0] != '\0') printf("  %s\n", text);
  run_print_limits(r, stdout);
  printf("  ended  ");
  for (int i = 0; i < H5LOG_NUM_REASONS; ++i)
    if (s->reasons[i] > 0) printf(" %s %lld", h5log_reason_name(i), (long long)s->reasons[i]);
  printf("\n  time   ");
  for (int i = 0; i < CLOCK_NUM; ++i) total += s->seconds[i];
  for (int i = 0; i < CLOCK_NUM; ++i)
    printf(" %s %.1f%%", clock_section_name(i), total > 0 ? 100.0 * s->seconds[i] / total : 0.0);
  printf("\n");
  for (int i = 0; i < run_num_sections(r); ++i) {
    const char *name;
    double seconds;
    int64_t calls;
    run_section(r, i, &name, &seconds, &calls);
    printf("    %-24s %.3f s in %lld calls\n", name, seconds, (long long)calls);
  }
  struct rusage use;
  printf("  memory  core's buffers %.1f MB, %.0f bytes per vertex", 1e-6 * (double)s->host_bytes,
         (double)s->host_bytes / (double)s->num_verts);
  if (s->device_bytes > 0) printf("; on the device %.1f MB", 1e-6 * (double)s->device_bytes);
  if (getrusage(RUSAGE_SELF, &use) == 0) /* ru_maxrss is in KiB, see getrusage(2) */
    printf("; the whole process %.1f MB at most", 1e-6 * 1024.0 * (double)use.ru_maxrss);
  printf("\n");
  if (!isnan(s->min_gap)) printf("  smallest gap %.4g m\n", s->min_gap);
  print_gaps(r);
  if (s->intersections >= 0)
    printf("  intersections found by the audit: %lld, after %lld of %lld steps\n",
           (long long)s->intersections, (long long)s->audited,
           (long long)(s->steps_done - s->steps_before));
  else
    printf("  audit off\n");
  print_features(s);
  if (s->passes >= 0)
    printf("  pairs that pass through each other within a step: %lld, on the ways of %lld of %lld "
           "steps\n",
           (long long)s->passes, (long long)s->ways, (long long)(s->steps_done - s->steps_before));
  else
    printf("  passes within a step were not looked for ([log] audit = trajectory)\n");
  if (s->start_intersections > 0)
    printf("  intersections of the start that have not parted: %lld\n",
           (long long)s->start_intersections);
}

/* On stderr, also with --quiet: warnings about steps of a finished run. */
static void warn_of_ends(const log_ends *e)
{
  char text[ENDS_TEXT_LEN];
  if (e->unconverged > 0) fprintf(stderr, "loom: warning: %s\n", ends_converged(e, text));
  if (ends_blind(e, text)[0] != '\0') fprintf(stderr, "loom: warning: %s\n", text);
  if (ends_timed(e, text)[0] != '\0') fprintf(stderr, "loom: note: %s\n", text);
  if (ends_defect(e, text)[0] != '\0') fprintf(stderr, "loom: warning: %s\n", text);
}

static void stopped_line(progress *p, const run_summary *s)
{
  fprintf(stderr, "loom: stopped by %s after %lld of %lld steps; %s\n", name_stop_cause(p),
          (long long)s->steps_done, (long long)s->steps_planned,
          s->checkpoint_step == s->last_step
              ? "--resume continues"
              : "a replay has no checkpoints: run it again from its start");
}

static int exit_code(progress *p, const run_summary *s)
{
  if (s->stopped) {
    stopped_line(p, s);
    return stop_signal_asked() ? EXIT_STOPPED : EXIT_TIME;
  }
  if (s->intersections > 0 || s->passes > 0) return EXIT_INTERSECTIONS;
  const int64_t bad =
      s->reasons[H5LOG_stalled] + s->reasons[H5LOG_diverged] + s->reasons[H5LOG_error];
  if (bad == 0) return EXIT_FINE;
  fprintf(
      stderr,
      "loom: %lld steps stalled, %lld diverged; see reason in /steps, or relax [stop] tol_acc\n",
      (long long)s->reasons[H5LOG_stalled], (long long)s->reasons[H5LOG_diverged]);
  return EXIT_RUNTIME;
}

int cmd_run(int argc, char **argv)
{
  common_options c;
  loom_err err = {0};
  cfg *conf = NULL;
  run *r = NULL;
  progress p = {.tty = isatty(STDERR_FILENO), .begun = seconds_now()};
  if (options_parse(argc, argv, OPTIONS_RUN, usage, &c) != 0) return c.exit_code;
  p.quiet = c.quiet;
  p.max_time = c.max_time;
  mem_return_freed();
  const run_options o = {.out = c.out,
                         .command = c.command,
                         .steps = c.steps,
                         .resume = c.resume,
                         .resume_step = c.resume_step,
                         .overwrite = c.overwrite,
                         .trust_config = c.trust_config,
                         .opened = log_opened,
                         .progress = show_progress,
                         .stopper = name_stop_cause,
                         .user = &p,
                         .message = print_run_message};
  stop_signal_catch();

  int code = EXIT_RUNTIME;
  loom_status s = cfg_load(&err, c.config, c.sets, c.num_sets, &conf);
  if (s == LOOM_OK) s = run_open(&err, conf, &o, &r);
  p.before = seconds_now();
  if (s == LOOM_OK) {
    s = run_execute(r, &o);
    if (p.tty && !p.quiet) fprintf(stderr, "\n");
    if (!p.quiet) print_run_summary(r, run_get_summary(r));
    warn_of_ends(&run_get_summary(r)->ends);
    if (s == LOOM_OK) code = exit_code(&p, run_get_summary(r));
  }
  if (s != LOOM_OK) code = cmd_fail(&err);
  int complaints = 0;
  run_close(r, &complaints);
  if (complaints > 0 && code == EXIT_FINE) code = EXIT_RUNTIME;
  cfg_free(conf);
  options_free(&c);
  return code;
}
