/* columns.h - what plugins add to the log. */
#ifndef LOOM_COLUMNS_H
#define LOOM_COLUMNS_H

#include "core/err.h"
#include "loom/plugin.h"
#include "run/run.h"

typedef struct run_columns {
  double *extra;    /* the solver's and a guard, for loom_iterate; then the contact models' */
  double *row;      /* [num] of the solver and of all contact models: a row of the log */
  loom_column *all; /* [num] */
  char *names;      /* what the names of contact models' columns point to */
  int num;
} run_columns;

loom_status columns_new(run *r);
void columns_free(run *r);
/* What a solver fills in, as long as it has said nothing; its columns are NaN. */
loom_iterate columns_no_iterate(run *r);
/* Gather columns.row; LOOM_E_INTERNAL if a plugin wrote past its columns. */
loom_status columns_row(run *r);

#endif
