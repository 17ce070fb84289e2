/* bench_linalg.c - bandwidth of vectors, gather and sparse products on a sheet of 250,000 vertices.
 *
 * Prints the best wall time of several repetitions, the bytes that must move at least once, and
 * two bandwidths: by wall time, and by CPU time (times the number of threads), which leaves out the
 * time in which a shared machine ran other processes.
 */
#include <stdio.h>
#include <time.h>

#include "linalg/assemble.h"
#include "linalg/linalg.h"
#include "support/grid.h"

enum { SIDE = 500, REPEAT = 25, CHUNK = 4096 };

static double clock_s(clockid_t id)
{
  struct timespec t;
  clock_gettime(id, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

typedef struct bench {
  mem *m;
  loom_exec e;
  grid_sheet g;
  asm_gather *gather[2];
  asm_csr *csr;
  asm_bsr *bsr;
  loom_buf *x, *y, *contrib[2], *hess;
} bench;

typedef loom_status (*work_fn)(bench *b);

static void measure_bandwidth(bench *b, const char *name, double bytes, work_fn work)
{
  double wall = 1e9, cpu = 1e9;
  T_OK(b->m, work(b)); /* warm */
  for (int k = 0; k < REPEAT; ++k) {
    const double w0 = clock_s(CLOCK_MONOTONIC), c0 = clock_s(CLOCK_PROCESS_CPUTIME_ID);
    T_OK(b->m, work(b));
    const double w = clock_s(CLOCK_MONOTONIC) - w0, c = clock_s(CLOCK_PROCESS_CPUTIME_ID) - c0;
    if (w < wall) wall = w;
    if (c < cpu) cpu = c;
  }
  printf("%-34s %d thread(s) %9.3f ms %7.1f MB  %6.1f GB/s wall  %6.1f GB/s cpu\n", name,
         b->e.num_threads, 1e3 * wall, 1e-6 * bytes, 1e-9 * bytes / wall,
         1e-9 * bytes * b->e.num_threads / cpu);
}

static loom_status run_dot(bench *b)
{
  double d;
  return la_dot(b->m, &b->e, b->x, b->y, &d);
}
static loom_status run_axpby(bench *b) { return la_axpby(b->m, &b->e, 0.5, b->x, 0.5, b->y); }
static loom_status run_gather(bench *b, int k)
{
  const int32_t num = b->g.blocks[k].num_elems;
  buf_maps q = {.m = b->m, .e = &b->e};
  asm_gather_view v;
  const lk_real *const from = buf_maps_add(&q, b->contrib[k], LOOM_READ);
  asm_gather_open(b->gather[k], &q, b->y, &v);
  for (int32_t c = 0; q.status == LOOM_OK && c * CHUNK < num; ++c)
    q.status = asm_gather_chunk(&v, &b->e, c, from + 3 * (int64_t)b->g.blocks[k].arity * CHUNK * c);
  return buf_maps_end(&q);
}
static loom_status run_gather_tri(bench *b) { return run_gather(b, 0); }
static loom_status run_gather_hinge(bench *b) { return run_gather(b, 1); }
static loom_status run_csr(bench *b)
{
  return la_spmv_csr3(b->m, &b->e, asm_csr_matrix(b->csr), b->x, b->y);
}
static loom_status run_bsr(bench *b)
{
  return la_spmv_bsr3(b->m, &b->e, asm_bsr_matrix(b->bsr), b->x, b->y);
}
static loom_status run_elements(bench *b) { return asm_bsr_add_elements(b->bsr, 0, b->hess); }

static void measure_all(bench *b)
{
  const double n = b->g.sc.num_verts, r = sizeof(loom_real);
  const double nnz = (double)asm_csr_matrix(b->csr)->nnz;
  const double tri = 3.0 * b->g.blocks[0].num_elems, hinge = 4.0 * b->g.blocks[1].num_elems;
  measure_bandwidth(b, "dot x.y, 3n reals", 2 * 3 * n * r, run_dot);
  measure_bandwidth(b, "axpby, 3n reals", 3 * 3 * n * r, run_axpby);
  measure_bandwidth(b, "gather3 triangles", tri * (2 + 3 * r) + n * (4 + 6 * r), run_gather_tri);
  measure_bandwidth(b, "gather3 hinges", hinge * (2 + 3 * r) + n * (4 + 6 * r), run_gather_hinge);
  measure_bandwidth(b, "spmv csr3", nnz * (4 + r) + n * (8 + 6 * r), run_csr);
  measure_bandwidth(b, "spmv bsr3", nnz * (4 + 9 * r) + n * (8 + 6 * r), run_bsr);
  measure_bandwidth(b, "bsr add triangles", tri * (4 + 6 + 27 * r) + 2 * 9 * r * nnz, run_elements);
}

static void build_sheet_matrices(bench *b)
{
  loom_err err = {0};
  const double t0 = clock_s(CLOCK_PROCESS_CPUTIME_ID);
  cr_assert_eq(asm_csr_new(&err, b->m, &b->e, &b->g.sc, &b->csr), LOOM_OK, "%s", err.text);
  const double t1 = clock_s(CLOCK_PROCESS_CPUTIME_ID);
  cr_assert_eq(asm_bsr_new(&err, b->m, &b->e, &b->g.sc, &b->bsr), LOOM_OK, "%s", err.text);
  const double t2 = clock_s(CLOCK_PROCESS_CPUTIME_ID);
  for (int k = 0; k < 2; ++k)
    cr_assert_eq(
        asm_gather_new(&err, b->m, &b->g.blocks[k], b->g.sc.num_verts, CHUNK, &b->gather[k]),
        LOOM_OK, "%s", err.text);
  const double t3 = clock_s(CLOCK_PROCESS_CPUTIME_ID);
  printf("build: csr pattern %.0f ms, bsr pattern %.0f ms, gather %.0f ms (cpu)\n", 1e3 * (t1 - t0),
         1e3 * (t2 - t1), 1e3 * (t3 - t2));
}

/* 10,000 new contact blocks: find, sort, unite, add; CPU times with 1 thread */
static void measure_contact(bench *b)
{
  enum { M = 10000 };
  int32_t *row = malloc(M * sizeof *row), *col = malloc(M * sizeof *col);
  const int32_t n = b->g.sc.num_verts;
  cr_assert(row != NULL && col != NULL);
  for (int k = 0; k < M; k += 2) {
    row[k] = col[k + 1] = (int32_t)((int64_t)k * 7919 % n);
    col[k] = row[k + 1] = (int32_t)((int64_t)k * 104729 % n);
  }
  const loom_blocks3 c = {.count = M,
                          .row = t_buf(b->m, LOOM_I32, M, row),
                          .col = t_buf(b->m, LOOM_I32, M, col),
                          .val = t_buf(b->m, LOOM_REAL, INT64_C(9) * M, NULL)};
  double t[3];
  t[0] = clock_s(CLOCK_PROCESS_CPUTIME_ID);
  T_OK(b->m, asm_bsr_begin(b->bsr, &c));
  t[1] = clock_s(CLOCK_PROCESS_CPUTIME_ID);
  T_OK(b->m, asm_bsr_add_contact(b->bsr, &c));
  t[2] = clock_s(CLOCK_PROCESS_CPUTIME_ID);
  printf("contact, %d blocks: begin with a new pattern %.1f ms, add %.2f ms\n", M,
         1e3 * (t[1] - t[0]), 1e3 * (t[2] - t[1]));
  t[0] = clock_s(CLOCK_PROCESS_CPUTIME_ID);
  T_OK(b->m, asm_bsr_begin(b->bsr, &c));
  printf("contact, same pattern again: begin %.1f ms\n",
         1e3 * (clock_s(CLOCK_PROCESS_CPUTIME_ID) - t[0]));
  free(row);
  free(col);
}

int main(void)
{
  bench b = {.m = t_mem(0), .e = t_exec(1)};
  grid_make(b.m, SIDE, &b.g);
  const int64_t n = b.g.sc.num_verts;
  build_sheet_matrices(&b);
  b.x = t_buf(b.m, LOOM_REAL, 3 * n, NULL);
  b.y = t_buf(b.m, LOOM_REAL, 3 * n, NULL);
  b.contrib[0] = t_buf(b.m, LOOM_REAL, 9 * (int64_t)b.g.blocks[0].num_elems, NULL);
  b.contrib[1] = t_buf(b.m, LOOM_REAL, 12 * (int64_t)b.g.blocks[1].num_elems, NULL);
  b.hess = t_buf(b.m, LOOM_REAL, 81 * (int64_t)b.g.blocks[0].num_elems, NULL);
  loom_buf *const all[] = {b.x, b.y, b.contrib[0], b.contrib[1], b.hess};
  for (int k = 0; k < 5; ++k) T_OK(b.m, la_fill(b.m, &b.e, all[k], 0.25));
  T_OK(b.m, asm_csr_begin(b.csr));
  T_OK(b.m, asm_bsr_begin(b.bsr, NULL));
  for (int threads = 1; threads <= 2; ++threads) {
    b.e.num_threads = threads;
    measure_all(&b);
  }
  b.e.num_threads = 1;
  measure_contact(&b);
  for (int k = 0; k < 2; ++k) asm_gather_free(b.gather[k]);
  asm_csr_free(b.csr);
  asm_bsr_free(b.bsr);
  mem_free(b.m);
  exec_close(&b.e);
  return 0;
}
