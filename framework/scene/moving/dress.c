/* dress.c - see dress.h. */
#include "scene/moving/dress.h"

#include <math.h>

#include "scene/base/build.h"
#include "scene/moving/moving.h"
#include "scene/moving/sewing.h"

loom_status build_dress(builder *b)
{
  const cfg_section *const sec = cfg_find(b->c, "dress");
  scene_data *const s = b->s;
  for (int c = 0; c < 3; ++c) s->whole_gravity[c] = s->gravity[c];
  if (sec == NULL) return LOOM_OK;
  LOOM_TRY(cfg_bind(b->err, sec, scene_dress_params, SCENE_DRESS_PARAMS, &s->dress));
  return build_check_effects(b, sec, "dress", &s->dress);
}

/* Integral from 0 to t (s) of the share of gravity that acts. */
static double integrate_share(const dress_settings *d, double t)
{
  const double since = t - d->gravity_from;
  if (since <= 0.0) return 0.0;
  if (since >= d->gravity_rise) return since - 0.5 * d->gravity_rise;
  return 0.5 * since * since / d->gravity_rise;
}

/* The share at one time. */
static double share_at(const dress_settings *d, double t)
{
  const double since = t - d->gravity_from;
  if (since < 0.0) return 0.0;
  return since < d->gravity_rise ? since / d->gravity_rise : 1.0;
}

void dress_gravity(scene_data *s, double t0, double t1)
{
  const dress_settings *const d = &s->dress;
  if (!(d->gravity_from > 0.0) && !(d->gravity_rise > 0.0)) return;
  const double share =
      t1 > t0 ? (integrate_share(d, t1) - integrate_share(d, t0)) / (t1 - t0) : share_at(d, t1);
  for (int c = 0; c < 3; ++c) s->gravity[c] = share * s->whole_gravity[c];
}

double dress_motion_time(const scene_data *s, double t)
{
  const double from = s->dress.motion_from;
  return from > 0.0 ? fmax(t - from, 0.0) : t;
}

double dress_end(const scene_data *s)
{
  double end = fmax(s->dress.gravity_from + s->dress.gravity_rise, scene_sewing_time(s));
  for (int32_t g = 0; g < s->motion->num_groups; ++g)
    if (s->motion->groups[g].until < PIN_FOR_EVER) end = fmax(end, s->motion->groups[g].until);
  return end;
}
