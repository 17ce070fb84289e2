/* h5log_internal.h - the writer's state, shared by the h5log_*.c files. */
#ifndef LOOM_H5LOG_INTERNAL_H
#define LOOM_H5LOG_INTERNAL_H

#include "log/h5journal.h"
#include "log/h5log.h"
#include "log/h5util.h"

typedef struct h5log_batch { /* rows on their way into one table */
  hid_t dset, type;
  size_t row_size;
  hsize_t chunk; /* rows */
  char *rows;    /* [capacity][row_size] */
  int64_t used, capacity;
  int unflushed; /* rows were written since the last commit */
} h5log_batch;

typedef struct h5log_item { /* of the state: the latest value under a name */
  char instance[H5LOG_NAME_LEN], name[H5LOG_NAME_LEN];
  int64_t type, count, first;
  uint64_t hash;
} h5log_item;

typedef struct h5log_maps { /* a series of maps of space, logged with every frame */
  hid_t dset;
  int32_t num; /* count in a frame */
} h5log_maps;

struct h5log {
  char *path;
  h5u_place place; /* set once the log exists */
  hid_t file;
  int lock; /* descriptor that holds the advisory lock */
  h5log_batch steps, step_extra, iters, extra, inner, messages, state, sections, kernels;
  hid_t x, v, time, step, status, state_data;
  h5log_maps *poses;              /* [num_poses] */
  hid_t fields[H5LOG_NUM_FIELDS]; /* invalid: the log lacks the field */
  int num_poses, num_extra, num_step_extra, frames_f32;
  int64_t n;          /* vertices */
  int64_t frame_room; /* bytes one frame takes at most */
  float *narrow;      /* [n][3], when frames are stored as f32 */
  h5log_item *items;  /* [num_items] */
  int num_items;
  double *row_extra; /* scratch of one row of /iters_extra or /steps_extra */
  int frames_unflushed, state_unflushed;
  int64_t reserved; /* end of the reserved disk space, bytes */
  h5u_disk disk;    /* notes the first write that failed */
  int broken;       /* 1: no more writes are allowed */
  struct {          /* h5log_end */
    char exit_reason[H5LOG_STATUS_LEN], time[H5LOG_NAME_LEN];
    int64_t rss_peak;
  } end;
};

/* State chunks are large because their index grows with their number (h5u_fcpl). */
enum { H5LOG_BATCH_ROWS = 512, FRAME_CHUNK_BYTES = 256 << 10, STATE_CHUNK_BYTES = 1 << 20 };
enum { STATE_CHUNK_LEAST = 64 << 10 };

/* The tables /iters_extra (step, k and the plugins' columns) and /steps_extra (without k). */
typedef struct h5log_extra {
  h5u_column *columns; /* the caller frees them */
  h5u_table table;
} h5log_extra;
int h5log_extra_table(const h5log_options *opt, int of_steps, h5log_extra *out); /* -1: memory */

/* ---- h5log_meta.c: attributes of the root; 0 or -1 ---- */
int h5log_put_meta(hid_t file, const h5log_meta *m, const h5log_options *opt);
int h5log_put_end(hid_t file, const h5log *l); /* the arguments of h5log_set_end */
/* Adds a line to `commands` and to `jobs`; clears attributes about the end of a former process. */
int h5log_add_session(hid_t file, const h5log_options *opt);
/* /fields/NAME of a field and its numbers per vertex */
typedef struct h5log_field_info {
  const char *path, *unit, *doc;
  int width;
} h5log_field_info;
extern const h5log_field_info h5log_field_infos[H5LOG_NUM_FIELDS];
/* Creates everything but the scene in a file that is not in SWMR mode; 0 or -1. */
int h5log_create_tables(hid_t file, const h5log_options *opt, int64_t n);
/* /state_data, the values of the table /state; 0 or -1. */
int h5log_create_state_data(hid_t file, const h5log_options *opt, int64_t n);
loom_status h5log_create_scene(loom_err *err, const char *path, hid_t file,
                               const h5log_array *scene, int num_scene);
/* Checks that the existing objects that a run appends to have loom's form; a continuation changes
 * no log that fails. */
loom_status h5log_check_own(loom_err *err, const h5log *l, const h5log_options *opt);
/* Turns SWMR on and opens the datasets: the last part of create and resume. */
loom_status h5log_begin(loom_err *err, h5log *l, const h5log_options *opt);
/* Closes the HDF5 file; 0 or -1. */
int h5log_release(h5log *l);
void h5log_free(h5log *l); /* frees the rest, lock included; calls h5log_release first if needed */
loom_status h5log_check_options(loom_err *err, const char *path, const h5log_options *opt);

#endif
