/* mesher.c - the module that triangulates and fills surfaces. */
#include "sewing_pattern/mesher.h"

#include <limits.h>
#include <stddef.h>

#include "core/module.h"

static const module_kind kind = {
    .variable = "LOOM_MESHER",
    .folder = "meshers",
    .file = "gmsh.so",
    .symbol = "loom_mesher_query",
    .need = "patterns, and solids from surfaces, need the module that meshes them",
    .remedy = "install Gmsh (Debian: libgmsh-dev) and build again",
};

loom_status mesher_open(loom_err *err, const loom_mesher **out)
{
  char file[PATH_MAX];
  loom_mesher_query_fn query = NULL;
  *out = NULL;
  LOOM_TRY(module_open(err, &kind, file, &query));
  const loom_mesher *const m = query(LOOM_MESHER_ABI);
  if (m == NULL || m->struct_size < sizeof *m || m->abi != LOOM_MESHER_ABI ||
      m->triangulate == NULL || m->release == NULL || m->name == NULL || m->version == NULL ||
      (m->tetrahedralise != NULL && m->release_solid == NULL))
    return err_set(err, LOOM_E_CONFIG,
                   "%s: is no module of loom/mesher.h, or one for another version", file);
  *out = m;
  return LOOM_OK;
}
