/* host_bodies.h - services of loom/host.h on bodies. */
#ifndef LOOM_HOST_BODIES_H
#define LOOM_HOST_BODIES_H

#include "loom/host.h"

loom_status host_body_gap(const loom_host *host, const loom_exec *e, const loom_body_rows *r,
                          double progress, const loom_body_gap *out);
loom_status host_body_impact(const loom_host *host, const loom_exec *e, const loom_body_rows *r,
                             const loom_body_path *path);
loom_status host_body_near(const loom_host *host, const loom_exec *e, const loom_body_rows *r,
                           double progress, const loom_body_near *out);
loom_status host_body_near_impact(const loom_host *host, const loom_exec *e,
                                  const loom_body_rows *r, const loom_body_path *path);
loom_status host_body_carry(const loom_host *host, const loom_exec *e, const loom_body_rows *r,
                            double progress0, double progress1, loom_buf *out);
loom_status host_body_push(const loom_host *host, const loom_exec *e, const loom_body_rows *r,
                           loom_buf *impulse, loom_buf *mass);

#endif
