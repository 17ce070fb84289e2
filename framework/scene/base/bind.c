/* bind.c - all keys of an object: its own, and those of its element types. */
#include <string.h>

#include "scene/base/build.h"

/* Of a measured table that is given in part the rest would silently be another fabric's: a row that
 * is given and one that is not; before defaults stand in the section. */
typedef struct table_part {
  const char *has, *lacks; /* NULL: none */
} table_part;

static table_part look_at_table(const cfg_section *sec, const elem_type *t)
{
  table_part p = {NULL, NULL};
  for (uint32_t k = 0; k < t->table; ++k)
    *(cfg_text(sec, t->params[k].key) != NULL ? &p.has : &p.lacks) = t->params[k].key;
  return p;
}

static loom_status check_table(const builder *b, const object *o, int type, const table_part *p)
{
  const elem_type *const t = elem_at(type);
  if (p->has == NULL || p->lacks == NULL || !(o->model >> type & 1)) return LOOM_OK;
  return build_place(
      b, o->sec, p->has,
      err_set(b->err, LOOM_E_CONFIG,
              "is a row of a table that lacks the row %s; give all rows, %s to %s, or none",
              p->lacks, t->params[0].key, t->params[t->table - 1].key));
}

loom_status build_bind(builder *b, object *o, const char *section, void *own)
{
  scene_table tables[SCENE_MAX_TABLES];
  table_part parts[SCENE_MAX_TABLES] = {{NULL, NULL}};
  const int n = scene_tables(section, tables);
  int dropped = 0;
  LOOM_TRY(mesh_alloc(b->err, elem_count(), sizeof *o->elem, &o->elem));
  for (int k = 0; k < n; ++k)
    if (tables[k].elem >= 0) parts[k] = look_at_table(o->sec, elem_at(tables[k].elem));
  for (int k = 0; k < n; ++k)
    LOOM_TRY(cfg_bind(b->err, o->sec, tables[k].params, tables[k].count,
                      tables[k].elem < 0 ? own : (void *)&o->elem[tables[k].elem]));
  LOOM_TRY(build_choose_types(b, o, section, own));
  for (int k = 0; k < n; ++k)
    if (tables[k].elem >= 0) LOOM_TRY(check_table(b, o, tables[k].elem, &parts[k]));
  LOOM_TRY(build_check_effects(b, o->sec, section, own));
  for (int k = 0; k < n; ++k)
    if (tables[k].elem >= 0) LOOM_TRY(build_check_elem_effects(b, o, &tables[k], &dropped));
  for (int k = 0; k < n && dropped; ++k)
    if (tables[k].elem >= 0)
      LOOM_TRY(
          cfg_bind(b->err, o->sec, tables[k].params, tables[k].count, &o->elem[tables[k].elem]));
  return LOOM_OK;
}

/* ---- regions ---- */

/* One cloth has one model and one thickness: a material's are left out of a region if they are the
 * cloth's kind of model. */
static loom_status drop_object_keys(builder *b, const object *o, const region *r)
{
  const cfg_section *const sec = r->sec;
  const char *const model = cfg_text(sec, "model"), *const own = cfg_text(o->sec, "model");
  if (model != NULL && own != NULL &&
      build_model_types("cloth", model, strlen(model)) !=
          build_model_types("cloth", own, strlen(own)))
    return build_place(b, sec, "material",
                       err_set(b->err, LOOM_E_CONFIG,
                               "has model = %s and [%s] has %s; a cloth has one model for all its "
                               "regions",
                               model, cfg_section_name(o->sec), own));
  cfg_drop(sec, "model");
  cfg_drop(sec, "thickness");
  return LOOM_OK;
}

static loom_status refuse_object_keys(builder *b, const region *r)
{
  static const char *const keys[] = {"model", "thickness"};
  for (int k = 0; k < 2; ++k)
    if (cfg_text(r->sec, keys[k]) != NULL)
      return build_place(b, r->sec, keys[k],
                         err_set(b->err, LOOM_E_CONFIG,
                                 "is a key of the cloth: all its regions have one %s", keys[k]));
  return LOOM_OK;
}

/* The keys of a table that the region lacks become those of the object. */
static loom_status inherit_keys(builder *b, const object *o, const region *r, const scene_table *t)
{
  for (uint32_t i = 0; i < t->count; ++i) {
    const char *const key = t->params[i].key;
    if (cfg_text(r->sec, key) != NULL) continue;
    const char *const text = cfg_text(o->sec, key);
    if (text != NULL) LOOM_TRY(cfg_put(b->err, r->sec, key, text));
  }
  return LOOM_OK;
}

loom_status build_bind_region(builder *b, const object *o, region *r)
{
  scene_table tables[SCENE_MAX_TABLES];
  const int n = scene_tables("region", tables);
  object own = *o; /* with the section and the settings of the region */
  int dropped = 0;
  LOOM_TRY(refuse_object_keys(b, r));
  LOOM_TRY(cfg_apply_material(b->err, b->c, r->sec, NULL));
  LOOM_TRY(drop_object_keys(b, o, r));
  LOOM_TRY(mesh_alloc(b->err, elem_count(), sizeof *r->elem, &r->elem));
  own.sec = r->sec;
  own.elem = r->elem;
  for (int k = 0; k < n; ++k) {
    if (tables[k].elem < 0) continue;
    const table_part part = look_at_table(r->sec, elem_at(tables[k].elem));
    LOOM_TRY(check_table(b, &own, tables[k].elem, &part));
  }
  for (int k = 1; k < n; ++k) LOOM_TRY(inherit_keys(b, o, r, &tables[k]));
  for (int again = 0; again < 2; ++again)
    for (int k = 1; k < n; ++k) {
      if (tables[k].elem < 0) {
        LOOM_TRY(cfg_bind(b->err, r->sec, tables[k].params, tables[k].count, &r->set));
        continue;
      }
      void *const into = &r->elem[tables[k].elem];
      LOOM_TRY(cfg_bind(b->err, r->sec, tables[k].params, tables[k].count, into));
      if (!again) LOOM_TRY(build_check_elem_effects(b, &own, &tables[k], &dropped));
    }
  return LOOM_OK;
}
