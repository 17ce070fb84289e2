/* sym_body.kern.h - symmetric matrices of n <= 12 rows, included by small.kern.h once for every way
 * to compile the loops.  LK_SYM(name) names the functions, LK_SYM_LOOP stands before each loop,
 * LK_SYM_MATRIX is the type of a matrix, LK_SYM_CONST the type of a matrix that is only read, and
 * LK_SYM_AT(A, k) the number k of a matrix. */
/* Cyclic Jacobi: A [n][n] becomes diagonal (the eigenvalues), the columns of V [n][n]
 * the eigenvectors.  Quadratic convergence: 8 sweeps reach rounding for n <= 12, and the
 * first sweep that finds no off-diagonal number above rounding is the last. */
LK_FN void LK_SYM(eig)(int n, LK_SYM_MATRIX A, LK_SYM_MATRIX V)
{
  lk_real size = LK_R(0.0);
  LK_SYM_LOOP
  for (int i = 0; i < n; ++i) {
    LK_SYM_LOOP
    for (int j = 0; j < n; ++j) {
      LK_SYM_AT(V, n * i + j) = i == j ? LK_R(1.0) : LK_R(0.0);
      size = LK_FMAX(size, LK_FABS(LK_SYM_AT(A, n * i + j)));
    }
  }
  const lk_real small = LK_R(0.125) * LK_EPSILON * size;
  for (int sweep = 0; sweep < 8; ++sweep) {
    int turned = 0;
    LK_SYM_LOOP
    for (int p = 0; p < n - 1; ++p) {
      LK_SYM_LOOP
      for (int q = p + 1; q < n; ++q) {
        const lk_real apq = LK_SYM_AT(A, n * p + q);
        if (!(LK_FABS(apq) > small)) continue;
        turned = 1;
        const lk_real tau = (LK_SYM_AT(A, n * q + q) - LK_SYM_AT(A, n * p + p)) / (LK_R(2.0) * apq);
        const lk_real root = LK_FABS(tau) + LK_SQRT(LK_R(1.0) + tau * tau);
        const lk_real t = (tau >= LK_R(0.0) ? LK_R(1.0) : LK_R(-1.0)) / root;
        const lk_real c = LK_R(1.0) / LK_SQRT(LK_R(1.0) + t * t), s = t * c;
        LK_SYM_LOOP
        for (int k = 0; k < n; ++k) { /* columns p and q of A and V */
          const lk_real akp = LK_SYM_AT(A, n * k + p), akq = LK_SYM_AT(A, n * k + q);
          const lk_real vkp = LK_SYM_AT(V, n * k + p), vkq = LK_SYM_AT(V, n * k + q);
          LK_SYM_AT(A, n * k + p) = c * akp - s * akq;
          LK_SYM_AT(A, n * k + q) = s * akp + c * akq;
          LK_SYM_AT(V, n * k + p) = c * vkp - s * vkq;
          LK_SYM_AT(V, n * k + q) = s * vkp + c * vkq;
        }
        LK_SYM_LOOP
        for (int k = 0; k < n; ++k) { /* rows p and q of A */
          const lk_real apk = LK_SYM_AT(A, n * p + k), aqk = LK_SYM_AT(A, n * q + k);
          LK_SYM_AT(A, n * p + k) = c * apk - s * aqk;
          LK_SYM_AT(A, n * q + k) = s * apk + c * aqk;
        }
        LK_SYM_AT(A, n * p + q) = LK_R(0.0);
        LK_SYM_AT(A, n * q + p) = LK_R(0.0);
      }
    }
    if (!turned) return;
  }
}

/* 1 if A [n][n] is safely positive definite: elimination without pivoting meets only pivots
 * above rounding.  L [n][n] is workspace. */
LK_FN int LK_SYM(definite)(int n, LK_SYM_CONST A, LK_SYM_MATRIX L)
{
  lk_real size = LK_R(0.0);
  int definite = 1;
  LK_SYM_LOOP
  for (int i = 0; i < n * n; ++i) {
    LK_SYM_AT(L, i) = LK_SYM_AT(A, i);
    size = LK_FMAX(size, LK_FABS(LK_SYM_AT(A, i)));
  }
  LK_SYM_LOOP
  for (int j = 0; j < n; ++j) {
    definite = definite && LK_SYM_AT(L, n * j + j) > LK_R(64.0) * LK_EPSILON * size;
    const lk_real inv = LK_R(1.0) / (definite ? LK_SYM_AT(L, n * j + j) : LK_R(1.0));
    LK_SYM_LOOP
    for (int i = j + 1; i < n; ++i) {
      LK_SYM_LOOP
      for (int k = j + 1; k <= i; ++k)
        LK_SYM_AT(L, n * i + k) -= LK_SYM_AT(L, n * i + j) * LK_SYM_AT(L, n * k + j) * inv;
    }
  }
  return definite;
}

/* A [n][n] becomes the nearest positive semidefinite matrix (CLAMP) or the one with the
 * absolute eigenvalues (ABS); V [n][n] and D [n] are workspace.  A definite matrix, the
 * common case, is left as it is without looking for eigenvalues. */
LK_FN void LK_SYM(psd)(int n, LK_SYM_MATRIX A, LK_SYM_MATRIX V, LK_SYM_MATRIX D, int how)
{
  if (LK_SYM(definite)(n, A, V)) return;
  LK_SYM(eig)(n, A, V);
  LK_SYM_LOOP
  for (int k = 0; k < n; ++k) LK_SYM_AT(D, k) = lk_psd(LK_SYM_AT(A, n * k + k), how);
  LK_SYM_LOOP
  for (int i = 0; i < n; ++i) {
    LK_SYM_LOOP
    for (int j = 0; j <= i; ++j) {
      lk_real s = LK_R(0.0);
      LK_SYM_LOOP
      for (int k = 0; k < n; ++k)
        s += LK_SYM_AT(D, k) * (LK_SYM_AT(V, n * i + k) * LK_SYM_AT(V, n * j + k));
      LK_SYM_AT(A, n * i + j) = s;
      LK_SYM_AT(A, n * j + i) = s;
    }
  }
}

#undef LK_SYM
#undef LK_SYM_LOOP
#undef LK_SYM_MATRIX
#undef LK_SYM_CONST
#undef LK_SYM_AT
