/* bench_core.c - speed of projective dynamics against the limits of the machine.
 *
 *   bench_core [--threads N] [--seconds S] N...      (vertices along a side of a square sheet)
 *
 * prints one CSV row per sheet:
 *   vertices     n = N^2
 *   global_ms    one iterate() of cholmod_pd: global step, three right-hand sides
 *   bare_ms      cholmod_solve2 with the same matrix, right-hand sides and kept workspace
 *   global_ratio global_ms / bare_ms; bound 1.3
 *   factor_ms    numeric factorisation of the same matrix by CHOLMOD
 *   local_ms     one gradient of the core: the local step of all elements, gathered
 *   local_gbs    bytes the local step has to move at least / local_ms
 *   triad_gbs    a[i] = b[i] + s c[i] on arrays beyond the caches, same threads; three
 *                numbers per i, as STREAM counts (J. McCalpin, 1995)
 *   local_share  local_gbs / triad_gbs; near 1: bound by memory
 *   step_ms      one whole time step of 10 iterations, measuring included, no log
 * Times are the smallest of the repetitions, with one thread (the default) CPU time: the
 * machine is shared, noise only adds.
 */
#include <cholmod.h>
#include <dlfcn.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "run/run_state.h"
#include "run/step/step.h"
#include "triad.h"

typedef struct options {
  int threads;
  double seconds; /* s, spent on each quantity */
} options;

typedef struct row {
  double global, bare, factor, local, triad, step; /* s */
  double local_bytes;
} row;

static double read_bench_clock(const options *o) { return bench_now(o->threads); }

static double min_time(double best, double t) { return t < best ? t : best; }

/* ---- the machine ---- */

static double measure_triad(const options *o, double *bytes)
{
  bench_triad z;
  double best = INFINITY;
  bench_triad_open(&z, o->threads);
  for (double end = read_bench_clock(o) + o->seconds; read_bench_clock(o) < end;)
    best = min_time(best, bench_triad_run(&z));
  *bytes = bench_triad_close(&z);
  return best;
}

/* ---- bare CHOLMOD ---- */

static cholmod_sparse *copy_global_matrix(run *r, cholmod_common *cm)
{
  const loom_csr *L;
  void *p, *c, *v;
  if (problem_pd_operator(r, r->st.problem, &L) != LOOM_OK) return NULL;
  cholmod_sparse *const A = cholmod_allocate_sparse((size_t)L->num_rows, (size_t)L->num_rows,
                                                    (size_t)L->nnz, 1, 1, -1, CHOLMOD_REAL, cm);
  if (A == NULL || buf_map(r->m, NULL, L->row_ptr, LOOM_READ, LOOM_AT_HOST, &p) != LOOM_OK ||
      buf_map(r->m, NULL, L->col, LOOM_READ, LOOM_AT_HOST, &c) != LOOM_OK ||
      buf_map(r->m, NULL, L->val, LOOM_READ, LOOM_AT_HOST, &v) != LOOM_OK)
    return NULL;
  int *ap = A->p, *ai = A->i, m = 0;
  double *ax = A->x;
  for (int32_t i = 0; i < L->num_rows; ++i) {
    ap[i] = m;
    for (int64_t k = ((int64_t *)p)[i]; k < ((int64_t *)p)[i + 1]; ++k) {
      if (((int32_t *)c)[k] < i) continue;
      ai[m] = ((int32_t *)c)[k];
      ax[m++] = ((loom_real *)v)[k];
    }
  }
  ap[L->num_rows] = m;
  if (buf_unmap(r->m, L->val) != LOOM_OK || buf_unmap(r->m, L->col) != LOOM_OK ||
      buf_unmap(r->m, L->row_ptr) != LOOM_OK)
    return NULL;
  return A;
}

static int measure_bare_solve(run *r, const options *o, row *out)
{
  cholmod_common cm;
  cholmod_dense *X = NULL, *Y = NULL, *E = NULL;
  cholmod_start(&cm);
  cm.supernodal = CHOLMOD_SUPERNODAL;
  cm.nmethods = 1;
  cm.method[0].ordering = CHOLMOD_AMD;
  cholmod_sparse *A = copy_global_matrix(r, &cm);
  if (A == NULL) return 0;
  cholmod_factor *L = cholmod_analyze(A, &cm);
  cholmod_dense *B = cholmod_ones(A->nrow, 3, CHOLMOD_REAL, &cm);
  out->bare = out->factor = INFINITY;
  for (int k = 0; k < 3; ++k) {
    const double t = read_bench_clock(o);
    cholmod_factorize(A, L, &cm);
    out->factor = min_time(out->factor, read_bench_clock(o) - t);
  }
  for (double end = read_bench_clock(o) + o->seconds; read_bench_clock(o) < end;) {
    const double t = read_bench_clock(o);
    if (!cholmod_solve2(CHOLMOD_A, L, B, NULL, &X, NULL, &Y, &E, &cm)) return 0;
    out->bare = min_time(out->bare, read_bench_clock(o) - t);
  }
  cholmod_free_dense(&X, &cm);
  cholmod_free_dense(&Y, &cm);
  cholmod_free_dense(&E, &cm);
  cholmod_free_dense(&B, &cm);
  cholmod_free_factor(&L, &cm);
  cholmod_free_sparse(&A, &cm);
  cholmod_finish(&cm);
  return 1;
}

/* ---- loom ---- */

/* Least traffic of one gradient: every element reads ids, rest and material data, the gather
 * 2 B for each corner; positions, target, mass and gradient pass once.  Forces of elements
 * stay in cache between the two. */
static double local_bytes(const loom_scene *sc)
{
  double bytes = (double)sc->num_verts * (3.0 * 24.0 + 8.0 + 24.0);
  for (int b = 0; b < sc->num_blocks; ++b) {
    const loom_elem_block *e = &sc->blocks[b];
    bytes += (double)e->num_elems * (6.0 * e->arity + 8.0 * (e->rest_len + e->mat_len));
  }
  return bytes;
}

static loom_status measure_step_times(run *r, const options *o, row *out)
{
  const loom_solver_ops *ops = r->solver.plugin->ops.solver;
  loom_iterate it = {.struct_size = sizeof it, .extra = r->solver.extra};
  out->global = out->local = out->step = INFINITY;
  LOOM_TRY(step_once(r, 0));
  for (int64_t k = 1; k < 4; ++k) {
    const double t = read_bench_clock(o);
    LOOM_TRY(step_once(r, k));
    out->step = min_time(out->step, read_bench_clock(o) - t);
  }
  for (double end = read_bench_clock(o) + o->seconds; read_bench_clock(o) < end;) {
    double t = read_bench_clock(o);
    LOOM_TRY(ops->iterate(r->solver.self, &r->st, &it));
    out->global = min_time(out->global, read_bench_clock(o) - t);
    t = read_bench_clock(o);
    LOOM_TRY(problem_smooth(r, r->st.problem, r->st.x, NULL, r->st.grad));
    out->local = min_time(out->local, read_bench_clock(o) - t);
  }
  out->local_bytes = local_bytes(&r->scene->pub);
  return LOOM_OK;
}

static loom_status measure_core_sheet(loom_err *err, int n, const options *o, row *out)
{
  char ini[1024];
  cfg *c = NULL;
  run *r = NULL;
  const run_options ro = {.steps = -1, .no_log = 1};
  snprintf(ini, sizeof ini,
           "[run]\ndt = 0.01\nsteps = 4\n[stop]\ntol_abs = 0\ntol_rel = 0\nmax_iters = 10\n"
           "[exec]\nbackend = cpu\nthreads = %d\n[log]\naudit = off\n"
           "[solver]\nplugin = cholmod_pd\n"
           "[cloth.sheet]\nmodel = arap+isometric\npattern = regular\nshape = grid\nsize = 1 "
           "1\nresolution = %d %d\npins = 0 %d\n",
           o->threads, n, n, n - 1);
  LOOM_TRY(cfg_parse(err, ini, "bench.ini", ".", NULL, 0, &c));
  loom_status s = run_open(err, c, &ro, &r);
  if (s == LOOM_OK) s = measure_step_times(r, o, out);
  if (s == LOOM_OK && !measure_bare_solve(r, o, out))
    s = err_set(err, LOOM_E_INTERNAL, "CHOLMOD failed");
  run_close(r, NULL);
  cfg_free(c);
  return s;
}

static void print_core_row(const char *side, const row *m, double triad_gbs)
{
  const double verts = pow(atof(side), 2.0), gbs = 1e-9 * m->local_bytes / m->local;
  printf("%.0f,%.4g,%.4g,%.3f,%.4g,%.4g,%.3g,%.3g,%.3f,%.4g\n", verts, 1e3 * m->global,
         1e3 * m->bare, m->global / m->bare, 1e3 * m->factor, 1e3 * m->local, gbs, triad_gbs,
         gbs / triad_gbs, 1e3 * m->step);
}

int main(int argc, char **argv)
{
  enum { MOST = 32 };
  options o = {.threads = 1, .seconds = 1.0};
  row m[MOST] = {{0}};
  int first = 1;
  setenv("OPENBLAS_NUM_THREADS", "1", 0);
  for (; first + 1 < argc && argv[first][0] == '-'; first += 2) {
    if (strcmp(argv[first], "--threads") == 0) o.threads = atoi(argv[first + 1]);
    if (strcmp(argv[first], "--seconds") == 0) o.seconds = atof(argv[first + 1]);
  }
  const int sheets = argc - first;
  if (sheets < 1 || sheets > MOST || o.threads < 1 || !(o.seconds > 0.0)) {
    fprintf(stderr, "usage: bench_core [--threads N] [--seconds S] SIDE...\n");
    return 2;
  }
  for (int i = 0; i < sheets; ++i) {
    loom_err err = {0};
    const int n = atoi(argv[first + i]);
    if (n < 2 || measure_core_sheet(&err, n, &o, &m[i]) != LOOM_OK) {
      fprintf(stderr, "bench_core: sheet %s: %s\n", argv[first + i], err.text);
      return 1;
    }
  }
  double bytes;
  const double t = measure_triad(&o, &bytes);
  printf("vertices,global_ms,bare_ms,global_ratio,factor_ms,local_ms,local_gbs,triad_gbs,"
         "local_share,step_ms\n");
  for (int i = 0; i < sheets; ++i) print_core_row(argv[first + i], &m[i], 1e-9 * bytes / t);
  return 0;
}
