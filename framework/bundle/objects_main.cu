// objects_main.cu - two shared objects and the program, three CUDA runtimes, one stream per thread:
// their launches must keep their order, and only the object with an error may report it.
#include <cuda_runtime.h>
#include <dlfcn.h>

#include <cstdio>

typedef int (*launch_fn)(double *, long long, int, int);

int main()
{
  const long long n = 1 << 22;
  const char *const files[2] = {"./one.so", "./two.so"};
  launch_fn f[2];
  double *a, h[4];
  int wrong = 0;
  for (int k = 0; k < 2; ++k) {
    void *const object = dlopen(files[k], RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    if (object == nullptr) return printf("%s\n", dlerror()), 2;
    f[k] = (launch_fn)dlsym(object, "launch_add_ones");
  }
  if (cudaSetDevice(0) != cudaSuccess || cudaMalloc(&a, n * 8) != cudaSuccess)
    return printf("no device: %s\n", cudaGetErrorString(cudaGetLastError())), 3;
  for (int k = 0; k < 200; ++k) {
    cudaMemsetAsync(a, 0, n * 8, cudaStreamPerThread);
    f[0](a, n, 20, 256), f[1](a, n, 3, 256), f[0](a, n, 1, 128), f[1](a, n, 5, 512);
    cudaMemcpyAsync(h, a + n - 4, sizeof h, cudaMemcpyDeviceToHost, cudaStreamPerThread);
    cudaStreamSynchronize(cudaStreamPerThread);
    for (double v : h) wrong += v != 29.0;
  }
  printf("order across shared objects: %s (%d wrong of 800)\n", wrong ? "BROKEN" : "kept", wrong);
  const int failed = f[0](a, n, 1, 4096); // more threads than a block may have
  const int core = (int)cudaGetLastError(), next = f[0](a, n, 1, 256);
  printf("a failed launch: its object says %s, the program's runtime %s, its next launch %s\n",
         cudaGetErrorName((cudaError_t)failed), cudaGetErrorName((cudaError_t)core),
         cudaGetErrorName((cudaError_t)next));
  return wrong != 0 || failed == 0 || core != 0 || next != 0;
}
