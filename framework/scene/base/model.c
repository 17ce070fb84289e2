/* model.c - the model of an object: which element types it has. */
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

/* model = affine: the energy of its one tetrahedron. */
static const char affine[] = "affine", affine_type[] = "tet_arap";

/* Types of the section that the first `len` characters of `word` name, as bits. */
static uint64_t types_named(const char *section, const char *word, size_t len)
{
  if (strcmp(section, "solid") == 0 && strlen(affine) == len && strncmp(affine, word, len) == 0)
    return types_named(section, affine_type, strlen(affine_type));
  for (int i = 0; i < elem_count(); ++i) {
    const elem_type *const t = elem_at(i);
    if (!is_type_of_section(t, section) || t->word == NULL) continue;
    if ((strlen(t->word) == len && strncmp(t->word, word, len) == 0) ||
        (strlen(t->name) == len && strncmp(t->name, word, len) == 0))
      return UINT64_C(1) << i;
  }
  return 0;
}

uint64_t build_model_types(const char *section, const char *text, size_t len)
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
                 "by +, each once%s",
                 text, near != NULL ? "did you mean '" : "", near != NULL ? near : "",
                 near != NULL ? "'? Allowed" : "allowed", p->choices,
                 strstr(text, "fold") != NULL
                     ? ". Folds that last are those of a plate with bending_yield"
                     : "");
}

loom_status build_choose_types(builder *b, object *o, const char *section, const void *own)
{
  const loom_param *const p = model_param(section);
  const char *text = "";
  o->model = 0;
  for (int i = 0; i < elem_count(); ++i)
    if (is_type_of_section(elem_at(i), section) && elem_at(i)->word == NULL)
      o->model |= UINT64_C(1) << i;
  if (p == NULL) return LOOM_OK;
  memcpy(&text, (const char *)own + p->offset, sizeof text);
  const uint64_t named = build_model_types(section, text, strlen(text));
  if (named == 0 || (strstr(text, affine) != NULL && strcmp(text, affine) != 0))
    return build_place(b, o->sec, "model", no_model(b->err, p, text));
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
    const uint64_t types = build_model_types(t->section, usual[n], (size_t)size[n]);
    int reads = 0;
    for (int i = 0; i < elem_count(); ++i)
      reads |= (types >> i & 1) != 0 && elem_settings_of(i) == type;
    n += reads;
  }
  if (n == 0) snprintf(text, len, "%s in model", t->word);
  for (int i = 0, used = 0; i < n && used < (int)len; ++i)
    used += snprintf(text + used, len - (size_t)used, "%s%.*s",
                     i == 0       ? "model = "
                     : i == n - 1 ? " or "
                                  : ", ",
                     size[i], usual[i]);
}
