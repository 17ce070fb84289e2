// objects_part.cu - built twice as a shared object with a CUDA runtime of its own, as plugins are.
#include <cuda_runtime.h>

__global__ void add_ones_kernel(double *a, long long n, int rounds)
{
  for (int r = 0; r < rounds; ++r)
    for (long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x; i < n;
         i += (long long)blockDim.x * gridDim.x)
      a[i] += 1.0;
}

// 0, or the code of the error; it is cleared, as framework/include/loom/kernel.h does.
extern "C" int launch_add_ones(double *a, long long n, int rounds, int threads)
{
  add_ones_kernel<<<264, threads, 0, cudaStreamPerThread>>>(a, n, rounds);
  return (int)cudaGetLastError();
}
