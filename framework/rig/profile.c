/* profile.c - monotone cubics. */
#include "rig/profile.h"

#include <math.h>

/* Harmonic mean of the neighbouring slopes, weighed by the widths; 0 at a turning point. */
double profile_slope(double h0, double h1, double d0, double d1)
{
  const double w0 = 2 * h1 + h0, w1 = h1 + 2 * h0;
  return d0 * d1 > 0 ? (w0 + w1) / (w0 / d0 + w1 / d1) : 0;
}

/* One-sided, of three points; keeps the curve monotone. */
static double end_slope(double h0, double h1, double d0, double d1)
{
  const double d = ((2 * h0 + h1) * d0 - h0 * d1) / (h0 + h1);
  if (d * d0 <= 0) return 0;
  return d0 * d1 < 0 && fabs(d) > 3 * fabs(d0) ? 3 * d0 : d;
}

static double secant_slope(const double *at, const double *value, int i)
{
  return (value[i + 1] - value[i]) / (at[i + 1] - at[i]);
}

static double knot_slope(const double *at, const double *value, int n, int i)
{
  if (n == 2) return secant_slope(at, value, 0);
  if (i == 0)
    return end_slope(at[1] - at[0], at[2] - at[1], secant_slope(at, value, 0),
                     secant_slope(at, value, 1));
  if (i == n - 1)
    return end_slope(at[n - 1] - at[n - 2], at[n - 2] - at[n - 3], secant_slope(at, value, n - 2),
                     secant_slope(at, value, n - 3));
  return profile_slope(at[i] - at[i - 1], at[i + 1] - at[i], secant_slope(at, value, i - 1),
                       secant_slope(at, value, i));
}

double profile_between(double from, double to, double m0, double m1, double s)
{
  return from * (1 + 2 * s) * (1 - s) * (1 - s) + to * s * s * (3 - 2 * s) +
         m0 * s * (1 - s) * (1 - s) - m1 * s * s * (1 - s);
}

double profile_at(const double *at, const double *value, int n, double t)
{
  int i = 0;
  if (!(t > at[0])) return value[0];
  if (t >= at[n - 1]) return value[n - 1];
  while (t >= at[i + 1]) ++i;
  const double h = at[i + 1] - at[i], s = (t - at[i]) / h;
  return profile_between(value[i], value[i + 1], h * knot_slope(at, value, n, i),
                         h * knot_slope(at, value, n, i + 1), s);
}

double profile_smoothstep(double t)
{
  const double s = fmin(fmax(t, 0), 1);
  return s * s * (3 - 2 * s);
}
