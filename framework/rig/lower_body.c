/* lower_body.c - procedural body "lower_body": pelvis and two legs, y up, front +z, left +x.
 *
 * The skin is the zero set of a smooth union of three tubes: a trunk of elliptic cross-section, and
 * two round legs that stand slightly apart.  Sizes are of a slim adult of about 1.75 m. */
#include <math.h>

#include "rig/level_set.h"
#include "rig/profile.h"
#include "rig/rig_shapes.h"

enum { PELVIS, LEFT_HIP, LEFT_KNEE, RIGHT_HIP, RIGHT_KNEE, JOINTS };
enum { LEG = 11, TRUNK = 8 };

static const double default_edge = 0.0145; /* m: about 5,700 vertices */
static const double hip_height = 0.9, hip_out = 0.092, knee_height = 0.48, knee_out = 0.108; /* m */
static const double crotch_height = 0.79, middle = 0.025, crotch_reach = 0.085;              /* m */

/* Profile of the left leg, m: height, radius, shift to the front. */
static const double leg_y[LEG] = {0.06, 0.12, 0.21, 0.34, 0.44, 0.48, 0.55, 0.66, 0.78, 0.86, 0.92};
static const double leg_r[LEG] = {.036, .037, .044, .056, .053, .054, .059, .070, .081, .086, .084};
static const double leg_z[LEG] = {0, 0, -.006, -.014, -.004, .004, .006, .006, .002, -.004, -.006};
/* Profile of the trunk, m: height, half width, half depth, shift to the front. */
static const double trunk_y[TRUNK] = {0.84, 0.87, 0.91, 0.96, 1.04, 1.12, 1.18, 1.22};
static const double trunk_a[TRUNK] = {.158, .170, .173, .163, .139, .142, .150, .150};
static const double trunk_b[TRUNK] = {.100, .110, .114, .108, .095, .099, .104, .104};
static const double trunk_z[TRUNK] = {-.014, -.016, -.014, -.008, 0, 0, 0, 0};

/* About the distance to an ellipsoid of half axes a about 0. */
static double ellipsoid_distance(const double p[3], const double a[3])
{
  double k0 = 0, k1 = 0;
  for (int c = 0; c < 3; ++c) {
    k0 += p[c] * p[c] / (a[c] * a[c]);
    k1 += p[c] * p[c] / (a[c] * a[c] * a[c] * a[c]);
  }
  if (!(k1 > 0)) return -fmin(a[0], fmin(a[1], a[2]));
  return sqrt(k0) * (sqrt(k0) - 1) / sqrt(k1);
}

/* How far y is beyond the ends of the tube; *inside gets the height within it. */
static double height_beyond_tube(const double *at, int n, double y, double *inside)
{
  *inside = fmin(fmax(y, at[0]), at[n - 1]);
  return y - *inside;
}

/* Cross-sections at one height: a cubic costs more than the rest of lower_body_distance(), and most
 * points that level_set_mesh() asks for in turn have the height of the one before. */
typedef struct sections {
  double height;                   /* m; NAN: none yet */
  double trunk_out, leg_out;       /* m, height_beyond_tube() the ends */
  double trunk[3], trunk_front;    /* m, half axes; shift to the front */
  double leg, leg_side, leg_front; /* m, radius; axis of the left leg */
} sections;

/* From the hip over the knee to the ankle the axis of the left leg is straight. */
static sections sections_at(double height)
{
  sections s = {.height = height};
  double y;
  s.trunk_out = height_beyond_tube(trunk_y, TRUNK, height, &y);
  s.trunk[0] = profile_at(trunk_y, trunk_a, TRUNK, y);
  s.trunk[1] = 0.05;
  s.trunk[2] = profile_at(trunk_y, trunk_b, TRUNK, y);
  s.trunk_front = profile_at(trunk_y, trunk_z, TRUNK, y);
  s.leg_out = height_beyond_tube(leg_y, LEG, height, &y);
  s.leg = profile_at(leg_y, leg_r, LEG, y);
  s.leg_side = hip_out + (knee_out - hip_out) * (hip_height - y) / (hip_height - knee_height);
  s.leg_front = profile_at(leg_y, leg_z, LEG, y);
  return s;
}

static double trunk_distance(const sections *s, const double p[3])
{
  const double q[3] = {p[0], s->trunk_out, p[2] - s->trunk_front};
  return ellipsoid_distance(q, s->trunk);
}

static double leg_distance(const sections *s, const double p[3], double side)
{
  const double q[3] = {side * p[0] - s->leg_side, s->leg_out, p[2] - s->leg_front};
  const double a[3] = {s->leg, 0.8 * s->leg, s->leg};
  return ellipsoid_distance(q, a);
}

/* The smaller one, rounded where they differ by less than k (m). */
static double smooth_min(double a, double b, double k)
{
  const double h = fmax(k - fabs(a - b), 0) / k;
  return fmin(a, b) - 0.25 * h * h * k;
}

static double lower_body_distance(void *last, const double p[3])
{
  sections *const s = last;
  if (!(s->height == p[1])) *s = sections_at(p[1]);
  return smooth_min(smooth_min(leg_distance(s, p, 1), leg_distance(s, p, -1), 0.025),
                    trunk_distance(s, p), 0.05);
}

/* Weights of the joints at the point p of the rest pose.  The weight of a thigh falls as p nears
 * the middle above the crotch, or the crotch from below; the pelvis has the rest.  So no vertex
 * follows both legs, and vertices of a band in the middle follow none. */
static void compute_joint_weights(const double p[3], double w[JOINTS])
{
  const double apart = hypot(p[0], fmax(crotch_height - p[1], 0));
  const double own = profile_smoothstep((apart - middle) / crotch_reach);
  const double leg = own * profile_smoothstep((hip_height + 0.06 - p[1]) / 0.18);
  const double shank = profile_smoothstep((knee_height + 0.05 - p[1]) / 0.10);
  const int left = p[0] > 0;
  w[PELVIS] = 1 - leg;
  w[LEFT_HIP] = left * (leg - shank);
  w[LEFT_KNEE] = left * shank;
  w[RIGHT_HIP] = !left * (leg - shank);
  w[RIGHT_KNEE] = !left * shank;
}

static void put_legs(rig *r)
{
  static const char *const hips[2] = {"left_hip", "right_hip"};
  static const char *const knees[2] = {"left_knee", "right_knee"};
  static const double forward[3] = {-1, 0, 0}, back[3] = {1, 0, 0};
  for (int k = 0; k < 2; ++k) {
    const double side = k == 0 ? 1 : -1, out[3] = {0, 0, side};
    const int hip = k == 0 ? LEFT_HIP : RIGHT_HIP;
    const double hip_at[3] = {side * hip_out, hip_height, 0};
    const double knee_at[3] = {side * knee_out, knee_height, 0};
    rig_set_joint(r, hip, hips[k], PELVIS, hip_at);
    rig_add_dof(r, hip, "flexion", forward, -0.5, 1.6);
    rig_add_dof(r, hip, "abduction", out, -0.3, 0.7);
    rig_set_joint(r, hip + 1, knees[k], hip, knee_at);
    rig_add_dof(r, hip + 1, "flexion", back, 0, 2.1);
  }
}

loom_status rig_make_lower_body(loom_err *err, double edge, rig *out)
{
  sections last = {.height = NAN};
  const level_set skin = {.value = lower_body_distance,
                          .user = &last,
                          .low = {-0.26, -0.02, -0.2},
                          .high = {0.26, 1.32, 0.2}};
  const double pelvis[3] = {0, hip_height, 0};
  LOOM_TRY(level_set_mesh(err, &skin, edge > 0 ? edge : default_edge, &out->skin));
  LOOM_TRY(rig_alloc(err, JOINTS, JOINTS, out));
  rig_set_joint(out, PELVIS, "pelvis", -1, pelvis);
  put_legs(out);
  for (int32_t v = 0; v < out->skin.num_verts; ++v) {
    compute_joint_weights(out->skin.x + 3 * v, out->weight + JOINTS * v);
    for (int j = 0; j < JOINTS; ++j) out->bone[JOINTS * v + j] = j;
  }
  return LOOM_OK;
}
