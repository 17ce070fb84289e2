/* project.kern.h - kernels of the push-out: positions, then velocities.
 *
 * Every vertex remembers up to PROJ_SLOTS bodies that it was pushed out of in this step. */
#ifndef PROJECT_KERN_H
#define PROJECT_KERN_H

#include "geom/obstacle.kern.h"

enum { PROJ_SLOTS = 3 };

typedef struct proj_contacts {
  int32_t *LK_RESTRICT obst;   /* [n][PROJ_SLOTS], -1: free */
  lk_real *LK_RESTRICT normal; /* [n][PROJ_SLOTS][3] */
  lk_real *LK_RESTRICT push;   /* [n][PROJ_SLOTS] m, so far */
  lk_real *LK_RESTRICT loss;   /* [n] J, taken away by friction */
  lk_real *LK_RESTRICT given; /* [n][PROJ_SLOTS][3] N s, impulse of the body on the vertex; NULL: no
                               * body moves by itself */
} proj_contacts;

typedef struct proj_clear_args {
  proj_contacts c;
} proj_clear_args;
LK_DECLARE(proj_clear, proj_clear_args)

typedef struct proj_key_args {
  const int32_t *LK_RESTRICT v;   /* [m][4] */
  const lk_real *LK_RESTRICT gap; /* [m] m */
  uint64_t *LK_RESTRICT key;      /* [m] out: the vertex */
} proj_key_args;
LK_DECLARE(proj_key, proj_key_args)
LK_DECLARE(proj_deepest, proj_key_args) /* largest -gap, m */

typedef struct proj_push_args {
  const uint64_t *LK_RESTRICT key;    /* [m] ascending vertex ids */
  const int32_t *LK_RESTRICT perm;    /* [m] their pairs */
  const int32_t *LK_RESTRICT obst;    /* [m] */
  const lk_real *LK_RESTRICT normal;  /* [m][3] */
  const lk_real *LK_RESTRICT gap;     /* [m] m */
  const lk_real *LK_RESTRICT point;   /* [m][3] m */
  const obst_view *LK_RESTRICT view;  /* [num_obstacles] */
  const uint8_t *LK_RESTRICT fixed;   /* [n] */
  const lk_real *LK_RESTRICT mass;    /* [n] kg */
  const lk_real *LK_RESTRICT x_start; /* [n][3] m */
  lk_real *LK_RESTRICT x;             /* [n][3] m, pushed */
  proj_contacts c;
  int64_t m;
  lk_real clearance; /* m */
  lk_real inv_h;     /* 1/s */
} proj_push_args;
LK_DECLARE(proj_push, proj_push_args)

typedef struct proj_velocity_args {
  const obst_view *LK_RESTRICT view; /* [num_obstacles] */
  const lk_real *LK_RESTRICT x;      /* [n][3] m, end of the step */
  const lk_real *LK_RESTRICT radius; /* [n] m */
  const lk_real *LK_RESTRICT mass;   /* [n] kg */
  lk_real *LK_RESTRICT v;            /* [n][3] m/s, corrected */
  proj_contacts c;
  lk_real inv_h; /* 1/s */
} proj_velocity_args;
LK_DECLARE(proj_velocity, proj_velocity_args)

/* What the vertices did to bodies that move by themselves, first for each PROJ_CHUNK vertices. */
enum { PROJ_CHUNK = 1024 };
typedef struct proj_react_args {
  const obst_view *LK_RESTRICT view;  /* [num_obstacles] */
  const lk_real *LK_RESTRICT x;       /* [n][3] m, end of the step */
  const lk_real *LK_RESTRICT radius;  /* [n] m */
  const lk_real *LK_RESTRICT mass;    /* [n] kg */
  const int32_t *LK_RESTRICT obst;    /* [n][PROJ_SLOTS] */
  const lk_real *LK_RESTRICT normal;  /* [n][PROJ_SLOTS][3] */
  const lk_real *LK_RESTRICT given;   /* [n][PROJ_SLOTS][3] N s */
  const int32_t *LK_RESTRICT ball_of; /* [num_obstacles] number of the ball, -1: none */
  lk_real *LK_RESTRICT part;          /* [chunks][balls][LOOM_BODY_IMPULSE] out */
  int64_t n;
  int32_t balls;
} proj_react_args;
LK_DECLARE(proj_react, proj_react_args)

typedef struct proj_react_sum_args {
  const lk_real *LK_RESTRICT part;    /* [chunks][balls][LOOM_BODY_IMPULSE] */
  const int32_t *LK_RESTRICT body_of; /* [balls] index of the obstacle */
  lk_real *LK_RESTRICT rows;          /* [num_obstacles][LOOM_BODY_IMPULSE], added to */
  int64_t chunks;
  int32_t balls;
} proj_react_sum_args;
LK_DECLARE(proj_react_sum, proj_react_sum_args)

typedef struct proj_metric_args {
  const lk_real *LK_RESTRICT push; /* [n][PROJ_SLOTS] m */
  const lk_real *LK_RESTRICT loss; /* [n] J */
  const lk_real *LK_RESTRICT mass; /* [n] kg */
  lk_real inv_h2;                  /* 1/s^2 */
} proj_metric_args;
LK_DECLARE(proj_active, proj_metric_args)    /* contacts */
LK_DECLARE(proj_strongest, proj_metric_args) /* largest m push / h^2, N */
LK_DECLARE(proj_loss, proj_metric_args)      /* sum of losses, J */

#endif
