/* bufs.h - buffers, execution places and random numbers for tests. */
#ifndef LOOM_TESTS_BUFS_H
#define LOOM_TESTS_BUFS_H

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "mem/mem.h"

#define T_OK(m, call) cr_assert_eq((call), LOOM_OK, "%s", mem_err(m)->text)

/* check: 0 plain buffers also under LOOM_MEM_CHECK=1, 1 check mode */
static inline mem *t_mem(int check)
{
  loom_err err = {0};
  mem *m = NULL;
  if (!check) unsetenv("LOOM_MEM_CHECK");
  cr_assert_eq(mem_new(&err, check, &m), LOOM_OK);
  return m;
}

static inline loom_exec t_exec(int threads)
{
  loom_err err = {0};
  loom_exec e;
  cr_assert_eq(exec_open(&err, LOOM_CPU, threads, 1, 0, &e), LOOM_OK, "%s", err.text);
  return e;
}

/* A buffer with these contents; data NULL: zero. */
static inline loom_buf *t_buf(mem *m, int type, int64_t count, const void *data)
{
  loom_buf *b = NULL;
  void *p = NULL;
  T_OK(m, buf_new(m, "test", "b", type, count, &b));
  if (data == NULL) return b;
  T_OK(m, buf_map(m, NULL, b, LOOM_WRITE, LOOM_AT_HOST, &p));
  if (count > 0) memcpy(p, data, (size_t)count * buf_type_size(type));
  T_OK(m, buf_unmap(m, b));
  return b;
}

/* Contents on the heap, to be freed. */
static inline void *t_read(mem *m, loom_buf *b)
{
  const size_t bytes = (size_t)buf_count(b) * buf_type_size(buf_type(b));
  void *p = NULL, *copy = calloc(1, bytes + 1);
  cr_assert(copy != NULL);
  T_OK(m, buf_map(m, NULL, b, LOOM_READ, LOOM_AT_HOST, &p));
  if (bytes > 0) memcpy(copy, p, bytes);
  T_OK(m, buf_unmap(m, b));
  return copy;
}

/* Also tells 0 from -0 and one NaN from another. */
static inline int t_same_bits(const void *a, const void *b, size_t bytes)
{
  return memcmp(a, b, bytes) == 0;
}

/* splitmix64 (Steele, Lea, Flood 2014, doi:10.1145/2660193.2660195) */
static inline uint64_t t_random(uint64_t *state)
{
  uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);
  z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
  z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
  return z ^ z >> 31;
}

/* in [-1, 1) */
static inline double t_uniform(uint64_t *state)
{
  return (double)(t_random(state) >> 11) * 0x1p-52 - 1.0;
}

#endif
