/* kinds.c - the kinds of bodies that bodies.def lists, and the keys that they have. */
#include <stdio.h>
#include <string.h>

#include "bodies/body.h"

#define BODY_SHAPE(name) extern const body_kind body_##name;
#define BODY_KIND(name)  extern const body_kind body_##name;
#define BODY_FIELD(name) extern const body_kind body_##name;
#include "bodies/bodies.def"

static const body_kind *const kinds[] = {
#define BODY_SHAPE(name) &body_##name,
#define BODY_KIND(name)  &body_##name,
#define BODY_FIELD(name) &body_##name,
#include "bodies/bodies.def"
};
enum { NUM_KINDS = sizeof kinds / sizeof *kinds, MAX_KEYS = 64, MAX_DOC = 256 };

const body_kind *body_kind_at(int i) { return i >= 0 && i < NUM_KINDS ? kinds[i] : NULL; }

const body_kind *body_kind_find(const char *name)
{
  for (int i = 0; i < NUM_KINDS; ++i)
    if (name != NULL && strcmp(kinds[i]->name, name) == 0) return kinds[i];
  return NULL;
}

const loom_param *body_kind_param(int i, const char *key)
{
  const body_kind *const k = body_kind_at(i);
  for (uint32_t p = 0; k != NULL && p < k->num_params; ++p)
    if (strcmp(k->params[p].key, key) == 0) return &k->params[p];
  return NULL;
}

/* "sphere, capsule: radius" */
static void name_owners(const loom_param *p, char *doc, size_t len)
{
  int used = 0;
  for (int i = 0; i < NUM_KINDS; ++i)
    if (body_kind_param(i, p->key) != NULL && used < (int)len)
      used +=
          snprintf(doc + used, len - (size_t)used, "%s%s", used > 0 ? ", " : "", kinds[i]->name);
  if (used < (int)len) snprintf(doc + used, len - (size_t)used, ": %s", p->doc);
}

const loom_param *body_kind_keys(uint32_t *count)
{
  static loom_param keys[MAX_KEYS];
  static char docs[MAX_KEYS][MAX_DOC];
  uint32_t n = 0;
  for (int i = 0; i < NUM_KINDS; ++i)
    for (uint32_t p = 0; p < kinds[i]->num_params && n < MAX_KEYS; ++p) {
      int seen = 0;
      for (int j = 0; j < i; ++j) seen |= body_kind_param(j, kinds[i]->params[p].key) != NULL;
      if (seen) continue;
      keys[n] = kinds[i]->params[p];
      name_owners(&keys[n], docs[n], sizeof docs[n]);
      keys[n].doc = docs[n];
      ++n;
    }
  *count = n;
  return keys;
}
