# Interface targets: loom::headers (the ABI), loom_flags (how everything is compiled).
find_package(OpenMP COMPONENTS C)
if(NOT OpenMP_C_FOUND)
  set(loom_remedy "a compiler that builds OpenMP programs is needed, as gcc does")
  if(CMAKE_C_COMPILER_ID MATCHES "Clang")
    string(REGEX MATCH "^[0-9]+" loom_major "${CMAKE_C_COMPILER_VERSION}")
    string(CONCAT loom_remedy "clang has it in a package of its own. Debian/Ubuntu: libomp-dev, or "
      "libomp-${loom_major}-dev where this clang is not the system's")
  endif()
  message(FATAL_ERROR
    "OpenMP was not found for ${CMAKE_C_COMPILER} (${CMAKE_C_COMPILER_ID} ${CMAKE_C_COMPILER_VERSION}): ${loom_remedy}")
endif()

if(NOT TARGET loom::headers) # an installed package brings its own
  add_library(loom_headers INTERFACE)
  add_library(loom::headers ALIAS loom_headers)
  set_target_properties(loom_headers PROPERTIES EXPORT_NAME headers)
  target_include_directories(loom_headers INTERFACE
    $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/framework/include>
    $<INSTALL_INTERFACE:${LOOM_INSTALL_INCLUDE}>)
  if(LOOM_REAL_FLOAT)
    target_compile_definitions(loom_headers INTERFACE LOOM_REAL_FLOAT)
  endif()
endif()

add_library(loom_flags INTERFACE)
# -fno-math-errno lets sqrt vectorise; never -ffast-math: it breaks NaN tests and
# reorders sums.
target_compile_options(loom_flags INTERFACE
  $<$<COMPILE_LANGUAGE:C>:-Wall;-Wextra;-Wpedantic;-Wshadow;-Wvla;-Wstrict-prototypes;-fno-math-errno>
  $<$<AND:$<COMPILE_LANGUAGE:C>,$<CONFIG:Release,RelWithDebInfo>>:$<IF:$<BOOL:$<TARGET_PROPERTY:LOOM_QUICK_BUILD>>,-O1,-O3>>
  $<$<AND:$<COMPILE_LANGUAGE:C>,$<BOOL:${LOOM_NATIVE}>>:-march=native>
  $<$<AND:$<COMPILE_LANGUAGE:C>,$<NOT:$<BOOL:${LOOM_NATIVE}>>,$<STREQUAL:${CMAKE_SYSTEM_PROCESSOR},x86_64>>:-march=x86-64-v3>
  $<$<AND:$<COMPILE_LANGUAGE:C>,$<BOOL:${LOOM_STRICT_FP}>>:-ffp-contract=off>
  $<$<AND:$<COMPILE_LANGUAGE:CUDA>,$<BOOL:${LOOM_STRICT_FP}>>:-fmad=false>
  $<$<AND:$<COMPILE_LANGUAGE:C>,$<BOOL:${LOOM_WERROR}>>:-Werror>
  $<$<COMPILE_LANGUAGE:CUDA>:-Xcompiler=-Wall,-Wextra,-Wno-unknown-pragmas>)
target_compile_definitions(loom_flags INTERFACE $<$<COMPILE_LANGUAGE:C>:_POSIX_C_SOURCE=200809L>)
# Coverage for libFuzzer in all objects, above all in the core: without it the targets
# fuzz_*_libfuzzer see only their own file.
if(LOOM_FUZZ)
  target_compile_options(loom_flags INTERFACE $<$<COMPILE_LANGUAGE:C>:-fsanitize=fuzzer-no-link>)
endif()
if(LOOM_SANITIZE)
  # Checks make functions of thousands of blocks, and allocating registers loop by loop took up to half of a file's
  # compilation; clang has no loops there, and refuses the option.
  include(CheckCCompilerFlag)
  check_c_compiler_flag(-fira-region=one LOOM_HAVE_IRA_REGION)
  target_compile_options(loom_flags INTERFACE
    $<$<COMPILE_LANGUAGE:C>:-fsanitize=${LOOM_SANITIZE};-fno-omit-frame-pointer;-fno-sanitize-recover=undefined;-Wno-format-truncation>
    $<$<AND:$<COMPILE_LANGUAGE:C>,$<BOOL:${LOOM_HAVE_IRA_REGION}>>:-fira-region=one>)
  target_link_options(loom_flags INTERFACE -fsanitize=${LOOM_SANITIZE})
endif()
target_link_libraries(loom_flags INTERFACE loom::headers OpenMP::OpenMP_C m)
if(LOOM_HAVE_CUDA)
  target_compile_definitions(loom_flags INTERFACE LK_HAVE_CUDA)
elseif(LOOM_SIMULATED)
  target_compile_definitions(loom_flags INTERFACE LK_HAVE_CUDA LK_SIMULATED)
endif()
