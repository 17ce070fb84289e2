/* pose.c - composition and interpolation of rigid and affine maps. */
#include "geom/pose.h"

#include <math.h>
#include <string.h>

void pose_identity(double P[12])
{
  for (int i = 0; i < 12; ++i) P[i] = 0;
  P[0] = P[4] = P[8] = 1;
}

void pose_translation(const double t[3], double P[12])
{
  pose_identity(P);
  for (int c = 0; c < 3; ++c) P[9 + c] = t[c];
}

void pose_scale(double s, double P[12])
{
  pose_identity(P);
  P[0] = P[4] = P[8] = s;
}

void pose_apply(const double P[12], const double p[3], double out[3])
{
  double r[3];
  pose_rotate(P, p, r);
  for (int c = 0; c < 3; ++c) out[c] = r[c] + P[9 + c];
}

void pose_rotate(const double P[12], const double v[3], double out[3])
{
  double r[3];
  for (int c = 0; c < 3; ++c, P += 3) r[c] = P[0] * v[0] + P[1] * v[1] + P[2] * v[2];
  memcpy(out, r, sizeof r);
}

void pose_mul(const double A[12], const double B[12], double P[12])
{
  double r[12];
  const double *a = A; /* row i */
  for (int i = 0; i < 3; ++i, a += 3)
    for (int j = 0; j < 3; ++j) r[3 * i + j] = a[0] * B[j] + a[1] * B[3 + j] + a[2] * B[6 + j];
  pose_apply(A, B + 9, r + 9);
  memcpy(P, r, sizeof r);
}

int pose_invert(const double A[12], double P[12])
{
  double most = 0;
  for (int k = 0; k < 9; ++k) most = fmax(most, fabs(A[k]));
  const double det = A[0] * (A[4] * A[8] - A[5] * A[7]) - A[1] * (A[3] * A[8] - A[5] * A[6]) +
                     A[2] * (A[3] * A[7] - A[4] * A[6]);
  if (!(fabs(det) > 1e-12 * most * most * most)) return 0;
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j) {
      const int a = (j + 1) % 3, b = (j + 2) % 3, c = (i + 1) % 3, d = (i + 2) % 3;
      P[3 * i + j] = (A[3 * a + c] * A[3 * b + d] - A[3 * a + d] * A[3 * b + c]) / det;
    }
  for (int i = 0; i < 3; ++i)
    P[9 + i] = -(P[3 * i] * A[9] + P[3 * i + 1] * A[10] + P[3 * i + 2] * A[11]);
  return 1;
}

void pose_rotation(const double axis[3], double angle, const double point[3], double P[12])
{
  double q[4], moved[3];
  quat_axis_angle(axis, angle, q);
  pose_identity(P);
  quat_matrix(q, P);
  /* x -> R (x - p) + p */
  pose_rotate(P, point, moved);
  for (int c = 0; c < 3; ++c) P[9 + c] = point[c] - moved[c];
}

void quat_axis_angle(const double axis[3], double angle, double q[4])
{
  const double s = sin(0.5 * angle);
  q[0] = cos(0.5 * angle);
  for (int c = 0; c < 3; ++c) q[1 + c] = s * axis[c];
}

void quat_slerp(const double a[4], const double b[4], double s, double q[4])
{
  double dot = 0, len = 0;
  for (int c = 0; c < 4; ++c) dot += a[c] * b[c];
  const double sign = dot < 0 ? -1 : 1; /* q and -q are one rotation: take the short way */
  dot = fmin(1, fabs(dot));
  const double angle = acos(dot), sine = sin(angle);
  /* below 1e-6 rad the chord and the arc agree to rounding, and 0/0 is near */
  const double wa = angle < 1e-6 ? 1 - s : sin((1 - s) * angle) / sine;
  const double wb = angle < 1e-6 ? s : sin(s * angle) / sine;
  for (int c = 0; c < 4; ++c) {
    q[c] = wa * a[c] + wb * sign * b[c];
    len += q[c] * q[c];
  }
  len = sqrt(len);
  for (int c = 0; c < 4; ++c) q[c] /= len;
}

void quat_matrix(const double q[4], double R[9])
{
  const double w = q[0], x = q[1], y = q[2], z = q[3];
  R[0] = 1 - 2 * (y * y + z * z);
  R[1] = 2 * (x * y - w * z);
  R[2] = 2 * (x * z + w * y);
  R[3] = 2 * (x * y + w * z);
  R[4] = 1 - 2 * (x * x + z * z);
  R[5] = 2 * (y * z - w * x);
  R[6] = 2 * (x * z - w * y);
  R[7] = 2 * (y * z + w * x);
  R[8] = 1 - 2 * (x * x + y * y);
}
