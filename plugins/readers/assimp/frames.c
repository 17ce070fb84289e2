/* frames.c - maps, and keys of animations. */
#include "frames.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

void map_mul(const double A[12], const double B[12], double P[12])
{
  double r[12];
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 3; ++j)
      r[3 * i + j] = A[3 * i] * B[j] + A[3 * i + 1] * B[3 + j] + A[3 * i + 2] * B[6 + j];
    r[9 + i] = A[3 * i] * B[9] + A[3 * i + 1] * B[10] + A[3 * i + 2] * B[11] + A[9 + i];
  }
  memcpy(P, r, sizeof r);
}

void map_of(const struct aiMatrix4x4 *m, double P[12])
{
  const double r[12] = {m->a1, m->a2, m->a3, m->b1, m->b2, m->b3,
                        m->c1, m->c2, m->c3, m->a4, m->b4, m->c4};
  memcpy(P, r, sizeof r);
}

int map_inverse(const double A[12], double P[12])
{
  double r[12];
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j) { /* cofactor of (j, i) */
      const int a = (j + 1) % 3, b = (j + 2) % 3, c = (i + 1) % 3, d = (i + 2) % 3;
      r[3 * i + j] = A[3 * a + c] * A[3 * b + d] - A[3 * a + d] * A[3 * b + c];
    }
  const double det = A[0] * r[0] + A[1] * r[3] + A[2] * r[6];
  if (!(fabs(det) > 0)) return 0;
  for (int k = 0; k < 9; ++k) r[k] /= det;
  for (int i = 0; i < 3; ++i)
    r[9 + i] = -(r[3 * i] * A[9] + r[3 * i + 1] * A[10] + r[3 * i + 2] * A[11]);
  memcpy(P, r, sizeof r);
  return 1;
}

/* ---- keys ---- */

/* The last of n vector keys at or before the tick, and the share of the way to the next one. */
static unsigned vector_key(const struct aiVectorKey *k, unsigned n, double tick, double *share)
{
  unsigned i = 0,
           end = n; /* key i is at or before the tick, unless it is the first; `end` behind */
  while (end - i > 1) {
    const unsigned mid = i + (end - i) / 2;
    if (k[mid].mTime <= tick)
      i = mid;
    else
      end = mid;
  }
  *share = 0;
  if (i + 1 < n && tick > k[i].mTime) *share = (tick - k[i].mTime) / (k[i + 1].mTime - k[i].mTime);
  return i;
}

static void vector_at(const struct aiVectorKey *k, unsigned n, double tick, double v[3])
{
  double s;
  const unsigned i = vector_key(k, n, tick, &s), j = i + 1 < n ? i + 1 : i;
  v[0] = (double)k[i].mValue.x + s * (double)(k[j].mValue.x - k[i].mValue.x);
  v[1] = (double)k[i].mValue.y + s * (double)(k[j].mValue.y - k[i].mValue.y);
  v[2] = (double)k[i].mValue.z + s * (double)(k[j].mValue.z - k[i].mValue.z);
}

/* On the shorter great arc between two keys. */
static void turn_at(const struct aiQuatKey *k, unsigned n, double tick, double q[4])
{
  unsigned i = 0, end = n;
  while (end - i > 1) {
    const unsigned mid = i + (end - i) / 2;
    if (k[mid].mTime <= tick)
      i = mid;
    else
      end = mid;
  }
  const unsigned j = i + 1 < n ? i + 1 : i;
  const double s = j > i && tick > k[i].mTime ? (tick - k[i].mTime) / (k[j].mTime - k[i].mTime) : 0;
  const double a[4] = {k[i].mValue.w, k[i].mValue.x, k[i].mValue.y, k[i].mValue.z};
  const double b[4] = {k[j].mValue.w, k[j].mValue.x, k[j].mValue.y, k[j].mValue.z};
  double dot = 0, len = 0;
  for (int c = 0; c < 4; ++c) dot += a[c] * b[c];
  const double sign = dot < 0 ? -1 : 1, angle = acos(fmin(1, fabs(dot)));
  const double wa = angle < 1e-6 ? 1 - s : sin((1 - s) * angle) / sin(angle);
  const double wb = angle < 1e-6 ? s : sin(s * angle) / sin(angle);
  for (int c = 0; c < 4; ++c) {
    q[c] = wa * a[c] + wb * sign * b[c];
    len += q[c] * q[c];
  }
  for (int c = 0; c < 4; ++c) q[c] /= sqrt(len);
}

static void channel_at(const struct aiNodeAnim *c, double tick, double P[12])
{
  double q[4] = {1, 0, 0, 0}, s[3] = {1, 1, 1};
  if (c->mNumRotationKeys > 0) turn_at(c->mRotationKeys, c->mNumRotationKeys, tick, q);
  if (c->mNumScalingKeys > 0) vector_at(c->mScalingKeys, c->mNumScalingKeys, tick, s);
  const double w = q[0], x = q[1], y = q[2], z = q[3];
  const double R[9] = {1 - 2 * (y * y + z * z), 2 * (x * y - w * z),     2 * (x * z + w * y),
                       2 * (x * y + w * z),     1 - 2 * (x * x + z * z), 2 * (y * z - w * x),
                       2 * (x * z - w * y),     2 * (y * z + w * x),     1 - 2 * (x * x + y * y)};
  for (int k = 0; k < 9; ++k) P[k] = R[k] * s[k % 3];
  if (c->mNumPositionKeys > 0) vector_at(c->mPositionKeys, c->mNumPositionKeys, tick, P + 9);
}

void node_local(const struct aiNode *node, const struct aiNodeAnim *channel, double tick,
                double P[12])
{
  map_of(&node->mTransformation, P);
  if (channel != NULL) channel_at(channel, tick, P);
}

void node_at_rest(const struct aiNode *node, double P[12])
{
  double above[12];
  map_of(&node->mTransformation, P);
  if (node->mParent == NULL) return;
  node_at_rest(node->mParent, above); /* as deep as joints.c allows */
  map_mul(above, P, P);
}
