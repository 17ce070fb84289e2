/* sim.h - a device that is simulated on the CPU, for builds with LOOM_CUDA=SIMULATED.
 *
 * Everything that would run on a CUDA device does, one element after the other and the last one
 * first; its memory is one region that may be touched only while a kernel or a copy runs.  Host
 * code that follows a device pointer ends with a signal, a kernel that is handed a host pointer is
 * refused, new memory holds NaN.  It shows on any machine that both sides of a buffer are kept
 * apart; it says nothing about races, alignment, stacks, rounding or speed of a real device.
 *
 * Kernel files are included behind this one: the launchers are then NAME_cuda. */
#ifndef LOOM_MEM_SIM_H
#define LOOM_MEM_SIM_H

#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include "loom/kernel.h"

#define SIM_BASE UINT64_C(0x200000000000) /* 64 GiB of addresses where nothing else is put */
#define SIM_SIZE (UINT64_C(1) << 36)
enum { SIM_PAGE = 4096 };

static inline loom_status sim_open(int access)
{
  return mprotect((void *)SIM_BASE, SIM_SIZE, access) == 0 ? LOOM_OK : LOOM_E_DEVICE;
}
static inline loom_status sim_enter(void) { return sim_open(PROT_READ | PROT_WRITE); }
static inline loom_status sim_leave(void) { return sim_open(PROT_NONE); }

/* A word of an argument block that is an address of the host. */
static inline int sim_foreign(uint64_t word)
{
  if (word - SIM_BASE < SIM_SIZE || word < 65536 || word >> 47 != 0) return 0;
  return msync((void *)(word / SIM_PAGE * SIM_PAGE), 1, MS_ASYNC) == 0; /* something is there */
}

/* Before a kernel runs: its arguments are the device's, and the device's memory is open. */
static inline loom_status sim_launch(const loom_exec *q, const char *kernel, const void *args,
                                     size_t size)
{
  for (size_t i = 0; i + sizeof(uint64_t) <= size; i += sizeof(uint64_t)) {
    uint64_t word;
    char text[96];
    memcpy(&word, (const char *)args + i, sizeof word);
    if (!sim_foreign(word)) continue;
    snprintf(text, sizeof text, "byte %zu of its arguments is an address of the host", i);
    return lk_failed_(q, kernel, text);
  }
  return sim_enter() == LOOM_OK ? LOOM_OK : lk_failed_(q, kernel, "mprotect of its memory failed");
}

#define SIM_LAUNCHER_(name, before, one, after)                                            \
  loom_status name##_cuda(const loom_exec *q, const void *args, lk_int n, lk_real *result) \
  {                                                                                        \
    const name##_args_t A = *(const name##_args_t *)args;                                  \
    const loom_status s = sim_launch(q, #name, &A, sizeof A);                              \
    (void)result;                                                                          \
    if (s != LOOM_OK) return s;                                                            \
    before;                                                                                \
    for (lk_int i_ = n; i_-- > 0;) {                                                       \
      one;                                                                                 \
    }                                                                                      \
    after;                                                                                 \
    return sim_leave();                                                                    \
  }

#undef LK_KERNEL
#undef LK_KERNEL_PLAIN
#undef LK_REDUCE_SUM
#undef LK_REDUCE_SUM_PLAIN
#undef LK_REDUCE_MAX
#define LK_KERNEL(name, a, i)                                \
  LK_FN void name##_body(const name##_args_t *a, lk_int i);  \
  SIM_LAUNCHER_(name, (void)0, name##_body(&A, i_), (void)0) \
  LK_FN void name##_body(const name##_args_t *a, lk_int i)
#define LK_KERNEL_PLAIN LK_KERNEL

#define SIM_REDUCE_(name, a, i, start, op)                                        \
  LK_FN lk_real name##_body(const name##_args_t *a, lk_int i);                    \
  SIM_LAUNCHER_(name, lk_real acc = start, const lk_real v = name##_body(&A, i_); \
                acc = op, *result = acc)                                          \
  LK_FN lk_real name##_body(const name##_args_t *a, lk_int i)
#define LK_REDUCE_SUM(name, a, i) SIM_REDUCE_(name, a, i, LK_R(0.0), acc + v)
#define LK_REDUCE_MAX(name, a, i) SIM_REDUCE_(name, a, i, -LK_REAL_MAX, LK_NANMAX(acc, v))
#define LK_REDUCE_SUM_PLAIN       LK_REDUCE_SUM

#endif
