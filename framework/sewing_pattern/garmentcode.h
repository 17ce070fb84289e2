/* garmentcode.h - patterns of GarmentCode (M. Korosteleva, O. Sorkine-Hornung: GarmentCode:
 * programming parametric sewing patterns. ACM Transactions on Graphics 42 (2023)) as patterns of
 * loom.
 *
 * Panels become pieces seen from outside, edges are called e0, e1, ... in their order, lengths are
 * metres.  Seams of unequal edges are gathered. */
#ifndef LOOM_PATTERN_GARMENTCODE_H
#define LOOM_PATTERN_GARMENTCODE_H

#include "core/err.h"

/* The text of a pattern file from the specification at `path` (JSON); free() it.  LOOM_E_CONFIG
 * names the file and its fault, LOOM_E_IO if it cannot be read. */
loom_status garmentcode_read(loom_err *err, const char *path, char **text);

#endif
