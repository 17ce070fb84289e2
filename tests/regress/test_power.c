/* test_power.c - a power failure at any moment costs at most the steps since the last checkpoint.
 *
 * A model of a disk: the changes of all files of a run are noted (trace_io.c), and at a moment it
 * holds all that was synced, and of the rest none, a part up to some earlier moment, or single
 * pages by chance.  A run that is started on that goes on to the bits of an undisturbed run, or
 * says why not.  LOOM_POWER_CUTS moments of each kind and scene, 25 every night. */
#include <criterion/criterion.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "support/check_damage.h"
#include "support/device.h"
#include "support/logdiff.h"
#include "support/proc.h"
#include "support/trace_io.h"

TestSuite(power, .init = proc_enter_memory, .fini = proc_leave);

enum { PAGE = 4096, FILES = 4096, NAMES = 16, STEPS = 10 };
enum { NOTHING, A_PART, SOME_PAGES, NUM_LOSSES }; /* share of the unsynced data that is there */
static const char *const loss_names[NUM_LOSSES] = {"nothing", "a part", "some pages"};

/* ---- the trace ---- */
typedef struct change {
  trace_op op;
  const char *data;
  int file; /* index of its file: an inode may be used again */
} change;

static struct {
  char *text;
  change *all;
  int64_t num;
  int num_files;
} trace;

static void load_trace(const char *name)
{
  uint64_t inode[FILES];
  FILE *const f = fopen(name, "rb");
  cr_assert(f != NULL && fseek(f, 0, SEEK_END) == 0);
  const size_t size = (size_t)ftell(f);
  rewind(f);
  free(trace.text);
  free(trace.all);
  trace.text = malloc(size);
  trace.all = malloc((size / sizeof(trace_op) + 1) * sizeof *trace.all);
  trace.num = trace.num_files = 0;
  cr_assert_eq(fread(trace.text, 1, size, f), size);
  fclose(f);
  for (size_t at = 0; at < size;) {
    change *const c = &trace.all[trace.num++];
    memcpy(&c->op, trace.text + at, sizeof c->op);
    at += sizeof c->op;
    c->data = trace.text + at;
    c->file = -1;
    if (c->op.kind == TRACE_WRITE) at += (size_t)c->op.size;
    for (int i = trace.num_files; i-- > 0 && c->file < 0 && c->op.kind != TRACE_CREATE;)
      if (inode[i] == c->op.file) c->file = i;
    if (c->op.kind != TRACE_CREATE) continue;
    cr_assert_lt(trace.num_files, FILES);
    c->file = trace.num_files;
    inode[trace.num_files++] = c->op.file;
  }
}

/* ---- the disk ---- */
typedef struct content {
  char *data;
  int64_t size;
} content;

static struct {
  content file[FILES];
  char name[NAMES][64];
  int of[NAMES]; /* the file of that name, -1: none */
} disk;

static int find_name(const char *name)
{
  for (int i = 0; i < NAMES; ++i)
    if (disk.of[i] >= 0 && strcmp(disk.name[i], name) == 0) return i;
  return -1;
}

static void set_name(const char *name, int file)
{
  int i = find_name(name);
  for (int k = 0; i < 0 && k < NAMES; ++k)
    if (disk.of[k] < 0) i = k;
  cr_assert_geq(i, 0);
  snprintf(disk.name[i], sizeof disk.name[i], "%s", name);
  disk.of[i] = file;
}

static void resize_content(content *c, int64_t size)
{
  c->data = realloc(c->data, (size_t)size + 1);
  if (size > c->size) memset(c->data + c->size, 0, (size_t)(size - c->size));
  c->size = size;
}

static uint64_t next_cut_random(uint64_t *state) /* splitmix64 */
{
  uint64_t z = (*state += UINT64_C(0x9e3779b97f4a7c15));
  z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
  z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
  return z ^ (z >> 31);
}

/* Whether the page of a file was written back, the same for all its changes. */
static int page_is_there(int file, int64_t page, uint64_t seed)
{
  uint64_t state = seed ^ ((uint64_t)file << 40) ^ (uint64_t)page;
  return (next_cut_random(&state) & 1) != 0;
}

/* `whole`: else only the pages of it that are there by chance. */
static void write_back(const change *c, int whole, uint64_t seed)
{
  content *const to = &disk.file[c->file];
  const int64_t end = c->op.at + c->op.size;
  if (end > to->size) resize_content(to, end);
  for (int64_t at = c->op.at; at < end;) {
    const int64_t next = (at / PAGE + 1) * PAGE, stop = next < end ? next : end;
    if (whole || page_is_there(c->file, at / PAGE, seed))
      memcpy(to->data + at, c->data + (at - c->op.at), (size_t)(stop - at));
    at = stop;
  }
}

static void rename_or_remove(const change *c)
{
  const int from = find_name(c->op.name);
  if (from < 0) return; /* it was not there yet */
  if (c->op.kind == TRACE_RENAME) set_name(c->op.to, disk.of[from]);
  disk.of[find_name(c->op.name)] = -1;
}

static void apply_change(const change *c, int whole, uint64_t seed)
{
  if (c->op.kind == TRACE_CREATE) set_name(c->op.name, c->file);
  if (c->op.kind == TRACE_WRITE && c->file >= 0) write_back(c, whole, seed);
  if (c->op.kind == TRACE_CUT && c->file >= 0) resize_content(&disk.file[c->file], c->op.size);
  if (c->op.kind == TRACE_RENAME || c->op.kind == TRACE_REMOVE) rename_or_remove(c);
}

static int is_name_change(const change *c)
{
  return c->op.kind == TRACE_CREATE || c->op.kind == TRACE_RENAME || c->op.kind == TRACE_REMOVE;
}

/* Change `i` was synced before moment `cut`. */
static int is_synced(int64_t i, int64_t cut)
{
  const change *const c = &trace.all[i];
  for (int64_t k = i + 1; k < cut; ++k) {
    const change *const s = &trace.all[k];
    if (is_name_change(c) ? s->op.kind == TRACE_SYNC_FOLDER
                          : s->op.kind == TRACE_SYNC && s->file == c->file)
      return 1;
  }
  return 0;
}

/* The files after the power failed at moment `cut`, into the current folder. */
static void fail_power(int64_t cut, int loss, uint64_t seed)
{
  uint64_t state = seed;
  const int64_t part = (int64_t)(next_cut_random(&state) % (uint64_t)(cut + 1));
  for (int i = 0; i < trace.num_files; ++i) {
    free(disk.file[i].data);
    disk.file[i] = (content){NULL, 0};
  }
  for (int i = 0; i < NAMES; ++i) disk.of[i] = -1;
  for (int64_t i = 0; i < cut; ++i) {
    const change *const c = &trace.all[i];
    const int synced = is_synced(i, cut);
    /* names, and sizes, come to the disk in order; so does all of a part */
    const int there = synced || (loss == A_PART && i < part) ||
                      (loss == SOME_PAGES && (!is_name_change(c) || i < part));
    if (there) apply_change(c, synced || loss != SOME_PAGES, seed);
  }
  for (int i = 0; i < NAMES; ++i) {
    if (disk.of[i] < 0) continue;
    const content *const c = &disk.file[disk.of[i]];
    FILE *const f = fopen(disk.name[i], "wb");
    cr_assert(f != NULL &&
              fwrite(c->data != NULL ? c->data : "", 1, (size_t)c->size, f) == (size_t)c->size);
    cr_assert_eq(fclose(f), 0);
  }
}

/* Checkpoints with names on the disk. */
static int num_checkpoints(int64_t cut)
{
  int num = 0;
  for (int64_t i = 0; i < cut; ++i)
    num += trace.all[i].op.kind == TRACE_RENAME && strcmp(trace.all[i].op.to, "a.check.h5") == 0 &&
           is_synced(i, cut);
  return num;
}

/* ---- the runs ---- */
typedef struct outcomes {
  int continued, from_start, anew, refused;
} outcomes;

static void remove_files(void)
{
  static const char *const all[] = {
      "a.h5",       "a.h5.part",       "a.h5.journal",    "a.aside-1.h5",
      "a.check.h5", "a.check.prev.h5", "a.check.h5.part", "a.aside-1.h5.journal"};
  for (size_t i = 0; i < sizeof all / sizeof all[0]; ++i) unlink(all[i]);
}

static void continue_after(int64_t cut, int loss, uint64_t seed, outcomes *n)
{
  proc p;
  char where[160];
  snprintf(where, sizeof where, "moment %" PRId64 " of %" PRId64 ", %s, seed %" PRIu64, cut,
           trace.num, loss_names[loss], seed);
  remove_files();
  fail_power(cut, loss, seed);
  const int had_log = proc_exists("a.h5");
  /* a device has address space of its own */
  proc_loom_small(&p, test_on_cuda() ? 0 : INT64_C(8) << 30,
                  LOOM_ARGS("run", "d.ini", "-n", "10", "-o", "a.h5", "--resume=auto"));
  cr_assert(p.code == 0 || p.code == 1 || p.code == 2, "%s: exit code %d\n%s", where, p.code,
            p.err);
  if (p.code != 0) {
    cr_assert(strstr(p.err, "loom: a.") != NULL, "%s: no reason\n%s", where, p.err);
    printf("power: %s: refused: %.300s\n", where, p.err);
    ++n->refused;
    return;
  }
  /* a checkpoint that was finished is used, and it is the newest of them */
  const int num = num_checkpoints(cut);
  cr_assert(num == 0 || strstr(p.err, "starts anew") == NULL, "%s: %s", where, p.err);
  cr_assert(num == 0 || strstr(p.err, "checkpoint before it") == NULL, "%s: %s", where, p.err);
  const int anew = strstr(p.err, "this log begins with step") != NULL;
  if (!anew) {
    logs_same_bits("whole.h5", "a.h5", LOGS_ANYWHERE);
    ++*(strstr(p.err, "starts anew") != NULL ? &n->from_start : &n->continued);
    return;
  }
  /* writes came to the disk in their order, and the log before its checkpoint */
  cr_assert_eq(loss, SOME_PAGES, "%s: the log was lost\n%s", where, p.err);
  const int64_t first = logs_same_tail("whole.h5", "a.h5");
  cr_assert(first == 4 || first == 8 || first == STEPS, "%s: %" PRId64, where, first);
  cr_assert_eq(proc_exists("a.aside-1.h5"), had_log, "%s: the old log is gone", where);
  ++n->anew;
}

static void run_power_cuts(int which)
{
  const char *const asked = getenv("LOOM_POWER_CUTS"), *const seed_text = getenv("LOOM_POWER_SEED");
  const int cuts = asked != NULL ? atoi(asked) : 2;
  const uint64_t seed = seed_text == NULL               ? 1
                        : strcmp(seed_text, "new") == 0 ? (uint64_t)time(NULL)
                                                        : strtoull(seed_text, NULL, 0);
  uint64_t state = seed + (uint64_t)which;
  if (which < 0)
    proc_write("d.ini", "[run]\nsteps = 12\ndt = 0.01\n[exec]\nbackend = cpu\nthreads = 1\n"
                        "[cloth.sheet]\nmodel = arap+isometric\npattern = regular\nshape = "
                        "grid\nsize = 0.6 0.6\nresolution = 9 9\n"
                        "transform = translate 0.02 0.01 0.225\ndensity = 0.2\nmembrane = 1000\n"
                        "k_b = 1e-4\nthickness = 2 mm\n[body.ball]\nshape = sphere\n"
                        "radius = 0.12\nposition = 0 0 0.1\n[stop]\ntol_abs = 1e-6\n"
                        "max_iters = 6\n[log]\ncheckpoint_every = 4\naudit = off\nstate = all\n"
                        "[collision.bodies]\nplugin = sdf\n[contact.all]\nplugin = penalty\n"
                        "pairs = obstacle\n[solver]\nplugin = cholmod_pd\n");
  else
    cd_scene(which, "d");
  LOOM_FINE("run", "d.ini", "--quiet", "-n", "10", "-o", "whole.h5");
  cr_assert_eq(setenv("LD_PRELOAD", getenv("LOOM_TRACE_LIBRARY"), 1), 0);
  char name[64]; /* in another folder than the noted files */
  snprintf(name, sizeof name, "/tmp/loom-power-%ld", (long)getpid());
  cr_assert_eq(setenv("LOOM_TRACE", name, 1), 0);
  LOOM_FINE("run", "d.ini", "--quiet", "-n", "10", "-o", "a.h5");
  unsetenv("LD_PRELOAD");
  unsetenv("LOOM_TRACE");
  load_trace(name);
  unlink(name);
  cr_assert_gt(trace.num, 300);
  outcomes n = {0};
  for (int loss = 0; loss < NUM_LOSSES; ++loss)
    for (int i = 0; i < cuts; ++i) {
      const int64_t length = trace.num / cuts, begin = i * length;
      const int64_t cut = begin + 1 + (int64_t)(next_cut_random(&state) % (uint64_t)length);
      continue_after(cut, loss, next_cut_random(&state), &n);
    }
  printf("power: seed %" PRIu64 ", %d moments of %" PRId64 " x %d: %d logs went on, %d began anew "
         "at a checkpoint, %d runs from their start, %d refused\n",
         seed, cuts, trace.num, NUM_LOSSES, n.continued, n.anew, n.from_start, n.refused);
}

Test(power, penalty) { run_power_cuts(-1); }
Test(power, ndb) { run_power_cuts(0); }
Test(power, ipc_barrier) { run_power_cuts(2); }
