/* resolved.c - the configuration with all defaults: canonical text, hash, parameter pages. */
#include "config/cfg_internal.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Sections of one kind keep the order of the file (it numbers the vertices); the kinds
 * stand in this order, kinds that are not listed come last by name. */
static const char *const kinds[] = {"run",    "exec",      "stop",    "detect", "filter",
                                    "solver", "collision", "contact", "cloth",  "yarn",
                                    "solid",  "body",      "log"};
enum { NUM_KINDS = sizeof kinds / sizeof kinds[0] };

static int find_section_kind(const char *name)
{
  const size_t n = strcspn(name, ".");
  for (int k = 0; k < NUM_KINDS; ++k)
    if (strlen(kinds[k]) == n && strncmp(kinds[k], name, n) == 0) return k;
  return NUM_KINDS;
}

static int by_kind(const void *pa, const void *pb)
{
  const cfg_section *const a = *(const cfg_section *const *)pa;
  const cfg_section *const b = *(const cfg_section *const *)pb;
  const int ka = find_section_kind(a->name), kb = find_section_kind(b->name);
  if (ka != kb) return ka < kb ? -1 : 1;
  if (ka == NUM_KINDS) {
    const size_t na = strcspn(a->name, "."), nb = strcspn(b->name, ".");
    const int d = strncmp(a->name, b->name, na > nb ? na : nb);
    if (d != 0) return d;
  }
  return a->index - b->index;
}

typedef struct text {
  char *s;
  size_t len, cap;
  int failed;
} text;

static void append_format(text *t, const char *fmt, ...) LOOM_PRINTF(2, 3);
static void append_format(text *t, const char *fmt, ...)
{
  va_list ap;
  va_start(ap, fmt);
  const int n = vsnprintf(NULL, 0, fmt, ap);
  va_end(ap);
  if (t->failed) return;
  if (t->len + (size_t)n + 1 > t->cap) {
    const size_t cap = 2 * (t->len + (size_t)n + 512);
    char *const bigger = realloc(t->s, cap);
    if (bigger == NULL) {
      t->failed = 1;
      return;
    }
    t->s = bigger;
    t->cap = cap;
  }
  va_start(ap, fmt);
  vsnprintf(t->s + t->len, t->cap - t->len, fmt, ap);
  va_end(ap);
  t->len += (size_t)n;
}

static int is_key_bound(const cfg_use *u, const char *key)
{
  for (int i = 0; i < u->num_items; ++i)
    if (strcmp(u->items[i].key, key) == 0) return 1;
  return 0;
}

/* [log] and [exec] change no result, [run] steps and replay do not change the problem. */
int cfg_in_hash(const char *section, const char *key)
{
  if (key != NULL && strcmp(key, "replay_state") == 0) return 0;
  if (strcmp(section, "log") == 0 || strcmp(section, "exec") == 0) return 0;
  return strcmp(section, "run") != 0 || key == NULL ||
         (strcmp(key, "steps") != 0 && strcmp(key, "replay") != 0);
}

static void append_key_line(text *t, const cfg_section *s, const char *key, const char *value,
                            int for_hash)
{
  if (for_hash && !cfg_in_hash(s->name, key)) return;
  append_format(t, "%s =%s%s\n", key, value[0] != '\0' ? " " : "", value);
}

static char *create_canonical_text(cfg *c, int for_hash)
{
  text t = {0};
  const cfg_section **const order = malloc((size_t)(c->num_sections + 1) * sizeof(void *));
  if (order == NULL) return NULL;
  for (int i = 0; i < c->num_sections; ++i) order[i] = c->sections[i];
  if (c->num_sections > 0) qsort(order, (size_t)c->num_sections, sizeof(void *), by_kind);
  append_format(&t, "%s", "");
  for (int i = 0; i < c->num_sections; ++i) {
    const cfg_section *const s = order[i];
    if (for_hash && !cfg_in_hash(s->name, NULL)) continue;
    append_format(&t, "%s[%s]\n", t.len > 0 ? "\n" : "", s->name);
    for (int k = 0; k < s->num_entries; ++k)
      if (!is_key_bound(s->use, s->entries[k].key) && !cfg_entry_unset(s, &s->entries[k])) {
        const char *const value = cfg_quote(c, s->entries[k].value);
        if (value == NULL)
          t.failed = 1;
        else
          append_key_line(&t, s, s->entries[k].key, value, for_hash);
      }
    for (int k = 0; k < s->use->num_items; ++k)
      append_key_line(&t, s, s->use->items[k].key, s->use->items[k].text, for_hash);
  }
  free(order);
  if (!t.failed) return t.s;
  free(t.s);
  return NULL;
}

const char *cfg_resolved(cfg *c)
{
  free(c->resolved);
  c->resolved = create_canonical_text(c, 0);
  return c->resolved;
}

void cfg_hash(cfg *c, char hex[17])
{
  uint64_t h = UINT64_C(14695981039346656037); /* FNV-1a, 64 bit: offset basis and prime */
  char *const t = create_canonical_text(c, 1);
  for (const char *s = t; s != NULL && *s != '\0'; ++s)
    h = (h ^ (unsigned char)*s) * UINT64_C(1099511628211);
  free(t);
  snprintf(hex, 17, "%016" PRIx64, h);
}

int cfg_num_sections(const cfg *c) { return c->num_sections; }
const cfg_section *cfg_section_at(const cfg *c, int i) { return c->sections[i]; }
int cfg_num_keys(const cfg_section *s) { return s->num_entries; }

const char *cfg_key(const cfg_section *s, int i, const char **value)
{
  *value = s->entries[i].value;
  return s->entries[i].key;
}

/* ---- parameter pages ---- */

static const char *range_text(const loom_param *p, char *buf, size_t len)
{
  loom_param bare = *p;
  bare.unit = "1"; /* the unit has a column of its own */
  switch (p->type) {
  case LOOM_P_BOOL:
    return "yes | no";
  case LOOM_P_ENUM:
    return p->choices;
  case LOOM_P_TEXT:
    return p->choices != NULL ? p->choices : "text"; /* usual ones */
  case LOOM_P_PATH:
    return "path";
  default:
    cfg_print_range(&bare, buf, len);
    return buf[0] != '\0' ? buf : "any";
  }
}

static int max_text_width(int now, const char *s)
{
  const int n = (int)strlen(s);
  return n > now ? n : now;
}

static void print_wrapped(FILE *f, const char *s, int indent, int columns)
{
  const int room = columns - indent;
  while (*s != '\0') {
    int n = (int)strlen(s);
    if (n > room) {
      n = room;
      while (n > 1 && s[n] != ' ') --n;
      if (n <= 1) n = (int)strcspn(s, " ");
    }
    fprintf(f, "%*s%.*s\n", indent, "", n, s);
    s += n + (int)strspn(s + n, " ");
  }
}

void cfg_describe(const loom_param *params, uint32_t num_params, void *out)
{
  FILE *const f = out;
  char def[CFG_LINE_MAX], range[128];
  int w[3] = {3, 7, 5};
  for (uint32_t i = 0; i < num_params; ++i) {
    if (params[i].flags & LOOM_P_GONE) continue;
    const char *const d = cfg_default_text(&params[i], def, sizeof def);
    w[0] = max_text_width(w[0], params[i].key);
    w[1] = max_text_width(w[1], d != NULL ? d : "required");
    w[2] = max_text_width(w[2], range_text(&params[i], range, sizeof range));
  }
  for (int k = 0; k < 3; ++k)
    if (w[k] > 32) w[k] = 32;
  if (num_params == 0)
    fprintf(f, "  (none)\n");
  else
    fprintf(f, "  %-*s  %-*s  %-*s  %s\n", w[0], "key", w[1], "default", w[2], "range", "unit");
  for (uint32_t i = 0; i < num_params; ++i) {
    const loom_param *const p = &params[i];
    if (p->flags & LOOM_P_GONE) continue;
    const char *const d = cfg_default_text(p, def, sizeof def);
    fprintf(f, "  %-*s  %-*s  %-*s  %s\n", w[0], p->key, w[1], d == NULL ? "required" : d, w[2],
            range_text(p, range, sizeof range), p->unit != NULL ? p->unit : "1");
    if (p->doc != NULL && p->doc[0] != '\0') print_wrapped(f, p->doc, 6, 100);
  }
}
