/* bench_ccd.c - collision queries per second and core, and the worst single query.
 *
 *   bench_ccd [COUNT]     queries of each degenerate family for the worst single one, 20000
 *
 * Throughput on cloth-like queries (edge 1 cm, gap 1 to 2 mm, rigid motion 5 mm, relative motion
 * 1 mm), one thread, CPU time, best of several repetitions, through the list kernels.  The worst
 * single query counts with its best of three runs, so that an interrupt is not the answer.
 */
#include <math.h>
#include <stdio.h>
#include <time.h>

#include "geom/ccd_list.kern.h"
#include "support/bufs.h"
#include "support/ccd_cases.h"

enum { NUM = 16384, REPEAT = 15, METHODS = 3 };
static const char *const method_name[] = {"additive", "cubic", "newton"};

static double read_query_clock(void)
{
  struct timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

typedef struct queries {
  loom_real *x0, *x1, *toi, *weights;
  int32_t *verts, *flags;
} queries;

static void *allocate_queries(size_t count, size_t size)
{
  void *p = calloc(count, size);
  if (p == NULL) exit(1);
  return p;
}

static queries make_queries(int kind)
{
  queries q = {
      allocate_queries(12 * NUM, sizeof(loom_real)), allocate_queries(12 * NUM, sizeof(loom_real)),
      allocate_queries(NUM, sizeof(loom_real)),      allocate_queries(4 * NUM, sizeof(loom_real)),
      allocate_queries(4 * NUM, sizeof(int32_t)),    allocate_queries(NUM, sizeof(int32_t))};
  for (int k = 0; k < NUM; ++k) {
    double x0[12], x1[12];
    ccd_case(kind, CASE_CLOTH, (uint64_t)k, x0, x1);
    for (int i = 0; i < 12; ++i) {
      q.x0[12 * k + i] = (loom_real)x0[i];
      q.x1[12 * k + i] = (loom_real)x1[i];
    }
    for (int i = 0; i < 4; ++i) q.verts[4 * k + i] = 4 * k + i;
    (void)ccd_distance2(kind, q.x0 + 12 * k, q.weights + 4 * k);
  }
  return q;
}

static double time_kernel(const lk_entry *kernel, const loom_exec *e, const void *args)
{
  double best = INFINITY;
  for (int r = 0; r < REPEAT; ++r) {
    const double start = read_query_clock();
    if (lk_run(kernel, e, args, NUM, NULL) != LOOM_OK) exit(1);
    best = fmin(best, read_query_clock() - start);
  }
  return best / NUM;
}

static double time_full_detection(int kind, const loom_exec *e, const queries *q)
{
  static const lk_entry kernels[2] = {LK_ENTRY(ccd_list_vt), LK_ENTRY(ccd_list_ee)};
  double cheapest = INFINITY;
  for (int m = 0; m < METHODS; ++m) {
    const ccd_list_args a = {q->x0, q->x1, q->verts, q->toi, ccd_defaults(), m};
    const double s = time_kernel(&kernels[kind], e, &a);
    int hits = 0;
    for (int k = 0; k < NUM; ++k) hits += q->toi[k] <= LK_R(1.0);
    cheapest = fmin(cheapest, s);
    printf("%s cloth %-26s %7.1f ns  %6.2f million/s  impacts %.3f\n", kind == 0 ? "vt" : "ee",
           method_name[m], 1e9 * s, 1e-6 / s, (double)hits / NUM);
  }
  return cheapest;
}

static void time_partial_detection(int kind, const loom_exec *e, const queries *q, double cheapest)
{
  static const lk_entry kernels[2] = {LK_ENTRY(ccd_partial_vt), LK_ENTRY(ccd_partial_ee)};
  static const struct {
    const char *name;
    ccd_partial_settings s;
    int known; /* weights of the projection */
  } sets[] = {{"partial 1", {1, 0, LK_R(0.9)}, 0},
              {"partial 3", {3, 0, LK_R(0.9)}, 0},
              {"partial 6", {6, 0, LK_R(0.9)}, 0},
              {"partial 3, known projection", {3, 1, LK_R(0.9)}, 1},
              {"partial 3, projection", {3, 1, LK_R(0.9)}, 0},
              {"partial adaptive", {CCD_SAMPLES_ADAPTIVE, 0, LK_R(0.9)}, 0}};
  for (size_t i = 0; i < sizeof sets / sizeof sets[0]; ++i) {
    const ccd_partial_args a = {q->x0,    q->x1,    q->verts, sets[i].known ? q->weights : NULL,
                                q->flags, sets[i].s};
    const double s = time_kernel(&kernels[kind], e, &a);
    printf("%s cloth %-26s %7.1f ns  %6.2f million/s  %.1f times cheaper than the cheapest full\n",
           kind == 0 ? "vt" : "ee", sets[i].name, 1e9 * s, 1e-6 / s, cheapest / s);
  }
}

static double time_one(int kind, int method, const loom_real *x0, const loom_real *x1)
{
  const ccd_settings s = ccd_defaults();
  double best = INFINITY;
  for (int r = 0; r < 3; ++r) {
    const double start = read_query_clock();
    volatile loom_real t = ccd_toi(method, kind, x0, x1, &s);
    (void)t;
    best = fmin(best, read_query_clock() - start);
  }
  return best;
}

static void report_worst_query(int kind, int method, int64_t num)
{
  const long long all = (long long)num * CASE_FAMILIES;
  double longest = 0.0, sum = 0.0;
  int where = 0;
  for (int f = 0; f < CASE_FAMILIES; ++f)
    for (int64_t k = 0; k < num; ++k) {
      double x0[12], x1[12];
      loom_real r0[12], r1[12];
      ccd_case(kind, f, (uint64_t)k, x0, x1);
      for (int i = 0; i < 12; ++i) r0[i] = (loom_real)x0[i], r1[i] = (loom_real)x1[i];
      const double s = time_one(kind, method, r0, r1);
      where = s > longest ? f : where;
      longest = fmax(longest, s);
      sum += s;
    }
  printf("%s %-9s %lld queries of all families: mean %.2f us, worst single %.1f us (%s)\n",
         kind == 0 ? "vt" : "ee", method_name[method], all, 1e6 * sum / (double)all, 1e6 * longest,
         ccd_case_name[where]);
}

int main(int argc, char **argv)
{
  const int64_t num = argc > 1 ? atoll(argv[1]) : 20000;
  loom_err err = {0};
  loom_exec e;
  if (exec_open(&err, LOOM_CPU, 1, 1, 0, &e) != LOOM_OK) {
    fprintf(stderr, "loom: %s\n", err.text);
    return 1;
  }
  for (int kind = 0; kind < 2; ++kind) {
    queries q = make_queries(kind);
    time_partial_detection(kind, &e, &q, time_full_detection(kind, &e, &q));
    free(q.x0), free(q.x1), free(q.toi), free(q.weights), free(q.verts), free(q.flags);
  }
  for (int kind = 0; kind < 2; ++kind)
    for (int m = 0; m < METHODS; ++m) report_worst_query(kind, m, num);
  exec_close(&e);
  return 0;
}
