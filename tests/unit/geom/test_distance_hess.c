/* test_distance_hess.c - derivatives of the squared distance and of the barrier of it, for
 * every case of the closest features, by finite differences; the 5 x 5 treatment of
 * eigenvalues against the one of 12 x 12. */
#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

#include "geom/barrier.kern.h"
#include "geom/distance_hess.kern.h"
#include "support/bufs.h"
#include "support/elem_case.h"

enum { VT = 0, EE = 1, NUM = 4000 };

static double pair_distance2(int edges, const lk_real *x, lk_real *w)
{
  return edges ? dist_ee(x, w) : dist_vt(x, w);
}

/* Which of the weights vanish: the case of the closest features. */
static int closest_feature_mask(const lk_real *w)
{
  return (w[0] != 0) | (w[1] != 0) << 1 | (w[2] != 0) << 2 | (w[3] != 0) << 3;
}

/* Random pairs of size 1; every third moved close, so that all cases come up. */
static void random_pair(uint64_t *seed, int i, lk_real *x)
{
  for (int k = 0; k < 12; ++k) x[k] = t_uniform(seed);
  if (i % 3 == 0)
    for (int k = 0; k < 3; ++k) x[k] = 0.4 * x[3 + k] + 0.3 * x[6 + k] + 0.3 * x[9 + k];
  if (i % 3 == 0)
    for (int k = 0; k < 3; ++k) x[k] += 0.1 * t_uniform(seed);
}

/* The dense 12 x 12 matrix of S. */
static void expand_distance_hessian(const dist_frame *f, const lk_real *S, lk_real *H)
{
  for (int i = 0; i < 4; ++i)
    for (int j = 0; j < 4; ++j) {
      lk_real B[9];
      dist_block(f, S, i, j, B);
      for (int e = 0; e < 9; ++e) H[12 * (3 * i + e / 3) + 3 * j + e % 3] = B[e];
    }
}

static void compute_distance2_gradient(int edges, const lk_real *x, lk_real *g)
{
  lk_real w[4], r[3];
  (void)pair_distance2(edges, x, w);
  dist_combine(x, w, r);
  for (int i = 0; i < 12; ++i) g[i] = 2 * w[i / 3] * r[i % 3];
}

/* The case of closest features is the same in the neighbourhood of all differences. */
static int has_stable_features(int edges, const lk_real *x, double e)
{
  lk_real w[4], y[12];
  (void)pair_distance2(edges, x, w);
  const int want = closest_feature_mask(w);
  for (int i = 0; i < 24; ++i) {
    memcpy(y, x, sizeof y);
    y[i / 2] += (i % 2 ? e : -e);
    (void)pair_distance2(edges, y, w);
    if (closest_feature_mask(w) != want) return 0;
  }
  return 1;
}

static void check_distance_derivatives(int edges)
{
  const double e = 1e-6;
  int seen[16] = {0}, used = 0;
  uint64_t seed = 5;
  double worst = 0.0;
  for (int n = 0; n < NUM; ++n) {
    lk_real x[12], w[4], g[12], hi[12], lo[12], y[12], S[25], H[144];
    dist_frame f;
    random_pair(&seed, n, x);
    if (!has_stable_features(edges, x, 2 * e)) continue;
    if (pair_distance2(edges, x, w) < 1e-4) continue;
    ++used;
    seen[closest_feature_mask(w)]++;
    compute_distance2_gradient(edges, x, g);
    dist_frame_of(edges, x, w, &f);
    dist_hessian(&f, 1.0, 0.0, LOOM_HESS_EXACT, S); /* b(D) = D */
    expand_distance_hessian(&f, S, H);
    double size = 0.0;
    for (int i = 0; i < 144; ++i) size = fmax(size, fabs(H[i]));
    if (size > 1e3) continue; /* needles: differences of 1e-6 see their higher derivatives */
    for (int i = 0; i < 12; ++i) {
      lk_real u[4];
      memcpy(y, x, sizeof y);
      y[i] = x[i] + e;
      const double up = pair_distance2(edges, y, u);
      compute_distance2_gradient(edges, y, hi);
      y[i] = x[i] - e;
      const double down = pair_distance2(edges, y, u);
      compute_distance2_gradient(edges, y, lo);
      /* differences err by e^2 D'''/6, which grows with the curvature, and 1e-16 / e */
      cr_assert(fabs((up - down) / (2 * e) - g[i]) < 1e-8 * (1 + size), "%d: %g, want %g", n, g[i],
                (up - down) / (2 * e));
      for (int k = 0; k < 12; ++k) {
        const double fd = (hi[k] - lo[k]) / (2 * e), miss = fabs(fd - H[12 * k + i]);
        worst = fmax(worst, miss / (size * size));
        cr_assert(miss < 1e-7 * size * size, "pair %d, case %x, %d %d: %.9g, want %.9g", n,
                  (unsigned)closest_feature_mask(w), k, i, H[12 * k + i], fd);
        cr_assert(fabs(H[12 * k + i] - H[12 * i + k]) < 1e-13 * size, "not symmetric");
      }
    }
  }
  cr_expect(used > NUM / 2, "only %d", used);
  if (!edges) /* 3 vertices, 3 edges, the inside */
    for (int c = 1; c < 8; ++c)
      cr_expect(seen[1 | c << 1] > 20, "case %d: %d", c, seen[1 | c << 1]);
  if (edges)
    for (int c = 0; c < 9; ++c) {
      static const int ends[3] = {1, 2, 3};
      const int k = ends[c % 3] | ends[c / 3] << 2;
      cr_expect(seen[k] > 20, "case %d: %d", k, seen[k]);
    }
}

Test(distance_hess, vertex_triangle_by_differences) { check_distance_derivatives(VT); }
Test(distance_hess, edge_edge_by_differences) { check_distance_derivatives(EE); }

/* Across a border between two cases the gradient is continuous. */
Test(distance_hess, gradient_is_continuous_at_the_borders)
{
  uint64_t seed = 8;
  int crossed = 0;
  for (int n = 0; n < 4 * NUM; ++n) {
    lk_real a[12], b[12], m[12], w[4], g[12], h[12];
    const int edges = n % 2;
    random_pair(&seed, n, a);
    for (int i = 0; i < 12; ++i) b[i] = a[i] + 0.05 * t_uniform(&seed);
    (void)pair_distance2(edges, a, w);
    const int left = closest_feature_mask(w);
    if (pair_distance2(edges, b, w) < 1e-4 || closest_feature_mask(w) == left) continue;
    for (int k = 0; k < 60; ++k) { /* bisection for the border */
      for (int i = 0; i < 12; ++i) m[i] = 0.5 * (a[i] + b[i]);
      (void)pair_distance2(edges, m, w);
      memcpy(closest_feature_mask(w) == left ? a : b, m, sizeof m);
    }
    if (edges) { /* not where they are parallel: there it jumps, and the mollifier acts */
      const double u[3] = {a[3] - a[0], a[4] - a[1], a[5] - a[2]};
      const double v[3] = {a[9] - a[6], a[10] - a[7], a[11] - a[8]};
      if (mollifier_cross(a) < 1e-2 * lk_dot3(u, u) * lk_dot3(v, v)) continue;
    }
    compute_distance2_gradient(edges, a, g);
    compute_distance2_gradient(edges, b, h);
    ++crossed;
    /* so close to a border that both distances agree to rounding, either may be taken: the
     * closest points then differ by its root, (8 eps)^(1/2) L with L < 3.5, the gradient by twice
     * that */
    for (int i = 0; i < 12; ++i)
      cr_assert(fabs(g[i] - h[i]) < 4e-7, "pair %d: %.12g and %.12g", n, g[i], h[i]);
  }
  cr_expect(crossed > 500, "only %d", crossed);
}

/* The barrier's Hessian: exact against the chain rule on 12 x 12; treated eigenvalues equal to
 * the dense treatment's; no negative one is left. */
Test(distance_hess, eigenvalues_are_treated_exactly)
{
  static const int hows[3] = {LOOM_HESS_EXACT, LOOM_HESS_PSD_CLAMP, LOOM_HESS_PSD_ABS};
  uint64_t seed = 11;
  for (int n = 0; n < 1500; ++n) {
    lk_real x[12], w[4], g[12], S[25], H[144], R[144], V[144], D[144];
    dist_frame f;
    const int edges = n % 2;
    random_pair(&seed, n, x);
    const double d2 = pair_distance2(edges, x, w), b1 = -1.0 - fabs(t_uniform(&seed));
    const double b2 = pow(10.0, 2.0 + 2.0 * t_uniform(&seed));
    if (d2 < 1e-6) continue;
    dist_frame_of(edges, x, w, &f);
    compute_distance2_gradient(edges, x, g);
    for (int h = 0; h < 3; ++h) {
      double size = 0.0, lo, hi;
      dist_hessian(&f, 1.0, 0.0, LOOM_HESS_EXACT, S);
      expand_distance_hessian(&f, S, R);
      for (int i = 0; i < 144; ++i) R[i] = b1 * R[i] + b2 * g[i / 12] * g[i % 12];
      for (int i = 0; i < 144; ++i) size = fmax(size, fabs(R[i]));
      if (h > 0) { /* without the short cut for definite matrices */
        memcpy(D, R, sizeof D);
        lk_sym_eig_rolled(12, (lk_room){D, 1}, (lk_room){V, 1});
        for (int i = 0; i < 144; ++i) {
          R[i] = 0;
          for (int k = 0; k < 12; ++k)
            R[i] += lk_psd(D[13 * k], hows[h]) * V[12 * (i / 12) + k] * V[12 * (i % 12) + k];
        }
      }
      dist_hessian(&f, b1, b2, hows[h], S);
      expand_distance_hessian(&f, S, H);
      for (int i = 0; i < 144; ++i)
        cr_assert(fabs(H[i] - R[i]) <= 1e-11 * size, "pair %d, how %d, %d: %g, want %g", n, hows[h],
                  i, H[i], R[i]);
      case_eigen_range(H, 12, &lo, &hi);
      if (h > 0) cr_assert(lo >= -1e-12 * size, "pair %d: %g of %g", n, lo, size);
      if (h == 1) { /* Gauss-Newton: one of its own eigenvectors, nonnegative, below the clamp */
        dist_gauss_newton(&f, b1, b2, S);
        expand_distance_hessian(&f, S, R);
        case_eigen_range(R, 12, &lo, &hi);
        cr_assert(lo >= -1e-12 * size && hi <= size * 12);
      }
    }
  }
}

/* Neither translation nor a common factor of all lengths changes anything it should not. */
Test(distance_hess, forces_balance_and_do_not_turn)
{
  uint64_t seed = 17;
  for (int n = 0; n < NUM; ++n) {
    lk_real x[12], g[12], sum[3] = {0}, turn[3] = {0}, m[3];
    random_pair(&seed, n, x);
    compute_distance2_gradient(n % 2, x, g);
    for (int i = 0; i < 4; ++i) {
      lk_cross3(x + 3 * i, g + 3 * i, m);
      for (int c = 0; c < 3; ++c) {
        sum[c] += g[3 * i + c];
        turn[c] += m[c];
      }
    }
    for (int c = 0; c < 3; ++c) cr_assert(fabs(sum[c]) < 1e-14 && fabs(turn[c]) < 1e-13);
  }
}

/* Collapsed triangles and edges have finite derivatives. */
Test(distance_hess, degenerate_pairs_stay_finite)
{
  uint64_t seed = 23;
  for (int n = 0; n < 600; ++n) {
    lk_real x[12], w[4], S[25], H[144];
    dist_frame f;
    for (int k = 0; k < 12; ++k) x[k] = t_uniform(&seed);
    const int kind = n / 2 % 5;
    for (int c = 0; c < 3; ++c) {
      if (kind == 0) x[6 + c] = x[9 + c];                         /* two coincide */
      if (kind == 1) x[6 + c] = x[9 + c] = x[3 + c];              /* all three */
      if (kind == 2) x[9 + c] = 0.5 * (x[3 + c] + x[6 + c]);      /* on a line */
      if (kind == 3) x[9 + c] = x[6 + c] + 2 * (x[3 + c] - x[c]); /* parallel edges */
      if (kind == 4) x[3 + c] = x[c] + 1e-9 * (x[3 + c] - x[c]);  /* a short edge */
    }
    if (pair_distance2(n % 2, x, w) < 1e-8) continue;
    dist_frame_of(n % 2, x, w, &f);
    dist_hessian(&f, -1.0, 5.0, LOOM_HESS_PSD_CLAMP, S);
    expand_distance_hessian(&f, S, H);
    for (int i = 0; i < 144; ++i) cr_assert(isfinite(H[i]), "kind %d", kind);
  }
}
