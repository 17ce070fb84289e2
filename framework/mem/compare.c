/* compare.c - compares every kernel on the device with its CPU launcher, on arguments of real runs.
 *
 * An argument block is searched for addresses of device memory.  The buffers behind them are copied
 * to the host, and so are structs that they hold; copies of the block point to these copies.  So a
 * kernel needs no description to be compared. */
#include "mem/compare.h"

#include <fcntl.h>
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "mem/internal.h"

enum { KERNELS_MAX = 1024, BLOCKS_MAX = 64, ARGS_MAX = 4096, ALIGNMENT = 64 };
enum { ALWAYS = 8 };    /* the first launches of a kernel are compared, then number 2^k */
enum { PREFIXES = 16 }; /* of a sum, to see how large its terms are */
enum { SUM_ULPS = 256 };

typedef struct kernel {
  const char *name; /* of its row, which has one for each */
  int64_t launches; /* with elements */
  int told;         /* 1: the file has its line */
} kernel;

/* Device memory that an argument points into. */
typedef struct block {
  const char *owner, *name;
  char *device;
  size_t bytes;
  int type, written;
  char *host;     /* [bytes] data of the CPU launcher */
  char *was;      /* [bytes] before the launch */
  char *got;      /* [bytes] host copy of the device's data after the launch */
  double allowed; /* allowed difference of reals */
} block;

typedef struct launch {
  const loom_exec *q;
  const lk_entry *k;
  lk_int n;
  int num, changed;
  uint64_t low, high; /* no address outside [low, high) is a device address */
  block b[BLOCKS_MAX];
  _Alignas(ALIGNMENT) char args[ARGS_MAX];
  loom_real *result; /* on the host, NULL: the kernel has no reduction */
  char what[LOOM_WHY_LEN - 64];
} launch;

/* One per process: kernels of several runs count together.  Launches come from one thread. */
static struct {
  mem *sets;
  loom_exec cpu;
  int num;
  kernel k[KERNELS_MAX];
} all;

const char *compare_file(void)
{
  const char *const file = getenv("LOOM_KERNEL_COMPARE");
  return file != NULL && file[0] != '\0' ? file : NULL;
}

void compare_add(mem *m)
{
  if (compare_file() == NULL) return;
  m->next_set = all.sets;
  all.sets = m;
}

void compare_remove(mem *m)
{
  for (mem **at = &all.sets; *at != NULL; at = &(*at)->next_set)
    if (*at == m) {
      *at = m->next_set;
      return;
    }
}

/* ---- target of an address ---- */
static int is_within(uint64_t word, const void *p, size_t bytes)
{
  return p != NULL && (word == (uint64_t)p || word - (uint64_t)p < bytes);
}

static block get_device_block(const loom_buf *b)
{
  const buf_side *const s = &b->side[SIDE_DEVICE];
  return (block){.owner = b->owner,
                 .name = b->name,
                 .device = s->copy != NULL ? s->copy : s->data,
                 .bytes = buf_bytes(b),
                 .type = b->type,
                 .written = b->writer != 0};
}

/* The block of device memory with the address `word`.  A block that contains it wins over an empty
 * one that begins there. */
static int find_device_block(const loom_exec *q, uint64_t word, block *found)
{
  const block result = {.owner = "core",
                        .name = "results",
                        .device = (char *)q->result,
                        .bytes = LOOM_NUM_RESULTS * sizeof(loom_real),
                        .type = LOOM_REAL,
                        .written = 1};
  int any = 0;
  if (is_within(word, result.device, result.bytes)) {
    *found = result;
    return 1;
  }
  for (const mem *m = all.sets; m != NULL; m = m->next_set)
    for (const loom_buf *b = m->first; b != NULL; b = b->next) {
      const block one = get_device_block(b);
      if (!is_within(word, one.device, one.bytes)) continue;
      *found = one;
      any = 1;
      if (one.bytes > 0) return 1;
    }
  return any;
}

static loom_status fetch_device_block(const launch *l, const block *b, char *to)
{
  loom_err err = {0};
  if (b->bytes == 0) return LOOM_OK;
  return dev_copy(&err, l->q->stream, to, b->device, b->bytes, DEV_TO_HOST);
}

static char *host_memory(size_t bytes)
{
  return aligned_alloc(ALIGNMENT, (bytes / ALIGNMENT + 1) * ALIGNMENT);
}

static void extend_address_range(launch *l, const void *p, size_t bytes)
{
  const uint64_t at = (uint64_t)p, end = at + (bytes > 0 ? bytes : 1);
  if (p == NULL) return;
  if (l->high == 0 || at < l->low) l->low = at;
  if (end > l->high) l->high = end;
}

/* Range of all device addresses: a search of large buffers can skip most words at a glance. */
static void find_range(launch *l)
{
  extend_address_range(l, l->q->result, LOOM_NUM_RESULTS * sizeof(loom_real));
  for (const mem *m = all.sets; m != NULL; m = m->next_set)
    for (const loom_buf *b = m->first; b != NULL; b = b->next) {
      const block one = get_device_block(b);
      extend_address_range(l, one.device, one.bytes);
    }
}

/* The host copy of the data that `word` points at; 0 if it is no address of the device. */
static loom_status translate_address(launch *l, uint64_t word, uint64_t *out)
{
  block found;
  *out = 0;
  if (word < l->low || word >= l->high) return LOOM_OK;
  for (int k = 0; k < l->num; ++k) {
    const block *const b = &l->b[k];
    if (!is_within(word, b->device, b->bytes)) continue;
    *out = (uint64_t)b->host + (word - (uint64_t)b->device);
    return LOOM_OK;
  }
  if (!find_device_block(l->q, word, &found)) return LOOM_OK;
  if (l->num == BLOCKS_MAX) return LOOM_E_INTERNAL;
  block *const b = &l->b[l->num++];
  *b = found;
  b->host = host_memory(b->bytes);
  b->was = host_memory(b->bytes);
  b->got = host_memory(b->bytes);
  if (b->host == NULL || b->was == NULL || b->got == NULL) return LOOM_E_NOMEM;
  LOOM_TRY(fetch_device_block(l, b, b->was));
  memcpy(b->host, b->was, b->bytes);
  *out = (uint64_t)b->host + (word - (uint64_t)b->device);
  return LOOM_OK;
}

/* Structs in memory, for example the bodies of a scene, hold addresses, too. */
static loom_status translate_block(launch *l, int i)
{
  const block b = l->b[i];
  uint64_t word, other;
  if (b.type != LOOM_U8 || b.written) return LOOM_OK;
  for (size_t at = 0; at + sizeof word <= b.bytes; at += sizeof word) {
    memcpy(&word, b.was + at, sizeof word);
    LOOM_TRY(translate_address(l, word, &other));
    if (other != 0) memcpy(b.host + at, &other, sizeof other);
  }
  memcpy(b.was, b.host, b.bytes);
  return LOOM_OK;
}

/* Argument block and result for the CPU launcher. */
static loom_status make_arguments(launch *l, const void *args, const loom_real *result)
{
  uint64_t word, other;
  if (l->k->args_size > sizeof l->args) return LOOM_E_INTERNAL;
  memcpy(l->args, args, l->k->args_size);
  find_range(l);
  for (size_t i = 0; i + sizeof word <= l->k->args_size; i += sizeof word) {
    memcpy(&word, l->args + i, sizeof word);
    LOOM_TRY(translate_address(l, word, &other));
    if (other != 0) memcpy(l->args + i, &other, sizeof other);
  }
  for (int k = 0; k < l->num; ++k) LOOM_TRY(translate_block(l, k));
  if (result == NULL) return LOOM_OK;
  LOOM_TRY(translate_address(l, (uint64_t)result, &other));
  l->result = (loom_real *)other; /* NULL is refused by the CPU's launch */
  return other != 0 ? LOOM_OK : LOOM_E_INTERNAL;
}

static void free_launch_blocks(launch *l)
{
  for (int k = 0; k < l->num; ++k) {
    free(l->b[k].host);
    free(l->b[k].was);
    free(l->b[k].got);
  }
}

/* ---- comparing ---- */
static double real_epsilon(void)
{
  return sizeof(loom_real) == 8 ? DBL_EPSILON : (double)FLT_EPSILON;
}

static int is_within_allowance(double a, double b, double allowed)
{
  if (isnan(a) || isnan(b)) return isnan(a) && isnan(b);
  return a == b || fabs(a - b) <= allowed; /* a and b may be infinite */
}

static void report_item_difference(launch *l, const block *b, size_t item, double device,
                                   double host)
{
  snprintf(l->what, sizeof l->what,
           "buffer '%s' of %s, item %zu: %.17g on the device, %.17g on the CPU", b->name, b->owner,
           item, device, host);
}

/* Bitwise also for numbers: 0 and -0 differ, two NaN may be equal. */
static int same_bits(const void *a, const void *b, size_t bytes)
{
  return memcmp(a, b, bytes) == 0;
}

static void compare_reals(launch *l, const block *b)
{
  const loom_real *const x = (const loom_real *)(const void *)b->got;
  const loom_real *const y = (const loom_real *)(const void *)b->host;
  for (size_t i = 0; i < b->bytes / sizeof *x; ++i) {
    const int same = same_bits(&x[i], &y[i], sizeof *x);
    if (same || &y[i] == l->result) continue; /* the result is compared apart */
    if (l->k->ulps > 0 && is_within_allowance((double)x[i], (double)y[i], b->allowed)) continue;
    if (isnan((double)x[i]) && isnan((double)y[i])) continue;
    report_item_difference(l, b, i, (double)x[i], (double)y[i]);
    return;
  }
}

static double read_integer_item(const block *b, const char *p, size_t i)
{
  switch (b->type) {
  case LOOM_I32:
    return (double)((const int32_t *)(const void *)p)[i];
  case LOOM_U8:
    return (double)((const uint8_t *)p)[i];
  default:
    return (double)((const int64_t *)(const void *)p)[i];
  }
}

static void compare_block(launch *l, const block *b)
{
  const size_t size = item_bytes(b->type);
  if (!b->written || memcmp(b->got, b->host, b->bytes) == 0) return;
  if (b->type == LOOM_REAL) {
    compare_reals(l, b);
    return;
  }
  for (size_t i = 0; i < b->bytes / size; ++i)
    if (memcmp(b->got + size * i, b->host + size * i, size) != 0) {
      report_item_difference(l, b, i, read_integer_item(b, b->got, i),
                             read_integer_item(b, b->host, i));
      return;
    }
}

static loom_status run_on_cpu(const launch *l, lk_int n, loom_real *result)
{
  return l->k->launch[LOOM_CPU](&all.cpu, l->args, n, result);
}

/* The order of a sum differs; its error is in proportion to the terms that were added. */
static loom_status compare_result(launch *l, const block *b)
{
  const double host = (double)*l->result;
  const double device =
      (double)*(const loom_real *)(const void *)(b->got + ((char *)l->result - b->host));
  double most = fmax(fabs(device), fabs(host));
  if (same_bits(&device, &host, sizeof host)) return LOOM_OK;
  for (int p = 1; p < PREFIXES; ++p) {
    loom_real part = 0;
    LOOM_TRY(run_on_cpu(l, (lk_int)((int64_t)l->n * p / PREFIXES), &part));
    if (isfinite((double)part)) most = fmax(most, fabs((double)part));
  }
  if (!is_within_allowance(device, host,
                           b->allowed + (SUM_ULPS + (double)l->n) * real_epsilon() * most))
    snprintf(l->what, sizeof l->what, "result: %.17g on the device, %.17g on the CPU", device,
             host);
  return LOOM_OK;
}

static void perturb_reals(loom_real *v, size_t n)
{
  for (size_t i = 0; i < n; ++i)
    v[i] *= (loom_real)(i % 2 == 0 ? 1 + real_epsilon() : 1 - real_epsilon());
}

/* Allowed difference of the block's reals: a rounding of them, or of the numbers behind them. */
static double compute_allowance(const launch *l, const loom_real *a, const loom_real *b, size_t n)
{
  double most = 0, change = 0;
  for (size_t i = 0; i < n; ++i) {
    if (!isfinite((double)a[i]) || !isfinite((double)b[i])) continue;
    most = fmax(most, fabs((double)a[i]));
    change = fmax(change, fabs((double)a[i] - (double)b[i]));
  }
  return l->k->ulps * (change + real_epsilon() * most);
}

/* Runs the CPU launcher once more with all reals changed in their last place, for block.allowed: if
 * terms cancel, the size of the result tells too little. */
static loom_status find_allowed(launch *l)
{
  loom_status s = LOOM_OK;
  const int num = l->num;
  char *kept[BLOCKS_MAX] = {0};
  for (int i = 0; i < num && s == LOOM_OK; ++i) {
    const block *const b = &l->b[i];
    kept[i] = host_memory(b->bytes);
    if (kept[i] == NULL) {
      s = LOOM_E_NOMEM;
      break;
    }
    memcpy(kept[i], b->host, b->bytes);
    memcpy(b->host, b->was, b->bytes);
    if (b->type == LOOM_REAL)
      perturb_reals((loom_real *)(void *)b->host, b->bytes / sizeof(loom_real));
  }
  if (s == LOOM_OK) s = run_on_cpu(l, l->n, l->result);
  for (int i = 0; i < num && s == LOOM_OK; ++i) {
    block *const b = &l->b[i];
    if (b->written && b->type == LOOM_REAL)
      b->allowed =
          compute_allowance(l, (const loom_real *)(const void *)kept[i],
                            (const loom_real *)(const void *)b->host, b->bytes / sizeof(loom_real));
    memcpy(b->host, kept[i], b->bytes);
  }
  for (int i = 0; i < num; ++i) free(kept[i]);
  return s;
}

static loom_status compare_all(launch *l)
{
  int same = 1;
  for (int i = 0; i < l->num; ++i)
    same &= !l->b[i].written || memcmp(l->b[i].got, l->b[i].host, l->b[i].bytes) == 0;
  if (same) return LOOM_OK;
  if (l->k->ulps > 0) LOOM_TRY(find_allowed(l));
  for (int i = 0; i < l->num && l->what[0] == '\0'; ++i) compare_block(l, &l->b[i]);
  for (int i = 0; i < l->num && l->what[0] == '\0' && l->result != NULL; ++i)
    if (is_within((uint64_t)l->result, l->b[i].host, l->b[i].bytes))
      LOOM_TRY(compare_result(l, &l->b[i]));
  return LOOM_OK;
}

/* Runs both launchers and compares their results; l->what describes a difference. */
static loom_status run_both(launch *l, const void *args, loom_real *result)
{
  LOOM_TRY(make_arguments(l, args, result));
  LOOM_TRY(run_on_cpu(l, l->n, l->result));
  l->changed = result != NULL;
  for (int i = 0; i < l->num; ++i)
    l->changed |= l->b[i].written && memcmp(l->b[i].was, l->b[i].host, l->b[i].bytes) != 0;
  LOOM_TRY(l->k->launch[l->q->backend](l->q, args, l->n, result));
  for (int i = 0; i < l->num; ++i)
    if (l->b[i].written) LOOM_TRY(fetch_device_block(l, &l->b[i], l->b[i].got));
  return compare_all(l);
}

/* ---- selection of launches ---- */
static kernel *find_kernel(const lk_entry *k)
{
  for (int i = 0; i < all.num; ++i)
    if (all.k[i].name == k->name) return &all.k[i];
  if (all.num == KERNELS_MAX) return NULL;
  all.k[all.num].name = k->name;
  return &all.k[all.num++];
}

static int is_due(int64_t launches)
{
  return launches <= ALWAYS || (launches & (launches - 1)) == 0;
}

static loom_status append_compare_line(const char *line)
{
  const int f = open(compare_file(), O_WRONLY | O_CREAT | O_APPEND, 0666);
  const size_t len = strlen(line);
  if (f < 0) return LOOM_E_IO;
  const int whole = write(f, line, len) == (ssize_t)len; /* one write: processes share the file */
  return close(f) == 0 && whole ? LOOM_OK : LOOM_E_IO;
}

/* Writes the line of the file; a difference is an error. */
static loom_status report_comparison(const launch *l, kernel *seen)
{
  char line[512];
  if (l->what[0] != '\0') {
    snprintf(line, sizeof line, "differs %s: %s\n", l->k->name, l->what);
    (void)append_compare_line(line);
    return lk_failed_(l->q, l->k->name, l->what);
  }
  if (!l->changed || seen->told) return LOOM_OK;
  seen->told = 1;
  snprintf(line, sizeof line, "same %s\n", l->k->name);
  return append_compare_line(line) == LOOM_OK
             ? LOOM_OK
             : lk_failed_(l->q, l->k->name, "LOOM_KERNEL_COMPARE: the file cannot be written");
}

loom_status compare_launch(const loom_exec *q, const lk_entry *k, const void *args, lk_int n,
                           loom_real *result)
{
  loom_err err = {0};
  kernel *const seen = find_kernel(k);
  const int twice = seen != NULL && k->launch[LOOM_CPU] != NULL && n > 0;
  if (!twice || !is_due(++seen->launches)) return k->launch[q->backend](q, args, n, result);
  if (all.cpu.scratch == NULL) {
    all.cpu = (loom_exec){.struct_size = sizeof all.cpu,
                          .backend = LOOM_CPU,
                          .num_threads = 1,
                          .device = -1,
                          .deterministic = 1,
                          .scratch_len = EXEC_SCRATCH_LEN};
    LOOM_TRY(exec_cpu_open(&err, &all.cpu));
  }
  launch *const l = calloc(1, sizeof *l);
  if (l == NULL) return LOOM_E_NOMEM;
  l->q = q;
  l->k = k;
  l->n = n;
  loom_status s = run_both(l, args, result);
  if (s == LOOM_OK) s = report_comparison(l, seen);
  free_launch_blocks(l);
  free(l);
  return s;
}
