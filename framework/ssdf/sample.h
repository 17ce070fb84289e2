/* sample.h - training samples of a network: distances around a region in many poses. */
#ifndef LOOM_SSDF_SAMPLE_H
#define LOOM_SSDF_SAMPLE_H

#include "ssdf/region.h"
#include "ssdf/truth.h"

/* Box in which a network is used: the whole region in every training pose, and a margin.  Points of
 * samples are relative to the middle of the box; points and distances are in half sides. */
typedef struct ssdf_box {
  double lo[3], hi[3]; /* m, rest pose of the region's frame */
  double centre[3];    /* m */
  double half;         /* m, half the longest side */
} ssdf_box;

typedef struct ssdf_sampling {
  int64_t resolution;  /* nodes of the grid: about its cube */
  double near_bound;   /* nodes nearer to the surface than this times the side are all taken */
  double random_bound; /* others with the probability of this over their distance in sides */
  int64_t extra;       /* points off the grid, near the surface */
  int64_t test_points; /* of a pose for testing */
  uint64_t seed;
} ssdf_sampling;

/* Largest distance from the surface, m, of points off the grid and of points for testing. */
extern const double ssdf_test_reach;

typedef struct ssdf_samples {
  int64_t count, room;
  int64_t nodes;      /* of the grid, from which the samples were chosen */
  float *x;           /* [count][3], half sides from the middle */
  float *d;           /* [count], signed, half sides */
  signed char *label; /* [count] -1: inside, and a cut is nearest; else 1 */
} ssdf_samples;

void ssdf_samples_free(ssdf_samples *s);

/* Room for one pose of a region. */
typedef struct ssdf_poser {
  const ssdf_region *region;
  double *T, *all, *x;
} ssdf_poser;
loom_status ssdf_poser_open(loom_err *err, const ssdf_region *g, ssdf_poser *out);
void ssdf_poser_close(ssdf_poser *p);

/* Angles [num_dofs] of pose k of the product of counts [num_dofs] evenly spaced values between
 * range [num_dofs][2]; the first angle changes fastest.  [any] */
void ssdf_product_pose(const ssdf_region_spec *s, const double (*range)[2], const int64_t *counts,
                       int64_t k, double *angles);
/* Angles of pose k anywhere in the ranges. [any] */
void ssdf_random_pose(const ssdf_region_spec *s, const double (*range)[2], uint64_t seed, int64_t k,
                      double *angles);

/* The box of all `num` product poses with `margin` (m) on every side. */
void ssdf_box_of(const ssdf_poser *p, const double (*range)[2], const int64_t *counts, int64_t num,
                 double margin, ssdf_box *out);

/* Samples of the region at `angles`; `pose` is the number of the pose and selects the random
 * numbers.  The same for any number of threads. */
loom_status ssdf_sample_training(loom_err *err, const ssdf_poser *p, const ssdf_box *box,
                                 const ssdf_sampling *how, const double *angles, int64_t pose,
                                 ssdf_samples *out);
/* Points within ssdf_test_reach of the skin alone. */
loom_status ssdf_sample_test(loom_err *err, const ssdf_poser *p, const ssdf_box *box,
                             const ssdf_sampling *how, const double *angles, int64_t pose,
                             ssdf_samples *out);

#endif
