/* columns.c - what plugins add to the log: columns of the solver under their own names, then those
 * of every contact model with the name of its section before them ("contact.all.grown"). */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "sched/run_state.h"

enum { NAME_BYTES = 136 }; /* a section, a point, a column of the descriptor */

loom_status columns_new(run *r)
{
  const loom_plugin *const s = r->solver.plugin;
  size_t num = s->num_columns, at = 0;
  for (int i = 0; i < r->num_contact; ++i) num += r->contact[i].in.plugin->num_columns;
  r->num_columns = (int)num;
  r->extra = calloc(num + 1, sizeof *r->extra);
  r->columns = calloc(num + 1, sizeof *r->columns);
  r->column_names = calloc(num + 1, NAME_BYTES);
  if (r->extra == NULL || r->columns == NULL || r->column_names == NULL)
    return err_set(r->err, LOOM_E_NOMEM, "out of memory for %d log columns", (int)num);
  for (; at < s->num_columns; ++at) r->columns[at] = s->columns[at];
  for (int i = 0; i < r->num_contact; ++i) {
    contact_inst *const c = &r->contact[i];
    c->extra = r->extra + at;
    for (uint32_t k = 0; k < c->in.plugin->num_columns; ++k, ++at) {
      char *const name = r->column_names + at * NAME_BYTES;
      r->columns[at] = c->in.plugin->columns[k];
      snprintf(name, NAME_BYTES, "%s.%s", c->in.name, r->columns[at].name);
      r->columns[at].name = name;
    }
  }
  return LOOM_OK;
}

void columns_free(run *r)
{
  free(r->extra);
  free(r->columns);
  free(r->column_names);
}

void columns_clear_solver(run *r)
{
  for (uint32_t k = 0; k < r->solver.plugin->num_columns; ++k) r->extra[k] = NAN;
}
