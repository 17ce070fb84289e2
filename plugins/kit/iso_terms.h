/* iso_terms.h - appends isotropic terms to a loom_quad (iso_terms.kern.h). */
#ifndef KIT_ISO_TERMS_H
#define KIT_ISO_TERMS_H

#include "kit/iso_terms.kern.h"
#include "loom/plug.h"
#include "loom/plugin.h"

/* Maps the arrays of `out` for a kernel that writes its terms from `first` on. */
static inline iso_terms iso_open(plug_maps *m, int64_t first, const loom_quad *out)
{
  return (iso_terms){.first = first,
                     .v = plug_rdwr(m, out->v),
                     .w = plug_rdwr(m, out->w),
                     .k = plug_rdwr(m, out->k),
                     .p = plug_rdwr(m, out->p),
                     .dir = plug_rdwr(m, out->dir)};
}

#endif
