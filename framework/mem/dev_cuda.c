/* dev_cuda.c - device memory through the CUDA runtime's C interface. */
#include "mem/dev.h"

#if defined(LK_HAVE_CUDA) && !defined(LK_SIMULATED)

#include <cuda_runtime_api.h>
#include <stdio.h>
#include <string.h>
#ifdef LOOM_HAVE_NVTX
#include <nvtx3/nvToolsExt.h>
#endif

exec_traffic dev_traffic;
/* Memory comes from the device's pool, which keeps released blocks: cudaMalloc and cudaFree wait
 * for all launches.  NULL: the driver has no pools. */
static cudaMemPool_t pool;
/* Copies from and to the host go through pinned memory in pieces.  Pageable memory may be read
 * after cudaMemcpyAsync has returned (CUDA's API only says that it might be synchronous), and a
 * copy to it stalls the driver.  A piece is written again when its event shows that it has
 * been read. */
enum { PIECES = 8, PIECE_BYTES = 1 << 18 };
static struct {
  char *memory; /* [PIECES][PIECE_BYTES] */
  cudaEvent_t free[PIECES];
  int next;
} staging;
/* The process uses one device, from one thread. */
static cudaEvent_t timer[2], marks[EXEC_MARKS]; /* NULL: not made yet */

static loom_status fail_cuda(loom_err *err, cudaError_t c, const char *what)
{
  (void)cudaGetLastError(); /* else the next launch would report it again */
  /* errors of kernels begin at that code, see lk_cuda_failed_() */
  const int late = c >= cudaErrorIllegalAddress && c != cudaErrorLaunchOutOfResources;
  return err_set(err, c == cudaErrorMemoryAllocation ? LOOM_E_NOMEM : LOOM_E_DEVICE,
                 "%s: %s (%s)%s", what, cudaGetErrorString(c), cudaGetErrorName(c),
                 late ? DEV_LATE : "");
}

int dev_count(char *why, size_t len)
{
  int n = 0, driver = 0;
  if (len > 0) why[0] = '\0';
  if (cudaDriverGetVersion(&driver) != cudaSuccess || driver == 0) {
    (void)cudaGetLastError();
    snprintf(why, len, "no NVIDIA driver is loaded on this machine");
    return 0;
  }
  const cudaError_t c = cudaGetDeviceCount(&n);
  if (c != cudaSuccess) {
    (void)cudaGetLastError();
    snprintf(why, len, "%s (driver for CUDA %d.%d, loom was built with CUDA %d.%d)",
             cudaGetErrorString(c), driver / 1000, driver % 1000 / 10, CUDART_VERSION / 1000,
             CUDART_VERSION % 1000 / 10);
    return 0;
  }
  if (n == 0) snprintf(why, len, "the NVIDIA driver reports no device");
  return n;
}

void dev_name(int device, char *name, size_t len)
{
  struct cudaDeviceProp p;
  if (len > 0) name[0] = '\0';
  if (cudaGetDeviceProperties(&p, device) != cudaSuccess) {
    (void)cudaGetLastError();
    return;
  }
  snprintf(name, len, "%s, %.0f GiB", p.name,
           (double)p.totalGlobalMem / (1024.0 * 1024.0 * 1024.0));
}

static cudaError_t open_pool(int device)
{
  uint64_t all = UINT64_MAX;
  int has = 0;
  cudaError_t c = cudaDeviceGetAttribute(&has, cudaDevAttrMemoryPoolsSupported, device);
  if (c != cudaSuccess || !has) return c;
  c = cudaDeviceGetDefaultMemPool(&pool, device);
  if (c == cudaSuccess) c = cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &all);
  return c;
}

static cudaError_t open_staging(void)
{
  cudaError_t c = cudaMallocHost((void **)&staging.memory, (size_t)PIECES * PIECE_BYTES);
  for (int k = 0; k < PIECES && c == cudaSuccess; ++k)
    c = cudaEventCreateWithFlags(&staging.free[k], cudaEventDisableTiming);
  return c;
}

loom_status dev_open(loom_err *err, int device, void **stream)
{
  cudaError_t c = cudaSetDevice(device);
  *stream = cudaStreamPerThread;
  if (c == cudaSuccess && pool == NULL) c = open_pool(device);
  if (c == cudaSuccess && staging.memory == NULL) c = open_staging();
  return c == cudaSuccess ? LOOM_OK : fail_cuda(err, c, "cannot use the CUDA device");
}

static uint64_t get_pool_bytes(void)
{
  uint64_t bytes = 0;
  if (pool != NULL) (void)cudaMemPoolGetAttribute(pool, cudaMemPoolAttrReservedMemCurrent, &bytes);
  return bytes;
}

loom_status dev_alloc(loom_err *err, size_t bytes, void **p)
{
  const uint64_t before = get_pool_bytes();
  const cudaError_t c =
      pool != NULL ? cudaMallocAsync(p, bytes, cudaStreamPerThread) : cudaMalloc(p, bytes);
  ++dev_traffic.given_out;
  if (c == cudaSuccess) {
    dev_traffic.allocations += pool == NULL || get_pool_bytes() != before;
    return LOOM_OK;
  }
  *p = NULL;
  return fail_cuda(err, c, "allocating device memory");
}

void dev_release(void *p)
{
  if (p == NULL) return;
  const cudaError_t c = pool != NULL ? cudaFreeAsync(p, cudaStreamPerThread) : cudaFree(p);
  if (c != cudaSuccess) (void)cudaGetLastError();
}

static size_t piece_of(size_t left) { return left < PIECE_BYTES ? left : PIECE_BYTES; }

static cudaError_t upload_pieces(cudaStream_t stream, char *dst, const char *src, size_t bytes)
{
  cudaError_t c = cudaSuccess;
  for (size_t at = 0; at < bytes && c == cudaSuccess; at += PIECE_BYTES) {
    const size_t len = piece_of(bytes - at);
    const int k = staging.next;
    char *const piece = staging.memory + (size_t)k * PIECE_BYTES;
    staging.next = (k + 1) % PIECES;
    c = cudaEventSynchronize(staging.free[k]); /* at once where it was never recorded */
    memcpy(piece, src + at, len);
    if (c == cudaSuccess) c = cudaMemcpyAsync(dst + at, piece, len, cudaMemcpyHostToDevice, stream);
    if (c == cudaSuccess) c = cudaEventRecord(staging.free[k], stream);
  }
  return c;
}

/* Rounds of all pieces; uploads that still use them come earlier in the stream. */
static cudaError_t download_pieces(cudaStream_t stream, char *dst, const char *src, size_t bytes)
{
  const size_t round = (size_t)PIECES * PIECE_BYTES;
  cudaError_t c = cudaSuccess;
  for (size_t at = 0; at < bytes && c == cudaSuccess; at += round) {
    const size_t len = bytes - at < round ? bytes - at : round;
    c = cudaMemcpyAsync(staging.memory, src + at, len, cudaMemcpyDeviceToHost, stream);
    if (c == cudaSuccess) c = cudaStreamSynchronize(stream);
    if (c == cudaSuccess) memcpy(dst + at, staging.memory, len);
  }
  return c;
}

loom_status dev_copy(loom_err *err, void *stream, void *dst, const void *src, size_t bytes,
                     int direction)
{
  dev_traffic.reads += direction == DEV_TO_HOST;
  dev_traffic.uploads += direction == DEV_TO_DEVICE;
  dev_traffic.copies += direction == DEV_WITHIN;
  if (direction == DEV_TO_HOST) dev_traffic.read_bytes += (int64_t)bytes;
  if (direction == DEV_TO_DEVICE) dev_traffic.upload_bytes += (int64_t)bytes;
  cudaStream_t s = (cudaStream_t)stream;
  const cudaError_t c = direction == DEV_TO_DEVICE ? upload_pieces(s, dst, src, bytes)
                        : direction == DEV_TO_HOST
                            ? download_pieces(s, dst, src, bytes)
                            : cudaMemcpyAsync(dst, src, bytes, cudaMemcpyDeviceToDevice, s);
  return c == cudaSuccess ? LOOM_OK : fail_cuda(err, c, "copying device memory");
}

loom_status dev_fill(loom_err *err, void *stream, void *p, int byte, size_t bytes)
{
  const cudaError_t c = cudaMemsetAsync(p, byte, bytes, (cudaStream_t)stream);
  return c == cudaSuccess ? LOOM_OK : fail_cuda(err, c, "filling device memory");
}

/* ---- time ---- */

static loom_status record_event(loom_err *err, void *stream, cudaEvent_t *e)
{
  cudaError_t c = *e != NULL ? cudaSuccess : cudaEventCreate(e);
  if (c == cudaSuccess) c = cudaEventRecord(*e, (cudaStream_t)stream);
  return c == cudaSuccess ? LOOM_OK : fail_cuda(err, c, "taking the time on the device");
}

static double elapsed_seconds(cudaEvent_t from, cudaEvent_t to)
{
  float ms = 0.0F;
  if (cudaEventElapsedTime(&ms, from, to) != cudaSuccess) (void)cudaGetLastError();
  return 1e-3 * (double)ms;
}

static loom_status wait_for(loom_err *err, cudaEvent_t e)
{
  const cudaError_t c = cudaEventSynchronize(e);
  ++dev_traffic.waits;
  return c == cudaSuccess ? LOOM_OK : fail_cuda(err, c, "waiting for the device");
}

loom_status dev_time_begin(loom_err *err, void *stream)
{
  return record_event(err, stream, &timer[0]);
}

loom_status dev_time_end(loom_err *err, void *stream, double *seconds)
{
  LOOM_TRY(record_event(err, stream, &timer[1]));
  LOOM_TRY(wait_for(err, timer[1]));
  *seconds = elapsed_seconds(timer[0], timer[1]);
  return LOOM_OK;
}

loom_status dev_mark(loom_err *err, void *stream, int k)
{
  return record_event(err, stream, &marks[k]);
}

loom_status dev_mark_wait(loom_err *err, int k) { return wait_for(err, marks[k]); }

double dev_mark_seconds(int from, int to) { return elapsed_seconds(marks[from], marks[to]); }

#ifdef LOOM_HAVE_NVTX
uint64_t dev_range_begin(const char *name) { return nvtxRangeStartA(name); }

void dev_range_end(uint64_t id) { nvtxRangeEnd(id); }
#else
uint64_t dev_range_begin(const char *name)
{
  (void)name;
  return 0;
}

void dev_range_end(uint64_t id) { (void)id; }
#endif

const char *dev_error_text(void) { return cudaGetErrorName(cudaGetLastError()); }

#endif
