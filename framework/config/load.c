/* load.c - files, includes and --set become one list of sections with places. */
#include "config/cfg_internal.h"
#include "core/read_file.h"

#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

void cfg_report(loom_err *err, int *count, const char *fmt, ...)
{
  char line[CFG_PLACE_MAX + 512];
  va_list ap;
  va_start(ap, fmt);
  vsnprintf(line, sizeof line, fmt, ap);
  va_end(ap);
  if (*count == 0)
    err_set(err, LOOM_E_CONFIG, "%s", line);
  else if (*count < CFG_MESSAGES)
    err_append(err, "%s", line);
  else if (*count == CFG_MESSAGES)
    err_append(err, "... and more");
  ++*count;
}

/* ---- paths ---- */

const char *cfg_dirname(cfg *c, const char *path)
{
  const char *const slash = strrchr(path, '/');
  if (slash == NULL) return "";
  return cfg_copy(c, path, slash == path ? 1 : (size_t)(slash - path));
}

const char *cfg_join(cfg *c, const char *dir, const char *path)
{
  if (path[0] == '/' || path[0] == '\0' || dir[0] == '\0' || strcmp(dir, ".") == 0) return path;
  return cfg_printf(c, "%s%s%s", dir, dir[strlen(dir) - 1] == '/' ? "" : "/", path);
}

loom_status cfg_read_file(loom_err *err, cfg *c, const char *path, char **text, size_t *len)
{
  int64_t size = 0;
  const char *why;
  FILE *const f = read_file_open(path, &size, &why);
  loom_status s = LOOM_OK;
  if (f == NULL)
    s = err_set(err, LOOM_E_CONFIG, "%s: cannot read the file: %s", path, why);
  else if (size > CFG_FILE_MAX)
    s = err_set(err, LOOM_E_CONFIG, "%s: the file has %lld bytes; allowed: up to %d", path,
                (long long)size, CFG_FILE_MAX);
  else if ((*text = cfg_alloc(c, (size_t)size + 1)) == NULL)
    s = cfg_nomem(err);
  else if ((*len = fread(*text, 1, (size_t)size, f)) != (size_t)size)
    s = err_set(err, LOOM_E_IO, "%s: the file changed or failed while it was read", path);
  if (f != NULL) fclose(f);
  return s;
}

/* ---- sections and entries ---- */

static cfg_section *section_find(const cfg *c, const char *name)
{
  for (int i = 0; i < c->num_sections; ++i)
    if (strcmp(c->sections[i]->name, name) == 0) return c->sections[i];
  return NULL;
}

cfg_section *cfg_section_get(cfg *c, const char *name, const cfg_file *f, int line)
{
  cfg_section *s = section_find(c, name);
  if (s != NULL) return s;
  s = cfg_alloc(c, sizeof *s);
  if (s == NULL || (s->use = cfg_alloc(c, sizeof *s->use)) == NULL ||
      (s->name = cfg_copy(c, name, strlen(name))) == NULL)
    return NULL;
  cfg_section **const list = cfg_grow(c, c->sections, c->num_sections, sizeof(cfg_section *));
  if (list == NULL) return NULL;
  c->sections = list;
  const char *const dot = strchr(s->name, '.');
  s->suffix = dot != NULL ? dot + 1 : "";
  s->owner = c;
  s->file = f;
  s->line = line;
  s->index = c->num_sections;
  c->sections[c->num_sections++] = s;
  return s;
}

cfg_entry *cfg_entry_find(const cfg_section *s, const char *key)
{
  for (int i = 0; i < s->num_entries; ++i)
    if (strcmp(s->entries[i].key, key) == 0) return &s->entries[i];
  return NULL;
}

loom_status cfg_entry_put(loom_err *err, cfg_section *s, const char *key, const char *value,
                          const cfg_file *f, int line)
{
  cfg_entry *e = cfg_entry_find(s, key), *before = NULL;
  if (e != NULL) {
    before = cfg_alloc(s->owner, sizeof *before);
    if (before == NULL) return cfg_nomem(err);
    *before = *e;
  } else {
    cfg_entry *const list = cfg_grow(s->owner, s->entries, s->num_entries, sizeof *list);
    if (list == NULL) return cfg_nomem(err);
    s->entries = list;
    e = &list[s->num_entries++];
  }
  *e = (cfg_entry){.key = key,
                   .value = value,
                   .file = f,
                   .line = line,
                   .order = s->owner->num_values++,
                   .before = before};
  return LOOM_OK;
}

int cfg_entry_unset(const cfg_section *s, const cfg_entry *e)
{
  return e->value[0] == '\0' && (e->before != NULL || e->file == s->owner->set);
}

/* ---- files ---- */

static loom_status load_file(loom_err *err, cfg *c, const char *path, const cfg_file *includer,
                             int depth);

/* The path of an included file: beside the file that includes it, else in a folder of the search
 * path. */
static const char *find_include(cfg *c, const cfg_file *f, const char *name)
{
  char found[PATH_MAX];
  const char *const path = cfg_join(c, f->dir, name);
  if (path == NULL || access(path, F_OK) == 0 || !cfg_search_file(name, found, sizeof found))
    return path;
  return cfg_copy(c, found, strlen(found));
}

static loom_status load_text(loom_err *err, cfg *c, const cfg_file *f, const char *text, size_t len,
                             int depth)
{
  cfg_record *rec = NULL;
  int num = 0;
  cfg_section *s = NULL;
  LOOM_TRY(cfg_scan(err, c, text, len, f->name, f->includer == NULL, &rec, &num));
  for (int i = 0; i < num; ++i) {
    if (rec[i].section[0] == '\0') {
      if (rec[i].value[0] == '\0')
        return err_set(err, LOOM_E_CONFIG, "%s:%d: include: the path is missing", f->name,
                       rec[i].line);
      const char *const path = find_include(c, f, rec[i].value);
      if (path == NULL) return cfg_nomem(err);
      const loom_status st = load_file(err, c, path, f, depth + 1);
      if (st != LOOM_OK) {
        if (depth < 3)
          err_append(err, "included at %s:%d%s", f->name, rec[i].line,
                     access(path, F_OK) != 0 ? ", where LOOM_CONFIG_PATH adds folders to look in"
                                             : "");
        return st;
      }
    } else if (rec[i].key == NULL) {
      s = cfg_section_get(c, rec[i].section, f, rec[i].line);
      if (s == NULL) return cfg_nomem(err);
    } else if (s != NULL) { /* always: a key has its header before it */
      LOOM_TRY(cfg_entry_put(err, s, rec[i].key, rec[i].value, f, rec[i].line));
    }
  }
  return LOOM_OK;
}

static loom_status load_file(loom_err *err, cfg *c, const char *path, const cfg_file *includer,
                             int depth)
{
  struct stat st;
  char *text = NULL;
  size_t len = 0;
  LOOM_TRY(cfg_read_file(err, c, path, &text, &len));
  if (stat(path, &st) != 0) return err_set(err, LOOM_E_IO, "%s: %s", path, strerror(errno));
  for (const cfg_file *f = includer; f != NULL; f = f->includer)
    if (f->dev == st.st_dev && f->ino == st.st_ino && f->ino != 0)
      return err_set(err, LOOM_E_CONFIG, "%s: the file includes itself; remove one include", path);
  if (depth > CFG_INCLUDE_DEPTH || ++c->num_files > CFG_INCLUDE_TOTAL)
    return err_set(err, LOOM_E_CONFIG,
                   "%s: includes are nested more than %d deep or more than %d in number", path,
                   CFG_INCLUDE_DEPTH, CFG_INCLUDE_TOTAL);

  cfg_file *const f = cfg_alloc(c, sizeof *f);
  if (f == NULL) return cfg_nomem(err);
  *f = (cfg_file){cfg_copy(c, path, strlen(path)), cfg_dirname(c, path), includer, st.st_dev,
                  st.st_ino};
  if (f->name == NULL || f->dir == NULL) return cfg_nomem(err);
  if (c->top == NULL) c->top = f;
  return load_text(err, c, f, text, len, depth);
}

/* ---- --set ---- */

/* A new [cloth.sheeet] beside the file's [cloth.sheet] is a misspelling: without this check it
 * would become a second cloth.  Short suffixes (a, b, 1, 2) are near to each other by nature and
 * are accepted. */
static loom_status check_new_section(loom_err *err, const cfg *c, const char *name, const char *set)
{
  const char *const dot = strchr(name, '.');
  if (dot == NULL || strlen(dot + 1) <= 3 || section_find(c, name) != NULL) return LOOM_OK;
  for (int i = 0; i < c->num_sections; ++i) {
    const char *const have = c->sections[i]->name;
    if (c->sections[i]->line > 0 && strncmp(have, name, (size_t)(dot + 1 - name)) == 0 &&
        err_nearest(dot + 1, &c->sections[i]->suffix, 1) != NULL)
      return err_set(err, LOOM_E_CONFIG,
                     "--set %s: there is no section [%s]; did you mean [%s]? A new section with a "
                     "name so near to it must be written into the file",
                     set, name, have);
  }
  return LOOM_OK;
}

static loom_status apply_set(loom_err *err, cfg *c, const char *set)
{
  const char *const eq = strchr(set, '='), *dot = eq, *value = eq != NULL ? eq + 1 : NULL;
  while (dot != NULL && dot > set && *dot != '.') --dot;
  if (eq == NULL || *dot != '.')
    return err_set(err, LOOM_E_CONFIG, "--set %s: write --set section.key=value", set);
  if (!cfg_section_valid(set, (size_t)(dot - set)))
    return err_set(err, LOOM_E_CONFIG,
                   "--set %s: '%.*s' is no section name; write --set section.key=value", set,
                   (int)(dot - set), set);
  if (!cfg_key_valid(dot + 1, (size_t)(eq - dot - 1)))
    return err_set(err, LOOM_E_CONFIG, "--set %s: '%.*s' is no key; write --set section.key=value",
                   set, (int)(eq - dot - 1), dot + 1);

  size_t n = strlen(value);
  if (n >= 2 && (value[0] == '"' || value[0] == '\'') && value[n - 1] == value[0]) ++value, n -= 2;
  if (n > CFG_LINE_MAX / 2 || !cfg_utf8_valid(value, n))
    return err_set(err, LOOM_E_CONFIG,
                   "--set %.80s...: the value is longer than %d bytes or not "
                   "valid UTF-8",
                   set, CFG_LINE_MAX / 2);
  for (size_t i = 0; i < n; ++i)
    if ((unsigned char)value[i] < 0x20 || value[i] == 0x7f || value[i] == '\\')
      return err_set(err, LOOM_E_CONFIG,
                     "--set %s: the value holds a control character or a backslash", set);
  if (memchr(value, '"', n) != NULL && memchr(value, '\'', n) != NULL)
    return err_set(err, LOOM_E_CONFIG, "--set %s: the value mixes both kinds of quotes", set);
  while (n > 0 && value[0] == ' ') ++value, --n;
  while (n > 0 && value[n - 1] == ' ') --n;

  const char *const name = cfg_copy(c, set, (size_t)(dot - set));
  const char *const key = cfg_copy(c, dot + 1, (size_t)(eq - dot - 1));
  const char *const text = cfg_copy(c, value, n);
  if (name == NULL || key == NULL || text == NULL) return cfg_nomem(err);
  LOOM_TRY(check_new_section(err, c, name, set));
  cfg_section *const s = cfg_section_get(c, name, c->set, 0);
  if (s == NULL) return cfg_nomem(err);
  return cfg_entry_put(err, s, key, text, c->set, 0);
}

/* ---- the public side ---- */

static cfg *new_cfg(void)
{
  cfg *const c = calloc(1, sizeof *c);
  if (c == NULL) return NULL;
  cfg_file *const set = cfg_alloc(c, sizeof *set);
  c->asked = cfg_alloc(c, sizeof *c->asked);
  if (set == NULL || c->asked == NULL) {
    cfg_free(c);
    return NULL;
  }
  *set = (cfg_file){.name = "--set", .dir = ""};
  c->set = set;
  return c;
}

/* Applies the overrides to the loaded files, or gives up with status s. */
static loom_status finish_load(loom_err *err, loom_status s, cfg *c, const char *const *sets,
                               int num_sets, cfg **out)
{
  for (int i = 0; i < num_sets && s == LOOM_OK; ++i) s = apply_set(err, c, sets[i]);
  if (s == LOOM_OK)
    *out = c;
  else
    cfg_free(c);
  return s;
}

loom_status cfg_load(loom_err *err, const char *path, const char *const *sets, int num_sets,
                     cfg **out)
{
  cfg *const c = new_cfg();
  *out = NULL;
  if (c == NULL) return cfg_nomem(err);
  return finish_load(err, load_file(err, c, path, NULL, 0), c, sets, num_sets, out);
}

loom_status cfg_parse(loom_err *err, const char *text, const char *name, const char *dir,
                      const char *const *sets, int num_sets, cfg **out)
{
  cfg *const c = new_cfg();
  cfg_file *const f = c != NULL ? cfg_alloc(c, sizeof *f) : NULL;
  *out = NULL;
  if (c == NULL) return cfg_nomem(err);
  if (f != NULL)
    *f = (cfg_file){.name = cfg_copy(c, name, strlen(name)), .dir = cfg_copy(c, dir, strlen(dir))};
  c->top = f;
  const int fine = f != NULL && f->name != NULL && f->dir != NULL;
  return finish_load(err, fine ? load_text(err, c, f, text, strlen(text), 0) : cfg_nomem(err), c,
                     sets, num_sets, out);
}

void cfg_free(cfg *c)
{
  if (c == NULL) return;
  cfg_free_memory(c);
  free(c->resolved);
  free(c);
}

const char *cfg_path(const cfg *c) { return c->top->name; }

/* Remembers the name for hints; a failed allocation only costs the hint. */
static void record_asked_name(const cfg *c, const char *name, int prefix)
{
  cfg_asked *const a = c->asked;
  for (int i = 0; i < a->num; ++i)
    if (a->names[i].prefix == prefix && strcmp(a->names[i].name, name) == 0) return;
  cfg *const owner = (cfg *)c; /* memory only: the configuration itself is not changed */
  char *const copy = cfg_copy(owner, name, strlen(name));
  cfg_asked_name *const list = cfg_grow(owner, a->names, a->num, sizeof *list);
  if (copy == NULL || list == NULL) return;
  a->names = list;
  list[a->num++] = (cfg_asked_name){copy, prefix};
}

const cfg_section *cfg_find(const cfg *c, const char *name)
{
  record_asked_name(c, name, 0);
  cfg_section *const s = section_find(c, name);
  if (s != NULL) s->use->known = 1;
  return s;
}

const cfg_section *cfg_next(const cfg *c, const char *prefix, const cfg_section *prev)
{
  const size_t n = strlen(prefix);
  if (prev == NULL) record_asked_name(c, prefix, 1);
  for (int i = prev != NULL ? prev->index + 1 : 0; i < c->num_sections; ++i) {
    cfg_section *const s = c->sections[i];
    if (strncmp(s->name, prefix, n) == 0 && (s->name[n] == '\0' || s->name[n] == '.')) {
      s->use->known = 1;
      return s;
    }
  }
  return NULL;
}

const cfg_section *cfg_need(cfg *c, const char *name)
{
  cfg_section *const s = cfg_section_get(c, name, c->top, 0);
  record_asked_name(c, name, 0);
  if (s != NULL) s->use->known = 1;
  return s;
}

const char *cfg_section_name(const cfg_section *s) { return s->name; }
const char *cfg_section_suffix(const cfg_section *s) { return s->suffix; }

const char *cfg_text(const cfg_section *s, const char *key)
{
  cfg_entry *const e = cfg_entry_find(s, key);
  cfg_use *const u = s->use;
  u->known = 1;
  int i = 0;
  while (i < u->num_asked && strcmp(u->asked[i], key) != 0) ++i;
  if (i == u->num_asked) {
    char *const copy = cfg_copy(s->owner, key, strlen(key));
    const char **const list = cfg_grow(s->owner, u->asked, i, sizeof(char *));
    if (copy != NULL && list != NULL) {
      u->asked = list;
      list[u->num_asked++] = copy;
    }
  }
  if (e == NULL) return NULL;
  e->used = 1;
  return e->value;
}

const char *cfg_place(const cfg_section *s, const char *key, char *buf, size_t len)
{
  const cfg_entry *const e = key != NULL ? cfg_entry_find(s, key) : NULL;
  const cfg_file *const f = e != NULL ? e->file : s->file;
  const int line = e != NULL ? e->line : s->line;
  char number[24] = "";
  if (line > 0) snprintf(number, sizeof number, ":%d", line);
  snprintf(buf, len, "%s%s: [%s]%s%s", f->name, number, s->name, key != NULL ? " " : "",
           key != NULL ? key : "");
  return buf;
}
