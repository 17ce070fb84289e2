/* material.c - `material = silk`: physical parameters by name, from materials/silk.ini. */
#include "config/cfg_internal.h"

#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "core/suffix.h"

enum { DIRS = 12, NAMES_MAX = 128 };

/* Names of the materials in a directory, for the hint. */
static int list_names(cfg *c, const char *dir, const char **names, int n)
{
  DIR *const d = opendir(dir[0] != '\0' ? dir : ".");
  if (d == NULL) return n;
  for (struct dirent *e; n < NAMES_MAX && (e = readdir(d)) != NULL;) {
    if (!has_suffix(e->d_name, ".ini")) continue;
    names[n] = cfg_copy(c, e->d_name, strlen(e->d_name) - 4);
    if (names[n] != NULL) ++n;
  }
  closedir(d);
  return n;
}

static loom_status not_found(loom_err *err, cfg *c, const cfg_section *s, const char *name,
                             const char *const *dirs, int num_dirs)
{
  const char *names[NAMES_MAX] = {0};
  char place[CFG_PLACE_MAX], where[1024] = "";
  int n = 0;
  for (int i = 0; i < num_dirs; ++i) {
    const size_t used = strlen(where);
    snprintf(where + used, sizeof where - used, "%s%.200s", i > 0 ? ", " : "", dirs[i]);
    n = list_names(c, dirs[i], names, n);
  }
  const char *const near = err_nearest(name, names, n);
  return err_set(err, LOOM_E_CONFIG,
                 "%s: there is no material '%.80s'%s%s%s; searched: %s; "
                 "LOOM_CONFIG_PATH adds the materials/ of its folders",
                 cfg_place(s, "material", place, sizeof place), name,
                 near != NULL ? "; did you mean '" : "", near != NULL ? near : "",
                 near != NULL ? "'?" : "", where);
}

/* Keys of the section stand above the material's, with one exception: a `model` that another file
 * gave before the material was chosen is that of the material before it. */
static int holds_above_material(const cfg_section *s, const cfg_entry *given)
{
  const cfg_entry *const chosen = cfg_entry_find(s, "material");
  if (given == NULL || cfg_entry_unset(s, given)) return 0;
  return strcmp(given->key, "model") != 0 || given->file == chosen->file ||
         given->order > chosen->order;
}

/* Reads [material] of one file into the section. */
static loom_status read_material(loom_err *err, cfg *c, cfg_section *s, const char *path)
{
  char *text = NULL;
  size_t len = 0;
  cfg_record *rec = NULL;
  int num = 0;
  cfg_file *const f = cfg_alloc(c, sizeof *f);
  if (f == NULL) return cfg_nomem(err);
  *f = (cfg_file){.name = path, .dir = cfg_dirname(c, path)};
  if (f->dir == NULL) return cfg_nomem(err);
  LOOM_TRY(cfg_read_file(err, c, path, &text, &len));
  LOOM_TRY(cfg_scan(err, c, text, len, path, 0, &rec, &num));
  for (int i = 0; i < num; ++i) {
    if (strcmp(rec[i].section, "material") != 0)
      return err_set(err, LOOM_E_CONFIG,
                     "%s:%d: a material file has the one section [material] and no include", path,
                     rec[i].line);
    if (rec[i].key == NULL) continue;
    if (!holds_above_material(s, cfg_entry_find(s, rec[i].key)))
      LOOM_TRY(cfg_entry_put(err, s, rec[i].key, rec[i].value, f, rec[i].line));
  }
  if (num == 0) return err_set(err, LOOM_E_CONFIG, "%s: the section [material] is missing", path);
  return LOOM_OK;
}

loom_status cfg_apply_material(loom_err *err, cfg *c, const cfg_section *s, const char *dir_hint)
{
  static const char *const near_by[] = {"materials", "../materials", "../../materials"};
  const cfg_entry *const e = cfg_entry_find(s, "material");
  const char *const name = cfg_text(s, "material");
  const char *dirs[DIRS];
  char place[CFG_PLACE_MAX], shared[PATH_MAX];
  int num = 0;
  if (name == NULL || name[0] == '\0') return LOOM_OK;
  for (const char *p = name; *p != '\0'; ++p)
    if (strchr("abcdefghijklmnopqrstuvwxyz0123456789_-", *p) == NULL)
      return err_set(err, LOOM_E_CONFIG,
                     "%s: '%.80s' is no material name; allowed: lower-case letters, digits, '_', "
                     "'-': NAME of materials/NAME.ini beside this file or in a folder of "
                     "LOOM_CONFIG_PATH",
                     cfg_place(s, "material", place, sizeof place), name);
  /* --set has no file: its material is looked for beside the top file */
  const char *const base = e->file == c->set ? c->top->dir : e->file->dir;
  for (int i = 0; i < 3; ++i) dirs[num++] = cfg_join(c, base, near_by[i]);
  if (dir_hint != NULL) dirs[num++] = dir_hint;
  for (int k = 0; num < DIRS && cfg_search_dir(k, shared, sizeof shared); ++k)
    dirs[num++] = cfg_printf(c, "%s/materials", shared);
  for (int i = 0; i < num; ++i) {
    const char *const path = dirs[i] != NULL ? cfg_printf(c, "%s/%s.ini", dirs[i], name) : NULL;
    if (path == NULL) return cfg_nomem(err);
    if (access(path, F_OK) == 0) return read_material(err, c, c->sections[s->index], path);
  }
  return not_found(err, c, s, name, dirs, num);
}
