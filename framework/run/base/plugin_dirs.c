/* plugin_dirs.c - the plugin folders a configuration names, if it may. */
#include "run/base/plugin_dirs.h"

#include <stdio.h>
#include <string.h>

#include "run/run_state.h"

/* A foreign configuration would otherwise choose the code to be run. */
static loom_status refuse_plugin_path(const run *r, const cfg_section *exec)
{
  char place[1200];
  return err_set(r->err, LOOM_E_CONFIG,
                 "%s: a configuration may not choose code to run; name the folder with "
                 "--plugin-path DIR or in LOOM_PLUGIN_PATH, or allow it with --trust-config",
                 cfg_place(exec, "plugin_path", place, sizeof place));
}

loom_status plugin_dirs(const run *r, const run_options *o, char *dirs, size_t len)
{
  const cfg_section *const exec = cfg_find(r->c, "exec");
  const char *list = r->set.exec.plugin_path, *base = "";
  dirs[0] = '\0';
  if (list[0] == '\0') return LOOM_OK;
  if (exec != NULL && cfg_given_by_file(exec, "plugin_path", &base) && !o->trust_config)
    return refuse_plugin_path(r, exec);
  for (size_t used = 0; *list != '\0';) {
    const size_t n = strcspn(list, ":");
    const int relative = n > 0 && list[0] != '/' && base[0] != '\0';
    if (n > 0)
      used += (size_t)snprintf(dirs + used, len - used, "%s%s%s%.*s", used > 0 ? ":" : "",
                               relative ? base : "", relative ? "/" : "", (int)n, list);
    if (used >= len)
      return err_set(r->err, LOOM_E_CONFIG, "[exec] plugin_path is longer than %zu bytes", len - 1);
    list += n + (list[n] == ':');
  }
  return LOOM_OK;
}
