/* rig/surface: STL, OFF and glTF as cloth and bodies, through the module of Assimp. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rig/surface.h"
#include "support/proc.h"

TestSuite(surface, .init = proc_enter, .fini = proc_leave);

static const int corners[8][3] = {{0, 0, 0}, {1, 0, 0}, {1, 1, 0}, {0, 1, 0},
                                  {0, 0, 1}, {1, 0, 1}, {1, 1, 1}, {0, 1, 1}};
static const int tris[12][3] = {{0, 2, 1}, {0, 3, 2}, {4, 5, 6}, {4, 6, 7}, {0, 1, 5}, {0, 5, 4},
                                {1, 2, 6}, {1, 6, 5}, {2, 3, 7}, {2, 7, 6}, {3, 0, 4}, {3, 4, 7}};

static void write_stl_words(const char *name, int capital)
{
  static const char *const words[2][4] = {
      {"solid cube\n", "facet normal 0 0 0\nouter loop\n", "vertex", "endloop\nendfacet\n"},
      {"SOLID\n", "FACET NORMAL 0 0 0\nOUTER LOOP\n", "VERTEX", "ENDLOOP\nENDFACET\n"}};
  FILE *const f = fopen(name, "w");
  cr_assert(f != NULL);
  fputs(words[capital][0], f);
  for (int t = 0; t < 12; ++t) {
    fputs(words[capital][1], f);
    for (int a = 0; a < 3; ++a)
      fprintf(f, "%s %d %d %d\n", words[capital][2], corners[tris[t][a]][0], corners[tris[t][a]][1],
              corners[tris[t][a]][2]);
    fputs(words[capital][3], f);
  }
  fputs(capital ? "ENDSOLID\n" : "endsolid cube\n", f);
  fclose(f);
}

/* `count` in the head, 12 triangles behind it. */
static void write_binary_stl(const char *name, unsigned count)
{
  FILE *const f = fopen(name, "wb");
  const char head[80] = "solid by its head, binary by its size";
  cr_assert(f != NULL);
  fwrite(head, 1, sizeof head, f);
  for (int k = 0; k < 4; ++k) fputc((int)(count >> 8 * k & 255), f);
  for (int t = 0; t < 12; ++t) {
    float v[12] = {0};
    for (int k = 0; k < 9; ++k) v[3 + k] = (float)corners[tris[t][k / 3]][k % 3];
    fwrite(v, sizeof *v, 12, f);
    fwrite("\0", 1, 2, f);
  }
  fclose(f);
}

/* Squares as faces of four corners. */
static void write_off(const char *name)
{
  static const char faces[] = "4 3 2 1 0\n4 4 5 6 7\n4 0 1 5 4\n4 1 2 6 5\n4 2 3 7 6\n4 3 0 4 7\n";
  FILE *const f = fopen(name, "w");
  cr_assert(f != NULL);
  fprintf(f, "OFF\n9 6 0\n"); /* no face has the last vertex */
  for (int v = 0; v < 8; ++v) fprintf(f, "%d %d %d\n", corners[v][0], corners[v][1], corners[v][2]);
  fprintf(f, "7 7 7\n");
  fputs(faces, f);
  fclose(f);
}

static double enclosed_volume(const mesh *m)
{
  double six = 0;
  for (int32_t t = 0; t < m->num_tris; ++t) {
    const int32_t *const v = m->tris + 3 * (ptrdiff_t)t;
    const double *const a = m->x + 3 * (ptrdiff_t)v[0], *const b = m->x + 3 * (ptrdiff_t)v[1];
    const double *const c = m->x + 3 * (ptrdiff_t)v[2];
    six += a[0] * (b[1] * c[2] - b[2] * c[1]) + a[1] * (b[2] * c[0] - b[0] * c[2]) +
           a[2] * (b[0] * c[1] - b[1] * c[0]);
  }
  return six / 6;
}

Test(surface, cubes_of_three_formats_are_closed)
{
  static const char *const names[] = {"text.stl", "binary.stl", "cube.off", "stl.of_another_name",
                                      "capitals.stl"};
  write_stl_words(names[0], 0);
  write_binary_stl(names[1], 12);
  write_off(names[2]);
  write_stl_words(names[3], 0);
  write_stl_words(names[4], 1);
  for (int k = 0; k < 5; ++k) {
    loom_err e = {0};
    mesh m;
    int32_t welded;
    cr_assert_eq(surface_import(&e, names[k], &m, &welded), LOOM_OK, "%s", e.text);
    cr_expect(m.num_verts == 8 && m.num_tris == 12, "%s: %d vertices, %d triangles", names[k],
              m.num_verts, m.num_tris);
    cr_expect_float_eq(enclosed_volume(&m), 1, 1e-12);
    if (k != 2) cr_expect_eq(welded, 28);
    mesh_free(&m);
  }
}

/* two_boxes.gltf with `more` before the place `at` of its text, as changed.gltf. */
static void rewrite_two_boxes(const char *at, const char *more)
{
  static char text[20000];
  char path[4096];
  snprintf(path, sizeof path, "%s/tests/unit/rig/cases/two_boxes.gltf", getenv("LOOM_SOURCE_DIR"));
  FILE *const from = fopen(path, "r"), *const f = fopen("changed.gltf", "w");
  cr_assert(from != NULL && f != NULL);
  text[fread(text, 1, sizeof text - 1, from)] = '\0';
  fclose(from);
  const char *const place = strstr(text, at);
  cr_assert(place != NULL);
  fprintf(f, "%.*s%s%s", (int)(place - text), text, more, place);
  fclose(f);
}

/* A map with a negative determinant turns triangles around (glTF 2.0, 3.7.4): what is outside stays
 * outside. */
Test(surface, mirrored_nodes_stay_outside_out)
{
  static const char *const scales[] = {"[1, 1, 1]", "[-1, 1, 1]", "[-1, -2, 1]", "[-1, -1, -3]"};
  double volume[4];
  for (int k = 0; k < 4; ++k) {
    loom_err e = {0};
    mesh m;
    int32_t welded;
    char more[80];
    snprintf(more, sizeof more, "\"scale\": %s, ", scales[k]);
    rewrite_two_boxes("\"name\": \"skin\"", more);
    cr_assert_eq(surface_import(&e, "changed.gltf", &m, &welded), LOOM_OK, "%s", e.text);
    volume[k] = enclosed_volume(&m) / volume[0];
    if (k == 0) volume[0] = enclosed_volume(&m);
    mesh_free(&m);
  }
  cr_expect_float_eq(volume[1], 1, 1e-6);
  cr_expect_float_eq(volume[2], 2, 1e-6);
  cr_expect_float_eq(volume[3], 3, 1e-6);
}

Test(surface, extensions_that_change_the_shape_are_refused)
{
  static const struct {
    const char *more, *want; /* NULL: it is taken */
  } all[] = {{"\"extensionsRequired\": [\"KHR_draco_mesh_compression\"],", "are compressed"},
             {"\"extensionsRequired\": [\"KHR_texture_transform\", \"ACME_bend\"],", "'ACME_bend'"},
             {"\"extensionsUsed\": [\"EXT_mesh_gpu_instancing\"],", "a node for each copy"},
             {"\"extensionsUsed\": [\"ACME_bend\"],", NULL},
             {"\"extensionsRequired\": [\"KHR_materials_unlit\"],", NULL}};
  for (size_t k = 0; k < sizeof all / sizeof *all; ++k) {
    loom_err e = {0};
    mesh m;
    int32_t welded;
    rewrite_two_boxes("\"asset\"", all[k].more);
    const loom_status s = surface_import(&e, "changed.gltf", &m, &welded);
    cr_expect_eq(s == LOOM_OK, all[k].want == NULL, "%s %s", all[k].more, e.text);
    if (all[k].want != NULL) cr_expect(strstr(e.text, all[k].want) != NULL, "%s", e.text);
    mesh_free(&m);
  }
}

/* The meshes of a glTF stand where its nodes put them, with or without a skin. */
Test(surface, nodes_place_the_meshes_of_a_gltf)
{
  char path[4096];
  loom_err e = {0};
  mesh m;
  int32_t welded;
  snprintf(path, sizeof path, "%s/tests/unit/rig/cases/two_boxes.gltf", getenv("LOOM_SOURCE_DIR"));
  cr_assert_eq(surface_import(&e, path, &m, &welded), LOOM_OK, "%s", e.text);
  cr_expect_eq(m.num_tris, 24);
  cr_expect_float_eq(fabs(enclosed_volume(&m)), 2, 1e-6);
  double far = 0;
  for (int32_t k = 0; k < m.num_verts; ++k) far = fmax(far, m.x[3 * (ptrdiff_t)k]);
  cr_expect_float_eq(far, 2, 1e-6);
  mesh_free(&m);
  rewrite_two_boxes("\"name\": \"skin\"", "\"scale\": [1, 1, 3], \"translation\": [5, 0, 0], ");
  cr_assert_eq(surface_import(&e, "changed.gltf", &m, &welded), LOOM_OK, "%s", e.text);
  cr_expect_float_eq(fabs(enclosed_volume(&m)), 6, 1e-5);
  for (int32_t k = 0; k < m.num_verts; ++k) cr_expect_geq(m.x[3 * (ptrdiff_t)k], 5);
  mesh_free(&m);
}

Test(surface, damaged_and_foreign_files_are_refused)
{
  static const struct {
    const char *text, *want;
  } all[] = {{"OFF\n3 1 0\n0 0 0\n1 0 0\n0 1 0\n3 0 1 7\n", "a.off: "},
             {"OFF\n999999999 1 0\n0 0 0\n", "a.off: "},
             {"solid a\nfacet normal 0 0 0\nouter loop\nvertex 0 0\n", "a.off: "},
             {"#usda 1.0\n", "is USD (./loom convert makes OBJ files of it), not glTF"},
             {"no model at all\n", "of no format that is known here"},
             {"", "a.off: "}};
  for (size_t k = 0; k < sizeof all / sizeof *all; ++k) {
    loom_err e = {0};
    mesh m;
    int32_t welded;
    proc_write("a.off", all[k].text);
    cr_expect(surface_import(&e, "a.off", &m, &welded) < 0, "taken: %s", all[k].text);
    cr_expect(strstr(e.text, all[k].want) != NULL, "%s", e.text);
    cr_expect(m.x == NULL && m.tris == NULL);
  }
  loom_err e = {0};
  mesh m;
  int32_t welded;
  write_binary_stl("many.stl", 2000000000u);
  cr_expect(surface_import(&e, "many.stl", &m, &welded) < 0, "a count that the file has not");
  cr_expect(strstr(e.text, "is cut off or damaged") != NULL, "%s", e.text);
}

Test(surface, cloth_and_bodies_take_them)
{
  proc p;
  write_stl_words("text.stl", 0);
  write_off("cube.off");
  proc_write(
      "in.ini",
      "[run]\nsteps = 1\n[cloth.bag]\nmodel = arap+isometric\nshape = mesh\nfile = text.stl\n"
      "density = 0.2\ntransform = translate 0 0 3 scale 0.5\n"
      "[body.block]\nshape = mesh\nfile = cube.off\n[solver]\nplugin = gd\n"
      "[contact.none]\nplugin = none\n");
  proc_loom(&p, LOOM_ARGS("check", "in.ini"));
  cr_assert_eq(p.code, 0, "%s", p.err);
  cr_expect(strstr(p.out, "0.5 x 0.5 x 0.5 m, 1.5 m^2, 0.3 kg") != NULL, "%s", p.out);
  cr_expect(strstr(p.out, "1 x 1 x 1 m, 6 m^2, 8 vertices, 12 triangles") != NULL, "%s", p.out);
  cr_expect(strstr(p.err, "28 vertices at the place of another one") != NULL, "%s", p.err);
}
