/* mesher.h - finding and opening the module that triangulates, see loom/mesher.h. */
#ifndef LOOM_PATTERN_MESHER_H
#define LOOM_PATTERN_MESHER_H

#include "core/err.h"
#include "loom/mesher.h"

/* The file that LOOM_MESHER names, or gmsh.so in <prefix>/lib/loom/meshers or in the build tree's
 * `meshers`.  It stays open.  Errors: LOOM_E_CONFIG with what was searched and what to install, or
 * what is wrong with the file. */
loom_status mesher_open(loom_err *err, const loom_mesher **out);

#endif
