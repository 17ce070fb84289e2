/* elastic_blocks.h - the element blocks of a scene, as the files elastic*.c share them. */
#ifndef LOOM_ELASTIC_BLOCKS_H
#define LOOM_ELASTIC_BLOCKS_H

#include "elements/elements.h"

typedef struct elastic_form elastic_form; /* elements/elastic_form.h */
typedef struct plate_folds plate_folds;   /* elements/plate_folds.h */

typedef struct el_block {
  const elem_type *type;
  int quadratic;      /* 1: energy and gradient are those of `form` */
  elastic_form *form; /* NULL: not made yet */
  plate_folds *folds; /* of types with fold_parts; NULL: not made yet */
  asm_gather *gather;
  int constant; /* 1: no element moves (elem_state.moves) */
  void *state;  /* of type->state */
} el_block;

struct elastic {
  mem *m;
  const loom_exec *e;
  const loom_scene *sc;
  el_block *blocks;    /* [num_blocks] */
  int32_t chunk;       /* elements */
  loom_buf *contrib;   /* real [chunk][a][3] of the largest arity */
  loom_buf *energy;    /* real [chunk], J */
  loom_buf *part;      /* real [largest block / ELASTIC_PART], J, sums of energies */
  loom_buf *hess;      /* real [ne][3a][3a] of the largest block, fewer for patches
                        */
  loom_buf *some_hess; /* real [hess_elems][3a][3a] of the largest arity */
  int32_t hess_elems;
  uint32_t caps;
};

typedef struct kernel_counts {
  int64_t launches, bytes;
} kernel_counts;

/* Refuses a buffer that is not real [n][3]. */
loom_status elastic_check_vector(elastic *el, const loom_buf *x);
/* Maps the inputs of the kernels of block b. */
elem_args elastic_map(elastic *el, int b, loom_buf *x, buf_maps *q);
/* The arguments for the elements from `first` on. */
elem_args elastic_from(const elem_type *t, const elem_args *all, int32_t first);
/* Counts the bytes that `num` elements move: their inputs, and `out` reals written for each. */
void elastic_moved(const elastic *el, const elem_type *t, int32_t num, int out);
/* Runs kernel k on block b: `writes` reals per element into `out`, or a reduction into `result`. */
loom_status elastic_run(elastic *el, int b, const lk_entry *k, loom_buf *x, int writes,
                        loom_buf *out, loom_real *result);
/* Launches and bytes of a block are counted as if it were one chunk: the number of chunks depends
 * on the number of threads, and counters in the log must not. */
kernel_counts elastic_counts(const elastic *el);
/* Sets the counters to `before` plus `launches` launches: one wrote `writes` reals for each
 * element, another gathered three reals per corner of them. */
void elastic_set_counts(const elastic *el, int b, kernel_counts before, int launches, int writes);

#endif
