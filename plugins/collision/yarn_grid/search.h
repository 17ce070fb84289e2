/* search.h - searches that start anew every time: cells, and a hierarchy of boxes. */
#ifndef YARN_GRID_SEARCH_H
#define YARN_GRID_SEARCH_H

#include "schedule.h"

typedef struct yarn_grid_hits {
  yarn_grid_hit *v;
  int64_t n, cap;
} yarn_grid_hits;
int yarn_grid_add_hit(yarn_grid_hits *h, int32_t a, int32_t b,
                      const yarn_grid_look *look); /* 0: no memory */

/* Input of a search. */
typedef struct yarn_grid_view {
  yarn_line l;
  yarn_grid_boxes boxes;
  const lk_real *P;     /* [ns][3][YARN_LANES] m */
  const lk_real *box;   /* [ns][6] m */
  const int32_t *cells; /* [ns][6] */
  lk_real margin;       /* m */
  int threads;
} yarn_grid_view;

typedef struct yarn_grid_tree { /* complete binary tree over the segments, in Morton order at the
                                   start */
  int32_t num_leaves;           /* a power of two */
  int32_t *order;               /* [num_leaves] segment, -1: none */
  lk_real *box;                 /* [2 num_leaves][6] m, node 1 is the root */
} yarn_grid_tree;

typedef struct yarn_grid_search {
  int32_t num_segs;
  int32_t *bucket; /* [size + 1] first entry of a bucket */
  uint64_t *key;   /* [.] cell of an entry */
  int32_t *seg;    /* [.] its segment */
  int64_t size, key_cap, seg_cap;
  yarn_grid_tree tree;
} yarn_grid_search;

int yarn_grid_search_new(yarn_grid_search *s, int32_t num_segs,
                         const lk_real *mid /* [num_segs][3] or NULL */);
void yarn_grid_search_free(yarn_grid_search *s);

/* Hits ordered by a; partners b of one a are in no order.  The same for every number of threads.
 * *near: pairs with boxes that meet, which are compared.  0: no memory */
int yarn_grid_search_cells(yarn_grid_search *s, const yarn_grid_view *v, yarn_grid_hits *out,
                           int64_t *near);
int yarn_grid_search_tree(yarn_grid_search *s, const yarn_grid_view *v, yarn_grid_hits *out,
                          int64_t *near);

#endif
