/* h5journal.h - the journal beside a log: a change that was begun and may be unfinished. */
#ifndef LOOM_H5JOURNAL_H
#define LOOM_H5JOURNAL_H

#include <stddef.h>
#include <sys/stat.h>

#include "log/h5stage.h"

/* ---- place of a log ---- */
/* The folder is opened once, so that log and journal stay files of one folder even if the path
 * changes meanwhile. */
typedef struct h5u_place {
  int dir;
  char *path, *journal_path;  /* for messages */
  const char *name, *journal; /* their last parts: names in `dir` */
} h5u_place;

loom_status h5u_place_open(loom_err *err, const char *path, h5u_place *out);
void h5u_place_close(h5u_place *p); /* a place of zeros, or one that failed to open, is fine */
int h5u_place_takes_files(const h5u_place *p);

/* Reason why a file is not used, or NULL; with `owned` also owner and number of names count. */
const char *h5u_not_usable(const struct stat *st, int owned);
/* A command that only reads may still change a log (to repair it) if the log is a regular file with
 * one name, no link, of this user, and begins as HDF5 does.  Returns the descriptor, open for
 * reading and writing, or -1 with the reason, which follows "it ". */
enum { H5U_WHY_LEN = 160, H5U_NOTE_LEN = 1024 };
int h5u_open_own(const h5u_place *p, char why[H5U_WHY_LEN]);

/* ---- the journal ---- */
int h5u_journal_exists(const h5u_place *p); /* 1: some file has its name */
/* The change in the journal, if the journal is whole and belongs to the log at `fd`; else NULL, and
 * `note` holds the reason ("": there is no journal, or its writing was cut off).  `owned`: the
 * journal must be this user's and have one name, as for a change that is written. */
h5u_stage *h5u_journal_read(const h5u_place *p, int fd, int owned, char note[H5U_NOTE_LEN]);
/* The same without a test of the part that HDF5 reads: for a copy, *record is the value that
 * h5u_record() must have, else 0. */
h5u_stage *h5u_journal_load(const h5u_place *p, int fd, int owned, uint64_t *record,
                            char note[H5U_NOTE_LEN]);
#define H5U_OTHER_LOG                                                                     \
  "was made for another log, or for another state of this one (its contents are missing " \
  "here if the log is damaged: restore the log; else remove the journal)"
/* Finishes the change; `fd` is the log, open for writing and locked.  No journal is fine; a journal
 * that does not belong to the log stays untouched, and `note` says so. */
loom_status h5u_journal_finish(loom_err *err, const h5u_place *p, int fd, char note[H5U_NOTE_LEN]);
/* Writes a journal, in place of an unfinished one; 0 or errno. */
int h5u_journal_write(const h5u_place *p, int fd, uint64_t record, int sync, const h5u_stage *s);
int h5u_journal_remove(const h5u_place *p); /* 0 or errno */
/* LOOM_OK if no file has the name of the journal, or one that loom wrote. */
loom_status h5u_journal_target(loom_err *err, const h5u_place *p);
/* Removes the journal of a log that is replaced. */
loom_status h5u_journal_discard(loom_err *err, const h5u_place *p);

#endif
