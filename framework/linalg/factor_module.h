/* factor_module.h - finding and opening the module that factorises, see loom/factor.h. */
#ifndef LOOM_FACTOR_MODULE_H
#define LOOM_FACTOR_MODULE_H

#include "core/err.h"
#include "loom/factor.h"

/* Opens the file that LOOM_FACTOR names, or cholmod.so in <prefix>/lib/loom/factors or in the build
 * tree's `factors`; *out NULL: there is no file.  It stays open.  LOOM_E_CONFIG, with the fault,
 * for a file that is no module. */
loom_status factor_module_open(loom_err *err, const loom_factor **out);

#endif
