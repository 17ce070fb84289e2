/* host_islands.h - services of loom/host.h on islands of objects. */
#ifndef LOOM_HOST_ISLANDS_H
#define LOOM_HOST_ISLANDS_H

#include "loom/host.h"

loom_status host_islands(const loom_host *host, loom_islands *out);
loom_status host_dot_islands(const loom_host *host, const loom_exec *e, loom_buf *a, loom_buf *b,
                             double *out);
loom_status host_axpby_islands(const loom_host *host, const loom_exec *e, const double *a,
                               loom_buf *x, double b, loom_buf *y);

#endif
