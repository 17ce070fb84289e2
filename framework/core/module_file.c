/* module_file.c - see module_file.h. */
#define _GNU_SOURCE /* realpath */
#include "core/module_file.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/crash.h"
#include "core/elf_check.h"
#include "core/plugin_file.h"

/* <prefix>/bin/loom -> <prefix> */
static int find_prefix(char *prefix, size_t room)
{
  const ssize_t n = readlink("/proc/self/exe", prefix, room - 1);
  if (n < 0) return 0;
  prefix[n] = '\0';
  for (int up = 0; up < 2; ++up) {
    char *const slash = strrchr(prefix, '/');
    if (slash != NULL) *slash = '\0';
  }
  return 1;
}

loom_status module_find(loom_err *err, const module_place *p, char *file, char *prefix)
{
  static const char *const places[] = {"/lib/loom", ""};
  const char *const named = getenv(p->variable);
  file[0] = prefix[0] = '\0';
  if (named != NULL && named[0] != '\0') {
    if (realpath(named, file) != NULL) return LOOM_OK;
    return err_set(err, LOOM_E_CONFIG, "%s=%s cannot be read", p->variable, named);
  }
  if (!find_prefix(prefix, PATH_MAX))
    return err_set(err, LOOM_E_IO, "cannot read /proc/self/exe to find %s", p->file);
  for (size_t k = 0; k < sizeof places / sizeof *places; ++k) {
    char path[PATH_MAX + 128];
    snprintf(path, sizeof path, "%s%s/%s/%s", prefix, places[k], p->folder, p->file);
    if (realpath(path, file) != NULL) return LOOM_OK;
  }
  file[0] = '\0';
  return LOOM_OK;
}

loom_status module_load(loom_err *err, const char *file, const char *symbol, module_function *out)
{
  *out = NULL;
  LOOM_TRY(plugin_file_trust(err, file));
  if (elf_check(err, file) != LOOM_OK) return err->code = LOOM_E_CONFIG;
  crash_place place = {.plugin = file}; /* constructors run */
  crash_enter(&place);
  void *const handle = dlopen(file, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  crash_leave(&place);
  if (handle == NULL) return err_set(err, LOOM_E_CONFIG, "cannot be loaded: %s", dlerror());
  void *const found = dlsym(handle, symbol);
  memcpy(out, &found, sizeof found); /* no cast from object to function pointer in C */
  dlclose(handle);                   /* stays mapped: RTLD_NODELETE */
  return LOOM_OK;
}
