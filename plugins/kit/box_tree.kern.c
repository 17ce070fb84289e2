/* box_tree.kern.c - see box_tree.kern.h. */
#include "kit/box_tree.kern.h"

LK_REDUCE_MAX(box_bounds, a, i) { return a->sign * a->x[3 * i + a->axis]; }

LK_KERNEL_PLAIN(box_join, a, k)
{
  box_node all = a->node[a->from + 2 * k];
  if (2 * k + 1 < a->num_from) {
    const box_node b = a->node[a->from + 2 * k + 1];
    all.state = box_join_states(all.state, b.state);
    all.mark |= b.mark;
    for (int c = 0; c < 3; ++c) {
      all.lo[c] = b.lo[c] < all.lo[c] ? b.lo[c] : all.lo[c];
      all.hi[c] = b.hi[c] > all.hi[c] ? b.hi[c] : all.hi[c];
    }
  }
  a->node[a->to + k] = all;
}
