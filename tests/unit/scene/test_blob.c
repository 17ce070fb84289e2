/* [solid.*] shape = blob: capsules that blend into each other become tetrahedra. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>

#include "audit/intersect.h"
#include "geom/vec3.h"
#include "mesh/doctor.h"
#include "mesh/tet_surface.h"
#include "support/tiny_scene.h"

#define PARTS(...) ((const char *const[]){__VA_ARGS__, NULL})

static const double pi = 3.14159265358979323846;

typedef struct blob {
  tiny_scene t;
  mesh m; /* a view of its copies */
} blob;

static blob open_blob(const char *text)
{
  blob b = {.t = tiny_open_ok(text)};
  const loom_scene *const s = &b.t.s->pub;
  b.m = (mesh){.num_verts = s->num_verts,
               .num_tris = s->num_tris,
               .num_tets = s->num_tets,
               .x = tiny_copy(&b.t, s->rest_x),
               .tris = tiny_copy(&b.t, s->tris),
               .tets = tiny_copy(&b.t, s->tets)};
  return b;
}

static void close_blob(blob *b)
{
  free(b->m.x);
  free(b->m.tris);
  free(b->m.tets);
  tiny_close(&b->t);
}

/* Cosine of the dihedral angle at the edge from corner i to corner j. */
static double edge_cosine(const mesh *m, int64_t tet, int i, int j)
{
  double side[2][3], edge[3];
  const int32_t *const v = m->tets + 4 * tet;
  const double *const from = m->x + 3 * (ptrdiff_t)v[i];
  vec3_sub(m->x + 3 * (ptrdiff_t)v[j], from, edge);
  for (int k = 0, n = 0; k < 4; ++k) {
    if (k == i || k == j) continue;
    vec3_sub(m->x + 3 * (ptrdiff_t)v[k], from, side[n]);
    const double along = vec3_dot(side[n], edge) / vec3_dot(edge, edge);
    for (int c = 0; c < 3; ++c) side[n][c] -= along * edge[c];
    ++n;
  }
  return vec3_dot(side[0], side[1]) / (vec3_norm(side[0]) * vec3_norm(side[1]));
}

/* Tetrahedra of positive volume and no dihedral angle below `least` degrees; a closed surface that
 * does not meet itself.  The volume, m^3. */
static double check_blob(const blob *b, double least)
{
  loom_err err = {0};
  doctor d = {0};
  int64_t crossing = -1;
  double volume = 0, most = -1;
  cr_assert_eq(doctor_mesh(&err, &d, "blob", &b->m, DOCTOR_SOLID), LOOM_OK, "%s", err.text);
  cr_assert_eq(doctor_verdict(&err, &d), LOOM_OK, "%s", err.text);
  cr_assert_eq(
      isect_mesh(&err, b->m.x, b->m.num_verts, b->m.tris, b->m.num_tris, 1, NULL, 0, &crossing),
      LOOM_OK);
  cr_expect_eq(crossing, 0, "%d intersections", (int)crossing);
  for (int64_t t = 0; t < b->m.num_tets; ++t) {
    const double six = tet_six_volumes(&b->m, t);
    cr_assert(six > 0, "tetrahedron %d: %g", (int)t, six / 6);
    volume += six / 6;
    for (int i = 0; i < 4; ++i)
      for (int j = i + 1; j < 4; ++j) most = fmax(most, edge_cosine(&b->m, t, i, j));
  }
  cr_expect(acos(most) * 180 / pi > least, "%g degrees", acos(most) * 180 / pi);
  return volume;
}

/* Vertices of the surface lie at the radius from the line; the volume is short by the share of
 * chords, which falls with the square of the cells. */
Test(blob, capsules_have_their_surface_and_volume)
{
  const double r = 0.04, length = hypot(0.06, 0.09), a[3] = {0.01, 0.02, -0.03},
               end[3] = {0.01, 0.08, 0.06};
  double missing[2];
  for (int fine = 0; fine < 2; ++fine) {
    char text[300];
    snprintf(text, sizeof text,
             "[solid.a]\nshape = blob\nparts = 0.01 0.02 -0.03 0.01 0.08 0.06 0.04\n"
             "cell = 0.02\n[run]\ndetail = %d\n",
             1 + fine);
    blob b = open_blob(text);
    missing[fine] = 1 - check_blob(&b, 15) / (pi * r * r * (length + 4.0 / 3 * r));
    for (int64_t k = 0; k < 3 * (int64_t)b.m.num_tris; ++k) {
      const double *const x = b.m.x + 3 * (ptrdiff_t)b.m.tris[k];
      double axis[3], from[3];
      vec3_sub(end, a, axis);
      vec3_sub(x, a, from);
      const double t = fmin(fmax(vec3_dot(from, axis) / (length * length), 0), 1);
      for (int c = 0; c < 3; ++c) from[c] -= t * axis[c];
      cr_assert(fabs(vec3_norm(from) - r) < 1e-12, "%.17g m", vec3_norm(from));
    }
    close_blob(&b);
  }
  cr_expect(missing[0] > 0 && missing[0] < 0.06, "%g", missing[0]);
  cr_expect(missing[1] > 0 && missing[1] < 0.3 * missing[0], "%g, %g", missing[0], missing[1]);
}

/* A bridge of the fillet joins two balls that do not touch, and cells are lengths of the scene. */
Test(blob, parts_blend)
{
  const char *const balls = "shape = blob\nparts = 0 0 0 0 0 0 0.03 | 0.065 0 0 0.065 0 0 0.03\n"
                            "cell = 0.008\n";
  char text[300];
  double volume[3];
  const char *const more[] = {"", "blend = 0.03\n", "blend = 0.06\ntransform = scale 2\n"};
  for (int k = 0; k < 3; ++k) {
    snprintf(text, sizeof text, "[solid.a]\n%s%s", balls, more[k]);
    blob b = open_blob(text);
    volume[k] = check_blob(&b, 15);
    close_blob(&b);
  }
  cr_expect(fabs(volume[0] / (8.0 / 3 * pi * 2.7e-5) - 1) < 0.05, "%g", volume[0]);
  cr_expect(volume[1] > 1.02 * volume[0] && volume[1] < 1.2 * volume[0], "%g", volume[1]);
  cr_expect(volume[2] > 8 * volume[1], "%g", volume[2]);
}

/* Vertices of the surface. */
static int32_t count_corners(const mesh *m)
{
  int32_t count = 0;
  char *const seen = calloc((size_t)m->num_verts, 1);
  cr_assert(seen != NULL);
  for (int64_t k = 0; k < 3 * (int64_t)m->num_tris; ++k) {
    count += !seen[m->tris[k]];
    seen[m->tris[k]] = 1;
  }
  free(seen);
  return count;
}

/* A toy with legs, ears and a tail, at any place of the lattice, and a ring. */
Test(blob, toys_are_sound)
{
  static const char *const toys[] = {
      "-.04 0 0 .04 0 0 .03 | .045 0 .01 .065 0 .055 .02 | .065 0 .06 .095 0 .055 .02 | "
      ".06 .02 .08 .06 .025 .05 .01 | .06 -.02 .08 .06 -.025 .05 .01 | "
      "-.045 .02 -.01 -.05 .025 -.06 .014 | -.045 -.02 -.01 -.05 -.025 -.06 .014 | "
      ".045 .02 -.01 .05 .025 -.06 .014 | -.06 0 .015 -.085 0 .05 .01",
      ".05 0 0 .025 .0433 0 .02 | .025 .0433 0 -.025 .0433 0 .02 | -.025 .0433 0 -.05 0 0 .02 | "
      "-.05 0 0 -.025 -.0433 0 .02 | -.025 -.0433 0 .025 -.0433 0 .02 | .025 -.0433 0 .05 0 0 .02"};
  for (int k = 0; k < 8; ++k) {
    char text[900];
    snprintf(text, sizeof text, "[solid.a]\nshape = blob\nblend = 0.01\ncell = %g\nparts = %s\n",
             0.012 - 0.0011 * (k / 2), toys[k % 2]);
    blob b = open_blob(text);
    const double volume = check_blob(&b, 10);
    cr_expect(volume > 2e-4 && volume < 8e-4, "%g", volume);
    /* Euler: 2 for a ball, 0 for a ring; a closed surface has 3/2 edges to a triangle */
    cr_expect_eq(count_corners(&b.m) - b.m.num_tris / 2, k % 2 ? 0 : 2);
    close_blob(&b);
  }
}

/* The gap between the ears of this rabbit is a cell wide: on the first lattice two sides of it meet
 * at an edge. */
Test(blob, gaps_of_a_cell_stay_open)
{
  blob b = open_blob("[solid.a]\nshape = blob\nblend = 0.008\ncell = 0.012\nparts = -.018 0 -.01 "
                     ".01 0 -.006 .027 | "
                     ".032 0 .02 .036 0 .02 .02 | .03 .01 .038 .018 .016 .068 .009 | .03 -.01 .038 "
                     ".018 -.016 .068 .009 | "
                     "-.046 0 .002 -.048 0 .004 .012 | .026 .012 -.018 .036 .014 -.038 .01 | "
                     ".026 -.012 -.018 .036 -.014 -.038 .01 | -.024 .02 -.024 0 .024 -.038 .012 | "
                     "-.024 -.02 -.024 0 -.024 -.038 .012\n");
  check_blob(&b, 10);
  close_blob(&b);
}

Test(blob, thin_parts_are_named)
{
  const char *const two =
      "[solid.a]\nshape = blob\nparts = 0 0 0 1 0 0 .2 | 0 0 0 0 1 0 .07\ncell = ";
  for (int k = 0; k < 2; ++k) {
    char text[200];
    snprintf(text, sizeof text, "%s%g\n", two, k ? 0.1 : 0.09);
    tiny_scene t = tiny_open_ok(text);
    const int told = t.s->warnings != NULL && strstr(t.s->warnings, "part 1 and 0 more") != NULL;
    cr_expect_eq(told, k, "%s", t.s->warnings);
    tiny_close(&t);
  }
}

Test(blob, wrong_parts_are_refused)
{
  tiny_refused("[solid.a]\nshape = blob\n", PARTS("parts", "one or more parts"));
  tiny_refused("[solid.a]\nshape = blob\nparts = 0 0 0 1 0 0\n", PARTS("parts", "part 0", "seven"));
  tiny_refused("[solid.a]\nshape = blob\nparts = 0 0 0 1 0 0 0\n",
               PARTS("parts", "part 0", "not above 0"));
  tiny_refused("[solid.a]\nshape = blob\nparts = 0 0 0 1 0 0 .1 0 0 0 1 0 0 .1\n",
               PARTS("parts", "part 0", "then '|'"));
  tiny_refused("[solid.a]\nshape = blob\nparts = 0 0 0 1 0 0 .1\ncell = 1e-3\n",
               PARTS("cell", "raise it"));
  tiny_refused("[solid.a]\nshape = blob\nparts = 0 0 0 1 0 0 .001\ncell = 0.5\n",
               PARTS("cell", "no point of a lattice"));
  tiny_refused("[solid.a]\nblend = 0.1\n", PARTS("tiny.ini:2", "blend", "shape = blob"));
}
