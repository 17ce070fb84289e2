/* elastic.h - the diagonal blocks of the elastic Hessian, with damping of elements where the scene
 * has it.  Elements without a Hessian are left out. */
#ifndef ELASTIC_DIAGONAL_H
#define ELASTIC_DIAGONAL_H

#include "loom/plug.h"
#include "loom/plugin.h"

typedef struct elastic_block { /* corners by vertex */
  loom_buf *first;             /* i64 [n+1] */
  loom_buf *corner;            /* i64 [.] */
} elastic_block;

typedef struct elastic_diagonal {
  const loom_host *host;
  const loom_scene *sc;
  const loom_exec *e;
  elastic_block *block; /* [num_blocks] */
  loom_buf *dense;      /* real [.], Hessians of some elements */
  loom_buf *sum;        /* real [n][3][3], N/m */
} elastic_diagonal;

loom_status elastic_diagonal_new(elastic_diagonal *d, const loom_host *host, const loom_scene *sc,
                                 const loom_exec *e);
void elastic_diagonal_free(elastic_diagonal *d); /* also after an elastic_diagonal_new() failed */
/* `sum` at x, real [n][3], m, of element Hessians without negative eigenvalues. */
loom_status elastic_diagonal_at(elastic_diagonal *d, loom_buf *x);

#endif
