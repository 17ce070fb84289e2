/* internal.h - the structs behind a buffer; included by framework/mem only. */
#ifndef LOOM_MEM_INTERNAL_H
#define LOOM_MEM_INTERNAL_H

#include "mem/dev.h"
#include "mem/mem.h"

enum { SIDE_HOST = 0, SIDE_DEVICE = 1, NUM_SIDES = 2 };

typedef struct buf_side {
  void *data;     /* NULL until first needed */
  size_t cap;     /* bytes allocated */
  void *copy;     /* check mode: the array that the present maps see, between two guard zones */
  void *poisoned; /* check mode: the previous copy, kept so that addresses differ */
} buf_side;

struct loom_buf {
  mem *m;
  loom_buf *prev, *next;
  const char *owner, *name; /* stored behind the struct */
  int64_t count;
  int type;
  int internal;   /* workspace of the core: never a leak */
  int64_t writes; /* maps for writing, ever */
  int valid;      /* bit per side; 0: contents are zero, and storage may be absent */
  int readers;    /* READ maps held */
  int writer;     /* access of the exclusive map held, 0: none */
  int write_on;   /* its side */
  void *stream;   /* of the latest device map */
  buf_side side[NUM_SIDES];
};

struct mem {
  loom_err err;
  loom_buf *first, *last; /* in order of creation */
  loom_buf *work[MEM_WORK_SLOTS];
  int64_t maps;       /* held on any buffer */
  int64_t fail_after; /* allocations until the one that fails, 0: never */
  int64_t bytes[NUM_SIDES], peak[NUM_SIDES];
  int check;
  loom_err defect; /* check mode: the first one found since mem_take_defect() */
  mem *next_set;   /* the next set of the process, if kernels are compared */
};

static inline size_t item_bytes(int type) /* type: LOOM_REAL ... LOOM_U64 */
{
  static const size_t sizes[] = {sizeof(loom_real), 4, 8, 1, 8};
  return sizes[type];
}
static inline size_t buf_bytes(const loom_buf *b) /* of the contents */
{
  return (size_t)b->count * item_bytes(b->type);
}
/* Memory of one side, aligned to 64 bytes. */
int mem_injected_failure(mem *m); /* 1: this allocation is to fail, for tests */
loom_status buf_raw_alloc(mem *m, int side, size_t bytes, void **p);
void buf_raw_free(int side, void *p);
loom_status buf_raw_fill(loom_buf *b, int side, void *p, int byte, size_t bytes);
loom_status buf_raw_copy(loom_buf *b, int to, void *dst, int from, const void *src, size_t bytes);

/* Check mode.  check_map: makes a copy for a map of `side`.  check_unmap: ends it, takes over the
 * contents from a writer, names the buffer in its message.  check_drop: ends all copies. */
loom_status check_map(loom_buf *b, int side, int access);
loom_status check_unmap(loom_buf *b, int side, int writer);
void check_drop(loom_buf *b, int side);

/* Gives up the storage of both sides. */
void buf_drop_storage(loom_buf *b);
/* Releases all maps of b as if each holder had called buf_unmap. */
void buf_release(loom_buf *b);

/* One partial result per reduction chunk of the largest launch: 16 MiB of address space in double
 * precision.  On the CPU it is mapped, so that a run pays for the pages that it touches only (the
 * address sanitizer writes the shadow of a whole heap block, 2 MiB, twice a run). */
enum { EXEC_RESULTS_LEN = LOOM_NUM_RESULTS + EXEC_KEPT };
enum { EXEC_SCRATCH_LEN = (LK_MAX_ELEMS + LK_CHUNK - 1) / LK_CHUNK };
/* exec_cpu.c: memory of results for the CPU; after an error there is none. */
loom_status exec_cpu_open(loom_err *err, loom_exec *q);
void exec_cpu_close(loom_exec *q);

#endif
