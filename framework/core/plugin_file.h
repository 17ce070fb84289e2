/* plugin_file.h - one plugin file: may it be loaded, opening it, its descriptors. */
#ifndef LOOM_PLUGIN_FILE_H
#define LOOM_PLUGIN_FILE_H

#include "core/err.h"
#include "loom/plugin.h"

enum { PLUGIN_QUERY_MAX = 16, PLUGIN_NAME_LEN = 256 };

/* "/a/b/name.so" -> "name"; 0 if it does not end in .so or is too long */
int plugin_file_stem(const char *path, char name[PLUGIN_NAME_LEN]);
/* LOOM_E_CONFIG with the reason (without the path) if another user owns this file or folder or may
 * write to it: that user could change the code that loom runs.  Root and the owner of the running
 * executable are trusted.  An executable that every user may write to leaves no trust to protect,
 * so that case is accepted. */
loom_status plugin_file_trust(loom_err *err, const char *path);
/* Checks and opens a file by dlopen; canonical: its realpath.  The message has no path. */
loom_status plugin_file_open(loom_err *err, const char *canonical, loom_plugin_query_fn *query);
/* The descriptor with this index of an opened file, checked; *out NULL past the end. */
loom_status plugin_file_query(loom_err *err, loom_plugin_query_fn query, uint32_t index,
                              const char *name, const loom_plugin **out);

/* ---- looking at files from a child process (plugin_look.c) ---- */
enum { PLUGIN_LOOK_SECONDS = 5 }; /* for each file */

typedef struct plugin_card { /* copy of a descriptor without pointers; texts may be cut */
  int32_t kind, abi_minor;
  uint32_t backends, needs, provides, pair_kinds;
  char name[64], version[64], license[128], summary[1024], reference[1024], build[512];
} plugin_card;

typedef struct plugin_seen { /* one file */
  char *canonical;           /* in: its realpath, which plugin_seen_free() frees */
  const char *name;          /* in: the name that its plugins must have */
  loom_status status;        /* LOOM_OK, or of the refusal */
  loom_err why;              /* of the refusal, without the path */
  plugin_card *cards;        /* [num], one per plugin of the file */
  int num;
} plugin_seen;

/* Opens the files in a child process, which may crash, exit or hang: each file gets the verdict
 * that it would get alone. */
void plugin_files_look(plugin_seen *file, int num);
void plugin_seen_free(plugin_seen *file, int num);

#endif
