/* rig: procedural bodies, poses by hand, linear blend skinning. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "audit/intersect.h"
#include "geom/pose.h"
#include "mesh/bvh.h"
#include "mesh/doctor.h"
#include "mesh/topo.h"
#include "rig/profile.h"
#include "rig/rig.h"

static const double half_pi = 1.57079632679489661923;
enum { MAX_DOFS = 16, MAX_JOINTS = 8 };

static rig create_named_rig(const char *name, double edge)
{
  loom_err err = {0};
  rig r;
  cr_assert_eq(rig_make(&err, name, edge, &r), LOOM_OK, "%s", err.text);
  cr_assert(r.num_dofs <= MAX_DOFS && r.num_joints <= MAX_JOINTS);
  return r;
}

/* Skin vertices at these angles and this root; the caller frees them. */
static double *create_posed_skin(const rig *r, const double *angles, const double root[12])
{
  double T[12 * MAX_JOINTS], still[12];
  double *const x = malloc(3 * (size_t)r->skin.num_verts * sizeof *x);
  cr_assert(x != NULL);
  pose_identity(still);
  rig_pose(r, angles, root != NULL ? root : still, T);
  rig_skin(r, T, x);
  return x;
}

static double max_coordinate_change(const double *a, const double *b, int64_t n)
{
  double most = 0;
  for (int64_t i = 0; i < 3 * n; ++i) most = fmax(most, fabs(a[i] - b[i]));
  return most;
}

Test(rig, bodies_are_closed_surfaces)
{
  static const struct {
    const char *name;
    double edge;
  } cases[] = {
      {"leg", 0}, {"leg", 0.03}, {"lower_body", 0}, {"lower_body", 0.025}, {"lower_body", 0.01}};
  for (size_t k = 0; k < sizeof cases / sizeof *cases; ++k) {
    loom_err err = {0};
    doctor d = {0};
    int64_t crossing = -1;
    rig r = create_named_rig(cases[k].name, cases[k].edge);
    const mesh *const m = &r.skin;
    cr_assert_eq(doctor_mesh(&err, &d, cases[k].name, m, DOCTOR_BODY), LOOM_OK);
    cr_assert_eq(doctor_verdict(&err, &d), LOOM_OK, "%s", err.text);
    cr_assert_eq(m->num_tris, 2 * (m->num_verts - 2)); /* Euler's formula: a sphere, in one part */
    cr_assert_eq(isect_mesh(&err, m->x, m->num_verts, m->tris, m->num_tris, 1, NULL, 0, &crossing),
                 LOOM_OK);
    cr_assert_eq(crossing, 0);
    rig_free(&r);
  }
}

Test(rig, the_leg_has_the_stated_size)
{
  rig r = create_named_rig("leg", 0);
  double low = 0, high = 0;
  cr_assert(r.skin.num_verts == 6434 && r.skin.num_tris == 12864);
  for (int32_t v = 0; v < r.skin.num_verts; ++v) {
    low = fmin(low, r.skin.x[3 * v + 2]);
    high = fmax(high, r.skin.x[3 * v + 2]);
  }
  cr_assert_float_eq(high - low, 1.15, 1e-12);
  cr_assert(r.num_joints == 3 && r.num_dofs == 4 && r.joint[2].first_dof == 2);
  rig_free(&r);
}

/* Quality: no slivers, and the two sides of the lower body mirror each other. */
Test(rig, the_lower_body_is_even_and_symmetric)
{
  loom_err err = {0};
  topo tp;
  bvh *tree;
  rig r = create_named_rig("lower_body", 0);
  const mesh *const m = &r.skin;
  double shortest = 1, longest = 0, off = 0;
  cr_assert_eq(topo_build(&err, m->tris, m->num_tris, m->num_verts, &tp), LOOM_OK);
  for (int64_t e = 0; e < tp.num_edges; ++e) {
    const double *const a = m->x + 3 * tp.edges[2 * e], *const b = m->x + 3 * tp.edges[2 * e + 1];
    const double len = sqrt(pow(a[0] - b[0], 2) + pow(a[1] - b[1], 2) + pow(a[2] - b[2], 2));
    shortest = fmin(shortest, len);
    longest = fmax(longest, len);
  }
  cr_assert_eq(bvh_build(&err, m->x, m->tris, m->num_tris, &tree), LOOM_OK);
  for (int32_t v = 0; v < m->num_verts; ++v) {
    const double p[3] = {-m->x[3 * v], m->x[3 * v + 1], m->x[3 * v + 2]};
    bvh_hit hit;
    bvh_closest(tree, p, 1, &hit);
    off = fmax(off, hit.dist);
  }
  printf("lower body: %d vertices, edges of %.2g to %.2g m, mirrored to %.2g m\n", m->num_verts,
         shortest, longest, off);
  cr_assert(shortest > 0.3 * 0.0145 && longest < 2.2 * 0.0145);
  cr_assert_lt(off, 2e-3); /* triangles are flat: an edge of 14 mm around the ankle */
  bvh_free(tree);
  topo_free(&tp);
  rig_free(&r);
}

Test(rig, weights_sum_to_one_and_rest_is_rest)
{
  static const char *const names[] = {"leg", "lower_body"};
  for (int k = 0; k < 2; ++k) {
    const double zero[MAX_DOFS] = {0};
    rig r = create_named_rig(names[k], 0);
    for (int32_t v = 0; v < r.skin.num_verts; ++v) {
      double sum = 0;
      for (int i = 0; i < r.per; ++i) {
        const double w = r.weight[(int64_t)v * r.per + i];
        cr_assert(w >= 0);
        sum += w;
      }
      cr_assert_float_eq(sum, 1, 1e-15);
    }
    double *const x = create_posed_skin(&r, zero, NULL);
    cr_assert_lt(max_coordinate_change(x, r.skin.x, r.skin.num_verts), 1e-15);
    cr_assert_eq(r.num_scaled, 0);
    free(x);
    rig_free(&r);
  }
}

Test(rig, a_turned_root_turns_everything)
{
  const double axis[3] = {0.6, 0, 0.8}, point[3] = {0.3, -0.2, 0.1};
  double root[12];
  pose_rotation(axis, 1.1, point, root);
  rig r = create_named_rig("lower_body", 0.02);
  const double angles[MAX_DOFS] = {0.4, 0.1, 0.9, -0.3, 0.2, 0.5};
  double *const still = create_posed_skin(&r, angles, NULL), *const turned = create_posed_skin(
                                                                 &r, angles, root);
  for (int32_t v = 0; v < r.skin.num_verts; ++v) pose_apply(root, still + 3 * v, still + 3 * v);
  cr_assert_lt(max_coordinate_change(still, turned, r.skin.num_verts), 1e-14);
  free(still);
  free(turned);
  rig_free(&r);
}

/* Where a point that only joint j moves goes. */
static void move_joint_point(const rig *r, int32_t j, const double *angles, const double p[3],
                             double to[3])
{
  double T[12 * MAX_JOINTS], still[12];
  pose_identity(still);
  rig_pose(r, angles, still, T);
  pose_apply(T + 12 * j, p, to);
}

static void expect_point_at(const double x[3], double a, double b, double c)
{
  const double want[3] = {a, b, c};
  for (int k = 0; k < 3; ++k)
    cr_expect_float_eq(x[k], want[k], 1e-14, "%g %g %g", x[0], x[1], x[2]);
}

/* By hand: knee at (0, 0, -0.45), front +y; the ankle is 0.4 m below the knee. */
Test(rig, the_leg_bends_as_it_should)
{
  rig r = create_named_rig("leg", 0);
  const double ankle[3] = {0, 0, -0.85};
  const double bent[4] = {0, 0, half_pi, 0}, raised[4] = {half_pi, 0, 0, 0},
               out[4] = {0, half_pi, 0, 0};
  const double both[4] = {half_pi, 0, half_pi, 0}, turned[4] = {half_pi, half_pi, 0, 0};
  double x[3];
  move_joint_point(&r, 2, bent, ankle, x);
  expect_point_at(x, 0, -0.4, -0.45); /* the shank points to the back */
  move_joint_point(&r, 2, raised, ankle, x);
  expect_point_at(x, 0, 0.85, 0);
  move_joint_point(&r, 2, both, ankle, x); /* thigh ahead, shank down again */
  expect_point_at(x, 0, 0.45, -0.4);
  move_joint_point(&r, 2, out, ankle, x);
  expect_point_at(x, -0.85, 0, 0); /* to the left */
  move_joint_point(&r, 2, turned, ankle,
                   x); /* flexion first: ahead, and abduction turns about that axis */
  expect_point_at(x, 0, 0.85, 0);
  rig_free(&r);
}

Test(rig, both_legs_of_the_lower_body_bend_alike)
{
  rig r = create_named_rig("lower_body", 0.03);
  const int32_t left = rig_find_joint(&r, "left_knee"), right = rig_find_joint(&r, "right_knee");
  const double angles[6] = {0.7, 0.3, 1.2, 0.7, 0.3, 1.2}, raised[6] = {half_pi, 0, half_pi};
  const double a[3] = {0.1, 0.1, 0.02}, b[3] = {-0.1, 0.1, 0.02}, knee[3] = {0.092, 0.4, 0};
  double x[3], y[3];
  move_joint_point(&r, left, angles, a, x);
  move_joint_point(&r, right, angles, b, y);
  expect_point_at(x, -y[0], y[1], y[2]);
  cr_assert(x[0] > 0.2); /* outwards */
  move_joint_point(&r, left, raised, knee,
                   x); /* thigh to the front, 8 cm of the shank straight down */
  expect_point_at(x, 0.092, 0.9 - 0.08, 0.42);
  rig_free(&r);
}

Test(rig, a_vertex_between_joints_is_the_mean_of_where_they_take_it)
{
  rig r = create_named_rig("leg", 0);
  const double angles[4] = {0.3, 0.1, 1.0, 0.05};
  double *const x = create_posed_skin(&r, angles, NULL);
  int between = 0;
  for (int32_t v = 0; v < r.skin.num_verts; ++v) {
    double want[3] = {0}, at[3];
    for (int j = 0; j < 3; ++j) {
      move_joint_point(&r, j, angles, r.skin.x + 3 * v, at);
      for (int c = 0; c < 3; ++c) want[c] += r.weight[3 * v + j] * at[c];
    }
    between += r.weight[3 * v] > 0.1 && r.weight[3 * v + 1] > 0.1;
    for (int c = 0; c < 3; ++c) cr_assert_float_eq(x[3 * v + c], want[c], 1e-14);
  }
  cr_assert_gt(between, 100);
  free(x);
  rig_free(&r);
}

Test(rig, names_limits_and_hash)
{
  loom_err err = {0};
  rig r = create_named_rig("lower_body", 0.03), again = create_named_rig("lower_body", 0.03),
      finer = create_named_rig("lower_body", 0.02);
  char text[140];
  cr_assert_eq(rig_find_dof(&r, "left_knee.flexion"), 2);
  cr_assert_eq(rig_find_dof(&r, "left_knee"), 2);
  cr_assert_eq(rig_find_dof(&r, "left_hip"), -1); /* has two */
  cr_assert_eq(rig_find_dof(&r, "right_hip.abduction"), 4);
  rig_dof_name(&r, 4, text, sizeof text);
  cr_assert_str_eq(text, "right_hip.abduction");
  double q[6] = {0.1, 0.2, 2.5, 0, -0.4, 0};
  cr_assert_eq(rig_clamp(&r, q), 2);
  cr_assert(q[2] <= 2.1 && q[4] >= -0.3 && q[0] > 0.099);
  cr_assert_eq(rig_clamp(&r, q), -1);
  cr_assert_str_eq(r.hash, again.hash);
  cr_assert_str_neq(r.hash, finer.hash);
  again.joint[2].limit[0][1] = 2.0;
  cr_assert_eq(rig_finish(&err, &again), LOOM_OK);
  cr_assert_str_neq(r.hash, again.hash);
  rig_free(&r);
  rig_free(&again);
  rig_free(&finer);
}

Test(rig, what_cannot_be_a_rig_is_refused)
{
  loom_err err = {0};
  rig r;
  cr_assert_eq(rig_make(&err, "lower_bodie", 0, &r), LOOM_E_CONFIG);
  cr_assert(strstr(err.text, "did you mean 'lower_body'") != NULL, "%s", err.text);
  cr_assert_eq(rig_make(&err, "lower_body", 1e-5, &r), LOOM_E_CONFIG);
  cr_assert(strstr(err.text, "too small") != NULL, "%s", err.text);
  rig_free(&r);
  r = create_named_rig("leg", 0.05);
  r.weight[3] *= 2; /* all of a vertex's: scaled again */
  r.weight[4] *= 2;
  r.weight[5] *= 2;
  cr_assert_eq(rig_finish(&err, &r), LOOM_OK);
  cr_assert_eq(r.num_scaled, 1);
  r.weight[3] = r.weight[4] = r.weight[5] = 0;
  cr_assert_eq(rig_finish(&err, &r), LOOM_E_CONFIG);
  cr_assert(strstr(err.text, "skin vertex 1 has no weight") != NULL, "%s", err.text);
  r.weight[3] = 1;
  r.joint[1].parent = 2;
  cr_assert_eq(rig_finish(&err, &r), LOOM_E_CONFIG);
  cr_assert(strstr(err.text, "hip: its parent must stand before it") != NULL, "%s", err.text);
  rig_free(&r);
}

/* By hand: slopes 5/2, 9 / (5/2 + 4/0.5) = 6/7, 0 and -17/6 at the points. */
Test(rig, profiles_are_monotone_cubics)
{
  const double at[4] = {0, 1, 3, 4}, value[4] = {0, 2, 3, 1};
  cr_assert_float_eq(profile_at(at, value, 4, -1), 0, 0);
  cr_assert_float_eq(profile_at(at, value, 4, 1), 2, 1e-15);
  cr_assert_float_eq(profile_at(at, value, 4, 9), 1, 0);
  cr_assert_float_eq(profile_at(at, value, 4, 0.5), 1 + 2.5 / 8 - 6. / 56, 1e-15);
  cr_assert_float_eq(profile_at(at, value, 4, 2), 2.5 + 2 * 6. / 56, 1e-15);
  cr_assert_float_eq(profile_at(at, value, 4, 3.5), 2 + 17. / 48, 1e-15);
  double last = 0;
  for (int k = 0; k <= 300; ++k) { /* monotone up to the highest point */
    const double v = profile_at(at, value, 4, 0.01 * k);
    cr_assert(v >= last && v <= 3);
    last = v;
  }
}
