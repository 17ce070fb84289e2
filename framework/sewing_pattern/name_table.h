/* name_table.h - names with a number each, found without comparing all. */
#ifndef LOOM_NAME_TABLE_H
#define LOOM_NAME_TABLE_H

#include <stddef.h>

#include "core/err.h"

typedef struct name_entry {
  char *name; /* NULL: empty */
  int64_t value;
} name_entry;

typedef struct name_table {
  name_entry *at; /* [room], a power of two, at most half full */
  size_t room, num;
} name_table;

/* The value of a name, until the next one is added; NULL: it is not there. */
int64_t *name_table_find(const name_table *t, const char *name);
/* A name that is not there yet. */
loom_status name_table_add(loom_err *err, name_table *t, const char *name, int64_t value);
void name_table_free(name_table *t);

#endif
