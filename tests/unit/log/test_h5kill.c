/* test_h5kill.c - a log survives a kill at any write: of a run, its end, a repair, a continuation.
 *
 * The moments are counted, not waited for: the log's own calls of pwrite() and its like come to the
 * functions here, which kill the process at a given one.  LOOM_KILL_ALL=1 tries each of them, else
 * of long rows of pages some. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* MAP_ANONYMOUS, syscall */
#endif
#include <criterion/criterion.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "log/h5checkpoint.h"
#include "log/h5log_internal.h"
#include "log/h5read.h"
#include "support/bytes.h"
#include "support/tiny_log.h"

/* Bytes: the kernel copies a write page by page, and a kill stops it between two. */
enum { PAGE = 4096 };

/* Memory that a child and its parent share. */
typedef struct moments {
  int64_t seen; /* moments so far in which the child may be killed */
  int64_t kill; /* ... and the one in which it is; -1: never */
  int64_t told; /* the last step that was committed; -1: none */
} moments;
static moments *shared;
static int every_moment, not_counting, only_blocks;

static int killed_now(void)
{
  return shared != NULL && !not_counting && shared->seen++ == shared->kill;
}

static void kill_before(void)
{
  if (killed_now()) raise(SIGKILL);
}

/* ---- these take the place of the C library's functions ---- */
ssize_t pwrite(int fd, const void *buffer, size_t size, off_t offset)
{
  /* blocks of a chunk index, and writes longer than a page */
  if (only_blocks && size <= PAGE && (size < 4 || memcmp(buffer, "EADB", 4) != 0))
    return syscall(SYS_pwrite64, fd, buffer, size, offset);
  static int row; /* whole pages one after the other: every 16th is a moment */
  const size_t first = PAGE - (size_t)offset % PAGE;
  row = size == PAGE && first == PAGE ? row + 1 : 0;
  for (size_t done = 0; done < size; done = done == 0 ? first : done + PAGE) {
    const int inner = done > first && done + PAGE < size;
    if (!every_moment && (inner || row % 16 > 1)) continue;
    if (!killed_now()) continue;
    if (done > 0) syscall(SYS_pwrite64, fd, buffer, done, offset);
    raise(SIGKILL);
  }
  return syscall(SYS_pwrite64, fd, buffer, size, offset);
}

int ftruncate(int fd, off_t size)
{
  kill_before();
  return (int)syscall(SYS_ftruncate, fd, size);
}

int unlink(const char *path)
{
  kill_before();
  return (int)syscall(SYS_unlink, path);
}

int unlinkat(int dir, const char *path, int flags)
{
  kill_before();
  return (int)syscall(SYS_unlinkat, dir, path, flags);
}

/* A kill loses no written data, on the disk or not: there is no need to wait for it. */
int fdatasync(int fd)
{
  (void)fd;
  return 0;
}

int fsync(int fd)
{
  (void)fd;
  return 0;
}

int rename(const char *from, const char *to)
{
  kill_before();
  return (int)syscall(SYS_rename, from, to);
}

/* ---- changes that are killed ---- */
static tiny_options create_kill_options(void)
{
  static const char *const balls[1] = {"ball"};
  tiny_options o = {.frames_every = 2};
  o.log.num_obstacles = 1;
  o.log.obstacle_names = balls;
  o.log.overwrite = 1;
  return o;
}

enum { FIRST = 3, BASE = 5, LAST = 6 }; /* steps */

static loom_status add_steps(h5log *l, loom_err *err, int64_t from, int64_t to)
{
  const h5log_end end = {"finished", "2025-01-01T00:00:01Z", 4096};
  const tiny_options o = create_kill_options();
  for (int64_t i = from; i < to; ++i) {
    LOOM_TRY(tiny_step(l, err, &o, i));
    shared->told = i;
  }
  h5log_set_end(l, &end);
  return h5log_close(l, err, "finished");
}

static loom_status write_log(loom_err *err, const char *path)
{
  const tiny_options o = create_kill_options();
  h5log *l;
  LOOM_TRY(tiny_create(err, path, &o, &l));
  LOOM_TRY(tiny_start(l, err, &o));
  return add_steps(l, err, 0, FIRST);
}

/* One step less than there are: something is cut. */
static loom_status continue_log(loom_err *err, const char *path)
{
  const tiny_options o = create_kill_options();
  h5log *l;
  LOOM_TRY(tiny_resume(err, path, &o, BASE - 2, &l));
  return add_steps(l, err, BASE - 1, LAST);
}

static loom_status read_killed_log(loom_err *err, const char *path)
{
  h5read *r;
  LOOM_TRY(h5read_open(err, path, &r));
  h5read_close(r);
  return LOOM_OK;
}

typedef loom_status work_fn(loom_err *err, const char *path);

/* Returns whether it was killed. */
static int run_and_kill(work_fn *work, const char *path, int64_t moment)
{
  int status;
  *shared = (moments){.kill = moment, .told = -1};
  const pid_t pid = fork();
  cr_assert_geq(pid, 0);
  if (pid == 0) {
    loom_err err = {0};
    if (work(&err, path) == LOOM_OK) _exit(0);
    fprintf(stderr, "%s\n", err.text);
    _exit(2);
  }
  cr_assert_eq(waitpid(pid, &status, 0), pid);
  shared->kill = -1;
  if (WIFEXITED(status)) {
    cr_assert_eq(WEXITSTATUS(status), 0);
    return 0;
  }
  cr_assert(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL, "moment %" PRId64, moment);
  return 1;
}

static void set_up(void)
{
  shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  cr_assert_neq(shared, MAP_FAILED);
  shared->kill = -1;
  every_moment = getenv("LOOM_KILL_ALL") != NULL;
}
TestSuite(h5kill, .init = set_up);

/* ---- helpers for files ---- */
static void remove_log(const char *path)
{
  static const char *const tails[] = {"", ".part", ".journal"};
  char name[600];
  for (size_t i = 0; i < sizeof tails / sizeof tails[0]; ++i) {
    snprintf(name, sizeof name, "%s%s", path, tails[i]);
    unlink(name);
  }
}

static const char *killed_journal_path(const char *path)
{
  static char name[600];
  snprintf(name, sizeof name, "%s.journal", path);
  return name;
}

/* A log of BASE steps with a dead writer. */
static bytes dead_log(const char *path)
{
  remove_log(path);
  const pid_t pid = fork();
  cr_assert_geq(pid, 0);
  if (pid == 0) {
    const tiny_options o = create_kill_options();
    loom_err err = {0};
    h5log *l;
    loom_status s = tiny_create(&err, path, &o, &l);
    if (s == LOOM_OK) s = tiny_start(l, &err, &o);
    for (int64_t i = 0; s == LOOM_OK && i < BASE; ++i) s = tiny_step(l, &err, &o, i);
    if (s == LOOM_OK) raise(SIGKILL);
    _exit(2);
  }
  int status;
  cr_assert_eq(waitpid(pid, &status, 0), pid);
  cr_assert(WIFSIGNALED(status));
  return load_file_bytes(path);
}

static void check_frame_count(const char *path, int64_t steps)
{
  loom_err err = {0};
  h5read *r;
  cr_assert_eq(h5read_open(&err, path, &r), LOOM_OK, "%s", err.text);
  const int64_t frames = h5read_num_frames(r);
  cr_assert(frames == 1 + steps / 2 || (steps == 0 && frames == 0));
  h5read_close(r);
}

/* The log is sound and has at least `steps` steps. */
static int64_t check_killed_log(const char *path, int64_t steps, const char *what, int64_t moment)
{
  loom_err err = {0};
  const int64_t there = tiny_check(&err, path, -1);
  cr_assert_geq(there, steps, "%s, moment %" PRId64 ": %" PRId64 " steps of %" PRId64 ": %s", what,
                moment, there, steps, err.text);
  cr_assert_neq(access(killed_journal_path(path), F_OK), 0);
  check_frame_count(path, there);
  return there;
}

Test(h5kill, run_and_its_end)
{
  const char *const path = tiny_path(0, "k.h5");
  for (int64_t m = 0, killed = 1; killed; ++m) {
    loom_err err = {0};
    h5read *r;
    remove_log(path);
    killed = run_and_kill(write_log, path, m);
    if (access(path, F_OK) != 0) { /* not put in place yet */
      cr_assert_eq(shared->told, -1);
      continue;
    }
    check_killed_log(path, shared->told + 1, "a run", m);
    cr_assert_eq(h5read_open(&err, path, &r), LOOM_OK, "%s", err.text);
    const char *const status = h5read_attr(r, "status"), *const end = h5read_attr(r, "end_time");
    const int finished = strcmp(status, "finished") == 0;
    cr_assert_eq(finished, end[0] != '\0', "moment %" PRId64 ": %s, %s", m, status, end);
    cr_assert(killed || finished);
    h5read_close(r);
  }
}

Test(h5kill, repair)
{
  const char *const path = tiny_path(0, "k.h5");
  const bytes dead = dead_log(path);
  for (int64_t m = 0, killed = 1; killed; ++m) {
    remove_log(path);
    store_file_bytes(path, &dead);
    killed = run_and_kill(read_killed_log, path, m);
    cr_assert_eq(check_killed_log(path, BASE, "a repair", m), BASE);
  }
  free(dead.data);
}

Test(h5kill, continuation)
{
  const char *const path = tiny_path(0, "k.h5");
  const bytes dead = dead_log(path);
  int num_journals = 0;
  for (int64_t m = 0, killed = 1; killed; ++m) {
    loom_err err = {0};
    remove_log(path);
    store_file_bytes(path, &dead);
    killed = run_and_kill(continue_log, path, m);
    /* the first command after the kill may read it, or continue it */
    const int at_once = access(killed_journal_path(path), F_OK) == 0 && ++num_journals % 2 == 0;
    const int64_t told = shared->told >= 0 ? shared->told : BASE - 2;
    const int64_t there = at_once ? BASE : check_killed_log(path, told + 1, "a continuation", m);
    if (at_once || (m % 4 == 0 && there >= BASE - 1 && there < LAST)) {
      cr_assert_eq(continue_log(&err, path), LOOM_OK, "moment %" PRId64 ": %s", m, err.text);
      cr_assert_eq(check_killed_log(path, LAST, "continued", m), LAST);
    }
  }
  cr_assert_gt(num_journals, 10);
  free(dead.data);
}

/* ---- many chunks ---- */
/* Behind these, blocks of a chunk index are longer than a page, and every new chunk rewrites one.
 */
enum { CHUNK = 64, NUM_CHUNKS = 8200 }; /* bytes, chunks */

static tiny_options index_options(void)
{
  tiny_options o = create_kill_options();
  o.log.state_chunk = CHUNK;
  return o;
}

static loom_status state_steps(h5log *l, loom_err *err, int64_t from, int64_t to)
{
  const tiny_options o = index_options();
  for (int64_t i = from; i < to; ++i) {
    LOOM_TRY(tiny_state(l, err, i, i == 0 ? NUM_CHUNKS * CHUNK : CHUNK));
    LOOM_TRY(tiny_step(l, err, &o, i));
    shared->told = i;
  }
  return LOOM_OK;
}

static loom_status write_index(loom_err *err, const char *path)
{
  const tiny_options o = index_options();
  h5log *l;
  LOOM_TRY(tiny_create(err, path, &o, &l));
  LOOM_TRY(tiny_start(l, err, &o));
  LOOM_TRY(state_steps(l, err, 0, BASE));
  raise(SIGKILL);
  return LOOM_E_INTERNAL;
}

static loom_status continue_index(loom_err *err, const char *path)
{
  const tiny_options o = index_options();
  h5log *l;
  not_counting = 1; /* but the steps */
  LOOM_TRY(tiny_resume(err, path, &o, BASE - 1, &l));
  not_counting = 0;
  LOOM_TRY(state_steps(l, err, BASE, BASE + 1));
  not_counting = 1;
  const int64_t across = l->disk.split;
  LOOM_TRY(h5log_close(l, err, "finished"));
  return across > 0 ? LOOM_OK : err_set(err, LOOM_E_INTERNAL, "no block is longer than a page");
}

Test(h5kill, blocks_of_an_index_that_are_longer_than_a_page)
{
  const char *const path = tiny_path(0, "k.h5");
  int num_journals = 0;
  remove_log(path);
  cr_assert(run_and_kill(write_index, path, -1));
  const bytes dead = load_file_bytes(path);
  only_blocks = !every_moment;
  every_moment = 1;
  for (int64_t m = 0, killed = 1; killed; ++m) {
    loom_err err = {0};
    remove_log(path);
    store_file_bytes(path, &dead);
    killed = run_and_kill(continue_index, path, m);
    num_journals += access(killed_journal_path(path), F_OK) == 0;
    const int64_t told = shared->told >= 0 ? shared->told : BASE - 1;
    const int64_t there = check_killed_log(path, told + 1, "many chunks", m);
    cr_assert_eq(tiny_check_state(&err, path, there), there, "moment %" PRId64 ": %s", m, err.text);
  }
  cr_assert_gt(num_journals, 3);
  free(dead.data);
}

/* ---- checkpoints ---- */
enum { NUM_VALUES = 3000 };

static loom_status put_check(loom_err *err, const char *path, int64_t step)
{
  int64_t values[NUM_VALUES];
  h5checkpoint *c;
  for (int i = 0; i < NUM_VALUES; ++i) values[i] = 1000 * step + i;
  LOOM_TRY(h5checkpoint_begin(err, path, &c));
  loom_status s = h5checkpoint_put(c, err, "solver", "values", LOOM_I64, NUM_VALUES, values);
  if (s == LOOM_OK)
    s = h5checkpoint_put_scalars(c, err, step, 0.01 * (double)step, "0123456789abcdef");
  if (s == LOOM_OK) return h5checkpoint_commit(c, err);
  h5checkpoint_abort(c);
  return s;
}

static loom_status second_check(loom_err *err, const char *path) { return put_check(err, path, 2); }

/* The step of the newest checkpoint, with the values of that step. */
static int64_t check_step(const char *path)
{
  int64_t values[NUM_VALUES], step;
  char hash[17];
  double time;
  loom_err err = {0};
  h5checkpoint *c;
  cr_assert_eq(h5checkpoint_open(&err, path, -1, &c), LOOM_OK, "%s", err.text);
  h5checkpoint_scalars(c, &step, &time, hash);
  cr_assert_eq(h5checkpoint_get(c, &err, "solver", "values", LOOM_I64, NUM_VALUES, values), LOOM_OK,
               "%s", err.text);
  for (int i = 0; i < NUM_VALUES; ++i) cr_assert_eq(values[i], 1000 * step + i);
  h5checkpoint_close(c);
  return step;
}

/* The checkpoint before it, or the new one: either whole. */
Test(h5kill, checkpoint)
{
  const char *const path = tiny_path(0, "k.h5");
  int num_new = 0, num_old = 0;
  for (int64_t m = 0, killed = 1; killed; ++m) {
    loom_err err = {0};
    cr_assert_eq(h5checkpoint_discard(&err, path), LOOM_OK, "%s", err.text);
    cr_assert_eq(put_check(&err, path, 1), LOOM_OK, "%s", err.text);
    killed = run_and_kill(second_check, path, m);
    const int64_t step = check_step(path);
    cr_assert(step == 2 || (killed && step == 1), "moment %" PRId64 ": step %" PRId64, m, step);
    num_new += step == 2;
    num_old += step == 1;
    cr_assert_eq(put_check(&err, path, 3), LOOM_OK, "moment %" PRId64 ": %s", m, err.text);
    cr_assert_eq(check_step(path), 3);
  }
  cr_assert(num_old > 10 && num_new > 0, "%d %d", num_old, num_new);
}

/* ---- journals ---- */
/* Leaves at `path` a log with a repair that was killed when its journal, which it returns, was
 * whole and part of it was in the log; *dead gets the log before that. */
static bytes cut_off(const char *path, bytes *dead)
{
  *dead = dead_log(path);
  every_moment = 1;
  for (int64_t m = 0, begun = 0; !begun; ++m) {
    remove_log(path);
    store_file_bytes(path, dead);
    cr_assert(run_and_kill(read_killed_log, path, m));
    if (access(killed_journal_path(path), F_OK) != 0) continue;
    const bytes now = load_file_bytes(path);
    begun = !is_same_bytes(&now, dead);
    free(now.data);
  }
  return load_file_bytes(killed_journal_path(path));
}

Test(h5kill, journal_that_is_not_whole)
{
  const char *const path = tiny_path(0, "k.h5");
  bytes dead, journal = cut_off(path, &dead);
  const size_t lengths[] = {
      0, 1, 87, 88, 89, 4000, journal.size / 2, journal.size - 4112, journal.size - 1};
  for (size_t i = 0; i < sizeof lengths / sizeof lengths[0]; ++i) {
    const bytes part = {journal.data, lengths[i]};
    store_file_bytes(path, &dead);
    store_file_bytes(killed_journal_path(path), &part);
    cr_assert_eq(check_killed_log(path, BASE, "journal of length", (int64_t)lengths[i]), BASE);
  }
  /* from behind the words that tell a journal from other files */
  for (size_t at = 13; at < journal.size; at += at < 100 ? 1 : 509) {
    journal.data[at] ^= 1;
    store_file_bytes(path, &dead);
    store_file_bytes(killed_journal_path(path), &journal);
    cr_assert_eq(check_killed_log(path, BASE, "journal damaged at byte", (int64_t)at), BASE);
    journal.data[at] ^= 1;
  }
  free(journal.data);
  free(dead.data);
}

Test(h5kill, journal_is_not_written_to_another_log)
{
  const char *const path = tiny_path(0, "k.h5");
  loom_err err = {0};
  bytes dead, journal = cut_off(path, &dead);
  /* another log comes into its place */
  remove_log(path);
  cr_assert_eq(write_log(&err, path), LOOM_OK, "%s", err.text);
  const bytes other = load_file_bytes(path);
  store_file_bytes(killed_journal_path(path), &journal);
  h5read *r;
  cr_assert_eq(h5read_open(&err, path, &r), LOOM_OK, "%s", err.text);
  cr_assert(strstr(h5read_note(r), "was made for another log") != NULL, "%s", h5read_note(r));
  cr_assert(strstr(h5read_note(r), killed_journal_path(path)) != NULL, "%s", h5read_note(r));
  h5read_close(r);
  const tiny_options o = create_kill_options();
  h5log *l;
  cr_assert_eq(tiny_resume(&err, path, &o, FIRST - 1, &l), LOOM_E_IO);
  cr_assert(strstr(err.text, killed_journal_path(path)) != NULL, "%s", err.text);
  const bytes now = load_file_bytes(path), kept = load_file_bytes(killed_journal_path(path));
  cr_assert(is_same_bytes(&now, &other) && is_same_bytes(&kept, &journal));
  free(kept.data);
  /* a new run in its place takes the journal away */
  every_moment = 0;
  cr_assert(run_and_kill(write_log, path, 200));
  cr_assert_geq(shared->told, 0);
  check_killed_log(path, shared->told + 1, "over it", 200);
  free(now.data);
  free(other.data);
  free(journal.data);
  free(dead.data);
}

/* As the first command finds it that may not write. */
Test(h5kill, journal_and_read_only)
{
  const char *const path = tiny_path(0, "k.h5");
  loom_err err = {0};
  bytes dead, journal = cut_off(path, &dead);
  const bytes half = load_file_bytes(path);
  cr_assert_eq(chmod(path, 0444), 0);
  const pid_t pid = fork(); /* the parent must still be able to remove the folder */
  cr_assert_geq(pid, 0);
  if (pid == 0) {
    h5read *r;
    const int root = geteuid() == 0;
    if (root && (chmod(tiny_dir(), 0755) != 0 || chmod(killed_journal_path(path), 0644) != 0))
      _exit(9);
    if (root && setuid(65534) != 0) _exit(9);
    if (h5read_open(&err, path, &r) != LOOM_OK) _exit(1);
    if (strstr(h5read_note(r), root ? "belongs to another user" : "cannot be written to") == NULL)
      _exit(2);
    h5read_close(r);
    _exit(tiny_check(&err, path, BASE) == BASE ? 0 : 3);
  }
  int status;
  cr_assert_eq(waitpid(pid, &status, 0), pid);
  cr_assert(WIFEXITED(status) && WEXITSTATUS(status) == 0, "%d", status);
  const bytes now = load_file_bytes(path), kept = load_file_bytes(killed_journal_path(path));
  cr_assert(is_same_bytes(&now, &half) && is_same_bytes(&kept, &journal));
  free(half.data);
  free(now.data);
  free(kept.data);
  free(journal.data);
  free(dead.data);
}

/* Exit code of `act` in a folder that it may not write to, and the log there is left as it was. */
static int without_place(const char *path, int (*act)(const char *path))
{
  const bytes before = load_file_bytes(path);
  int status;
  cr_assert_eq(chmod(path, 0666), 0);
  cr_assert_eq(chmod(tiny_dir(), 0555), 0);
  const pid_t pid = fork(); /* the parent must still be able to remove the folder */
  cr_assert_geq(pid, 0);
  if (pid == 0) _exit(geteuid() == 0 && setuid(65534) != 0 ? 9 : act(path));
  cr_assert_eq(waitpid(pid, &status, 0), pid);
  cr_assert_eq(chmod(tiny_dir(), 0755), 0);
  cr_assert(WIFEXITED(status));
  const bytes after = load_file_bytes(path);
  cr_assert(is_same_bytes(&before, &after));
  free(before.data);
  free(after.data);
  return WEXITSTATUS(status);
}

static int read_base(const char *path)
{
  loom_err err = {0};
  return tiny_check(&err, path, BASE) != BASE;
}

/* Refused, with the journal's name, when everything else is done. */
static int expect_journal_refusal(const char *path)
{
  loom_err err = {0};
  const loom_status s = continue_log(&err, path);
  return s != LOOM_E_IO || strstr(err.text, killed_journal_path(path)) == NULL;
}

Test(h5kill, no_place_for_a_journal)
{
  const char *const path = tiny_path(0, "k.h5");
  loom_err err = {0};
  const bytes dead = dead_log(path);
  cr_assert_eq(without_place(path, read_base), 0);
  cr_assert_eq(without_place(path, expect_journal_refusal), 0);
  cr_assert_eq(read_killed_log(&err, path), LOOM_OK, "%s", err.text); /* repaired: a plain file */
  cr_assert_eq(without_place(path, read_base), 0);
  cr_assert_eq(without_place(path, expect_journal_refusal), 0);
  free(dead.data);
}
