/* sequence.c - where in a sequence of frames a time lies. */
#include "geom/sequence.h"

#include <math.h>

int64_t sequence_frame(int64_t num, double rate, double t, double *share)
{
  const double at = t * rate, last = (double)(num - 1);
  *share = 0;
  if (!(at > 0)) return 0;
  if (at >= last) return num - 1;
  const double whole = floor(at);
  *share = at - whole;
  return (int64_t)whole;
}
