/* config_text.c - memory and texts of a cfg: all of it lives until cfg_free. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config/cfg_internal.h"

struct cfg_block {
  cfg_block *next;
  max_align_t data[];
};

void *cfg_alloc(cfg *c, size_t size)
{
  cfg_block *const b = calloc(1, sizeof *b + size);
  if (b == NULL) return NULL;
  b->next = c->blocks;
  c->blocks = b;
  return b->data;
}

char *cfg_copy(cfg *c, const char *text, size_t len)
{
  char *const s = cfg_alloc(c, len + 1);
  if (s != NULL && len > 0) memcpy(s, text, len);
  return s;
}

char *cfg_printf(cfg *c, const char *fmt, ...)
{
  va_list ap;
  va_start(ap, fmt);
  const int n = vsnprintf(NULL, 0, fmt, ap);
  va_end(ap);
  char *const s = cfg_alloc(c, (size_t)n + 1);
  if (s == NULL) return NULL;
  va_start(ap, fmt);
  vsnprintf(s, (size_t)n + 1, fmt, ap);
  va_end(ap);
  return s;
}

void *cfg_grow(cfg *c, void *array, int num, size_t size)
{
  if (num > 0 && (num < 8 || (num & (num - 1)) != 0)) return array; /* room for 8, 16, 32 ... */
  void *const bigger = cfg_alloc(c, (size_t)(num < 8 ? 8 : 2 * num) * size);
  if (bigger != NULL && num > 0) memcpy(bigger, array, (size_t)num * size);
  return bigger;
}

loom_status cfg_nomem(loom_err *err)
{
  return err_set(err, LOOM_E_NOMEM, "out of memory while reading the configuration");
}

void cfg_free_memory(cfg *c)
{
  for (cfg_block *b = c->blocks, *next; b != NULL; b = next) {
    next = b->next;
    free(b);
  }
}
