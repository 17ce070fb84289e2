/* prim.c, prim_cpu.c: scan, sort, compose, match against simple loops and qsort. */
#include "core/seconds.h"
#include "linalg/linalg.h"
#include "support/bufs.h"

typedef struct item {
  uint64_t key;
  int32_t index;
} item;

/* by key, then by old index: the order of a stable sort */
static int compare_items(const void *a, const void *b)
{
  const item *x = a, *y = b;
  if (x->key != y->key) return x->key < y->key ? -1 : 1;
  return (x->index > y->index) - (x->index < y->index);
}

typedef uint64_t (*key_fn)(uint64_t *state, int64_t i);
static uint64_t any_key(uint64_t *s, int64_t i)
{
  (void)i;
  return t_random(s);
}
static uint64_t few_keys(uint64_t *s, int64_t i)
{
  (void)i;
  return t_random(s) % 7 << 40; /* one byte differs: one pass */
}
static uint64_t pair_keys(uint64_t *s, int64_t i)
{
  (void)i;
  return (t_random(s) % 5000) << 32 | t_random(s) % 3; /* three passes: an odd number */
}
static uint64_t one_key(uint64_t *s, int64_t i)
{
  (void)s, (void)i;
  return UINT64_MAX;
}
static uint64_t falling_keys(uint64_t *s, int64_t i)
{
  (void)s;
  return UINT64_MAX - (uint64_t)i;
}

static void check_sort(int check, key_fn make, int64_t n, int max_threads)
{
  uint64_t seed = 11;
  item *want = malloc((size_t)(n + 1) * sizeof *want);
  uint64_t *keys = malloc((size_t)(n + 1) * sizeof *keys);
  cr_assert(want != NULL && keys != NULL);
  for (int64_t i = 0; i < n; ++i) {
    keys[i] = make(&seed, i);
    want[i] = (item){keys[i], (int32_t)i};
  }
  qsort(want, (size_t)n, sizeof *want, compare_items);
  for (int threads = 1; threads <= max_threads; ++threads) {
    mem *m = t_mem(check);
    loom_exec e = t_exec(threads);
    loom_buf *key = t_buf(m, LOOM_U64, n, keys), *perm = t_buf(m, LOOM_I32, n, NULL);
    T_OK(m, la_sort_u64(m, &e, key, perm));
    uint64_t *k = t_read(m, key);
    int32_t *p = t_read(m, perm);
    for (int64_t i = 0; i < n; ++i) {
      cr_assert_eq(k[i], want[i].key, "n %lld, %d threads", (long long)n, threads);
      cr_assert_eq(p[i], want[i].index, "n %lld, %d threads", (long long)n, threads);
    }
    free(k);
    free(p);
    exec_close(&e);
    mem_free(m);
  }
  free(want);
  free(keys);
}

Test(prim, sort_is_stable_for_any_thread_count)
{
  static const key_fn makers[] = {any_key, few_keys, pair_keys, one_key, falling_keys};
  static const int64_t sizes[] = {0, 1, 2, 255, 8191, 8192, 20011};
  for (int check = 0; check < 2; ++check)
    for (size_t f = 0; f < sizeof makers / sizeof makers[0]; ++f)
      for (size_t k = 0; k < sizeof sizes / sizeof sizes[0]; ++k)
        check_sort(check, makers[f], sizes[k], 8);
}

Test(prim, sort_a_million)
{
  enum { N = 1000000 };
  mem *m = t_mem(0);
  uint64_t seed = 3, *keys = malloc(N * sizeof *keys);
  cr_assert(keys != NULL);
  for (int i = 0; i < N; ++i) keys[i] = t_random(&seed);
  loom_buf *perm = t_buf(m, LOOM_I32, N, NULL);
  for (int threads = 1; threads <= 2; ++threads) {
    loom_exec e = t_exec(threads);
    double best = 1e9;
    for (int run = 0; run < 3; ++run) {
      loom_buf *key = t_buf(m, LOOM_U64, N, keys);
      const double t0 = seconds_now();
      T_OK(m, la_sort_u64(m, &e, key, perm));
      const double t = seconds_now() - t0;
      if (t < best) best = t;
      buf_free(m, key);
    }
    cr_log_info("sort of 1e6 random u64, %d thread(s): %.1f ms", threads, 1e3 * best);
    exec_close(&e);
  }
  mem_free(m);
  free(keys);
  check_sort(0, any_key, N, 2);
}

Test(prim, scan)
{
  static const int64_t sizes[] = {0, 1, 2, 8191, 8192, 30011};
  for (int check = 0; check < 2; ++check) {
    for (size_t k = 0; k < sizeof sizes / sizeof sizes[0]; ++k) {
      const int64_t n = sizes[k];
      uint64_t seed = 5;
      int64_t *v = malloc((size_t)(n + 1) * sizeof *v);
      cr_assert(v != NULL);
      for (int64_t i = 0; i < n; ++i) v[i] = (int64_t)(t_random(&seed) % 2001) - 1000;
      for (int threads = 1; threads <= 8; ++threads) {
        mem *m = t_mem(check);
        loom_exec e = t_exec(threads);
        loom_buf *in = t_buf(m, LOOM_I64, n, v), *out = t_buf(m, LOOM_I64, n + 1, NULL);
        int64_t total = -1, sum = 0;
        T_OK(m, la_scan_i64(m, &e, in, out, &total));
        int64_t *got = t_read(m, out);
        cr_assert_eq(total, got[n]);
        for (int64_t i = 0; i <= n; ++i) {
          cr_assert_eq(got[i], sum);
          if (i < n) sum += v[i];
        }
        free(got);
        exec_close(&e);
        mem_free(m);
      }
      free(v);
    }
  }
}

Test(prim, compose_applies_first_then_second)
{
  for (int check = 0; check < 2; ++check) {
    mem *m = t_mem(check);
    loom_exec e = t_exec(2);
    const int32_t first[4] = {3, 0, 2, 1}, second[4] = {1, 1, 3, 0}, want[4] = {0, 0, 1, 3};
    loom_buf *a = t_buf(m, LOOM_I32, 4, first), *b = t_buf(m, LOOM_I32, 4, second),
             *c = t_buf(m, LOOM_I32, 4, NULL);
    T_OK(m, la_compose(m, &e, a, b, c));
    int32_t *got = t_read(m, c);
    cr_assert_eq(memcmp(got, want, sizeof want), 0);
    free(got);
    exec_close(&e);
    mem_free(m);
  }
}

Test(prim, match_keys_finds_old_indices)
{
  for (int check = 0; check < 2; ++check) {
    mem *m = t_mem(check);
    loom_exec e = t_exec(2);
    const uint64_t old[5] = {2, 5, 9, UINT64_MAX, 0 /* beyond n_old */};
    const uint64_t now[6] = {0, 2, 3, 9, 10, UINT64_MAX};
    const int32_t want[6] = {-1, 0, -1, 2, -1, 3};
    loom_buf *a = t_buf(m, LOOM_U64, 5, old), *b = t_buf(m, LOOM_U64, 6, now),
             *i = t_buf(m, LOOM_I32, 6, NULL);
    T_OK(m, la_match_keys(m, &e, a, 4, b, 6, i));
    int32_t *got = t_read(m, i);
    cr_assert_eq(memcmp(got, want, sizeof want), 0);
    free(got);
    T_OK(m, la_match_keys(m, &e, a, 0, b, 6, i));
    got = t_read(m, i);
    for (int k = 0; k < 6; ++k) cr_assert_eq(got[k], -1);
    free(got);
    T_OK(m, la_match_keys(m, &e, a, 4, b, 0, i));
    cr_assert_eq(la_match_keys(m, &e, a, 6, b, 6, i), LOOM_E_ARG);
    exec_close(&e);
    mem_free(m);
  }
}

Test(prim, misuse_is_refused)
{
  mem *m = t_mem(0);
  loom_exec e = t_exec(1);
  loom_buf *u = t_buf(m, LOOM_U64, 4, NULL), *i = t_buf(m, LOOM_I32, 3, NULL),
           *l = t_buf(m, LOOM_I64, 4, NULL);
  cr_assert_eq(la_sort_u64(m, &e, u, i), LOOM_E_ARG);
  cr_assert_eq(la_sort_u64(m, &e, l, i), LOOM_E_ARG);
  cr_assert_eq(la_scan_i64(m, &e, l, l, NULL), LOOM_E_ARG);
  cr_assert_eq(la_scan_i64(m, &e, l, u, NULL), LOOM_E_ARG);
  cr_assert(mem_mapped(m) == NULL);
  exec_close(&e);
  mem_free(m);
}
