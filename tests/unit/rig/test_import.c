/* rig/import: a small glTF that the test writes itself, read through the module of Assimp. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "geom/pose.h"
#include "mesh/merge.h"
#include "rig/import.h"
#include "scene/moving/rigged.h"
#include "support/net_file.h"
#include "support/proc.h"
#include "support/rig_bar.h"
#include "support/tiny_scene.h"

TestSuite(import, .init = proc_enter, .fini = proc_leave);

static rig_file import_valid_rig(const char *path, double scale)
{
  loom_err err = {0};
  rig_file f;
  cr_assert_eq(rig_import(&err, path, scale, &f), LOOM_OK, "%s", err.text);
  return f;
}

/* Where the skin vertex at rest p (m) is at time t of the first animation. */
static void compute_skin_position(const rig_file *f, double t, const double p[3], double out[3])
{
  double value[RIG_ROOT + 6], root[12], T[24];
  double *const x = malloc(3 * (size_t)f->r.skin.num_verts * sizeof *x);
  cr_assert(x != NULL);
  rig_animation_at(&f->clip[0].a, t, value);
  rig_root(&f->r, value, root);
  rig_pose(&f->r, value + RIG_ROOT, root, T);
  rig_skin(&f->r, T, x);
  for (int32_t v = 0; v < f->r.skin.num_verts; ++v) {
    const double *const at = f->r.skin.x + 3 * v;
    if (fabs(at[0] - p[0]) + fabs(at[1] - p[1]) + fabs(at[2] - p[2]) > 1e-5) continue;
    memcpy(out, x + 3 * v, 3 * sizeof *out);
    free(x);
    return;
  }
  cr_assert(0, "no vertex at %g %g %g", p[0], p[1], p[2]);
}

static void expect_at(const rig_file *f, double t, const double p[3], double a, double b, double c)
{
  double x[3] = {0};
  compute_skin_position(f, t, p, x);
  cr_expect(fabs(x[0] - a) + fabs(x[1] - b) + fabs(x[2] - c) < 1e-5, "%g %g %g at %g s", x[0], x[1],
            x[2], t);
}

Test(import, a_bar_of_two_joints_bends)
{
  rig_bar b;
  rig_bar_fill(&b);
  rig_bar_write("bar.gltf", &b, &(rig_bar_file){.kind = RIG_BAR_WHOLE});
  rig_file f = import_valid_rig("bar.gltf", 1);
  cr_assert(f.r.num_joints == 2 && f.r.num_dofs == 6 && f.num_clips == 1);
  cr_assert_str_eq(f.r.joint[0].name, "lower_arm");
  cr_assert_str_eq(f.r.joint[1].name, "upper");
  cr_assert_eq(f.r.joint[1].parent, 0);
  cr_assert(fabs(f.r.joint[1].rest[0] - 0.5) < 1e-6 && fabs(f.r.joint[1].rest[1] - 1) < 1e-6);
  cr_assert_str_eq(f.clip[0].name, "bend");
  cr_assert_eq(f.r.skin.num_verts, RIG_BAR_VERTS);
  cr_assert_eq(f.r.num_scaled, 0);
  cr_assert_lt(f.stretch, 1e-6);
  const double foot[3] = {0.4, 0, -0.1}, top[3] = {0.6, 2, 0.1}, mid[3] = {0.4, 1, 0.1};
  expect_at(&f, 0, top, 0.6, 2, 0.1);
  expect_at(&f, 1, foot, 0.4, 0.2, -0.1);
  /* about (0.5, 1): (0.1, 1) goes to (-1, 0.1); and up by 0.2 m */
  expect_at(&f, 1, top, -0.5, 1.3, 0.1);
  /* half of (0.4, 1) and half of (0.5, 0.9) */
  expect_at(&f, 1, mid, 0.45, 1.15, 0.1);
  const double s = sqrt(0.5); /* half way: 45 degrees */
  expect_at(&f, 0.5, top, 0.5 + 0.1 * s - s, 1.1 + 0.1 * s + s, 0.1);
  rig_file_free(&f);
}

Test(import, units_are_scaled)
{
  rig_bar b;
  rig_bar_fill(&b);
  rig_bar_write("bar.gltf", &b, &(rig_bar_file){.kind = RIG_BAR_WHOLE});
  rig_file f = import_valid_rig("bar.gltf", 0.1);
  const double top[3] = {0.06, 0.2, 0.01};
  expect_at(&f, 1, top, -0.05, 0.13, 0.01);
  rig_file_free(&f);
}

Test(import, weights_that_do_not_sum_to_one_are_scaled)
{
  rig_bar b;
  rig_bar_fill(&b);
  b.weight[5][0] = b.weight[5][1] = 0.4f;
  rig_bar_write("bar.gltf", &b, &(rig_bar_file){.kind = RIG_BAR_WHOLE});
  loom_err err = {0};
  rig_file f;
  cr_assert_eq(rig_import(&err, "bar.gltf", 1, &f), LOOM_OK, "%s", err.text);
  const double mid[3] = {0.6, 1, -0.1};
  expect_at(&f, 1, mid, 0.5 + 0.5 * 0.1, 1.2 + 0.5 * 0.1, -0.1);
  printf("%lld vertices were scaled\n", (long long)f.r.num_scaled);
  rig_file_free(&f);
}

Test(import, what_is_missing_is_named)
{
  rig_bar b;
  static const char *const want[] = {"bar.gltf: has an animation and no skin", "export them"};
  loom_err err = {0};
  rig_file f;
  rig_bar_fill(&b);
  rig_bar_write("bar.gltf", &b, &(rig_bar_file){.kind = RIG_BAR_WITHOUT_SKIN});
  cr_assert_eq(rig_import(&err, "bar.gltf", 1, &f), LOOM_E_CONFIG, "%s", err.text);
  for (int i = 0; i < 2; ++i)
    cr_expect(strstr(err.text, want[i]) != NULL, "no '%s': %s", want[i], err.text);
  rig_file_free(&f);
  err = (loom_err){0};
  proc_write("text.glb", "no model");
  cr_assert_eq(rig_import(&err, "text.glb", 1, &f), LOOM_E_CONFIG);
  cr_assert(strncmp(err.text, "text.glb: ", 10) == 0, "%s", err.text);
  rig_file_free(&f);
}

Test(import, vertices_without_a_weight_follow_the_first_joint)
{
  rig_bar b;
  rig_bar_fill(&b);
  b.weight[3][0] = 0;
  rig_bar_write("bar.gltf", &b, &(rig_bar_file){.kind = RIG_BAR_WITHOUT_WEIGHTS});
  rig_file f = import_valid_rig("bar.gltf", 1);
  cr_assert(f.unweighted == 1 && f.r.num_scaled == 0);
  cr_assert(f.r.bone[3 * f.r.per] == 0 && f.r.weight[3 * f.r.per] == 1);
  rig_file_free(&f);
}

/* ---- files of tests/unit/rig/cases, made by hand ---- */

static const char *case_path(const char *name)
{
  static char path[4096];
  const char *const source = getenv("LOOM_SOURCE_DIR");
  cr_assert(source != NULL, "LOOM_SOURCE_DIR is not set");
  snprintf(path, sizeof path, "%s/tests/unit/rig/cases/%s", source, name);
  return path;
}

/* The second of three joints moves from (0,1,0) to (0.5,1.25,0) in 1 s; vertex 0 hangs on it, at 0
 * 0 0 at rest.  It is there in the first pose of a scene, too, where the animation does not ease
 * in. */
Test(import, a_joint_that_is_not_the_first_moves)
{
  char text[5000];
  rig_file f = import_valid_rig(case_path("hips_move.gltf"), 1);
  cr_assert(f.r.num_joints == 3 && f.num_clips == 1);
  cr_assert_gt(f.stretch, 0.5); /* by angles it stays behind */
  for (int k = 0; k <= 8; ++k) {
    double T[36], x[3], *const all = malloc(3 * (size_t)f.r.skin.num_verts * sizeof *all);
    rig_maps_at(&f.clip[0].maps, k / 8.0, 0, NULL, 1, T);
    rig_skin(&f.r, T, all);
    memcpy(x, all, sizeof x);
    free(all);
    cr_expect(fabs(x[0] - k / 16.0) + fabs(x[1] - k / 32.0) + fabs(x[2]) < 1e-6, "%g %g %g at %g s",
              x[0], x[1], x[2], k / 8.0);
  }
  rig_file_free(&f);
  for (int ease = 0; ease < 2; ++ease) {
    const double *T;
    snprintf(text, sizeof text,
             "[cloth.a]\nmodel = arap+isometric\npattern = regular\ntransform = translate 0 0 "
             "9\n[body.b]\nshape = rig\nfile = %s\n"
             "angles = knee.z 90\nanimation = move\nanimation_loop = no\nanimation_start = 0.5\n"
             "animation_ease = %d\n",
             case_path("hips_move.gltf"), 2 * ease);
    tiny_scene t = tiny_open_ok(text);
    cr_assert_eq(scene_pose(t.s, 0, 0), LOOM_OK);
    cr_assert_eq(scene_joints(t.s, 0, &T), 3);
    cr_expect(fabs(T[24] - (ease ? 0 : 1)) < 1e-6, "the knee is turned to %g at 0 s", T[24]);
    cr_assert_eq(scene_pose(t.s, 0, 1.5), LOOM_OK);
    scene_joints(t.s, 0, &T);
    const double share = ease ? 0.5 : 1; /* with ease it is half way into the animation */
    cr_expect(fabs(T[12 + 9] - share * 0.5) + fabs(T[12 + 10] - share * 0.25) < 1e-6, "%g %g",
              T[12 + 9], T[12 + 10]);
    tiny_close(&t);
  }
}

/* Two boxes of two joints that touch, and the same without the faces between them, whose rings
 * would become one: halves stay apart. */
Test(import, shells_of_other_joints_stay_apart)
{
  static const char *const names[] = {"two_boxes.gltf", "two_tubes.gltf"};
  for (int k = 0; k < 2; ++k) {
    rig_file f = import_valid_rig(case_path(names[k]), 1);
    cr_assert_eq(f.r.skin.num_verts, 16, "%s: %d", names[k], f.r.skin.num_verts);
    for (int32_t t = 0; t < f.r.skin.num_tris; ++t) {
      const int32_t *const v = f.r.skin.tris + 3 * (ptrdiff_t)t;
      for (int a = 1; a < 3; ++a) cr_assert_eq(f.r.bone[v[a] * f.r.per], f.r.bone[v[0] * f.r.per]);
    }
    rig_file_free(&f);
  }
}

/* Three leaves of one joint that meet in an edge: their vertices stay apart, and no file is
 * refused. Two leaves become one sheet. */
Test(import, edges_do_not_get_a_third_triangle)
{
  static double x[] = {0, 0, 0,  1, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0,
                       0, 0, -1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1};
  static int32_t tris[] = {0, 1, 2, 4, 3, 5, 6, 7, 8};
  for (int32_t leaves = 2; leaves <= 3; ++leaves) {
    const mesh m = {.num_verts = 3 * leaves, .num_tris = leaves, .x = x, .tris = tris};
    int32_t leader[9];
    loom_err e = {0};
    cr_assert_eq(merge_coincident(&e, &m, NULL, 1e-7, NULL, leader), LOOM_OK);
    cr_assert(leader[3] == 0 && leader[4] == 1);
    cr_assert_eq(merge_keep_sound(&e, &m, leader), LOOM_OK);
    for (int32_t v = 0; v < 3 * leaves; ++v)
      cr_assert_eq(leader[v], leaves == 2 && (v == 3 || v == 4) ? v - 3 : v);
  }
}

/* As a body: its own animation by name; the nearest name of one it has not. */
Test(import, a_body_from_a_file_runs)
{
  static const char scene[] =
      "[run]\nsteps = 4\ndt = 0.01\n[cloth.a]\nmodel = arap+isometric\npattern = regular\nsize = "
      "0.1\nresolution = 3\n"
      "transform = translate 0 0 3\n[solver]\nplugin = gd\n[contact.none]\nplugin = none\n"
      "[body.bar]\nshape = rig\nfile = bar.gltf\nanimation_ease = 0\nanimation = %s\n";
  char text[1024];
  rig_bar b;
  rig_bar_fill(&b);
  rig_bar_write("bar.gltf", &b, &(rig_bar_file){.kind = RIG_BAR_WHOLE});
  snprintf(text, sizeof text, scene, "bend");
  proc_write("bar.ini", text);
  LOOM_FINE("run", "bar.ini", "--quiet", "-o", "bar.h5");
  LOOM_FINE("verify", "bar.h5");
  snprintf(text, sizeof text, scene, "bent");
  proc_write("bar.ini", text);
  proc_expect_error(2,
                    LOOM_TEXTS("[body.bar] animation: ", "has no animation 'bent'", "'bend'",
                               "it has bend (1 s)"),
                    LOOM_ARGS("run", "bar.ini"));
  snprintf(text, sizeof text, scene, "bend");
  proc_write("bar.ini", text);
  proc p;
  proc_loom(&p, LOOM_ARGS("check", "bar.ini"));
  cr_assert_eq(p.code, 0, "%s", p.err);
  cr_expect(strstr(p.out, "joints lower_arm, upper") != NULL, "%s", p.out);
  cr_expect(strstr(p.err, "1 animations: bend (1 s)") != NULL, "%s", p.err);
}

/* An unusable file ends the command with 2, the file and the remedy. */
static void refused_by_the_command(const char *body, const char *want, const char *remedy)
{
  static const char scene[] =
      "[run]\nsteps = 1\ndt = 0.01\n[cloth.a]\nmodel = arap+isometric\npattern = regular\nsize = "
      "0.1\nresolution = 3\n"
      "transform = translate 0 0 3\n[solver]\nplugin = gd\n[contact.none]\nplugin = none\n"
      "[body.man]\nshape = rig\n%s";
  char text[1024];
  snprintf(text, sizeof text, scene, body);
  proc_write("man.ini", text);
  proc_expect_error(2, LOOM_TEXTS("[body.man] ", want, remedy), LOOM_ARGS("run", "man.ini"));
}

Test(import, bad_skins_end_the_command_with_file_and_remedy)
{
  proc p;
  rig_bar b;
  rig_bar_fill(&b);
  rig_bar_write("bar.gltf", &b, &(rig_bar_file){.kind = RIG_BAR_WITHOUT_SKIN});
  refused_by_the_command("file = bar.gltf\ndistance = exact\n", "bar.gltf", "export them");
  rig_bar_write("bar.gltf", &b, &(rig_bar_file){.kind = RIG_BAR_OPEN});
  /* a line for each edge of the hole */
  proc_write("open.ini", "[run]\nsteps = 1\ndt = 0.01\n[cloth.a]\nmodel = arap+isometric\npattern "
                         "= regular\nsize = 0.1\nresolution = 3\n"
                         "[solver]\nplugin = gd\n[contact.none]\nplugin = none\n"
                         "[body.man]\nshape = rig\nfile = bar.gltf\ndistance = exact\n");
  proc_loom(&p, LOOM_ARGS("run", "open.ini"));
  cr_assert_eq(p.code, 2, "%d: %s", p.code, p.err);
  cr_assert(strstr(p.err, "[body.man] file: skin of bar.gltf: edge 8-9") != NULL &&
                strstr(p.err, "fill the hole") != NULL,
            "%s", p.err);
}

Test(import, bad_networks_end_the_command_with_file_and_remedy)
{
  loom_err err = {0};
  rig leg;
  cr_assert_eq(rig_make(&err, "leg", 0, &leg), LOOM_OK);
  net_file_write("leg.h5", &leg, &(net_file){3, 8, "squareplus", 0, NULL, 0});
  net_file_write("wide.h5", &leg, &(net_file){3, 8, "squareplus", 0, "columns", 0});
  net_file_write("cut.h5", &leg, &(net_file){3, 8, "squareplus", 0, NULL, 0});
  cr_assert_eq(truncate("cut.h5", 3000), 0);
  refused_by_the_command("rig = lower_body\ndistance = neural\nnetworks = leg.h5\n", "leg.h5",
                         "another body");
  refused_by_the_command("rig = leg\ndistance = neural\nnetworks = wide.h5\n", "wide.h5",
                         "[3][184]");
  refused_by_the_command("rig = leg\ndistance = neural\nnetworks = cut.h5\n", "cut.h5", "");
  rig_free(&leg);
}

/* Beyond the angles of the training: said once, with the place, and the run goes on. */
Test(import, angles_beyond_the_training_are_said_once)
{
  proc p;
  proc_write("far.txt", "columns left_hip.abduction\n0 0\n0.01 35\n0.02 36\n");
  char text[1024];
  snprintf(text, sizeof text,
           "[run]\nsteps = 2\ndt = 0.01\n[cloth.a]\nmodel = arap+isometric\npattern = "
           "regular\nsize = 0.1\nresolution = 3\n"
           "transform = translate 0 0 3\n[solver]\nplugin = gd\n[contact.none]\nplugin = none\n"
           "[body.man]\nshape = rig\nrig = lower_body\ndistance = neural\n"
           "networks = %s/configs/bodies/lower_body.h5\nanimation_file = far.txt\n",
           getenv("LOOM_SOURCE_DIR"));
  proc_write("far.ini", text);
  proc_loom(&p, LOOM_ARGS("run", "far.ini", "-o", "far.h5"));
  cr_assert_eq(p.code, 0, "%s", p.err);
  const char *const said = strstr(p.err, "left_hip.abduction leaves the angles");
  cr_assert(said != NULL && strstr(said + 1, "left_hip.abduction leaves the angles") == NULL, "%s",
            p.err);
}

/* LOOM_MAKEHUMAN: a folder with the CC0 assets, which do not come with loom. */
Test(import, the_body_of_makehuman)
{
  const char *const assets = getenv("LOOM_MAKEHUMAN"), *const source = getenv("LOOM_SOURCE_DIR");
  char command[2048];
  if (assets == NULL || assets[0] == '\0')
    cr_skip_test("LOOM_MAKEHUMAN names no folder with MakeHuman's CC0 assets");
  snprintf(command, sizeof command, "python3 '%s/experiments/tools/makehuman.py' '%s' -o man.gltf",
           source, assets);
  cr_assert_eq(system(command), 0);
  rig_file f = import_valid_rig("man.gltf", 1);
  cr_assert_eq(f.r.skin.num_verts, 13380);
  cr_assert_eq(f.r.skin.num_tris, 2 * (13380 - 2)); /* closed, in one part */
  cr_assert_eq(f.r.num_joints, 163);
  cr_assert_leq(f.r.per, 4);
  const int32_t foot = rig_find_joint(&f.r, "foot_L"), head = rig_find_joint(&f.r, "head");
  cr_assert(foot >= 0 && head >= 0);
  const double tall = f.r.joint[head].rest[1] - f.r.joint[foot].rest[1];
  cr_assert(tall > 1.2 && tall < 1.6, "%g m", tall); /* metres */
  cr_assert_gt(f.r.joint[foot].rest[0], 0.05);       /* left is +x */
  rig_file_free(&f);
}
