/* kernel_cases.h - a kernel with random arguments, run on any backend and compared.
 *
 * A module describes its kernels as rows (see tests/unit/kernels/cases_linalg.c) and adds its
 * table to the list in tests/unit/kernels/test_kernels_cuda.c; no more is needed.
 */
#ifndef LOOM_TESTS_KERNEL_CASES_H
#define LOOM_TESTS_KERNEL_CASES_H

#include "mem/mem.h"

/* Contents of a field before the launch: item i of `count`. */
typedef void (*kc_make)(void *data, int64_t count, uint64_t *random);
void kc_uniform(void *data, int64_t count, uint64_t *random); /* real in [-1, 1) */
void kc_zero(void *data, int64_t count, uint64_t *random);    /* real */

typedef struct kc_field {
  size_t offset; /* of the pointer in the argument block */
  int type;      /* LOOM_REAL ...; other types as LOOM_U8 with the count in bytes */
  int access;    /* LOOM_READ, LOOM_RDWR (compared), LOOM_WRITE (compared) */
  int64_t count;
  kc_make make; /* NULL for LOOM_WRITE */
} kc_field;

enum { KC_MAX_FIELDS = 9, KC_MAX_ARGS = 512 };
typedef struct kernel_case {
  const lk_entry *entry;
  int64_t n;
  /* Largest difference between backends, in units in the last place of the larger of 1
   * and the value.  0: the same bits (strict floating point, same order of sums). */
  double ulps;
  int reduces;                    /* 1: the result is compared too */
  void (*scalars)(void *args);    /* fills members that are no pointers, or NULL */
  kc_field fields[KC_MAX_FIELDS]; /* ended by one with count 0 */
} kernel_case;

typedef struct kc_output {
  double result;
  void *data[KC_MAX_FIELDS]; /* contents after the launch, NULL where only read; on the heap */
} kc_output;

/* Run with buffers of their own (check: in check mode); asserts that the launch works. */
void kc_run(const kernel_case *c, const loom_exec *e, int check, kc_output *out);
void kc_release(kc_output *out);
/* Asserts that a and b agree within `ulps`; the text `who` names b in the message. */
void kc_compare(const kernel_case *c, const kc_output *a, const kc_output *b, double ulps,
                const char *who);

#endif
