/* name_table.c - see name_table.h; open addressing. */
#include "sewing_pattern/name_table.h"

#include <stdlib.h>
#include <string.h>

/* FNV-1a of 64 bits (Fowler, Noll, Vo; RFC 9923). */
static uint64_t hash_table_name(const char *s)
{
  uint64_t h = UINT64_C(0xcbf29ce484222325);
  for (; *s != '\0'; ++s) h = (h ^ (unsigned char)*s) * UINT64_C(0x100000001b3);
  return h ^ (h >> 29);
}

/* Where a name stands, or would. */
static name_entry *find_name_slot(const name_table *t, const char *name)
{
  size_t k = (size_t)hash_table_name(name) & (t->room - 1);
  while (t->at[k].name != NULL && strcmp(t->at[k].name, name) != 0) k = (k + 1) & (t->room - 1);
  return &t->at[k];
}

int64_t *name_table_find(const name_table *t, const char *name)
{
  if (t->room == 0) return NULL;
  name_entry *const e = find_name_slot(t, name);
  return e->name != NULL ? &e->value : NULL;
}

static int grow_name_table(name_table *t)
{
  name_table more = {.room = t->room > 0 ? 2 * t->room : 64, .num = t->num};
  more.at = calloc(more.room, sizeof *more.at);
  if (more.at == NULL) return 0;
  for (size_t k = 0; k < t->room; ++k)
    if (t->at[k].name != NULL) *find_name_slot(&more, t->at[k].name) = t->at[k];
  free(t->at);
  *t = more;
  return 1;
}

loom_status name_table_add(loom_err *err, name_table *t, const char *name, int64_t value)
{
  char *const copy = strdup(name);
  if (copy == NULL || (2 * (t->num + 1) > t->room && !grow_name_table(t))) {
    free(copy);
    return err_set(err, LOOM_E_NOMEM, "no memory for names");
  }
  *find_name_slot(t, copy) = (name_entry){copy, value};
  ++t->num;
  return LOOM_OK;
}

void name_table_free(name_table *t)
{
  for (size_t k = 0; k < t->room; ++k) free(t->at[k].name);
  free(t->at);
  *t = (name_table){0};
}
