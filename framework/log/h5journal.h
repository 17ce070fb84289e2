/* h5journal.h - the journal beside a log: a change that was begun and may have been cut off. */
#ifndef LOOM_H5JOURNAL_H
#define LOOM_H5JOURNAL_H

#include <stddef.h>
#include <sys/stat.h>

#include "log/h5stage.h"

/* ---- where a log lies ---- */
/* Its folder is opened once, so that log and journal are files of one folder whatever happens to
 * the path meanwhile. */
typedef struct h5u_place {
  int dir;
  char *path, *journal_path;  /* for messages */
  const char *name, *journal; /* their last parts: names in `dir` */
} h5u_place;

loom_status h5u_place_open(loom_err *err, const char *path, h5u_place *out);
void h5u_place_close(h5u_place *p); /* one that did not open, or of zeros, is fine */
int h5u_place_takes_files(const h5u_place *p);

/* Why a file is not used, with `owned` also by its owner and number of names; NULL: it is. */
const char *h5u_not_usable(const struct stat *st, int owned);
/* A command that only reads may change a log if it is a regular file with one name, no link, of
 * this user, and begins as HDF5 does.  The descriptor, open for reading and writing, or -1 with the
 * reason, which follows "it ". */
enum { H5U_WHY_LEN = 160, H5U_NOTE_LEN = 1024 };
int h5u_open_own(const h5u_place *p, char why[H5U_WHY_LEN]);

/* ---- the journal ---- */
int h5u_journal_exists(const h5u_place *p); /* something has its name */
/* The change that the journal holds, if it is whole and belongs to the log at `fd`; else NULL, and
 * `note` says what is wrong with it ("": there is none, or one that was cut off itself).  `owned`:
 * the journal must be this user's and have one name, as for a change that is written. */
h5u_stage *h5u_journal_read(const h5u_place *p, int fd, int owned, char note[H5U_NOTE_LEN]);
/* The same without a look at what HDF5 reads: of a copy, *record is what h5u_record() must be, else
 * 0.
 */
h5u_stage *h5u_journal_load(const h5u_place *p, int fd, int owned, uint64_t *record,
                            char note[H5U_NOTE_LEN]);
#define H5U_OTHER_LOG                                                                              \
  "was made for another log, or for this one as it was at another time (what it holds is missing " \
  "here if the log is damaged: restore the log; else remove the journal)"
/* Finish the change; `fd` is the log, open for writing and locked.  No journal is fine; one that
 * does not belong to the log is left alone, and `note` says so. */
loom_status h5u_journal_finish(loom_err *err, const h5u_place *p, int fd, char note[H5U_NOTE_LEN]);
/* 0 or errno: write one, in place of the rest of one that was cut off. */
int h5u_journal_write(const h5u_place *p, int fd, uint64_t record, int sync, const h5u_stage *s);
int h5u_journal_remove(const h5u_place *p); /* 0 or errno */
/* No file has the name of the journal, or one that loom wrote. */
loom_status h5u_journal_target(loom_err *err, const h5u_place *p);
/* Remove the journal of a log that is replaced. */
loom_status h5u_journal_discard(loom_err *err, const h5u_place *p);

#endif
