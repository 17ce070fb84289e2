/* impact_zones responds to pairs that meet, not to pairs that pass by.  Two layers are thrown at
 * each other; the impacts that the first round of the first step finds equal a count that does not
 * use loom's detection: coplanar times by bisection, then an inside test.  The energy that is left
 * equals that of a dense solve of these impacts, round by round.  How detection bounds a step
 * (`ccd`, `keep`) has no say in either. */
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

/* A pair that meets: n' sum w v = 0 at its time. */
typedef struct exact_impact {
  int id[4], edges;
  double w[4], n[3]; /* weights, which add up to 0; unit normal */
} exact_impact;

/* Do they meet at t, when they are in one plane?  A vertex and a triangle, or two edges.  Fills in
 * the weights and the normal. */
static int is_meeting_in_plane(const double *x, const double *v, exact_impact *at, double t)
{
  double p[4][3], a[3], b[3], r[3], n[3], m[3];
  for (int i = 0; i < 4; ++i) compute_vertex_position(x, v, at->id[i], t, p[i]);
  if (at->edges) { /* p0 + s a = p2 + u b */
    subtract_positions(p[1], p[0], a);
    subtract_positions(p[3], p[2], b);
  } else {
    subtract_positions(p[2], p[1], a);
    subtract_positions(p[3], p[1], b);
  }
  cross_edge_vectors(a, b, n);
  const double nn = dot_edge_vectors(n, n);
  if (!(nn > 0.0)) return 0;
  for (int k = 0; k < 3; ++k) at->n[k] = n[k] / sqrt(nn);
  if (at->edges) {
    subtract_positions(p[2], p[0], r);
    cross_edge_vectors(r, b, m);
    const double s = dot_edge_vectors(m, n) / nn;
    cross_edge_vectors(r, a, m);
    const double u = dot_edge_vectors(m, n) / nn;
    const double w[4] = {1.0 - s, s, u - 1.0, -u};
    memcpy(at->w, w, sizeof w);
    return s >= 0.0 && s <= 1.0 && u >= 0.0 && u <= 1.0;
  }
  at->w[0] = 1.0;
  for (int i = 0; i < 3; ++i) {
    subtract_positions(p[1 + (i + 1) % 3], p[1 + i], a);
    subtract_positions(p[0], p[1 + i], r);
    cross_edge_vectors(a, r, m);
    const double share = dot_edge_vectors(m, n) / nn; /* of the corner across this side */
    if (share < 0.0) return 0;
    at->w[1 + (i + 2) % 3] = -share;
  }
  return 1;
}

static int find_pair_impact(const double *x, const double *v, exact_impact *at)
{
  enum { PIECES = 64 };
  for (int k = 0; k < PIECES; ++k) {
    double lo = (double)k / PIECES, hi = (k + 1.0) / PIECES;
    const double first = tetrahedron_volume6(x, v, at->id, lo);
    if ((first < 0.0) == (tetrahedron_volume6(x, v, at->id, hi) < 0.0)) continue;
    for (int i = 0; i < 60; ++i) {
      const double mid = 0.5 * (lo + hi);
      if ((tetrahedron_volume6(x, v, at->id, mid) < 0.0) == (first < 0.0))
        lo = mid;
      else
        hi = mid;
    }
    if (is_meeting_in_plane(x, v, at, lo)) return 1;
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

enum { MOST_IMPACTS = 2000 };

/* Adds the pair if it meets; a pair that is known is linearised again.  Returns 1 if it meets. */
static int add_impact(const double *x, const double *v, const int *id, int edges, exact_impact *out,
                      int *num)
{
  exact_impact at = {.edges = edges};
  memcpy(at.id, id, sizeof at.id);
  if (!find_pair_impact(x, v, &at)) return 0;
  int k = 0;
  while (k < *num && !(out[k].edges == edges && memcmp(out[k].id, id, sizeof at.id) == 0)) ++k;
  cr_assert_lt(k, MOST_IMPACTS);
  if (k == *num) ++*num;
  out[k] = at;
  return 1;
}

/* All pairs of the two sheets; returns how many meet. */
static int add_impacting_pairs(const sim *s, const double *x, const double *v, exact_impact *out,
                               int *num)
{
  static int e[2][3 * VERTS][2];
  const int edges[2] = {edges_of(s, 0, e[0]), edges_of(s, 1, e[1])};
  int found = 0;
  for (int i = 0; i < 2 * VERTS; ++i)
    for (int64_t t = 0; t < s->nt; ++t) {
      const int id[4] = {i, s->tris[3 * t], s->tris[3 * t + 1], s->tris[3 * t + 2]};
      if (id[0] / VERTS != id[1] / VERTS) found += add_impact(x, v, id, 0, out, num);
    }
  for (int i = 0; i < edges[0]; ++i)
    for (int j = 0; j < edges[1]; ++j) {
      const int id[4] = {e[0][i][0], e[0][i][1], e[1][j][0], e[1][j][1]};
      found += add_impact(x, v, id, 1, out, num);
    }
  return found;
}

/* ---- the energy that is left ---- */

static void compute_sheet_masses(const sim *s, double *mass)
{
  for (int i = 0; i < 2 * VERTS; ++i) mass[i] = 0.0;
  for (int64_t t = 0; t < s->nt; ++t) {
    double a[3], b[3], n[3];
    const int32_t *const c = s->tris + 3 * t;
    subtract_positions(s->rest + 3 * c[1], s->rest + 3 * c[0], a);
    subtract_positions(s->rest + 3 * c[2], s->rest + 3 * c[0], b);
    cross_edge_vectors(a, b, n);
    for (int k = 0; k < 3; ++k) mass[c[k]] += 0.2 * 0.5 * sqrt(dot_edge_vectors(n, n)) / 3.0;
  }
}

/* G v of one impact. */
static double closing_speed(const exact_impact *at, const double *v)
{
  double sum = 0.0;
  for (int i = 0; i < 4; ++i) sum += at->w[i] * dot_edge_vectors(at->n, v + 3 * at->id[i]);
  return sum;
}

/* v = v0 + M^-1 G' lambda with G v = 0, the velocities nearest to v0 in the norm of the mass:
 * conjugate gradients on G M^-1 G' to rounding. */
static void project_velocities(const exact_impact *at, int num, const double *mass,
                               const double *v0, double *v)
{
  static double r[MOST_IMPACTS], p[MOST_IMPACTS], q[6 * VERTS];
  double rr = 0.0;
  memcpy(v, v0, 6 * VERTS * sizeof *v);
  for (int k = 0; k < num; ++k) {
    p[k] = r[k] = -closing_speed(&at[k], v0);
    rr += r[k] * r[k];
  }
  const double enough = 1e-24 * rr;
  for (int it = 0; it < 5000 && rr > enough; ++it) {
    double pq = 0.0, next = 0.0;
    memset(q, 0, sizeof q);
    for (int k = 0; k < num; ++k)
      for (int i = 0; i < 4; ++i)
        for (int c = 0; c < 3; ++c)
          q[3 * at[k].id[i] + c] += p[k] * at[k].w[i] * at[k].n[c] / mass[at[k].id[i]];
    for (int k = 0; k < num; ++k) pq += p[k] * closing_speed(&at[k], q);
    const double alpha = rr / pq;
    for (int i = 0; i < 6 * VERTS; ++i) v[i] += alpha * q[i];
    for (int k = 0; k < num; ++k) {
      r[k] -= alpha * closing_speed(&at[k], q);
      next += r[k] * r[k];
    }
    for (int k = 0; k < num; ++k) p[k] = r[k] + next / rr * p[k];
    rr = next;
  }
}

static double compute_kinetic_energy(const double *mass, const double *v)
{
  double sum = 0.0;
  for (int i = 0; i < 2 * VERTS; ++i) sum += 0.5 * mass[i] * dot_edge_vectors(v + 3 * i, v + 3 * i);
  return sum;
}

/* Impacts of all rounds in one system, always from v0, until no pair meets; J.  *first: those of
 * the first round; *begun: the energy of the start. */
static double find_energy_left(const sim *s, const double *x, const double *v0, int *first,
                               double *begun)
{
  static exact_impact at[MOST_IMPACTS];
  double mass[2 * VERTS], v[6 * VERTS];
  int num = 0;
  compute_sheet_masses(s, mass);
  *first = add_impacting_pairs(s, x, v0, at, &num);
  *begun = compute_kinetic_energy(mass, v0);
  for (int round = 0; round < 50; ++round) {
    project_velocities(at, num, mass, v0, v);
    if (add_impacting_pairs(s, x, v, at, &num) == 0) return compute_kinetic_energy(mass, v);
  }
  return NAN;
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
    double left = NAN, exact = NAN, begun = NAN;
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
      if (want < 0) exact = find_energy_left(&s, x, v, &want, &begun);
      const int first = first_of(&s);
      if (k == 0)
        printf("impacts    %s m/s: %d, %d by an exact count; lost %.4f of the energy, %.4f by an "
               "exact solve\n",
               speeds[j], first, want, 1.0 - st[0].e_kinetic / begun, 1.0 - exact / begun);
      cr_expect_eq(first, want, "%s, %s, %s: %d, exact %d", speeds[j], ccd, keep, first, want);
      cr_expect(want > 3, "%d impacts are no test", want);
      if (k == 0) left = st[0].e_kinetic;
      cr_expect_lt(fabs(st[0].e_kinetic - exact), 0.02 * begun, "%s m/s: %g J, exact %g of %g",
                   speeds[j], st[0].e_kinetic, exact, begun);
      cr_expect_float_eq(st[0].e_kinetic, left, 1e-6 * left, "%s, %s: %g J, %g J", ccd, keep,
                         st[0].e_kinetic, left);
      free(x);
      free(v);
      free(st);
      sim_free(&s);
    }
  }
}
