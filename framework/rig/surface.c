/* surface.c - see surface.h. */
#include "rig/surface.h"

#include <stdlib.h>
#include <string.h>

#include "mesh/merge.h"
#include "rig/reader.h"

/* Files of triangles alone (STL) repeat a vertex for each of them. */
static loom_status weld_surface(loom_err *err, const char *path, mesh *m, int32_t *welded)
{
  int32_t *leader, *map = NULL;
  LOOM_TRY(mesh_alloc(err, m->num_verts, sizeof *leader, &leader));
  loom_status s = mesh_alloc(err, m->num_verts, sizeof *map, &map);
  if (s == LOOM_OK) s = merge_coincident(err, m, NULL, 0, NULL, leader);
  if (s == LOOM_OK) s = merge_keep_sound(err, m, leader);
  if (s == LOOM_OK) s = merge_groups(err, m, path, leader, map, welded);
  free(leader);
  free(map);
  return s;
}

/* Meshes of a glTF may share one list of vertices, of which each uses a part. */
static loom_status drop_unused_verts(loom_err *err, mesh *m)
{
  int32_t *number, kept = 0;
  LOOM_TRY(mesh_alloc(err, m->num_verts, sizeof *number, &number));
  for (int64_t k = 0; k < 3 * (int64_t)m->num_tris; ++k) number[m->tris[k]] = 1;
  for (int32_t v = 0; v < m->num_verts; ++v) {
    if (!number[v]) continue;
    memmove(m->x + 3 * (int64_t)kept, m->x + 3 * (int64_t)v, 3 * sizeof *m->x);
    number[v] = kept++;
  }
  for (int64_t k = 0; k < 3 * (int64_t)m->num_tris; ++k) m->tris[k] = number[m->tris[k]];
  m->num_verts = kept;
  free(number);
  return LOOM_OK;
}

loom_status surface_import(loom_err *err, const char *path, mesh *out, int32_t *welded)
{
  loom_rig_file f;
  memset(out, 0, sizeof *out);
  *welded = 0;
  LOOM_TRY(rig_reader_surface(err, path, &f));
  out->num_verts = f.num_verts;
  out->num_tris = f.num_tris;
  out->num_ignored = f.left_out;
  out->x = f.x;
  out->tris = f.tris;
  f.x = NULL; /* the mesh has them */
  f.tris = NULL;
  rig_reader_free(&f);
  loom_status s = drop_unused_verts(err, out);
  if (s == LOOM_OK) s = weld_surface(err, path, out, welded);
  if (s != LOOM_OK) mesh_free(out);
  return s;
}
