/* impact_zones responds to pairs that meet, not to pairs that pass by.  Two layers are thrown at
 * each other; the impacts that the first round of the first step finds equal a count that does not
 * use loom's detection: coplanar times by bisection, then an inside test.  How detection bounds a
 * step (`ccd`, `keep`) has no say in it, nor in the energy that is left. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "log/h5read.h"
#include "support/sim.h"

enum { SIDE = 9, VERTS = SIDE * SIDE };
static const double h = 0.01; /* s */

/* Both are plane at first and move as they are, so a step would end at x + h v. */
static const char layers[] =
    "[run]\nsteps = 1\ndt = 0.01\ngravity = 0 0 0\n[exec]\nbackend = cpu\nthreads = 1\n"
    "[log]\naudit = every\n[solver]\nplugin = cholmod_newton\n"
    "[cloth.one]\nmodel = arap+isometric\npattern = regular\nshape = grid\nsize = 0.2 "
    "0.2\nresolution = 9 9\ndensity = 0.2\nmembrane = 100\n"
    "k_b = 1e-6\nthickness = 0\nvelocity = 0 0 -1\n"
    "transform = rotate 1 0 0 7 rotate 0 0 1 20 translate 0.011 0.007 0.0127\n"
    "[cloth.two]\nmodel = arap+isometric\npattern = regular\nshape = grid\nsize = 0.2 "
    "0.2\nresolution = 9 9\ndensity = 0.2\nmembrane = 100\n"
    "k_b = 1e-6\nthickness = 0\nvelocity = 0.1 0 0.2\n"
    "[collision.self]\nplugin = patch_bvh\n"
    "[contact.all]\nplugin = impact_zones\npairs = all\n";

/* ---- the count ---- */

static void compute_vertex_position(const double *x, const double *v, int i, double t, double *p)
{
  for (int k = 0; k < 3; ++k) p[k] = x[3 * i + k] + t * h * v[3 * i + k];
}

static void subtract_positions(const double *a, const double *b, double *out)
{
  for (int k = 0; k < 3; ++k) out[k] = a[k] - b[k];
}

static double dot_edge_vectors(const double *a, const double *b)
{
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static void cross_edge_vectors(const double *a, const double *b, double *out)
{
  out[0] = a[1] * b[2] - a[2] * b[1];
  out[1] = a[2] * b[0] - a[0] * b[2];
  out[2] = a[0] * b[1] - a[1] * b[0];
}

/* Six times the volume of the four points at t. */
static double tetrahedron_volume6(const double *x, const double *v, const int *id, double t)
{
  double p[4][3], a[3], b[3], c[3], n[3];
  for (int i = 0; i < 4; ++i) compute_vertex_position(x, v, id[i], t, p[i]);
  subtract_positions(p[1], p[0], a);
  subtract_positions(p[2], p[0], b);
  subtract_positions(p[3], p[0], c);
  cross_edge_vectors(a, b, n);
  return dot_edge_vectors(n, c);
}

/* Do they meet at t, when they are in one plane?  A vertex and a triangle, or two edges. */
static int is_meeting_in_plane(const double *x, const double *v, const int *id, int edges, double t)
{
  double p[4][3], a[3], b[3], r[3], n[3], m[3];
  for (int i = 0; i < 4; ++i) compute_vertex_position(x, v, id[i], t, p[i]);
  if (edges) { /* p0 + s a = p2 + u b */
    subtract_positions(p[1], p[0], a);
    subtract_positions(p[3], p[2], b);
    subtract_positions(p[2], p[0], r);
    cross_edge_vectors(a, b, n);
    if (!(dot_edge_vectors(n, n) > 0.0)) return 0;
    cross_edge_vectors(r, b, m);
    const double s = dot_edge_vectors(m, n) / dot_edge_vectors(n, n);
    cross_edge_vectors(r, a, m);
    const double u = dot_edge_vectors(m, n) / dot_edge_vectors(n, n);
    return s >= 0.0 && s <= 1.0 && u >= 0.0 && u <= 1.0;
  }
  subtract_positions(p[2], p[1], a);
  subtract_positions(p[3], p[1], b);
  cross_edge_vectors(a, b, n);
  for (int i = 0; i < 3; ++i) {
    subtract_positions(p[1 + (i + 1) % 3], p[1 + i], a);
    subtract_positions(p[0], p[1 + i], r);
    cross_edge_vectors(a, r, m);
    if (dot_edge_vectors(m, n) < 0.0) return 0;
  }
  return 1;
}

static int has_pair_impact(const double *x, const double *v, const int *id, int edges)
{
  enum { PIECES = 64 };
  for (int k = 0; k < PIECES; ++k) {
    double lo = (double)k / PIECES, hi = (k + 1.0) / PIECES;
    const double first = tetrahedron_volume6(x, v, id, lo);
    if ((first < 0.0) == (tetrahedron_volume6(x, v, id, hi) < 0.0)) continue;
    for (int i = 0; i < 60; ++i) {
      const double mid = 0.5 * (lo + hi);
      if ((tetrahedron_volume6(x, v, id, mid) < 0.0) == (first < 0.0))
        lo = mid;
      else
        hi = mid;
    }
    if (is_meeting_in_plane(x, v, id, edges, lo)) return 1;
  }
  return 0;
}

/* Edges of one sheet, [.][2]; their number. */
static int edges_of(const sim *s, int sheet, int (*out)[2])
{
  static char seen[VERTS][VERTS];
  int num = 0;
  memset(seen, 0, sizeof seen);
  for (int64_t t = 0; t < s->nt; ++t)
    for (int k = 0; k < 3; ++k) {
      const int a = s->tris[3 * t + k] - sheet * VERTS,
                b = s->tris[3 * t + (k + 1) % 3] - sheet * VERTS;
      if (a < 0 || a >= VERTS || seen[a][b] || seen[b][a]) continue;
      seen[a][b] = 1;
      out[num][0] = a + sheet * VERTS;
      out[num++][1] = b + sheet * VERTS;
    }
  return num;
}

static int count_impacting_pairs(const sim *s, const double *x, const double *v)
{
  static int e[2][3 * VERTS][2];
  const int num[2] = {edges_of(s, 0, e[0]), edges_of(s, 1, e[1])};
  int found = 0;
  for (int i = 0; i < 2 * VERTS; ++i)
    for (int64_t t = 0; t < s->nt; ++t) {
      const int id[4] = {i, s->tris[3 * t], s->tris[3 * t + 1], s->tris[3 * t + 2]};
      if (id[0] / VERTS != id[1] / VERTS) found += has_pair_impact(x, v, id, 0);
    }
  for (int i = 0; i < num[0]; ++i)
    for (int j = 0; j < num[1]; ++j) {
      const int id[4] = {e[0][i][0], e[0][i][1], e[1][j][0], e[1][j][1]};
      found += has_pair_impact(x, v, id, 1);
    }
  return found;
}

/* ---- impacts that loom finds ---- */

static int first_of(sim *s)
{
  double out[1];
  h5read *r = NULL;
  cr_assert_eq(h5read_open(&s->err, s->log, &r), LOOM_OK, "%s", s->err.text);
  cr_assert_eq(h5read_column(r, &s->err, "steps_extra", "contact.all.first", 'R', 0, 1, out),
               LOOM_OK, "%s", s->err.text);
  h5read_close(r);
  return (int)out[0];
}

Test(first_impacts, are_those_of_an_exact_count)
{
  static const char *const plugins[] = {"patch_bvh", "bvtt_front", "brute"};
  static const char *const ways[][2] = {{"additive", "0.1"},
                                        {"additive", "0.5"},
                                        {"additive", "0.001"},
                                        {"cubic", "0.1"},
                                        {"newton", "0.3"}};
  static const char *const speeds[] = {"0 0 -0.6", "0 0 -1", "0.3 0 -2.5"};
  for (size_t j = 0; j < sizeof speeds / sizeof *speeds; ++j) {
    int want = -1;
    double left = NAN;
    for (size_t k = 0; k < sizeof ways / sizeof *ways; ++k) {
      char ccd[40], keep[40], plugin[60], speed[60];
      sim s;
      snprintf(plugin, sizeof plugin, "collision.self.plugin=%s", plugins[k % 3]);
      snprintf(ccd, sizeof ccd, "collision.self.ccd=%s", ways[k][0]);
      snprintf(keep, sizeof keep, "collision.self.keep=%s", ways[k][1]);
      snprintf(speed, sizeof speed, "cloth.one.velocity=%s", speeds[j]);
      sim_run(&s, layers, (const char *const[]){plugin, ccd, keep, speed, NULL}, 0);
      h5log_step_row *const st = sim_steps(&s);
      double *const x = malloc(sizeof(double) * 3 * (size_t)s.n);
      double *const v = malloc(sizeof(double) * 3 * (size_t)s.n);
      cr_assert(x != NULL && v != NULL);
      sim_frame(&s, 0, x, v, NULL);
      if (want < 0) want = count_impacting_pairs(&s, x, v);
      const int first = first_of(&s);
      if (k == 0)
        printf("%s m/s: %d impacts, %d by an exact count; %.4g J are left\n", speeds[j], first,
               want, st[0].e_kinetic);
      cr_expect_eq(first, want, "%s, %s, %s: %d, exact %d", speeds[j], ccd, keep, first, want);
      cr_expect(want > 3, "%d impacts are no test", want);
      if (k == 0) left = st[0].e_kinetic;
      cr_expect_float_eq(st[0].e_kinetic, left, 1e-6 * left, "%s, %s: %g J, %g J", ccd, keep,
                         st[0].e_kinetic, left);
      free(x);
      free(v);
      free(st);
      sim_free(&s);
    }
  }
}
