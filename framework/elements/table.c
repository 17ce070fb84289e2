/* table.c - the element types of the core, as elements.def lists them. */
#include <string.h>

#include "elements/elements.h"

#define X(type) extern const elem_type elem_##type;
#include "elements/elements.def"
#undef X

static const elem_type *const types[] = {
#define X(type) &elem_##type,
#include "elements/elements.def"
#undef X
};
enum { NUM_TYPES = sizeof types / sizeof *types };

int elem_count(void) { return NUM_TYPES; }

const elem_type *elem_at(int i) { return i >= 0 && i < NUM_TYPES ? types[i] : NULL; }

const elem_type *elem_find(const char *name)
{
  for (int i = 0; i < NUM_TYPES; ++i)
    if (strcmp(types[i]->name, name) == 0) return types[i];
  return NULL;
}

int elem_settings_of(int type)
{
  const elem_type *const t = types[type];
  for (int i = 0; i < type && t->params != NULL; ++i)
    if (types[i]->params == t->params && types[i]->section != NULL &&
        strcmp(types[i]->section, t->section) == 0)
      return i;
  return type;
}
