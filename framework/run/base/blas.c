/* blas.c - see blas.h. */
#define _GNU_SOURCE /* dladdr */
#include "run/base/blas.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include "mem/limits.h"

/* OpenBLAS takes kernels without vector instructions on a processor that is newer than itself, and
 * is several times slower then.  The choice goes by the processor's instructions; a choice of the
 * environment is kept. */
static void choose_kernels(void)
{
#if defined __x86_64__ && defined __GNUC__
  __builtin_cpu_init();
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
      __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl"))
    setenv("OPENBLAS_CORETYPE", "SkylakeX", 0);
  else if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
    setenv("OPENBLAS_CORETYPE", "Haswell", 0);
#endif
}

void blas_settle(const exec_settings *e)
{
  static const char *const names[] = {"OPENBLAS_NUM_THREADS", "BLIS_NUM_THREADS",
                                      "MKL_NUM_THREADS"};
  char number[16];
  choose_kernels();
  if (!e->deterministic && e->threads == 0) return; /* as the environment has it */
  snprintf(number, sizeof number, "%d", e->deterministic ? 1 : (int)e->threads);
  for (size_t k = 0; k < sizeof names / sizeof *names; ++k) setenv(names[k], number, 1);
}

typedef const char *text_of(void);

void blas_name(const char *plugin, char *out, size_t len)
{
  out[0] = '\0';
  void *const file = dlopen(plugin, RTLD_LAZY | RTLD_NOLOAD);
  if (file == NULL) return;
  /* found in the order in which the plugin's libraries find it */
  void *product = dlsym(RTLD_DEFAULT, "dgemm_");
  if (product == NULL) product = dlsym(file, "dgemm_");
  void *const config = dlsym(file, "openblas_get_config");
  Dl_info from, its;
  if (product != NULL && dladdr(product, &from) != 0) {
    snprintf(out, len, "%s", from.dli_fname);
    if (config != NULL && dladdr(config, &its) != 0 && its.dli_fbase == from.dli_fbase) {
      text_of *text;
      memcpy(&text, &config, sizeof text);
      const size_t at = strlen(out);
      snprintf(out + at, len - at, " (%s)", text());
    }
  }
  dlclose(file);
}

/* ---- the pool of OpenBLAS ---- */

/* Buffer of one thread: BUFFER_SIZE of OpenBLAS 0.3 for these processors (common_x86_64.h, param.h:
 * 32 << 22); other ones take less. */
static const double pool_bytes = 134217728.0;

static int is_limited(int resource)
{
  struct rlimit r;
  return getrlimit((__rlimit_resource_t)resource, &r) == 0 && r.rlim_cur != RLIM_INFINITY;
}

static int calls_openblas(void *file)
{
  Dl_info config, product;
  void *const c = dlsym(file, "openblas_get_config");
  void *p = dlsym(RTLD_DEFAULT, "dgemm_");
  if (p == NULL) p = dlsym(file, "dgemm_");
  return c != NULL && p != NULL && dladdr(c, &config) != 0 && dladdr(p, &product) != 0 &&
         config.dli_fbase == product.dli_fbase;
}

/* Cholesky factor of the matrix (1): OpenBLAS takes its buffer and keeps it. */
static void take_buffer(void *file)
{
  typedef void factorise(const char *uplo, const int *n, double *a, const int *lda, int *info);
  static const int one = 1;
  double a = 1.0;
  int info = 0;
  factorise *call;
  void *p = dlsym(RTLD_DEFAULT, "dpotrf_");
  if (p == NULL) p = dlsym(file, "dpotrf_");
  if (p == NULL) return;
  memcpy(&call, &p, sizeof call);
  call("L", &one, &a, &one, &info);
}

static loom_status too_little(loom_err *err, const char *plugin, int threads)
{
  char need[32], left[32];
  mem_limit limit;
  const int known = mem_available("", &limit);
  const char *const base = strrchr(plugin, '/');
  return err_set(err, LOOM_E_NOMEM,
                 "%s calls OpenBLAS, which takes %s for buffers of %d thread%s and would wait for "
                 "ever for them: %s leaves %s; raise ulimit -v and -d, or take a solver that calls "
                 "no BLAS",
                 base != NULL ? base + 1 : plugin, mem_bytes_text(pool_bytes * threads, need),
                 threads, threads > 1 ? "s" : "", known ? limit.what : "the system",
                 known ? mem_bytes_text(limit.bytes, left) : "less");
}

loom_status blas_reserve(loom_err *err, const exec_settings *e, const void *inside, int *done)
{
  Dl_info where;
  if (*done || (!is_limited(RLIMIT_AS) && !is_limited(RLIMIT_DATA)) || inside == NULL ||
      dladdr(inside, &where) == 0)
    return LOOM_OK;
  void *const file = dlopen(where.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
  if (file == NULL) return LOOM_OK;
  const int threads = e->deterministic || e->threads == 0 ? 1 : (int)e->threads;
  loom_status s = LOOM_OK;
  if (calls_openblas(file)) {
    const size_t bytes = (size_t)pool_bytes * (size_t)threads;
    void *const p = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    *done = p != MAP_FAILED && munmap(p, bytes) == 0;
    if (*done)
      take_buffer(file);
    else
      s = too_little(err, where.dli_fname, threads);
  }
  dlclose(file);
  return s;
}
