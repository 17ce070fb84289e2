/* logdiff.h - are two logs the same bits, but for the clocks; for regress tests. */
#ifndef TEST_LOGDIFF_H
#define TEST_LOGDIFF_H

#include "log/h5log_schema.h"

/* Fails the test with the first difference in /frames, /steps, /iters, their extras or
 * /inner.  Columns of clocks and of the process's memory are left out; so are work counters in the
 * step `resumed`, where b was continued: a new process builds anew data that the old one had kept,
 * for example a factor (and n_launch from there on).  LOGS_ANYWHERE: in every step. */
enum { LOGS_UNBROKEN = -1, LOGS_ANYWHERE = -2 };
void logs_same_bits(const char *a, const char *b, int64_t resumed);

/* The same for a log b that begins later, at a checkpoint, and ends with a.  Its first step.
 */
int64_t logs_same_tail(const char *a, const char *b);

/* A log is whole: every step has its rows in /iters (k from -1, as many as it says), and
 * with frames_every = 1 its frame.  Returns the number of steps; `status` must be the
 * status in the file, unless NULL. */
int64_t log_is_whole(const char *path, const char *status);

/* The largest distance of a vertex in any frame, m. */
double logs_distance(const char *a, const char *b);

#endif
