# Checkouts share objects: paths below the sources are hashed relative to the build, and the folder of the build is
# not hashed.  Debuggers and sanitizers may then name the checkout that compiled first.  Settings of the user take
# precedence: a compiler launcher, CCACHE_BASEDIR, CCACHE_(NO)HASHDIR, base_dir and hash_dir of ccache's files.
find_program(CCACHE_PROGRAM ccache)
if(CCACHE_PROGRAM AND NOT CMAKE_C_COMPILER_LAUNCHER)
  execute_process(COMMAND ${CCACHE_PROGRAM} --show-config OUTPUT_VARIABLE config ERROR_QUIET)
  set(exports "")
  if(NOT config MATCHES "\\([^\n]*\\.conf\\) base_dir = ")
    string(APPEND exports "export CCACHE_BASEDIR=\"\${CCACHE_BASEDIR-${PROJECT_SOURCE_DIR}}\"\n")
  endif()
  if(NOT config MATCHES "\\([^\n]*\\.conf\\) hash_dir = ")
    string(APPEND exports "[ -n \"\${CCACHE_HASHDIR+set}\" ] || export CCACHE_NOHASHDIR=1\n")
  endif()
  # By this name clang's tools know that the compiler comes after it.
  file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/launch/ccache @ONLY CONTENT
    "#!/bin/sh\n# made by LoomCcache.cmake\n@exports@exec \"@CCACHE_PROGRAM@\" \"$@\"\n")
  file(CHMOD ${PROJECT_BINARY_DIR}/launch/ccache
    PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
  set(CMAKE_C_COMPILER_LAUNCHER ${PROJECT_BINARY_DIR}/launch/ccache)
  set(CMAKE_CUDA_COMPILER_LAUNCHER ${PROJECT_BINARY_DIR}/launch/ccache)
endif()
