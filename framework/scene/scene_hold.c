/* scene_hold.c - pins that begin to hold or end at a time: `fixed` and the stiffness of soft pins.
 */
#include <string.h>

#include "scene/base/build.h"
#include "scene/moving/moving.h"
#include "scene/objects/followers.h"

static int holds_always(const pin_group *g) { return !(g->from > 0) && g->until >= PIN_FOR_EVER; }

int scene_pins_switch(const scene_data *s)
{
  for (int32_t g = 0; g < s->motion->num_groups; ++g)
    if (!holds_always(&s->motion->groups[g])) return 1;
  return 0;
}

static loom_status write_fixed(scene_data *s)
{
  void *p;
  LOOM_TRY(buf_map(s->m, NULL, s->pub.fixed, LOOM_RDWR, LOOM_AT_HOST, &p));
  uint8_t *const fixed = p;
  memset(fixed, 0, (size_t)s->pub.num_verts);
  for (int32_t g = 0; g < s->motion->num_groups; ++g) {
    const pin_group *const group = &s->motion->groups[g];
    for (int32_t k = 0; k < group->count && group->held && group->stiffness == 0; ++k)
      fixed[group->verts[k]] = 1;
  }
  const loom_status st = scene_fix_followers(s, fixed);
  const loom_status done = buf_unmap(s->m, s->pub.fixed);
  return st != LOOM_OK ? st : done;
}

/* A soft pin that does not hold is a spring without stiffness. */
static loom_status write_stiffness(scene_data *s)
{
  void *p;
  if (s->blocks == NULL || s->motion->pin_block < 0) return LOOM_OK;
  const loom_elem_block *const block = &s->blocks[s->motion->pin_block];
  LOOM_TRY(buf_map(s->m, NULL, block->mat, LOOM_RDWR, LOOM_AT_HOST, &p));
  loom_real *const mat = p;
  for (int32_t g = 0; g < s->motion->num_groups; ++g) {
    const pin_group *const group = &s->motion->groups[g];
    for (int64_t k = 0; k < group->count && group->stiffness > 0; ++k)
      mat[block->mat_len * (group->first_elem + k)] =
          (loom_real)(group->held ? group->stiffness : 0.0);
  }
  return buf_unmap(s->m, block->mat);
}

loom_status scene_hold(scene_data *s, double t, int *changed)
{
  *changed = 0;
  for (int32_t g = 0; g < s->motion->num_groups; ++g) {
    pin_group *const group = &s->motion->groups[g];
    const int held = t < 0 ? holds_always(group) : t >= group->from && t < group->until;
    *changed |= held != group->held;
    group->held = held;
  }
  if (!*changed) return LOOM_OK;
  LOOM_TRY(write_fixed(s));
  return write_stiffness(s);
}
