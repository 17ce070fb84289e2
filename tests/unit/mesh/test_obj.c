/* obj.c, ply.c: the meaning of well-formed files, and the place of errors in malformed ones. */
#include <criterion/criterion.h>
#include <criterion/parameterized.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mesh/obj.h"
#include "support/shared_data.h"

static loom_status parse_mesh_text(loom_err *e, const char *text, mesh *m)
{
  return strncmp(text, "ply", 3) == 0 ? ply_parse(e, "in.ply", text, strlen(text), m)
                                      : obj_parse(e, "in.obj", text, strlen(text), m);
}

Test(obj, forms_of_faces)
{
  loom_err e = {0};
  mesh m;
  const char text[] = "\xef\xbb\xbf# comment \\\n"
                      "mtllib a.mtl\no thing\n"
                      "v 0 0 0\r\nv 1 0 0 1.0\nv 1 1 0 0.5 0.5 0.5\n v\t0 1 -2.5e-1 \n"
                      "vt 0 0\nvn 0 0 1\n\n"
                      "g a b\nusemtl red\ns off\n"
                      "f 1 2 3\n"
                      "f 1/1 3/1 4/1\r\n"
                      "f 1//1 2//1 4//1\n"
                      "f -4/1/1 -3/1/1 \\\n -2/1/1 # continued\n"
                      "f 1 2 \\\r\n3 4\n"
                      "l 1 2\n"
                      "f 4 3 2";
  cr_assert_eq(parse_mesh_text(&e, text, &m), LOOM_OK, "%s", e.text);
  const int32_t want[21] = {0, 1, 2, 0, 2, 3, 0, 1, 3, 0, 1, 2, 0, 1, 2, 0, 2, 3, 3, 2, 1};
  cr_assert_eq(m.num_verts, 4);
  cr_assert_eq(m.num_tris, 7);
  cr_assert_arr_eq(m.tris, want, sizeof want);
  cr_assert_eq(m.num_split, 1);
  cr_assert_eq(m.num_ignored, 1);
  cr_assert_eq(m.x[3 * 3 + 2], -0.25);
  mesh_free(&m);
}

Test(obj, a_comment_that_ends_with_a_backslash_hides_nothing)
{
  loom_err e = {0};
  mesh m;
  cr_assert_eq(parse_mesh_text(&e, "# C:\\out\\\nv 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n", &m),
               LOOM_OK);
  cr_assert_eq(m.num_verts, 3);
  mesh_free(&m);
}

Test(obj, nan_is_left_to_the_doctor)
{
  loom_err e = {0};
  mesh m;
  cr_assert_eq(parse_mesh_text(&e, "v nan inf 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n", &m), LOOM_OK);
  cr_assert(isnan(m.x[0]) && isinf(m.x[1]));
  mesh_free(&m);
}

typedef struct bad {
  char text[400], place[40], part[60];
} bad;

#define V3 "v 0 0 0\nv 1 0 0\nv 0 1 0\n"
#define PLY_HEAD                                                                                 \
  "ply\nformat ascii 1.0\nelement vertex 3\nproperty float x\nproperty float y\nproperty float " \
  "z\n"
#define PLY_FACE "element face 1\nproperty list uchar int vertex_indices\nend_header\n"

ParameterizedTestParameters(obj, malformed)
{
  static bad list[] = {
      {"", "in.obj:", "no vertices"},
      {"# nothing\n", "in.obj:", "no vertices"},
      {V3, "in.obj:", "no faces"},
      {V3 "cstype bezier\ndeg 1 1\nsurf 0 1 0 1 1 2 3 3\nend\n", "in.obj:", "as polygons"},
      {"v 0 0\n", "in.obj:1:", "3 coordinates"},
      {V3 "v 0 x 0\n", "in.obj:4:", "\"x\""},
      {V3 "v 0 1,5 0\n", "in.obj:4:", "\"1,5\""},
      {"v 1 2 3 4 5 6 7 8\n", "in.obj:1:", "more than 7"},
      {"v 1 \\\n2 \\\nq\n", "in.obj:3:", "\"q\""},
      {V3 "f 1 2\n", "in.obj:4:", "3 corners"},
      {V3 "f\n", "in.obj:4:", "3 corners"},
      {V3 "f 1 2 0\n", "in.obj:4:", "count from 1"},
      {V3 "f 1 2 4\n", "in.obj:4:", "vertex 4"},
      {V3 "\n\nf 1 2 3\nf 1 2 99999999999999999999\n", "in.obj:7:", "f:"},
      {V3 "f 1 2 -4\n", "in.obj:4:", "-4"},
      {V3 "f 1 2 3/\n", "in.obj:4:", "\"3/\""},
      {V3 "f 1 2 3//\n", "in.obj:4:", "\"3//\""},
      {V3 "f 1 2 3/1/1/1\n", "in.obj:4:", "\"3/1/1/1\""},
      {V3 "f 1 2 3.0\n", "in.obj:4:", "\"3.0\""},
      {V3 "f 1 2 - \n", "in.obj:4:", "\"-\""},
      {V3 "f 1 2 /3\n", "in.obj:4:", "\"/3\""},
      {"<html>\n", "in.obj:1:", "\"<html>\""},
      {V3 "face 1 2 3\n", "in.obj:4:", "\"face\""},
      {"ply", "in.ply:1:", "first line"},
      {"plyx\n", "in.ply:1:", "first line"},
      {"ply\nformat text 1.0\n", "in.ply:2:", "\"text\""},
      {"ply\nelement vertex 3\nend_header\n", "in.ply:3:", "format"},
      {"ply\nformat ascii 1.0\nelement vertex -3\n", "in.ply:3:", "count"},
      {"ply\nformat ascii 1.0\nelement vertex 999999999\n", "in.ply:3:", "too many"},
      {"ply\nformat ascii 1.0\nproperty float x\n", "in.ply:3:", "before"},
      {"ply\nformat ascii 1.0\nelement vertex 3\nproperty real x\n", "in.ply:4:", "\"real\""},
      {"ply\nformat ascii 1.0\nelement a 3\nproperty list float int b\n", "in.ply:4:", "float"},
      {"ply\nformat ascii 1.0\nelement vertex 3\n", "in.ply:4:", "end_header"},
      {"ply\nformat ascii 1.0\nhello\n", "in.ply:3:", "\"hello\""},
      {PLY_HEAD PLY_FACE "0 0 0\n1 0 0\n", "in.ply:", "ends"},
      {PLY_HEAD PLY_FACE "0 0 0\n1 0 0\n0 q 0\n3 0 1 2\n", "in.ply:12:", "\"q\""},
      {PLY_HEAD PLY_FACE "0 0 0\n1 0 0\n0 1 0\n3 0 1 3\n", "in.ply:13:", "3"},
      {PLY_HEAD PLY_FACE "0 0 0\n1 0 0\n0 1 0\n3 0 1 -1\n", "in.ply:13:", "-1"},
      {PLY_HEAD PLY_FACE "0 0 0\n1 0 0\n0 1 0\n3 0 1 1.5\n", "in.ply:13:", "1.5"},
      {PLY_HEAD PLY_FACE "0 0 0\n1 0 0\n0 1 0\n2 0 1\n", "in.ply:13:", "3 corners"},
      {PLY_HEAD "element face 1\nproperty int q\nend_header\n0 0 0\n1 0 0\n0 1 0\n3\n",
       "in.ply:", "vertex_indices"},
  };
  return cr_make_param_array(bad, list, sizeof list / sizeof *list);
}

ParameterizedTest(bad *b, obj, malformed)
{
  loom_err e = {0};
  mesh m;
  cr_assert_eq(parse_mesh_text(&e, b->text, &m), LOOM_E_IO, "accepted: %s", b->text);
  cr_assert(strncmp(e.text, b->place, strlen(b->place)) == 0, "%s\nwanted %s", e.text, b->place);
  cr_assert(strstr(e.text, b->part) != NULL, "%s\nwanted %s", e.text, b->part);
  cr_assert(m.x == NULL && m.tris == NULL, "no memory is left behind");
}

Test(obj, a_nul_byte_is_an_error)
{
  loom_err e = {0};
  mesh m;
  const char text[] = "v 0 0 0\nv 1 0 0\nv 0 1 0\n\0f 1 2 3\n";
  cr_assert_eq(obj_parse(&e, "in.obj", text, sizeof text - 1, &m), LOOM_E_IO);
  cr_assert(strncmp(e.text, "in.obj:4:", 9) == 0, "%s", e.text);
}

Test(obj, a_missing_file_and_a_directory_are_named)
{
  loom_err e = {0};
  mesh m;
  cr_assert_eq(obj_read(&e, "/nonexistent/sheet.obj", &m), LOOM_E_CONFIG);
  cr_assert(strstr(e.text, "/nonexistent/sheet.obj") != NULL, "%s", e.text);
  cr_assert_eq(ply_read(&e, "/", &m), LOOM_E_IO);
  cr_assert(strstr(e.text, "regular file") != NULL, "%s", e.text);
}

/* A vertex (double, float, short) and a face with an extra property, in both byte orders. */
static size_t append_ordered_bytes(char *p, const void *value, size_t n, int big)
{
  const char *v = value;
  for (size_t k = 0; k < n; ++k) p[k] = v[big ? n - 1 - k : k];
  return n;
}

Test(ply, binary_in_both_byte_orders)
{
  for (int big = 0; big < 2; ++big) {
    char text[1000];
    loom_err e = {0};
    mesh m;
    size_t n = (size_t)snprintf(
        text, sizeof text,
        "ply\r\nformat binary_%s_endian 1.0\ncomment c\nelement extra 2\nproperty char c\n"
        "element vertex 4\nproperty double x\nproperty float y\nproperty short z\n"
        "element face 2\nproperty uchar flags\nproperty list ushort uint vertex_index\n"
        "end_header\n",
        big ? "big" : "little");
    text[n++] = 'a';
    text[n++] = 'b';
    for (int i = 0; i < 4; ++i) {
      const double x = i == 1 || i == 2;
      const float y = i >= 2 ? 0.5f : 0;
      const short z = (short)-i;
      n += append_ordered_bytes(text + n, &x, 8, big);
      n += append_ordered_bytes(text + n, &y, 4, big);
      n += append_ordered_bytes(text + n, &z, 2, big);
    }
    for (int f = 0; f < 2; ++f) {
      const unsigned short count = (unsigned short)(f == 0 ? 4 : 3);
      text[n++] = 7;
      n += append_ordered_bytes(text + n, &count, 2, big);
      for (unsigned k = 0; k < count; ++k) n += append_ordered_bytes(text + n, &k, 4, big);
    }
    text[n] = '\0';
    cr_assert_eq(ply_parse(&e, "in.ply", text, n, &m), LOOM_OK, "%s", e.text);
    const int32_t want[9] = {0, 1, 2, 0, 2, 3, 0, 1, 2};
    cr_assert_eq(m.num_tris, 3);
    cr_assert_arr_eq(m.tris, want, sizeof want);
    cr_assert_eq(m.num_split, 1);
    cr_assert(m.x[3] == 1 && m.x[7] == 0.5 && m.x[11] == -3);
    mesh_free(&m);
    cr_assert_eq(ply_parse(&e, "in.ply", text, n - 1, &m), LOOM_E_IO); /* one byte short */
    cr_assert(strstr(e.text, "byte") != NULL, "%s", e.text);
  }
}

Test(ply, real_scan)
{
  char path[600];
  loom_err e = {0};
  mesh m;
  if (!shared_data("cloth-ball/cloth_ball92.ply", path, sizeof path))
    cr_skip_test("cloth_ball92.ply is not here; set LOOM_SHARED_DATA");
  cr_assert_eq(ply_read(&e, path, &m), LOOM_OK, "%s", e.text);
  cr_assert_eq(m.num_verts, 46598);
  cr_assert_eq(m.num_tris, 92230);
  cr_assert_eq(m.num_split, 0);
  mesh_free(&m);
}

Test(obj, real_body)
{
  char path[600];
  loom_err e = {0};
  mesh m;
  if (!shared_data("makehuman-cc0/base.obj", path, sizeof path))
    cr_skip_test("makehuman base.obj is not here; set LOOM_SHARED_DATA");
  cr_assert_eq(obj_read(&e, path, &m), LOOM_OK, "%s", e.text);
  cr_assert_eq(m.num_verts, 19158); /* grep -c '^v ' */
  cr_assert_eq(m.num_split, 18486); /* all faces are quadrangles */
  cr_assert_eq(m.num_tris, 2 * 18486);
  mesh_free(&m);
}
