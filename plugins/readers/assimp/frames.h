/* frames.h - frames of the nodes of an Assimp scene at rest. */
#ifndef LOOM_ASSIMP_FRAMES_H
#define LOOM_ASSIMP_FRAMES_H

#include <assimp/scene.h>

/* P = A after B, maps as in loom/rig_reader.h; P may be A or B. */
void map_mul(const double A[12], const double B[12], double P[12]);
void map_of(const struct aiMatrix4x4 *m, double P[12]);
/* The inverse of an affine map; 0 if it has none. */
int map_inverse(const double A[12], double P[12]);

/* Frame of a node in the world at rest. */
void node_at_rest(const struct aiNode *node, double P[12]);

#endif
