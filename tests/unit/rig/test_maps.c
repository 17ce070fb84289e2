/* rig/maps.c, rig/tracks.c: nodes that shift, turn and grow, against maps that the test composes
 * itself at any time. */
#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

#include "geom/pose.h"
#include "rig/maps.h"
#include "rig/tracks.h"

static const double pi = 3.14159265358979323846;

/* Two joints that turn, below a node that moves and turns: each by two keys, 1 s apart. */
enum { NODES = 3, JOINTS = 2, TRACKS = 5 };
static const double axes[NODES][3] = {{0, 1, 0}, {0, 0, 1}, {1, 0, 0}};
static const double turns[NODES] = {1.2, 1.5, -0.9};
static const double shifts[NODES][3] = {{0, 0.3, 0.1}, {0, 1, 0}, {0, 0.7, 0}};
static const double sizes[3] = {1.5, 1.2, 1};

/* Shift, turn about an axis, sizes. */
static void compose_map(const double shift[3], const double axis[3], double angle,
                        const double size[3], double P[12])
{
  static const double origin[3] = {0};
  pose_rotation(axis, angle, origin, P);
  for (int i = 0; i < 3; ++i)
    for (int k = 0; k < 3; ++k) P[3 * i + k] *= size[k];
  memcpy(P + 9, shift, 3 * sizeof *P);
}

/* Frames of the nodes at the share s of the way, by one rotation for each node. */
static void compose_frames(double s, double F[NODES][12])
{
  static const double one[3] = {1, 1, 1};
  const double grown[3] = {1 + s * (sizes[0] - 1), 1 + s * (sizes[1] - 1), 1};
  for (int n = 0; n < NODES; ++n) {
    double at[3];
    for (int c = 0; c < 3; ++c) at[c] = (n == 0 ? s : 1) * shifts[n][c];
    compose_map(at, axes[n], s * turns[n], n == 2 ? grown : one, F[n]);
    if (n > 0) pose_mul(F[n - 1], F[n], F[n]);
  }
}

typedef struct made {
  loom_rig_joint joint[JOINTS];
  loom_rig_node node[NODES];
  double time[2], turn[NODES][8], shift[6], place[NODES][3], size[6];
  loom_rig_track track[TRACKS + 2];
  loom_rig_clip clip;
  loom_rig_file file;
} made;

static void fill_rig_clip(made *m)
{
  double rest[NODES][12];
  compose_frames(0, rest);
  memset(m, 0, sizeof *m);
  m->time[1] = 1;
  for (int n = 0; n < NODES; ++n) {
    loom_rig_track *const t = &m->track[n];
    m->node[n] = (loom_rig_node){.parent = n - 1, .joint = n - 1};
    memcpy(m->node[n].local, rest[0], sizeof rest[0]);
    if (n > 0) memcpy(m->joint[n - 1].rest, rest[n], sizeof rest[n]);
    if (n > 0) m->joint[n - 1].parent = n - 2;
    quat_axis_angle(axes[n], 0, m->turn[n]);
    quat_axis_angle(axes[n], turns[n], m->turn[n] + 4);
    *t = (loom_rig_track){n, LOOM_RIG_TURN, LOOM_RIG_LINEAR, 2, m->time, m->turn[n]};
    memcpy(m->place[n], shifts[n], sizeof shifts[n]);
    m->track[3 + n] = (loom_rig_track){n, LOOM_RIG_SHIFT, LOOM_RIG_STEP, 1, m->time, m->place[n]};
  }
  memcpy(m->shift + 3, shifts[0], sizeof shifts[0]);
  m->track[3] = (loom_rig_track){0, LOOM_RIG_SHIFT, LOOM_RIG_LINEAR, 2, m->time, m->shift};
  for (int k = 0; k < 6; ++k) m->size[k] = k < 3 ? 1 : sizes[k - 3];
  m->track[6] = (loom_rig_track){2, LOOM_RIG_SIZE, LOOM_RIG_LINEAR, 2, m->time, m->size};
  m->clip = (loom_rig_clip){.num_tracks = TRACKS + 2, .length = 1, .track = m->track};
  m->file = (loom_rig_file){.num_joints = JOINTS,
                            .num_nodes = NODES,
                            .num_clips = 1,
                            .joint = m->joint,
                            .node = m->node,
                            .clip = &m->clip};
}

static rig_maps make_maps(const made *m, double scale)
{
  rig_maps out;
  loom_err e = {0};
  cr_assert_eq(rig_maps_make(&e, &m->file, 0, scale, &out), LOOM_OK, "%s", e.text);
  return out;
}

/* T takes a point of the rest pose to the frame at `share`. */
static void expect_share(double T[JOINTS][12], double share)
{
  double rest[NODES][12], F[NODES][12];
  compose_frames(0, rest);
  compose_frames(share, F);
  for (int j = 0; j < JOINTS; ++j) {
    const double own[3] = {0.3, -0.2, 0.7};
    double p[3], want[3], got[3];
    pose_apply(rest[j + 1], own, p);
    pose_apply(F[j + 1], own, want);
    pose_apply(T[j], p, got);
    for (int c = 0; c < 3; ++c)
      cr_assert(fabs(got[c] - want[c]) < 1e-12, "joint %d at %g: %.15g, not %.15g", j, share,
                got[c], want[c]);
  }
}

/* Two keys a second apart, and no other sample: between them the chain of turning nodes is the
 * chain of their own turns. */
Test(maps, nodes_above_each_other_turn_by_their_own_keys)
{
  made file;
  fill_rig_clip(&file);
  rig_maps m = make_maps(&file, 1);
  double T[JOINTS][12];
  for (int k = -3; k <= 24; ++k) {
    rig_maps_at(&m, 0.0477 * k, 0, NULL, 1, T[0]);
    expect_share(T, fmin(fmax(0.0477 * k, 0), 1));
  }
  rig_maps_at(&m, 2.25, 1, NULL, 1, T[0]); /* it begins anew */
  expect_share(T, 0.25);
  rig_maps_free(&m);
}

Test(maps, lengths_are_scaled)
{
  made file;
  fill_rig_clip(&file);
  rig_maps m = make_maps(&file, 0.01);
  double F[JOINTS][12], want[NODES][12];
  compose_frames(0.3, want);
  rig_maps_frames(&m, 0.3, F[0]);
  for (int c = 0; c < 12; ++c)
    cr_assert(fabs(F[1][c] - (c < 9 ? 1 : 0.01) * want[2][c]) < 1e-12, "%d: %g", c, F[1][c]);
  rig_maps_free(&m);
}

/* A pose passes into the animation joint by joint: half of a turn about one axis is the half turn.
 */
Test(maps, a_pose_passes_into_the_animation)
{
  made file;
  fill_rig_clip(&file);
  file.clip.num_tracks = 3; /* turns alone; the first node's do not move joints against others */
  memcpy(file.turn[0] + 4, file.turn[0], 4 * sizeof file.turn[0][0]);
  rig_maps m = make_maps(&file, 1);
  double base[JOINTS][12], T[JOINTS][12], half[JOINTS][12];
  rig_maps_at(&m, 0, 0, NULL, 1, base[0]);
  for (int k = 0; k <= 4; ++k) {
    rig_maps_at(&m, 1, 0, base[0], 0.25 * k, T[0]);
    rig_maps_at(&m, 0.25 * k, 0, NULL, 1, half[0]);
    for (int c = 0; c < 12 * JOINTS; ++c)
      cr_assert(fabs(T[c / 12][c % 12] - half[c / 12][c % 12]) < 1e-12, "%d %d", k, c);
  }
  rig_maps_free(&m);
}

/* A parent without size has no inverse: with ease its child goes its way in the world. */
Test(maps, a_joint_below_one_without_size_is_followed)
{
  made file;
  fill_rig_clip(&file);
  for (int c = 3; c < 6; ++c) file.size[c] = 0;
  file.track[6].node = 1;
  rig_maps m = make_maps(&file, 1);
  double base[JOINTS][12], T[JOINTS][12];
  rig_maps_at(&m, 0, 0, NULL, 1, base[0]);
  for (int k = 0; k <= 4; ++k) {
    rig_maps_at(&m, 1, 0, base[0], 0.25 * k, T[0]);
    for (int c = 0; c < 12 * JOINTS; ++c) cr_assert(isfinite(T[c / 12][c % 12]));
  }
  memset(file.joint[0].rest, 0, sizeof file.joint[0].rest);
  rig_maps_free(&m);
  loom_err e = {0};
  cr_assert_eq(rig_maps_make(&e, &file.file, 0, 1, &m), LOOM_E_CONFIG);
  rig_maps_free(&m);
}

/* glTF 2.0, appendix C: a cubic of the times t^3 and t^2 is met by its values and slopes. */
Test(maps, cubics_are_those_of_hermite)
{
  double time[3] = {0.5, 2, 2.5}, value[27], v[3];
  const loom_rig_track t = {0, LOOM_RIG_SHIFT, LOOM_RIG_CUBIC, 3, time, value};
  for (int k = 0; k < 3; ++k)
    for (int c = 0; c < 3; ++c) {
      const double at = time[k], slope = 3 * at * at - 2 * c * at;
      value[9 * k + c] = value[9 * k + 6 + c] = slope;
      value[9 * k + 3 + c] = at * at * at - c * at * at;
    }
  for (int k = 0; k <= 20; ++k) {
    const double at = fmin(fmax(0.3 + 0.13 * k, 0.5), 2.5);
    rig_track_at(&t, 0.3 + 0.13 * k, v);
    for (int c = 0; c < 3; ++c)
      cr_assert(fabs(v[c] - (at * at * at - c * at * at)) < 1e-13, "%g: %.15g", at, v[c]);
  }
}

Test(maps, steps_hold_and_two_keys_at_one_time_jump)
{
  double time[4] = {0, 1, 1, 2}, value[12] = {0, 0, 0, 1, 0, 0, 5, 0, 0, 6, 0, 0}, v[3];
  loom_rig_track t = {0, LOOM_RIG_SHIFT, LOOM_RIG_STEP, 4, time, value};
  const double at[] = {-1, 0.999, 1, 1.5, 2, 3}, steps[] = {0, 0, 5, 5, 6, 6};
  const double lines[] = {0, 0.999, 5, 5.5, 6, 6};
  for (int k = 0; k < 6; ++k) {
    t.interpolation = LOOM_RIG_STEP;
    rig_track_at(&t, at[k], v);
    cr_assert_eq(v[0], steps[k], "at %g: %g", at[k], v[0]);
    t.interpolation = LOOM_RIG_LINEAR;
    rig_track_at(&t, at[k], v);
    cr_assert(fabs(v[0] - lines[k]) < 1e-15, "at %g: %g", at[k], v[0]);
  }
}

Test(maps, turns_are_unit_and_take_the_shorter_arc)
{
  double time[2] = {0, 1}, value[8] = {0}, v[4];
  const loom_rig_track t = {0, LOOM_RIG_TURN, LOOM_RIG_LINEAR, 2, time, value};
  rig_track_at(&t, 0.5, v); /* keys without a turn */
  cr_assert(v[0] == 1 && v[1] == 0 && v[2] == 0 && v[3] == 0);
  value[0] = 3;                                         /* not unit */
  value[4] = -cos(0.2 * pi), value[5] = -sin(0.2 * pi); /* the other sign */
  rig_track_at(&t, 0.25, v);
  cr_assert(fabs(fabs(v[0]) - cos(0.05 * pi)) < 1e-15 && fabs(fabs(v[1]) - sin(0.05 * pi)) < 1e-15,
            "%g %g", v[0], v[1]);
}
