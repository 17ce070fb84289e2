/* plugin_file.c - checks a plugin file, opens it, and reads its descriptors. */
#define _GNU_SOURCE /* dladdr, realpath */
#include "core/plugin_file.h"

#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/crash.h"
#include "core/elf_check.h"
#include "core/registry.h"
#include "core/suffix.h"

int plugin_file_stem(const char *path, char name[PLUGIN_NAME_LEN])
{
  const char *const slash = strrchr(path, '/'), *const base = slash != NULL ? slash + 1 : path;
  const size_t n = strlen(base);
  if (!has_suffix(base, ".so") || n - 3 >= PLUGIN_NAME_LEN) return 0;
  memcpy(name, base, n - 3);
  name[n - 3] = '\0';
  return 1;
}

loom_status plugin_file_trust(loom_err *err, const char *path)
{
  struct stat st, exe;
  if (stat(path, &st) != 0) return err_set(err, LOOM_E_IO, "cannot read it: %s", strerror(errno));
  const int known = stat("/proc/self/exe", &exe) == 0;
  if ((st.st_mode & S_IWOTH) && !(known && (exe.st_mode & S_IWOTH)))
    return err_set(err, LOOM_E_CONFIG,
                   "every user may write to it (mode %04o); run chmod o-w on it",
                   (unsigned)(st.st_mode & 07777));
  if (st.st_uid != 0 && st.st_uid != geteuid() && !(known && st.st_uid == exe.st_uid))
    return err_set(err, LOOM_E_CONFIG,
                   "it belongs to another user (uid %ld, you are %ld) and may change; copy it "
                   "to a folder of your own",
                   (long)st.st_uid, (long)geteuid());
  return LOOM_OK;
}

/* Checks the folder of a file: a user with write access there can replace the file. */
static loom_status trust_folder(loom_err *err, const char *canonical)
{
  char folder[PATH_MAX];
  const char *const slash = strrchr(canonical, '/');
  const size_t n = slash != NULL ? (size_t)(slash - canonical) : 0;
  if (n == 0 || n >= sizeof folder) return LOOM_OK;
  memcpy(folder, canonical, n);
  folder[n] = '\0';
  const loom_status s = plugin_file_trust(err, folder);
  if (s != LOOM_OK) err_prefix(err, "its folder");
  return s;
}

/* The error text of dlopen, with its cause if the cause is not the file itself. */
static loom_status not_loaded(loom_err *err, const char *canonical, const char *text)
{
  const size_t n = strlen(canonical);
  struct rlimit max;
  if (strncmp(text, canonical, n) == 0) text += n + strspn(text + n, ": "); /* place is known */
  const int memory = strstr(text, "failed to map segment") != NULL ||
                     strstr(text, "annot allocate memory") != NULL ||
                     strstr(text, "cannot map zero-fill") != NULL ||
                     strstr(text, "cannot create shared object descriptor") != NULL;
  if (memory && getrlimit(RLIMIT_AS, &max) == 0 && max.rlim_cur != RLIM_INFINITY)
    return err_set(err, LOOM_E_NOMEM,
                   "cannot be loaded for lack of memory, of which this process may have %llu MB "
                   "(ulimit -v): %s",
                   (unsigned long long)max.rlim_cur / 1000000u, text);
  if (memory) return err_set(err, LOOM_E_NOMEM, "cannot be loaded for lack of memory: %s", text);
  if (strstr(text, strerror(EMFILE)) != NULL)
    return err_set(err, LOOM_E_IO,
                   "cannot be loaded, as this process may not open more files (ulimit -n): %s",
                   text);
  return err_set(err, LOOM_E_ABI, "cannot be loaded: %s", text);
}

loom_status plugin_file_open(loom_err *err, const char *canonical, loom_plugin_query_fn *query)
{
  *query = NULL;
  LOOM_TRY(plugin_file_trust(err, canonical));
  LOOM_TRY(trust_folder(err, canonical));
  LOOM_TRY(elf_check(err, canonical));
  crash_place place = {.plugin = canonical}; /* constructors run */
  crash_enter(&place);
  void *const handle = dlopen(canonical, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  crash_leave(&place);
  if (handle == NULL) return not_loaded(err, canonical, dlerror());
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

loom_status plugin_file_query(loom_err *err, loom_plugin_query_fn query, uint32_t index,
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
