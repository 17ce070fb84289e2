/* yarn.c, yarn_knit.c, build_yarn.c, spline.kern.h: yarns of a scene as plugins see them. */
#define _DEFAULT_SOURCE /* mkstemps */
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "geom/spline.kern.h"
#include "support/tiny_file.h"
#include "support/tiny_scene.h"
#include "yarn/yarn.h"

#define PARTS(...) \
  (const char *const[]) { __VA_ARGS__, NULL }

static const double eps = sizeof(loom_real) == 4 ? 1e-5 : 1e-12;

Test(yarn, spline_interpolates_and_reproduces_lines_and_parabolas)
{
  for (int k = 0; k <= 10; ++k) {
    const lk_real u = (lk_real)k / 10;
    lk_real w[4], v[4];
    double sum = 0, first = 0, second = 0, slope = 0, flat = 0;
    spline_weights(u, w);
    spline_slopes(u, v);
    for (int a = 0; a < 4; ++a) {
      sum += (double)w[a];
      first += (double)w[a] * (a - 1);
      second += (double)w[a] * (a - 1) * (a - 1);
      flat += (double)v[a];
      slope += (double)v[a] * (a - 1);
    }
    cr_assert_float_eq(sum, 1, eps);
    cr_assert_float_eq(first, (double)u, eps);
    cr_assert_float_eq(second, (double)(u * u), 10 * eps);
    cr_assert_float_eq(flat, 0, eps);
    cr_assert_float_eq(slope, 1, eps);
    lk_real hi[4], lo[4];
    const lk_real h = (lk_real)(sizeof(lk_real) == 4 ? 1e-2 : 1e-4);
    spline_weights(u + h, hi);
    spline_weights(u - h, lo);
    for (int a = 0; a < 4;
         ++a) /* a cubic: the error of the difference is h^2 third derivative / 6 */
      cr_assert_float_eq((double)((hi[a] - lo[a]) / (2 * h)), (double)v[a],
                         3 * (double)(h * h) + eps);
  }
}

/* Scene arrays of yarns: ranges, segments, lengths, loops and glue belong together. */
static void check_yarn_arrays(const tiny_scene *t)
{
  const loom_scene *p = &t->s->pub;
  int32_t *vert = tiny_copy(t, p->yarn_vert), *first = tiny_copy(t, p->yarn_seg);
  int32_t *segs = tiny_copy(t, p->segs), *of = tiny_copy(t, p->seg_yarn);
  int32_t *edges = tiny_copy(t, p->edges);
  unsigned char *closed = tiny_copy(t, p->yarn_closed);
  loom_real *x = tiny_copy(t, p->rest_x), *len = tiny_copy(t, p->seg_len);
  cr_assert_eq(vert[p->num_yarns], p->num_verts);
  cr_assert_eq(first[p->num_yarns], p->num_segs);
  for (int32_t k = 0; k < p->num_yarns; ++k) {
    const int32_t n = vert[k + 1] - vert[k];
    cr_assert_eq(first[k + 1] - first[k], closed[k] ? n : n - 1);
    for (int32_t s = first[k]; s < first[k + 1]; ++s) {
      const int32_t j = s - first[k], *q = segs + 4 * (int64_t)s;
      cr_assert_eq(of[s], k);
      for (int a = 0; a < 4; ++a) {
        const int32_t i = j + a - 1;
        const int32_t want = closed[k] ? vert[k] + (i + n) % n : i < 0 || i >= n ? -1 : vert[k] + i;
        cr_assert_eq(q[a], want, "segment %d point %d: %d, not %d", s, a, q[a], want);
      }
      double d2 = 0;
      for (int c = 0; c < 3; ++c) d2 += pow((double)(x[3 * q[1] + c] - x[3 * q[2] + c]), 2);
      cr_assert_float_eq(sqrt(d2), (double)len[s], 1e-6 * sqrt(d2) + eps);
      const int32_t *e = edges + 2 * (int64_t)(p->num_edges - p->num_segs + s);
      cr_assert(e[0] == q[1] && e[1] == q[2]);
    }
  }
  free(vert), free(first), free(segs), free(of), free(edges), free(closed), free(x), free(len);
}

Test(yarn, a_swatch_is_one_open_yarn_with_turns)
{
  tiny_scene t = tiny_open_ok("[cloth.first]\nmodel = arap+isometric\npattern = regular\ntransform "
                              "= translate 0 0 1\n[yarn.swatch]\nrows = 54\n"
                              "loops = 60\n");
  const loom_scene *p = &t.s->pub;
  cr_assert_eq(p->num_yarns, 1);
  cr_assert_eq(p->num_segs, 54 * 480 + 53 * 6); /* the scarf of the paper but for two */
  cr_assert_eq(p->num_glue, 60 + 59);
  check_yarn_arrays(&t);
  loom_real *radius = tiny_copy(&t, p->radius), *mass = tiny_copy(&t, p->mass);
  loom_real *len = tiny_copy(&t, p->seg_len), *glue_len = tiny_copy(&t, p->glue_len);
  int32_t *loop = tiny_copy(&t, p->loop), *glue = tiny_copy(&t, p->glue);
  double length = 0, total = 0, count = 0;
  for (int32_t s = 0; s < p->num_segs; ++s) length += (double)len[s];
  for (int32_t v = 0; v < p->num_verts; ++v) {
    if (v < 21 * 21) {
      cr_assert(loop[2 * v] == -1 && loop[2 * v + 1] == -1);
      continue;
    }
    cr_assert(loop[2 * v] >= 0 && loop[2 * v] < 54 && loop[2 * v + 1] >= 0 && loop[2 * v + 1] < 60);
    cr_assert_float_eq((double)radius[v], 1.25e-3, 1e-9);
    total += (double)mass[v];
    count += loop[2 * v] == 7 && loop[2 * v + 1] == 30;
  }
  cr_assert_float_eq(total, 5e-4 * length, 1e-5 * total);
  cr_assert_float_eq(count, 8, 0);
  /* numerics 1.2: loop length 3.81 cm */
  cr_assert(length / (54 * 60) > 0.0375 && length / (54 * 60) < 0.0395, "%g", length / (54 * 60));
  for (int32_t g = 0; g < p->num_glue; ++g) {
    const int32_t *a = loop + 2 * glue[2 * g], *b = loop + 2 * glue[2 * g + 1];
    cr_assert(a[0] == b[0] && (a[0] == 0 || a[0] == 53) && b[1] - a[1] == (a[0] == 53));
    cr_assert((double)glue_len[g] >= 2.5e-3 - 1e-9 && (double)glue_len[g] < 4e-3);
  }
  free(radius), free(mass), free(len), free(glue_len), free(loop), free(glue);
  tiny_close(&t);
}

Test(yarn, sides_are_pinned_by_rows_and_columns_of_loops)
{
  static const struct {
    const char *text;
    int32_t row, col; /* -1: any */
  } all[] = {{"rows = 4\nloops = 5\npins = top\n", 3, -1},
             {"rows = 4\nloops = 5\npins = left\n", -1, 0},
             {"rows = 4\nloops = 5\npins = bottom_right\n", 0, 4},
             {"pattern = tube\nrows = 3\nloops = 12\npins = bottom\n", 0, -1}};
  for (size_t k = 0; k < sizeof all / sizeof *all; ++k) {
    char text[256];
    snprintf(text, sizeof text, "[yarn.a]\n%s", all[k].text);
    tiny_scene t = tiny_open_ok(text);
    const loom_scene *p = &t.s->pub;
    int32_t *loop = tiny_copy(&t, p->loop);
    unsigned char *fixed = tiny_copy(&t, p->fixed);
    for (int32_t v = 0; v < p->num_verts; ++v)
      cr_assert_eq(fixed[v], (all[k].row < 0 || loop[2 * v] == all[k].row) &&
                                 (all[k].col < 0 || loop[2 * v + 1] == all[k].col));
    free(loop), free(fixed);
    tiny_close(&t);
  }
  tiny_refused("[yarn.a]\npattern = tube\nloops = 12\npins = left\n", PARTS("no \"left\""));
}

Test(yarn, stripes_rings_and_helices)
{
  tiny_scene t =
      tiny_open_ok("[yarn.a]\nrows = 5\nloops = 3\nstripe = 2\n[yarn.b]\npattern = tube\n"
                   "rows = 4\nloops = 12\ntransform = translate 0 0.5 0\n[yarn.c]\n"
                   "pattern = tube\nclosed = 0\nrows = 3\nloops = 10\n"
                   "transform = translate 0 1 0\n");
  const loom_scene *p = &t.s->pub;
  cr_assert_eq(p->num_yarns, 3 + 4 + 1);
  cr_assert_eq(p->num_glue, 5 + 24 + 19);
  check_yarn_arrays(&t);
  tiny_close(&t);
}

/* Every pattern starts interlaced, at most lightly pressed (turns of garter and rib), and not
 * looser than it has to be. */
Test(yarn, patterns_touch_but_do_not_interpenetrate)
{
  static const struct {
    int pattern, rib, rings;
  } all[] = {{KNIT_STOCKINETTE, 1, 0}, {KNIT_GARTER, 1, 0}, {KNIT_RIB, 1, 0}, {KNIT_RIB, 2, 0},
             {KNIT_RIB, 3, 0},         {KNIT_TUBE, 1, 1},   {KNIT_TUBE, 1, 0}};
  for (size_t k = 0; k < sizeof all / sizeof *all; ++k) {
    loom_err err = {0};
    mesh m;
    yarn_set y;
    yarn_near near;
    const knit_plan plan = {.pattern = all[k].pattern,
                            .rows = 6,
                            .loops = 24,
                            .rib = all[k].rib,
                            .rings = all[k].rings,
                            .bind = 1,
                            .radius = 1e-3};
    cr_assert_eq(knit_make(&err, &plan, &m, &y), LOOM_OK, "%s", err.text);
    int32_t n = 0, *segs = malloc(16 * (size_t)m.num_verts), *of = malloc(4 * (size_t)m.num_verts);
    int32_t *first = calloc((size_t)y.num_yarns + 1, 4);
    double *radius = malloc(sizeof(double) * (size_t)y.num_yarns);
    for (int32_t q = 0; q < y.num_yarns; ++q) {
      for (int32_t j = 0; j < yarn_num_segs(&y, q); ++j, ++n) {
        yarn_segment(&y, q, j, segs + 4 * (size_t)n);
        of[n] = q;
      }
      first[q + 1] = n;
      radius[q] = 1.02e-3; /* so that all that touch are found */
    }
    const yarn_view v = {m.x, segs, of, first, y.closed, radius, n, y.num_yarns};
    cr_assert_eq(yarn_find_nearest(&err, &v, 0.82, &near), LOOM_OK, "%s", err.text);
    cr_assert(near.ratio > 0.82 && near.ratio < 1, "pattern %zu: %g of 2r", k, near.ratio * 1.02);
    free(segs), free(of), free(first), free(radius);
    mesh_free(&m);
    yarn_free(&y);
  }
}

/* ---- how loops hang in each other ---- */

enum { DENSE = 12 };
typedef struct crossing {
  double x;
  int over; /* +1: the upper row is in front */
} crossing;

static int by_place(const void *a, const void *b)
{
  const double p = ((const crossing *)a)->x, q = ((const crossing *)b)->x;
  return (p > q) - (p < q);
}

/* Points [.][3] along the segments of one row, in pairs of ends. */
static int row_points(const mesh *m, const yarn_set *y, int row, double *out)
{
  int n = 0;
  for (int32_t j = 0; j < yarn_num_segs(y, 0); ++j) {
    int32_t seg[4];
    lk_real q[12], w[4], p[3];
    yarn_segment(y, 0, j, seg);
    if (y->loop[2 * seg[1]] != row || y->loop[2 * seg[2]] != row || seg[0] < 0 || seg[3] < 0)
      continue;
    for (int a = 0; a < 4; ++a)
      for (int c = 0; c < 3; ++c) q[3 * a + c] = (lk_real)m->x[3 * seg[a] + c];
    for (int i = 0; i <= DENSE; ++i, ++n) {
      spline_weights((lk_real)i / DENSE, w);
      spline_at(q, w, p);
      for (int c = 0; c < 3; ++c) out[3 * n + c] = (double)p[c];
    }
  }
  return n;
}

/* Where the lines of two rows cross in the plane, from left to right. */
static int find_row_crossings(const double *a, int na, const double *b, int nb, crossing *out)
{
  int n = 0;
  for (int i = 0; i + 1 < na; ++i)
    for (int j = 0; j + 1 < nb; ++j) {
      if (i % (DENSE + 1) == DENSE || j % (DENSE + 1) == DENSE) continue; /* between segments */
      const double *p = a + 3 * i, *q = b + 3 * j;
      const double u[2] = {p[3] - p[0], p[4] - p[1]}, v[2] = {q[3] - q[0], q[4] - q[1]};
      const double d[2] = {q[0] - p[0], q[1] - p[1]}, det = u[0] * v[1] - u[1] * v[0];
      const double s = (d[0] * v[1] - d[1] * v[0]) / det, t = (d[0] * u[1] - d[1] * u[0]) / det;
      if (!(s >= 0 && s < 1 && t >= 0 && t < 1)) continue;
      const double z = p[2] + s * (p[5] - p[2]) - q[2] - t * (q[5] - q[2]);
      cr_assert(n < 400);
      out[n++] = (crossing){p[0] + s * u[0], z > 0 ? 1 : -1};
    }
  qsort(out, (size_t)n, sizeof *out, by_place);
  return n;
}

/* Every loop hangs in the head of the one below: its feet lie on one side of the legs there, its
 * legs on the other side of the head; knit and purl are each other's mirror. */
Test(yarn, loops_are_interlaced_as_the_pattern_says)
{
  enum { ROWS = 5, LOOPS = 8, MOST = 3 * (DENSE + 1) * (8 * LOOPS + 8) };
  static const struct {
    int pattern, rib;
  } all[] = {{KNIT_STOCKINETTE, 1}, {KNIT_GARTER, 1}, {KNIT_RIB, 1}, {KNIT_RIB, 2}};
  static double a[MOST], b[MOST];
  for (size_t k = 0; k < sizeof all / sizeof *all; ++k) {
    loom_err err = {0};
    mesh m;
    yarn_set y;
    crossing c[400];
    const knit_plan plan = {
        .pattern = all[k].pattern, .rows = ROWS, .loops = LOOPS, .rib = all[k].rib, .radius = 1e-3};
    cr_assert_eq(knit_make(&err, &plan, &m, &y), LOOM_OK, "%s", err.text);
    for (int row = 1; row + 1 < ROWS; ++row) { /* the last one ends in the middle of a crossing */
      const int na = row_points(&m, &y, row, a), nb = row_points(&m, &y, row - 1, b);
      const int n = find_row_crossings(a, na, b, nb, c);
      cr_assert_eq(n, 4 * LOOPS, "pattern %zu row %d: %d crossings", k, row, n);
      for (int i = 0; i < n; ++i) {
        const int col = i / 4;
        const int knit = all[k].pattern == KNIT_GARTER ? row % 2 == 0
                         : all[k].pattern == KNIT_RIB  ? col / all[k].rib % 2 == 0
                                                       : 1;
        const int foot = i % 4 == 0 || i % 4 == 3;
        cr_assert_eq(c[i].over, foot == knit ? 1 : -1, "pattern %zu row %d crossing %d", k, row, i);
      }
    }
    mesh_free(&m);
    yarn_free(&y);
  }
}

Test(yarn, bad_patterns_are_refused_by_name)
{
  tiny_refused("[yarn.a]\nradius = 2 mm\nloop_width = 8 mm\nrow_height = 5 mm\n",
               PARTS("[yarn.a]", "segment", "interpenetrate", "too large for the pattern"));
  tiny_refused("[yarn.a]\n[yarn.b]\ntransform = translate 0.001 0 0\n",
               PARTS("[yarn.a]", "[yarn.b]", "interpenetrate", "move them apart"));
  char path[] = "/tmp/loom_curve_XXXXXX.obj", text[200];
  tiny_file(path, "v 0 0 0\nv .01 0 0\nv .02 0 0\nv .03 0 0\nv .04 0 0\nv .04 .01 0\nv .03 .01 0\n"
                  "v .02 .01 0\nv .01 .01 0\nl 1 2 3 4 5 6 7 8 9\n");
  snprintf(text, sizeof text, "[yarn.a]\npattern = obj\nradius = 9 mm\nfile = %s\n", path);
  tiny_refused(text, PARTS("too large for the curves", "by transform"));
  unlink(path);
  tiny_refused("[yarn.a]\npattern = tube\nloops = 2\n", PARTS("tiny.ini:2", "at least 3"));
  tiny_refused("[yarn.a]\nradius = 0\n", PARTS("tiny.ini:2", "radius"));
  tiny_refused("[yarn.a]\nrows = 1000000\nloops = 1000000\n", PARTS("tiny.ini", "too many"));
}
