/* bench_broad.c - cost of detection with plugins/collision/patch_bvh against the number of
 * triangles.
 *
 *   bench_broad [--threads N] [--repeat R] [--plugin NAME] N...    (vertices along a side)
 *
 * A square sheet is folded into 10 layers half an edge length apart, wrinkled, and moved by
 * about 0.3 edge lengths; the margin is half of one.  So pairs per triangle do not depend on
 * the size.  One CSV row per sheet:
 *   triangles     nt = 2 (N - 1)^2
 *   broad_ms      proximity query: refit, traversal, candidates of patches
 *   narrow_ms     the same query: quick and exact tests, filling the list
 *   query_ms      the whole query
 *   cpu_ms        the same in processor time of all threads: other processes of the machine
 *                 disturb it less
 *   bound_ms      step bound on the way
 *   begin_ms      begin_step: is the tree still good?
 *   build_ms      ... when it is built anew
 *   pairs         reported by the query
 *   bytes         of the plugin per triangle, without the pairs
 * Times are the smallest of the repetitions: the machine is shared, noise only adds.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core/seconds.h"
#include "folded_sheet.h"

typedef struct options {
  int threads, repeat;
  const char *plugin;
} options;

typedef struct row {
  double triangles, broad, narrow, query, cpu, bound, begin, build, pairs, bytes;
} row;

static double sum_section_wall(const run *r, const char *name)
{
  double sum = 0.0;
  for (int i = 0; i < r->sections.num; ++i) {
    const char *const slash = strrchr(r->sections.all[i].name, '/');
    if (slash != NULL && strcmp(slash + 1, name) == 0) sum += r->sections.all[i].run.wall;
  }
  return sum;
}

/* Processor time of all threads, s. */
static double read_detection_clock(void)
{
  struct timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void keep_least_time(double *best, double t) { *best = fmin(*best, t); }

/* Buffers of the plugin but for the lists that hold the pairs themselves. */
static double count_bvh_bytes(const run *r)
{
  static char text[65536];
  double sum = 0.0;
  mem_leaks(r->m, NULL, text, sizeof text);
  for (const char *line = text; (line = strstr(line, "collision.self/")) != NULL; ++line) {
    const char *const comma = strchr(line, ',');
    if (strncmp(line + 15, "kept:", 5) == 0 || strncmp(line + 15, "impacts:", 8) == 0) continue;
    if (comma != NULL) sum += strtod(comma + 1, NULL);
  }
  return sum;
}

static loom_status measure_detection_time(run *r, int n, const options *o, row *out)
{
  const loom_collision_ops *const ops = r->collision[0].plugin->ops.collision;
  void *const self = r->collision[0].self;
  loom_pairs *const pairs = &r->contact[0].pairs;
  const double edge = 1.0 / (n - 1);
  const loom_query q = {.struct_size = sizeof q,
                        .what = LOOM_DETECT_PROXIMITY,
                        .kinds = LOOM_PAIR_MASK_ALL,
                        .margin = (loom_real)(0.5 * edge),
                        .x0 = r->st.x_start,
                        .x1 = r->st.x_start};
  out->broad = out->narrow = out->query = out->cpu = out->bound = out->begin = out->build =
      INFINITY;
  LOOM_TRY(folded_pose(r, r->st.x_start, n, 0));
  LOOM_TRY(folded_pose(r, r->st.x, n, 1));
  if (ops->begin_step != NULL) LOOM_TRY(ops->begin_step(self, &r->st));
  LOOM_TRY(detect_query(r, &r->contact[0], &q, pairs));
  out->pairs = (double)pairs->count;
  out->triangles = r->scene->pub.num_tris;
  for (int k = 0; k < o->repeat; ++k) {
    const double broad =
        sum_section_wall(r, "refit") + sum_section_wall(r, "leaves") + sum_section_wall(r, "list");
    const double narrow = sum_section_wall(r, "quick") + sum_section_wall(r, "exact");
    const double cpu = read_detection_clock();
    double t = seconds_now();
    pairs->count = 0;
    LOOM_TRY(ops->detect(self, &r->st, &q, pairs));
    keep_least_time(&out->query, seconds_now() - t);
    keep_least_time(&out->cpu, read_detection_clock() - cpu);
    keep_least_time(&out->broad, sum_section_wall(r, "refit") + sum_section_wall(r, "leaves") +
                                     sum_section_wall(r, "list") - broad);
    keep_least_time(&out->narrow,
                    sum_section_wall(r, "quick") + sum_section_wall(r, "exact") - narrow);
    t = seconds_now();
    if (ops->begin_step != NULL) LOOM_TRY(ops->begin_step(self, &r->st));
    keep_least_time(&out->begin, seconds_now() - t);
    if (ops->max_step != NULL) {
      loom_bound b = {.struct_size = sizeof b, .blocker = -1};
      t = seconds_now();
      LOOM_TRY(ops->max_step(self, &r->st, r->st.x_start, r->st.x, &b));
      keep_least_time(&out->bound, seconds_now() - t);
    }
  }
  if (ops->reset != NULL) {
    LOOM_TRY(ops->reset(self));
    const double t = seconds_now();
    if (ops->begin_step != NULL) LOOM_TRY(ops->begin_step(self, &r->st));
    keep_least_time(&out->build, seconds_now() - t);
  }
  out->bytes = count_bvh_bytes(r) / out->triangles;
  return LOOM_OK;
}

static loom_status measure_detection_sheet(loom_err *err, int n, const options *o, row *out)
{
  char ini[1024];
  cfg *c = NULL;
  run *r = NULL;
  const run_options ro = {.steps = -1, .no_log = 1};
  snprintf(ini, sizeof ini,
           "[run]\ndt = 0.01\nsteps = 1\n[exec]\nbackend = cpu\nthreads = %d\n"
           "[log]\naudit = off\n[solver]\nplugin = gd\n"
           "[cloth.sheet]\nmodel = arap+isometric\npattern = regular\nshape = grid\nsize = 1 "
           "1\nresolution = %d %d\nthickness = %.17g\n"
           "[collision.self]\nplugin = %s\n[contact.self]\nplugin = none\n",
           o->threads, n, n, 1e-3 / n, o->plugin);
  LOOM_TRY(cfg_parse(err, ini, "bench.ini", ".", NULL, 0, &c));
  loom_status s = run_open(err, c, &ro, &r);
  if (s == LOOM_OK) s = measure_detection_time(r, n, o, out);
  run_close(r, NULL);
  cfg_free(c);
  return s;
}

int main(int argc, char **argv)
{
  options o = {.threads = 2, .repeat = 7, .plugin = "patch_bvh"};
  int first = 1;
  for (; first + 1 < argc && argv[first][0] == '-'; first += 2) {
    if (strcmp(argv[first], "--threads") == 0) o.threads = atoi(argv[first + 1]);
    if (strcmp(argv[first], "--repeat") == 0) o.repeat = atoi(argv[first + 1]);
    if (strcmp(argv[first], "--plugin") == 0) o.plugin = argv[first + 1];
  }
  if (first >= argc || o.threads < 1 || o.repeat < 1) {
    fprintf(stderr, "usage: bench_broad [--threads N] [--repeat R] [--plugin NAME] SIDE...\n");
    return 2;
  }
  printf("triangles,broad_ms,narrow_ms,query_ms,cpu_ms,bound_ms,begin_ms,build_ms,pairs,bytes\n");
  for (int i = first; i < argc; ++i) {
    loom_err err = {0};
    row m = {0};
    const int n = atoi(argv[i]);
    if (n <= FOLDED_LAYERS || measure_detection_sheet(&err, n, &o, &m) != LOOM_OK) {
      fprintf(stderr, "bench_broad: sheet %s: %s\n", argv[i], err.text);
      return 1;
    }
    printf("%.0f,%.4g,%.4g,%.4g,%.4g,%.4g,%.4g,%.4g,%.0f,%.0f\n", m.triangles, 1e3 * m.broad,
           1e3 * m.narrow, 1e3 * m.query, 1e3 * m.cpu, 1e3 * m.bound, 1e3 * m.begin, 1e3 * m.build,
           m.pairs, m.bytes);
    fflush(stdout);
  }
  return 0;
}
