/* format.h - format of a file with a rig, by its contents. */
#ifndef LOOM_RIG_FORMAT_H
#define LOOM_RIG_FORMAT_H

#include "core/err.h"

/* *format: LOOM_RIG_GLTF, _GLB, _COLLADA or _FBX (loom/rig_reader.h), of a surface also _STL and
 * _OFF.  LOOM_E_CONFIG for every
 * other file, with the name of its format where that is known; LOOM_E_IO if it cannot be read.
 * Errors begin with the path. */
loom_status rig_format(loom_err *err, const char *path, int surface, int *format);

#endif
