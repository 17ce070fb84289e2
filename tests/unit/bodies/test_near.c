/* test_near.c - host->body_near and body_near_impact: edges and triangles against dense sampling,
 * the audit's search, differences and bodies that turn. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bodies/entries.h"
#include "bodies/entry_search.h"
#include "bodies/near_impact.kern.h"
#include "support/device.h"
#include "support/shapes.h"
#include "support/test_host.h"

enum { ELEMENTS = 300, SAMPLES = 60, TIMES = 150 };

typedef struct near_case {
  test_host t;
  loom_real x[9 * ELEMENTS], x1[9 * ELEMENTS]; /* m, corners */
  int32_t point[4 * ELEMENTS], body[ELEMENTS];
  obst_view view;
  loom_real *gap, *weight, *normal, *gradient, *curvature;
} near_case;

static const int closed[] = {BODY_SHAPE_plane, BODY_SHAPE_sphere, BODY_SHAPE_capsule,
                             BODY_SHAPE_box,   BODY_SHAPE_torus,  BODY_SHAPE_cylinder};

/* Vertices, edges and triangles by turns, of 0.02 to 0.5 m, within 0.6 m of the origin. */
static void scatter_elements(near_case *n, uint64_t seed)
{
  for (int i = 0; i < ELEMENTS; ++i) {
    const double size = i % 2 ? 0.25 : 0.02;
    const int corners = i % 7 == 0 ? 1 : 2 + i % 3 % 2;
    double centre[3], way[3];
    for (int c = 0; c < 3; ++c) {
      centre[c] = 0.5 * th_random(&seed);
      way[c] = 0.6 * th_random(&seed);
    }
    for (int k = 0; k < 3; ++k) {
      n->point[4 * i + k] = k < corners ? 3 * i + k : -1;
      for (int c = 0; c < 3; ++c) {
        const int at = 9 * i + 3 * k + c;
        n->x[at] = (loom_real)(centre[c] + size * th_random(&seed));
        n->x1[at] = (loom_real)((double)n->x[at] + way[c] + 0.05 * th_random(&seed));
      }
    }
    n->point[4 * i + 3] = 12345; /* not read */
    n->body[i] = i % 11 == 10 ? -1 : 0;
  }
}

static void open_near_case(near_case *n, const loom_obstacle *o, uint64_t seed)
{
  memset(n, 0, sizeof *n);
  th_open_on(&n->t, test_on_cuda() ? LOOM_CUDA : LOOM_CPU, 2, 0);
  n->t.obstacles[0] = *o;
  cr_assert_null(obst_view_fill(o, &n->view));
  scatter_elements(n, seed);
  th_scene(&n->t, 3 * ELEMENTS, n->x, NULL, NULL, 1);
}

static loom_obstacle obstacle_of_kind(int shape)
{
  const char *const name = body_kind_at(shape)->name;
  const double axis[3] = {0.6, 0.0, 0.8}, at[3] = {0.05, -0.1, 0.02};
  loom_obstacle o = th_obstacle(name, shapes_sizes(name), 8);
  th_pose(o.pose0, axis, 0.7, at);
  th_pose(o.pose1, axis, 0.7, at);
  return o;
}

static loom_body_rows rows_of_elements(near_case *n)
{
  return (loom_body_rows){.struct_size = sizeof(loom_body_rows),
                          .stride = 4,
                          .count = ELEMENTS,
                          .body = th_buf(&n->t, LOOM_I32, ELEMENTS, n->body),
                          .point = th_buf(&n->t, LOOM_I32, 4 * ELEMENTS, n->point),
                          .x = th_buf(&n->t, LOOM_REAL, 9 * ELEMENTS, n->x)};
}

static void ask_near(near_case *n, double progress)
{
  const loom_body_rows rows = rows_of_elements(n);
  const loom_body_near out = {.struct_size = sizeof out,
                              .gap = th_buf(&n->t, LOOM_REAL, ELEMENTS, NULL),
                              .weight = th_buf(&n->t, LOOM_REAL, 4 * ELEMENTS, NULL),
                              .normal = th_buf(&n->t, LOOM_REAL, 3 * ELEMENTS, NULL),
                              .gradient = th_buf(&n->t, LOOM_REAL, 3 * ELEMENTS, NULL),
                              .curvature = th_buf(&n->t, LOOM_REAL, 9 * ELEMENTS, NULL)};
  cr_assert_eq(n->t.host.body_near(&n->t.host, &n->t.exec, &rows, progress, &out), LOOM_OK, "%s",
               n->t.err.text);
  free(n->gap), free(n->weight), free(n->normal), free(n->gradient), free(n->curvature);
  n->gap = th_get(&n->t, out.gap);
  n->weight = th_get(&n->t, out.weight);
  n->normal = th_get(&n->t, out.normal);
  n->gradient = th_get(&n->t, out.gradient);
  n->curvature = th_get(&n->t, out.curvature);
}

static void close_near_case(near_case *n)
{
  free(n->gap), free(n->weight), free(n->normal), free(n->gradient), free(n->curvature);
  th_close(&n->t);
}

static int corners_of(const near_case *n, int i)
{
  return n->point[4 * i + 1] < 0 ? 1 : n->point[4 * i + 2] < 0 ? 2 : 3;
}

/* Distance of the point with weights w of element i, its corners from x. */
static double distance_at(const near_case *n, int i, const loom_real *x, const lk_real *w,
                          lk_real s)
{
  lk_real p[3] = {0, 0, 0}, m[3];
  obst_pose P;
  obst_pose_at(&n->view, s, &P);
  for (int k = 0; k < 3; ++k)
    for (int c = 0; c < 3; ++c) p[c] += w[k] * x[9 * i + 3 * k + c];
  return (double)obst_distance(&n->view, &P, p, m);
}

/* Least distance over a grid of the element. */
static double sample_element(const near_case *n, int i, const loom_real *x, lk_real s)
{
  const int corners = corners_of(n, i);
  double least = INFINITY;
  for (int a = 0; a <= (corners > 1 ? SAMPLES : 0); ++a)
    for (int b = 0; b <= (corners > 2 ? SAMPLES - a : 0); ++b) {
      const lk_real w[3] = {(lk_real)(SAMPLES - a - b) / SAMPLES, (lk_real)a / SAMPLES,
                            (lk_real)b / SAMPLES};
      least = fmin(least, distance_at(n, i, x, w, s));
    }
  return least;
}

static double element_size(const near_case *n, int i)
{
  double most = 0.0;
  for (int a = 0; a < corners_of(n, i); ++a)
    for (int b = 0; b < a; ++b) {
      double d2 = 0.0;
      for (int c = 0; c < 3; ++c) {
        const double d = (double)n->x[9 * i + 3 * a + c] - (double)n->x[9 * i + 3 * b + c];
        d2 += d * d;
      }
      most = fmax(most, sqrt(d2));
    }
  return most;
}

static void check_against_samples(const near_case *n, int i, const char *name)
{
  const double size = element_size(n, i), gap = (double)n->gap[i];
  const loom_real *const w = n->weight + 4 * i, *const m = n->normal + 3 * i;
  const double least = sample_element(n, i, n->x, LK_R(1.0));
  const lk_real own[3] = {w[0], w[1], w[2]};
  const double share = n->view.convex ? 1e-9 : 1e-6;
  cr_assert(gap <= least + share * size, "%s %d: gap %.12g, a sample has %.12g", name, i, gap,
            least);
  cr_assert(gap >= least - size / SAMPLES, "%s %d: gap %.12g, samples %.12g", name, i, gap, least);
  cr_assert(w[0] >= 0 && w[1] >= 0 && w[2] >= 0 && w[3] == 0 &&
                fabs((double)(w[0] + w[1] + w[2]) - 1.0) < 1e-14,
            "%s %d: weights %g %g %g %g", name, i, (double)w[0], (double)w[1], (double)w[2],
            (double)w[3]);
  for (int k = corners_of(n, i); k < 3; ++k) cr_assert_eq(w[k], 0);
  cr_assert(fabs(distance_at(n, i, n->x, own, LK_R(1.0)) - gap) < 1e-12, "%s %d: gap of w", name,
            i);
  cr_assert(fabs((double)(m[0] * m[0] + m[1] * m[1] + m[2] * m[2]) - 1.0) < 1e-12);
}

Test(near, least_distances_are_below_all_samples)
{
  static near_case n;
  for (size_t k = 0; k < sizeof closed / sizeof *closed; ++k) {
    const loom_obstacle o = obstacle_of_kind(closed[k]);
    int inner = 0;
    open_near_case(&n, &o, 7 + k);
    ask_near(&n, 1.0);
    for (int i = 0; i < ELEMENTS; ++i) {
      if (n.body[i] < 0) {
        cr_assert(n.gap[i] == 0 && n.weight[4 * i] == 0, "row %d without a body", i);
        continue;
      }
      check_against_samples(&n, i, o.kind);
      int all = corners_of(&n, i) > 1;
      for (int c = 0; c < corners_of(&n, i); ++c) all &= n.weight[4 * i + c] > 1e-6;
      inner += all;
    }
    cr_expect(inner > (closed[k] == BODY_SHAPE_plane ? -1 : 15), "%s: %d inner", o.kind, inner);
    close_near_case(&n);
  }
}

/* The audit's search finds an entry exactly where the gap is below 0, of about its depth. */
Test(near, entries_are_those_of_the_audit)
{
  static near_case n;
  int inside = 0;
  for (size_t k = 0; k < sizeof closed / sizeof *closed; ++k) {
    const loom_obstacle o = obstacle_of_kind(closed[k]);
    open_near_case(&n, &o, 70 + k);
    ask_near(&n, 1.0);
    for (int i = 0; i < ELEMENTS; ++i) {
      const int32_t v[3] = {0, 1, 2};
      double x[9];
      entry_element e;
      entry_found found;
      for (int c = 0; c < 9; ++c) x[c] = (double)n.x[9 * i + c];
      if (n.body[i] < 0 || corners_of(&n, i) < 2) continue;
      entry_element_set(&e, &n.view, NULL, x, v, corners_of(&n, i));
      const int entered = entry_search(&e, &found);
      if (fabs((double)n.gap[i]) < 1e-9) continue;
      cr_assert_eq(entered, n.gap[i] < 0, "%s %d: gap %g", o.kind, i, (double)n.gap[i]);
      if (!entered) continue;
      ++inside;
      cr_assert(found.depth <= -(double)n.gap[i] * (1 + 1e-9) &&
                    found.depth >= -(double)n.gap[i] * 0.97,
                "%s %d: depth %g, gap %g", o.kind, i, found.depth, (double)n.gap[i]);
    }
    close_near_case(&n);
  }
  cr_expect_gt(inside, 300, "%d", inside);
}

/* The gradient of the gap with respect to corner k is w_k times the body's gradient. */
Test(near, weights_and_gradients_are_those_of_differences)
{
  static near_case n, m;
  const double step = 1e-6;
  for (size_t k = 0; k < sizeof closed / sizeof *closed; ++k) {
    const loom_obstacle o = obstacle_of_kind(closed[k]);
    int checked = 0;
    open_near_case(&n, &o, 700 + k);
    ask_near(&n, 1.0);
    for (int turn = 0; turn < 9; ++turn) { /* one coordinate of all elements at a time */
      loom_real *gap[2];
      for (int side = 0; side < 2; ++side) {
        open_near_case(&m, &o, 700 + k);
        for (int i = 0; i < ELEMENTS; ++i) m.x[9 * i + turn] += (loom_real)(side ? step : -step);
        ask_near(&m, 1.0);
        gap[side] = m.gap;
        m.gap = NULL;
        close_near_case(&m);
      }
      for (int i = 0; i < ELEMENTS; ++i) {
        const int corner = turn / 3;
        if (n.body[i] < 0 || corner >= corners_of(&n, i)) continue;
        const double d = ((double)gap[1][i] - (double)gap[0][i]) / (2 * step);
        const double want = (double)n.weight[4 * i + corner] * (double)n.gradient[3 * i + turn % 3];
        /* where two points are equally deep, or the body has its middle, there is a kink */
        if ((double)n.gap[i] < -0.02 || closed[k] == BODY_SHAPE_torus) {
          checked += fabs(d - want) < 1e-3;
          continue;
        }
        cr_assert(fabs(d - want) < 2e-4, "%s %d, number %d: %g, difference %g", o.kind, i, turn,
                  want, d);
        ++checked;
      }
      free(gap[0]), free(gap[1]);
    }
    cr_expect_gt(checked, 1200, "%s: %d", o.kind, checked);
    close_near_case(&n);
  }
}

/* An edge along a rod is equally deep all along: its middle. */
Test(near, a_flat_part_has_its_middle)
{
  static near_case n;
  const loom_real rod[7] = {-1, 0, 0, 1, 0, 0, (loom_real)0.002};
  const loom_obstacle o = th_obstacle("capsule", rod, 7);
  open_near_case(&n, &o, 1);
  for (int i = 0; i < ELEMENTS; ++i) {
    const double span[2] = {i % 2 ? 0.9 : 0.3, i % 2 ? 1.4 : 0.5}; /* past the end of the rod */
    for (int k = 0; k < 2; ++k) {
      n.x[9 * i + 3 * k] = (loom_real)span[k];
      n.x[9 * i + 3 * k + 1] = 0;
      n.x[9 * i + 3 * k + 2] = (loom_real)0.003;
    }
    n.point[4 * i] = 3 * i, n.point[4 * i + 1] = 3 * i + 1, n.point[4 * i + 2] = -1;
  }
  ask_near(&n, 1.0);
  for (int i = 0; i < ELEMENTS; ++i) {
    if (n.body[i] < 0) continue;
    cr_assert(fabs((double)n.gap[i] - 0.001) < 1e-12);
    cr_assert(fabs((double)n.weight[4 * i + 1] - (i % 2 ? 0.1 : 0.5)) < 1e-6, "%d: %g", i,
              (double)n.weight[4 * i + 1]);
  }
  close_near_case(&n);
}

/* Elements fly while the body turns and moves. */
static void check_impacts(near_case *n, const loom_obstacle *o, int *hits, int *misses)
{
  static loom_real floor[ELEMENTS], tol[ELEMENTS], radius[3 * ELEMENTS];
  for (int i = 0; i < ELEMENTS; ++i) {
    floor[i] = (loom_real)0.001;
    tol[i] = (loom_real)(i % 13 == 12 ? -1.0 : 1e-5);
    for (int k = 0; k < 3; ++k) radius[3 * i + k] = (loom_real)(0.001 * (i % 4));
  }
  const loom_body_rows rows = rows_of_elements(n);
  const loom_body_path path = {.struct_size = sizeof path,
                               .max_iters = 100000,
                               .progress0 = 0.1,
                               .progress1 = 0.9,
                               .x1 = th_buf(&n->t, LOOM_REAL, 9 * ELEMENTS, n->x1),
                               .radius = th_buf(&n->t, LOOM_REAL, 3 * ELEMENTS, radius),
                               .floor = th_buf(&n->t, LOOM_REAL, ELEMENTS, floor),
                               .tol = th_buf(&n->t, LOOM_REAL, ELEMENTS, tol),
                               .toi = th_buf(&n->t, LOOM_REAL, ELEMENTS, NULL),
                               .gap = th_buf(&n->t, LOOM_REAL, ELEMENTS, NULL),
                               .normal = th_buf(&n->t, LOOM_REAL, 3 * ELEMENTS, NULL),
                               .point = th_buf(&n->t, LOOM_REAL, 3 * ELEMENTS, NULL),
                               .weight = th_buf(&n->t, LOOM_REAL, 4 * ELEMENTS, NULL)};
  cr_assert_eq(n->t.host.body_near_impact(&n->t.host, &n->t.exec, &rows, &path), LOOM_OK, "%s",
               n->t.err.text);
  loom_real *const toi = th_get(&n->t, path.toi), *const weight = th_get(&n->t, path.weight);
  loom_real *const gap = th_get(&n->t, path.gap), *const normal = th_get(&n->t, path.normal);
  loom_real *const point = th_get(&n->t, path.point);
  for (int i = 0; i < ELEMENTS; ++i) {
    static loom_real x[9 * ELEMENTS];
    const double r = (double)radius[3 * i], end = fmin((double)toi[i], 1.0);
    if (n->body[i] < 0) continue;
    if (tol[i] < 0) {
      cr_assert_eq(toi[i], 2);
      continue;
    }
    for (int a = 0; a <= TIMES; ++a) { /* no sample before the impact is below the floor */
      const double t = end * a / TIMES * (1 - 1e-9);
      for (int c = 0; c < 9; ++c)
        x[9 * i + c] = n->x[9 * i + c] + (loom_real)t * (n->x1[9 * i + c] - n->x[9 * i + c]);
      if (end == 0) break;
      const double f = sample_element(n, i, x, (lk_real)(0.1 + 0.8 * t)) - r;
      cr_assert(f > 0.001 - 1e-9, "%s %d: %g at %g of %g", o->kind, i, f, t, (double)toi[i]);
    }
    if (toi[i] > 1) {
      ++*misses;
      continue;
    }
    const lk_real w[3] = {weight[4 * i], weight[4 * i + 1], weight[4 * i + 2]};
    double depth = 0;
    for (int c = 0; c < 9; ++c)
      x[9 * i + c] = n->x[9 * i + c] + toi[i] * (n->x1[9 * i + c] - n->x[9 * i + c]);
    const double f = distance_at(n, i, x, w, LK_R(0.1) + LK_R(0.8) * toi[i]) - r;
    cr_assert(f < 0.001 + 2e-5 && weight[4 * i + 3] == 0, "%s %d: %g at the impact", o->kind, i, f);
    for (int k = 0; k < 3; ++k)
      for (int c = 0; c < 3; ++c)
        depth += (double)(normal[3 * i + c] * w[k] * (n->x1[9 * i + 3 * k + c] - point[3 * i + c]));
    cr_assert(fabs(depth - r - (double)gap[i]) < 1e-9, "%s %d: gap %g", o->kind, i, (double)gap[i]);
    *hits += toi[i] > 0;
  }
  free(toi), free(weight), free(gap), free(normal), free(point);
}

Test(near, impacts_are_never_late)
{
  static near_case n;
  for (size_t k = 0; k < sizeof closed / sizeof *closed; ++k) {
    const double axis[3] = {0.0, 0.6, 0.8}, at[3] = {0.2, 0.1, -0.3};
    loom_obstacle o = obstacle_of_kind(closed[k]);
    int hits = 0, misses = 0;
    th_pose(o.pose1, axis, 1.9, at);
    open_near_case(&n, &o, 7000 + k);
    check_impacts(&n, &o, &hits, &misses);
    cr_expect(hits > 15 && misses > 15, "%s: %d hits, %d misses", o.kind, hits, misses);
    close_near_case(&n);
  }
}

/* An edge of 7 cm rolls on a ball of 15 cm by 0.2 rad and comes within 1e-5 m of it: ways of a
 * corner are 4 cm, and the advances are not as many as gaps in these. */
Test(near, an_edge_that_rolls_takes_few_advances)
{
  const loom_real ball[4] = {0, 0, 0, (loom_real)0.15};
  const loom_obstacle o = th_obstacle("sphere", ball, 4);
  obst_view v;
  near_path path = {.corners = 2, .tol = LK_R(1e-7), .s0 = 1, .s1 = 1, .max_iters = 100};
  double least = INFINITY;
  cr_assert_null(obst_view_fill(&o, &v));
  for (int end = 0; end < 2; ++end)
    for (int k = 0; k < 2; ++k) {
      const double a = 0.2 * end, along = k ? 0.04 : -0.03, up = 0.15;
      lk_real *const x = end ? path.x1[k] : path.x0[k];
      x[0] = (lk_real)(up * sin(a) + along * cos(a));
      x[1] = 0;
      x[2] = (lk_real)(up * cos(a) - along * sin(a));
    }
  for (int pass = 0; pass < 2; ++pass) { /* lift it by what the straight ways cut off */
    for (int i = 0; i <= 20000; ++i) {
      near_element e;
      near_point q;
      near_path_at(&v, &path, (lk_real)i / 20000, &e);
      near_deepest(&e, &q);
      least = fmin(least, (double)q.f);
    }
    for (int k = 0; k < 2 && pass == 0; ++k) {
      path.x0[k][2] += (lk_real)(1e-5 - least);
      path.x1[k][2] += (lk_real)(1e-5 - least);
    }
    if (pass == 0) least = INFINITY;
  }
  cr_assert(least > 1e-6 && least < 1.1e-5, "%g", least);
  cr_expect_eq(near_impact(&v, &path), 2);
  path.floor = (lk_real)(2 * least);
  cr_expect(near_impact(&v, &path) < 1);
}

/* A grid has no closed form. */
Test(near, a_grid_is_infinitely_far)
{
  static near_case n;
  loom_obstacle o = obstacle_of_kind(BODY_SHAPE_sphere);
  open_near_case(&n, &o, 3);
  loom_real all[27];
  for (int i = 0; i < 27; ++i) all[i] = i == 13 ? -1 : 1;
  o.kind = "sdf";
  o.sdf = th_buf(&n.t, LOOM_REAL, 27, all);
  o.spacing = 1;
  for (int c = 0; c < 3; ++c) o.dims[c] = 3;
  n.t.obstacles[0] = o;
  ask_near(&n, 1.0);
  for (int i = 0; i < ELEMENTS; ++i)
    cr_assert(n.body[i] < 0 || (n.gap[i] == LK_REAL_MAX && n.weight[4 * i] == 1), "%g",
              (double)n.gap[i]);
  close_near_case(&n);
}
