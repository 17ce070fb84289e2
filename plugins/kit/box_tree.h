/* box_tree.h - hierarchies of boxes on the host side: their levels, bounds and joining; see
 * box_tree.kern.h.  The plugin defines the leaves and their boxes. */
#ifndef KIT_BOX_TREE_H
#define KIT_BOX_TREE_H

#include "kit/box_tree.kern.h"
#include "loom/plug.h"

/* Levels over `num` leaves from node `first` on; inner nodes from *next on, which moves on. */
void box_levels_make(box_levels *t, int32_t first, int32_t num, int32_t *next);
/* bounds, real [6], of the points x, real [n][3], both mapped where kernels run; see box_place().
 */
loom_status box_measure(plug_maps *maps, const lk_real *x, int32_t n, lk_real *bounds);
/* Inner nodes from their leaves, level by level. */
loom_status box_join_levels(plug_maps *maps, const box_levels *t, box_node *node);

#endif
