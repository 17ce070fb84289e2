/* message.h - what core and plugins tell whoever runs this, and the log. */
#ifndef LOOM_MESSAGE_H
#define LOOM_MESSAGE_H

#include "core/err.h"
#include "log/h5log.h"
#include "run/run.h"

typedef struct run_messages {
  h5log_message_row *row; /* [num], warnings and errors of this step, on their way into the log */
  int64_t num, max;
} run_messages;

/* To whoever runs this; warnings and errors go into the log, too.  From any thread. */
void run_message(run *r, int level, const char *text);
/* What run_message() has kept goes into /messages; record_step() does it, too. */
loom_status messages_write(run *r);
void messages_free(run *r);
/* Buffers keep their own message: hand it on where nobody said more.  Returns s. */
loom_status run_failed(run *r, loom_status s);

#endif
