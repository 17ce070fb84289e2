/* filter_bound.h - step bounds, shared by the files of FILTER. */
#ifndef LOOM_RUN_FILTER_BOUND_H
#define LOOM_RUN_FILTER_BOUND_H

#include "core/err.h"
#include "loom/plugin.h"
#include "run/run.h"

/* out = a + t (b - a), with t_vertex (real [n]) instead where it is given; fixed rows take t */
loom_status filter_blend(run *r, loom_buf *a, loom_buf *b, double t, loom_buf *t_vertex,
                         loom_buf *out);
/* The share of the way from x0 to x1 that is safe; `to`: share of the prescribed motion at x1.  A
 * motion is never cut vertex by vertex: t_vertex is filled only if `to` is st.progress. */
loom_status filter_ask_bound(run *r, loom_buf *x0, loom_buf *x1, double to, double *toi);
/* The same at st.progress for each island: its share is in r->islands.share, the least is *toi. */
loom_status filter_ask_islands(run *r, loom_buf *x0, loom_buf *x1, double *toi);
/* out = a + t (b - a) with the bound that filter_ask_islands() found */
loom_status filter_blend_islands(run *r, loom_buf *a, loom_buf *b, double toi, loom_buf *out);
/* x may have run ahead of x_feas: cuts the way from x_feas to x at the bound. */
loom_status filter_apply_bound(run *r, double *toi);
/* x stays; x_feas follows as far as the bound allows; certified if it has arrived */
loom_status filter_lead_feasible(run *r, double *toi);

#endif
