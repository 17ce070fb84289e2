/* fit_names.c - names of capabilities, and the capabilities of a contact model with its settings.
 */
#include <stdio.h>

#include "core/crash.h"
#include "core/fit.h"

typedef struct bit_name {
  uint32_t bit;
  const char *name;
} bit_name;

#define NAMED(name, bit, words, member) {name, words},
static const bit_name solver_needs[] = {LOOM_SOLVER_NEEDS(NAMED){0, NULL}};
static const bit_name collision_provides[] = {LOOM_COLLISION_CAPS(NAMED){0, NULL}};
static const bit_name contact_provides[] = {LOOM_CONTACT_CAPS(NAMED){0, NULL}};
static const bit_name pair_kinds[] = {{LOOM_BIT(LOOM_PAIR_VT), "vertex-triangle"},
                                      {LOOM_BIT(LOOM_PAIR_EE), "edge-edge"},
                                      {LOOM_BIT(LOOM_PAIR_VE), "vertex-edge"},
                                      {LOOM_BIT(LOOM_PAIR_VV), "vertex-vertex"},
                                      {LOOM_BIT(LOOM_PAIR_VO), "vertex-obstacle"},
                                      {LOOM_BIT(LOOM_PAIR_YY), "yarn-yarn"},
                                      {LOOM_BIT(LOOM_PAIR_BVT), "vertex-triangle with a body"},
                                      {LOOM_BIT(LOOM_PAIR_BEE), "edge-edge with a body"},
                                      {LOOM_BIT(LOOM_PAIR_EO), "element-obstacle"},
                                      {0, NULL}};

static const char *names_of(const bit_name *table, uint32_t bits, char *buf, size_t len)
{
  size_t n = 0;
  buf[0] = '\0';
  for (; table != NULL && table->name != NULL && n < len; ++table)
    if (bits & table->bit)
      n += (size_t)snprintf(buf + n, len - n, "%s%s", n > 0 ? ", " : "", table->name);
  return buf;
}

const char *fit_names(int kind, uint32_t bits, int provides, char *buf, size_t len)
{
  const bit_name *table = NULL; /* solvers have no `provides`, collision plugins no `needs` */
  if (kind == LOOM_KIND_SOLVER && !provides) table = solver_needs;
  if (kind == LOOM_KIND_COLLISION && provides) table = collision_provides;
  if (kind == LOOM_KIND_CONTACT) table = provides ? contact_provides : collision_provides;
  return names_of(table, bits, buf, len);
}

const char *fit_pair_names(uint32_t kinds, char *buf, size_t len)
{
  return names_of(pair_kinds, kinds, buf, len);
}

uint32_t fit_contact_provides(const loom_plugin *contact)
{
  const uint32_t p = contact->ops.contact->provides;
  const uint32_t derived = LOOM_CONT_ENERGY | LOOM_CONT_GRADIENT | LOOM_CONT_HESSIAN;
  return (p & LOOM_CONT_QUAD) && !(p & derived) ? p | derived : p;
}

uint32_t fit_contact_lacks(const loom_plugin *contact, const void *settings)
{
  const loom_contact_ops *const o = contact->ops.contact;
  crash_place place = {.plugin = contact->name, .callback = "lacks"};
  if (o->lacks == NULL) return 0;
  crash_enter(&place);
  const uint32_t bits = o->lacks(settings);
  crash_leave(&place);
  return bits;
}
