/* sequence.h - vertices that are given at frames of equal distance in time, linear in between: the
 * scene and the audits place the surfaces of moving bodies by the same numbers. */
#ifndef LOOM_GEOM_SEQUENCE_H
#define LOOM_GEOM_SEQUENCE_H

#include <stdint.h>

/* The frame before time t (s) of `num` frames at `rate` (1/s), the first at t = 0; *share: share of
 * the way to the next frame.  Times before the first frame give the first, times behind the last
 * give the last.  [any] */
int64_t sequence_frame(int64_t num, double rate, double t, double *share);

/* (1 - share) a + share b.  [any] */
static inline double sequence_between(double a, double b, double share)
{
  return a + share * (b - a);
}

#endif
