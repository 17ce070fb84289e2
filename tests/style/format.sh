#!/bin/sh
# Every C and CUDA file has the form that .clang-format describes.
. "${0%/*}/common.sh"
need clang-format
version=$(clang-format --version | sed 's/.*version \([0-9]*\).*/\1/')
[ "$version" = 14 ] || skip "format.sh: clang-format 14 decides, this is $version"
files '*.c' '*.h' '*.cu' '*.cuh' | xargs clang-format --dry-run -Werror
