/* test_barrier.c - the barrier and the mollifier of nearly parallel edges by finite
 * differences and against printed numbers. */
#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

#include "geom/barrier.kern.h"
#include "support/bufs.h"

/* -kappa (d - d_hat)^2 ln(d / d_hat) at kappa = 2.3, d_hat = 0.7, d = 0.31, as a function of d:
 * b' = -2.589711, b'' = 18.961201 (six digits, computed independently) */
Test(barrier, printed_numbers)
{
  const double kappa = 2.3, d_hat = 0.7, z = 0.31 / 0.7;
  cr_expect(fabs(kappa * d_hat * barrier_g1(z) + 2.589711) < 5e-7, "%.7f",
            kappa * d_hat * barrier_g1(z));
  cr_expect(fabs(kappa * barrier_g2(z) - 18.961201) < 5e-7, "%.7f", kappa * barrier_g2(z));
  cr_expect(fabs(kappa * d_hat * d_hat * barrier_g(z) + 2.3 * 0.39 * 0.39 * log(z)) < 1e-14);
}

Test(barrier, derivatives_in_the_squared_distance)
{
  static const double xis[3] = {0, 1e-3, 5e-3};
  for (int t = 0; t < 3; ++t) {
    const double kappa = 40, d_hat = 2e-3, xi = xis[t];
    barrier_law b;
    barrier_law_of(kappa, d_hat, xi, &b);
    cr_expect(fabs(b.s_hat - ((d_hat + xi) * (d_hat + xi) - xi * xi)) < 1e-18);
    for (int i = 1; i < 100; ++i) {
      const double gap = d_hat * i / 100.0, D = (gap + xi) * (gap + xi), at = D - b.xi2;
      const double e = 1e-5 * fmin(at, b.s_hat - at); /* a small part of how far b'' is smooth */
      const double b1 = (barrier_value(&b, D + e) - barrier_value(&b, D - e)) / (2 * e);
      const double b2 = (barrier_slope(&b, D + e) - barrier_slope(&b, D - e)) / (2 * e);
      /* (1e-5)^2 by the third derivative; 1e-16 / 1e-5 by rounding, times D / (D - xi^2) and
       * 1 / (1 - z) by cancellation */
      cr_assert(fabs(b1 - barrier_slope(&b, D)) < 1e-8 * fabs(b1), "%d: %.12g %.12g", i,
                barrier_slope(&b, D), b1);
      cr_assert(fabs(b2 - barrier_curvature(&b, D)) < 1e-8 * fabs(b2));
      cr_assert(barrier_slope(&b, D) < 0);
      /* d2b/dd2 > 0: Gauss-Newton is positive on the whole range */
      cr_assert(4 * D * barrier_curvature(&b, D) + 2 * barrier_slope(&b, D) > 0);
    }
  }
}

/* The second form: equation -kappa (d - d_hat)^2 ln(d / d_hat) in the gap d, its derivatives in D,
 * and weights in terms of them. */
Test(barrier, form_in_the_distance)
{
  static const double xis[3] = {0, 1e-3, 5e-3};
  for (int t = 0; t < 3; ++t) {
    const double kappa = 40, d_hat = 2e-3, xi = xis[t];
    barrier_law b;
    barrier_law_distance(kappa, d_hat, xi, &b);
    for (int i = 1; i < 100; ++i) {
      const double gap = d_hat * i / 100.0, d = gap + xi, D = d * d;
      const double value = -kappa * (gap - d_hat) * (gap - d_hat) * log(gap / d_hat);
      const double e = 1e-5 * fmin(D - b.xi2, b.s_hat - (D - b.xi2));
      const double b1 = (barrier_value(&b, D + e) - barrier_value(&b, D - e)) / (2 * e);
      const double b2 = (barrier_slope(&b, D + e) - barrier_slope(&b, D - e)) / (2 * e);
      const double slope = 2 * d * barrier_slope(&b, D);
      const double bend = 4 * D * barrier_curvature(&b, D) + 2 * barrier_slope(&b, D);
      cr_assert(fabs(barrier_value(&b, D) - value) < 1e-12 * kappa * d_hat * d_hat);
      /* as above */
      cr_assert(fabs(b1 - barrier_slope(&b, D)) < 1e-8 * fabs(b1), "%d: %.12g %.12g", i,
                barrier_slope(&b, D), b1);
      cr_assert(fabs(b2 - barrier_curvature(&b, D)) < 1e-8 * fabs(b2), "%d: %.12g %.12g", i,
                barrier_curvature(&b, D), b2);
      cr_assert(fabs(barrier_weight(&b, D) * (d_hat - gap) + slope) < 1e-9 * fabs(slope));
      cr_assert(fabs(barrier_curvature_d(&b, D) - bend) < 1e-9 * bend);
      cr_assert(bend > barrier_weight(&b, D) && slope < 0);
    }
    /* at the end rounding must not turn signs */
    const double end = (d_hat + xi) * (d_hat + xi);
    cr_expect(barrier_weight(&b, end) >= 0 && barrier_value(&b, end) >= 0);
  }
}

/* kappa means the same for every d_hat: b depends on gap / d_hat alone, in units of
 * kappa d_hat^2. */
Test(barrier, stiffness_does_not_depend_on_the_distance)
{
  barrier_law a, b;
  barrier_law_of(100, 1e-3, 0, &a);
  barrier_law_of(100, 1e-2, 0, &b);
  for (double z = 0.05; z < 1; z += 0.05) {
    const double da = z * 1e-3, db = z * 1e-2;
    const double ka = 4 * da * da * barrier_curvature(&a, da * da) + 2 * barrier_slope(&a, da * da);
    const double kb = 4 * db * db * barrier_curvature(&b, db * db) + 2 * barrier_slope(&b, db * db);
    cr_assert(fabs(ka / kb - 1) < 1e-12);
  }
}

Test(barrier, mollifier_by_differences)
{
  const double e = 3e-2;
  for (int i = 0; i < 200; ++i) {
    const double c = e * i / 100.0, h = 1e-6 * e;
    const double m1 = (mollifier_value(c + h, e) - mollifier_value(c - h, e)) / (2 * h);
    const double m2 = (mollifier_slope(c + h, e) - mollifier_slope(c - h, e)) / (2 * h);
    cr_assert(fabs(m1 - mollifier_slope(c, e)) < 1e-6 / e); /* m'' jumps at e: h / e */
    if (i != 100) cr_assert(fabs(m2 - mollifier_curvature(c, e)) < 1e-7 / (e * e));
  }
  cr_expect_eq(mollifier_value(0, e), 0);
  cr_expect(fabs(mollifier_value(e, e) - 1) < 1e-15 && mollifier_value(2 * e, e) == 1);
}

Test(barrier, cross_product_of_edges_by_differences)
{
  uint64_t seed = 3;
  for (int n = 0; n < 300; ++n) {
    lk_real x[12], y[12], g[12], up[12], down[12], H[144] = {0};
    const double e = 1e-6;
    for (int i = 0; i < 12; ++i) x[i] = t_uniform(&seed);
    mollifier_cross_gradient(x, g);
    mollifier_cross_hessian(x, 2.0, (lk_room){H, 1});
    for (int i = 0; i < 12; ++i) {
      memcpy(y, x, sizeof y);
      y[i] = x[i] + e;
      const double hi = mollifier_cross(y);
      mollifier_cross_gradient(y, up);
      y[i] = x[i] - e;
      const double lo = mollifier_cross(y);
      mollifier_cross_gradient(y, down);
      cr_assert(fabs((hi - lo) / (2 * e) - g[i]) < 1e-7);
      for (int k = 0; k < 12; ++k)
        cr_assert(fabs((up[k] - down[k]) / e - H[12 * k + i]) < 1e-7, "%d %d: %g, want %g", k, i,
                  H[12 * k + i], (up[k] - down[k]) / e);
    }
  }
}
