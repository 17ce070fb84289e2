/* correction.kern.c - see correction.kern.h. */
#include "correction.kern.h"

LK_KERNEL(correction_target, a, i)
{
  for (int c = 0; c < 3; ++c)
    a->target[3 * i + c] = a->hat[3 * i + c] - a->grad[3 * i + c] / a->weight[3 * i + c];
}
