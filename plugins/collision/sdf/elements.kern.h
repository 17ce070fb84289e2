/* elements.kern.h - kernels for edges and triangles against bodies.
 *
 * Candidates are all (slot s, element e), numbered s * num + e: a slot is a body that some elements
 * are compared with.  A first pass drops most of them by the gaps of their corners; the others are
 * rows of the services on elements. */
#ifndef SDF_ELEMENTS_KERN_H
#define SDF_ELEMENTS_KERN_H

#include "sdf.kern.h"

typedef struct sdf_cands {
  const int32_t *LK_RESTRICT corner; /* [num][4]: vertices, the third -1 for an edge; the fourth is
                                      * the element's number in keys */
  const int32_t *LK_RESTRICT body;   /* [slots] */
  const uint8_t *LK_RESTRICT wants;  /* [slots][num_objects] */
  const int32_t *LK_RESTRICT object; /* [n] */
  const uint8_t *LK_RESTRICT fixed;  /* [n] */
  const lk_real *LK_RESTRICT radius; /* [n] m */
  int64_t base;                      /* candidate of index 0 */
  lk_int num, num_objects, n;
} sdf_cands;

/* How elements and bodies move: the shift of a body's origin, where it ends, and by which angle the
 * body turns. */
enum { SDF_MOTION = 5 };
typedef struct sdf_ways {
  const lk_real *LK_RESTRICT x0;     /* [n][3] m */
  const lk_real *LK_RESTRICT x1;     /* [n][3] m, or NULL: at rest */
  const lk_real *LK_RESTRICT motion; /* [slots][SDF_MOTION]: m, rad, m m m */
  lk_real share;                     /* of the step's motion that the bodies make on the way */
} sdf_ways;

typedef struct sdf_reach_args {
  sdf_cands c;
  sdf_ways w;
  const lk_real *LK_RESTRICT gap;     /* [bodies][n] m, of vertices, without the radius */
  const lk_real *LK_RESTRICT known_x; /* [n][3] m, where they had these gaps; NULL: at x0 */
  int32_t first_body;                 /* of `gap` */
  lk_real reach;                      /* m, gaps below it count, and those that a way may close: */
  lk_real scale;                      /* gaps below reach + scale * way */
  uint8_t *LK_RESTRICT near;          /* [candidates] out */
} sdf_reach_args;
LK_DECLARE(sdf_reach, sdf_reach_args)

typedef struct sdf_row_args {
  sdf_cands c;
  const uint8_t *LK_RESTRICT near;  /* [candidates] */
  const int64_t *LK_RESTRICT place; /* [groups + 1] */
  int32_t *LK_RESTRICT body, *LK_RESTRICT v,
      *LK_RESTRICT element; /* [rows], v [rows][4], out: as in sdf_rows */
} sdf_row_args;
LK_DECLARE(sdf_row, sdf_row_args)

typedef struct sdf_rows {
  const int32_t *LK_RESTRICT body;    /* [rows] */
  const int32_t *LK_RESTRICT v;       /* [rows][4]: corners, the third -1 for an edge; slot */
  const int32_t *LK_RESTRICT element; /* [rows] number in keys */
  const lk_real *LK_RESTRICT gap;     /* [rows] m, without the radius */
  const lk_real *LK_RESTRICT weight;  /* [rows][4] */
  const lk_real *LK_RESTRICT toi;     /* [rows] or NULL */
  const lk_real *LK_RESTRICT hit;     /* [rows][4] weights at impacts */
} sdf_rows;

typedef struct sdf_meet_args { /* down to which gap rows are searched for impacts */
  sdf_rows r;
  const lk_real *LK_RESTRICT radius;            /* [n] m */
  lk_real most;                                 /* m, largest tolerance */
  lk_real *LK_RESTRICT floor, *LK_RESTRICT tol; /* [rows] m, out */
} sdf_meet_args;
LK_DECLARE(sdf_meet, sdf_meet_args)

typedef struct sdf_judge_args { /* which rows are pairs */
  sdf_query q;
  sdf_rows r;
  const lk_real *LK_RESTRICT flat; /* [rows] m */
  uint8_t *LK_RESTRICT found;      /* [rows] out */
} sdf_judge_args;
LK_DECLARE(sdf_judge, sdf_judge_args)

typedef struct sdf_emit_args {
  sdf_query q;
  sdf_rows r;
  const uint8_t *LK_RESTRICT found;      /* [rows] */
  const int64_t *LK_RESTRICT place;      /* [groups + 1] */
  const lk_real *LK_RESTRICT normal_at;  /* [rows][3] */
  const lk_real *LK_RESTRICT hit_gap;    /* [rows] m */
  const lk_real *LK_RESTRICT hit_normal; /* [rows][3] */
  const lk_real *LK_RESTRICT hit_point;  /* [rows][3] m */
  int64_t first;                         /* pairs already there */
  int32_t *LK_RESTRICT kind, *LK_RESTRICT v, *LK_RESTRICT obst;
  lk_real *LK_RESTRICT w, *LK_RESTRICT normal, *LK_RESTRICT gap, *LK_RESTRICT point,
      *LK_RESTRICT toi;
  uint64_t *LK_RESTRICT key;
} sdf_emit_args;
LK_DECLARE(sdf_emit, sdf_emit_args)

typedef struct sdf_stop_args { /* how close the elements of rows may come */
  sdf_rows r;
  sdf_ways w;
  const lk_real *LK_RESTRICT radius;            /* [n] m */
  lk_real min_gap, keep, most;                  /* as in sdf_floor_args */
  lk_real *LK_RESTRICT floor, *LK_RESTRICT tol; /* [rows] m, out */
} sdf_stop_args;
LK_DECLARE(sdf_stop, sdf_stop_args)

typedef struct sdf_span_args { /* steps of elements, the least over the bodies of slots */
  sdf_cands c;
  sdf_ways w;
  const uint8_t *LK_RESTRICT near;                  /* [candidates], from slot c.base / num on */
  const int64_t *LK_RESTRICT place;                 /* [groups + 1] */
  const lk_real *LK_RESTRICT gap;                   /* [rows] m, without the radius */
  const lk_real *LK_RESTRICT tol, *LK_RESTRICT toi; /* [rows] */
  lk_int slots;
  int32_t apart;            /* 1: corners go by steps of their own, so ways bound the gap's loss */
  lk_real min_gap, keep;    /* m, 1 */
  lk_real *LK_RESTRICT t;   /* [num] so far */
  int32_t *LK_RESTRICT who; /* [num] */
} sdf_span_args;
LK_DECLARE(sdf_span, sdf_span_args)

typedef struct sdf_corner_args {      /* steps of vertices: the least of their elements */
  const int32_t *LK_RESTRICT first;   /* [n + 1] */
  const int32_t *LK_RESTRICT element; /* [first[n]] */
  const lk_real *LK_RESTRICT t_of;    /* [num] */
  const int32_t *LK_RESTRICT who_of;  /* [num] */
  lk_real *LK_RESTRICT t;             /* [n] */
  int32_t *LK_RESTRICT who;           /* [n] */
} sdf_corner_args;
LK_DECLARE(sdf_corner, sdf_corner_args)

#endif
