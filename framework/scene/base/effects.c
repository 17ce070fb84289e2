/* effects.c - keys that only some shapes and models read: a key without effect is refused.
 *
 * A key of settings.c that every object of its kind reads stands in no row; a key that only some
 * read stands here with the choices that read it.  A new shape reads none of them until its bit
 * is set.  Keys of element types need a model with the type, keys of kinds of bodies a kind that
 * has them.  A key with its default is let pass: resolved configurations hold all keys, and run.
 */
#include <stdio.h>
#include <string.h>

#include "config/words.h"
#include "scene/base/build.h"

#define BIT(value) (1u << (value))
enum { ANY = 2u }; /* of keys without choices: something is held, above 0, copied */
#define SHEETS   (BIT(CLOTH_GRID) | BIT(CLOTH_DISK) | BIT(CLOTH_STRIP) | BIT(CLOTH_CYLINDER))
#define FLAT     (BIT(YARN_STOCKINETTE) | BIT(YARN_GARTER) | BIT(YARN_RIB))
#define KNITTED  (FLAT | BIT(YARN_TUBE))
#define SURFACES (BIT(BODY_MESH) | BIT(BODY_REVOLVE))
#define PULLED   (BIT(SEWING_AUTO) | BIT(SEWING_PULL))
#define OUTLINED 0u /* kinds of bodies that have an outline, and revolve */

static const struct effect {
  const char *section, *key, *choice;
  uint32_t with; /* bits of values of `choice`; several rows of a key: one is enough */
} effects[] = {
    {"cloth", "size", "shape", SHEETS},
    {"cloth", "resolution", "shape", SHEETS},
    {"cloth", "pattern", "shape", SHEETS & ~BIT(CLOTH_DISK)},
    {"cloth", "file", "shape", BIT(CLOTH_OBJ) | BIT(CLOTH_PLY) | BIT(CLOTH_PATTERN)},
    {"cloth", "edge_length", "shape", BIT(CLOTH_PATTERN)},
    {"cloth", "uv_scale", "shape", BIT(CLOTH_OBJ) | BIT(CLOTH_PLY)},
    {"cloth", "rest_file", "rest", BIT(REST_AUTO) | BIT(REST_FILE)},
    {"cloth", "merge_tolerance", "repair", BIT(REPAIR_MERGE) | BIT(REPAIR_MERGE_ORIENTATION)},
    {"cloth", "merge_tolerance", "sewing", BIT(SEWING_MERGE)},
    {"cloth", "stitches", "sewing", PULLED},
    {"cloth", "stitch_stiffness", "sewing", PULLED},
    {"cloth", "sewing_time", "sewing", PULLED},
    {"cloth", "seam_rings", "sewing", PULLED},
    {"cloth", "imperfection_seed", "imperfection", ANY},
    {"cloth", "pin_stiffness", "pins", ANY},
    {"cloth", "pin_motion", "pins", ANY},
    {"solid", "pin_stiffness", "pins", ANY},
    {"solid", "pin_motion", "pins", ANY},
    {"yarn", "file", "pattern", BIT(YARN_BCC) | BIT(YARN_OBJ)},
    {"yarn", "rows", "pattern", KNITTED},
    {"yarn", "loops", "pattern", KNITTED},
    {"yarn", "stripe", "pattern", FLAT},
    {"yarn", "rib", "pattern", BIT(YARN_RIB)},
    {"yarn", "closed", "pattern", BIT(YARN_TUBE)},
    {"yarn", "bind", "pattern", KNITTED},
    {"yarn", "loop_width", "pattern", KNITTED},
    {"yarn", "row_height", "pattern", KNITTED},
    {"yarn", "pin_stiffness", "pins", ANY},
    {"yarn", "pin_motion", "pins", ANY},
    {"pin", "stiffness", "where", ANY},
    {"pin", "motion", "where", ANY},
    {"pin", "keyframes", "where", ANY},
    {"pin", "keyframe_file", "where", ANY},
    {"body", "file", "shape", BIT(BODY_MESH) | BIT(BODY_SDF) | BIT(BODY_RIG)},
    {"body", "mesh_size", "shape", OUTLINED},
    {"body", "frames", "shape", BIT(BODY_MESH)},
    {"body", "frame_first", "shape", BIT(BODY_MESH)},
    {"body", "frame_count", "shape", BIT(BODY_MESH)},
    {"body", "frame_rate", "shape", BIT(BODY_MESH)},
    {"body", "profile", "shape", BIT(BODY_REVOLVE)},
    {"body", "scale", "shape", BIT(BODY_MESH) | BIT(BODY_RIG)},
    {"body", "repair", "shape", BIT(BODY_MESH)},
    {"body", "sdf_resolution", "shape", SURFACES},
    {"body", "sdf_resolution", "mesh_size", ANY},
    {"body", "sdf_resolution", "distance", BIT(DISTANCE_GRID)},
    {"body", "sdf_padding", "shape", SURFACES},
    {"body", "sdf_padding", "mesh_size", ANY},
    {"body", "rig", "shape", BIT(BODY_RIG)},
    {"body", "edge_length", "shape", BIT(BODY_RIG)},
    {"body", "distance", "shape", BIT(BODY_RIG)},
    {"body", "networks", "distance", BIT(DISTANCE_NEURAL)},
    {"body", "regions", "distance", BIT(DISTANCE_NEURAL)},
    {"body", "gradient", "distance", BIT(DISTANCE_NEURAL)},
    {"body", "angles", "shape", BIT(BODY_RIG)},
    {"body", "animation", "shape", BIT(BODY_RIG)},
    {"body", "animation_file", "shape", BIT(BODY_RIG)},
    {"body", "animation_start", "animation", ANY},
    {"body", "animation_start", "animation_file", ANY},
    {"body", "animation_ease", "animation", ANY},
    {"body", "animation_ease", "animation_file", ANY},
    {"body", "animation_speed", "animation", ANY},
    {"body", "animation_speed", "animation_file", ANY},
    {"body", "animation_loop", "animation", ANY},
    {"body", "animation_loop", "animation_file", ANY},
    {"body", "copy_spacing", "copies", ANY},
    {"body", "copy_jitter", "copies", ANY},
};
enum { NUM_EFFECTS = sizeof effects / sizeof *effects };

int build_effect_known(const char *section, const char *key)
{
  for (int k = 0; k < NUM_EFFECTS; ++k)
    if (strcmp(effects[k].section, section) == 0 && strcmp(effects[k].key, key) == 0) return 1;
  return 0;
}

static uint32_t get_effect_choices(const struct effect *e)
{
  uint32_t bits = BIT(BODY_REVOLVE);
  if (e->with != OUTLINED) return e->with;
  for (int i = 0; i < BODY_NUM_CLOSED; ++i)
    if (body_kind_at(i)->outline != NULL) bits |= BIT(i);
  return bits;
}

static int is_default(const loom_param *p, const void *settings, const void *defaults)
{
  static const size_t sizes[] = {
      [LOOM_P_REAL] = sizeof(double),     [LOOM_P_INT] = sizeof(int64_t),
      [LOOM_P_BOOL] = sizeof(int32_t),    [LOOM_P_ENUM] = sizeof(int32_t),
      [LOOM_P_VEC3] = 3 * sizeof(double), [LOOM_P_VEC4] = 4 * sizeof(double)};
  const char *const a = (const char *)settings + p->offset;
  const char *const b = (const char *)defaults + p->offset;
  if (p->type != LOOM_P_TEXT && p->type != LOOM_P_PATH) return memcmp(a, b, sizes[p->type]) == 0;
  const char *x, *y;
  memcpy(&x, a, sizeof x);
  memcpy(&y, b, sizeof y);
  return strcmp(x != NULL ? x : "", y != NULL ? y : "") == 0;
}

static const loom_param *find_param(const char *section, const char *key)
{
  scene_table own[SCENE_OWN_TABLES];
  for (int t = 0, num = scene_own_tables(section, own); t < num; ++t)
    for (uint32_t k = 0; k < own[t].count; ++k)
      if (strcmp(own[t].params[k].key, key) == 0) return &own[t].params[k];
  return NULL;
}

/* 1: a list (`pins`, `where`, `copies`) is not empty, `none` or `1 1 1`. */
static int names_something(const char *text)
{
  words w;
  int64_t n;
  words_start(&w, text);
  while (!words_at_end(&w))
    if (words_int(&w, &n) ? n != 1 || strcmp(text, "1 1 1") != 0
                          : words_next(&w) && strcmp(w.word, "none") != 0)
      return 1;
  return 0;
}

/* The chosen value as a bit of effect.with. */
static uint32_t get_chosen_bit(const loom_param *p, const void *settings)
{
  const char *const at = (const char *)settings + p->offset;
  int32_t i;
  double v;
  const char *text;
  switch (p->type) {
  case LOOM_P_ENUM:
    memcpy(&i, at, sizeof i);
    return BIT(i);
  case LOOM_P_REAL:
    memcpy(&v, at, sizeof v);
    return v > 0 ? ANY : 1u;
  default:
    memcpy(&text, at, sizeof text);
    return names_something(text) ? ANY : 1u;
  }
}

static void append_effect_text(char *text, size_t len, const char *more, size_t n)
{
  const size_t used = strlen(text);
  snprintf(text + used, len - used, "%.*s", (int)n, more);
}

/* "shape = mesh or revolve", "mesh_size above 0", "pins" */
static void describe_row(uint32_t with, const loom_param *p, char *text, size_t len)
{
  int left = 0, first = 1, i = 0;
  append_effect_text(text, len, p->key, strlen(p->key));
  if (p->type == LOOM_P_REAL) append_effect_text(text, len, " above 0", 8);
  if (p->type != LOOM_P_ENUM) return;
  for (uint32_t bits = with; bits != 0; bits &= bits - 1) ++left;
  for (const char *c = p->choices; c != NULL; ++i) {
    const size_t n = strcspn(c, "|");
    if (with >> i & 1) {
      const char *const mark = first ? " = " : left > 1 ? ", " : " or ";
      append_effect_text(text, len, mark, strlen(mark));
      append_effect_text(text, len, c, n);
      first = 0;
      --left;
    }
    c = c[n] == '|' ? c + n + 1 : NULL;
  }
}

/* A key without effect, which was given beside the choice that takes it from it (a note, *dropped
 * becomes 1) or with it (an error). */
static loom_status without_effect(builder *b, const cfg_section *sec, const char *key, int beside,
                                  const char *takes, int *dropped)
{
  char place[1024];
  cfg_place(sec, key, place, sizeof place);
  if (beside) {
    *dropped = 1;
    cfg_drop(sec, key);
    return build_note(b, "%s has no effect: it takes %s", place, takes);
  }
  return build_place(
      b, sec, key,
      err_set(b->err, LOOM_E_CONFIG, "has no effect: it takes %s; leave it out", takes));
}

/* One key, of which row k is the first; *dropped becomes 1 if it was taken out. */
static loom_status check_key(builder *b, const cfg_section *sec, const char *section, int k,
                             const void *settings, const void *defaults, int *dropped)
{
  const char *const key = effects[k].key;
  char takes[256] = "";
  int beside = 0;
  if (is_default(find_param(section, key), settings, defaults)) return LOOM_OK;
  for (int r = k; r < NUM_EFFECTS && strcmp(effects[r].section, section) == 0 &&
                  strcmp(effects[r].key, key) == 0;
       ++r) {
    const struct effect *const e = &effects[r];
    const loom_param *const p = find_param(section, e->choice);
    const int given = cfg_given(sec, key, e->choice);
    const uint32_t with = get_effect_choices(e);
    if (given == CFG_GIVEN_NOT || (with & get_chosen_bit(p, settings)) != 0) return LOOM_OK;
    if (r > k) append_effect_text(takes, sizeof takes, ", or ", 5);
    describe_row(with, p, takes, sizeof takes);
    beside |= given == CFG_GIVEN_BESIDE;
  }
  return without_effect(b, sec, key, beside, takes, dropped);
}

loom_status build_check_effects(builder *b, const cfg_section *sec, const char *section,
                                void *settings)
{
  union {
    cloth_settings cloth;
    solid_settings solid;
    yarn_settings yarn;
    pin_settings pin;
    body_settings body;
  } defaults;
  scene_table own[SCENE_OWN_TABLES];
  int dropped = 0;
  const int num = scene_own_tables(section, own);
  for (int t = 0; t < num; ++t) cfg_defaults(own[t].params, own[t].count, &defaults);
  for (int k = 0; k < NUM_EFFECTS; ++k) {
    if (strcmp(effects[k].section, section) != 0) continue;
    if (k > 0 && strcmp(effects[k - 1].section, section) == 0 &&
        strcmp(effects[k - 1].key, effects[k].key) == 0)
      continue;
    LOOM_TRY(check_key(b, sec, section, k, settings, &defaults, &dropped));
  }
  for (int t = 0; t < num && dropped; ++t)
    LOOM_TRY(cfg_bind(b->err, sec, own[t].params, own[t].count, settings));
  return LOOM_OK;
}

loom_status build_check_elem_effects(builder *b, const object *o, const scene_table *t,
                                     int *dropped)
{
  elem_settings defaults;
  char takes[256];
  for (int i = 0; i < elem_count(); ++i)
    if (elem_settings_of(i) == t->elem && build_has(o, i)) return LOOM_OK;
  cfg_defaults(t->params, t->count, &defaults);
  build_model_takes(t->elem, takes, sizeof takes);
  for (uint32_t k = 0; k < t->count; ++k) {
    const char *const key = t->params[k].key;
    const int given = cfg_given(o->sec, key, "model");
    if (given == CFG_GIVEN_NOT || is_default(&t->params[k], &o->elem[t->elem], &defaults)) continue;
    LOOM_TRY(without_effect(b, o->sec, key, given == CFG_GIVEN_BESIDE, takes, dropped));
  }
  return LOOM_OK;
}

/* Key p of kind i, which the body's own kind has not. */
static loom_status check_kind_key(builder *b, const cfg_section *sec, int i, const loom_param *p)
{
  const body_kind *const kind = body_kind_at(i);
  const int given = cfg_given(sec, p->key, "shape");
  body_keys own, defaults;
  char takes[256] = "";
  uint32_t with = 0;
  int dropped = 0;
  if (given == CFG_GIVEN_NOT) return LOOM_OK;
  cfg_defaults(kind->params, kind->num_params, &defaults);
  LOOM_TRY(cfg_bind(b->err, sec, kind->params, kind->num_params, &own));
  if (is_default(p, &own, &defaults)) return LOOM_OK;
  for (int k = 0; k < BODY_NUM_CLOSED; ++k)
    if (body_kind_param(k, p->key) != NULL) with |= BIT(k);
  describe_row(with, find_param("body", "shape"), takes, sizeof takes);
  LOOM_TRY(without_effect(b, sec, p->key, given == CFG_GIVEN_BESIDE, takes, &dropped));
  return dropped ? cfg_bind(b->err, sec, kind->params, kind->num_params, &own) : LOOM_OK;
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
