/* tiny_log.h - a small log with recognisable numbers, for the tests of log and commands. */
#ifndef LOOM_TESTS_TINY_LOG_H
#define LOOM_TESTS_TINY_LOG_H

#include "log/h5log.h"

enum { TINY_N = 6, TINY_NT = 4, TINY_ITERS = 3 };

typedef struct tiny_options {
  h5log_options log;
  int64_t n;        /* vertices; 0: TINY_N with its triangles */
  const char *hash; /* NULL: "0123456789abcdef" */
  int frames_every; /* 0: every step */
} tiny_options;

/* A folder of its own under the temporary directory, removed when the test process ends. */
const char *tiny_dir(void);
/* "<tiny_dir>/name" in a static buffer per slot 0..3 */
const char *tiny_path(int slot, const char *name);

loom_status tiny_create(loom_err *err, const char *path, const tiny_options *opt, h5log **out);
loom_status tiny_resume(loom_err *err, const char *path, const tiny_options *opt, int64_t last,
                        h5log **out);
/* The initial frame, and commit. */
loom_status tiny_start(h5log *l, loom_err *err, const tiny_options *opt);
/* Step s: TINY_ITERS + 1 rows (k = -1 first), two inner rows per iteration, a frame. */
loom_status tiny_step(h5log *l, loom_err *err, const tiny_options *opt, int64_t s);
/* An item of the state of so many bytes at the end of step s, which tiny_step follows. */
loom_status tiny_state(h5log *l, loom_err *err, int64_t s, int64_t bytes);
/* All of it: create, `steps` steps, close as finished. */
loom_status tiny_write(loom_err *err, const char *path, const tiny_options *opt, int64_t steps);

/* The numbers: component c of vertex i in the frame after step s (-1: initial). */
double tiny_x(int64_t s, int64_t i, int c);
double tiny_v(int64_t s, int64_t i, int c);
void tiny_iter_row(int64_t s, int64_t k, h5log_iter_row *row);
void tiny_step_row(int64_t s, h5log_step_row *row);

/* Read a log back and compare everything with these numbers: `steps` finished steps
 * (-1: any number).  Returns the number of steps, or -1 with a message. */
int64_t tiny_check(loom_err *err, const char *path, int64_t steps);
/* The rows of /state, one for each of `steps` steps, and their values; their number, or -1. */
int64_t tiny_check_state(loom_err *err, const char *path, int64_t steps);

#endif
