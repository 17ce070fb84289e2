/* bind.c - all keys of an object: its own, and those of its element types. */
#include "scene/base/build.h"

/* Of a measured table that is given in part the rest would silently be another fabric's: a row that
 * is given and one that is not; before defaults stand in the section. */
typedef struct table_part {
  const char *has, *lacks; /* NULL: none */
} table_part;

static table_part look_at_table(const object *o, const elem_type *t)
{
  table_part p = {NULL, NULL};
  for (uint32_t k = 0; k < t->table; ++k)
    *(cfg_text(o->sec, t->params[k].key) != NULL ? &p.has : &p.lacks) = t->params[k].key;
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
    if (tables[k].elem >= 0) parts[k] = look_at_table(o, elem_at(tables[k].elem));
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
