/* h5util.h - shared by the files of framework/log: HDF5 errors, attributes, tables, locks. */
#ifndef LOOM_H5UTIL_H
#define LOOM_H5UTIL_H

#include "log/h5api.h"
#include "log/h5log_schema.h"

/* ---- errors ---- */
/* Keeps the library from printing its error stack and from cleaning up at exit; every entry point
 * calls it first. */
void h5u_quiet(void);
/* LOOM_E_IO "PATH: what: innermost HDF5 message"; empties the HDF5 error stack. */
loom_status h5u_fail(loom_err *err, const char *path, const char *what);

/* ---- property lists and types (H5I_INVALID_HID on failure) ---- */
hid_t h5u_fapl(void); /* newest format, no locks by HDF5, ids closed with the file, few attempts */
/* File creation: space in pages of 4096 bytes, so that no piece of metadata that changes
 * while a run writes lies across a page.  Linux copies a write page by page, and SIGKILL
 * stops it between two: half a piece would fail its checksum for ever.  Only the index of a
 * dataset of many chunks (8176, with a filter 2036) has pieces larger than a page: they are
 * written by a journal (h5disk.c). */
hid_t h5u_fcpl(void);
/* Dataset creation: attributes outside the object header, which would exceed a page. */
hid_t h5u_dcpl(void);
hid_t h5u_text_type(size_t n);             /* fixed-length UTF-8 text of n bytes, NUL included */
hid_t h5u_mem_type(int loom_type);         /* LOOM_REAL is loom_real */
hid_t h5u_file_type(int loom_type);        /* LOOM_REAL is f64 */
int64_t h5u_type_bytes(int64_t loom_type); /* of one value in memory; 0: there is no such type */
int h5u_close(hid_t id, herr_t (*close_fn)(hid_t)); /* 0, or -1; invalid ids are fine */

/* ---- attributes: 0, or -1 with the HDF5 error stack filled ---- */
int h5u_put_text(hid_t obj, const char *name, const char *text, size_t min_len);
int h5u_put_int(hid_t obj, const char *name, int64_t value);
int h5u_put_real(hid_t obj, const char *name, double value);
int h5u_drop_attr(hid_t obj, const char *name); /* an absent attribute is fine */
int h5u_put_texts(hid_t obj, const char *name, const char *const *texts, int count);
int h5u_set_text(hid_t obj, const char *name, const char *text); /* overwrites in place, may cut */
int h5u_set_int(hid_t obj, const char *name, int64_t value);     /* overwrites in place */
/* Any attribute as text (numbers in decimal): malloc'ed, NULL if absent or unreadable. */
char *h5u_get_text(hid_t obj, const char *name);
int h5u_describe(hid_t dset, const char *unit, const char *doc);

/* ---- tables ---- */
typedef struct h5u_column {
  const char *name, *unit, *doc;
  char kind;     /* 'I' int64, 'R' double, 'S' reason: int8 enum in the first byte,
                  * 'T' text of H5LOG_MESSAGE_LEN bytes, 'N' of H5LOG_NAME_LEN bytes */
  size_t offset; /* in the row structure, which is also the layout in the file */
} h5u_column;

typedef struct h5u_table {
  const char *name, *doc;
  const h5u_column *columns;
  int num_columns;
  size_t row_size;
  hsize_t chunk; /* rows */
} h5u_table;

/* logs of older versions lack the last three tables */
enum {
  H5U_STEPS,
  H5U_ITERS,
  H5U_INNER,
  H5U_MESSAGES,
  H5U_STATE,
  H5U_SECTIONS,
  H5U_KERNELS,
  H5U_NUM_TABLES
};
const h5u_table *h5u_table_of(int which);
hid_t h5u_table_type(const h5u_table *t);
int h5u_table_exists(hid_t file, const h5u_table *t);
/* Creates the empty table with its attributes; 0 or -1. */
int h5u_table_create(hid_t file, const h5u_table *t);
/* Converts a row of the C structure to the layout in the file, and back (in place). */
void h5u_pack_row(const h5u_table *t, void *dst, const void *row);
void h5u_unpack_rows(const h5u_table *t, void *rows, int64_t count);
/* Column `step` of an entry that was never written (the fill value). */
#define H5U_STEP_UNSET INT64_MIN
/* Opens a dataset without chunk cache: appended rows go to the file at once and alone,
 * not with the whole chunk, and always before the metadata that makes them visible. */
hid_t h5u_open_uncached(hid_t file, const char *path);

/* Extent of the first dimension, -1 on failure. */
int64_t h5u_length(hid_t dset);
/* Appends `count` items ([T][...] with the trailing dimensions of the dataset). */
int h5u_append(hid_t dset, hid_t mem_type, int64_t count, const void *data);
int h5u_truncate(hid_t dset, int64_t length);
/* Number of leading rows of a table that belong to steps <= last.  Entries are in order of steps,
 * and only a tail can be unfinished, so the search runs backwards from the end.  -1 on failure. */
int64_t h5u_rows_upto(hid_t dset, int64_t last);
/* The same for frames by /frames/step; the initial frame belongs to every step. */
int64_t h5u_frames_upto(hid_t file, hid_t frame_step, int64_t last);
/* The step with which a log begins, -1 if a log of an older version has no row with it. */
int64_t h5u_first_step(hid_t file);
/* Reads the last entry, and so the part of the index that an append will change; 0 or -1. */
int h5u_read_last(hid_t dset);
/* The last finished step of the table /steps, -1 if none, -2 on failure; *rows gets
 * the number of rows up to that step. */
int64_t h5u_last_step(hid_t steps, int64_t *rows);

/* ---- files ---- */
struct h5u_stage;
struct h5u_place;
typedef struct h5u_super { /* facts of the superblock */
  int writing;             /* a writer has the file open, or died without closing it */
  int swmr;                /* ... in single-writer/multiple-reader mode */
  int64_t eoa;             /* stored end of allocation, bytes */
  int64_t size;            /* of the file, bytes */
} h5u_super;
/* Reads the superblock of the file at fd, with the staged pages s on top (NULL: none). */
loom_status h5u_peek(loom_err *err, const char *path, int fd, const struct h5u_stage *s,
                     h5u_super *out);

/* Opens, or creates, the temporary file `part` of `path` for writing; a link, or a file of another
 * program, is refused. */
loom_status h5u_open_part(loom_err *err, const char *path, const char *part, int *fd);
/* Whether the file may be loom's: it begins as HDF5 does, as a checkpoint does, or with zeros. */
int h5u_like_ours(int fd);
/* LOOM_OK if a checkpoint may be put at `path`: no file is there, or one that loom wrote. */
loom_status h5u_check_place(loom_err *err, const char *path);

enum { H5U_LOCKED, H5U_BUSY, H5U_NO_LOCKS };
/* Advisory lock on the whole file.  Writers hold it exclusively while creating and
 * repairing, shared (with readers beside them) while they append. */
int h5u_lock(int fd, int exclusive);
void h5u_unlock(int fd);
/* H5U_BUSY unless the file at `fd` could be locked exclusively.  Where locks do not
 * work, the process noted in the file decides; H5U_NO_LOCKS if that process is on another host. */
int h5u_lock_writer(const char *path, int fd);
void h5u_writer_text(char *buf, size_t len); /* "pid 1 on host" of this process */
/* Note of the writer stored in a file, "" if unreadable. */
void h5u_writer_of(const char *path, char *buf, size_t len);

/* Makes a file readable again after its writer died; `fd` holds the lock.  Clears the status flags,
 * sets the end of allocation, cuts unfinished rows, writes the status: all of these or none. *lost:
 * 1 if it failed because the log is damaged (may be NULL). */
loom_status h5u_repair(loom_err *err, const struct h5u_place *place, int fd, const char *status,
                       int *lost);
/* Hash of texts that a log gets at its creation and keeps; a copy has the same.  Never 0. */
uint64_t h5u_record(hid_t file);
/* Cuts every table and frame behind step `last`; 0 or -1. */
int h5u_cut(hid_t file, int64_t last);
/* Overwrites /status and the root attribute; 0 or -1. */
int h5u_put_status(hid_t file, const char *status);

/* ---- the driver for writing ---- */
typedef struct h5u_disk {  /* must outlive the files that use it */
  int code;                /* errno of the first write that failed, 0: none */
  int64_t split;           /* metadata writes that crossed a page boundary, see h5u_fcpl */
  struct h5u_stage *stage; /* target of the writes, NULL: the file itself */
  int fd;                  /* descriptor of the file to open, 0: open by name */
  /* for logs: place of the journal for metadata that crosses a page boundary; NULL: no journal */
  const struct h5u_place *place;
  uint64_t record; /* h5u_record(), for that journal */
} h5u_disk;
/* Reads all `bytes`, in several calls if needed; bytes behind the end of the file read as zero.
 * 0 or errno. */
int h5u_read_at(int fd, void *out, int64_t bytes, int64_t addr);
int h5u_write_at(int fd, const void *data, int64_t bytes, int64_t addr);
/* h5u_fapl with the driver of h5disk.c: writes never fail, but their errors are noted. */
hid_t h5u_fapl_disk(h5u_disk *note);
/* As h5u_fail, with the system's reason if the driver noted an error. */
loom_status h5u_disk_fail(loom_err *err, const char *path, const h5u_disk *note, const char *what);

/* ---- hashes of file contents ---- */
#define H5U_HASH_START UINT64_C(14695981039346656037)
/* Hash of `bytes` more, a multiple of 8, after `h`.  It depends on the order of bytes of the
 * machine. */
uint64_t h5u_hash(uint64_t h, const void *data, size_t bytes);

/* ---- the seal of a checkpoint ---- */
/* Length and hash of the rest, in the first bytes of the file (HDF5's user block). */
enum { H5U_SEAL_BYTES = 512, H5U_SEAL_VERSION = 2 };
int h5u_seal(int fd); /* writes the seal; 0, or -1 with errno */
/* 1: the file is unchanged since its seal; 0 with the reason, which follows the file's name. */
int h5u_seal_holds(int fd, char *why, size_t len);

/* ---- disk space ---- */
/* "a/b.h5" -> "a/b" + tail, to be freed; NULL: out of memory */
char *h5u_name_beside(const char *log_path, const char *tail);
/* Makes sure that `bytes` more, and the room for closing the file, fit behind the end of
 * allocation `eoa`.  *limit is the end of the space reserved before (start with 0). */
loom_status h5u_reserve(loom_err *err, const char *path, int fd, int64_t eoa, int64_t bytes,
                        int64_t *limit);

#endif
