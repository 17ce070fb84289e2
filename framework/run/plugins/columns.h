/* columns.h - numbers that plugins add to the log, per iteration and per step. */
#ifndef LOOM_COLUMNS_H
#define LOOM_COLUMNS_H

#include "core/err.h"
#include "loom/plugin.h"
#include "run/run.h"

/* Columns of all plugins, in the order of instances_list(): solver first. */
typedef struct column_set {
  loom_column *all; /* [num] as the log names them */
  double *row;      /* [num] */
  int num;
  double *extra; /* with guards; `extra` or `step_extra` of the instances point into it */
  char *names;   /* storage of the names in `all` */
} column_set;

typedef struct run_columns {
  column_set iter; /* of /iters_extra */
  column_set step; /* of /steps_extra */
} run_columns;

loom_status columns_new(run *r);
void columns_free(run *r);
/* The record of an iteration before the solver has filled it in: its columns are NaN. */
loom_iterate columns_no_iterate(run *r);
/* Asks collision plugins for their columns; solver and contact models have filled theirs.  Gathers
 * columns.iter.row; LOOM_E_INTERNAL if a plugin wrote past its columns. */
loom_status columns_iter_row(run *r);
/* Asks all plugins for their columns of the step; gathers columns.step.row. */
loom_status columns_step_row(run *r);

#endif
