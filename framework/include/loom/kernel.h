/* loom/kernel.h - single-source kernels: one body, two launchers (OpenMP, CUDA).
 *
 * A kernel file (*.kern.c) is written in the common subset of C11 and C++17 and
 * compiled twice: by the C compiler, and by nvcc through a generated one-line
 * .cu wrapper.  Each pass emits one launcher, NAME_cpu or NAME_cuda, with the
 * same C prototype.  The two meet in an lk_entry (a function table row), and
 * loom_exec.backend chooses between them at run time.
 *
 * Kinds of kernels:
 *   LK_KERNEL        independent writes, vectorised on the CPU (omp simd)
 *   LK_KERNEL_PLAIN  the same without simd: long bodies, inner searches
 *   LK_REDUCE_SUM    sum of the body's values, in fixed chunks: same bits for any number of threads
 *   LK_REDUCE_MAX    their maximum; a NaN in any element makes the result of both NaN
 *   LK_REDUCE_SUM_PLAIN  the sum without simd
 *   LK_KERNEL_BLOCK  elements with inner loops that `lanes` threads share (a block on CUDA, one
 *                    thread on the CPU): for (k = lane; k < m; k += lanes) { ... } LK_SYNC();
 *                    All lanes must reach each LK_SYNC(): no branch around it may depend on the
 *                    lane.  Each sum is made by one lane: the same bits everywhere.
 *   LK_KERNEL_LONG   PLAIN, for bodies with so many live numbers that a GPU thread takes all the
 *                    registers it can have
 *   LK_KERNEL_WARP   LONG in blocks of one warp on CUDA.  Its helpers may declare
 *                    LK_LINES(name, size), `size` numbers LK_SCRATCH(name, k), 0 <= k < size, in
 *                    shared memory, at most 192 in all; on the CPU they lie on the stack
 *   LK_KERNEL_ROOM   elements with more numbers of their own than a GPU thread has registers:
 *                    `room`, LK_SCRATCH(room, k) for 0 <= k < size.  It runs for the elements with
 *                    NAME_is(a, i) != 0, a function defined before it.  On the CPU the room lies on
 *                    the stack; on CUDA it is a share of the scratch.  That limits the threads that
 *                    run at once (with 432 reals to some 4800); each takes one element after the
 *                    other.
 *
 * Short bodies that mostly gather, for example x at a spring's ends, are PLAIN too: a vector
 * gather costs as much as its loads (springs and hinges measured twice as slow with simd).
 * Reductions leave their result in execution memory (device memory on CUDA), so
 * that several results can be fetched with one copy; a launch never waits.
 *
 * The language subset (no designated initialisers, no VLA, no `restrict`, no
 * pointer from void * without a cast, helpers marked LK_FN, ...) is listed in
 * framework/doc/style.md and enforced by the test `kernels_are_cxx17`.
 */
#ifndef LOOM_KERNEL_H
#define LOOM_KERNEL_H

#include <float.h>
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "types.h"

typedef loom_real lk_real;
typedef int32_t lk_int; /* element index: signed, 32 bit */

#ifdef LOOM_REAL_FLOAT
#define LK_R(x)        x##f
#define LK_SQRT(x)     sqrtf(x)
#define LK_FABS(x)     fabsf(x)
#define LK_FMAX(x, y)  fmaxf((x), (y))
#define LK_FMIN(x, y)  fminf((x), (y))
#define LK_SIN(x)      sinf(x)
#define LK_COS(x)      cosf(x)
#define LK_ATAN2(y, x) atan2f((y), (x))
#define LK_FLOOR(x)    floorf(x)
#define LK_LOG(x)      logf(x)
#define LK_EXP(x)      expf(x)
#define LK_REAL_MAX    FLT_MAX
#else
#define LK_R(x)        x
#define LK_SQRT(x)     sqrt(x)
#define LK_FABS(x)     fabs(x)
#define LK_FMAX(x, y)  fmax((x), (y))
#define LK_FMIN(x, y)  fmin((x), (y))
#define LK_SIN(x)      sin(x)
#define LK_COS(x)      cos(x)
#define LK_ATAN2(y, x) atan2((y), (x))
#define LK_FLOOR(x)    floor(x)
#define LK_LOG(x)      log(x)
#define LK_EXP(x)      exp(x)
#define LK_REAL_MAX    DBL_MAX
#endif

#ifdef __cplusplus
#define LK_EXTERN_C extern "C"
#else
#define LK_EXTERN_C extern
#endif

/* ---- function table ---- */
/* args: the kernel's argument block; n: number of elements; result: one real in
 * execution memory for reductions, NULL for plain kernels. */
typedef loom_status (*lk_launch_fn)(const loom_exec *q, const void *args, lk_int n,
                                    lk_real *result);

typedef struct lk_entry {
  const char *name;
  uint32_t args_size;                     /* bytes of the argument block */
  uint32_t ulps;                          /* allowed difference of backends, see LK_ENTRY_NEAR */
  lk_launch_fn launch[LOOM_NUM_BACKENDS]; /* NULL: not built for that backend */
  uint32_t bytes; /* moved per element, see LK_ENTRY_MOVES; 0: not declared */
} lk_entry;

#ifdef LK_HAVE_CUDA
#define LK_CUDA_FN(name) name##_cuda
#ifdef LK_SIMULATED
#define LK_BACKENDS (LOOM_ON_CPU | LOOM_ON_CUDA | LOOM_CUDA_SIMULATED) /* loom_plugin.backends */
#else
#define LK_BACKENDS (LOOM_ON_CPU | LOOM_ON_CUDA | LOOM_CUDA_REAL)
#endif
#else
#define LK_CUDA_FN(name) NULL
#define LK_BACKENDS      LOOM_ON_CPU
#endif

/* For callers.  LK_DECLARE: prototypes of the launchers; LK_ENTRY: the constant table row. */
#define LK_DECLARE(name, args_t)                                                      \
  LK_EXTERN_C loom_status name##_cpu(const loom_exec *q, const void *args, lk_int n,  \
                                     lk_real *result);                                \
  LK_EXTERN_C loom_status name##_cuda(const loom_exec *q, const void *args, lk_int n, \
                                      lk_real *result);                               \
  typedef args_t name##_args_t;
#define LK_ENTRY(name) LK_ENTRY_NEAR(name, 0)
/* For a kernel that calls more than sqrt (exp, log, sin, ...), which a device rounds in its own
 * way: the reals it writes may differ between backends by `ulps` roundings of them or of the
 * numbers they are computed from.  All other kernels write the same bits. */
#define LK_ENTRY_NEAR(name, ulps)                                                      \
  {                                                                                    \
#name, (uint32_t)sizeof(name##_args_t), (ulps), {name##_cpu, LK_CUDA_FN(name) }, 0 \
  }
/* For a kernel that declares its memory traffic per element: counts of reals and of 32-bit indices
 * that it reads from and writes to arrays, once per access in the source, without regard to caches.
 * A gather counts once per read, a 64-bit index as a real, a byte as an index.  Where the counts
 * depend on data (searches, lists, closest features) they are means over the shipped scenes, or the
 * caller adds the traffic, for example of a row's length, with lk_moved().  The log holds the sum
 * (n_bytes). */
#define LK_MOVES(reals, indices) \
  ((uint32_t)((reals) * sizeof(lk_real) + (indices) * sizeof(int32_t)))
#define LK_ENTRY_MOVES(name, reals, indices) LK_ENTRY_NEAR_MOVES(name, 0, reals, indices)
#define LK_ENTRY_NEAR_MOVES(name, ulps, reals, indices)           \
  {                                                               \
#name, (uint32_t)sizeof(name##_args_t), (ulps),               \
        {name##_cpu, LK_CUDA_FN(name) }, LK_MOVES(reals, indices) \
  }

/* Elements per launch are limited so that the grid-stride index cannot overflow. */
#define LK_MAX_ELEMS INT32_C(2130706432) /* 2^31 - 2^24 */

/* Keeps the text of a failed launch; LOOM_FAIL with LOOM_E_DEVICE appends it to its message. */
static inline loom_status lk_failed_(const loom_exec *q, const char *kernel, const char *text)
{
  if (q->why != NULL) snprintf(q->why, LOOM_WHY_LEN, "kernel %.40s: %.200s", kernel, text);
  return LOOM_E_DEVICE;
}

/* Added to the text of an error that an earlier launch may have caused. */
#define LK_LATE_ \
  "; it or a kernel before it: run with [exec] debug = 1, which names the one that failed"

/* Adds `count` times `bytes` to the traffic that kernels declare themselves. */
static inline void lk_moved(const loom_exec *q, int64_t count, uint32_t bytes)
{
  if (q->bytes != NULL) *q->bytes += count * (int64_t)bytes;
}

/* Launches `e` on n elements.  LOOM_E_UNSUPPORTED: not built for q's backend;
 * LOOM_E_DEVICE: a CUDA call failed; LOOM_E_ARG: n is out of range or the scratch too small. */
static inline loom_status lk_run(const lk_entry *e, const loom_exec *q, const void *args, int64_t n,
                                 lk_real *result)
{
  if (q->backend < 0 || q->backend >= LOOM_NUM_BACKENDS || n < 0 || n > LK_MAX_ELEMS)
    return LOOM_E_ARG;
  if (e->launch[q->backend] == NULL) return LOOM_E_UNSUPPORTED;
  if (q->launches != NULL) ++*q->launches;
  lk_moved(q, n, e->bytes);
  if (q->instead != NULL) return q->instead(q, e, args, (lk_int)n, result);
  return e->launch[q->backend](q, args, (lk_int)n, result);
}

/* Load and store one 3-vector by index.  Plain a[3*i + c] accesses let GCC emit
 * gathers; a per-element pointer (a + 3*i) does not. */
#define LK_LOAD3(d, p, i) \
  ((d)[0] = (p)[3 * (i)], (d)[1] = (p)[3 * (i) + 1], (d)[2] = (p)[3 * (i) + 2])
#define LK_STORE3(p, i, s) \
  ((p)[3 * (i)] = (s)[0], (p)[3 * (i) + 1] = (s)[1], (p)[3 * (i) + 2] = (s)[2])

/* Numbers of one element of a LK_KERNEL_ROOM, or LK_LINES.  On CUDA the numbers of 32 threads are
 * interleaved. */
typedef struct lk_room {
  lk_real *at;
  lk_int stride;
} lk_room;
#define LK_SCRATCH(room, k) ((room).at[(room).stride * (k)])
#define LK_WARP             32

/* LK_ATOMIC_ADD(p, x): *p += x while other threads add, too.  Their order is not fixed, so the bits
 * of the sum vary: only for methods that are published in this form, beside a gather as default. */

/* LK_FN: an inlined helper.  LK_FN_CALLED: a long helper with many callers, compiled once per file;
 * inlined into all callers it would take minutes to compile. */

/* LK_PREFETCH(p): p will be read soon; for gathers, where the CPU cannot foresee the
 * address.  Has no effect on CUDA: other threads hide the wait. */

/* Fixed reduction chunk: partial results do not depend on the thread count. */
#define LK_CHUNK 1024
/* The larger of two, NaN if either is NaN (fmax would hide it). */
#define LK_NANMAX(a, b) ((a) > (b) || (a) != (a) ? (a) : (b))

/* ========================================================================== */
#if defined(__CUDACC__) /* CUDA pass */

#include <cuda_runtime.h>
#define LK_RESTRICT         __restrict__
#define LK_FN               static __device__ __forceinline__
#define LK_FN_CALLED        static __device__ __noinline__
#define LK_BLOCK            256
#define LK_PREFETCH(p)      ((void)(p))
#define LK_ATOMIC_ADD(p, x) atomicAdd((p), (x))

/* Errors from cudaErrorIllegalAddress on arise while a kernel runs, and the next CUDA call reports
 * them; without [exec] debug that may be the launch of another kernel. */
static inline loom_status lk_cuda_failed_(const loom_exec *q, const char *kernel, cudaError_t c)
{
  char text[LOOM_WHY_LEN];
  const int late = !q->debug && c >= cudaErrorIllegalAddress && c != cudaErrorLaunchOutOfResources;
  snprintf(text, sizeof text, "%s (%s)%s", cudaGetErrorString(c), cudaGetErrorName(c),
           late ? LK_LATE_ : "");
  return lk_failed_(q, kernel, text);
}

static inline loom_status lk_cuda_check_(const loom_exec *q, const char *kernel)
{
  cudaError_t c = cudaGetLastError(); /* clears it: the next launch does not report it again */
  if (c == cudaSuccess && q->debug) c = cudaStreamSynchronize((cudaStream_t)q->stream);
  return c == cudaSuccess ? LOOM_OK : lk_cuda_failed_(q, kernel, c);
}

#define LK_KERNEL_(name, a, i, block, ...)                                                        \
  LK_FN void name##_body(const name##_args_t *a, lk_int i);                                       \
  static __global__ void __launch_bounds__(__VA_ARGS__) name##_k(const name##_args_t A, lk_int n) \
  {                                                                                               \
    for (lk_int i_ = blockIdx.x * blockDim.x + threadIdx.x; i_ < n; i_ += blockDim.x * gridDim.x) \
      name##_body(&A, i_);                                                                        \
  }                                                                                               \
  extern "C" loom_status name##_cuda(const loom_exec *q, const void *args, lk_int n, lk_real *)   \
  {                                                                                               \
    if (n == 0) return LOOM_OK;                                                                   \
    const int nb = (n + block - 1) / block, grid = nb < 65535 ? nb : 65535;                       \
    const name##_args_t *const A = (const name##_args_t *)args;                                   \
    name##_k<<<grid, block, 0, (cudaStream_t)q->stream>>>(*A, n);                                 \
    return lk_cuda_check_(q, #name);                                                              \
  }                                                                                               \
  LK_FN void name##_body(const name##_args_t *a, lk_int i)

#define LK_KERNEL(name, a, i) LK_KERNEL_(name, a, i, LK_BLOCK, LK_BLOCK)
#define LK_KERNEL_PLAIN       LK_KERNEL
/* 1 block per multiprocessor: else the compiler reserves registers for more, and spills. */
#define LK_KERNEL_LONG(name, a, i) LK_KERNEL_(name, a, i, LK_BLOCK, LK_BLOCK, 1)

/* A thread's numbers are one of LK_WARP columns in shared memory; a larger block traps. */
#define LK_KERNEL_WARP(name, a, i) LK_KERNEL_(name, a, i, LK_WARP, LK_WARP, 1)
#define LK_LINES(name, size)                                   \
  __shared__ lk_real name##_of_all[(size)*LK_WARP];            \
  const lk_room name = {name##_of_all + threadIdx.x, LK_WARP}; \
  if (blockDim.x > LK_WARP) __trap()

#define LK_SYNC() __syncthreads()
#define LK_KERNEL_BLOCK(name, a, i, lane, lanes)                                                \
  LK_FN void name##_body(const name##_args_t *a, lk_int i, lk_int lane, lk_int lanes);          \
  static __global__ void __launch_bounds__(LK_BLOCK) name##_k(const name##_args_t A)            \
  {                                                                                             \
    name##_body(&A, (lk_int)blockIdx.x, (lk_int)threadIdx.x, LK_BLOCK);                         \
  }                                                                                             \
  extern "C" loom_status name##_cuda(const loom_exec *q, const void *args, lk_int n, lk_real *) \
  {                                                                                             \
    if (n == 0) return LOOM_OK;                                                                 \
    name##_k<<<n, LK_BLOCK, 0, (cudaStream_t)q->stream>>>(*(const name##_args_t *)args);        \
    return lk_cuda_check_(q, #name);                                                            \
  }                                                                                             \
  LK_FN void name##_body(const name##_args_t *a, lk_int i, lk_int lane, lk_int lanes)

/* A thread first skips elements without work, so that a warp's threads run the body together. */
#define LK_KERNEL_ROOM(name, a, i, room, size)                                                     \
  LK_FN void name##_body(const name##_args_t *a, lk_int i, lk_room room);                          \
  static __global__ void __launch_bounds__(LK_WARP)                                                \
      name##_k(const name##_args_t A, lk_int n, lk_real *scratch)                                  \
  {                                                                                                \
    const lk_room own = {scratch + (int64_t)blockIdx.x * LK_WARP * (size) + threadIdx.x, LK_WARP}; \
    const lk_int step = LK_WARP * gridDim.x;                                                       \
    for (lk_int i_ = LK_WARP * blockIdx.x + threadIdx.x;; i_ += step) {                            \
      while (i_ < n && !name##_is(&A, i_)) i_ += step;                                             \
      if (i_ >= n) break;                                                                          \
      name##_body(&A, i_, own);                                                                    \
    }                                                                                              \
  }                                                                                                \
  extern "C" loom_status name##_cuda(const loom_exec *q, const void *args, lk_int n, lk_real *)    \
  {                                                                                                \
    const int64_t nb = (n + LK_WARP - 1) / LK_WARP, most = q->scratch_len / (LK_WARP * (size));    \
    const name##_args_t *const A = (const name##_args_t *)args;                                    \
    const int grid = (int)(nb < most ? nb : most);                                                 \
    if (n == 0) return LOOM_OK;                                                                    \
    if (grid == 0) return LOOM_E_ARG;                                                              \
    name##_k<<<grid, LK_WARP, 0, (cudaStream_t)q->stream>>>(*A, n, q->scratch);                    \
    return lk_cuda_check_(q, #name);                                                               \
  }                                                                                                \
  LK_FN void name##_body(const name##_args_t *a, lk_int i, lk_room room)

/* One block per chunk, tree in shared memory; one more block combines the partials in
 * the same fixed order.  Ends with the result in s[0] of thread 0. */
#define LK_TREE_(s, op)                                                                \
  __syncthreads();                                                                     \
  for (int w = LK_BLOCK / 2; w > 0; w >>= 1) {                                         \
    if ((int)threadIdx.x < w) s[threadIdx.x] = op(s[threadIdx.x], s[threadIdx.x + w]); \
    __syncthreads();                                                                   \
  }
#define LK_REDUCE_(name, a, i, start, op)                                                          \
  LK_FN lk_real name##_body(const name##_args_t *a, lk_int i);                                     \
  static __global__ void __launch_bounds__(LK_BLOCK)                                               \
      name##_k(const name##_args_t A, lk_int n, lk_real *part)                                     \
  {                                                                                                \
    __shared__ lk_real s[LK_BLOCK];                                                                \
    const lk_int lo = blockIdx.x * LK_CHUNK;                                                       \
    const lk_int hi = n - lo < LK_CHUNK ? n : lo + LK_CHUNK;                                       \
    lk_real acc = start;                                                                           \
    for (lk_int i_ = lo + (lk_int)threadIdx.x; i_ < hi; i_ += LK_BLOCK) {                          \
      const lk_real v = name##_body(&A, i_);                                                       \
      acc = op(acc, v);                                                                            \
    }                                                                                              \
    s[threadIdx.x] = acc;                                                                          \
    LK_TREE_(s, op)                                                                                \
    if (threadIdx.x == 0) part[blockIdx.x] = s[0];                                                 \
  }                                                                                                \
  static __global__ void __launch_bounds__(LK_BLOCK)                                               \
      name##_f(const lk_real *part, lk_int n, lk_real *res)                                        \
  {                                                                                                \
    __shared__ lk_real s[LK_BLOCK];                                                                \
    lk_real acc = start;                                                                           \
    for (lk_int c = (lk_int)threadIdx.x; c < n; c += LK_BLOCK) acc = op(acc, part[c]);             \
    s[threadIdx.x] = acc;                                                                          \
    LK_TREE_(s, op)                                                                                \
    if (threadIdx.x == 0) *res = s[0];                                                             \
  }                                                                                                \
  extern "C" loom_status name##_cuda(const loom_exec *q, const void *args, lk_int n, lk_real *res) \
  {                                                                                                \
    const lk_int nc = (n + LK_CHUNK - 1) / LK_CHUNK;                                               \
    const name##_args_t *const A = (const name##_args_t *)args;                                    \
    if (nc > q->scratch_len) return LOOM_E_ARG;                                                    \
    if (nc > 0) name##_k<<<nc, LK_BLOCK, 0, (cudaStream_t)q->stream>>>(*A, n, q->scratch);         \
    name##_f<<<1, LK_BLOCK, 0, (cudaStream_t)q->stream>>>(q->scratch, nc, res);                    \
    return lk_cuda_check_(q, #name);                                                               \
  }                                                                                                \
  LK_FN lk_real name##_body(const name##_args_t *a, lk_int i)

#define LK_ADD_(a, b)             ((a) + (b))
#define LK_REDUCE_SUM(name, a, i) LK_REDUCE_(name, a, i, LK_R(0.0), LK_ADD_)
#define LK_REDUCE_MAX(name, a, i) LK_REDUCE_(name, a, i, -LK_REAL_MAX, LK_NANMAX)
#define LK_REDUCE_SUM_PLAIN       LK_REDUCE_SUM

#else /* CPU pass */

#ifndef __cplusplus
#define LK_RESTRICT restrict
#else
#define LK_RESTRICT __restrict__ /* g++ -fsyntax-only: the C++17 check without nvcc */
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(LK_CALLED)
/* Every access is checked, or (LK_CALLED) a test calls the same helper in many places: inlined into
 * one function, a file takes up to a minute to compile. */
#define LK_FN static inline
#else
#define LK_FN static inline __attribute__((always_inline))
#endif
#define LK_FN_CALLED   static __attribute__((__noinline__, __unused__))
#define LK_PREFETCH(p) __builtin_prefetch(p)
#define LK_PRAGMA_(x)  _Pragma(#x)
#define LK_ATOMIC_ADD(p, x)              \
  do {                                   \
    LK_PRAGMA_(omp atomic) * (p) += (x); \
  } while (0)
/* Launches of fewer elements stay on one thread: waking others costs some 10 us.  A file of kernels
 * with short bodies redefines the limit after its includes: 32768 for operations on vectors of
 * reals (1 ns or less per element), 8192 on rows of three.  The bits of results do not change. */
#define LK_PARALLEL_MIN 1024

/* firstprivate: each thread owns a copy of the argument block, so the loads of
 * its pointers leave the loop. */
#define LK_CPU_LOOP_(name, pragma)                                                        \
  loom_status name##_cpu(const loom_exec *q, const void *args, lk_int n, lk_real *result) \
  {                                                                                       \
    const name##_args_t A = *(const name##_args_t *)args;                                 \
    const int threads = n < LK_PARALLEL_MIN ? 1 : q->num_threads;                         \
    (void)result;                                                                         \
    LK_PRAGMA_(pragma)                                                                    \
    for (lk_int i_ = 0; i_ < n; ++i_) name##_body(&A, i_);                                \
    return LOOM_OK;                                                                       \
  }

#define LK_KERNEL(name, a, i)                                                                     \
  LK_FN void name##_body(const name##_args_t *a, lk_int i);                                       \
  LK_CPU_LOOP_(name, omp parallel for simd schedule(static) firstprivate(A) num_threads(threads)) \
  LK_FN void name##_body(const name##_args_t *a, lk_int i)

#define LK_KERNEL_PLAIN(name, a, i)                                                          \
  LK_FN void name##_body(const name##_args_t *a, lk_int i);                                  \
  LK_CPU_LOOP_(name, omp parallel for schedule(static) firstprivate(A) num_threads(threads)) \
  LK_FN void name##_body(const name##_args_t *a, lk_int i)

#define LK_KERNEL_LONG LK_KERNEL_PLAIN
#define LK_KERNEL_WARP LK_KERNEL_PLAIN
#define LK_LINES(name, size) \
  lk_real name##_own[size];  \
  const lk_room name = {name##_own, 1}

#define LK_SYNC() ((void)0)
#define LK_KERNEL_BLOCK(name, a, i, lane, lanes)                                              \
  LK_FN void name##_body(const name##_args_t *a, lk_int i, lk_int lane, lk_int lanes);        \
  loom_status name##_cpu(const loom_exec *q, const void *args, lk_int n, lk_real *result)     \
  {                                                                                           \
    const name##_args_t A = *(const name##_args_t *)args;                                     \
    (void)result;                                                                             \
    LK_PRAGMA_(omp parallel for schedule(static) firstprivate(A) num_threads(q->num_threads)) \
    for (lk_int i_ = 0; i_ < n; ++i_) name##_body(&A, i_, 0, 1);                              \
    return LOOM_OK;                                                                           \
  }                                                                                           \
  LK_FN void name##_body(const name##_args_t *a, lk_int i, lk_int lane, lk_int lanes)

#define LK_KERNEL_ROOM(name, a, i, room, size)                                            \
  LK_FN void name##_body(const name##_args_t *a, lk_int i, lk_room room);                 \
  loom_status name##_cpu(const loom_exec *q, const void *args, lk_int n, lk_real *result) \
  {                                                                                       \
    const name##_args_t A = *(const name##_args_t *)args;                                 \
    const int threads = n < LK_PARALLEL_MIN ? 1 : q->num_threads;                         \
    (void)result;                                                                         \
    LK_PRAGMA_(omp parallel for schedule(static) firstprivate(A) num_threads(threads))    \
    for (lk_int i_ = 0; i_ < n; ++i_) {                                                   \
      lk_real numbers[size];                                                              \
      const lk_room own = {numbers, 1};                                                   \
      if (name##_is(&A, i_)) name##_body(&A, i_, own);                                    \
    }                                                                                     \
    return LOOM_OK;                                                                       \
  }                                                                                       \
  LK_FN void name##_body(const name##_args_t *a, lk_int i, lk_room room)

#define LK_REDUCE_HEAD_(name)                                                             \
  loom_status name##_cpu(const loom_exec *q, const void *args, lk_int n, lk_real *result) \
  {                                                                                       \
    const name##_args_t A = *(const name##_args_t *)args;                                 \
    const lk_int nc = (n + LK_CHUNK - 1) / LK_CHUNK;                                      \
    const int threads = n < LK_PARALLEL_MIN ? 1 : q->num_threads;                         \
    lk_real *const part = q->scratch;                                                     \
    if (nc > q->scratch_len) return LOOM_E_ARG;                                           \
    LK_PRAGMA_(omp parallel for schedule(static) firstprivate(A) num_threads(threads))    \
    for (lk_int c = 0; c < nc; ++c) {                                                     \
      const lk_int lo = c * LK_CHUNK, hi = n - lo < LK_CHUNK ? n : lo + LK_CHUNK;

#define LK_REDUCE_SUM_(name, a, i, pragma)                               \
  LK_FN lk_real name##_body(const name##_args_t *a, lk_int i);           \
  LK_REDUCE_HEAD_(name)                                                  \
  lk_real acc = LK_R(0.0);                                               \
  pragma for (lk_int i_ = lo; i_ < hi; ++i_) acc += name##_body(&A, i_); \
  part[c] = acc;                                                         \
  }                                                                      \
  lk_real s = LK_R(0.0);                                                 \
  for (lk_int c = 0; c < nc; ++c) s += part[c];                          \
  *result = s;                                                           \
  return LOOM_OK;                                                        \
  }                                                                      \
  LK_FN lk_real name##_body(const name##_args_t *a, lk_int i)

#define LK_REDUCE_SUM(name, a, i) \
  LK_REDUCE_SUM_(name, a, i, LK_PRAGMA_(omp simd reduction(+ : acc)))
#define LK_REDUCE_SUM_PLAIN(name, a, i) LK_REDUCE_SUM_(name, a, i, )

#define LK_REDUCE_MAX(name, a, i)                              \
  LK_FN lk_real name##_body(const name##_args_t *a, lk_int i); \
  LK_REDUCE_HEAD_(name)                                        \
  lk_real acc = -LK_REAL_MAX;                                  \
  for (lk_int i_ = lo; i_ < hi; ++i_) {                        \
    const lk_real v = name##_body(&A, i_);                     \
    acc = LK_NANMAX(acc, v);                                   \
  }                                                            \
  part[c] = acc;                                               \
  }                                                            \
  lk_real s = -LK_REAL_MAX;                                    \
  for (lk_int c = 0; c < nc; ++c) s = LK_NANMAX(s, part[c]);   \
  *result = s;                                                 \
  return LOOM_OK;                                              \
  }                                                            \
  LK_FN lk_real name##_body(const name##_args_t *a, lk_int i)

#endif
#endif /* LOOM_KERNEL_H */
