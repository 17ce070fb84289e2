/* capsules.kern.h - a body that bends as a round cone for each joint: all points within a radius of
 * a segment that goes evenly from one end to the other.
 *
 * Cones are figures of revolution; z runs along their segments.  The distance is the least of all.
 */
#ifndef LOOM_BODIES_CAPSULES_KERN_H
#define LOOM_BODIES_CAPSULES_KERN_H

#include "bodies/bend.kern.h"

typedef struct capsules_bone {
  int32_t frame;
  lk_real R[9];              /* rows: axes of the cone in the rest pose */
  lk_real a[3];              /* m, the first end in the rest pose */
  lk_real length, radius[2]; /* m */
} capsules_bone;

typedef struct capsules_field {
  bend_head b;
  int32_t num_bones;
  capsules_bone bone[BEND_MAX_FRAMES];
} capsules_field;

/* Distance, m, at y of the rest pose; q [3] there in the cone's axes, m [2] the gradient in the
 * half plane of q, *bend the curvature of its level line, 1/m. */
LK_FN lk_real capsules_cone(const capsules_bone *k, const lk_real *y, lk_real *q, lk_real *m,
                            lk_real *curvature)
{
  const lk_real d[3] = {y[0] - k->a[0], y[1] - k->a[1], y[2] - k->a[2]};
  for (int r = 0; r < 3; ++r) q[r] = lk_dot3(k->R + 3 * r, d);
  const lk_real sine = (k->radius[0] - k->radius[1]) / k->length; /* of the slope of its side */
  const lk_real cosine = LK_SQRT(LK_FMAX(LK_R(0.0), LK_R(1.0) - sine * sine));
  const lk_real radius = LK_SQRT(q[0] * q[0] + q[1] * q[1]);
  const lk_real along = q[2] * cosine - radius * sine;
  if (along > LK_R(0.0) && along < k->length * cosine) {
    m[0] = cosine;
    m[1] = sine;
    *curvature = LK_R(0.0);
    return radius * cosine + q[2] * sine - k->radius[0];
  }
  const int end = along > LK_R(0.0); /* a ball */
  const lk_real z = q[2] - (end ? k->length : LK_R(0.0));
  const lk_real len = LK_SQRT(radius * radius + z * z);
  m[0] = len > LK_R(0.0) ? radius / len : LK_R(1.0);
  m[1] = len > LK_R(0.0) ? z / len : LK_R(0.0);
  *curvature = len > LK_R(0.0) ? LK_R(1.0) / len : LK_R(0.0);
  return len - k->radius[end];
}

LK_FN const capsules_field *capsules_of(const obst_view *o)
{
  return (const capsules_field *)o->field;
}

/* The cone that is nearest, and all about it as above; P: from its rest pose. */
LK_FN int32_t capsules_nearest(const capsules_field *f, lk_real s, const lk_real *p, lk_real *value,
                               obst_pose *P, lk_real *q, lk_real *m, lk_real *curvature)
{
  int32_t nearest = 0;
  lk_real y[3];
  *value = LK_REAL_MAX;
  for (int32_t k = 0; k < f->num_bones; ++k) {
    bend_pose(&f->b, f->bone[k].frame, s, P);
    obst_to_body(P, p, y);
    const lk_real v = capsules_cone(&f->bone[k], y, q, m, curvature);
    nearest = v < *value ? k : nearest;
    *value = v < *value ? v : *value;
  }
  bend_pose(&f->b, f->bone[nearest].frame, s, P);
  obst_to_body(P, p, y);
  (void)capsules_cone(&f->bone[nearest], y, q, m, curvature);
  return nearest;
}

LK_FN lk_real capsules_value(const obst_view *o, lk_real s, const lk_real *p)
{
  lk_real value, q[3], m[2], curvature;
  obst_pose P;
  (void)capsules_nearest(capsules_of(o), s, p, &value, &P, q, m, &curvature);
  return value;
}

/* From the axes of cone k to the rest pose: out = R' v. */
LK_FN void capsules_turn(const capsules_bone *k, const lk_real *v, lk_real *out)
{
  for (int c = 0; c < 3; ++c) out[c] = k->R[c] * v[0] + k->R[3 + c] * v[1] + k->R[6 + c] * v[2];
}

LK_FN lk_real capsules_distance(const obst_view *o, lk_real s, const lk_real *p, lk_real *n)
{
  const capsules_field *const f = capsules_of(o);
  lk_real value, q[3], m[2], curvature, own[3], rest[3];
  obst_pose P;
  const int32_t k = capsules_nearest(f, s, p, &value, &P, q, m, &curvature);
  obst_revolved(q, m, own);
  capsules_turn(&f->bone[k], own, rest);
  obst_rotate(&P, rest, n);
  return value;
}

LK_FN lk_real capsules_hess(const obst_view *o, lk_real s, const lk_real *p, lk_real *g, lk_real *C)
{
  const capsules_field *const f = capsules_of(o);
  lk_real value, q[3], m[2], curvature, own[3], rest[3], H[9], half[9];
  obst_pose P;
  const int32_t k = capsules_nearest(f, s, p, &value, &P, q, m, &curvature);
  obst_revolved(q, m, own);
  capsules_turn(&f->bone[k], own, rest);
  obst_rotate(&P, rest, g);
  obst_revolved_hess(q, m, curvature, H);
  for (int r = 0; r < 3; ++r) capsules_turn(&f->bone[k], H + 3 * r, half + 3 * r); /* H R */
  for (int c = 0; c < 3; ++c) {
    const lk_real column[3] = {half[c], half[3 + c], half[6 + c]};
    lk_real turned[3];
    capsules_turn(&f->bone[k], column, turned);
    for (int r = 0; r < 3; ++r) H[3 * r + c] = turned[r];
  }
  bend_turn_hess(&P, H, C);
  return value;
}

#endif
