/* pose.h - rigid and affine maps of space, stored as loom_obstacle poses are.
 *
 * A pose is double[12]: the 3x3 matrix A row-major, then the translation t; it maps
 * p to A p + t.  Rotations are matrices here and unit quaternions (w, x, y, z) only
 * while they are interpolated.
 */
#ifndef LOOM_GEOM_POSE_H
#define LOOM_GEOM_POSE_H

/* Largest distance from the origin, m, speed, m/s, and acceleration, m/s^2, of a scene.  Squares
 * and products of numbers up to this size are still exact enough everywhere. */
#define SCENE_REACH 1e6

/* All functions: [any]. */
void pose_identity(double P[12]);
void pose_translation(const double t[3], double P[12]);
/* Rotation by `angle` (rad) about the unit vector `axis` through `point` (m). */
void pose_rotation(const double axis[3], double angle, const double point[3], double P[12]);
void pose_scale(double s, double P[12]);
/* P = A after B; P may be A or B. */
void pose_mul(const double A[12], const double B[12], double P[12]);
void pose_apply(const double P[12], const double p[3], double out[3]);  /* A p + t */
void pose_rotate(const double P[12], const double v[3], double out[3]); /* A v */
/* P = the inverse of A; 0: it has none that is of use. */
int pose_invert(const double A[12], double P[12]);

/* Unit quaternion of a rotation by `angle` (rad) about the unit vector `axis`. */
void quat_axis_angle(const double axis[3], double angle, double q[4]);
/* Shortest great arc from a to b at s in [0,1]. */
void quat_slerp(const double a[4], const double b[4], double s, double q[4]);
void quat_matrix(const double q[4], double R[9]);

#endif
