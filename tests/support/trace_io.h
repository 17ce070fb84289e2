/* trace_io.h - notes of trace_io.c on a process: changes of files, one after the other. */
#ifndef LOOM_TESTS_TRACE_IO_H
#define LOOM_TESTS_TRACE_IO_H

#include <stdint.h>

enum {
  TRACE_CREATE,     /* name: a new file */
  TRACE_WRITE,      /* at, size; the bytes follow */
  TRACE_CUT,        /* to `size` bytes, or filled up to them */
  TRACE_RENAME,     /* name, to */
  TRACE_REMOVE,     /* name */
  TRACE_SYNC,       /* all of the file so far is on the disk */
  TRACE_SYNC_FOLDER /* all names so far are */
};

typedef struct trace_op {
  int64_t kind;
  uint64_t file; /* inode */
  int64_t at, size;
  char name[64], to[64];
} trace_op;

#endif
