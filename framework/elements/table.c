/* table.c - the element types of the core, as elements.def lists them. */
#include <stdio.h>
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

/* ---- types in the place of others ---- */

/* The part of a material that a type with this topology is: membrane, bending, volume. */
static uint32_t part_of(uint32_t topology)
{
  static const uint32_t parts[] = {ELEM_EDGES | ELEM_TRIANGLES,
                                   ELEM_CROSSINGS | ELEM_HINGES | ELEM_PATCHES, ELEM_TETS};
  uint32_t found = 0;
  for (size_t i = 0; i < sizeof parts / sizeof *parts; ++i)
    if (topology & parts[i]) found |= parts[i];
  return found;
}

static int can_replace(const elem_type *by, const elem_type *t, uint32_t needs)
{
  return by->word != NULL && t->word != NULL && by->section != NULL && t->section != NULL &&
         strcmp(by->section, t->section) == 0 && (by->caps & needs) == needs &&
         part_of(by->topology) == part_of(t->topology);
}

const char *elem_replacements(const loom_elem_block *blocks, int num_blocks, uint32_t needs,
                              char *buf, size_t len)
{
  size_t n = 0;
  buf[0] = '\0';
  for (int b = 0; b < num_blocks; ++b) {
    const elem_type *const t = elem_find(blocks[b].type);
    int found = 0;
    if (t == NULL || (t->caps & needs) == needs) continue;
    for (int i = 0; i < NUM_TYPES && n < len; ++i) {
      if (!can_replace(types[i], t, needs)) continue;
      if (found++ == 0)
        n += (size_t)snprintf(buf + n, len - n, "%s%s lacks it; in its place [%s] model takes %s",
                              n > 0 ? "; " : "", t->name, t->section, types[i]->word);
      else
        n += (size_t)snprintf(buf + n, len - n, ", %s", types[i]->word);
    }
  }
  return buf;
}
