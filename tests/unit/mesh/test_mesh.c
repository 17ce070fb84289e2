/* mesh.c, topo.c: generated meshes have the vertices, areas, volumes and neighbours they
 * should have. */
#include <criterion/criterion.h>
#include <math.h>

#include "geom/pose.h"
#include "mesh/doctor.h"
#include "mesh/mesh.h"
#include "mesh/topo.h"

static const double pi = 3.14159265358979323846;

static void vector_area(const mesh *m, int32_t t, double n[3])
{
  const double *a = m->x + 3 * m->tris[3 * t], *b = m->x + 3 * m->tris[3 * t + 1];
  const double *c = m->x + 3 * m->tris[3 * t + 2];
  double u[3], v[3];
  for (int k = 0; k < 3; ++k) u[k] = b[k] - a[k], v[k] = c[k] - a[k];
  n[0] = 0.5 * (u[1] * v[2] - u[2] * v[1]);
  n[1] = 0.5 * (u[2] * v[0] - u[0] * v[2]);
  n[2] = 0.5 * (u[0] * v[1] - u[1] * v[0]);
}

static double mesh_surface_area(const mesh *m)
{
  double sum = 0, n[3];
  for (int32_t t = 0; t < m->num_tris; ++t) {
    vector_area(m, t, n);
    sum += sqrt(n[0] * n[0] + n[1] * n[1] + n[2] * n[2]);
  }
  return sum;
}

/* Volume inside the surface (divergence theorem), positive for outward normals. */
static double mesh_enclosed_volume(const mesh *m)
{
  double sum = 0, n[3];
  for (int32_t t = 0; t < m->num_tris; ++t) {
    vector_area(m, t, n);
    const double *a = m->x + 3 * m->tris[3 * t];
    sum += (a[0] * n[0] + a[1] * n[1] + a[2] * n[2]) / 3;
  }
  return sum;
}

static void expect_clean(const mesh *m, int use)
{
  loom_err e = {0};
  doctor d = {0};
  cr_assert_eq(doctor_mesh(&e, &d, "mesh", m, use), LOOM_OK);
  doctor_verdict(&e, &d);
  cr_assert_eq(d.total, 0, "%s", e.text);
}

Test(mesh, grid_is_the_one_of_the_numerics_notes)
{
  loom_err e = {0};
  mesh m;
  cr_assert_eq(mesh_grid(&e, 2, 1, 5, 3, MESH_REGULAR, &m), LOOM_OK);
  cr_assert_eq(m.num_verts, 15);
  cr_assert_eq(m.num_tris, 16);
  /* id = i + j nx; cell (0,0) is (v00, v10, v11), (v00, v11, v01) */
  const int32_t first[6] = {0, 1, 6, 0, 6, 5};
  cr_assert_arr_eq(m.tris, first, sizeof first);
  cr_assert_float_eq(m.x[3 * 7], 0, 1e-15);
  cr_assert_float_eq(m.x[3 * 9], 1, 1e-15);
  cr_assert_float_eq(m.x[3 * 14 + 1], 0.5, 1e-15);
  cr_assert_float_eq(mesh_surface_area(&m), 2, 1e-14); /* a few roundings */
  for (int32_t t = 0; t < m.num_tris; ++t) {
    double n[3];
    vector_area(&m, t, n);
    cr_assert(n[2] > 0);
  }
  expect_clean(&m, DOCTOR_CLOTH);
  mesh_free(&m);
}

Test(mesh, alternate_mirrors_every_second_cell)
{
  loom_err e = {0};
  mesh m;
  cr_assert_eq(mesh_grid(&e, 1, 1, 3, 3, MESH_ALTERNATE, &m), LOOM_OK);
  const int32_t first[12] = {0, 1, 4, 0, 4, 3, 1, 2, 4, 2, 5, 4};
  cr_assert_arr_eq(m.tris, first, sizeof first);
  cr_assert_float_eq(mesh_surface_area(&m), 1, 1e-14);
  expect_clean(&m, DOCTOR_CLOTH);
  mesh_free(&m);
}

Test(mesh, disk)
{
  loom_err e = {0};
  mesh m;
  const int rings = 20;
  cr_assert_eq(mesh_disk(&e, 2, rings, &m), LOOM_OK);
  cr_assert_eq(m.num_verts, 1 + 3 * rings * (rings + 1));
  cr_assert_eq(m.num_tris, 6 * rings * rings);
  /* the polygon of 6 rings corners: n/2 sin(2 pi/n) */
  const double n = 6.0 * rings, polygon = n / 2 * sin(2 * pi / n);
  cr_assert_float_eq(mesh_surface_area(&m), polygon, 1e-12);
  expect_clean(&m, DOCTOR_CLOTH);
  mesh_free(&m);
}

Test(mesh, cylinder_is_an_open_tube)
{
  loom_err e = {0};
  mesh m;
  topo tp;
  cr_assert_eq(mesh_cylinder(&e, 0.2, 0.5, 24, 10, MESH_REGULAR, &m), LOOM_OK);
  const double side = 0.2 * sin(pi / 24); /* of the 24-gon */
  cr_assert_float_eq(mesh_surface_area(&m), 24 * side * 0.5, 1e-12);
  expect_clean(&m, DOCTOR_CLOTH);
  cr_assert_eq(topo_build(&e, m.tris, m.num_tris, m.num_verts, &tp), LOOM_OK);
  int boundary = 0;
  for (int64_t k = 0; k < tp.num_edges; ++k) boundary += tp.first[k + 1] - tp.first[k] == 1;
  cr_assert_eq(boundary, 2 * 24);
  cr_assert_eq(m.num_verts - tp.num_edges + m.num_tris, 0); /* Euler: an annulus */
  double n[3];
  vector_area(&m, 0, n);
  cr_assert(n[0] > 0, "normals point outwards");
  topo_free(&tp);
  mesh_free(&m);
  cr_assert_eq(mesh_cylinder(&e, 0.2, 0.5, 25, 10, MESH_ALTERNATE, &m), LOOM_E_CONFIG);
}

Test(mesh, block_of_tetrahedra_fills_the_box)
{
  loom_err e = {0};
  mesh m;
  const double size[3] = {1, 2, 3};
  const int64_t num[3] = {3, 4, 6};
  cr_assert_eq(mesh_tet_box(&e, size, num, &m), LOOM_OK);
  cr_assert_eq(m.num_verts, 72);
  cr_assert_eq(m.num_tets, 5 * 2 * 3 * 5);
  double sum = 0;
  for (int32_t t = 0; t < m.num_tets; ++t) {
    double a[3][3];
    for (int k = 0; k < 3; ++k)
      for (int c = 0; c < 3; ++c)
        a[k][c] = m.x[3 * m.tets[4 * t + k + 1] + c] - m.x[3 * m.tets[4 * t] + c];
    const double v = (a[0][0] * (a[1][1] * a[2][2] - a[1][2] * a[2][1]) -
                      a[0][1] * (a[1][0] * a[2][2] - a[1][2] * a[2][0]) +
                      a[0][2] * (a[1][0] * a[2][1] - a[1][1] * a[2][0])) /
                     6;
    cr_assert(v > 0, "tetrahedron %d", t);
    sum += v;
  }
  cr_assert_float_eq(sum, 6, 1e-13);
  cr_assert_float_eq(mesh_surface_area(&m), 22, 1e-13);
  cr_assert_float_eq(mesh_enclosed_volume(&m), 6, 1e-13);
  double P[12];
  pose_scale(2, P);
  mesh_transform(&m, P);
  cr_assert_float_eq(mesh_enclosed_volume(&m), 48, 1e-12);
  expect_clean(&m, DOCTOR_SOLID); /* closed, consistent, every vertex used */
  mesh_free(&m);
}

Test(mesh, impossible_resolutions_are_refused)
{
  loom_err e = {0};
  mesh m;
  cr_assert_eq(mesh_grid(&e, 1, 1, 1, 5, 0, &m), LOOM_E_CONFIG);
  cr_assert_eq(mesh_grid(&e, 1, 1, INT64_C(1) << 40, INT64_C(1) << 40, 0, &m), LOOM_E_CONFIG);
  cr_assert_eq(mesh_cylinder(&e, 1, 1, 2, 5, 0, &m), LOOM_E_CONFIG);
  cr_assert_eq(mesh_disk(&e, 1, 0, &m), LOOM_E_CONFIG);
  cr_assert_eq(mesh_tet_box(&e, (double[3]){1, 1, 1}, (int64_t[3]){2, 2, 1}, &m), LOOM_E_CONFIG);
}

Test(topo, edges_are_unique_sorted_and_complete)
{
  loom_err e = {0};
  mesh m;
  topo tp;
  cr_assert_eq(mesh_grid(&e, 1, 1, 4, 4, MESH_REGULAR, &m), LOOM_OK);
  cr_assert_eq(topo_build(&e, m.tris, m.num_tris, m.num_verts, &tp), LOOM_OK);
  cr_assert_eq(tp.num_edges, 2 * 4 * 3 + 9);
  for (int64_t k = 0; k < tp.num_edges; ++k) {
    const int32_t *g = tp.edges + 2 * k;
    cr_assert(g[0] < g[1]);
    if (k > 0) cr_assert(g[-2] < g[0] || (g[-2] == g[0] && g[-1] < g[1]));
    for (int64_t s = tp.first[k]; s < tp.first[k + 1]; ++s) {
      int32_t from, to, opposite;
      topo_side(m.tris, tp.sides[s], &from, &to, &opposite);
      cr_assert((from == g[0] && to == g[1]) || (from == g[1] && to == g[0]));
      cr_assert(opposite != g[0] && opposite != g[1]);
    }
  }
  cr_assert_eq(tp.first[tp.num_edges], 3 * m.num_tris);
  topo_free(&tp);
  mesh_free(&m);
}

Test(pose, slerp_and_composition)
{
  const double z[3] = {0, 0, 1}, x[3] = {1, 0, 0}, at[3] = {1, 0, 0};
  double a[4], b[4], q[4], R[9], P[12], T[12], p[3] = {2, 0, 0};
  quat_axis_angle(z, 0.2, a);
  quat_axis_angle(z, 1.0, b);
  for (int c = 0; c < 4; ++c) b[c] = -b[c]; /* the same rotation: the short way must be taken */
  quat_slerp(a, b, 0.25, q);
  quat_matrix(q, R);
  cr_assert_float_eq(R[0], cos(0.4), 1e-14);
  cr_assert_float_eq(R[3], sin(0.4), 1e-14);
  pose_rotation(z, pi / 2, at, P); /* about (1,0,0): (2,0,0) -> (1,1,0) */
  pose_rotation(x, pi / 2, (const double[3]){0, 0, 0}, T);
  pose_mul(T, P, T);
  pose_apply(T, p, p);
  cr_assert_float_eq(p[0], 1, 1e-14);
  cr_assert_float_eq(p[1], 0, 1e-14);
  cr_assert_float_eq(p[2], 1, 1e-14);
}
