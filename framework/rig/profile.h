/* profile.h - smooth curves through given points, for the outlines of procedural bodies. */
#ifndef LOOM_RIG_PROFILE_H
#define LOOM_RIG_PROFILE_H

/* The monotone piecewise cubic through (at[i], value[i]), i < n, n >= 2 (F. N. Fritsch and J.
 * Butland, "A method for constructing local monotone piecewise cubic interpolants", SIAM J. Sci.
 * Stat. Comput. 5(2), 1984): it has no bump that the values do not have.  `at` ascends; outside the
 * end values hold. */
double profile_at(const double *at, const double *value, int n, double t);

/* 3 t^2 - 2 t^3 of t cut to [0, 1]. */
double profile_smoothstep(double t);

#endif
