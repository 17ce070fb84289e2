/* registry.h - finding, loading, checking and listing plugins. */
#ifndef LOOM_REGISTRY_H
#define LOOM_REGISTRY_H

#include <stdio.h>

#include "core/err.h"
#include "loom/plugin.h"

typedef struct registry registry;

typedef struct reg_entry {   /* one plugin, or one refused file */
  const loom_plugin *plugin; /* NULL if refused */
  int opened;                /* 0: `plugin` describes it, without functions and parameters */
  char path[1024];           /* canonical path (as dladdr tells it for loaded ones) */
  char why[512];             /* reason of refusal, "" if loaded */
  loom_status status;        /* of the refusal */
  int file;                  /* the registry's own */
} reg_entry;

/* Plugin directories, in order: `dirs` (colon-separated; [exec] plugin_path or
 * --plugin-path), then LOOM_PLUGIN_PATH, then <prefix>/lib/loom/plugins or build/plugins
 * next to the binary.  Never the library search path, nor the current directory unless it is
 * named.  A named directory that belongs to another user, or that others may write to, is an error
 * (plugin_file.h).  This lists the files and opens none. */
loom_status registry_scan(loom_err *err, const char *dirs, registry **out);
/* Opens every *.so that was found, or only the files called NAME.so, in this process
 * (RTLD_NOW|RTLD_LOCAL|RTLD_NODELETE) and checked: owner and mode, exported symbol, magic,
 * ABI major, struct_size, real size, kind, name == file name, tables.  The first of two plugins
 * with one name wins, the second is listed as shadowed.  A file NAME.missing (the build skipped
 * NAME.so) is listed with the reason it holds. */
loom_status registry_open_all(loom_err *err, registry *r);
loom_status registry_open_named(loom_err *err, registry *r, const char *name);
/* The same for files not yet opened, in child processes: a file that crashes or hangs is refused
 * and does no harm.  The plugins found are described only. */
loom_status registry_look(loom_err *err, registry *r);
/* registry_scan and registry_open_all */
loom_status registry_open(loom_err *err, const char *dirs, registry **out);
void registry_close(registry *r);
int registry_count(const registry *r);
const reg_entry *registry_at(const registry *r, int i);
const char *registry_path(const registry *r, const loom_plugin *p); /* "?": not of this one */
/* By kind and name: opens files called NAME.so until one has the plugin; *out is valid until the
 * next file is opened.  Otherwise an error: why the files of that name were refused, or the
 * searched folders, the available plugins (registry_look) and the nearest name. */
loom_status registry_find(loom_err *err, registry *r, int kind, const char *name,
                          const reg_entry **out);
const char *registry_kind_name(int kind); /* "solver" */
/* Length of the first line of the summary. */
int registry_summary_len(const loom_plugin *p);
/* The further lines of the summary, the limits, "" if there are none. */
const char *registry_limits(const loom_plugin *p);
/* Prints the limits to f, each after `before`. */
void registry_print_limits(const loom_plugin *p, const char *before, FILE *f);
/* Checks a descriptor alone, without its file. */
loom_status registry_check(loom_err *err, const loom_plugin *p);

#endif
