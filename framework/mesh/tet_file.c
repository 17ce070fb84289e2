/* tet_file.c - files of tetrahedra by their suffix, and the parts that all formats share. */
#include "mesh/tet_file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config/words.h"
#include "core/suffix.h"
#include "mesh/tet_surface.h"
#include "mesh/vtk.h"

int tet_file_is(const char *path)
{
  static const char *const suffixes[] = {".msh", ".vtk", ".vtu", ".node", ".ele"};
  for (size_t k = 0; k < sizeof suffixes / sizeof *suffixes; ++k)
    if (has_suffix(path, suffixes[k])) return 1;
  return 0;
}

/* Points without a tetrahedron leave; the others keep their order. */
static loom_status drop_unused_points(loom_err *err, mesh *m)
{
  int32_t *row, kept = 0;
  LOOM_TRY(mesh_alloc(err, m->num_verts, sizeof *row, &row));
  for (int64_t k = 0; k < 4 * (int64_t)m->num_tets; ++k) row[m->tets[k]] = 1;
  for (int64_t i = 0; i < m->num_verts; ++i) {
    if (row[i] == 0) continue;
    memmove(m->x + 3 * (int64_t)kept, m->x + 3 * i, 3 * sizeof *m->x);
    row[i] = kept++;
  }
  for (int64_t k = 0; k < 4 * (int64_t)m->num_tets; ++k) m->tets[k] = row[m->tets[k]];
  m->num_unused = m->num_verts - kept;
  m->num_verts = kept;
  free(row);
  return LOOM_OK;
}

static void turn_negative_tets(mesh *m)
{
  for (int64_t t = 0; t < m->num_tets; ++t)
    if (!(tet_six_volumes(m, t) < 0)) return;
  for (int64_t t = 0; t < m->num_tets; ++t) {
    const int32_t third = m->tets[4 * t + 2];
    m->tets[4 * t + 2] = m->tets[4 * t + 3];
    m->tets[4 * t + 3] = third;
  }
  m->num_turned = m->num_tets;
}

loom_status tet_file_finish(loom_err *err, const char *name, mesh *m)
{
  if (m->num_tets == 0)
    return err_set(err, LOOM_E_IO,
                   "%s: holds no tetrahedra; a closed surface to be filled with them is read as "
                   "OBJ, PLY or STL",
                   name);
  LOOM_TRY(drop_unused_points(err, m));
  turn_negative_tets(m);
  free(m->tris);
  m->tris = NULL;
  m->num_tris = 0;
  return tet_surface(err, m, &m->tris, &m->num_tris);
}

typedef loom_status (*parse_fn)(loom_err *err, const char *name, const char *text, size_t len,
                                mesh *out);

static loom_status read_one_file(loom_err *err, const char *path, parse_fn parse, mesh *out)
{
  char *text;
  size_t len;
  LOOM_TRY(words_file(err, path, &text, &len));
  const loom_status s = parse(err, path, text, len, out);
  free(text);
  return s;
}

/* Either of the two files names both. */
static loom_status read_tetgen(loom_err *err, const char *path, mesh *out)
{
  const int stem = (int)(strrchr(path, '.') - path);
  char *name[2] = {NULL, NULL}, *text[2] = {NULL, NULL};
  size_t len[2] = {0, 0};
  static const char *const suffix[2] = {".node", ".ele"};
  loom_status s = LOOM_OK;
  for (int k = 0; k < 2 && s == LOOM_OK; ++k) {
    const size_t size = (size_t)stem + sizeof ".node";
    s = mesh_alloc(err, (int64_t)size, 1, &name[k]);
    if (s == LOOM_OK) {
      snprintf(name[k], size, "%.*s%s", stem, path, suffix[k]);
      s = words_file(err, name[k], &text[k], &len[k]);
    }
  }
  if (s == LOOM_OK)
    s = tetgen_parse(err, &(tetgen_text){name[0], text[0], len[0]},
                     &(tetgen_text){name[1], text[1], len[1]}, out);
  for (int k = 0; k < 2; ++k) {
    free(name[k]);
    free(text[k]);
  }
  return s;
}

loom_status tet_file_read(loom_err *err, const char *path, mesh *out)
{
  loom_status s;
  memset(out, 0, sizeof *out);
  if (has_suffix(path, ".msh"))
    s = read_one_file(err, path, msh_parse, out);
  else if (has_suffix(path, ".vtu"))
    s = read_one_file(err, path, vtu_parse, out);
  else if (has_suffix(path, ".vtk"))
    s = vtk_read(err, path, out);
  else
    s = read_tetgen(err, path, out);
  if (s == LOOM_OK) s = tet_file_finish(err, path, out);
  if (s != LOOM_OK) mesh_free(out);
  return s;
}
