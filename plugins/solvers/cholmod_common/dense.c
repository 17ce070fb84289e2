/* dense.c - see dense.h.
 *
 * Products go through packed panels and a register tile of 3 vectors by NR columns, as in
 * K. Goto, R. van de Geijn, Anatomy of High-Performance Matrix Multiplication, ACM TOMS 34(3),
 * 2008, doi 10.1145/1356052.1356053.  Vector types of the compiler: the width is what the
 * target has. */
#include "dense.h"

#include <float.h>
#include <string.h>

#if defined(__AVX512F__)
enum { VL = 8, NR = 8 };
#elif defined(__AVX__)
enum { VL = 4, NR = 4 };
#else
enum { VL = 2, NR = 4 };
#endif
enum { MV = 3, MR = MV * VL }; /* rows of a tile */
enum { KC = 192 };             /* columns packed at once: a panel of A stays in the first cache */
enum { PANEL = 24 };           /* columns factorised at once */
enum { CHUNK = 64 };           /* rows of a panel treated at once: they stay in the first cache */

typedef double vec __attribute__((vector_size(VL * sizeof(double)), aligned(sizeof(double))));

static size_t round_up(size_t n, size_t to) { return (n + to - 1) / to * to; }

size_t dense_work(size_t rows) { return KC * (round_up(rows, NR) + MR); }

/* `count` rows of A, k columns, to P [k][width], the missing rows zero */
static void pack(const double *A, size_t lda, size_t count, size_t k, size_t width, double *P)
{
  for (size_t p = 0; p < k; ++p, P += width, A += lda) {
    for (size_t i = 0; i < count; ++i) P[i] = A[i];
    for (size_t i = count; i < width; ++i) P[i] = 0.0;
  }
}

/* T [NR][MR] = sum_p a[p] b[p]' over packed panels */
static void tile(const double *a, const double *b, size_t k, double *T)
{
  vec c[NR][MV];
  memset(c, 0, sizeof c);
  for (size_t p = 0; p < k; ++p, a += MR, b += NR) {
    vec x[MV];
    memcpy(x, a, sizeof x);
#pragma GCC unroll 8
    for (int j = 0; j < NR; ++j) {
      c[j][0] += x[0] * b[j];
      c[j][1] += x[1] * b[j];
      c[j][2] += x[2] * b[j];
    }
  }
  memcpy(T, c, sizeof c);
}

static void subtract_tile(double *C, size_t ldc, const double *T, size_t m, size_t n)
{
  if (m == MR) {
    for (size_t j = 0; j < n; ++j)
      for (size_t i = 0; i < MR; ++i) C[i + ldc * j] -= T[i + MR * j];
    return;
  }
  for (size_t j = 0; j < n; ++j)
    for (size_t i = 0; i < m; ++i) C[i + ldc * j] -= T[i + MR * j];
}

void dense_subtract(const dense_update *u, double *work)
{
  double T[NR * MR];
  double *const b = work + KC * MR;
  for (size_t p = 0; p < u->k; p += KC) {
    const size_t k = u->k - p < KC ? u->k - p : KC;
    for (size_t j = 0; j < u->n; j += NR)
      pack(u->B + u->lda * p + j, u->lda, u->n - j < NR ? u->n - j : NR, k, NR, b + k * j);
    for (size_t i = 0; i < u->m; i += MR) {
      const size_t m = u->m - i < MR ? u->m - i : MR;
      /* columns beyond the tile's last row are above the diagonal */
      const size_t end = u->lower && i + m < u->n ? i + m : u->n;
      pack(u->A + u->lda * p + i, u->lda, m, k, MR, work);
      for (size_t j = 0; j < end; j += NR) {
        tile(work, b + k * j, k, T);
        subtract_tile(u->C + i + u->ldc * j, u->ldc, T, m, u->n - j < NR ? u->n - j : NR);
      }
    }
  }
}

/* Cholesky factor of D [n][n], distance ld; returns as dense_factor */
static long small_factor(double *D, size_t ld, size_t n)
{
  for (size_t j = 0; j < n; ++j) {
    for (size_t p = 0; p < j; ++p) {
      const double f = D[j + ld * p];
      for (size_t i = j; i < n; ++i) D[i + ld * j] -= f * D[i + ld * p];
    }
    const double pivot = D[j + ld * j];
    if (!(pivot > 0.0 && pivot <= DBL_MAX)) return (long)j;
    const double root = __builtin_sqrt(pivot), inv = 1.0 / root;
    D[j + ld * j] = root;
    for (size_t i = j + 1; i < n; ++i) D[i + ld * j] *= inv;
  }
  return -1;
}

/* X [m][n] := X D'^-1 for the factor D [n][n]; both with distance ld */
static void small_divide(double *X, const double *D, size_t ld, size_t m, size_t n)
{
  for (size_t j = 0; j < n; ++j) {
    double *const x = X + ld * j;
    for (size_t p = 0; p < j; ++p) {
      const double f = D[j + ld * p], *const y = X + ld * p;
      for (size_t i = 0; i < m; ++i) x[i] -= f * y[i];
    }
    const double inv = 1.0 / D[j + ld * j];
    for (size_t i = 0; i < m; ++i) x[i] *= inv;
  }
}

long dense_factor(double *L, size_t rows, size_t cols, double *work)
{
  for (size_t k = 0; k < cols; k += PANEL) {
    const size_t n = cols - k < PANEL ? cols - k : PANEL;
    double *const D = L + k + rows * k;
    const dense_update u = {L + k, L + k, D, rows, rows, rows - k, n, k, 0};
    dense_subtract(&u, work);
    const long bad = small_factor(D, rows, n);
    if (bad >= 0) return (long)k + bad;
    for (size_t i = k + n; i < rows; i += CHUNK)
      small_divide(L + i + rows * k, D, rows, rows - i < CHUNK ? rows - i : CHUNK, n);
  }
  return -1;
}
