/* cmd_info.c - `loom info FILE`: summary of a log. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "app/ends_text.h"
#include "app/info_sections.h"
#include "app/log_tools.h"
#include "config/config.h"
#include "scene/base/scene_data.h"

static const char usage[] = "usage: loom info FILE.h5 [--json | --config]\n"
                            "  --json    the same as one JSON object\n"
                            "  --config  print the resolved configuration the run used\n";

enum { OPT_JSON = 256, OPT_CONFIG, BLOCK = 1024, MESSAGES = 10 };

#define PHASE_CONSTANT_(with, NAME, name, wall_doc, cpu_doc) PHASE_##NAME,
#define PHASE_NAME_(with, NAME, name, wall_doc, cpu_doc)     #name,
#define PHASE_TIME_(row, NAME, name, wall_doc, cpu_doc)      (row)->t_##name,
enum { H5LOG_PHASES(PHASE_CONSTANT_, ) NUM_CLOCKS };
static const char *const clock_names[NUM_CLOCKS] = {H5LOG_PHASES(PHASE_NAME_, )};

typedef struct totals {
  int64_t steps, iters, most_iters, most_step, first_step, last_step;
  int64_t reasons[H5LOG_NUM_REASONS], other_reasons;
  double clocks[NUM_CLOCKS], total; /* s */
  double time, h, r_final, worst_r, min_gap;
  int64_t worst_step, min_gap_step, audited, intersections, hit_step;
  int64_t shape_entries;       /* of the intersections, in bodies of closed form */
  int64_t start_intersections; /* in the last step */
  double stitch_gap;           /* m, in the last step; NaN: none */
  int64_t counters[LOOM_NUM_COUNTERS];
  log_ends ends;
} totals;

#define COUNTER_NAME_(with, NAME, column, unit, doc) #column,
#define COUNTER_VALUE_(row, NAME, column, unit, doc) (row)->column,
static const char *const counter_names[LOOM_NUM_COUNTERS] = {LOOM_COUNTERS(COUNTER_NAME_, )};

static void add_step(totals *t, const h5log_step_row *s)
{
  const double clocks[NUM_CLOCKS] = {H5LOG_PHASES(PHASE_TIME_, s)};
  const int64_t counters[LOOM_NUM_COUNTERS] = {LOOM_COUNTERS(COUNTER_VALUE_, s)};
  if (t->steps++ == 0) t->first_step = s->step;
  t->last_step = s->step;
  log_ends_add(&t->ends, s);
  t->iters = count_add(t->iters, s->iters);
  if (s->iters > t->most_iters) t->most_iters = s->iters, t->most_step = s->step;
  if (s->reason >= 0 && s->reason < H5LOG_NUM_REASONS)
    ++t->reasons[s->reason];
  else
    ++t->other_reasons;
  for (int i = 0; i < NUM_CLOCKS; ++i) t->clocks[i] += clocks[i];
  for (int i = 0; i < LOOM_NUM_COUNTERS; ++i)
    t->counters[i] = count_add(t->counters[i], counters[i]);
  t->total += s->t_total;
  t->time = s->time;
  t->h = s->h;
  t->r_final = s->r_final;
  if (s->r_final > t->worst_r) t->worst_r = s->r_final, t->worst_step = s->step;
  if (!isnan(s->min_gap) && !(s->min_gap >= t->min_gap))
    t->min_gap = s->min_gap, t->min_gap_step = s->step;
  t->start_intersections = s->start_intersections;
  t->stitch_gap = s->stitch_gap;
  if (s->intersections < 0) return;
  ++t->audited;
  if (s->intersections > 0 && t->intersections == 0) t->hit_step = s->step;
  t->intersections = count_add(t->intersections, s->intersections);
  if (s->shape_entries > 0) t->shape_entries = count_add(t->shape_entries, s->shape_entries);
}

static loom_status sum_up(h5read *r, loom_err *err, totals *t)
{
  const int64_t count = h5read_num_steps(r);
  memset(t, 0, sizeof *t);
  t->min_gap = NAN;
  t->stitch_gap = NAN;
  if (count < 0) return err_set(err, LOOM_E_IO, "cannot read /steps: the file is damaged");
  h5log_step_row *const rows = malloc(BLOCK * sizeof *rows);
  if (rows == NULL) return err_set(err, LOOM_E_NOMEM, "out of memory");
  loom_status s = LOOM_OK;
  for (int64_t at = 0; at < count && s == LOOM_OK; at += BLOCK) {
    const int64_t n = count - at < BLOCK ? count - at : BLOCK;
    s = h5read_steps(r, err, at, n, rows);
    for (int64_t i = 0; i < n && s == LOOM_OK; ++i) add_step(t, &rows[i]);
  }
  free(rows);
  return s;
}

/* ---- for people ---- */
static void print_plugins(const char *lines)
{
  while (*lines != '\0') {
    const int len = (int)strcspn(lines, "\n");
    printf("  plugin      ");
    for (int i = 0; i < len; ++i) putchar(lines[i] == '\t' ? ' ' : lines[i]);
    putchar('\n');
    lines += len + (lines[len] == '\n');
  }
}

static void print_contact_totals(const totals *t)
{
  if (!isnan(t->min_gap))
    printf("  contact     smallest gap %.4g m in step %" PRId64 "\n", t->min_gap, t->min_gap_step);
  if (t->audited == 0)
    printf("  audit       was off\n");
  else if (t->intersections == 0)
    printf("  audit       no intersections in %" PRId64 " steps\n", t->audited);
  else
    printf("  audit       %" PRId64 " intersections, first in step %" PRId64 "\n", t->intersections,
           t->hit_step);
  if (t->shape_entries > 0)
    printf("  shapes      %" PRId64
           " of these are edges and triangles inside bodies of closed form\n",
           t->shape_entries);
  if (t->start_intersections > 0)
    printf("  start       %" PRId64 " intersections of the start are still there\n",
           t->start_intersections);
  if (!isnan(t->stitch_gap)) printf("  stitches    widest gap %.4g m at the end\n", t->stitch_gap);
}

static void print_times(const totals *t)
{
  printf("  time        %.3f s, %.3f ms per step:", t->total, 1e3 * t->total / (double)t->steps);
  double known = 0;
  for (int i = 0; i < NUM_CLOCKS; ++i) {
    known += t->clocks[i];
    printf(" %s %.1f%%", clock_names[i], t->total > 0 ? 100 * t->clocks[i] / t->total : 0.0);
  }
  printf(" other %.1f%%\n", t->total > 0 ? 100 * (t->total - known) / t->total : 0.0);
  const double recording = t->clocks[PHASE_MEASURE] + t->clocks[PHASE_LOG];
  printf("  recording   measuring and logging take %.2f%% of the steps' time\n",
         t->total > 0 ? 100 * (recording) / t->total : 0.0);
  printf("  work       ");
  for (int i = 0; i < LOOM_NUM_COUNTERS; ++i)
    if (t->counters[i] > 0) printf(" %s %" PRId64, counter_names[i] + 2, t->counters[i]);
  printf("\n");
}

static void print_steps(const totals *t)
{
  printf("  simulated   steps %" PRId64 " to %" PRId64 ", up to %g s, h = %g s\n", t->first_step,
         t->last_step, t->time, t->h);
  printf("  ended      ");
  for (int i = 0; i < H5LOG_NUM_REASONS; ++i)
    if (t->reasons[i] > 0) printf(" %s %" PRId64, h5log_reason_name(i), t->reasons[i]);
  if (t->other_reasons > 0) printf(" unknown %" PRId64, t->other_reasons);
  printf("\n");
  if (t->reasons[H5LOG_foreign] == 0)
    printf("  iterations  %" PRId64 ", %.1f per step, most %" PRId64 " in step %" PRId64 "\n",
           t->iters, (double)t->iters / (double)t->steps, t->most_iters, t->most_step);
  printf("  residual    %.3g m at the end, largest %.3g m in step %" PRId64 "\n", t->r_final,
         t->worst_r, t->worst_step);
  if (t->reasons[H5LOG_foreign] == 0)
    print_times(t);
  else if (isfinite(t->total))
    printf("  time        %.3f s, as the program took\n", t->total);
  print_contact_totals(t);
}

/* Rows of /messages, malloc'ed; none in a log of an older version. */
static loom_status read_messages(h5read *r, loom_err *err, h5log_message_row **rows, int64_t *n)
{
  const int64_t count = h5read_num_rows(r, "messages");
  *n = count > 0 ? count : 0;
  *rows = malloc((size_t)(*n + 1) * sizeof **rows);
  if (*rows == NULL) return err_set(err, LOOM_E_NOMEM, "out of memory");
  const loom_status s = h5read_messages(r, err, 0, *n, *rows);
  if (s != LOOM_OK) free(*rows);
  return s;
}

static const char *level_name(int64_t level)
{
  return level == LOOM_LOG_ERROR ? "error" : "warning";
}

static loom_status print_messages(h5read *r, loom_err *err)
{
  h5log_message_row *rows;
  int64_t n;
  LOOM_TRY(read_messages(r, err, &rows, &n));
  for (int64_t i = 0; i < n && i < MESSAGES; ++i)
    printf("  %-11s in step %" PRId64 ": %s\n", level_name(rows[i].level), rows[i].step,
           rows[i].text);
  if (n > MESSAGES) printf("  and %" PRId64 " more in /messages\n", n - MESSAGES);
  free(rows);
  return LOOM_OK;
}

/* Sections of plugins, as shares of the time of all steps. */
static loom_status print_sections(h5read *r, loom_err *err, double total)
{
  info_section *all;
  int64_t n;
  LOOM_TRY(info_sections(r, err, &all, &n));
  for (int64_t i = 0; i < n; ++i)
    printf("  %s%-24s %.3f s in %" PRId64 " calls, %.1f%%; %.3f s of processor time\n",
           i == 0 ? "sections    " : "            ", all[i].name, all[i].wall, all[i].calls,
           total > 0 ? 100 * all[i].wall / total : 0.0, all[i].cpu);
  free(all);
  return LOOM_OK;
}

/* The command line of the first process, and of each that continued its log. */
static void print_commands(const char *first, const char *all)
{
  printf("  command     %s\n", first);
  for (const char *line = strchr(all, '\n'); line != NULL; line = strchr(line, '\n')) {
    ++line;
    printf("  continued   %.*s\n", (int)strcspn(line, "\n"), line);
  }
}

/* First, how far to trust the rest: steps that did not converge. */
static void print_ends(const log_ends *e)
{
  char text[ENDS_TEXT_LEN];
  printf("  %-11s %s\n", e->unconverged > 0 ? "warning" : "converged", ends_converged(e, text));
  if (ends_blind(e, text)[0] != '\0') printf("  %-11s %s\n", "warning", text);
  if (ends_timed(e, text)[0] != '\0') printf("  %-11s %s\n", "note", text);
  if (ends_idle(e, text)[0] != '\0') printf("  %-11s %s\n", "idle", text);
  if (ends_defect(e, text)[0] != '\0') printf("  %-11s %s\n", "warning", text);
}

/* In place of how a method's steps ended: whose they are. */
static void print_peer(h5read *r, const char *peer, const log_ends *e)
{
  char text[ENDS_TEXT_LEN];
  const char *const licence = h5read_attr(r, "peer_licence");
  const char *const settings = h5read_attr(r, "peer_settings");
  printf("  measured    steps%s, made by no method of loom; %" PRId64 " of %" PRId64
         " above loom's tolerance",
         peer, e->unconverged, e->steps);
  if (e->worst_ratio > 0)
    printf(", at most %.3g times it in step %" PRId64, e->worst_ratio, e->worst_step);
  printf("\n");
  if (licence[0] != '\0') printf("  licence     %s\n", licence);
  if (settings[0] != '\0') printf("  settings    %s\n", settings);
  if (ends_defect(e, text)[0] != '\0') printf("  %-11s %s\n", "warning", text);
}

static void print_text(h5read *r, const char *path, const totals *t)
{
  char peer[TOOL_PEER_LEN];
  printf("%s: %s%s\n", path, h5read_attr(r, "status"),
         h5read_live(r) ? " (a process is writing it)" : "");
  if (tool_peer(r, peer)[0] != '\0')
    print_peer(r, peer, &t->ends);
  else if (t->steps > 0)
    print_ends(&t->ends);
  if (h5read_attr(r, "continued")[0] != '\0')
    printf("  begins with step %s: %s\n", h5read_attr(r, "first_step"),
           h5read_attr(r, "continued"));
  printf("  holds       %" PRId64 " steps, %" PRId64 " frames, %" PRId64 " rows of iterations, "
         "%" PRId64 " of inner iterations\n",
         t->steps, h5read_num_frames(r), h5read_num_iters(r), h5read_num_rows(r, "inner"));
  printf("  scene       %" PRId64 " vertices, %" PRId64 " triangles\n", h5read_num_verts(r),
         h5read_num_tris(r));
  printf("  written by  loom %s %s, schema %s, %s\n", h5read_attr(r, "loom_version"),
         h5read_attr(r, "git_commit"), h5read_attr(r, "schema"), h5read_attr(r, "created"));
  print_commands(h5read_attr(r, "command"), h5read_attr(r, "commands"));
  printf("  config      hash %s, seed %s; --config prints it\n", h5read_attr(r, "config_hash"),
         h5read_attr(r, "seed"));
  printf("  machine     %s, %s%s%s; backend %s, %s threads, %s-byte reals\n",
         h5read_attr(r, "host"), h5read_attr(r, "cpu"),
         h5read_attr(r, "gpu")[0] != '\0' ? ", " : "", h5read_attr(r, "gpu"),
         h5read_attr(r, "backend"), h5read_attr(r, "threads"), h5read_attr(r, "real_size"));
  if (h5read_attr(r, "blas")[0] != '\0') printf("  blas        %s\n", h5read_attr(r, "blas"));
  print_plugins(h5read_attr(r, "plugins"));
  if (t->steps > 0) print_steps(t);
}

/* ---- JSON ---- */
static void print_json_string(const char *s)
{
  putchar('"');
  for (; *s != '\0'; ++s) {
    const unsigned char c = (unsigned char)*s;
    if (c == '"' || c == '\\')
      printf("\\%c", c);
    else if (c < 0x20)
      printf("\\u%04x", c);
    else
      putchar(c);
  }
  putchar('"');
}

static void print_json_number(const char *name, double v)
{
  char buf[NUMBER_LEN];
  printf("  \"%s\": %s,\n", name, isfinite(v) ? number_text(v, buf) : "null");
}

static void json_int(const char *name, int64_t v) { printf("  \"%s\": %" PRId64 ",\n", name, v); }

static loom_status json_messages(h5read *r, loom_err *err)
{
  h5log_message_row *rows;
  int64_t n;
  LOOM_TRY(read_messages(r, err, &rows, &n));
  printf("  \"messages\": [");
  for (int64_t i = 0; i < n; ++i) {
    printf("%s\n    {\"step\": %" PRId64 ", \"level\": \"%s\", \"text\": ", i > 0 ? "," : "",
           rows[i].step, level_name(rows[i].level));
    print_json_string(rows[i].text);
    putchar('}');
  }
  printf("],\n");
  free(rows);
  return LOOM_OK;
}

static loom_status json_sections(h5read *r, loom_err *err)
{
  info_section *all;
  int64_t n;
  char wall[NUMBER_LEN], cpu[NUMBER_LEN];
  LOOM_TRY(info_sections(r, err, &all, &n));
  printf("  \"sections\": [");
  for (int64_t i = 0; i < n; ++i) {
    printf("%s\n    {\"name\": ", i > 0 ? "," : "");
    print_json_string(all[i].name);
    printf(", \"calls\": %" PRId64 ", \"t_wall\": %s, \"t_cpu\": %s}", all[i].calls,
           isfinite(all[i].wall) ? number_text(all[i].wall, wall) : "null",
           isfinite(all[i].cpu) ? number_text(all[i].cpu, cpu) : "null");
  }
  printf("],\n");
  free(all);
  return LOOM_OK;
}

static loom_status print_json(h5read *r, loom_err *err, const char *path, const totals *t)
{
  const char *const texts[] = {
      "status",  "loom_version", "git_commit",    "config",      "config_hash", "command",
      "host",    "cpu",          "gpu",           "blas",        "backend",     "created",
      "plugins", "commands",     "jobs",          "end_time",    "exit_reason", "continued",
      "peer",    "peer_version", "peer_settings", "peer_licence"};
  const char *const ints[] = {"schema", "threads", "real_size", "seed", "num_dof", "rss_peak"};
  printf("{\n  \"file\": ");
  print_json_string(path);
  printf(",\n");
  for (size_t i = 0; i < sizeof texts / sizeof texts[0]; ++i) {
    printf("  \"%s\": ", texts[i]);
    print_json_string(h5read_attr(r, texts[i]));
    printf(",\n");
  }
  for (size_t i = 0; i < sizeof ints / sizeof ints[0]; ++i)
    json_int(ints[i], strtoll(h5read_attr(r, ints[i]), NULL, 10));
  printf("  \"live\": %s,\n", h5read_live(r) ? "true" : "false");
  json_int("steps", t->steps);
  json_int("frames", h5read_num_frames(r));
  json_int("iter_rows", h5read_num_iters(r));
  json_int("inner_rows", h5read_num_rows(r, "inner"));
  json_int("vertices", h5read_num_verts(r));
  json_int("triangles", h5read_num_tris(r));
  json_int("iterations", t->iters);
  json_int("most_iterations", t->most_iters);
  json_int("unconverged_steps", t->ends.unconverged);
  print_json_number("worst_tol_ratio", t->ends.worst_ratio);
  json_int("unconverged_reference_steps", t->ends.blind);
  json_int("idle_steps", t->ends.idle);
  json_int("steps_ended_by_time", t->ends.timed);
  print_json_number("momentum_defect", t->ends.defect);
  print_json_number("time", t->time);
  print_json_number("r_final", t->r_final);
  print_json_number("worst_r_final", t->worst_r);
  print_json_number("min_gap", t->min_gap);
  json_int("audited_steps", t->audited);
  json_int("intersections", t->audited > 0 ? t->intersections : -1);
  json_int("shape_entries", t->audited > 0 ? t->shape_entries : -1);
  json_int("start_intersections", t->start_intersections);
  print_json_number("stitch_gap", t->stitch_gap);
  print_json_number("t_total", t->total);
  const double recording = t->clocks[PHASE_MEASURE] + t->clocks[PHASE_LOG];
  print_json_number("recording_share", t->total > 0 ? (recording) / t->total : 0.0);
  LOOM_TRY(json_messages(r, err));
  LOOM_TRY(json_sections(r, err));
  char buf[NUMBER_LEN];
  printf("  \"reasons\": {");
  for (int i = 0; i < H5LOG_NUM_REASONS; ++i)
    printf("%s\"%s\": %" PRId64, i > 0 ? ", " : "", h5log_reason_name(i), t->reasons[i]);
  printf("},\n  \"clocks\": {");
  for (int i = 0; i < NUM_CLOCKS; ++i)
    printf("%s\"%s\": %s", i > 0 ? ", " : "", clock_names[i],
           isfinite(t->clocks[i]) ? number_text(t->clocks[i], buf) : "null");
  printf("},\n  \"counters\": {");
  for (int i = 0; i < LOOM_NUM_COUNTERS; ++i)
    printf("%s\"%s\": %" PRId64, i > 0 ? ", " : "", counter_names[i], t->counters[i]);
  printf("}\n}\n");
  return LOOM_OK;
}

/* The config as it took effect, in today's keys; a text that cannot be read as it is. */
static loom_status print_config(loom_err *err, h5read *r)
{
  const char *const text = h5read_attr(r, "config");
  char note[512] = "";
  loom_err quiet = {0};
  cfg *c = NULL;
  loom_status s = cfg_parse(&quiet, text, "config", "", NULL, 0, &c);
  if (s == LOOM_OK) s = scene_translate(&quiet, c, note, sizeof note);
  const char *const today = s == LOOM_OK && note[0] != '\0' ? cfg_resolved(c) : text;
  if (today != NULL) fputs(today, stdout);
  if (note[0] != '\0') fprintf(stderr, "loom: %s\n", note);
  cfg_free(c);
  return today != NULL ? LOOM_OK : err_set(err, LOOM_E_NOMEM, "info: out of memory");
}

static int run_info(int argc, char **argv)
{
  static const struct option options[] = {{"json", no_argument, NULL, OPT_JSON},
                                          {"config", no_argument, NULL, OPT_CONFIG},
                                          {"help", no_argument, NULL, 'h'},
                                          {NULL, 0, NULL, 0}};
  int mode = 0;
  loom_err err = {0};
  h5read *r;
  totals t;
  optind = 0;
  opterr = 0;
  for (int k; (k = getopt_long(argc, argv, ":h", options, NULL)) != -1;) {
    if (k != OPT_JSON && k != OPT_CONFIG) return tool_help_or_fault(argv, k, usage);
    mode = k;
  }
  if (argc - optind != 1) return tool_usage("info", "give one log file");
  const char *const path = argv[optind];
  if (tool_open_log(&err, path, &r) != LOOM_OK) return cmd_fail(&err);
  loom_status s = LOOM_OK;
  if (mode == OPT_CONFIG) {
    s = print_config(&err, r);
  } else {
    s = sum_up(r, &err, &t);
    if (s == LOOM_OK && mode == OPT_JSON) s = print_json(r, &err, path, &t);
    if (s == LOOM_OK && mode == 0) {
      print_text(r, path, &t);
      s = print_sections(r, &err, t.total);
      if (s == LOOM_OK) s = print_messages(r, &err);
    }
  }
  h5read_close(r);
  return s == LOOM_OK ? EXIT_FINE : cmd_fail(&err);
}

int cmd_info(int argc, char **argv) { return guard_run(run_info, argc, argv); }
