/* front.h - a front of a test tree on the host side; see front.kern.h. */
#ifndef BVTT_FRONT_FRONT_H
#define BVTT_FRONT_FRONT_H

#include "tree.h"

/* Lists in the making, shared by all fronts of an instance: their contents do not last. */
typedef struct front_lists {
  loom_buf *work[2];      /* i32 [.] */
  loom_buf *count;        /* i64 [groups] */
  loom_buf *place;        /* i64 [groups + 1] */
  loom_buf *pair, *known; /* u64, i32 [.]: the front when it is packed, in exchange */
} front_lists;

loom_status front_lists_create(front_lists *l, const loom_host *host);

typedef struct front_counts { /* of queries, added up */
  double size;                /* pairs in the fronts afterwards */
  double looked;              /* pairs of these that were tested */
  double tested;              /* pairs tested, including the ones that descended */
  double sprouted, merged;    /* pairs by which fronts have grown, and have become fewer */
} front_counts;

typedef struct front {
  sight *g;
  front_lists *l;
  int bodies;             /* 0: the cloth with itself, 1: with bodies */
  loom_buf *pair, *known; /* u64, i32 [at least num] */
  int64_t num;            /* 0: a traversal begins at the root */
  int64_t sorted;         /* pairs that the last sort put in the order of the tree */
  int64_t trimmed;        /* num after the last merging */
  int is_old;             /* 1: of an earlier step */
} front;

loom_status front_create(front *f, sight *g, front_lists *l, int bodies);

/* Brings it up to date with the boxes of f->g; all: whether they have changed or not.
 * LOOM_REJECTED: it has more than `most` pairs; it begins at the root next time. */
loom_status front_update(front *f, int all, double most, front_counts *c);

/* Sums of the candidates of each group of pairs, `bits` of front.kern.h, in f->l->place, and how
 * many groups there are. */
loom_status front_count_names(front *f, int32_t bits, int64_t *num_groups);
/* The names of groups [first, end), as mesh_list_fn. */
loom_status front_list_names(front *f, int family, int64_t first, int64_t end, int64_t base,
                             loom_buf *place, loom_buf *name);

#endif
