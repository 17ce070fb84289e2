/* regions.c - [region.NAME]: parts of a cloth with their own density and stiffness. */
#include <stdlib.h>
#include <string.h>

#include "scene/base/build.h"
#include "scene/objects/named_parts.h"

static loom_status put_in_region(builder *b, object *o, region *r, int64_t t)
{
  const int32_t number = (int32_t)(r - o->regions);
  if (o->tri_region[t] >= 0)
    return build_place(b, r->sec, "where",
                       err_set(b->err, LOOM_E_CONFIG,
                               "triangle %lld of %s is in [%s], too; a triangle has one material",
                               (long long)t, o->label,
                               cfg_section_name(o->regions[o->tri_region[t]].sec)));
  ++r->num_tris;
  o->tri_region[t] = number;
  return LOOM_OK;
}

static loom_status fill_region(builder *b, object *o, region *r)
{
  const named_parts of = {.sec = r->sec,
                          .where = r->set.where,
                          .labels = r->set.labels,
                          .where_key = "where",
                          .labels_key = "labels",
                          .m = &o->m,
                          .label = o->label,
                          .merged = o->merged,
                          .num_named = o->num_named};
  unsigned char *chosen = NULL;
  int64_t seams = 0;
  LOOM_TRY(mesh_alloc(b->err, o->m.num_tris, 1, &chosen));
  loom_status s = named_parts_choose(b, &of, chosen, &seams);
  for (int64_t t = 0; t < o->m.num_tris && s == LOOM_OK; ++t)
    if (chosen[t]) s = put_in_region(b, o, r, t);
  free(chosen);
  if (s != LOOM_OK || seams == 0) return s;
  return build_note(b,
                    "[%s]: %lld triangles have only vertices at seams, and keep the material of "
                    "[%s]",
                    cfg_section_name(r->sec), (long long)seams, cfg_section_name(o->sec));
}

static loom_status refuse_object(builder *b, const region *r)
{
  const char **names;
  int num = 0;
  LOOM_TRY(mesh_alloc(b->err, b->num_objects, sizeof *names, &names));
  for (int k = 0; k < b->num_objects; ++k)
    if (b->objects[k].kind == OBJECT_CLOTH) names[num++] = b->objects[k].name;
  char list[600];
  err_names(list, sizeof list, r->set.object, names, num);
  err_set(b->err, LOOM_E_CONFIG,
          "there is no cloth named \"%.80s\"; %s%s; regions are parts of cloth", r->set.object,
          num > 0 ? "there is " : "there is none at all", list);
  free(names);
  return build_place(b, r->sec, "object", LOOM_E_CONFIG);
}

/* Room for one more region of the object, which has as many as the file has sections. */
static loom_status add_region(builder *b, object *o, const region *r)
{
  int64_t most = 0;
  for (const cfg_section *c = NULL; (c = cfg_next(b->c, "region", c)) != NULL;) ++most;
  if (o->regions == NULL) {
    LOOM_TRY(mesh_alloc(b->err, most, sizeof *o->regions, &o->regions));
    LOOM_TRY(mesh_alloc(b->err, o->m.num_tris, sizeof *o->tri_region, &o->tri_region));
    for (int64_t t = 0; t < o->m.num_tris; ++t) o->tri_region[t] = -1;
  }
  o->regions[o->num_regions++] = *r;
  return LOOM_OK;
}

static loom_status read_region(builder *b, const cfg_section *sec)
{
  region head = {.sec = sec, .name = cfg_section_suffix(sec)};
  object *o = NULL;
  LOOM_TRY(cfg_bind(b->err, sec, scene_region_params, SCENE_REGION_PARAMS - 1, &head.set));
  if (head.name[0] == '\0')
    return build_place(b, sec, NULL,
                       err_set(b->err, LOOM_E_CONFIG, "needs a name, as [region.collar]"));
  for (int k = 0; k < b->num_objects; ++k)
    if (b->objects[k].kind == OBJECT_CLOTH && strcmp(b->objects[k].name, head.set.object) == 0)
      o = &b->objects[k];
  if (o == NULL) return refuse_object(b, &head);
  LOOM_TRY(add_region(b, o, &head));
  region *const r = &o->regions[o->num_regions - 1];
  LOOM_TRY(build_bind_region(b, o, r));
  LOOM_TRY(fill_region(b, o, r));
  if (r->num_tris > 0) return LOOM_OK;
  return build_place(
      b, sec, "where",
      err_set(b->err, LOOM_E_CONFIG, "no triangle of %s is in the region", o->label));
}

loom_status build_regions(builder *b)
{
  for (const cfg_section *c = NULL; (c = cfg_next(b->c, "region", c)) != NULL;)
    LOOM_TRY(read_region(b, c));
  return LOOM_OK;
}
