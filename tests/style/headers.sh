#!/bin/sh
# Each public header compiles alone, as C11 and as C++17, for both sizes of loom_real.
. "${0%/*}/common.sh"
need g++
fail=0
for header in framework/include/loom/*.h; do
  for real in '' -DLOOM_REAL_FLOAT; do
    for lang in 'cc -std=c11 -x c' 'g++ -std=c++17 -x c++'; do
      # shellcheck disable=SC2086
      printf '#include "loom/%s"\n' "${header##*/}" |
        $lang $real -fsyntax-only -Wall -Wextra -Wpedantic -Werror -Iframework/include - || {
        echo "$header: $lang $real"
        fail=1
      }
    done
  done
done
exit $fail
