/* read_mesh.c - a mesh from a file of the config: Wavefront OBJ or PLY. */
#include "mesh/obj.h"
#include "scene/base/build.h"

loom_status build_read_mesh(loom_err *err, const char *path, int is_ply, mesh *out)
{
  return is_ply ? ply_read(err, path, out) : obj_read(err, path, out);
}
