/* module.h - finding and opening modules: shared objects that wrap a library which loom neither
 * links nor needs, each behind a header of its own (loom/mesher.h, loom/rig_reader.h,
 * loom/factor.h). */
#ifndef LOOM_CORE_MODULE_H
#define LOOM_CORE_MODULE_H

#include "core/err.h"

typedef struct module_kind {
  const char *variable; /* of the environment, that names another file */
  const char *folder;   /* in <prefix>/lib/loom and in the build tree */
  const char *file;     /* "gmsh.so" */
  const char *symbol;   /* the function it exports */
  const char *need;     /* begins the message where there is none: "patterns need ..."; NULL: it
                         * may be missing */
  const char *remedy;   /* ends it: "install ... and build again" */
} module_kind;

/* Path of the module, file [PATH_MAX], and the function that it exports, *query (a pointer to a
 * function pointer).  It stays open.  LOOM_E_CONFIG with what was searched and what to install, or
 * what is wrong with the file.  Of a kind that may be missing file is "" and *query untouched. */
loom_status module_open(loom_err *err, const module_kind *kind, char *file, void *query);

#endif
