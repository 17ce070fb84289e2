/* tetgen.c - reader of TetGen's .node and .ele files.  H. Si, "TetGen: A quality tetrahedral mesh
 * generator and a 3D Delaunay triangulator", user's manual 1.5, section 5.2. */
#include <string.h>

#include "mesh/file_data.h"
#include "mesh/tet_file.h"

enum { MAX_EXTRA = 1 << 16 }; /* attributes of a row */

static file_data open_tetgen(loom_err *err, const tetgen_text *t)
{
  return (file_data){.err = err,
                     .name = t->name,
                     .text = t->text,
                     .p = t->text,
                     .end = t->text + t->len,
                     .comments = 1};
}

static loom_status skip_attributes(file_data *d, int64_t count)
{
  double value;
  for (int64_t k = 0; k < count; ++k)
    LOOM_TRY(file_data_real(d, FILE_F64, "expected an attribute, not", &value));
  return LOOM_OK;
}

/* Header: points, dimension, attributes, 1 with markers. */
static loom_status read_tetgen_nodes(file_data *d, int64_t *first, mesh *m)
{
  int64_t num = 0, dim, extra = 0, marker = 0, id;
  LOOM_TRY(
      file_data_int(d, FILE_I64, "expected the number of points, not", 1, FILE_MAX_ITEMS, &num));
  LOOM_TRY(file_data_int(d, FILE_I64, "expected the dimension 3, not", 3, 3, &dim));
  LOOM_TRY(
      file_data_int(d, FILE_I64, "expected the number of attributes, not", 0, MAX_EXTRA, &extra));
  LOOM_TRY(file_data_int(d, FILE_I64, "expected 0 or 1 for boundary markers, not", 0, 1, &marker));
  LOOM_TRY(file_data_check_room(d, 4 * num, 2));
  LOOM_TRY(mesh_alloc(d->err, 3 * num, sizeof *m->x, &m->x));
  *first = 0;
  for (int64_t k = 0; k < num; ++k) {
    LOOM_TRY(file_data_int(d, FILE_I64, "expected the id of a point, ascending from 0 or 1, not",
                           k == 0 ? 0 : *first + k, k == 0 ? 1 : *first + k, &id));
    if (k == 0) *first = id;
    for (int c = 0; c < 3; ++c)
      LOOM_TRY(file_data_real(d, FILE_F64, "expected a coordinate, not", &m->x[3 * k + c]));
    LOOM_TRY(skip_attributes(d, extra + marker));
  }
  m->num_verts = (int32_t)num;
  return LOOM_OK;
}

/* Header: tetrahedra, nodes of each, attributes. */
static loom_status read_tetgen_tets(file_data *d, int64_t first, mesh *m)
{
  int64_t num = 0, nodes, extra = 0, id;
  LOOM_TRY(file_data_int(d, FILE_I64, "expected the number of tetrahedra, not", 1, FILE_MAX_ITEMS,
                         &num));
  LOOM_TRY(file_data_int(d, FILE_I64,
                         "expected 4 nodes a tetrahedron (10, of second order, are not read; run "
                         "tetgen without -o2), not",
                         4, 4, &nodes));
  LOOM_TRY(
      file_data_int(d, FILE_I64, "expected the number of attributes, not", 0, MAX_EXTRA, &extra));
  LOOM_TRY(file_data_check_room(d, 5 * num, 2));
  LOOM_TRY(mesh_alloc(d->err, 4 * num, sizeof *m->tets, &m->tets));
  for (int64_t k = 0; k < num; ++k) {
    LOOM_TRY(
        file_data_int(d, FILE_I64, "expected the id of a tetrahedron, not", 0, INT64_MAX, &id));
    for (int c = 0; c < 4; ++c) {
      LOOM_TRY(file_data_int(d, FILE_I64, "expected the id of a point of the .node file, not",
                             first, first + m->num_verts - 1, &id));
      m->tets[4 * k + c] = (int32_t)(id - first);
    }
    LOOM_TRY(skip_attributes(d, extra));
  }
  m->num_tets = (int32_t)num;
  return LOOM_OK;
}

loom_status tetgen_parse(loom_err *err, const tetgen_text *node, const tetgen_text *ele, mesh *out)
{
  file_data points = open_tetgen(err, node), tets = open_tetgen(err, ele);
  int64_t first = 0;
  memset(out, 0, sizeof *out);
  loom_status s = read_tetgen_nodes(&points, &first, out);
  if (s == LOOM_OK) s = read_tetgen_tets(&tets, first, out);
  if (s != LOOM_OK) mesh_free(out);
  return s;
}
