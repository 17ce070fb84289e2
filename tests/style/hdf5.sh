#!/bin/sh
# HDF5's differences from 1.10 to 2.x stand in framework/log/h5api.h alone: names with a meaning that the library's
# version, or the way it was configured, decides (H5version.h), and questions about the version.
. "${0%/*}/common.sh"
of_version='H5O(get_info|get_native_info|visit)(_by_name|_by_idx)?[1-3]?|H5O_(info|iterate)[12]?_t'
of_version="$of_version|H5L(iterate|visit|get_info)(_by_name|_by_idx)?[1-3]?|H5L_(info|iterate)[12]?_t"
of_version="$of_version|H5(Fget_info|F_info|Sencode|Pencode|Iregister_type|Dread_chunk|Tdecode|Pget_filter)[1-3]?(_t)?"
of_version="$of_version|H5(Pget_filter_by_id|Rdereference|Rget_obj_type|Rget_region|Rcreate)[1-3]?|H5R_[a-z_]*ref[a-z_]*_t"
# Two forms since 1.8 or longer: the number has to be written.
numbered='H5(Acreate|Aiterate|Dcreate|Dopen|Eclear|Eget_auto|Eprint|Epush|Eset_auto|Ewalk|Gcreate|Gopen|Tarray_create'
numbered="$numbered|Tcommit|Tget_array_dims|Topen|E_auto_t|Z_class_t|E_error_t)"
asks='H5_VERSION_(GE|LE)|H5_VERS_[A-Z]+|H5_USE_[0-9]+_API|H5FD_CLASS_VERSION'
bad=$(files 'framework/*.c' 'framework/*.h' 'plugins/*.c' 'plugins/*.h' 'tests/*.c' 'tests/*.h' |
  grep -v '^framework/log/h5api\.h$' | xargs grep -nowE "$of_version|$numbered|$asks")
[ -z "$bad" ] || { echo "differs between versions of HDF5; use or extend framework/log/h5api.h:"; echo "$bad"; exit 1; }
