/* plugins.h - the plugins of the build tree as parameters of Criterion tests. */
#ifndef TEST_CONTRACT_PLUGINS_H
#define TEST_CONTRACT_PLUGINS_H

#include <criterion/criterion.h>
#include <criterion/parameterized.h>

#include "contract/contract.h"

enum { PLUGINS_MOST = 256 };
/* Plugins in LOOM_PLUGIN_PATH that have a folder in this tree, by name; kind < 0: of every kind.  A
 * plugin that is two methods behind one parameter comes once for each.  Returns their number. */
size_t plugins_in_tree(int kind, ct_plugin list[PLUGINS_MOST]);
const char *plugins_folder(int kind);       /* "solvers" */
int plugins_is_variant(const ct_plugin *p); /* 1: not the plugin with its defaults */

#endif
