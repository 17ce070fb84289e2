/* Users cannot find a parameter or column that is missing in the plugin's README, or was renamed.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "contract/plugins.h"

ParameterizedTestParameters(readme, names_everything)
{
  ct_plugin *const list = cr_malloc(PLUGINS_MOST * sizeof *list);
  size_t n = plugins_in_tree(-1, list), kept = 0;
  for (size_t i = 0; i < n; ++i)
    if (!plugins_is_variant(&list[i])) list[kept++] = list[i];
  return cr_make_param_array(ct_plugin, list, kept, NULL);
}
ParameterizedTest(const ct_plugin *p, readme, names_everything)
{
  static char text[65536];
  registry *reg;
  char path[1024], word[128];
  const loom_plugin *const d = ct_load(p, &reg);
  snprintf(path, sizeof path, "%s/plugins/%s/%s/README.md", getenv("LOOM_SOURCE_DIR"),
           plugins_folder(p->kind), p->name);
  FILE *const f = fopen(path, "r");
  cr_assert(f != NULL, "%s is missing", path);
  text[fread(text, 1, sizeof text - 1, f)] = '\0';
  fclose(f);
  for (uint32_t i = 0; i < d->num_params; ++i) {
    if (d->params[i].flags & LOOM_P_GONE) continue;
    snprintf(word, sizeof word, "`%s`", d->params[i].key);
    cr_expect(strstr(text, word) != NULL, "%s does not mention %s", path, word);
  }
  for (uint32_t i = 0; i < d->num_columns; ++i) {
    snprintf(word, sizeof word, "`%s`", d->columns[i].name);
    cr_expect(strstr(text, word) != NULL, "%s does not mention column %s", path, word);
  }
  for (uint32_t i = 0; i < d->num_step_columns; ++i) {
    snprintf(word, sizeof word, "`%s`", d->step_columns[i].name);
    cr_expect(strstr(text, word) != NULL, "%s does not mention column %s", path, word);
  }
  registry_close(reg);
}
