/* cmd_compare.c - `loom compare A B`: how far two runs of one mesh are apart. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "app/log_tools.h"

static const char usage[] =
    "usage: loom compare A.h5 B.h5 [--tol METRES] [--quiet]\n"
    "Distances of vertices in frames of the same time; iterations and residuals of the steps\n"
    "that end there.  Exit code 4 if the largest distance exceeds --tol.\n"
    "  --tol METRES  largest distance allowed\n"
    "  --quiet       only the summary\n";

enum { OPT_TOL = 256, OPT_QUIET };

typedef struct side { /* one of the two logs */
  const char *path;
  h5read *r;
  int64_t steps, frames;
  int64_t *step_of, *iters; /* [steps] */
  double *r_final, *t_total;
  double *times;       /* [frames], s */
  int64_t *frame_step; /* [frames] */
  double *x;           /* [n][3] */
} side;

static void side_close(side *s)
{
  h5read_close(s->r);
  free(s->step_of);
  free(s->iters);
  free(s->r_final);
  free(s->t_total);
  free(s->times);
  free(s->frame_step);
  free(s->x);
}

static loom_status side_open(side *s, loom_err *err, const char *path)
{
  s->path = path;
  LOOM_TRY(tool_open_log(err, path, &s->r));
  s->steps = h5read_num_steps(s->r);
  s->frames = h5read_num_frames(s->r);
  if (s->steps < 0 || s->frames < 0)
    return err_set(err, LOOM_E_IO, "%s: cannot read its tables: the file is damaged", path);
  LOOM_TRY(column_ints(s->r, err, "steps", "step", s->steps, &s->step_of));
  LOOM_TRY(column_ints(s->r, err, "steps", "iters", s->steps, &s->iters));
  LOOM_TRY(column_reals(s->r, err, "steps", "r_final", s->steps, &s->r_final));
  LOOM_TRY(column_reals(s->r, err, "steps", "t_total", s->steps, &s->t_total));
  s->times = malloc((size_t)(s->frames + 1) * sizeof *s->times);
  s->frame_step = malloc((size_t)(s->frames + 1) * sizeof *s->frame_step);
  s->x = malloc((size_t)h5read_num_verts(s->r) * 3 * sizeof *s->x);
  if (s->times == NULL || s->frame_step == NULL || s->x == NULL)
    return err_set(err, LOOM_E_NOMEM, "%s: out of memory", path);
  for (int64_t t = 0; t < s->frames; ++t)
    LOOM_TRY(h5read_frame(s->r, err, t, NULL, NULL, &s->times[t], &s->frame_step[t]));
  return LOOM_OK;
}

/* Row of /steps of the step that ends with a frame, -1 for the initial state. */
static int64_t find_step_row(const side *s, int64_t frame)
{
  const int64_t step = s->frame_step[frame];
  int64_t lo = 0, hi = s->steps - 1;
  while (lo <= hi) {
    const int64_t mid = lo + (hi - lo) / 2;
    if (s->step_of[mid] == step) return mid;
    if (s->step_of[mid] < step)
      lo = mid + 1;
    else
      hi = mid - 1;
  }
  return -1;
}

static loom_status same_mesh(loom_err *err, side *a, side *b)
{
  const int64_t na = h5read_num_verts(a->r), nb = h5read_num_verts(b->r);
  const int64_t ta = h5read_num_tris(a->r), tb = h5read_num_tris(b->r);
  if (na != nb || ta != tb)
    return err_set(err, LOOM_E_CONFIG,
                   "%s has %" PRId64 " vertices and %" PRId64 " triangles, %s has %" PRId64
                   " and %" PRId64 ": compare runs of the same mesh",
                   a->path, na, ta, b->path, nb, tb);
  const size_t size = (size_t)ta * 3 * sizeof(int32_t);
  int32_t *const ia = malloc(size + 1), *const ib = malloc(size + 1);
  loom_status s = LOOM_E_NOMEM;
  if (ia == NULL || ib == NULL)
    err_set(err, s, "out of memory");
  else
    s = h5read_tris(a->r, err, ia);
  if (s == LOOM_OK) s = h5read_tris(b->r, err, ib);
  if (s == LOOM_OK && memcmp(ia, ib, size) != 0)
    s = err_set(err, LOOM_E_CONFIG,
                "%s and %s have different triangles: compare runs of the same mesh", a->path,
                b->path);
  free(ia);
  free(ib);
  return s;
}

typedef struct distance {
  double rms, max;
  int64_t vertex; /* of the maximum */
} distance;

/* A NaN anywhere makes both members NaN. */
static distance measure_frame_distance(const double *a, const double *b, int64_t n)
{
  distance d = {0, 0, 0};
  double sum = 0;
  for (int64_t i = 0; i < n; ++i) {
    double q = 0;
    for (int c = 0; c < 3; ++c) q += (a[3 * i + c] - b[3 * i + c]) * (a[3 * i + c] - b[3 * i + c]);
    sum += q;
    if (!(q <= d.max) && !isnan(d.max)) d.max = q, d.vertex = i;
  }
  d.rms = sqrt(sum / (double)n);
  d.max = sqrt(d.max);
  return d;
}

static void print_frame_row(const side *a, const side *b, int64_t i, int64_t j, const distance *d)
{
  const int64_t ra = find_step_row(a, i), rb = find_step_row(b, j);
  printf("%12.6g %7" PRId64 " %7" PRId64 " %12.4e %12.4e %8" PRId64, a->times[i], a->frame_step[i],
         b->frame_step[j], d->rms, d->max, d->vertex);
  if (ra >= 0 && rb >= 0)
    printf(" %7" PRId64 " %7" PRId64 " %11.3e %11.3e", a->iters[ra], b->iters[rb], a->r_final[ra],
           b->r_final[rb]);
  printf("\n");
}

typedef struct worst {
  distance d; /* largest over frames */
  double time, rms;
  int64_t frames;
} worst;

/* Walks through both series of frames, which are in order of time, and compares frames of equal
 * time. */
static loom_status compare_frame_series(loom_err *err, side *a, side *b, int quiet, worst *w)
{
  const int64_t n = h5read_num_verts(a->r);
  if (!quiet)
    printf("%12s %7s %7s %12s %12s %8s %7s %7s %11s %11s\n", "time [s]", "step A", "step B",
           "rms [m]", "max [m]", "vertex", "iters A", "iters B", "r_final A", "r_final B");
  for (int64_t i = 0, j = 0; i < a->frames && j < b->frames;) {
    const double slack = 1e-9 * fmax(1.0, fabs(a->times[i]));
    if (a->times[i] < b->times[j] - slack) {
      ++i;
    } else if (b->times[j] < a->times[i] - slack) {
      ++j;
    } else {
      LOOM_TRY(h5read_frame(a->r, err, i, a->x, NULL, NULL, NULL));
      LOOM_TRY(h5read_frame(b->r, err, j, b->x, NULL, NULL, NULL));
      const distance d = measure_frame_distance(a->x, b->x, n);
      if (!quiet) print_frame_row(a, b, i, j, &d);
      if (w->frames++ == 0 || (!(d.max <= w->d.max) && !isnan(w->d.max))) {
        w->d = d;
        w->time = a->times[i];
      }
      if (!(d.rms <= w->rms)) w->rms = d.rms;
      ++i, ++j;
    }
  }
  if (w->frames == 0)
    return err_set(err, LOOM_E_CONFIG,
                   "%s and %s have no frames at common times: run both with "
                   "the same [run] dt and [log] frames_every",
                   a->path, b->path);
  return LOOM_OK;
}

static void print_side(const char *name, const side *s)
{
  int64_t iters = 0;
  double time = 0, worst_r = 0;
  char peer[TOOL_PEER_LEN];
  for (int64_t i = 0; i < s->steps; ++i) {
    iters = count_add(iters, s->iters[i]);
    time += s->t_total[i];
    if (s->r_final[i] > worst_r) worst_r = s->r_final[i];
  }
  if (tool_peer(s->r, peer)[0] != '\0') {
    printf("%s: %" PRId64 " steps%s, measured, largest r_final %.3e m (%s)\n", name, s->steps, peer,
           worst_r, s->path);
    return;
  }
  printf("%s: %" PRId64 " steps, %" PRId64 " iterations (%.1f per step), largest r_final %.3e m, "
         "%.3f s (%s)\n",
         name, s->steps, iters, s->steps > 0 ? (double)iters / (double)s->steps : 0.0, worst_r,
         time, s->path);
}

static int compare_logs(const char *const paths[2], double tol, int has_tol, int quiet)
{
  loom_err err = {0};
  side a = {0}, b = {0};
  worst w = {0};
  loom_status s = side_open(&a, &err, paths[0]);
  if (s == LOOM_OK) s = side_open(&b, &err, paths[1]);
  if (s == LOOM_OK) s = same_mesh(&err, &a, &b);
  if (s == LOOM_OK) s = compare_frame_series(&err, &a, &b, quiet, &w);
  int code = s == LOOM_OK ? EXIT_FINE : cmd_fail(&err);
  if (s == LOOM_OK) {
    print_side("A", &a);
    print_side("B", &b);
    printf("%" PRId64 " common frames: largest distance %.6e m (vertex %" PRId64 ", time %g s), "
           "largest rms %.6e m\n",
           w.frames, w.d.max, w.d.vertex, w.time, w.rms);
    if (has_tol && !(w.d.max <= tol)) {
      fflush(stdout);
      fprintf(stderr, "loom: the largest distance %.6e m is above --tol %g m\n", w.d.max, tol);
      code = EXIT_TOLERANCE;
    }
  }
  side_close(&a);
  side_close(&b);
  return code;
}

static int run_compare(int argc, char **argv)
{
  static const struct option options[] = {{"tol", required_argument, NULL, OPT_TOL},
                                          {"quiet", no_argument, NULL, OPT_QUIET},
                                          {"help", no_argument, NULL, 'h'},
                                          {NULL, 0, NULL, 0}};
  double tol = 0;
  int has_tol = 0, quiet = 0;
  optind = 0;
  opterr = 0;
  for (int k; (k = getopt_long(argc, argv, ":h", options, NULL)) != -1;) {
    switch (k) {
    case OPT_TOL:
      if (number_parse(optarg, &tol) < 0 || !(tol >= 0))
        return tool_usage("compare", "--tol %s is not a distance in metres", optarg);
      has_tol = 1;
      break;
    case OPT_QUIET:
      quiet = 1;
      break;
    default:
      return tool_help_or_fault(argv, k, usage);
    }
  }
  if (argc - optind != 2) return tool_usage("compare", "give two log files");
  const char *const paths[2] = {argv[optind], argv[optind + 1]};
  return compare_logs(paths, tol, has_tol, quiet);
}

int cmd_compare(int argc, char **argv) { return guard_run(run_compare, argc, argv); }
