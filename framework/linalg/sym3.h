/* sym3.h - symmetric sparse matrices on the host, for measuring errors: of 3 x 3 blocks, or of
 * scalars that apply to x, y and z alike.
 *
 * The strictly lower triangle by rows and the diagonal, as loom/factor.h has it.  One thread, sums
 * in a fixed order. */
#ifndef LOOM_SYM3_H
#define LOOM_SYM3_H

#include "core/err.h"
#include "loom/factor.h"
#include "loom/scene.h"

typedef struct sym3 {
  int32_t n, block;   /* block rows; 1 or 3 */
  int64_t *ptr;       /* [n+1] */
  int32_t *col;       /* [ptr[n]], ascending in each row */
  double *val, *diag; /* [ptr[n]][block][block], [n][block][block] */
  int64_t rows, room; /* capacity of the arrays: rows, and blocks below the diagonal ... */
  int32_t widest;     /* ... of this size at most */
} sym3;

void sym3_free(sym3 *A); /* a zeroed struct is fine, and an empty matrix */
/* Takes the lower triangle of a matrix with both triangles in its rows: ptr [n+1], col ascending in
 * each row, val [ptr[n]][block][block]. */
loom_status sym3_take(loom_err *err, sym3 *A, int32_t n, int block, const int64_t *ptr,
                      const int32_t *col, const loom_real *val);
/* Turns the blocks into scalars if all of them are multiples of I; otherwise A stays. */
void sym3_simplify(sym3 *A);
/* S = A + B, of the same n: of scalars if both are. */
loom_status sym3_sum(loom_err *err, const sym3 *A, const sym3 *B, sym3 *S);
int sym3_same_pattern(const sym3 *A, const sym3 *B);
void sym3_multiply_add(const sym3 *A, const double *x, double *y); /* y += A x, both [n][3] */
loom_factor_matrix sym3_view(const sym3 *A);

/* ---- conjugate gradients ---- */
typedef struct sym3_blocks { /* a symmetric matrix as 3 x 3 blocks in any order, (i,j) and (j,i) */
  int64_t count;
  const int32_t *row, *col; /* [count] */
  const loom_real *val;     /* [count][3][3] */
  const uint8_t *fixed;     /* [n], 1: rows and columns of this vertex are left out */
} sym3_blocks;

typedef struct sym3_system {
  const sym3 *A;
  const sym3_blocks *B; /* the matrix is A + B; B may be NULL */
  /* z = C^-1 r, both [n][3], C near the matrix; NULL: the blocks on its diagonal */
  loom_status (*precondition)(void *user, const double *r, double *z);
  /* *out = r' C^-1 r, where that costs less than z; or NULL */
  loom_status (*norm2)(void *user, const double *r, double *out);
  int by_A; /* C is A itself: the first product need not be made */
  void *user;
} sym3_system;

typedef struct sym3_solution {
  double energy; /* b' x */
  int64_t iters; /* products with the matrix */
  int32_t converged;
  int32_t indefinite; /* 1: ended at a direction of negative curvature, with the x before it */
} sym3_solution;

enum { SYM3_WORK = 21 };

/* Solves (A + B) x = b for x [n][3], from x = 0; work: [SYM3_WORK n].  Ends where sqrt(r' C^-1 r)
 * is `tol` times its first value, or after max_iters products.  Returns errors of precondition()
 * and norm2(). */
loom_status sym3_solve(const sym3_system *s, const double *b, double *x, double *work, double tol,
                       int64_t max_iters, sym3_solution *out);

#endif
