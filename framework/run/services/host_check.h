/* host_check.h - checks the arguments of the services of host.h: an invalid one is refused with the
 * names of service and argument.  The plugin's name and the place are added when its callback
 * returns the error (run/plugins/call.c). */
#ifndef LOOM_RUN_HOST_CHECK_H
#define LOOM_RUN_HOST_CHECK_H

#include "loom/host.h"

/* In a service: return LOOM_E_ARG if the argument is NULL. */
#define HOST_NOT_NULL(h, service, arg)                                \
  do {                                                                \
    if ((arg) == NULL) return host_refuse_null((h), (service), #arg); \
  } while (0)
loom_status host_refuse_null(const loom_host *host, const char *service, const char *arg);
/* For services without a status: the callback that called them ends with this error. */
void host_misuse(const loom_host *host, loom_status code, const char *text);

/* b is real [n][3]. */
loom_status host_check_points(const loom_host *host, const char *service, const char *arg,
                              const loom_buf *b);
/* p is a problem that can be posed. */
loom_status host_check_problem(const loom_host *host, const char *service, const loom_problem *p);
/* Also: `how` is one of LOOM_HESS_*, with any of `flags`, and the Hessians of the terms are
 * declared. */
loom_status host_check_hessian(const loom_host *host, const char *service, const loom_problem *p,
                               int how, int flags);
/* b has room for the dense Hessians of an element block. */
loom_status host_check_blocks(const loom_host *host, int block, int32_t first, int32_t count,
                              const loom_buf *b);
/* b is alive and was made by this instance. */
loom_status host_check_own(const loom_host *host, const char *service, const loom_buf *b);
/* A solver uses only capabilities that its `needs` declare, LOOM_NEED_*: the fit test relies on
 * them.  Needs of contact count in scenes with a contact model. */
loom_status host_check_declared(const loom_host *host, const char *service, uint32_t need);
loom_status host_check_eval(const loom_host *host, const loom_problem *p, loom_buf *x, int what,
                            const loom_energies *e, const loom_buf *grad);
loom_status host_check_bound(const loom_host *host, loom_buf *x0, loom_buf *x1,
                             const loom_bound *b);
/* Rows of a service on bodies, and reals [.][width] that go with them; b NULL is fine. */
loom_status host_check_rows(const loom_host *host, const char *service, const loom_body_rows *r);
loom_status host_check_row_reals(const loom_host *host, const char *service, const char *arg,
                                 const loom_body_rows *r, const loom_buf *b, int width);
/* Rows of elements: body and point are given, with three corners in a row. */
loom_status host_check_elements(const loom_host *host, const char *service,
                                const loom_body_rows *r);
/* Validates known_gap, known_x and radius. */
loom_status host_check_known(const loom_host *host, const char *service, const loom_body_rows *r,
                             const loom_body_gap *out);

#endif
