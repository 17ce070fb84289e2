/* message.h - messages of core and plugins, to the terminal and the log. */
#ifndef LOOM_MESSAGE_H
#define LOOM_MESSAGE_H

#include "core/err.h"
#include "log/h5log_schema.h"
#include "run/run.h"

typedef struct run_messages {
  h5log_message_row *row; /* [num], warnings and errors of this step, on their way into the log */
  int64_t num, max;
} run_messages;

/* To the message() callback of the run; warnings and errors go into the log, too.  From any thread.
 */
void run_message(run *r, int level, const char *text);
/* Writes the messages that run_message() has kept into /messages; record_step() does it, too. */
loom_status messages_write(run *r);
void messages_free(run *r);
/* Copies the message of a failed buffer into r->err, where that has no message yet.  Returns s. */
loom_status run_failed(const run *r, loom_status s);

#endif
