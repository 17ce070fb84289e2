/* `loom check` tells sizes, masses, rest shapes and names of the files that it loads, and refuses a
 * start that `loom run` refuses. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "support/proc.h"

TestSuite(check_list, .init = proc_enter, .fini = proc_leave);

#define METHOD                                                                                     \
  "[solver]\nplugin = cholmod_newton\n[collision.all]\nplugin = patch_bvh\n[contact.all]\nplugin " \
  "= ipc_barrier\n"
/* 0.4 m x 0.2 m; material coordinates from 0 to 1. */
#define SHEET \
  "v 0 0 0\nv .4 0 0\nv .4 .2 0\nv 0 .2 0\nvt 0 0\nvt 1 0\nvt 1 1\nvt 0 1\nf 1/1 2/2 3/3 4/4\n"
#define BLOCK                                                                                   \
  "v 0 0 -2\nv 1 0 -2\nv 1 1 -2\nv 0 1 -2\nv 0 0 -1\nv 1 0 -1\nv 1 1 -1\nv 0 1 -1\nf 4 3 2 1\n" \
  "f 5 6 7 8\nf 1 2 6 5\nf 2 3 7 6\nf 3 4 8 7\nf 4 1 5 8\n"
#define SCENE                                                                               \
  METHOD "[cloth.shirt]\nmodel = arap+isometric\nshape = obj\nfile = sheet.obj\ndensity = " \
         "0.2\n[body.block]\nshape = "                                                      \
         "mesh\nfile = block.obj\n"

static void check_scene(proc *p, int code, const char *const sets[2])
{
  proc_write("sheet.obj", SHEET);
  proc_write("block.obj", BLOCK);
  proc_write("in.ini", SCENE);
  proc_loom(p, LOOM_ARGS("check", "in.ini", "--set", sets[0], "--set", sets[1]));
  cr_assert_eq(p->code, code, "exit code %d: %s%s", p->code, p->out, p->err);
}

static void expect_text(const char *in, const char *part)
{
  cr_expect(strstr(in, part) != NULL, "\"%s\" is not in: %s", part, in);
}

Test(check_list, sizes_masses_and_bodies_are_told)
{
  proc p;
  check_scene(&p, 0, (const char *const[]){"run.steps=3", "run.steps=3"});
  expect_text(p.out,
              "shirt                0.4 x 0.2 x 0 m, 0.08 m^2, 0.016 kg, edges 0.2 to 0.447 m");
  expect_text(p.out, "material coordinates of 1 m^2, from 0 to 1 as of a texture, are not taken");
  expect_text(p.out, "body block           1 x 1 x 1 m, 6 m^2, 8 vertices, 12 triangles");
  cr_expect(strstr(p.err, "warning") == NULL, "%s", p.err);
}

Test(check_list, a_texture_as_rest_shape_is_warned_of)
{
  proc p;
  check_scene(&p, 0, (const char *const[]){"cloth.shirt.rest=uv", "run.steps=3"});
  expect_text(p.err,
              "warning: sheet.obj: its material coordinates lie between 0 and 1, as of a texture");
  expect_text(p.out, "stretch at the start 0.2 to 0.4, mean 0.3");
}

Test(check_list, a_smaller_rest_shape_is_warned_of)
{
  proc p;
  check_scene(&p, 0, (const char *const[]){"cloth.shirt.rest=uv", "cloth.shirt.uv_scale=0.2"});
  expect_text(p.err, "warning: sheet.obj: ");
  expect_text(p.err, "as long as");
}

Test(check_list, mistaken_units_are_warned_of)
{
  proc p;
  check_scene(&p, 0,
              (const char *const[]){"cloth.shirt.transform=translate 0 0 9 scale 100",
                                    "body.block.scale=100"});
  expect_text(
      p.err,
      "sheet.obj: is 40 m long and weighs 160 kg; is its unit the metre? transform = scale 0.01");
  expect_text(p.err, "block.obj: is 100 m long; is its unit the metre? scale 0.01 takes it");
}

/* Y h^2/D = 3e5 * 0.01^2 / D, of the grid below. */
#define PLATE(D)                                                                          \
  METHOD "[cloth.card]\nsize = 0.2 0.1\nresolution = 21 11\nmembrane = 3e5\nbending = " D \
         "\ndensity = 0.08\n"

static void check_card(proc *p, const char *scene, const char *set)
{
  proc_write("card.ini", scene);
  proc_loom(p, LOOM_ARGS("check", "card.ini", "--set", set));
  cr_assert_eq(p->code, 0, "exit code %d: %s%s", p->code, p->out, p->err);
}

#define CARD  METHOD "[cloth.card]\nsize = 0.2 0.1\nresolution = 21 11\nmodel = "
#define ROW   " = 5e6 0 5e6 5e6\n"
#define TABLE "stretch_0" ROW "stretch_22" ROW "stretch_45" ROW "stretch_67" ROW "stretch_90" ROW

/* The run says so as well; finer cells and a stiffer plate end it, hinges are no plate. */
Test(check_list, a_membrane_that_locks_is_warned_of)
{
  static const char *const stiff[] = {CARD "stvk+plate\nk0 = 1e7\nk2 = 1e7\n",
                                      CARD "neohookean+plate_quadratic\nyoung = 1e7\n",
                                      CARD "wang+plate\nstretch_rest" ROW TABLE};
  proc p;
  check_card(&p, PLATE("2.75e-3"), "run.steps=3");
  expect_text(p.err, "[cloth.card]: bends that cross its rows of edges come out too stiff: "
                     "Y h^2/D = 1.1e+04 is above 1e+04 (Y = 3e+05 N/m in the plane, D = 0.00275 "
                     "N m, cells of h = 0.01 m); take cells of at most 0.0096 m");
  proc_loom(&p, LOOM_ARGS("run", "card.ini", "-n", "1", "-o", "x.h5"));
  cr_assert_eq(p.code, 0, "%s", p.err);
  expect_text(p.err, "bends that cross its rows of edges come out too stiff");
  check_card(&p, PLATE("2.75e-3"), "cloth.card.resolution=22 12");
  cr_expect(strstr(p.err, "too stiff") == NULL, "%s", p.err);
  check_card(&p, PLATE("3.1e-3"), "run.steps=3");
  cr_expect(strstr(p.err, "too stiff") == NULL, "%s", p.err);
  check_card(&p, CARD "arap+isometric\nmembrane = 3e5\nk_b = 1e-6\n", "run.steps=3");
  cr_expect(strstr(p.err, "too stiff") == NULL, "%s", p.err);
  for (size_t k = 0; k < sizeof stiff / sizeof *stiff; ++k) {
    check_card(&p, stiff[k], "cloth.card.bending=0.2");
    cr_expect(strstr(p.err, "too stiff") == NULL, "%s", p.err);
    check_card(&p, stiff[k], "cloth.card.bending=0.09");
    expect_text(p.err, "Y = 1e+07 N/m in the plane");
  }
}

/* The mistaken unit is told also where it makes the cloth meet the body. */
Test(check_list, a_refusal_comes_with_the_unit)
{
  proc p;
  check_scene(
      &p, 2,
      (const char *const[]){"cloth.shirt.transform=scale 100 rotate 1 0 0 -90 translate -5 .5 5",
                            "run.steps=3"});
  expect_text(p.err, "intersects triangle");
  expect_text(p.err, "sheet.obj: is 40 m long and weighs 160 kg");
}

/* 0.2 mm above the block, 1 mm thick: without an intersection, and nearer than contact allows. */
Test(check_list, a_start_that_contact_refuses_is_refused)
{
  static const char *const sets[2] = {"cloth.shirt.transform=translate .3 .3 -.9998",
                                      "cloth.shirt.thickness=1 mm"};
  proc p;
  check_scene(&p, 1, sets);
  const char *const line = strstr(p.err, "loom: step 0: ");
  char said[2000];
  cr_assert(line != NULL, "%s", p.err);
  snprintf(said, sizeof said, "%.1999s", line);
  expect_text(said, "it starts with an overlap: the pair of vertices");
  expect_text(said, "of 'shirt' and body block");
  expect_text(said, "set [run] start = untangle");
  proc_loom(
      &p, LOOM_ARGS("run", "in.ini", "-n", "1", "-o", "x.h5", "--set", sets[0], "--set", sets[1]));
  cr_assert_eq(p.code, 1, "%s", p.err);
  expect_text(p.err, said);
  check_scene(&p, 0, (const char *const[]){sets[0], "cloth.shirt.thickness=0.1 mm"});
}

/* Each model tells the gap of the start, 0.2 mm, though the guess of the step has moved the cloth.
 */
Test(check_list, every_model_tells_the_gap_of_the_start)
{
  static const char *const models[][2] = {
      {"solver.plugin=cholmod_newton", "contact.all.plugin=ipc_barrier"},
      {"solver.plugin=ndb_pd", "contact.all.plugin=ndb"},
      {"solver.plugin=ndb_pd", "contact.all.plugin=pd_ipc"},
      {"solver.plugin=cholmod_newton", "contact.all.plugin=dbb"}};
  proc_write("sheet.obj", SHEET);
  proc_write("in.ini", METHOD "[collision.bodies]\nplugin = sdf\n[cloth.shirt]\nmodel = "
                              "arap+isometric\nshape = obj\nfile = sheet.obj\ndensity = 0.2\n"
                              "[body.block]\nshape = box\nsize = 1 1 1\nposition = 0 0 -0.5\n");
  for (size_t k = 0; k < sizeof models / sizeof *models; ++k) {
    proc p;
    proc_loom(&p, LOOM_ARGS("check", "in.ini", "--set", models[k][0], "--set", models[k][1],
                            "--set", "cloth.shirt.thickness=1 mm", "--set",
                            "cloth.shirt.transform=translate 0 0 2e-4"));
    cr_assert_eq(p.code, 1, "%s: exit code %d: %s", models[k][1], p.code, p.err);
    expect_text(p.err, "of 'shirt' and body block is 0.0002 m apart, 0.0003 m less than its "
                       "thickness of 0.0005 m");
    expect_text(p.err, "start = untangle");
  }
}

#define IMPACTS                                                                             \
  "[solver]\nplugin = pcg_newton\n[collision.bodies]\nplugin = sdf\n[collision.self]\n"     \
  "plugin = bvtt_front\n[contact.impacts]\nplugin = impact_zones\n[cloth.shirt]\nmodel = "  \
  "arap+isometric\nshape = obj\nfile = sheet.obj\ndensity = 0.2\nthickness = 1 mm\n[run]\n" \
  "dt = 0.01\n[body.block]\n"

/* Impacts have no forces: a sheet nearer than half its thickness may only move apart, so that it
 * rests there, and one that touches is refused by both commands, with the remedy. */
Test(check_list, impacts_begin_wherever_cloth_is_apart)
{
  static const char *const bodies[] = {"shape = plane\n",
                                       "shape = box\nsize = 1 1 1\nposition = 0 0 -0.5\n",
                                       "shape = sphere\nradius = 0.1\nposition = 0 0 -0.1\n",
                                       "shape = mesh\nfile = block.obj\nposition = -.3 -.3 1\n"};
  static const double gaps[] = {4e-4, 1e-5, 0.0};
  for (size_t k = 0; k < sizeof bodies / sizeof *bodies; ++k)
    for (size_t g = 0; g < sizeof gaps / sizeof *gaps; ++g) {
      char place[80], scene[1000];
      proc check, run;
      snprintf(scene, sizeof scene, IMPACTS "%s", bodies[k]);
      snprintf(place, sizeof place, "cloth.shirt.transform=translate 0 0 %g", gaps[g]);
      proc_write("sheet.obj", SHEET);
      proc_write("block.obj", BLOCK);
      proc_write("in.ini", scene);
      proc_loom(&check, LOOM_ARGS("check", "in.ini", "--set", place));
      proc_loom(&run, LOOM_ARGS("run", "in.ini", "-n", "3", "-o", "x.h5", "--overwrite", "--quiet",
                                "--set", place));
      cr_assert_eq(run.code, check.code, "%s%g m: check %d, run %d: %s", bodies[k], gaps[g],
                   check.code, run.code, run.err);
      if (gaps[g] > 0.0) {
        cr_assert_eq(run.code, 0, "%s%g m: %s", bodies[k], gaps[g], run.err);
        cr_expect(strstr(run.err, "halved") == NULL, "%s", run.err);
        continue;
      }
      cr_assert(check.code != 0, "%s%s", bodies[k], check.out);
      expect_text(check.err, "start = untangle");
      if (check.code != 1) continue; /* triangles that intersect are found before */
      expect_text(check.err,
                  "it starts with an overlap: the pair of vertices 0 -1 -1 -1 of 'shirt' "
                  "and body block is 0 m apart");
      expect_text(run.err, strstr(check.err, "it starts with an overlap"));
      proc_loom(&run, LOOM_ARGS("run", "in.ini", "-n", "3", "-o", "x.h5", "--overwrite", "--set",
                                place, "--set", "run.start=untangle"));
      cr_assert_eq(run.code, 0, "%s: %s", bodies[k], run.err);
    }
}
