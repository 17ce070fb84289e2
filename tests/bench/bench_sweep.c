/* bench_sweep.c - a damped Jacobi sweep of ndb_pd against the memory bandwidth of the machine.
 *
 *   bench_sweep [--threads N] [--seconds S] [--side N]
 *
 * A sheet of side^2 vertices; rows have 13 entries, as springs and bending have on a grid of
 * squares.  Triad and sweeps take turns in one run, the smallest time of each counts.  CSV, one row
 * per precision:
 *   precision   double, float
 *   vertices    side^2
 *   sweep_ms    one sweep of three columns
 *   sweep_gbs   bytes that a sweep has to move at least (every array once) / sweep_ms
 *   triad_gbs   see triad.h
 *   share       sweep_gbs / triad_gbs
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sweep.kern.h"
#include "triad.h"

static const lk_entry k_sweep = LK_ENTRY(ndb_pd_sweep), k_sweep_f = LK_ENTRY(ndb_pd_sweep_f);

typedef struct options {
  int threads, side;
  double seconds; /* s */
} options;

typedef struct stage {
  int64_t n, nnz;
  int64_t *ptr;
  int32_t *col;
  double *val, *w, *dinv, *rhs, *u[2];          /* [nnz], [n], [n], [n][3], [n][3] */
  float *val_f, *w_f, *dinv_f, *rhs_f, *u_f[2]; /* the same */
} stage;

static void *allocate_sweep_array(int64_t count, size_t size)
{
  void *const p = count > 0 ? malloc((size_t)count * size) : NULL;
  if (p == NULL) exit(1);
  return p;
}

/* Neighbours up to two edges away, |dx| + |dy| <= 2. */
static void make_matrix(stage *z, int side)
{
  z->n = (int64_t)side * side;
  z->ptr = allocate_sweep_array(z->n + 1, sizeof *z->ptr);
  z->col = allocate_sweep_array(13 * z->n, sizeof *z->col);
  z->val = allocate_sweep_array(13 * z->n, sizeof *z->val);
  z->nnz = 0;
  for (int i = 0; i < z->n; ++i) {
    const int x = i % side, y = i / side;
    z->ptr[i] = z->nnz;
    for (int dy = -2; dy <= 2; ++dy)
      for (int dx = -2 + abs(dy); dx <= 2 - abs(dy); ++dx) {
        if (x + dx < 0 || x + dx >= side || y + dy < 0 || y + dy >= side) continue;
        z->col[z->nnz] = i + dy * side + dx;
        z->val[z->nnz++] = dx == 0 && dy == 0 ? 20.0 : -1.0;
      }
  }
  z->ptr[z->n] = z->nnz;
}

static void *copy_as_float(const double *from, int64_t count)
{
  float *const to = allocate_sweep_array(count, sizeof *to);
  for (int64_t i = 0; i < count; ++i) to[i] = (float)from[i];
  return to;
}

static void make_vectors(stage *z)
{
  const int64_t n = z->n;
  z->w = allocate_sweep_array(n, sizeof *z->w);
  z->dinv = allocate_sweep_array(n, sizeof *z->dinv);
  z->rhs = allocate_sweep_array(3 * n, sizeof *z->rhs);
  z->u[0] = allocate_sweep_array(3 * n, sizeof *z->u[0]);
  z->u[1] = allocate_sweep_array(3 * n, sizeof *z->u[1]);
  for (int64_t i = 0; i < n; ++i) z->w[i] = 0.0, z->dinv[i] = 1.0 / 20.0;
  for (int64_t i = 0; i < 3 * n; ++i)
    z->rhs[i] = 1e-3 * (double)(i % 7), z->u[0][i] = z->u[1][i] = 0.0;
  z->val_f = copy_as_float(z->val, z->nnz);
  z->w_f = copy_as_float(z->w, n);
  z->dinv_f = copy_as_float(z->dinv, n);
  z->rhs_f = copy_as_float(z->rhs, 3 * n);
  z->u_f[0] = copy_as_float(z->u[0], 3 * n);
  z->u_f[1] = copy_as_float(z->u[1], 3 * n);
}

/* Seconds of one sweep, from u[k] to the other. */
static double time_jacobi_sweep(stage *z, const loom_exec *e, int single, int k)
{
  const ndb_pd_sweep_args a = {z->ptr,  z->col, z->val,      z->w, z->dinv, z->rhs,
                               z->u[k], NULL,   z->u[1 - k], 0.9,  1.0};
  const ndb_pd_sweep_f_args f = {z->ptr,    z->col, z->val_f,      z->w_f, z->dinv_f, z->rhs_f,
                                 z->u_f[k], NULL,   z->u_f[1 - k], 0.9f,   1.0f};
  const double t = bench_now(e->num_threads);
  const loom_status s =
      single ? lk_run(&k_sweep_f, e, &f, z->n, NULL) : lk_run(&k_sweep, e, &a, z->n, NULL);
  if (s != LOOM_OK) exit(1);
  return bench_now(e->num_threads) - t;
}

/* ptr and col; val; w, dinv; rhs, from, to */
static double sweep_traffic_bytes(const stage *z, size_t real)
{
  return (double)(z->n * 8 + z->nnz * 4) + (double)real * (double)(z->nnz + 2 * z->n + 9 * z->n);
}

int main(int argc, char **argv)
{
  static stage z;
  options o = {.threads = 1, .side = 500, .seconds = 3.0};
  for (int k = 1; k + 1 < argc; k += 2) {
    if (strcmp(argv[k], "--threads") == 0)
      o.threads = atoi(argv[k + 1]);
    else if (strcmp(argv[k], "--side") == 0)
      o.side = atoi(argv[k + 1]);
    else if (strcmp(argv[k], "--seconds") == 0)
      o.seconds = atof(argv[k + 1]);
    else
      return 2;
  }
  if (o.threads < 1 || o.side < 5 || !(o.seconds > 0.0)) return 2;
  const loom_exec e = {.struct_size = sizeof e, .backend = LOOM_CPU, .num_threads = o.threads};
  bench_triad t;
  double best[3] = {INFINITY, INFINITY, INFINITY};
  make_matrix(&z, o.side);
  make_vectors(&z);
  bench_triad_open(&t, o.threads);
  int k = 0;
  for (double end = bench_now(o.threads) + o.seconds; bench_now(o.threads) < end; k = 1 - k) {
    best[0] = fmin(best[0], time_jacobi_sweep(&z, &e, 0, k));
    best[1] = fmin(best[1], time_jacobi_sweep(&z, &e, 1, k));
    best[2] = fmin(best[2], bench_triad_run(&t));
  }
  const double gbs = 1e-9 * bench_triad_close(&t) / best[2];
  printf("precision,vertices,sweep_ms,sweep_gbs,triad_gbs,share\n");
  for (int f = 0; f < 2; ++f) {
    const double g = 1e-9 * sweep_traffic_bytes(&z, f ? sizeof(float) : sizeof(double)) / best[f];
    printf("%s,%lld,%.5g,%.5g,%.5g,%.4f\n", f ? "float" : "double", (long long)z.n, 1e3 * best[f],
           g, gbs, g / gbs);
  }
  return 0;
}
