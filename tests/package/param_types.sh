#!/bin/sh
# Parameter macros refuse members of another type than the core writes, in C11 and in C++17.
set -u
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail=0

c11='cc -std=c11 -x c'
cxx17='c++ -std=c++17 -x c++'
# compiles COMPILER TYPE MACRO DIMENSION ARGUMENTS: MACRO takes a member `TYPE m DIMENSION`
compiles() {
  cat >"$work/a.c" <<END
#include "loom/param.h"
typedef struct { $2 m$4; int64_t behind; } S;
extern const loom_param p[1];
const loom_param p[1] = {$3(S, m, $5, "d.")};
END
  # shellcheck disable=SC2086
  $1 -Wall -Wextra -Wpedantic -Werror -fsyntax-only -I"$LOOM_SOURCE_DIR/framework/include" \
    "$work/a.c" 2>"$work/errors"
}
takes() {
  for compiler in "$c11" "$cxx17"; do
    compiles "$compiler" "$@" && continue
    echo "$compiler refuses $2 on '$1 m$3': $(cat "$work/errors")"
    fail=1
  done
}
refuses() {
  for compiler in "$c11" "$cxx17"; do
    compiles "$compiler" "$@" || continue
    echo "$compiler accepts $2 on '$1 m$3'"
    fail=1
  done
}

number='1, 0, 2, "1"'
takes double LOOM_PARAM_REAL '' "$number"
takes int64_t LOOM_PARAM_INT '' "$number"
takes int32_t LOOM_PARAM_BOOL '' 1
takes int32_t LOOM_PARAM_ENUM '' '0, "a|b"'
takes 'const char *' LOOM_PARAM_TEXT '' '""'
takes 'const char *' LOOM_PARAM_PATH '' '""'
takes double LOOM_PARAM_VEC3 '[3]' '"0 0 0", 0, 1, "m"'

refuses float LOOM_PARAM_REAL '' "$number"
refuses int64_t LOOM_PARAM_REAL '' "$number"
refuses int32_t LOOM_PARAM_INT '' "$number"
refuses double LOOM_PARAM_INT '' "$number"
refuses int64_t LOOM_PARAM_BOOL '' 1
refuses int8_t LOOM_PARAM_ENUM '' '0, "a|b"'
refuses char LOOM_PARAM_TEXT '[8]' '""'
refuses char LOOM_PARAM_PATH '[8]' '""'
refuses double LOOM_PARAM_VEC3 '[2]' '"0 0 0", 0, 1, "m"'
refuses float LOOM_PARAM_VEC3 '[3]' '"0 0 0", 0, 1, "m"'
exit $fail
