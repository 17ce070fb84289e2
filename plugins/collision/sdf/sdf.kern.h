/* sdf.kern.h - kernels of the vertex-obstacle detector.
 *
 * The candidates of one call are all (obstacle o, vertex i), numbered o * n + i; in this
 * order their keys ascend. */
#ifndef SDF_KERN_H
#define SDF_KERN_H

#include "geom/obstacle.kern.h"
#include "loom/host.h"

typedef struct sdf_query {             /* one detection */
  const obst_view *LK_RESTRICT view;   /* [num_obst] */
  const lk_real *LK_RESTRICT x0;       /* [n][3] m */
  const lk_real *LK_RESTRICT x1;       /* [n][3] m, CCD */
  const lk_real *LK_RESTRICT radius;   /* [n] m */
  const uint8_t *LK_RESTRICT fixed;    /* [n] */
  const uint8_t *LK_RESTRICT mask;     /* [n] or NULL */
  const uint64_t *LK_RESTRICT exclude; /* [num_exclude] ascending, or NULL */
  int64_t num_exclude;
  lk_int n;
  uint32_t what;     /* LOOM_DETECT_* */
  lk_real margin;    /* m */
  lk_real tol;       /* m */
  lk_real s0, s1;    /* shares of their motion at which the bodies stand at x0 and x1 */
  int32_t max_iters; /* of the search for impacts */
} sdf_query;

typedef struct sdf_find_args {
  sdf_query q;
  uint8_t *LK_RESTRICT found; /* [num_obst n], 1: report this pair */
} sdf_find_args;
LK_DECLARE(sdf_find, sdf_find_args)

/* Candidates are counted in groups, so that what is scanned is small. */
enum { SDF_GROUP = 64 };
typedef struct sdf_count_args {
  const uint8_t *LK_RESTRICT found; /* [num] */
  int64_t *LK_RESTRICT count;       /* [ceil(num / SDF_GROUP)] */
  lk_int num;
} sdf_count_args;
LK_DECLARE(sdf_count, sdf_count_args) /* one launch index per group */

typedef struct sdf_fill_args {
  sdf_query q;
  const uint8_t *LK_RESTRICT found; /* [num_obst n] */
  const int64_t *LK_RESTRICT place; /* [groups + 1], exclusive scan of the groups' counts */
  int64_t first;                    /* pairs already there */
  int32_t *LK_RESTRICT kind, *LK_RESTRICT v, *LK_RESTRICT obst;
  lk_real *LK_RESTRICT w, *LK_RESTRICT normal, *LK_RESTRICT gap, *LK_RESTRICT point,
      *LK_RESTRICT toi;
  uint64_t *LK_RESTRICT key;
} sdf_fill_args;
LK_DECLARE(sdf_fill, sdf_fill_args)

typedef struct sdf_bound_args {                   /* safe steps from x0 towards x1 */
  const obst_view *LK_RESTRICT view;              /* [num_obst] */
  const lk_real *LK_RESTRICT x0, *LK_RESTRICT x1; /* [n][3] m */
  const lk_real *LK_RESTRICT radius;              /* [n] m */
  const uint8_t *LK_RESTRICT fixed;               /* [n] */
  lk_real *LK_RESTRICT t;                         /* [n] in (0,1] */
  int32_t num_obst, max_iters;
  lk_real min_gap; /* m */
  lk_real keep;    /* share of the gap above min_gap that stays, 1 */
  lk_real tol;     /* m */
  lk_real s0, s1;  /* as in sdf_query */
  lk_real t_all;   /* sdf_blocker: the smallest bound */
} sdf_bound_args;
LK_DECLARE(sdf_bound, sdf_bound_args)
LK_DECLARE(sdf_blocker, sdf_bound_args) /* an obstacle whose bound is t_all, -1 if none */

typedef struct sdf_short_args {
  const lk_real *LK_RESTRICT t; /* [n] */
} sdf_short_args;
LK_DECLARE(sdf_shortest, sdf_short_args) /* largest -t */

#endif
