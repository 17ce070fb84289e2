/* factor_module.c - see factor_module.h. */
#include "linalg/factor_module.h"

#include "core/module_file.h"

loom_status factor_module_open(loom_err *err, const loom_factor **out)
{
  static const module_place place = {.variable = "LOOM_FACTOR",
                                     .folder = "factors",
                                     .file = "cholmod.so",
                                     .symbol = "loom_factor_query"};
  char file[PATH_MAX], prefix[PATH_MAX];
  module_function f;
  *out = NULL;
  LOOM_TRY(module_find(err, &place, file, prefix));
  if (file[0] == '\0') return LOOM_OK;
  loom_status s = module_load(err, file, place.symbol, &f);
  if (s == LOOM_OK) {
    const loom_factor_query_fn query = (loom_factor_query_fn)f;
    const loom_factor *const m = query != NULL ? query(LOOM_FACTOR_ABI) : NULL;
    const int whole = m != NULL && m->struct_size >= sizeof *m && m->abi == LOOM_FACTOR_ABI &&
                      m->open != NULL && m->close != NULL && m->analyse != NULL &&
                      m->factorise != NULL && m->solve != NULL && m->name != NULL;
    if (whole)
      *out = m;
    else
      s = err_set(err, LOOM_E_CONFIG, "is no module of loom/factor.h, or one for another version");
  }
  if (s != LOOM_OK) err_prefix(err, "%s", file);
  return s;
}
