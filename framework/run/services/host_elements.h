/* host_elements.h - services of loom/host.h on elements that a plugin lists. */
#ifndef LOOM_RUN_HOST_ELEMENTS_H
#define LOOM_RUN_HOST_ELEMENTS_H

#include "loom/host.h"

loom_status host_elem_gradients(const loom_host *host, const loom_elem_rows *r, loom_buf *x,
                                loom_buf *grad);
loom_status host_elem_corners(const loom_host *host, const loom_elem_rows *r, loom_buf *x, int how,
                              loom_buf *grad, loom_buf *diag);
loom_status host_elem_weights(const loom_host *host, int block, loom_buf *out);

#endif
