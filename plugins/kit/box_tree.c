/* box_tree.c - see box_tree.h. */
#include "kit/box_tree.h"

#include <string.h>

static const lk_entry k_bounds = LK_ENTRY_MOVES(box_bounds, 1, 0),
                      k_join = LK_ENTRY_MOVES(box_join, 12, 4);

void box_levels_make(box_levels *t, int32_t first, int32_t num, int32_t *next)
{
  memset(t, 0, sizeof *t);
  if (num == 0) return;
  t->first[0] = first;
  t->count[0] = num;
  for (t->num_levels = 1; num > 1; ++t->num_levels) {
    num = (num + 1) / 2;
    t->first[t->num_levels] = *next;
    t->count[t->num_levels] = num;
    *next += num;
  }
}

loom_status box_measure(plug_maps *maps, const lk_real *x, int32_t n, lk_real *bounds)
{
  for (int c = 0; c < 6; ++c) {
    const box_bounds_args args = {.x = x, .axis = c % 3, .sign = c < 3 ? LK_R(1.0) : LK_R(-1.0)};
    LOOM_TRY(plug_run_on(maps, &k_bounds, &args, n, bounds + c));
  }
  return LOOM_OK;
}

loom_status box_join_levels(plug_maps *maps, const box_levels *t, box_node *node)
{
  for (int l = 1; l < t->num_levels; ++l) {
    const box_join_args args = {
        .node = node, .from = t->first[l - 1], .num_from = t->count[l - 1], .to = t->first[l]};
    LOOM_TRY(plug_run_on(maps, &k_join, &args, t->count[l], NULL));
  }
  return LOOM_OK;
}
