/* orientation.h - signs of determinants of points, decided exactly.
 *
 * Floating point decides when its value exceeds a proven bound of its error; otherwise
 * the determinant is evaluated in integers (GMP), to which doubles convert exactly.
 */
#ifndef LOOM_EXACT_H
#define LOOM_EXACT_H

/* Sign of det[b-a, c-a, d-a]: -1, 0, +1; coordinates must be finite. [any] */
int exact_orient3(const double a[3], const double b[3], const double c[3], const double d[3]);
/* The same where floating point decides, else EXACT_UNSURE: much quicker. [any] */
int exact_filter3(const double a[3], const double b[3], const double c[3], const double d[3]);
/* Sign of det[b-a, c-a] of the projections that keep coordinates u and v. [any] */
int exact_orient2(const double a[3], const double b[3], const double c[3], int u, int v);
int exact_filter2(const double a[3], const double b[3], const double c[3], int u, int v);

enum { EXACT_UNSURE = 2 };

#endif
