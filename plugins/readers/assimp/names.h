/* names.h - a table of names: many nodes, bones and channels are found without comparing all. */
#ifndef LOOM_ASSIMP_NAMES_H
#define LOOM_ASSIMP_NAMES_H

#include <stddef.h>

typedef struct named {
  const char *name;
  const void *what;
  size_t order; /* in which it was added: of equal names the first one counts */
} named;

typedef struct names {
  named *item; /* [num], sorted by names_sort() */
  size_t num;
} names;

int names_room(names *t, size_t num); /* 0: out of memory */
void names_add(names *t, const char *name, const void *what);
void names_sort(names *t);
const void *names_find(const names *t, const char *name); /* NULL: none */
void names_free(names *t);

#endif
