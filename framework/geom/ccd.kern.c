/* ccd.kern.c - lists of collision queries, one element per pair. */
#include "geom/ccd_list.kern.h"

LK_FN void ccd_gather(const lk_real *x, const int32_t *verts, lk_real *out)
{
  LK_UNROLL
  for (int i = 0; i < 4; ++i) {
    const lk_real *const p = x + 3 * (ptrdiff_t)verts[i];
    LK_LOAD3(out + 3 * i, p, 0);
  }
}

LK_FN void ccd_list_one(const ccd_list_args *a, int kind, lk_int q)
{
  lk_real x0[12], x1[12];
  ccd_gather(a->x0, a->verts + 4 * (ptrdiff_t)q, x0);
  ccd_gather(a->x1, a->verts + 4 * (ptrdiff_t)q, x1);
  a->toi[q] = ccd_toi(a->method, kind, x0, x1, &a->settings);
}

LK_FN void ccd_partial_one(const ccd_partial_args *a, int kind, lk_int q)
{
  lk_real x0[12], x1[12];
  ccd_gather(a->x0, a->verts + 4 * (ptrdiff_t)q, x0);
  ccd_gather(a->x1, a->verts + 4 * (ptrdiff_t)q, x1);
  a->flags[q] = ccd_partial(kind, x0, x1, a->weights != NULL ? a->weights + 4 * (ptrdiff_t)q : NULL,
                            &a->settings);
}

LK_KERNEL_PLAIN(ccd_list_vt, a, q) { ccd_list_one(a, CCD_VT, q); }
LK_KERNEL_PLAIN(ccd_list_ee, a, q) { ccd_list_one(a, CCD_EE, q); }
LK_KERNEL_PLAIN(ccd_partial_vt, a, q) { ccd_partial_one(a, CCD_VT, q); }
LK_KERNEL_PLAIN(ccd_partial_ee, a, q) { ccd_partial_one(a, CCD_EE, q); }
