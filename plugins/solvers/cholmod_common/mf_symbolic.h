/* mf_symbolic.h - the elimination tree of a symmetric pattern and its supernodes. */
#ifndef MF_SYMBOLIC_H
#define MF_SYMBOLIC_H

#include "mf.h"

enum { MF_WORK = 12 }; /* arrays of n + 1 in mf.work_i */

/* perm, inverse, and for the columns in the order of elimination: parent in the elimination
 * tree (-1: root) and number of entries of L, the diagonal included. */
void mf_tree(mf *f, int32_t *parent, int32_t *count, int32_t *scratch);
/* node[].first, cols, rows, parent from these; returns their number. */
int32_t mf_nodes(const mf *f, const int32_t *parent, const int32_t *count, mf_node *node,
                 int32_t *node_of);

#endif
