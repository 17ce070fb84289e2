/* brute.h - a detector that compares everything with everything, as collision plugin of a
 * test host: vertex-triangle and edge-edge pairs of the cloth and with body meshes, vertices
 * against bodies with a signed distance, and with brute_elements edges and triangles against them.
 * Proximity only. */
#ifndef TEST_BRUTE_H
#define TEST_BRUTE_H

#include "support/test_host.h"

extern int brute_elements; /* 1: pairs EO, too; 0 */

/* To be attached: t->collision = &brute_ops; t->collision_self = t. */
extern const loom_collision_ops brute_ops;

/* Vertex i of the scene or of a body's mesh at x [n][3], bodies at `progress`. */
void brute_position(test_host *t, const loom_real *x, double progress, int32_t i, double p[3]);

/* Least signed distance of a vertex (v[1] < 0), an edge (v[2] < 0) or a triangle v from the convex
 * body o, m, by ternary search; w [3]: weights of its point, n [3]: the body's normal there. */
double brute_element(test_host *t, const loom_real *x, double progress, int32_t o, const int32_t *v,
                     double w[3], double n[3]);

typedef struct brute_pair {
  int32_t kind, v[4], obst;
  uint64_t key;           /* as the plugin guide says */
  double distance;        /* m; negative inside */
  double w[4], normal[3]; /* of VO and EO alone */
} brute_pair;

/* All pairs with a distance minus radii below margin; malloc'ed. */
brute_pair *brute_pairs(test_host *t, const loom_real *x, double progress, double margin,
                        int *count);

#endif
