/* columns.c - what plugins add to the log: columns of the solver under their own names, then those
 * of every contact model with the name of its section before them ("contact.all.grown").
 *
 * Every plugin writes into an array of its own, behind which a few words must stay as they are: who
 * writes past its columns is named, and nobody else's numbers are spoilt. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "run/run_state.h"

enum { NAME_BYTES = 136 }; /* a section, a point, a column of the descriptor */
enum { GUARD = 16 };       /* words behind each plugin's columns */
static const uint64_t guard = UINT64_C(0x7ff8c01d5eed0123); /* a NaN that nobody computes */

static double *guarded(double *at, uint32_t columns)
{
  for (int k = 0; k < GUARD; ++k) memcpy(at + columns + k, &guard, sizeof guard);
  return at + columns + GUARD;
}

loom_status columns_new(run *r)
{
  const loom_plugin *const s = r->solver.plugin;
  size_t num = s->num_columns, at = 0;
  double *next;
  for (int i = 0; i < r->num_contact; ++i) num += r->contact[i].in.plugin->num_columns;
  r->columns.num = (int)num;
  r->columns.extra = calloc(num + (size_t)(r->num_contact + 1) * GUARD, sizeof *r->columns.extra);
  r->columns.row = calloc(num + 1, sizeof *r->columns.row);
  r->columns.all = calloc(num + 1, sizeof *r->columns.all);
  r->columns.names = calloc(num + 1, NAME_BYTES);
  if (r->columns.extra == NULL || r->columns.row == NULL || r->columns.all == NULL ||
      r->columns.names == NULL)
    return err_set(r->err, LOOM_E_NOMEM, "out of memory for %d log columns", (int)num);
  for (; at < s->num_columns; ++at) r->columns.all[at] = s->columns[at];
  next = guarded(r->columns.extra, s->num_columns);
  for (int i = 0; i < r->num_contact; ++i) {
    contact_inst *const c = &r->contact[i];
    c->extra = next;
    next = guarded(next, c->in.plugin->num_columns);
    for (uint32_t k = 0; k < c->in.plugin->num_columns; ++k, ++at) {
      char *const name = r->columns.names + at * NAME_BYTES;
      r->columns.all[at] = c->in.plugin->columns[k];
      snprintf(name, NAME_BYTES, "%s.%s", c->in.name, r->columns.all[at].name);
      r->columns.all[at].name = name;
    }
  }
  return LOOM_OK;
}

void columns_free(run *r)
{
  free(r->columns.extra);
  free(r->columns.row);
  free(r->columns.all);
  free(r->columns.names);
}

loom_iterate columns_no_iterate(run *r)
{
  for (uint32_t k = 0; k < r->solver.plugin->num_columns; ++k) r->columns.extra[k] = NAN;
  return (loom_iterate){.struct_size = sizeof(loom_iterate),
                        .inner_res = NAN,
                        .inner_norm = -1,
                        .own_res = NAN,
                        .extra = r->columns.extra};
}

/* Copy one plugin's columns; its guard must be whole. */
static loom_status take(run *r, const instance *in, const double *from, const char *what,
                        double *to)
{
  const uint32_t n = in->plugin->num_columns;
  for (int k = 0; k < GUARD; ++k) {
    uint64_t word;
    memcpy(&word, from + n + k, sizeof word);
    if (word != guard)
      return err_set(
          r->err, LOOM_E_INTERNAL,
          "%s: wrote extra[%u] of %s, but announces %u log columns; add it to `columns` of "
          "the descriptor",
          in->plugin->name, n + (uint32_t)k, what, n);
  }
  if (n > 0) memcpy(to, from, n * sizeof *to);
  return LOOM_OK;
}

loom_status columns_row(run *r)
{
  double *to = r->columns.row;
  LOOM_TRY(take(r, &r->solver, r->columns.extra, "loom_iterate", to));
  to += r->solver.plugin->num_columns;
  for (int i = 0; i < r->num_contact; ++i) {
    const contact_inst *const c = &r->contact[i];
    LOOM_TRY(take(r, &c->in, c->extra, "loom_contact_metrics", to));
    to += c->in.plugin->num_columns;
  }
  return LOOM_OK;
}
