# loom_add_kernels(<target> <file.kern.c>...)
#
# Compile every kernel file once as C (OpenMP launchers) and, with CUDA, once more
# through a generated one-line .cu that includes it.  A wrapper is used instead of the
# LANGUAGE source property because that property belongs to a directory: one file cannot
# be C and CUDA in one target.  With LOOM_CUDA_UNITY = n one wrapper includes n kernel files of the target: most of a
# CUDA compilation is the reading of headers, and a test machine without a device never runs the objects.
set(LOOM_CUDA_UNITY 1 CACHE STRING "kernel files of a target that are compiled as one CUDA file")
set(LOOM_SIM_HEADER ${CMAKE_CURRENT_LIST_DIR}/sim.h) # installed beside this file
if(NOT EXISTS ${LOOM_SIM_HEADER})
  cmake_path(SET LOOM_SIM_HEADER NORMALIZE ${CMAKE_CURRENT_LIST_DIR}/../mem/sim.h)
endif()
function(loom_add_kernels target)
  set(wrapped 0)
  foreach(src IN LISTS ARGN)
    cmake_path(ABSOLUTE_PATH src NORMALIZE OUTPUT_VARIABLE abs)
    target_sources(${target} PRIVATE ${abs})
    set_property(GLOBAL APPEND PROPERTY LOOM_KERNEL_FILES ${abs})
    if(LOOM_HAVE_CUDA)
      cmake_path(GET src STEM LAST_ONLY stem)
      math(EXPR place "${wrapped} % ${LOOM_CUDA_UNITY}")
      if(place EQUAL 0)
        set(wrap ${CMAKE_CURRENT_BINARY_DIR}/${target}.${stem}.cu)
        set(text "")
        target_sources(${target} PRIVATE ${wrap})
      endif()
      string(APPEND text "#include \"${abs}\"\n")
      file(CONFIGURE OUTPUT ${wrap} CONTENT "${text}")
      math(EXPR wrapped "${wrapped} + 1")
    elseif(LOOM_SIMULATED)
      cmake_path(GET src STEM LAST_ONLY stem)
      set(wrap ${CMAKE_CURRENT_BINARY_DIR}/${target}.${stem}.sim.c)
      file(CONFIGURE OUTPUT ${wrap} CONTENT
        "#include \"${LOOM_SIM_HEADER}\"\n#include \"${abs}\"\n")
      target_sources(${target} PRIVATE ${wrap})
    endif()
  endforeach()
endfunction()

# loom_kits(<variable> <kit>...): the targets of kits, for target_link_libraries().
function(loom_kits out)
  set(targets)
  foreach(kit IN LISTS ARGN)
    if(NOT TARGET loom_kit_${kit})
      get_property(reason GLOBAL PROPERTY LOOM_KIT_MISSING_${kit})
      if(reason)
        message(FATAL_ERROR "kit '${kit}' is not built: ${reason}")
      endif()
      get_property(all GLOBAL PROPERTY LOOM_KITS)
      list(JOIN all " " all)
      message(FATAL_ERROR "there is no kit '${kit}'; kits: ${all}")
    endif()
    list(APPEND targets loom_kit_${kit})
  endforeach()
  set(${out} ${targets} PARENT_SCOPE)
endfunction()

# loom_add_kit(<name> SOURCES <c files> [KERNELS <kernel files>] [KITS <kits>] [LIBRARIES <targets>])
#
# Code that several plugins share, a static library: compiled once in a tree and linked into each plugin
# that names it, with all symbols hidden.  Files are relative to LOOM_KIT_DIR.
function(loom_add_kit name)
  cmake_parse_arguments(PARSE_ARGV 1 K "" "" "SOURCES;KERNELS;KITS;LIBRARIES")
  set(target loom_kit_${name})
  if(TARGET ${target})
    return()
  endif()
  foreach(list K_SOURCES K_KERNELS)
    foreach(file IN LISTS ${list})
      cmake_path(ABSOLUTE_PATH file BASE_DIRECTORY ${LOOM_KIT_DIR} NORMALIZE)
      list(APPEND ${list}_ABSOLUTE ${file})
    endforeach()
  endforeach()
  loom_kits(kits ${K_KITS})
  add_library(${target} STATIC EXCLUDE_FROM_ALL ${K_SOURCES_ABSOLUTE})
  add_library(loom::kit_${name} ALIAS ${target})
  loom_add_kernels(${target} ${K_KERNELS_ABSOLUTE})
  target_include_directories(${target} PUBLIC ${LOOM_PLUGIN_INCLUDES})
  target_link_libraries(${target} PUBLIC loom_flags ${kits} ${K_LIBRARIES})
  set_target_properties(${target} PROPERTIES C_VISIBILITY_PRESET hidden
    CUDA_VISIBILITY_PRESET hidden POSITION_INDEPENDENT_CODE ON)
  set_property(GLOBAL APPEND PROPERTY LOOM_KITS ${name})
endfunction()

# loom_skip_kit(<name> <reason>): a kit without its library; a plugin that names it gets the reason.
function(loom_skip_kit name reason)
  set_property(GLOBAL PROPERTY LOOM_KIT_MISSING_${name} "${reason}")
endfunction()

# loom_add_plugin(<name> SOURCES <c files> [KERNELS <kernel files>] [KITS <kits>]
#                 [LIBRARIES <targets>])
#
# One MODULE <name>.so with one exported symbol.  It does not link the core.  A file cite.bib beside
# the sources becomes <name>.bib beside the module: `loom cite` prints its entries.
function(loom_add_plugin name)
  cmake_parse_arguments(PARSE_ARGV 1 P "" "" "SOURCES;KERNELS;KITS;LIBRARIES")
  if(P_UNPARSED_ARGUMENTS OR P_KEYWORDS_MISSING_VALUES OR NOT P_SOURCES)
    message(FATAL_ERROR "loom_add_plugin(${name}): '${P_UNPARSED_ARGUMENTS}' is not understood, or a "
      "list is empty; write loom_add_plugin(<name> SOURCES <c files> [KERNELS <kernel files>] "
      "[KITS <kits>] [LIBRARIES <targets>])")
  endif()
  loom_kits(kits ${P_KITS})
  add_library(${name} MODULE ${P_SOURCES})
  loom_add_kernels(${name} ${P_KERNELS})
  target_include_directories(${name} PRIVATE ${LOOM_PLUGIN_INCLUDES})
  target_link_libraries(${name} PRIVATE loom_flags ${kits} ${P_LIBRARIES})
  if(LOOM_HAVE_CUDA)
    target_link_libraries(${name} PRIVATE CUDA::cudart_static)
    set_target_properties(${name} PROPERTIES CUDA_RUNTIME_LIBRARY Static)
  endif()
  target_link_options(${name} PRIVATE LINKER:--exclude-libs,ALL)
  if(NOT LOOM_SANITIZE)
    target_link_options(${name} PRIVATE LINKER:-z,defs)
  endif()
  set_target_properties(${name} PROPERTIES PREFIX "" C_VISIBILITY_PRESET hidden
    CUDA_VISIBILITY_PRESET hidden LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/plugins)
  set_property(GLOBAL APPEND PROPERTY LOOM_PLUGINS ${name})
  file(REMOVE ${PROJECT_BINARY_DIR}/plugins/${name}.missing)
  loom_use_build_info(${name})
  install(TARGETS ${name} LIBRARY DESTINATION lib/loom/plugins)
  if(EXISTS ${CMAKE_CURRENT_SOURCE_DIR}/cite.bib)
    configure_file(cite.bib ${PROJECT_BINARY_DIR}/plugins/${name}.bib COPYONLY)
    install(FILES cite.bib DESTINATION lib/loom/plugins RENAME ${name}.bib)
  else()
    file(REMOVE ${PROJECT_BINARY_DIR}/plugins/${name}.bib) # of an older state of the sources
  endif()
endfunction()

# loom_link_plugin(<executable> <plugin>)
#
# An executable that calls the plugin's own functions: it links the plugin's objects.
function(loom_link_plugin target plugin)
  get_target_property(folder ${plugin} SOURCE_DIR)
  get_target_property(libraries ${plugin} LINK_LIBRARIES)
  target_sources(${target} PRIVATE $<TARGET_OBJECTS:${plugin}>)
  target_include_directories(${target} PRIVATE ${folder} ${LOOM_PLUGIN_INCLUDES})
  target_link_libraries(${target} PRIVATE ${libraries})
endfunction()

# loom_skip_plugin(<name> <reason>)
#
# Reports that a plugin is not built, and why: one status line now, and a file <name>.missing in the
# plugin directory; `loom list` shows its text.
function(loom_skip_plugin name reason)
  message(STATUS "loom: plugin ${name} is not built: ${reason}")
  file(REMOVE ${PROJECT_BINARY_DIR}/plugins/${name}.so)
  file(WRITE ${PROJECT_BINARY_DIR}/plugins/${name}.missing "${reason}\n")
endfunction()
