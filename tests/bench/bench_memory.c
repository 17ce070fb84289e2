/* bench_memory.c - memory of a drape beside the factor of its matrix, in bytes per vertex.
 *
 *   bench_memory [--buffers] [--steps K] CONFIG SIDE...    (vertices along a side of the sheet)
 *
 * runs the first K steps (default 40) of CONFIG, which has the solver cholmod_pd and the cloth
 * [cloth.sheet], with one thread and a log, and prints one CSV row per sheet:
 *   vertices   SIDE^2
 *   contacts   most contact pairs, share of the vertices
 *   factor     bytes of the factor / n, as the solver logs it (column factor_bytes)
 *   peak       (peak resident memory - that of a sheet of 9 x 9 vertices - factor) / n
 *   buffers    most bytes in the core's buffers after a step / n, a part of `peak`
 *   opening    most bytes in them until the first step, when there is no factor yet / n
 * The audit, checkpoints and the log are in it as configured.  Each run is a process of its
 * own, so that none counts for another.  --buffers lists the buffers alive at the end.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "run/run_state.h"

typedef struct options {
  const char *config;
  int64_t steps;
  int list;
} options;

typedef struct result { /* bytes */
  double peak, factor, buffers, opening;
  double contacts; /* most pairs at the end of a step */
} result;

/* VmHWM of this process, bytes */
static double peak_memory(void)
{
  char line[256];
  double kib = 0.0;
  FILE *const f = fopen("/proc/self/status", "r");
  while (f != NULL && fgets(line, sizeof line, f) != NULL)
    if (sscanf(line, "VmHWM: %lf", &kib) == 1) break;
  if (f != NULL) fclose(f);
  return 1024.0 * kib;
}

static int find_solver_column(const run *r, const char *name)
{
  for (uint32_t k = 0; k < r->solver.plugin->num_columns; ++k)
    if (strcmp(r->solver.plugin->columns[k].name, name) == 0) return (int)k;
  return -1;
}

static int after_step(void *user, const run *r, const run_summary *s)
{
  result *const out = user;
  const double pairs = (double)detect_num_pairs(r);
  out->contacts = pairs > out->contacts ? pairs : out->contacts;
  out->buffers = (double)s->host_bytes;
  const int k = find_solver_column(r, "factor_bytes");
  if (k >= 0 && r->solver.extra[k] > out->factor)
    out->factor = r->solver.extra[k]; /* NaN: no iteration */
  return 0;
}

static void print_buffer_size(void *user, const char *owner, const char *name, int64_t bytes)
{
  const double n = *(const double *)user;
  printf("# %-20s %-24s %12lld B %8.1f B/vertex\n", owner, name, (long long)bytes,
         (double)bytes / n);
}

static loom_status simulate_drape(loom_err *err, const options *o, int side, result *out)
{
  char resolution[64], log[64];
  const char *const sets[] = {resolution, "exec.threads=1"};
  cfg *c = NULL;
  run *r = NULL;
  snprintf(resolution, sizeof resolution, "cloth.sheet.resolution=%d %d", side, side);
  snprintf(log, sizeof log, "/tmp/bench_memory.%ld.h5", (long)getpid());
  const run_options ro = {
      .steps = o->steps, .out = log, .overwrite = 1, .progress = after_step, .user = out};
  loom_status s = cfg_load(err, o->config, sets, LOOM_COUNT(sets), &c);
  if (s == LOOM_OK) s = run_open(err, c, &ro, &r);
  if (s == LOOM_OK) out->opening = (double)mem_peak_bytes(r->m, LOOM_AT_HOST);
  if (s == LOOM_OK) s = run_execute(r, &ro);
  double n = s == LOOM_OK ? r->scene->pub.num_verts : 0.0;
  if (s == LOOM_OK && o->list) mem_visit(r->m, LOOM_AT_HOST, print_buffer_size, &n);
  run_close(r, NULL);
  cfg_free(c);
  unlink(log);
  out->peak = peak_memory();
  return s;
}

/* simulate_drape() in a process of its own; 0 after a failure, which has told itself */
static int measure_drape_in_child(const options *o, int side, result *out)
{
  int fd[2], status = -1;
  fflush(stdout);
  if (pipe(fd) != 0) return 0;
  const pid_t child = fork();
  if (child == 0) {
    loom_err err = {0};
    result m = {0};
    const int bad = simulate_drape(&err, o, side, &m) != LOOM_OK;
    if (bad) fprintf(stderr, "bench_memory: %d x %d: %s\n", side, side, err.text);
    fflush(stdout);
    _exit(bad || write(fd[1], &m, sizeof m) != (ssize_t)sizeof m);
  }
  close(fd[1]);
  const int got = child > 0 && read(fd[0], out, sizeof *out) == (ssize_t)sizeof *out;
  close(fd[0]);
  return child > 0 && waitpid(child, &status, 0) == child && status == 0 && got;
}

int main(int argc, char **argv)
{
  enum { TINY = 9 };
  options o = {.steps = 40};
  result base, m;
  int k = 1;
  setenv("OPENBLAS_NUM_THREADS", "1", 0);
  mem_return_freed(); /* as the program does */
  for (; k < argc && argv[k][0] == '-'; ++k) {
    if (strcmp(argv[k], "--buffers") == 0)
      o.list = 1;
    else if (strcmp(argv[k], "--steps") == 0 && k + 1 < argc)
      o.steps = atoll(argv[++k]);
    else
      k = argc;
  }
  if (k + 1 >= argc || o.steps < 1) {
    fprintf(stderr, "usage: bench_memory [--buffers] [--steps K] CONFIG SIDE...\n");
    return 2;
  }
  o.config = argv[k++];
  const int list = o.list;
  o.list = 0;
  if (!measure_drape_in_child(&o, TINY, &base)) return 1;
  o.list = list;
  printf("vertices,contacts,factor,peak,buffers,opening\n");
  for (; k < argc; ++k) {
    const int side = atoi(argv[k]);
    const double n = (double)side * side;
    if (side < TINY || !measure_drape_in_child(&o, side, &m)) return 1;
    printf("%.0f,%.3f,%.1f,%.1f,%.1f,%.1f\n", n, m.contacts / n, m.factor / n,
           (m.peak - base.peak - m.factor) / n, m.buffers / n, m.opening / n);
  }
  return 0;
}
