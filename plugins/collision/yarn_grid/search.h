/* search.h - searches that start anew every time: cells, and a hierarchy of boxes. */
#ifndef YG_SEARCH_H
#define YG_SEARCH_H

#include "schedule.h"

typedef struct yg_hits {
  yg_hit *v;
  int64_t n, cap;
} yg_hits;
int yg_add_hit(yg_hits *h, int32_t a, int32_t b, const yg_look *look); /* 0: no memory */

/* What a search works on. */
typedef struct yg_view {
  yarn_line l;
  yg_boxes boxes;
  const lk_real *P;     /* [ns][3][YARN_LANES] m */
  const lk_real *box;   /* [ns][6] m */
  const int32_t *cells; /* [ns][6] */
  lk_real margin;       /* m */
  int threads;
} yg_view;

typedef struct yg_tree { /* complete binary tree over the segments, in Morton order at the start */
  int32_t num_leaves;    /* a power of two */
  int32_t *order;        /* [num_leaves] segment, -1: none */
  lk_real *box;          /* [2 num_leaves][6] m, node 1 is the root */
} yg_tree;

typedef struct yg_search {
  int32_t num_segs;
  int32_t *bucket; /* [size + 1] first entry of a bucket */
  uint64_t *key;   /* [.] cell of an entry */
  int32_t *seg;    /* [.] its segment */
  int64_t size, key_cap, seg_cap;
  yg_tree tree;
} yg_search;

int yg_search_new(yg_search *s, int32_t num_segs, const lk_real *mid /* [num_segs][3] or NULL */);
void yg_search_free(yg_search *s);

/* Hits in the order of (a, b in no order), the same for every number of threads; numbers of pairs
 * whose boxes met (`near`) are those compared.  0: no memory */
int yg_search_cells(yg_search *s, const yg_view *v, yg_hits *out, int64_t *near);
int yg_search_tree(yg_search *s, const yg_view *v, yg_hits *out, int64_t *near);

#endif
