/* Every plugin of the tree against every check of one group of the contract (GROUP).
 *
 * A test is a plugin with all its checks, as the start of a process costs more than most of them
 * do; each check runs in a child of its own (ct_run_check), so one that crashes fails alone. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "contract/plugins.h"

static int is_check_applicable(const ct_check *c, const ct_plugin *p)
{
  return strcmp(c->group, GROUP) == 0 && (c->kind < 0 || c->kind == p->kind);
}

ParameterizedTestParameters(contract, checks)
{
  static ct_plugin all[PLUGINS_MOST]; /* a parent's list: children only get their item */
  int num;
  const ct_check *const checks = ct_checks(&num);
  const size_t n = plugins_in_tree(-1, all);
  ct_plugin *const list = cr_malloc(n * sizeof *list);
  size_t items = 0;
  for (size_t i = 0; i < n; ++i)
    for (int k = 0; k < num; ++k)
      if (is_check_applicable(&checks[k], &all[i])) {
        list[items++] = all[i];
        break;
      }
  return cr_make_param_array(ct_plugin, list, items, NULL);
}
ParameterizedTest(const ct_plugin *p, contract, checks)
{
  /* by the clock: the limit of the test, in processor time, comes before */
  enum { LIMIT = 3600 }; /* s */
  int num;
  const ct_check *const checks = ct_checks(&num);
  registry *reg = NULL;
  loom_err err = {0};
  unsetenv("LOOM_MEM_CHECK"); /* checks say themselves where they want it */
  /* modules that are open here need not be relocated in each child: that took longer than most
   * checks */
  cr_assert_eq(registry_open(&err, "", &reg), LOOM_OK, "%s", err.text);
  registry_close(reg);
  for (int k = 0; k < num; ++k) {
    const ct_check *const c = &checks[k];
    ct_verdict v;
    if (!is_check_applicable(c, p)) continue;
    ct_run_check(c, p, LIMIT, &v);
    printf("%s %s: %s.%s: %s%s%s\n", p->name, p->set, c->group, c->name,
           v.result == CT_PASSED    ? "passed"
           : v.result == CT_SKIPPED ? "skipped"
                                    : "failed",
           v.text[0] != '\0' ? ": " : "", v.text);
    fflush(stdout); /* or children would print it, too */
    cr_expect(v.result != CT_FAILED, "%s %s: %s.%s: %s", p->name, p->set, c->group, c->name,
              v.text);
  }
}
