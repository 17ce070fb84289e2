/* test_h5crash.c - a writer killed at any moment leaves every finished step readable. */
#include <criterion/criterion.h>
#include <hdf5.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "log/h5log_internal.h"
#include "log/h5read.h"
#include "support/bytes.h"
#include "support/tiny_log.h"

static const char *const balls[1] = {"ball"};

/* Behind 8,176 chunks a block of HDF5's index of chunks is longer than a page, and a kill can tear
 * its write. */
enum { CHUNK = 64, NUM_CHUNKS = 8200 }; /* bytes, chunks */

static tiny_options crash_options(void)
{
  tiny_options o = {.frames_every = 2};
  o.log.num_obstacles = 1;
  o.log.obstacle_names = balls;
  o.log.overwrite = 1;
  return o;
}

static void sleep_us(int64_t us)
{
  const struct timespec t = {us / 1000000, us % 1000000 * 1000};
  nanosleep(&t, NULL);
}

/* Deterministic choice of moments (splitmix64): a failure can be repeated. */
static uint64_t next_splitmix64(uint64_t *state)
{
  uint64_t z = (*state += UINT64_C(0x9e3779b97f4a7c15));
  z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
  z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
  return z ^ (z >> 31);
}

/* In a child: write without end, reporting every finished step through a pipe. */
static pid_t start_writer(const char *path, const tiny_options *o, int64_t from, int *report)
{
  int ends[2];
  cr_assert_eq(pipe(ends), 0);
  const pid_t pid = fork();
  cr_assert_geq(pid, 0);
  if (pid == 0) {
    loom_err err = {0};
    h5log *l;
    close(ends[0]);
    loom_status s;
    if (from < 0) {
      s = tiny_create(&err, path, o, &l);
      if (s == LOOM_OK) s = tiny_start(l, &err, o);
    } else {
      s = tiny_resume(&err, path, o, from - 1, &l);
    }
    for (int64_t i = from < 0 ? 0 : from; s == LOOM_OK; ++i) {
      if (o->log.state_chunk > 0) s = tiny_state(l, &err, i, i == 0 ? NUM_CHUNKS * CHUNK : CHUNK);
      if (s == LOOM_OK) s = tiny_step(l, &err, o, i);
      if (s == LOOM_OK && write(ends[1], &i, sizeof i) != (ssize_t)sizeof i) _exit(3);
    }
    fprintf(stderr, "writer: %s\n", err.text);
    _exit(2);
  }
  close(ends[1]);
  *report = ends[0];
  return pid;
}

/* Read the reports up to that of `step`.  They have to be read anyway: a full pipe stops
 * the writer. */
static int64_t read_reports_until(int report, int64_t step)
{
  int64_t told = -1;
  while (told < step)
    cr_assert_eq(read(report, &told, sizeof told), sizeof told, "the writer has stopped");
  return told;
}

/* Kill it; the last step it reported, or -1. */
static int64_t kill_writer(pid_t pid, int report)
{
  int64_t step, last = -1;
  int status;
  kill(pid, SIGKILL);
  cr_assert_eq(waitpid(pid, &status, 0), pid);
  cr_assert(WIFSIGNALED(status), "the writer stopped by itself: %d", status);
  while (read(report, &step, sizeof step) == (ssize_t)sizeof step) last = step;
  close(report);
  return last;
}

static int num_rounds(int by_day)
{
  const char *const more = getenv("LOOM_CRASH_ROUNDS");
  return more != NULL ? atoi(more) : by_day;
}

Test(h5crash, killed_at_random_moments_then_resumed)
{
  uint64_t seed = 42;
  const char *const path = tiny_path(0, "k.h5");
  const tiny_options o = crash_options();
  const int rounds = num_rounds(30);
  for (int round = 0; round < rounds; ++round) {
    loom_err err = {0};
    int report;
    unlink(path);
    pid_t pid = start_writer(path, &o, -1, &report);
    sleep_us((int64_t)(next_splitmix64(&seed) % 60000));
    int64_t told = kill_writer(pid, report);
    if (access(path, F_OK) != 0) { /* killed before the file was put in place */
      cr_assert_eq(told, -1);
      continue;
    }
    int64_t steps = tiny_check(&err, path, -1);
    cr_assert_geq(steps, told + 1, "round %d: told %" PRId64 ", read %" PRId64 ": %s", round, told,
                  steps, err.text);

    /* killed again while it continues, repaired this time by the resume itself */
    pid = start_writer(path, &o, steps, &report);
    sleep_us((int64_t)(next_splitmix64(&seed) % 30000));
    told = kill_writer(pid, report);
    h5log *l;
    const int64_t last = told < 0 ? steps - 1 : told;
    cr_assert_eq(tiny_resume(&err, path, &o, last, &l), LOOM_OK, "round %d: %s", round, err.text);
    for (int64_t i = last + 1; i < last + 4; ++i)
      cr_assert_eq(tiny_step(l, &err, &o, i), LOOM_OK, "%s", err.text);
    cr_assert_eq(h5log_close(l, &err, "finished"), LOOM_OK, "%s", err.text);
    cr_assert_eq(tiny_check(&err, path, last + 4), last + 4, "round %d: %s", round, err.text);
  }
}

/* Two kills in a round: while a run goes on, in its start or between any two steps, and while it
 * goes on again. */
Test(h5crash, killed_at_random_moments_behind_many_chunks)
{
  uint64_t seed = 43;
  const char *const path = tiny_path(0, "k.h5");
  tiny_options o = crash_options();
  o.log.state_chunk = CHUNK;
  int report;
  const int rounds = num_rounds(5);
  pid_t pid = start_writer(path, &o, -1, &report);
  read_reports_until(report, 1);
  kill_writer(pid, report);
  loom_err err = {0};
  const int64_t base = tiny_check(&err, path, -1);
  cr_assert_geq(base, 2, "%s", err.text);
  const bytes dead = load_file_bytes(path);
  for (int round = 0; round < rounds; ++round) {
    store_file_bytes(path, &dead);
    int64_t steps = base;
    for (int kill = 0; kill < 2; ++kill) {
      pid = start_writer(path, &o, steps, &report);
      const int begun = next_splitmix64(&seed) % 4 > 0;
      const int64_t first = begun ? read_reports_until(report, steps) : steps - 1;
      sleep_us((int64_t)(next_splitmix64(&seed) % 6000));
      const int64_t later = kill_writer(pid, report), told = later > first ? later : first;
      steps = tiny_check(&err, path, -1);
      cr_assert_geq(steps, told + 1, "round %d: told %" PRId64 ", read %" PRId64 ": %s", round,
                    told, steps, err.text);
      cr_assert_eq(tiny_check_state(&err, path, steps), steps, "round %d: %s", round, err.text);
    }
  }
  free(dead.data);
}

/* Killed when a chunk of frames has just been opened: the file must hold all of the chunk, of
 * which only the first rows were ever written. */
Test(h5crash, killed_behind_the_first_frame_of_a_chunk)
{
  const char *const path = tiny_path(0, "k.h5");
  tiny_options o = crash_options();
  o.n = 3000; /* 3 frames in a chunk */
  o.frames_every = 1;
  for (int64_t last = 0; last < 8; ++last) {
    loom_err err = {0};
    unlink(path);
    const pid_t pid = fork();
    cr_assert_geq(pid, 0);
    if (pid == 0) {
      h5log *l;
      loom_status s = tiny_create(&err, path, &o, &l);
      if (s == LOOM_OK) s = tiny_start(l, &err, &o);
      for (int64_t i = 0; s == LOOM_OK && i <= last; ++i) s = tiny_step(l, &err, &o, i);
      if (s == LOOM_OK) raise(SIGKILL);
      _exit(2);
    }
    int status;
    cr_assert_eq(waitpid(pid, &status, 0), pid);
    cr_assert(WIFSIGNALED(status), "the writer stopped by itself: %d", status);
    const int64_t steps = tiny_check(&err, path, -1);
    cr_assert_eq(steps, last + 1, "after step %" PRId64 ": %s", last, err.text);
  }
}

/* The repair ends as an ordinary file that HDF5 alone opens. */
Test(h5crash, repaired_file_opens_plainly)
{
  const char *const path = tiny_path(0, "k.h5");
  const tiny_options o = crash_options();
  loom_err err = {0};
  h5read *r;
  int report;
  pid_t pid = start_writer(path, &o, -1, &report);
  read_reports_until(report, 19);
  kill_writer(pid, report);
  H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
  cr_assert_lt(H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT), 0, "flags should forbid this");
  cr_assert_eq(h5read_open(&err, path, &r), LOOM_OK, "%s", err.text);
  cr_assert(strstr(h5read_attr(r, "status"), "failed: the writing process died") != NULL);
  cr_assert_eq(h5read_live(r), 0);
  h5read_close(r);
  const hid_t f = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT);
  cr_assert_geq(f, 0);
  H5Fclose(f);
}

Test(h5crash, live_writer_is_read_but_never_touched)
{
  const char *const path = tiny_path(0, "k.h5");
  const tiny_options o = crash_options();
  loom_err err = {0};
  h5log *l;
  int report;
  pid_t pid = start_writer(path, &o, -1, &report);
  int64_t step = read_reports_until(report, 9);
  for (int i = 0; i < 10; ++i) {
    const int64_t seen = tiny_check(&err, path, -1);
    cr_assert_geq(seen, 10, "%s", err.text);
    step = read_reports_until(report, step + 1);
  }
  h5read *r;
  cr_assert_eq(h5read_open(&err, path, &r), LOOM_OK, "%s", err.text);
  cr_assert_eq(h5read_live(r), 1);
  cr_assert_str_eq(h5read_attr(r, "status"), "running");
  const int64_t before = h5read_num_steps(r);
  step = read_reports_until(report, before);
  cr_assert_gt(h5read_num_steps(r), before, "an open reader sees new steps");
  h5read_close(r);
  cr_assert_eq(tiny_resume(&err, path, &o, 3, &l), LOOM_E_IO);
  char who[64];
  snprintf(who, sizeof who, "writer: pid %ld on ", (long)pid);
  cr_assert(strstr(err.text, who) != NULL, "%s", err.text);
  cr_assert_eq(tiny_create(&err, path, &o, &l), LOOM_E_IO);
  cr_assert(strstr(err.text, "in use") != NULL, "%s", err.text);
  cr_assert_geq(kill_writer(pid, report), step);
  cr_assert_geq(tiny_check(&err, path, -1), 10, "%s", err.text);
}

/* Where the file cannot be repaired (read-only), it is read as it is. */
Test(h5crash, dead_and_read_only)
{
  const char *const path = tiny_path(0, "k.h5");
  const tiny_options o = crash_options();
  loom_err err = {0};
  int report;
  pid_t pid = start_writer(path, &o, -1, &report);
  read_reports_until(report, 19);
  const int64_t told = kill_writer(pid, report);
  if (geteuid() == 0) { /* root may write anything: use an identity that may not */
    pid = fork();
    if (pid == 0) {
      if (chmod(tiny_dir(), 0755) != 0 || setuid(65534) != 0) _exit(9);
      _exit(tiny_check(&err, path, -1) >= told + 1 ? 0 : 1);
    }
    int status;
    cr_assert_eq(waitpid(pid, &status, 0), pid);
    cr_assert(WIFEXITED(status) && WEXITSTATUS(status) == 0, "status %d", status);
  } else {
    cr_assert_eq(chmod(path, 0444), 0);
    cr_assert_geq(tiny_check(&err, path, -1), told + 1, "%s", err.text);
  }
}

/* A kill can stop a write between two pages, so metadata that is rewritten during a run
 * must not lie across one: with half an object header the table would be lost. */
Test(h5crash, no_metadata_write_crosses_a_page)
{
  const char *const path = tiny_path(0, "p.h5");
  const tiny_options o = crash_options();
  loom_err err = {0};
  h5log *l;
  cr_assert_eq(tiny_create(&err, path, &o, &l), LOOM_OK, "%s", err.text);
  cr_assert_eq(tiny_start(l, &err, &o), LOOM_OK, "%s", err.text);
  const int64_t before = l->disk.split;
  for (int64_t s = 0; s < 3000; ++s) cr_assert_eq(tiny_step(l, &err, &o, s), LOOM_OK);
  cr_assert_eq(l->disk.split, before);
  cr_assert_eq(h5log_close(l, &err, "finished"), LOOM_OK, "%s", err.text);
}
