/* yarn_run.h - detection and contact of yarns driven through given positions, without a solver. */
#ifndef YARN_RUN_H
#define YARN_RUN_H

#include "support/yarn_case.h"

typedef struct yarn_run {
  test_host t;
  yarn_case c;
  const loom_plugin *grid, *model;
  void *set[2], *find, *self;
  loom_pairs pairs;
  loom_buf *exclude; /* boxes that the model last handed to detection */
} yarn_run;

/* r->c must be filled. */
void yr_open(yarn_run *r, int threads, const char *grid, const char *model, const char *settings);
void yr_open_on(yarn_run *r, int backend, int threads, const char *grid, const char *model,
                const char *settings);
void yr_close(yarn_run *r);

/* One step's detection and update at x [n][3]. */
void yr_detect(yarn_run *r, const double *x);
/* Energy, and the gradient [n][3] if wanted, at x. */
double yr_eval(yarn_run *r, const double *x, double *grad);

/* Boxes u0 u1 v0 v1 of the present sets, malloc'ed; their number. */
int64_t yr_boxes(yarn_run *r, int32_t (**box)[4]);
/* Pairs in contact at x that are in no box, and pairs in more than one: all pairs compared. */
void yr_audit(yarn_run *r, const double *x, int64_t *missed, int64_t *twice, int64_t *pairs);

/* A swatch that breathes, shears and drifts, about 10 micrometres a step: x [n][3] at a step. */
void yr_moving(const yarn_case *c, int step, double *x);
/* n points turned about a fixed axis by an angle (rad), then shifted (m). */
void yr_turn(const double *x, int n, double angle, const double shift[3], double *out);

#endif
