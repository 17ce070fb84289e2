/* dev_cuda.c - device memory through the CUDA runtime's C interface. */
#include "mem/dev.h"

#if defined(LK_HAVE_CUDA) && !defined(LK_SIMULATED)

#include <cuda_runtime_api.h>
#include <stdio.h>

static loom_status fail(loom_err *err, cudaError_t c, const char *what)
{
  (void)cudaGetLastError(); /* not to be reported once more by the next launch */
  return err_set(err, c == cudaErrorMemoryAllocation ? LOOM_E_NOMEM : LOOM_E_DEVICE, "%s: %s (%s)",
                 what, cudaGetErrorString(c), cudaGetErrorName(c));
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

loom_status dev_open(loom_err *err, int device, void **stream)
{
  const cudaError_t c = cudaSetDevice(device);
  *stream = cudaStreamPerThread;
  return c == cudaSuccess ? LOOM_OK : fail(err, c, "cannot use the CUDA device");
}

loom_status dev_alloc(loom_err *err, size_t bytes, void **p)
{
  const cudaError_t c = cudaMalloc(p, bytes);
  if (c == cudaSuccess) return LOOM_OK;
  *p = NULL;
  return fail(err, c, "allocating device memory");
}

void dev_release(void *p)
{
  if (p != NULL && cudaFree(p) != cudaSuccess) (void)cudaGetLastError();
}

loom_status dev_copy(loom_err *err, void *stream, void *dst, const void *src, size_t bytes,
                     int direction)
{
  static const enum cudaMemcpyKind kinds[] = {cudaMemcpyHostToDevice, cudaMemcpyDeviceToHost,
                                              cudaMemcpyDeviceToDevice};
  cudaError_t c = cudaMemcpyAsync(dst, src, bytes, kinds[direction], (cudaStream_t)stream);
  if (c == cudaSuccess && direction == DEV_TO_HOST) c = cudaStreamSynchronize((cudaStream_t)stream);
  return c == cudaSuccess ? LOOM_OK : fail(err, c, "copying device memory");
}

loom_status dev_fill(loom_err *err, void *stream, void *p, int byte, size_t bytes)
{
  const cudaError_t c = cudaMemsetAsync(p, byte, bytes, (cudaStream_t)stream);
  return c == cudaSuccess ? LOOM_OK : fail(err, c, "filling device memory");
}

loom_status dev_sync(loom_err *err, void *stream)
{
  const cudaError_t c = cudaStreamSynchronize((cudaStream_t)stream);
  return c == cudaSuccess ? LOOM_OK : fail(err, c, "waiting for the device");
}

const char *dev_error_text(void) { return cudaGetErrorString(cudaGetLastError()); }

#endif
