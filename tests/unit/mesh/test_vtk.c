/* vtk.c: legacy VTK files in both encodings, against the volumes and areas of the shapes. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mesh/vtk.h"

#define HEAD(kind, data) "# vtk DataFile Version 3.0\na title\n" kind "\nDATASET " data "\n"
#define HEAD5            "# vtk DataFile Version 5.1\na title\nASCII\nDATASET POLYDATA\n" SQUARE
#define SQUARE           "POINTS 5 float\n0 0 0 1 0 0\n1 1 0 0 1 0 .5 .5 0\n"

static loom_status parse_vtk_text(loom_err *e, const char *text, mesh *m)
{
  return vtk_parse(e, "in.vtk", text, strlen(text), m);
}

static double sum_of_areas(const mesh *m)
{
  double all = 0;
  for (int32_t t = 0; t < m->num_tris; ++t) {
    const int32_t *const v = m->tris + 3 * (ptrdiff_t)t;
    double u[3], w[3];
    for (int c = 0; c < 3; ++c) {
      u[c] = m->x[3 * v[1] + c] - m->x[3 * v[0] + c];
      w[c] = m->x[3 * v[2] + c] - m->x[3 * v[0] + c];
    }
    const double n[3] = {u[1] * w[2] - u[2] * w[1], u[2] * w[0] - u[0] * w[2],
                         u[0] * w[1] - u[1] * w[0]};
    all += sqrt(n[0] * n[0] + n[1] * n[1] + n[2] * n[2]) / 2;
  }
  return all;
}

/* A concave polygon of five corners, a strip, lines; data behind them is left out. */
Test(vtk, polygons_strips_and_lines_of_polydata)
{
  mesh m;
  loom_err e = {0};
  cr_assert_eq(parse_vtk_text(&e,
                              HEAD("ASCII", "POLYDATA") SQUARE
                              "LINES 1 3\n2 0 1\nPOLYGONS 1 6\n5 0 1 4 2 3\n"
                              "POINT_DATA 5\nSCALARS a float\nLOOKUP_TABLE default\n1 2 3 4 5\n",
                              &m),
               LOOM_OK, "%s", e.text);
  cr_assert(m.num_verts == 5 && m.num_tris == 3 && m.num_ignored == 1 && m.num_concave == 1);
  cr_assert_float_eq(sum_of_areas(&m), 0.75, 1e-12);
  mesh_free(&m);
  cr_assert_eq(
      parse_vtk_text(&e, HEAD("ASCII", "POLYDATA") SQUARE "TRIANGLE_STRIPS 1 5\n4 0 1 3 2\n", &m),
      LOOM_OK, "%s", e.text);
  static const int32_t want[] = {0, 1, 3, 3, 1, 2};
  cr_assert_eq(m.num_tris, 2);
  cr_assert_arr_eq(m.tris, want, sizeof want);
  mesh_free(&m);
}

#define POLYGON "POLYGONS 1 6\n5 0 1 4 2 3\n"

/* ParaView writes the time, and names, in front of the points. */
Test(vtk, fields_before_the_points_are_passed_over)
{
  static const char *const texts[] = {
      HEAD("ASCII", "POLYDATA") "FIELD FieldData 2\nTimeValue 1 1 double\n0.25\nnames 1 2 string\n"
                                "POINTS%20 a\nb\nMETADATA\nINFORMATION 0\n\n" SQUARE POLYGON,
      HEAD("ASCII", "POLYDATA") "FIELD FieldData 1\nTimeValue 1 1 nothing\n0.25\n" SQUARE POLYGON,
      HEAD("ASCII", "POLYDATA") "FIELD FieldData 1\nTimeValue 1 -1 double\n" SQUARE POLYGON};
  static const loom_status ends[] = {LOOM_OK, LOOM_E_IO, LOOM_E_IO};
  for (int k = 0; k < 3; ++k) {
    mesh m;
    loom_err e = {0};
    cr_assert_eq(parse_vtk_text(&e, texts[k], &m), ends[k], "%d: %s", k, e.text);
    cr_assert_eq(m.num_tris, k == 0 ? 3 : 0);
    mesh_free(&m);
  }
}

#define GRID(cell, type)                                                          \
  HEAD("ASCII", "UNSTRUCTURED_GRID")                                              \
  "POINTS 8 float\n0 0 0 1 0 0 0 1 0 1 1 0\n0 0 1 1 0 1 0 1 1 1 1 1\nCELLS " cell \
  "\nCELL_TYPES 1\n" type "\n"

/* A pixel has its corners row by row; a hexahedron is no surface, and the message tells it. */
Test(vtk, pixels_and_hexahedra)
{
  mesh m;
  loom_err e = {0};
  cr_assert_eq(parse_vtk_text(&e, GRID("1 5\n4 0 1 2 3", "8"), &m), LOOM_OK, "%s", e.text);
  cr_assert(m.num_tris == 2 && m.num_ignored == 0);
  cr_assert_float_eq(sum_of_areas(&m), 1.0, 1e-12);
  for (int t = 0; t < 2; ++t) { /* both turn left, as the rows do */
    const double *const a = m.x + 3 * m.tris[3 * t], *const b = m.x + 3 * m.tris[3 * t + 1],
                        *const c = m.x + 3 * m.tris[3 * t + 2];
    cr_assert((b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]) > 0);
  }
  mesh_free(&m);
  cr_assert_eq(parse_vtk_text(&e, GRID("1 9\n8 0 1 3 2 4 5 7 6", "12"), &m), LOOM_E_IO);
  cr_assert(strstr(e.text, "save their outer surface") != NULL, "%s", e.text);
  mesh_free(&m);
}

/* The same polygon and strip in lists of version 5. */
Test(vtk, lists_of_offsets)
{
  mesh m;
  loom_err e = {0};
  cr_assert_eq(parse_vtk_text(&e,
                              HEAD5 "LINES 2 2\nOFFSETS vtktypeint64\n0 2\nCONNECTIVITY "
                                    "vtktypeint64\n0 1\nPOLYGONS 3 8\nOFFSETS vtktypeint64\n0 5 8\n"
                                    "CONNECTIVITY vtktypeint64\n0 1 4 2 3 2 4 1\n",
                              &m),
               LOOM_OK, "%s", e.text);
  cr_assert(m.num_verts == 5 && m.num_tris == 4 && m.num_ignored == 1 && m.num_concave == 1);
  cr_assert_float_eq(sum_of_areas(&m), 1.0, 1e-12);
  mesh_free(&m);
}

static size_t put_big_endian(char *to, uint64_t value, int bytes)
{
  for (int k = 0; k < bytes; ++k) to[k] = (char)(value >> 8 * (bytes - 1 - k) & 255);
  return (size_t)bytes;
}

/* Two tetrahedra, one of them turned inside out, on a common face, as big-endian doubles: their six
 * outer faces, outwards. */
Test(vtk, tetrahedra_in_binary_give_their_surface)
{
  static const double x[15] = {0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 1, 1, 1};
  static const int cells[10] = {4, 0, 1, 2, 3, 4, 1, 2, 3, 4};
  char text[1000];
  size_t n =
      (size_t)snprintf(text, sizeof text, HEAD("BINARY", "UNSTRUCTURED_GRID") "POINTS 5 double\n");
  for (int k = 0; k < 15; ++k) {
    uint64_t u;
    memcpy(&u, &x[k], sizeof u);
    n += put_big_endian(text + n, u, 8);
  }
  n += (size_t)snprintf(text + n, sizeof text - n, "\nCELLS 2 10\n");
  for (int k = 0; k < 10; ++k) n += put_big_endian(text + n, (uint64_t)cells[k], 4);
  n += (size_t)snprintf(text + n, sizeof text - n, "\nCELL_TYPES 2\n");
  for (int k = 0; k < 2; ++k) n += put_big_endian(text + n, 10, 4);
  text[n] = '\0';
  mesh m;
  loom_err e = {0};
  cr_assert_eq(vtk_parse(&e, "in.vtk", text, n, &m), LOOM_OK, "%s", e.text);
  cr_assert_eq(m.num_tris, 6);
  double six = 0;
  for (int t = 0; t < 6; ++t) {
    const double *const a = m.x + 3 * m.tris[3 * t], *const b = m.x + 3 * m.tris[3 * t + 1];
    const double *const c = m.x + 3 * m.tris[3 * t + 2];
    six += a[0] * (b[1] * c[2] - b[2] * c[1]) + a[1] * (b[2] * c[0] - b[0] * c[2]) +
           a[2] * (b[0] * c[1] - b[1] * c[0]);
  }
  cr_assert_float_eq(six, 3, 1e-12); /* volumes 1/6 and 1/3 */
  mesh_free(&m);
  for (size_t cut = n - 1; cut > 0; --cut) { /* every shorter file ends in a message */
    text[cut] = '\0';
    cr_assert(vtk_parse(&e, "in.vtk", text, cut, &m) < 0, "%zu bytes", cut);
    cr_assert(m.x == NULL && m.tris == NULL);
  }
}

Test(vtk, bad_files_are_named)
{
  static const char *const bad[][2] = {
      {"", "no legacy VTK file"},
      {"# vtk DataFile Version 3.0\na\nTEXT\n", "in.vtk:3: expected ASCII or BINARY"},
      {HEAD("ASCII", "STRUCTURED_GRID"), "only POLYDATA and UNSTRUCTURED_GRID"},
      {HEAD("ASCII", "POLYDATA") "POINTS 99999999 float\n0 0 0\n", "shorter than its counts"},
      {HEAD("ASCII", "POLYDATA") "POINTS -1 float\n", "expected a count"},
      {HEAD("ASCII", "POLYDATA") SQUARE "POLYGONS 1 4\n3 0 1 7\n", "asks for point 7"},
      {HEAD("ASCII", "POLYDATA") SQUARE "POLYGONS 1 4\n9 0 1 2\n", "beyond the size of its list"},
      {HEAD("ASCII", "POLYDATA") SQUARE "POLYGONS 2 4\n3 0 1 2\n", "beyond the size of its list"},
      {HEAD("ASCII", "POLYDATA") SQUARE "POLYGONS 1 4\n3 0 1 -2\n", "whole number"},
      {HEAD("ASCII", "POLYDATA") SQUARE, "holds no triangles"},
      {HEAD("ASCII", "UNSTRUCTURED_GRID") SQUARE "CELLS 1 4\n3 0 1 2\n", "CELL_TYPES"},
      {HEAD("ASCII", "POLYDATA") SQUARE "OFFSETS vtktypeint64\n", "no section of POLYDATA"},
      {HEAD5 "POLYGONS 2 3\n3 0 1 2\n", "expected a list of offsets and ids"},
      {HEAD5 "POLYGONS 2 3\nOFFSETS double\n0 3\n", "a type of ids that is not known"},
      {HEAD5 "POLYGONS 2 3\nOFFSETS vtktypeint64\n0 4\nCONNECTIVITY vtktypeint64\n0 1 2\n",
       "cell 0 goes beyond"},
      {HEAD5 "POLYGONS 3 3\nOFFSETS vtktypeint64\n0 3 2\nCONNECTIVITY vtktypeint64\n0 1 2\n",
       "cell 1 goes beyond"},
  };
  for (size_t k = 0; k < sizeof bad / sizeof *bad; ++k) {
    loom_err e = {0};
    mesh m;
    cr_expect_eq(parse_vtk_text(&e, bad[k][0], &m), LOOM_E_IO, "taken: %s", bad[k][0]);
    cr_expect(strstr(e.text, bad[k][1]) != NULL, "no '%s' in: %s", bad[k][1], e.text);
    cr_expect(m.x == NULL && m.tris == NULL);
  }
}
