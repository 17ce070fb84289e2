/* bind.c - parameter tables fill settings structs; keys that no table has are reported. */
#include "config/cfg_internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct value { /* one parameter's value before it goes into the struct */
  double real, vec[4];
  int64_t integer;
  int32_t index; /* BOOL, ENUM */
  const char *text;
} value;

/* The text of the choice with this index. */
static void choice_text(const char *choices, int32_t index, char *buf, size_t len)
{
  for (; index > 0 && choices != NULL; --index) {
    choices = strchr(choices, '|');
    if (choices != NULL) ++choices;
  }
  snprintf(buf, len, "%.*s", choices != NULL ? (int)strcspn(choices, "|") : 0,
           choices != NULL ? choices : "");
}

static loom_status parse_value(loom_err *err, const loom_param *p, const char *text, value *v)
{
  switch (p->type) {
  case LOOM_P_REAL:
    return cfg_parse_real(err, text, p->unit, &v->real);
  case LOOM_P_INT:
    return cfg_parse_int(err, text, p->unit, &v->integer);
  case LOOM_P_BOOL:
    return cfg_parse_bool(err, text, &v->index);
  case LOOM_P_ENUM:
    return cfg_parse_enum(err, text, p->choices, &v->index);
  case LOOM_P_VEC3:
  case LOOM_P_VEC4:
    return cfg_parse_vec(err, text, p->unit, LOOM_P_NUMBERS(p->type), v->vec);
  case LOOM_P_TEXT:
  case LOOM_P_PATH:
    v->text = text;
    return LOOM_OK;
  default:
    return err_set(err, LOOM_E_INTERNAL, "the parameter table gives it the unknown type %d",
                   (int)p->type);
  }
}

static int value_in_range(const loom_param *p, const value *v)
{
  int in = 1;
  switch (p->type) {
  case LOOM_P_REAL:
    return cfg_in_range(p, v->real);
  case LOOM_P_INT:
    return cfg_in_range(p, (double)v->integer);
  case LOOM_P_VEC3:
  case LOOM_P_VEC4:
    for (int k = 0; k < LOOM_P_NUMBERS(p->type); ++k) in = in && cfg_in_range(p, v->vec[k]);
    return in;
  default:
    return 1;
  }
}

static void store_value(const loom_param *p, const value *v, void *settings)
{
  char *const at = (char *)settings + p->offset;
  switch (p->type) {
  case LOOM_P_REAL:
    memcpy(at, &v->real, sizeof v->real);
    break;
  case LOOM_P_INT:
    memcpy(at, &v->integer, sizeof v->integer);
    break;
  case LOOM_P_BOOL:
  case LOOM_P_ENUM:
    memcpy(at, &v->index, sizeof v->index);
    break;
  case LOOM_P_VEC3:
  case LOOM_P_VEC4:
    memcpy(at, v->vec, (size_t)LOOM_P_NUMBERS(p->type) * sizeof *v->vec);
    break;
  default:
    memcpy(at, &v->text, sizeof v->text);
    break;
  }
}

static void default_value(const loom_param *p, value *v)
{
  loom_err ignored = {0};
  v->real = p->def;
  v->integer = p->type == LOOM_P_INT ? (int64_t)p->def : 0;
  v->index = p->type == LOOM_P_BOOL || p->type == LOOM_P_ENUM ? (int32_t)p->def : 0;
  v->text = p->def_text != NULL ? p->def_text : "";
  if (LOOM_P_NUMBERS(p->type) > 1 && p->def_text != NULL &&
      cfg_parse_vec(&ignored, p->def_text, p->unit, LOOM_P_NUMBERS(p->type), v->vec) != LOOM_OK)
    memset(v->vec, 0, sizeof v->vec); /* registry_check refuses such a table */
}

void cfg_defaults(const loom_param *params, uint32_t num_params, void *settings)
{
  for (uint32_t i = 0; i < num_params; ++i) {
    value v = {0};
    default_value(&params[i], &v);
    store_value(&params[i], &v, settings);
  }
}

static void print_vec(const double *v, int count, char *buf, size_t len)
{
  char t[32];
  size_t used = 0;
  buf[0] = '\0';
  for (int k = 0; k < count && used < len; ++k) {
    cfg_print_real(v[k], t, sizeof t);
    used += (size_t)snprintf(buf + used, len - used, "%s%s", k > 0 ? " " : "", t);
  }
}

static void value_text(const loom_param *p, const value *v, char *buf, size_t len)
{
  switch (p->type) {
  case LOOM_P_REAL:
    cfg_print_real(v->real, buf, len);
    break;
  case LOOM_P_INT:
    snprintf(buf, len, "%lld", (long long)v->integer);
    break;
  case LOOM_P_BOOL:
    snprintf(buf, len, "%s", v->index ? "yes" : "no");
    break;
  case LOOM_P_ENUM:
    choice_text(p->choices, v->index, buf, len);
    break;
  case LOOM_P_VEC3:
  case LOOM_P_VEC4:
    print_vec(v->vec, LOOM_P_NUMBERS(p->type), buf, len);
    break;
  default:
    snprintf(buf, len, "%s", v->text);
    break;
  }
}

const char *cfg_default_text(const loom_param *p, char *buf, size_t len)
{
  value v = {0};
  if ((p->flags & LOOM_P_NO_DEFAULT) != 0) return NULL;
  default_value(p, &v);
  value_text(p, &v, buf, len);
  return buf;
}

static int needs_quotes(const char *text)
{
  const size_t n = strlen(text);
  return n > 0 && (strpbrk(text, ";#") != NULL || strchr(" \t\"'", text[0]) != NULL ||
                   strchr(" \t\\", text[n - 1]) != NULL);
}

const char *cfg_quote(cfg *c, const char *text)
{
  if (!needs_quotes(text)) return text;
  return cfg_printf(c, strchr(text, '"') != NULL ? "'%s'" : "\"%s\"", text);
}

/* A property of the text that no line of a file can hold for cfg_scan to read back; NULL: none. */
static const char *find_unwritable_text(const char *text)
{
  const size_t n = strlen(text);
  for (size_t i = 0; i < n; ++i)
    if ((unsigned char)text[i] < 0x20 || text[i] == 0x7f) return "a control character";
  if (!cfg_utf8_valid(text, n)) return "bytes that are no UTF-8";
  if (n > CFG_VALUE_MAX) return "more than 900 bytes";
  if (!needs_quotes(text)) return NULL;
  if (strchr(text, '\\') != NULL) return "a backslash in text that needs quotes";
  if (strchr(text, '"') != NULL && strchr(text, '\'') != NULL) return "both kinds of quotes";
  return NULL;
}

/* ---- paths ---- */

/* The path as it must stand in a file of the top file's directory. */
static const char *path_text(cfg *c, const char *path)
{
  const char *const dir = c->top->dir;
  size_t n = strlen(dir);
  if (path[0] == '\0' || path[0] == '/' || n == 0 || strcmp(dir, ".") == 0) return path;
  while (n > 1 && dir[n - 1] == '/') --n;
  if (strncmp(path, dir, n) == 0 && path[n] == '/') return path + n + 1;
  /* given by --set, relative to the current directory: climb out of the top directory */
  char here[4096], up[4096] = "";
  const char *rest = dir;
  if (dir[0] == '/' || strstr(dir, "..") != NULL)
    return getcwd(here, sizeof here) != NULL ? cfg_join(c, here, path) : path;
  size_t used = 0;
  while (*rest != '\0' && used + 4 < sizeof up) {
    const size_t part = strcspn(rest, "/");
    if (part > 0 && !(part == 1 && rest[0] == '.')) {
      memcpy(up + used, "../", 4);
      used += 3;
    }
    rest += part + strspn(rest + part, "/");
  }
  return cfg_printf(c, "%s%s", up, path);
}

/* ---- binding ---- */

static loom_status add_item(loom_err *err, const cfg_section *s, const char *key, const char *text)
{
  cfg_use *const u = s->use;
  if (text == NULL) return cfg_nomem(err);
  for (int i = 0; i < u->num_items; ++i)
    if (strcmp(u->items[i].key, key) == 0) {
      u->items[i].text = text;
      return LOOM_OK;
    }
  cfg_item *const list = cfg_grow(s->owner, u->items, u->num_items, sizeof *list);
  if (list == NULL) return cfg_nomem(err);
  u->items = list;
  list[u->num_items++] = (cfg_item){key, text};
  return LOOM_OK;
}

static loom_status add_table(loom_err *err, const cfg_section *s, const loom_param *params,
                             uint32_t num)
{
  cfg_use *const u = s->use;
  cfg_table *const list = cfg_grow(s->owner, u->tables, u->num_tables, sizeof *list);
  if (list == NULL) return cfg_nomem(err);
  u->tables = list;
  list[u->num_tables++] = (cfg_table){params, num};
  u->known = 1;
  return LOOM_OK;
}

/* The value of one parameter; a mistake of the user is reported in `why`. */
static loom_status get_value(loom_err *why, const cfg_section *s, const loom_param *p, value *v)
{
  cfg_entry *const e = cfg_entry_find(s, p->key);
  const int is_text = p->type == LOOM_P_TEXT || p->type == LOOM_P_PATH;
  if (e != NULL) e->used = 1;
  if (e == NULL || (!is_text && cfg_entry_unset(s, e))) {
    if ((p->flags & LOOM_P_NO_DEFAULT) != 0)
      return err_set(why, LOOM_E_CONFIG, "the key is missing and has no default%s%s%s",
                     p->unit != NULL && strcmp(p->unit, "1") != 0 ? "; unit: " : "",
                     p->unit != NULL && strcmp(p->unit, "1") != 0 ? p->unit : "",
                     p->choices != NULL ? "; see `loom describe` for the choices" : "");
    default_value(p, v);
    if (p->type != LOOM_P_PATH) return LOOM_OK;
    v->text = cfg_join(s->owner, s->owner->top->dir, v->text);
    return v->text != NULL ? LOOM_OK : cfg_nomem(why);
  }
  LOOM_TRY(parse_value(why, p, e->value, v));
  if (p->type == LOOM_P_PATH) {
    v->text = cfg_join(s->owner, e->file->dir, v->text);
    if (v->text == NULL) return cfg_nomem(why);
  }
  if (value_in_range(p, v)) return LOOM_OK;
  char range[128];
  cfg_print_range(p, range, sizeof range);
  return err_set(why, LOOM_E_CONFIG, "%.80s is out of range; allowed: %s", e->value, range);
}

loom_status cfg_bind(loom_err *err, const cfg_section *s, const loom_param *params,
                     uint32_t num_params, void *settings)
{
  char place[CFG_PLACE_MAX], buf[CFG_NUMBER_TEXT_MAX];
  int problems = 0;
  LOOM_TRY(add_table(err, s, params, num_params));
  for (uint32_t i = 0; i < num_params; ++i) {
    const loom_param *const p = &params[i];
    loom_err why = {0};
    value v = {0};
    if (p->flags & LOOM_P_GONE) {
      cfg_entry *const e = cfg_entry_find(s, p->key);
      if (e == NULL) continue;
      e->used = 1;
      cfg_report(err, &problems, "%s: the key is no more; %s",
                 cfg_place(s, p->key, place, sizeof place), p->doc);
      continue;
    }
    const loom_status st = get_value(&why, s, p, &v);
    if (st != LOOM_OK && st != LOOM_E_CONFIG)
      return err_set(err, st, "%s: %s", cfg_place(s, p->key, place, sizeof place), why.text);
    if (st != LOOM_OK) {
      cfg_report(err, &problems, "%s: %s", cfg_place(s, p->key, place, sizeof place), why.text);
      continue;
    }
    store_value(p, &v, settings);
    const char *text = NULL;
    if (p->type == LOOM_P_TEXT || p->type == LOOM_P_PATH) {
      text = p->type == LOOM_P_PATH && v.text != NULL ? path_text(s->owner, v.text) : v.text;
      const char *const odd = text != NULL ? find_unwritable_text(text) : NULL;
      if (odd != NULL) {
        cfg_report(
            err, &problems,
            "%s: '%s' holds %s, which the configuration that a log keeps cannot hold; rename "
            "the file or its folder",
            cfg_place(s, p->key, place, sizeof place), text, odd);
        continue;
      }
      if (text != NULL) text = cfg_quote(s->owner, text);
    } else {
      value_text(p, &v, buf, sizeof buf);
      text = cfg_copy(s->owner, buf, strlen(buf));
    }
    LOOM_TRY(add_item(err, s, p->key, text));
  }
  return problems > 0 ? LOOM_E_CONFIG : LOOM_OK;
}

/* ---- unknown sections and keys ---- */

enum { NAMES_MAX = 512 }; /* candidates for a hint */

static void report_key(loom_err *err, int *problems, const cfg_section *s, const cfg_entry *e)
{
  const char *names[NAMES_MAX];
  const cfg_use *const u = s->use;
  int n = 0;
  char place[CFG_PLACE_MAX], list[256] = "";
  for (int t = 0; t < u->num_tables; ++t)
    for (uint32_t i = 0; i < u->tables[t].num && n < NAMES_MAX; ++i)
      if (!(u->tables[t].params[i].flags & LOOM_P_GONE)) names[n++] = u->tables[t].params[i].key;
  for (int i = 0; i < u->num_asked && n < NAMES_MAX; ++i) names[n++] = u->asked[i];
  cfg_place(s, e->key, place, sizeof place);

  const char *const near = err_nearest(e->key, names, n);
  if (near != NULL && strcmp(near, e->key) != 0) {
    cfg_report(err, problems, "%s: unknown key; did you mean '%s'?", place, near);
    return;
  }
  for (int i = 0; i < n; ++i) {
    const size_t used = strlen(list);
    snprintf(list + used, sizeof list - used, "%s%s", i > 0 ? ", " : "", names[i]);
  }
  cfg_report(err, problems, "%s: unknown key; %s%s%s", place,
             n > 0 ? "allowed: " : "the section takes no keys", list,
             strlen(list) + 1 == sizeof list ? "..." : "");
}

static void report_section(loom_err *err, int *problems, const cfg *c, const cfg_section *s)
{
  const char *names[NAMES_MAX];
  char place[CFG_PLACE_MAX], list[256] = "", hint[2 * CFG_LINE_MAX] = "";
  const size_t head = strcspn(s->name, ".");
  const cfg_asked *const a = c->asked;
  int n = 0;
  for (int i = 0; i < a->num && n < NAMES_MAX; ++i) names[n++] = a->names[i].name;

  /* the whole name among the names, or its head among the prefixes */
  char word[CFG_NAME_MAX + 1];
  const char *near = err_nearest(s->name, names, n);
  if (near == NULL && s->name[head] == '.' && head < sizeof word) {
    memcpy(word, s->name, head);
    word[head] = '\0';
    near = err_nearest(word, names, n);
    if (near != NULL) snprintf(hint, sizeof hint, "%s%s", near, s->name + head);
  } else if (near != NULL) {
    snprintf(hint, sizeof hint, "%s", near);
  }
  if (strcmp(hint, s->name) == 0) hint[0] = '\0';
  cfg_place(s, NULL, place, sizeof place);
  if (hint[0] != '\0') {
    cfg_report(err, problems, "%s: unknown section; did you mean [%.200s]?", place, hint);
    return;
  }
  for (int i = 0; i < a->num; ++i) {
    const size_t used = strlen(list);
    snprintf(list + used, sizeof list - used, "%s[%s%s]", i > 0 ? ", " : "", a->names[i].name,
             a->names[i].prefix ? ".NAME" : "");
  }
  cfg_report(err, problems, "%s: unknown section%s%s", place, list[0] != '\0' ? "; allowed: " : "",
             list);
}

/* A key that was unset may be unknown: that may be the reason for unsetting it. */
static int is_override_unset(const cfg_section *s, const cfg_entry *e)
{
  return e->before != NULL && cfg_entry_unset(s, e);
}

loom_status cfg_finish(loom_err *err, const cfg *c)
{
  int problems = 0;
  for (int i = 0; i < c->num_sections; ++i) {
    const cfg_section *const s = c->sections[i];
    if (!s->use->known) {
      report_section(err, &problems, c, s);
      continue;
    }
    for (int k = 0; k < s->num_entries; ++k)
      if (!s->entries[k].used && !is_override_unset(s, &s->entries[k]))
        report_key(err, &problems, s, &s->entries[k]);
  }
  return problems > 0 ? LOOM_E_CONFIG : LOOM_OK;
}
