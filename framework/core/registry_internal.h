/* registry_internal.h - shared by the files registry*.c; no other file includes it. */
#ifndef LOOM_REGISTRY_INTERNAL_H
#define LOOM_REGISTRY_INTERNAL_H

#include "core/plugin_file.h"
#include "core/registry.h"

enum { REG_DIRS_MAX = 64 };
enum { REG_NEW, REG_LOOKED, REG_OPENED };

typedef struct reg_file { /* a *.so that was found */
  char *path;
  char name[PLUGIN_NAME_LEN]; /* the name that its plugins must have */
  int state;                  /* REG_*: state of opening */
} reg_file;

struct registry {
  reg_entry *entry; /* [num] */
  int num, cap;
  reg_file *file; /* [num_files] in the order of directories and file names */
  int num_files, cap_files;
  char *dir[REG_DIRS_MAX]; /* [num_dirs] canonical */
  int num_dirs;
  char searched[4096]; /* searched folders, as messages list them */
  void **kept;         /* [num_kept] tables and texts that live as long as the registry */
  int num_kept;
};

/* registry_text.c: a new entry, all zeros but for its file and path; NULL: no memory. */
reg_entry *registry_append(registry *r, int file, const char *path);
loom_status registry_nomem(loom_err *err);
/* Adds a refused file, or a folder, with the reason; file: its index or -1. */
loom_status registry_refuse(loom_err *err, registry *r, int file, const char *path,
                            loom_status status, const char *fmt, ...) LOOM_PRINTF(6, 7);
/* Finds the folders and the files in them; opens none. */
loom_status registry_add_dirs(loom_err *err, registry *r, const char *dirs);

#endif
