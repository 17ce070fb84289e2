/* other_start.h - why frame 0 of another program is not the start of the scene. */
#ifndef LOOM_RUN_REPLAY_OTHER_START_H
#define LOOM_RUN_REPLAY_OTHER_START_H

#include <stddef.h>
#include <stdint.h>

#include "loom/types.h"

/* Writes the cause into text[size] where it is one of these: frame [n][3] is x [n][3] (m) in
 * centimetres or millimetres, with other axes, both, or with vertices in another order.  1 if so, 0
 * with an empty text if not; also where memory is short.  size: at least 1. */
int other_start_name(const loom_real *x, const double *frame, int64_t n, char *text, size_t size);

#endif
