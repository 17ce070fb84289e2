/* mem.h - execution places (CPU, CUDA stream) and buffers with validity bits.
 *
 * A loom_buf owns at most one host and one device array and two bits saying which
 * of them is current.  A map copies only when it asks for the stale side.  Any
 * number of readers or one writer may hold a buffer mapped.
 *
 * Check mode (LOOM_MEM_CHECK=1, [exec] debug or mem_new(check = 1)): every map gives out a fresh
 * copy at a new address between two guard zones; WRITE maps are filled with NaN / 0xA5 first, and
 * the copy is poisoned and freed at unmap.  Writes through a READ map or into a guard zone are
 * errors.  So code that keeps a pointer, writes through a read map or past an end fails on the CPU,
 * too.  A build with LOOM_CUDA=SIMULATED (sim.h) has a device side as well.
 */
#ifndef LOOM_MEM_H
#define LOOM_MEM_H

#include "core/err.h"
#include "loom/host.h"
#include "loom/kernel.h"

/* ---- execution places ---- */
/* Number of usable CUDA devices; 0 with the reason in `why` when there are none
 * (built without CUDA, no driver, no device).  Never fails, never prints. */
int exec_cuda_devices(char *why, size_t len);
/* "NVIDIA H200, 139 GiB" or "" */
void exec_cuda_name(int device, char *name, size_t len);

/* OpenMP's own number: OMP_NUM_THREADS, or all cores this process may use. */
int threads_default(void);
/* Loops without a thread count of their own, for instance in libraries, take n threads; returns the
 * previous number, for the calling thread. */
int threads_limit(int n);
/* LOOM_E_NOMEM with a message if the system does not let this process have n threads. */
loom_status threads_probe(loom_err *err, int n);

/* Fills *out for a backend (LOOM_CPU or LOOM_CUDA).  threads 0: threads_default.  Allocates
 * scratch and result arrays in execution memory, which exec_close() frees.  LOOM_E_DEVICE with a
 * message that names the reason if there is no device. */
loom_status exec_open(loom_err *err, int backend, int threads, int deterministic, int debug,
                      loom_exec *out);
void exec_close(loom_exec *q);
/* Copies exec->result[first .. first+count) to the host; waits for the stream. */
loom_status exec_fetch(loom_err *err, const loom_exec *q, int first, int count, double *host);
/* exec_keep_results: copies n reals at `src`, memory of q's side, to places at .. at + n - 1 of
 * EXEC_KEPT, which reductions do not overwrite.  exec_kept_results: copies the first n places to
 * host [n] with one read. */
enum { EXEC_KEPT = 256 };
loom_status exec_keep_results(loom_err *err, const loom_exec *q, int at, const loom_real *src,
                              int n);
loom_status exec_kept_results(loom_err *err, const loom_exec *q, int n, double *host);
/* Copies `bytes` at p, memory of q's side, to the host; waits for the stream. */
loom_status exec_read(loom_err *err, const loom_exec *q, const void *p, size_t bytes, void *host);
/* Zeroes `bytes` at p, memory of q's side. */
loom_status exec_zero(loom_err *err, const loom_exec *q, void *p, size_t bytes);
/* lk_run with a message that holds the kernel's name and CUDA's error text. */
loom_status exec_run(loom_err *err, const loom_exec *q, const lk_entry *k, const void *args,
                     int64_t n, loom_real *result);

/* ---- traffic with the device ---- */
typedef struct exec_traffic { /* since the process began; all zero without CUDA */
  int64_t reads, read_bytes;  /* copies to the host, each of which waits */
  int64_t uploads, upload_bytes;
  int64_t copies;      /* within the device */
  int64_t allocations; /* of the pool, from the device, without blocks that the pool reuses */
  int64_t given_out;   /* blocks, by the pool */
  int64_t waits;       /* for the device, without a copy */
} exec_traffic;
const exec_traffic *exec_traffic_now(void);

/* Marks a moment in the order of a device's work; place k of EXEC_MARKS is overwritten.  On the CPU
 * there are no marks, and seconds are 0. */
enum { EXEC_MARKS = 4096 };
loom_status exec_mark(loom_err *err, const loom_exec *q, int k);
/* Waits for mark `num - 1`; seconds[k]: from mark k - 1 to k, for k from 1. */
loom_status exec_marks_read(loom_err *err, const loom_exec *q, int num, double *seconds);

/* ---- buffers ---- */
typedef struct mem mem; /* the set of all buffers of one run */

/* ---- time by kernel ([log] kernels) ---- */
typedef struct exec_kernel {
  const char *name;
  int64_t launches, elements;
  int64_t bytes;    /* whole size of the buffers in its arguments */
  int64_t declared; /* bytes moved, as the kernel's row and lk_moved() declare them */
  double seconds;   /* on the device between events; on the CPU wall time */
} exec_kernel;
typedef struct exec_watch exec_watch;
/* Times every later launch by q and waits for it.  No effect where launches are compared. */
loom_status exec_watch_new(loom_err *err, mem *m, loom_exec *q, exec_watch **out);
void exec_watch_free(exec_watch *w); /* NULL is fine; q must not be used for launches any more */
int exec_watch_kernels(const exec_watch *w, const exec_kernel **all); /* their number */
void exec_watch_clear(exec_watch *w);
/* tic and toc on the timelines of CUDA's tools */
uint64_t exec_range_begin(const loom_exec *q, const char *name);
void exec_range_end(const loom_exec *q, uint64_t id);

/* check: 1: check mode.  mem_free() frees *out. */
loom_status mem_new(loom_err *err, int check, mem **out);
/* Frees all buffers; returns the number of buffers that were still alive. */
int mem_free(mem *m);
/* Writes one line per live buffer of `owner` (NULL: of all owners), returns their number. */
int mem_leaks(const mem *m, const char *owner, char *text, size_t len);
/* Frees every buffer of `owner`, mapped or not. */
void mem_free_owned(mem *m, const char *owner);
/* Number of live buffers of `owner`. */
int mem_num_owned(const mem *m, const char *owner);
/* Whether b is one of the live buffers; b is not dereferenced.  Searches them all. */
int mem_has(const mem *m, const loom_buf *b);
/* The name of a buffer that is still mapped, or NULL. */
const char *mem_mapped(const mem *m);
int64_t mem_num_maps(const mem *m); /* held now, on any buffer */
/* Switches check mode on; no buffer may be mapped. */
void mem_check_on(mem *m);
/* Check mode: has an unmap found a defect since the last mem_take_defect()?  The first defect is
 * kept for callers that ignored the status of an unmap. */
int mem_has_defect(const mem *m);
int mem_take_defect(mem *m, loom_err *out); /* 0: none */
/* Ends all maps (after an error in a plugin). */
void mem_release_maps(mem *m);
int64_t mem_bytes(const mem *m, int place); /* LOOM_AT_HOST or LOOM_AT_DEVICE, now */
int64_t mem_peak_bytes(const mem *m, int place);
/* Calls `visit` for every live buffer that has storage at `place`. */
typedef void (*mem_visit_fn)(void *user, const char *owner, const char *name, int64_t bytes);
void mem_visit(const mem *m, int place, mem_visit_fn visit, void *user);

/* type: LOOM_REAL ...; contents zero.  `owner` and `name` are copied. */
loom_status buf_new(mem *m, const char *owner, const char *name, int type, int64_t count,
                    loom_buf **out);
loom_status buf_resize(mem *m, loom_buf *b, int64_t count); /* contents kept, new part zero */
/* resized with all contents zero: makes no copy, never holds old and new at once */
loom_status buf_reset(mem *m, loom_buf *b, int64_t count);
/* contents zero, storage given back until the next map */
loom_status buf_discard(mem *m, loom_buf *b);
/* 1: contents are zero: no write map since buf_new, buf_reset or buf_discard */
int buf_untouched(const loom_buf *b);
void buf_free(mem *m, loom_buf *b); /* NULL is fine */
int64_t buf_count(const loom_buf *b);
int buf_type(const loom_buf *b);
/* Number of write maps so far: tells whether a callback wrote to it. */
int64_t buf_writes(const loom_buf *b);
const char *buf_name(const loom_buf *b);
const char *buf_owner(const loom_buf *b);
size_t buf_type_size(int type); /* bytes per item */
/* dst and src of the same type; copies min(count) items on e's side */
loom_status buf_copy(mem *m, const loom_exec *e, loom_buf *dst, const loom_buf *src);
/* access LOOM_READ/WRITE/RDWR; place LOOM_AT_EXEC/HOST/DEVICE.  e NULL: the host. */
loom_status buf_map(mem *m, const loom_exec *e, loom_buf *b, int access, int place, void **p);
loom_status buf_unmap(mem *m, loom_buf *b);
/* Makes allocation number k from now fail (tests of LOOM_E_NOMEM); 0: never. */
void mem_fail_after(mem *m, int64_t k);
loom_err *mem_err(mem *m); /* where buffer functions put their messages */

/* Tells the C library to give freed arrays back to the system at once: else memory that the
 * building of a scene has freed stays in the process, 100 bytes per vertex.  For programs, once. */
void mem_return_freed(void);

/* ---- workspace ---- */
/* Buffers that the core's primitives share, so that calls in an iteration allocate no memory
 * after the first.  u8 [>= bytes], contents undefined, kept until mem_free. */
enum { MEM_WORK_SLOTS = 4 };
loom_status mem_work(mem *m, int slot, int64_t bytes, loom_buf **out);

/* ---- several maps at once ---- */
/* Collects maps and the first error, so that callers check once:
 *   buf_maps q = {.m = m, .e = e};
 *   const my_args a = {.x = buf_maps_add(&q, x, LOOM_READ), ...};
 *   return buf_maps_launch(&q, &my_kernel, &a, n, NULL); */
enum { BUF_MAPS_MAX = 24 };
typedef struct buf_maps {
  mem *m;
  const loom_exec *e; /* NULL: the host */
  loom_status status;
  int num;
  loom_buf *bufs[BUF_MAPS_MAX];
} buf_maps;
/* Maps b and returns its items; NULL after an error, or if b is NULL */
void *buf_maps_add(buf_maps *q, loom_buf *b, int access);
/* exec_run() unless an earlier call failed; the maps stay, for several launches on them */
loom_status buf_maps_run(buf_maps *q, const lk_entry *k, const void *args, int64_t n,
                         loom_real *result);
loom_status buf_maps_end(buf_maps *q); /* unmaps all, returns the first error */
/* one launch with all maps of q, then buf_maps_end() */
loom_status buf_maps_launch(buf_maps *q, const lk_entry *k, const void *args, int64_t n,
                            loom_real *result);

#endif
