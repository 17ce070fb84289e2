/* effects.c - keys that only some models and kinds of bodies read: a key without effect is refused.
 *
 * Rows of settings.c say in only_with which shapes read a key.  Keys of element types need a model
 * with the type, keys of kinds of bodies a kind that has them.
 */
#include <stdio.h>
#include <string.h>

#include "scene/base/build.h"

static loom_status note_effect(void *user, const char *text)
{
  return build_note(user, "%s", text);
}

loom_status build_check_effects(builder *b, const cfg_section *sec, const char *section,
                                void *settings)
{
  const cfg_notes notes = {note_effect, b};
  scene_table own[SCENE_OWN_TABLES];
  for (int t = 0, num = scene_own_tables(section, own); t < num; ++t)
    LOOM_TRY(cfg_check_effects(b->err, sec, own[t].params, own[t].count, settings, &notes));
  return LOOM_OK;
}

/* ---- bending: a number of a hinge is none of a plate's ----
 *
 * A narrow strip of hinges hangs as a plate with D = 2.4 k_b, cut with pattern = alternate; k_e is
 * 12 k_b (elements/README.md). */
#define HINGE_TO_PLATE 2.4
#define HINGE_TO_SHELL 12.0

static int has_named(const object *o, const char *type)
{
  for (int i = 0; i < elem_count(); ++i)
    if (strcmp(elem_at(i)->name, type) == 0) return build_has(o, i);
  return 0;
}

static int has_plate(const object *o)
{
  return has_named(o, "plate") || has_named(o, "plate_quadratic");
}

/* `bending` beside a hinge that has no number of its own: older versions read it as k_b. */
static loom_status check_rigidity(builder *b, const object *o, const char *key, double value,
                                  const char *takes)
{
  const int shell = has_named(o, "hinge_shell");
  const char *const own = shell ? "k_e" : "k_b";
  if (strcmp(key, "bending") != 0 || (!shell && !has_named(o, "hinge_isometric"))) return LOOM_OK;
  if (cfg_given(o->sec, own, "model") != CFG_GIVEN_NOT) return LOOM_OK;
  return build_place(
      b, o->sec, key,
      err_set(b->err, LOOM_E_CONFIG,
              "is the rigidity D of a plate and no number of a hinge: give %s = %.6g, which keeps "
              "the hinge and the numbers of older versions, or bending = %.6g with %s, which hangs "
              "alike",
              own, (shell ? HINGE_TO_SHELL : 1.0) * value, HINGE_TO_PLATE * value, takes));
}

/* Adds to `takes` the rigidity of a plate that hangs as the hinges do. */
static void add_rigidity(const object *o, const char *key, double value, char *takes, size_t len)
{
  const size_t used = strlen(takes);
  const int shell = strcmp(key, "k_e") == 0;
  if ((!shell && strcmp(key, "k_b") != 0) || !has_plate(o)) return;
  snprintf(takes + used, len - used, " (a plate that hangs alike has bending = %.6g)",
           HINGE_TO_PLATE * value / (shell ? HINGE_TO_SHELL : 1.0));
}

loom_status build_check_elem_effects(builder *b, const object *o, const scene_table *t,
                                     int *dropped)
{
  const cfg_notes notes = {note_effect, b};
  char takes[256];
  for (int i = 0; i < elem_count(); ++i)
    if (elem_settings_of(i) == t->elem && build_has(o, i)) return LOOM_OK;
  build_model_takes(t->elem, takes, sizeof takes);
  for (uint32_t k = 0; k < t->count; ++k) {
    const char *const key = t->params[k].key;
    const int given = cfg_given(o->sec, key, "model");
    if (given == CFG_GIVEN_NOT || cfg_is_default(&t->params[k], &o->elem[t->elem])) continue;
    char more[512];
    double value = 0;
    if (t->params[k].type == LOOM_P_REAL)
      memcpy(&value, (const char *)&o->elem[t->elem] + t->params[k].offset, sizeof value);
    LOOM_TRY(check_rigidity(b, o, key, value, takes));
    snprintf(more, sizeof more, "%s", takes);
    add_rigidity(o, key, value, more, sizeof more);
    *dropped |= given == CFG_GIVEN_BESIDE;
    LOOM_TRY(cfg_without_effect(b->err, o->sec, key, given, more, &notes));
  }
  return LOOM_OK;
}

/* Key p of kind i, which the body's own kind has not. */
static loom_status check_kind_key(builder *b, const cfg_section *sec, int i, const loom_param *p)
{
  const cfg_notes notes = {note_effect, b};
  const body_kind *const kind = body_kind_at(i);
  const int given = cfg_given(sec, p->key, "shape");
  body_keys own;
  char names[256] = "", takes[256] = "";
  size_t used = 0;
  if (given == CFG_GIVEN_NOT) return LOOM_OK;
  LOOM_TRY(cfg_bind(b->err, sec, kind->params, kind->num_params, &own));
  if (cfg_is_default(p, &own)) return LOOM_OK;
  for (int k = 0; k < BODY_NUM_CLOSED; ++k)
    if (body_kind_param(k, p->key) != NULL && used < sizeof names)
      used += (size_t)snprintf(names + used, sizeof names - used, "%s%s", used > 0 ? "|" : "",
                               body_kind_at(k)->name);
  cfg_describe_choice("shape", names, strlen(names), takes, sizeof takes);
  LOOM_TRY(cfg_without_effect(b->err, sec, p->key, given, takes, &notes));
  return given == CFG_GIVEN_BESIDE ? cfg_bind(b->err, sec, kind->params, kind->num_params, &own)
                                   : LOOM_OK;
}

loom_status build_check_kind_effects(builder *b, const cfg_section *sec, int shape)
{
  for (int i = 0; i < BODY_NUM_CLOSED; ++i) {
    const body_kind *const kind = body_kind_at(i);
    for (uint32_t k = 0; k < kind->num_params && i != shape; ++k)
      if (body_kind_param(shape, kind->params[k].key) == NULL)
        LOOM_TRY(check_kind_key(b, sec, i, &kind->params[k]));
  }
  return LOOM_OK;
}
