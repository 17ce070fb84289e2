/* friction.c - see friction.h. */
#include "scene/objects/friction.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config/words.h"
#include "loom/plugin.h"
#include "scene/base/build.h"

struct scene_friction {
  loom_pair_friction pub;
  int num;
  fit_friction *rows; /* [num] */
};

static const char *const kinds[OBJECT_KINDS] = {"cloth", "solid", "yarn"};

void friction_free(scene_data *s)
{
  scene_friction *const f = s->friction;
  if (f == NULL) return;
  buf_free(s->m, f->pub.mu);
  free(f->rows);
  free(f);
  s->friction = NULL;
}

int friction_rows(const scene_data *s, const fit_friction **rows)
{
  *rows = s->friction != NULL ? s->friction->rows : NULL;
  return s->friction != NULL ? s->friction->num : 0;
}

/* ---- names ---- */

/* One side of a pair: an object, or bodies; neither: no section has the name. */
typedef struct side {
  int object;     /* -1: none */
  char body[256]; /* NAME of [body.NAME]; "": none */
} side;

static int is_body(const side *s) { return s->body[0] != '\0'; }

/* Obstacle `name` comes of [body.`section`]: it is the body itself or one of its copies NAME_k,
 * which have no section of their own. */
static int is_body_of(const cfg *c, const char *name, const char *section)
{
  const size_t len = strlen(section);
  char own[4096];
  if (strncmp(name, section, len) != 0) return 0;
  if (name[len] == '\0') return 1;
  if (name[len] != '_' || strspn(name + len + 1, "0123456789") != strlen(name + len + 1)) return 0;
  snprintf(own, sizeof own, "body.%s", name);
  return cfg_find(c, own) == NULL;
}

static int count_bodies_of(const builder *b, const char *name)
{
  int num = 0;
  for (int k = 0; k < b->s->pub.num_obstacles; ++k)
    num += is_body_of(b->c, b->s->obstacles[k].name, name);
  return num;
}

static side find_side(const builder *b, const char *name)
{
  side s = {.object = -1, .body = ""};
  const char *const dot = strchr(name, '.');
  if (dot == NULL) return s;
  for (int k = 0; k < b->num_objects; ++k) {
    const char *const kind = kinds[b->objects[k].kind];
    if (strncmp(name, kind, strlen(kind)) == 0 && name + strlen(kind) == dot &&
        strcmp(b->objects[k].name, dot + 1) == 0)
      s.object = k;
  }
  if (strncmp(name, "body.", 5) == 0 && count_bodies_of(b, dot + 1) > 0)
    snprintf(s.body, sizeof s.body, "%s", dot + 1);
  return s;
}

/* The error that no section has the name, with the nearest one that there is. */
static loom_status refuse_name(builder *b, const cfg_section *sec, const char *name)
{
  const int most = b->num_objects + b->s->pub.num_obstacles;
  char(*text)[256];
  const char **names;
  LOOM_TRY(mesh_alloc(b->err, most, sizeof *text, &text));
  const loom_status s = mesh_alloc(b->err, most, sizeof *names, &names);
  if (s != LOOM_OK) {
    free(text);
    return s;
  }
  int num = 0;
  for (int k = 0; k < b->num_objects; ++k, ++num)
    snprintf(text[num], sizeof text[num], "%s.%s", kinds[b->objects[k].kind], b->objects[k].name);
  for (const cfg_section *c = NULL; num < most && (c = cfg_next(b->c, "body", c)) != NULL; ++num)
    snprintf(text[num], sizeof text[num], "%s", cfg_section_name(c));
  for (int k = 0; k < num; ++k) names[k] = text[k];
  char list[600];
  err_names(list, sizeof list, name, names, num);
  err_set(b->err, LOOM_E_CONFIG, "there is no \"%s\"; there is %s", name, list);
  free(names);
  free(text);
  return build_place(b, sec, "between", LOOM_E_CONFIG);
}

/* ---- rows ---- */

/* Kinds of pairs by which the two meet. */
static uint32_t kinds_between(const builder *b, const side *one, const side *two)
{
  if (is_body(one) || is_body(two)) return LOOM_PAIR_MASK_OBSTACLE;
  const uint32_t yarns = LOOM_BIT(LOOM_PAIR_YY);
  if (b->objects[one->object].kind == OBJECT_YARN && b->objects[two->object].kind == OBJECT_YARN)
    return yarns;
  return LOOM_PAIR_MASK_SELF & ~yarns;
}

/* "A, B" or "A B" as two sides. */
static loom_status read_sides(builder *b, const cfg_section *sec, const char *between, side out[2])
{
  char text[512];
  words w;
  if (strlen(between) >= sizeof text)
    return build_place(b, sec, "between", err_set(b->err, LOOM_E_CONFIG, "the names are too long"));
  snprintf(text, sizeof text, "%s", between);
  for (char *at = text; (at = strchr(at, ',')) != NULL;) *at = ' ';
  words_start(&w, text);
  for (int k = 0; k < 2; ++k) {
    if (!words_next(&w))
      return build_place(
          b, sec, "between",
          err_set(b->err, LOOM_E_CONFIG, "two names are needed, as cloth.sheet, body.ball"));
    out[k] = find_side(b, w.word);
    if (out[k].object < 0 && !is_body(&out[k])) return refuse_name(b, sec, w.word);
  }
  if (!words_at_end(&w))
    return build_place(b, sec, "between",
                       err_set(b->err, LOOM_E_CONFIG, "\"%s\": two names are allowed", between));
  if (!is_body(&out[0]) || !is_body(&out[1])) return LOOM_OK;
  return build_place(b, sec, "between",
                     err_set(b->err, LOOM_E_CONFIG,
                             "%s and %s are both bodies: two bodies have the root of the product "
                             "of their `friction`",
                             out[0].body, out[1].body));
}

static loom_status put_coefficient(builder *b, const cfg_section *sec, loom_real *mu, int row,
                                   int column, double value)
{
  loom_real *const at = &mu[(int64_t)row * b->num_objects + column];
  if (*at >= 0)
    return build_place(b, sec, "between",
                       err_set(b->err, LOOM_E_CONFIG,
                               "the pair has a coefficient by another [friction.NAME], too"));
  *at = (loom_real)value;
  return LOOM_OK;
}

/* The coefficient of one section, into mu [num_objects + num_obstacles][num_objects]. */
static loom_status put_pair(builder *b, const cfg_section *sec, const side s[2], double value,
                            loom_real *mu)
{
  const int body = is_body(&s[0]) ? 0 : 1, n = b->num_objects;
  if (!is_body(&s[body])) {
    LOOM_TRY(put_coefficient(b, sec, mu, s[0].object, s[1].object, value));
    if (s[0].object == s[1].object) return LOOM_OK;
    return put_coefficient(b, sec, mu, s[1].object, s[0].object, value);
  }
  for (int k = 0; k < b->s->pub.num_obstacles; ++k)
    if (is_body_of(b->c, b->s->obstacles[k].name, s[body].body))
      LOOM_TRY(put_coefficient(b, sec, mu, n + k, s[1 - body].object, value));
  return LOOM_OK;
}

static loom_status read_friction(builder *b, const cfg_section *sec, loom_real *mu)
{
  scene_friction *const f = b->s->friction;
  fit_friction *const row = &f->rows[f->num];
  friction_settings set;
  side sides[2] = {{.object = -1}, {.object = -1}};
  LOOM_TRY(cfg_bind(b->err, sec, scene_friction_params, SCENE_FRICTION_PARAMS, &set));
  if (cfg_section_suffix(sec)[0] == '\0')
    return build_place(b, sec, NULL,
                       err_set(b->err, LOOM_E_CONFIG, "needs a name, as [friction.soles]"));
  LOOM_TRY(read_sides(b, sec, set.between, sides));
  if (cfg_text(sec, "mu") == NULL)
    return build_place(b, sec, NULL, err_set(b->err, LOOM_E_CONFIG, "the key mu is missing"));
  LOOM_TRY(put_pair(b, sec, sides, set.mu, mu));
  snprintf(row->section, sizeof row->section, "%s", cfg_section_name(sec));
  row->kinds = kinds_between(b, &sides[0], &sides[1]);
  row->provides =
      row->kinds & LOOM_PAIR_MASK_OBSTACLE ? LOOM_CONT_FRICTION_BODY : LOOM_CONT_FRICTION_CLOTH;
  if ((loom_real)set.mu > f->pub.largest) f->pub.largest = (loom_real)set.mu;
  ++f->num;
  return LOOM_OK;
}

loom_status build_friction(builder *b)
{
  scene_data *const s = b->s;
  const int64_t size = (int64_t)b->num_objects * (b->num_objects + s->pub.num_obstacles);
  int64_t num = 0;
  loom_real *mu;
  for (const cfg_section *c = NULL; (c = cfg_next(b->c, "friction", c)) != NULL;) ++num;
  if (num == 0) return LOOM_OK;
  LOOM_TRY(mesh_alloc(b->err, 1, sizeof *s->friction, &s->friction));
  scene_friction *const f = s->friction;
  f->pub.struct_size = sizeof f->pub;
  LOOM_TRY(mesh_alloc(b->err, num, sizeof *f->rows, &f->rows));
  LOOM_TRY(build_new(b, "friction of pairs", LOOM_REAL, size, &f->pub.mu));
  LOOM_TRY(build_map(b, f->pub.mu, &mu));
  for (int64_t k = 0; k < size; ++k) mu[k] = -1;
  for (const cfg_section *c = NULL; (c = cfg_next(b->c, "friction", c)) != NULL;)
    LOOM_TRY(read_friction(b, c, mu));
  LOOM_TRY(buf_unmap(s->m, f->pub.mu));
  return build_extend(b, LOOM_PAIR_FRICTION, &f->pub);
}
