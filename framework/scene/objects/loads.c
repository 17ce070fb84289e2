/* loads.c - see loads.h. */
#include "scene/objects/loads.h"

void load_move(const load_step *step, int32_t n, const double *force)
{
  for (int64_t i = 0; i < n; ++i)
    for (int c = 0; c < 3 && !step->fixed[i]; ++c)
      step->y[3 * i + c] +=
          (loom_real)(step->h * step->h * force[3 * i + c] / (double)step->mass[i]);
}

double load_work(const uint8_t *fixed, const loom_real *x0, const loom_real *x1, int32_t n,
                 const double *force)
{
  double work = 0;
  for (int64_t i = 0; i < n; ++i)
    for (int c = 0; c < 3 && !fixed[i]; ++c)
      work += force[3 * i + c] * ((double)x1[3 * i + c] - (double)x0[3 * i + c]);
  return work;
}
