/* h5read_internal.h - the reader's state, shared by the h5read*.c files. */
#ifndef LOOM_H5READ_INTERNAL_H
#define LOOM_H5READ_INTERNAL_H

#include "log/h5journal.h"
#include "log/h5read.h"
#include "log/h5util.h"

typedef struct h5read_text { /* a text attribute that a caller asked for */
  struct h5read_text *next;
  char *name, *text;
} h5read_text;

typedef struct h5read_set { /* a dataset that a caller asked for, open until close */
  struct h5read_set *next;
  char *name;
  hid_t id;
  int stale; /* 1: the file was read again after the latest refresh of this */
} h5read_set;

struct h5read {
  char *path;
  int lock; /* descriptor with the shared lock, -1 if the file is being written */
  hid_t file;
  int unfinished; /* opened beside a writer, or after a dead one in a place without write
                   * permission: rows behind the last finished step do not count */
  int live;
  int64_t last; /* unfinished: last finished step seen by h5read_num_steps, -2: not read yet */
  int64_t n, nt, size; /* vertices, triangles, bytes of the file */
  h5u_place place;     /* of the target, if the path is a link */
  int linked;
  h5u_disk disk; /* its stage holds an unfinished change, which is only read */
  char note[H5U_NOTE_LEN];
  h5read_text *texts;
  h5read_set *sets;
};

/* The open dataset, in its state at the last h5read_num_steps, or later if the file is being
 * written; the caller does not close it.  H5I_INVALID_HID with the HDF5 error stack filled. */
hid_t h5read_dataset_id(h5read *r, const char *name);
/* Dimensions of a dataset, or -1: also if it claims more than the file can hold. */
int h5read_shape(const h5read *r, hid_t dset, hsize_t dims[4], size_t item);

#endif
