/* loom/factor.h - interface between the core and a module that factorises sparse matrices.
 *
 * With [log] error the core measures how far an iterate is from the solution in the norm of a
 * matrix.  A factorisation lives in a module NAME.so of its own, in the folder `factors` beside
 * the folder of the plugins.  loom itself neither links nor needs it, so the licence of the module
 * does not extend to loom.  Without a module the core solves by iteration.
 */
#ifndef LOOM_FACTOR_H
#define LOOM_FACTOR_H

#include <stddef.h>

#include "types.h"

#define LOOM_FACTOR_ABI 2u

enum { LOOM_FACTOR_WHY = 256 };

/* A symmetric matrix of n x n blocks, scalars or 3 x 3: its strictly lower triangle by rows, and
 * its diagonal.  A scalar block acts on x, y and z alike.  The caller owns the arrays. */
typedef struct loom_factor_matrix {
  uint32_t struct_size;
  int32_t n;          /* block rows */
  int32_t block;      /* 1 or 3 */
  const int64_t *ptr; /* [n+1] */
  const int32_t *col; /* [ptr[n]], ascending in each row */
  const double *val;  /* [ptr[n]][block][block], row-major */
  const double *diag; /* [n][block][block], symmetric */
} loom_factor_matrix;

/* One thread at a time uses an instance.  A function that fails returns an error, writes a sentence
 * into why, char [LOOM_FACTOR_WHY], and leaves the instance fit for analyse() and close().  The
 * same calls give the same bits. */
typedef struct loom_factor {
  uint32_t struct_size;
  uint32_t abi; /* LOOM_FACTOR_ABI */
  const char *name, *version;
  const char *license;                         /* SPDX, of the module with its libraries */
  const char *summary;                         /* one sentence */
  loom_status (*open)(void **self, char *why); /* makes an instance, which close() frees */
  void (*close)(void *self);                   /* NULL is allowed */
  /* Reads n, block, ptr and col.  The module keeps no pointer into A after the call. */
  loom_status (*analyse)(void *self, const loom_factor_matrix *A, char *why);
  /* Uses the pattern of the last analyse().  LOOM_REJECTED: A is not positive definite. */
  loom_status (*factorise)(void *self, const loom_factor_matrix *A, char *why);
  /* x [n][3] := A^-1 x, with A of the last factorise(). */
  loom_status (*solve)(void *self, double *x, char *why);
  /* *out = x' A^-1 x = |L^-1 x|^2, x [n][3]; costs half a solve. */
  loom_status (*norm2)(void *self, const double *x, double *out, char *why);
} loom_factor;

/* The one function that a module exports.  The result stays valid; NULL: `abi` is not supported. */
typedef const loom_factor *(*loom_factor_query_fn)(uint32_t abi);
LOOM_EXPORT const loom_factor *loom_factor_query(uint32_t abi);

#endif /* LOOM_FACTOR_H */
