/* columns.c - columns that plugins add to the log: the solver's under their own names, columns of
 * other plugins with the name of their section before them ("contact.all.grown").
 *
 * Every plugin writes into an array of its own with guard words behind it: a plugin that writes
 * past its columns is named, and the numbers of other plugins stay intact. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "run/plugins/call.h"
#include "run/run_state.h"

enum { NAME_BYTES = 136 }; /* a section, a point, a column of the descriptor */
enum { GUARD = 16 };       /* words behind each plugin's columns */
static const uint64_t guard = UINT64_C(0x7ff8c01d5eed0123); /* a NaN that no computation gives */

static uint32_t count_of(const instance *in, int of_steps)
{
  return of_steps ? in->plugin->num_step_columns : in->plugin->num_columns;
}

static double *numbers_of(const instance *in, int of_steps)
{
  return of_steps ? in->step_extra : in->extra;
}

static loom_status set_new(run *r, int of_steps, column_set *s)
{
  instance *all[RUN_ALL_INSTANCES];
  const int n = instances_list(r, LIST_SOLVER_FIRST, all);
  size_t num = 0, at = 0;
  for (int i = 0; i < n; ++i) num += count_of(all[i], of_steps);
  s->num = (int)num;
  s->extra = calloc(num + (size_t)n * GUARD, sizeof *s->extra);
  s->row = calloc(num + 1, sizeof *s->row);
  s->all = calloc(num + 1, sizeof *s->all);
  s->names = calloc(num + 1, NAME_BYTES);
  if (s->extra == NULL || s->row == NULL || s->all == NULL || s->names == NULL)
    return err_set(r->err, LOOM_E_NOMEM, "out of memory for %d log columns", (int)num);
  double *next = s->extra;
  for (int i = 0; i < n; ++i) {
    instance *const in = all[i];
    const uint32_t own = count_of(in, of_steps);
    if (of_steps)
      in->step_extra = next;
    else
      in->extra = next;
    next += own;
    for (int k = 0; k < GUARD; ++k) memcpy(next++, &guard, sizeof guard);
    for (uint32_t k = 0; k < own; ++k, ++at) {
      char *const name = s->names + at * NAME_BYTES;
      s->all[at] = of_steps ? in->plugin->step_columns[k] : in->plugin->columns[k];
      if (in == &r->solver) continue;
      snprintf(name, NAME_BYTES, "%s.%s", in->name, s->all[at].name);
      s->all[at].name = name;
    }
  }
  return LOOM_OK;
}

static void set_free(column_set *s)
{
  free(s->extra);
  free(s->row);
  free(s->all);
  free(s->names);
}

loom_status columns_new(run *r)
{
  LOOM_TRY(set_new(r, 0, &r->columns.iter));
  return set_new(r, 1, &r->columns.step);
}

void columns_free(run *r)
{
  set_free(&r->columns.iter);
  set_free(&r->columns.step);
}

/* Sets this plugin's numbers to NaN: unknown. */
static void clear_column_values(const instance *in, int of_steps)
{
  double *const extra = numbers_of(in, of_steps);
  for (uint32_t k = 0; k < count_of(in, of_steps); ++k) extra[k] = NAN;
}

loom_iterate columns_no_iterate(run *r)
{
  clear_column_values(&r->solver, 0);
  return (loom_iterate){.struct_size = sizeof(loom_iterate),
                        .inner_res = NAN,
                        .inner_norm = -1,
                        .own_res = NAN,
                        .extra = r->solver.extra};
}

/* Copy one plugin's columns; its guard must be whole. */
static loom_status copy_column_values(const instance *in, int of_steps, double *to)
{
  static const char *const array[LOOM_NUM_KINDS] = {"extra", "out", "extra"};
  static const char *const of[LOOM_NUM_KINDS] = {"loom_iterate", "log_iter()",
                                                 "loom_contact_metrics"};
  const uint32_t n = count_of(in, of_steps);
  const double *const from = numbers_of(in, of_steps);
  for (int k = 0; k < GUARD; ++k) {
    uint64_t word;
    memcpy(&word, from + n + k, sizeof word);
    if (word != guard)
      return err_set(in->r->err, LOOM_E_INTERNAL,
                     "%s: wrote %s[%u] of %s, but announces %u log columns; add it to `%scolumns` "
                     "of the descriptor",
                     in->plugin->name, of_steps ? "out" : array[in->plugin->kind], n + (uint32_t)k,
                     of_steps ? "log_step()" : of[in->plugin->kind], n, of_steps ? "step_" : "");
  }
  if (n > 0) memcpy(to, from, n * sizeof *to);
  return LOOM_OK;
}

static loom_status take_all(run *r, int of_steps, double *to)
{
  instance *all[RUN_ALL_INSTANCES];
  const int n = instances_list(r, LIST_SOLVER_FIRST, all);
  for (int i = 0; i < n; ++i) {
    LOOM_TRY(copy_column_values(all[i], of_steps, to));
    to += count_of(all[i], of_steps);
  }
  return LOOM_OK;
}

loom_status columns_iter_row(run *r)
{
  for (int i = 0; i < r->num_collision; ++i) {
    instance *const in = &r->collision[i];
    if (in->plugin->num_columns == 0) continue;
    clear_column_values(in, 0);
    LOOM_TRY(call_log_iter(in, in->extra));
  }
  return take_all(r, 0, r->columns.iter.row);
}

loom_status columns_step_row(run *r)
{
  instance *all[RUN_ALL_INSTANCES];
  const int n = instances_list(r, LIST_SOLVER_FIRST, all);
  for (int i = 0; i < n; ++i) {
    if (all[i]->plugin->num_step_columns == 0) continue;
    clear_column_values(all[i], 1);
    LOOM_TRY(call_log_step(all[i], all[i]->step_extra));
  }
  return take_all(r, 1, r->columns.step.row);
}
