/* project.kern.h - kernels of the push-out: positions, then velocities.
 *
 * Every vertex remembers up to PROJECT_SLOTS bodies that it was pushed out of in this step. */
#ifndef PROJECT_KERN_H
#define PROJECT_KERN_H

#include "geom/small.kern.h"
#include "kit/pair_friction.kern.h"

enum { PROJECT_SLOTS = 3 };

typedef struct project_contacts {
  int32_t *LK_RESTRICT obst;   /* [n][PROJECT_SLOTS], -1: free */
  lk_real *LK_RESTRICT normal; /* [n][PROJECT_SLOTS][3] */
  lk_real *LK_RESTRICT push;   /* [n][PROJECT_SLOTS] m, so far */
  lk_real *LK_RESTRICT loss;   /* [n] J, taken away by friction */
  lk_real *LK_RESTRICT given; /* [n][PROJECT_SLOTS][3] N s, impulse of the vertex on the body; NULL:
                               * no body moves by itself */
} project_contacts;

typedef struct project_clear_args {
  project_contacts c;
} project_clear_args;
LK_DECLARE(project_clear, project_clear_args)

typedef struct project_key_args {
  const int32_t *LK_RESTRICT v;   /* [m][4] */
  const lk_real *LK_RESTRICT gap; /* [m] m */
  uint64_t *LK_RESTRICT key;      /* [m] out: the vertex */
} project_key_args;
LK_DECLARE(project_key, project_key_args)
LK_DECLARE(project_deepest, project_key_args) /* largest -gap, m */

typedef struct project_push_args {
  const uint64_t *LK_RESTRICT key;     /* [m] ascending vertex ids */
  const int32_t *LK_RESTRICT perm;     /* [m] their pairs */
  const int32_t *LK_RESTRICT obst;     /* [m] */
  const lk_real *LK_RESTRICT normal;   /* [m][3] */
  const lk_real *LK_RESTRICT gap;      /* [m] m */
  const lk_real *LK_RESTRICT point;    /* [m][3] m */
  const lk_real *LK_RESTRICT before;   /* [m][3] m, where it was at the start of the step */
  const lk_real *LK_RESTRICT friction; /* [num_obstacles] 1 */
  const uint8_t *LK_RESTRICT fixed;    /* [n] */
  const lk_real *LK_RESTRICT mass;     /* [n] kg */
  const lk_real *LK_RESTRICT x_start;  /* [n][3] m */
  lk_real *LK_RESTRICT x;              /* [n][3] m, pushed */
  project_contacts c;
  pair_friction named; /* coefficients of pairs that have their own */
  int64_t m;
  lk_real clearance; /* m */
  lk_real inv_h;     /* 1/s */
} project_push_args;
LK_DECLARE(project_push, project_push_args)

typedef struct project_touch_args {  /* where the vertices touch their bodies */
  const lk_real *LK_RESTRICT x;      /* [n][3] m, end of the step */
  const lk_real *LK_RESTRICT radius; /* [n] m */
  const lk_real *LK_RESTRICT mass;   /* [n] kg */
  const lk_real *LK_RESTRICT normal; /* [n][PROJECT_SLOTS][3] */
  lk_real *LK_RESTRICT point;        /* [n][PROJECT_SLOTS][3] m, out */
  lk_real *LK_RESTRICT weight;       /* [n][PROJECT_SLOTS] kg, out: the vertex's mass, or NULL */
} project_touch_args;
LK_DECLARE(project_touch, project_touch_args) /* one launch index per slot */

typedef struct project_inelastic_args {
  const lk_real *LK_RESTRICT point;    /* [n][PROJECT_SLOTS][3] m, where the vertex touches */
  const lk_real *LK_RESTRICT before;   /* [n][PROJECT_SLOTS][3] m, where that was at the start */
  const lk_real *LK_RESTRICT friction; /* [num_obstacles] 1 */
  const lk_real *LK_RESTRICT mass;     /* [n] kg */
  lk_real *LK_RESTRICT v;              /* [n][3] m/s, corrected */
  project_contacts c;
  pair_friction named; /* coefficients of pairs that have their own */
  lk_real inv_h;       /* 1/s */
} project_inelastic_args;
LK_DECLARE(project_inelastic, project_inelastic_args)

typedef struct project_metric_args {
  const lk_real *LK_RESTRICT push; /* [n][PROJECT_SLOTS] m */
  const lk_real *LK_RESTRICT loss; /* [n] J */
  const lk_real *LK_RESTRICT mass; /* [n] kg */
  lk_real inv_h2;                  /* 1/s^2 */
} project_metric_args;
LK_DECLARE(project_active, project_metric_args)    /* contacts */
LK_DECLARE(project_strongest, project_metric_args) /* largest m push / h^2, N */
LK_DECLARE(project_loss, project_metric_args)      /* sum of losses, J */

#endif
