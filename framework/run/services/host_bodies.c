/* host_bodies.c - see host_bodies.h. */
#include "run/services/host_bodies.h"

#include "run/run_state.h"
#include "run/services/host_check.h"

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
/* The buffers of a path that both services on impacts have. */
static loom_status check_body_path(const loom_host *host, const char *service,
                                   const loom_body_rows *r, const loom_body_path *path)
{
  HOST_NOT_NULL(host, service, path->x1);
  HOST_NOT_NULL(host, service, path->radius);
  HOST_NOT_NULL(host, service, path->floor);
  HOST_NOT_NULL(host, service, path->tol);
  HOST_NOT_NULL(host, service, path->toi);
  LOOM_TRY(host_check_row_reals(host, service, "floor", r, path->floor, 1));
  LOOM_TRY(host_check_row_reals(host, service, "tol", r, path->tol, 1));
  LOOM_TRY(host_check_row_reals(host, service, "toi", r, path->toi, 1));
  LOOM_TRY(host_check_row_reals(host, service, "gap", r, path->gap, 1));
  LOOM_TRY(host_check_row_reals(host, service, "normal", r, path->normal, 3));
  return host_check_row_reals(host, service, "point", r, path->point, 3);
}

loom_status host_body_impact(const loom_host *host, const loom_exec *e, const loom_body_rows *r,
                             const loom_body_path *path)
{
  HOST_NOT_NULL(host, "body_impact", e);
  HOST_NOT_NULL(host, "body_impact", path);
  LOOM_TRY(host_check_rows(host, "body_impact", r));
  LOOM_TRY(check_body_path(host, "body_impact", r, path));
  return bodies_impact(get_bodies_run(host)->bodies, e, r, path);
}
loom_status host_body_near(const loom_host *host, const loom_exec *e, const loom_body_rows *r,
                           double progress, const loom_body_near *out)
{
  HOST_NOT_NULL(host, "body_near", e);
  HOST_NOT_NULL(host, "body_near", out);
  LOOM_TRY(host_check_elements(host, "body_near", r));
  LOOM_TRY(host_check_row_reals(host, "body_near", "gap", r, out->gap, 1));
  LOOM_TRY(host_check_row_reals(host, "body_near", "weight", r, out->weight, 4));
  LOOM_TRY(host_check_row_reals(host, "body_near", "normal", r, out->normal, 3));
  LOOM_TRY(host_check_row_reals(host, "body_near", "gradient", r, out->gradient, 3));
  LOOM_TRY(host_check_row_reals(host, "body_near", "curvature", r, out->curvature, 9));
  LOOM_TRY(host_check_row_reals(host, "body_near", "flat", r, out->flat, 1));
  return bodies_near(get_bodies_run(host)->bodies, e, r, progress, out);
}
loom_status host_body_near_impact(const loom_host *host, const loom_exec *e,
                                  const loom_body_rows *r, const loom_body_path *path)
{
  HOST_NOT_NULL(host, "body_near_impact", e);
  HOST_NOT_NULL(host, "body_near_impact", path);
  LOOM_TRY(host_check_elements(host, "body_near_impact", r));
  LOOM_TRY(check_body_path(host, "body_near_impact", r, path));
  LOOM_TRY(host_check_row_reals(host, "body_near_impact", "weight", r, path->weight, 4));
  return bodies_near_impact(get_bodies_run(host)->bodies, e, r, path);
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
