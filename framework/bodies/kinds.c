/* kinds.c - the kinds of bodies: those that CMakeLists.txt lists. */
#include <string.h>

#include "bodies/body.h"

#define BODY_SHAPE(name) extern const body_kind body_##name;
#define BODY_KIND        BODY_SHAPE
#include "body_kinds.inc"
#include "body_shapes.inc"
#undef BODY_SHAPE

static const body_kind *const kinds[] = {
#define BODY_SHAPE(name) &body_##name,
#include "body_kinds.inc"
#include "body_shapes.inc"
#undef BODY_SHAPE
};
enum { NUM_KINDS = sizeof kinds / sizeof *kinds };

const body_kind *body_kind_at(int i) { return i >= 0 && i < NUM_KINDS ? kinds[i] : NULL; }

const body_kind *body_kind_find(const char *name)
{
  for (int i = 0; i < NUM_KINDS; ++i)
    if (name != NULL && strcmp(kinds[i]->name, name) == 0) return kinds[i];
  return NULL;
}
