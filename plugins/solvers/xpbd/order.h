/* order.h - the elements of a block by colours: elements of one colour share no vertex, so that all
 * of them may be projected at the same time. */
#ifndef XPBD_ORDER_H
#define XPBD_ORDER_H

#include "loom/plugin.h"

typedef struct order { /* fine when zeroed */
  int32_t num;         /* of colours */
  int32_t *first;      /* [num+1], of the elements of a colour in `elem` */
  loom_buf *elem;      /* i32 [ne], by colour, ascending in each */
} order;

/* Greedy, element by element, each the smallest colour that none with a vertex of it has. */
loom_status order_new(order *o, const loom_host *host, const loom_exec *e, const loom_elem_block *b,
                      int32_t num_verts);
void order_free(order *o);

#endif
