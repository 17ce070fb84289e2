/* prim_cuda.cu - scan and stable radix sort on the device, by CUB. */
#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_scan.cuh>

#include "linalg/prim.h"

namespace
{

const size_t align = 256;

size_t pad_bytes(size_t bytes) { return (bytes + align - 1) / align * align; }

__global__ void identity_k(int32_t *index, int32_t n)
{
  const int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) index[i] = (int32_t)i;
}

loom_status status_of(const loom_exec *q, const char *what, cudaError_t c)
{
  if (c == cudaSuccess) return lk_cuda_check_(q, what);
  (void)cudaGetLastError(); // not to be reported once more by the next launch
  return lk_cuda_failed_(q, what, c);
}

} // namespace

loom_status prim_scan_cuda(const loom_exec *q, const int64_t *in, int64_t *out, int64_t n,
                           void *work, size_t *bytes)
{
  const cudaStream_t stream = (cudaStream_t)q->stream;
  if (work != NULL) {
    const cudaError_t c = cudaMemsetAsync(out, 0, sizeof *out, stream);
    if (c != cudaSuccess || n == 0) return status_of(q, "scan", c);
  }
  return status_of(q, "scan", cub::DeviceScan::InclusiveSum(work, *bytes, in, out + 1, n, stream));
}

loom_status prim_sort_cuda(const loom_exec *q, uint64_t *key, int32_t *perm, int64_t n, void *work,
                           size_t *bytes)
{
  const cudaStream_t stream = (cudaStream_t)q->stream;
  const size_t key_bytes = pad_bytes((size_t)n * sizeof *key);
  const size_t index_bytes = pad_bytes((size_t)n * sizeof *perm);
  size_t temp = 0;
  if (work != NULL && n == 0) return LOOM_OK;
  cudaError_t c =
      cub::DeviceRadixSort::SortPairs(NULL, temp, key, key, perm, perm, (int)n, 0, 64, stream);
  if (c != cudaSuccess || work == NULL) {
    *bytes = key_bytes + index_bytes + temp + align;
    return status_of(q, "sort", c);
  }
  uint64_t *sorted = (uint64_t *)work;
  int32_t *index = (int32_t *)((char *)work + key_bytes);
  void *rest = (char *)work + key_bytes + index_bytes;
  identity_k<<<(unsigned)((n + 255) / 256), 256, 0, stream>>>(index, (int32_t)n);
  c = cudaGetLastError();
  if (c == cudaSuccess)
    c = cub::DeviceRadixSort::SortPairs(rest, temp, key, sorted, index, perm, (int)n, 0, 64,
                                        stream);
  if (c == cudaSuccess)
    c = cudaMemcpyAsync(key, sorted, (size_t)n * sizeof *key, cudaMemcpyDeviceToDevice, stream);
  return status_of(q, "sort", c);
}
