// probe.cu - cost of a launch, a wait, a small copy and an allocation on this device, its
// bandwidth, and whether host memory may be overwritten right after a copy from it.
#include <cuda_runtime.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <vector>

#define OK(call)                                                                    \
  do {                                                                              \
    const cudaError_t e_ = (call);                                                  \
    if (e_ != cudaSuccess) {                                                        \
      printf("%s: %s (%s)\n", #call, cudaGetErrorString(e_), cudaGetErrorName(e_)); \
      exit(1);                                                                      \
    }                                                                               \
  } while (0)

static const cudaStream_t stream = cudaStreamPerThread;

__global__ void empty_kernel() {}
__global__ void add_vectors_kernel(double *a, const double *b, long long n)
{
  for (long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x; i < n;
       i += (long long)blockDim.x * gridDim.x)
    a[i] += b[i];
}
// loom's layout [n][3], one thread for each row
__global__ void add_rows_kernel(double *a, const double *b, int n)
{
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x)
    for (int c = 0; c < 3; ++c) a[3 * i + c] = 0.5 * b[3 * i + c] + a[3 * i + c];
}

static double get_seconds()
{
  using namespace std::chrono;
  return duration<double>(steady_clock::now().time_since_epoch()).count();
}

// microseconds of each of n calls
template <class F> static double time_calls(int n, F f)
{
  f();
  OK(cudaStreamSynchronize(stream));
  const double begin = get_seconds();
  for (int i = 0; i < n; ++i) f();
  OK(cudaStreamSynchronize(stream));
  return 1e6 * (get_seconds() - begin) / n;
}

template <class F> static void print_bandwidth(const char *what, double bytes, F f)
{
  const double us = time_calls(10, f);
  printf("%-42s %9.1f us  %6.2f TB/s\n", what, us, bytes / us / 1e6);
}

// How many of 50 copies to the device took data that was written to the host after the call.
static int count_overtaken_copies(double *device, double *pinned, std::vector<double> &pageable)
{
  int late = 0;
  for (int k = 0; k < 50; ++k) {
    const size_t bytes = pageable.size() * sizeof(double);
    for (double &v : pageable) v = k;
    for (int w = 0; w < 20; ++w)
      add_vectors_kernel<<<1056, 256, 0, stream>>>(device + (1 << 23), device, 1 << 23);
    OK(cudaMemcpyAsync(device, pageable.data(), bytes, cudaMemcpyHostToDevice, stream));
    for (double &v : pageable) v = -1;
    OK(cudaMemcpyAsync(pinned, device, bytes, cudaMemcpyDeviceToHost, stream));
    OK(cudaStreamSynchronize(stream));
    for (size_t i = 0; i < pageable.size(); ++i)
      if (pinned[i] != k) {
        ++late;
        break;
      }
  }
  return late;
}

int main()
{
  const size_t n = (size_t)1 << 27;
  cudaDeviceProp p;
  int pageable = 0, runtime = 0, driver = 0;
  OK(cudaSetDevice(0));
  OK(cudaGetDeviceProperties(&p, 0));
  OK(cudaDeviceGetAttribute(&pageable, cudaDevAttrPageableMemoryAccess, 0));
  OK(cudaRuntimeGetVersion(&runtime));
  OK(cudaDriverGetVersion(&driver));
  printf(
      "%s, %d SMs, sm_%d%d, %.0f GiB, L2 %d MiB, pageableMemoryAccess %d, runtime %d, driver %d\n",
      p.name, p.multiProcessorCount, p.major, p.minor, p.totalGlobalMem / 1073741824.0,
      p.l2CacheSize >> 20, pageable, runtime, driver);
  double *a, *b, *pinned;
  std::vector<double> host(1 << 21);
  OK(cudaMalloc(&a, n * 8));
  OK(cudaMalloc(&b, n * 8));
  OK(cudaMallocHost(&pinned, host.size() * 8));
  OK(cudaMemset(a, 0, n * 8));
  OK(cudaMemset(b, 0, n * 8));
  print_bandwidth("copy of 1 GiB within the device", 16.0 * n,
                  [&] { OK(cudaMemcpyAsync(a, b, n * 8, cudaMemcpyDeviceToDevice, stream)); });
  print_bandwidth("a += b, coalesced", 24.0 * n,
                  [&] { add_vectors_kernel<<<1056, 256, 0, stream>>>(a, b, (long long)n); });
  print_bandwidth("rows of three, grid of 65535 blocks", 24.0 * n,
                  [&] { add_rows_kernel<<<65535, 256, 0, stream>>>(a, b, (int)(n / 3)); });
  printf("a launch, back to back       %8.2f us\n",
         time_calls(5000, [] { empty_kernel<<<1, 32, 0, stream>>>(); }));
  printf("launch and wait              %8.2f us\n", time_calls(2000, [] {
           empty_kernel<<<1, 32, 0, stream>>>();
           OK(cudaStreamSynchronize(stream));
         }));
  for (double *to : {host.data(), pinned})
    printf("launch, 16 bytes to %-8s %8.2f us\n", to == pinned ? "pinned" : "pageable",
           time_calls(2000, [&] {
             empty_kernel<<<1, 32, 0, stream>>>();
             OK(cudaMemcpyAsync(to, a, 16, cudaMemcpyDeviceToHost, stream));
             OK(cudaStreamSynchronize(stream));
           }));
  printf("cudaMalloc and Free, 8 MB    %8.2f us\n", time_calls(200, [] {
           void *q;
           OK(cudaMalloc(&q, 8 << 20));
           OK(cudaFree(q));
         }));
  printf("the same from the pool       %8.2f us\n", time_calls(2000, [] {
           void *q;
           OK(cudaMallocAsync(&q, 8 << 20, stream));
           OK(cudaFreeAsync(q, stream));
         }));
  printf("pageable memory written behind its copy: %d of 50 copies took it (loom waits, so that "
         "none can)\n",
         count_overtaken_copies(a, pinned, host));
  return 0;
}
