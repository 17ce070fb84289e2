/* objects.kern.h - sums over the free vertices of each object, by segments: see objects.h. */
#ifndef LOOM_OBJECTS_KERN_H
#define LOOM_OBJECTS_KERN_H

#include "loom/kernel.h"

/* Numbers of a segment.  Positions are counted from the object's anchor, one of its vertices, so
 * that squares of a small object far from the origin are exact to rounding. */
enum {
  OBJ_MASS = 0,    /* kg, sum of m */
  OBJ_PLACE = 1,   /* kg m, sum of m x */
  OBJ_WAY = 4,     /* kg m, sum of m u, u = y - x_start less that of the anchor */
  OBJ_SECOND = 7,  /* kg m^2, sum of m x x': xx yy zz xy xz yz */
  OBJ_TURN = 13,   /* kg m^2, sum of m x cross u */
  OBJ_REACH = 16,  /* kg m^2, sum of m |x|^2, x from the origin */
  OBJ_MOMENTS = 17 /* how many there are */
};
enum { /* of the end of a step; positions from the first vertex of the scene */
       END_MASS = 0,
       END_PLACE = 1,   /* kg m, sum of m x */
       END_LINEAR = 4,  /* kg m/s, sum of m v */
       END_ANGULAR = 7, /* kg m^2/s, sum of m x cross v */
       END_FORCE = 10,  /* N, sum of r */
       END_TORQUE = 13, /* N m, sum of x cross r */
       END_SPREAD = 16, /* kg m^2, sum of m |x|^2 */
       END_MOMENTS = 17
};
enum { /* of the best rigid motion of an object */
       FIT_CENTRE = 0,
       FIT_SHIFT = 3, /* m */
       FIT_TURN = 6,  /* rad, rotation vector */
       FIT_MASS = 9,  /* kg */
       FIT_REACH = 10 /* m, RMS distance from the origin */,
       FIT_NUMBERS = 11
};

typedef struct object_sum_args {                      /* to[s] = sum of from[first..end) */
  const int32_t *LK_RESTRICT first, *LK_RESTRICT end; /* [s] */
  const lk_real *LK_RESTRICT from;                    /* [.][width] */
  lk_real *LK_RESTRICT to;                            /* [s][width] */
  int32_t width;
} object_sum_args;
LK_DECLARE(run_object_sum, object_sum_args)

typedef struct object_rows_args {                     /* sums over the vertices of a segment */
  const int32_t *LK_RESTRICT first, *LK_RESTRICT end; /* [s] vertices */
  const int32_t *LK_RESTRICT owner;                   /* [s] object */
  const int32_t *LK_RESTRICT anchor;                  /* [objects] vertex */
  const lk_real *LK_RESTRICT x;                       /* [n][3] m */
  const lk_real *LK_RESTRICT y;                       /* [n][3] m; of ends v, m/s */
  const lk_real *LK_RESTRICT g;                       /* [n][3] N, or NULL: zero */
  const lk_real *LK_RESTRICT m;                       /* [n] kg */
  const uint8_t *LK_RESTRICT fixed;                   /* [n] */
  const lk_real *LK_RESTRICT fit;                     /* [objects][FIT_NUMBERS] */
  lk_real *LK_RESTRICT to;                            /* [s][numbers] */
} object_rows_args;
LK_DECLARE(run_object_moments, object_rows_args)   /* OBJ_MOMENTS */
LK_DECLARE(run_object_deviation, object_rows_args) /* sum of m |u - rigid motion|^2 */
LK_DECLARE(run_object_residual, object_rows_args)  /* sum of |g|^2 / m */
LK_DECLARE(run_object_ends, object_rows_args)      /* END_MOMENTS */

typedef struct object_fit_args {
  const lk_real *LK_RESTRICT sums; /* [objects][OBJ_MOMENTS] */
  lk_real *LK_RESTRICT fit;        /* [objects][FIT_NUMBERS] out */
} object_fit_args;
LK_DECLARE(run_object_fit, object_fit_args)

typedef struct object_bound_args {
  const lk_real *LK_RESTRICT fit;  /* [objects][FIT_NUMBERS] */
  const lk_real *LK_RESTRICT sums; /* [objects] sum of m |u - rigid motion|^2 */
  const lk_real *LK_RESTRICT gain; /* [objects] 1/s^2, RMS of D/m */
  lk_real *LK_RESTRICT ref;        /* [objects] m, out: r_ref */
  lk_real *LK_RESTRICT near;       /* [objects] m, out: bound of converged_abs, 0: none */
  lk_real *LK_RESTRICT bound;  /* [objects] m, out: the larger of it and that of converged_rel */
  lk_real most;                /* m^2, most of that mean that counts */
  lk_real fall;                /* m, h^2 |g| */
  lk_real tol_abs, tol_acc_h2; /* m; negative: not given */
  lk_real tol_rel;
  lk_real eps, h2; /* rounding unit of the reals, s^2 */
} object_bound_args;
LK_DECLARE(run_object_bound, object_bound_args)

typedef struct object_scene_args { /* one element */
  const lk_real *LK_RESTRICT fit, *LK_RESTRICT ref, *LK_RESTRICT near, *LK_RESTRICT bound;
  lk_real *LK_RESTRICT out; /* r_ref of the scene, mass-weighted RMS, m; both bounds of object 0 */
  int32_t num;
} object_scene_args;
LK_DECLARE(run_object_scene, object_scene_args)

typedef struct object_all_args {   /* out[c] = sum over objects of sums[.][c] */
  const lk_real *LK_RESTRICT sums; /* [num][width] */
  lk_real *LK_RESTRICT out;        /* [width] */
  int32_t num, width;
} object_all_args;
LK_DECLARE(run_object_all, object_all_args)

typedef struct object_over_args {
  const lk_real *LK_RESTRICT fit;   /* [objects][FIT_NUMBERS] */
  const lk_real *LK_RESTRICT sums;  /* [objects] sum of |g|^2 / m */
  const lk_real *LK_RESTRICT bound; /* [objects] m */
  lk_real h2;                       /* s^2 */
} object_over_args;
LK_DECLARE(run_object_over, object_over_args) /* largest residual over its bound */

typedef struct object_ratio_args {
  object_over_args of;
  lk_real *LK_RESTRICT ratio; /* [objects] 1, out */
} object_ratio_args;
LK_DECLARE(run_object_ratio, object_ratio_args) /* residual of each object over its bound */

#endif
