/* python_tool.c - starts a tool of the installed Python package. */
#include "app/python_tool.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "app/commands.h"
#include "core/install_prefix.h"

enum { ARGS_MAX = 4096, PATH_ROOM = PATH_MAX + 64 };

/* `loom-table`, which pip has installed beside the binary. */
static void become_script(const char *prefix, const char *name, char **argv)
{
  char path[PATH_ROOM];
  snprintf(path, sizeof path, "%s/bin/loom-%s", prefix, name);
  if (access(path, X_OK) == 0) execv(path, argv);
}

/* These work on a checkout alone: they build it, read its figures or its pages. */
static int needs_checkout(const char *name)
{
  return strcmp(name, "docs") == 0 || strcmp(name, "figure") == 0 || strcmp(name, "test") == 0;
}

int python_tool_run(const char *name, char **argv)
{
  char prefix[PATH_MAX], path[PATH_ROOM], module[64];
  char *call[ARGS_MAX] = {NULL, "-m", module};
  int n = 3;
  if (needs_checkout(name) || !install_prefix(prefix, sizeof prefix)) return -1;
  become_script(prefix, name, argv);
  snprintf(path, sizeof path, "%s/share/loom/python/loomcloth/%s.py", prefix, name);
  if (access(path, R_OK) != 0) { /* a tool of several files */
    snprintf(path, sizeof path, "%s/share/loom/python/loomcloth/%s/__main__.py", prefix, name);
    if (access(path, R_OK) != 0) return -1;
  }
  snprintf(module, sizeof module, "loomcloth.%s", name);
  snprintf(path, sizeof path, "%s/bin/loom", prefix);
  if (setenv("LOOM_BIN", path, 0) != 0) return EXIT_RUNTIME;
  snprintf(path, sizeof path, "%s/share/loom", prefix);
  if (setenv("LOOM_ROOT", path, 0) != 0) return EXIT_RUNTIME;
  const char *const before = getenv("PYTHONPATH");
  char all[2 * PATH_ROOM];
  snprintf(all, sizeof all, "%s/python%s%s", path, before != NULL && before[0] != '\0' ? ":" : "",
           before != NULL ? before : "");
  if (setenv("PYTHONPATH", all, 1) != 0) return EXIT_RUNTIME;
  const char *const python = getenv("LOOM_PYTHON");
  call[0] = python != NULL && python[0] != '\0' ? (char *)python : "python3";
  for (int i = 1; argv[i] != NULL && n < ARGS_MAX - 1; ++i) call[n++] = argv[i];
  execvp(call[0], call);
  fprintf(stderr,
          "loom: %s needs Python, and %s cannot be started: %s; LOOM_PYTHON names another\n", name,
          call[0], strerror(errno));
  return EXIT_RUNTIME;
}
