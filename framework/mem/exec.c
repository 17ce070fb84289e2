/* exec.c - execution places: devices of kernels and memory of their results. */
#include <stdlib.h>
#include <string.h>

#include "mem/compare.h"
#include "mem/dev.h"
#include "mem/internal.h"

int exec_cuda_devices(char *why, size_t len) { return dev_count(why, len); }

void exec_cuda_name(int device, char *name, size_t len) { dev_name(device, name, len); }

static loom_status open_cuda(loom_err *err, loom_exec *q)
{
  char why[512];
  if (dev_count(why, sizeof why) == 0)
    return err_set(err, LOOM_E_DEVICE, "there is no CUDA device: %s; or run with backend cpu", why);
  q->device = 0; /* CUDA_VISIBLE_DEVICES selects the device */
  void *scratch = NULL, *result = NULL;
  loom_status s = dev_open(err, q->device, &q->stream);
  if (s == LOOM_OK) s = dev_alloc(err, EXEC_SCRATCH_LEN * sizeof(loom_real), &scratch);
  if (s == LOOM_OK) s = dev_alloc(err, EXEC_RESULTS_LEN * sizeof(loom_real), &result);
  q->scratch = scratch;
  q->result = result;
  if (compare_file() != NULL) q->instead = compare_launch;
  if (s != LOOM_OK) exec_close(q);
  return s;
}

loom_status exec_open(loom_err *err, int backend, int threads, int deterministic, int debug,
                      loom_exec *out)
{
  *out = (loom_exec){.struct_size = sizeof *out,
                     .backend = backend,
                     .num_threads = threads > 0 ? threads : threads_default(),
                     .device = -1,
                     .deterministic = deterministic,
                     .debug = debug,
                     .scratch_len = EXEC_SCRATCH_LEN};
  if (threads < 0)
    return err_set(err, LOOM_E_ARG, "%d threads; give 1 or more, or 0 for all", threads);
  LOOM_TRY(threads_probe(err, out->num_threads));
  if (backend == LOOM_CPU) return exec_cpu_open(err, out);
  if (backend == LOOM_CUDA) return open_cuda(err, out);
  return err_set(err, LOOM_E_ARG, "unknown backend %d; LOOM_CPU or LOOM_CUDA", backend);
}

void exec_close(loom_exec *q)
{
  if (q->backend == LOOM_CUDA) {
    dev_release(q->scratch);
    dev_release(q->result);
  } else {
    exec_cpu_close(q);
  }
  q->scratch = NULL;
  q->result = NULL;
  q->stream = NULL;
  q->scratch_len = 0;
}

loom_status exec_fetch(loom_err *err, const loom_exec *q, int first, int count, double *host)
{
  loom_real values[LOOM_NUM_RESULTS];
  if (first < 0 || count < 0 || count > LOOM_NUM_RESULTS - first)
    return err_set(err, LOOM_E_ARG, "results %d to %d; there are %d slots", first,
                   first + count - 1, LOOM_NUM_RESULTS);
  LOOM_TRY(exec_read(err, q, q->result + first, (size_t)count * sizeof *values, values));
  for (int i = 0; i < count; ++i) host[i] = (double)values[i];
  return LOOM_OK;
}

loom_status exec_keep_results(loom_err *err, const loom_exec *q, int at, const loom_real *src,
                              int n)
{
  loom_real *const to = q->result + LOOM_NUM_RESULTS + at;
  const size_t bytes = (size_t)n * sizeof *to;
  if (q->backend == LOOM_CUDA) return dev_copy(err, q->stream, to, src, bytes, DEV_WITHIN);
  memcpy(to, src, bytes);
  return LOOM_OK;
}

loom_status exec_kept_results(loom_err *err, const loom_exec *q, int n, double *host)
{
  loom_real values[EXEC_KEPT];
  LOOM_TRY(exec_read(err, q, q->result + LOOM_NUM_RESULTS, (size_t)n * sizeof *values, values));
  for (int i = 0; i < n; ++i) host[i] = (double)values[i];
  return LOOM_OK;
}

loom_status exec_read(loom_err *err, const loom_exec *q, const void *p, size_t bytes, void *host)
{
  if (q->backend == LOOM_CUDA) return dev_copy(err, q->stream, host, p, bytes, DEV_TO_HOST);
  memcpy(host, p, bytes);
  return LOOM_OK;
}

loom_status exec_zero(loom_err *err, const loom_exec *q, void *p, size_t bytes)
{
  if (bytes == 0) return LOOM_OK;
  if (q->backend == LOOM_CUDA) return dev_fill(err, q->stream, p, 0, bytes);
  memset(p, 0, bytes);
  return LOOM_OK;
}

loom_status exec_run(loom_err *err, const loom_exec *q, const lk_entry *k, const void *args,
                     int64_t n, loom_real *result)
{
  const loom_status s = lk_run(k, q, args, n, result);
  switch (s) {
  case LOOM_OK:
    return s;
  case LOOM_E_DEVICE:
    if (q->why == NULL || q->why[0] == '\0')
      return err_set(err, s, "kernel %s: %s", k->name, dev_error_text());
    (void)dev_error_text(); /* else the next launch would report it again */
    err_set(err, s, "%s", q->why);
    q->why[0] = '\0';
    return s;
  case LOOM_E_UNSUPPORTED:
    return err_set(err, s, "kernel %s was not built for CUDA; configure with -DLOOM_CUDA=ON",
                   k->name);
  default:
    return err_set(err, s, "kernel %s: %lld elements; at most %lld in one launch", k->name,
                   (long long)n, (long long)LK_MAX_ELEMS);
  }
}

/* ---- traffic with the device ---- */

const exec_traffic *exec_traffic_now(void) { return &dev_traffic; }

loom_status exec_mark(loom_err *err, const loom_exec *q, int k)
{
  return q->backend == LOOM_CUDA ? dev_mark(err, q->stream, k) : LOOM_OK;
}

loom_status exec_marks_read(loom_err *err, const loom_exec *q, int num, double *seconds)
{
  if (q->backend == LOOM_CUDA && num > 0) LOOM_TRY(dev_mark_wait(err, num - 1));
  for (int k = 1; k < num; ++k)
    seconds[k] = q->backend == LOOM_CUDA ? dev_mark_seconds(k - 1, k) : 0.0;
  return LOOM_OK;
}

uint64_t exec_range_begin(const loom_exec *q, const char *name)
{
  return q->backend == LOOM_CUDA ? dev_range_begin(name) : 0;
}

void exec_range_end(const loom_exec *q, uint64_t id)
{
  if (q->backend == LOOM_CUDA) dev_range_end(id);
}
