/* compare.kern.c - see compare.kern.h */
#include "unit/mem/compare.kern.h"

#if defined(__CUDACC__) || defined(LOOM_MEM_SIM_H)
#define ON_DEVICE 1
#else
#define ON_DEVICE 0
#endif

LK_KERNEL(compare_right, a, i) { a->out[i] = LK_R(2.0) * a->in[i]; }

LK_KERNEL(compare_follow, a, i) { a->box->out[i] = LK_R(2.0) * a->box->in[i]; }

LK_KERNEL(compare_wrong, a, i)
{
  const lk_real bit = sizeof(lk_real) == 8 ? (lk_real)DBL_EPSILON : (lk_real)FLT_EPSILON;
  a->out[i] = (ON_DEVICE && i == 5 ? LK_R(2.0) + LK_R(2.0) * bit : LK_R(2.0)) * a->in[i];
}

LK_KERNEL(compare_misplaced, a, i) { a->place[i] = i + ON_DEVICE; }

LK_KERNEL_PLAIN(compare_race, a, i) { a->out[i] = i == 0 ? a->in[0] : a->out[i - 1] + LK_R(1.0); }

LK_KERNEL_PLAIN(compare_log, a, i) { a->out[i] = LK_LOG(a->in[i]); }

LK_REDUCE_SUM(compare_sum, a, i) { return a->in[i]; }

LK_REDUCE_SUM(compare_less, a, i) { return ON_DEVICE && i == 999 ? LK_R(0.0) : a->in[i]; }
