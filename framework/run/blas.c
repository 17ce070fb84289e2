/* blas.c - see blas.h. */
#define _GNU_SOURCE /* dladdr */
#include "run/blas.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* OpenBLAS takes kernels without vector instructions on a processor that is newer than itself, and
 * is several times slower then.  What counts is which instructions there are; what the environment
 * says stands. */
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
