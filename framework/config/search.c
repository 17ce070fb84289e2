/* search.c - folders of configurations that any configuration may name: of LOOM_CONFIG_PATH, and of
 * the installation. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "config/config.h"
#include "core/install_prefix.h"

/* <prefix>/bin/loom: <prefix>/share/loom/configs; 0: there is none. */
static int find_installed(char *dir, size_t len)
{
  char prefix[PATH_MAX];
  return install_prefix(prefix, sizeof prefix) &&
         snprintf(dir, len, "%s/share/loom/configs", prefix) < (int)len && access(dir, X_OK) == 0;
}

int cfg_search_dir(int k, char *dir, size_t len)
{
  const char *list = getenv("LOOM_CONFIG_PATH");
  while (list != NULL && *list != '\0') {
    const size_t n = strcspn(list, ":");
    if (n > 0 && n < len && k-- == 0) { /* "a::b": not the current directory */
      memcpy(dir, list, n);
      dir[n] = '\0';
      return 1;
    }
    list += n + (list[n] == ':');
  }
  return k == 0 && find_installed(dir, len);
}

int cfg_search_file(const char *name, char *path, size_t len)
{
  char dir[PATH_MAX];
  if (name[0] == '/' || strstr(name, "..") != NULL) return 0;
  for (int k = 0; cfg_search_dir(k, dir, sizeof dir); ++k)
    if (snprintf(path, len, "%s/%s", dir, name) < (int)len && access(path, F_OK) == 0) return 1;
  return 0;
}
