/* h5log_write.c - rows, frames and commits of a log in SWMR mode.
 *
 * The order of writes in a commit makes a log safe to read at any moment and after any
 * kill: iterations and frames reach the file before the row of /steps that announces
 * them.  A step counts as finished when its row is in the file.
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "log/h5log_internal.h"

enum { META_ROOM = 256 << 10 }; /* bytes of metadata a commit can add at most */

/* ---- set-up ---- */
static int open_batch(h5log *l, h5log_batch *b, const h5u_table *t)
{
  b->row_size = t->row_size;
  b->chunk = t->chunk;
  b->capacity = t->chunk < H5LOG_BATCH_ROWS ? (int64_t)t->chunk : H5LOG_BATCH_ROWS;
  b->rows = malloc((size_t)b->capacity * b->row_size);
  b->type = h5u_table_type(t);
  b->dset = h5u_open_uncached(l->file, t->name);
  return b->rows == NULL || b->type < 0 || b->dset < 0 ? -1 : 0;
}

static int open_extra(h5log *l, const h5log_options *opt, int of_steps, h5log_batch *b)
{
  h5log_extra extra;
  if (h5log_extra_table(opt, of_steps, &extra) < 0) return -1;
  const int bad = open_batch(l, b, &extra.table);
  free(extra.columns);
  return bad;
}

static int open_maps(h5log *l, const char *obstacle, const char *what, int32_t num)
{
  char name[512];
  snprintf(name, sizeof name, "scene/obstacles/%s/%s", obstacle, what);
  const hid_t dset = h5u_open_uncached(l->file, name);
  if (dset < 0) return -1;
  l->poses[l->num_poses++] = (h5log_maps){.dset = dset, .num = num};
  l->frame_room += 96 * (int64_t)(num > 64 ? num : 64); /* for a chunk that it may open */
  return 0;
}

static int open_frames(h5log *l, const h5log_options *opt)
{
  l->x = h5u_open_uncached(l->file, "frames/x");
  l->v = h5u_open_uncached(l->file, "frames/v");
  l->time = h5u_open_uncached(l->file, "frames/time");
  l->step = h5u_open_uncached(l->file, "frames/step");
  l->status = H5Dopen2(l->file, "status", H5P_DEFAULT);
  l->state_data = h5u_open_uncached(l->file, "state_data");
  if (l->x < 0 || l->v < 0 || l->time < 0 || l->step < 0 || l->status < 0 || l->state_data < 0)
    return -1;
  for (int k = 0; k < H5LOG_NUM_FIELDS; ++k) {
    if ((opt->fields & LOOM_BIT(k)) == 0) continue;
    l->fields[k] = h5u_open_uncached(l->file, h5log_field_infos[k].path);
    if (l->fields[k] < 0) return -1;
  }
  if (opt->num_obstacles > 0) {
    l->poses = malloc(2 * (size_t)opt->num_obstacles * sizeof *l->poses);
    if (l->poses == NULL) return -1;
  }
  for (int i = 0; i < opt->num_obstacles; ++i) {
    const int32_t joints = opt->obstacle_joints != NULL ? opt->obstacle_joints[i] : 0;
    if (open_maps(l, opt->obstacle_names[i], "pose", 1) < 0) return -1;
    if (joints > 0 && open_maps(l, opt->obstacle_names[i], "joints", joints) < 0) return -1;
  }
  return 0;
}

/* Commits the changes that a resume has made so far. */
static loom_status end_stage(loom_err *err, h5log *l)
{
  if (l->disk.stage == NULL) return LOOM_OK;
  LOOM_TRY(h5u_stage_commit(err, &l->place, l->lock, l->disk.record, 1, l->disk.stage));
  h5u_stage_free(l->disk.stage);
  l->disk.stage = NULL;
  l->reserved = 0; /* the file may have been cut */
  return LOOM_OK;
}

loom_status h5log_begin(loom_err *err, h5log *l, const h5log_options *opt)
{
  h5log_batch *const all[] = {&l->steps,    &l->step_extra, &l->iters,    &l->extra,  &l->inner,
                              &l->messages, &l->state,      &l->sections, &l->kernels};
  for (size_t i = 0; i < sizeof all / sizeof all[0]; ++i)
    all[i]->dset = all[i]->type = H5I_INVALID_HID;
  l->x = l->v = l->time = l->step = l->status = l->state_data = H5I_INVALID_HID;
  for (int k = 0; k < H5LOG_NUM_FIELDS; ++k) l->fields[k] = H5I_INVALID_HID;
  l->num_extra = opt->num_extra;
  l->num_step_extra = opt->num_step_extra;
  l->frames_f32 = opt->frames_f32;
  /* two arrays, each may open a chunk; a filter may enlarge data that it cannot compress */
  l->frame_room = 2 * (3 * l->n * (opt->frames_f32 ? 4 : 8) * 102 / 100 + FRAME_CHUNK_BYTES);
  for (int k = 0; k < H5LOG_NUM_FIELDS; ++k)
    if (opt->fields & LOOM_BIT(k))
      l->frame_room += l->n * h5log_field_infos[k].width * 4 * 102 / 100 + FRAME_CHUNK_BYTES;
  if (H5Fflush(l->file, H5F_SCOPE_LOCAL) < 0 || H5Fstart_swmr_write(l->file) < 0 || l->disk.code)
    return h5u_disk_fail(err, l->path, &l->disk,
                         "cannot turn on single-writer/multiple-reader mode");
  LOOM_TRY(end_stage(err, l)); /* from now on the file is consistent after every write */
  const int bad = open_batch(l, &l->steps, h5u_table_of(H5U_STEPS)) < 0 ||
                  open_batch(l, &l->iters, h5u_table_of(H5U_ITERS)) < 0 ||
                  open_batch(l, &l->inner, h5u_table_of(H5U_INNER)) < 0 ||
                  open_batch(l, &l->messages, h5u_table_of(H5U_MESSAGES)) < 0 ||
                  open_batch(l, &l->state, h5u_table_of(H5U_STATE)) < 0 ||
                  open_batch(l, &l->sections, h5u_table_of(H5U_SECTIONS)) < 0 ||
                  open_batch(l, &l->kernels, h5u_table_of(H5U_KERNELS)) < 0 ||
                  open_extra(l, opt, 0, &l->extra) < 0 ||
                  open_extra(l, opt, 1, &l->step_extra) < 0 || open_frames(l, opt) < 0;
  if (bad) return h5u_fail(err, l->path, "cannot open its datasets for appending");
  const size_t one = l->extra.row_size, other = l->step_extra.row_size;
  l->row_extra = malloc(one > other ? one : other);
  if (l->frames_f32) l->narrow = malloc((size_t)l->n * 3 * sizeof *l->narrow);
  if (l->row_extra == NULL || (l->frames_f32 && l->narrow == NULL))
    return err_set(err, LOOM_E_NOMEM, "%s: out of memory", l->path);
  h5u_lock(l->lock, 0); /* from now on readers may open it */
  return LOOM_OK;
}

/* ---- writing ---- */
static loom_status refuse_broken_log(const h5log *l, loom_err *err)
{
  return err_set(err, LOOM_E_IO,
                 "%s: an earlier write failed; finished steps are kept: find out why, then "
                 "continue with --resume",
                 l->path);
}

static loom_status fail_log_write(h5log *l, loom_err *err, const char *what)
{
  l->broken = 1;
  return h5u_disk_fail(err, l->path, &l->disk, what);
}

/* Makes room for `bytes` more behind the space that HDF5 has allocated. */
static loom_status reserve_log_space(h5log *l, loom_err *err, int64_t bytes)
{
  haddr_t eoa;
  if (l->broken) return refuse_broken_log(l, err);
  if (H5Fget_eoa(l->file, &eoa) < 0) return fail_log_write(l, err, "cannot ask for its size");
  return h5u_reserve(err, l->path, l->lock, (int64_t)eoa, bytes + META_ROOM, &l->reserved);
}

/* Rows in memory plus the chunks they may open, bytes. */
static int64_t batch_room(const h5log_batch *b)
{
  return (int64_t)b->row_size * (b->used + 2 * (int64_t)b->chunk);
}

static int put_batch(h5log_batch *b)
{
  if (b->used == 0) return 0;
  if (h5u_append(b->dset, b->type, b->used, b->rows) < 0) return -1;
  b->used = 0;
  b->unflushed = 1;
  return 0;
}

static int flush_batch(h5log_batch *b)
{
  if (put_batch(b) < 0) return -1;
  if (b->unflushed && H5Dflush(b->dset) < 0) return -1;
  b->unflushed = 0;
  return 0;
}

/* Adds one row; a full batch is written to the file. */
static loom_status append_log_row(h5log *l, loom_err *err, h5log_batch *b, const h5u_table *t,
                                  const void *row)
{
  if (l->broken) return refuse_broken_log(l, err);
  if (b->used == b->capacity) {
    LOOM_TRY(reserve_log_space(l, err, batch_room(b)));
    if (put_batch(b) < 0 || l->disk.code) return fail_log_write(l, err, "cannot write rows");
  }
  char *const dst = b->rows + (size_t)b->used * b->row_size;
  if (t != NULL)
    h5u_pack_row(t, dst, row);
  else
    memcpy(dst, row, b->row_size);
  ++b->used;
  return LOOM_OK;
}

loom_status h5log_iter(h5log *l, loom_err *err, const h5log_iter_row *row, const double *extra)
{
  const int64_t key[2] = {row->step, row->k};
  LOOM_TRY(append_log_row(l, err, &l->iters, h5u_table_of(H5U_ITERS), row));
  memcpy(l->row_extra, key, sizeof key);
  for (int i = 0; i < l->num_extra; ++i) l->row_extra[2 + i] = extra != NULL ? extra[i] : NAN;
  return append_log_row(l, err, &l->extra, NULL, l->row_extra);
}

loom_status h5log_inner(h5log *l, loom_err *err, const h5log_inner_row *row)
{
  return append_log_row(l, err, &l->inner, h5u_table_of(H5U_INNER), row);
}

loom_status h5log_message(h5log *l, loom_err *err, const h5log_message_row *row)
{
  return append_log_row(l, err, &l->messages, h5u_table_of(H5U_MESSAGES), row);
}

/* The item with the latest value under this name; NULL: out of memory. */
static h5log_item *find_item(h5log *l, const h5log_state_row *row)
{
  for (int i = 0; i < l->num_items; ++i)
    if (strcmp(l->items[i].instance, row->instance) == 0 &&
        strcmp(l->items[i].name, row->name) == 0)
      return &l->items[i];
  h5log_item *const more = realloc(l->items, ((size_t)l->num_items + 1) * sizeof *more);
  if (more == NULL) return NULL;
  l->items = more;
  h5log_item *const item = &more[l->num_items++];
  *item = (h5log_item){.count = -1};
  memcpy(item->instance, row->instance, sizeof item->instance);
  memcpy(item->name, row->name, sizeof item->name);
  return item;
}

static uint64_t hash_state_data(const void *data, int64_t bytes)
{
  const unsigned char *const p = data;
  uint64_t h = UINT64_C(14695981039346656037); /* FNV-1a */
  for (int64_t i = 0; i < bytes; ++i) h = (h ^ p[i]) * UINT64_C(1099511628211);
  return h;
}

/* Many items stay equal for many steps: their rows then refer to the bytes already written. */
loom_status h5log_state(h5log *l, loom_err *err, const h5log_state_row *row, const void *data)
{
  h5log_state_row r = *row;
  const int64_t bytes = r.count * h5u_type_bytes(r.type);
  h5log_item *const item = find_item(l, row);
  if (item == NULL) return err_set(err, LOOM_E_NOMEM, "%s: out of memory", l->path);
  if (h5u_type_bytes(r.type) == 0 || r.count < 0)
    return err_set(err, LOOM_E_ARG, "%s: state of %s: bad type or count", l->path, row->instance);
  const uint64_t hash = hash_state_data(data, bytes);
  r.first = item->first;
  if (item->count != r.count || item->type != r.type || item->hash != hash) {
    r.first = h5u_length(l->state_data);
    LOOM_TRY(reserve_log_space(l, err, bytes + 2 * STATE_CHUNK_BYTES));
    if ((bytes > 0 && h5u_append(l->state_data, H5T_NATIVE_UINT8, bytes, data) < 0) || l->disk.code)
      return fail_log_write(l, err, "cannot write the state of a plugin");
    l->state_unflushed |= bytes > 0;
    item->count = r.count;
    item->type = r.type;
    item->hash = hash;
    item->first = r.first;
  }
  return append_log_row(l, err, &l->state, h5u_table_of(H5U_STATE), &r);
}

loom_status h5log_section(h5log *l, loom_err *err, const h5log_section_row *row)
{
  return append_log_row(l, err, &l->sections, h5u_table_of(H5U_SECTIONS), row);
}

loom_status h5log_kernel(h5log *l, loom_err *err, const h5log_kernel_row *row)
{
  return append_log_row(l, err, &l->kernels, h5u_table_of(H5U_KERNELS), row);
}

loom_status h5log_step(h5log *l, loom_err *err, const h5log_step_row *row, const double *extra)
{
  if (row->reason < 0 || row->reason >= H5LOG_NUM_REASONS)
    return err_set(err, LOOM_E_ARG, "%s: step %lld has no valid reason", l->path,
                   (long long)row->step);
  /* Only a commit writes step rows: they must follow all rows they announce. */
  if (l->steps.used == l->steps.capacity) LOOM_TRY(h5log_commit(l, err));
  memcpy(l->row_extra, &row->step, sizeof row->step);
  for (int i = 0; i < l->num_step_extra; ++i) l->row_extra[1 + i] = extra != NULL ? extra[i] : NAN;
  LOOM_TRY(append_log_row(l, err, &l->step_extra, NULL, l->row_extra));
  return append_log_row(l, err, &l->steps, h5u_table_of(H5U_STEPS), row);
}

static int put_vectors(h5log *l, hid_t dset, const loom_real *a)
{
  if (!l->frames_f32) return h5u_append(dset, h5u_mem_type(LOOM_REAL), 1, a);
  for (int64_t i = 0; i < 3 * l->n; ++i) l->narrow[i] = (float)a[i];
  return h5u_append(dset, H5T_NATIVE_FLOAT, 1, l->narrow);
}

loom_status h5log_frame(h5log *l, loom_err *err, int64_t step, double time, const loom_real *x,
                        const loom_real *v, const double *poses, const float *const *fields)
{
  LOOM_TRY(reserve_log_space(l, err, l->frame_room));
  int bad = put_vectors(l, l->x, x) < 0 || put_vectors(l, l->v, v) < 0;
  for (int i = 0; !bad && i < l->num_poses; poses += 12 * (size_t)l->poses[i++].num)
    bad = h5u_append(l->poses[i].dset, H5T_NATIVE_DOUBLE, 1, poses) < 0;
  for (int k = 0; !bad && k < H5LOG_NUM_FIELDS; ++k)
    bad = l->fields[k] >= 0 && h5u_append(l->fields[k], H5T_NATIVE_FLOAT, 1, fields[k]) < 0;
  bad = bad || h5u_append(l->time, H5T_NATIVE_DOUBLE, 1, &time) < 0 ||
        h5u_append(l->step, H5T_NATIVE_INT64, 1, &step) < 0;
  if (bad || l->disk.code) return fail_log_write(l, err, "cannot write a frame");
  l->frames_unflushed = 1;
  return LOOM_OK;
}

static int flush_frames(h5log *l)
{
  if (!l->frames_unflushed) return 0;
  int bad = H5Dflush(l->x) < 0 || H5Dflush(l->v) < 0;
  for (int i = 0; !bad && i < l->num_poses; ++i) bad = H5Dflush(l->poses[i].dset) < 0;
  for (int k = 0; !bad && k < H5LOG_NUM_FIELDS; ++k)
    bad = l->fields[k] >= 0 && H5Dflush(l->fields[k]) < 0;
  if (bad || H5Dflush(l->time) < 0 || H5Dflush(l->step) < 0) return -1;
  l->frames_unflushed = 0;
  return 0;
}

loom_status h5log_commit(h5log *l, loom_err *err)
{
  LOOM_TRY(reserve_log_space(l, err,
                             batch_room(&l->iters) + batch_room(&l->extra) + batch_room(&l->inner) +
                                 batch_room(&l->messages) + batch_room(&l->sections) +
                                 batch_room(&l->kernels) + batch_room(&l->step_extra) +
                                 batch_room(&l->state) + batch_room(&l->steps)));
  if (flush_batch(&l->iters) < 0 || flush_batch(&l->extra) < 0 || flush_batch(&l->inner) < 0 ||
      flush_batch(&l->messages) < 0 || flush_batch(&l->sections) < 0 ||
      flush_batch(&l->kernels) < 0 || flush_batch(&l->step_extra) < 0 || l->disk.code)
    return fail_log_write(l, err, "cannot write rows");
  /* values before the rows that refer to them */
  if ((l->state_unflushed && H5Dflush(l->state_data) < 0) || flush_batch(&l->state) < 0 ||
      l->disk.code)
    return fail_log_write(l, err, "cannot write the state of a plugin");
  l->state_unflushed = 0;
  if (flush_frames(l) < 0 || l->disk.code) return fail_log_write(l, err, "cannot write frames");
  if (flush_batch(&l->steps) < 0 || l->disk.code)
    return fail_log_write(l, err, "cannot write the step");
  return LOOM_OK;
}

loom_status h5log_sync(h5log *l, loom_err *err)
{
  if (l->broken) return refuse_broken_log(l, err);
  /* EINVAL, ENOSYS: a file system without this call */
  if (fdatasync(l->lock) == 0 || errno == EINVAL || errno == ENOSYS) return LOOM_OK;
  return err_set(err, LOOM_E_IO, "%s: cannot be brought to the disk: %s", l->path, strerror(errno));
}
