/* contact_rows.h - contact at the iterate as a quadratic model, for methods that go through
 * vertices: its gradient and its Hessian in rows of 3x3 blocks.
 *
 * A solver with it needs LOOM_NEED_CONTACT_GRADIENT and _CONTACT_HESSIAN. */
#ifndef KIT_CONTACT_ROWS_H
#define KIT_CONTACT_ROWS_H

#include "kit/bcsr.h"

typedef struct contact_rows { /* fine when zeroed */
  const loom_host *host;
  bcsr A;          /* Hessian of contact, where `any` */
  bcsr_kind kind;  /* the blocks that models give */
  loom_buf *force; /* real [n][3], N, gradient of contact */
  int32_t any;     /* nonzero: some pair is in contact */
} contact_rows;

loom_status contact_rows_new(contact_rows *k, const loom_host *host, const loom_exec *e, int32_t n);
/* The model at st->x; `how` of LOOM_HESS_*. */
loom_status contact_rows_at(contact_rows *k, const loom_step *st, int how);

#endif
