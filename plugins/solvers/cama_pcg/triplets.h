/* triplets.h - assembly by sorting, the baseline: in every step each element writes its 3x3 blocks
 * with row and column, all blocks are sorted, and blocks of the same place are added.
 *
 * Tang et al. 2016, section 6, compare with a "simple" implementation: all matrix entries are
 * collected and sorted, duplicates are removed, and the rest is a matrix in CSR.
 * DEVIATION: their entries are numbers; sorting blocks instead, a ninth as many, is ours. */
#ifndef CAMA_TRIPLETS_H
#define CAMA_TRIPLETS_H

#include "kit/bcsr.h"

typedef struct triplets { /* fine when zeroed */
  /* With m = slots, or 9 slots: */
  loom_buf *key, *perm;   /* u64, i32 [m] */
  loom_buf *each;         /* real [slots][3][3], N/m */
  loom_buf *head, *place; /* i64 [m], [m+1] */
  loom_buf *start;        /* i64 [places+1] */
  int64_t slots;
  int32_t entries; /* 1: numbers are sorted, nine for each slot */
} triplets;

loom_status triplets_new(triplets *t, const bcsr *A, int entries);
/* Room for this many slots behind the n diagonals. */
loom_status triplets_begin(triplets *t, const bcsr *A, int64_t slots);
/* The blocks of a kind with dense matrices K, or of single blocks; *first: its slot, moved on. */
loom_status triplets_add(triplets *t, const bcsr *A, const bcsr_kind *kind, int64_t *first);
/* Rows, columns, diagonals and values of A. */
loom_status triplets_sum(triplets *t, bcsr *A);

#endif
