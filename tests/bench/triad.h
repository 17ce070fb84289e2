/* triad.h - bandwidth of the machine: a[i] = b[i] + s c[i] on arrays beyond the caches, and clocks.
 */
#ifndef BENCH_TRIAD_H
#define BENCH_TRIAD_H

#include <math.h>
#include <stdlib.h>
#include <time.h>

/* s; with one thread processor time, without other processes of the machine */
static inline double bench_now(int threads)
{
  struct timespec t;
  clock_gettime(threads == 1 ? CLOCK_PROCESS_CPUTIME_ID : CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

typedef struct bench_triad {
  double *a, *b, *c; /* [m] */
  long m;
  int threads;
} bench_triad;

static inline void bench_triad_open(bench_triad *z, int threads)
{
  z->m = 8L << 20; /* 64 MiB each */
  z->threads = threads;
  z->a = malloc(sizeof *z->a * (size_t)z->m);
  z->b = malloc(sizeof *z->b * (size_t)z->m);
  z->c = malloc(sizeof *z->c * (size_t)z->m);
  if (z->a == NULL || z->b == NULL || z->c == NULL) exit(1);
#pragma omp parallel for num_threads(threads)
  for (long i = 0; i < z->m; ++i) z->a[i] = 0.0, z->b[i] = (double)i, z->c[i] = 1.0;
}

/* Seconds of one pass. */
static inline double bench_triad_run(bench_triad *z)
{
  const double t = bench_now(z->threads);
#pragma omp parallel for simd num_threads(z->threads)
  for (long i = 0; i < z->m; ++i) z->a[i] = z->b[i] + 0.5 * z->c[i];
  return bench_now(z->threads) - t;
}

/* Bytes of one pass: three numbers per i, as STREAM counts (J. McCalpin, 1995). */
static inline double bench_triad_close(bench_triad *z)
{
  /* never NaN: keeps the loop */
  const double bytes = z->a[z->m / 2] < 0.0 ? NAN : 3.0 * sizeof *z->a * (double)z->m;
  free(z->a);
  free(z->b);
  free(z->c);
  return bytes;
}

#endif
