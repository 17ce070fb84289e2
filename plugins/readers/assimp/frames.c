/* frames.c - maps of nodes. */
#include "frames.h"

#include <math.h>
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

void node_at_rest(const struct aiNode *node, double P[12])
{
  double above[12];
  map_of(&node->mTransformation, P);
  if (node->mParent == NULL) return;
  node_at_rest(node->mParent, above); /* as deep as joints.c allows */
  map_mul(above, P, P);
}
