/* brute.h - a detector that compares everything with everything, as collision plugin of a
 * test host: vertex-triangle and edge-edge pairs of the cloth and with body meshes, vertices
 * against bodies with a signed distance.  Proximity only. */
#ifndef TEST_BRUTE_H
#define TEST_BRUTE_H

#include "support/test_host.h"

/* To be attached: t->collision = &brute_ops; t->collision_self = t. */
extern const loom_collision_ops brute_ops;

/* Vertex i of the scene or of a body's mesh at x [n][3], bodies at `progress`. */
void brute_position(test_host *t, const loom_real *x, double progress, int32_t i, double p[3]);

typedef struct brute_pair {
  int32_t kind, v[4], obst;
  uint64_t key;    /* as the plugin guide says */
  double distance; /* m; negative inside */
} brute_pair;

/* All pairs with a distance minus radii below margin; malloc'ed. */
brute_pair *brute_pairs(test_host *t, const loom_real *x, double progress, double margin,
                        int *count);

#endif
