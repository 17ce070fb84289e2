/* sdf.c, bvh.c: baked distances against analytic ones, sign, convergence, file format. */
#include <criterion/criterion.h>
#include <math.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bodies/grid.kern.h"
#include "mesh/bvh.h"
#include "mesh/doctor.h"
#include "mesh/sdf.h"

/* Sphere of radius r as a cube of q x q cells per side pushed onto it. */
static mesh create_cube_sphere(double r, int q)
{
  loom_err e = {0};
  mesh m;
  const int64_t n = q + 1;
  cr_assert_eq(mesh_tet_box(&e, (double[3]){2, 2, 2}, (int64_t[3]){n, n, n}, &m), LOOM_OK);
  for (int32_t i = 0; i < m.num_verts; ++i) {
    double *x = m.x + 3 * i;
    const double len = sqrt(x[0] * x[0] + x[1] * x[1] + x[2] * x[2]);
    for (int c = 0; c < 3 && len > 0; ++c) x[c] *= r / len; /* inner ones: unused by tris */
  }
  return m;
}

static mesh create_box_mesh(double a, double b, double c)
{
  loom_err e = {0};
  mesh m;
  cr_assert_eq(mesh_tet_box(&e, (double[3]){2 * a, 2 * b, 2 * c}, (int64_t[3]){3, 3, 3}, &m),
               LOOM_OK);
  return m;
}

static double true_distance(const double half[3], const double p[3])
{
  double out = 0, in = -1e9;
  for (int c = 0; c < 3; ++c) {
    const double d = fabs(p[c]) - half[c];
    out += d > 0 ? d * d : 0;
    in = fmax(in, d);
  }
  return out > 0 ? sqrt(out) : in;
}

Test(sdf, box_is_exact_at_every_node)
{
  loom_err e = {0};
  const double half[3] = {0.5, 0.3, 0.2};
  mesh m = create_box_mesh(half[0], half[1], half[2]);
  sdf_grid g;
  cr_assert_eq(sdf_frame(&e, &m, 24, 0.15, &g), LOOM_OK);
  loom_real *v = malloc((size_t)g.dims[0] * g.dims[1] * g.dims[2] * sizeof *v);
  cr_assert_eq(sdf_bake(&e, &m, &g, 0.01, v), LOOM_OK);
  int64_t at = 0, inside = 0;
  for (int k = 0; k < g.dims[2]; ++k)
    for (int j = 0; j < g.dims[1]; ++j)
      for (int i = 0; i < g.dims[0]; ++i, ++at) {
        const double p[3] = {g.origin[0] + i * g.spacing, g.origin[1] + j * g.spacing,
                             g.origin[2] + k * g.spacing};
        /* exact but for rounding: distances of order 1, some ten operations */
        cr_assert_float_eq(v[at], true_distance(half, p) - 0.01, 1e-13 + 1e-5 * (sizeof *v == 4));
        inside += v[at] < 0;
      }
  cr_assert(inside > 100 && inside < at / 2);
  free(v);
  mesh_free(&m);
}

/* The distance that a body of this grid has at p. */
static double grid_distance_at(const sdf_grid *g, const loom_real *value, const double p[3])
{
  obst_view o = {.spacing = (lk_real)g->spacing, .sdf = value};
  lk_real at[3], n[3];
  for (int c = 0; c < 3; ++c) {
    o.dims[c] = (int32_t)g->dims[c];
    o.origin[c] = (lk_real)g->origin[c];
    at[c] = (lk_real)p[c];
  }
  return (double)grid_distance(&o, at, n);
}

/* Largest error of the interpolated field against the sphere's, over a fixed set of points. */
static double sphere_error(int resolution, int cells)
{
  loom_err e = {0};
  mesh m = create_cube_sphere(0.3, cells);
  sdf_grid g;
  double worst = 0;
  cr_assert_eq(sdf_frame(&e, &m, resolution, 0.1, &g), LOOM_OK);
  loom_real *v = malloc((size_t)g.dims[0] * g.dims[1] * g.dims[2] * sizeof *v);
  cr_assert_eq(sdf_bake(&e, &m, &g, 0, v), LOOM_OK);
  for (int s = 0; s < 2000; ++s) {
    /* a spiral of directions, radii from 0.15 to 0.35: away from the kink at the centre */
    const double z = 1 - (2 * s + 1) / 2000.0, a = 2.399963 * s, w = sqrt(1 - z * z);
    const double r = 0.15 + 0.2 * (s % 37) / 37.0;
    const double p[3] = {r * w * cos(a), r * w * sin(a), r * z};
    worst = fmax(worst, fabs(grid_distance_at(&g, v, p) - (r - 0.3)));
  }
  free(v);
  mesh_free(&m);
  return worst;
}

Test(sdf, sphere_converges_with_the_square_of_the_spacing)
{
  /* trilinear interpolation and faceting are both second order: halving both must bring
   * about a quarter; a third leaves room for where the sample points fall */
  const double coarse = sphere_error(12, 8), middle = sphere_error(24, 16);
  const double fine = sphere_error(48, 32);
  cr_assert(coarse < 0.03 * 0.3 * 2, "%g", coarse);
  cr_assert(middle < coarse / 3, "%g %g", coarse, middle);
  cr_assert(fine < middle / 3, "%g %g", middle, fine);
}

Test(sdf, sign_is_right_next_to_sharp_concave_and_convex_edges)
{
  /* a star-shaped spike ball: every second surface vertex of a coarse ball pulled out; inside
   * is decided independently by the solid angle */
  loom_err e = {0};
  doctor d = {0};
  mesh m = create_cube_sphere(0.3, 3);
  for (int32_t i = 0; i < m.num_verts; i += 2)
    for (int c = 0; c < 3; ++c) m.x[3 * i + c] *= 2.2;
  cr_assert_eq(doctor_mesh(&e, &d, "spikes", &m, DOCTOR_BODY), LOOM_OK);
  cr_assert_eq(d.total, 0);
  sdf_grid g;
  cr_assert_eq(sdf_frame(&e, &m, 20, 0.1, &g), LOOM_OK);
  loom_real *v = malloc((size_t)g.dims[0] * g.dims[1] * g.dims[2] * sizeof *v);
  cr_assert_eq(sdf_bake(&e, &m, &g, 0, v), LOOM_OK);
  int64_t at = 0, inside = 0;
  for (int k = 0; k < g.dims[2]; ++k)
    for (int j = 0; j < g.dims[1]; ++j)
      for (int i = 0; i < g.dims[0]; ++i, ++at) {
        const double p[3] = {g.origin[0] + i * g.spacing, g.origin[1] + j * g.spacing,
                             g.origin[2] + k * g.spacing};
        double angle = 0; /* van Oosterom and Strackee 1983 */
        for (int32_t t = 0; t < m.num_tris; ++t) {
          double r[3][3], len[3];
          for (int a = 0; a < 3; ++a) {
            for (int c = 0; c < 3; ++c) r[a][c] = m.x[3 * m.tris[3 * t + a] + c] - p[c];
            len[a] = sqrt(r[a][0] * r[a][0] + r[a][1] * r[a][1] + r[a][2] * r[a][2]);
          }
          const double det = r[0][0] * (r[1][1] * r[2][2] - r[1][2] * r[2][1]) -
                             r[0][1] * (r[1][0] * r[2][2] - r[1][2] * r[2][0]) +
                             r[0][2] * (r[1][0] * r[2][1] - r[1][1] * r[2][0]);
          double den = len[0] * len[1] * len[2];
          for (int a = 0; a < 3; ++a) {
            const int b = (a + 1) % 3, c = (a + 2) % 3;
            den += len[a] * (r[b][0] * r[c][0] + r[b][1] * r[c][1] + r[b][2] * r[c][2]);
          }
          angle += 2 * atan2(det, den);
        }
        const int in = fabs(angle) > 6.283185307179586; /* 4 pi inside, 0 outside */
        if (fabs(v[at]) > 1e-9) cr_assert_eq(v[at] < 0, in, "node %d %d %d: %g", i, j, k, v[at]);
        inside += in;
      }
  cr_assert(inside > 50);
  free(v);
  mesh_free(&m);
}

Test(sdf, same_bits_for_any_number_of_threads)
{
  loom_err e = {0};
  mesh m = create_cube_sphere(0.3, 10);
  sdf_grid g;
  cr_assert_eq(sdf_frame(&e, &m, 20, 0, &g), LOOM_OK);
  const size_t n = (size_t)g.dims[0] * g.dims[1] * g.dims[2];
  loom_real *v = malloc(n * sizeof *v), *w = malloc(n * sizeof *w);
  omp_set_num_threads(1);
  cr_assert_eq(sdf_bake(&e, &m, &g, 0, v), LOOM_OK);
  omp_set_num_threads(5);
  cr_assert_eq(sdf_bake(&e, &m, &g, 0, w), LOOM_OK);
  cr_assert_eq(memcmp(v, w, n * sizeof *v), 0);
  free(v);
  free(w);
  mesh_free(&m);
}

Test(bvh, finds_what_looking_at_all_triangles_finds)
{
  loom_err e = {0};
  mesh m = create_cube_sphere(1, 6);
  bvh *b;
  uint32_t seed = 7;
  cr_assert_eq(bvh_build(&e, m.x, m.tris, m.num_tris, &b), LOOM_OK);
  for (int s = 0; s < 500; ++s) {
    double p[3], best = 1e9;
    bvh_hit hit, h;
    for (int c = 0; c < 3; ++c) {
      seed = seed * 1664525u + 1013904223u;
      p[c] = 3 * (seed / 4294967296.0) - 1.5;
    }
    for (int32_t t = 0; t < m.num_tris; ++t) {
      bvh_closest_on_triangle(p, m.x + 3 * m.tris[3 * t], m.x + 3 * m.tris[3 * t + 1],
                              m.x + 3 * m.tris[3 * t + 2], &h);
      best = fmin(best, h.dist);
    }
    bvh_closest(b, p, 1e300, &hit);
    cr_assert_eq(hit.dist, best);
    bvh_closest(b, p, best * (1 + 1e-9), &hit);
    cr_assert_eq(hit.dist, best);
  }
  bvh_free(b);
  mesh_free(&m);
}

static loom_status read_sdf_text(loom_err *e, const char *text, sdf_grid *g, loom_real **v)
{
  char path[] = "/tmp/loom_sdf_XXXXXX";
  const int fd = mkstemp(path);
  cr_assert(fd >= 0);
  cr_assert_eq(write(fd, text, strlen(text)), (ssize_t)strlen(text));
  close(fd);
  const loom_status s = sdf_read(e, path, g, v);
  unlink(path);
  return s;
}

Test(sdf, text_files)
{
  loom_err e = {0};
  sdf_grid g;
  loom_real *v;
  cr_assert_eq(read_sdf_text(&e, "2 2 3\n-1 0 1\n0.5\n1 2 3 4\n5 6 7 8\n9 10 11 12\n", &g, &v),
               LOOM_OK, "%s", e.text);
  cr_assert(g.dims[2] == 3 && g.origin[2] == 1 && g.spacing == 0.5 && v[5] == 6);
  cr_assert_float_eq(grid_distance_at(&g, v, (double[3]){-0.75, 0.25, 1.25}), 4.5, 1e-6);
  free(v);
  cr_assert_eq(read_sdf_text(&e, "2 2 3\n-1 0 1\n0.5\n1 2 3 4\n", &g, &v), LOOM_E_IO);
  cr_assert_eq(read_sdf_text(&e, "2 2 2\n-1 0 1\n0.5\n1 2 3 4 5 6 7 nan", &g, &v), LOOM_E_IO);
  cr_assert_eq(read_sdf_text(&e, "2 2 2\n-1 0 1\n0.5\n1 2 3 4 5 6 7 8 9", &g, &v), LOOM_E_IO);
  cr_assert_eq(read_sdf_text(&e, "2 2 2\n-1 0 1\n0\n1 2 3 4 5 6 7 8", &g, &v), LOOM_E_IO);
  cr_assert_eq(read_sdf_text(&e, "2 2 99999\n-1 0 1\n1\n1 2 3 4 5 6 7 8", &g, &v), LOOM_E_IO);
  cr_assert_eq(v == NULL, 1);
}
