/* mesher.c - finding and opening the module that triangulates. */
#define _GNU_SOURCE /* realpath */
#include "pattern/mesher.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/crash.h"
#include "core/elf_check.h"
#include "core/plugin_file.h"

static const char *const places[] = {"lib/loom/meshers", "meshers"};
enum { NUM_PLACES = sizeof places / sizeof *places };

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

static loom_status find_file(loom_err *err, char file[PATH_MAX])
{
  const char *const named = getenv("LOOM_MESHER");
  char prefix[PATH_MAX], path[PATH_MAX + 64];
  if (named != NULL && named[0] != '\0') {
    if (realpath(named, file) != NULL) return LOOM_OK;
    return err_set(err, LOOM_E_CONFIG, "LOOM_MESHER=%s cannot be read", named);
  }
  if (!find_prefix(prefix, sizeof prefix))
    return err_set(err, LOOM_E_IO, "cannot read /proc/self/exe to find the mesher");
  for (int k = 0; k < NUM_PLACES; ++k) {
    snprintf(path, sizeof path, "%s/%s/gmsh.so", prefix, places[k]);
    if (realpath(path, file) != NULL) return LOOM_OK;
  }
  return err_set(err, LOOM_E_CONFIG,
                 "patterns need the module that triangulates them, and there is no gmsh.so in "
                 "%s/%s, %s/%s; install Gmsh (Debian: libgmsh-dev) and build again",
                 prefix, places[0], prefix, places[1]);
}

static loom_status open_file(loom_err *err, const char *file, const loom_mesher **out)
{
  LOOM_TRY(plugin_file_trust(err, file));
  if (elf_check(err, file) != LOOM_OK) return err->code = LOOM_E_CONFIG;
  crash_place place = {.plugin = file}; /* constructors run */
  crash_enter(&place);
  void *const handle = dlopen(file, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  crash_leave(&place);
  if (handle == NULL) return err_set(err, LOOM_E_CONFIG, "cannot be loaded: %s", dlerror());
  void *const symbol = dlsym(handle, "loom_mesher_query");
  loom_mesher_query_fn query = NULL;
  memcpy(&query, &symbol, sizeof symbol); /* no cast from object to function pointer in C */
  const loom_mesher *const m = query != NULL ? query(LOOM_MESHER_ABI) : NULL;
  dlclose(handle); /* stays mapped: RTLD_NODELETE */
  if (m == NULL || m->struct_size < sizeof *m || m->abi != LOOM_MESHER_ABI ||
      m->triangulate == NULL || m->release == NULL || m->name == NULL || m->version == NULL)
    return err_set(err, LOOM_E_CONFIG, "is no module of loom/mesher.h, or one for another version");
  *out = m;
  return LOOM_OK;
}

loom_status mesher_open(loom_err *err, const loom_mesher **out)
{
  char file[PATH_MAX];
  *out = NULL;
  LOOM_TRY(find_file(err, file));
  const loom_status s = open_file(err, file, out);
  if (s != LOOM_OK) err_prefix(err, "%s", file);
  return s;
}
