/* h5read.h - the HDF5 log of a run, read. */
#ifndef LOOM_H5READ_H
#define LOOM_H5READ_H

#include "log/h5log_schema.h"

typedef struct h5read h5read;
/* Opens any log: running (SWMR), finished, or left by a dead writer (repaired first, after
 * a check that no writer lives).  LOOM_E_IO with the reason for every other file. */
loom_status h5read_open(loom_err *err, const char *path, h5read **out);
void h5read_close(h5read *r);
/* A remark for the user on how the log was opened, "" if there is none.  A log behind a link, of
 * another user, or in a place without write permission is read and never changed. */
const char *h5read_note(const h5read *r);
/* A text attribute of the root, "" if absent; valid until close. */
const char *h5read_attr(h5read *r, const char *name);
/* For a log that is being written, h5read_num_steps reads the file again; the other counts belong
 * to the steps that it saw last. */
int64_t h5read_num_verts(const h5read *r);
int64_t h5read_num_tris(const h5read *r);
int64_t h5read_num_frames(h5read *r);
int64_t h5read_num_steps(h5read *r);
int64_t h5read_num_iters(h5read *r);
loom_status h5read_tris(h5read *r, loom_err *err, int32_t *tris); /* tris [nt][3] */
loom_status h5read_frame(h5read *r, loom_err *err, int64_t t, double *x, double *v, double *time,
                         int64_t *step); /* x, v: [n][3], m and m/s; any may be NULL */
loom_status h5read_steps(h5read *r, loom_err *err, int64_t first, int64_t count,
                         h5log_step_row *rows);
loom_status h5read_iters(h5read *r, loom_err *err, int64_t first, int64_t count,
                         h5log_iter_row *rows);
/* A log of an older version has no messages: h5read_num_rows(r, "messages") is -1. */
loom_status h5read_messages(h5read *r, loom_err *err, int64_t first, int64_t count,
                            h5log_message_row *rows);
/* A log of an older version has no kernels, as for messages. */
loom_status h5read_kernels(h5read *r, loom_err *err, int64_t first, int64_t count,
                           h5log_kernel_row *rows);
loom_status h5read_sections(h5read *r, loom_err *err, int64_t first, int64_t count,
                            h5log_section_row *rows);
loom_status h5read_states(h5read *r, loom_err *err, int64_t first, int64_t count,
                          h5log_state_row *rows);
/* The values of an item, as the reals and integers of this build. */
loom_status h5read_state_data(h5read *r, loom_err *err, const h5log_state_row *row, void *data);
/* Any table by name ("steps", "steps_extra", "iters", "iters_extra", "inner"), column by column.
 * Kinds: 'I' int64, 'R' double, 'S' the reason, an int64 for h5log_reason_name. */
enum { H5READ_NAME_LEN = 136 };
int64_t h5read_num_rows(h5read *r, const char *table); /* -1: no such table */
int h5read_num_columns(h5read *r, const char *table);  /* -1: no such table */
loom_status h5read_column_info(h5read *r, loom_err *err, const char *table, int column,
                               char name[H5READ_NAME_LEN], char *kind);
loom_status h5read_column(h5read *r, loom_err *err, const char *table, const char *name, char kind,
                          int64_t first, int64_t count, void *out); /* [count] 8-byte values */
int h5read_live(const h5read *r);                                   /* 1: a process is writing it */
/* 1 if there is an object of that path. */
int h5read_exists(h5read *r, const char *path);
/* The string that a dataset holds, malloc'ed; NULL: there is none, or it is no string. */
char *h5read_string(h5read *r, const char *path);
/* Name of the i-th member of a group, in order of names; 0 past the end. */
int h5read_child(h5read *r, const char *group, int64_t i, char *name, size_t len);
int h5read_frame_bytes(h5read *r); /* 4 or 8 per coordinate of /frames/x, 0: unreadable */
/* A whole dataset as doubles or int64 (caller frees *data); dims up to 4. */
loom_status h5read_dataset(h5read *r, loom_err *err, const char *path, int as_real, void **data,
                           int *rank, int64_t dims[4]);

#endif
