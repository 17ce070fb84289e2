/* cmd_ccd.c - `loom ccd FILE`: continuous collision detection on queries with known answers. */
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "app/log_tools.h"
#include "audit/ccd_queries.h"
#include "core/seconds.h"
#include "geom/ccd_list.kern.h"

static const char usage[] =
    "usage: loom ccd FILE.csv --kind ee|vf [--method additive|cubic|newton|partial] [--list]\n"
    "Runs collision queries of a file with known answers: 8 rows per query, the four vertices\n"
    "at the start and at the end of the step; a row is x, y and z as numerator,denominator and\n"
    "the answer 0 or 1.  Exit code 1 if an impact was missed.\n"
    "  --kind ee|vf    two edges, or a vertex and a triangle (face)\n"
    "  --method NAME   additive (default), cubic, newton: the time of impact;\n"
    "                  partial: the projection and 3 samples, which may miss impacts\n"
    "  --list          one line per query: index, impact 0 or 1, time of impact (nan without)\n"
    "Coordinates that are no floating-point numbers are rounded; the query is then run with\n"
    "a minimum separation as large as the change, so that an impact of the exact one counts.\n";

enum { OPT_KIND = 256, OPT_METHOD, OPT_LIST, PARTIAL = 3 };

typedef struct ccd_options {
  const char *path;
  int kind, method, list;
} ccd_options;

static const char *const methods[] = {"additive", "cubic", "newton", "partial"};

/* Time of impact, CCD_NONE without one; 0 if partial detection calls the pair active. */
static double run_query(const ccd_options *o, const ccd_queries *q, int64_t k)
{
  const loom_real *const x0 = q->x0 + 12 * k, *const x1 = q->x1 + 12 * k;
  if (o->method == PARTIAL) {
    const ccd_partial_settings p = {CCD_SAMPLES_3, 1, LK_R(0.9)};
    const int active = ccd_partial(o->kind, x0, x1, NULL, &p) & CCD_PARTIAL_ACTIVE;
    return active ? 0.0 : (double)CCD_NONE;
  }
  ccd_settings s = ccd_defaults();
  s.xi = q->shift[k];
  s.hold = LK_R(0.0); /* closer than the rounding at the start counts as an impact */
  return (double)ccd_toi(o->method, o->kind, x0, x1, &s);
}

static int run_ccd_queries(const ccd_options *o, const ccd_queries *q, double *toi)
{
  int64_t hits = 0, missed = 0, extra = 0, first = -1;
  const double start = seconds_now();
  for (int64_t k = 0; k < q->num; ++k) toi[k] = run_query(o, q, k);
  const double spent = seconds_now() - start;
  for (int64_t k = 0; k < q->num; ++k) {
    const int hit = toi[k] <= 1.0;
    hits += hit;
    extra += hit && !q->impacts[k];
    missed += !hit && q->impacts[k];
    if (first < 0 && !hit && q->impacts[k]) first = k;
    if (!o->list) continue;
    if (hit && o->method != PARTIAL)
      printf("%" PRId64 " 1 %.17g\n", k, toi[k]);
    else
      printf("%" PRId64 " %d nan\n", k, hit);
  }
  printf("queries %" PRId64 "\nhits %" PRId64 "\nfalse negatives %" PRId64
         "\nfalse positives %" PRId64 "\nns per query %.1f\nrounded queries %" PRId64 "\n",
         q->num, hits, missed, extra, 1e9 * spent / (double)q->num, q->rounded);
  if (missed > 0)
    fprintf(stderr,
            "loom: %s: %s missed %" PRId64 " impacts, the first in query %" PRId64 ", line %" PRId64
            "\n",
            o->path, methods[o->method], missed, first, 8 * first + 1);
  return missed > 0 ? EXIT_RUNTIME : EXIT_FINE;
}

static int read_and_run(const ccd_options *o)
{
  loom_err err = {0};
  ccd_queries q;
  if (ccd_queries_read(&err, o->path, &q) != LOOM_OK) return cmd_fail(&err);
  double *const toi = malloc((size_t)q.num * sizeof *toi);
  int code = EXIT_RUNTIME;
  if (toi == NULL)
    fprintf(stderr, "loom: %s: no memory for %" PRId64 " results\n", o->path, q.num);
  else
    code = run_ccd_queries(o, &q, toi);
  free(toi);
  ccd_queries_free(&q);
  return code;
}

int cmd_ccd(int argc, char **argv)
{
  static const struct option options[] = {{"kind", required_argument, NULL, OPT_KIND},
                                          {"method", required_argument, NULL, OPT_METHOD},
                                          {"list", no_argument, NULL, OPT_LIST},
                                          {"help", no_argument, NULL, 'h'},
                                          {NULL, 0, NULL, 0}};
  ccd_options o = {.kind = -1, .method = CCD_ADDITIVE};
  optind = 0;
  opterr = 0;
  for (int k; (k = getopt_long(argc, argv, ":h", options, NULL)) != -1;) {
    switch (k) {
    case OPT_KIND:
      o.kind = strcmp(optarg, "vf") == 0 ? CCD_VT : strcmp(optarg, "ee") == 0 ? CCD_EE : -1;
      if (o.kind < 0) return tool_usage("ccd", "--kind %s is neither ee nor vf", optarg);
      break;
    case OPT_METHOD:
      o.method = -1;
      for (int m = 0; m <= PARTIAL; ++m)
        if (strcmp(optarg, methods[m]) == 0) o.method = m;
      if (o.method < 0)
        return tool_usage("ccd", "--method %s is none of additive, cubic, newton, partial", optarg);
      break;
    case OPT_LIST:
      o.list = 1;
      break;
    default:
      return tool_help_or_fault(argv, k, usage);
    }
  }
  if (argc - optind != 1) return tool_usage("ccd", "give one file of queries");
  if (o.kind < 0) return tool_usage("ccd", "say --kind ee or --kind vf");
  o.path = argv[optind];
  return read_and_run(&o);
}
