# `cmake --install`: the binary, plugins (see loom_add_plugin), headers, the CMake package.
include(CMakePackageConfigHelpers)
set(package lib/cmake/loom)

if(TARGET loom)
  install(TARGETS loom RUNTIME DESTINATION bin)
  install(FILES framework/doc/loom.1 DESTINATION share/man/man1)
  install(FILES framework/app/completion.bash DESTINATION share/bash-completion/completions RENAME loom)
endif()
install(DIRECTORY framework/include/loom DESTINATION ${LOOM_INSTALL_INCLUDE}
  FILES_MATCHING PATTERN "*.h")
# Headers for kernels and plugins; kits are installed as sources, which a project compiles for itself.
install(DIRECTORY framework/geom DESTINATION ${LOOM_INSTALL_INCLUDE}
  FILES_MATCHING PATTERN "*.kern.h")
install(DIRECTORY plugins/kit DESTINATION ${LOOM_INSTALL_INCLUDE})
install(TARGETS loom_headers EXPORT loom)
install(EXPORT loom NAMESPACE loom:: FILE loomTargets.cmake DESTINATION ${package})

# Plugins outside the tree get the device of this build.
if(LOOM_SIMULATED)
  set(LOOM_CORE_DEVICE simulated)
elseif(LOOM_HAVE_CUDA)
  set(LOOM_CORE_DEVICE real)
else()
  set(LOOM_CORE_DEVICE none)
endif()
configure_package_config_file(framework/cmake/loomConfig.cmake.in
  ${PROJECT_BINARY_DIR}/loomConfig.cmake INSTALL_DESTINATION ${package})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/loomConfigVersion.cmake
  COMPATIBILITY SameMinorVersion)
foreach(file LoomCuda.cmake LoomFlags.cmake LoomBuildInfo.cmake LoomKernels.cmake
    write_build_info.cmake)
  list(APPEND files framework/cmake/${file})
endforeach()
install(FILES ${files} framework/mem/sim.h ${PROJECT_BINARY_DIR}/loomConfig.cmake
  ${PROJECT_BINARY_DIR}/loomConfigVersion.cmake DESTINATION ${package})

# Modules of other kinds: triangulation, factors, readers of rigs.
get_property(modules GLOBAL PROPERTY LOOM_MODULES)
foreach(module ${modules})
  get_target_property(folder ${module} LIBRARY_OUTPUT_DIRECTORY)
  cmake_path(GET folder FILENAME folder)
  install(TARGETS ${module} LIBRARY DESTINATION lib/loom/${folder})
endforeach()

# Files that any configuration may name, tools in Python, and pages; exemplary plugins to copy.
install(DIRECTORY configs DESTINATION share/loom)
install(DIRECTORY experiments/tools/loomcloth DESTINATION share/loom/python PATTERN "__pycache__" EXCLUDE)
install(DIRECTORY experiments/fabric DESTINATION share/loom/experiments FILES_MATCHING PATTERN "*.ini")
install(DIRECTORY framework/doc/example_plugin DESTINATION share/loom/examples)
foreach(example solvers/gd collision/brute contact/repulsion)
  cmake_path(GET example PARENT_PATH kind)
  install(DIRECTORY plugins/${example} DESTINATION share/loom/examples/${kind})
endforeach()
install(DIRECTORY framework/doc/ DESTINATION share/doc/loom FILES_MATCHING PATTERN "*.md" PATTERN "example_plugin" EXCLUDE)
install(FILES LICENSE CITATION.cff README.md DESTINATION share/doc/loom)

# pkg-config, for plugins that another build system compiles.
set(LOOM_PC_REAL "")
if(LOOM_REAL_FLOAT)
  set(LOOM_PC_REAL " -DLOOM_REAL_FLOAT")
endif()
configure_file(framework/cmake/loom.pc.in ${PROJECT_BINARY_DIR}/loom.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/loom.pc DESTINATION lib/pkgconfig)
