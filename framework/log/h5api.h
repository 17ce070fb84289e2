/* h5api.h - the parts of HDF5's interface that differ between 1.10 and 2.x, each in one form.
 *
 * H5Ovisit and the struct that its callback gets have three versions; which of them a plain name
 * means depends on the library and on how it was configured.  The class of a file driver has
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

/* ---- file drivers ---- */
/* The class with the fields that newer libraries ask for: version, and a number of the range for
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
