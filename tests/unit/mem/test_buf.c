/* buf.c, set.c: contents, locks, leaks, failing allocations; with and without check mode.
 */
#include <criterion/criterion.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "mem/mem.h"

static mem *open_mem(int check)
{
  loom_err err = {0};
  mem *m = NULL;
  cr_assert_eq(mem_new(&err, check, &m), LOOM_OK);
  return m;
}

static loom_buf *create_test_buf(mem *m, const char *name, int type, int64_t count)
{
  loom_buf *b = NULL;
  cr_assert_eq(buf_new(m, "test", name, type, count, &b), LOOM_OK, "%s", mem_err(m)->text);
  return b;
}

static void *map_test_buf(mem *m, loom_buf *b, int access)
{
  void *p = NULL;
  cr_assert_eq(buf_map(m, NULL, b, access, LOOM_AT_HOST, &p), LOOM_OK, "%s", mem_err(m)->text);
  cr_assert(p != NULL);
  return p;
}

static void unmap_test_buf(mem *m, loom_buf *b)
{
  cr_assert_eq(buf_unmap(m, b), LOOM_OK, "%s", mem_err(m)->text);
}

Test(buf, begins_zero_aligned_and_without_storage)
{
  for (int check = 0; check < 2; ++check) {
    mem *m = open_mem(check);
    loom_buf *b = create_test_buf(m, "x", LOOM_I32, 1000);
    cr_assert_eq(mem_bytes(m, LOOM_AT_HOST), 0);
    const int32_t *p = map_test_buf(m, b, LOOM_READ);
    cr_assert_eq((uintptr_t)p % 64, 0);
    for (int i = 0; i < 1000; ++i) cr_assert_eq(p[i], 0);
    unmap_test_buf(m, b);
    cr_assert_eq(mem_bytes(m, LOOM_AT_HOST), 4000);
    cr_assert_eq(buf_count(b), 1000);
    cr_assert_eq(buf_type(b), LOOM_I32);
    cr_assert_str_eq(buf_name(b), "x");
    buf_free(m, b);
    cr_assert_eq(mem_bytes(m, LOOM_AT_HOST), 0);
    cr_assert_eq(mem_peak_bytes(m, LOOM_AT_HOST), 4000);
    cr_assert_eq(mem_free(m), 0);
  }
}

Test(buf, keeps_what_was_written)
{
  for (int check = 0; check < 2; ++check) {
    mem *m = open_mem(check);
    loom_buf *b = create_test_buf(m, "x", LOOM_U64, 10);
    uint64_t *w = map_test_buf(m, b, LOOM_WRITE);
    for (int i = 0; i < 10; ++i) w[i] = (uint64_t)i * i;
    unmap_test_buf(m, b);
    w = map_test_buf(m, b, LOOM_RDWR);
    w[3] += 1;
    unmap_test_buf(m, b);
    const uint64_t *r = map_test_buf(m, b, LOOM_READ);
    for (int i = 0; i < 10; ++i) cr_assert_eq(r[i], (uint64_t)i * i + (i == 3));
    unmap_test_buf(m, b);
    buf_free(m, b);
    cr_assert_eq(mem_free(m), 0);
  }
}

Test(buf, resize_keeps_and_zeroes)
{
  for (int check = 0; check < 2; ++check) {
    mem *m = open_mem(check);
    loom_buf *b = create_test_buf(m, "x", LOOM_I32, 4);
    int32_t *w = map_test_buf(m, b, LOOM_WRITE);
    for (int i = 0; i < 4; ++i) w[i] = i + 1;
    unmap_test_buf(m, b);
    const int64_t counts[] = {2, 4, 100, 0, 3};
    const int kept[] = {2, 2, 2, 0, 0};
    for (int k = 0; k < 5; ++k) {
      cr_assert_eq(buf_resize(m, b, counts[k]), LOOM_OK);
      cr_assert_eq(buf_count(b), counts[k]);
      const int32_t *r = map_test_buf(m, b, LOOM_READ);
      for (int i = 0; i < counts[k]; ++i) cr_assert_eq(r[i], i < kept[k] ? i + 1 : 0);
      unmap_test_buf(m, b);
    }
    buf_free(m, b);
    cr_assert_eq(mem_free(m), 0);
  }
}

Test(buf, reset_zeroes_all)
{
  for (int check = 0; check < 2; ++check) {
    mem *m = open_mem(check);
    loom_buf *b = create_test_buf(m, "x", LOOM_I32, 4);
    const int64_t counts[] = {4, 2, 100, 0};
    for (int k = 0; k < 4; ++k) {
      int32_t *w = map_test_buf(m, b, LOOM_WRITE);
      for (int64_t i = 0; i < buf_count(b); ++i) w[i] = 7;
      cr_assert_eq(buf_reset(m, b, counts[k]), LOOM_E_STATE);
      unmap_test_buf(m, b);
      cr_assert_eq(buf_reset(m, b, -1), LOOM_E_ARG);
      cr_assert_eq(buf_reset(m, b, counts[k]), LOOM_OK);
      cr_assert_eq(buf_count(b), counts[k]);
      const int32_t *r = map_test_buf(m, b, LOOM_READ);
      for (int64_t i = 0; i < counts[k]; ++i) cr_assert_eq(r[i], 0);
      unmap_test_buf(m, b);
    }
    cr_assert_eq(mem_free(m), 1);
  }
}

Test(buf, many_readers_or_one_writer)
{
  for (int check = 0; check < 2; ++check) {
    mem *m = open_mem(check);
    loom_buf *b = create_test_buf(m, "x", LOOM_REAL, 5);
    void *p;
    cr_assert(mem_mapped(m) == NULL);
    (void)map_test_buf(m, b, LOOM_READ);
    (void)map_test_buf(m, b, LOOM_READ);
    cr_assert_str_eq(mem_mapped(m), "x");
    cr_assert_eq(buf_map(m, NULL, b, LOOM_WRITE, LOOM_AT_HOST, &p), LOOM_E_STATE);
    cr_assert(strstr(mem_err(m)->text, "'x' of test") != NULL, "%s", mem_err(m)->text);
    unmap_test_buf(m, b);
    cr_assert_eq(buf_map(m, NULL, b, LOOM_RDWR, LOOM_AT_HOST, &p), LOOM_E_STATE);
    unmap_test_buf(m, b);
    (void)map_test_buf(m, b, LOOM_RDWR);
    cr_assert_eq(buf_map(m, NULL, b, LOOM_READ, LOOM_AT_HOST, &p), LOOM_E_STATE);
    cr_assert_eq(buf_resize(m, b, 7), LOOM_E_STATE);
    buf_free(m, b); /* refused: still there */
    cr_assert_eq(mem_leaks(m, NULL, NULL, 0), 1);
    cr_assert(strstr(mem_err(m)->text, "freed while") != NULL);
    unmap_test_buf(m, b);
    cr_assert_eq(buf_unmap(m, b), LOOM_E_STATE);
    (void)map_test_buf(m, b, LOOM_WRITE);
    mem_release_maps(m);
    cr_assert(mem_mapped(m) == NULL);
    buf_free(m, b);
    cr_assert_eq(mem_free(m), 0);
  }
}

Test(buf, bad_arguments_are_refused)
{
  mem *m = open_mem(0), *other = open_mem(0);
  loom_buf *b = NULL, *good = create_test_buf(m, "x", LOOM_U8, 3);
  void *p;
  cr_assert_eq(buf_new(m, "test", "y", 17, 1, &b), LOOM_E_ARG);
  cr_assert_eq(buf_new(m, "test", "y", LOOM_U8, -1, &b), LOOM_E_ARG);
  cr_assert(b == NULL);
  cr_assert_eq(buf_resize(m, good, -4), LOOM_E_ARG);
  cr_assert_eq(buf_resize(other, good, 4), LOOM_E_ARG);
  cr_assert_eq(buf_map(other, NULL, good, LOOM_READ, LOOM_AT_HOST, &p), LOOM_E_ARG);
  cr_assert_eq(buf_map(m, NULL, NULL, LOOM_READ, LOOM_AT_HOST, &p), LOOM_E_ARG);
  cr_assert_eq(buf_map(m, NULL, good, 0, LOOM_AT_HOST, &p), LOOM_E_ARG);
  cr_assert_eq(buf_map(m, NULL, good, LOOM_READ, 9, &p), LOOM_E_ARG);
  cr_assert_eq(buf_map(m, NULL, good, LOOM_READ, LOOM_AT_DEVICE, &p), LOOM_E_ARG);
  cr_assert(p == NULL);
  buf_free(m, NULL);
  cr_assert_eq(mem_free(m), 1);
  cr_assert_eq(mem_free(other), 0);
}

Test(buf, leaks_are_named)
{
  mem *m = open_mem(0);
  loom_buf *b = NULL;
  char text[256], tiny[8];
  (void)create_test_buf(m, "x", LOOM_REAL, 6);
  cr_assert_eq(buf_new(m, "gd", "step", LOOM_I64, 2, &b), LOOM_OK);
  cr_assert_eq(mem_work(m, 0, 100, &b), LOOM_OK); /* not a leak */
  cr_assert_eq(mem_leaks(m, "gd", text, sizeof text), 1);
  cr_assert_str_eq(text, "gd/step: i64 [2], 16 bytes\n");
  cr_assert_eq(mem_leaks(m, NULL, text, sizeof text), 2);
  cr_assert(strstr(text, "test/x: real [6]") != NULL);
  cr_assert_eq(mem_leaks(m, NULL, tiny, sizeof tiny), 2);
  cr_assert_eq(strlen(tiny), 7);
  cr_assert_eq(mem_free(m), 2);
}

Test(buf, copies_the_common_part)
{
  loom_err err = {0};
  loom_exec e;
  cr_assert_eq(exec_open(&err, LOOM_CPU, 2, 1, 0, &e), LOOM_OK);
  for (int check = 0; check < 2; ++check) {
    mem *m = open_mem(check);
    const int64_t n = 700001; /* several chunks */
    loom_buf *a = create_test_buf(m, "a", LOOM_I32, n),
             *b = create_test_buf(m, "b", LOOM_I32, n + 5),
             *c = create_test_buf(m, "c", LOOM_I32, 2), *d = create_test_buf(m, "d", LOOM_U8, 2);
    int32_t *w = map_test_buf(m, a, LOOM_WRITE);
    for (int64_t i = 0; i < n; ++i) w[i] = (int32_t)(i * 7 + 1);
    unmap_test_buf(m, a);
    w = map_test_buf(m, b, LOOM_RDWR);
    w[n + 4] = 99;
    unmap_test_buf(m, b);
    cr_assert_eq(buf_copy(m, &e, b, a), LOOM_OK);
    cr_assert_eq(buf_copy(m, NULL, c, a), LOOM_OK);
    cr_assert_eq(buf_copy(m, &e, a, a), LOOM_OK);
    cr_assert_eq(buf_copy(m, &e, d, a), LOOM_E_ARG);
    const int32_t *r = map_test_buf(m, b, LOOM_READ), *r2 = map_test_buf(m, c, LOOM_READ);
    for (int64_t i = 0; i < n; ++i) cr_assert_eq(r[i], (int32_t)(i * 7 + 1));
    cr_assert_eq(r[n + 3], 0);
    cr_assert_eq(r[n + 4], 99);
    cr_assert_eq(r2[1], 8);
    cr_assert_eq(buf_copy(m, &e, c, a), LOOM_E_STATE);
    cr_assert_str_eq(mem_mapped(m), "b"); /* the failed copy left only b and c mapped */
    unmap_test_buf(m, b);
    unmap_test_buf(m, c);
    cr_assert(mem_mapped(m) == NULL);
    cr_assert_eq(mem_free(m), 4);
  }
  exec_close(&e);
}

Test(buf, check_mode_finds_defects)
{
  mem *m = open_mem(1);
  loom_buf *b = create_test_buf(m, "x", LOOM_REAL, 8), *k = create_test_buf(m, "k", LOOM_I32, 8),
           *big =
               create_test_buf(m, "big", LOOM_U8, 1 << 20); /* freed memory would come right back */
  loom_real *p = map_test_buf(m, b, LOOM_WRITE);
  cr_assert(isnan(p[0]) && isnan(p[7])); /* not even zero is there to rely on */
  for (int i = 0; i < 7; ++i) p[i] = i;
  unmap_test_buf(m, b);
  const loom_real *kept = map_test_buf(m, b, LOOM_READ);
  cr_assert(kept != p, "a new map has a new address");
  cr_assert_eq(kept[6], 6);
  cr_assert(isnan(kept[7]), "items that a WRITE map left out are not silently old");
  unmap_test_buf(m, b);
  cr_assert(isnan(kept[6]), "a pointer kept past its unmap sees poison");
  loom_real *r = map_test_buf(m, b, LOOM_READ);
  r[2] = 5;
  cr_assert_eq(buf_unmap(m, b), LOOM_E_STATE);
  cr_assert(strstr(mem_err(m)->text, "mapped READ but written") != NULL);
  const void *last = NULL;
  for (int i = 0; i < 20; ++i) { /* never the address of the map before */
    const void *now = map_test_buf(m, big, LOOM_READ);
    unmap_test_buf(m, big);
    cr_assert(now != last);
    last = now;
  }
  const int32_t *q = map_test_buf(m, k, LOOM_WRITE);
  cr_assert_eq((uint32_t)q[3], 0xa5a5a5a5u);
  unmap_test_buf(m, k);
  cr_assert_eq(mem_free(m), 3);
}

/* Writes outside are found when the map ends, and again after the callback by the caller, should
 * the first one not have looked. */
Test(buf, check_mode_has_guard_zones)
{
  mem *m = open_mem(1);
  loom_buf *b = create_test_buf(m, "x", LOOM_REAL, 7), *k = create_test_buf(m, "k", LOOM_U8, 3),
           *none = create_test_buf(m, "none", LOOM_I32, 0);
  loom_err found;
  cr_assert(!mem_has_defect(m) && !mem_take_defect(m, &found));
  loom_real *p = map_test_buf(m, b, LOOM_WRITE);
  for (int i = 0; i < 47; ++i) p[i] = i; /* 40 too many */
  cr_assert_eq(buf_unmap(m, b), LOOM_E_STATE);
  cr_assert(strstr(mem_err(m)->text, "buffer 'x' of test: written past its end: item 7 of 7"), "%s",
            mem_err(m)->text);
  uint8_t *q = map_test_buf(m, k, LOOM_READ);
  q[-2] = 1;
  cr_assert_eq(buf_unmap(m, k), LOOM_E_STATE);
  cr_assert(strstr(mem_err(m)->text, "buffer 'k' of test: written before its start: item -2"), "%s",
            mem_err(m)->text);
  int32_t *n = map_test_buf(m, none, LOOM_RDWR);
  n[0] = 1;
  cr_assert_eq(buf_unmap(m, none), LOOM_E_STATE);
  cr_assert(mem_take_defect(m, &found));
  cr_assert(strstr(found.text, "buffer 'x'") != NULL, "the first one is kept: %s", found.text);
  cr_assert(!mem_take_defect(m, &found), "it is told once");
  p = map_test_buf(m, b, LOOM_RDWR); /* and no defect is found where there is none */
  p[6] = 1;
  unmap_test_buf(m, b);
  cr_assert(!mem_has_defect(m));
  cr_assert_eq(mem_free(m), 3);
}

Test(buf, environment_turns_check_mode_on)
{
  cr_assert_eq(setenv("LOOM_MEM_CHECK", "1", 1), 0);
  mem *m = open_mem(0);
  loom_buf *b = create_test_buf(m, "x", LOOM_REAL, 1);
  const loom_real *p = map_test_buf(m, b, LOOM_WRITE);
  cr_assert(isnan(p[0]));
  cr_assert_eq(mem_free(m), 1);
}

/* Of storage that the contents would take less than a quarter of, the rest goes back. */
Test(buf, much_shorter_contents_give_memory_back)
{
  enum { LONG = 1 << 20, SHORT = 1000 };
  for (int check = 0; check < 2; ++check) {
    mem *m = open_mem(check);
    loom_buf *b = create_test_buf(m, "x", LOOM_I32, LONG);
    int32_t *p = map_test_buf(m, b, LOOM_WRITE);
    for (int i = 0; i < LONG; ++i) p[i] = i;
    unmap_test_buf(m, b);
    cr_assert_eq(buf_resize(m, b, LONG / 2), LOOM_OK);
    cr_expect_eq(mem_bytes(m, LOOM_AT_HOST), 4 * LONG, "half of it may be needed again");
    cr_assert_eq(buf_resize(m, b, SHORT), LOOM_OK);
    cr_expect(mem_bytes(m, LOOM_AT_HOST) < 5 * SHORT, "%d", (int)mem_bytes(m, LOOM_AT_HOST));
    cr_assert_eq(buf_resize(m, b, 2 * SHORT), LOOM_OK);
    const int32_t *const q = map_test_buf(m, b, LOOM_READ);
    for (int i = 0; i < 2 * SHORT; ++i) cr_assert_eq(q[i], i < SHORT ? i : 0, "item %d", i);
    unmap_test_buf(m, b);
    buf_free(m, b);
    cr_assert_eq(mem_free(m), 0);
  }
}

/* resize, map, copy with allocation k failing, k = 1, 2, ...: no damage, no leak */
static loom_status work_with_buffers(mem *m, loom_buf **b)
{
  void *p;
  LOOM_TRY(buf_new(m, "test", "a", LOOM_REAL, 50, &b[0]));
  LOOM_TRY(buf_map(m, NULL, b[0], LOOM_WRITE, LOOM_AT_HOST, &p));
  memset(p, 0, 50 * sizeof(loom_real));
  LOOM_TRY(buf_unmap(m, b[0]));
  LOOM_TRY(buf_resize(m, b[0], 5000));
  LOOM_TRY(buf_new(m, "test", "b", LOOM_REAL, 5000, &b[1]));
  LOOM_TRY(buf_copy(m, NULL, b[1], b[0]));
  return LOOM_OK;
}

Test(buf, every_allocation_may_fail)
{
  for (int check = 0; check < 2; ++check) {
    int k = 0;
    loom_status s;
    do {
      mem *m = open_mem(check);
      loom_buf *b[2] = {NULL, NULL};
      mem_fail_after(m, ++k);
      s = work_with_buffers(m, b);
      cr_assert(s == LOOM_OK || s == LOOM_E_NOMEM, "allocation %d: %s", k, mem_err(m)->text);
      if (s != LOOM_OK) cr_assert(strstr(mem_err(m)->text, "memory") != NULL);
      if (s != LOOM_OK && b[0] != NULL) cr_assert(buf_count(b[0]) == 50 || buf_count(b[0]) == 5000);
      cr_assert(mem_mapped(m) == NULL);
      buf_free(m, b[0]);
      buf_free(m, b[1]);
      cr_assert_eq(mem_free(m), 0);
    } while (s != LOOM_OK);
    cr_assert_geq(k, 6); /* at least 5 allocations; check mode adds its copies */
  }
}

Test(buf, maps_end_keeps_the_first_message)
{
  mem *m = open_mem(0);
  loom_buf *a = create_test_buf(m, "a", LOOM_U8, 1), *b = create_test_buf(m, "b", LOOM_U8, 1);
  buf_maps q = {.m = m};
  cr_assert(buf_maps_add(&q, a, LOOM_READ) != NULL);
  cr_assert(buf_maps_add(&q, a, LOOM_WRITE) == NULL);
  cr_assert(buf_maps_add(&q, b, LOOM_READ) == NULL); /* no more maps after an error */
  cr_assert_eq(buf_maps_end(&q), LOOM_E_STATE);
  cr_assert(strstr(mem_err(m)->text, "'a'") != NULL);
  cr_assert(mem_mapped(m) == NULL);
  cr_assert_eq(mem_free(m), 2);
}

Test(buf, workspace_grows_and_stays)
{
  for (int check = 0; check < 2; ++check) {
    mem *m = open_mem(check);
    loom_buf *a = NULL, *b = NULL;
    cr_assert_eq(mem_work(m, 1, 100, &a), LOOM_OK);
    unsigned char *p = map_test_buf(m, a, LOOM_WRITE);
    memset(p, 1, 100);
    unmap_test_buf(m, a);
    cr_assert_eq(mem_work(m, 1, 50, &b), LOOM_OK);
    cr_assert(a == b && buf_count(b) == 100);
    cr_assert_eq(mem_work(m, 1, 1000, &b), LOOM_OK);
    cr_assert(a == b && buf_count(b) == 1000);
    p = map_test_buf(m, b, LOOM_WRITE);
    memset(p, 1, 1000);
    unmap_test_buf(m, b);
    cr_assert_eq(mem_bytes(m, LOOM_AT_HOST), 1125); /* an eighth more on regrowth */
    cr_assert_eq(mem_peak_bytes(m, LOOM_AT_HOST), 1125, "never both at once");
    cr_assert_eq(mem_free(m), 0);
  }
}

Test(buf, crosses_to_the_device_only_when_asked)
{
  char why[256];
  loom_err err = {0};
  loom_exec e;
  if (exec_cuda_devices(why, sizeof why) == 0) cr_skip_test("no CUDA device: %s", why);
  cr_assert_eq(exec_open(&err, LOOM_CUDA, 1, 1, 0, &e), LOOM_OK, "%s", err.text);
  for (int check = 0; check < 2; ++check) {
    mem *m = open_mem(check);
    loom_buf *b = create_test_buf(m, "x", LOOM_I32, 1000),
             *c = create_test_buf(m, "c", LOOM_I32, 1000);
    void *p;
    cr_assert_eq(buf_map(m, &e, b, LOOM_READ, LOOM_AT_EXEC, &p), LOOM_OK, "%s", mem_err(m)->text);
    unmap_test_buf(m, b);
    cr_assert_eq(mem_bytes(m, LOOM_AT_HOST), 0); /* zero contents take no memory of the host */
    cr_assert_eq(mem_bytes(m, LOOM_AT_DEVICE), 4000);
    int32_t *w = map_test_buf(m, b, LOOM_RDWR);
    for (int i = 0; i < 1000; ++i) {
      cr_assert_eq(w[i], 0);
      w[i] = i;
    }
    unmap_test_buf(m, b);
    cr_assert_eq(buf_copy(m, &e, c, b), LOOM_OK, "%s", mem_err(m)->text);
    cr_assert_eq(buf_resize(m, c, 1500), LOOM_OK, "%s", mem_err(m)->text);
    const int32_t *r = map_test_buf(m, c, LOOM_READ);
    for (int i = 0; i < 1500; ++i) cr_assert_eq(r[i], i < 1000 ? i : 0);
    unmap_test_buf(m, c);
    cr_assert_eq(mem_free(m), 2);
  }
  exec_close(&e);
}
