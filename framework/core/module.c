/* module.c - finding and opening modules. */
#define _GNU_SOURCE /* realpath */
#include "core/module.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/crash.h"
#include "core/elf_check.h"
#include "core/install_prefix.h"
#include "core/plugin_file.h"

static const char *const places[] = {"lib/loom/", ""};
enum { NUM_PLACES = sizeof places / sizeof *places };

static loom_status find_file(loom_err *err, const module_kind *kind, char file[PATH_MAX])
{
  const char *const named = getenv(kind->variable);
  char prefix[PATH_MAX], path[PATH_MAX + 128];
  if (named != NULL && named[0] != '\0') {
    if (realpath(named, file) != NULL) return LOOM_OK;
    return err_set(err, LOOM_E_CONFIG, "%s=%s cannot be read", kind->variable, named);
  }
  if (!install_prefix(prefix, sizeof prefix))
    return err_set(err, LOOM_E_IO, "cannot read /proc/self/exe to find %s", kind->file);
  for (int k = 0; k < NUM_PLACES; ++k) {
    snprintf(path, sizeof path, "%s/%s%s/%s", prefix, places[k], kind->folder, kind->file);
    if (realpath(path, file) != NULL) return LOOM_OK;
  }
  file[0] = '\0';
  if (kind->need == NULL) return LOOM_OK;
  return err_set(err, LOOM_E_CONFIG, "%s, and there is no %s in %s/%s%s, %s/%s%s; %s", kind->need,
                 kind->file, prefix, places[0], kind->folder, prefix, places[1], kind->folder,
                 kind->remedy);
}

static loom_status open_module_file(loom_err *err, const module_kind *kind, const char *file,
                                    void *query)
{
  LOOM_TRY(plugin_file_trust(err, file));
  if (elf_check(err, file) != LOOM_OK) return err->code = LOOM_E_CONFIG;
  crash_place place = {.plugin = file}; /* constructors run */
  crash_enter(&place);
  void *const handle = dlopen(file, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  crash_leave(&place);
  if (handle == NULL) return err_set(err, LOOM_E_CONFIG, "cannot be loaded: %s", dlerror());
  void *const symbol = dlsym(handle, kind->symbol);
  memcpy(query, &symbol, sizeof symbol); /* no cast from object to function pointer in C */
  dlclose(handle);                       /* stays mapped: RTLD_NODELETE */
  if (symbol != NULL) return LOOM_OK;
  return err_set(err, LOOM_E_CONFIG, "is no module of its kind: it has no %s", kind->symbol);
}

loom_status module_open(loom_err *err, const module_kind *kind, char *file, void *query)
{
  LOOM_TRY(find_file(err, kind, file));
  if (file[0] == '\0') return LOOM_OK;
  const loom_status s = open_module_file(err, kind, file, query);
  if (s != LOOM_OK) err_prefix(err, "%s", file);
  return s;
}
