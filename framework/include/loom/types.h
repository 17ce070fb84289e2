/* loom/types.h - scalars, status codes and the rules every header relies on.
 *
 * These headers are the whole contract between the core and a plugin.  They
 * compile as C11 and as C++17, contain no inline code that touches core state,
 * and put no `enum` or `bool` type inside a struct: flags and kinds are stored
 * as fixed-width integers, so a struct has one layout for every compiler.
 *
 * Ownership: an array is a loom_buf.  A plugin instance owns the buffers that it makes by
 * host->buf_new(); the core owns all others.  Every struct that a callback receives, and every
 * pointer in it, belongs to the core and is valid until the callback returns, unless its comment
 * says longer; scene, exec, host and settings of create() stay valid until destroy().  A plugin may
 * write only the members and arguments that a comment calls output (`out:`, `trial`, `*changed`).
 *
 * Notation in comments: [n][3] is a C-order (row-major) shape; units are SI;
 * [step] marks a function called on the step thread only, [any] one that is
 * safe from any thread (also from inside an OpenMP region).
 */
#ifndef LOOM_TYPES_H
#define LOOM_TYPES_H

#include <stddef.h>
#include <stdint.h>

/* MAJOR: layout or meaning broke; MINOR: fields or functions were appended.  A core refuses plugins
 * of another MAJOR.  While MAJOR is 0 it refuses another MINOR, too: any layout may have changed.
 */
#define LOOM_ABI_MAJOR 0
#define LOOM_ABI_MINOR 5

#ifdef __cplusplus
#define LOOM_C_BEGIN extern "C" {
#define LOOM_C_END   }
#else
#define LOOM_C_BEGIN
#define LOOM_C_END
#endif
#define LOOM_EXPORT       __attribute__((visibility("default")))
#define LOOM_PRINTF(f, a) __attribute__((format(printf, f, a)))
#define LOOM_MUST_CHECK   __attribute__((warn_unused_result))

#ifdef LOOM_REAL_FLOAT
typedef float loom_real;
#else
typedef double loom_real;
#endif

/* True if the table `t`, built against a possibly older header, has `field`: always while
 * LOOM_ABI_MAJOR is 0. */
#define LOOM_HAS(t, field) \
  ((t)->struct_size >= (const char *)&(t)->field - (const char *)(t) + sizeof(t)->field)

/* ---- status ---- */
/* 0: success.  > 0: an outcome, not a fault; the inputs are unchanged.  < 0: an error; the run
 * stops after its message is reported. */
#define LOOM_STATUS_LIST(X)                                                       \
  X(LOOM_OK, 0, "success")                                                        \
  X(LOOM_CONVERGED, 1, "the plugin's own stopping test is met")                   \
  X(LOOM_REJECTED, 2, "the trial point must not be accepted")                     \
  X(LOOM_STALLED, 3, "no further progress is possible from this point")           \
  X(LOOM_GROW, 4, "an output buffer was too small; the needed size was recorded") \
  X(LOOM_E_ARG, -1, "an argument is out of range or inconsistent")                \
  X(LOOM_E_STATE, -2, "the call is out of order")                                 \
  X(LOOM_E_NOMEM, -3, "out of memory")                                            \
  X(LOOM_E_UNSUPPORTED, -4, "not supported by this plugin, backend or build")     \
  X(LOOM_E_DEVICE, -5, "a CUDA call failed")                                      \
  X(LOOM_E_NUMERIC, -6, "NaN, infinity or a failed factorisation")                \
  X(LOOM_E_CONFIG, -7, "the configuration is invalid")                            \
  X(LOOM_E_IO, -8, "a file could not be read or written")                         \
  X(LOOM_E_ABI, -9, "plugin and core were built against incompatible headers")    \
  X(LOOM_E_INTERNAL, -10, "a defect in the core or in a plugin")

#define LOOM_STATUS_ENUM_(name, value, text) name = value,
enum { LOOM_STATUS_LIST(LOOM_STATUS_ENUM_) LOOM_STATUS_END_ = 1000 };
typedef int32_t loom_status;

/* ---- where code runs ---- */
enum { LOOM_CPU = 0, LOOM_CUDA = 1, LOOM_NUM_BACKENDS = 2 };
#define LOOM_BIT(k) (UINT32_C(1) << (k))
enum { LOOM_ON_CPU = 1, LOOM_ON_CUDA = 2 }; /* bit mask form of the above */
/* With LOOM_ON_CUDA one of the two names the device that the plugin's kernels were compiled for; a
 * plugin without kernels of its own sets neither.  LK_BACKENDS of kernel.h sets them. */
enum { LOOM_CUDA_REAL = 4, LOOM_CUDA_SIMULATED = 8 };

struct lk_entry; /* kernel.h */
typedef struct loom_exec {
  uint32_t struct_size;
  int32_t backend;       /* LOOM_CPU or LOOM_CUDA */
  int32_t num_threads;   /* OpenMP threads a plugin may use; pass to num_threads() */
  int32_t device;        /* CUDA ordinal, -1 on the CPU */
  void *stream;          /* cudaStream_t; all of a plugin's work goes here */
  int32_t deterministic; /* nonzero: same bits for every thread count and rerun */
  int32_t debug;         /* nonzero ([exec] debug): synchronise and check after every launch */
  loom_real *scratch;    /* real [scratch_len], reduction workspace, execution memory */
  int64_t scratch_len;
  loom_real *result; /* real [LOOM_NUM_RESULTS], reduction results, execution memory */
  int64_t *launches; /* kernel launches so far (a work counter), or NULL */
  char *why;         /* [LOOM_WHY_LEN], message of the latest failed launch, "" if none; or NULL */
  /* [optional: lk_run() calls the launcher] Hook that lk_run() calls in place of the launcher.  The
   * core sets it to compare the CPU and CUDA launchers of a kernel (LOOM_KERNEL_COMPARE, see the
   * plugin guide, "Debugging") and to time kernels ([log] kernels). */
  loom_status (*instead)(const struct loom_exec *q, const struct lk_entry *k, const void *args,
                         int32_t n, loom_real *result);
  void *watch;    /* the core's state for its `instead` */
  int64_t *bytes; /* bytes moved by kernels so far, as declared (a work counter), or NULL */
} loom_exec;
enum { LOOM_NUM_RESULTS = 64, LOOM_WHY_LEN = 256 };

/* ---- memory ---- */
/* All arrays that cross the ABI are core-owned loom_buf handles.  The core
 * tracks which side (host, device) holds current data and copies only when a
 * map asks for the stale side. */
typedef struct loom_buf loom_buf;

enum { LOOM_REAL = 0, LOOM_I32 = 1, LOOM_I64 = 2, LOOM_U8 = 3, LOOM_U64 = 4 };
enum {
  LOOM_READ = 1,  /* contents current; writing is a defect */
  LOOM_WRITE = 2, /* contents undefined on entry, all of it current on unmap */
  LOOM_RDWR = 3   /* contents current on entry and on unmap */
}; /* With [exec] debug or LOOM_MEM_CHECK=1 writes through READ maps and past either end of a buffer
    * are reported at unmap, with its name; see the plugin guide, "Debugging". */
enum {
  LOOM_AT_EXEC = 0, /* where this plugin instance runs: the normal case */
  LOOM_AT_HOST = 1,
  LOOM_AT_DEVICE = 2
};

#endif /* LOOM_TYPES_H */
