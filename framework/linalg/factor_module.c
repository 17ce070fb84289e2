/* factor_module.c - the module that factorises. */
#include "linalg/factor_module.h"

#include <limits.h>
#include <stddef.h>

#include "core/module.h"

static const module_kind kind = {.variable = "LOOM_FACTOR",
                                 .folder = "factors",
                                 .file = "cholmod.so",
                                 .symbol = "loom_factor_query"};

loom_status factor_module_open(loom_err *err, const loom_factor **out)
{
  char file[PATH_MAX];
  loom_factor_query_fn query = NULL;
  *out = NULL;
  LOOM_TRY(module_open(err, &kind, file, &query));
  if (query == NULL) return LOOM_OK;
  const loom_factor *const m = query(LOOM_FACTOR_ABI);
  if (m == NULL || m->struct_size < sizeof *m || m->abi != LOOM_FACTOR_ABI || m->open == NULL ||
      m->close == NULL || m->analyse == NULL || m->factorise == NULL || m->solve == NULL ||
      m->norm2 == NULL || m->name == NULL)
    return err_set(err, LOOM_E_CONFIG,
                   "%s: is no module of loom/factor.h, or one for another version", file);
  *out = m;
  return LOOM_OK;
}
