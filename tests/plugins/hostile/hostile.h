/* hostile.h - a plugin of each kind that works, but for the one fault that is asked for.
 *
 * The key `fault` of its section is "callback:act": in that callback it does the act that acts.c,
 * or the file of the kind, lists under this name. */
#ifndef FX_HOSTILE_H
#define FX_HOSTILE_H

#include <string.h>

#include "loom/plugin.h"

typedef struct fx_settings {
  const char *fault;
} fx_settings;
extern const loom_param fx_params[1];

typedef struct fx {
  const loom_host *host;
  const loom_scene *sc;
  const loom_exec *e;
  const char *fault;
  loom_buf *own; /* real [3] */
} fx;

/* create() and destroy() of every kind. */
loom_status hostile_create(const loom_host *host, const loom_scene *sc, const loom_exec *e,
                           const void *settings, void **self);
void hostile_destroy(void *self);

/* The act requested in `callback`, "" for none. */
const char *fx_act(const char *fault, const char *callback);
/* Does the requested act, if it is among the acts that every callback knows.  `core`: a buffer of
 * the core.  Nonzero: return *status. */
int fx_common(fx *f, const char *act, loom_buf *core, loom_status *status);

static inline int fx_is(const char *act, const char *name) { return strcmp(act, name) == 0; }

/* The first lines of a callback; `act` is for the lines that follow. */
#define FX_ENTER(f, callback, core)                     \
  const char *const act = fx_act((f)->fault, callback); \
  loom_status status_ = LOOM_OK;                        \
  if (fx_common((f), act, (core), &status_)) return status_

/* Item `at` of a buffer of reals becomes `value`. */
loom_status fx_poke(fx *f, loom_buf *b, int64_t at, double value);
/* The same for a buffer of i32. */
loom_status fx_poke_int(fx *f, loom_buf *b, int64_t at, int32_t value);

extern const loom_solver_ops fx_solver;
extern const loom_collision_ops fx_collision;
extern const loom_contact_ops fx_contact;

#endif
