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
  const char *need;     /* first words of the message if no module is found: "patterns need ...";
                         * NULL: the module is optional */
  const char *remedy;   /* last words of that message: "install ... and build again" */
} module_kind;

/* Path of the module, file [PATH_MAX], and the function that it exports, *query (a pointer to a
 * function pointer).  The module stays open.  LOOM_E_CONFIG with the searched places and the
 * package to install, or with the fault of the file.  If an optional module is missing, file is ""
 * and *query unchanged. */
loom_status module_open(loom_err *err, const module_kind *kind, char *file, void *query);

#endif
