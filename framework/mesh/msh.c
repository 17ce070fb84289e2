/* msh.c - reader of Gmsh's MSH files.  C. Geuzaine, J.-F. Remacle, "Gmsh reference manual", "Gmsh
 * file formats", versions 2.2 and 4.1. */
#include <stdlib.h>
#include <string.h>

#include "mesh/file_data.h"
#include "mesh/tet_file.h"
#include "mesh/topo.h"

enum { TYPE_TET = 4, NUM_TYPES = 32, MAX_NODES = 64 };
/* Nodes of each type of element; 0: unknown. */
static const unsigned char nodes_of[NUM_TYPES] = {0,  2,  3,  4,  4, 8, 6,  5,  3,  6, 9,
                                                  10, 27, 18, 14, 1, 8, 20, 15, 13, 9, 10,
                                                  12, 15, 15, 21, 4, 5, 6,  20, 35, 56};
/* Bit t: elements of type t fill a volume. */
static const uint32_t volume_types = 1u << 4 | 1u << 5 | 1u << 6 | 1u << 7 | 1u << 11 | 1u << 12 |
                                     1u << 13 | 1u << 14 | 1u << 17 | 1u << 18 | 1u << 19 |
                                     1u << 29 | 1u << 30 | 1u << 31;

typedef struct msh_reader {
  file_data d;
  mesh *m;
  int old; /* version 2 */
  int has_elements;
  int64_t *node;   /* [num_verts] the number of each node in the file */
  int64_t *corner; /* [num_corners] numbers of the nodes of tetrahedra */
  int64_t num_corners, cap_corners;
} msh_reader;

static loom_status read_msh_int(msh_reader *r, int type, int64_t least, int64_t most,
                                int64_t *value)
{
  return file_data_int(&r->d, type, "expected a whole number in its range, not", least, most,
                       value);
}

/* Counts and tags of version 4 are 64 bits wide, of version 2 are 32. */
static loom_status read_msh_count(msh_reader *r, int64_t *count)
{
  return file_data_int(&r->d, FILE_U64, "expected a count, not", 0, FILE_MAX_ITEMS, count);
}

static loom_status read_msh_tag(msh_reader *r, int64_t *tag)
{
  return read_msh_int(r, r->old ? FILE_I32 : FILE_I64, 0, INT64_MAX, tag);
}

/* ---- nodes ---- */

static loom_status read_msh_point(msh_reader *r, int64_t row, int64_t more)
{
  double parameter;
  for (int c = 0; c < 3; ++c)
    LOOM_TRY(file_data_real(&r->d, FILE_F64, "expected a coordinate, not", &r->m->x[3 * row + c]));
  for (int64_t c = 0; c < more; ++c)
    LOOM_TRY(file_data_real(&r->d, FILE_F64, "expected a parameter, not", &parameter));
  return LOOM_OK;
}

/* Of one entity: all numbers, then all points. */
static loom_status read_node_block(msh_reader *r, int64_t *done, int64_t total)
{
  int64_t dim, tag, parametric, count;
  LOOM_TRY(read_msh_int(r, FILE_I32, 0, 3, &dim));
  LOOM_TRY(read_msh_int(r, FILE_I32, INT32_MIN, INT32_MAX, &tag));
  LOOM_TRY(read_msh_int(r, FILE_I32, 0, 1, &parametric));
  LOOM_TRY(read_msh_count(r, &count));
  if (count > total - *done)
    return file_data_fail(&r->d, "the blocks of nodes have more nodes than $Nodes says", NULL, 0);
  for (int64_t k = 0; k < count; ++k) LOOM_TRY(read_msh_tag(r, &r->node[*done + k]));
  for (int64_t k = 0; k < count; ++k) LOOM_TRY(read_msh_point(r, *done + k, parametric ? dim : 0));
  *done += count;
  return LOOM_OK;
}

static loom_status read_msh_nodes(msh_reader *r)
{
  int64_t blocks = 0, total = 0, least, most, done = 0;
  const int binary = r->d.binary;
  if (r->m->x != NULL) return file_data_fail(&r->d, "a second list of", "$Nodes", 6);
  if (r->old) {
    r->d.binary = 0; /* the count is text also in binary files */
    LOOM_TRY(read_msh_count(r, &total));
    r->d.binary = binary;
    if (binary) file_data_skip_line(&r->d);
  } else {
    LOOM_TRY(read_msh_count(r, &blocks));
    LOOM_TRY(read_msh_count(r, &total));
    LOOM_TRY(read_msh_int(r, FILE_I64, 0, INT64_MAX, &least));
    LOOM_TRY(read_msh_int(r, FILE_I64, 0, INT64_MAX, &most));
  }
  LOOM_TRY(file_data_check_room(&r->d, 4 * total, 4));
  LOOM_TRY(mesh_alloc(r->d.err, 3 * total, sizeof *r->m->x, &r->m->x));
  LOOM_TRY(mesh_alloc(r->d.err, total, sizeof *r->node, &r->node));
  for (int64_t k = 0; r->old && k < total; ++k) {
    LOOM_TRY(read_msh_tag(r, &r->node[k]));
    LOOM_TRY(read_msh_point(r, k, 0));
  }
  for (int64_t k = 0; k < blocks; ++k) LOOM_TRY(read_node_block(r, &done, total));
  if (!r->old && done != total)
    return file_data_fail(&r->d, "the blocks of nodes have fewer nodes than $Nodes says", NULL, 0);
  r->m->num_verts = (int32_t)total;
  return LOOM_OK;
}

/* ---- elements ---- */

static loom_status check_msh_type(msh_reader *r, int64_t type)
{
  if (nodes_of[type] == 0)
    return file_data_fail(&r->d, "an element of a type that is not known", NULL, 0);
  if (type == TYPE_TET || !(volume_types >> type & 1)) return LOOM_OK;
  return file_data_fail(&r->d,
                        "a volume that is no tetrahedron of four nodes; save the mesh with "
                        "elements of order 1 and without hexahedra, prisms and pyramids",
                        NULL, 0);
}

/* The nodes of one element; those of tetrahedra are kept. */
static loom_status read_msh_corners(msh_reader *r, int64_t type)
{
  int64_t node[MAX_NODES];
  for (int k = 0; k < nodes_of[type]; ++k) LOOM_TRY(read_msh_tag(r, &node[k]));
  if (type != TYPE_TET) {
    r->m->num_ignored += r->m->num_ignored < INT32_MAX;
    return LOOM_OK;
  }
  if (r->num_corners == r->cap_corners) {
    const int64_t cap = r->cap_corners < 2048 ? 4096 : 2 * r->cap_corners;
    int64_t *const p =
        cap > 4 * (int64_t)FILE_MAX_ITEMS ? NULL : realloc(r->corner, (size_t)cap * sizeof *p);
    if (p == NULL)
      return err_set(r->d.err, LOOM_E_NOMEM, "%s: no memory for %lld tetrahedra", r->d.name,
                     (long long)cap / 4);
    r->corner = p;
    r->cap_corners = cap;
  }
  memcpy(r->corner + r->num_corners, node, 4 * sizeof *node);
  r->num_corners += 4;
  return LOOM_OK;
}

/* Version 2: number, then tags, then nodes, after the type of each in text, of a group in binary.
 */
static loom_status read_old_element(msh_reader *r, int64_t type, int64_t tags)
{
  int64_t tag;
  for (int64_t k = 0; k < tags; ++k)
    LOOM_TRY(read_msh_int(r, FILE_I32, INT32_MIN, INT32_MAX, &tag));
  return read_msh_corners(r, type);
}

static loom_status read_old_elements(msh_reader *r)
{
  const int binary = r->d.binary;
  int64_t total, number, type, tags, group = 1;
  r->d.binary = 0;
  LOOM_TRY(read_msh_count(r, &total));
  r->d.binary = binary;
  if (binary) file_data_skip_line(&r->d);
  for (int64_t done = 0; done < total; done += group) {
    if (!binary) LOOM_TRY(read_msh_int(r, FILE_I32, INT32_MIN, INT32_MAX, &number));
    LOOM_TRY(read_msh_int(r, FILE_I32, 0, NUM_TYPES - 1, &type));
    if (binary) LOOM_TRY(read_msh_int(r, FILE_I32, 1, total - done, &group));
    LOOM_TRY(read_msh_int(r, FILE_I32, 0, MAX_NODES, &tags));
    LOOM_TRY(check_msh_type(r, type));
    for (int64_t k = 0; k < group; ++k)
      LOOM_TRY(read_old_element(r, type, tags + binary)); /* binary: the number stands with them */
  }
  return LOOM_OK;
}

static loom_status read_msh_elements(msh_reader *r)
{
  int64_t blocks, total, least, most, dim, tag, type, count;
  r->has_elements = 1;
  if (r->old) return read_old_elements(r);
  LOOM_TRY(read_msh_count(r, &blocks));
  LOOM_TRY(read_msh_count(r, &total));
  LOOM_TRY(read_msh_int(r, FILE_I64, 0, INT64_MAX, &least));
  LOOM_TRY(read_msh_int(r, FILE_I64, 0, INT64_MAX, &most));
  for (int64_t b = 0; b < blocks; ++b) {
    LOOM_TRY(read_msh_int(r, FILE_I32, 0, 3, &dim));
    LOOM_TRY(read_msh_int(r, FILE_I32, INT32_MIN, INT32_MAX, &tag));
    LOOM_TRY(read_msh_int(r, FILE_I32, 0, NUM_TYPES - 1, &type));
    LOOM_TRY(read_msh_count(r, &count));
    LOOM_TRY(check_msh_type(r, type));
    for (int64_t k = 0; k < count; ++k) {
      LOOM_TRY(read_msh_tag(r, &tag));
      LOOM_TRY(read_msh_corners(r, type));
    }
  }
  return LOOM_OK;
}

/* ---- numbers of nodes ---- */

typedef struct numbered {
  int64_t node, row;
} numbered;

static int compare_msh_nodes(const void *a, const void *b)
{
  const numbered *const p = a, *const q = b;
  return p->node != q->node ? (p->node > q->node) - (p->node < q->node)
                            : (p->row > q->row) - (p->row < q->row);
}

/* Nodes in ascending order of their numbers; NULL where these count from 1 on. */
static loom_status sort_msh_nodes(msh_reader *r, numbered **out)
{
  const int64_t n = r->m->num_verts;
  int64_t in_order = 0;
  *out = NULL;
  while (in_order < n && r->node[in_order] == in_order + 1) ++in_order;
  if (in_order == n) return LOOM_OK;
  LOOM_TRY(mesh_alloc(r->d.err, n, sizeof **out, out));
  for (int64_t k = 0; k < n; ++k) (*out)[k] = (numbered){r->node[k], k};
  qsort(*out, (size_t)n, sizeof **out, compare_msh_nodes);
  for (int64_t k = 1; k < n; ++k)
    if ((*out)[k].node == (*out)[k - 1].node)
      return err_set(r->d.err, LOOM_E_IO, "%s: node %lld is there twice", r->d.name,
                     (long long)(*out)[k].node);
  return LOOM_OK;
}

static int64_t find_msh_row(const numbered *sorted, int64_t n, int64_t node)
{
  if (sorted == NULL) return node >= 1 && node <= n ? node - 1 : -1;
  const numbered key = {node, -1};
  int64_t low = 0, high = n; /* the first that is not before the key */
  while (low < high) {
    const int64_t middle = low + (high - low) / 2;
    if (compare_msh_nodes(&sorted[middle], &key) < 0)
      low = middle + 1;
    else
      high = middle;
  }
  return low < n && sorted[low].node == node ? sorted[low].row : -1;
}

static loom_status place_msh_tets(msh_reader *r)
{
  numbered *sorted = NULL;
  mesh *const m = r->m;
  if (m->x == NULL || !r->has_elements)
    return err_set(r->d.err, LOOM_E_IO, "%s: holds no %s", r->d.name,
                   m->x == NULL ? "$Nodes" : "$Elements");
  LOOM_TRY(mesh_alloc(r->d.err, r->num_corners, sizeof *m->tets, &m->tets));
  loom_status s = sort_msh_nodes(r, &sorted);
  for (int64_t k = 0; k < r->num_corners && s == LOOM_OK; ++k) {
    const int64_t row = find_msh_row(sorted, m->num_verts, r->corner[k]);
    if (row < 0)
      s = err_set(r->d.err, LOOM_E_IO,
                  "%s: tetrahedron %lld (from 0) has the node %lld, which $Nodes has not",
                  r->d.name, (long long)k / 4, (long long)r->corner[k]);
    else
      m->tets[k] = (int32_t)row;
  }
  m->num_tets = (int32_t)(r->num_corners / 4);
  free(sorted);
  return s;
}

/* Version 2 lists an element once for each of its physical groups: the first one stays. */
static loom_status drop_repeated_msh_tets(const msh_reader *r)
{
  mesh *const m = r->m;
  const int64_t n = m->num_tets;
  int32_t *key = NULL, *order = NULL, kept = 0;
  loom_status s = mesh_alloc(r->d.err, 4 * n, sizeof *key, &key);
  if (s == LOOM_OK) s = mesh_alloc(r->d.err, n, sizeof *order, &order);
  for (int64_t k = 0; k < 4 * n && s == LOOM_OK; ++k) { /* corners in ascending order */
    const int32_t *const t = m->tets + k / 4 * 4, v = m->tets[k];
    int place = 0;
    for (int a = 0; a < 4; ++a) place += t[a] < v || (t[a] == v && a < k % 4);
    key[k / 4 * 4 + place] = v;
  }
  if (s == LOOM_OK) s = topo_sort_rows(r->d.err, key, n, 4, m->num_verts, order);
  for (int64_t k = n - 1; k > 0 && s == LOOM_OK; --k)
    if (memcmp(key + 4 * (int64_t)order[k], key + 4 * (int64_t)order[k - 1], 4 * sizeof *key) == 0)
      m->tets[4 * (int64_t)order[k]] = -1;
  for (int64_t t = 0; t < n && s == LOOM_OK; ++t)
    if (m->tets[4 * t] >= 0)
      memmove(m->tets + 4 * (int64_t)kept++, m->tets + 4 * t, 4 * sizeof *m->tets);
  if (s == LOOM_OK) {
    m->num_repeated = m->num_tets - kept;
    m->num_tets = kept;
  }
  free(key);
  free(order);
  return s;
}

/* ---- the file ---- */

static loom_status read_msh_format(msh_reader *r)
{
  double version = 0;
  int64_t binary = 0, size = 0;
  LOOM_TRY(file_data_real(&r->d, FILE_F64, "expected the version, not", &version));
  r->old = version >= 2 && version < 3;
  if (!r->old && !(version > 4.05 && version < 4.15))
    return file_data_fail(&r->d, "only versions 2.2 and 4.1 are read; save it as one of them", NULL,
                          0);
  LOOM_TRY(read_msh_int(r, FILE_I32, 0, 1, &binary));
  LOOM_TRY(read_msh_int(r, FILE_I32, 8, 8, &size));
  if (!binary) return LOOM_OK;
  file_data_skip_line(&r->d);
  if (r->d.end - r->d.p < 4) return file_data_fail(&r->d, "the file ends in its header", NULL, 0);
  r->d.binary = 1;
  r->d.big_endian = r->d.p[0] == 0;
  return file_data_int(&r->d, FILE_I32, "is no number 1 that tells the order of bytes", 1, 1,
                       &size);
}

/* Behind a section: its line "$End...".  Of one that is passed over: from its start. */
static loom_status end_msh_section(msh_reader *r, const char *name, size_t len, int passed)
{
  file_data *const d = &r->d;
  for (const char *q = d->p; q < d->end; ++q) {
    if (*q == '$' && (size_t)(d->end - q) >= len + 4 && memcmp(q, "$End", 4) == 0 &&
        memcmp(q + 4, name, len) == 0) {
      d->p = q + 4 + len;
      return LOOM_OK;
    }
    if (!passed && strchr(" \t\r\n", *q) == NULL) {
      d->p = q;
      return file_data_fail(d, "a section goes on behind its last number", NULL, 0);
    }
  }
  return file_data_fail(d, "the file ends before the end of the section", name, len);
}

static loom_status read_msh_sections(msh_reader *r)
{
  file_data *const d = &r->d;
  for (int first = 1;; first = 0) {
    const int binary = d->binary;
    size_t len;
    d->binary = 0; /* names are text */
    const char *word = file_data_word(d, &len);
    if (len == 0 && d->p >= d->end && !first) return LOOM_OK;
    if (len < 2 || *word != '$' || first != file_data_is(word, len, "$MeshFormat")) {
      d->p = word;
      return first ? file_data_fail(d, "is no MSH file of Gmsh, begins with", word, len)
                   : file_data_fail(d, "expected the name of a section, not", word, len);
    }
    d->binary = binary;
    const int nodes = file_data_is(word, len, "$Nodes");
    const int elements = file_data_is(word, len, "$Elements");
    if (binary) file_data_skip_line(d);
    if (first) LOOM_TRY(read_msh_format(r));
    if (nodes) LOOM_TRY(read_msh_nodes(r));
    if (elements) LOOM_TRY(read_msh_elements(r));
    LOOM_TRY(end_msh_section(r, word + 1, len - 1, !first && !nodes && !elements));
  }
}

loom_status msh_parse(loom_err *err, const char *name, const char *text, size_t len, mesh *out)
{
  msh_reader r = {.d = {.err = err, .name = name, .text = text, .p = text, .end = text + len},
                  .m = out};
  memset(out, 0, sizeof *out);
  loom_status s = read_msh_sections(&r);
  if (s == LOOM_OK) s = place_msh_tets(&r);
  if (s == LOOM_OK && r.old) s = drop_repeated_msh_tets(&r);
  free(r.node);
  free(r.corner);
  if (s != LOOM_OK) mesh_free(out);
  return s;
}
