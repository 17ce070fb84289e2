/* watch.c - time, elements and bytes by kernel, for `[log] kernels`. */
#include <stdlib.h>
#include <string.h>

#include "core/seconds.h"
#include "mem/compare.h"
#include "mem/internal.h"

enum { KERNELS_MAX = 1024 };

struct exec_watch {
  mem *m;
  int64_t declared; /* *q->bytes after the last launch */
  int num;
  exec_kernel all[KERNELS_MAX];
};

static exec_kernel *find_watched_kernel(exec_watch *w, const char *name)
{
  for (int i = 0; i < w->num; ++i)
    if (w->all[i].name == name || strcmp(w->all[i].name, name) == 0) return &w->all[i];
  if (w->num == KERNELS_MAX) return NULL;
  w->all[w->num].name = name;
  return &w->all[w->num++];
}

/* Bytes of the mapped buffers whose addresses the argument block holds. */
static int64_t sum_kernel_bytes(const mem *m, int side, const char *args, size_t size)
{
  int64_t sum = 0;
  for (const loom_buf *b = m->first; b != NULL; b = b->next) {
    if (b->readers == 0 && b->writer == 0) continue;
    const buf_side *const s = &b->side[side];
    const uint64_t begin = (uint64_t)(s->copy != NULL ? s->copy : s->data);
    for (size_t i = 0; begin != 0 && i + sizeof(uint64_t) <= size; i += sizeof(uint64_t)) {
      uint64_t word;
      memcpy(&word, args + i, sizeof word);
      if (word - begin >= buf_bytes(b)) continue;
      sum += (int64_t)buf_bytes(b);
      break;
    }
  }
  return sum;
}

/* Bytes that the launch declares: by its row of the table, and by lk_moved() of the caller since
 * the launch before.  The counter falls where the core takes back what it measured. */
static int64_t find_declared_bytes(exec_watch *w, const loom_exec *q, const lk_entry *k, lk_int n)
{
  const int64_t own = (int64_t)k->bytes * n, now = q->bytes != NULL ? *q->bytes : 0;
  const int64_t since = now - w->declared;
  w->declared = now;
  return since > own ? since : own;
}

static loom_status run_timed_kernel(const loom_exec *q, const lk_entry *k, const void *args,
                                    lk_int n, loom_real *result)
{
  exec_watch *const w = q->watch;
  exec_kernel *const row = find_watched_kernel(w, k->name);
  const int device = q->backend == LOOM_CUDA;
  loom_err err = {0};
  double seconds = seconds_now();
  if (row == NULL) return k->launch[q->backend](q, args, n, result);
  if (device) LOOM_TRY(dev_time_begin(&err, q->stream));
  LOOM_TRY(k->launch[q->backend](q, args, n, result));
  if (device) {
    const loom_status s = dev_time_end(&err, q->stream, &seconds);
    if (s != LOOM_OK) return lk_failed_(q, k->name, err.text);
  } else {
    seconds = seconds_now() - seconds;
  }
  row->launches++;
  row->declared += find_declared_bytes(w, q, k, n);
  row->elements += n;
  row->bytes += sum_kernel_bytes(w->m, device ? SIDE_DEVICE : SIDE_HOST, args, k->args_size);
  row->seconds += seconds;
  return LOOM_OK;
}

loom_status exec_watch_new(loom_err *err, mem *m, loom_exec *q, exec_watch **out)
{
  *out = NULL;
  if (q->instead != NULL) return LOOM_OK;
  *out = calloc(1, sizeof **out);
  if (*out == NULL) return err_set(err, LOOM_E_NOMEM, "no memory for the times of kernels");
  (*out)->m = m;
  q->watch = *out;
  q->instead = run_timed_kernel;
  return LOOM_OK;
}

void exec_watch_free(exec_watch *w) { free(w); }

int exec_watch_kernels(const exec_watch *w, const exec_kernel **all)
{
  *all = w != NULL ? w->all : NULL;
  return w != NULL ? w->num : 0;
}

void exec_watch_clear(exec_watch *w)
{
  if (w == NULL) return;
  memset(w->all, 0, sizeof w->all);
  w->num = 0;
}
