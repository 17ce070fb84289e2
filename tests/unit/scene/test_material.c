/* rest.c, material.c, merging.c: rest shapes from material coordinates and files, masses, seams,
 * and refusals. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "elements/elements.h"
#include "loom/material.h"
#include "mesh/obj.h"
#include "support/bufs.h"
#include "support/proc.h"
#include "support/tiny_scene.h"

TestSuite(material, .init = proc_enter, .fini = proc_leave);

static const double pi = 3.14159265358979323846;

/* Energies of rounding, J: loom_real may be float. */
static const double nothing = sizeof(loom_real) == 4 ? 1e-4 : 1e-12;

/* ---- meshes ---- */

typedef void (*place_fn)(const double uv[2], double x[3]);

/* nx x ny vertices over [0, w] x [0, h] in the plane; as OBJ with vt, or PLY. */
static void write_sheet_file(const char *name, int nx, int ny, double w, double h, place_fn place)
{
  static char text[400000];
  const int ply = strstr(name, ".ply") != NULL;
  size_t at = 0;
  if (ply)
    at += (size_t)snprintf(text + at, sizeof text - at,
                           "ply\nformat ascii 1.0\ncomment piece 0 front\nelement vertex %d\n"
                           "property double x\nproperty double y\nproperty double z\n"
                           "property double u\nproperty double v\nelement face %d\n"
                           "property list uchar int vertex_indices\nproperty int piece\n"
                           "end_header\n",
                           nx * ny, 2 * (nx - 1) * (ny - 1));
  else
    at += (size_t)snprintf(text + at, sizeof text - at, "g front\n");
  for (int k = 0; k < nx * ny; ++k) {
    const double uv[2] = {w * (k % nx) / (nx - 1), h * (double)(k / nx) / (ny - 1)};
    double x[3];
    place(uv, x);
    at += (size_t)snprintf(text + at, sizeof text - at,
                           ply ? "%.17g %.17g %.17g %.17g %.17g\n"
                               : "v %.17g %.17g %.17g\nvt %.17g %.17g\n",
                           x[0], x[1], x[2], uv[0], uv[1]);
  }
  for (int j = 0; j + 1 < ny; ++j)
    for (int i = 0; i + 1 < nx; ++i) {
      const int a = i + j * nx, b = a + 1, c = b + nx, d = a + nx;
      if (ply)
        at += (size_t)snprintf(text + at, sizeof text - at, "3 %d %d %d 0\n3 %d %d %d 0\n", a, b, c,
                               a, c, d);
      else
        at += (size_t)snprintf(text + at, sizeof text - at,
                               "f %d/%d %d/%d %d/%d\nf %d/%d %d/%d %d/%d\n", a + 1, a + 1, b + 1,
                               b + 1, c + 1, c + 1, a + 1, a + 1, c + 1, c + 1, d + 1, d + 1);
    }
  cr_assert(at < sizeof text - 1);
  proc_write(name, text);
}

static void map_uv_rigidly(const double uv[2], double x[3])
{
  x[0] = 0.3 + 0.6 * uv[0] - 0.8 * uv[1];
  x[1] = -0.1 + 0.6 * (0.8 * uv[0] + 0.6 * uv[1]);
  x[2] = 2.0 + 0.8 * (0.8 * uv[0] + 0.6 * uv[1]);
}

static void map_uv_affinely(const double uv[2], double x[3])
{
  x[0] = 1.3 * uv[0] + 0.4 * uv[1];
  x[1] = -0.2 * uv[0] + 0.9 * uv[1];
  x[2] = 0.5 * uv[0] - 0.1 * uv[1];
}

/* ---- energies ---- */

static double initial_energy(const tiny_scene *t)
{
  loom_err err = {0};
  elastic *el = NULL;
  int used = 0;
  loom_exec e = t_exec(1);
  cr_assert_eq(elastic_new(&err, t->m, &e, &t->s->pub, &el), LOOM_OK, "%s", err.text);
  cr_assert_eq(elastic_energy(el, t->s->x0, 0, &used), LOOM_OK, "%s", err.text);
  double sum = 0;
  for (int k = 0; k < used; ++k) sum += e.result[k];
  elastic_free(el);
  exec_close(&e);
  return sum;
}

static double cloth_section_energy(const char *more)
{
  char text[1024];
  snprintf(text, sizeof text, "[cloth.a]\ndensity = 0.2\nthickness = 1e-4\n%s", more);
  tiny_scene t = tiny_open_ok(text);
  const double e = initial_energy(&t);
  tiny_close(&t);
  return e;
}

static const char *const models[] = {"arap+isometric", "stvk+shell", "neohookean+isometric",
                                     "springs"};
enum { NUM_MODELS = sizeof models / sizeof *models };

Test(material, a_rigid_image_of_the_coordinates_is_at_rest)
{
  char text[512];
  write_sheet_file("sheet.obj", 9, 7, 0.4, 0.3, map_uv_rigidly);
  write_sheet_file("sheet.ply", 9, 7, 0.4, 0.3, map_uv_rigidly);
  write_sheet_file("wide.obj", 9, 7, 0.4, 0.3, map_uv_affinely);
  for (int k = 0; k < NUM_MODELS; ++k) {
    snprintf(text, sizeof text, "shape = obj\nfile = sheet.obj\nrest = uv\nmodel = %s\n",
             models[k]);
    cr_assert(fabs(cloth_section_energy(text)) <= nothing, "%s: %g J", models[k],
              cloth_section_energy(text));
    snprintf(text, sizeof text, "shape = ply\nfile = sheet.ply\nrest = uv\nmodel = %s\n",
             models[k]);
    cr_assert(fabs(cloth_section_energy(text)) <= nothing, "%s: %g J", models[k],
              cloth_section_energy(text));
    /* stretched cloth has energy, unless its rest shape is where it starts */
    snprintf(text, sizeof text, "shape = obj\nfile = wide.obj\nrest = uv\nmodel = %s\n", models[k]);
    cr_assert(cloth_section_energy(text) > 1e-3, "%s: %g J", models[k], cloth_section_energy(text));
    snprintf(text, sizeof text, "shape = obj\nfile = wide.obj\nmodel = %s\n", models[k]);
    cr_assert(fabs(cloth_section_energy(text)) <= nothing, "%s: %g J", models[k],
              cloth_section_energy(text));
  }
}

Test(material, an_affine_image_is_not_bent)
{
  write_sheet_file("wide.obj", 9, 7, 0.4, 0.3, map_uv_affinely);
  const char *const text = "shape = obj\nfile = wide.obj\nrest = uv\nmodel = isometric\n";
  cr_assert(fabs(cloth_section_energy(text)) <= nothing, "%g J", cloth_section_energy(text));
}

/* StVK along x alone: E = A k0/2 G00^2, with uv in a unit of 1 cm. */
Test(material, stretch_is_measured_from_the_coordinates)
{
  proc_write("pair.obj", "v 0 0 0\nv 1.2 0 0\nv 1.2 1 0\nv 0 1 0\n"
                         "vt 0 0\nvt 100 0\nvt 100 100\nvt 0 100\n"
                         "f 1/1 2/2 3/3\nf 1/1 3/3 4/4\n");
  const double G = 0.5 * (1.2 * 1.2 - 1);
  const double e = cloth_section_energy("shape = obj\nfile = pair.obj\nrest = uv\nuv_scale = 0.01\n"
                                        "model = stvk+isometric\nk_b = 0\nk0 = 50\n");
  cr_assert_float_eq(e, 0.5 * 50 * G * G, nothing + 1e-12, "%.17g J", e);
}

/* ---- a cylinder sewn from a strip ---- */

enum { AROUND = 64, ALONG = 33 };
static const double radius = 0.1, length = 0.5;

/* The flat strip has the sides of the polygon. */
static void wrap_uv_on_tube(const double uv[2], double x[3])
{
  const double a = uv[0] / (2 * radius * sin(pi / AROUND)) * 2 * pi / AROUND;
  x[0] = radius * cos(a);
  x[1] = radius * sin(a);
  x[2] = uv[1];
}

/* Cells all cut along one diagonal, held to a cylinder: rigidity 3 k_b (tests/physics/
 * test_cantilever.c derives it), so 3/2 k_b/r^2 per area. */
Test(material, a_sewn_strip_has_the_bending_energy_of_a_cylinder)
{
  const double width = AROUND * 2 * radius * sin(pi / AROUND), k = 1e-3;
  const double exact = 1.5 * k / (radius * radius) * 2 * pi * radius * length;
  static const char *const bending[] = {"arap+isometric\nmembrane = 0\nk_b = 1e-3\n",
                                        "arap+shell\nmembrane = 0\nk_e = 12e-3\n"};
  write_sheet_file("strip.obj", AROUND + 1, ALONG, width, length, wrap_uv_on_tube);
  char text[1024];
  for (int b = 0; b < 2; ++b) {
    snprintf(text, sizeof text,
             "shape = obj\nfile = strip.obj\nrest = uv\nsewing = merge\nmodel = %s", bending[b]);
    const double sewn = cloth_section_energy(text);
    snprintf(text, sizeof text,
             "shape = cylinder\nsize = 0.2 0.5\nresolution = %d %d\nrest = uv\nmodel = %s", AROUND,
             ALONG, bending[b]);
    const double tube = cloth_section_energy(text);
    printf("bending energy of a cylinder: %.6g J exact, %.6g J sewn, %.6g J tube\n", exact, sewn,
           tube);
    cr_assert_float_eq(sewn, exact, 0.01 * exact);
    cr_assert_float_eq(tube, sewn, 1e-6 * exact);
    /* without the coordinates it rests where it starts, and open it bends less */
    snprintf(text, sizeof text, "shape = obj\nfile = strip.obj\nsewing = merge\nmodel = %s",
             bending[b]);
    cr_assert(fabs(cloth_section_energy(text)) <= nothing);
  }
  snprintf(text, sizeof text,
           "shape = obj\nfile = strip.obj\nrest = uv\nsewing = merge\nmodel = arap+isometric\n"
           "k_b = 0\n");
  cr_assert(fabs(cloth_section_energy(text)) <= nothing, "%g J", cloth_section_energy(text));
}

/* Of a cylinder only edges along its axis are bent, which are at 90 degrees to the first axis of
 * the strip, at its seam, too. */
Test(material, edges_keep_their_direction_in_the_coordinates)
{
  static const int turned[3][3] = {{2, 1, 1}, {1, 2, 1}, {1, 1, 2}};
  double e[3];
  write_sheet_file("strip.obj", AROUND + 1, ALONG, AROUND * 2 * radius * sin(pi / AROUND), length,
                   wrap_uv_on_tube);
  for (int c = 0; c < 3; ++c) {
    char text[1024];
    int at = snprintf(text, sizeof text,
                      "shape = obj\nfile = strip.obj\nrest = uv\nsewing = merge\n"
                      "model = arap+wang_bend\nmembrane = 0\n");
    for (int row = 0; row < 5; ++row)
      at += snprintf(text + at, sizeof text - (size_t)at, "bend_%d = %d %d %d\n", 5 * row,
                     turned[c][0], turned[c][1], turned[c][2]);
    e[c] = cloth_section_energy(text);
  }
  printf("bending energy, stiff at 0, 45, 90 degrees: %.6g, %.6g, %.6g J\n", e[0], e[1], e[2]);
  cr_assert(e[0] > 0);
  cr_assert_float_eq(e[1], e[0], 1e-6 * e[0]);
  cr_assert_float_eq(e[2], 2 * e[0], 1e-6 * e[0]);
}

/* ---- the extension, masses ---- */

Test(material, scenes_carry_coordinates_pieces_and_mass)
{
  write_sheet_file("wide.obj", 9, 7, 0.4, 0.3, map_uv_affinely);
  tiny_scene t = tiny_open_ok("[cloth.plain]\nresolution = 4\ntransform = translate 0 0 9\n"
                              "[cloth.a]\nshape = obj\nfile = wide.obj\nrest = uv\ndensity = 2\n"
                              "thickness = 1e-4\n");
  const loom_material *const m = loom_scene_extension(&t.s->pub, LOOM_MATERIAL);
  cr_assert(m != NULL);
  cr_assert_eq(m->num_pieces, 1);
  cr_assert_str_eq(m->pieces[0].name, "front");
  cr_assert_eq(m->pieces[0].object, 1);
  cr_assert_eq(m->pieces[0].num_tris, 96);
  cr_assert_float_eq(m->pieces[0].hi[0], 0.4, 1e-12);
  int32_t *const piece = tiny_copy(&t, m->piece);
  loom_real *const mass = tiny_copy(&t, t.s->pub.mass), *const uv = tiny_copy(&t, m->uv);
  cr_assert_eq(piece[17], -1);
  cr_assert_eq(piece[18], 0);
  cr_assert_float_eq(uv[6 * 18 + 2], 0.05, 1e-7);
  double sum = 0;
  for (int k = 16; k < t.s->pub.num_verts; ++k) sum += (double)mass[k];
  cr_assert_float_eq(sum, 2 * 0.4 * 0.3, sizeof(loom_real) == 4 ? 1e-6 : 1e-12);
  free(piece), free(mass), free(uv);
  tiny_close(&t);
  t = tiny_open_ok("[cloth.plain]\nresolution = 4\n");
  cr_assert(loom_scene_extension(&t.s->pub, LOOM_MATERIAL) == NULL);
  cr_assert(t.s->pub.rest_x == t.s->x0);
  tiny_close(&t);
}

Test(material, cloth_starts_away_from_its_rest_shape)
{
  write_sheet_file("rest.obj", 5, 5, 0.4, 0.3, map_uv_rigidly);
  write_sheet_file("start.obj", 5, 5, 0.4, 0.3, map_uv_affinely);
  const char *const parts[] = {
      "shape = obj\nfile = rest.obj\npositions = start.obj\n",
      "shape = obj\nfile = start.obj\nrest_file = rest.obj\n",
      "shape = obj\nfile = start.obj\nrest = uv\n",
  };
  const double e = cloth_section_energy(parts[0]);
  cr_assert(e > 1e-3);
  for (int k = 1; k < 3; ++k)
    cr_assert_float_eq(cloth_section_energy(parts[k]), e, 1e-9 * e + nothing);
  cr_assert(fabs(cloth_section_energy(
                "shape = obj\nfile = rest.obj\npositions = start.obj\nrest = initial\n")) <=
            nothing);
}

/* ---- log and export ---- */

static mesh read_mesh_file(const char *name)
{
  loom_err err = {0};
  mesh m;
  const loom_status s =
      strstr(name, ".ply") != NULL ? ply_read(&err, name, &m) : obj_read(&err, name, &m);
  cr_assert_eq(s, LOOM_OK, "%s", err.text);
  return m;
}

/* Coordinates and pieces are in the log, and in files exported from it. */
Test(material, the_log_and_exported_meshes_carry_them)
{
  static const char *const files[] = {"out/obj/seam_000001.obj", "out/ply/seam_000001.ply"};
  write_sheet_file("strip.obj", 13, 5, 12 * 2 * radius * sin(pi / AROUND), 0.1, wrap_uv_on_tube);
  proc_write("seam.ini", "[run]\nsteps = 1\n[cloth.flat]\nresolution = 3\nsize = 0.01\n"
                         "[cloth.tube]\nshape = obj\nfile = strip.obj\nrest = uv\n"
                         "sewing = merge\n[solver]\nplugin = gd\n[stop]\nmax_iters = 1\n"
                         "[log]\nfile = out/seam.h5\n");
  LOOM_FINE("run", "seam.ini", "--quiet");
  LOOM_FINE("export", "out/seam.h5", "--format", "obj", "-o", "out/obj");
  LOOM_FINE("export", "out/seam.h5", "--format", "ply", "-o", "out/ply");
  mesh want = read_mesh_file("strip.obj");
  for (int k = 0; k < 2; ++k) {
    mesh m = read_mesh_file(files[k]);
    cr_assert(m.uv != NULL && m.piece != NULL);
    cr_assert_eq(m.num_tris, 8 + want.num_tris);
    for (int64_t t = 0; t < 8; ++t) {
      cr_assert_str_eq(m.piece_names[m.piece[t]], "none");
      cr_assert(isnan(m.uv[6 * t]));
    }
    for (int64_t t = 8; t < m.num_tris; ++t) {
      cr_assert_str_eq(m.piece_names[m.piece[t]], "front");
      for (int c = 0; c < 6; ++c)
        cr_assert_eq((loom_real)m.uv[6 * t + c], (loom_real)want.uv[6 * (t - 8) + c]);
    }
    mesh_free(&m);
  }
  mesh_free(&want);
}

/* ---- merging ---- */

static const char two_squares[] = "v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\n"
                                  "v 1.0000001 0 0\nv 2 0 0\nv 2 1 0\nv 1.0000001 1 0\n"
                                  "f 1 2 3\nf 1 3 4\nf 5 6 7\nf 5 7 8\n";

Test(material, vertices_merge_and_pins_keep_their_numbers)
{
  static const char *const ways[] = {"repair = merge\n", "sewing = merge\n",
                                     "repair = merge+orientation\n"};
  proc_write("two.obj", two_squares);
  for (int k = 0; k < 3; ++k) {
    char text[512];
    snprintf(text, sizeof text,
             "[cloth.a]\nshape = obj\nfile = two.obj\n%smerge_tolerance = 1e-6\npins = 6\n"
             "[pin.p]\nobject = a\nwhere = 4\nstiffness = 3\n",
             ways[k]);
    tiny_scene t = tiny_open_ok(text);
    cr_assert_eq(t.s->pub.num_verts, 6);
    cr_assert_eq(t.s->pub.num_edges, 9);
    cr_assert(strstr(t.s->notes, "2 vertices were merged into others, 6 are left") != NULL, "%s",
              t.s->notes);
    uint8_t *const fixed = tiny_copy(&t, t.s->pub.fixed);
    loom_real *const x = tiny_copy(&t, t.s->x0);
    for (int i = 0; i < 6; ++i) cr_assert_eq(fixed[i], i == 5, "vertex %d", i);
    cr_assert(x[3 * 5] == 2 && x[3 * 5 + 1] == 1); /* 6 of the file */
    free(fixed), free(x);
    tiny_close(&t);
  }
  /* without it, two sheets; at a smaller tolerance also */
  tiny_scene t = tiny_open_ok("[cloth.a]\nshape = obj\nfile = two.obj\n");
  cr_assert_eq(t.s->pub.num_verts, 8);
  tiny_close(&t);
  t = tiny_open_ok("[cloth.a]\nshape = obj\nfile = two.obj\nrepair = merge\n"
                   "merge_tolerance = 1e-8\n");
  cr_assert_eq(t.s->pub.num_verts, 8);
  cr_assert(strstr(t.s->notes, "none merged") != NULL, "%s", t.s->notes);
  tiny_close(&t);
}

/* A square whose face names a corner twice: one triangle has no area, and its corners are two. */
Test(material, merging_and_cleaning_together_collapse_sides_without_length)
{
  proc_write("pole.obj",
             "v 0 0 0\nv 1 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nf 1 2 3\nf 1 3 4\nf 1 4 5\n");
  tiny_scene t = tiny_open_ok("[cloth.a]\nshape = obj\nfile = pole.obj\nrepair = merge+clean\n");
  cr_assert(t.s->pub.num_verts == 4 && t.s->pub.num_tris == 2);
  tiny_close(&t);
  tiny_refused("[cloth.a]\nshape = obj\nfile = pole.obj\nrepair = merge\n",
               (const char *const[]){"would vanish", "repair = merge+clean", NULL});
}

/* ---- refusals ---- */

Test(material, bad_input_names_file_line_and_remedy)
{
  proc_write("plain.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n");
  proc_write("flat.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nvt 0 0\nvt 1 1\nvt 2 2\nf 1/1 2/2 3/3\n");
  proc_write("hole.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nvt 0 0\nvt 1 1\nvt 2 2\nf 1/1 2/2 3\n");
  proc_write("wild.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nvt 0 0\nf 1/1 2/1 3/9\n");
  proc_write("more.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 5 5 5\nf 1 2 3\n");
  proc_write("turned.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 2 1 3\n");
  proc_write("two.obj", two_squares);
  static const char *const cases[][4] = {
      {"plain.obj", "rest = uv\n", "tiny.ini:4: [cloth.a] rest", "rest = initial"},
      {"flat.obj", "rest = uv\n", "flat.obj:7", "zero area"},
      {"hole.obj", "rest = uv\n", "hole.obj:7", "give all corners a vt"},
      {"plain.obj", "rest_file = more.obj\n", "tiny.ini:4: [cloth.a] rest_file",
       "has 4 vertices and 1 triangles"},
      {"plain.obj", "rest_file = turned.obj\n", "turned.obj", "same triangles in the same order"},
      {"plain.obj", "positions = plain.txt\n", "plain.txt", ".obj or .ply"},
      {"more.obj", "positions = plain.obj\n", "tiny.ini:4: [cloth.a] positions", "has 3 vertices"},
      {"plain.obj", "merge_tolerance = 1\n", "merge_tolerance", "no effect"},
      {"plain.obj", "uv_scale = 2\nrest_file = plain.obj\nrest = initial\n", "rest_file",
       "no effect"},
      {"two.obj", "repair = merge\nmerge_tolerance = 1\n", "merge_tolerance", "lower it"},
  };
  for (size_t k = 0; k < sizeof cases / sizeof *cases; ++k) {
    char text[512];
    snprintf(text, sizeof text, "[cloth.a]\nshape = obj\nfile = %s\n%s", cases[k][0], cases[k][1]);
    tiny_refused(text, (const char *const[]){cases[k][2], cases[k][3], NULL});
  }
  proc_write("wild.ini", "[cloth.a]\nshape = obj\nfile = wild.obj\n[solver]\nplugin = gd\n");
  proc_expect_error(2, LOOM_TEXTS("wild.ini:3", "wild.obj:5: f: asks for a vt that is not there"),
                    LOOM_ARGS("run", "wild.ini"));
}
