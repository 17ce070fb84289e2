/* Files of tetrahedra: a block in every format and encoding comes back with the same bits of points
 * and tetrahedra, its outer faces are those of the generator, faults are told with their place. */
#define _DEFAULT_SOURCE
#include <criterion/criterion.h>
#include <float.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mesh/tet_file.h"
#include "mesh/tet_surface.h"
#include "mesh/vtk.h"

/* ---- writing ---- */

typedef struct text_out {
  char *text;
  size_t len, room;
  int binary, big_endian;
} text_out;

static void put_chars(text_out *o, const void *bytes, size_t n)
{
  if (o->len + n + 1 > o->room) {
    o->room = 2 * (o->len + n + 1);
    o->text = realloc(o->text, o->room);
    cr_assert(o->text != NULL);
  }
  if (n > 0) memcpy(o->text + o->len, bytes, n);
  o->len += n;
  o->text[o->len] = '\0';
}

static void put_words(text_out *o, const char *fmt, ...) LOOM_PRINTF(2, 3);
static void put_words(text_out *o, const char *fmt, ...)
{
  char line[512];
  va_list ap;
  va_start(ap, fmt);
  const int n = vsnprintf(line, sizeof line, fmt, ap);
  va_end(ap);
  cr_assert(n >= 0 && n < (int)sizeof line);
  put_chars(o, line, (size_t)n);
}

static void put_whole(text_out *o, int64_t value, int bytes)
{
  char b[8];
  if (!o->binary) {
    put_words(o, "%lld ", (long long)value);
    return;
  }
  for (int k = 0; k < bytes; ++k)
    b[o->big_endian ? bytes - 1 - k : k] = (char)((uint64_t)value >> 8 * k & 255);
  put_chars(o, b, (size_t)bytes);
}

static void put_double(text_out *o, double value)
{
  uint64_t bits;
  memcpy(&bits, &value, sizeof bits);
  if (o->binary)
    put_whole(o, (int64_t)bits, 8);
  else
    put_words(o, "%.17g ", value);
}

static void end_line(text_out *o)
{
  if (!o->binary) put_words(o, "\n");
}

static void put_msh_head(text_out *o, const char *version)
{
  put_words(o, "$MeshFormat\n%s %d 8\n", version, o->binary);
  if (o->binary) {
    put_whole(o, 1, 4);
    put_words(o, "\n");
  }
  put_words(o, "$EndMeshFormat\n$PhysicalNames\n1\n3 1 \"a block\"\n$EndPhysicalNames\n");
}

static void put_msh2(text_out *o, const mesh *m)
{
  put_msh_head(o, "2.2");
  put_words(o, "$Nodes\n%d\n", m->num_verts);
  for (int32_t i = 0; i < m->num_verts; ++i) {
    put_whole(o, i + 1, 4);
    for (int c = 0; c < 3; ++c) put_double(o, m->x[3 * i + c]);
    end_line(o);
  }
  put_words(o, "\n$EndNodes\n$Elements\n%d\n", m->num_tets + 1);
  for (int32_t t = -1; t < m->num_tets; ++t) { /* a triangle stands before the tetrahedra */
    if (!o->binary) put_whole(o, t + 2, 4);
    if (!o->binary || t < 1) put_whole(o, t < 0 ? 2 : 4, 4);
    if (o->binary && t < 1) put_whole(o, t < 0 ? 1 : m->num_tets, 4);
    if (!o->binary || t < 1) put_whole(o, 2, 4);
    if (o->binary) put_whole(o, t + 2, 4);
    put_whole(o, 1, 4);
    put_whole(o, -7, 4);
    for (int k = 0; k < (t < 0 ? 3 : 4); ++k)
      put_whole(o, t < 0 ? k + 1 : m->tets[4 * t + k] + 1, 4);
    end_line(o);
  }
  put_words(o, "\n$EndElements\n");
}

/* Two blocks of nodes, the first one with parameters on a curve; numbers in steps of `stride`. */
static void put_msh4(text_out *o, const mesh *m, int64_t stride)
{
  const int32_t n = m->num_verts, half = n / 2;
  put_msh_head(o, "4.1");
  put_words(o, "$Entities\n");
  if (o->binary) put_chars(o, "\0\1\2$\3\n", 6);
  put_words(o, "\n$EndEntities\n$Nodes\n");
  const int64_t head[4] = {2, n, stride, n * stride};
  for (int k = 0; k < 4; ++k) put_whole(o, head[k], 8);
  end_line(o);
  for (int b = 0; b < 2; ++b) {
    const int32_t from = b == 0 ? 0 : half, to = b == 0 ? half : n;
    put_whole(o, b == 0 ? 1 : 3, 4);
    put_whole(o, 1, 4);
    put_whole(o, b == 0, 4);
    put_whole(o, to - from, 8);
    end_line(o);
    for (int32_t i = from; i < to; ++i) {
      put_whole(o, (n - i) * stride, 8); /* descending */
      end_line(o);
    }
    for (int32_t i = from; i < to; ++i) {
      for (int c = 0; c < 3; ++c) put_double(o, m->x[3 * i + c]);
      if (b == 0) put_double(o, 0.25);
      end_line(o);
    }
  }
  put_words(o, "\n$EndNodes\n$Elements\n");
  const int64_t sizes[4] = {2, m->num_tets + 1, 1, m->num_tets + 1};
  for (int k = 0; k < 4; ++k) put_whole(o, sizes[k], 8);
  end_line(o);
  for (int b = 0; b < 2; ++b) { /* a point, then the tetrahedra */
    put_whole(o, b == 0 ? 0 : 3, 4);
    put_whole(o, 1, 4);
    put_whole(o, b == 0 ? 15 : 4, 4);
    put_whole(o, b == 0 ? 1 : m->num_tets, 8);
    end_line(o);
    for (int32_t t = 0; t < (b == 0 ? 1 : m->num_tets); ++t) {
      put_whole(o, t + 1, 8);
      for (int k = 0; k < (b == 0 ? 1 : 4); ++k) put_whole(o, (n - m->tets[4 * t + k]) * stride, 8);
      end_line(o);
    }
  }
  put_words(o, "\n$EndElements\n");
}

static void put_vtk(text_out *o, const mesh *m, int version)
{
  o->big_endian = 1;
  put_words(
      o, "# vtk DataFile Version %d.1\na block\n%s\nDATASET UNSTRUCTURED_GRID\nPOINTS %d double\n",
      version, o->binary ? "BINARY" : "ASCII", m->num_verts);
  for (int32_t k = 0; k < 3 * m->num_verts; ++k) put_double(o, m->x[k]);
  if (version == 5)
    put_words(o, "\nMETADATA\nINFORMATION 1\nNAME L2_NORM_RANGE LOCATION vtkDataArray\n"
                 "DATA 2 0 1\n\n");
  put_words(o, "\nCELLS %d %d\n", m->num_tets + (version == 5),
            (version == 5 ? 4 : 5) * m->num_tets);
  if (version == 5) {
    put_words(o, "OFFSETS vtktypeint64\n");
    for (int32_t t = 0; t <= m->num_tets; ++t) put_whole(o, 4 * t, 8);
    put_words(o, "\nCONNECTIVITY vtktypeint64\n");
  }
  for (int32_t t = 0; t < m->num_tets; ++t)
    for (int k = version == 5 ? 0 : -1; k < 4; ++k)
      put_whole(o, k < 0 ? 4 : m->tets[4 * t + k], version == 5 ? 8 : 4);
  put_words(o, "\nCELL_TYPES %d\n", m->num_tets);
  for (int32_t t = 0; t < m->num_tets; ++t) put_whole(o, 10, 4);
}

static void put_encoded(text_out *o, const char *bytes, size_t n)
{
  static const char digit[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  for (size_t k = 0; k < n; k += 3) {
    uint32_t bits = 0;
    char four[4];
    for (size_t j = 0; j < 3; ++j) bits = bits << 8 | (k + j < n ? (unsigned char)bytes[k + j] : 0);
    for (size_t j = 0; j < 4; ++j) four[j] = j > n - k ? '=' : digit[bits >> (18 - 6 * j) & 63];
    put_chars(o, four, 4);
  }
}

enum { IN_TEXT, IN_BASE64, IN_RAW, IN_ENCODED, NUM_WAYS }; /* the last two are appended */

/* Numbers 3 verts, 4 tets, tets, tets of the four arrays, as text or with the size in front. */
static text_out write_vtu_array(const mesh *m, int which, int binary, int big_endian, int wide)
{
  text_out a = {.binary = binary, .big_endian = big_endian};
  const int32_t counts[4] = {3 * m->num_verts, 4 * m->num_tets, m->num_tets, m->num_tets};
  static const int bytes[4] = {8, 4, 8, 1};
  if (binary) put_whole(&a, (int64_t)counts[which] * bytes[which], wide ? 8 : 4);
  for (int32_t k = 0; k < counts[which]; ++k) {
    if (which == 0)
      put_double(&a, m->x[k]);
    else
      put_whole(&a, which == 1 ? m->tets[k] : which == 2 ? 4 * (k + 1) : 10, bytes[which]);
  }
  return a;
}

static void put_vtu(text_out *o, const mesh *m, int way, int wide)
{
  static const char *const names[4] = {"Points", "connectivity", "offsets", "types"};
  static const char *const types[4] = {"Float64", "Int32", "Int64", "UInt8"};
  static const char *const ways[NUM_WAYS] = {"ascii", "binary", "appended", "appended"};
  size_t offset = 0;
  put_words(o,
            "<?xml version=\"1.0\"?>\n<!-- <Piece> -->\n<VTKFile type=\"UnstructuredGrid\" "
            "version=\"1.0\" byte_order=\"%s\"%s>\n<UnstructuredGrid>\n<Piece "
            "NumberOfPoints=\"%d\" NumberOfCells='%d'>\n<PointData>\n<DataArray type=\"Float32\" "
            "Name=\"types\" format=\"ascii\"> 1 2 </DataArray></PointData><Points>",
            o->big_endian ? "BigEndian" : "LittleEndian", wide ? " header_type=\"UInt64\"" : "",
            m->num_verts, m->num_tets);
  for (int k = 0; k < 4; ++k) {
    text_out a = write_vtu_array(m, k, way != IN_TEXT, o->big_endian, wide);
    put_words(o, "%s<DataArray type=\"%s\" Name=\"%s\" NumberOfComponents=\"%d\" format=\"%s\"",
              k == 1 ? "</Points>\n<Cells>\n" : "", types[k], names[k], k == 0 ? 3 : 1, ways[way]);
    if (way >= IN_RAW) put_words(o, " offset=\"%zu\"", offset);
    put_words(o, ">\n");
    offset += way == IN_RAW ? a.len : (a.len + 2) / 3 * 4;
    if (way == IN_TEXT) put_chars(o, a.text, a.len);
    if (way == IN_BASE64) put_encoded(o, a.text, a.len);
    put_words(o, "</DataArray>\n");
    free(a.text);
  }
  put_words(o, "</Cells>\n</Piece>\n</UnstructuredGrid>\n");
  if (way >= IN_RAW)
    put_words(o, "<AppendedData encoding=\"%s\">\n_", way == IN_RAW ? "raw" : "base64");
  for (int k = 0; k < 4 && way >= IN_RAW; ++k) {
    text_out a = write_vtu_array(m, k, 1, o->big_endian, wide);
    if (way == IN_RAW) put_chars(o, a.text, a.len);
    if (way == IN_ENCODED) put_encoded(o, a.text, a.len);
    free(a.text);
  }
  if (way >= IN_RAW) put_words(o, "\n</AppendedData>\n");
  put_words(o, "</VTKFile>\n");
}

static void put_tetgen(text_out *node, text_out *ele, const mesh *m, int first)
{
  put_words(node, "# points\n%d 3 1 1\n", m->num_verts);
  for (int32_t i = 0; i < m->num_verts; ++i) {
    put_words(node, "%d ", i + first);
    for (int c = 0; c < 3; ++c) put_double(node, m->x[3 * i + c]);
    put_words(node, " 0.5 -1 # of point %d\n", i);
  }
  put_words(ele, "%d 4 1\n", m->num_tets);
  for (int32_t t = 0; t < m->num_tets; ++t) {
    put_words(ele, "%d ", t + first);
    for (int k = 0; k < 4; ++k) put_whole(ele, m->tets[4 * t + k] + first, 4);
    put_words(ele, " 3\n");
  }
}

/* ---- reading back ---- */

/* 4 x 3 x 5 points at places that take all digits. */
static mesh create_block(void)
{
  loom_err e = {0};
  mesh m;
  cr_assert_eq(mesh_tet_box(&e, (double[3]){0.3, 0.7, 1.1}, (int64_t[3]){4, 3, 5}, &m), LOOM_OK);
  for (int32_t k = 0; k < 3 * m.num_verts; ++k) m.x[k] += 0.01 * sin(1.7 * k);
  return m;
}

static int compare_tris(const void *a, const void *b) { return memcmp(a, b, 3 * sizeof(int32_t)); }

/* Each triangle turned so that its least id is first, in order. */
static int32_t *sort_tris(const int32_t *tris, int32_t num)
{
  int32_t *const out = malloc(3 * (size_t)num * sizeof *out);
  cr_assert(out != NULL);
  for (int32_t t = 0; t < num; ++t) {
    const int32_t *const v = tris + 3 * t;
    const int least = v[0] < v[1] ? (v[0] < v[2] ? 0 : 2) : (v[1] < v[2] ? 1 : 2);
    for (int k = 0; k < 3; ++k) out[3 * t + k] = v[(least + k) % 3];
  }
  qsort(out, (size_t)num, 3 * sizeof *out, compare_tris);
  return out;
}

static void expect_block(const char *what, loom_status s, const loom_err *e, mesh *m, int ignored)
{
  mesh want = create_block();
  loom_err finish = {0};
  cr_assert_eq(s, LOOM_OK, "%s: %s", what, e->text);
  cr_expect_eq(m->num_ignored, ignored, "%s", what);
  cr_assert_eq(tet_file_finish(&finish, what, m), LOOM_OK, "%s: %s", what, finish.text);
  cr_assert(m->num_verts == want.num_verts && m->num_tets == want.num_tets &&
                m->num_tris == want.num_tris && m->num_unused == 0 && m->num_turned == 0,
            "%s: %d points, %d tetrahedra", what, m->num_verts, m->num_tets);
  cr_expect_arr_eq(m->x, want.x, 3 * (size_t)want.num_verts * sizeof *want.x, "%s", what);
  cr_expect_arr_eq(m->tets, want.tets, 4 * (size_t)want.num_tets * sizeof *want.tets, "%s", what);
  int32_t *const a = sort_tris(m->tris, m->num_tris), *const b =
                                                          sort_tris(want.tris, want.num_tris);
  cr_expect_arr_eq(a, b, 3 * (size_t)want.num_tris * sizeof *b, "%s: surface", what);
  free(a);
  free(b);
  mesh_free(&want);
  mesh_free(m);
}

Test(tet_files, gmsh_reads_back_the_same_bits)
{
  const mesh block = create_block();
  for (int way = 0; way < 3; ++way)
    for (int version = 0; version < 4; ++version) {
      loom_err e = {0};
      mesh m;
      char what[64];
      text_out o = {.binary = way > 0, .big_endian = way == 2};
      if (version == 0) put_msh2(&o, &block);
      if (version > 0) put_msh4(&o, &block, version == 1 ? 1 : version == 2 ? 3 : INT64_C(1) << 40);
      snprintf(what, sizeof what, "way %d, version %d", way, version);
      const loom_status s = msh_parse(&e, "in.msh", o.text, o.len, &m);
      expect_block(what, s, &e, &m, 1);
      free(o.text);
    }
}

Test(tet_files, vtk_reads_back_the_same_bits)
{
  const mesh block = create_block();
  for (int kind = 0; kind < 4; ++kind) {
    loom_err e = {0};
    mesh m;
    text_out o = {.binary = kind & 1};
    put_vtk(&o, &block, kind < 2 ? 3 : 5);
    const loom_status s = vtk_parse(&e, "in.vtk", o.text, o.len, &m);
    expect_block(o.binary ? "binary" : "text", s, &e, &m, 0);
    free(o.text);
  }
  for (int way = 0; way < NUM_WAYS; ++way)
    for (int kind = 0; kind < 4; ++kind) {
      loom_err e = {0};
      mesh m;
      char what[64];
      text_out o = {.big_endian = kind & 1};
      snprintf(what, sizeof what, "vtu: way %d, kind %d", way, kind);
      put_vtu(&o, &block, way, kind >> 1);
      const loom_status s = vtu_parse(&e, "in.vtu", o.text, o.len, &m);
      expect_block(what, s, &e, &m, 0);
      free(o.text);
    }
}

Test(tet_files, tetgen_reads_back_the_same_bits)
{
  const mesh block = create_block();
  for (int first = 0; first < 2; ++first) {
    loom_err e = {0};
    mesh m;
    text_out node = {0}, ele = {0};
    put_tetgen(&node, &ele, &block, first);
    const loom_status s = tetgen_parse(&e, &(tetgen_text){"in.node", node.text, node.len},
                                       &(tetgen_text){"in.ele", ele.text, ele.len}, &m);
    expect_block(first ? "from 1" : "from 0", s, &e, &m, 0);
    free(node.text);
    free(ele.text);
  }
}

/* Every prefix of a binary file is refused, or is whole: nothing is read behind its end. */
Test(tet_files, cut_files_are_refused)
{
  const mesh block = create_block();
  text_out o[4] = {{.binary = 1}, {.binary = 1}, {0}, {0}};
  put_msh2(&o[0], &block);
  put_msh4(&o[1], &block, 5);
  put_vtu(&o[2], &block, IN_RAW, 1);
  put_vtu(&o[3], &block, IN_ENCODED, 1);
  for (int k = 0; k < 4; ++k) {
    const size_t last = o[k].len - (k >= 2 ? strlen("\n</AppendedData>\n</VTKFile>\n") : 0);
    for (size_t len = 0; len + 12 < last; len += 7) {
      loom_err e = {0};
      mesh m;
      char *const text = malloc(len + 1); /* a sanitizer sees a read behind it */
      cr_assert(text != NULL);
      memcpy(text, o[k].text, len);
      text[len] = '\0';
      const loom_status s =
          k < 2 ? msh_parse(&e, "in", text, len, &m) : vtu_parse(&e, "in", text, len, &m);
      cr_assert_eq(s, LOOM_E_IO, "file %d cut at %zu of %zu", k, len, o[k].len);
      cr_assert(m.x == NULL && m.tets == NULL && strncmp(e.text, "in:", 3) == 0, "%s", e.text);
      free(text);
    }
    free(o[k].text);
  }
}

#define MSH(elements)                                                                     \
  "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n5\n1 0 0 0\n2 1 0 0\n3 0 1 0\n9 5 5 5\n" \
  "4 0 0 1\n$EndNodes\n$Elements\n" elements "$EndElements\n"

/* A tetrahedron the other way round beside a point that it has not. */
Test(tet_files, unused_points_leave_and_mirrored_meshes_are_turned)
{
  static const int32_t want[4] = {1, 0, 3, 2};
  static const char text[] = MSH("1\n1 4 0 2 1 3 4\n");
  loom_err e = {0};
  mesh m;
  cr_assert_eq(msh_parse(&e, "in.msh", text, strlen(text), &m), LOOM_OK, "%s", e.text);
  cr_assert_eq(tet_file_finish(&e, "in.msh", &m), LOOM_OK, "%s", e.text);
  cr_assert(m.num_verts == 4 && m.num_unused == 1 && m.num_turned == 1 && m.num_tris == 4);
  cr_assert_arr_eq(m.tets, want, sizeof want);
  cr_assert_eq(m.x[3 * 3 + 2], 1.0);
  cr_assert_eq(tet_six_volumes(&m, 0), 1.0);
  mesh_free(&m);
}

/* The second tetrahedron stands in two groups, of which the other one has other corners first. */
Test(tet_files, tetrahedra_of_several_groups_are_taken_once)
{
  static const int32_t want[8] = {0, 1, 2, 4, 1, 3, 2, 4};
  static const char text[] = MSH("3\n1 4 2 1 1 1 2 3 4\n2 4 2 1 1 2 9 3 4\n3 4 2 2 1 3 2 9 4\n");
  loom_err e = {0};
  mesh m;
  cr_assert_eq(msh_parse(&e, "in.msh", text, strlen(text), &m), LOOM_OK, "%s", e.text);
  cr_assert(m.num_tets == 2 && m.num_repeated == 1, "%d and %d", m.num_tets, m.num_repeated);
  cr_assert_arr_eq(m.tets, want, sizeof want);
  mesh_free(&m);
}

static void expect_refusal(const char *text, const char *part)
{
  loom_err e = {0};
  mesh m;
  const loom_status s = text[0] == '<' ? vtu_parse(&e, "in", text, strlen(text), &m)
                                       : msh_parse(&e, "in", text, strlen(text), &m);
  cr_expect_eq(s, LOOM_E_IO, "%s", text);
  cr_expect(strstr(e.text, part) != NULL, "\"%s\" has not \"%s\"", e.text, part);
  if (s == LOOM_OK) mesh_free(&m);
}

Test(tet_files, faults_are_told_with_their_place)
{
  expect_refusal(MSH("1\n1 4 0 1 2 3 7\n"), "in: tetrahedron 0 (from 0) has the node 7");
  expect_refusal(MSH("1\n1 4 0 1 2 x 4\n"), "in:14: expected a whole number");
  expect_refusal(MSH("1\n1 5 0 1 2 3 4 1 2 3 4\n"), "in:14: a volume that is no tetrahedron");
  expect_refusal(MSH("1\n1 11 0 1 2 3 4 1 2 3 4 1 2\n"), "order 1");
  expect_refusal(MSH("1\n1 4 0 1 2 3 4\n2\n"), "a section goes on");
  expect_refusal(MSH("2\n1 4 0 1 2 3 4\n"), "\"$EndElements\"");
  expect_refusal("$MeshFormat\n4 0 8\n$EndMeshFormat\n", "save it as one of them");
  expect_refusal("$MeshFormat\n2.2 0 8\n$EndMeshFormat\n", "holds no $Nodes");
  expect_refusal("$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n200000000\n1 0 0 0\n$EndNodes\n",
                 "in:5: the file is shorter");
  expect_refusal("solid a\n", "no MSH file");
#define VTU(head, rest) "<VTKFile type=\"UnstructuredGrid\"" head ">" rest "</VTKFile>"
#define PIECE           "<Piece NumberOfPoints=\"1\" NumberOfCells=\"0\">"
  expect_refusal("<VTKFile type=\"PolyData\">", "UnstructuredGrid");
  expect_refusal(VTU(" compressor=\"vtkZLibDataCompressor\"", ""), "files without compression");
  expect_refusal(VTU("", "<AppendedData encoding=\"hex\">_"), "raw or base64, not \"hex\"");
  expect_refusal(VTU("", ""), "no Piece");
  expect_refusal(VTU("", PIECE PIECE), "several pieces");
  expect_refusal(VTU("", PIECE), "no array Points");
  expect_refusal(
      VTU("", PIECE "<Points><DataArray type=\"Float32\" NumberOfComponents=\"3\">1 2 x "),
      "expected a coordinate");
  expect_refusal(VTU("", PIECE "<Points><DataArray type=\"Int32\">"), "\"Int32\"");
  loom_err e = {0};
  mesh m;
  const tetgen_text node = {"a.node", "2 3 0 0\n1 0 0 0\n3 0 0 0\n", 24}, ele = {"a.ele", "", 0};
  cr_expect_eq(tetgen_parse(&e, &node, &ele, &m), LOOM_E_IO);
  cr_expect(strstr(e.text, "a.node:3: expected the id of a point") != NULL, "%s", e.text);
}
