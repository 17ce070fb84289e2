/* coulomb.kern.h - kernels of Signorini's and Coulomb's law on single vertices.
 *
 * All lengths are displacements over the step, m.  Vertex i of mass m_i, with the gradient g of the
 * step's problem without contact, would move by
 *   D = (x - x_start) - (h^2/m) g
 * if the matrix of the step were its mass alone.  A contact with the plane (normal n, gap c + n.x)
 * of a body that moves by `move` gives the vertex a further displacement r, and the force m r/h^2.
 */
#ifndef COULOMB_KERN_H
#define COULOMB_KERN_H

#include "geom/small.kern.h"
#include "kit/pair_friction.kern.h"

/* Contacts of a vertex with several bodies are solved one after the other, so often. */
enum { COULOMB_SWEEPS = 8 };

typedef struct coulomb_setup_args {    /* after detection, at the positions x it was made for */
  const lk_real *LK_RESTRICT x;        /* [n][3] m */
  const lk_real *LK_RESTRICT x_start;  /* [n][3] m */
  const lk_real *LK_RESTRICT radius;   /* [n] m */
  const lk_real *LK_RESTRICT body0;    /* [nb][3] m, body vertices at the start of the step */
  const lk_real *LK_RESTRICT body1;    /* [nb][3] m, at its end */
  const int32_t *LK_RESTRICT kind;     /* [m] LOOM_PAIR_VO or LOOM_PAIR_BVT */
  const int32_t *LK_RESTRICT v;        /* [m][4] */
  const lk_real *LK_RESTRICT w;        /* [m][4] */
  const int32_t *LK_RESTRICT obst;     /* [m] */
  const lk_real *LK_RESTRICT gap;      /* [m] m */
  const lk_real *LK_RESTRICT point;    /* [m][3] m */
  const lk_real *LK_RESTRICT friction; /* [num_obstacles] 1 */
  const lk_real *LK_RESTRICT given;    /* [m][3] normals of the detection */
  lk_real *LK_RESTRICT normal;         /* [m][3] out: unit, from the body to the vertex */
  lk_real *LK_RESTRICT move; /* [m][3] m, in: the point of the obstacle at the start of the step;
                              * out: how far the body has gone since */
  lk_real *LK_RESTRICT c;    /* [m] m, out: the gap at x is c + n.x */
  lk_real *LK_RESTRICT mu;   /* [m] 1, out */
  lk_real *LK_RESTRICT r;    /* [m][3] m, out: zero */
  lk_real *LK_RESTRICT away; /* [m] m, out: distance of the vertex from the body */
  int32_t *LK_RESTRICT node; /* [m][4] out: the vertex and three times -1; -1: no contact of a
                              * vertex of the scene */
  lk_real progress;          /* 1, share of the bodies' motion at which x was */
  int32_t n;                 /* vertices of the scene */
  pair_friction named;       /* coefficients of pairs that have their own */
} coulomb_setup_args;
LK_DECLARE(coulomb_setup, coulomb_setup_args)

/* A mesh gives a vertex many pairs; of its pairs with one body the nearest is its contact.  The
 * planes of others lean, and would stop it on a flat surface. */
typedef struct coulomb_choose_args { /* an element is a vertex */
  const int64_t *LK_RESTRICT first;  /* [n+1], pairs of each vertex */
  const int32_t *LK_RESTRICT pair;   /* [pairs] */
  const int32_t *LK_RESTRICT obst;   /* [m] */
  const lk_real *LK_RESTRICT away;   /* [m] m */
  int32_t *LK_RESTRICT node;         /* [m][4], in and out: -1 for pairs that are not chosen */
} coulomb_choose_args;
LK_DECLARE(coulomb_choose, coulomb_choose_args)

typedef struct coulomb_law_args {     /* an element is a vertex */
  const lk_real *LK_RESTRICT x;       /* [n][3] m */
  const lk_real *LK_RESTRICT x_start; /* [n][3] m */
  const lk_real *LK_RESTRICT grad;    /* [n][3] N, without contact */
  const lk_real *LK_RESTRICT mass;    /* [n] kg */
  const int64_t *LK_RESTRICT first;   /* [n+1], pairs of each vertex */
  const int32_t *LK_RESTRICT pair;    /* [pairs] */
  const int32_t *LK_RESTRICT node;    /* [m][4] */
  const lk_real *LK_RESTRICT normal;  /* [m][3] */
  const lk_real *LK_RESTRICT c;       /* [m] m */
  const lk_real *LK_RESTRICT mu;      /* [m] 1 */
  const lk_real *LK_RESTRICT move;    /* [m][3] m */
  lk_real *LK_RESTRICT r;             /* [m][3] m, in and out */
  lk_real *LK_RESTRICT force;         /* [n][3] N, out */
  lk_real h2;                         /* s^2 */
  lk_real offset;                     /* m, gap that is kept */
  int32_t by_speed;                   /* 1: a vertex below the offset may not come nearer */
  int32_t reserved;
} coulomb_law_args;
LK_DECLARE(coulomb_law, coulomb_law_args)

typedef struct coulomb_measure_args { /* an element is a pair */
  const lk_real *LK_RESTRICT x;       /* [n][3] m */
  const lk_real *LK_RESTRICT x_start; /* [n][3] m */
  const lk_real *LK_RESTRICT mass;    /* [n] kg */
  const int32_t *LK_RESTRICT node;    /* [m][4] */
  const lk_real *LK_RESTRICT normal;  /* [m][3] */
  const lk_real *LK_RESTRICT c;       /* [m] m */
  const lk_real *LK_RESTRICT move;    /* [m][3] m */
  const lk_real *LK_RESTRICT r;       /* [m][3] m */
  lk_real h2;                         /* s^2 */
} coulomb_measure_args;
LK_DECLARE(coulomb_active, coulomb_measure_args)    /* number of pairs with a force */
LK_DECLARE(coulomb_lowest, coulomb_measure_args)    /* largest -gap, m */
LK_DECLARE(coulomb_strongest, coulomb_measure_args) /* largest normal force, N */
LK_DECLARE(coulomb_work, coulomb_measure_args)      /* work of friction, J */

#endif
