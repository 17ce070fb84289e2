/* grow_yarns.c - the share of the radius with which yarns that have radius_time begin. */
#include <math.h>

#include "scene/base/build.h"
#include "scene/moving/growing.h"

/* The least share: yarns that are nearer cross, and no radius is small enough. */
static const double least_share = 0.01;

/* The largest share with which no two yarns press.  Each turn frees the nearest pair, for good
 * since the share only shrinks, so that as many turns as there are pairs suffice. */
static loom_status find_free_share(builder *b, double *share)
{
  yarn_meeting m;
  *share = 1.0;
  for (;;) {
    LOOM_TRY(build_meet_yarns(b, *share, &m));
    if (!(m.near.ratio < 1.0)) return LOOM_OK;
    const double room = m.near.distance - m.whole;
    if (!(m.growing > 0 && room > least_share * m.growing)) break;
    *share = fmin(room / m.growing, *share) * (1 - 1e-9); /* rounding must not keep them in touch */
  }
  *share = least_share; /* build_check_yarns() says which two are too near */
  return LOOM_OK;
}

static loom_status note_growth(builder *b, double share)
{
  for (int k = 0; k < b->num_objects; ++k) {
    const object *const o = &b->objects[k];
    if (o->kind != OBJECT_YARN || !(o->yarn.radius_time > 0)) continue;
    if (share < 1)
      LOOM_TRY(build_note(b,
                          "%s: in contact of yarns the radius grows from %.3g m, %.3g of the "
                          "whole, to %g m at %g s",
                          o->label, share * o->yarn.radius, share, o->yarn.radius,
                          o->yarn.radius_time));
    else
      LOOM_TRY(build_note(b,
                          "%s: radius_time has no effect: no two yarns press at the start with "
                          "the whole radius",
                          o->label));
  }
  return LOOM_OK;
}

loom_status build_growing(builder *b)
{
  double share;
  int any = 0;
  for (int k = 0; k < b->num_objects; ++k)
    any |= b->objects[k].kind == OBJECT_YARN && b->objects[k].yarn.radius_time > 0;
  if (!any) return LOOM_OK;
  LOOM_TRY(find_free_share(b, &share));
  LOOM_TRY(note_growth(b, share));
  return share < 1 ? growing_create(b, share) : LOOM_OK;
}
