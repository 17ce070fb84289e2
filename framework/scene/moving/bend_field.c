/* bend_field.c - the distance of a body with joints, from its keys to every step. */
#include "scene/moving/bend_field.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "scene/base/build.h"
#include "scene/moving/moving.h"

loom_status bend_field_step(scene_data *s, int k)
{
  const moving_body *const body = &s->motion->bodies[k];
  const rigged *const r = body->rigged;
  if (body->field == NULL) return LOOM_OK;
  LOOM_TRY(bend_field_pose(body->field, r->value[0] + RIG_ROOT, r->root[0], r->value[1] + RIG_ROOT,
                           r->root[1]));
  bend_field_show(body->field, &s->obstacles[k]);
  return LOOM_OK;
}

/* A note, once, if the pose that holds or a row of the animation leaves the training. */
static loom_status note_outside(builder *b, const cfg_section *sec, const body_field *f,
                                const rigged *r)
{
  const int32_t width = RIG_ROOT + r->r.num_dofs;
  char name[2 * RIG_NAME_LEN + 2], place[4200];
  int32_t dof = bend_field_outside(f, r->base + RIG_ROOT);
  for (int32_t k = 0; k < r->animation.num_keys && dof < 0; ++k)
    dof = bend_field_outside(f, r->animation.value + (int64_t)k * width + RIG_ROOT);
  if (dof < 0) return LOOM_OK;
  rig_dof_name(&r->r, dof, name, sizeof name);
  return build_note(b,
                    "%s: %s leaves the angles that the networks were trained with; there the shape "
                    "is that at the end of their range",
                    cfg_place(sec, "networks", place, sizeof place), name);
}

loom_status build_field(builder *b, const cfg_section *sec, const body_settings *s,
                        loom_obstacle *o)
{
  static const char *const kinds[] = {NULL, "neural", "baked", "exact", "capsules"};
  static const char *const keys[] = {NULL, "networks", "sdf_resolution", "distance", "distance"};
  const int index = b->s->pub.num_obstacles - 1;
  moving_body *const body = &b->s->motion->bodies[index];
  const field_options opt = {.kind = kinds[s->distance],
                             .file = s->networks,
                             .flags = s->regions == 0,
                             .difference = s->gradient == 0 ? 0 : 1e-3,
                             .layer = s->thickness,
                             .resolution = s->sdf_resolution};
  if (s->distance == DISTANCE_NONE) return LOOM_OK;
  if (s->distance == DISTANCE_NEURAL && s->networks[0] == '\0')
    return build_place(b, sec, "distance",
                       err_set(b->err, LOOM_E_CONFIG,
                               "neural needs the key networks, a file of them; "
                               "configs/bodies/lower_body.h5 comes with loom"));
  const loom_status st = bend_field_open(b->err, b->s->m, &opt, &body->rigged->r, &body->field);
  if (st != LOOM_OK) return build_place(b, sec, keys[s->distance], st);
  LOOM_TRY(note_outside(b, sec, body->field, body->rigged));
  bend_field_show(body->field, o);
  return LOOM_OK;
}
