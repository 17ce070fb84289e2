/* bench_front.c - time that plugins/collision/bvtt_front saves by testing only boxes that have
 * moved.
 *
 *   bench_front [--threads N] [--repeat R] SIDE...    (vertices along a side)
 *
 * The folded sheet of bench_broad.  Each repetition is one step: a query for impacts on the way
 * from x_start to x, then more of them, before each of which the ends of the ways of a few vertices
 * beside each other have moved by a tenth of an edge length, as impact zones move them.  The plugin
 * answers with update = localized and with update = full, and patch_bvh does.  One CSV row per
 * sheet, plugin and number of moved vertices:
 *   first_ms    processor time of the first query of a step
 *   broad_ms    of a later one: refit, front or traversal, lists of candidates
 *   narrow_ms   the same query: quick and exact tests, filling the list
 *   query_ms    the whole of it
 *   front       pairs of boxes in the front, per triangle
 *   share       of the front that a later query tests
 *   tested      pairs of boxes that it tests, also pairs that descend
 *   pairs       that it reports
 *   bytes       of the plugin per triangle, without the pairs
 * Times are the smallest of the repetitions: the machine is shared, noise only adds.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "folded_sheet.h"

enum { LATER = 5 }; /* queries of a step after the first */
typedef struct options {
  int threads, repeat;
} options;

typedef struct row {
  double first, broad, narrow, query, front, share, tested, pairs, bytes;
} row;

typedef struct spent { /* s, of all threads */
  double broad, narrow;
} spent;

static const char *const methods[] = {"plugin = bvtt_front\nupdate = localized",
                                      "plugin = bvtt_front\nupdate = full", "plugin = patch_bvh"};
static const char *const names[] = {"localized", "full", "patch_bvh"};
static const int moved[] = {1, 20, 400, 8000};

static double read_front_clock(void)
{
  struct timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static spent sum_phase_times(const run *r)
{
  spent out = {0.0, 0.0};
  for (int i = 0; i < r->sections.num; ++i) {
    const char *const slash = strrchr(r->sections.all[i].name, '/');
    const char *const name = slash != NULL ? slash + 1 : "";
    const int broad =
        strcmp(name, "refit") == 0 || strcmp(name, "leaves") == 0 || strcmp(name, "list") == 0;
    const int narrow = strcmp(name, "quick") == 0 || strcmp(name, "exact") == 0;
    if (broad) out.broad += r->sections.all[i].run.cpu;
    if (narrow) out.narrow += r->sections.all[i].run.cpu;
  }
  return out;
}

static void update_least_time(double *best, double t) { *best = fmin(*best, t); }

static double count_front_bytes(const run *r)
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

/* The k-th displacement of `num` vertices of the sheet of side n beside each other. */
static loom_status displace_sheet_patch(run *r, int n, int num, int k)
{
  void *p;
  const int width = (int)ceil(sqrt((double)num));
  const int corner = (n - width) / 2 + (k % 3 - 1) * (n - width) / 4;
  LOOM_TRY(buf_map(r->m, NULL, r->st.x, LOOM_RDWR, LOOM_AT_HOST, &p));
  for (int i = 0; i < num; ++i) {
    const int64_t v = (int64_t)(corner + i / width) * n + corner + i % width;
    for (int c = 0; c < 3; ++c)
      ((loom_real *)p)[3 * v + c] += (loom_real)(0.1 / n * sin(12.9898 * i + 78.233 * c + k));
  }
  return buf_unmap(r->m, r->st.x);
}

static loom_status time_front_query(run *r, double *cpu, spent *s)
{
  const loom_query q = {.struct_size = sizeof q,
                        .what = LOOM_DETECT_CCD,
                        .kinds = LOOM_PAIR_MASK_ALL,
                        .x0 = r->st.x_start,
                        .x1 = r->st.x,
                        .progress1 = 1.0};
  loom_pairs *const pairs = &r->contact[0].pairs;
  const spent before = sum_phase_times(r);
  const double t = read_front_clock();
  LOOM_TRY(detect_query(r, &r->contact[0], &q, pairs));
  *cpu = read_front_clock() - t;
  const spent after = sum_phase_times(r);
  *s = (spent){after.broad - before.broad, after.narrow - before.narrow};
  return LOOM_OK;
}

static loom_status measure_front_times(run *r, int n, int num, const options *o, row *out)
{
  const loom_collision_ops *const ops = r->collision[0].plugin->ops.collision;
  void *const self = r->collision[0].self;
  double cpu, column[8] = {NAN};
  spent s;
  out->first = out->broad = out->narrow = out->query = INFINITY;
  LOOM_TRY(folded_pose(r, r->st.x_start, n, 0));
  for (int k = 0; k <= o->repeat; ++k) {
    LOOM_TRY(folded_pose(r, r->st.x, n, 1));
    if (ops->begin_step != NULL) LOOM_TRY(ops->begin_step(self, &r->st));
    LOOM_TRY(time_front_query(r, &cpu, &s));
    if (k > 0) update_least_time(&out->first, cpu); /* the lists have their size */
    if (ops->log_iter != NULL) LOOM_TRY(ops->log_iter(self, &r->st, column));
    for (int j = 0; j < LATER; ++j) {
      LOOM_TRY(displace_sheet_patch(r, n, num, j));
      LOOM_TRY(time_front_query(r, &cpu, &s));
      update_least_time(&out->query, cpu);
      update_least_time(&out->broad, s.broad);
      update_least_time(&out->narrow, s.narrow);
    }
    if (ops->log_iter != NULL) LOOM_TRY(ops->log_iter(self, &r->st, column));
  }
  const double triangles = r->scene->pub.num_tris;
  out->pairs = (double)r->contact[0].pairs.count;
  out->front = column[0] / triangles;
  out->share = column[2];
  out->tested = column[3] / LATER;
  out->bytes = count_front_bytes(r) / triangles;
  return LOOM_OK;
}

static loom_status measure_front_sheet(loom_err *err, int n, int num, const char *method,
                                       const options *o, row *out)
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
           "[collision.self]\n%s\n[contact.self]\nplugin = none\n",
           o->threads, n, n, 1e-3 / n, method);
  LOOM_TRY(cfg_parse(err, ini, "bench.ini", ".", NULL, 0, &c));
  loom_status s = run_open(err, c, &ro, &r);
  if (s == LOOM_OK) s = measure_front_times(r, n, num, o, out);
  run_close(r, NULL);
  cfg_free(c);
  return s;
}

static int print_front_rows(int n, const options *o)
{
  for (size_t k = 0; k < sizeof moved / sizeof *moved; ++k)
    for (int j = 0; j < 3; ++j) {
      loom_err err = {0};
      row m = {0};
      if (4 * moved[k] > n * n) continue;
      if (n <= FOLDED_LAYERS ||
          measure_front_sheet(&err, n, moved[k], methods[j], o, &m) != LOOM_OK) {
        fprintf(stderr, "bench_front: sheet %d: %s\n", n, err.text);
        return 1;
      }
      printf("%d,%d,%s,%.4g,%.4g,%.4g,%.4g,%.3g,%.3g,%.0f,%.0f,%.0f\n", 2 * (n - 1) * (n - 1),
             moved[k], names[j], 1e3 * m.first, 1e3 * m.broad, 1e3 * m.narrow, 1e3 * m.query,
             m.front, m.share, m.tested, m.pairs, m.bytes);
      fflush(stdout);
    }
  return 0;
}

int main(int argc, char **argv)
{
  options o = {.threads = 1, .repeat = 3};
  int first = 1, bad = 0;
  for (; first + 1 < argc && argv[first][0] == '-'; first += 2) {
    if (strcmp(argv[first], "--threads") == 0) o.threads = atoi(argv[first + 1]);
    if (strcmp(argv[first], "--repeat") == 0) o.repeat = atoi(argv[first + 1]);
  }
  if (first >= argc || o.threads < 1 || o.repeat < 1) {
    fprintf(stderr, "usage: bench_front [--threads N] [--repeat R] SIDE...\n");
    return 2;
  }
  printf("triangles,moved,plugin,first_ms,broad_ms,narrow_ms,query_ms,front,share,tested,pairs,"
         "bytes\n");
  for (int i = first; i < argc && !bad; ++i) bad = print_front_rows(atoi(argv[i]), &o);
  return bad;
}
