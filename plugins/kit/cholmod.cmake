# loom_cholmod: CHOLMOD with a BLAS, where it is installed; for the kit `chol`.
find_path(CHOLMOD_INCLUDE cholmod.h PATH_SUFFIXES suitesparse)
find_library(CHOLMOD_LIBRARY cholmod)
# OpenBLAS without threads, also where the system's alternatives name another BLAS: it is linked first, so
# that CHOLMOD, ARPACK and LAPACK find its functions.  Without it they use the system's BLAS.
find_library(OPENBLAS_LIBRARY NAMES libopenblas.so.0 openblas NO_DEFAULT_PATH
  PATHS /usr/lib/${CMAKE_LIBRARY_ARCHITECTURE}/openblas-serial)
find_library(OPENBLAS_LIBRARY NAMES openblas libopenblas.so.0)
if(CHOLMOD_INCLUDE AND CHOLMOD_LIBRARY)
  add_library(loom_cholmod INTERFACE)
  if(OPENBLAS_LIBRARY)
    # As options, since CMake would warn of the folder, which may hold a LAPACK too.  RUNPATH, so that
    # LD_LIBRARY_PATH can put another one in its place.
    cmake_path(GET OPENBLAS_LIBRARY PARENT_PATH folder)
    target_link_options(loom_cholmod INTERFACE -Wl,--enable-new-dtags,-rpath,${folder})
    target_link_libraries(loom_cholmod INTERFACE
      -Wl,--push-state,--no-as-needed,${OPENBLAS_LIBRARY},--pop-state)
    message(STATUS "loom: dense algebra by ${OPENBLAS_LIBRARY}")
  else()
    message(STATUS "loom: OpenBLAS was not found: solves with factors run on the system's BLAS, slower \
if that is the reference one (Debian: libopenblas0-serial)")
  endif()
  target_include_directories(loom_cholmod SYSTEM INTERFACE ${CHOLMOD_INCLUDE})
  target_link_libraries(loom_cholmod INTERFACE ${CHOLMOD_LIBRARY})
endif()
