/* host_islands.c - see host_islands.h. */
#include "run/services/host_islands.h"

#include "linalg/linalg.h"
#include "run/run_state.h"
#include "run/services/host_check.h"

static run *get_islands_run(const loom_host *host) { return ((instance *)host->core)->r; }

/* In accepted() the islands are those of the trial: x is on its way. */
loom_status host_islands(const loom_host *host, loom_islands *out)
{
  run *const r = get_islands_run(host);
  run_islands *const s = &r->islands;
  HOST_NOT_NULL(host, "islands", out);
  if (s->num > 1 && !s->accepted && !s->grown) LOOM_TRY(islands_grow(r, r->st.x));
  s->grown = s->iterating;
  s->by_solver |= host->core == &r->solver;
  *out = (loom_islands){.struct_size = sizeof *out, .num = s->num, .of = s->of};
  if (s->num == 1) return LOOM_OK;
  islands_settled(r);
  out->settled = s->settled_of;
  if (!s->accepted) return LOOM_OK;
  islands_ways(r);
  out->alpha = s->alpha_of;
  out->toi = s->toi_of;
  return LOOM_OK;
}

loom_status host_dot_islands(const loom_host *host, const loom_exec *e, loom_buf *a, loom_buf *b,
                             double *out)
{
  run *const r = get_islands_run(host);
  HOST_NOT_NULL(host, "dot_islands", e);
  HOST_NOT_NULL(host, "dot_islands", out);
  LOOM_TRY(host_check_points(host, "dot_islands", "a", a));
  LOOM_TRY(host_check_points(host, "dot_islands", "b", b));
  if (r->islands.num == 1) return la_dot(r->m, e, a, b, out);
  return islands_dots(r, a, b, out);
}

loom_status host_axpby_islands(const loom_host *host, const loom_exec *e, const double *a,
                               loom_buf *x, double b, loom_buf *y)
{
  run *const r = get_islands_run(host);
  HOST_NOT_NULL(host, "axpby_islands", e);
  HOST_NOT_NULL(host, "axpby_islands", a);
  LOOM_TRY(host_check_points(host, "axpby_islands", "x", x));
  LOOM_TRY(host_check_points(host, "axpby_islands", "y", y));
  if (r->islands.num == 1) return la_axpby(r->m, e, a[0], x, b, y);
  return islands_axpby(r, a, x, b, y);
}
