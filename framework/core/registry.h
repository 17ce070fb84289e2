/* registry.h - finding, loading, checking and listing plugins. */
#ifndef LOOM_REGISTRY_H
#define LOOM_REGISTRY_H

#include "core/err.h"
#include "loom/plugin.h"

typedef struct registry registry;

typedef struct reg_entry {   /* one plugin, or one file that is not one */
  const loom_plugin *plugin; /* NULL if refused */
  char path[1024];           /* canonical path (as dladdr tells it for loaded ones) */
  char why[512];             /* reason of refusal, "" if loaded */
} reg_entry;

/* Plugin directories, in order: `dirs` (colon-separated; [exec] plugin_path or
 * --plugin-path), then LOOM_PLUGIN_PATH, then <prefix>/lib/loom/plugins or build/plugins
 * next to the binary.  Never the current directory, never the library search path.
 * Every *.so found is opened (RTLD_NOW|RTLD_LOCAL|RTLD_NODELETE) and checked: exported
 * symbol, magic, ABI major, struct_size, real size, kind, name == file name, tables.
 * The first of two plugins with one name wins, the second is listed as shadowed.  A file
 * NAME.missing (the build skipped NAME.so) is listed with the reason it holds. */
loom_status registry_open(loom_err *err, const char *dirs, registry **out);
void registry_close(registry *r);
int registry_count(const registry *r);
const reg_entry *registry_at(const registry *r, int i);
/* By kind and name; otherwise LOOM_E_CONFIG with what was searched, why a file of that
 * name was refused, and the nearest name. */
loom_status registry_find(loom_err *err, const registry *r, int kind, const char *name,
                          const reg_entry **out);
const char *registry_kind_name(int kind); /* "solver" */
/* Check one file without a directory scan (for tests and `loom check FILE.so`). */
loom_status registry_probe(loom_err *err, const char *path, const loom_plugin **out);
/* Check a descriptor alone: everything but the file. */
loom_status registry_check(loom_err *err, const loom_plugin *p);

#endif
