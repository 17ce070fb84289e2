# loom_build_info(): the object library with the sources, compiler and options of a binary.
#
# Commit, dirty flag, compiler and options stand in one generated C file.  Plugins and the
# core refer to its symbols, so a new commit costs one small compilation and the links.
# The file is checked again only if a tracked file or the branch's log has changed.
#
# LOOM_BUILD_PATHS: sources that count for the dirty flag (git pathspecs, default: all).
set(LOOM_BUILD_INFO_SCRIPT ${CMAKE_CURRENT_LIST_DIR}/write_build_info.cmake)

function(loom_build_info)
  if(TARGET loom_build_info)
    return()
  endif()
  find_package(Git QUIET)
  set(text "${CMAKE_C_COMPILER_ID} ${CMAKE_C_COMPILER_VERSION} ${CMAKE_BUILD_TYPE}")
  string(TOUPPER "${CMAKE_BUILD_TYPE}" type)
  string(APPEND text " ${CMAKE_C_FLAGS} ${CMAKE_C_FLAGS_${type}}")
  foreach(option LOOM_NATIVE LOOM_STRICT_FP LOOM_REAL_FLOAT)
    if(${option})
      string(APPEND text " ${option}")
    endif()
  endforeach()
  if(LOOM_HAVE_CUDA)
    string(APPEND text " CUDA ${CMAKE_CUDA_COMPILER_VERSION} ${CMAKE_CUDA_ARCHITECTURES}")
  endif()
  string(REGEX REPLACE "[ ;]+" " " text "${text}")
  set(out ${PROJECT_BINARY_DIR}/loom_build_info.c)
  add_custom_command(OUTPUT ${out}
    COMMAND ${CMAKE_COMMAND} "-DSOURCE=${PROJECT_SOURCE_DIR}" "-DOUT=${out}"
      "-DGIT=${GIT_EXECUTABLE}" "-DVERSION=${PROJECT_VERSION}" "-DTEXT=${text}"
      "-DPATHS=${LOOM_BUILD_PATHS}" -P ${LOOM_BUILD_INFO_SCRIPT}
    DEPENDS ${LOOM_BUILD_INFO_SCRIPT} DEPFILE ${out}.d
    COMMENT "build information" VERBATIM)
  add_library(loom_build_info OBJECT ${out})
  set_target_properties(loom_build_info PROPERTIES C_VISIBILITY_PRESET hidden
    POSITION_INDEPENDENT_CODE ON)
endfunction()

# loom_use_build_info(<target>): LOOM_BUILD_INFO of loom/plugin.h says how it was built.
function(loom_use_build_info target)
  loom_build_info()
  target_sources(${target} PRIVATE $<TARGET_OBJECTS:loom_build_info>)
  target_compile_definitions(${target} PRIVATE LOOM_HAVE_BUILD_INFO)
endfunction()
