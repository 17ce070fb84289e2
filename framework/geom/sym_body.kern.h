/* sym_body.kern.h - symmetric matrices of n <= 12 rows, included by small.kern.h once for every way
 * to compile the loops: LK_SYM(name) names the functions, LK_SYM_LOOP stands before each loop. */
/* Cyclic Jacobi: A [n][n] becomes diagonal (the eigenvalues), the columns of V [n][n]
 * the eigenvectors.  Quadratic convergence: 8 sweeps reach rounding for n <= 12, and the
 * first sweep that finds nothing above rounding is the last. */
LK_FN void LK_SYM(eig)(int n, lk_real *A, lk_real *V)
{
  lk_real size = LK_R(0.0);
  LK_SYM_LOOP
  for (int i = 0; i < n; ++i) {
    LK_SYM_LOOP
    for (int j = 0; j < n; ++j) {
      V[n * i + j] = i == j ? LK_R(1.0) : LK_R(0.0);
      size = LK_FMAX(size, LK_FABS(A[n * i + j]));
    }
  }
  const lk_real small = LK_R(0.125) * LK_EPSILON * size;
  for (int sweep = 0; sweep < 8; ++sweep) {
    int turned = 0;
    LK_SYM_LOOP
    for (int p = 0; p < n - 1; ++p) {
      LK_SYM_LOOP
      for (int q = p + 1; q < n; ++q) {
        const lk_real apq = A[n * p + q];
        if (!(LK_FABS(apq) > small)) continue;
        turned = 1;
        const lk_real tau = (A[n * q + q] - A[n * p + p]) / (LK_R(2.0) * apq);
        const lk_real root = LK_FABS(tau) + LK_SQRT(LK_R(1.0) + tau * tau);
        const lk_real t = (tau >= LK_R(0.0) ? LK_R(1.0) : LK_R(-1.0)) / root;
        const lk_real c = LK_R(1.0) / LK_SQRT(LK_R(1.0) + t * t), s = t * c;
        LK_SYM_LOOP
        for (int k = 0; k < n; ++k) { /* columns p and q of A and V */
          const lk_real akp = A[n * k + p], akq = A[n * k + q];
          const lk_real vkp = V[n * k + p], vkq = V[n * k + q];
          A[n * k + p] = c * akp - s * akq;
          A[n * k + q] = s * akp + c * akq;
          V[n * k + p] = c * vkp - s * vkq;
          V[n * k + q] = s * vkp + c * vkq;
        }
        LK_SYM_LOOP
        for (int k = 0; k < n; ++k) { /* rows p and q of A */
          const lk_real apk = A[n * p + k], aqk = A[n * q + k];
          A[n * p + k] = c * apk - s * aqk;
          A[n * q + k] = s * apk + c * aqk;
        }
        A[n * p + q] = LK_R(0.0);
        A[n * q + p] = LK_R(0.0);
      }
    }
    if (!turned) return;
  }
}

/* 1 if A [n][n] is safely positive definite: elimination without pivoting meets only pivots
 * above rounding.  L [n][n] is workspace. */
LK_FN int LK_SYM(definite)(int n, const lk_real *A, lk_real *L)
{
  lk_real size = LK_R(0.0);
  int definite = 1;
  LK_SYM_LOOP
  for (int i = 0; i < n * n; ++i) {
    L[i] = A[i];
    size = LK_FMAX(size, LK_FABS(A[i]));
  }
  LK_SYM_LOOP
  for (int j = 0; j < n; ++j) {
    definite = definite && L[n * j + j] > LK_R(64.0) * LK_EPSILON * size;
    const lk_real inv = LK_R(1.0) / (definite ? L[n * j + j] : LK_R(1.0));
    LK_SYM_LOOP
    for (int i = j + 1; i < n; ++i) {
      LK_SYM_LOOP
      for (int k = j + 1; k <= i; ++k) L[n * i + k] -= L[n * i + j] * L[n * k + j] * inv;
    }
  }
  return definite;
}

/* A [n][n] becomes the nearest positive semidefinite matrix (CLAMP) or the one with the
 * absolute eigenvalues (ABS); V and D [n][n] are workspace.  A definite matrix, the
 * common case, is left as it is without looking for eigenvalues. */
LK_FN void LK_SYM(psd)(int n, lk_real *A, lk_real *V, lk_real *D, int how)
{
  if (LK_SYM(definite)(n, A, V)) return;
  LK_SYM_LOOP
  for (int i = 0; i < n * n; ++i) D[i] = A[i];
  LK_SYM(eig)(n, D, V);
  LK_SYM_LOOP
  for (int i = 0; i < n; ++i) {
    LK_SYM_LOOP
    for (int j = 0; j <= i; ++j) {
      lk_real s = LK_R(0.0);
      LK_SYM_LOOP
      for (int k = 0; k < n; ++k) s += lk_psd(D[n * k + k], how) * (V[n * i + k] * V[n * j + k]);
      A[n * i + j] = s;
      A[n * j + i] = s;
    }
  }
}

#undef LK_SYM
#undef LK_SYM_LOOP
