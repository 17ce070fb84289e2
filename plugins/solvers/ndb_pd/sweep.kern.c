/* sweep.kern.c - the smoothers of the global step, once in loom_real and once in float. */
#include "sweep.kern.h"

#define SW_T     lk_real
#define SW(name) name
#include "sweep_body.kern.h"

#define SW_T     float
#define SW(name) name##_f
#include "sweep_body.kern.h"

LK_KERNEL(ndb_pd_narrow, a, i) { a->to[i] = (float)a->from[i]; }
