/* rig_shapes.c - procedural bodies by name. */
#include "rig/rig_shapes.h"

#include <string.h>

static const struct {
  const char *name;
  rig_maker *make;
} known[] = {{"leg", rig_make_leg}, {"lower_body", rig_make_lower_body}};
enum { KNOWN = sizeof known / sizeof *known };

loom_status rig_make(loom_err *err, const char *name, double edge, rig *out)
{
  const char *names[KNOWN];
  memset(out, 0, sizeof *out);
  for (int i = 0; i < KNOWN; ++i) {
    names[i] = known[i].name;
    if (strcmp(name, known[i].name) != 0) continue;
    LOOM_TRY(known[i].make(err, edge, out));
    return rig_finish(err, out);
  }
  const char *const near = err_nearest(name, names, KNOWN);
  return err_set(err, LOOM_E_CONFIG, "there is no body '%.80s'%s%s%s; known are leg and lower_body",
                 name, near != NULL ? "; did you mean '" : "", near != NULL ? near : "",
                 near != NULL ? "'?" : "");
}
