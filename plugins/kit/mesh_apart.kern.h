/* mesh_apart.kern.h - step bounds by vertex: every vertex goes its own share of its way, and no
 * pair meets whatever these shares are.
 *
 * A. H. Chen, J. Hsu, Z. Liu, M. Macklin, Y. Yang, C. Yuksel, Offset Geometric Contact, ACM TOG
 * 44(4), 2025: where every vertex of a pair moves by less than half of the distance of the pair,
 * no point of one side reaches the other side, in whatever directions the vertices move.
 */
#ifndef MESH_APART_KERN_H
#define MESH_APART_KERN_H

#include "kit/mesh_query.kern.h"

enum { MESH_BALL = 0, MESH_PLANE = 1 };

/* The quick tests of such bounds: 0 where the longest ways of both sides together are too short to
 * take the pair down to the share of its gap that has to be kept. */
LK_DECLARE(mesh_apart_vt, mesh_near_args)
LK_DECLARE(mesh_apart_ee, mesh_near_args)

typedef struct mesh_hold_args {
  mesh_query q;                     /* margin: the gap that must remain, m */
  const uint64_t *LK_RESTRICT name; /* [n] */
  lk_real *LK_RESTRICT t;           /* [n] least share of a corner, or MESH_TOUCHES */
  int32_t *LK_RESTRICT v;     /* [n][4] corners that the pair holds back; -1 in other places */
  lk_real *LK_RESTRICT share; /* [n][4] in (0,1], their shares */
  int32_t shape;              /* MESH_BALL, MESH_PLANE */
} mesh_hold_args;
LK_DECLARE(mesh_hold, mesh_hold_args)    /* on the CPU alone */
LK_DECLARE(mesh_hold_vt, mesh_hold_args) /* the same of one family */
LK_DECLARE(mesh_hold_ee, mesh_hold_args)

/* Shares by vertex from the shares by corner. */
typedef struct mesh_gather_args {
  const int64_t *LK_RESTRICT
      first; /* [n+1] as in kit/gather.h; NULL: no pair holds a vertex back */
  const int32_t *LK_RESTRICT owner; /* [.] pair of each entry */
  const int32_t *LK_RESTRICT v;     /* [.][4] as in mesh_hold_args */
  const lk_real *LK_RESTRICT share; /* [.][4] */
  const lk_real *LK_RESTRICT x0;    /* [n][3] m, read where limit >= 0 */
  const lk_real *LK_RESTRICT x1;    /* [n][3] m, the same */
  lk_real limit;                    /* m, ways that were searched; < 0: the whole ones */
  lk_real *LK_RESTRICT t;           /* [n] */
} mesh_gather_args;
LK_DECLARE(mesh_least_share, mesh_gather_args)

typedef struct mesh_limit_args {
  const lk_real *LK_RESTRICT x0, *LK_RESTRICT x1; /* [n][3] m */
  lk_real *LK_RESTRICT out;                       /* [n][3] m, mesh_limit alone */
  lk_real limit;                                  /* m */
} mesh_limit_args;
LK_DECLARE(mesh_longest, mesh_limit_args) /* m, longest way of a vertex */
LK_DECLARE(mesh_limit, mesh_limit_args)   /* ends of the ways, which become no longer than limit */

#endif
