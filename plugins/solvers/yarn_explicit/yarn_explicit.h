/* yarn_explicit.h - declarations shared by the files of the solver. */
#ifndef YARN_EXPLICIT_H
#define YARN_EXPLICIT_H

#include "loom/plugin.h"

typedef struct settings {
  double stability, tolerance;
  int64_t max_iters, block;
  double mu_prop, mu_const, mu_const_end, shrink, shrink_time;
} settings;

/* limit.c: the longest step that bending allows,
 *   h < stability min l^2 sqrt(rho/k_b) over the vertices between two segments,
 * l the shorter of both, rho the mass per length there (numerics 1.2). */
typedef struct yarn_explicit_limit {
  double h;                /* s; infinity without bending */
  int32_t vert;            /* where it is reached, or -1 */
  double length, rho, k_b; /* there; m, kg/m, N m^2 */
} yarn_explicit_limit;
loom_status limit_find(const loom_host *host, const loom_exec *e, const loom_scene *sc,
                       const settings *set, yarn_explicit_limit *out);
/* No glue on one vertex twice, or on a vertex and itself. */
loom_status limit_check_glue(const loom_host *host, const loom_exec *e, const loom_scene *sc);

/* blocks.c: free vertices of yarns by blocks of `block` x `block` loops of one object. */
typedef struct yarn_explicit_blocks {
  int32_t num;
  loom_buf *first; /* i32 [num + 1] */
  loom_buf *verts; /* i32 [.] */
} yarn_explicit_blocks;
loom_status blocks_make(const loom_host *host, const loom_exec *e, const loom_scene *sc,
                        int64_t block, yarn_explicit_blocks *out);

#endif
