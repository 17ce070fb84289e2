/* tiny_log.c - writing and checking the small log of tiny_log.h. */
#ifndef _XOPEN_SOURCE
#define _XOPEN_SOURCE 700 /* nftw */
#endif
#include "support/tiny_log.h"
#include "log/h5read.h"

#include <ftw.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const double rest[TINY_N * 3] = {0, 0, 0, 1, 0, 0, 2, 0, 0, 0, 1, 0, 1, 1, 0, 2, 1, 0};
static const int32_t tris[TINY_NT * 3] = {0, 1, 4, 0, 4, 3, 1, 2, 5, 1, 5, 4};

/* One per test process; its children share it and do not remove it. */
static struct {
  char dir[256];
  pid_t owner;
} temporary;

static int remove_entry(const char *path, const struct stat *st, int type, struct FTW *where)
{
  (void)st, (void)type, (void)where;
  return remove(path);
}

static void remove_dir(void)
{
  if (temporary.owner == getpid()) nftw(temporary.dir, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
}

const char *tiny_dir(void)
{
  const char *const tmp = getenv("TMPDIR");
  if (temporary.dir[0] != '\0') return temporary.dir;
  snprintf(temporary.dir, sizeof temporary.dir, "%s/loom-test-XXXXXX", tmp != NULL ? tmp : "/tmp");
  if (mkdtemp(temporary.dir) == NULL || atexit(remove_dir) != 0) abort();
  temporary.owner = getpid();
  return temporary.dir;
}

const char *tiny_path(int slot, const char *name)
{
  static char path[4][512];
  snprintf(path[slot], sizeof path[slot], "%s/%s", tiny_dir(), name);
  return path[slot];
}

static int64_t count_tiny_verts(const tiny_options *o) { return o->n > 0 ? o->n : TINY_N; }
static const char *tiny_hash_of(const tiny_options *o)
{
  return o->hash != NULL ? o->hash : "0123456789abcdef";
}

double tiny_x(int64_t s, int64_t i, int c)
{
  const double base = i < TINY_N ? rest[3 * i + c] : (double)(i % 97);
  return base + (c == 2 ? -0.001 * (double)(s + 1) * (1 + 1e-3 * (double)(i % 13)) : 0);
}

double tiny_v(int64_t s, int64_t i, int c)
{
  return c == 2 ? -0.1 * (double)(s + 1) : 1e-9 * (double)i;
}

void tiny_iter_row(int64_t s, int64_t k, h5log_iter_row *row)
{
  memset(row, 0, sizeof *row);
  row->step = s;
  row->k = k;
  row->filtered = k & 1;
  row->r_solved_rms = 1e-3 / (double)(k + 2 + s);
  row->r_next_rms = row->r_solved_rms * 1.5;
  row->e_total = 10.0 - (double)k;
  row->e_contact = NAN;
  row->inner_iters = 2;
  row->t_total = 1e-3 * (double)(k + 2);
  row->e_ref = NAN;
  row->n_gradient = k + 2;
  row->n_launch = 1000000007LL * s + k;
}

void tiny_step_row(int64_t s, h5log_step_row *row)
{
  memset(row, 0, sizeof *row);
  row->step = s;
  row->time = 0.01 * (double)(s + 1);
  row->h = 0.01;
  row->iters = TINY_ITERS;
  row->reason = s % 3 == 2 ? H5LOG_max_iters : H5LOG_converged_rel;
  row->r_ref = 1;
  row->r_final = 1e-3 / (double)(TINY_ITERS + 1 + s);
  row->min_gap = 1e-3 + 1e-5 * (double)s;
  row->t_solve = 2e-3;
  row->t_measure = 5e-4;
  row->t_log = 1e-4;
  row->t_total = 3e-3;
  row->n_launch = s;
}

loom_status tiny_create(loom_err *err, const char *path, const tiny_options *o, h5log **out)
{
  const h5log_meta meta = {.loom_version = "0.1.0",
                           .config = "[run]\nsteps = 3\n",
                           .config_hash = tiny_hash_of(o),
                           .command = "loom run tiny.ini",
                           .plugins = "gd\tsolver\t1.0\t/p/gd.so\tbuild\tMIT\n",
                           .created = "2025-01-01T00:00:00Z",
                           .threads = 2,
                           .real_size = sizeof(loom_real),
                           .seed = 7};
  const int full = count_tiny_verts(o) == TINY_N;
  loom_real x0[TINY_N * 3], mass[TINY_N];
  uint8_t pinned[TINY_N] = {1};
  for (int i = 0; i < TINY_N * 3; ++i) x0[i] = (loom_real)rest[i];
  for (int i = 0; i < TINY_N; ++i) mass[i] = (loom_real)0.5;
  const h5log_array scene[] = {{"rest", "m", "rest positions", LOOM_REAL, 2, {TINY_N, 3}, x0},
                               {"triangles", "1", "vertex ids", LOOM_I32, 2, {TINY_NT, 3}, tris},
                               {"mass", "kg", "lumped masses", LOOM_REAL, 1, {TINY_N}, mass},
                               {"pinned", "1", "1: prescribed", LOOM_U8, 1, {TINY_N}, pinned}};
  return h5log_create(err, path, &meta, &o->log, scene, full ? 4 : 0, count_tiny_verts(o), out);
}

loom_status tiny_resume(loom_err *err, const char *path, const tiny_options *o, int64_t last,
                        h5log **out)
{
  return h5log_resume(err, path, tiny_hash_of(o), last, &o->log, out, NULL);
}

static loom_status write_tiny_frame(h5log *l, loom_err *err, const tiny_options *o, int64_t s)
{
  const int64_t n = count_tiny_verts(o);
  loom_real *const x = malloc((size_t)n * 6 * sizeof *x), *const v = x + 3 * n;
  double poses[24];
  for (int i = 0; i < 24; ++i) poses[i] = (double)s + 0.01 * i;
  for (int64_t i = 0; i < n; ++i)
    for (int c = 0; c < 3; ++c) {
      x[3 * i + c] = (loom_real)tiny_x(s, i, c);
      v[3 * i + c] = (loom_real)tiny_v(s, i, c);
    }
  const loom_status st = h5log_frame(l, err, s, 0.01 * (double)(s + 1), x, v, poses, NULL);
  free(x);
  return st;
}

loom_status tiny_start(h5log *l, loom_err *err, const tiny_options *o)
{
  LOOM_TRY(write_tiny_frame(l, err, o, -1));
  return h5log_commit(l, err);
}

loom_status tiny_step(h5log *l, loom_err *err, const tiny_options *o, int64_t s)
{
  h5log_iter_row it;
  h5log_step_row st;
  for (int64_t k = -1; k < TINY_ITERS; ++k) {
    double extra[4];
    for (int e = 0; e < 4; ++e) extra[e] = (double)(100 * s + 10 * k + e);
    tiny_iter_row(s, k, &it);
    LOOM_TRY(h5log_iter(l, err, &it, extra));
    for (int64_t j = 0; k >= 0 && j < 2; ++j) {
      const h5log_inner_row in = {s, k, 0, j, LOOM_NORM_ENERGY, 1.0 / (double)(j + 1)};
      LOOM_TRY(h5log_inner(l, err, &in));
    }
  }
  const int every = o->frames_every > 0 ? o->frames_every : 1;
  if ((s + 1) % every == 0) LOOM_TRY(write_tiny_frame(l, err, o, s));
  tiny_step_row(s, &st);
  static const h5log_name names[2] = {"solver/factor", "solver/solve"};
  for (int k = 0; k < 2; ++k) {
    h5log_section_row row = {.step = s, .calls = 3 + k, .t_wall = 1e-3 * (k + 1)};
    row.t_cpu = 2 * row.t_wall;
    memcpy(row.name, names[k], sizeof row.name);
    LOOM_TRY(h5log_section(l, err, &row));
  }
  LOOM_TRY(h5log_step(l, err, &st, NULL));
  return h5log_commit(l, err);
}

static void state_bytes(int64_t s, int64_t bytes, unsigned char *out)
{
  for (int64_t i = 0; i < bytes; ++i) out[i] = (unsigned char)(17 * s + i + i / 251);
}

loom_status tiny_state(h5log *l, loom_err *err, int64_t s, int64_t bytes)
{
  const h5log_state_row row = {
      .step = s, .type = LOOM_U8, .count = bytes, .instance = "solver", .name = "x"};
  unsigned char *const data = malloc((size_t)bytes);
  state_bytes(s, bytes, data);
  const loom_status st = h5log_state(l, err, &row, data);
  free(data);
  return st;
}

loom_status tiny_write(loom_err *err, const char *path, const tiny_options *o, int64_t steps)
{
  h5log *l;
  LOOM_TRY(tiny_create(err, path, o, &l));
  loom_status s = tiny_start(l, err, o);
  for (int64_t i = 0; i < steps && s == LOOM_OK; ++i) s = tiny_step(l, err, o, i);
  loom_err later = {0};
  const loom_status t = h5log_close(l, &later, s == LOOM_OK ? "finished" : "failed: test");
  if (s == LOOM_OK && t != LOOM_OK) *err = later;
  return s != LOOM_OK ? s : t;
}

/* ---- checking ---- */
#define EXPECT(cond, ...)                         \
  do {                                            \
    if (!(cond)) {                                \
      err_set(err, LOOM_E_INTERNAL, __VA_ARGS__); \
      return -1;                                  \
    }                                             \
  } while (0)

static int is_same_or_nan(double a, double b) { return a == b || (isnan(a) && isnan(b)); }

/* Rows go through the file bit by bit: every member is 8 bytes, there is no padding. */
static int same_bytes(const void *a, const void *b, size_t n) { return memcmp(a, b, n) == 0; }

static int check_row_values(loom_err *err, const h5log_step_row *st, const h5log_iter_row *it,
                            int64_t steps)
{
  h5log_step_row want_step;
  h5log_iter_row want;
  for (int64_t s = 0; s < steps; ++s) {
    tiny_step_row(s, &want_step);
    EXPECT(same_bytes(&st[s], &want_step, sizeof want_step), "row %" PRId64 " of /steps differs",
           s);
    for (int64_t k = -1; k < TINY_ITERS; ++k) {
      const h5log_iter_row *const g = &it[s * (TINY_ITERS + 1) + k + 1];
      tiny_iter_row(s, k, &want);
      EXPECT(g->step == s && g->k == k && g->n_launch == want.n_launch &&
                 g->r_solved_rms == want.r_solved_rms && g->t_total == want.t_total &&
                 is_same_or_nan(g->e_contact, want.e_contact) && g->inner_iters == want.inner_iters,
             "row %" PRId64 " of step %" PRId64 " in /iters differs", k, s);
    }
  }
  return 0;
}

static int check_tiny_rows(loom_err *err, h5read *r, int64_t steps)
{
  const int64_t iters = steps * (TINY_ITERS + 1);
  EXPECT(h5read_num_iters(r) == iters, "%" PRId64 " rows of /iters for %" PRId64 " steps",
         h5read_num_iters(r), steps);
  EXPECT(h5read_num_rows(r, "iters_extra") == iters, "rows of /iters_extra");
  EXPECT(h5read_num_rows(r, "inner") == steps * TINY_ITERS * 2, "rows of /inner");
  h5log_step_row *const st = malloc((size_t)(steps + 1) * sizeof *st);
  h5log_iter_row *const it = malloc((size_t)(iters + 1) * sizeof *it);
  int bad = h5read_steps(r, err, 0, steps, st) != LOOM_OK ||
            h5read_iters(r, err, 0, iters, it) != LOOM_OK;
  bad = bad || check_row_values(err, st, it, steps) < 0;
  free(st);
  free(it);
  return bad ? -1 : 0;
}

static int check_tiny_frames(loom_err *err, h5read *r, int64_t steps)
{
  const int64_t n = h5read_num_verts(r), frames = h5read_num_frames(r);
  double *const x = malloc((size_t)n * 6 * sizeof *x), *const v = x + 3 * n;
  int bad = 0;
  for (int64_t t = 0; t < frames && !bad; ++t) {
    double time;
    int64_t step;
    bad = h5read_frame(r, err, t, x, v, &time, &step) != LOOM_OK;
    if (bad) break;
    bad = step >= steps || time != 0.01 * (double)(step + 1);
    for (int64_t i = 0; i < 3 * n && !bad; ++i) {
      const double wx = tiny_x(step, i / 3, (int)(i % 3)), wv = tiny_v(step, i / 3, (int)(i % 3));
      bad = fabs(x[i] - wx) > 1e-5 || fabs(v[i] - wv) > 1e-4; /* f32 has 24 bits: 97 * 6e-8 */
    }
    if (bad) err_set(err, LOOM_E_INTERNAL, "frame %" PRId64 " (step %" PRId64 ") differs", t, step);
  }
  free(x);
  return bad ? -1 : 0;
}

int64_t tiny_check(loom_err *err, const char *path, int64_t steps)
{
  h5read *r;
  if (h5read_open(err, path, &r) != LOOM_OK) return -1;
  const int64_t there = h5read_num_steps(r);
  int64_t result = there;
  if (there < 0 || (steps >= 0 && there != steps)) {
    err_set(err, LOOM_E_INTERNAL, "%" PRId64 " steps, expected %" PRId64, there, steps);
    result = -1;
  } else if (check_tiny_rows(err, r, there) < 0 || check_tiny_frames(err, r, there) < 0) {
    result = -1;
  }
  h5read_close(r);
  return result;
}

static int check_state_row(loom_err *err, h5read *r, const h5log_state_row *row, int64_t step)
{
  EXPECT(row->step == step && row->count > 0 && strcmp(row->name, "x") == 0,
         "row %" PRId64 " of /state differs", step);
  unsigned char *const data = malloc(2 * (size_t)row->count), *const want = data + row->count;
  int bad = h5read_state_data(r, err, row, data) != LOOM_OK;
  state_bytes(step, row->count, want);
  if (!bad && memcmp(data, want, (size_t)row->count) != 0) {
    err_set(err, LOOM_E_INTERNAL, "the state of step %" PRId64 " differs", step);
    bad = 1;
  }
  free(data);
  return bad ? -1 : 0;
}

int64_t tiny_check_state(loom_err *err, const char *path, int64_t steps)
{
  h5read *r;
  if (h5read_open(err, path, &r) != LOOM_OK) return -1;
  const int64_t there = h5read_num_rows(r, "state");
  h5log_state_row *const rows = malloc((size_t)(there < 0 ? 1 : there + 1) * sizeof *rows);
  int64_t result = there;
  if (there != steps) {
    err_set(err, LOOM_E_INTERNAL, "%" PRId64 " rows of /state, expected %" PRId64, there, steps);
    result = -1;
  } else if (h5read_states(r, err, 0, there, rows) != LOOM_OK) {
    result = -1;
  }
  for (int64_t i = 0; i < there && result >= 0; ++i)
    if (check_state_row(err, r, &rows[i], i) < 0) result = -1;
  free(rows);
  h5read_close(r);
  return result;
}
