/* reuse.kern.h - the part of contact in the reduced matrix, as sums over the rows in contact. */
#ifndef NDB_PD_REUSE_KERN_H
#define NDB_PD_REUSE_KERN_H

#include "kit/subspace.kern.h"

enum { NDB_PD_TOUCHED = 128 }; /* contact rows of a chunk */

typedef struct ndb_pd_reuse_args {
  const int64_t *LK_RESTRICT ptr; /* [n+1] */
  const int32_t *LK_RESTRICT col;
  const lk_real *LK_RESTRICT val;   /* N/m */
  const lk_real *LK_RESTRICT U;     /* [n][ld] */
  const lk_real *LK_RESTRICT w;     /* [n], N/m */
  const lk_real *LK_RESTRICT mask;  /* [n], H_jj / (H_jj + w_j); NULL: not masked */
  const int64_t *LK_RESTRICT place; /* [n+1], row of each touched vertex in the list */
  int32_t *LK_RESTRICT list;        /* [rows], touched vertices */
  lk_real *LK_RESTRICT V;           /* [rows][ld] */
  lk_real *LK_RESTRICT table;       /* [n][cols (cols+1) / 2], u_j' u_j */
  lk_real *LK_RESTRICT part;        /* [chunks][tiles][64] or [chunks][cols (cols+1) / 2] */
  lk_real *LK_RESTRICT S;           /* [cols][cols] */
  int32_t n, ld, cols, groups;
  int32_t rows, chunks, lower, half; /* lower: only tiles on and below the diagonal */
} ndb_pd_reuse_args;

LK_DECLARE(ndb_pd_list, ndb_pd_reuse_args)       /* per vertex: list of the touched ones */
LK_DECLARE(ndb_pd_list_all, ndb_pd_reuse_args)   /* per vertex: list of all */
LK_DECLARE(ndb_pd_rows, ndb_pd_reuse_args)       /* per listed row and group: V */
LK_DECLARE(ndb_pd_gram, ndb_pd_reuse_args)       /* per chunk and tile: part = U' V */
LK_DECLARE(ndb_pd_gram_sum, ndb_pd_reuse_args)   /* per entry of S */
LK_DECLARE(ndb_pd_table, ndb_pd_reuse_args)      /* per vertex */
LK_DECLARE(ndb_pd_table_part, ndb_pd_reuse_args) /* per chunk and entry of the triangle */
LK_DECLARE(ndb_pd_table_sum, ndb_pd_reuse_args)  /* per entry of S */

#endif
