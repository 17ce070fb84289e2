/* stand_in.h - the solver of a run that measures frames of another program (run_options.foreign):
 * it fills the solver's place, says what the measurements need, and makes no step. */
#ifndef LOOM_STAND_IN_H
#define LOOM_STAND_IN_H

#include "core/err.h"
#include "loom/plugin.h"
#include "run/run.h"

#define STAND_IN_NAME "foreign" /* [solver] plugin of the log */
/* The plugin of that kind and name; of a run that measures the stand-in is a solver, too. */
loom_status stand_in_look_up(run *r, loom_err *err, int kind, const char *name,
                             const loom_plugin **out);

#endif
