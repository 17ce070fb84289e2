/* yarn_grid.kern.h - kernels of yarn detection: points, cells, movement, distances. */
#ifndef YARN_GRID_KERN_H
#define YARN_GRID_KERN_H

#include "geom/yarn.kern.h"

enum {
  YARN_GRID_CELL_MAX = 1048575
}; /* cells have 21 bits; the outermost ones hold all segments beyond */

typedef struct yarn_grid_sum_args {
  const lk_real *LK_RESTRICT x; /* [n][3] m */
  int32_t axis;                 /* 0, 1 or 2 */
} yarn_grid_sum_args;
LK_DECLARE(yarn_grid_sum, yarn_grid_sum_args) /* of one coordinate of all vertices, m */

typedef struct yarn_grid_place_args {
  yarn_line l;
  const lk_real *LK_RESTRICT x; /* [n][3] m */
  /* [3] m, sums over all vertices: cell 0 0 0 follows their middle, so that a falling cloth stays
   * where it is in the cells */
  const lk_real *LK_RESTRICT sum;
  lk_real *LK_RESTRICT P;     /* [ns][3][YARN_LANES] m, out */
  lk_real *LK_RESTRICT box;   /* [ns][6] m, out: lower and upper corner of the points, grown */
  int32_t *LK_RESTRICT cells; /* [ns][6] out: cells that the box meets, lower and upper */
  lk_real num_verts;          /* 1 */
  lk_real cell;               /* m */
  lk_real margin;             /* m, pairs this far beyond touching count */
} yarn_grid_place_args;
LK_DECLARE(yarn_grid_place, yarn_grid_place_args)

typedef struct yarn_grid_alarm_args { /* vertices */
  const lk_real *LK_RESTRICT x;       /* [n][3] m, now, and at the last two times */
  const lk_real *LK_RESTRICT x1;
  const lk_real *LK_RESTRICT x2;
  lk_real *LK_RESTRICT ref; /* [n][3] m, change of movement that bins count on, in and out */
  uint8_t *LK_RESTRICT out; /* [n] 1: the change of movement has left its bounds */
  lk_real most;             /* m */
} yarn_grid_alarm_args;
LK_DECLARE(yarn_grid_alarm, yarn_grid_alarm_args)

typedef struct yarn_grid_motion_args { /* segments */
  yarn_line l;
  const lk_real *LK_RESTRICT x;
  const lk_real *LK_RESTRICT x1;
  const lk_real *LK_RESTRICT x2;
  lk_real *LK_RESTRICT move;        /* [ns][6] m, out: interval of the last step's movement */
  lk_real *LK_RESTRICT change;      /* [ns][6] m, out: interval of its change */
  const uint8_t *LK_RESTRICT alarm; /* [n] see yarn_grid_alarm_args */
  uint8_t *LK_RESTRICT wake;        /* [ns] out, 1: a vertex is alarmed */
} yarn_grid_motion_args;
LK_DECLARE(yarn_grid_motion, yarn_grid_motion_args)
LK_DECLARE(yarn_grid_window, yarn_grid_motion_args) /* move = interval of x - x1 alone */

/* Pairs of segments that detection has to leave out, as boxes of points. */
typedef struct yarn_grid_boxes {
  const uint64_t *LK_RESTRICT key; /* [num] see loom_query.exclude */
  const int32_t *LK_RESTRICT at;   /* [ns+1] boxes with a first range that meets a segment */
  const int32_t *LK_RESTRICT list; /* [.] their places in key */
} yarn_grid_boxes;

/* Result of looking at one pair of segments. */
typedef struct yarn_grid_look {
  lk_real d;              /* m, no closer than this beyond the distance that counts */
  int32_t wish;           /* bin, from 0 */
  int32_t apart;          /* 1: the cells do not meet any more */
  int32_t full;           /* 1: all points were compared */
  int32_t hits;           /* pairs of points that count */
  int32_t i, j;           /* the nearest one */
  uint8_t i0, i1, j0, j1; /* range of the points that count */
} yarn_grid_look;

/* An entry that is looked at; the schedule itself stays on the host. */
typedef struct yarn_grid_ask {
  int32_t a, b; /* segments, a < b */
  lk_real d;    /* m, bound of the clearance when last looked at; < 0: unknown */
  int32_t bin;  /* where it waited, -1: new */
  int32_t reserved;
} yarn_grid_ask;

enum { YARN_GRID_BINS = 9 }; /* lambda_max = 8 */

typedef struct yarn_grid_examine_args {
  yarn_line l;
  yarn_grid_boxes boxes;
  const lk_real *LK_RESTRICT P;
  const int32_t *LK_RESTRICT cells; /* [ns][6] */
  const lk_real *LK_RESTRICT x;
  const lk_real *snap[YARN_GRID_BINS];   /* [n][3] m, positions at the last tick of each bin */
  const lk_real *window[YARN_GRID_BINS]; /* [ns][6] m, intervals of x - snap, or NULL: not there */
  const lk_real *LK_RESTRICT move;
  const lk_real *LK_RESTRICT change;
  const yarn_grid_ask *LK_RESTRICT ask; /* [m] */
  yarn_grid_look *LK_RESTRICT out;      /* [m] */
  lk_real margin;                       /* m */
  lk_real omega;                        /* m, change of movement that bins allow for */
  int32_t history;                      /* number of earlier times known, 0 to 2 */
} yarn_grid_examine_args;
LK_DECLARE(yarn_grid_examine, yarn_grid_examine_args)

typedef struct yarn_grid_hit { /* segments with points that count */
  int32_t a, b;
  yarn_grid_look look;
} yarn_grid_hit;

typedef struct yarn_grid_write_args { /* hits, into the arrays of loom_pairs from `first` on */
  yarn_line l;
  const yarn_grid_hit *LK_RESTRICT hit;
  const lk_real *LK_RESTRICT P;
  int32_t *LK_RESTRICT kind;
  int32_t *LK_RESTRICT v;
  int32_t *LK_RESTRICT obst;
  lk_real *LK_RESTRICT w;
  lk_real *LK_RESTRICT normal;
  lk_real *LK_RESTRICT gap;
  lk_real *LK_RESTRICT point;
  lk_real *LK_RESTRICT toi;
  uint64_t *LK_RESTRICT key;
  int64_t first;
} yarn_grid_write_args;
LK_DECLARE(yarn_grid_write, yarn_grid_write_args)

#endif
