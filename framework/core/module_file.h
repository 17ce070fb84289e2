/* module_file.h - finding and opening a module that is no plugin: loom/mesher.h, loom/factor.h. */
#ifndef LOOM_MODULE_FILE_H
#define LOOM_MODULE_FILE_H

#include <limits.h>

#include "core/err.h"

typedef struct module_place {
  const char *variable; /* of the environment, whose value names the file */
  const char
      *folder;      /* else: in <prefix>/lib/loom/FOLDER, or <prefix>/FOLDER of a build tree ... */
  const char *file; /* ... a file of this name */
  const char *symbol; /* the one function that it exports */
} module_place;

typedef void (*module_function)(void); /* to be cast to what `symbol` is */

/* The canonical path into file, "" where there is none.  LOOM_E_CONFIG: the variable names what
 * cannot be read.  prefix [PATH_MAX]: what was searched below, for messages. */
loom_status module_find(loom_err *err, const module_place *p, char *file, char *prefix);
/* Checks the file, and opens it for good.  The message has no path. */
loom_status module_load(loom_err *err, const char *file, const char *symbol, module_function *out);

#endif
