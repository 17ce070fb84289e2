/* orientation.h - signs of determinants of points, decided exactly.
 *
 * Floating point decides when its value exceeds a proven bound of its error; otherwise
 * the determinant is evaluated in integers (GMP), to which doubles convert exactly.
 */
#ifndef LOOM_EXACT_H
#define LOOM_EXACT_H

/* Sign of det[b-a, c-a, d-a]: -1, 0, +1; coordinates must be finite. [any] */
int orientation_sign3(const double a[3], const double b[3], const double c[3], const double d[3]);
/* The same where floating point decides, else EXACT_UNSURE: much quicker. [any] */
int orientation_filter3(const double a[3], const double b[3], const double c[3], const double d[3]);
/* Sign of det[b-a, c-a] of the projections that keep coordinates u and v. [any] */
int orientation_sign2(const double a[3], const double b[3], const double c[3], int u, int v);
int orientation_filter2(const double a[3], const double b[3], const double c[3], int u, int v);

enum { EXACT_UNSURE = 2 };

#endif
