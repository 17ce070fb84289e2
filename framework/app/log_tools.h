/* log_tools.h - shared by the commands on logs (info, verify, compare, export). */
#ifndef LOOM_LOG_TOOLS_H
#define LOOM_LOG_TOOLS_H

#include <getopt.h>
#include <stdio.h>

#include "app/commands.h"
#include "log/h5read.h"

/* Runs the body of a command in a child process: a damaged file can crash the HDF5 library, and
 * then the user gets one line and EXIT_RUNTIME.  LOOM_NO_GUARD in the environment runs it directly,
 * for debuggers. */
int guard_run(int (*body)(int argc, char **argv), int argc, char **argv);

/* h5read_open; prints its remark on how the log was opened (h5read_note) to stderr. */
/* " of NAME VERSION" where the log holds measured steps of another program (`loom measure`), else
 * "". */
enum { TOOL_PEER_LEN = 400 };
const char *tool_peer(h5read *r, char buf[TOOL_PEER_LEN]);
loom_status tool_open_log(loom_err *err, const char *path, h5read **out);

/* Usage error of a command: prints "loom: COMMAND: message" and the way to get help; EXIT_USAGE. */
int tool_usage(const char *command, const char *fmt, ...) LOOM_PRINTF(2, 3);
/* After getopt, for every option that a command does not know: prints `usage` for -h, else names
 * the option that getopt refused.  Returns the exit code. */
int tool_help_or_fault(char **argv, int result, const char *usage);

/* A range of frames: "N", "A:B" (both included), "A:", ":B" or "last". */
typedef struct frame_range {
  int64_t first, last; /* last < 0: counted from the end, -1 is the last frame */
} frame_range;
int frame_range_parse(const char *text, frame_range *out); /* 0, or -1 if malformed */
/* Clips the range to the frames of the log; LOOM_E_CONFIG if none is left. */
loom_status frame_range_clip(loom_err *err, const frame_range *r, int64_t num_frames,
                             int64_t *first, int64_t *end);

/* The shortest decimal that reads back as the same double; "nan", "inf", "-inf". */
enum { NUMBER_LEN = 32 };
const char *number_text(double v, char buf[NUMBER_LEN]);
int number_parse(const char *text, double *out); /* 0, or -1 unless all of it is a number */

/* Adds counts of a file that may be damaged: the sum saturates instead of overflowing. */
int64_t count_add(int64_t a, int64_t b);

/* A whole table column, malloc'ed; *count gets the number of rows. */
loom_status column_ints(h5read *r, loom_err *err, const char *table, const char *name,
                        int64_t count, int64_t **out);
loom_status column_reals(h5read *r, loom_err *err, const char *table, const char *name,
                         int64_t count, double **out);

loom_status make_directories(loom_err *err, const char *path);

#endif
