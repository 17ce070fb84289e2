/* test_contact_ogc.c - offset geometric contact: its law, its energy against a sum over all
 * features by brute force, derivatives by differences. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../../plugins/contact/ogc/ogc_law.kern.h"
#include "support/barrier_case.h"

static const char *const plain = "d_hat=4e-3 stiffness=200 slack=2e-3";

/* ---- the law ---- */

/* Each derivative changes from point to point by its own derivative times the way. */
Test(contact_ogc, the_law_has_two_continuous_derivatives)
{
  const double k = 300.0, r = 2e-3, share = 1e-4;
  lk_real last[3], next[3];
  double g = 1e-5;
  int points = 0;
  for (ogc_of_gap(k, r, g, last); g * (1 + share) < r; ++points) {
    const double way = share * g;
    ogc_of_gap(k, r, g += way, next);
    for (int d = 0; d < 2; ++d) {
      const double mean = 0.5 * way * (last[d + 1] + next[d + 1]);
      cr_assert(fabs(next[d] - last[d] - mean) < 2e-4 * fabs(mean) + 1e-15,
                "derivative %d at %g: %g, want %g", d, g, next[d] - last[d], mean);
    }
    cr_assert(fabs(next[2] / last[2] - 1) < 3 * share, "curvature at %g", g);
    memcpy(last, next, sizeof last);
  }
  cr_expect_gt(points, 10000);
  ogc_of_gap(k, r, r, next);
  cr_expect(next[0] == 0.0 && next[1] == 0.0, "at r: %g J, %g N", next[0], next[1]);
}

/* ---- scenes ---- */

enum { MOST = 60, MOST3 = 3 * MOST };

typedef struct scene {
  test_host t;
  const loom_contact_ops *ops;
  void *set, *self;
  int n, nt, ne;
  double x[MOST3];
  int32_t tri[3 * 120], edge[2 * 200];
} scene;

static void put_edge(scene *s, int a, int b)
{
  for (int k = 0; k < s->ne; ++k)
    if ((s->edge[2 * k] == a && s->edge[2 * k + 1] == b) ||
        (s->edge[2 * k] == b && s->edge[2 * k + 1] == a))
      return;
  s->edge[2 * s->ne] = a;
  s->edge[2 * s->ne++ + 1] = b;
}

static void put_face(scene *s, int a, int b, int c)
{
  const int32_t v[3] = {a, b, c};
  memcpy(s->tri + 3 * s->nt++, v, sizeof v);
  put_edge(s, a, b), put_edge(s, b, c), put_edge(s, a, c);
}

/* A grid of side x side vertices, `spacing` apart, turned about z, with random heights. */
static void put_grid(scene *s, int side, double spacing, double turn, const double *shift,
                     double bumps, uint64_t *seed)
{
  const int first = s->n;
  for (int i = 0; i < side * side; ++i) {
    const double p = spacing * (i % side), q = spacing * (int)(i / side);
    double *const x = s->x + 3 * s->n++;
    x[0] = shift[0] + cos(turn) * p - sin(turn) * q;
    x[1] = shift[1] + sin(turn) * p + cos(turn) * q;
    x[2] = shift[2] + bumps * th_random(seed);
  }
  for (int i = 0; i < side * side; ++i) {
    const int a = first + i, b = a + 1, c = a + side, d = c + 1;
    if (i % side + 1 == side || i / side + 1 == side) continue;
    put_face(s, a, b, d);
    put_face(s, a, d, c);
  }
}

static void open_scene(scene *s)
{
  th_open(&s->t, 1, 1);
  s->t.collision = &brute_ops;
  s->t.collision_self = &s->t;
  th_scene(&s->t, s->n, s->x, NULL, NULL, 0);
  s->t.scene.num_tris = s->nt;
  s->t.scene.num_edges = s->ne;
  s->t.scene.tris = th_buf(&s->t, LOOM_I32, 3 * s->nt, s->tri);
  s->t.scene.edges = th_buf(&s->t, LOOM_I32, 2 * s->ne, s->edge);
  s->t.step.progress = 1.0;
  const loom_plugin *const p = th_plugin("ogc", LOOM_KIND_CONTACT, "ogc");
  s->ops = p->ops.contact;
  s->set = th_settings(p, plain);
  s->self = th_create(&s->t, p, s->set);
  cr_assert_eq(s->ops->begin_step(s->self, &s->t.step), LOOM_OK, "%s", s->t.err.text);
}

static void close_scene(scene *s)
{
  s->ops->destroy(s->self);
  free(s->set);
  th_close(&s->t);
}

static double energy_of(scene *s)
{
  double e = 0.0;
  cr_assert_eq(s->ops->eval(s->self, &s->t.step, s->t.step.x_start, &e, NULL, NULL), LOOM_OK, "%s",
               s->t.err.text);
  return e;
}

/* ---- brute force ---- */

static double law_at(double D)
{
  lk_real e[3];
  if (!(sqrt(D) < bc_d_hat)) return 0.0;
  ogc_of_gap(200.0, bc_d_hat, sqrt(D), e);
  return e[0];
}

static int has_corner(const scene *s, int T, int v)
{
  return s->tri[3 * T] == v || s->tri[3 * T + 1] == v || s->tri[3 * T + 2] == v;
}

static void put_points(const scene *s, int count, const int32_t *v, double *x)
{
  for (int k = 0; k < count; ++k) memcpy(x + 3 * k, s->x + 3 * v[k], 3 * sizeof *x);
}

static double edge_distance2(const scene *s, int p, int a, int b)
{
  const int32_t v[4] = {p, a, b, b};
  double x[12], w[4];
  put_points(s, 4, v, x);
  return dist_vt(x, w);
}

/* Terms of vertex p: triangles 1, edges and vertices 1 less the terms that contain them; features
 * of triangles with p have none. */
static double brute_vertex(const scene *s, int p)
{
  double sum = 0.0;
  for (int T = 0; T < s->nt; ++T) {
    const int32_t v[4] = {p, s->tri[3 * T], s->tri[3 * T + 1], s->tri[3 * T + 2]};
    double x[12], w[4];
    if (has_corner(s, T, p)) continue;
    put_points(s, 4, v, x);
    sum += law_at(dist_vt(x, w));
  }
  for (int q = 0; q < s->n; ++q) {
    int beside = q == p, factor = 1;
    for (int T = 0; T < s->nt; ++T) {
      if (!has_corner(s, T, q)) continue;
      --factor;
      beside |= has_corner(s, T, p);
    }
    for (int k = 0; k < s->ne; ++k) {
      const int a = s->edge[2 * k], b = s->edge[2 * k + 1];
      int of = 1, near = 0;
      if (a != q && b != q) continue;
      for (int T = 0; T < s->nt; ++T) {
        if (!has_corner(s, T, a) || !has_corner(s, T, b)) continue;
        --of;
        near |= has_corner(s, T, p);
      }
      factor -= of;
      if (a == q && !near) sum += of * law_at(edge_distance2(s, p, a, b));
    }
    if (!beside && factor != 0) sum += factor * law_at(edge_distance2(s, p, q, q));
  }
  return sum;
}

/* 1: no triangle of edge k leads nearer to the point c of the edge e, d away; q is closest on k. */
static int brute_block(const scene *s, int k, int e, const double *c, const double *q)
{
  double r[3];
  lk_sub3(c, q, r);
  for (int T = 0; T < s->nt; ++T) {
    if (!has_corner(s, T, s->edge[2 * k]) || !has_corner(s, T, s->edge[2 * k + 1])) continue;
    if (has_corner(s, T, s->edge[2 * e]) || has_corner(s, T, s->edge[2 * e + 1])) continue;
    for (int b = 0; b < 3; ++b) {
      const int u = s->tri[3 * T + b];
      double d[3];
      if (u == s->edge[2 * k] || u == s->edge[2 * k + 1]) continue;
      lk_sub3(s->x + 3 * u, q, d);
      if (lk_dot3(r, d) > 3e-2 * lk_norm3(r) * lk_norm3(d)) return 0;
    }
  }
  return 1;
}

/* Energy of the edges in contact; *in, *out: those and the ones that a block or an end leaves out
 * within reach. */
static double brute_edges(const scene *s, int *in, int *out)
{
  double sum = 0.0;
  for (int a = 0; a < s->ne; ++a)
    for (int b = a + 1; b < s->ne; ++b) {
      const int32_t v[4] = {s->edge[2 * a], s->edge[2 * a + 1], s->edge[2 * b], s->edge[2 * b + 1]};
      double x[12], w[4], p[3], q[3], u[3];
      if (v[0] == v[2] || v[0] == v[3] || v[1] == v[2] || v[1] == v[3]) continue;
      put_points(s, 4, v, x);
      const double D = dist_ee(x, w);
      if (!(sqrt(D) < bc_d_hat)) continue;
      for (int k = 0; k < 3; ++k) {
        p[k] = w[0] * x[k] + w[1] * x[3 + k];
        q[k] = -w[2] * x[6 + k] - w[3] * x[9 + k];
      }
      lk_sub3(x + 3, x, u);
      double end = fmin(w[0], w[1]) * lk_norm3(u);
      lk_sub3(x + 9, x + 6, u);
      end = fmin(end, fmin(-w[2], -w[3]) * lk_norm3(u));
      if (sqrt(D + end * end) > 1.03 * sqrt(D) && brute_block(s, b, a, p, q) &&
          brute_block(s, a, b, q, p)) {
        lk_sub3(x + 3, x, p);
        lk_sub3(x + 9, x + 6, q);
        const double most = BARRIER_PARALLEL * lk_dot3(p, p) * lk_dot3(q, q);
        sum += mollifier_value(mollifier_cross(x), most) * law_at(D);
        ++*in;
      } else {
        ++*out;
      }
    }
  return sum;
}

static void compare_energy(const char *name, int least_in, int least_out, scene *s)
{
  int in = 0, out = 0;
  double want = 0.0, crossing = brute_edges(s, &in, &out);
  open_scene(s);
  for (int p = 0; p < s->n; ++p) want += brute_vertex(s, p);
  const double e = energy_of(s);
  cr_expect(fabs(e - want - crossing) < 1e-9 * (want + crossing), "%s: %.12g, want %.12g + %.12g",
            name, e, want, crossing);
  cr_expect(in >= least_in && out >= least_out, "%s: %d edges in contact, %d not", name, in, out);
  close_scene(s);
}

Test(contact_ogc, energy_equals_brute_force_over_features)
{
  static scene s;
  for (int k = 0; k < 6; ++k) {
    uint64_t seed = 20 + (uint64_t)k;
    const double low[3] = {0, 0, 0}, high[3] = {1.3e-3, -2.1e-3, 2.5e-3 + 2e-4 * k};
    memset(&s, 0, sizeof s);
    put_grid(&s, 5, 8e-3, 0.0, low, 1e-3, &seed);
    put_grid(&s, 5, 7e-3, 0.3, high, 1e-3, &seed);
    compare_energy("grids", 1, 20, &s);
  }
}

/* Over a flat surface the sum is the law of the distance, wherever the vertex is. */
Test(contact_ogc, a_vertex_over_a_flat_sheet_counts_once)
{
  static scene s;
  uint64_t seed = 5;
  for (int k = 0; k < 40; ++k) {
    const double low[3] = {0, 0, 0}, g = 1e-3 + 5e-5 * k;
    memset(&s, 0, sizeof s);
    put_grid(&s, 4, 8e-3, 0.0, low, 0.0, &seed);
    double *const x = s.x + 3 * s.n++; /* in no triangle; over a vertex, an edge, a face */
    x[0] = k % 4 == 0 ? 8e-3 : k % 4 == 1 ? 11e-3 : 12e-3 + 8e-3 * th_random(&seed);
    x[1] = k % 4 == 0 ? 16e-3 : k % 4 == 1 ? 11e-3 : 12e-3 + 8e-3 * th_random(&seed);
    x[2] = g;
    open_scene(&s);
    const double e = energy_of(&s), want = law_at(g * g);
    cr_expect(fabs(e - want) < 1e-10 * want, "%d: %.12g J, want %.12g J", k, e, want);
    close_scene(&s);
  }
}

/* An edge across the crease of two triangles: a contact over a ridge, none over a valley, where
 * the flanks are nearer. */
Test(contact_ogc, an_edge_over_a_crease)
{
  static scene s;
  for (int valley = 0; valley < 2; ++valley) {
    const double rise = valley ? 4e-3 : -4e-3;
    const double x[7][3] = {{0, -0.02, 0},     {0, 0.02, 0},        {0.03, 0, rise},
                            {-0.03, 0, rise},  {-0.01, 1e-3, 3e-3}, {0.01, -1e-3, 3e-3},
                            {0, 0.002, 0.0301}};
    int in = 0, out = 0;
    memset(&s, 0, sizeof s);
    s.n = 7;
    memcpy(s.x, x, sizeof x);
    put_face(&s, 0, 1, 2);
    put_face(&s, 0, 1, 3);
    put_face(&s, 4, 5, 6);
    (void)brute_edges(&s, &in, &out);
    cr_expect_eq(in, !valley, "valley %d: %d edges in contact", valley, in);
    compare_energy(valley ? "valley" : "ridge", !valley, valley, &s);
  }
}

/* Two triangles of a sharp fold.  An edge of each, which cross in the view from above, leads to one
 * end of the crease each: the other one's triangle has that end, and does not end the block. */
Test(contact_ogc, edges_of_a_sharp_fold_are_kept_apart)
{
  static scene s;
  static const double x[4][3] = {
      {0, -0.02, 0}, {0, 0.02, 0}, {0.02, 0.012, 2e-3}, {0.02, -0.012, -2e-3}};
  int in = 0, out = 0;
  memset(&s, 0, sizeof s);
  s.n = 4;
  memcpy(s.x, x, sizeof x);
  put_face(&s, 0, 1, 2);
  put_face(&s, 0, 1, 3);
  (void)brute_edges(&s, &in, &out);
  cr_expect_eq(in, 1, "%d edges in contact", in);
  compare_energy("fold", 1, 0, &s);
}

/* ---- derivatives ---- */

static void check_ogc_derivatives(double jitter, double radius, const char *settings)
{
  static bc_fixture f;
  double x[N3];
  uint64_t seed = 31;
  bc_open(&f, "ogc", 2, 0, jitter, radius, settings);
  for (int i = 0; i < N3; ++i) x[i] = f.x[i] + 0.3 * jitter * th_random(&seed);
  bc_check_derivatives(&f, x, 1e-3, 2e-6); /* as in test_contact_ipc.c */
  bc_close(&f);
}

Test(contact_ogc, derivatives_by_differences) { check_ogc_derivatives(1e-3, 0, plain); }
Test(contact_ogc, derivatives_with_thickness_and_friction)
{
  check_ogc_derivatives(1e-3, 1e-4,
                        "d_hat=4e-3 stiffness=200 slack=2e-3 self_friction=0.4 epsilon_v=0.02");
}
Test(contact_ogc, derivatives_of_nearly_parallel_edges) { check_ogc_derivatives(6e-5, 0, plain); }
