/* grow.h - growing arrays on the host, for plugins. */
#ifndef GROW_H
#define GROW_H

#include <stdint.h>
#include <stdlib.h>

typedef struct grow_ids { /* list of numbers */
  int32_t *v;
  int64_t n, cap;
} grow_ids;

/* Room for `need` elements of `size` bytes, contents kept; 0: no memory. */
static inline int grow_array(void **p, int64_t *cap, int64_t need, size_t size)
{
  if (need <= *cap) return 1;
  int64_t to = *cap + *cap / 2 + 8;
  if (to < need) to = need;
  const size_t bytes = (size_t)to * size;
  void *const q = bytes > 0 ? realloc(*p, bytes) : NULL;
  if (q == NULL) return 0;
  *p = q;
  *cap = to;
  return 1;
}

static inline int grow_push(grow_ids *list, int32_t value)
{
  void *p = list->v;
  const int ok = grow_array(&p, &list->cap, list->n + 1, sizeof *list->v);
  list->v = p;
  if (ok) list->v[list->n++] = value;
  return ok;
}

#endif
