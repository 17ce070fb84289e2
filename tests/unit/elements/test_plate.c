/* plate: the set-up at rest, by the curvature that it gives to quadratic surfaces. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "elements/plate_rest.h"
#include "support/sheets.h"

static const double isotropic[4] = {1, 1, 0.3, 0.35}, orthotropic[4] = {3, 1, 0.4, 0.5};
/* curvatures of bending at 0, 30, 45 and 90 degrees, of a twist and of a dome, 1/m */
enum { SURFACES = 6 };
static const double surfaces[SURFACES][3] = {{1, 0, 0},     {0.75, 0.25, 0.86602540378443864676},
                                             {0.5, 0.5, 1}, {0, 1, 0},
                                             {0, 0, 2},     {1, 1, 0}};

typedef struct plated {
  sheet s;
  topo tp;
  plate_mesh m;
} plated;

/* p->s at rest, at places lift(x, y) or in the plane. */
static void plate_the_sheet(plated *p, void (*lift)(const double *, double *))
{
  loom_err err;
  double X[9];
  cr_assert_eq(topo_build(&err, p->s.tris, p->s.nt, p->s.nv, &p->tp), LOOM_OK);
  cr_assert_eq(plate_mesh_new(&err, &p->tp, p->s.nt, &p->m), LOOM_OK);
  for (int32_t t = 0; t < p->s.nt; ++t) {
    for (int k = 0; k < 3; ++k) {
      const double *const at = p->s.X + 2 * p->s.tris[3 * t + k];
      X[3 * k] = at[0], X[3 * k + 1] = at[1], X[3 * k + 2] = 0;
      if (lift != NULL) lift(at, X + 3 * k);
    }
    cr_assert_null(plate_mesh_triangle(&p->m, t, X));
  }
}

static void open_plated(plated *p, int kind, int n, void (*lift)(const double *, double *))
{
  sheet_new(&p->s, kind, n, n, 1, kind == SHEET_EQUILATERAL ? 0.86602540378443864676 : 1);
  plate_the_sheet(p, lift);
}

static void close_plated(plated *p)
{
  plate_mesh_free(&p->m);
  topo_free(&p->tp);
  sheet_free(&p->s);
}

/* K [3][12] of triangle t and the vertices of its patch. */
static void compute_mode_rows(const plated *p, int32_t t, const double *D, double K[3][PLATE_VERTS],
                              int32_t *v)
{
  double R[3 * PLATE_FOLDS];
  int32_t side[PLATE_FOLDS];
  plate_modes(&p->m, t, D, R);
  plate_fold_sides(&p->m, t, side);
  plate_patch_verts(&p->m, p->s.tris, t, R, v);
  memset(K, 0, 3 * PLATE_VERTS * sizeof(double));
  for (int f = 0; f < PLATE_FOLDS; ++f) {
    double g[PLATE_VERTS] = {0};
    if (side[f] < 0) continue;
    plate_fold_vector(&p->m, side[f], f, g);
    for (int r = 0; r < 3; ++r)
      for (int k = 0; k < PLATE_VERTS; ++k) K[r][k] += R[PLATE_FOLDS * r + f] * g[k];
  }
}

static double area_of(const plated *p, int32_t t)
{
  const double *const c = p->m.corner + 6 * t;
  return 0.5 * fabs((c[2] - c[0]) * (c[5] - c[1]) - (c[3] - c[1]) * (c[4] - c[0]));
}

static double height_of(const double *X, const double *k)
{
  return 0.5 * (k[0] * X[0] * X[0] + k[1] * X[1] * X[1] + k[2] * X[0] * X[1]);
}

/* The largest error of a triangle's energy and of a vertex's force (over the sum of rigidities and
 * curvatures) away from the boundary, for all surfaces. */
static void measure_patch_test(plated *p, const double *D, double *energy, double *force)
{
  double *const w = calloc((size_t)p->s.nv, sizeof *w), *const F =
                                                            calloc((size_t)p->s.nv, sizeof *F);
  *energy = *force = 0;
  for (int k = 0; k < SURFACES; ++k) {
    const double *const c = surfaces[k];
    const double Dc[3] = {D[0] * c[0] + D[2] * c[1], D[2] * c[0] + D[1] * c[1], D[3] * c[2]};
    const double density = 0.5 * (c[0] * Dc[0] + c[1] * Dc[1] + c[2] * Dc[2]);
    for (int32_t i = 0; i < p->s.nv; ++i) w[i] = height_of(p->s.X + 2 * i, c), F[i] = 0;
    for (int32_t t = 0; t < p->s.nt; ++t) {
      double K[3][PLATE_VERTS], y[3] = {0}, E = 0;
      int32_t v[PLATE_VERTS], inside = 9;
      compute_mode_rows(p, t, D, K, v);
      for (int r = 0; r < 3; ++r) {
        for (int a = 0; a < PLATE_VERTS; ++a) y[r] += K[r][a] * (w[v[a]] - w[v[0]]);
        E += 0.5 * y[r] * y[r];
        for (int a = 0; a < PLATE_VERTS; ++a) F[v[a]] += K[r][a] * y[r];
      }
      for (int a = 0; a < 3; ++a) inside = p->s.ring[v[a]] < inside ? p->s.ring[v[a]] : inside;
      if (inside >= 3) *energy = fmax(*energy, fabs(E / (density * area_of(p, t)) - 1));
    }
    for (int32_t i = 0; i < p->s.nv; ++i)
      if (p->s.ring[i] >= 5) *force = fmax(*force, fabs(F[i]) / (D[0] + D[1]));
  }
  free(w);
  free(F);
}

Test(plate, quadratic_surfaces_have_their_energy_and_no_forces)
{
  for (int kind = 0; kind < SHEET_KINDS; ++kind)
    for (int law = 0; law < 2; ++law) {
      plated p;
      double energy, force;
      open_plated(&p, kind, 12, NULL);
      measure_patch_test(&p, law ? orthotropic : isotropic, &energy, &force);
      cr_expect_lt(energy, 1e-9, "%s, law %d: energy %g", sheet_names[kind], law, energy);
      cr_expect_lt(force, 1e-9, "%s, law %d: force %g", sheet_names[kind], law, force);
      close_plated(&p);
    }
}

Test(plate, each_triangle_has_half_a_fold_on_lattices)
{
  static const int kinds[2] = {SHEET_REGULAR, SHEET_EQUILATERAL};
  for (int k = 0; k < 2; ++k) {
    plated p;
    double u[PLATE_SHARES];
    open_plated(&p, kinds[k], 10, NULL);
    for (int32_t side = 0; side < 3 * p.s.nt; ++side) {
      const int32_t *const v = p.s.tris + 3 * (side / 3);
      if (p.s.ring[v[0]] < 3 || p.s.ring[v[1]] < 3 || p.s.ring[v[2]] < 3) continue;
      plate_shares(&p.m, side, u);
      cr_expect_float_eq(u[0], 0.5, 1e-12);
      for (int f = 1; f < PLATE_SHARES; ++f) cr_expect_eq(u[f], 0, "%g", u[f]);
    }
    close_plated(&p);
  }
}

Test(plate, both_sides_of_an_edge_share_its_fold)
{
  for (int kind = 0; kind < SHEET_KINDS; ++kind) {
    plated p;
    double u[2][PLATE_SHARES];
    open_plated(&p, kind, 9, NULL);
    for (int32_t side = 0; side < 3 * p.s.nt; ++side) {
      if (p.m.across[side] < 0) continue;
      plate_shares(&p.m, side, u[0]);
      plate_shares(&p.m, p.m.across[side], u[1]);
      cr_expect_float_eq(u[0][0] + u[1][0], 1, 1e-14);
      for (int f = 1; f < PLATE_SHARES; ++f) {
        cr_expect_eq(u[0][f] + u[1][f < 3 ? f + 2 : f - 2], 0);
        cr_expect_leq(fabs(u[0][f]), 1 + 1e-9);
      }
    }
    close_plated(&p);
  }
}

/* Energy, over D, of all patches with the heights w [nv]; F [nv]: its gradient. */
static double apply_stiffness(const plated *p, const double *w, double *F)
{
  double all = 0;
  for (int32_t i = 0; i < p->s.nv; ++i) F[i] = 0;
  for (int32_t t = 0; t < p->s.nt; ++t) {
    double K[3][PLATE_VERTS];
    int32_t v[PLATE_VERTS];
    compute_mode_rows(p, t, isotropic, K, v);
    for (int r = 0; r < 3; ++r) {
      double y = 0;
      for (int a = 0; a < PLATE_VERTS; ++a) y += K[r][a] * (w[v[a]] - w[v[0]]);
      for (int a = 0; a < PLATE_VERTS; ++a) F[v[a]] += K[r][a] * y;
      all += 0.5 * y * y;
    }
  }
  return all;
}

/* Stiffest eigenvalue of the sheet, over D, by the power method. */
static double largest_eigenvalue(const plated *p)
{
  const size_t n = (size_t)p->s.nv;
  double *const w = calloc(n, sizeof *w), *const F = calloc(n, sizeof *F), len = 1;
  for (int32_t i = 0; i < p->s.nv; ++i) w[i] = i * 7 % 5 - 2;
  for (int turn = 0; turn < 100; ++turn) {
    apply_stiffness(p, w, F);
    len = 0;
    for (size_t i = 0; i < n; ++i) len = fmax(len, fabs(F[i]));
    for (size_t i = 0; i < n; ++i) w[i] = F[i] / len;
  }
  const double twice = apply_stiffness(p, w, F) * 2;
  double sq = 0;
  for (size_t i = 0; i < n; ++i) sq += w[i] * w[i];
  free(w);
  free(F);
  return twice / sq;
}

/* A cylinder has no moment at the free edges across it, so half of the triangles there have no
 * energy. At the edges along it the free edge takes away the moment nu D k, and with it nu^2 of the
 * energy. */
Test(plate, free_edges_have_no_moment)
{
  plated p;
  enum { N = 16 };
  open_plated(&p, SHEET_ALTERNATE, N, NULL);
  double *const w = calloc((size_t)p.s.nv, sizeof *w), *const F = calloc((size_t)p.s.nv, sizeof *F);
  for (int32_t i = 0; i < p.s.nv; ++i) w[i] = height_of(p.s.X + 2 * i, surfaces[0]);
  const double all = apply_stiffness(&p, w, F);
  free(w);
  free(F);
  cr_expect_float_eq(all / 0.5, 1 - (1 + 0.3 * 0.3) / N, 1e-12, "%.12f", all / 0.5);
  close_plated(&p);
}

/* A triangle whose vertices are all held leaves all of the fold to the free one. */
Test(plate, clamped_triangles_take_no_part_of_a_fold)
{
  plated p;
  double u[PLATE_SHARES];
  open_plated(&p, SHEET_DELAUNAY, 8, NULL);
  for (int32_t t = 0; t < p.s.nt; ++t) {
    double x = 0;
    for (int k = 0; k < 3; ++k) x = fmax(x, p.s.X[2 * p.s.tris[3 * t + k]]);
    p.m.held[t] = x < 0.3;
  }
  int seen = 0;
  for (int32_t side = 0; side < 3 * p.s.nt; ++side) {
    const int32_t other = p.m.across[side];
    if (other < 0 || p.m.held[side / 3] == p.m.held[other / 3]) continue;
    plate_shares(&p.m, side, u);
    cr_expect_eq(u[0], p.m.held[side / 3] ? 0 : 1);
    for (int f = 1; f < PLATE_SHARES; ++f) cr_expect_eq(u[f], 0);
    ++seen;
  }
  cr_expect_gt(seen, 10);
  close_plated(&p);
}

/* Energy of triangle t over D for heights w [nv]. */
static double apply_patch(const plated *p, int32_t t, const double *w)
{
  double K[3][PLATE_VERTS], E = 0;
  int32_t v[PLATE_VERTS];
  compute_mode_rows(p, t, isotropic, K, v);
  for (int r = 0; r < 3; ++r) {
    double y = 0;
    for (int a = 0; a < PLATE_VERTS; ++a) y += K[r][a] * (w[v[a]] - w[v[0]]);
    E += 0.5 * y * y;
  }
  return E;
}

/* Flat where it is held, a cylinder beyond: triangles beside the clamp have the energy of a plate,
 * those in it none. */
Test(plate, a_cylinder_from_a_clamp_has_its_energy)
{
  enum { N = 12 };
  for (int kind = 0; kind < SHEET_LONG; ++kind) {
    plated p;
    int seen = 0;
    sheet_new(&p.s, kind, N, N, 1, 1);
    sheet_add_column(&p.s, 1.0 / N);
    plate_the_sheet(&p, NULL);
    double *const w = calloc((size_t)p.s.nv, sizeof *w);
    for (int32_t i = 0; i < p.s.nv; ++i) w[i] = 0.5 * pow(fmax(p.s.X[2 * i], 0), 2);
    for (int32_t t = 0; t < p.s.nt; ++t) {
      double most = -1;
      for (int k = 0; k < 3; ++k) most = fmax(most, p.s.X[2 * p.s.tris[3 * t + k]]);
      p.m.held[t] = most <= 0;
    }
    for (int32_t t = 0; t < p.s.nt; ++t) {
      const double *const X = p.s.X + 2 * p.s.tris[3 * t], E = apply_patch(&p, t, w);
      if (p.m.held[t]) cr_expect_eq(E, 0, "%s: held, %g", sheet_names[kind], E);
      if (p.m.held[t] || X[0] > 0.5 || fabs(X[1] - 0.5) > 0.2) continue;
      cr_expect_float_eq(E / (0.5 * area_of(&p, t)), 1, 1e-9, "%s: %.12f", sheet_names[kind],
                         E / (0.5 * area_of(&p, t)));
      ++seen;
    }
    cr_expect_gt(seen, 30, "%d", seen);
    free(w);
    close_plated(&p);
  }
}

static void lift_roll(const double *at, double *X)
{
  X[0] = 0.3 * sin(at[0] / 0.3);
  X[1] = at[1];
  X[2] = 0.3 * cos(at[0] / 0.3);
}

/* Unfolding needs lengths alone: cells of a roll along its axis are as long as in the plane but for
 * the chord of its arcs, which all have. */
Test(plate, curved_rest_shapes_unfold)
{
  plated flat, roll;
  double u[2][PLATE_SHARES];
  open_plated(&flat, SHEET_REGULAR, 12, NULL);
  open_plated(&roll, SHEET_REGULAR, 12, lift_roll);
  for (int32_t side = 0; side < 3 * flat.s.nt; ++side) {
    if (flat.m.across[side] < 0) continue;
    plate_shares(&flat.m, side, u[0]);
    plate_shares(&roll.m, side, u[1]);
    for (int f = 0; f < PLATE_SHARES; ++f) cr_expect_float_eq(u[0][f], u[1][f], 2e-2);
  }
  close_plated(&flat);
  close_plated(&roll);
}

/* A third triangle at an edge: the edge is free for all three, its sides get no share. */
Test(plate, edges_of_three_triangles_are_free)
{
  const int32_t tris[9] = {0, 1, 2, 1, 0, 3, 0, 1, 4};
  const double X[15] = {0, 0, 0, 1, 0, 0, 0.5, 1, 0, 0.5, -1, 0, 0.5, 0, 1};
  loom_err err;
  topo tp;
  plate_mesh m;
  double R[3 * PLATE_FOLDS], Y[9];
  cr_assert_eq(topo_build(&err, tris, 3, 5, &tp), LOOM_OK);
  cr_assert_eq(plate_mesh_new(&err, &tp, 3, &m), LOOM_OK);
  for (int t = 0; t < 3; ++t) {
    for (int k = 0; k < 9; ++k) Y[k] = X[3 * tris[3 * t + k / 3] + k % 3];
    cr_assert_null(plate_mesh_triangle(&m, t, Y));
  }
  for (int t = 0; t < 3; ++t) {
    int32_t v[PLATE_VERTS];
    plate_modes(&m, t, isotropic, R);
    plate_patch_verts(&m, tris, t, R, v);
    for (int k = 0; k < 3 * PLATE_FOLDS; ++k) cr_expect_eq(R[k], 0);
    for (int k = 3; k < PLATE_VERTS; ++k) cr_expect_eq(v[k], tris[3 * t]);
  }
  plate_mesh_free(&m);
  topo_free(&tp);
}

/* A vertex pushed towards an edge until its triangle is 0.01 cells high: the hinge is 7e5 D/h^2
 * stiff there, and c = (1/2, 0, 0, 0, 0) 6e4; the energy of a cylinder stays. */
Test(plate, slivers_stay_soft)
{
  enum { N = 10 };
  static const double heights[2] = {1, 0.01};
  for (int kind = SHEET_REGULAR; kind <= SHEET_ALTERNATE; ++kind) {
    double energy[2];
    for (int k = 0; k < 2; ++k) {
      plated p;
      open_plated(&p, kind, N, NULL);
      const int32_t mid = (N + 1) * (N / 2) + N / 2 - 1; /* of four or six triangles */
      int32_t q = 0;
      while (p.s.tris[q] != mid) ++q;
      const int32_t a = p.s.tris[q - q % 3 + (q + 1) % 3], b = p.s.tris[q - q % 3 + (q + 2) % 3];
      for (int c = 0; c < 2; ++c) {
        const double foot = 0.55 * p.s.X[2 * a + c] + 0.45 * p.s.X[2 * b + c];
        p.s.X[2 * mid + c] = foot + heights[k] * (p.s.X[2 * mid + c] - foot);
      }
      for (int32_t t = 0; t < p.s.nt; ++t) {
        double Y[9] = {0};
        for (int j = 0; j < 9; ++j)
          if (j % 3 < 2) Y[j] = p.s.X[2 * p.s.tris[3 * t + j / 3] + j % 3];
        cr_assert_null(plate_mesh_triangle(&p.m, t, Y));
      }
      double *const w = calloc((size_t)p.s.nv, sizeof *w), *const F =
                                                               calloc((size_t)p.s.nv, sizeof *F);
      for (int32_t i = 0; i < p.s.nv; ++i) w[i] = height_of(p.s.X + 2 * i, surfaces[0]);
      energy[k] = apply_stiffness(&p, w, F);
      const double most = largest_eigenvalue(&p) / (N * N);
      cr_expect_lt(most, k == 0 ? 70 : 1e4, "%s: %g D/h^2", sheet_names[kind], most);
      free(w);
      free(F);
      close_plated(&p);
    }
    cr_expect_float_eq(energy[1] / energy[0], 1, 1e-3, "%g", energy[1] / energy[0]);
  }
}
