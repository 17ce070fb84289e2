/* mesher.c - finding and opening the module that triangulates. */
#include "pattern/mesher.h"

#include "core/module_file.h"

static loom_status open_file(loom_err *err, const char *file, const char *symbol,
                             const loom_mesher **out)
{
  module_function f;
  LOOM_TRY(module_load(err, file, symbol, &f));
  const loom_mesher_query_fn query = (loom_mesher_query_fn)f;
  const loom_mesher *const m = query != NULL ? query(LOOM_MESHER_ABI) : NULL;
  if (m == NULL || m->struct_size < sizeof *m || m->abi != LOOM_MESHER_ABI ||
      m->triangulate == NULL || m->release == NULL || m->name == NULL || m->version == NULL)
    return err_set(err, LOOM_E_CONFIG, "is no module of loom/mesher.h, or one for another version");
  *out = m;
  return LOOM_OK;
}

loom_status mesher_open(loom_err *err, const loom_mesher **out)
{
  static const module_place place = {.variable = "LOOM_MESHER",
                                     .folder = "meshers",
                                     .file = "gmsh.so",
                                     .symbol = "loom_mesher_query"};
  char file[PATH_MAX], prefix[PATH_MAX];
  *out = NULL;
  LOOM_TRY(module_find(err, &place, file, prefix));
  if (file[0] == '\0')
    return err_set(err, LOOM_E_CONFIG,
                   "patterns need the module that triangulates them, and there is no gmsh.so in "
                   "%s/lib/loom/meshers, %s/meshers; install Gmsh (Debian: libgmsh-dev) and build "
                   "again",
                   prefix, prefix);
  const loom_status s = open_file(err, file, place.symbol, out);
  if (s != LOOM_OK) err_prefix(err, "%s", file);
  return s;
}
