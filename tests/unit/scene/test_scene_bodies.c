/* test_scene_bodies.c - bodies from sections: shapes, copies, motions, meshes. */
#define _DEFAULT_SOURCE /* mkstemps */
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "support/tiny_file.h"
#include "support/tiny_scene.h"

/* loom_real may be float */
static const double eps = sizeof(loom_real) == 4 ? 1e-5 : 1e-13;

Test(scene_bodies, bodies_have_shapes_in_their_own_frame)
{
  tiny_scene t = tiny_open_ok(
      "[cloth.a]\nmodel = arap+isometric\npattern = regular\n"
      "[body.floor]\nshape = plane\nnormal = 0 3 4\nposition = 0 0 -1\nthickness = 1 mm\n"
      "[body.ball]\nradius = 20 cm\nfriction = 0.7\n"
      "[body.crate]\nshape = box\nsize = 1 2 3\nthickness = 0.1\n"
      "[body.pill]\nshape = capsule\nradius = 0.1\nlength = 0.6\n");
  const loom_obstacle *o = t.s->pub.obstacles;
  cr_assert_eq(t.s->pub.num_obstacles, 4);
  cr_assert_str_eq(o[0].kind, "plane");
  cr_assert_float_eq(o[0].shape[1], 0.6, 1e-7);
  cr_assert_float_eq(o[0].shape[3], 1e-3, 1e-9);
  cr_assert_eq(o[0].pose0[11], -1);
  cr_assert_str_eq(o[1].kind, "sphere");
  cr_assert_float_eq(o[1].shape[3], 0.2, 1e-7);
  cr_assert_float_eq(o[1].friction, 0.7, 1e-7);
  cr_assert_str_eq(o[1].name, "ball");
  cr_assert_str_eq(o[2].kind, "box");
  /* a layer of 0.1 around the box: outer half extents, edges rounded by it */
  cr_assert_float_eq(o[2].shape[0], 0.6, 1e-7);
  cr_assert_float_eq(o[2].shape[2], 1.6, 1e-7);
  cr_assert_float_eq(o[2].shape[3], 0.1, 1e-7);
  cr_assert_str_eq(o[3].kind, "capsule");
  cr_assert_float_eq(o[3].shape[2], -0.3, 1e-7);
  cr_assert_float_eq(o[3].shape[5], 0.3, 1e-7);
  cr_assert_float_eq(o[3].shape[6], 0.1, 1e-7);
  tiny_close(&t);
}

Test(scene_bodies, copies_of_a_ball)
{
  tiny_scene t = tiny_open_ok(
      "[cloth.a]\nmodel = arap+isometric\npattern = regular\n[body.floor]\nshape = plane\nposition "
      "= 0 0 -5\n"
      "[body.ball]\nradius = 0.1\nmass = 3\nposition = 1 2 3\nvelocity = 4 5 6\nspin = 7 8 9\n"
      "copies = 3 1 2\ncopy_spacing = 0.5 0 0.4\n"
      "[body.peg]\nshape = capsule\nposition = 0 9 0\ncopies = 2 1 1\ncopy_spacing = 1 0 0\n"
      "copy_jitter = 0.01\n");
  const loom_scene *p = &t.s->pub;
  cr_assert_eq(p->num_obstacles, 9);
  cr_assert_eq(t.s->balls->num, 6);
  cr_expect_eq(p->obstacles[0].mass, 0);
  cr_expect_eq(p->obstacles[8].mass, 0);
  for (int k = 0; k < 6; ++k) {
    const loom_obstacle *o = &p->obstacles[1 + k];
    const rigid_state *b = &t.s->balls->state[k];
    char name[32];
    snprintf(name, sizeof name, "ball_%d", k);
    cr_expect_str_eq(o->name, name);
    cr_expect_float_eq(p->obstacles[1 + k].mass, 3, 1e-6);
    cr_expect_float_eq(o->pose1[9], 1 + 0.5 * (k % 3 - 1), 1e-6);
    cr_expect_float_eq(o->pose1[10], 2, 1e-6);
    cr_expect_float_eq(o->pose1[11], 3 + 0.4 * (k / 3 - 0.5), 1e-6);
    cr_expect_eq(t.s->balls->ball[k].body, 1 + k);
    for (int c = 0; c < 3; ++c) cr_expect(b->v[c] == 4 + c && b->w[c] == 7 + c);
  }
  /* at most a centimetre along each axis, and not the same for both */
  const loom_real *a = p->obstacles[7].pose1, *b = p->obstacles[8].pose1;
  cr_expect_float_eq(b[9] - a[9], 1, 0.02);
  for (int c = 0; c < 3; ++c) {
    const double middle = 0.5 * (a[9 + c] + b[9 + c]);
    cr_expect_float_eq(middle, c == 1 ? 9 : 0, 0.01);
    cr_expect(fabs(b[9 + c] - a[9 + c] - (c == 0)) > 1e-5);
  }
  /* balls go their own way from here on */
  cr_assert_eq(scene_pose(t.s, 7, 8), LOOM_OK);
  cr_assert_eq(scene_balls_step(t.s, &t.err, 0.01), LOOM_OK);
  cr_expect_float_eq(p->obstacles[1].pose1[9], 0.5 + 0.04, 1e-6);
  cr_expect_float_eq(p->obstacles[1].pose1[11], 2.8 + 0.06 - 9.81e-4, 1e-6);
  tiny_close(&t);
}

static void expect_moved_point(const loom_real P[12], double x, double y, double z, double wx,
                               double wy, double wz)
{
  const double p[3] = {x, y, z}, w[3] = {wx, wy, wz};
  for (int r = 0; r < 3; ++r) {
    double v = (double)P[9 + r];
    for (int c = 0; c < 3; ++c) v += (double)P[3 * r + c] * p[c];
    cr_assert_float_eq(v, w[r], 100 * eps, "component %d: %g, wanted %g", r, v, w[r]);
  }
}

Test(scene_bodies, bodies_move_as_their_motion_says)
{
  tiny_scene t = tiny_open_ok(
      "[cloth.a]\nmodel = arap+isometric\npattern = regular\n"
      "[body.still]\nposition = 1 2 3\nrotation = 0 0 1 90\n"
      "[body.lift]\nposition = 1 0 0\nmotion = translate 0 0 2 1 3\n"
      "[body.spin]\nposition = 1 0 0\nmotion = rotate 0 0 2 0 0 0 45\n"
      "[body.both]\nposition = 1 0 0\nmotion = rotate 0 0 1 0 0 0 90 0 1 translate 0 0 1\n"
      "[body.keys]\nposition = 1 0 0\nmotion = keyframes\n"
      "keyframes = 0 0 0 0 0 0 1 0 | 2 0 0 4 0 0 1 90\n");
  const loom_obstacle *o = t.s->pub.obstacles;
  cr_assert_eq(scene_pose(t.s, 0.5, 2), LOOM_OK);
  expect_moved_point(o[0].pose0, 1, 0, 0, 1, 3, 3);
  expect_moved_point(o[0].pose1, 1, 0, 0, 1, 3, 3);
  expect_moved_point(o[1].pose0, 0, 0, 0, 1, 0, 0);
  expect_moved_point(o[1].pose1, 0, 0, 0, 1, 0, 2);
  expect_moved_point(o[2].pose0, 0, 0, 0, cos(0.125 * 3.14159265358979323846),
                     sin(0.125 * 3.14159265358979323846), 0);
  expect_moved_point(o[2].pose1, 0, 0, 0, 0, 1, 0);
  expect_moved_point(o[3].pose1, 0, 0, 0, 0, 1, 2);
  /* the pivot is the body's position: it turns in place and rises */
  expect_moved_point(o[4].pose1, 0, 0, 0, 1, 0, 4);
  expect_moved_point(o[4].pose1, 1, 0, 0, 1, 1, 4);
  expect_moved_point(o[4].pose0, 0, 0, 0, 1, 0, 1);
  cr_assert_eq(scene_pose(t.s, 3, 99), LOOM_OK);
  expect_moved_point(o[1].pose0, 0, 0, 0, 1, 0, 4);
  expect_moved_point(o[1].pose1, 0, 0, 0, 1, 0, 4);
  expect_moved_point(o[4].pose1, 0, 0, 0, 1, 0, 4);
  tiny_close(&t);
}

static const char tetra[] = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nv 9 9 9\n"
                            "f 1 3 2\nf 1 2 4\nf 2 3 4\nf 1 4 3\n";

Test(scene_bodies, mesh_bodies_carry_mesh_and_distance_grid)
{
  char path[] = "/tmp/loom_body_XXXXXX.obj", text[300];
  tiny_file(path, tetra);
  snprintf(text, sizeof text,
           "[cloth.a]\nmodel = arap+isometric\npattern = regular\ntransform = translate 9 0 "
           "0\n[body.rock]\nshape = mesh\nfile = %s\nscale = "
           "0.5\nsdf_resolution = 16\n"
           "thickness = 0.01\n",
           path);
  tiny_scene t = tiny_open_ok(text);
  const loom_obstacle *o = t.s->pub.obstacles;
  cr_assert_str_eq(o->kind, "mesh");
  cr_assert_eq(buf_count(o->verts), 15);
  cr_assert_eq(buf_count(o->tris), 12);
  cr_assert_eq(buf_count(o->sdf), (int64_t)o->dims[0] * o->dims[1] * o->dims[2]);
  cr_assert_float_eq(o->spacing, 0.5 / 15, 1e-7);
  loom_real *v = tiny_copy(&t, o->sdf);
  /* the first node lies diagonally off vertex 0: its distance is to that corner */
  const double *p =
      (const double[3]){(double)o->origin[0], (double)o->origin[1], (double)o->origin[2]};
  cr_assert(p[0] < 0 && p[1] < 0 && p[2] < 0);
  cr_assert_float_eq(v[0], sqrt(p[0] * p[0] + p[1] * p[1] + p[2] * p[2]) - 0.01, 1e-6);
  free(v);
  tiny_close(&t);
  unlink(path);
}

/* A fin on the edge 0-1 of a tetrahedron, turned against it, a double and a triangle without area.
 */
static const char fins[] = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nv .5 0 -1\nv 2 0 0\nf 1 3 2\n"
                           "f 1 2 4\nf 2 3 4\nf 1 4 3\nf 1 2 5\nf 3 2 1\nf 1 2 6\n";

Test(scene_bodies, bodies_for_contact_need_no_clean_topology)
{
  static const struct {
    const char *keys;
    const char *refused; /* NULL: taken */
    int tris;
    const char *note;
  } all[] = {
      {"sdf_resolution = 0\nrepair = clean\n", NULL, 5, "1 triangles without area and 1 with"},
      {"sdf_resolution = 0\n", "triangle 5 (0 1 5): zero area", 0, "set repair = clean"},
      {"sdf_resolution = 8\nrepair = clean\n", "edge 0-1 has 3 triangles", 0, "sdf_resolution = 0"},
  };
  char path[] = "/tmp/loom_body_XXXXXX.obj", text[500];
  tiny_file(path, fins);
  for (size_t k = 0; k < sizeof all / sizeof *all; ++k) {
    snprintf(text, sizeof text,
             "[cloth.a]\nmodel = arap+isometric\npattern = regular\ntransform = translate 0 0 "
             "5\n[body.rock]\nshape = mesh\nfile = %s\n%s",
             path, all[k].keys);
    if (all[k].refused != NULL) {
      tiny_refused(text, (const char *const[]){all[k].refused, all[k].note, NULL});
      continue;
    }
    tiny_scene t = tiny_open_ok(text);
    cr_assert_eq(t.s->pub.num_body_tris, all[k].tris);
    cr_assert_eq(t.s->pub.num_body_edges, 8);
    cr_assert(strstr(t.s->notes, all[k].note) != NULL, "%s", t.s->notes);
    tiny_close(&t);
  }
  unlink(path);
}

/* A tetrahedron whose faces have corners of their own is closed once these are one; one that is
 * inside out is turned. */
Test(scene_bodies, bodies_with_distances_are_welded_and_turned)
{
  static const char *const faces[2] = {"v 0 0 0\nv 0 1 0\nv 1 0 0\nv 0 0 0\nv 1 0 0\nv 0 0 1\n"
                                       "v 1 0 0\nv 0 1 0\nv 0 0 1\nv 0 0 0\nv 0 0 1\nv 0 1 0\n"
                                       "f 1 2 3\nf 4 5 6\nf 7 8 9\nf 10 11 12\n",
                                       "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nv 9 9 9\n"
                                       "f 1 2 3\nf 1 4 2\nf 2 4 3\nf 1 3 4\n"};
  static const char *const keys[2] = {"repair = clean\n", "repair = orientation\n"};
  static const char *const words[2][2] = {
      {"set repair = clean", "8 vertices at the place of"},
      {"by repair = orientation", "the surface was inside out"}};
  for (int k = 0; k < 2; ++k) {
    char path[] = "/tmp/loom_body_XXXXXX.obj", text[500];
    tiny_file(path, faces[k]);
    for (int repaired = 0; repaired < 2; ++repaired) {
      snprintf(text, sizeof text,
               "[cloth.a]\nmodel = arap+isometric\npattern = regular\ntransform = translate 0 0 "
               "5\n[body.rock]\nshape = mesh\nfile = %s\nsdf_resolution = 8\n%s",
               path, repaired ? keys[k] : "");
      if (!repaired) {
        tiny_refused(text, (const char *const[]){words[k][0], NULL});
        continue;
      }
      tiny_scene t = tiny_open_ok(text);
      cr_assert(strstr(t.s->notes, words[k][1]) != NULL, "%s", t.s->notes);
      cr_assert_eq(t.s->pub.num_body_edges, 6);
      cr_assert(strstr(t.s->inventory, "1 x 1 x 1 m") != NULL, "%s", t.s->inventory);
      tiny_close(&t);
    }
    unlink(path);
  }
}

/* Two meshed bodies, one of them in motion: one list of vertices, edges and triangles, placed
 * at both ends of the step. */
Test(scene_bodies, body_meshes_stand_together_at_both_ends_of_a_step)
{
  char path[] = "/tmp/loom_body_XXXXXX.obj", text[500];
  tiny_file(path, tetra);
  snprintf(text, sizeof text,
           "[cloth.a]\nmodel = arap+isometric\npattern = regular\ntransform = translate 0 0 "
           "5\n[body.ball]\nshape = sphere\n"
           "[body.rock]\nshape = mesh\nfile = %s\nsdf_resolution = 8\nposition = 0 0 2\n"
           "[body.fan]\nshape = mesh\nfile = %s\nsdf_resolution = 8\n"
           "motion = rotate 0 0 1 0 0 0 90\n",
           path, path);
  tiny_scene t = tiny_open_ok(text);
  const loom_scene *p = &t.s->pub;
  cr_assert(p->num_body_verts == 10 && p->num_body_edges == 12 && p->num_body_tris == 8);
  int32_t *of = tiny_copy(&t, p->body_of), *tris = tiny_copy(&t, p->body_tris);
  int32_t *edges = tiny_copy(&t, p->body_edges);
  for (int k = 0; k < 10; ++k) cr_assert_eq(of[k], k < 5 ? 1 : 2);
  for (int k = 0; k < 12; ++k) cr_assert_eq(tris[12 + k], tris[k] + 5);
  for (int k = 0; k < 12; ++k) cr_assert_eq(edges[12 + k], edges[k] + 5);
  cr_assert_eq(scene_pose(t.s, 1, 2), LOOM_OK);
  loom_real *b0 = tiny_copy(&t, t.s->body0), *b1 = tiny_copy(&t, t.s->body1);
  for (int c = 0; c < 3; ++c) {
    static const double turned[2][3] = {{0, 1, 0}, {-1, 0, 0}}; /* (1,0,0) by 90, 180 degrees */
    cr_assert_float_eq(b0[3 * 1 + c], c == 0 ? 1 : c == 2 ? 2 : 0, eps);
    cr_assert_float_eq(b1[3 * 1 + c], b0[3 * 1 + c], eps);
    cr_assert_float_eq(b0[3 * 6 + c], turned[0][c], 10 * eps);
    cr_assert_float_eq(b1[3 * 6 + c], turned[1][c], 10 * eps);
  }
  free(of), free(tris), free(edges), free(b0), free(b1);
  tiny_close(&t);
  unlink(path);
}

/* Edges of 2 cm, diagonals of 2.83 cm, half a millimetre of radius: a ball of 1.58 cm fits between
 * three vertices.  The second sheet has edges of a quarter. */
Test(scene_bodies, objects_are_resolved_by_their_longest_edge)
{
  tiny_scene t = tiny_open_ok("[cloth.coarse]\nmodel = arap+isometric\npattern = regular\nshape = "
                              "grid\ntransform = translate 0 0 8\nsize = "
                              "0.2 0.2\nresolution = 11 11\nthickness = 1 mm\n"
                              "[cloth.fine]\nmodel = arap+isometric\npattern = regular\nshape = "
                              "grid\ntransform = translate 0 0 9\nsize = 0.2 "
                              "0.2\nresolution = 41 41\nthickness = 1 mm\n"
                              "[body.floor]\nshape = plane\n"
                              "[body.large]\nradius = 0.0159\n"
                              "[body.ball]\nradius = 0.0157\n"
                              "[body.rod]\nshape = capsule\nradius = 0.002\nlength = 1\n"
                              "[body.crate]\nshape = box\nsize = 1 1 1\n"
                              "[body.round]\nshape = box\nsize = 1 1 1\nthickness = 0.2\n"
                              "[body.can]\nshape = cylinder\nradius = 1\nlength = 1\n"
                              "[body.ring]\nshape = torus\nring_radius = 1\ntube_radius = 0.02\n"
                              "[body.mesh]\nradius = 0.1\nmesh_size = 0.02\n");
  static const uint8_t want[9][2] = {{0, 0}, {1, 1}, {2, 1}, {2, 2}, {1, 1},
                                     {1, 1}, {1, 1}, {1, 1}, {0, 0}};
  const double h = 0.01;
  loom_err err = {0};
  void *p;
  cr_assert_eq(scene_resolve(&err, t.s, h), LOOM_OK, "%s", err.text);
  for (int b = 0; b < 9; ++b)
    for (int o = 0; o < 2; ++o)
      cr_expect_eq(t.s->pub.elements[2 * b + o], want[b][o], "%s, object %d: %d",
                   t.s->pub.obstacles[b].name, o, t.s->pub.elements[2 * b + o]);
  /* a neighbour of a vertex that the ball stops goes on by 2 cm, 1 mm without effect */
  for (int k = 0; k < 2; ++k) {
    cr_assert_eq(buf_map(t.m, NULL, t.s->v0, LOOM_WRITE, LOOM_AT_HOST, &p), LOOM_OK);
    for (int64_t i = 0; i < buf_count(t.s->v0); ++i)
      ((loom_real *)p)[i] = LK_R(0.0) - (i % 3 == 2 ? LK_R(2.0) - k * LK_R(1.99) : LK_R(0.0));
    cr_assert_eq(buf_unmap(t.m, t.s->v0), LOOM_OK);
    cr_assert_eq(scene_resolve(&err, t.s, h), LOOM_OK, "%s", err.text);
    cr_expect_eq(t.s->pub.elements[2 * 1], k == 0 ? 2 : 1);
    cr_expect_eq(t.s->pub.elements[2 * 1 + 1], 1);
    cr_expect_eq(t.s->pub.elements[0], 0);
  }
  /* stretched to twice its size at the start: by far the longest edges */
  cr_assert_eq(buf_map(t.m, NULL, t.s->x0, LOOM_RDWR, LOOM_AT_HOST, &p), LOOM_OK);
  for (int64_t i = 0; i < buf_count(t.s->x0); ++i) ((loom_real *)p)[i] *= 2;
  cr_assert_eq(buf_unmap(t.m, t.s->x0), LOOM_OK);
  cr_assert_eq(scene_resolve(&err, t.s, h), LOOM_OK, "%s", err.text);
  cr_expect_eq(t.s->pub.elements[2 * 1], 2);
  tiny_close(&t);
}
