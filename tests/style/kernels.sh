#!/bin/sh
# Kernel files are in the common subset of C11 and C++17, as nvcc will compile them.
. "${0%/*}/common.sh"
need g++
fail=0
list=$LOOM_BINARY_DIR/kernel_files.txt
[ -s "$list" ] || { echo "no kernel file is built: $list is empty"; exit 1; }
xargs -P "$jobs" -n 1 g++ -x c++ -std=c++17 -fopenmp -fsyntax-only -Wall -Wextra -Wpedantic \
  -Werror -Iframework -Iframework/include -Iplugins -Itests -I"$LOOM_BINARY_DIR/framework/bodies" <"$list" || fail=1

unbuilt=$(files '*.kern.c' | grep -v '^framework/doc/' | sed "s|^|$LOOM_SOURCE_DIR/|" | grep -vxF -f "$list")
[ -z "$unbuilt" ] || { echo "not given to loom_add_kernels:"; echo "$unbuilt"; fail=1; }

# nvcc makes host functions of them, which a kernel cannot call.
inlines=$(files '*.kern.c' '*.kern.h' | xargs grep -nE '^[[:space:]]*(static )?inline ')
[ -z "$inlines" ] || { echo "helpers of kernels are marked LK_FN:"; echo "$inlines"; fail=1; }
exit $fail
