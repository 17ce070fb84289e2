/* elastica.c - see elastica.h. */
#include "support/elastica.h"

#include <math.h>

/* drop over reach by shooting on theta'(0), 4th-order Runge-Kutta in s/l */
static double moment_at_tip(double gamma, double kappa0, double *ratio)
{
  enum { STEPS = 4000 };
  const double h = 1.0 / STEPS;
  double y[4] = {0.0, kappa0, 0.0, 0.0}; /* theta, theta', reach, drop */
  for (int i = 0; i < STEPS; ++i) {
    double k[4][4], z[4];
    for (int a = 0; a < 4; ++a) {
      const double f = a == 0 ? 0.0 : a == 3 ? 1.0 : 0.5;
      const double s = (i + f) * h;
      for (int c = 0; c < 4; ++c) z[c] = y[c] + (a == 0 ? 0.0 : f * h * k[a - 1][c]);
      k[a][0] = z[1];
      k[a][1] = -gamma * (1.0 - s) * cos(z[0]);
      k[a][2] = cos(z[0]);
      k[a][3] = sin(z[0]);
    }
    for (int c = 0; c < 4; ++c)
      y[c] += h / 6.0 * (k[0][c] + 2.0 * k[1][c] + 2.0 * k[2][c] + k[3][c]);
  }
  *ratio = y[3] / y[2];
  return y[1];
}

double elastica_drop_ratio(double gamma)
{
  double lo = 0.0, hi = gamma, ratio = 0.0;
  for (int i = 0; i < 100; ++i) {
    const double mid = 0.5 * (lo + hi);
    if (moment_at_tip(gamma, mid, &ratio) < 0.0)
      lo = mid;
    else
      hi = mid;
  }
  return ratio;
}
