/* read_mesh.c - a mesh from a file of the config: Wavefront OBJ or PLY. */
#include <stdio.h>

#include "mesh/obj.h"
#include "scene/base/build.h"

loom_status build_read_mesh(loom_err *err, const char *path, int is_ply, mesh *out)
{
  return is_ply ? ply_read(err, path, out) : obj_read(err, path, out);
}

loom_status build_note_file(builder *b, const char *label, const mesh *m)
{
  char concave[64] = "";
  if (m->num_concave > 0) snprintf(concave, sizeof concave, ", %d of them concave", m->num_concave);
  if (m->num_split > 0)
    LOOM_TRY(
        build_note(b, "%s: %d polygons were cut into triangles%s", label, m->num_split, concave));
  if (m->num_ignored > 0)
    LOOM_TRY(
        build_note(b, "%s: %d points, lines or curves were passed over", label, m->num_ignored));
  if (m->num_unknown > 0)
    LOOM_TRY(build_note(b,
                        "%s: %d statements that OBJ does not have were passed over, the first is "
                        "\"%s\" in line %d",
                        label, m->num_unknown, m->unknown_word, m->unknown_line));
  return LOOM_OK;
}
