/* doctor.c: every defect is found once, under its kind and ids, and told with its file. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "mesh/doctor.h"

/* A 4 x 4 grid with room to add to. */
static mesh create_roomy_grid(void)
{
  loom_err e = {0};
  mesh m;
  cr_assert_eq(mesh_grid(&e, 1, 1, 4, 4, MESH_REGULAR, &m), LOOM_OK);
  m.x = realloc(m.x, 3 * 20 * sizeof *m.x);
  m.tris = realloc(m.tris, 3 * 22 * sizeof *m.tris);
  return m;
}

static doctor examine_single_mesh(const mesh *m, int use)
{
  loom_err e = {0};
  doctor d = {0};
  cr_assert_eq(doctor_mesh(&e, &d, "cape.obj", m, use), LOOM_OK, "%s", e.text);
  return d;
}

/* Exactly one problem, of this kind and these ids, named by file. */
static void expect_one_defect(const mesh *m, int use, int kind, int32_t a, int32_t b, int32_t c,
                              int32_t last)
{
  const doctor d = examine_single_mesh(m, use);
  loom_err e = {0};
  cr_assert_eq(doctor_verdict(&e, &d), LOOM_E_CONFIG);
  cr_assert_eq(d.total, 1, "%s", e.text);
  cr_assert_eq(d.list[0].kind, kind, "%s", e.text);
  const int32_t want[4] = {a, b, c, last};
  cr_assert_arr_eq(d.list[0].id, want, sizeof want, "%s", e.text);
  cr_assert(strncmp(e.text, "cape.obj: ", 10) == 0, "%s", e.text);
}

static void append_mesh_tri(mesh *m, int32_t a, int32_t b, int32_t c)
{
  int32_t *t = m->tris + 3 * m->num_tris++;
  t[0] = a, t[1] = b, t[2] = c;
}

static void add_vert(mesh *m, double x, double y, double z)
{
  double *p = m->x + 3 * m->num_verts++;
  p[0] = x, p[1] = y, p[2] = z;
}

Test(doctor, a_good_mesh_has_no_problem)
{
  mesh m = create_roomy_grid();
  loom_err e = {0};
  const doctor d = examine_single_mesh(&m, DOCTOR_CLOTH);
  cr_assert_eq(doctor_verdict(&e, &d), LOOM_OK);
  cr_assert_eq(e.code, LOOM_OK);
  mesh_free(&m);
}

Test(doctor, not_finite)
{
  mesh m = create_roomy_grid();
  m.x[3 * 5 + 1] = NAN;
  expect_one_defect(&m, DOCTOR_CLOTH, DOCTOR_NOT_FINITE, 5, -1, -1, -1);
  m.x[3 * 5 + 1] = -INFINITY;
  expect_one_defect(&m, DOCTOR_CLOTH, DOCTOR_NOT_FINITE, 5, -1, -1, -1);
  mesh_free(&m);
}

Test(doctor, out_of_range)
{
  mesh m = create_roomy_grid();
  m.tris[3 * 7 + 2] = 16;
  expect_one_defect(&m, DOCTOR_CLOTH, DOCTOR_OUT_OF_RANGE, 7, 16, -1, -1);
  m.tris[3 * 7 + 2] = -1;
  expect_one_defect(&m, DOCTOR_CLOTH, DOCTOR_OUT_OF_RANGE, 7, -1, -1, -1);
  mesh_free(&m);
}

Test(doctor, zero_area)
{
  mesh m = create_roomy_grid();
  add_vert(&m, 0.5 + 1e-9, -1.0 / 3, 0); /* on the line through 3 and 7, up to 1e-9 */
  add_vert(&m, 0.5, 0.5 + 1, 0);
  /* a sliver hanging on boundary edge 3-7, and a sound triangle that uses vertex 17 */
  m.x[3 * 16] = 0.5 + 1e-9;
  append_mesh_tri(&m, 7, 3, 16);
  append_mesh_tri(&m, 14, 17, 15);
  m.tris[3 * 19 + 1] = 15, m.tris[3 * 19 + 2] = 17;
  expect_one_defect(&m, DOCTOR_CLOTH, DOCTOR_DEGENERATE, 18, -1, -1, -1);
  mesh_free(&m);
}

Test(doctor, small_triangles_are_not_flat_ones)
{
  mesh m = create_roomy_grid();
  for (int k = 0; k < 3 * m.num_verts; ++k) m.x[k] *= 1e-9; /* relative, not absolute */
  cr_assert_eq(examine_single_mesh(&m, DOCTOR_CLOTH).total, 0);
  mesh_free(&m);
}

Test(doctor, repeated_vertex)
{
  mesh m = create_roomy_grid();
  append_mesh_tri(&m, 3, 3, 3);
  expect_one_defect(&m, DOCTOR_CLOTH, DOCTOR_DEGENERATE, 18, -1, -1, -1);
  mesh_free(&m);
}

Test(doctor, duplicate_triangle)
{
  mesh m = create_roomy_grid();
  /* the corner triangle (0, 1, 5) again, turned: its edges then have up to 3 triangles */
  append_mesh_tri(&m, 5, 0, 1);
  const doctor d = examine_single_mesh(&m, DOCTOR_CLOTH);
  int found = 0;
  for (int k = 0; k < d.total; ++k)
    found += d.list[k].kind == DOCTOR_DUPLICATE && d.list[k].id[0] == 0 && d.list[k].id[1] == 18;
  cr_assert_eq(found, 1);
  mesh_free(&m);
}

Test(doctor, coincident_and_unused_vertices)
{
  mesh m = create_roomy_grid();
  add_vert(&m, 2, 0, 0);
  expect_one_defect(&m, DOCTOR_CLOTH, DOCTOR_UNUSED, 16, -1, -1, -1);
  cr_assert_eq(examine_single_mesh(&m, DOCTOR_BODY).list[0].kind,
               DOCTOR_OPEN); /* unused is fine there */
  m.x[3 * 16] = 0.7;
  m.x[3 * 16 + 1] = 0;
  m.x[3 * 11 + 1] = -0.0; /* 11 and 16 in one place, told apart only by the sign of zero */
  m.x[3 * 11] = 0.7;
  append_mesh_tri(&m, 7, 16, 15);
  m.tris[3 * 18] = 15, m.tris[3 * 18 + 1] = 7;
  add_vert(&m, 3, 3, 0);
  m.tris[3 * 18 + 0] = 16, m.tris[3 * 18 + 1] = 17, m.tris[3 * 18 + 2] = 15;
  const doctor d = examine_single_mesh(&m, DOCTOR_CLOTH);
  cr_assert_eq(d.list[0].kind, DOCTOR_COINCIDENT);
  cr_assert(d.list[0].id[0] == 11 && d.list[0].id[1] == 16);
  mesh_free(&m);
}

Test(doctor, non_manifold_edge)
{
  mesh m = create_roomy_grid();
  add_vert(&m, 0, 0, 1);
  append_mesh_tri(&m, 5, 6, 16);
  expect_one_defect(&m, DOCTOR_CLOTH, DOCTOR_NON_MANIFOLD, 5, 6, 3, -1);
  mesh_free(&m);
}

Test(doctor, orientation_is_told_and_repaired_on_request)
{
  mesh m = create_roomy_grid();
  loom_err e = {0};
  int32_t *t = m.tris, flipped;
  t[1] = 5, t[2] = 1; /* triangle 0 has one inner edge, 0-5, to triangle 1, and 1-5 to 3 */
  const doctor d = examine_single_mesh(&m, DOCTOR_CLOTH);
  cr_assert_eq(d.total, 2);
  cr_assert_eq(d.list[0].kind, DOCTOR_ORIENTATION);
  cr_assert(d.list[0].id[0] == 0 && d.list[0].id[1] == 5 && d.list[0].id[2] == 0 &&
            d.list[0].id[3] == 1);
  cr_assert(strstr(d.list[0].text, "repair = orientation") != NULL, "%s", d.list[0].text);
  cr_assert_eq(doctor_orient(&e, &m, &flipped), LOOM_OK);
  cr_assert_eq(flipped, 17, "all others follow the triangle with the lowest id");
  cr_assert_eq(examine_single_mesh(&m, DOCTOR_CLOTH).total, 0);
  mesh_free(&m);
}

Test(doctor, a_moebius_strip_cannot_be_oriented)
{
  loom_err e = {0};
  mesh m;
  int32_t flipped;
  cr_assert_eq(mesh_cylinder(&e, 1, 1, 8, 2, MESH_REGULAR, &m), LOOM_OK);
  for (int k = 3 * 14; k < 3 * 16; ++k) { /* the last cell joins the ends crosswise */
    if (m.tris[k] == 0)
      m.tris[k] = 8;
    else if (m.tris[k] == 8)
      m.tris[k] = 0;
  }
  cr_assert_eq(doctor_orient(&e, &m, &flipped), LOOM_OK);
  cr_assert_eq(flipped, -1);
  mesh_free(&m);
}

Test(doctor, tetrahedra)
{
  loom_err e = {0};
  mesh m;
  cr_assert_eq(mesh_tet_box(&e, (double[3]){1, 1, 1}, (int64_t[3]){2, 2, 2}, &m), LOOM_OK);
  int32_t *v = m.tets + 4 * 2, swap = v[0];
  v[0] = v[1], v[1] = swap;
  expect_one_defect(&m, DOCTOR_SOLID, DOCTOR_INVERTED, 2, -1, -1, -1);
  v[3] = v[0];
  expect_one_defect(&m, DOCTOR_SOLID, DOCTOR_DEGENERATE, 2, -1, -1, -1);
  mesh_free(&m);
}

Test(doctor, a_solid_with_a_turned_triangle_is_told_without_a_key_for_it)
{
  loom_err e = {0};
  mesh m;
  cr_assert_eq(mesh_tet_box(&e, (double[3]){1, 1, 1}, (int64_t[3]){2, 2, 2}, &m), LOOM_OK);
  const int32_t swap = m.tris[1];
  m.tris[1] = m.tris[2], m.tris[2] = swap;
  const doctor d = examine_single_mesh(&m, DOCTOR_SOLID);
  cr_assert_eq(d.list[0].kind, DOCTOR_ORIENTATION);
  cr_assert(strstr(d.list[0].text, "repair") == NULL, "%s", d.list[0].text);
  mesh_free(&m);
}

/* Two tetrahedra whose tops lie on one side of their common face, then three at one face. */
Test(doctor, tetrahedra_that_overlap)
{
  double x[18] = {0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 0.1, 0.1, 2, 0.2, 0.2, -1};
  int32_t tets[12] = {0, 1, 2, 3, 0, 1, 2, 4, 0, 2, 1, 5};
  int32_t tris[18] = {0, 1, 3, 1, 2, 3, 2, 0, 3, 0, 3, 1};
  mesh m = {.num_verts = 5, .num_tets = 2, .num_tris = 3, .x = x, .tets = tets, .tris = tris};
  const doctor two = examine_single_mesh(&m, DOCTOR_SOLID);
  cr_assert_eq(two.list[0].kind, DOCTOR_ORIENTATION);
  cr_assert(two.list[0].id[0] == 0 && two.list[0].id[1] == 1, "%s", two.list[0].text);
  m.num_verts = 6;
  m.num_tets = 3;
  const doctor three = examine_single_mesh(&m, DOCTOR_SOLID);
  cr_assert_eq(three.list[0].kind, DOCTOR_NON_MANIFOLD);
  cr_assert_eq(three.list[0].id[2], 3, "%s", three.list[0].text);
  tets[4] = 0, tets[5] = 2, tets[6] = 1, tets[7] = 5; /* the second lies below: neighbours */
  m.num_tets = 2;
  const doctor sound = examine_single_mesh(&m, DOCTOR_SOLID);
  cr_assert(sound.list[0].kind != DOCTOR_ORIENTATION && sound.list[0].kind != DOCTOR_NON_MANIFOLD);
}

Test(doctor, bodies_must_be_closed_and_not_inside_out)
{
  loom_err e = {0};
  mesh m;
  cr_assert_eq(mesh_tet_box(&e, (double[3]){1, 1, 1}, (int64_t[3]){2, 2, 2}, &m), LOOM_OK);
  m.num_tris = 11; /* the lid misses a half */
  const doctor d = examine_single_mesh(&m, DOCTOR_BODY);
  cr_assert_eq(d.total, 3);
  for (int k = 0; k < 3; ++k) cr_assert_eq(d.list[k].kind, DOCTOR_OPEN);
  m.num_tris = 12;
  for (int t = 0; t < 12; ++t) {
    const int32_t swap = m.tris[3 * t];
    m.tris[3 * t] = m.tris[3 * t + 1];
    m.tris[3 * t + 1] = swap;
  }
  expect_one_defect(&m, DOCTOR_BODY, DOCTOR_INSIDE_OUT, -1, -1, -1, -1);
  cr_assert_eq(doctor_turn_outwards(&m), 12);
  cr_assert_eq(examine_single_mesh(&m, DOCTOR_BODY).total, 0);
  cr_assert_eq(doctor_turn_outwards(&m), 0);
  mesh_free(&m);
}

Test(doctor, all_problems_are_counted_and_twenty_listed)
{
  mesh m = create_roomy_grid();
  loom_err e = {0};
  for (int k = 0; k < 3 * m.num_verts; ++k) m.x[k] = NAN;
  m.num_tris = 18;
  doctor d = examine_single_mesh(&m, DOCTOR_CLOTH);
  cr_assert_eq(d.total, 16);
  cr_assert_eq(doctor_mesh(&e, &d, "other.obj", &m, DOCTOR_CLOTH), LOOM_OK);
  cr_assert_eq(d.total, 32);
  cr_assert_eq(doctor_verdict(&e, &d), LOOM_E_CONFIG);
  int lines = 1;
  for (const char *p = e.text; *p; ++p) lines += *p == '\n';
  cr_assert_eq(lines, 21, "%s", e.text);
  cr_assert(strstr(e.text, "other.obj: vertex 3:") != NULL, "%s", e.text);
  cr_assert(strstr(e.text, "and 12 more") != NULL, "%s", e.text);
  mesh_free(&m);
}
