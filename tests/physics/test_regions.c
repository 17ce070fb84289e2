/* test_regions.c - [region.NAME]: parts of a cloth with their own density and stiffness.
 *
 * The sheet has 9 x 3 vertices over 0.8 x 0.2 m; its left half is the part `soft`, its right half
 * the part `stiff`. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "support/proc.h"
#include "support/sim.h"
#include "support/tiny_scene.h"

TestSuite(regions, .init = proc_enter, .fini = proc_leave);

enum { NX = 9, NY = 3, VERTS = NX * NY, TRIS = 2 * (NX - 1) * (NY - 1), MIDDLE = NX / 2 };
static const double wide = 0.8, tall = 0.2;
enum { OF_GROUPS, OF_MATERIALS, OF_PIECES, OF_VERTS, OF_TRIS, ORIGINS };

/* The mesh file, and for OF_VERTS and OF_TRIS the file labels.txt. */
static void write_region_sheet(int origin)
{
  static char text[20000], labels[8000];
  size_t at = 0, to = 0;
  const int ply = origin == OF_PIECES;
  if (ply)
    at += (size_t)snprintf(text, sizeof text,
                           "ply\nformat ascii 1.0\nelement vertex %d\nproperty double x\nproperty "
                           "double y\nproperty double z\nelement face %d\nproperty list uchar int "
                           "vertex_indices\nproperty int piece\nend_header\n",
                           VERTS, TRIS);
  for (int k = 0; k < VERTS; ++k)
    at += (size_t)snprintf(text + at, sizeof text - at, "%s%.17g %.17g 0\n", ply ? "" : "v ",
                           wide * (k % NX) / (NX - 1), tall * (double)(k / NX) / (NY - 1));
  /* the labels of GarmentCode: a seam has its own */
  for (int k = 0; k < VERTS && origin == OF_VERTS; ++k)
    to += (size_t)snprintf(labels + to, sizeof labels - to, "%s\n",
                           k % NX == MIDDLE  ? "stitch_0,stitch_1"
                           : k % NX < MIDDLE ? "soft"
                                             : "stiff");
  for (int half = 0; half < 2; ++half) {
    static const char *const names[] = {"soft", "stiff"};
    if (origin == OF_GROUPS)
      at += (size_t)snprintf(text + at, sizeof text - at, "g %s\n", names[half]);
    if (origin == OF_MATERIALS)
      at += (size_t)snprintf(text + at, sizeof text - at, "usemtl %s\n", names[half]);
    for (int j = 0; j + 1 < NY; ++j)
      for (int i = half * MIDDLE; i < (half + 1) * MIDDLE; ++i) {
        const int a = i + j * NX + !ply, b = a + 1, c = b + NX, d = a + NX;
        at += ply ? (size_t)snprintf(text + at, sizeof text - at, "3 %d %d %d %d\n3 %d %d %d %d\n",
                                     a, b, c, half, a, c, d, half)
                  : (size_t)snprintf(text + at, sizeof text - at, "f %d %d %d\nf %d %d %d\n", a, b,
                                     c, a, c, d);
        if (origin == OF_TRIS)
          to += (size_t)snprintf(labels + to, sizeof labels - to, "%s\n%s\n", names[half],
                                 names[half]);
      }
  }
  proc_write(ply ? "sheet.ply" : "sheet.obj", text);
  if (to > 0) proc_write("labels.txt", labels);
}

#define SHEET "[cloth.a]\nshape = mesh\nfile = sheet.obj\nmodel = arap+isometric\nmembrane = 50\n"
#define SOFT  "density = 0.1\nk_b = 1e-5\n"
#define STIFF "[region.b]\nobject = a\nwhere = stiff\nmembrane = 200\ndensity = 0.4\nk_b = 3e-5\n"

static double find_block_mat(const tiny_scene *t, const char *type, int elem)
{
  for (int k = 0; k < t->s->pub.num_blocks; ++k) {
    const loom_elem_block *const b = &t->s->pub.blocks[k];
    if (strcmp(b->type, type) != 0) continue;
    loom_real *const mat = tiny_copy(t, b->mat);
    const double value = mat[elem * b->mat_len];
    free(mat);
    return value;
  }
  return NAN;
}

static int count_region_elems(const tiny_scene *t, const char *type)
{
  for (int k = 0; k < t->s->pub.num_blocks; ++k)
    if (strcmp(t->s->pub.blocks[k].type, type) == 0) return t->s->pub.blocks[k].num_elems;
  return 0;
}

/* Every way to name the halves gives the same coefficients of triangles, masses of vertices
 * (exactly a third of density times area of each triangle) and, across the middle, means. */
Test(regions, all_files_of_names)
{
  static const char *const scenes[ORIGINS] = {
      SHEET SOFT STIFF, SHEET SOFT STIFF,
      SHEET SOFT "[region.b]\nobject = a\nwhere = piece1\nmembrane = 200\ndensity = 0.4\nk_b = "
                 "3e-5\n",
      SHEET SOFT STIFF "labels = labels.txt\n", SHEET SOFT STIFF "labels = labels.txt\n"};
  const double third = wide / (NX - 1) * tall / (NY - 1) / 2 / 3;
  for (int origin = 0; origin < ORIGINS; ++origin) {
    char text[1024];
    double total = 0;
    int means = 0;
    write_region_sheet(origin);
    snprintf(text, sizeof text, "%s", scenes[origin]);
    if (origin == OF_PIECES) memcpy(strstr(text, ".obj"), ".ply", 4);
    tiny_scene t = tiny_open_ok(text);
    for (int k = 0; k < TRIS; ++k)
      cr_assert_eq(find_block_mat(&t, "tri_arap", k), k < TRIS / 2 ? 50 : 200, "%d: %d", origin, k);
    const int hinges = count_region_elems(&t, "hinge_isometric");
    for (int k = 0; k < hinges; ++k) {
      const double mat = find_block_mat(&t, "hinge_isometric", k);
      cr_assert(fabs(mat - 1e-5) < 1e-12 || fabs(mat - 3e-5) < 1e-12 || fabs(mat - 2e-5) < 1e-12);
      means += fabs(mat - 2e-5) < 1e-12;
    }
    cr_assert_eq(means, NY - 1, "%d: %d", origin, means);
    loom_real *const mass = tiny_copy(&t, t.s->pub.mass);
    for (int v = 0; v < VERTS; ++v) total += mass[v];
    cr_assert_float_eq(total, 0.4 * tall * (0.1 + 0.4), 1e-7);
    /* the corners: two triangles, one triangle; the middle of the lower edge: one and two */
    cr_assert_float_eq(mass[0], 2 * 0.1 * third, 1e-9);
    cr_assert_float_eq(mass[NX - 1], 0.4 * third, 1e-9);
    cr_assert_float_eq(mass[MIDDLE], (0.1 + 2 * 0.4) * third, 1e-9, "%d: %g", origin,
                       mass[MIDDLE] / third);
    free(mass);
    tiny_close(&t);
  }
}

/* Names with their lists of vertices, as GarmentCode segments a body: a triangle is in the region
 * if two of its vertices are. */
Test(regions, lists_of_vertices)
{
  char lists[2000] = "{\"other\": [0], \"stiff\": [";
  int in = 0;
  write_region_sheet(OF_GROUPS);
  for (int v = 0, num = 0; v < VERTS; ++v)
    if (v % NX > MIDDLE) snprintf(lists + strlen(lists), 16, num++ ? ", %d" : "%d", v);
  strcat(lists, "]}\n");
  proc_write("labels.json", lists);
  tiny_scene t = tiny_open_ok(SHEET SOFT STIFF "labels = labels.json\n");
  for (int k = 0; k < t.s->pub.num_blocks; ++k) {
    const loom_elem_block *const b = &t.s->pub.blocks[k];
    if (strcmp(b->type, "tri_arap") != 0) continue;
    loom_real *const mat = tiny_copy(&t, b->mat);
    int32_t *const ids = tiny_copy(&t, b->verts);
    for (int e = 0; e < TRIS; ++e) {
      int listed = 0;
      for (int a = 0; a < 3; ++a) listed += ids[3 * e + a] % NX > MIDDLE;
      cr_assert_eq(mat[e * b->mat_len], listed > 1 ? 200 : 50, "%d", e);
      in += listed > 1;
    }
    free(ids), free(mat);
  }
  cr_assert_eq(in, TRIS / 2 - (NY - 1), "%d", in);
  tiny_close(&t);
}

/* A plate has the rigidity of its triangle; limits of strain stand where they are asked for. */
Test(regions, models_of_triangles)
{
  write_region_sheet(OF_GROUPS);
  tiny_scene t = tiny_open_ok(
      "[cloth.a]\nshape = mesh\nfile = sheet.obj\nmodel = arap+plate_quadratic\nbending = 1e-5\n"
      "[region.b]\nobject = a\nwhere = stiff\nbending = 4e-5\nstrain_limit = 1.1\n");
  for (int k = 0; k < TRIS; ++k)
    cr_assert_float_eq(find_block_mat(&t, "plate_quadratic", k), k < TRIS / 2 ? 1e-5 : 4e-5, 1e-11);
  cr_assert_eq(count_region_elems(&t, "tri_limit"), TRIS / 2);
  tiny_close(&t);
}

#define RUN                                                                        \
  "[run]\nsteps = 60\ndt = 0.05\ngravity = 0 0 0\n[exec]\nbackend = cpu\n[stop]\n" \
  "tol_abs = 1e-12\ntol_rel = 0\nmax_iters = 200\n[log]\naudit = off\n[solver]\n"  \
  "plugin = cholmod_newton\n"
#define PULL                                                                                    \
  "damping = 20\npins = box -1 -1 -1 0.001 1 1\n[pin.right]\nobject = a\nwhere = box 0.799 -1 " \
  "-1 1 1 1\nmotion = translate 0.1 0 0 0 1\n"

/* A half of length L/2 with the stiffness w (N/m) bears the force T (N/m) with the elongation
 * T L/(2 w): of the 0.1 m that the right edge is pulled the soft half takes 0.08 m, the stiff half
 * 0.02 m.  Without the region both take half of it.  Hinges have k_b = 0: their quadratic
 * energy feels where the stretch jumps. */
Test(regions, two_halves_in_series)
{
  double middle[2] = {0, 0};
  write_region_sheet(OF_GROUPS);
  for (int with = 0; with < 2; ++with) {
    sim s;
    sim_run(&s, with ? RUN SHEET SOFT PULL STIFF : RUN SHEET SOFT PULL,
            (const char *const[]){"cloth.a.file=sheet.obj", "cloth.a.k_b=0",
                                  with ? "region.b.k_b=0" : "cloth.a.k_b=0", NULL},
            0);
    for (int j = 0; j < NY; ++j) middle[with] += s.x[3 * (MIDDLE + j * NX)] / NY;
    for (int i = 0; i < NX && with; ++i) {
      const double law = i <= MIDDLE ? 0.12 * i : 0.48 + 0.105 * (i - MIDDLE);
      for (int j = 0; j < NY; ++j)
        cr_expect_float_eq(s.x[3 * (i + j * NX)], law, 1e-7, "%d %d: %.9f, law %.9f", i, j,
                           s.x[3 * (i + j * NX)], law);
    }
    sim_free(&s);
  }
  printf("middle at %.9f m with the region (law 0.48), %.9f without (law 0.45)\n", middle[1],
         middle[0]);
  cr_expect_float_eq(middle[0], 0.45, 1e-7);
}

/* A free sheet whose right half starts with 1 m/s: its momentum stays sum m v of the masses of the
 * law, of which the right half has four fifths. */
Test(regions, momentum_of_both_halves)
{
  char rows[VERTS * 32] = "";
  double start = 0, end = 0, left = 0;
  const double third = wide / (NX - 1) * tall / (NY - 1) / 2 / 3;
  sim s;
  write_region_sheet(OF_GROUPS);
  for (int k = 0; k < VERTS; ++k)
    snprintf(rows + strlen(rows), 32, "%d 0 0\n", k % NX > MIDDLE ? 1 : 0);
  proc_write("v.txt", rows);
  sim_run(&s, RUN SHEET SOFT STIFF,
          (const char *const[]){"run.steps=20", "run.dt=0.01", "cloth.a.file=sheet.obj",
                                "cloth.a.velocities=v.txt", NULL},
          0);
  for (int64_t t = 0; t < s.nt; ++t)
    for (int a = 0; a < 3; ++a) {
      const int32_t v = s.tris[3 * t + a];
      const double kg = (t < TRIS / 2 ? 0.1 : 0.4) * third;
      start += kg * (v % NX > MIDDLE);
      end += kg * s.v[3 * (int64_t)v];
      left += kg * s.v[3 * (int64_t)v] * (v % NX < MIDDLE);
    }
  printf("momentum %.12f kg m/s at the start, %.12f at the end, of it left of the middle %.6f\n",
         start, end, left);
  cr_expect_float_eq(end, start, 1e-9 * start);
  cr_expect_gt(left, 0.01 * start);
  sim_free(&s);
}

Test(regions, check_prints_them)
{
  proc p;
  write_region_sheet(OF_GROUPS);
  proc_write("a.ini", RUN SHEET SOFT STIFF);
  proc_loom(&p, LOOM_ARGS("check", "a.ini"));
  cr_assert_eq(p.code, 0, "%s", p.err);
  cr_assert_not_null(
      strstr(p.out, "region b                16 triangles, 0.08 m^2 at rest, 0.032 kg"), "%s",
      p.out);
  cr_assert_not_null(strstr(p.out, "16 triangles, 0.08 m^2 at rest, 0.008 kg"), "%s", p.out);
  LOOM_FINE("describe", "region");
}

/* Keys of the section stand above the material's, which stand above the cloth's; one of another
 * model is refused. */
Test(regions, materials_by_name)
{
  write_region_sheet(OF_GROUPS);
  cr_assert_eq(mkdir("materials", 0700), 0);
  proc_write("materials/heavy.ini", "[material]\ndensity = 2\nmembrane = 77\nmodel = "
                                    "arap+isometric\nthickness = 3 mm\n");
  const char *const text = SHEET SOFT "[region.b]\nobject = a\nwhere = stiff\nmaterial = heavy\n"
                                      "membrane = 200\n";
  char whole[2048];
  snprintf(whole, sizeof whole, "%s%s", RUN, text);
  proc_write("a.ini", whole);
  tiny_scene t = tiny_open_ok(text);
  const char *const section = strstr(cfg_resolved(t.c), "[region.b]");
  cr_assert_not_null(section);
  cr_assert_not_null(strstr(section, "density = 2\n"), "%s", section);
  cr_assert_not_null(strstr(section, "membrane = 200\n"), "%s", section);
  cr_assert_not_null(strstr(section, "k_b = 1e-05\n"), "%s", section);
  cr_assert_null(strstr(section, "thickness"), "%s", section);
  tiny_close(&t);
  proc_expect_error(2, LOOM_TEXTS("[region.b] material", "did you mean 'heavy'"),
                    LOOM_ARGS("check", "a.ini", "--set", "region.b.material=hevy"));
  proc_expect_error(
      2, LOOM_TEXTS("[region.b] material", "has model = arap+isometric"),
      LOOM_ARGS("check", "a.ini", "--set", "cloth.a.model=arap+shell", "--set", "cloth.a.k_b="));
}

Test(regions, refusals)
{
  write_region_sheet(OF_GROUPS);
  tiny_refused(SHEET "[region.b]\nobject = a\nwhere = stif\n",
               LOOM_TEXTS("[region.b] where", "\"stif\"", "there is stiff", NULL));
  tiny_refused(SHEET "[region.b]\nobject = aa\nwhere = stiff\n",
               LOOM_TEXTS("[region.b] object", "no cloth named \"aa\"", "there is a", NULL));
  tiny_refused(SHEET "[region.b]\nobject = a\n", LOOM_TEXTS("where", "is missing", NULL));
  tiny_refused(SHEET "[region]\nobject = a\n", LOOM_TEXTS("needs a name", NULL));
  tiny_refused(SHEET "[region.b]\nobject = a\nwhere = stiff\nthickness = 1\n",
               LOOM_TEXTS("thickness", "all its regions have one thickness", NULL));
  tiny_refused(SHEET "[region.b]\nobject = a\nwhere = stiff\nk_e = 1\n",
               LOOM_TEXTS("[region.b] k_e", "has no effect", NULL));
  tiny_refused(SHEET "[region.b]\nobject = a\nwhere = stiff\n[region.c]\nobject = a\nwhere = soft "
                     "stiff\n",
               LOOM_TEXTS("[region.c] where", "is in [region.b], too", NULL));
  tiny_refused("[cloth.a]\n[region.b]\nobject = a\nwhere = stiff\n",
               LOOM_TEXTS("has no named parts", NULL));
  proc_write("labels.txt", "stiff\nsoft\n");
  tiny_refused(SHEET STIFF "labels = labels.txt\n",
               LOOM_TEXTS("[region.b] labels", "2 lines", "27 vertices and 32 triangles", NULL));
}
