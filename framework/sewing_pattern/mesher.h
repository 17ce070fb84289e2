/* mesher.h - finding and opening the module that triangulates and fills surfaces, see
 * loom/mesher.h. */
#ifndef LOOM_PATTERN_MESHER_H
#define LOOM_PATTERN_MESHER_H

#include "core/err.h"
#include "loom/mesher.h"

/* Opens the file that LOOM_MESHER names, or gmsh.so in <prefix>/lib/loom/meshers or in the build
 * tree's `meshers`.  It stays open.  LOOM_E_CONFIG, with the searched folders and the package to
 * install, or with the fault of the file. */
loom_status mesher_open(loom_err *err, const loom_mesher **out);

#endif
