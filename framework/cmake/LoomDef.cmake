# loom_read_def(<variable> <file.def> <macro>...)
#
# The names in the lines MACRO(name) of a list that C files include, in their order; a change of the file runs CMake anew.
function(loom_read_def out file)
  list(JOIN ARGN "|" macros)
  file(STRINGS ${file} lines REGEX "^(${macros})\\([a-z0-9_]+\\)$")
  list(TRANSFORM lines REPLACE "^[A-Z_]+\\((.*)\\)$" "\\1")
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${file})
  set(${out} ${lines} PARENT_SCOPE)
endfunction()
