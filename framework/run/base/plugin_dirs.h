/* plugin_dirs.h - the plugin folders that a configuration names. */
#ifndef LOOM_RUN_PLUGIN_DIRS_H
#define LOOM_RUN_PLUGIN_DIRS_H

#include <stddef.h>

#include "core/err.h"
#include "run/run.h"

/* dirs, of len bytes: [exec] plugin_path as absolute or current paths, joined by ':'; "" if it is
 * not set.  LOOM_E_CONFIG: a file sets it and o->trust_config is 0. */
loom_status plugin_dirs(const run *r, const run_options *o, char *dirs, size_t len);

#endif
