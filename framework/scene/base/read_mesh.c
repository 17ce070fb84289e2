/* read_mesh.c - a mesh from a file of the config, notes on it, and its cleaning. */
#include <stdio.h>
#include <stdlib.h>

#include "core/suffix.h"
#include "mesh/clean.h"
#include "mesh/obj.h"
#include "mesh/tet_file.h"
#include "mesh/vtk.h"
#include "rig/surface.h"
#include "scene/base/build.h"

loom_status build_read_mesh(loom_err *err, const char *path, int is_ply, mesh *out)
{
  return is_ply ? ply_read(err, path, out) : obj_read(err, path, out);
}

int build_is_of_file(const object *o)
{
  if (o->kind == OBJECT_SOLID) return o->solid.shape == SOLID_MESH;
  const int shape = o->cloth.shape;
  return shape == CLOTH_OBJ || shape == CLOTH_PLY || shape == CLOTH_MESH;
}

loom_status build_read_any(builder *b, const char *path, mesh *out)
{
  int32_t welded = 0;
  if (has_suffix(path, ".ply") || has_suffix(path, ".obj")) {
    LOOM_TRY(build_read_mesh(b->err, path, has_suffix(path, ".ply"), out));
    return out->num_concave > 0 || out->num_unknown > 0 ? build_note_file(b, path, out) : LOOM_OK;
  }
  if (has_suffix(path, ".vtk")) {
    LOOM_TRY(vtk_read(b->err, path, out));
    free(out->tets); /* cloth and bodies are surfaces */
    out->tets = NULL;
    out->num_tets = 0;
    return out->num_concave > 0 || out->num_ignored > 0 ? build_note_file(b, path, out) : LOOM_OK;
  }
  LOOM_TRY(surface_import(b->err, path, out, &welded));
  if (welded == 0) return LOOM_OK;
  return build_note(b, "%s: %d vertices at the place of another one became one with it", path,
                    welded);
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

/* Notes on what was left out of a file of tetrahedra. */
static loom_status note_tets(builder *b, const char *label, const mesh *m)
{
  if (m->num_ignored > 0)
    LOOM_TRY(
        build_note(b, "%s: %d points, lines or faces were passed over", label, m->num_ignored));
  if (m->num_unused > 0)
    LOOM_TRY(build_note(b,
                        "%s: %d points without a tetrahedron are left out; ids count without them",
                        label, m->num_unused));
  if (m->num_repeated > 0)
    LOOM_TRY(build_note(b, "%s: %d tetrahedra of several physical groups were taken once", label,
                        m->num_repeated));
  if (m->num_turned > 0)
    LOOM_TRY(build_note(b,
                        "%s: all volumes are negative: the last two vertices of each of the %d "
                        "tetrahedra changed places",
                        label, m->num_turned));
  return LOOM_OK;
}

loom_status build_read_solid(builder *b, object *o)
{
  const char *const file = o->solid.file;
  if (o->solid.cell > 0)
    return build_place(
        b, o->sec, "cell",
        err_set(b->err, LOOM_E_CONFIG, "has no effect: %s has tetrahedra of its own", file));
  const loom_status st = tet_file_read(b->err, file, &o->m);
  if (st != LOOM_OK) return build_place(b, o->sec, "file", st);
  LOOM_TRY(build_check_room(b, o->sec, "file", &(scene_counts){.verts = o->m.num_verts}));
  snprintf(o->label, sizeof o->label, "%s", file);
  return note_tets(b, o->label, &o->m);
}

int build_has_valid_ids(const mesh *m)
{
  for (int64_t k = 0; k < 3 * (int64_t)m->num_tris; ++k)
    if (m->tris[k] < 0 || m->tris[k] >= m->num_verts) return 0;
  return 1;
}

loom_status build_clean(builder *b, const char *label, int which, mesh *m)
{
  clean_counts n;
  if (!build_has_valid_ids(m)) return LOOM_OK; /* the doctor tells */
  LOOM_TRY(clean_mesh(b->err, m, which, &n));
  if (m->num_tris == 0) return err_set(b->err, LOOM_E_CONFIG, "%s: no triangle has an area", label);
  if (n.flat == 0 && n.doubled == 0) return LOOM_OK;
  return build_note(b,
                    "%s: %d triangles without area and %d with the vertices of another one are "
                    "left out",
                    label, n.flat, n.doubled);
}
