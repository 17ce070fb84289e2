/* framework/untangle: cloth pushed through itself parts, gaps open, intersections that cannot be
 * parted are named; exact arithmetic agrees. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config/words.h"
#include "mesh/obj.h"
#include "sewing_pattern/mesher.h"
#include "sewing_pattern/pattern.h"
#include "support/proc.h"
#include "untangle/untangle.h"

TestSuite(untangle, .init = proc_enter, .fini = proc_leave);

enum { PASSES = 500 };

/* ---- meshes ---- */

typedef struct soup {
  double *x; /* [n][3] */
  int32_t *tris;
  int64_t n, nt;
} soup;

/* Two sheets of nx x nx vertices, 1 cm from each other in the plane, `gap` (m) one over the other,
 * the upper one shifted a little. */
static soup create_stacked_sheets(int nx, double gap)
{
  loom_err err = {0};
  mesh m;
  const double side = 0.01 * (nx - 1);
  cr_assert_eq(mesh_grid(&err, side, side, nx, nx, MESH_ALTERNATE, &m), LOOM_OK);
  soup s = {.n = 2 * m.num_verts, .nt = 2 * m.num_tris};
  s.x = malloc(3 * (size_t)s.n * sizeof *s.x);
  s.tris = malloc(3 * (size_t)s.nt * sizeof *s.tris);
  for (int64_t v = 0; v < s.n; ++v) {
    const int up = v >= m.num_verts;
    const double *const x = m.x + 3 * (v - up * m.num_verts);
    s.x[3 * v] = x[0] + up * 0.0031;
    s.x[3 * v + 1] = x[1] + up * 0.0017;
    s.x[3 * v + 2] = up * gap;
  }
  for (int64_t k = 0; k < 3 * s.nt; ++k)
    s.tris[k] = m.tris[k % (s.nt / 2 * 3)] + (k >= s.nt / 2 * 3 ? m.num_verts : 0);
  mesh_free(&m);
  return s;
}

static void free_soup(soup *s)
{
  free(s->x);
  free(s->tris);
}

static int64_t count_intersections(const soup *s)
{
  loom_err err = {0};
  int64_t total;
  isect_pair none;
  cr_assert_eq(isect_mesh(&err, s->x, s->n, s->tris, s->nt, 2, &none, 0, &total), LOOM_OK);
  return total;
}

static double draw_unit_number(uint64_t *state)
{
  *state ^= *state << 13;
  *state ^= *state >> 7;
  *state ^= *state << 17;
  return (double)(*state >> 11) * 0x1p-53;
}

/* `num` vertices of the lower sheet and the ones over them are pushed through each other by up to 2
 * mm.
 */
static void push_vertices_through(soup *s, int num, double gap, uint64_t seed)
{
  unsigned char *const used = calloc((size_t)s->n, 1);
  for (int k = 0; k < num;) {
    const int64_t v = (int64_t)(draw_unit_number(&seed) * (double)(s->n / 2));
    const double by = (gap + 2e-3 * draw_unit_number(&seed)) / 2;
    if (used[v]++) continue;
    s->x[3 * v + 2] += by;
    s->x[3 * (v + s->n / 2) + 2] -= by;
    ++k;
  }
  free(used);
}

static untangle_report untangle_soup(soup *s, double thickness, int passes,
                                     const unsigned char *held)
{
  loom_err err = {0};
  untangle_report r;
  double *const radius = malloc((size_t)s->n * sizeof *radius);
  for (int64_t v = 0; v < s->n; ++v) radius[v] = thickness / 2;
  const untangle_scene u = {.x = s->x,
                            .n = s->n,
                            .tris = s->tris,
                            .nt = s->nt,
                            .held = held,
                            .radius = radius,
                            .max_passes = passes,
                            .threads = 2};
  cr_assert_eq(untangle_meshes(&err, &u, &r), LOOM_OK, "%s", err.text);
  free(radius);
  return r;
}

/* ---- contours ---- */

Test(untangle, a_vertex_that_sticks_through_goes_back)
{
  soup s = create_stacked_sheets(9, 2e-3);
  s.x[3 * 40 + 2] = 4e-3;
  const int64_t before = count_intersections(&s);
  cr_assert(before > 0);
  const untangle_report none = untangle_soup(&s, 5e-4, 0, NULL); /* the control: no pass is done */
  cr_assert(none.after == before && none.moved == 0);
  const untangle_report r = untangle_soup(&s, 5e-4, PASSES, NULL);
  printf("one vertex: %lld intersections, %lld after %d + %d passes\n", (long long)r.before,
         (long long)r.after, r.passes, r.gap_passes);
  cr_assert_eq(r.before, before);
  cr_assert_eq(r.after + r.near, 0);
  cr_assert_eq(count_intersections(&s), 0);
  cr_assert(s.x[3 * 40 + 2] < s.x[3 * (81 + 40) + 2], "it went on instead of back");
  cr_assert(r.farthest < 3e-3, "%g m", r.farthest);
  free_soup(&s);
}

Test(untangle, what_is_held_stays)
{
  soup s = create_stacked_sheets(9, 2e-3);
  unsigned char held[162] = {0};
  memset(held, 1, 81); /* the sheet with the spike: the other one gives way */
  s.x[3 * 40 + 2] = 4e-3;
  double before[3 * 81];
  memcpy(before, s.x, sizeof before);
  const untangle_report r = untangle_soup(&s, 5e-4, PASSES, held);
  cr_assert_eq(r.after, 0);
  cr_assert_eq(memcmp(before, s.x, sizeof before), 0);
  free_soup(&s);
}

Test(untangle, gaps_open_to_the_thickness)
{
  soup s = create_stacked_sheets(21, 1e-5);
  cr_assert_eq(count_intersections(&s), 0);
  const untangle_report r = untangle_soup(&s, 1e-3, PASSES, NULL);
  double low = INFINITY, high = -INFINITY;
  for (int64_t v = 0; v < s.n; ++v) {
    double *const side = v < s.n / 2 ? &high : &low;
    *side = v < s.n / 2 ? fmax(*side, s.x[3 * v + 2]) : fmin(*side, s.x[3 * v + 2]);
  }
  printf("a gap of 0.01 mm is %.3g mm after %d passes\n", 1e3 * (low - high), r.gap_passes);
  cr_assert_eq(r.near, 0);
  cr_assert(low - high > 1e-3 && low - high < 1.2e-3, "%g m", low - high);
  free_soup(&s);
}

Test(untangle, the_same_bits_for_any_number_of_threads_and_again)
{
  soup a = create_stacked_sheets(31, 3e-3), b = create_stacked_sheets(31, 3e-3);
  push_vertices_through(&a, 100, 3e-3, 7), push_vertices_through(&b, 100, 3e-3, 7);
  untangle_soup(&a, 5e-4, PASSES, NULL), untangle_soup(&b, 5e-4, PASSES, NULL);
  cr_assert_eq(memcmp(a.x, b.x, 3 * (size_t)a.n * sizeof *a.x), 0);
  cr_assert_eq(count_intersections(&a), 0);
  free_soup(&a), free_soup(&b);
}

/* ---- layers at one place ---- */

/* Three sheets of 9 x 9 vertices, each moved by `shift` (m) against the one before in the plane, on
 * one arc of 5 cm radius about the axis y; radius INFINITY: flat. */
static soup three_layers(double shift, double radius)
{
  loom_err err = {0};
  mesh m;
  cr_assert_eq(mesh_grid(&err, 0.08, 0.08, 9, 9, MESH_ALTERNATE, &m), LOOM_OK);
  soup s = {.n = 3 * m.num_verts, .nt = 3 * m.num_tris};
  s.x = malloc(3 * (size_t)s.n * sizeof *s.x);
  s.tris = malloc(3 * (size_t)s.nt * sizeof *s.tris);
  for (int64_t v = 0; v < s.n; ++v) {
    const int64_t layer = v / m.num_verts;
    const double *const x = m.x + 3 * (v % m.num_verts);
    const double a = x[0] + (double)layer * shift;
    s.x[3 * v] = isinf(radius) ? a : radius * sin(a / radius);
    s.x[3 * v + 1] = x[1] + (double)layer * shift;
    s.x[3 * v + 2] = isinf(radius) ? 0 : radius * cos(a / radius);
  }
  for (int64_t k = 0; k < 3 * s.nt; ++k)
    s.tris[k] = m.tris[k % (3 * m.num_tris)] + (int32_t)(k / (3 * m.num_tris)) * m.num_verts;
  mesh_free(&m);
  return s;
}

/* Height of a vertex over the common surface. */
static double height_over_surface(const soup *s, int64_t v, double radius)
{
  const double *const x = s->x + 3 * v;
  return isinf(radius) ? x[2] : sqrt(x[0] * x[0] + x[2] * x[2]) - radius;
}

/* The first sheet lies on the side of its normals, each at its thickness from the next; the one in
 * the middle stays. */
Test(untangle, layers_at_one_place_are_parted_in_their_order)
{
  static const struct {
    double shift, radius;
  } all[] = {{0, INFINITY}, {0, 0.05}, {0.0031, INFINITY}};
  for (int k = 0; k < 3; ++k) {
    soup s = three_layers(all[k].shift, all[k].radius);
    cr_assert(count_intersections(&s) > 100);
    const untangle_report r = untangle_soup(&s, 1e-3, PASSES, NULL);
    printf("three layers: %lld intersections, %d + %d passes, at most %.3g mm\n",
           (long long)r.before, r.passes, r.gap_passes, 1e3 * r.farthest);
    cr_expect_eq(r.after + r.near, 0, "%d: %lld, %lld", k, (long long)r.after, (long long)r.near);
    cr_expect_eq(count_intersections(&s), 0);
    const double top = height_over_surface(&s, 40, all[k].radius),
                 middle = height_over_surface(&s, 121, all[k].radius),
                 low = height_over_surface(&s, 202, all[k].radius);
    cr_expect(top > 1e-3 && top < 1.3e-3 && fabs(middle) < 2e-4 && low < -1e-3 && low > -1.3e-3,
              "%d: %g %g %g m", k, top, middle, low);
    free_soup(&s);
  }
}

/* Held layers stay, and the others go all the way. */
Test(untangle, layers_at_one_place_with_one_that_is_held)
{
  unsigned char held[243] = {0};
  soup s = three_layers(0, INFINITY);
  memset(held, 1, 81);
  const untangle_report r = untangle_soup(&s, 1e-3, PASSES, held);
  cr_expect_eq(r.after + r.near, 0);
  cr_expect_eq(height_over_surface(&s, 40, INFINITY), 0.0);
  cr_expect(fabs(height_over_surface(&s, 121, INFINITY) + 1.05e-3) < 1e-4);
  cr_expect(fabs(height_over_surface(&s, 202, INFINITY) + 2.1e-3) < 2e-4);
  free_soup(&s);
}

/* A sheet folded flat along a line of its vertices. */
Test(untangle, a_sheet_folded_flat_opens)
{
  soup s = three_layers(0, INFINITY);
  s.n /= 3, s.nt /= 3;
  for (int64_t v = 0; v < s.n; ++v) s.x[3 * v] = fabs(s.x[3 * v]);
  cr_assert(count_intersections(&s) > 10);
  const untangle_report r = untangle_soup(&s, 1e-3, PASSES, NULL);
  cr_expect_eq(r.after, 0);
  cr_expect_eq(count_intersections(&s), 0);
  cr_expect(r.farthest < 2e-3, "%g m", r.farthest);
  free_soup(&s);
}

/* On a table: the first two sheets lie on it, the third one is the body. */
Test(untangle, layers_on_a_body_go_to_its_outside)
{
  loom_err err = {0};
  untangle_report r;
  double radius[243];
  soup s = three_layers(0, INFINITY);
  for (int v = 0; v < 243; ++v) radius[v] = v < 162 ? 5e-4 : 0;
  for (int64_t k = 2 * s.nt / 3 * 3; k < 3 * s.nt; k += 3) { /* its outside is below */
    const int32_t t = s.tris[k];
    s.tris[k] = s.tris[k + 1];
    s.tris[k + 1] = t;
  }
  int32_t *const own = malloc((size_t)s.nt * sizeof *own);
  for (int64_t k = 0; k < s.nt; ++k) own[k] = s.tris[2 * s.nt + k] - 162;
  const isect_surface table = {
      .x = s.x + (ptrdiff_t)(3 * 162), .n = 81, .tris = own, .nt = s.nt / 3, .first_id = 162};
  const untangle_scene u = {.x = s.x,
                            .n = 162,
                            .nb = 81,
                            .tris = s.tris,
                            .nt = 2 * s.nt / 3,
                            .ntb = s.nt / 3,
                            .bodies = &table,
                            .num_bodies = 1,
                            .radius = radius,
                            .max_passes = PASSES,
                            .threads = 1};
  cr_assert_eq(untangle_meshes(&err, &u, &r), LOOM_OK, "%s", err.text);
  cr_expect(r.before > 100);
  cr_expect_eq(r.after + r.near, 0);
  cr_expect(fabs(height_over_surface(&s, 40, INFINITY) + 1.575e-3) < 1e-4, "%g m",
            height_over_surface(&s, 40, INFINITY));
  cr_expect(fabs(height_over_surface(&s, 121, INFINITY) + 0.525e-3) < 5e-5, "%g m",
            height_over_surface(&s, 121, INFINITY));
  free(own);
  free_soup(&s);
}

/* A sheet through the middle of another one has no way out: it is told, and no vertex goes wild. */
Test(untangle, what_cannot_be_parted_is_counted)
{
  soup s = create_stacked_sheets(15, 0);
  for (int64_t v = s.n / 2; v < s.n; ++v) { /* upright */
    s.x[3 * v + 2] = s.x[3 * v + 1];
    s.x[3 * v + 1] = 0.0013;
  }
  const untangle_report r = untangle_soup(&s, 5e-4, 20, NULL);
  printf("crossed sheets: %lld of %lld left\n", (long long)r.after, (long long)r.before);
  cr_assert(r.after > 0);
  cr_assert_eq(r.after, count_intersections(&s));
  cr_assert(r.farthest < 0.02, "%g m", r.farthest);
  free_soup(&s);
}

/* ---- a T-shirt ---- */

/* The shipped T-shirt laid flat: the back lies `gap` over the front, sleeves lie beside. */
static soup flat_shirt(double gap, int64_t *front, int64_t *back)
{
  loom_err err = {0};
  pattern *p;
  mesh m;
  const loom_mesher *mesher;
  char path[1024];
  snprintf(path, sizeof path, "%s/configs/patterns/tshirt.ini", getenv("LOOM_SOURCE_DIR"));
  cr_assert_eq(pattern_read(&err, path, &p), LOOM_OK, "%s", err.text);
  cr_assert_eq(mesher_open(&err, &mesher), LOOM_OK, "%s", err.text);
  cr_assert_eq(pattern_mesh(&err, p, mesher, 0.0107, &m), LOOM_OK, "%s", err.text);
  for (int64_t k = 0; k < 3 * (int64_t)m.num_tris; ++k) {
    const int piece = m.piece[k / 3];
    double *const x = m.x + 3 * (int64_t)m.tris[k];
    x[0] = (piece == 1 ? -1 : 1) * m.uv[2 * k] + (piece == 2 ? 1 : piece == 3 ? -1 : 0);
    x[1] = m.uv[2 * k + 1];
    x[2] = piece == 1 ? gap : 0;
  }
  *front = p->pieces[1].first_vert;
  *back = p->pieces[2].first_vert - p->pieces[1].first_vert;
  soup s = {.x = m.x, .tris = m.tris, .n = m.num_verts, .nt = m.num_tris};
  m.x = NULL;
  m.tris = NULL;
  mesh_free(&m);
  pattern_free(p);
  return s;
}

/* Each of `num` vertices of the front and the nearest one of the back that is not yet moved. */
static void push_shirt(soup *s, int64_t front, int64_t back, int num, double gap)
{
  uint64_t seed = 88172645463325252u;
  unsigned char *const used = calloc((size_t)s->n, 1);
  for (int k = 0; k < num;) {
    const int64_t v = (int64_t)(draw_unit_number(&seed) * (double)front);
    const double by = (gap + 2e-3 * draw_unit_number(&seed)) / 2;
    int64_t over = -1;
    double least = INFINITY;
    if (used[v]) continue;
    for (int64_t w = front; w < front + back; ++w) {
      const double d = hypot(s->x[3 * w] - s->x[3 * v], s->x[3 * w + 1] - s->x[3 * v + 1]);
      if (used[w] || d >= least) continue;
      least = d;
      over = w;
    }
    used[v] = used[over] = 1;
    s->x[3 * v + 2] += by;
    s->x[3 * over + 2] -= by;
    ++k;
  }
  free(used);
}

static void write_obj(const char *name, const soup *s)
{
  FILE *const f = fopen(name, "w");
  cr_assert_not_null(f);
  fprintf(f, "# a shirt\nvt 0.25 0.5\n");
  for (int64_t v = 0; v < s->n; ++v)
    fprintf(f, "v %.17g %.17g %.17g 0.5 0.5 1\n", s->x[3 * v], s->x[3 * v + 1], s->x[3 * v + 2]);
  fprintf(f, "g shirt\n");
  for (int64_t t = 0; t < s->nt; ++t)
    fprintf(f, "f %d %d %d\n", s->tris[3 * t] + 1, s->tris[3 * t + 1] + 1, s->tris[3 * t + 2] + 1);
  cr_assert_eq(fclose(f), 0);
}

/* The bar: 1,000 pairs of vertices pushed through each other by up to 2 mm, by the command. */
Test(untangle, a_thousand_pairs_of_a_t_shirt)
{
  const double gap = 3e-3;
  int64_t front, back;
  loom_err err = {0};
  mesh m;
  soup s = flat_shirt(gap, &front, &back);
  cr_assert(s.n > 7500 && s.n < 9500, "%lld vertices", (long long)s.n);
  cr_assert_eq(count_intersections(&s), 0);
  push_shirt(&s, front, back, 1000, gap);
  const int64_t before = count_intersections(&s);
  cr_assert(before > 2000, "%lld", (long long)before);
  write_obj("in.obj", &s);
  LOOM_FINE("untangle", "in.obj", "-o", "out.obj");
  cr_assert_eq(obj_read(&err, "out.obj", &m), LOOM_OK, "%s", err.text);
  cr_assert_eq(m.num_verts, s.n);
  cr_assert_eq(memcmp(m.tris, s.tris, 3 * (size_t)s.nt * sizeof *s.tris), 0);
  double most = 0;
  for (int64_t v = 0; v < s.n; ++v) {
    double d2 = 0;
    for (int c = 0; c < 3; ++c) d2 += pow(m.x[3 * v + c] - s.x[3 * v + c], 2);
    most = fmax(most, sqrt(d2));
  }
  free(s.x);
  s.x = m.x;
  printf("a T-shirt of %lld vertices: %lld intersections, %lld after untangle, farthest %.3g m\n",
         (long long)s.n, (long long)before, (long long)count_intersections(&s), most);
  cr_assert_eq(count_intersections(&s), 0);
  cr_assert(most < 0.01, "%g m", most);
  free(s.tris);
  m.x = NULL;
  mesh_free(&m);
}

/* ---- the command ---- */

Test(untangle, the_command_keeps_the_rest_of_the_file)
{
  soup s = create_stacked_sheets(9, 2e-3);
  s.x[3 * 40 + 2] = 4e-3;
  write_obj("in.obj", &s);
  LOOM_FINE("untangle", "in.obj", "-o", "out.obj", "--thickness", "1 mm");
  loom_err err = {0};
  char *text;
  size_t len;
  cr_assert_eq(words_file(&err, "out.obj", &text, &len), LOOM_OK);
  cr_assert(strncmp(text, "# a shirt\nvt 0.25 0.5\nv ", 24) == 0, "%.60s", text);
  cr_assert_not_null(strstr(text, " 0.5 0.5 1\ng shirt\nf 1 "));
  free(text);
  LOOM_FINE("untangle", "out.obj", "-o", "out.ply");
  LOOM_FINE("untangle", "out.ply", "-o", "again.obj");
  /* remaining intersections are named, with exit code 3, and the file is written all the same */
  proc_expect_error(3, LOOM_TEXTS("left.obj: ", "intersections are left, the first: edge "),
                    LOOM_ARGS("untangle", "in.obj", "-o", "left.obj", "--passes", "0"));
  cr_assert(proc_exists("left.obj"));
  proc_expect_error(2, LOOM_TEXTS("untangle", "-o OUT"), LOOM_ARGS("untangle", "in.obj"));
  proc_expect_error(2, LOOM_TEXTS("neither in .obj nor in .ply"),
                    LOOM_ARGS("untangle", "in.stl", "-o", "out.obj"));
  proc_expect_error(2, LOOM_TEXTS("--thickness"),
                    LOOM_ARGS("untangle", "in.obj", "-o", "o.obj", "--thickness", "2 kg"));
  proc_expect_error(2, LOOM_TEXTS("none.obj"), LOOM_ARGS("untangle", "none.obj", "-o", "o.obj"));
  free_soup(&s);
}
