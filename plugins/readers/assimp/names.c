/* names.c - see names.h. */
#include "names.h"

#include <stdlib.h>
#include <string.h>

int names_room(names *t, size_t num)
{
  t->num = 0;
  t->item = calloc(num > 0 ? num : 1, sizeof *t->item);
  return t->item != NULL;
}

void names_add(names *t, const char *name, const void *what)
{
  t->item[t->num] = (named){name, what, t->num};
  ++t->num;
}

static int compare_named_items(const void *a, const void *b)
{
  const named *const p = a, *const q = b;
  const int c = strcmp(p->name, q->name);
  return c != 0 ? c : (p->order > q->order) - (p->order < q->order);
}

void names_sort(names *t) { qsort(t->item, t->num, sizeof *t->item, compare_named_items); }

const void *names_find(const names *t, const char *name)
{
  size_t low = 0, high = t->num; /* the first that is not before `name` */
  while (low < high) {
    const size_t mid = low + (high - low) / 2;
    if (strcmp(t->item[mid].name, name) < 0)
      low = mid + 1;
    else
      high = mid;
  }
  return low < t->num && strcmp(t->item[low].name, name) == 0 ? t->item[low].what : NULL;
}

void names_free(names *t)
{
  free(t->item);
  t->item = NULL;
}
