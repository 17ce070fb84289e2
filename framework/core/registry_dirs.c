/* registry_dirs.c - the folders that are searched, and the plugin files in them. */
#define _GNU_SOURCE /* realpath */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/registry_internal.h"
#include "core/suffix.h"

static loom_status add_file(loom_err *err, registry *r, const char *path)
{
  if (r->num_files == r->cap_files) {
    const int cap = r->cap_files > 0 ? 2 * r->cap_files : 32;
    reg_file *const bigger = realloc(r->file, (size_t)cap * sizeof *bigger);
    if (bigger == NULL) return registry_nomem(err);
    r->file = bigger;
    r->cap_files = cap;
  }
  reg_file *const f = &r->file[r->num_files];
  f->state = REG_NEW;
  if (!plugin_file_stem(path, f->name))
    return registry_refuse(err, r, -1, path, LOOM_E_ABI, "the file name is too long");
  f->path = strdup(path);
  if (f->path == NULL) return registry_nomem(err);
  r->num_files++;
  return LOOM_OK;
}

/* NAME.missing stands where the build skipped NAME.so and holds the reason.  A second package may
 * have added NAME.so since. */
static loom_status add_missing(loom_err *err, registry *r, const char *path)
{
  struct stat st;
  char would_be[PATH_MAX], why[400] = "";
  snprintf(would_be, sizeof would_be, "%.*s.so", (int)(strlen(path) - strlen(".missing")), path);
  if (access(would_be, F_OK) == 0) return LOOM_OK;
  const int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC); /* opening a pipe must not wait */
  if (fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode)) {
    const ssize_t n = read(fd, why, sizeof why - 1);
    why[n > 0 ? n : 0] = '\0';
  }
  if (fd >= 0) close(fd);
  why[strcspn(why, "\n")] = '\0';
  return registry_refuse(err, r, -1, would_be, LOOM_E_ABI, "not built: %s",
                         why[0] != '\0' ? why : "no reason was left");
}

static int by_text(const void *a, const void *b)
{
  return strcmp(*(char *const *)a, *(char *const *)b);
}

static int list_files(DIR *d, char ***names)
{
  int n = 0, cap = 0;
  *names = NULL;
  for (struct dirent *e; (e = readdir(d)) != NULL;) {
    if (!has_suffix(e->d_name, ".so") && !has_suffix(e->d_name, ".missing")) continue;
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

static void note_searched(registry *r, const char *dir, const char *remark)
{
  const size_t used = strlen(r->searched);
  snprintf(r->searched + used, sizeof r->searched - used, "%s%s%s", used > 0 ? ", " : "", dir,
           remark);
}

static loom_status scan_dir(loom_err *err, registry *r, const char *dir)
{
  DIR *const d = opendir(dir);
  char **names = NULL;
  if (d == NULL) {
    char remark[200];
    const int code = errno;
    snprintf(remark, sizeof remark, " (cannot be read: %s)", strerror(code));
    note_searched(r, dir, remark);
    return registry_refuse(err, r, -1, dir, LOOM_E_IO, "cannot read the directory: %s",
                           strerror(code));
  }
  note_searched(r, dir, "");
  int n = list_files(d, &names);
  closedir(d);
  loom_status s = LOOM_OK;
  if (n < 0) {
    s = registry_nomem(err);
    n = -1 - n;
  }
  if (s == LOOM_OK && n > 0) qsort(names, (size_t)n, sizeof(char *), by_text);
  for (int i = 0; i < n; ++i) {
    char path[PATH_MAX];
    if (s == LOOM_OK) {
      if (snprintf(path, sizeof path, "%s/%s", dir, names[i]) < (int)sizeof path)
        s = has_suffix(path, ".missing") ? add_missing(err, r, path) : add_file(err, r, path);
      else
        s = registry_refuse(err, r, -1, names[i], LOOM_E_IO, "the path is too long");
    }
    free(names[i]);
  }
  free(names);
  return s;
}

/* One directory; `origin` names its source (option, variable), NULL for the built-in places, which
 * may be absent. */
static loom_status add_dir(loom_err *err, registry *r, const char *dir, const char *origin)
{
  char canonical[PATH_MAX];
  loom_err why = {0};
  if (realpath(dir, canonical) == NULL) {
    const int code = errno;
    note_searched(r, dir, " (absent)");
    if (origin == NULL) return LOOM_OK;
    return registry_refuse(err, r, -1, dir, LOOM_E_IO, "cannot read the directory (%s): %s", origin,
                           strerror(code));
  }
  for (int i = 0; i < r->num_dirs; ++i)
    if (strcmp(r->dir[i], canonical) == 0) return LOOM_OK; /* searched already */
  if (r->num_dirs == REG_DIRS_MAX)
    return err_set(err, LOOM_E_CONFIG, "more than %d plugin directories", REG_DIRS_MAX);
  if (plugin_file_trust(&why, canonical) != LOOM_OK) {
    if (origin != NULL) /* a user who names it expects its plugins, not others of the same names */
      return err_set(err, LOOM_E_CONFIG, "plugin directory %s (%s): %s", canonical, origin,
                     why.text);
    note_searched(r, canonical, " (refused)");
    return registry_refuse(err, r, -1, canonical, LOOM_E_CONFIG, "%s", why.text);
  }
  r->dir[r->num_dirs] = strdup(canonical);
  if (r->dir[r->num_dirs] == NULL) return registry_nomem(err);
  r->num_dirs++;
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

loom_status registry_add_dirs(loom_err *err, registry *r, const char *dirs)
{
  LOOM_TRY(add_list(err, r, dirs, "[exec] plugin_path or --plugin-path"));
  LOOM_TRY(add_list(err, r, getenv("LOOM_PLUGIN_PATH"), "LOOM_PLUGIN_PATH"));
  return add_own(err, r);
}
