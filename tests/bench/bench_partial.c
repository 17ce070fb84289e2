/* bench_partial.c - share of full detection that partial detection finds, and its cost: CSV.
 *
 *   bench_partial [COUNT]     queries of each kind and family, 20000
 *
 * Families: cloth-like queries (tests/support/ccd_cases.h), and random ones taken half and all of
 * their way.  Recall: share of the impacts (full detection, cubic) that are called active; alarms:
 * share of the others that are.  Costs are CPU time of one thread per query, best of five
 * repetitions, against the additive method on the same queries.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "geom/ccd.kern.h"
#include "geom/ccd_partial.kern.h"
#include "support/ccd_cases.h"

enum { REPEAT = 5 };

typedef struct family {
  const char *name;
  int of;
  double motion;
} family;

static const family families[] = {
    {"cloth", CASE_CLOTH, 1.0}, {"half", CASE_RANDOM, 0.5}, {"full", CASE_RANDOM, 1.0}};

static const struct {
  const char *name;
  ccd_partial_settings s;
} sets[] = {{"1", {1, 0, LK_R(0.9)}},   {"3", {3, 0, LK_R(0.9)}},
            {"6", {6, 0, LK_R(0.9)}},   {"P", {0, 1, LK_R(0.9)}},
            {"P+1", {1, 1, LK_R(0.9)}}, {"P+3", {3, 1, LK_R(0.9)}},
            {"P+6", {6, 1, LK_R(0.9)}}, {"adaptive", {CCD_SAMPLES_ADAPTIVE, 0, LK_R(0.9)}}};

static volatile lk_real sink; /* of results that are computed for their time alone */

static double read_partial_clock(void)
{
  struct timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Queries q [m][24], x0 and x1 of each. */
static void create_partial_queries(int kind, const family *f, int64_t m, lk_real *q)
{
  for (int64_t k = 0; k < m; ++k) {
    double x0[12], x1[12];
    ccd_case(kind, f->of, (uint64_t)k, x0, x1);
    for (int i = 0; i < 12; ++i) {
      q[24 * k + i] = (lk_real)x0[i];
      q[24 * k + 12 + i] = (lk_real)(x0[i] + f->motion * (x1[i] - x0[i]));
    }
  }
}

static double full_s(int kind, int64_t m, const lk_real *q)
{
  const ccd_settings s = ccd_defaults();
  double best = INFINITY;
  for (int r = 0; r < REPEAT; ++r) {
    lk_real sum = 0;
    const double start = read_partial_clock();
    for (int64_t k = 0; k < m; ++k)
      sum += ccd_toi(CCD_ADDITIVE, kind, q + 24 * k, q + 24 * k + 12, &s);
    sink = sum;
    best = fmin(best, (read_partial_clock() - start) / (double)m);
  }
  return best;
}

static void print_partial_line(int kind, const family *f, size_t set, int64_t m, const lk_real *q,
                               double full)
{
  const ccd_settings s = ccd_defaults();
  const ccd_partial_settings *const p = &sets[set].s;
  int64_t hits = 0, seen = 0, alarms = 0;
  double best = INFINITY;
  for (int64_t k = 0; k < m; ++k) {
    const lk_real *const x = q + 24 * k;
    const int hit = ccd_toi(CCD_CUBIC, kind, x, x + 12, &s) <= LK_R(1.0);
    const int active = ccd_partial(kind, x, x + 12, NULL, p) & CCD_PARTIAL_ACTIVE;
    hits += hit;
    seen += hit && active;
    alarms += !hit && active;
  }
  for (int r = 0; r < REPEAT; ++r) {
    int sum = 0;
    const double start = read_partial_clock();
    for (int64_t k = 0; k < m; ++k) sum += ccd_partial(kind, q + 24 * k, q + 24 * k + 12, NULL, p);
    sink = (lk_real)sum;
    best = fmin(best, (read_partial_clock() - start) / (double)m);
  }
  printf("%s,%s,%s,%.4f,%.4f,%.2f,%.2f\n", kind == CCD_VT ? "vt" : "ee", f->name, sets[set].name,
         (double)seen / (double)hits, (double)alarms / (double)(m - hits), 1e9 * best, full / best);
}

int main(int argc, char **argv)
{
  const int64_t m = argc > 1 ? strtoll(argv[1], NULL, 10) : 20000;
  lk_real *const q = m > 0 ? malloc((size_t)m * 24 * sizeof *q) : NULL;
  if (q == NULL) {
    fprintf(stderr, "usage: bench_partial [COUNT]\n");
    return 2;
  }
  printf("kind,family,samples,recall,alarms,ns,cheaper\n");
  for (int kind = 0; kind < 2; ++kind)
    for (size_t f = 0; f < sizeof families / sizeof *families; ++f) {
      create_partial_queries(kind, &families[f], m, q);
      const double full = full_s(kind, m, q);
      for (size_t i = 0; i < sizeof sets / sizeof *sets; ++i)
        print_partial_line(kind, &families[f], i, m, q, full);
    }
  free(q);
  return 0;
}
