/* loom/factor.h - how the core and a module that factorises sparse matrices meet.
 *
 * With [log] error the core measures how far an iterate is from the solution in the norm of a
 * matrix.  The factorisation stands in a module NAME.so of its own, in the folder `factors` beside
 * that of the plugins: loom as such neither links nor needs it, and its licence stays that of the
 * module.  Without one the core iterates.
 */
#ifndef LOOM_FACTOR_H
#define LOOM_FACTOR_H

#include <stddef.h>

#include "types.h"

#define LOOM_FACTOR_ABI 2u

enum { LOOM_FACTOR_WHY = 256 };

/* A symmetric matrix of n x n blocks, scalars or 3 x 3: its strictly lower triangle by rows, and
 * its diagonal.  A scalar one stands for itself in x, y and z. */
typedef struct loom_factor_matrix {
  uint32_t struct_size;
  int32_t n;          /* block rows */
  int32_t block;      /* 1 or 3 */
  const int64_t *ptr; /* [n+1] */
  const int32_t *col; /* [ptr[n]], ascending in each row */
  const double *val;  /* [ptr[n]][block][block], row-major */
  const double *diag; /* [n][block][block], symmetric */
} loom_factor_matrix;

/* An instance is used by one thread at a time.  Where a function fails, it leaves a sentence in why
 * [LOOM_FACTOR_WHY] and the instance as good as new.  The same calls give the same bits. */
typedef struct loom_factor {
  uint32_t struct_size;
  uint32_t abi; /* LOOM_FACTOR_ABI */
  const char *name, *version;
  const char *license; /* SPDX, of what is linked in */
  const char *summary; /* one sentence */
  loom_status (*open)(void **self, char *why);
  void (*close)(void *self); /* NULL is fine */
  /* From n, block, ptr and col alone; they and the values are no longer read after the call. */
  loom_status (*analyse)(void *self, const loom_factor_matrix *A, char *why);
  /* Of the pattern that was analysed last.  LOOM_REJECTED: it is not positive definite. */
  loom_status (*factorise)(void *self, const loom_factor_matrix *A, char *why);
  /* x [n][3] := A^-1 x, of the matrix that was factorised last. */
  loom_status (*solve)(void *self, double *x, char *why);
  /* *out = x' A^-1 x, x [n][3]: |L^-1 x|^2, half a solve. */
  loom_status (*norm2)(void *self, const double *x, double *out, char *why);
} loom_factor;

/* The one function that a module exports; NULL: it does not know this version of the interface. */
typedef const loom_factor *(*loom_factor_query_fn)(uint32_t abi);
LOOM_EXPORT const loom_factor *loom_factor_query(uint32_t abi);

#endif /* LOOM_FACTOR_H */
