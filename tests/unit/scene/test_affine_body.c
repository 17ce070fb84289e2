/* model = affine: control points, masses and weights of a body; bodies that are refused. */
#define _DEFAULT_SOURCE /* mkstemps */
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "geom/vec3.h"
#include "loom/followers.h"
#include "loom/plugin.h"
#include "mesh/mesh.h"
#include "scene/objects/followers.h"
#include "support/tiny_scene.h"

#define PARTS(...) ((const char *const[]){__VA_ARGS__, NULL})

/* A star with waves, without symmetry, as an OBJ file. */
static mesh write_star(char *path)
{
  loom_err e = {0};
  mesh m;
  cr_assert_eq(mesh_round_box(&e, (double[3]){0.02, 0.05, 0}, 0.1, 0.03, &m), LOOM_OK, "%s",
               e.text);
  const int fd = mkstemps(path, 4);
  cr_assert(fd >= 0);
  FILE *const f = fdopen(fd, "w");
  cr_assert(f != NULL);
  for (int32_t i = 0; i < m.num_verts; ++i) {
    double *const x = m.x + 3 * (ptrdiff_t)i;
    const double turn = atan2(x[1], x[0]);
    x[0] *= 1 + 0.2 * cos(5 * turn) + 0.1 * x[2];
    x[1] += 0.2 * x[2] + x[0] * x[0];
    fprintf(f, "v %.17g %.17g %.17g\n", x[0], x[1], x[2]);
  }
  for (int32_t t = 0; t < m.num_tris; ++t)
    fprintf(f, "f %d %d %d\n", m.tris[3 * t] + 1, m.tris[3 * t + 1] + 1, m.tris[3 * t + 2] + 1);
  fclose(f);
  return m;
}

typedef struct body {
  tiny_scene t;
  loom_real *x, *mass, *w;
  int32_t *tets, *tris, *node, *id;
  const loom_followers *f;
} body;

static body open_affine(const char *text)
{
  body b = {.t = tiny_open_ok(text)};
  b.f = loom_scene_followers(&b.t.s->pub);
  cr_assert(b.f != NULL);
  b.x = tiny_copy(&b.t, b.t.s->pub.rest_x);
  b.mass = tiny_copy(&b.t, b.t.s->pub.mass);
  b.tets = tiny_copy(&b.t, b.t.s->pub.tets);
  b.tris = tiny_copy(&b.t, b.t.s->pub.tris);
  b.w = tiny_copy(&b.t, b.f->weight);
  b.node = tiny_copy(&b.t, b.f->node);
  b.id = tiny_copy(&b.t, b.f->id);
  return b;
}

static void close_affine(body *b)
{
  free(b->x);
  free(b->mass);
  free(b->w);
  free(b->tets);
  free(b->tris);
  free(b->node);
  free(b->id);
  tiny_close(&b->t);
}

/* sum_a m_a X_a X_a', its first moments and the mass, in out[10] */
static void sum_nodes(const body *b, double out[10])
{
  memset(out, 0, 10 * sizeof *out);
  for (int a = 0; a < 4; ++a) {
    const double *const x = b->x + 3 * a, m = b->mass[a];
    const double all[10] = {m,
                            m * x[0],
                            m * x[1],
                            m * x[2],
                            m * x[0] * x[0],
                            m * x[1] * x[1],
                            m * x[2] * x[2],
                            m * x[0] * x[1],
                            m * x[0] * x[2],
                            m * x[1] * x[2]};
    for (int k = 0; k < 10; ++k) out[k] += all[k];
  }
}

/* The same of the volume inside the surface, by the rule of four points in each tetrahedron between
 * a triangle and a point, which is exact for squares. */
static void sum_volume(const body *b, double density, double out[10])
{
  const double near = (5 + 3 * sqrt(5.0)) / 20, far = (5 - sqrt(5.0)) / 20;
  memset(out, 0, 10 * sizeof *out);
  for (int32_t t = 0; t < b->t.s->pub.num_tris; ++t) {
    double corner[4][3] = {{0.013, -0.021, 0.034}}, e[3][3], n[3];
    for (int a = 0; a < 3; ++a) {
      memcpy(corner[a + 1], b->x + 3 * (size_t)b->tris[3 * t + a], 3 * sizeof(double));
      vec3_sub(corner[a + 1], corner[0], e[a]);
    }
    vec3_cross(e[1], e[2], n);
    const double m = density * vec3_dot(e[0], n) / 24;
    for (int q = 0; q < 4; ++q) {
      double x[3] = {0, 0, 0};
      for (int a = 0; a < 4; ++a)
        for (int c = 0; c < 3; ++c) x[c] += (a == q ? near : far) * corner[a][c];
      const double all[10] = {1,           x[0],        x[1],        x[2],        x[0] * x[0],
                              x[1] * x[1], x[2] * x[2], x[0] * x[1], x[0] * x[2], x[1] * x[2]};
      for (int k = 0; k < 10; ++k) out[k] += m * all[k];
    }
  }
}

/* Moments up to the second are those of the body, so its kinetic energy is exact for every affine
 * motion; each vertex of the surface is the mean of the nodes. */
static void check_body(const body *b, double density)
{
  double nodes[10], volume[10], det, e[3][3], n[3];
  sum_nodes(b, nodes);
  sum_volume(b, density, volume);
  for (int k = 0; k < 10; ++k)
    cr_expect(fabs(nodes[k] - volume[k]) < 1e-12 * volume[0], "moment %d: %.17g not %.17g", k,
              nodes[k], volume[k]);
  for (int a = 1; a < 4; ++a)
    vec3_sub(b->x + 3 * (size_t)b->tets[a], b->x + 3 * (size_t)b->tets[0], e[a - 1]);
  vec3_cross(e[1], e[2], n);
  det = vec3_dot(e[0], n);
  cr_expect(det > 0, "%g", det);
  for (int32_t k = 0; k < b->f->count; ++k) {
    double x[3] = {0, 0, 0}, sum = 0;
    for (int a = 0; a < 4; ++a) {
      sum += b->w[4 * k + a];
      for (int c = 0; c < 3; ++c) x[c] += b->w[4 * k + a] * b->x[3 * b->node[4 * k + a] + c];
    }
    cr_expect(fabs(sum - 1) < 1e-14, "%.17g", sum);
    for (int c = 0; c < 3; ++c)
      cr_expect(fabs(x[c] - b->x[3 * (size_t)b->id[k] + c]) < 1e-14, "follower %d", k);
    cr_expect_eq(b->mass[b->id[k]], 0);
  }
}

/* shape = sphere: 6 k^2 + 2 vertices of a cube whose edges have k parts, at the radius. */
Test(affine_body, balls_need_no_file)
{
  static const struct {
    const char *more;
    int parts; /* twice pi r/4 over the edge, rounded up */
  } all[] = {{"", 8}, {"mesh_size = 0.02\n", 6}, {"mesh_size = 0.02\n[run]\ndetail = 2\n", 12}};
  for (size_t k = 0; k < sizeof all / sizeof *all; ++k) {
    char scene[300];
    snprintf(scene, sizeof scene,
             "[solid.a]\nshape = sphere\nradius = 0.07\ndensity = 300\nmodel = affine\n"
             "transform = translate 0.5 0 0.25\n%s",
             all[k].more);
    body b = open_affine(scene);
    check_body(&b, 300);
    cr_expect_eq(b.f->count, 6 * all[k].parts * all[k].parts + 2, "%d", (int)b.f->count);
    for (int32_t i = 0; i < b.f->count; ++i) {
      const double *const x = b.x + 3 * (size_t)b.id[i];
      const double r = sqrt(pow(x[0] - 0.5, 2) + x[1] * x[1] + pow(x[2] - 0.25, 2));
      cr_expect(fabs(r - 0.07) < 1e-15, "vertex %d: %.17g m", (int)b.id[i], r);
    }
    close_affine(&b);
  }
}

Test(affine_body, nodes_have_the_moments_of_a_box)
{
  body b = open_affine("[solid.a]\nsize = 0.3 0.2 0.05\nresolution = 4 3 2\ndensity = 700\n"
                       "model = affine\ntransform = rotate 1 2 3 40 translate 0.1 0.2 0.3\n");
  cr_expect_eq(b.t.s->pub.num_verts, 4 + 24);
  cr_expect_eq(b.t.s->pub.num_tets, 1);
  check_body(&b, 700);
  cr_expect(fabs(4 * b.mass[0] - 700 * 0.3 * 0.2 * 0.05) < 1e-12);
  close_affine(&b);
}

Test(affine_body, nodes_have_the_moments_of_a_star)
{
  char path[] = "/tmp/loom_star_XXXXXX.obj", text[300];
  mesh m = write_star(path);
  snprintf(text, sizeof text,
           "[solid.a]\nshape = mesh\nfile = %s\ndensity = 300\nmodel = affine\n"
           "transform = scale 0.5 rotate 1 -2 3 70\n",
           path);
  body b = open_affine(text);
  cr_expect_eq(b.f->count, m.num_verts);
  check_body(&b, 300);
  close_affine(&b);
  mesh_free(&m);
  unlink(path);
}

/* Solvers see followers as fixed, contact sees them move. */
Test(affine_body, has_two_views)
{
  body b = open_affine("[solid.a]\nsize = 0.3 0.2 0.05\nresolution = 2 2 2\nmodel = affine\n");
  const loom_scene *const solver = scene_seen_by(b.t.s, LOOM_KIND_SOLVER);
  const loom_scene *const contact = scene_seen_by(b.t.s, LOOM_KIND_CONTACT);
  uint8_t *const solved = tiny_copy(&b.t, solver->fixed), *const seen =
                                                              tiny_copy(&b.t, contact->fixed);
  loom_real *const mass = tiny_copy(&b.t, contact->mass), *const own =
                                                              tiny_copy(&b.t, solver->mass);
  for (int i = 0; i < solver->num_verts; ++i) {
    cr_expect_eq(solved[i], i >= 4);
    cr_expect_eq(seen[i], i < 4);
    cr_expect_eq(own[i], mass[i]);
  }
  /* a corner of a box is sqrt 3 of the nodes' distance away on all three axes: m / (1 + 9) */
  for (int i = 4; i < solver->num_verts; ++i)
    cr_expect(fabs(mass[i] / (4 * b.mass[0]) - 0.1) < 1e-12, "%g", mass[i]);
  free(solved);
  free(seen);
  free(mass);
  free(own);
  close_affine(&b);
}

#define BOX "[solid.a]\nsize = 0.3 0.2 0.05\nresolution = 2 2 2\n"

Test(affine_body, refuses_keys_that_name_its_vertices)
{
  tiny_refused(BOX "model = affine\npins = 0\n", PARTS("[solid.a]", "affine body", "pins"));
  tiny_refused(BOX "model = affine\n[pin.p]\nobject = a\nwhere = 0\n", PARTS("affine body"));
  tiny_refused(BOX "model = affine\nvelocities = v.txt\n", PARTS("velocities"));
  tiny_refused(BOX "model = affine+neohookean\n", PARTS("affine+neohookean", "is no choice"));
}
