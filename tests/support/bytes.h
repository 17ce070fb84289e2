/* bytes.h - a whole file in memory, for tests that damage it or put it back. */
#ifndef LOOM_TESTS_BYTES_H
#define LOOM_TESTS_BYTES_H

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

typedef struct bytes {
  char *data; /* the caller frees it */
  size_t size;
} bytes;

static inline bytes load_file_bytes(const char *path)
{
  struct stat st;
  FILE *const f = fopen(path, "rb");
  cr_assert(f != NULL && fstat(fileno(f), &st) == 0, "%s", path);
  bytes b = {calloc(1, (size_t)st.st_size + 1), (size_t)st.st_size};
  cr_assert_eq(fread(b.data, 1, b.size, f), b.size);
  fclose(f);
  return b;
}

static inline void store_file_bytes(const char *path, const bytes *b)
{
  FILE *const f = fopen(path, "wb");
  cr_assert(f != NULL && fwrite(b->data, 1, b->size, f) == b->size, "%s", path);
  cr_assert_eq(fclose(f), 0);
}

static inline int is_same_bytes(const bytes *a, const bytes *b)
{
  return a->size == b->size && memcmp(a->data, b->data, a->size) == 0;
}

#endif
