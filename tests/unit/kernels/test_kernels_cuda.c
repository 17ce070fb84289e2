/* Every kernel of the core with random arguments: the same bits for any number of threads, and
 * CPU against CUDA within the ulps its row states. */
#include <stdio.h>

#include "linalg/linalg.h"
#include "support/bufs.h"
#include "unit/kernels/cases.h"

typedef const kernel_case *(*table_fn)(int *num);
static const table_fn tables[] = {cases_ccd,    cases_elements, cases_kit,
                                  cases_linalg, cases_plate,    cases_run};
enum { NUM_TABLES = sizeof tables / sizeof tables[0] };

static loom_exec open_cuda_or_skip(void)
{
  char why[256];
  loom_err err = {0};
  loom_exec e;
  if (exec_cuda_devices(why, sizeof why) == 0) cr_skip_test("no CUDA device: %s", why);
  cr_assert_eq(exec_open(&err, LOOM_CUDA, 1, 1, 1, &e), LOOM_OK, "%s", err.text);
  return e;
}

Test(kernels, are_built_for_every_backend)
{
  for (int t = 0; t < NUM_TABLES; ++t) {
    int num = 0;
    const kernel_case *cases = tables[t](&num);
    cr_assert_gt(num, 0);
    for (int k = 0; k < num; ++k) {
      cr_assert(cases[k].entry->launch[LOOM_CPU] != NULL, "%s", cases[k].entry->name);
#ifdef LK_HAVE_CUDA
      cr_assert(cases[k].entry->launch[LOOM_CUDA] != NULL, "%s", cases[k].entry->name);
#endif
    }
  }
}

Test(kernels, same_bits_for_any_thread_count)
{
  loom_exec one = t_exec(1);
  for (int t = 0; t < NUM_TABLES; ++t) {
    int num = 0;
    const kernel_case *cases = tables[t](&num);
    for (int k = 0; k < num; ++k) {
      kc_output a, b;
      kc_run(&cases[k], &one, 1, &a);
      for (int threads = 2; threads <= 8; threads += 3) {
        char who[32];
        loom_exec e = t_exec(threads);
        snprintf(who, sizeof who, "%d threads", threads);
        kc_run(&cases[k], &e, 0, &b);
        kc_compare(&cases[k], &a, &b, 0, who);
        kc_release(&b);
        exec_close(&e);
      }
      kc_release(&a);
    }
  }
  exec_close(&one);
}

static void sort_and_scan(const loom_exec *e, int64_t n, uint64_t **key, int32_t **perm,
                          int64_t **sums)
{
  mem *m = t_mem(0);
  uint64_t seed = 5, *k = malloc((size_t)(n + 1) * sizeof *k);
  cr_assert(k != NULL);
  for (int64_t i = 0; i < n; ++i) k[i] = t_random(&seed) & UINT64_C(0xff00ff0000ff);
  loom_buf *keys = t_buf(m, LOOM_U64, n, k), *order = t_buf(m, LOOM_I32, n, NULL),
           *in = t_buf(m, LOOM_I64, n, k), *out = t_buf(m, LOOM_I64, n + 1, NULL);
  T_OK(m, la_sort_u64(m, e, keys, order));
  T_OK(m, la_scan_i64(m, e, in, out, NULL));
  *key = t_read(m, keys);
  *perm = t_read(m, order);
  *sums = t_read(m, out);
  free(k);
  mem_free(m);
}

static void compare_kernels(const loom_exec *device, const loom_exec *host)
{
  for (int t = 0; t < NUM_TABLES; ++t) {
    int num = 0;
    const kernel_case *cases = tables[t](&num);
    for (int k = 0; k < num; ++k) {
      kc_output a, b, again;
      kc_run(&cases[k], host, 0, &a);
      kc_run(&cases[k], device, 1, &b);
      kc_run(&cases[k], device, 0, &again);
      kc_compare(&cases[k], &a, &b, cases[k].ulps, "CUDA");
      kc_compare(&cases[k], &b, &again, 0, "CUDA, second run");
      kc_release(&a);
      kc_release(&b);
      kc_release(&again);
    }
  }
}

static void compare_sort_and_scan(const loom_exec *device, const loom_exec *host)
{
  static const int64_t sizes[] = {0, 1, 1000, 300007};
  for (size_t s = 0; s < sizeof sizes / sizeof sizes[0]; ++s) {
    const size_t n = (size_t)sizes[s];
    uint64_t *key[2];
    int32_t *perm[2];
    int64_t *sums[2];
    sort_and_scan(host, sizes[s], &key[0], &perm[0], &sums[0]);
    sort_and_scan(device, sizes[s], &key[1], &perm[1], &sums[1]);
    cr_assert_eq(memcmp(key[0], key[1], n * sizeof *key[0]), 0);
    cr_assert_eq(memcmp(perm[0], perm[1], n * sizeof *perm[0]), 0);
    cr_assert_eq(memcmp(sums[0], sums[1], (n + 1) * sizeof *sums[0]), 0);
    for (int k = 0; k < 2; ++k) {
      free(key[k]);
      free(perm[k]);
      free(sums[k]);
    }
  }
}

/* All in one process, with one context: a real device takes half a second to open. */
Test(kernels, cuda_agrees_with_the_cpu)
{
  loom_exec device = open_cuda_or_skip(), host = t_exec(2);
  compare_kernels(&device, &host);
  compare_sort_and_scan(&device, &host);
  exec_close(&host);
  exec_close(&device);
}
