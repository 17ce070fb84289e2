/* rig/maps.c: shifts, turns and sizes of any joint, against maps that the test composes itself. */
#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

#include "geom/pose.h"
#include "rig/maps.h"

enum { JOINTS = 3, KEYS = 2 };
static const double pi = 3.14159265358979323846;
static const int32_t parents[JOINTS] = {-1, 0, 1};

/* Shift, turn about z by `angle`, then sizes along the axes. */
static void compose_map(const double shift[3], double angle, const double size[3], double P[12])
{
  static const double z[3] = {0, 0, 1}, origin[3] = {0};
  pose_rotation(z, angle, origin, P);
  for (int i = 0; i < 3; ++i)
    for (int k = 0; k < 3; ++k) P[3 * i + k] *= size[k];
  memcpy(P + 9, shift, 3 * sizeof *P);
}

/* Frames at the share s of the way: the middle joint moves and turns, the last one grows. */
static void compose_frames(double s, double F[JOINTS][12])
{
  const double one[3] = {1, 1, 1}, grown[3] = {1 + s, 1 + 0.5 * s, 1};
  const double at[JOINTS][3] = {{0, 0.3 * s, 0}, {0.5 * s, 1, 0.2 * s}, {0, 1, 0}};
  const double turn[JOINTS] = {0.4 * s, 1.5 * s, -0.7 * s};
  for (int j = 0; j < JOINTS; ++j) {
    compose_map(at[j], turn[j], j == 2 ? grown : one, F[j]);
    if (j > 0) pose_mul(F[j - 1], F[j], F[j]);
  }
}

static rig_maps make_maps(double first, double last)
{
  double rest[JOINTS][12], frame[KEYS][JOINTS][12];
  const double time[KEYS] = {0, 2};
  rig_maps m;
  loom_err e = {0};
  compose_frames(0, rest);
  compose_frames(first, frame[0]);
  compose_frames(last, frame[1]);
  cr_assert_eq(rig_maps_make(&e, JOINTS, parents, rest[0], KEYS, time, frame[0][0], &m), LOOM_OK,
               "%s", e.text);
  return m;
}

/* T takes a point of the rest pose to the frame at `share`. */
static void expect_share(double T[JOINTS][12], double share)
{
  double rest[JOINTS][12], F[JOINTS][12];
  compose_frames(0, rest);
  compose_frames(share, F);
  for (int j = 0; j < JOINTS; ++j) {
    const double own[3] = {0.3, -0.2, 0.7};
    double p[3], want[3], got[3];
    pose_apply(rest[j], own, p);
    pose_apply(F[j], own, want);
    pose_apply(T[j], p, got);
    for (int c = 0; c < 3; ++c)
      cr_assert(fabs(got[c] - want[c]) < 1e-12, "joint %d at %g: %.15g, not %.15g", j, share,
                got[c], want[c]);
  }
}

Test(maps, every_joint_moves_turns_and_grows)
{
  rig_maps m = make_maps(0, 1);
  double T[JOINTS][12];
  for (int k = -2; k <= 12; ++k) {
    rig_maps_at(&m, 0.2 * k, 0, NULL, 1, T[0]);
    expect_share(T, fmin(fmax(0.1 * k, 0), 1));
  }
  rig_maps_at(&m, 2.5, 2, NULL, 1, T[0]); /* it begins anew */
  expect_share(T, 0.25);
  rig_maps_free(&m);
}

Test(maps, a_pose_passes_into_the_animation)
{
  rig_maps m = make_maps(0.5, 0.5);
  double T[JOINTS][12], part[JOINTS][RIG_PART];
  for (int j = 0; j < JOINTS; ++j) pose_identity(T[j]); /* the rest pose */
  rig_maps_split(&m, T[0], part[0]);
  for (int k = 0; k <= 4; ++k) {
    rig_maps_at(&m, 1, 0, part[0], 0.25 * k, T[0]);
    expect_share(T, 0.5 * 0.25 * k);
  }
  rig_maps_free(&m);
}

/* A parent without size has no inverse: its child keeps its own way. */
Test(maps, a_joint_below_one_without_size_is_followed)
{
  double rest[2][12], frame[2][2][12], T[2][12];
  const double time[2] = {0, 1}, one[3] = {1, 1, 1}, none[3] = {0, 0, 0};
  const double origin[3] = {0}, up[3] = {0, 1, 0}, far[3] = {0, 3, 0};
  const int32_t parent[2] = {-1, 0};
  rig_maps m;
  loom_err e = {0};
  compose_map(origin, 0, one, rest[0]);
  compose_map(up, 0, one, rest[1]);
  memcpy(frame[0], rest, sizeof rest);
  compose_map(origin, 0, none, frame[1][0]);
  compose_map(far, pi / 2, one, frame[1][1]);
  cr_assert_eq(rig_maps_make(&e, 2, parent, rest[0], 2, time, frame[0][0], &m), LOOM_OK);
  rig_maps_at(&m, 1, 0, NULL, 1, T[0]);
  const double p[3] = {1, 1, 0};
  double x[3];
  pose_apply(T[1], p, x);
  cr_assert(fabs(x[0]) + fabs(x[1] - 4) + fabs(x[2]) < 1e-12, "%g %g %g", x[0], x[1], x[2]);
  rig_maps_at(&m, 0.5, 0, NULL, 1, T[0]);
  for (int k = 0; k < 24; ++k) cr_assert(isfinite(T[k / 12][k % 12]));
  rig_maps_free(&m);
  compose_map(origin, 0, none, rest[0]);
  cr_assert_eq(rig_maps_make(&e, 2, parent, rest[0], 2, time, frame[0][0], &m), LOOM_E_CONFIG);
  rig_maps_free(&m);
}
