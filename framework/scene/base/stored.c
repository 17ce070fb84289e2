/* stored.c - the config that a log of an older version holds, in today's keys.
 *
 * A stored config has all keys of its version with their values.  One without `k_b` is of a version
 * in which `bending` was the k_b of hinge_isometric and, from 0.5 on, the rigidity of a plate. */
#include <stdio.h>
#include <string.h>

#include "elements/elements.h"
#include "scene/base/build.h"
#include "scene/base/scene_data.h"

/* Today's default of a key of cloth, in buf [len]; NULL: there is no key of this name. */
static const char *cloth_default(const char *key, char *buf, size_t len)
{
  scene_table tables[SCENE_MAX_TABLES];
  for (int t = 0, n = scene_tables("cloth", tables); t < n; ++t)
    for (uint32_t k = 0; k < tables[t].count; ++k)
      if (strcmp(tables[t].params[k].key, key) == 0)
        return cfg_default_text(&tables[t].params[k], buf, len);
  return NULL;
}

/* The key becomes `value`, or its default for NULL. */
static loom_status put_key(loom_err *err, const cfg_section *s, const char *key, const char *value)
{
  char buf[128];
  const char *const text = value != NULL ? value : cloth_default(key, buf, sizeof buf);
  return text != NULL ? cfg_put(err, s, key, text) : LOOM_OK;
}

static int model_has(const char *model, const char *type)
{
  const uint64_t types = build_model_types("cloth", model, strlen(model));
  for (int i = 0; i < elem_count(); ++i)
    if (strcmp(elem_at(i)->name, type) == 0) return (int)(types >> i & 1);
  return 0;
}

static loom_status translate_bending(loom_err *err, const cfg_section *s, char *note, size_t len)
{
  const char *const model = cfg_text(s, "model"), *const bending = cfg_text(s, "bending");
  if (model == NULL || bending == NULL || cfg_text(s, "k_b") != NULL) return LOOM_OK;
  const int hinge = model_has(model, "hinge_isometric");
  const int plate = model_has(model, "plate") || model_has(model, "plate_quadratic");
  if (hinge && note[0] == '\0')
    snprintf(note, len,
             "the config is of an older version: [%s] bending = %s of its hinge is k_b = %s today",
             cfg_section_name(s), bending, bending);
  LOOM_TRY(put_key(err, s, "k_b", hinge ? bending : NULL));
  return plate ? LOOM_OK : put_key(err, s, "bending", NULL);
}

/* Shapes that are not generated do not read `pattern`, and their sections hold its default. */
static loom_status translate_pattern(loom_err *err, const cfg_section *s)
{
  static const char *const generated[] = {"grid", "strip", "cylinder"};
  const char *const shape = cfg_text(s, "shape");
  if (shape == NULL || cfg_text(s, "pattern") == NULL) return LOOM_OK;
  for (size_t k = 0; k < LOOM_COUNT(generated); ++k)
    if (strcmp(shape, generated[k]) == 0) return LOOM_OK;
  return put_key(err, s, "pattern", NULL);
}

loom_status scene_translate(loom_err *err, const cfg *c, char *note, size_t len)
{
  note[0] = '\0';
  for (const cfg_section *s = cfg_next(c, "cloth", NULL); s != NULL; s = cfg_next(c, "cloth", s)) {
    LOOM_TRY(translate_bending(err, s, note, len));
    LOOM_TRY(translate_pattern(err, s));
  }
  return LOOM_OK;
}
