/* [solid.*] shape = mesh of a closed surface: Gmsh fills it with tetrahedra. */
#define _DEFAULT_SOURCE /* mkstemps */
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "mesh/mesh.h"
#include "support/tiny_scene.h"

#define PARTS(...) ((const char *const[]){__VA_ARGS__, NULL})

static const double radius = 0.1, pi = 3.14159265358979323846;

/* A ball, or a star with waves of 30 % of the radius, as an OBJ file. */
static mesh write_surface(char *path, double waves, double edge)
{
  loom_err e = {0};
  mesh m;
  cr_assert_eq(mesh_round_box(&e, (double[3]){0, 0, 0}, radius, edge, &m), LOOM_OK, "%s", e.text);
  const int fd = mkstemps(path, 4);
  cr_assert(fd >= 0);
  FILE *const f = fdopen(fd, "w");
  cr_assert(f != NULL);
  for (int32_t i = 0; i < m.num_verts; ++i) {
    double *const x = m.x + 3 * (ptrdiff_t)i;
    const double turn = atan2(x[1], x[0]), flat = (x[0] * x[0] + x[1] * x[1]) / (radius * radius);
    for (int c = 0; c < 3; ++c) x[c] *= 1 + waves * flat * cos(5 * turn);
    fprintf(f, "v %.17g %.17g %.17g\n", x[0], x[1], x[2]);
  }
  for (int32_t t = 0; t < m.num_tris; ++t)
    fprintf(f, "f %d %d %d\n", m.tris[3 * t] + 1, m.tris[3 * t + 1] + 1, m.tris[3 * t + 2] + 1);
  fclose(f);
  return m;
}

typedef struct filled {
  tiny_scene t;
  loom_real *x;
  int32_t *tets, *tris;
} filled;

static filled fill_obj(const char *path, const char *more)
{
  char text[400];
  snprintf(text, sizeof text, "[solid.a]\nshape = mesh\nfile = %s\ndensity = 1000\n%s", path, more);
  filled s = {.t = tiny_open_ok(text)};
  s.x = tiny_copy(&s.t, s.t.s->pub.rest_x);
  s.tets = tiny_copy(&s.t, s.t.s->pub.tets);
  s.tris = tiny_copy(&s.t, s.t.s->pub.tris);
  return s;
}

static void free_filled(filled *s)
{
  free(s->x);
  free(s->tets);
  free(s->tris);
  tiny_close(&s->t);
}

/* Of all tetrahedra; each has to be positive. */
static double sum_of_volumes(const filled *s)
{
  double all = 0;
  for (int32_t t = 0; t < s->t.s->pub.num_tets; ++t) {
    double e[3][3];
    const int32_t *const v = s->tets + 4 * (ptrdiff_t)t;
    for (int a = 0; a < 3; ++a)
      for (int c = 0; c < 3; ++c) e[a][c] = (double)(s->x[3 * v[a + 1] + c] - s->x[3 * v[0] + c]);
    const double six = e[0][0] * (e[1][1] * e[2][2] - e[1][2] * e[2][1]) -
                       e[0][1] * (e[1][0] * e[2][2] - e[1][2] * e[2][0]) +
                       e[0][2] * (e[1][0] * e[2][1] - e[1][1] * e[2][0]);
    cr_assert(six > 0, "tetrahedron %d", t);
    all += six / 6;
  }
  return all;
}

static void expect_surface_kept(const filled *s, const mesh *m)
{
  cr_assert_eq(s->t.s->pub.num_tris, m->num_tris);
  cr_assert_arr_eq(s->tris, m->tris, 3 * (size_t)m->num_tris * sizeof *m->tris);
  for (int32_t k = 0; k < 3 * m->num_verts; ++k) cr_assert_eq(s->x[k], (loom_real)m->x[k]);
}

Test(fill, a_ball_and_a_star_are_filled)
{
  for (int star = 0; star < 2; ++star) {
    char path[] = "/tmp/loom_fill_XXXXXX.obj";
    mesh m = write_surface(path, star ? 0.3 : 0.0, 0.012);
    filled s = fill_obj(path, ""), again = fill_obj(path, ""),
           fine = fill_obj(path, "cell = 8 mm\n");
    cr_assert(m.num_verts > 700 && s.t.s->pub.num_verts > m.num_verts);
    expect_surface_kept(&s, &m);
    const double ball = 4.0 / 3 * pi * radius * radius * radius;
    if (!star) cr_expect(fabs(sum_of_volumes(&s) / ball - 1) < 0.01);
    cr_expect(fabs(sum_of_volumes(&fine) / sum_of_volumes(&s) - 1) < 1e-6);
    cr_expect(fine.t.s->pub.num_tets > 2 * s.t.s->pub.num_tets);
    expect_surface_kept(&fine, &m);
    cr_assert_eq(s.t.s->pub.num_verts, again.t.s->pub.num_verts);
    cr_assert_arr_eq(s.x, again.x, 3 * (size_t)s.t.s->pub.num_verts * sizeof *s.x);
    cr_assert(strstr(s.t.s->notes, "by the mesher gmsh") != NULL, "%s", s.t.s->notes);
    free_filled(&s);
    free_filled(&again);
    free_filled(&fine);
    mesh_free(&m);
    unlink(path);
  }
}

/* cell is a length of the scene: in a file of millimetres it is the same as in one of metres. */
Test(fill, cells_are_scaled_with_the_file)
{
  char path[] = "/tmp/loom_fill_XXXXXX.obj";
  mesh m = write_surface(path, 0, 0.02);
  char text[300];
  snprintf(text, sizeof text, "[solid.a]\nshape = mesh\nfile = %s\ncell = 1e-5\n", path);
  tiny_refused(text, PARTS("tiny.ini:4", "cell: 1e-05 m makes about", "raise it"));
  filled one = fill_obj(path, "cell = 0.008\n");
  filled two = fill_obj(path, "cell = 0.016\ntransform = scale 2\n");
  cr_assert_eq(one.t.s->pub.num_tets, two.t.s->pub.num_tets);
  free_filled(&one);
  free_filled(&two);
  mesh_free(&m);
  unlink(path);
}

/* A ball with a vertex that is pushed out on the other side. */
Test(fill, surfaces_that_meet_themselves_are_refused)
{
  char path[] = "/tmp/loom_fill_XXXXXX.obj", text[300];
  loom_err e = {0};
  mesh m;
  cr_assert_eq(mesh_round_box(&e, (double[3]){0, 0, 0}, radius, 0.04, &m), LOOM_OK, "%s", e.text);
  FILE *const f = fdopen(mkstemps(path, 4), "w");
  cr_assert(f != NULL);
  for (int32_t i = 0; i < m.num_verts; ++i) {
    const double k = i == 0 ? -1.1 : 1.0;
    fprintf(f, "v %.17g %.17g %.17g\n", k * m.x[3 * i], k * m.x[3 * i + 1], k * m.x[3 * i + 2]);
  }
  for (int32_t t = 0; t < m.num_tris; ++t)
    fprintf(f, "f %d %d %d\n", m.tris[3 * t] + 1, m.tris[3 * t + 1] + 1, m.tris[3 * t + 2] + 1);
  fclose(f);
  snprintf(text, sizeof text, "[solid.a]\nshape = mesh\nfile = %s\n", path);
  tiny_refused(text, PARTS("tiny.ini:3", path, "the surface meets itself: edge"));
  mesh_free(&m);
  unlink(path);
}

Test(fill, open_surfaces_and_wrong_keys_are_refused)
{
  char path[] = "/tmp/loom_fill_XXXXXX.obj", text[300];
  const int fd = mkstemps(path, 4);
  FILE *const f = fdopen(fd, "w");
  cr_assert(f != NULL);
  fputs("v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 2 3 4\n", f);
  fclose(f);
  snprintf(text, sizeof text, "[solid.a]\nshape = mesh\nfile = %s\n", path);
  tiny_refused(text, PARTS("tiny.ini:3", path, "the surface must be closed"));
  tiny_refused("[solid.a]\ncell = 0.1\n", PARTS("tiny.ini:2", "cell", "shape = mesh"));
  unlink(path);
}
