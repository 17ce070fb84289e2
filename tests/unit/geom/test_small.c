/* small.kern.h: decompositions against their defining equations and an independent SVD. */
#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

#include "geom/rotation.kern.h"
#include "support/elem_case.h"

/* Unit roundoff times the length of the longest chain of operations. */
static const double rounding = sizeof(lk_real) < 8 ? 4e-6 : 4e-15;

static void random_matrix(unsigned seed, int n, lk_real *A)
{
  for (int i = 0; i < n; ++i) A[i] = (lk_real)case_random(seed, (unsigned)i);
}

/* An SVD by another road: eigenvectors of F'F in long double, two-sided formula for the
 * angle; for well-conditioned 3x2 F only. */
static void reference_isometry(const lk_real *f0, const lk_real *f1, double *r0, double *r1)
{
  long double a = 0, b = 0, d = 0, u[3], v[3];
  for (int i = 0; i < 3; ++i) {
    a += (long double)f0[i] * f0[i];
    b += (long double)f0[i] * f1[i];
    d += (long double)f1[i] * f1[i];
  }
  const long double t = 0.5L * atan2l(2.0L * b, a - d), c = cosl(t), s = sinl(t);
  long double su = 0, sv = 0;
  for (int i = 0; i < 3; ++i) {
    u[i] = c * f0[i] + s * f1[i];
    v[i] = c * f1[i] - s * f0[i];
    su += u[i] * u[i];
    sv += v[i] * v[i];
  }
  for (int i = 0; i < 3; ++i) { /* R = U V', V = [(c, s), (-s, c)] */
    u[i] /= sqrtl(su);
    v[i] /= sqrtl(sv);
    r0[i] = (double)(c * u[i] - s * v[i]);
    r1[i] = (double)(s * u[i] + c * v[i]);
  }
}

Test(small, closed_form_isometry_equals_the_svd)
{
  double r0[3], r1[3], worst = 0.0;
  int used = 0;
  for (unsigned k = 0; k < 2000; ++k) {
    lk_real F[6];
    lk_polar32 P;
    random_matrix(k, 6, F);
    lk_polar32_of(F, F + 3, &P);
    /* the isometry depends on F with the condition 2/(s1 + s2), its normal with 1/s2 */
    if (P.det < LK_R(0.05) * P.tau * P.tau) continue;
    ++used;
    reference_isometry(F, F + 3, r0, r1);
    for (int i = 0; i < 3; ++i) {
      worst = fmax(worst, fabs(r0[i] - (double)P.r0[i]));
      worst = fmax(worst, fabs(r1[i] - (double)P.r1[i]));
    }
  }
  cr_assert(used > 1000);
  cr_expect(worst <= rounding, "%g", worst);
}

/* For any F: R'R = I, n perpendicular, and R'F symmetric with trace s1 + s2, which makes R
 * the closest isometry. */
Test(small, polar32_of_anything)
{
  for (unsigned k = 0; k < 4000; ++k) {
    static const double thin[] = {1, 1e-3, 1e-8, 1e-14, 1e-16, 1e-20, 1e-200, 0};
    lk_real F[6], *f0 = F, *f1 = F + 3;
    lk_polar32 P;
    random_matrix(k, 6, F);
    if (k % 3 == 1) /* nearly parallel columns */
      for (int i = 0; i < 3; ++i) f1[i] = f0[i] + (lk_real)thin[k / 3 % 8] * f1[i];
    if (k % 3 == 2) /* one short column */
      for (int i = 0; i < 3; ++i) f1[i] *= (lk_real)thin[k / 3 % 8];
    if (k % 24 == 23) memset(F, 0, sizeof F);
    lk_polar32_of(f0, f1, &P);
    const double size = (double)LK_SQRT(lk_dot3(f0, f0) + lk_dot3(f1, f1)) + 1e-30;
    cr_assert(fabs((double)lk_dot3(P.r0, P.r0) - 1.0) <= 10 * rounding);
    cr_assert(fabs((double)lk_dot3(P.r1, P.r1) - 1.0) <= 10 * rounding, "%u: %g", k,
              (double)lk_dot3(P.r1, P.r1) - 1.0);
    cr_assert(fabs((double)lk_dot3(P.r0, P.r1)) <= 10 * rounding);
    cr_assert(fabs((double)lk_dot3(P.n, P.r0)) <= 10 * rounding);
    cr_assert(fabs((double)lk_dot3(P.n, P.r1)) <= 10 * rounding);
    cr_assert(fabs((double)(lk_dot3(P.r0, f1) - lk_dot3(P.r1, f0))) <= 10 * rounding * size);
    cr_assert(fabs((double)(lk_dot3(P.r0, f0) + lk_dot3(P.r1, f1) - P.tau)) <=
              10 * rounding * size);
  }
}

/* U, V rotations, U S V' = F, order and sign of the singular values; rank 3 down to 0. */
Test(small, svd33_of_anything)
{
  for (unsigned k = 0; k < 4000; ++k) {
    lk_real F[9], U[9], s[3], V[9], A[9], B[9];
    random_matrix(k, 9, F);
    if (k % 5 == 1) /* rank 2, exactly or nearly */
      for (int i = 0; i < 3; ++i)
        F[6 + i] = F[i] - F[3 + i] + LK_R(1e-9) * (lk_real)(k % 2) * F[6 + i];
    if (k % 5 == 2) /* rank 1 */
      for (int i = 0; i < 6; ++i) F[3 + i] = F[i % 3] * (lk_real)(i / 3 + 1);
    if (k % 5 == 3) /* columns of very different length */
      for (int i = 0; i < 9; ++i) F[i] *= i % 3 == 0 ? LK_R(1e-10) : LK_R(1.0);
    if (k % 50 == 4) memset(F, 0, sizeof F);
    lk_svd33(F, U, s, V);
    cr_assert(s[0] >= s[1] && s[1] >= LK_FABS(s[2]) * LK_R(0.999999));
    cr_assert(fabs((double)lk_det33(U) - 1.0) <= 10 * rounding);
    cr_assert(fabs((double)lk_det33(V) - 1.0) <= 10 * rounding);
    lk_mul33_bt(U, U, A);
    lk_mul33_bt(V, V, B);
    for (int i = 0; i < 9; ++i) {
      cr_assert(fabs((double)A[i] - (i % 4 == 0)) <= 10 * rounding);
      cr_assert(fabs((double)B[i] - (i % 4 == 0)) <= 10 * rounding);
    }
    for (int i = 0; i < 9; ++i) A[i] = U[i] * s[i % 3];
    lk_mul33_bt(A, V, B);
    for (int i = 0; i < 9; ++i)
      cr_assert(fabs((double)(B[i] - F[i])) <= 10 * rounding * (double)(s[0] + LK_TINY), "%u: %g",
                k, (double)(B[i] - F[i]));
    if (k % 5 == 0) cr_assert((s[2] < 0) == (lk_det33(F) < 0));
  }
}

/* The rotation of the singular vectors, for det F of both signs and up to where it jumps.  Rounding
 * grows with s0/(s1 + s2) there; where R is no function of F, it is a rotation all the same. */
Test(small, rotation33_is_that_of_the_singular_vectors)
{
  int inverted = 0, compared = 0;
  for (unsigned k = 0; k < 100000; ++k) {
    lk_real F[9], R[9], U[9], s[3], V[9], Q[9], A[9];
    random_matrix(k, 9, F);
    if (k % 4 == 1) /* near a rotation: small strain */
      for (int i = 0; i < 9; ++i) F[i] = (lk_real)(i % 4 == 0) + LK_R(1e-4) * F[i];
    if (k % 4 == 2) /* columns of different length */
      for (int i = 0; i < 9; ++i) F[i] *= i % 3 == 0 ? LK_R(1e-6) : LK_R(1e3);
    if (k % 400 == 3) /* rank 1 */
      for (int i = 0; i < 6; ++i) F[3 + i] = F[i % 3] * (lk_real)(i / 3 + 1);
    if (k % 4000 == 7) memset(F, 0, sizeof F);
    lk_svd33(F, U, s, V);
    if (k % 8 == 4) { /* near the place where R jumps, and the closed form loses digits */
      static const lk_real near[3] = {LK_R(1.0), LK_R(2e-2), LK_R(-1.94e-2)};
      for (int i = 0; i < 9; ++i) A[i] = U[i] * near[i % 3];
      lk_mul33_bt(A, V, F);
      lk_svd33(F, U, s, V);
    }
    lk_mul33_bt(U, V, Q);
    lk_rotation33(F, R);
    lk_mul33_bt(R, R, A);
    cr_assert(fabs((double)lk_det33(R) - 1.0) <= 10 * rounding, "%u", k);
    for (int i = 0; i < 9; ++i) cr_assert(fabs((double)A[i] - (i % 4 == 0)) <= 10 * rounding);
    const double gap = (double)(s[1] + s[2]), size = (double)s[0];
    if (!(gap > 1e-4 * size)) continue;
    for (int i = 0; i < 9; ++i)
      cr_assert(fabs((double)(R[i] - Q[i])) <= 10 * rounding * fmax(size / gap, 1.0),
                "%u: %g at s = %g %g %g", k, (double)(R[i] - Q[i]), (double)s[0], (double)s[1],
                (double)s[2]);
    inverted += s[2] < 0;
    ++compared;
  }
  cr_assert(compared > 90000 && inverted > 20000, "%d, %d", compared, inverted);
}

/* Matrices in a room with numbers STRIDE apart: the numbers between them are not touched. */
enum { STRIDE = 5, LENGTH = 144 };
typedef struct room_of {
  lk_real numbers[STRIDE * LENGTH];
} room_of;

static lk_room scatter_strided_matrix(room_of *r, int n, const lk_real *A)
{
  for (int i = 0; i < STRIDE * LENGTH; ++i) r->numbers[i] = -12345;
  for (int i = 0; i < n * n; ++i) r->numbers[STRIDE * i] = A[i];
  return (lk_room){r->numbers, STRIDE};
}

static void gather_strided_matrix(const room_of *r, int n, lk_real *A)
{
  for (int i = 0; i < STRIDE * LENGTH; ++i)
    if (i % STRIDE == 0 && i < STRIDE * n * n)
      A[i / STRIDE] = r->numbers[i];
    else
      cr_assert(r->numbers[i] == -12345);
}

static void sym_eig(int rolled, int n, lk_real *A, lk_real *V)
{
  room_of a, v;
  if (!rolled) {
    lk_sym_eig(n, A, V);
    return;
  }
  lk_sym_eig_rolled(n, scatter_strided_matrix(&a, n, A), scatter_strided_matrix(&v, n, V));
  gather_strided_matrix(&a, n, A);
  gather_strided_matrix(&v, n, V);
}

static void sym_psd(int rolled, int n, lk_real *A, lk_real *V, lk_real *D, int how)
{
  room_of a, v, d;
  if (!rolled) {
    lk_sym_psd(n, A, V, D, how);
    return;
  }
  lk_sym_psd_rolled(n, scatter_strided_matrix(&a, n, A), scatter_strided_matrix(&v, n, V),
                    scatter_strided_matrix(&d, n, D), how);
  gather_strided_matrix(&a, n, A);
}

static int sym_definite(int rolled, int n, const lk_real *A, lk_real *L)
{
  room_of a, l;
  return rolled ? lk_sym_definite_rolled(n, scatter_strided_matrix(&a, n, A),
                                         scatter_strided_matrix(&l, n, A))
                : lk_sym_definite(n, A, L);
}

static void check_sym(int rolled)
{
  lk_real A[144], D[144], V[144] = {0}, P[144], W[144];
  int definite = 0;
  for (unsigned k = 0; k < 300; ++k) {
    const int n = 2 + (int)(k % 11);
    double trace = 0.0, sum = 0.0, size = 0.0;
    for (int i = 0; i < n; ++i)
      for (int j = 0; j <= i; ++j)
        A[n * i + j] = A[n * j + i] =
            (lk_real)(case_random(k, (unsigned)(12 * i + j)) + (i == j && k % 2 ? n : 0));
    memcpy(D, A, sizeof A);
    sym_eig(rolled, n, D, V);
    for (int i = 0; i < n; ++i) {
      trace += (double)A[n * i + i];
      sum += (double)D[n * i + i];
      size = fmax(size, fabs((double)D[n * i + i]));
      for (int j = 0; j < n; ++j) {
        double av = 0.0, vv = 0.0;
        for (int l = 0; l < n; ++l) {
          av += (double)(A[n * i + l] * V[n * l + j]);
          vv += (double)(V[n * l + i] * V[n * l + j]);
        }
        cr_assert(fabs(av - (double)(D[n * j + j] * V[n * i + j])) <= 30 * rounding);
        cr_assert(fabs(vv - (i == j)) <= 30 * rounding);
      }
    }
    cr_assert(fabs(trace - sum) <= 30 * rounding * size);
    /* definite beyond doubt, or not; on the way D holds the eigenvalues */
    double least = (double)D[0];
    for (int i = 1; i < n; ++i) least = fmin(least, (double)D[n * i + i]);
    if (fabs(least) > 1e-3 * size) cr_assert_eq(sym_definite(rolled, n, A, W), least > 0.0);
    definite += least > 0.0;
    /* A = clamp(A) - clamp(-A), |A| = clamp(A) + clamp(-A) */
    for (int i = 0; i < n * n; ++i) P[i] = A[i], W[i] = -A[i];
    sym_psd(rolled, n, P, V, D, LOOM_HESS_PSD_CLAMP);
    sym_psd(rolled, n, W, V, D, LOOM_HESS_PSD_CLAMP);
    for (int i = 0; i < n * n; ++i) cr_assert(LK_FABS(P[i] - W[i] - A[i]) <= 30 * rounding * size);
    for (int i = 0; i < n * n; ++i) P[i] += W[i], W[i] = A[i];
    sym_psd(rolled, n, W, V, D, LOOM_HESS_PSD_ABS);
    for (int i = 0; i < n * n; ++i) cr_assert(LK_FABS(P[i] - W[i]) <= 30 * rounding * size);
  }
  cr_assert(definite > 100 && definite < 200);
}

Test(small, sym_eig_and_semidefinite_parts) { check_sym(0); }
Test(small, rolled_sym_eig_and_semidefinite_parts) { check_sym(1); }

Test(small, sym2_eig)
{
  const lk_real in[4][3] = {{2, 1, -3}, {1, 0, 1}, {0, 0, 0}, {-1, LK_R(1e-9), 5}};
  for (int k = 0; k < 4; ++k) {
    const lk_real a = in[k][0], b = in[k][1], d = in[k][2];
    lk_real l[2], c, s;
    lk_sym2_eig(a, b, d, l, &c, &s);
    cr_assert(l[0] >= l[1]);
    cr_assert(fabs((double)(a * c + b * s - l[0] * c)) <= 10 * rounding);
    cr_assert(fabs((double)(b * c + d * s - l[0] * s)) <= 10 * rounding);
    cr_assert(fabs((double)(b * c - a * s + l[1] * s)) <= 10 * rounding);
  }
}

Test(small, inverse)
{
  lk_real A[9], B[9], C[9], zero[9] = {0};
  for (unsigned k = 0; k < 200; ++k) {
    random_matrix(k, 9, A);
    const double det = (double)lk_inv33(A, B);
    cr_assert(fabs(det - (double)lk_det33(A)) <= rounding);
    lk_mul33(A, B, C);
    for (int i = 0; i < 9; ++i)
      cr_assert(fabs((double)C[i] - (i % 4 == 0)) <= 10 * rounding / fabs(det));
  }
  memcpy(B, A, sizeof B);
  cr_assert(lk_inv33(zero, B) == 0 && memcmp(A, B, sizeof B) == 0);
}
