/* h5util.c - HDF5 error messages, property lists, types and attributes. */
#include "log/h5util.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* loom closes every file itself; a file that HDF5 could not close (it became unreadable while it
 * was open) would make the library's own clean-up at exit crash. */
void h5u_quiet(void)
{
  H5dont_atexit();
  H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
}

static herr_t copy_innermost_error(unsigned n, const H5E_error2_t *e, void *out)
{
  if (n == 0 && e->desc != NULL) snprintf(out, 512, "%s", e->desc);
  return 0;
}

loom_status h5u_fail(loom_err *err, const char *path, const char *what)
{
  char text[512] = "";
  H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, copy_innermost_error, text);
  H5Eclear2(H5E_DEFAULT);
  /* The drivers report "..., errno = 28, error message = 'No space left on device', ...": the text
   * of the system is enough. */
  const char mark[] = "error message = '";
  char *s = strstr(text, mark);
  if (s != NULL) {
    s += sizeof mark - 1;
    s[strcspn(s, "'")] = '\0';
  } else {
    s = text;
  }
  if (s[0] == '\0') return err_set(err, LOOM_E_IO, "%s: %s", path, what);
  return err_set(err, LOOM_E_IO, "%s: %s: %s", path, what, s);
}

/* Beside a writer HDF5 reads a piece of metadata again if its checksum is wrong, with pauses that
 * begin with a nanosecond and double.  So many attempts take a quarter of a second; a writer needs
 * microseconds for a piece.  The default, 100, would take longer than the age of the universe. */
enum { READ_ATTEMPTS = 28 };

hid_t h5u_fapl(void)
{
  const hid_t fapl = H5Pcreate(H5P_FILE_ACCESS);
  if (fapl < 0) return H5I_INVALID_HID;
  if (H5Pset_libver_bounds(fapl, H5F_LIBVER_V110, H5F_LIBVER_V110) < 0 ||
      H5Pset_fclose_degree(fapl, H5F_CLOSE_STRONG) < 0 || H5Pset_file_locking(fapl, 0, 1) < 0 ||
      H5Pset_metadata_read_attempts(fapl, READ_ATTEMPTS) < 0) {
    H5Pclose(fapl);
    return H5I_INVALID_HID;
  }
  return fapl;
}

hid_t h5u_fcpl(void)
{
  const hid_t fcpl = H5Pcreate(H5P_FILE_CREATE);
  if (fcpl < 0) return H5I_INVALID_HID;
  if (H5Pset_file_space_strategy(fcpl, H5F_FSPACE_STRATEGY_PAGE, 0, 1) < 0 ||
      H5Pset_file_space_page_size(fcpl, 4096) < 0) {
    H5Pclose(fcpl);
    return H5I_INVALID_HID;
  }
  return fcpl;
}

hid_t h5u_dcpl(void)
{
  const hid_t dcpl = H5Pcreate(H5P_DATASET_CREATE);
  if (dcpl < 0) return H5I_INVALID_HID;
  if (H5Pset_attr_phase_change(dcpl, 0, 0) < 0) {
    H5Pclose(dcpl);
    return H5I_INVALID_HID;
  }
  return dcpl;
}

hid_t h5u_text_type(size_t n)
{
  const hid_t t = H5Tcopy(H5T_C_S1);
  if (t < 0) return H5I_INVALID_HID;
  if (H5Tset_size(t, n) < 0 || H5Tset_cset(t, H5T_CSET_UTF8) < 0) {
    H5Tclose(t);
    return H5I_INVALID_HID;
  }
  return t;
}

hid_t h5u_mem_type(int loom_type)
{
  switch (loom_type) {
  case LOOM_REAL:
    return sizeof(loom_real) == 8 ? H5T_NATIVE_DOUBLE : H5T_NATIVE_FLOAT;
  case LOOM_I32:
    return H5T_NATIVE_INT32;
  case LOOM_I64:
    return H5T_NATIVE_INT64;
  case LOOM_U8:
    return H5T_NATIVE_UINT8;
  case LOOM_U64:
    return H5T_NATIVE_UINT64;
  default:
    return H5I_INVALID_HID;
  }
}

int64_t h5u_type_bytes(int64_t loom_type)
{
  const int known = loom_type >= LOOM_REAL && loom_type <= LOOM_U64;
  return known ? (int64_t)H5Tget_size(h5u_mem_type((int)loom_type)) : 0;
}

hid_t h5u_file_type(int loom_type)
{
  switch (loom_type) {
  case LOOM_REAL:
    return H5T_IEEE_F64LE;
  case LOOM_I32:
    return H5T_STD_I32LE;
  case LOOM_I64:
    return H5T_STD_I64LE;
  case LOOM_U8:
    return H5T_STD_U8LE;
  case LOOM_U64:
    return H5T_STD_U64LE;
  default:
    return H5I_INVALID_HID;
  }
}

int h5u_close(hid_t id, herr_t (*close_fn)(hid_t))
{
  if (id < 0) return 0;
  return close_fn(id) < 0 ? -1 : 0;
}

/* Creates (or opens, if `replace`) an attribute and writes it. */
static int write_attr(hid_t obj, const char *name, hid_t type, hid_t space, const void *data)
{
  const hid_t a = H5Acreate2(obj, name, type, space, H5P_DEFAULT, H5P_DEFAULT);
  if (a < 0) return -1;
  const int bad = H5Awrite(a, type, data) < 0;
  return H5Aclose(a) < 0 || bad ? -1 : 0;
}

int h5u_put_text(hid_t obj, const char *name, const char *text, size_t min_len)
{
  const size_t used = text != NULL ? strlen(text) + 1 : 1;
  const size_t len = used > min_len ? used : min_len;
  char *const padded = calloc(1, len);
  if (padded == NULL) return -1;
  if (text != NULL) memcpy(padded, text, used);
  const hid_t type = h5u_text_type(len), space = H5Screate(H5S_SCALAR);
  const int bad = type < 0 || space < 0 || write_attr(obj, name, type, space, padded) < 0;
  h5u_close(type, H5Tclose);
  h5u_close(space, H5Sclose);
  free(padded);
  return bad ? -1 : 0;
}

int h5u_put_int(hid_t obj, const char *name, int64_t value)
{
  const hid_t space = H5Screate(H5S_SCALAR);
  const int bad = space < 0 || write_attr(obj, name, H5T_NATIVE_INT64, space, &value) < 0;
  h5u_close(space, H5Sclose);
  return bad ? -1 : 0;
}

int h5u_put_real(hid_t obj, const char *name, double value)
{
  const hid_t space = H5Screate(H5S_SCALAR);
  const int bad = space < 0 || write_attr(obj, name, H5T_NATIVE_DOUBLE, space, &value) < 0;
  h5u_close(space, H5Sclose);
  return bad ? -1 : 0;
}

int h5u_drop_attr(hid_t obj, const char *name)
{
  const htri_t there = H5Aexists(obj, name);
  return there < 0 || (there > 0 && H5Adelete(obj, name) < 0) ? -1 : 0;
}

int h5u_put_texts(hid_t obj, const char *name, const char *const *texts, int count)
{
  size_t len = 1;
  if (count < 1) return -1;
  for (int i = 0; i < count; ++i)
    if (strlen(texts[i]) + 1 > len) len = strlen(texts[i]) + 1;
  char *const all = calloc((size_t)count, len);
  if (all == NULL) return -1;
  for (int i = 0; i < count; ++i) memcpy(all + (size_t)i * len, texts[i], strlen(texts[i]));
  const hsize_t dims[1] = {(hsize_t)count};
  const hid_t type = h5u_text_type(len), space = H5Screate_simple(1, dims, NULL);
  const int bad = type < 0 || space < 0 || write_attr(obj, name, type, space, all) < 0;
  h5u_close(type, H5Tclose);
  h5u_close(space, H5Sclose);
  free(all);
  return bad ? -1 : 0;
}

int h5u_set_text(hid_t obj, const char *name, const char *text)
{
  const hid_t a = H5Aopen(obj, name, H5P_DEFAULT);
  if (a < 0) return -1;
  const hid_t type = H5Aget_type(a);
  const size_t len = type >= 0 ? H5Tget_size(type) : 0;
  int bad = len == 0 || H5Tget_class(type) != H5T_STRING || H5Tis_variable_str(type) != 0;
  if (!bad) {
    char *const padded = calloc(1, len);
    bad = padded == NULL;
    if (!bad) {
      snprintf(padded, len, "%s", text);
      bad = H5Awrite(a, type, padded) < 0;
    }
    free(padded);
  }
  h5u_close(type, H5Tclose);
  return H5Aclose(a) < 0 || bad ? -1 : 0;
}

int h5u_set_int(hid_t obj, const char *name, int64_t value)
{
  const hid_t a = H5Aopen(obj, name, H5P_DEFAULT);
  if (a < 0) return -1;
  const int bad = H5Awrite(a, H5T_NATIVE_INT64, &value) < 0;
  return H5Aclose(a) < 0 || bad ? -1 : 0;
}

enum { ATTR_MAX = 64 << 20 }; /* bytes; a larger text attribute is damage */

static char *read_attribute_text(hid_t attr, hid_t type)
{
  if (H5Tget_class(type) == H5T_INTEGER) {
    int64_t v = 0;
    char *const s = malloc(32);
    if (s == NULL || H5Aread(attr, H5T_NATIVE_INT64, &v) < 0) {
      free(s);
      return NULL;
    }
    snprintf(s, 32, "%" PRId64, v);
    return s;
  }
  if (H5Tget_class(type) == H5T_FLOAT) {
    double v = 0.0;
    char *const s = malloc(32);
    if (s == NULL || H5Aread(attr, H5T_NATIVE_DOUBLE, &v) < 0) {
      free(s);
      return NULL;
    }
    snprintf(s, 32, "%.17g", v);
    return s;
  }
  const size_t len = H5Tget_size(type);
  if (H5Tget_class(type) != H5T_STRING || H5Tis_variable_str(type) != 0 || len > ATTR_MAX)
    return NULL;
  char *const s = calloc(1, len + 1);
  if (s != NULL && H5Aread(attr, type, s) < 0) {
    free(s);
    return NULL;
  }
  return s;
}

char *h5u_get_text(hid_t obj, const char *name)
{
  if (H5Aexists(obj, name) <= 0) return NULL;
  const hid_t a = H5Aopen(obj, name, H5P_DEFAULT);
  if (a < 0) return NULL;
  const hid_t type = H5Aget_type(a), space = H5Aget_space(a);
  char *s = NULL;
  if (type >= 0 && space >= 0 && H5Sget_simple_extent_npoints(space) == 1)
    s = read_attribute_text(a, type);
  h5u_close(type, H5Tclose);
  h5u_close(space, H5Sclose);
  H5Aclose(a);
  return s;
}

int h5u_describe(hid_t dset, const char *unit, const char *doc)
{
  if (h5u_put_text(dset, "unit", unit, 0) < 0) return -1;
  return h5u_put_text(dset, "doc", doc, 0);
}
