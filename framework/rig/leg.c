/* leg.c - procedural body "leg": a lathe with hip and knee, z up, front +y.
 *
 * Rings lie in planes of constant z around a bent axis; both ends are closed by half ellipsoids. */
#include <math.h>
#include <string.h>

#include "rig/profile.h"
#include "rig/rig_shapes.h"

enum {
  RINGS = 120,
  AROUND = 48,
  CAP = 7,
  CORNERS = 12
}; /* CAP rings between an end and its pole */
enum { PELVIS, HIP, KNEE, JOINTS };

static const double pi = 3.14159265358979323846;
/* m: height, radius and forward shift of the cross-section */
static const double height[CORNERS] = {-0.92, -0.85, -0.75, -0.6, -0.5, -0.45,
                                       -0.38, -0.25, -0.1,  0.0,  0.08, 0.14};
static const double radius[CORNERS] = {0.036, 0.036, 0.044, 0.058, 0.052, 0.054,
                                       0.06,  0.075, 0.088, 0.095, 0.1,   0.098};
static const double shift[CORNERS] = {0.0,   0.0,   -0.006, -0.014, -0.004, 0.004,
                                      0.006, 0.006, 0.004,  0.0,    0.0,    0.0};
static const double cap_height[2] = {0.03, 0.06}; /* m, of the lower and upper end */

typedef struct lathe {
  int rings, around;
  mesh *m;
} lathe;

/* Ring `row`, counted from the lower pole: `rings` of the tube between two caps. */
static void write_leg_ring(const lathe *l, int row)
{
  const double low = height[0], high = height[CORNERS - 1];
  const int k = row - CAP; /* ring of the tube */
  const int end = k < 0 ? 0 : 1, beyond = k < 0 ? -k : k - (l->rings - 1);
  double z, share = 1; /* of the radius */
  if (beyond > 0) {
    const double angle = 0.5 * pi * beyond / (CAP + 1);
    share = cos(angle);
    z = end == 0 ? low - cap_height[0] * sin(angle) : high + cap_height[1] * sin(angle);
  } else {
    z = low + (high - low) * k / (l->rings - 1);
  }
  const double r = share * profile_at(height, radius, CORNERS, z);
  for (int i = 0; i < l->around; ++i) {
    const double p = 2 * pi * i / l->around;
    const double rr = r * (1 + 0.06 * cos(2 * p) + 0.03 * cos(3 * p + 0.5));
    double *const x = l->m->x + 3 * (1 + row * l->around + i);
    x[0] = rr * cos(p);
    x[1] = rr * sin(p) + profile_at(height, shift, CORNERS, z);
    x[2] = z;
  }
}

static void append_leg_tri(mesh *m, int32_t *at, int32_t a, int32_t b, int32_t c)
{
  const int32_t t[3] = {a, b, c};
  memcpy(m->tris + 3 * (*at)++, t, sizeof t);
}

static loom_status make_skin(loom_err *err, double edge, mesh *m)
{
  const double mean = 0.07, high = height[CORNERS - 1] - height[0]; /* m */
  lathe l = {.rings = RINGS, .around = AROUND, .m = m};
  int32_t at = 0;
  if (edge > 0) {
    l.rings = (int)fmax(8, ceil(high / edge));
    l.around = (int)fmax(8, ceil(2 * pi * mean / edge));
  }
  const int rows = l.rings + 2 * CAP, last = rows * l.around + 1;
  m->num_verts = last + 1;
  m->num_tris = 2 * rows * l.around;
  LOOM_TRY(mesh_alloc(err, 3 * (int64_t)m->num_verts, sizeof *m->x, &m->x));
  LOOM_TRY(mesh_alloc(err, 3 * (int64_t)m->num_tris, sizeof *m->tris, &m->tris));
  for (int row = 0; row < rows; ++row) write_leg_ring(&l, row);
  m->x[1] = shift[0];
  m->x[2] = height[0] - cap_height[0];
  m->x[3 * last + 1] = shift[CORNERS - 1];
  m->x[3 * last + 2] = height[CORNERS - 1] + cap_height[1];
  for (int i = 0; i < l.around; ++i) {
    const int32_t next = (i + 1) % l.around, top = 1 + (rows - 1) * l.around;
    append_leg_tri(m, &at, 0, 1 + next, 1 + i);
    append_leg_tri(m, &at, last, top + i, top + next);
    for (int row = 0; row + 1 < rows; ++row) {
      const int32_t a = 1 + row * l.around, b = a + l.around;
      append_leg_tri(m, &at, a + i, a + next, b + next);
      append_leg_tri(m, &at, a + i, b + next, b + i);
    }
  }
  return LOOM_OK;
}

loom_status rig_make_leg(loom_err *err, double edge, rig *out)
{
  static const double hip[3] = {0, 0, 0}, knee[3] = {0, 0, -0.45};
  static const double ahead[3] = {1, 0, 0}, back[3] = {-1, 0, 0}, side[3] = {0, 1, 0};
  LOOM_TRY(make_skin(err, edge, &out->skin));
  LOOM_TRY(rig_alloc(err, JOINTS, JOINTS, out));
  rig_set_joint(out, PELVIS, "pelvis", -1, hip);
  rig_set_joint(out, HIP, "hip", PELVIS, hip);
  rig_add_dof(out, HIP, "flexion", ahead, -0.5, 1.4);
  rig_add_dof(out, HIP, "abduction", side, -0.3, 0.7);
  rig_set_joint(out, KNEE, "knee", HIP, knee);
  rig_add_dof(out, KNEE, "flexion", back, 0, 2.1);
  rig_add_dof(out, KNEE, "side", side, -0.15, 0.15);
  for (int32_t v = 0; v < out->skin.num_verts; ++v) {
    const double z = out->skin.x[3 * v + 2];
    const double s = profile_smoothstep((0.06 - z) / 0.16);
    const double k = fmin(s, profile_smoothstep((-0.40 - z) / 0.10));
    const double w[JOINTS] = {1 - s, s - k, k};
    for (int j = 0; j < JOINTS; ++j) {
      out->bone[JOINTS * v + j] = j;
      out->weight[JOINTS * v + j] = w[j];
    }
  }
  return LOOM_OK;
}
