/* line_search.h - LINE: backtracking to a point of lower energy. */
#ifndef LOOM_LINE_SEARCH_H
#define LOOM_LINE_SEARCH_H

#include "core/err.h"
#include "run/run.h"

/* Halves *alpha until st.x = x_before + *alpha dx is acceptable (Armijo); *alpha = 0 and
 * st.x = x_before if none is.  st.grad and measured.energies belong to x_before. */
loom_status line_search(run *r, double *alpha);

#endif
