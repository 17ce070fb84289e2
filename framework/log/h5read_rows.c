/* h5read_rows.c - reads frames, table rows and whole datasets of a log. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "log/h5read_internal.h"

static loom_status fail_unreadable_object(h5read *r, loom_err *err, const char *name)
{
  char what[600];
  snprintf(what, sizeof what, "cannot read /%s", name);
  return h5u_fail(err, r->path, what);
}

/* Reads entries [first, first + count) along the first dimension, the others whole. */
static int read_slab(hid_t dset, hid_t mem_type, int64_t first, int64_t count, void *out)
{
  hsize_t start[4] = {0}, block[4] = {0};
  const hid_t file = H5Dget_space(dset);
  const int rank = file < 0 ? -1 : H5Sget_simple_extent_ndims(file);
  int bad = rank < 1 || rank > 4 || H5Sget_simple_extent_dims(file, block, NULL) < 0 || first < 0 ||
            count < 0 || (uint64_t)first + (uint64_t)count > block[0];
  hid_t mem = H5I_INVALID_HID;
  if (!bad) {
    start[0] = (hsize_t)first;
    block[0] = (hsize_t)count;
    mem = H5Screate_simple(rank, block, NULL);
    bad = mem < 0 || H5Sselect_hyperslab(file, H5S_SELECT_SET, start, NULL, block, NULL) < 0 ||
          H5Dread(dset, mem_type, mem, file, H5P_DEFAULT, out) < 0;
  }
  h5u_close(mem, H5Sclose);
  h5u_close(file, H5Sclose);
  return bad ? -1 : 0;
}

static loom_status read_part(h5read *r, loom_err *err, const char *name, hid_t mem_type,
                             int64_t first, int64_t count, void *out)
{
  const hid_t d = h5read_dataset_id(r, name);
  const int bad = d < 0 || read_slab(d, mem_type, first, count, out) < 0;
  return bad ? fail_unreadable_object(r, err, name) : LOOM_OK;
}

loom_status h5read_tris(h5read *r, loom_err *err, int32_t *tris)
{
  if (r->nt == 0) return LOOM_OK;
  LOOM_TRY(read_part(r, err, "scene/triangles", H5T_NATIVE_INT32, 0, r->nt, tris));
  for (int64_t i = 0; i < 3 * r->nt; ++i)
    if (tris[i] < 0 || tris[i] >= r->n)
      return err_set(err, LOOM_E_IO,
                     "%s: triangle %" PRId64 " names vertex %d, there are %" PRId64
                     ": the file is damaged",
                     r->path, i / 3, tris[i], r->n);
  return LOOM_OK;
}

loom_status h5read_frame(h5read *r, loom_err *err, int64_t t, double *x, double *v, double *time,
                         int64_t *step)
{
  const struct {
    const char *name;
    hid_t type;
    void *out;
  } parts[] = {{"frames/x", H5T_NATIVE_DOUBLE, x},
               {"frames/v", H5T_NATIVE_DOUBLE, v},
               {"frames/time", H5T_NATIVE_DOUBLE, time},
               {"frames/step", H5T_NATIVE_INT64, step}};
  for (int i = 0; i < 4; ++i)
    if (parts[i].out != NULL)
      LOOM_TRY(read_part(r, err, parts[i].name, parts[i].type, t, 1, parts[i].out));
  return LOOM_OK;
}

/* Rows of a table as the C structure; columns that the file lacks stay zero. */
static loom_status read_table_rows(h5read *r, loom_err *err, int which, int64_t first,
                                   int64_t count, void *rows)
{
  const h5u_table *const t = h5u_table_of(which);
  if (count == 0) return LOOM_OK;
  memset(rows, 0, (size_t)count * t->row_size);
  const hid_t type = h5u_table_type(t);
  if (type < 0) return fail_unreadable_object(r, err, t->name);
  const loom_status s = read_part(r, err, t->name, type, first, count, rows);
  H5Tclose(type);
  if (s == LOOM_OK) h5u_unpack_rows(t, rows, count);
  return s;
}

loom_status h5read_steps(h5read *r, loom_err *err, int64_t first, int64_t count,
                         h5log_step_row *rows)
{
  return read_table_rows(r, err, H5U_STEPS, first, count, rows);
}

loom_status h5read_iters(h5read *r, loom_err *err, int64_t first, int64_t count,
                         h5log_iter_row *rows)
{
  return read_table_rows(r, err, H5U_ITERS, first, count, rows);
}

loom_status h5read_messages(h5read *r, loom_err *err, int64_t first, int64_t count,
                            h5log_message_row *rows)
{
  LOOM_TRY(read_table_rows(r, err, H5U_MESSAGES, first, count, rows));
  for (int64_t i = 0; i < count; ++i) rows[i].text[H5LOG_MESSAGE_LEN - 1] = '\0';
  return LOOM_OK;
}

loom_status h5read_sections(h5read *r, loom_err *err, int64_t first, int64_t count,
                            h5log_section_row *rows)
{
  LOOM_TRY(read_table_rows(r, err, H5U_SECTIONS, first, count, rows));
  for (int64_t i = 0; i < count; ++i) rows[i].name[H5LOG_NAME_LEN - 1] = '\0';
  return LOOM_OK;
}

loom_status h5read_kernels(h5read *r, loom_err *err, int64_t first, int64_t count,
                           h5log_kernel_row *rows)
{
  LOOM_TRY(read_table_rows(r, err, H5U_KERNELS, first, count, rows));
  for (int64_t i = 0; i < count; ++i) rows[i].name[H5LOG_NAME_LEN - 1] = '\0';
  return LOOM_OK;
}

loom_status h5read_states(h5read *r, loom_err *err, int64_t first, int64_t count,
                          h5log_state_row *rows)
{
  LOOM_TRY(read_table_rows(r, err, H5U_STATE, first, count, rows));
  for (int64_t i = 0; i < count; ++i)
    rows[i].instance[H5LOG_NAME_LEN - 1] = rows[i].name[H5LOG_NAME_LEN - 1] = '\0';
  return LOOM_OK;
}

loom_status h5read_state_data(h5read *r, loom_err *err, const h5log_state_row *row, void *data)
{
  const int64_t size = h5u_type_bytes(row->type);
  if (row->count == 0) return LOOM_OK;
  if (size == 0 || row->count < 0 || row->count > INT64_MAX / size)
    return fail_unreadable_object(r, err, "state");
  return read_part(r, err, "state_data", H5T_NATIVE_UINT8, row->first, row->count * size, data);
}

/* ---- any table, by column ---- */
static hid_t table_type(h5read *r, const char *table)
{
  const hid_t d = h5read_dataset_id(r, table);
  hid_t type = d < 0 ? H5I_INVALID_HID : H5Dget_type(d);
  if (type >= 0 && H5Tget_class(type) != H5T_COMPOUND) {
    H5Tclose(type);
    type = H5I_INVALID_HID;
  }
  H5Eclear2(H5E_DEFAULT);
  return type;
}

int h5read_num_columns(h5read *r, const char *table)
{
  const hid_t type = table_type(r, table);
  const int n = type < 0 ? -1 : H5Tget_nmembers(type);
  h5u_close(type, H5Tclose);
  return n;
}

loom_status h5read_column_info(h5read *r, loom_err *err, const char *table, int column,
                               char name[H5READ_NAME_LEN], char *kind)
{
  const hid_t type = table_type(r, table);
  char *const s = type < 0 ? NULL : H5Tget_member_name(type, (unsigned)column);
  const H5T_class_t c = s == NULL ? H5T_NO_CLASS : H5Tget_member_class(type, (unsigned)column);
  *kind = c == H5T_INTEGER ? 'I' : c == H5T_FLOAT ? 'R' : c == H5T_ENUM ? 'S' : '?';
  snprintf(name, H5READ_NAME_LEN, "%s", s != NULL ? s : "");
  if (s != NULL) H5free_memory(s);
  h5u_close(type, H5Tclose);
  return *kind == '?' ? fail_unreadable_object(r, err, table) : LOOM_OK;
}

/* A memory type with one column; an enum keeps the type of the file. */
static hid_t column_type(h5read *r, const char *table, const char *name, char kind)
{
  const hid_t file = table_type(r, table), one = H5Tcreate(H5T_COMPOUND, 8);
  hid_t member = kind == 'I' ? H5T_NATIVE_INT64 : H5T_NATIVE_DOUBLE, owned = H5I_INVALID_HID;
  const int index = file < 0 ? -1 : H5Tget_member_index(file, name);
  int bad = index < 0 || one < 0;
  if (!bad && kind == 'S') {
    member = owned = H5Tget_member_type(file, (unsigned)index);
    bad = member < 0 || H5Tget_size(member) != 1;
  }
  bad = bad || H5Tinsert(one, name, 0, member) < 0;
  h5u_close(owned, H5Tclose);
  h5u_close(file, H5Tclose);
  if (!bad) return one;
  h5u_close(one, H5Tclose);
  return H5I_INVALID_HID;
}

loom_status h5read_column(h5read *r, loom_err *err, const char *table, const char *name, char kind,
                          int64_t first, int64_t count, void *out)
{
  if (count == 0) return LOOM_OK;
  const hid_t type = column_type(r, table, name, kind);
  if (type < 0) return fail_unreadable_object(r, err, table);
  memset(out, 0, (size_t)count * 8);
  const loom_status s = read_part(r, err, table, type, first, count, out);
  H5Tclose(type);
  if (s != LOOM_OK || kind != 'S') return s;
  for (int64_t i = 0; i < count; ++i) {
    char *const p = (char *)out + 8 * i;
    const int64_t v = *(const int8_t *)p;
    memcpy(p, &v, sizeof v);
  }
  return LOOM_OK;
}

/* ---- whole datasets ---- */
loom_status h5read_dataset(h5read *r, loom_err *err, const char *path, int as_real, void **data,
                           int *rank, int64_t dims[4])
{
  hsize_t shape[4] = {0};
  *data = NULL;
  if (path[0] == '/') ++path;
  const hid_t d = h5read_dataset_id(r, path);
  if (d < 0) return fail_unreadable_object(r, err, path);
  *rank = h5read_shape(r, d, shape, 8);
  size_t count = 1;
  for (int i = 0; i < *rank; ++i) {
    dims[i] = (int64_t)shape[i];
    count *= shape[i];
  }
  loom_status s = LOOM_OK;
  if (*rank < 0) {
    s = err_set(err, LOOM_E_IO, "%s: /%s has no plausible shape: the file is damaged", r->path,
                path);
  } else if ((*data = malloc(count > 0 ? count * 8 : 8)) == NULL) {
    s = err_set(err, LOOM_E_NOMEM, "%s: /%s: out of memory", r->path, path);
  } else if (count > 0) {
    const hid_t type = as_real ? H5T_NATIVE_DOUBLE : H5T_NATIVE_INT64;
    if (H5Dread(d, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, *data) < 0)
      s = fail_unreadable_object(r, err, path);
  }
  if (s != LOOM_OK) {
    free(*data);
    *data = NULL;
  }
  return s;
}
