/* Every plugin of the tree against every check of one group of the contract (GROUP). */
#include <stdlib.h>
#include <string.h>

#include "contract/plugins.h"

typedef struct item {
  ct_plugin plugin;
  int check;
} item;

ParameterizedTestParameters(contract, check)
{
  static ct_plugin all[PLUGINS_MOST]; /* a parent's list: children only get their item */
  int num;
  const ct_check *const checks = ct_checks(&num);
  const size_t n = plugins_in_tree(-1, all);
  item *const list = cr_malloc(n * (size_t)num * sizeof *list);
  size_t items = 0;
  for (size_t i = 0; i < n; ++i)
    for (int k = 0; k < num; ++k)
      if (strcmp(checks[k].group, GROUP) == 0 &&
          (checks[k].kind < 0 || checks[k].kind == all[i].kind))
        list[items++] = (item){all[i], k};
  return cr_make_param_array(item, list, items, NULL);
}
ParameterizedTest(const item *i, contract, check)
{
  /* by the clock: the limit of the test, in processor time, comes before */
  enum { LIMIT = 3600 }; /* s */
  int num;
  const ct_check *const c = &ct_checks(&num)[i->check];
  ct_verdict v;
  unsetenv("LOOM_MEM_CHECK"); /* checks say themselves where they want it */
  ct_run_check(c, &i->plugin, LIMIT, &v);
  if (v.result == CT_SKIPPED)
    cr_skip_test("%s %s %s.%s: %s", i->plugin.name, i->plugin.set, c->group, c->name, v.text);
  cr_assert_eq(v.result, CT_PASSED, "%s %s: %s.%s: %s", i->plugin.name, i->plugin.set, c->group,
               c->name, v.text);
}
