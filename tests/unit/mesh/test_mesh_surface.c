/* test_mesh_surface.c - generated surfaces of bodies: closed, outwards, true to their shape. */
#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

#include "audit/intersect.h"
#include "mesh/doctor.h"
#include "support/tiny_scene.h"

static const double pi = 3.14159265358979323846;

/* Closed, oriented outwards, no flat triangles, no intersections. */
static void expect_sound(const mesh *m, const char *what)
{
  loom_err err = {0};
  doctor d = {0};
  int64_t crossing = -1;
  cr_assert_eq(doctor_mesh(&err, &d, what, m, DOCTOR_SOLID), LOOM_OK, "%s", err.text);
  cr_assert_eq(doctor_verdict(&err, &d), LOOM_OK, "%s", err.text);
  cr_assert_eq(isect_mesh(&err, m->x, m->num_verts, m->tris, m->num_tris, 1, NULL, 0, &crossing),
               LOOM_OK);
  cr_assert_eq(crossing, 0, "%s: %d intersections", what, (int)crossing);
}

static double volume_of(const mesh *m)
{
  double v = 0;
  for (int64_t t = 0; t < m->num_tris; ++t) {
    const double *const a = m->x + 3 * (int64_t)m->tris[3 * t];
    const double *const b = m->x + 3 * (int64_t)m->tris[3 * t + 1];
    const double *const c = m->x + 3 * (int64_t)m->tris[3 * t + 2];
    v += (a[0] * (b[1] * c[2] - b[2] * c[1]) + a[1] * (b[2] * c[0] - b[0] * c[2]) +
          a[2] * (b[0] * c[1] - b[1] * c[0])) /
         6;
  }
  return v;
}

static double longest_edge_length(const mesh *m)
{
  double longest = 0;
  for (int64_t k = 0; k < 3 * (int64_t)m->num_tris; ++k) {
    const double *const a = m->x + 3 * (int64_t)m->tris[k];
    const double *const b = m->x + 3 * (int64_t)m->tris[k % 3 == 2 ? k - 2 : k + 1];
    longest = fmax(longest, hypot(hypot(a[0] - b[0], a[1] - b[1]), a[2] - b[2]));
  }
  return longest;
}

/* Every vertex lies on the surface, and the volume is below the true one by the share that
 * chords of length `edge` leave out, at most (edge / radius)^2. */
static void expect_round_box(const double core[3], double radius, double edge)
{
  loom_err err = {0};
  mesh m;
  cr_assert_eq(mesh_round_box(&err, core, radius, edge, &m), LOOM_OK, "%s", err.text);
  expect_sound(&m, "round box");
  for (int64_t i = 0; i < m.num_verts; ++i) {
    double d2 = 0;
    for (int c = 0; c < 3; ++c) {
      const double out = fmax(fabs(m.x[3 * i + c]) - core[c], 0);
      d2 += out * out;
      if (radius == 0) cr_assert(fabs(m.x[3 * i + c]) <= core[c] * (1 + 1e-12));
    }
    cr_assert_float_eq(sqrt(d2), radius, 1e-12);
  }
  const double a = 2 * core[0], b = 2 * core[1], c = 2 * core[2];
  const double true_volume = a * b * c + 2 * radius * (a * b + b * c + c * a) +
                             pi * radius * radius * (a + b + c) + 4 * pi / 3 * pow(radius, 3);
  const double missing = 1 - volume_of(&m) / true_volume;
  const double share = radius > 0 ? pow(edge / radius, 2) : 1e-12;
  cr_assert(missing > -1e-12 && missing < share, "radius %g: %g of the volume missing", radius,
            missing);
  cr_assert(longest_edge_length(&m) < 1.5 * edge, "%g m",
            longest_edge_length(&m)); /* diagonals: sqrt 2 */
  mesh_free(&m);
}

Test(mesh_surface, round_boxes_spheres_and_capsules)
{
  expect_round_box((double[3]){0, 0, 0}, 0.3, 0.05);     /* sphere */
  expect_round_box((double[3]){0, 0, 0.2}, 0.1, 0.03);   /* capsule */
  expect_round_box((double[3]){0.2, 0.1, 0.3}, 0, 0.05); /* box */
  expect_round_box((double[3]){0.2, 0.1, 0.05}, 0.02, 0.015);
  expect_round_box((double[3]){0.2, 0, 0.05}, 0.02, 0.015); /* a plate's core */
  loom_err err = {0};
  mesh m = {0};
  cr_assert_eq(mesh_round_box(&err, (double[3]){1, 1, 1}, 0.1, 1e-6, &m), LOOM_E_CONFIG);
}

Test(mesh_surface, surfaces_of_revolution)
{
  loom_err err = {0};
  mesh m;
  /* ring of 0.1 x 0.2 m cross-section, by Pappus 2 pi R A; both senses of the profile */
  const double ring[8] = {0.2, 0, 0.3, 0, 0.3, 0.2, 0.2, 0.2};
  const double back[8] = {0.2, 0.2, 0.3, 0.2, 0.3, 0, 0.2, 0};
  for (int k = 0; k < 2; ++k) {
    cr_assert_eq(mesh_revolve(&err, k == 0 ? ring : back, 4, 0.02, &m), LOOM_OK);
    expect_sound(&m, "ring");
    cr_assert_float_eq(volume_of(&m), 2 * pi * 0.25 * 0.02, 2e-3 * 2 * pi * 0.25 * 0.02);
    cr_assert(longest_edge_length(&m) < 0.03);
    mesh_free(&m);
  }
  /* cone with its tip at the origin: two poles, of which the axis is no surface */
  const double cone[6] = {0, 0, 0.2, 0.3, 0, 0.3};
  cr_assert_eq(mesh_revolve(&err, cone, 3, 0.01, &m), LOOM_OK);
  expect_sound(&m, "cone");
  cr_assert_float_eq(volume_of(&m), pi * 0.04 * 0.3 / 3, 5e-3 * pi * 0.04 * 0.1);
  mesh_free(&m);
}

#define BODY(text) "[cloth.a]\ntransform = translate 9 0 0\n[body.b]\n" text

Test(mesh_surface, sections_make_meshes)
{
  tiny_scene t = tiny_open_ok(BODY("radius = 0.2\nthickness = 0.05\nmesh_size = 0.05\n"
                                   "sdf_resolution = 0\nposition = 1 2 3\n"));
  const loom_obstacle *o = t.s->pub.obstacles;
  cr_assert_str_eq(o->kind, "mesh");
  cr_assert(o->sdf == NULL && o->verts != NULL && o->tris != NULL);
  cr_assert_float_eq(o->pose1[9], 1, 0);
  loom_real *x = tiny_copy(&t, o->verts);
  for (int64_t i = 0; i < buf_count(o->verts) / 3; ++i)
    cr_assert_float_eq(hypot(hypot(x[3 * i], x[3 * i + 1]), x[3 * i + 2]), 0.25, 1e-6);
  free(x);
  tiny_close(&t);
  t = tiny_open_ok(BODY("shape = revolve\nprofile = 0.1 0 | 0.2 0 | 0.15 0.1\nmesh_size = 0.05\n"
                        "sdf_resolution = 16\n"));
  cr_assert(t.s->pub.obstacles[0].has == (LOOM_BODY_MESH | LOOM_BODY_DISTANCE) &&
            t.s->pub.obstacles[0].sdf != NULL);
  tiny_close(&t);
}

#define PARTS(...) ((const char *const[]){__VA_ARGS__, NULL})

Test(mesh_surface, refusals)
{
  tiny_refused(BODY("shape = plane\nmesh_size = 0.1\n"), PARTS("tiny.ini:5", "mesh_size", "box"));
  tiny_refused(BODY("shape = revolve\nmesh_size = 0.1\n"), PARTS("profile", "three or more"));
  tiny_refused(BODY("shape = revolve\nprofile = 0 0 | 1 0 | 1\nmesh_size = 0.1\n"),
               PARTS("profile", "corner 2", "R Z"));
  tiny_refused(BODY("shape = revolve\nprofile = 0 0 | -1 0 | 1 1\nmesh_size = 0.1\n"),
               PARTS("profile", "corner 1", "below 0"));
  tiny_refused(BODY("shape = revolve\nprofile = 1 0 | 2 0 | 2 1\n"), PARTS("mesh_size", "above 0"));
  tiny_refused(BODY("shape = revolve\nprofile = 1 0 | 2 1 | 2 0 | 1 1\nmesh_size = 0.1\n"),
               PARTS("tiny.ini:5", "profile"));
  tiny_refused(BODY("shape = revolve\nprofile = 1 0 | 2 0 | 2 1\nmesh_size = 0.1\nthickness = .1\n"
                    "sdf_resolution = 0\n"),
               PARTS("thickness", "no layer"));
  tiny_refused(BODY("mesh_size = 0.05\nsdf_resolution = 3\n"),
               PARTS("sdf_resolution", "4 to 2048"));
}

/* ---- [run] detail ---- */

Test(mesh_surface, detail_multiplies_cells)
{
  static const char text[] =
      "[run]\ndetail = 3\n[cloth.a]\nresolution = 5 4\n"
      "[cloth.b]\nshape = disk\nresolution = 2\ntransform = translate 9 0 0\n"
      "[cloth.c]\nshape = cylinder\nresolution = 8 3\n"
      "transform = translate 0 9 0\n"
      "[solid.d]\nresolution = 2 3 2\ntransform = translate 0 0 9\n";
  tiny_scene t = tiny_open_ok(text);
  cr_assert_eq(t.s->pub.num_verts, 13 * 10 + (1 + 3 * 6 * 7) + 24 * 7 + 4 * 7 * 4);
  tiny_close(&t);
}
