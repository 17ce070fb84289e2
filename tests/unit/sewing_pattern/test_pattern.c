/* framework/pattern: curves and their lengths, pieces that are filled, seams that meet, and files
 * that are refused. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "loom/material.h"
#include "scene/moving/sewing.h"
#include "sewing_pattern/garmentcode.h"
#include "sewing_pattern/mesher.h"
#include "sewing_pattern/pattern.h"
#include "support/bufs.h"
#include "support/proc.h"
#include "support/tiny_scene.h"

TestSuite(pattern, .init = proc_enter, .fini = proc_leave);

static const double pi = 3.14159265358979323846;

static pattern *parse_pattern_text(const char *text)
{
  loom_err err = {0};
  pattern *p = NULL;
  proc_write("p.ini", text);
  cr_assert_eq(pattern_read(&err, "p.ini", &p), LOOM_OK, "%s", err.text);
  return p;
}

static mesh triangulate_pattern(pattern *p, double edge)
{
  loom_err err = {0};
  const loom_mesher *mesher = NULL;
  mesh m;
  cr_assert_eq(mesher_open(&err, &mesher), LOOM_OK, "%s", err.text);
  cr_assert_eq(pattern_mesh(&err, p, mesher, edge, &m), LOOM_OK, "%s", err.text);
  return m;
}

static mesh_stitch *create_seam_stitches(const pattern *p, int64_t *num)
{
  loom_err err = {0};
  mesh_stitch *s;
  cr_assert_eq(seams_stitches(&err, p, &s, num), LOOM_OK, "%s", err.text);
  return s;
}

/* ---- curves ---- */

static curve read_curve(const char *text)
{
  loom_err err = {0};
  curve c;
  cr_assert_eq(curve_read(&err, text, (const double[2]){0, 0}, &c), LOOM_OK, "%s", err.text);
  return c;
}

Test(pattern, curves_have_their_lengths)
{
  /* a parabola y = x^2 over [0, 1]; half a circle of radius 1; three quarters of one, clockwise */
  const double parabola = sqrt(5) / 2 + asinh(2) / 4;
  static const char *const texts[] = {"line 3 4", "curve 0.5 0 1 1", "arc 1 1 2 0",
                                      "arc 1.7071067811865475 0.7071067811865475 1 -1",
                                      "curve 1 1 2 2 3 3"};
  const double lengths[] = {5, parabola, pi, 1.5 * pi, sqrt(18)};
  for (int k = 0; k < 5; ++k) {
    const curve c = read_curve(texts[k]);
    cr_assert_float_eq(curve_length(&c), lengths[k], 1e-6 * lengths[k], "%s: %.9g m", texts[k],
                       curve_length(&c));
  }
}

Test(pattern, points_lie_equally_far_along)
{
  static const char *const texts[] = {"line 3 4", "curve 0.3 0 1 2", "arc 1 1 2 0",
                                      "curve 3 0 -1 2 2 2"};
  for (int k = 0; k < 4; ++k) {
    enum { N = 500 };
    double x[2 * (N + 1)];
    const curve c = read_curve(texts[k]);
    const double step = curve_length(&c) / N;
    curve_points(&c, N, x);
    cr_assert(x[0] == 0 && x[1] == 0 && x[2 * N] == c.p[c.num - 1][0] &&
              x[2 * N + 1] == c.p[c.num - 1][1]);
    for (int i = 0; i < N; ++i) {
      const double d = hypot(x[2 * i + 2] - x[2 * i], x[2 * i + 3] - x[2 * i + 1]);
      cr_assert_float_eq(d, step, 2e-3 * step, "%s, %d: %g instead of %g m", texts[k], i, d, step);
    }
  }
}

/* ---- pieces ---- */

/* A window: a square with half a circle on top. */
#define WINDOW                                                              \
  "[piece.window]\nstart = -0.5 0\nsill = line 0.5 0\nright = line 0.5 1\n" \
  "top = arc 0 1.5 -0.5 1\nleft = line -0.5 0\n"

static double signed_tri_area(const double *a, const double *b, const double *c)
{
  return 0.5 * ((b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]));
}

Test(pattern, a_piece_is_filled_with_good_triangles)
{
  const double edge = 0.04;
  pattern *const p = parse_pattern_text(WINDOW);
  mesh m = triangulate_pattern(p, edge);
  double area = 0, worst = 1;
  for (int32_t t = 0; t < m.num_tris; ++t) {
    const double *const q = m.uv + 6 * (ptrdiff_t)t;
    double sum = 0;
    for (int k = 0; k < 3; ++k) {
      const double *const a = q + 2 * k, *const b = q + 2 * ((k + 1) % 3);
      const double *const x = m.x + 3 * (ptrdiff_t)m.tris[3 * t + k];
      const double d = hypot(b[0] - a[0], b[1] - a[1]);
      sum += d * d;
      cr_assert(d < 2 * edge, "an edge of %g m", d);
      cr_assert(x[0] == a[0] && x[1] == a[1] && x[2] == 0);
    }
    area += signed_tri_area(q, q + 2, q + 4);
    worst = fmin(worst, 4 * sqrt(3) * signed_tri_area(q, q + 2, q + 4) / sum); /* 1: equilateral */
  }
  printf("a window of %d vertices: worst triangle %.2f, expected vertices %.0f\n", m.num_verts,
         worst, pattern_num_verts(p, edge));
  const double n = p->pieces[0].edges[2].cells, turn = pi / n; /* the polygon of the arc */
  cr_assert_float_eq(area, 1 + n / 2 * 0.25 * sin(turn), 1e-9);
  cr_assert(worst > 0.5);
  cr_assert_float_eq(m.num_verts, pattern_num_verts(p, edge), 0.1 * m.num_verts);
  cr_assert_eq(m.num_pieces, 1);
  cr_assert_str_eq(m.piece_names[0], "window");
  mesh_free(&m);
  pattern_free(p);
}

Test(pattern, the_same_input_gives_the_same_bits)
{
  pattern *const p = parse_pattern_text(WINDOW), *const q = parse_pattern_text(WINDOW);
  mesh a = triangulate_pattern(p, 0.05), b = triangulate_pattern(q, 0.05);
  cr_assert_eq(a.num_verts, b.num_verts);
  cr_assert_eq(memcmp(a.x, b.x, 3 * sizeof *a.x * (size_t)a.num_verts), 0);
  cr_assert_eq(memcmp(a.tris, b.tris, 3 * sizeof *a.tris * (size_t)a.num_tris), 0);
  mesh_free(&a), mesh_free(&b);
  pattern_free(p), pattern_free(q);
}

/* ---- seams ---- */

/* The largest distance between vertices that a seam joins, m. */
static double widest_seam_gap(const mesh *m, const mesh_stitch *s, int64_t num)
{
  double most = 0;
  for (int64_t k = 0; k < num; ++k) {
    const double *const a = m->x + 3 * (ptrdiff_t)s[k].i, *const b = m->x + 3 * (ptrdiff_t)s[k].a;
    most = fmax(most, sqrt(pow(a[0] - b[0], 2) + pow(a[1] - b[1], 2) + pow(a[2] - b[2], 2)));
  }
  return most;
}

/* Two squares side by side, the second drawn either way around, with a curve between them. */
Test(pattern, seams_join_what_lies_together)
{
  static const char *const second[] = {
      "[piece.b]\nstart = 1 0\nlow = line 2 0\nfar = line 2 1\nhigh = line 1 1\n"
      "near = curve 1.3 0.4 1 0\n",
      "[piece.b]\nstart = 1 0\nnear = curve 1.3 0.4 1 1\nhigh = line 2 1\nfar = line 2 0\n"
      "low = line 1 0\n"};
  for (int k = 0; k < 2; ++k) {
    char text[1024];
    int64_t num;
    snprintf(text, sizeof text, "%s%s%s",
             "[piece.a]\nstart = 0 0\nlow = line 1 0\nnear = curve 1.3 0.4 1 1\nhigh = line 0 1\n"
             "far = line 0 0\n",
             second[k], "[seams]\nmiddle = a.near b.near\n");
    pattern *const p = parse_pattern_text(text);
    mesh m = triangulate_pattern(p, 0.07);
    mesh_stitch *const s = create_seam_stitches(p, &num);
    cr_assert_eq(num, p->pieces[0].edges[1].cells + 1);
    cr_assert(num > 10);
    cr_assert(widest_seam_gap(&m, s, num) < 1e-4, "%g m", widest_seam_gap(&m, s, num));
    free(s);
    mesh_free(&m);
    pattern_free(p);
  }
}

/* A strip that is wrapped around and sewn to itself is a tube. */
#define TUBE                                                                \
  "[piece.strip]\nstart = -0.5 0\nlow = line 0.5 0\nright = line 0.5 0.4\n" \
  "high = line -0.5 0.4\nleft = line -0.5 0\nwrap = 0.15915494309189535\n"  \
  "transform = rotate 1 0 0 30 translate 0 0 2\n[seams]\nback = strip.left strip.right\n"

Test(pattern, a_wrapped_strip_closes)
{
  int64_t num;
  pattern *const p = parse_pattern_text(TUBE);
  mesh m = triangulate_pattern(p, 0.05);
  mesh_stitch *const s = create_seam_stitches(p, &num);
  cr_assert_eq(num, 9);
  cr_assert(widest_seam_gap(&m, s, num) < 1e-12, "%g m", widest_seam_gap(&m, s, num));
  free(s);
  mesh_free(&m);
  pattern_free(p);
}

Test(pattern, gathered_edges_get_the_same_vertices)
{
  int64_t num;
  pattern *const p = parse_pattern_text(
      "[piece.skirt]\na = line 1 0\nb = line 1 1\nc = line 0 1\nd = line 0 0\n"
      "[piece.band]\nstart = 0 1.1\na = line 0.5 1.1\nb = line 0.5 1.3\nc = line 0 1.3\n"
      "d = line 0 1.1\n[seams]\nwaist = skirt.c band.a gather\n");
  mesh m = triangulate_pattern(p, 0.1);
  mesh_stitch *const s = create_seam_stitches(p, &num);
  cr_assert_eq(num, 11);
  for (int64_t k = 0; k < num; ++k) /* each at twice the place of its partner */
    cr_assert_float_eq(m.x[3 * (ptrdiff_t)s[k].i], 2 * m.x[3 * (ptrdiff_t)s[k].a], 1e-12);
  free(s);
  mesh_free(&m);
  pattern_free(p);
}

/* ---- scenes ---- */

/* The same wound a little wider, so that it is open by 6 cm. */
static void write_open_tube(void)
{
  static char text[1024];
  snprintf(text, sizeof text, "%s", TUBE);
  memcpy(strstr(text, "0.159"), "0.170", 5);
  proc_write("tube.pattern", text);
}

#define CLOTH(more)                                                       \
  "[cloth.a]\nshape = pattern\nfile = tube.pattern\nedge_length = 0.05\n" \
  "density = 0.3\nthickness = 1e-4\n" more

Test(pattern, seams_that_start_closed_are_merged)
{
  proc_write("tube.pattern", TUBE);
  tiny_scene t = tiny_open_ok(CLOTH("")), open = tiny_open_ok(CLOTH("sewing = none\n"));
  cr_assert_eq(t.s->pub.num_verts, open.s->pub.num_verts - 9);
  cr_assert_eq(scene_stitches_of(t.s).num, 0);
  tiny_close(&t), tiny_close(&open);
}

Test(pattern, scenes_take_the_shape_and_the_seams)
{
  write_open_tube();
  tiny_scene pulled = tiny_open_ok(CLOTH("")), merged = tiny_open_ok(CLOTH("sewing = merge\n"));
  tiny_scene open = tiny_open_ok(CLOTH("sewing = none\n"));
  cr_assert_eq(pulled.s->pub.num_verts, open.s->pub.num_verts);
  cr_assert_eq(merged.s->pub.num_verts, open.s->pub.num_verts - 9);
  cr_assert_eq(scene_stitches_of(pulled.s).num, 9);
  cr_assert_eq(scene_stitches_of(open.s).num + scene_stitches_of(merged.s).num, 0);
  const tiny_scene *const all[] = {&pulled, &merged, &open};
  for (int k = 0; k < 3; ++k) { /* at rest flat: masses as of the strip */
    loom_real *const mass = tiny_copy(all[k], all[k]->s->pub.mass);
    double sum = 0;
    for (int v = 0; v < all[k]->s->pub.num_verts; ++v) sum += (double)mass[v];
    cr_assert_float_eq(sum, 0.3 * 0.4, 1e-6);
    cr_assert_not_null(all[k]->s->material);
    cr_assert_str_eq(all[k]->s->material->pieces[0].name, "strip");
    free(mass);
  }
  tiny_close(&pulled), tiny_close(&merged), tiny_close(&open);
  tiny_scene twice = tiny_open_ok("[run]\ndetail = 2\n" CLOTH("transform = scale 2\n"));
  cr_assert(twice.s->pub.num_verts > 3 * 9 * 21);
  loom_real *const x = tiny_copy(&twice, twice.s->x0);
  double high = 0;
  for (int v = 0; v < twice.s->pub.num_verts; ++v) high = fmax(high, (double)x[3 * v + 2]);
  cr_assert_float_eq(high, 2 * (2 + 0.2 + 0 * pi), 0.3);
  free(x);
  tiny_close(&twice);
}

/* ---- refusals ---- */

static void expect_pattern_refusal(const char *text, const char *const *parts)
{
  loom_err err = {0};
  pattern *p;
  proc_write("p.ini", text);
  cr_assert_eq(pattern_read(&err, "p.ini", &p), LOOM_E_CONFIG, "accepted, or: %s\n%s", err.text,
               text);
  cr_assert_null(p);
  for (; *parts != NULL; ++parts)
    cr_assert(strstr(err.text, *parts) != NULL, "%s\nlacks: %s", err.text, *parts);
}

#define SQUARE(name) "[piece." name "]\na = line 1 0\nb = line 1 1\nc = line 0 1\nd = line 0 0\n"
#define TWO          SQUARE("one") SQUARE("two") "[seams]\n"

Test(pattern, bad_input_names_file_line_and_remedy)
{
  static const char *const cases[][3] = {
      {"[pattern]\n", "p.ini: no pieces", "[piece.NAME]"},
      {"[piece.one]\na = line 1 0\n", "p.ini:1: [piece.one]", "at least two edges"},
      {"[piece.one]\na = lone 1 0\nb = line 0 0\n", "p.ini:2: [piece.one] a", "\"lone 1 0\""},
      {"[piece.one]\na = line 1\nb = line 0 0\n", "p.ini:2: [piece.one] a", "two numbers"},
      {"[piece.one]\na = curve 1 0 2\nb = line 0 0\n", "p.ini:2", "four numbers"},
      {"[piece.one]\na = arc 1 0 2 0\nb = line 0 0\n", "p.ini:2", "lie on a line; write line 2 0"},
      {"[piece.one]\na = line 0 0\nb = line 1 0\nc = line 0 0\n", "p.ini:2", "leave it out"},
      {"[piece.one]\na = line 1 0\nb = line 1 1\nc = line 0.1 0.1\n", "p.ini:4: [piece.one] c",
       "ends at 0.1 0.1 m and the piece starts at 0 0 m"},
      {"[piece.one]\nwrap = -1\n" SQUARE("two"), "p.ini:2: [piece.one] wrap", ">= 0"},
      {"[piece.one]\ntransform = scale 2\na = line 1 0\nb = line 1 1\nc = line 0 0\n",
       "p.ini:2: [piece.one] transform", "keeps its size"},
      /* a piece that overlaps, touches or runs back on itself */
      {"[piece.one]\na = line 1 0\nb = line 0 1\nc = line 1 1\nd = line 0 0\n",
       "p.ini:5: [piece.one] d", "meets the edge b near"},
      {"[piece.one]\na = line 1 0\nb = curve 1 3 -1 -3 0 1\nc = line 0 0\n",
       "p.ini:3: [piece.one] b", "meets the edge a"},
      {"[piece.one]\na = line 2 0\nb = line 1 0\nc = line 1 1\nd = line 0 0\n",
       "p.ini:3: [piece.one] b", "must not overlap or touch itself"},
      {"[piece.one]\na = curve 3 2 -2 2 1 0\nb = line 1 -1\nc = line 0 -1\nd = line 0 0\n",
       "p.ini:2: [piece.one] a", "meets itself"},
      {TWO "s = one.a twp.a\n", "p.ini:12: [seams] s", "did you mean \"two\""},
      {TWO "s = one.a two.e\n", "p.ini:12: [seams] s", "no edge of the piece \"two\""},
      {TWO "s = one.a\n", "p.ini:12", "a seam takes two edges"},
      {TWO "s = one two.a\n", "p.ini:12", "PIECE.EDGE"},
      {TWO "s = one.a one.a\n", "p.ini:12", "sewn to itself"},
      {TWO "s = one.a two.a\nt = one.b two.b\nu = two.a one.a\n", "p.ini:14: [seams] u",
       "sews the edges of \"s\" again"},
      {TWO "s = one.a two.a gathered\n", "p.ini:12", "only the words gather and same"},
      {"[pattern]\nseam_tol = 1\n" SQUARE("one"), "p.ini:2: [pattern] seam_tol",
       "allowed: seam_tolerance"},
      {"[piece.one.x]\n", "p.ini:1", "without dots"},
  };
  for (size_t k = 0; k < sizeof cases / sizeof *cases; ++k)
    expect_pattern_refusal(cases[k][0], (const char *const[]){cases[k][1], cases[k][2], NULL});
}

#define UNEQUAL                                                                       \
  SQUARE("one")                                                                       \
  "[piece.two]\na = line 1.02 0\nb = line 1 1\nc = line 0 1\nd = line 0 0\n[seams]\n" \
  "waist = one.a two.a"

Test(pattern, seams_of_unequal_lengths_are_refused)
{
  expect_pattern_refusal(UNEQUAL "\n",
                         (const char *const[]){"p.ini:12: [seams] waist", "one.a is 1 m long",
                                               "two.a 1.02 m, 2 % apart", "write gather", NULL});
  pattern_free(parse_pattern_text(UNEQUAL " gather\n"));
  pattern_free(parse_pattern_text("[pattern]\nseam_tolerance = 0.03\n" UNEQUAL "\n"));
}

Test(pattern, scenes_say_what_is_wrong)
{
  proc_write("tube.pattern",
             "[piece.one]\na = line 1 0\nb = line 0 1\nc = line 1 1\nd = line 0 0\n");
  tiny_refused(CLOTH(""),
               (const char *const[]){"tiny.ini:3: [cloth.a] file", "tube.pattern:5", NULL});
  tiny_refused("[cloth.a]\nshape = pattern\n", (const char *const[]){"needs the key file", NULL});
  tiny_refused("[cloth.a]\nedge_length = 0.1\n",
               (const char *const[]){"edge_length", "shape = pattern", NULL});
  proc_write("tube.pattern", TUBE);
  tiny_refused("[cloth.a]\nshape = pattern\nfile = tube.pattern\nedge_length = 1e-6\n",
               (const char *const[]){"tiny.ini:4: [cloth.a] edge_length", NULL});
  setenv("LOOM_MESHER", "/none/gmsh.so", 1);
  tiny_refused(CLOTH(""), (const char *const[]){"LOOM_MESHER=/none/gmsh.so", NULL});
  proc_write("no.so", "text");
  setenv("LOOM_MESHER", "no.so", 1);
  tiny_refused(CLOTH(""),
               (const char *const[]){"tiny.ini:2: [cloth.a] shape", "no.so: not an ELF", NULL});
  unsetenv("LOOM_MESHER");
}

/* ---- GarmentCode ---- */

/* In cm: a front that is drawn counter-clockwise 10 cm before a back that is drawn clockwise, both
 * with a quadratic neck; sides are sewn.  A disk of two arcs, turned and sewn to itself. */
static const char garmentcode[] =
    "{\"pattern\": {\"panels\": {"
    "\"Front\": {\"translation\": [0, 100, 10], \"rotation\": [0, 0, 0],"
    " \"vertices\": [[-20, 0], [20, 0], [20, 50], [-20, 50]],"
    " \"edges\": [{\"endpoints\": [0, 1]}, {\"endpoints\": [1, 2]}, {\"endpoints\": [2, 3],"
    " \"curvature\": [0.5, 0.25]}, {\"endpoints\": [3, 0]}]},"
    "\"front\": {\"translation\": [0, 100, 0], \"rotation\": [0, 0, 0],"
    " \"vertices\": [[-20, 0], [-20, 50], [20, 50], [20, 0]],"
    " \"edges\": [{\"endpoints\": [0, 1]}, {\"endpoints\": [1, 2], \"curvature\":"
    " {\"type\": \"cubic\", \"params\": [[0.25, -0.1], [0.75, -0.1]]}}, {\"endpoints\": [2, 3]},"
    " {\"endpoints\": [3, 0]}]},"
    "\"disk\": {\"translation\": [0, 0, 50], \"rotation\": [90, 0, 90],"
    " \"vertices\": [[-10, 0], [10, 0]],"
    " \"edges\": [{\"endpoints\": [0, 1], \"curvature\": {\"type\": \"circle\", \"params\": [10, 0,"
    " 1]}}, {\"endpoints\": [1, 0], \"curvature\": {\"type\": \"circle\", \"params\": [10, 0, "
    "1]}}]}},"
    "\"stitches\": [[{\"panel\": \"Front\", \"edge\": 1}, {\"panel\": \"front\", \"edge\": 2}],"
    " [{\"panel\": \"Front\", \"edge\": 3}, {\"panel\": \"front\", \"edge\": 0}],"
    " [{\"panel\": \"disk\", \"edge\": 0}, {\"panel\": \"disk\", \"edge\": 1}, \"right_wrong\"]]},"
    "\"properties\": {\"curvature_coords\": \"relative\", \"units_in_meter\": 100}}";

static pattern *convert_garment_json(const char *json)
{
  loom_err err = {0};
  char *text;
  proc_write("spec.json", json);
  cr_assert_eq(garmentcode_read(&err, "spec.json", &text), LOOM_OK, "%s", err.text);
  pattern *const p = parse_pattern_text(text);
  free(text);
  return p;
}

Test(pattern, garmentcode_becomes_a_pattern)
{
  int64_t num;
  pattern *const p = convert_garment_json(garmentcode);
  mesh m = triangulate_pattern(p, 0.05);
  mesh_stitch *const s = create_seam_stitches(p, &num);
  cr_assert_eq(p->num_pieces, 3);
  cr_assert_str_eq(p->pieces[0].name, "front");
  cr_assert_str_eq(p->pieces[1].name, "front_2"); /* names differ in lower case, too */
  for (int64_t k = 0; k < 22; ++k) {              /* sides: at equal height, 10 cm apart */
    const double *const a = m.x + 3 * (ptrdiff_t)s[k].i, *const b = m.x + 3 * (ptrdiff_t)s[k].a;
    cr_assert(fabs(a[0] - b[0]) < 1e-9 && fabs(a[1] - b[1]) < 1e-9);
    cr_assert_float_eq(a[2] - b[2], 0.1, 1e-9);
  }
  for (int64_t t = 0; t < m.num_tris; ++t) { /* outer sides: the front's forwards, the back's not */
    const double *const a = m.x + 3 * (ptrdiff_t)m.tris[3 * t];
    const double *const b = m.x + 3 * (ptrdiff_t)m.tris[3 * t + 1];
    const double *const c = m.x + 3 * (ptrdiff_t)m.tris[3 * t + 2];
    const double nz = signed_tri_area(a, b, c);
    if (m.piece[t] == 0) cr_assert(nz > 0);
    if (m.piece[t] == 1) cr_assert(nz < 0);
    /* turned about x and then about z: the disk stands in the plane x = 0 around z = 0.5 */
    if (m.piece[t] == 2) cr_assert(fabs(a[0]) < 1e-9 && hypot(a[1], a[2] - 0.5) < 0.1 + 1e-9);
  }
  cr_assert_float_eq(outline_area(&p->pieces[2]), pi * 0.01, 1e-4);
  /* control points of both necks: 10 cm and 4 cm below 50 cm */
  cr_assert_float_eq(p->pieces[0].edges[2].c.p[1][1], 0.4, 1e-9);
  cr_assert_float_eq(p->pieces[1].edges[1].c.p[1][1], 0.46, 1e-9);
  cr_assert_eq(p->seams[2].same, 1);
  free(s);
  mesh_free(&m);
  pattern_free(p);
  LOOM_FINE("pattern", "spec.json", "-o", "spec.ini");
}

Test(pattern, bad_garmentcode_is_refused)
{
  static const char *const cases[][2] = {
      {"{\"pattern\": ", "spec.json:1: "},
      {"{}", "no panels"},
      {"{\"pattern\": {\"panels\": {\"a\": {}}}}", "panel \"a\" has 0 edges"},
      {"{\"pattern\": {\"panels\": {\"a\": {\"vertices\": [[0, 0]], \"edges\": [{\"endpoints\": "
       "[0, "
       "1]}, {\"endpoints\": [0, 1]}]}}}}",
       "edge 0 does not end where the next one begins"},
      {"{\"pattern\": {\"panels\": {\"a\": {\"vertices\": [[0, 0]], \"edges\": [{\"endpoints\": "
       "[0, "
       "1]}, {\"endpoints\": [1, 0]}]}}}}",
       "names vertex 1, which has no two numbers"},
  };
  for (size_t k = 0; k < sizeof cases / sizeof *cases; ++k) {
    loom_err err = {0};
    char *text;
    proc_write("spec.json", cases[k][0]);
    cr_assert_eq(garmentcode_read(&err, "spec.json", &text), LOOM_E_CONFIG);
    cr_assert(strstr(err.text, cases[k][1]) != NULL, "%s\nlacks: %s", err.text, cases[k][1]);
    cr_assert_null(text);
  }
  proc_expect_error(1, LOOM_TEXTS("none.json"), LOOM_ARGS("pattern", "none.json", "-o", "o.ini"));
  proc_expect_error(2, LOOM_TEXTS("-o OUT.ini"), LOOM_ARGS("pattern", "spec.json"));
}

/* Every shipped pattern is one. */
Test(pattern, shipped_patterns_are_filled)
{
  static const char *const names[] = {"tshirt", "trousers", "skirt"};
  for (int k = 0; k < 3; ++k) {
    loom_err err = {0};
    pattern *p;
    char path[1024];
    int64_t num;
    snprintf(path, sizeof path, "%s/configs/patterns/%s.ini", getenv("LOOM_SOURCE_DIR"), names[k]);
    cr_assert_eq(pattern_read(&err, path, &p), LOOM_OK, "%s", err.text);
    mesh m = triangulate_pattern(p, 0.03);
    mesh_stitch *const s = create_seam_stitches(p, &num);
    cr_assert(num > 40);
    cr_assert(widest_seam_gap(&m, s, num) < 0.5, "%s: a seam %g m wide at the start", names[k],
              widest_seam_gap(&m, s, num));
    free(s);
    mesh_free(&m);
    pattern_free(p);
  }
}
