/* h5table.c - the compound tables /steps, /iters, /inner, /messages, /state and /sections: columns,
 * types, rows. */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "log/h5log_internal.h"

#define KIND_I                      'I'
#define KIND_R                      'R'
#define KIND_S                      'S'
#define KIND_N                      'N'
#define COLUMN_(t, name, unit, doc) {#name, unit, doc, KIND_##t, offsetof(ROW_, name)},

#define ROW_ h5log_step_row
static const h5u_column step_columns[] = {H5LOG_STEP_COLUMNS(COLUMN_)};
#undef ROW_
#define ROW_ h5log_iter_row
static const h5u_column iter_columns[] = {H5LOG_ITER_COLUMNS(COLUMN_)};
#undef ROW_
#define ROW_ h5log_inner_row
static const h5u_column inner_columns[] = {H5LOG_INNER_COLUMNS(COLUMN_)};
#undef ROW_
#define ROW_ h5log_section_row
static const h5u_column section_columns[] = {H5LOG_SECTION_COLUMNS(COLUMN_)};
#undef ROW_
#define ROW_ h5log_kernel_row
static const h5u_column kernel_columns[] = {H5LOG_KERNEL_COLUMNS(COLUMN_)};
#undef ROW_
#define ROW_ h5log_message_row
static const h5u_column message_columns[] = {
    {"step", "1", "step that was being made", 'I', offsetof(ROW_, step)},
    {"level", "1", "0: error, 1: warning", 'I', offsetof(ROW_, level)},
    {"text", "1", "source of the message, and the message", 'T', offsetof(ROW_, text)}};
#undef ROW_
#define ROW_ h5log_state_row
static const h5u_column state_columns[] = {
    {"step", "1", "step at the end of which it was so", 'I', offsetof(ROW_, step)},
    {"instance", "1", "owner of the state: a section of the config, or core", 'N',
     offsetof(ROW_, instance)},
    {"name", "1", "item; empty: the items of the instance follow", 'N', offsetof(ROW_, name)},
    {"type", "1", "of its values: LOOM_REAL ... as numbers", 'I', offsetof(ROW_, type)},
    {"count", "1", "number of values", 'I', offsetof(ROW_, count)},
    {"first", "1", "index of the first byte in /state_data", 'I', offsetof(ROW_, first)}};
#undef ROW_
#define TABLE_(name, doc, columns, row, chunk)                                        \
  {                                                                                   \
    name, doc, columns, (int)(sizeof columns / sizeof columns[0]), sizeof(row), chunk \
  }
static const h5u_table tables[H5U_NUM_TABLES] = {
    TABLE_("steps", "one row per finished step", step_columns, h5log_step_row, 512),
    TABLE_("iters", "one row per measured point of the outer iteration", iter_columns,
           h5log_iter_row, 1024),
    TABLE_("inner", "one row per inner (linear or local) iteration the plugins reported",
           inner_columns, h5log_inner_row, 8192),
    TABLE_("messages", "warnings and errors of core and plugins", message_columns,
           h5log_message_row, 16),
    TABLE_("state", "data that plugins keep from step to step, for replays; values in /state_data",
           state_columns, h5log_state_row, 64),
    TABLE_("sections", "where plugins say their time goes, one row per step and section",
           section_columns, h5log_section_row, 256),
    TABLE_("kernels", "time by kernel with [log] kernels = 1, one row per step and kernel",
           kernel_columns, h5log_kernel_row, 256)};

const h5u_table *h5u_table_of(int which) { return &tables[which]; }

#define INFO_(name, width, unit, doc) {"fields/" #name, unit, doc, width},
const h5log_field_info h5log_field_infos[H5LOG_NUM_FIELDS] = {H5LOG_FIELDS(INFO_)};

#define NAME_(name) #name,
static const char *const reason_names[] = {H5LOG_REASONS(NAME_)};

const char *h5log_reason_name(int reason)
{
  return reason >= 0 && reason < H5LOG_NUM_REASONS ? reason_names[reason] : "unknown";
}

static hid_t reason_type(void)
{
  const hid_t t = H5Tenum_create(H5T_STD_I8LE);
  for (int i = 0; t >= 0 && i < H5LOG_NUM_REASONS; ++i) {
    const int8_t v = (int8_t)i;
    if (H5Tenum_insert(t, reason_names[i], &v) < 0) {
      H5Tclose(t);
      return H5I_INVALID_HID;
    }
  }
  return t;
}

hid_t h5u_table_type(const h5u_table *t)
{
  const hid_t type = H5Tcreate(H5T_COMPOUND, t->row_size), reason = reason_type();
  const hid_t text = h5u_text_type(H5LOG_MESSAGE_LEN), label = h5u_text_type(H5LOG_NAME_LEN);
  int bad = type < 0 || reason < 0 || text < 0 || label < 0;
  for (int i = 0; !bad && i < t->num_columns; ++i) {
    const h5u_column *const c = &t->columns[i];
    const hid_t member = c->kind == 'S'   ? reason
                         : c->kind == 'T' ? text
                         : c->kind == 'N' ? label
                         : c->kind == 'I' ? H5T_STD_I64LE
                                          : H5T_IEEE_F64LE;
    bad = H5Tinsert(type, c->name, c->offset, member) < 0;
  }
  h5u_close(label, H5Tclose);
  h5u_close(text, H5Tclose);
  h5u_close(reason, H5Tclose);
  if (!bad) return type;
  h5u_close(type, H5Tclose);
  return H5I_INVALID_HID;
}

/* Chunked, extendible, unwritten rows marked by H5U_STEP_UNSET. */
static hid_t table_dcpl(const h5u_table *t, hid_t type)
{
  const hid_t dcpl = h5u_dcpl();
  char *const fill = calloc(1, t->row_size);
  const int64_t unset = H5U_STEP_UNSET;
  int bad = dcpl < 0 || fill == NULL || H5Pset_chunk(dcpl, 1, &t->chunk) < 0;
  if (!bad) {
    memcpy(fill, &unset, sizeof unset); /* `step` is the first column */
    bad =
        H5Pset_fill_value(dcpl, type, fill) < 0 || H5Pset_fill_time(dcpl, H5D_FILL_TIME_ALLOC) < 0;
  }
  free(fill);
  if (!bad) return dcpl;
  h5u_close(dcpl, H5Pclose);
  return H5I_INVALID_HID;
}

static int put_columns(hid_t dset, const h5u_table *t)
{
  const char **const text = calloc((size_t)t->num_columns, sizeof *text);
  if (text == NULL) return -1;
  for (int i = 0; i < t->num_columns; ++i) text[i] = t->columns[i].unit;
  int bad = h5u_put_texts(dset, "column_unit", text, t->num_columns) < 0;
  for (int i = 0; i < t->num_columns; ++i) text[i] = t->columns[i].doc;
  bad = bad || h5u_put_texts(dset, "column_doc", text, t->num_columns) < 0;
  free(text);
  if (bad) return -1;
  return h5u_describe(dset, "see column_unit, in the order of the columns", t->doc);
}

int h5u_table_exists(hid_t file, const h5u_table *t)
{
  return H5Lexists(file, t->name, H5P_DEFAULT) > 0;
}

int h5u_table_create(hid_t file, const h5u_table *t)
{
  const hsize_t none[1] = {0}, any[1] = {H5S_UNLIMITED};
  const hid_t type = h5u_table_type(t), space = H5Screate_simple(1, none, any);
  const hid_t dcpl = type >= 0 ? table_dcpl(t, type) : H5I_INVALID_HID;
  hid_t dset = H5I_INVALID_HID;
  if (type >= 0 && space >= 0 && dcpl >= 0)
    dset = H5Dcreate2(file, t->name, type, space, H5P_DEFAULT, dcpl, H5P_DEFAULT);
  int bad = dset < 0 || put_columns(dset, t) < 0;
  bad |= h5u_close(dset, H5Dclose) < 0;
  h5u_close(dcpl, H5Pclose);
  h5u_close(space, H5Sclose);
  h5u_close(type, H5Tclose);
  return bad ? -1 : 0;
}

void h5u_pack_row(const h5u_table *t, void *dst, const void *row)
{
  memcpy(dst, row, t->row_size);
  for (int i = 0; i < t->num_columns; ++i) {
    if (t->columns[i].kind != 'S') continue;
    int64_t v;
    char *const p = (char *)dst + t->columns[i].offset;
    memcpy(&v, p, sizeof v);
    memset(p, 0, sizeof v);
    *(int8_t *)p = (int8_t)v;
  }
}

void h5u_unpack_rows(const h5u_table *t, void *rows, int64_t count)
{
  for (int i = 0; i < t->num_columns; ++i) {
    if (t->columns[i].kind != 'S') continue;
    char *p = (char *)rows + t->columns[i].offset;
    for (int64_t r = 0; r < count; ++r, p += t->row_size) {
      const int64_t v = *(const int8_t *)p;
      memcpy(p, &v, sizeof v);
    }
  }
}

hid_t h5u_open_uncached(hid_t file, const char *path)
{
  const hid_t dapl = H5Pcreate(H5P_DATASET_ACCESS);
  if (dapl < 0) return H5I_INVALID_HID;
  hid_t dset = H5I_INVALID_HID;
  if (H5Pset_chunk_cache(dapl, 0, 0, 1.0) >= 0) dset = H5Dopen2(file, path, dapl);
  H5Pclose(dapl);
  return dset;
}

enum { RANK_MAX = 4 };

static int get_dataset_dims(hid_t dset, hsize_t dims[RANK_MAX])
{
  const hid_t space = H5Dget_space(dset);
  if (space < 0) return -1;
  int rank = H5Sget_simple_extent_ndims(space);
  if (rank < 1 || rank > RANK_MAX || H5Sget_simple_extent_dims(space, dims, NULL) < 0) rank = -1;
  H5Sclose(space);
  return rank;
}

int64_t h5u_length(hid_t dset)
{
  hsize_t dims[RANK_MAX];
  return get_dataset_dims(dset, dims) < 1 ? -1 : (int64_t)dims[0];
}

int h5u_append(hid_t dset, hid_t mem_type, int64_t count, const void *data)
{
  hsize_t dims[RANK_MAX], start[RANK_MAX] = {0}, block[RANK_MAX];
  const int rank = get_dataset_dims(dset, dims);
  if (rank < 1) return -1;
  memcpy(block, dims, sizeof block);
  start[0] = dims[0];
  block[0] = (hsize_t)count;
  dims[0] += (hsize_t)count;
  if (H5Dset_extent(dset, dims) < 0) return -1;
  const hid_t file = H5Dget_space(dset), mem = H5Screate_simple(rank, block, NULL);
  const int bad = file < 0 || mem < 0 ||
                  H5Sselect_hyperslab(file, H5S_SELECT_SET, start, NULL, block, NULL) < 0 ||
                  H5Dwrite(dset, mem_type, mem, file, H5P_DEFAULT, data) < 0;
  h5u_close(file, H5Sclose);
  h5u_close(mem, H5Sclose);
  return bad ? -1 : 0;
}

int h5u_truncate(hid_t dset, int64_t length)
{
  hsize_t dims[RANK_MAX];
  if (get_dataset_dims(dset, dims) < 1) return -1;
  if ((int64_t)dims[0] <= length) return 0;
  dims[0] = (hsize_t)length;
  return H5Dset_extent(dset, dims) < 0 ? -1 : 0;
}

/* Reads `count` values of the column `step` (or of a plain int64 dataset). */
static int read_step_column(hid_t dset, int is_table, int64_t first, int64_t count, int64_t *out)
{
  const hsize_t start[1] = {(hsize_t)first}, block[1] = {(hsize_t)count};
  const hid_t type = is_table ? H5Tcreate(H5T_COMPOUND, sizeof *out) : H5Tcopy(H5T_NATIVE_INT64);
  const hid_t file = H5Dget_space(dset), mem = H5Screate_simple(1, block, NULL);
  const int bad = type < 0 || file < 0 || mem < 0 ||
                  (is_table && H5Tinsert(type, "step", 0, H5T_NATIVE_INT64) < 0) ||
                  H5Sselect_hyperslab(file, H5S_SELECT_SET, start, NULL, block, NULL) < 0 ||
                  H5Dread(dset, type, mem, file, H5P_DEFAULT, out) < 0;
  h5u_close(type, H5Tclose);
  h5u_close(file, H5Sclose);
  h5u_close(mem, H5Sclose);
  return bad ? -1 : 0;
}

/* Length of the prefix that ends with the last entry of a step <= last; *found is that step. */
static int64_t find_prefix_length(hid_t dset, int is_table, int64_t last, int64_t *found)
{
  enum { BLOCK = 1024 };
  int64_t steps[BLOCK];
  hsize_t dims[RANK_MAX];
  if (get_dataset_dims(dset, dims) != 1) return -1;
  for (int64_t end = (int64_t)dims[0]; end > 0;) {
    const int64_t count = end < BLOCK ? end : BLOCK;
    if (read_step_column(dset, is_table, end - count, count, steps) < 0) return -1;
    for (int64_t i = count; i-- > 0;) {
      if (steps[i] == H5U_STEP_UNSET || steps[i] > last) continue;
      *found = steps[i];
      return end - count + i + 1;
    }
    end -= count;
  }
  return 0;
}

int64_t h5u_rows_upto(hid_t dset, int64_t last)
{
  int64_t step;
  return find_prefix_length(dset, 1, last, &step);
}

int64_t h5u_first_step(hid_t file)
{
  int64_t step = -1;
  char *const text = h5u_get_text(file, "first_step");
  if (text != NULL) {
    step = strtoll(text, NULL, 10);
    free(text);
    return step;
  }
  const hid_t d = H5Dopen2(file, "steps", H5P_DEFAULT);
  if (d < 0 || h5u_length(d) < 1 || read_step_column(d, 1, 0, 1, &step) < 0) step = -1;
  h5u_close(d, H5Dclose);
  return step;
}

int64_t h5u_frames_upto(hid_t file, hid_t frame_step, int64_t last)
{
  int64_t step;
  const int64_t count = find_prefix_length(frame_step, 0, last, &step);
  if (count != 0 || h5u_length(frame_step) < 1) return count;
  if (read_step_column(frame_step, 0, 0, 1, &step) < 0) return -1;
  const int64_t begin = h5u_first_step(file);
  /* a log that was killed before its initial frame begins with the frame of a step */
  return step != H5U_STEP_UNSET && (begin < 0 || step == begin - 1);
}

int h5u_read_last(hid_t dset)
{
  hsize_t dims[RANK_MAX], start[RANK_MAX] = {0};
  const int rank = get_dataset_dims(dset, dims);
  if (rank < 1 || dims[0] == 0) return rank < 1 ? -1 : 0;
  start[0] = dims[0] - 1;
  dims[0] = 1;
  const hid_t type = H5Dget_type(dset), file = H5Dget_space(dset),
              mem = H5Screate_simple(rank, dims, NULL);
  size_t bytes = type < 0 ? 0 : H5Tget_size(type);
  for (int i = 0; i < rank; ++i) bytes *= dims[i];
  void *const row = malloc(bytes + 1);
  const int bad = type < 0 || file < 0 || mem < 0 || row == NULL ||
                  H5Sselect_hyperslab(file, H5S_SELECT_SET, start, NULL, dims, NULL) < 0 ||
                  H5Dread(dset, type, mem, file, H5P_DEFAULT, row) < 0;
  free(row);
  h5u_close(mem, H5Sclose);
  h5u_close(file, H5Sclose);
  h5u_close(type, H5Tclose);
  return bad ? -1 : 0;
}

int64_t h5u_last_step(hid_t steps, int64_t *rows)
{
  int64_t step = -1;
  *rows = find_prefix_length(steps, 1, INT64_MAX, &step);
  return *rows < 0 ? -2 : step;
}

/* ---- /iters_extra, /steps_extra ---- */
int h5log_extra_table(const h5log_options *opt, int of_steps, h5log_extra *out)
{
  const int own = of_steps ? opt->num_step_extra : opt->num_extra, keys = of_steps ? 1 : 2;
  const int n = own + keys;
  const loom_column *e = of_steps ? opt->step_extra : opt->extra;
  h5u_column *const c = calloc((size_t)n, sizeof *c);
  if (c == NULL) return -1;
  c[0] = (h5u_column){"step", "1", "step number from 0", 'I', 0};
  if (!of_steps)
    c[1] = (h5u_column){"k", "1", "outer iteration, as in the same row of /iters", 'I', 8};
  for (int i = keys; i < n; ++i, ++e)
    c[i] = (h5u_column){e->name, e->unit != NULL ? e->unit : "1", e->doc != NULL ? e->doc : "", 'R',
                        8 * (size_t)i};
  out->columns = c;
  out->table = (h5u_table){of_steps ? "steps_extra" : "iters_extra",
                           of_steps ? "columns of plugins, one row per row of /steps"
                                    : "columns of plugins, one row per row of /iters",
                           c,
                           n,
                           8 * (size_t)n,
                           1024};
  return 0;
}
