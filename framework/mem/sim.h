/* sim.h - a device that is simulated on the CPU, for builds with LOOM_CUDA=SIMULATED.
 *
 * Code for a CUDA device runs here one element after the other, in the order of LOOM_SIM_ORDER
 * (backward, forward or scattered).  Device memory is one region that may be accessed only while a
 * kernel or a copy runs.  Host code that follows a device pointer ends with a signal, a kernel that
 * gets a host pointer is refused, new memory holds NaN.  So any machine can show that both sides of
 * a buffer are kept apart; races, alignment, stacks or speed of a real device are not simulated. Of
 * a device's rounding it shows two properties: sums add up from the end, and values of exp,
 * log, sin, cos and atan2 are the next ones in magnitude.
 *
 * Kernel files are included after this one: the launchers are then NAME_cuda. */
#ifndef LOOM_MEM_SIM_H
#define LOOM_MEM_SIM_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "loom/kernel.h"

#define SIM_BASE UINT64_C(0x200000000000) /* 64 GiB of addresses that the system leaves free */
#define SIM_SIZE (UINT64_C(1) << 36)
enum { SIM_PAGE = 4096 };

/* In the page before the region, which host code may always read. */
typedef struct sim_state {
  int open;  /* the region may be touched */
  int fault; /* a kernel has failed (LOOM_SIM_FAULT): as in a CUDA context after a fault, all later
                calls fail */
} sim_state;
static inline sim_state *sim_shared(void) { return (sim_state *)(SIM_BASE - SIM_PAGE); }

static inline loom_status sim_open(int access)
{
  const int open = access != PROT_NONE;
  if (sim_shared()->open == open) return LOOM_OK;
  sim_shared()->open = open;
  return mprotect((void *)SIM_BASE, SIM_SIZE, access) == 0 ? LOOM_OK : LOOM_E_DEVICE;
}
static inline loom_status sim_enter(void) { return sim_open(PROT_READ | PROT_WRITE); }
static inline loom_status sim_leave(void) { return sim_open(PROT_NONE); }

/* Closing the region costs time in proportion to its contents, and a run of a second has ten
 * thousand launches.  So each place (a kernel, a copy) closes it only after its launches 1, 4, 16
 * and 64, then after every SIM_EVERY-th: host code with the fault follows a device pointer often.
 */
enum { SIM_EVERY = 256 };
static inline loom_status sim_leave_at(int64_t *count)
{
  const int64_t k = ++*count;
  return k == 1 || k == 4 || k == 16 || k == 64 || k % SIM_EVERY == 0 ? sim_leave() : LOOM_OK;
}

/* LOOM_SIM_FAULT=KERNEL or KERNEL,N: launch number N of the kernel fails like a launch that follows
 * a bad address: the next call reports it; with [exec] debug the launch itself. */
#define SIM_FAULT_TEXT "an injected fault (simErrorFault)"
static inline int sim_is_faulty(const char *kernel)
{
  static const char *wanted;
  static int left = -1; /* launches until then; -1: not read yet */
  if (left < 0) {
    const char *const text = getenv("LOOM_SIM_FAULT");
    const char *const comma = text != NULL ? strchr(text, ',') : NULL;
    wanted = text != NULL ? text : "";
    left = comma != NULL ? atoi(comma + 1) : 1;
  }
  const size_t len = strlen(kernel);
  if (left == 0 || strncmp(wanted, kernel, len) != 0) return 0;
  if (wanted[len] != '\0' && wanted[len] != ',') return 0;
  return --left == 0;
}

/* Whether a word of an argument block is a host address.  Two adjacent numbers look like one if the
 * second is between 0x5500 and 0x7fff and memory lies there by chance; but the first is usually
 * small, and one address in 65536 is. */
static inline int sim_foreign(uint64_t word)
{
  if (word - SIM_BASE < SIM_SIZE || word >> 47 != 0 || (uint32_t)word < 65536) return 0;
  return msync((void *)(word / SIM_PAGE * SIM_PAGE), 1, MS_ASYNC) == 0; /* memory lies there */
}

/* Before a kernel runs: checks that its arguments are device addresses, and opens the memory. */
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
  if (sim_is_faulty(kernel)) {
    sim_shared()->fault = 1;
    if (q->debug) return lk_failed_(q, kernel, SIM_FAULT_TEXT);
  } else if (sim_shared()->fault) {
    return lk_failed_(q, kernel, SIM_FAULT_TEXT LK_LATE_);
  }
  return sim_enter() == LOOM_OK ? LOOM_OK : lk_failed_(q, kernel, "mprotect of its memory failed");
}

/* The next value in magnitude; values that all devices compute exactly stay. */
static inline lk_real sim_rounded(lk_real v)
{
  if (v == LK_R(0.0) || v == LK_R(1.0) || v == LK_R(-1.0) || v != v) return v;
#ifdef LOOM_REAL_FLOAT
  return nextafterf(v, LK_R(2.0) * v);
#else
  return nextafter(v, LK_R(2.0) * v);
#endif
}
#undef LK_SIN
#undef LK_COS
#undef LK_ATAN2
#undef LK_LOG
#undef LK_EXP
#ifdef LOOM_REAL_FLOAT
#define LK_SIN(x)      sim_rounded(sinf(x))
#define LK_COS(x)      sim_rounded(cosf(x))
#define LK_ATAN2(y, x) sim_rounded(atan2f((y), (x)))
#define LK_LOG(x)      sim_rounded(logf(x))
#define LK_EXP(x)      sim_rounded(expf(x))
#else
#define LK_SIN(x)      sim_rounded(sin(x))
#define LK_COS(x)      sim_rounded(cos(x))
#define LK_ATAN2(y, x) sim_rounded(atan2((y), (x)))
#define LK_LOG(x)      sim_rounded(log(x))
#define LK_EXP(x)      sim_rounded(exp(x))
#endif

/* The order of a kernel's elements: results must not depend on the order of elements that run side
 * by side on a device.  Reductions keep theirs, because rounding depends on it. */
enum { SIM_BACKWARD, SIM_FORWARD, SIM_SCATTERED };
/* -1: LOOM_SIM_ORDER names none of them, and dev_open() refuses it. */
static inline int sim_order(void)
{
  enum { UNREAD = -2 };
  static int order = UNREAD;
  const char *const name = order == UNREAD ? getenv("LOOM_SIM_ORDER") : NULL;
  if (order == UNREAD)
    order = name == NULL                     ? SIM_BACKWARD
            : strcmp(name, "backward") == 0  ? SIM_BACKWARD
            : strcmp(name, "forward") == 0   ? SIM_FORWARD
            : strcmp(name, "scattered") == 0 ? SIM_SCATTERED
                                             : -1;
  return order;
}

/* Visits 0 to n - 1 once each: neighbours far apart, where n allows it. */
static inline lk_int sim_stride(lk_int n)
{
  lk_int step = (lk_int)((int64_t)n * 5 / 13) + 1;
  for (;; ++step) {
    lk_int a = n, b = step;
    while (b != 0) {
      const lk_int rest = a % b;
      a = b;
      b = rest;
    }
    if (a == 1) return step;
  }
}

/* The bytes between the members keep their old contents. */
#if defined(__GNUC__) && !defined(__clang__) && __GNUC__ >= 11
#define SIM_CLEAR_PADDING(a) __builtin_clear_padding(a)
#else
#define SIM_CLEAR_PADDING(a) ((void)(a))
#endif

#define SIM_LAUNCHER_(name, begin, loop, end)                                              \
  loom_status name##_cuda(const loom_exec *q, const void *args, lk_int n, lk_real *result) \
  {                                                                                        \
    static int64_t launches;                                                               \
    name##_args_t A = *(const name##_args_t *)args;                                        \
    SIM_CLEAR_PADDING(&A);                                                                 \
    const loom_status s = sim_launch(q, #name, &A, sizeof A);                              \
    (void)result;                                                                          \
    if (s != LOOM_OK) return s;                                                            \
    begin;                                                                                 \
    loop;                                                                                  \
    end;                                                                                   \
    return sim_leave_at(&launches);                                                        \
  }

#undef LK_KERNEL
#undef LK_KERNEL_PLAIN
#undef LK_REDUCE_SUM
#undef LK_REDUCE_SUM_PLAIN
#undef LK_REDUCE_MAX
#define SIM_EACH_(name)                                                    \
  const int order = sim_order();                                           \
  const lk_int step = order == SIM_SCATTERED && n > 0 ? sim_stride(n) : 1; \
  lk_int i_ = order == SIM_BACKWARD ? n - 1 : 0;                           \
  for (lk_int k = 0; k < n; ++k) {                                         \
    name##_body(&A, i_);                                                   \
    i_ = order == SIM_BACKWARD ? i_ - 1 : (i_ + step) % n;                 \
  }
#define LK_KERNEL(name, a, i)                               \
  LK_FN void name##_body(const name##_args_t *a, lk_int i); \
  SIM_LAUNCHER_(name, (void)0, SIM_EACH_(name), (void)0)    \
  LK_FN void name##_body(const name##_args_t *a, lk_int i)
#define LK_KERNEL_PLAIN LK_KERNEL
#undef LK_KERNEL_LONG
#define LK_KERNEL_LONG LK_KERNEL
#undef LK_KERNEL_WARP
#define LK_KERNEL_WARP LK_KERNEL

#undef LK_KERNEL_BLOCK
#define LK_KERNEL_BLOCK(name, a, i, lane, lanes)                                                  \
  LK_FN void name##_body(const name##_args_t *a, lk_int i, lk_int lane, lk_int lanes);            \
  SIM_LAUNCHER_(name, (void)0, for (lk_int i_ = n; i_-- > 0;) name##_body(&A, i_, 0, 1), (void)0) \
  LK_FN void name##_body(const name##_args_t *a, lk_int i, lk_int lane, lk_int lanes)

/* Interleaved as on a device; the room of an element starts as NaN. */
#undef LK_KERNEL_ROOM
#define LK_KERNEL_ROOM(name, a, i, room, size)                                 \
  LK_FN void name##_body(const name##_args_t *a, lk_int i, lk_room room);      \
  SIM_LAUNCHER_(                                                               \
      name, lk_real numbers[LK_WARP * (size)],                                 \
      for (lk_int i_ = n; i_-- > 0;) {                                         \
        lk_room own;                                                           \
        own.at = numbers + i_ % LK_WARP;                                       \
        own.stride = LK_WARP;                                                  \
        if (!name##_is(&A, i_)) continue;                                      \
        for (lk_int k = 0; k < (size); ++k) LK_SCRATCH(own, k) = (lk_real)NAN; \
        name##_body(&A, i_, own);                                              \
      },                                                                       \
      (void)0)                                                                 \
  LK_FN void name##_body(const name##_args_t *a, lk_int i, lk_room room)

#define SIM_REDUCE_(name, a, i, start, op)                     \
  LK_FN lk_real name##_body(const name##_args_t *a, lk_int i); \
  SIM_LAUNCHER_(                                               \
      name, lk_real acc = start,                               \
      for (lk_int i_ = n; i_-- > 0;) {                         \
        const lk_real v = name##_body(&A, i_);                 \
        acc = op;                                              \
      },                                                       \
      *result = acc)                                           \
  LK_FN lk_real name##_body(const name##_args_t *a, lk_int i)
#define LK_REDUCE_SUM(name, a, i) SIM_REDUCE_(name, a, i, LK_R(0.0), acc + v)
#define LK_REDUCE_MAX(name, a, i) SIM_REDUCE_(name, a, i, -LK_REAL_MAX, LK_NANMAX(acc, v))
#define LK_REDUCE_SUM_PLAIN       LK_REDUCE_SUM

#endif
