/* registry.c - plugin directories are scanned, files opened and checked, names looked up. */
#define _GNU_SOURCE /* dladdr */
#include "core/registry.h"

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/crash.h"
#include "core/elf_check.h"

enum { DIRS_MAX = 64, QUERY_MAX = 16 };

struct registry {
  reg_entry *entry; /* [num] in the order of directories and file names */
  int num, cap;
  char *dir[DIRS_MAX]; /* [num_dirs] canonical */
  int num_dirs;
  char searched[4096]; /* what the messages say was searched */
  void **widened;      /* [num_widened] copies of tables of older plugins */
  int num_widened;
};

const char *registry_kind_name(int kind)
{
  static const char *const names[] = {"solver", "collision", "contact"};
  return kind >= 0 && kind < LOOM_NUM_KINDS ? names[kind] : "unknown";
}

/* ---- one file ---------------------------------------------------------------------------- */

/* Open a file and find its query function; `canonical` is its realpath. */
static loom_status open_file(loom_err *err, const char *canonical, loom_plugin_query_fn *query)
{
  LOOM_TRY(elf_check(err, canonical));
  crash_place place = {.plugin = canonical}; /* constructors run */
  crash_enter(&place);
  void *const handle = dlopen(canonical, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  crash_leave(&place);
  if (handle == NULL) {
    const char *text = dlerror();
    const size_t n = strlen(canonical);
    if (strncmp(text, canonical, n) == 0) text += n + strspn(text + n, ": "); /* place is known */
    return err_set(err, LOOM_E_ABI, "cannot be loaded: %s", text);
  }
  void *const symbol = dlsym(handle, "loom_plugin_query");
  Dl_info from = {0};
  char real[PATH_MAX] = "";
  loom_status s = LOOM_OK;
  if (symbol == NULL) s = err_set(err, LOOM_E_ABI, "not a plugin: it exports no loom_plugin_query");
  /* dlsym also looks into the libraries the file depends on */
  else if (dladdr(symbol, &from) == 0 || from.dli_fname == NULL ||
           realpath(from.dli_fname, real) == NULL || strcmp(real, canonical) != 0)
    s = err_set(err, LOOM_E_ABI, "not a plugin: its loom_plugin_query comes from %s",
                real[0] != '\0' ? real : "an unknown file");
  memcpy(query, &symbol, sizeof symbol); /* no cast from object to function pointer in C */
  dlclose(handle);                       /* stays mapped: RTLD_NODELETE */
  return s;
}

/* "/a/b/name.so" -> "name"; 0 if it does not end in .so */
static int stem(const char *path, char *name, size_t len)
{
  const char *const slash = strrchr(path, '/'), *const base = slash != NULL ? slash + 1 : path;
  const size_t n = strlen(base);
  if (n <= 3 || strcmp(base + n - 3, ".so") != 0 || n - 3 >= len) return 0;
  memcpy(name, base, n - 3);
  name[n - 3] = '\0';
  return 1;
}

/* The descriptor with this index of an opened file, checked; *out NULL behind the last one. */
static loom_status query_one(loom_err *err, loom_plugin_query_fn query, uint32_t index,
                             const char *name, const loom_plugin **out)
{
  crash_place place = {.plugin = name, .callback = "loom_plugin_query"};
  *out = NULL;
  crash_enter(&place);
  const loom_plugin *const p = query != NULL ? query(LOOM_ABI, index) : NULL;
  crash_leave(&place);
  if (p == NULL) return index > 0 ? LOOM_OK : registry_check(err, NULL);
  LOOM_TRY(registry_check(err, p));
  if (strcmp(p->name, name) != 0)
    return err_set(err, LOOM_E_ABI, "the plugin is called '%s', so the file must be %s.so", p->name,
                   p->name);
  *out = p;
  return LOOM_OK;
}

loom_status registry_probe(loom_err *err, const char *path, const loom_plugin **out)
{
  char canonical[PATH_MAX], name[256];
  loom_plugin_query_fn query = NULL;
  *out = NULL;
  loom_status s = LOOM_OK;
  if (!stem(path, name, sizeof name))
    s = err_set(err, LOOM_E_ABI, "a plugin's file is called NAME.so");
  else if (realpath(path, canonical) == NULL)
    s = err_set(err, LOOM_E_IO, "cannot read it: %s", strerror(errno));
  else
    s = open_file(err, canonical, &query);
  if (s == LOOM_OK) s = query_one(err, query, 0, name, out);
  if (s != LOOM_OK) err_prefix(err, "%s", path);
  return s;
}

/* ---- entries -------------------------------------------------------------------------------- */

static reg_entry *add_entry(registry *r, const char *path)
{
  if (r->num == r->cap) {
    const int cap = r->cap > 0 ? 2 * r->cap : 32;
    reg_entry *const bigger = realloc(r->entry, (size_t)cap * sizeof *bigger);
    if (bigger == NULL) return NULL;
    r->entry = bigger;
    r->cap = cap;
  }
  reg_entry *const e = &r->entry[r->num++];
  memset(e, 0, sizeof *e);
  snprintf(e->path, sizeof e->path, "%.*s", (int)sizeof e->path - 1, path);
  return e;
}

static loom_status nomem(loom_err *err)
{
  return err_set(err, LOOM_E_NOMEM, "out of memory while plugins were looked up");
}

static loom_status refuse(loom_err *err, registry *r, const char *path, const char *fmt, ...)
    LOOM_PRINTF(4, 5);
static loom_status refuse(loom_err *err, registry *r, const char *path, const char *fmt, ...)
{
  reg_entry *const e = add_entry(r, path);
  va_list ap;
  if (e == NULL) return nomem(err);
  va_start(ap, fmt);
  vsnprintf(e->why, sizeof e->why, fmt, ap);
  va_end(ap);
  return LOOM_OK;
}

static void *keep(registry *r, size_t size)
{
  void **const list = realloc(r->widened, (size_t)(r->num_widened + 1) * sizeof(void *));
  if (list == NULL) return NULL;
  r->widened = list;
  void *const p = calloc(1, size);
  if (p != NULL) list[r->num_widened++] = p;
  return p;
}

static size_t ops_size(int kind)
{
  return kind == LOOM_KIND_SOLVER      ? sizeof(loom_solver_ops)
         : kind == LOOM_KIND_COLLISION ? sizeof(loom_collision_ops)
                                       : sizeof(loom_contact_ops);
}

/* A plugin of an older minor version has shorter tables: give the core full ones whose tails
 * are zero.  struct_size keeps the plugin's number, so LOOM_HAS still tells the truth. */
static const loom_plugin *widen(registry *r, const loom_plugin *p)
{
  const size_t full = ops_size(p->kind);
  uint32_t have = 0;
  memcpy(&have, p->ops.any, sizeof have); /* struct_size, the first member of every table */
  if (have >= full && p->struct_size >= sizeof *p) return p;
  loom_plugin *const q = keep(r, sizeof *q);
  void *const ops = keep(r, full);
  if (q == NULL || ops == NULL) return NULL;
  memcpy(q, p, p->struct_size < sizeof *q ? p->struct_size : sizeof *q);
  memcpy(ops, p->ops.any, have < full ? have : full);
  q->ops.any = ops;
  return q;
}

static const reg_entry *same_name(const registry *r, const loom_plugin *p)
{
  for (int i = 0; i < r->num; ++i) {
    const loom_plugin *const q = r->entry[i].plugin;
    if (q != NULL && q->kind == p->kind && strcmp(q->name, p->name) == 0) return &r->entry[i];
  }
  return NULL;
}

static loom_status add_file(loom_err *err, registry *r, const char *path)
{
  char canonical[PATH_MAX], name[256];
  loom_err why = {0};
  loom_plugin_query_fn query = NULL;
  if (realpath(path, canonical) == NULL)
    return refuse(err, r, path, "cannot read it: %s", strerror(errno));
  if (!stem(path, name, sizeof name)) return refuse(err, r, path, "the file name is too long");
  if (open_file(&why, canonical, &query) != LOOM_OK) return refuse(err, r, path, "%s", why.text);
  for (uint32_t k = 0; k < QUERY_MAX; ++k) {
    const loom_plugin *p = NULL;
    if (query_one(&why, query, k, name, &p) != LOOM_OK) return refuse(err, r, path, "%s", why.text);
    if (p == NULL) return LOOM_OK;
    const reg_entry *const first = same_name(r, p);
    if (first != NULL) {
      char winner[sizeof first->path];
      memcpy(winner, first->path, sizeof winner); /* the list may move when it grows */
      LOOM_TRY(refuse(err, r, canonical, "shadowed by the %s plugin of the same name in %s",
                      registry_kind_name(p->kind), winner));
      continue;
    }
    p = widen(r, p);
    reg_entry *const e = add_entry(r, canonical);
    if (p == NULL || e == NULL) return nomem(err);
    e->plugin = p;
  }
  return refuse(err, r, path, "more than %d plugins in one file", QUERY_MAX);
}

/* NAME.missing stands where the build skipped NAME.so and holds the reason. */
static int ends_with(const char *text, const char *end)
{
  const size_t n = strlen(text), m = strlen(end);
  return n > m && strcmp(text + n - m, end) == 0;
}

static loom_status add_missing(loom_err *err, registry *r, const char *path)
{
  char would_be[PATH_MAX], why[400] = "";
  FILE *const f = fopen(path, "r");
  if (f != NULL) {
    if (fgets(why, sizeof why, f) == NULL) why[0] = '\0';
    fclose(f);
  }
  why[strcspn(why, "\n")] = '\0';
  snprintf(would_be, sizeof would_be, "%.*s.so", (int)(strlen(path) - strlen(".missing")), path);
  return refuse(err, r, would_be, "not built: %s", why[0] != '\0' ? why : "no reason was left");
}

/* ---- directories ----------------------------------------------------------------------------- */

static int by_text(const void *a, const void *b)
{
  return strcmp(*(char *const *)a, *(char *const *)b);
}

static int list_files(DIR *d, char ***names)
{
  int n = 0, cap = 0;
  *names = NULL;
  for (struct dirent *e; (e = readdir(d)) != NULL;) {
    if (!ends_with(e->d_name, ".so") && !ends_with(e->d_name, ".missing")) continue;
    if (n == cap) {
      cap = cap > 0 ? 2 * cap : 32;
      char **const bigger = realloc(*names, (size_t)cap * sizeof(char *));
      if (bigger == NULL) return -1 - n;
      *names = bigger;
    }
    if (((*names)[n] = strdup(e->d_name)) == NULL) return -1 - n;
    ++n;
  }
  return n;
}

static loom_status scan_dir(loom_err *err, registry *r, const char *dir)
{
  DIR *const d = opendir(dir);
  char **names = NULL;
  if (d == NULL) return refuse(err, r, dir, "cannot read the directory: %s", strerror(errno));
  int n = list_files(d, &names);
  closedir(d);
  loom_status s = LOOM_OK;
  if (n < 0) {
    s = nomem(err);
    n = -1 - n;
  }
  if (s == LOOM_OK && n > 0) qsort(names, (size_t)n, sizeof(char *), by_text);
  for (int i = 0; i < n; ++i) {
    char path[PATH_MAX];
    if (s == LOOM_OK) {
      if (snprintf(path, sizeof path, "%s/%s", dir, names[i]) < (int)sizeof path)
        s = ends_with(path, ".missing") ? add_missing(err, r, path) : add_file(err, r, path);
      else
        s = refuse(err, r, names[i], "the path is too long");
    }
    free(names[i]);
  }
  free(names);
  return s;
}

static void note_searched(registry *r, const char *dir, const char *remark)
{
  const size_t used = strlen(r->searched);
  snprintf(r->searched + used, sizeof r->searched - used, "%s%s%s", used > 0 ? ", " : "", dir,
           remark);
}

/* One directory; `origin` says who named it, NULL for the built-in places, which may be absent. */
static loom_status add_dir(loom_err *err, registry *r, const char *dir, const char *origin)
{
  char canonical[PATH_MAX];
  if (dir[0] != '/')
    return err_set(err, LOOM_E_CONFIG,
                   "plugin directory '%s' (%s) is relative; write the absolute path%s%s", dir,
                   origin, realpath(dir, canonical) != NULL ? ": " : "",
                   realpath(dir, canonical) != NULL ? canonical : "");
  if (realpath(dir, canonical) == NULL) {
    note_searched(r, dir, " (absent)");
    if (origin == NULL) return LOOM_OK;
    return refuse(err, r, dir, "cannot read the directory (%s): %s", origin, strerror(errno));
  }
  for (int i = 0; i < r->num_dirs; ++i)
    if (strcmp(r->dir[i], canonical) == 0) return LOOM_OK; /* searched already */
  if (r->num_dirs == DIRS_MAX)
    return err_set(err, LOOM_E_CONFIG, "more than %d plugin directories", DIRS_MAX);
  r->dir[r->num_dirs] = strdup(canonical);
  if (r->dir[r->num_dirs] == NULL) return nomem(err);
  r->num_dirs++;
  note_searched(r, canonical, "");
  return scan_dir(err, r, canonical);
}

static loom_status add_list(loom_err *err, registry *r, const char *list, const char *origin)
{
  char dir[PATH_MAX];
  while (list != NULL && *list != '\0') {
    const size_t n = strcspn(list, ":");
    if (n >= sizeof dir)
      return err_set(err, LOOM_E_CONFIG, "a plugin directory (%s) is too long a path", origin);
    memcpy(dir, list, n);
    dir[n] = '\0';
    if (n > 0) LOOM_TRY(add_dir(err, r, dir, origin)); /* "a::b": not the current directory */
    list += n + (list[n] == ':');
  }
  return LOOM_OK;
}

/* <prefix>/bin/loom: <prefix>/lib/loom/plugins when installed, <prefix>/plugins in a build tree */
static loom_status add_own(loom_err *err, registry *r)
{
  char exe[PATH_MAX], dir[PATH_MAX + 32];
  const ssize_t n = readlink("/proc/self/exe", exe, sizeof exe - 1);
  if (n < 0)
    return err_set(err, LOOM_E_IO, "cannot read /proc/self/exe to find the plugins: %s",
                   strerror(errno));
  exe[n] = '\0';
  for (int up = 0; up < 2; ++up) {
    char *const slash = strrchr(exe, '/');
    if (slash != NULL) *slash = '\0';
  }
  snprintf(dir, sizeof dir, "%s/lib/loom/plugins", exe);
  LOOM_TRY(add_dir(err, r, dir, NULL));
  snprintf(dir, sizeof dir, "%s/plugins", exe);
  return add_dir(err, r, dir, NULL);
}

loom_status registry_open(loom_err *err, const char *dirs, registry **out)
{
  registry *const r = calloc(1, sizeof *r);
  *out = NULL;
  if (r == NULL) return nomem(err);
  loom_status s = add_list(err, r, dirs, "[exec] plugin_path or --plugin-path");
  if (s == LOOM_OK) s = add_list(err, r, getenv("LOOM_PLUGIN_PATH"), "LOOM_PLUGIN_PATH");
  if (s == LOOM_OK) s = add_own(err, r);
  if (s == LOOM_OK)
    *out = r;
  else
    registry_close(r);
  return s;
}

void registry_close(registry *r)
{
  if (r == NULL) return;
  for (int i = 0; i < r->num_dirs; ++i) free(r->dir[i]);
  for (int i = 0; i < r->num_widened; ++i) free(r->widened[i]);
  free(r->widened);
  free(r->entry);
  free(r);
}

/* ---- looking up ---------------------------------------------------------------------------------
 */

int registry_count(const registry *r) { return r->num; }

const reg_entry *registry_at(const registry *r, int i)
{
  return i >= 0 && i < r->num ? &r->entry[i] : NULL;
}

/* Why a file of that name is not among the plugins, as further lines of the message. */
static void add_refusals(loom_err *err, const registry *r, int kind, const char *name)
{
  char file[256];
  for (int i = 0; i < r->num; ++i) {
    const reg_entry *const e = &r->entry[i];
    if (e->plugin != NULL) {
      if (e->plugin->kind != kind && strcmp(e->plugin->name, name) == 0)
        err_append(err, "%s is a %s plugin", e->path, registry_kind_name(e->plugin->kind));
    } else if (stem(e->path, file, sizeof file) && strcmp(file, name) == 0) {
      err_append(err, "%s was refused: %s", e->path, e->why);
    }
  }
}

loom_status registry_find(loom_err *err, const registry *r, int kind, const char *name,
                          const reg_entry **out)
{
  char list[512] = "";
  const char **const names = calloc((size_t)r->num + 1, sizeof(char *));
  int n = 0;
  *out = NULL;
  if (names == NULL) return nomem(err);
  for (int i = 0; i < r->num && *out == NULL; ++i) {
    const loom_plugin *const p = r->entry[i].plugin;
    if (p == NULL || p->kind != kind) continue;
    if (strcmp(p->name, name) == 0) *out = &r->entry[i];
    names[n++] = p->name;
  }
  if (*out == NULL) {
    const char *const near = err_nearest(name, names, n);
    for (int i = 0; i < n; ++i) {
      const size_t used = strlen(list);
      snprintf(list + used, sizeof list - used, "%s%s", i > 0 ? ", " : "", names[i]);
    }
    err_set(err, LOOM_E_CONFIG, "there is no %s plugin '%.80s'%s%s%s; found: %s; searched: %.900s",
            registry_kind_name(kind), name, near != NULL ? "; did you mean '" : "",
            near != NULL ? near : "", near != NULL ? "'?" : "", n > 0 ? list : "none",
            r->searched[0] != '\0' ? r->searched : "no directory");
    add_refusals(err, r, kind, name);
  }
  free(names);
  return *out != NULL ? LOOM_OK : LOOM_E_CONFIG;
}
