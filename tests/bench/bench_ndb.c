/* bench_ndb.c - cost of bringing the reduced matrix of ndb_pd up to date with contact.
 *
 *   bench_ndb [--threads N] [--side N] [--repeat R]
 *
 * A sheet of side^2 vertices, 100 modes of its matrix; some share of the vertices, spread over
 * the sheet, has a contact weight.  One CSV row per way, number of modes r and share:
 *   way         0: tiles over the rows in contact (update = syrk), 1: table of u_j'u_j (eq. 19 of
 *               the paper), 2: product over all rows
 *   r           modes
 *   rows        vertices in contact
 *   update_ms   S2 = U' W U in processor time of all threads, smallest of the repetitions
 *   masked_ms   the same for masked rows (not for the table), else nan
 *   invert_ms   inverse of the r x r matrix, common to all
 *   bytes       memory per vertex that only this way needs
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "ndb_pd.h"
#include "support/test_host.h"

typedef struct options {
  int threads, side, repeat;
} options;

typedef struct stage {
  test_host t;
  ndb_pd s;
  loom_csr L;
} stage;

static stage *pd_of_host;

static loom_status bench_pd_operator(const loom_host *host, const loom_problem *p,
                                     const loom_csr **L)
{
  (void)host, (void)p;
  *L = &pd_of_host->L;
  return LOOM_OK;
}
static void no_clock(const loom_host *host, const char *section) { (void)host, (void)section; }

static void require_stage_success(const stage *z, loom_status s)
{
  if (s == LOOM_OK) return;
  fprintf(stderr, "bench_ndb: %s\n", z->t.err.text);
  exit(1);
}

/* 5-point Laplacian plus a mass term */
static void give_matrix(stage *z, int side)
{
  const int n = side * side;
  int64_t *ptr = malloc(((size_t)n + 1) * sizeof *ptr), m = 0;
  int32_t *col = malloc(5 * (size_t)n * sizeof *col);
  loom_real *val = malloc(5 * (size_t)n * sizeof *val);
  if (ptr == NULL || col == NULL || val == NULL) exit(1);
  for (int i = 0; i < n; ++i) {
    const int at[5] = {i - side, i - 1, i, i + 1, i + side};
    const int there[5] = {i >= side, i % side > 0, 1, i % side < side - 1, i < n - side};
    const int around = there[0] + there[1] + there[3] + there[4];
    ptr[i] = m;
    for (int k = 0; k < 5; ++k) {
      if (!there[k]) continue;
      col[m] = at[k];
      val[m++] = at[k] == i ? (loom_real)(around + 1e-3) : (loom_real)-1;
    }
  }
  ptr[n] = m;
  z->L = (loom_csr){.struct_size = sizeof z->L,
                    .num_rows = n,
                    .nnz = m,
                    .row_ptr = th_buf(&z->t, LOOM_I64, n + 1, ptr),
                    .col = th_buf(&z->t, LOOM_I32, m, col),
                    .val = th_buf(&z->t, LOOM_REAL, m, val)};
  free(ptr);
  free(col);
  free(val);
}

static void open_reuse_stage(stage *z, const options *o)
{
  const int n = o->side * o->side;
  loom_real *x = calloc(3 * (size_t)n, sizeof *x);
  if (x == NULL) exit(1);
  memset(z, 0, sizeof *z);
  pd_of_host = z;
  th_open(&z->t, o->threads, 0);
  z->t.host.pd_operator = bench_pd_operator;
  z->t.host.tic = z->t.host.toc = no_clock;
  th_scene(&z->t, n, x, NULL, NULL, 0);
  free(x);
  give_matrix(z, o->side);
  z->t.step.h = 0.01;
  z->s = (ndb_pd){.host = &z->t.host, .sc = &z->t.scene, .e = &z->t.exec, .n = n};
  z->s.set = (ndb_pd_settings){.subspace = SUBSPACE_EIGEN,
                               .weights = WEIGHTS_EXACT,
                               .modes = MODES_GENERALISED,
                               .r1 = 100,
                               .r2 = 100,
                               .eigen_tolerance = 1e-6,
                               .eigen_restarts = 300,
                               .cache = ""};
  require_stage_success(z, ndb_pd_operator_new(&z->s));
  require_stage_success(z, ndb_pd_operator_make(&z->s, &z->t.step));
  require_stage_success(z, ndb_pd_basis_make(&z->s));
}

/* every k-th vertex, so that the share is reached */
static void set_contact_share(stage *z, double share)
{
  const int n = z->s.n, m = (int)(share * n);
  int32_t *v = malloc(4 * (size_t)m * sizeof *v);
  loom_real *w = malloc(4 * (size_t)m * sizeof *w), *k = malloc((size_t)m * sizeof *k);
  if (v == NULL || w == NULL || k == NULL) exit(1);
  for (int t = 0; t < m; ++t) {
    k[t] = (loom_real)(1 + t % 7);
    for (int a = 0; a < 4; ++a) {
      v[4 * t + a] = a == 0 ? (int32_t)((double)t / share) : -1;
      w[4 * t + a] = a == 0;
    }
  }
  const loom_quad q = {.struct_size = sizeof q,
                       .count = m,
                       .width = 4,
                       .v = th_buf(&z->t, LOOM_I32, 4 * m, v),
                       .w = th_buf(&z->t, LOOM_REAL, 4 * m, w),
                       .k = th_buf(&z->t, LOOM_REAL, m, k)};
  require_stage_success(z, ndb_pd_contact(&z->s, &q));
  if (z->s.rows != m) {
    fprintf(stderr, "bench_ndb: %d rows in contact, expected %d\n", (int)z->s.rows, m);
    exit(1);
  }
  free(v);
  free(w);
  free(k);
}

static double now_ms(void)
{
  struct timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return 1e3 * (double)t.tv_sec + 1e-6 * (double)t.tv_nsec;
}

static double reuse_ms(stage *z, const options *o)
{
  double least = INFINITY;
  for (int k = 0; k < o->repeat; ++k) {
    const double t = now_ms();
    require_stage_success(z, ndb_pd_reuse(&z->s));
    least = fmin(least, now_ms() - t);
  }
  return least;
}

static double invert_ms(stage *z, const options *o)
{
  double least = INFINITY;
  for (int k = 0; k < o->repeat; ++k) {
    const double t = now_ms();
    require_stage_success(z, ndb_pd_invert(&z->s, z->s.r2, z->s.extra, z->s.inv2));
    least = fmin(least, now_ms() - t);
  }
  return least;
}

static void measure_reuse_update(stage *z, const options *o, int way, int r)
{
  ndb_pd *const s = &z->s;
  s->r2 = r;
  s->set.update = way;
  s->set.reuse = REUSE_PLAIN;
  require_stage_success(z, ndb_pd_reuse_new(s));
  const double plain = reuse_ms(z, o), invert = invert_ms(z, o);
  double masked = NAN, bytes = 0.0;
  if (way == UPDATE_TABLE) {
    bytes = 0.5 * r * (r + 1) * (double)sizeof(loom_real);
    require_stage_success(z, z->t.host.buf_resize(&z->t.host, s->table, 0));
  } else {
    s->set.reuse = REUSE_MASKED;
    masked = reuse_ms(z, o) - invert;
    bytes = (double)(way == UPDATE_FULL ? s->n : s->rows) * s->space.ld *
            (double)sizeof(loom_real) / s->n;
  }
  printf("%d,%d,%d,%.5g,%.5g,%.5g,%.5g\n", way, r, (int)s->rows, plain - invert, masked, invert,
         bytes);
  fflush(stdout);
}

int main(int argc, char **argv)
{
  static const int modes[] = {10, 20, 30, 50, 70, 100};
  static const double shares[] = {0.01, 0.03, 0.1, 0.3, 1.0};
  static stage z;
  options o = {.threads = 1, .side = 101, .repeat = 5};
  for (int k = 1; k + 1 < argc; k += 2) {
    int *const to = strcmp(argv[k], "--threads") == 0  ? &o.threads
                    : strcmp(argv[k], "--side") == 0   ? &o.side
                    : strcmp(argv[k], "--repeat") == 0 ? &o.repeat
                                                       : NULL;
    if (to == NULL) return 2;
    *to = atoi(argv[k + 1]);
  }
  open_reuse_stage(&z, &o);
  printf("way,r,rows,update_ms,masked_ms,invert_ms,bytes\n");
  set_contact_share(&z, 0.1);
  for (int way = UPDATE_SYRK; way <= UPDATE_FULL; ++way)
    for (int k = 0; k < 6; ++k) measure_reuse_update(&z, &o, way, modes[k]);
  for (int i = 0; i < 5; ++i) {
    set_contact_share(&z, shares[i]);
    for (int way = UPDATE_SYRK; way <= UPDATE_FULL; ++way) measure_reuse_update(&z, &o, way, 30);
  }
  ndb_pd_basis_free(&z.s);
  th_close(&z.t);
  return 0;
}
