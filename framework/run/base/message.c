/* message.c - see message.h. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "run/run_state.h"

static void keep_message(run *r, int level, const char *text)
{
  if (r->messages.num == r->messages.max) {
    const int64_t most = 2 * r->messages.max + 4;
    h5log_message_row *const more = realloc(r->messages.row, (size_t)most * sizeof *more);
    if (more == NULL) return; /* it has been shown */
    r->messages.row = more;
    r->messages.max = most;
  }
  h5log_message_row *const row = &r->messages.row[r->messages.num++];
  memset(row, 0, sizeof *row);
  row->level = level;
  snprintf(row->text, sizeof row->text, "%s", text);
}

void run_message(run *r, int level, const char *text)
{
#pragma omp critical(loom_run_message)
  {
    if (r->opt->message != NULL) r->opt->message(r->opt->user, level, text);
    if (level <= LOOM_LOG_WARN && !r->opt->no_log) keep_message(r, level, text);
  }
}

loom_status messages_write(run *r)
{
  for (int64_t i = 0; i < r->messages.num; ++i) {
    r->messages.row[i].step = r->st.index;
    LOOM_TRY(h5log_message(r->record.log, r->err, &r->messages.row[i]));
  }
  r->messages.num = 0;
  return LOOM_OK;
}

void messages_free(run *r) { free(r->messages.row); }

loom_status run_failed(const run *r, loom_status s)
{
  if (s < LOOM_OK && r->err->code == LOOM_OK) {
    const loom_err *const m = r->m != NULL ? mem_err(r->m) : NULL;
    err_set(r->err, s, "%s", m != NULL && m->code != LOOM_OK ? m->text : err_status_text(s));
  }
  return s;
}
