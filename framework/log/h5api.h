/* h5api.h - the parts of HDF5's interface that differ between 1.10 and 2.x, each in one form.
 *
 * H5Ovisit and the struct that its callback gets have three versions; the library and its
 * configuration select the version behind a plain name.  The class of a file driver has
 * gained fields.  The test hdf5_calls lets no other source use them. */
#ifndef LOOM_H5API_H
#define LOOM_H5API_H

#include <hdf5.h>

/* ---- visiting objects ---- */
#if H5_VERSION_GE(1, 12, 0)
typedef H5O_info2_t h5api_object;
#else
typedef H5O_info_t h5api_object;
#endif
/* `name` is relative to the object that the visit began with. */
typedef herr_t (*h5api_visitor)(hid_t start, const char *name, const h5api_object *object,
                                void *user);

static inline int h5api_is_dataset(const h5api_object *object)
{
  return object->type == H5O_TYPE_DATASET;
}

/* Calls `visit` for `start` and for each object below it, by name; negative on failure. */
static inline herr_t h5api_visit(hid_t start, h5api_visitor visit, void *user)
{
#if H5_VERSION_GE(1, 12, 0)
  return H5Ovisit3(start, H5_INDEX_NAME, H5_ITER_INC, visit, user, H5O_INFO_BASIC);
#else
  return H5Ovisit2(start, H5_INDEX_NAME, H5_ITER_INC, visit, user, H5O_INFO_BASIC);
#endif
}

/* ---- headers of objects ---- */
/* The version of an object's header, 1 or 2; negative on failure. */
static inline int h5api_header_version(hid_t object)
{
#if H5_VERSION_GE(1, 12, 0)
  H5O_native_info_t info;
  if (H5Oget_native_info(object, &info, H5O_NATIVE_INFO_HDR) < 0) return -1;
#else
  H5O_info_t info;
  if (H5Oget_info2(object, &info, H5O_INFO_HDR) < 0) return -1;
#endif
  return (int)info.hdr.version;
}

/* Address of the header in the file; HADDR_UNDEF on failure. */
static inline haddr_t h5api_header_address(hid_t object)
{
#if H5_VERSION_GE(1, 12, 0)
  H5O_info2_t info;
  haddr_t address = HADDR_UNDEF;
  if (H5Oget_info3(object, &info, H5O_INFO_BASIC) < 0 ||
      H5VLnative_token_to_addr(object, info.token, &address) < 0)
    return HADDR_UNDEF;
  return address;
#else
  H5O_info_t info;
  return H5Oget_info2(object, &info, H5O_INFO_BASIC) < 0 ? HADDR_UNDEF : info.addr;
#endif
}

/* ---- file drivers ---- */
/* The class with the fields that newer libraries require: version, and a number of the range for
 * drivers that are not registered. */
static inline H5FD_class_t h5api_driver(H5FD_class_t driver)
{
#if H5_VERSION_GE(1, 13, 2)
  driver.version = H5FD_CLASS_VERSION;
  driver.value = (H5FD_class_value_t)511;
#endif
  return driver;
}

#endif
