/* sim.c - run a config given as text and read its log back. */
#include "support/sim.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "log/h5read.h"
#include "support/device.h"

static void print_message(void *user, int level, const char *text)
{
  (void)user;
  if (level <= LOOM_LOG_WARN) fprintf(stderr, "%s\n", text);
}

static void read_sim_log(sim *s)
{
  h5read *r = NULL;
  int rank = 0;
  int64_t dims[4];
  void *rest = NULL;
  cr_assert_eq(h5read_open(&s->err, s->log, &r), LOOM_OK, "%s", s->err.text);
  s->n = h5read_num_verts(r);
  s->nt = h5read_num_tris(r);
  s->frames = h5read_num_frames(r);
  s->steps = h5read_num_steps(r);
  s->iters = h5read_num_iters(r);
  s->x = malloc(sizeof(double) * 3 * (size_t)s->n);
  s->v = malloc(sizeof(double) * 3 * (size_t)s->n);
  s->tris = malloc(sizeof(int32_t) * 3 * (size_t)(s->nt + 1));
  cr_assert(s->x != NULL && s->v != NULL && s->tris != NULL);
  cr_assert_eq(h5read_frame(r, &s->err, s->frames - 1, s->x, s->v, &s->time, NULL), LOOM_OK, "%s",
               s->err.text);
  if (s->nt > 0) cr_assert_eq(h5read_tris(r, &s->err, s->tris), LOOM_OK, "%s", s->err.text);
  cr_assert_eq(h5read_dataset(r, &s->err, "scene/rest", 1, &rest, &rank, dims), LOOM_OK, "%s",
               s->err.text);
  s->rest = rest;
  h5read_close(r);
}

void sim_run(sim *s, const char *text, const char *const *sets, int may_fail)
{
  cfg *c = NULL;
  run *r = NULL;
  const char *all[32];
  int num_sets = 0;
  memset(s, 0, sizeof *s);
  snprintf(s->dir, sizeof s->dir, "/tmp/loom_test_XXXXXX");
  cr_assert(mkdtemp(s->dir) != NULL);
  snprintf(s->log, sizeof s->log, "%s/run.h5", s->dir);
  if (test_on_cuda()) all[num_sets++] = ON_CUDA; /* the test's own settings come later */
  for (int i = 0; sets != NULL && sets[i] != NULL && num_sets < 32; ++i) all[num_sets++] = sets[i];
  const run_options o = {.out = s->log,
                         .command = "test",
                         .steps = -1,
                         .resume_step = -1,
                         .overwrite = 1,
                         .message = print_message};
  s->status = cfg_parse(&s->err, text, "test.ini", s->dir, all, num_sets, &c);
  if (s->status == LOOM_OK) s->status = run_open(&s->err, c, &o, &r);
  if (s->status == LOOM_OK) {
    s->status = run_execute(r, &o);
    s->sum = *run_get_summary(r);
  }
  run_close(r, &s->complaints);
  cfg_free(c);
  cr_assert(may_fail || s->status == LOOM_OK, "%s", s->err.text);
  cr_assert_eq(s->complaints, 0);
  if (s->status == LOOM_OK) read_sim_log(s);
}

void sim_free(sim *s)
{
  char path[160];
  static const char *const names[] = {"run.h5", "run.h5.check.h5", "run.h5.check.prev.h5",
                                      "run.check.h5", "run.check.prev.h5"};
  for (size_t i = 0; i < sizeof names / sizeof *names; ++i) {
    snprintf(path, sizeof path, "%s/%s", s->dir, names[i]);
    unlink(path);
  }
  rmdir(s->dir);
  free(s->x);
  free(s->v);
  free(s->rest);
  free(s->tris);
}

void sim_frame(sim *s, int64_t t, double *x, double *v, double *time)
{
  h5read *r = NULL;
  cr_assert_eq(h5read_open(&s->err, s->log, &r), LOOM_OK, "%s", s->err.text);
  cr_assert_eq(h5read_frame(r, &s->err, t, x, v, time, NULL), LOOM_OK, "%s", s->err.text);
  h5read_close(r);
}

h5log_step_row *sim_steps(sim *s)
{
  h5read *r = NULL;
  h5log_step_row *rows = calloc((size_t)s->steps + 1, sizeof *rows);
  cr_assert(rows != NULL);
  cr_assert_eq(h5read_open(&s->err, s->log, &r), LOOM_OK, "%s", s->err.text);
  cr_assert_eq(h5read_steps(r, &s->err, 0, s->steps, rows), LOOM_OK, "%s", s->err.text);
  h5read_close(r);
  return rows;
}

h5log_iter_row *sim_iters(sim *s)
{
  h5read *r = NULL;
  h5log_iter_row *rows = calloc((size_t)s->iters + 1, sizeof *rows);
  cr_assert(rows != NULL);
  cr_assert_eq(h5read_open(&s->err, s->log, &r), LOOM_OK, "%s", s->err.text);
  cr_assert_eq(h5read_iters(r, &s->err, 0, s->iters, rows), LOOM_OK, "%s", s->err.text);
  h5read_close(r);
  return rows;
}
