/* profile.h - smooth curves through given points, for the outlines of procedural bodies. */
#ifndef LOOM_RIG_PROFILE_H
#define LOOM_RIG_PROFILE_H

/* The monotone piecewise cubic through (at[i], value[i]), i < n, n >= 2 (F. N. Fritsch and J.
 * Butland, "A method for constructing local monotone piecewise cubic interpolants", SIAM J. Sci.
 * Stat. Comput. 5(2), 1984): it has no bump that the values do not have.  `at` ascends; outside the
 * end values hold. */
double profile_at(const double *at, const double *value, int n, double t);

/* Parts of profile_at(): the slope at a point between pieces of the widths h0 and h1 and the mean
 * slopes d0 and d1; the cubic at s in [0, 1] from `from` to `to`, where m0 and m1 are the slopes at
 * its ends times its width. */
double profile_slope(double h0, double h1, double d0, double d1);
double profile_between(double from, double to, double m0, double m1, double s);

/* 3 t^2 - 2 t^3 of t cut to [0, 1]. */
double profile_smoothstep(double t);

#endif
