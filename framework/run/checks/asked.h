/* asked.h - refuses settings that ask for a capability which the plugins or the scene lack. */
#ifndef LOOM_ASKED_H
#define LOOM_ASKED_H

#include "core/err.h"
#include "run/run.h"

/* After filter_open().  LOOM_E_CONFIG, with file, line and key, if a capability is absent. */
loom_status asked_check(const run *r);

#endif
