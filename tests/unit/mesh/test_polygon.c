/* polygon.c and its readers: areas against the shoelace_area formula of the outline, triangulations
 * that use each side once and each cut twice, in OBJ and PLY. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "geom/pose.h"
#include "mesh/clean.h"
#include "mesh/doctor.h"
#include "mesh/obj.h"
#include "mesh/polygon.h"

enum { MOST = 300 };
static const double pi = 3.14159265358979323846;

typedef struct shape {
  int n;
  double p[MOST][2];
} shape;

static double shoelace_area(const shape *s)
{
  double twice = 0;
  for (int k = 0; k < s->n; ++k) {
    const double *const a = s->p[k], *const b = s->p[(k + 1) % s->n];
    twice += a[0] * b[1] - a[1] * b[0];
  }
  return twice / 2;
}

static void put_corner(shape *s, double x, double y)
{
  s->p[s->n][0] = x;
  s->p[s->n++][1] = y;
}

static shape star_shape(int points)
{
  shape s = {0};
  for (int k = 0; k < 2 * points; ++k) {
    const double r = k % 2 == 0 ? 1 : 0.3, a = pi * k / points;
    put_corner(&s, r * cos(a), r * sin(a));
  }
  return s;
}

static shape comb_shape(int teeth)
{
  shape s = {0};
  put_corner(&s, 0, 0);
  put_corner(&s, 2 * teeth - 1, 0);
  for (int k = teeth - 1; k >= 0; --k) {
    put_corner(&s, 2 * k + 1, 3);
    put_corner(&s, 2 * k, 3);
    if (k > 0) put_corner(&s, 2 * k, 0.1);
    if (k > 0) put_corner(&s, 2 * k - 1, 0.1);
  }
  return s;
}

/* A band that winds around the origin. */
static shape spiral_shape(int turns)
{
  shape s = {0};
  const int steps = 16 * turns;
  for (int k = 0; k <= steps; ++k)
    put_corner(&s, (1 + 0.1 * k) * cos(pi * k / 8), (1 + 0.1 * k) * sin(pi * k / 8));
  for (int k = steps; k >= 0; --k)
    put_corner(&s, (0.5 + 0.1 * k) * cos(pi * k / 8), (0.5 + 0.1 * k) * sin(pi * k / 8));
  return s;
}

static shape l_shape(void) { return (shape){6, {{2, 0}, {2, 1}, {1, 1}, {1, 2}, {0, 2}, {0, 0}}}; }

static shape arrow_shape(void) { return (shape){4, {{1, 0}, {0, 1.5}, {-1, 0}, {0, 0.5}}}; }

/* A square with a vertex in the middle of each side: three corners of a fan lie on one line. */
static shape divided_square(void)
{
  return (shape){8, {{0, 0}, {1, 0}, {2, 0}, {2, 1}, {2, 2}, {1, 2}, {0, 2}, {0, 1}}};
}

/* A square ring, cut open along a bridge that the outline passes twice. */
static shape ring_shape(void)
{
  return (shape){10,
                 {{0, 0}, {3, 0}, {3, 3}, {0, 3}, {0, 0}, {1, 1}, {1, 2}, {2, 2}, {2, 1}, {1, 1}}};
}

static double area_vector(const double *x, const int32_t *t, double n[3])
{
  double u[3], v[3];
  for (int c = 0; c < 3; ++c) {
    u[c] = x[3 * t[1] + c] - x[3 * t[0] + c];
    v[c] = x[3 * t[2] + c] - x[3 * t[0] + c];
  }
  for (int c = 0; c < 3; ++c)
    n[c] = (u[(c + 1) % 3] * v[(c + 2) % 3] - u[(c + 2) % 3] * v[(c + 1) % 3]) / 2;
  return sqrt(n[0] * n[0] + n[1] * n[1] + n[2] * n[2]);
}

/* Each side of the outline once, in its direction, each other edge once in both. */
static void check_edges_of_cut(int n, const int32_t *cut)
{
  static unsigned char seen[MOST][MOST];
  memset(seen, 0, sizeof seen);
  for (int t = 0; t < n - 2; ++t)
    for (int a = 0; a < 3; ++a) {
      const int32_t i = cut[3 * t + a], j = cut[3 * t + (a + 1) % 3];
      cr_assert(i >= 0 && i < n && j >= 0 && j < n && i != j);
      cr_assert_eq(seen[i][j]++, 0, "edge %d-%d twice", i, j);
    }
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j) {
      const int side = j == (i + 1) % n, back = i == (j + 1) % n;
      cr_assert_eq(seen[i][j], back ? 0 : side ? 1 : seen[j][i], "edge %d-%d of %d", i, j, n);
    }
}

/* Cut in a plane that is turned and shifted, begun at each corner. */
static void check_flat(const char *name, const shape *s, int sound)
{
  const double want = shoelace_area(s), axis[3] = {0.6, 0, 0.8};
  double x[3 * MOST], P[12];
  int32_t cut[3 * MOST], side[2];
  int way;
  loom_err e = {0};
  cr_assert(want > 0, "%s turns left", name);
  pose_rotation(axis, 1.1, axis, P);
  P[9] = 3;
  for (int first = 0; first < s->n; ++first) {
    for (int k = 0; k < s->n; ++k) {
      const double p[3] = {s->p[(k + first) % s->n][0], s->p[(k + first) % s->n][1], 0};
      pose_apply(P, p, x + 3 * k);
    }
    cr_assert_eq(polygon_cut(&e, s->n, x, cut, &way, side), LOOM_OK);
    cr_assert(way == POLYGON_EARS || (sound && way == POLYGON_FAN), "%s from %d: way %d", name,
              first, way);
    double area = 0, normal[3];
    const double up[3] = {P[2], P[5], P[8]}; /* where z goes */
    for (int t = 0; t < s->n - 2; ++t) {
      area += area_vector(x, cut + 3 * t, normal);
      cr_assert(normal[0] * up[0] + normal[1] * up[1] + normal[2] * up[2] > 1e-9,
                "%s from %d: triangle %d is turned or flat", name, first, t);
    }
    cr_assert(fabs(area - want) < 1e-12 * want * s->n, "%s from %d: %.15g, not %.15g", name, first,
              area, want);
    check_edges_of_cut(s->n, cut);
  }
}

Test(polygon, flat_shapes_keep_their_area)
{
  const shape l = l_shape(), arrow = arrow_shape(), square = divided_square(), ring = ring_shape();
  const shape star = star_shape(7), comb = comb_shape(9), spiral = spiral_shape(3);
  check_flat("L", &l, 1);
  check_flat("arrow", &arrow, 1);
  check_flat("star", &star, 0);
  check_flat("comb", &comb, 0);
  check_flat("spiral", &spiral, 0);
  check_flat("divided square", &square, 1);
  check_flat("ring with a bridge", &ring, 0);
}

Test(polygon, convex_ones_keep_the_fan)
{
  double x[3 * MOST];
  int32_t cut[3 * MOST], side[2];
  loom_err e = {0};
  int way;
  for (int n = 3; n < 40; ++n) {
    for (int k = 0; k < n; ++k) {
      x[3 * k] = cos(2 * pi * k / n);
      x[3 * k + 1] = 2 * sin(2 * pi * k / n);
      x[3 * k + 2] = 0.02 * (k % 3); /* not quite flat */
    }
    cr_assert_eq(polygon_cut(&e, n, x, cut, &way, side), LOOM_OK);
    cr_assert_eq(way, POLYGON_FAN);
    for (int t = 0; t < n - 2; ++t)
      cr_assert(cut[3 * t] == 0 && cut[3 * t + 1] == t + 1 && cut[3 * t + 2] == t + 2);
  }
}

/* The outline on a surface z(x, y): seen from above it is the flat one, and so is the sum of the
 * triangles' shadows; vector areas of all triangulations are one. */
static void check_bent(const char *name, const shape *s, double (*z)(double x, double y))
{
  double x[3 * MOST], shadow = 0, sum[3] = {0}, outline[3] = {0};
  int32_t cut[3 * MOST], side[2];
  loom_err e = {0};
  int way;
  for (int k = 0; k < s->n; ++k) {
    x[3 * k] = s->p[k][0];
    x[3 * k + 1] = s->p[k][1];
    x[3 * k + 2] = z(s->p[k][0], s->p[k][1]);
  }
  cr_assert_eq(polygon_cut(&e, s->n, x, cut, &way, side), LOOM_OK);
  cr_assert_eq(way, POLYGON_EARS, "%s", name);
  check_edges_of_cut(s->n, cut);
  for (int t = 0; t < s->n - 2; ++t) {
    double normal[3];
    area_vector(x, cut + 3 * t, normal);
    shadow += fabs(normal[2]);
    for (int c = 0; c < 3; ++c) sum[c] += normal[c];
  }
  for (int k = 0; k < s->n; ++k) {
    const double *const a = x + 3 * k, *const b = x + 3 * ((k + 1) % s->n);
    for (int c = 0; c < 3; ++c)
      outline[c] += (a[(c + 1) % 3] * b[(c + 2) % 3] - a[(c + 2) % 3] * b[(c + 1) % 3]) / 2;
  }
  cr_assert(fabs(shadow - shoelace_area(s)) < 1e-10 * shadow, "%s: shadow %.12g, not %.12g", name,
            shadow, shoelace_area(s));
  for (int c = 0; c < 3; ++c)
    cr_assert(fabs(sum[c] - outline[c]) < 1e-10 * shadow, "%s: vector area", name);
}

static double saddle_height(double x, double y) { return 0.03 * (x * x - y * y); }
static double gutter_height(double x, double y) { return 0.1 * sin(x) + 0.01 * y; }

Test(polygon, bent_shapes_keep_their_shadow)
{
  const shape star = star_shape(9), comb = comb_shape(5), spiral = spiral_shape(2);
  check_bent("star", &star, saddle_height);
  check_bent("comb", &comb, gutter_height);
  check_bent("spiral", &spiral, saddle_height);
}

Test(polygon, crossing_outlines_are_told_with_their_sides)
{
  const double tie[12] = {0, 0, 0, 1, 1, 0, 1, 0, 0, 0, 1, 0};
  double x[15];
  int32_t cut[9], side[2];
  loom_err e = {0};
  int way;
  cr_assert_eq(polygon_cut(&e, 4, tie, cut, &way, side), LOOM_OK);
  cr_assert_eq(way, POLYGON_CROSSED);
  cr_assert(side[0] == 0 && side[1] == 2);
  for (int k = 0; k < 5; ++k) { /* a pentagram turns left at every corner */
    x[3 * k] = cos(4 * pi * k / 5);
    x[3 * k + 1] = sin(4 * pi * k / 5);
    x[3 * k + 2] = 0;
  }
  cr_assert_eq(polygon_cut(&e, 5, x, cut, &way, side), LOOM_OK);
  cr_assert_eq(way, POLYGON_CROSSED);
}

Test(polygon, shapes_without_area_and_wild_numbers_keep_the_fan)
{
  const double line[12] = {0, 0, 0, 1, 0, 0, 2, 0, 0, 3, 0, 0};
  double wild[12] = {0, 0, 0, 1, 1, 0, INFINITY, 0, 0, 0, NAN, 0};
  int32_t cut[6], side[2];
  loom_err e = {0};
  int way;
  cr_assert_eq(polygon_cut(&e, 4, line, cut, &way, side), LOOM_OK);
  cr_assert_eq(way, POLYGON_FAN);
  cr_assert_eq(polygon_cut(&e, 4, wild, cut, &way, side), LOOM_OK);
  cr_assert_eq(way, POLYGON_FAN);
}

Test(polygon, large_concave_faces_are_refused_in_time)
{
  const int n = POLYGON_MAX_CONCAVE + 2;
  double *const x = calloc(3 * (size_t)n, sizeof *x);
  int32_t *const cut = calloc(3 * (size_t)n, sizeof *cut), side[2];
  loom_err e = {0};
  int way;
  for (int k = 0; k < n; ++k) {
    const double r = k % 2 == 0 ? 1 : 0.9;
    x[3 * k] = r * cos(2 * pi * k / n);
    x[3 * k + 1] = r * sin(2 * pi * k / n);
  }
  cr_assert_eq(polygon_cut(&e, n, x, cut, &way, side), LOOM_OK);
  cr_assert_eq(way, POLYGON_LARGE);
  free(x);
  free(cut);
}

static double mesh_area(const mesh *m)
{
  double area = 0, normal[3];
  for (int32_t t = 0; t < m->num_tris; ++t)
    area += area_vector(m->x, m->tris + 3 * (ptrdiff_t)t, normal);
  return area;
}

/* The same outline as OBJ and PLY, with texture coordinates that are twice the places. */
static void check_files(const shape *s)
{
  static char text[20000];
  for (int ply = 0; ply < 2; ++ply) {
    int used = 0;
    mesh m;
    loom_err e = {0};
#define PUT(...) (used += snprintf(text + used, sizeof text - (size_t)used, __VA_ARGS__))
    if (ply)
      PUT("ply\nformat ascii 1.0\nelement vertex %d\nproperty double x\nproperty double "
          "y\nproperty double z\nelement face 1\nproperty list int int vertex_indices\nproperty "
          "list int double texcoord\nend_header\n",
          s->n);
    if (!ply) { /* the face stands before its vertices */
      PUT("f");
      for (int k = 1; k <= s->n; ++k) PUT(" %d/%d", k, k);
      PUT("\n");
    }
    for (int k = 0; k < s->n; ++k)
      PUT("%s%.17g %.17g 0\n", ply ? "" : "v ", s->p[k][0], s->p[k][1]);
    for (int k = 0; k < s->n && !ply; ++k) PUT("vt %.17g %.17g\n", 2 * s->p[k][0], 2 * s->p[k][1]);
    if (ply) {
      PUT("%d", s->n);
      for (int k = 0; k < s->n; ++k) PUT(" %d", k);
      PUT(" %d", 2 * s->n);
      for (int k = 0; k < s->n; ++k) PUT(" %.17g %.17g", 2 * s->p[k][0], 2 * s->p[k][1]);
      PUT("\n");
    }
    const loom_status st = ply ? ply_parse(&e, "in", text, (size_t)used, &m)
                               : obj_parse(&e, "in", text, (size_t)used, &m);
    cr_assert_eq(st, LOOM_OK, "%s", e.text);
    cr_assert_eq(m.num_split, 1);
    cr_assert_eq(m.num_concave, 1);
    cr_assert(fabs(mesh_area(&m) - shoelace_area(s)) < 1e-12 * shoelace_area(s) * s->n);
    for (int64_t k = 0; k < 3 * (int64_t)m.num_tris; ++k)
      for (int d = 0; d < 2; ++d)
        cr_assert_eq(m.uv[2 * k + d], 2 * m.x[3 * m.tris[k] + d], "uv follow their corners");
    mesh_free(&m);
  }
}

Test(polygon, files_keep_area_and_texture)
{
  const shape l = l_shape(), star = star_shape(6), comb = comb_shape(8), spiral = spiral_shape(2);
  shape turned = l; /* begun at the outer corner the fan of an L is right */
  for (int k = 0; k < l.n; ++k) memcpy(turned.p[k], l.p[(k + 1) % l.n], sizeof l.p[k]);
  check_files(&turned);
  check_files(&star);
  check_files(&comb);
  check_files(&spiral);
}

/* A frame in which the same face is convex is of the same mesh, and so is one with its triangles.
 */
Test(polygon, one_face_cut_otherwise_is_one_mesh)
{
  static const char arrow[] = "v 1 0 0\nv 0 .5 0\nv -1 0 0\nv 0 1.5 0\nf 1 2 3 4\n";
  static const char kite[] = "v 1 0 0\nv 0 -.5 0\nv -1 0 0\nv 0 1.5 0\nf 1 2 3 4\n";
  static const char other[] = "v 1 0 0\nv 0 -.5 0\nv -1 0 0\nv 0 1.5 0\nf 2 1 3 4\n";
  char cut[200];
  mesh a, k, o, c;
  loom_err e = {0};
  cr_assert_eq(obj_parse(&e, "arrow", arrow, strlen(arrow), &a), LOOM_OK);
  cr_assert_eq(obj_parse(&e, "kite", kite, strlen(kite), &k), LOOM_OK);
  cr_assert_eq(obj_parse(&e, "other", other, strlen(other), &o), LOOM_OK);
  cr_assert(memcmp(a.tris, k.tris, 6 * sizeof *a.tris) != 0);
  snprintf(cut, sizeof cut, "v 0 0 0\nv 1 0 0\nv 1 1 1\nv 0 1 0\nf %d %d %d\nf %d %d %d\n",
           a.tris[0] + 1, a.tris[1] + 1, a.tris[2] + 1, a.tris[3] + 1, a.tris[4] + 1,
           a.tris[5] + 1);
  cr_assert_eq(obj_parse(&e, "cut", cut, strlen(cut), &c), LOOM_OK);
  for (int t = 0; t < 2; ++t) {
    cr_assert(polygon_same(&a, &k, t) && polygon_same(&k, &a, t));
    cr_assert(polygon_same(&a, &c, t) && polygon_same(&c, &a, t));
  }
  cr_assert(!polygon_same(&a, &o, 0));
  mesh_free(&a);
  mesh_free(&k);
  mesh_free(&o);
  mesh_free(&c);
}

Test(polygon, the_doctor_names_the_line_of_a_face_that_crosses_itself)
{
  static const char text[] = "v 0 0 0\nv 1 1 0\nv 1 0 0\nv 0 1 0\n\nf 1 2 3 4\nf 1 2 3 4\n";
  mesh m;
  loom_err e = {0};
  doctor d = {0};
  cr_assert_eq(obj_parse(&e, "tie.obj", text, strlen(text), &m), LOOM_OK);
  cr_assert_eq(doctor_mesh(&e, &d, "tie.obj", &m, DOCTOR_SHELL), LOOM_OK);
  cr_assert_eq(doctor_verdict(&e, &d), LOOM_E_CONFIG);
  cr_assert(strstr(e.text, "tie.obj:6: the face of 4 corners") != NULL, "%s", e.text);
  cr_assert(strstr(e.text, "behind its corners 0 and 2 meet") != NULL, "%s", e.text);
  cr_assert(strstr(e.text, "and 1 more") != NULL, "%s", e.text);
  mesh_free(&m);
}

Test(obj, unknown_statements_are_counted)
{
  static const char text[] =
      "v 0 0 0\nnl 0\nv 1 0 0\nv 0 1 0\nvv 1 0 \\\n 2\nf 1 2 3\ne 1 2\nel 1\n";
  mesh m;
  loom_err e = {0};
  cr_assert_eq(obj_parse(&e, "in.obj", text, strlen(text), &m), LOOM_OK, "%s", e.text);
  cr_assert_eq(m.num_unknown, 4);
  cr_assert_eq(m.unknown_line, 2);
  cr_assert_str_eq(m.unknown_word, "nl");
  mesh_free(&m);
}

/* A PLY that a cloth of shape = obj names. */
Test(obj, text_of_another_format_names_the_shape_that_takes_it)
{
  static const char text[] = "ply\nformat ascii 1.0\nelement vertex 0\nend_header\n";
  mesh m;
  loom_err e = {0};
  cr_assert_eq(obj_parse(&e, "in.obj", text, strlen(text), &m), LOOM_E_IO);
  cr_assert(strstr(e.text, "\"ply\" is no statement") != NULL, "%s", e.text);
  cr_assert(strstr(e.text, "shape = mesh") != NULL, "%s", e.text);
  mesh_free(&m);
}

#define STRIP_HEAD                                                                              \
  "ply\nformat ascii 1.0\nelement vertex 6\nproperty float x\nproperty float y\nproperty "      \
  "float z\nelement tristrips 1\nproperty list int int vertex_indices\nend_header\n0 0 0\n1 0 " \
  "0\n0 1 0\n1 1 0\n0 2 0\n1 2 0\n"

/* Two strips behind a -1, the second with a repeated corner: all triangles face one way. */
Test(ply, strips_of_triangles)
{
  static const char text[] = STRIP_HEAD "10 0 1 2 3 -1 2 3 3 4 5\n";
  static const char bad[] = STRIP_HEAD "4 0 1 2 6\n", below[] = STRIP_HEAD "4 0 1 2 -2\n";
  static const int32_t want[] = {0, 1, 2, 2, 1, 3, 3, 4, 5};
  mesh m;
  loom_err e = {0};
  cr_assert_eq(ply_parse(&e, "in.ply", text, strlen(text), &m), LOOM_OK, "%s", e.text);
  cr_assert_eq(m.num_tris, 3);
  cr_assert_arr_eq(m.tris, want, sizeof want);
  mesh_free(&m);
  cr_assert_eq(ply_parse(&e, "in.ply", bad, strlen(bad), &m), LOOM_E_IO);
  cr_assert(strstr(e.text, "vertex that the file does not have: 6") != NULL, "%s", e.text);
  cr_assert_eq(ply_parse(&e, "in.ply", below, strlen(below), &m), LOOM_E_IO);
}

/* The number that is too many stands rows before the one at which reading fails. */
Test(ply, rows_longer_than_the_header_says_are_named)
{
  static const char head[] = "ply\nformat ascii 1.0\nelement vertex 3\nproperty float x\nproperty "
                             "float y\nproperty float z\nelement face 1\nproperty list uchar int "
                             "vertex_indices\nend_header\n";
  static const char *const rows[] = {"0 0 0 \n1 0 0 9\n0 1 0\n3 0 1 2\n",
                                     "0 0 0 \n1 0 0\r\n0 1 0\n2 0 1 2\n"};
  for (int k = 0; k < 2; ++k) {
    char text[512];
    mesh m;
    loom_err e = {0};
    snprintf(text, sizeof text, "%s%s", head, rows[k]);
    cr_assert_eq(ply_parse(&e, "in.ply", text, strlen(text), &m), LOOM_E_IO, "%s", e.text);
    cr_assert_eq(strstr(e.text, "in.ply:11: the row has more numbers") != NULL, k == 0, "%s",
                 e.text);
  }
}

/* Rows of triangles that stay keep their order and their data. */
Test(clean, doubled_and_flat_triangles_go_with_their_data)
{
  static const char text[] =
      "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 2 0 0\nv 1 1 0\nvt 0 0\nvt 1 0\nvt 0 1\nvt 2 2\n"
      "g one\nf 1/1 2/2 3/3\nf 1/1 2/2 4/4\ng two\nf 3/4 1/4 2/4\nf 2/2 2/2 3/3\nf 2/2 5/4 3/3\n";
  mesh m;
  loom_err e = {0};
  clean_counts n;
  cr_assert_eq(obj_parse(&e, "in.obj", text, strlen(text), &m), LOOM_OK, "%s", e.text);
  cr_assert_eq(clean_mesh(&e, &m, CLEAN_DOUBLED, &n), LOOM_OK);
  cr_assert(n.flat == 0 && n.doubled == 1 && m.num_tris == 4);
  cr_assert_eq(clean_mesh(&e, &m, CLEAN_FLAT | CLEAN_DOUBLED, &n), LOOM_OK);
  cr_assert(n.flat == 2 && n.doubled == 0 && m.num_tris == 2 && m.num_verts == 5);
  cr_assert_arr_eq(m.tris, ((int32_t[]){0, 1, 2, 1, 4, 2}), 6 * sizeof *m.tris);
  cr_assert(m.uv[6] == 1 && m.uv[8] == 2 && m.uv[10] == 0 && m.uv[11] == 1);
  cr_assert(m.piece[0] == 0 && m.piece[1] == 1 && m.tri_line[1] == 16);
  mesh_free(&m);
}
