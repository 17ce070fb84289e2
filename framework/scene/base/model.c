/* model.c - the model of an object: the keys of its element types, and which types it has. */
#include <stdio.h>
#include <string.h>

#include "scene/base/build.h"

static int is_type_of_section(const elem_type *t, const char *section)
{
  return t->section != NULL && strcmp(t->section, section) == 0;
}

const void *build_elem_settings(const object *o, int type)
{
  return &o->elem[elem_settings_of(type)];
}

int build_has(const object *o, int type) { return (int)(o->model >> type & 1); }

/* ---- the key `model` ----
 */

/* Types of the section that the first `len` characters of `word` name, as bits. */
static uint64_t types_named(const char *section, const char *word, size_t len)
{
  for (int i = 0; i < elem_count(); ++i) {
    const elem_type *const t = elem_at(i);
    if (!is_type_of_section(t, section) || t->word == NULL) continue;
    if ((strlen(t->word) == len && strncmp(t->word, word, len) == 0) ||
        (strlen(t->name) == len && strncmp(t->name, word, len) == 0))
      return UINT64_C(1) << i;
  }
  return 0;
}

/* Types that `text` [len] names, joined by +; 0 if a word is unknown, missing or there twice. */
static uint64_t types_of(const char *section, const char *text, size_t len)
{
  uint64_t all = 0;
  for (size_t at = 0; at <= len;) {
    size_t n = 0;
    while (at + n < len && text[at + n] != '+') ++n;
    const uint64_t one = types_named(section, text + at, n);
    if (one == 0 || (all & one) != 0) return 0;
    all |= one;
    at += n + 1;
  }
  return all;
}

static const loom_param *model_param(const char *section)
{
  uint32_t count;
  const loom_param *const p = scene_params(section, &count);
  for (uint32_t k = 0; k < count; ++k)
    if (strcmp(p[k].key, "model") == 0) return &p[k];
  return NULL;
}

static loom_status no_model(loom_err *err, const loom_param *p, const char *text)
{
  char copy[256], *list[16];
  int n = 0;
  snprintf(copy, sizeof copy, "%s", p->choices);
  for (char *s = copy; s != NULL && n < 16;) {
    char *const bar = strchr(s, '|');
    if (bar != NULL) *bar = '\0';
    list[n++] = s;
    s = bar != NULL ? bar + 1 : NULL;
  }
  const char *const near = err_nearest(text, (const char *const *)list, n);
  return err_set(err, LOOM_E_CONFIG,
                 "'%.80s' is no choice; %s%s%s: %s; or element types (loom list elements) joined "
                 "by +, each once",
                 text, near != NULL ? "did you mean '" : "", near != NULL ? near : "",
                 near != NULL ? "'? Allowed" : "allowed", p->choices);
}

/* Of a section without the key every object has all types. */
static loom_status choose_types(builder *b, object *o, const char *section, const void *own)
{
  const loom_param *const p = model_param(section);
  const char *text = "";
  o->model = 0;
  for (int i = 0; i < elem_count(); ++i)
    if (is_type_of_section(elem_at(i), section) && elem_at(i)->word == NULL)
      o->model |= UINT64_C(1) << i;
  if (p == NULL) return LOOM_OK;
  memcpy(&text, (const char *)own + p->offset, sizeof text);
  const uint64_t named = types_of(section, text, strlen(text));
  if (named == 0) return build_place(b, o->sec, "model", no_model(b->err, p, text));
  o->model |= named;
  return LOOM_OK;
}

void build_model_takes(int type, char *text, size_t len)
{
  const elem_type *const t = elem_at(type);
  const char *usual[16];
  int size[16], n = 0;
  for (const char *c = model_param(t->section)->choices; c != NULL && n < 16;) {
    usual[n] = c;
    size[n] = (int)strcspn(c, "|");
    c = c[size[n]] == '|' ? c + size[n] + 1 : NULL;
    n += (types_of(t->section, usual[n], (size_t)size[n]) >> type & 1) != 0;
  }
  if (n == 0) snprintf(text, len, "%s in model", t->word);
  for (int i = 0, used = 0; i < n && used < (int)len; ++i)
    used += snprintf(text + used, len - (size_t)used, "%s%.*s",
                     i == 0       ? "model = "
                     : i == n - 1 ? " or "
                                  : ", ",
                     size[i], usual[i]);
}

/* ---- all keys of an object ----
 */

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

static loom_status check_table(builder *b, const object *o, int type, const table_part *p)
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
  LOOM_TRY(choose_types(b, o, section, own));
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
