# The target hdf5::hdf5, of a serial HDF5 that is new enough.
#
# If `h5cc -show` names the library hdf5_serial, as Debian's does since HDF5 2, FindHDF5 finds it but then
# looks for the location of a library named hdf5 only.  So this file sets that location to the library
# that h5cc names.
if(NOT DEFINED HDF5_hdf5_LIBRARY)
  find_program(LOOM_H5CC h5cc HINTS ${HDF5_ROOT} ENV HDF5_ROOT PATH_SUFFIXES bin)
  mark_as_advanced(LOOM_H5CC)
  if(LOOM_H5CC)
    execute_process(COMMAND ${LOOM_H5CC} -show OUTPUT_VARIABLE loom_h5cc_line ERROR_QUIET)
    if(loom_h5cc_line MATCHES "-l(hdf5_(serial|openmpi|mpich))( |\n|$)")
      set(loom_hdf5_name ${CMAKE_MATCH_1})
      string(REGEX MATCHALL "-L[^ \n]+" loom_hdf5_folders "${loom_h5cc_line}")
      list(TRANSFORM loom_hdf5_folders REPLACE "^-L" "")
      find_library(HDF5_hdf5_LIBRARY ${loom_hdf5_name} HINTS ${loom_hdf5_folders})
      mark_as_advanced(HDF5_hdf5_LIBRARY)
    endif()
  endif()
endif()

# H5Pset_file_locking, which came with version 1.10.7: the log does its own locking.
find_package(HDF5 1.10.7 COMPONENTS C)
if(NOT HDF5_FOUND)
  message(FATAL_ERROR
    "The HDF5 library (C, serial, 1.10.7 or newer) was not found: it holds every log of a run. "
    "Debian/Ubuntu: libhdf5-dev; elsewhere set HDF5_ROOT to its prefix.")
endif()
if(HDF5_IS_PARALLEL)
  message(FATAL_ERROR
    "The HDF5 found is an MPI build, which lacks what the log needs (SWMR); "
    "Debian/Ubuntu: libhdf5-dev and -DHDF5_ROOT=/usr/lib/<arch>/hdf5/serial")
endif()
