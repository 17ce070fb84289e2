/* radial.h - radial functions around samples of cloth.  They replace the splines where splines.h is
 * asked for SPLINE_RADIAL or SPLINE_SHEPARD.  For comparison, on the host; cost and memory are
 * vertices times functions. */
#ifndef KIT_RADIAL_H
#define KIT_RADIAL_H

#include "kit/splines.h"

/* At most so many are not zero at a sample: it is within twice the least distance of two middles of
 * theirs, so that discs of half that distance around them do not meet and lie in one of 5/2. */
enum { RADIAL_MOST = 25 };

typedef struct radial_set { /* malloc'ed; fine when zeroed */
  int64_t num;
  int32_t *first;  /* [num_pieces + 1], functions of each piece */
  int64_t *middle; /* [num], sample in the middle */
} radial_set;

/* Middles are samples that may move, the one farthest from all others first, until every other is
 * within 0.78 of a cell of one, which makes about as many as there are splines.  Returns 0 where
 * there is no memory. */
int radial_find(const spline_request *r, radial_set *out);
void radial_free(radial_set *s);

/* The functions that are not zero at a sample, ascending, and their values: 1 - 3 q^2 + 2 q^3, q
 * the distance on the fabric in parts of 1.56 cells; their number. */
int radial_at(const spline_request *r, const radial_set *s, const spline_sample *at,
              int64_t id[RADIAL_MOST], double w[RADIAL_MOST]);

#endif
