/* ccd_list.kern.h - kernels that run a list of collision queries. */
#ifndef LOOM_CCD_LIST_KERN_H
#define LOOM_CCD_LIST_KERN_H

#include "geom/ccd.kern.h"
#include "geom/ccd_partial.kern.h"

/* Element q: the pair of vertices verts[4 q] ..., a vertex and a triangle or two edges. */
typedef struct ccd_list_args {
  const lk_real *LK_RESTRICT x0;    /* real [n][3], m, at the start of the step */
  const lk_real *LK_RESTRICT x1;    /* real [n][3], m, at its end */
  const int32_t *LK_RESTRICT verts; /* int [m][4] */
  lk_real *LK_RESTRICT toi;         /* real [m], in [0,1], CCD_NONE without impact */
  ccd_settings settings;
  int32_t method; /* CCD_ADDITIVE ... */
} ccd_list_args;

typedef struct ccd_partial_args {
  const lk_real *LK_RESTRICT x0;      /* real [n][3], m, free of contact */
  const lk_real *LK_RESTRICT x1;      /* real [n][3], m */
  const int32_t *LK_RESTRICT verts;   /* int [m][4] */
  const lk_real *LK_RESTRICT weights; /* real [m][4], of the closest points at x0, or NULL */
  int32_t *LK_RESTRICT flags;         /* int [m], CCD_PARTIAL_* */
  ccd_partial_settings settings;
} ccd_partial_args;

LK_DECLARE(ccd_list_vt, ccd_list_args)
LK_DECLARE(ccd_list_ee, ccd_list_args)
LK_DECLARE(ccd_partial_vt, ccd_partial_args)
LK_DECLARE(ccd_partial_ee, ccd_partial_args)

#endif
