/* results.h - results of a device that the host does not read yet.
 *
 * Each read of the host waits for all earlier launches.  Numbers that are only recorded, tested at
 * the end of an iteration or checked stay in one block of the device, and results_settle() reads
 * the whole block once.  On the CPU, and with [exec] debug, each number is read at once.
 */
#ifndef LOOM_RESULTS_H
#define LOOM_RESULTS_H

#include "mem/mem.h"
#include "run/run.h"

enum { RESULTS_CELLS = EXEC_KEPT, RESULTS_MAX = 128, RESULTS_EACH = 8 };

struct instance;
struct results_use;
/* v: the numbers, doubles.  An error is that of results_settle(). */
typedef loom_status (*results_then)(run *r, const double *v, const struct results_use *u);
/* The use of the numbers: a function and its data, all of which live until results_settle(). */
typedef struct results_use {
  results_then then;
  void *out;
  void (*call)(void *user);
  void *user;
  const struct instance *in;
  const char *callback, *what;
  loom_buf *b;
  int64_t first, end;
  double scale;
} results_use;

typedef struct run_results {
  int held; /* > 0: reads are deferred to the end of the iteration */
  int num, used, num_cells;
  int first; /* the uses before it are being called; requests of their callbacks come behind them */
  struct {
    results_use use;
    const double *v;
  } all[RESULTS_MAX];
  double block[RESULTS_CELLS];             /* the block as the host has read it */
  double cell[RESULTS_MAX * RESULTS_EACH]; /* of results_cells() */
} run_results;

/* n <= LOOM_NUM_RESULTS reals (RESULTS_EACH of a plugin) at `src`, memory of e's side, to u->then;
 * src may be written again. */
loom_status results_later(run *r, const loom_exec *e, const loom_real *src, int n,
                          const results_use *u);
/* u->then after all that was asked for so far; v: an address that holds until then. */
loom_status results_after(run *r, const double *v, const results_use *u);
/* n <= RESULTS_EACH zeros that live until results_settle(), for one results_after(). */
loom_status results_cells(run *r, int n, double **out);
/* Everything asked for is there: waits for the device, if anything is.  From a u->then: everything
 * that it has asked for itself. */
loom_status results_settle(run *r);
/* The same unless `held` defers it. */
loom_status results_settle_unless_held(run *r);
/* u->then that copies n = u->end numbers to u->out, then calls u->call. */
loom_status results_copy(run *r, const double *v, const results_use *u);

#endif
