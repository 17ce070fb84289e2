/* rig/import: a small glTF that the test writes itself, read through the module of Assimp. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "geom/pose.h"
#include "rig/import.h"
#include "support/net_file.h"
#include "support/proc.h"

TestSuite(import, .init = proc_enter, .fini = proc_leave);

/* A square bar along y, from 0 to 2 m: three rings of four vertices, closed; two joints, the lower
 * one at the origin, the upper one 1 m above it.  Bound in that pose; the whole stands 0.5 m to the
 * side.  The animation bends the upper joint by 90 degrees about z within 1 s, and lifts the lower
 * one by 0.2 m. */
enum { VERTS = 12, TRIS = 20, JOINTS = 2, KEYS = 2 };

typedef struct bar {
  float x[VERTS][3];
  float weight[VERTS][4];
  float inverse[JOINTS][16];
  float time[KEYS], turn[KEYS][4], shift[KEYS][3];
  uint16_t tris[TRIS][3];
  uint8_t joint[VERTS][4];
} bar;

static void fill_bar(bar *b)
{
  static const float corner[4][2] = {{-0.1f, -0.1f}, {0.1f, -0.1f}, {0.1f, 0.1f}, {-0.1f, 0.1f}};
  int t = 0;
  memset(b, 0, sizeof *b);
  for (int ring = 0; ring < 3; ++ring)
    for (int k = 0; k < 4; ++k) {
      const int v = 4 * ring + k, next = 4 * ring + (k + 1) % 4;
      b->x[v][0] = corner[k][0], b->x[v][1] = (float)ring, b->x[v][2] = corner[k][1];
      b->joint[v][1] = 1;
      b->weight[v][0] = ring == 0 ? 1 : ring == 1 ? 0.5f : 0;
      b->weight[v][1] = 1 - b->weight[v][0];
      if (ring == 2) continue;
      const uint16_t side[2][3] = {{(uint16_t)v, (uint16_t)(next + 4), (uint16_t)next},
                                   {(uint16_t)v, (uint16_t)(v + 4), (uint16_t)(next + 4)}};
      memcpy(b->tris[t], side, sizeof side);
      t += 2;
    }
  const uint16_t ends[4][3] = {{0, 1, 2}, {0, 2, 3}, {8, 10, 9}, {8, 11, 10}};
  memcpy(b->tris[t], ends, sizeof ends);
  for (int j = 0; j < JOINTS; ++j)
    for (int k = 0; k < 4; ++k) b->inverse[j][5 * k] = 1;
  b->inverse[1][13] = -1; /* column-major: y of the translation */
  b->time[1] = 1;
  b->turn[0][3] = 1;
  b->turn[1][2] = b->turn[1][3] = sqrtf(0.5f);
  b->shift[1][1] = 0.2f;
}

static void put_base64(FILE *f, const void *data, size_t len)
{
  static const char sign[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  const uint8_t *const p = data;
  for (size_t i = 0; i < len; i += 3) {
    const uint32_t left = (uint32_t)(len - i);
    const uint32_t v =
        (uint32_t)p[i] << 16 | (left > 1 ? (uint32_t)p[i + 1] << 8 : 0) | (left > 2 ? p[i + 2] : 0);
    fputc(sign[v >> 18 & 63], f);
    fputc(sign[v >> 12 & 63], f);
    fputc(left > 1 ? sign[v >> 6 & 63] : '=', f);
    fputc(left > 2 ? sign[v & 63] : '=', f);
  }
}

enum { WHOLE, WITHOUT_SKIN, WITHOUT_WEIGHTS, OPEN }; /* OPEN: one end is not closed */

static void put_view(FILE *f, const char *comma, size_t at, size_t len)
{
  fprintf(f, "%s{\"buffer\":0,\"byteOffset\":%zu,\"byteLength\":%zu}", comma, at, len);
}

static void write_bar(const char *name, const bar *b, int kind)
{
  FILE *const f = fopen(name, "w");
  cr_assert(f != NULL);
  fprintf(f,
          "{\"asset\":{\"version\":\"2.0\"},\"scene\":0,\"scenes\":[{\"nodes\":[0]}],\"nodes\":["
          "{\"name\":\"all\",\"children\":[1,2],\"translation\":[0.5,0,0]},"
          "{\"name\":\"lower arm\",\"children\":[3]},{\"name\":\"skin\",\"mesh\":0%s},"
          "{\"name\":\"upper\",\"translation\":[0,1,0]}],",
          kind == WITHOUT_SKIN ? "" : ",\"skin\":0");
  if (kind != WITHOUT_SKIN) fprintf(f, "\"skins\":[{\"joints\":[1,3],\"inverseBindMatrices\":3}],");
  fprintf(f, "\"meshes\":[{\"primitives\":[{\"attributes\":{\"POSITION\":0%s},\"indices\":4}]}],",
          kind == WITHOUT_SKIN ? "" : ",\"JOINTS_0\":2,\"WEIGHTS_0\":1");
  fprintf(f, "\"animations\":[{\"name\":\"bend\",\"channels\":["
             "{\"sampler\":0,\"target\":{\"node\":3,\"path\":\"rotation\"}},"
             "{\"sampler\":1,\"target\":{\"node\":1,\"path\":\"translation\"}}],"
             "\"samplers\":[{\"input\":5,\"output\":6},{\"input\":5,\"output\":7}]}],");
  fprintf(f,
          "\"accessors\":["
          "{\"bufferView\":0,\"componentType\":5126,\"count\":12,\"type\":\"VEC3\","
          "\"min\":[-0.1,0,-0.1],\"max\":[0.1,2,0.1]},"
          "{\"bufferView\":1,\"componentType\":5126,\"count\":12,\"type\":\"VEC4\"},"
          "{\"bufferView\":2,\"componentType\":5121,\"count\":12,\"type\":\"VEC4\"},"
          "{\"bufferView\":3,\"componentType\":5126,\"count\":2,\"type\":\"MAT4\"},"
          "{\"bufferView\":4,\"componentType\":5123,\"count\":%d,\"type\":\"SCALAR\"},"
          "{\"bufferView\":5,\"componentType\":5126,\"count\":2,\"type\":\"SCALAR\","
          "\"min\":[0],\"max\":[1]},"
          "{\"bufferView\":6,\"componentType\":5126,\"count\":2,\"type\":\"VEC4\"},"
          "{\"bufferView\":7,\"componentType\":5126,\"count\":2,\"type\":\"VEC3\"}],"
          "\"bufferViews\":[",
          kind == OPEN ? 54 : 60);
  put_view(f, "", offsetof(bar, x), sizeof b->x);
  put_view(f, ",", offsetof(bar, weight), sizeof b->weight);
  put_view(f, ",", offsetof(bar, joint), sizeof b->joint);
  put_view(f, ",", offsetof(bar, inverse), sizeof b->inverse);
  put_view(f, ",", offsetof(bar, tris), sizeof b->tris);
  put_view(f, ",", offsetof(bar, time), sizeof b->time);
  put_view(f, ",", offsetof(bar, turn), sizeof b->turn);
  put_view(f, ",", offsetof(bar, shift), sizeof b->shift);
  fprintf(f, "],\"buffers\":[{\"byteLength\":%zu,\"uri\":\"data:application/octet-stream;base64,",
          sizeof *b);
  put_base64(f, b, sizeof *b);
  fprintf(f, "\"}]}\n");
  fclose(f);
}

static rig_file read_ok(const char *path, double scale)
{
  loom_err err = {0};
  rig_file f;
  cr_assert_eq(rig_import(&err, path, scale, &f), LOOM_OK, "%s", err.text);
  return f;
}

/* Where the skin vertex at rest p (m) is at time t of the first animation. */
static void skin_at(const rig_file *f, double t, const double p[3], double out[3])
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
  skin_at(f, t, p, x);
  cr_expect(fabs(x[0] - a) + fabs(x[1] - b) + fabs(x[2] - c) < 1e-5, "%g %g %g at %g s", x[0], x[1],
            x[2], t);
}

Test(import, a_bar_of_two_joints_bends)
{
  bar b;
  fill_bar(&b);
  write_bar("bar.gltf", &b, WHOLE);
  rig_file f = read_ok("bar.gltf", 1);
  cr_assert(f.r.num_joints == 2 && f.r.num_dofs == 6 && f.num_clips == 1);
  cr_assert_str_eq(f.r.joint[0].name, "lower_arm");
  cr_assert_str_eq(f.r.joint[1].name, "upper");
  cr_assert_eq(f.r.joint[1].parent, 0);
  cr_assert(fabs(f.r.joint[1].rest[0] - 0.5) < 1e-6 && fabs(f.r.joint[1].rest[1] - 1) < 1e-6);
  cr_assert_str_eq(f.clip[0].name, "bend");
  cr_assert_eq(f.r.skin.num_verts, VERTS);
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
  bar b;
  fill_bar(&b);
  write_bar("bar.gltf", &b, WHOLE);
  rig_file f = read_ok("bar.gltf", 0.1);
  const double top[3] = {0.06, 0.2, 0.01};
  expect_at(&f, 1, top, -0.05, 0.13, 0.01);
  rig_file_free(&f);
}

Test(import, weights_that_do_not_sum_to_one_are_scaled)
{
  bar b;
  fill_bar(&b);
  b.weight[5][0] = b.weight[5][1] = 0.4f;
  write_bar("bar.gltf", &b, WHOLE);
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
  bar b;
  static const char *const want[][2] = {{"bar.gltf: has an animation and no skin", "export them"},
                                        {"skin vertex", "paint weights"}};
  for (int k = WITHOUT_SKIN; k <= WITHOUT_WEIGHTS; ++k) {
    loom_err err = {0};
    rig_file f;
    fill_bar(&b);
    if (k == WITHOUT_WEIGHTS) b.weight[3][0] = 0;
    write_bar("bar.gltf", &b, k);
    cr_assert_eq(rig_import(&err, "bar.gltf", 1, &f), LOOM_E_CONFIG, "%s", err.text);
    for (int i = 0; i < 2; ++i)
      cr_expect(strstr(err.text, want[k - 1][i]) != NULL, "no '%s': %s", want[k - 1][i], err.text);
    cr_expect(strstr(err.text, "bar.gltf") != NULL, "%s", err.text);
    rig_file_free(&f);
  }
  loom_err err = {0};
  rig_file f;
  proc_write("text.glb", "no such thing");
  cr_assert_eq(rig_import(&err, "text.glb", 1, &f), LOOM_E_IO);
  cr_assert(strncmp(err.text, "text.glb: ", 10) == 0, "%s", err.text);
  rig_file_free(&f);
}

/* As a body: its own animation by name; the nearest name of one it has not. */
Test(import, a_body_from_a_file_runs)
{
  static const char scene[] =
      "[run]\nsteps = 4\ndt = 0.01\n[cloth.a]\nsize = 0.1\nresolution = 3\n"
      "transform = translate 0 0 3\n[solver]\nplugin = gd\n[contact.none]\nplugin = none\n"
      "[body.bar]\nshape = rig\nfile = bar.gltf\nanimation_ease = 0\nanimation = %s\n";
  char text[1024];
  bar b;
  fill_bar(&b);
  write_bar("bar.gltf", &b, WHOLE);
  snprintf(text, sizeof text, scene, "bend");
  proc_write("bar.ini", text);
  LOOM_FINE("run", "bar.ini", "--quiet", "-o", "bar.h5");
  LOOM_FINE("verify", "bar.h5");
  snprintf(text, sizeof text, scene, "bent");
  proc_write("bar.ini", text);
  proc_expect_error(2, LOOM_TEXTS("[body.bar] animation: ", "has no animation 'bent'", "'bend'"),
                    LOOM_ARGS("run", "bar.ini"));
}

/* What cannot be used ends the command with 2, the file and what to do. */
static void refused_by_the_command(const char *body, const char *want, const char *remedy)
{
  static const char scene[] =
      "[run]\nsteps = 1\ndt = 0.01\n[cloth.a]\nsize = 0.1\nresolution = 3\n"
      "transform = translate 0 0 3\n[solver]\nplugin = gd\n[contact.none]\nplugin = none\n"
      "[body.man]\nshape = rig\n%s";
  char text[1024];
  snprintf(text, sizeof text, scene, body);
  proc_write("man.ini", text);
  proc_expect_error(2, LOOM_TEXTS("[body.man] ", want, remedy), LOOM_ARGS("run", "man.ini"));
}

Test(import, bad_skins_end_the_command_with_file_and_remedy)
{
  static const char *const remedy[] = {"export them", "paint weights"};
  proc p;
  bar b;
  for (int k = WITHOUT_SKIN; k <= OPEN; ++k) {
    fill_bar(&b);
    if (k == WITHOUT_WEIGHTS) b.weight[3][0] = 0;
    write_bar("bar.gltf", &b, k);
    if (k < OPEN)
      refused_by_the_command("file = bar.gltf\ndistance = exact\n", "bar.gltf", remedy[k - 1]);
  }
  /* a line for each edge of the hole */
  proc_write("open.ini", "[run]\nsteps = 1\ndt = 0.01\n[cloth.a]\nsize = 0.1\nresolution = 3\n"
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
           "[run]\nsteps = 2\ndt = 0.01\n[cloth.a]\nsize = 0.1\nresolution = 3\n"
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
  rig_file f = read_ok("man.gltf", 1);
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
