/* cmd_measure.c - `loom measure DATA CONFIG`: steps of another program as rows of a log. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "app/commands.h"
#include "app/options.h"
#include "app/peer_facts.h"
#include "app/stop_signal.h"
#include "core/seconds.h"
#include "log/h5read.h"
#include "run/replay/frame_source.h"
#include "run/run.h"

static const char usage[] =
    "usage: loom measure DATA CONFIG [-o OUT.h5] [--peer FILE.json] [--reference LOG.h5] [-n "
    "STEPS]\n"
    "                    [--set section.key=value]... [--threads N] [--plugin-path DIRS]\n"
    "                    [--trust-config] [--overwrite] [--quiet]\n"
    "Measures frames that another program made as if each were the end of a step from the frame\n"
    "before it: residual, energies, momentum defect, intersections of frames and of the straight\n"
    "ways between them.  CONFIG poses the scene: meshes, masses, pins, energies, contact, dt.\n"
    "DATA is one of\n"
    "  FILE.h5       positions /x [frames][n][3] (m) and, where they are known, velocities /v\n"
    "                (m/s), /triangles, /time (s) or the attribute dt, /t_cpu (s, of each step);\n"
    "                without /v a velocity is the difference of two frames over dt\n"
    "  LOG.h5        a log of loom, or one that an adapter wrote in its form\n"
    "  FOLDER        or one file of OBJ or PLY files with numbers before their endings\n"
    "  FILE.npz      with ./loom: arrays x, v, ... as in FILE.h5\n"
    "The first frame is the start, the others are the ends of the steps; vertices have the order\n"
    "of the scene.\n"
    "  -o OUT.h5       default: out/NAME_measured.h5, NAME of DATA\n"
    "  --peer F.json   {\"name\": ..., \"version\": ..., \"settings\": ..., \"licence\": ...} of "
    "the\n"
    "                  program; without it attributes peer, peer_version, peer_settings and\n"
    "                  peer_licence of DATA\n"
    "  --reference L   log of a run with a frame of every step: e_ref is the distance to it\n"
    "  -n STEPS        only the first STEPS steps of [run] dt, each of [run] substeps frames\n"
    "  --set           as for run; log.error=newton adds r_energy, log.audit=off leaves out the\n"
    "                  search for intersections\n"
    "Keys of the config that are of a solver, of FILTER and of checkpoints have no effect.\n"
    "exit codes: 0 measured, whatever the numbers are; 1 failure; 2 wrong usage, config or data;\n"
    "  5 stopped by SIGINT, SIGTERM or SIGHUP\n";

/* Before the settings of the command line, which may replace the audit: the frames are taken as
 * they are, on the CPU. */
static const char *const own_sets[] = {
    "solver.plugin=foreign", "filter.line_search=off", "run.forwarding=off",   "run.start_log=",
    "run.replay_first=0",    "run.replay_state=fresh", "log.audit=trajectory", "log.frames=f64",
    "log.frames_every=1",    "log.residual_every=1",   "exec.backend=cpu"};
enum { NUM_OWN_SETS = sizeof own_sets / sizeof own_sets[0] };

typedef struct measure_job {
  common_options c;
  frame_source *source; /* NULL: DATA is a log */
  run_foreign foreign;
  peer_facts facts;
  const char **sets;
  int num_sets;
  char *replay, *out;
  double last; /* s, clock when a line was last shown */
} measure_job;

/* ---- DATA ---- */

static loom_status open_measured_log(loom_err *err, measure_job *j)
{
  h5read *r;
  LOOM_TRY(h5read_open(err, j->c.data, &r));
  j->foreign.num_frames = h5read_num_frames(r);
  for (int i = 0; i < PEER_NUM_FACTS; ++i)
    peer_facts_set(&j->facts, i, h5read_attr(r, peer_attributes[i]));
  h5read_close(r);
  if (j->foreign.num_frames >= 2) return LOOM_OK;
  return err_set(err, LOOM_E_CONFIG, "%s: /frames/x holds %lld frames; a step needs two", j->c.data,
                 (long long)j->foreign.num_frames);
}

static loom_status open_measured_data(loom_err *err, measure_job *j)
{
  if (j->c.peer != NULL) LOOM_TRY(peer_facts_read(err, j->c.peer, &j->facts));
  if (h5motion_is_hdf5(j->c.data) && h5motion_is_log(j->c.data)) {
    LOOM_TRY(open_measured_log(err, j));
  } else {
    LOOM_TRY(frame_source_open(err, j->c.data, &j->source));
    j->foreign.num_frames = frame_source_facts(j->source)->num_frames;
    for (int i = 0; i < PEER_NUM_FACTS; ++i)
      peer_facts_set(&j->facts, i, frame_source_text(j->source, peer_attributes[i]));
  }
  peer_facts_finish(&j->facts, j->c.data);
  j->foreign.source = j->source;
  j->foreign.reference = j->c.reference;
  j->foreign.peer = &j->facts.peer;
  return LOOM_OK;
}

/* ---- settings ---- */

static char *join_texts(const char *a, const char *b, size_t b_len, const char *c)
{
  const size_t len = strlen(a) + b_len + strlen(c) + 1;
  char *const text = malloc(len);
  if (text != NULL) snprintf(text, len, "%s%.*s%s", a, (int)b_len, b, c);
  return text;
}

/* out/NAME_measured.h5 */
static char *name_output(const char *data)
{
  size_t len = strlen(data);
  while (len > 1 && data[len - 1] == '/') --len;
  size_t first = len;
  while (first > 0 && data[first - 1] != '/') --first;
  const char *const base = data + first;
  size_t stem = len - first;
  for (size_t i = stem; i > 1; --i)
    if (base[i - 1] == '.') {
      stem = i - 1;
      break;
    }
  return join_texts("out/", base, stem, "_measured.h5");
}

static loom_status collect_sets(loom_err *err, measure_job *j)
{
  const common_options *const c = &j->c;
  j->sets = calloc((size_t)NUM_OWN_SETS + (size_t)c->num_sets + 1, sizeof *j->sets);
  const char *const log = j->source == NULL ? c->data : "";
  j->replay = join_texts("run.replay=", log, strlen(log), "");
  if (c->out == NULL) j->out = name_output(c->data);
  if (j->sets == NULL || j->replay == NULL || (c->out == NULL && j->out == NULL))
    return err_set(err, LOOM_E_NOMEM, "out of memory");
  for (int i = 0; i < NUM_OWN_SETS; ++i) j->sets[j->num_sets++] = own_sets[i];
  j->sets[j->num_sets++] = j->replay;
  for (int i = 0; i < c->num_sets; ++i) j->sets[j->num_sets++] = c->sets[i];
  return LOOM_OK;
}

/* ---- on the terminal ---- */

static int show_measured(void *user, const run *r, const run_summary *s)
{
  measure_job *const j = user;
  const double now = seconds_now();
  (void)r;
  if (!j->c.quiet && (now - j->last >= 10.0 || s->steps_done == s->steps_planned)) {
    fprintf(stderr, "loom: measured step %lld/%lld  t %.3f s  residual %.2e m\n",
            (long long)s->steps_done, (long long)s->steps_planned, s->time, s->last_residual);
    j->last = now;
  }
  return stop_signal_asked();
}

static void measured_log_opened(void *user)
{
  (void)user;
  stop_signal_defer();
}

static const char *name_measure_stop(void *user)
{
  (void)user;
  return stop_signal_asked() ? stop_signal_name(stop_signal_asked()) : "";
}

static void print_measure_message(void *user, int level, const char *text)
{
  const measure_job *const j = user;
  if (level > LOOM_LOG_INFO || (j->c.quiet && level == LOOM_LOG_INFO)) return;
  fprintf(stderr, "loom: %s: %s\n", level == LOOM_LOG_INFO ? "note" : "warning", text);
}

static void print_measured(const run *r, const measure_job *j)
{
  const run_summary *const s = run_get_summary(r);
  const h5log_peer *const p = &j->facts.peer;
  printf("%s: %lld steps of %s%s%s, measured\n", run_out_path(r), (long long)s->steps_done, p->name,
         p->version[0] != '\0' ? " " : "", p->version);
  printf("  residual of the last step %.3g m\n", s->last_residual);
  printf("  steps above loom's tolerance: %lld", (long long)s->ends.unconverged);
  if (s->ends.worst_ratio > 0.0)
    printf(", at most %.3g times it, in step %lld", s->ends.worst_ratio,
           (long long)s->ends.worst_step);
  printf("\n");
  if (s->intersections >= 0)
    printf("  intersections at the ends of steps: %lld\n", (long long)s->intersections);
  if (s->passes >= 0)
    printf("  pairs that pass through each other within a step: %lld\n", (long long)s->passes);
}

static int end_measured(const run *r, const measure_job *j)
{
  const run_summary *const s = run_get_summary(r);
  if (!j->c.quiet) print_measured(r, j);
  if (!s->stopped) return EXIT_FINE;
  fprintf(stderr,
          "loom: stopped by %s after %lld of %lld steps; their rows are in the log, and measure "
          "begins again with --overwrite\n",
          stop_signal_name(stop_signal_asked()), (long long)s->steps_done,
          (long long)s->steps_planned);
  return EXIT_STOPPED;
}

static int measure_data(measure_job *j)
{
  loom_err err = {0};
  cfg *conf = NULL;
  run *r = NULL;
  stop_signal_catch();
  loom_status s = open_measured_data(&err, j);
  if (s == LOOM_OK) s = collect_sets(&err, j);
  const run_options o = {.out = j->c.out != NULL ? j->c.out : j->out,
                         .command = j->c.command,
                         .steps = j->c.steps,
                         .overwrite = j->c.overwrite,
                         .trust_config = j->c.trust_config,
                         .foreign = &j->foreign,
                         .opened = measured_log_opened,
                         .progress = show_measured,
                         .stopper = name_measure_stop,
                         .user = j,
                         .message = print_measure_message};
  if (s == LOOM_OK) s = cfg_load(&err, j->c.config, j->sets, j->num_sets, &conf);
  if (s == LOOM_OK) s = run_open(&err, conf, &o, &r);
  if (s == LOOM_OK) s = run_execute(r, &o);
  const int code = s != LOOM_OK ? cmd_fail(&err) : end_measured(r, j);
  run_close(r, NULL);
  cfg_free(conf);
  return code;
}

int cmd_measure(int argc, char **argv)
{
  measure_job *const j = calloc(1, sizeof *j);
  if (j == NULL) return EXIT_RUNTIME;
  int code = EXIT_USAGE;
  if (options_parse(argc, argv, OPTIONS_MEASURE, usage, &j->c) != 0) {
    code = j->c.exit_code;
  } else {
    code = measure_data(j);
    options_free(&j->c);
  }
  frame_source_close(j->source);
  free(j->sets);
  free(j->replay);
  free(j->out);
  free(j);
  return code;
}
