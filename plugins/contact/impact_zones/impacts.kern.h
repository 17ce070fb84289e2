/* impacts.kern.h - impacts of one step and their linear system: argument blocks and prototypes of
 * the kernels.
 *
 * Impact j is the linear gap g_j(x) = offset_j + n_j . sum_a w_ja x_a over its free vertices.  The
 * offset holds the radii and the prescribed vertices (bodies, fixed vertices), at the end of the
 * step. */
#ifndef IMPACTS_KERN_H
#define IMPACTS_KERN_H

#include "kit/pair_kinds.kern.h"

/* Bits of the key of a vertex and a body, and of an element and a body: the keys of other kinds
 * leave the first clear or have bit 63, those of vertices and bodies leave the second clear. */
#define IMPACT_BODY_BIT    (UINT64_C(1) << 62)
#define IMPACT_ELEMENT_BIT (UINT64_C(1) << 61)

/* ---- from pairs to impacts ---- */
typedef struct impact_take_args {
  /* pairs of detection, [num] */
  const int32_t *LK_RESTRICT kind;
  const int32_t *LK_RESTRICT pair_v; /* [num][4] */
  const lk_real *LK_RESTRICT pair_w; /* [num][4] */
  const lk_real *LK_RESTRICT normal; /* [num][3] */
  const lk_real *LK_RESTRICT gap;    /* [num] m, of the end of the step */
  const lk_real *LK_RESTRICT point;  /* [num][3] m, point on the body, at the end; NULL: none */
  const lk_real *LK_RESTRICT point_start; /* [num][3] m, at the start */
  const uint64_t *LK_RESTRICT pair_key;   /* [num] */
  const int32_t *LK_RESTRICT old;    /* [num], in `rank`, the impact that the pair is; -1: new */
  const int32_t *LK_RESTRICT rank;   /* [m], impacts by ascending keys */
  const int64_t *LK_RESTRICT place;  /* [num+1], exclusive sums of the new ones */
  const uint8_t *LK_RESTRICT chosen; /* [num], 0: left out; NULL: all */
  /* the scene */
  const lk_real *LK_RESTRICT x0;    /* [n][3] m, start of the step */
  const lk_real *LK_RESTRICT x1;    /* [n][3] m, where detection looked */
  const lk_real *LK_RESTRICT body0; /* [nb][3] m, or NULL */
  const lk_real *LK_RESTRICT body1; /* [nb][3] m, or NULL */
  const uint8_t *LK_RESTRICT fixed; /* [n] */
  /* impacts */
  uint64_t *LK_RESTRICT key;   /* [m] */
  int32_t *LK_RESTRICT v;      /* [m][4], free vertices; -1: none */
  lk_real *LK_RESTRICT w;      /* [m][4] */
  lk_real *LK_RESTRICT n;      /* [m][3], unit */
  lk_real *LK_RESTRICT offset; /* [m] m */
  lk_real *LK_RESTRICT target; /* [m] m, gap to end with */
  lk_real *LK_RESTRICT from;   /* [m][3] m, see impacts.h */
  lk_real *LK_RESTRICT to;     /* [m][3] m */
  int64_t first;               /* impacts so far */
  lk_real clearance;           /* m; negative: none is asked for */
  int32_t num_verts;
} impact_take_args;
LK_DECLARE(impact_take, impact_take_args)

typedef struct impact_new_args {
  const int32_t *LK_RESTRICT kind;      /* [num] */
  const uint64_t *LK_RESTRICT pair_key; /* [num] */
  uint64_t *LK_RESTRICT key;            /* [num] out */
  const int32_t *LK_RESTRICT old;       /* [num], -1: new */
  const uint8_t *LK_RESTRICT chosen;    /* [num], 0: left out; NULL: all */
  int64_t *LK_RESTRICT flag;            /* [num] out, 1: new */
} impact_new_args;
LK_DECLARE(impact_key, impact_new_args)  /* key, unique over all kinds */
LK_DECLARE(impact_flag, impact_new_args) /* flag */

/* ---- the vertices that impacts touch ---- */
typedef struct impact_corner_args {
  const int32_t *LK_RESTRICT v;     /* [m][4] */
  uint64_t *LK_RESTRICT key;        /* [4m], vertex; n for none; ascending once sorted */
  const int32_t *LK_RESTRICT perm;  /* [4m], corners in this order */
  int64_t *LK_RESTRICT head;        /* [4m], 1: first corner of its vertex */
  const int64_t *LK_RESTRICT place; /* [4m+1], exclusive sums of head */
  int64_t *LK_RESTRICT ptr;         /* [touched+1], first corner of each touched vertex */
  int32_t *LK_RESTRICT vert;        /* [touched] */
  int32_t *LK_RESTRICT node;        /* [corners], their impacts */
  int64_t count;                    /* 4m */
  int32_t n;
} impact_corner_args;
LK_DECLARE(impact_corner, impact_corner_args) /* per corner: key */
LK_DECLARE(impact_real, impact_corner_args)   /* number of corners with a vertex */
LK_DECLARE(impact_square, impact_corner_args) /* sum over vertices of (number of impacts)^2 */
LK_DECLARE(impact_head, impact_corner_args)   /* per corner, sorted: head */
LK_DECLARE(impact_list, impact_corner_args)   /* per corner, sorted: ptr, vert, node */

/* ---- S = G M^-1 G', scaled so that its right-hand side is in m and lambda in kg m ---- */
typedef struct impact_system_args {
  const int64_t *LK_RESTRICT ptr;   /* [touched+1] */
  const int32_t *LK_RESTRICT vert;  /* [touched] */
  const int32_t *LK_RESTRICT perm;  /* [corners] */
  const int64_t *LK_RESTRICT block; /* [touched+1] */
  const lk_real *LK_RESTRICT w;     /* [m][4] */
  const lk_real *LK_RESTRICT n;     /* [m][3] */
  const lk_real *LK_RESTRICT mass;  /* [n] kg */
  lk_real *LK_RESTRICT K;           /* [blocks], 1/kg */
} impact_system_args;
LK_DECLARE(impact_couple, impact_system_args) /* per touched vertex: K */

typedef struct impact_rows_args {
  const int32_t *LK_RESTRICT v;      /* [m][4] */
  const lk_real *LK_RESTRICT w;      /* [m][4] */
  const lk_real *LK_RESTRICT n;      /* [m][3] */
  const lk_real *LK_RESTRICT offset; /* [m] m */
  const lk_real *LK_RESTRICT target; /* [m] m */
  const lk_real *LK_RESTRICT x;      /* [n][3] m */
  lk_real *LK_RESTRICT r;            /* [m] m, target - g(x) */
} impact_rows_args;
LK_DECLARE(impact_rhs, impact_rows_args)

/* Vectors of m numbers, filled up with zeros to rows of three for kit/krylov.h. */
typedef struct impact_matrix_args {
  const int64_t *LK_RESTRICT row;  /* [m+1] */
  const int32_t *LK_RESTRICT col;  /* [row[m]] */
  const int64_t *LK_RESTRICT diag; /* [m] */
  const lk_real *LK_RESTRICT val;  /* [row[m]] 1/kg */
  const lk_real *LK_RESTRICT x;    /* [.][3] */
  lk_real *LK_RESTRICT y;          /* [.][3] */
  const int32_t *LK_RESTRICT stop; /* [1]; not 0: y is left as it is */
  int64_t m;
  lk_real shift;           /* 1, of the diagonal D */
  int32_t split, reserved; /* impact_multiply; 1: an element is one row, three times as many */
} impact_matrix_args;
/* per row of three: y = (S + shift D) x; sum x.y */
LK_DECLARE(impact_multiply, impact_matrix_args)
LK_DECLARE(impact_precondition, impact_matrix_args) /* y = D^-1 x; sum x.y */

/* ---- effect of the multipliers ---- */
typedef struct impact_apply_args {
  const int64_t *LK_RESTRICT ptr;      /* [touched+1] */
  const int32_t *LK_RESTRICT vert;     /* [touched] */
  const int32_t *LK_RESTRICT perm;     /* [corners] */
  const lk_real *LK_RESTRICT w;        /* [m][4] */
  const lk_real *LK_RESTRICT n;        /* [m][3] */
  const lk_real *LK_RESTRICT mass;     /* [n] kg */
  const lk_real *LK_RESTRICT lambda;   /* [m] kg m */
  const lk_real *LK_RESTRICT x_before; /* [n][3] m */
  lk_real *LK_RESTRICT x;              /* [n][3] m: x_before + M^-1 G' lambda */
  uint8_t *LK_RESTRICT mask;           /* [n], 1 where x was set */
} impact_apply_args;
LK_DECLARE(impact_apply, impact_apply_args) /* per touched vertex */

/* One impulse for every impact as if it were alone, divided by the largest number of impacts at one
 * of its vertices. */
typedef struct impact_share_args {
  const int64_t *LK_RESTRICT ptr;  /* [touched+1] */
  const int32_t *LK_RESTRICT perm; /* [corners] */
  int64_t *LK_RESTRICT crowd;      /* [4m], impacts at the vertex of each corner */
  const int32_t *LK_RESTRICT v;    /* [m][4] */
  const int64_t *LK_RESTRICT diag; /* [m] */
  const lk_real *LK_RESTRICT val;  /* 1/kg, S */
  const lk_real *LK_RESTRICT r;    /* [m] m */
  lk_real *LK_RESTRICT lambda;     /* [m] kg m */
} impact_share_args;
LK_DECLARE(impact_crowd, impact_share_args) /* per touched vertex: crowd */
LK_DECLARE(impact_alone, impact_share_args) /* per impact: lambda */

/* One iteration of a projected gradient method for lambda >= 0, with momentum: see push_only.c. */
typedef struct impact_push_args {
  const int64_t *LK_RESTRICT row; /* the matrix, as above */
  const int32_t *LK_RESTRICT col;
  const int64_t *LK_RESTRICT diag;
  const lk_real *LK_RESTRICT val;
  const int64_t *LK_RESTRICT crowd; /* [4m] */
  const int32_t *LK_RESTRICT v;     /* [m][4] */
  const lk_real *LK_RESTRICT b;     /* [m] m, right-hand side */
  const lk_real *LK_RESTRICT y;     /* [m] kg m, where the gradient is taken */
  lk_real *LK_RESTRICT lambda;      /* [m] kg m */
  lk_real *LK_RESTRICT ahead;       /* [m] kg m: where it is taken next */
  lk_real momentum;                 /* 1 */
} impact_push_args;
LK_DECLARE(impact_push, impact_push_args)  /* per impact: lambda, ahead */
LK_DECLARE(impact_slack, impact_push_args) /* m, largest |b - S y| that is not excused at lambda = y
                                            */

typedef struct impact_number_args {
  const lk_real *LK_RESTRICT lambda; /* [m] */
} impact_number_args;
LK_DECLARE(impact_strongest, impact_number_args) /* largest |lambda| */
LK_DECLARE(impact_pulling, impact_number_args)   /* number of lambda < 0 */

typedef struct impact_clear_args {
  uint8_t *LK_RESTRICT mask; /* [n] = 0 */
} impact_clear_args;
LK_DECLARE(impact_clear, impact_clear_args)

typedef struct impact_loss_args {
  const lk_real *LK_RESTRICT x_start;  /* [n][3] m */
  const lk_real *LK_RESTRICT x_before; /* [n][3] m */
  const lk_real *LK_RESTRICT x;        /* [n][3] m */
  const lk_real *LK_RESTRICT mass;     /* [n] kg */
  const uint8_t *LK_RESTRICT fixed;    /* [n] */
} impact_loss_args;
LK_DECLARE(impact_loss, impact_loss_args) /* sum m/2 (|x_before - x_start|^2 - |x - x_start|^2) */

#endif
