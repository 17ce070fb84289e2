/* logdiff.c - compare two logs to the bit, and one with itself. */
#include "support/logdiff.h"
#include "log/h5read.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static h5read *open_compared_log(const char *path)
{
  loom_err err = {0};
  h5read *r = NULL;
  cr_assert_eq(h5read_open(&err, path, &r), LOOM_OK, "%s", err.text);
  return r;
}

static void same_dataset(h5read *a, h5read *b, const char *name)
{
  loom_err err = {0};
  void *x = NULL, *y = NULL;
  int rank_x = 0, rank_y = 0;
  int64_t dx[4] = {0}, dy[4] = {0}, count = 1;
  cr_assert_eq(h5read_dataset(a, &err, name, 1, &x, &rank_x, dx), LOOM_OK, "%s", err.text);
  cr_assert_eq(h5read_dataset(b, &err, name, 1, &y, &rank_y, dy), LOOM_OK, "%s", err.text);
  cr_assert_eq(rank_x, rank_y);
  for (int i = 0; i < rank_x; ++i) {
    cr_assert_eq(dx[i], dy[i], "%s: dimension %d is %lld and %lld", name, i, (long long)dx[i],
                 (long long)dy[i]);
    count *= dx[i];
  }
  cr_assert(count > 0, "%s is empty", name);
  const int64_t row = rank_x > 1 ? count / dx[0] : 1;
  for (int64_t i = 0; i < count; ++i)
    cr_assert(memcmp((double *)x + i, (double *)y + i, sizeof(double)) == 0,
              "%s: row %lld, item %lld: %.17g and %.17g", name, (long long)(i / row),
              (long long)(i % row), ((double *)x)[i], ((double *)y)[i]);
  free(x);
  free(y);
}

/* Counters of work in /steps and /iters, and columns of plugins that are one. */
static int is_work(const char *name)
{
  const char *const dot = strrchr(name, '.'); /* of collision.SECTION.NAME */
  const char *const own = dot != NULL ? dot + 1 : name;
  return strncmp(own, "n_", 2) == 0 || strcmp(name, "factorised") == 0;
}

/* May column `name` differ in a run that was continued in step `resumed`?  Lists of pairs grow
 * by repeating a detection, so launches, and the bytes that they move, depend on the queries that
 * the process has seen before. */
static int may_column_differ(const char *name, int64_t step, int64_t resumed)
{
  if (resumed == LOGS_UNBROKEN || !is_work(name)) return 0;
  if (resumed == LOGS_ANYWHERE || step == resumed) return 1;
  return (strcmp(name, "n_launch") == 0 || strcmp(name, "n_bytes") == 0) && step > resumed;
}

/* All rows of b and the last ones of a, behind `skip` others. */
static void same_column(h5read *a, h5read *b, const char *table, const char *name, char kind,
                        int64_t skip, int64_t rows, int64_t resumed)
{
  loom_err err = {0};
  uint64_t *const x = malloc(8 * (size_t)rows), *const y = malloc(8 * (size_t)rows);
  int64_t *const step = malloc(8 * (size_t)rows);
  const char *const steps = strcmp(table, "iters_extra") == 0 ? "iters" : table;
  cr_assert(x != NULL && y != NULL && step != NULL);
  cr_assert_eq(h5read_column(b, &err, steps, "step", 'I', 0, rows, step), LOOM_OK, "%s", err.text);
  cr_assert_eq(h5read_column(a, &err, table, name, kind, skip, rows, x), LOOM_OK, "%s", err.text);
  cr_assert_eq(h5read_column(b, &err, table, name, kind, 0, rows, y), LOOM_OK, "%s", err.text);
  for (int64_t i = 0; i < rows; ++i) {
    double p, q;
    if (may_column_differ(name, step[i], resumed)) continue;
    memcpy(&p, x + i, 8);
    memcpy(&q, y + i, 8);
    cr_assert(x[i] == y[i],
              "/%s, step %lld, column %s, row %lld: %llx and %llx (as numbers %.17g, %.17g)", table,
              (long long)step[i], name, (long long)i, (unsigned long long)x[i],
              (unsigned long long)y[i], p, q);
  }
  free(x);
  free(y);
  free(step);
}

static void same_table(h5read *a, h5read *b, const char *table, int tail, int64_t resumed)
{
  const int columns = h5read_num_columns(a, table);
  const int64_t rows = h5read_num_rows(b, table), skip = h5read_num_rows(a, table) - rows;
  int compared = 0;
  cr_assert_eq(columns, h5read_num_columns(b, table));
  cr_assert(skip == 0 || (tail && skip > 0), "/%s has %lld and %lld rows", table,
            (long long)(rows + skip), (long long)rows);
  if (rows == 0) return;
  for (int i = 0; i < columns; ++i) {
    loom_err err = {0};
    char name[H5READ_NAME_LEN], kind;
    cr_assert_eq(h5read_column_info(a, &err, table, i, name, &kind), LOOM_OK, "%s", err.text);
    if (strncmp(name, "t_", 2) == 0 || strncmp(name, "rss", 3) == 0) continue; /* clocks, memory */
    same_column(a, b, table, name, kind, skip, rows, resumed);
    ++compared;
  }
  cr_assert(compared > 0);
}

static void same_tables(h5read *a, h5read *b, int tail, int64_t resumed)
{
  static const char *const all[] = {"steps", "steps_extra", "iters", "iters_extra", "inner"};
  for (size_t i = 0; i < sizeof all / sizeof all[0]; ++i) same_table(a, b, all[i], tail, resumed);
}

void logs_same_bits(const char *path_a, const char *path_b, int64_t resumed)
{
  h5read *const a = open_compared_log(path_a), *const b = open_compared_log(path_b);
  cr_assert(h5read_num_steps(a) > 0 && h5read_num_frames(a) > 1, "%s is empty", path_a);
  same_dataset(a, b, "frames/step");
  same_dataset(a, b, "frames/time");
  same_dataset(a, b, "frames/x");
  same_dataset(a, b, "frames/v");
  same_tables(a, b, 0, resumed);
  h5read_close(a);
  h5read_close(b);
}

int64_t logs_same_tail(const char *path_a, const char *path_b)
{
  loom_err err = {0};
  h5read *const a = open_compared_log(path_a), *const b = open_compared_log(path_b);
  const size_t n = 3 * (size_t)h5read_num_verts(a);
  const int64_t frames = h5read_num_frames(b), skip = h5read_num_frames(a) - frames;
  double *const x = malloc(4 * n * sizeof *x), time[2];
  int64_t step[2] = {0}, first = 0;
  cr_assert(x != NULL && frames > 0 && skip >= 0);
  for (int64_t t = 0; t < frames; ++t) {
    cr_assert_eq(h5read_frame(a, &err, t + skip, x, x + n, &time[0], &step[0]), LOOM_OK);
    cr_assert_eq(h5read_frame(b, &err, t, x + 2 * n, x + 3 * n, &time[1], &step[1]), LOOM_OK, "%s",
                 err.text);
    cr_assert_eq(step[0], step[1]);
    cr_assert_eq(memcmp(x, x + 2 * n, 2 * n * sizeof *x), 0, "step %lld", (long long)step[1]);
    cr_assert_eq(memcmp(&time[0], &time[1], sizeof(double)), 0);
    if (t == 0) first = step[1] + 1;
  }
  same_tables(a, b, 1, LOGS_ANYWHERE);
  free(x);
  h5read_close(a);
  h5read_close(b);
  return first;
}

static void frames_finite(h5read *r, int64_t frames)
{
  loom_err err = {0};
  const int64_t n = h5read_num_verts(r);
  double *const x = malloc(48 * (size_t)n);
  cr_assert(x != NULL && n > 0);
  for (int64_t t = 0; t < frames; ++t) {
    int64_t step = -2;
    cr_assert_eq(h5read_frame(r, &err, t, x, x + 3 * n, NULL, &step), LOOM_OK, "%s", err.text);
    cr_assert_eq(step, t - 1);
    for (int64_t i = 0; i < 6 * n; ++i) cr_assert(isfinite(x[i]), "frame %lld", (long long)t);
  }
  free(x);
}

int64_t log_is_whole(const char *path, const char *status)
{
  loom_err err = {0};
  h5read *const r = open_compared_log(path);
  const int64_t steps = h5read_num_steps(r), iters = h5read_num_iters(r);
  h5log_step_row *const s = calloc((size_t)steps + 1, sizeof *s);
  h5log_iter_row *const k = calloc((size_t)iters + 1, sizeof *k);
  int64_t at = 0;
  cr_assert(s != NULL && k != NULL);
  cr_assert_eq(h5read_steps(r, &err, 0, steps, s), LOOM_OK, "%s", err.text);
  cr_assert_eq(h5read_iters(r, &err, 0, iters, k), LOOM_OK, "%s", err.text);
  for (int64_t i = 0; i < steps; ++i) {
    cr_assert_eq(s[i].step, i);
    for (int64_t j = -1; j < s[i].iters; ++j, ++at) {
      cr_assert(at < iters, "step %lld lacks rows of /iters", (long long)i);
      cr_assert(k[at].step == i && k[at].k == j, "/iters row %lld: step %lld, k %lld",
                (long long)at, (long long)k[at].step, (long long)k[at].k);
    }
    /* the last filter of a step has a row of its own */
    at += at < iters && k[at].step == i && k[at].k == s[i].iters && k[at].stage == -1;
  }
  /* a run that failed keeps all that it knows of the step it failed in */
  const int tail = strncmp(h5read_attr(r, "status"), "failed", 6) == 0;
  for (; tail && at < iters && k[at].step == steps; ++at) continue;
  cr_assert_eq(at, iters, "%lld rows of /iters belong to no finished step",
               (long long)(iters - at));
  cr_assert(tail || h5read_num_rows(r, "iters_extra") == iters);
  cr_assert_eq(h5read_num_rows(r, "steps_extra"), steps);
  const int64_t frames = h5read_num_frames(r);
  cr_assert(steps == 0 || frames == steps + 1 || (tail && frames == steps + 2),
            "%lld frames of %lld steps", (long long)frames, (long long)steps);
  frames_finite(r, frames);
  if (status != NULL) cr_assert_str_eq(h5read_attr(r, "status"), status);
  free(s);
  free(k);
  h5read_close(r);
  return steps;
}

double logs_distance(const char *path_a, const char *path_b)
{
  loom_err err = {0};
  h5read *const a = open_compared_log(path_a), *const b = open_compared_log(path_b);
  const int64_t n = h5read_num_verts(a), frames = h5read_num_frames(a);
  double *const x = malloc(48 * (size_t)n);
  double d = 0.0;
  cr_assert(x != NULL && n == h5read_num_verts(b) && frames == h5read_num_frames(b));
  for (int64_t t = 0; t < frames; ++t) {
    double *const y = x + 3 * n;
    cr_assert_eq(h5read_frame(a, &err, t, x, NULL, NULL, NULL), LOOM_OK, "%s", err.text);
    cr_assert_eq(h5read_frame(b, &err, t, y, NULL, NULL, NULL), LOOM_OK, "%s", err.text);
    for (int64_t i = 0; i < n; ++i)
      d = fmax(d, hypot(hypot(x[3 * i] - y[3 * i], x[3 * i + 1] - y[3 * i + 1]),
                        x[3 * i + 2] - y[3 * i + 2]));
  }
  free(x);
  h5read_close(a);
  h5read_close(b);
  return d;
}
