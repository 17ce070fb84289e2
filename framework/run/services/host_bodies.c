/* host_bodies.c - see host_bodies.h. */
#include "run/services/host_bodies.h"

#include "run/plugins/host_check.h"
#include "run/run_state.h"

static run *get_bodies_run(const loom_host *host) { return ((instance *)host->core)->r; }

loom_status host_body_gap(const loom_host *host, const loom_exec *e, const loom_body_rows *r,
                          double progress, const loom_body_gap *out)
{
  HOST_NOT_NULL(host, "body_gap", e);
  HOST_NOT_NULL(host, "body_gap", out);
  LOOM_TRY(host_check_rows(host, "body_gap", r));
  LOOM_TRY(host_check_row_reals(host, "body_gap", "gap", r, out->gap, 1));
  LOOM_TRY(host_check_row_reals(host, "body_gap", "normal", r, out->normal, 3));
  LOOM_TRY(host_check_row_reals(host, "body_gap", "gradient", r, out->gradient, 3));
  LOOM_TRY(host_check_row_reals(host, "body_gap", "curvature", r, out->curvature, 9));
  LOOM_TRY(host_check_known(host, "body_gap", r, out));
  return bodies_gap(get_bodies_run(host)->bodies, e, r, progress, out);
}
loom_status host_body_impact(const loom_host *host, const loom_exec *e, const loom_body_rows *r,
                             const loom_body_path *path)
{
  HOST_NOT_NULL(host, "body_impact", e);
  HOST_NOT_NULL(host, "body_impact", path);
  HOST_NOT_NULL(host, "body_impact", path->x1);
  HOST_NOT_NULL(host, "body_impact", path->radius);
  HOST_NOT_NULL(host, "body_impact", path->floor);
  HOST_NOT_NULL(host, "body_impact", path->tol);
  HOST_NOT_NULL(host, "body_impact", path->toi);
  LOOM_TRY(host_check_rows(host, "body_impact", r));
  LOOM_TRY(host_check_row_reals(host, "body_impact", "floor", r, path->floor, 1));
  LOOM_TRY(host_check_row_reals(host, "body_impact", "tol", r, path->tol, 1));
  LOOM_TRY(host_check_row_reals(host, "body_impact", "toi", r, path->toi, 1));
  LOOM_TRY(host_check_row_reals(host, "body_impact", "gap", r, path->gap, 1));
  LOOM_TRY(host_check_row_reals(host, "body_impact", "normal", r, path->normal, 3));
  LOOM_TRY(host_check_row_reals(host, "body_impact", "point", r, path->point, 3));
  return bodies_impact(get_bodies_run(host)->bodies, e, r, path);
}
loom_status host_body_carry(const loom_host *host, const loom_exec *e, const loom_body_rows *r,
                            double progress0, double progress1, loom_buf *out)
{
  HOST_NOT_NULL(host, "body_carry", e);
  HOST_NOT_NULL(host, "body_carry", out);
  LOOM_TRY(host_check_rows(host, "body_carry", r));
  LOOM_TRY(host_check_row_reals(host, "body_carry", "out", r, out, 3));
  return bodies_carry(get_bodies_run(host)->bodies, e, r, progress0, progress1, out);
}
loom_status host_body_push(const loom_host *host, const loom_exec *e, const loom_body_rows *r,
                           loom_buf *impulse, loom_buf *mass)
{
  HOST_NOT_NULL(host, "body_push", e);
  HOST_NOT_NULL(host, "body_push", impulse);
  HOST_NOT_NULL(host, "body_push", mass);
  LOOM_TRY(host_check_rows(host, "body_push", r));
  LOOM_TRY(host_check_row_reals(host, "body_push", "impulse", r, impulse, 3));
  LOOM_TRY(host_check_row_reals(host, "body_push", "mass", r, mass, 1));
  return bodies_push(get_bodies_run(host)->bodies, e, r, impulse, mass);
}
