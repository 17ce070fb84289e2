/* sdf.kern.h - kernels of the vertex-obstacle detector.
 *
 * The candidates of one call are all (obstacle o, vertex i), numbered o * n + i; in this
 * order their keys ascend. */
#ifndef SDF_KERN_H
#define SDF_KERN_H

#include "loom/host.h"
#include "loom/kernel.h"

typedef struct sdf_query {             /* one detection */
  const lk_real *LK_RESTRICT x0;       /* [n][3] m */
  const lk_real *LK_RESTRICT radius;   /* [n] m */
  const uint8_t *LK_RESTRICT fixed;    /* [n] */
  const uint8_t *LK_RESTRICT mask;     /* [n] or NULL */
  const uint64_t *LK_RESTRICT exclude; /* [num_exclude] ascending, or NULL */
  int64_t num_exclude;
  int64_t first; /* candidate that row 0 of a batch is */
  lk_int n;
  uint32_t what;  /* LOOM_DETECT_* */
  lk_real margin; /* m */
  lk_real tol;    /* m */
} sdf_query;

/* Candidates are looked at in batches; row i of a batch is candidate first + i. */
/* The gap at which a pair with the distance f (m) at x0 meets, and how far above it a search may
 * end.  A pair that starts above its radius, by however little more than the tolerance, meets at
 * the gap 0.  One that starts nearer, outside the body, meets where it loses more than this share
 * of its distance: it may only move apart, as pairs of meshes (kit/mesh_query.md).  A pair without
 * a distance meets at once. */
#define SDF_LOSS LK_R(1e-3)
LK_FN void sdf_meeting_gap(lk_real f, lk_real radius, lk_real most, lk_real *floor, lk_real *tol)
{
  const int held = f > LK_R(0.0) && !(f - radius > most);
  *floor = held ? (LK_R(1.0) - SDF_LOSS) * f - radius : LK_R(0.0);
  *tol = held ? LK_FMIN(most, LK_R(0.1) * SDF_LOSS * f) : most;
}

typedef struct sdf_ask_args { /* which are searched for impacts, and down to which gap */
  sdf_query q;
  const int32_t *LK_RESTRICT v;   /* [pairs][4] of rows that are pairs; NULL: rows of a batch */
  const lk_real *LK_RESTRICT gap; /* m, at x0, without the radius; row 0 has gap[gap_first] */
  int64_t gap_first;
  int64_t first;              /* pair that row 0 is; 0 in a batch */
  lk_real *LK_RESTRICT floor; /* [rows] m, out */
  lk_real *LK_RESTRICT tol;   /* [rows] m, out: below 0: not searched */
} sdf_ask_args;
LK_DECLARE(sdf_ask, sdf_ask_args)

typedef struct sdf_find_args {
  sdf_query q;
  const lk_real *LK_RESTRICT gap; /* m, at x0, without the radius; row 0 has gap[gap_first] */
  const lk_real *LK_RESTRICT toi; /* [rows] or NULL */
  int64_t gap_first;
  uint8_t *LK_RESTRICT found; /* [num_obst n], 1: report this pair */
} sdf_find_args;
LK_DECLARE(sdf_find, sdf_find_args)

/* Candidates are counted in groups, so that the scanned array is small. */
enum { SDF_GROUP = 64 };
typedef struct sdf_count_args {
  const uint8_t *LK_RESTRICT found; /* [num] */
  int64_t *LK_RESTRICT count;       /* [ceil(num / SDF_GROUP)] */
  lk_int num;
} sdf_count_args;
LK_DECLARE(sdf_count, sdf_count_args) /* one launch index per group */

typedef struct sdf_fill_args {      /* names of the pairs */
  const uint8_t *LK_RESTRICT found; /* [num_obst n] */
  const int64_t *LK_RESTRICT place; /* [groups + 1], exclusive scan of the groups' counts */
  int64_t first;                    /* pairs already there */
  lk_int n;
  int32_t *LK_RESTRICT kind, *LK_RESTRICT v, *LK_RESTRICT obst;
  lk_real *LK_RESTRICT w;
  uint64_t *LK_RESTRICT key;
} sdf_fill_args;
LK_DECLARE(sdf_fill, sdf_fill_args)

typedef struct sdf_place_args { /* gaps, planes and times of the pairs from `first` on */
  sdf_query q;
  int64_t first;
  const int32_t *LK_RESTRICT v;          /* [.][4] */
  const lk_real *LK_RESTRICT hit_gap;    /* [.] m, of pairs with an impact; NULL: no search */
  const lk_real *LK_RESTRICT hit_normal; /* [.][3] */
  const lk_real *LK_RESTRICT hit_point;  /* [.][3] m */
  lk_real *LK_RESTRICT toi, *LK_RESTRICT gap, *LK_RESTRICT normal, *LK_RESTRICT point;
} sdf_place_args;
LK_DECLARE(sdf_place, sdf_place_args)

typedef struct sdf_floor_args {      /* how close the candidates of a batch may come */
  const lk_real *LK_RESTRICT gap;    /* [rows] m, at x0, without the radius */
  const lk_real *LK_RESTRICT radius; /* [n] m */
  const uint8_t *LK_RESTRICT fixed;  /* [n] */
  int64_t first;
  lk_int n;
  lk_real min_gap;                              /* m */
  lk_real keep;                                 /* share of the gap above min_gap that stays, 1 */
  lk_real most;                                 /* m, largest tolerance */
  lk_real *LK_RESTRICT floor, *LK_RESTRICT tol; /* [rows] m, out */
} sdf_floor_args;
LK_DECLARE(sdf_floor, sdf_floor_args)

typedef struct sdf_bound_args {   /* safe steps from x0 towards x1, of a batch of whole bodies */
  const lk_real *LK_RESTRICT tol; /* [rows] m, below 0: free to go */
  const lk_real *LK_RESTRICT toi; /* [rows] */
  lk_real *LK_RESTRICT t;         /* [n] in (0,1], so far */
  int32_t *LK_RESTRICT who;       /* [n], the last body with the bound t */
  int32_t first_body, bodies;     /* bodies of the batch */
  lk_int n;
} sdf_bound_args;
LK_DECLARE(sdf_bound, sdf_bound_args)

typedef struct sdf_free_args {
  lk_real *LK_RESTRICT t; /* [n] out: 1 */
  int32_t *LK_RESTRICT who;
} sdf_free_args;
LK_DECLARE(sdf_free, sdf_free_args)

typedef struct sdf_short_args {
  const lk_real *LK_RESTRICT t; /* [n] */
  const int32_t *LK_RESTRICT who;
  lk_real t_all; /* sdf_blocker: the smallest bound */
} sdf_short_args;
LK_DECLARE(sdf_shortest, sdf_short_args) /* largest -t */
LK_DECLARE(sdf_blocker, sdf_short_args)  /* an obstacle with the bound t_all, -1 if none */

#endif
